#!/usr/bin/env python3
"""The page's API: its description, its doors, its figures, its stream."""
import csv
import http.client
import io
import json
import pathlib
import re
import socket
import ssl
import threading
import unittest
import urllib.parse

import lab
import openapi

PARM = """
hd=default
hd=a
hd=b
sd=sd1,host=a,lun=$folder/f1,size=16m
sd=sd2,host=b,lun=$folder/f2,size=16m
wd=w,sd=sd*,xfersize=4k,rdpct=70,seekpct=random
rd=rate,wd=w,iorate=(200,400),elapsed=2,interval=1
rd=max,wd=w,iorate=max,elapsed=2,interval=1
"""
LONG = """
sd=sd1,lun=$folder/f1,size=16m
wd=w,sd=sd1,xfersize=4k,rdpct=100
rd=long,wd=w,iorate=100,elapsed=600,interval=1
"""
JSON = {"Content-Type": "application/json"}


class Page:
    """The API as a program sees it; every answer fits its description."""

    def __init__(self, url, context=None):
        self.url = urllib.parse.urlsplit(url)
        self.context = context
        self.description = None
        self.description = openapi.Description(
            self.get("/api/v1/openapi.json", raw=True))

    def connect(self):
        if self.url.scheme == "https":
            return http.client.HTTPSConnection(self.url.netloc, timeout=30,
                                               context=self.context)
        return http.client.HTTPConnection(self.url.netloc, timeout=30)

    def ask(self, method, path, body=None, headers=None):
        connection = self.connect()
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        text = response.read()
        kind = response.headers["Content-Type"].split(";")[0]
        connection.close()
        if self.description and method in ("GET", "POST"):
            self.description.check_answer(method.lower(), path,
                                          response.status, kind, text)
        return response, text

    def get(self, path, status=200, raw=False):
        response, text = self.ask("GET", path)
        assert response.status == status, (path, response.status, text[:500])
        return text if raw else json.loads(text)

    def post(self, path, document, status, headers=None):
        response, text = self.ask("POST", path, json.dumps(document),
                                  JSON | (headers or {}))
        assert response.status == status, (path, response.status, text[:500])
        return json.loads(text)


def submission(text, folder, name="x.parm"):
    return {"files": [{"name": name, "text": text}],
            "variables": [f"folder={folder}"], "name": "over http"}


def metrics(text):
    """{(name, labels): value} of a text that keeps the format's rules."""
    typed, found = {}, {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            name, kind = line.split()[2:4]
            assert name not in typed, f"{name} comes twice"
            typed[name] = kind
            continue
        if line.startswith("#"):
            continue
        match = re.fullmatch(
            r'([a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\]|\\.)*",?)*)\})? (\S+)', line)
        assert match and match[1] in typed, line
        labels = frozenset(re.findall(r'([a-z]+)="((?:[^"\\]|\\.)*)"',
                                      match[2] or ""))
        quantile = any(key == "quantile" for key, _ in labels)
        assert quantile == (typed[match[1]] == "summary"), line
        assert (match[1], labels) not in found, f"twice: {line}"
        found[match[1], labels] = float(match[3])
    return found


class Stream:
    """Server-sent events, read as they come."""

    def __init__(self, page):
        self.connection = page.connect()
        self.connection.request("GET", "/api/v1/events")
        self.response = self.connection.getresponse()
        self.events = []
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        for line in self.response:
            if line.startswith(b"data: "):
                self.events.append(json.loads(line[6:]))

    def wait(self, kind, seconds=30):
        def look():
            return next((e for e in self.events if e["event"] == kind), None)
        return lab.wait_until(look, seconds, f"the event {kind}")


def leaves(value, path=""):
    """Every figure of a document by its path."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, f"{path}_{key}" if path else key)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, value


class Http(unittest.TestCase):
    def setUp(self):
        self.lab = self.enterContext(lab.Lab())

    def fleet(self, *agents, http="127.0.0.1:0"):
        self.lab.controller(http=http)
        for name in agents:
            self.lab.agent(name, offers=[f"{self.lab.folder}/"])
        return Page(self.lab.page)

    def wait_done(self, page, campaign):
        path = f"/api/v1/campaigns/{campaign}/status"
        return lab.wait_until(
            lambda: (s := page.get(path))["state"] == "done" and s, 60,
            "the campaign's end")

    def test_answers_agree_and_are_as_described(self):
        page = self.fleet("a", "b")
        stream = Stream(page)
        answer = page.post("/api/v1/campaigns",
                           submission(PARM, self.lab.folder), 201)
        self.assertEqual(answer["campaign"], 1)
        stream.wait("interval")
        live = lab.wait_until(
            lambda: (d := page.get("/api/v1/campaigns/newest/live?cells=1"))
            ["running"] and d["run"] == "rate" and d["interval"] and d,
            30, "a live interval")
        self.assertEqual([d["name"] for d in live["drives"]],
                         ["a:sd1", "b:sd2"])
        for drive in live["drives"]:
            self.assertEqual(sum(c["ios"] for c in drive["cells"]),
                             drive["ios"])
        scrape = metrics(page.get("/metrics", raw=True).decode())
        self.assertEqual(scrape["lockstep_host_connected",
                                frozenset({("host", "a")})], 1)
        iops = {frozenset(labels): value for (name, labels), value
                in scrape.items() if name == "lockstep_iops"}
        self.assertEqual(len(iops), 4)  # two drives, two operations
        names = {name for name, _ in scrape}
        dashboard = (pathlib.Path(__file__).parents[2] / "deploy" / "grafana"
                     / "lockstep.json").read_text()
        for name in re.findall(r"lockstep_[a-z_]+", dashboard):
            # Quantiles and hung I/O need more I/Os than this campaign has.
            self.assertIn(name, names | {"lockstep_oldest_io_seconds"})
        for labels in iops:
            self.assertEqual({key for key, _ in labels},
                             {"host", "drive", "sd", "workload", "op"})

        status = self.wait_done(page, 1)
        self.assertEqual(status["verdict"], "complete")
        self.assertEqual(stream.wait("end")["verdict"], "complete")
        kinds = [e["event"] for e in stream.events]
        self.assertEqual(kinds.count("phase"), kinds.count("phase_end"))
        self.check_agreement(page)
        for path in ("controller", "hosts", "drives", "campaigns", "status"):
            page.get(f"/api/v1/{path}")
        campaign = page.get("/api/v1/campaigns")["campaigns"][0]
        self.assertEqual((campaign["name"], campaign["models"]),
                         ("over http", []))
        report = page.get("/api/v1/campaigns/1/report", raw=True).decode()
        self.assertIn("complete", report)
        self.assertEqual(
            page.post("/api/v1/campaigns/1/stop", {}, 200)["state"], "done")
        comparison = page.get("/api/v1/compare?side=1&side=1&fail_if="
                              + urllib.parse.quote("iops < -1%"))
        self.assertEqual(comparison["outcome"], "kept")
        page.get("/api/v1/compare?side=1", 400)
        page.get("/api/v1/compare?side=1&side=77", 404)
        for path in ("77", "77/runs", "77/report", "77/export.csv", "1/runs/9"):
            page.get(f"/api/v1/campaigns/{path}", 404)
        described = {(method, path)
                     for path, methods in page.description.document["paths"]
                     .items() for method in methods}
        described -= {("get", "/api/v1/events"), ("get", "/api/v1/openapi.json")}
        self.assertEqual(page.description.asked, described)

    def check_agreement(self, page):
        """Shell, API and both exports say the same, to the digit."""
        shown = self.lab.json("show", "1")
        asked = page.get("/api/v1/campaigns/1")
        self.assertEqual(asked["phases"], shown["phases"])
        runs = page.get("/api/v1/campaigns/1/runs")["phases"]
        whole = page.get("/api/v1/campaigns/1/export.json")["phases"]
        rows = list(csv.DictReader(io.StringIO(
            page.get("/api/v1/campaigns/1/export.csv", raw=True).decode())))
        self.assertEqual(len(shown["phases"]), 4)
        for phase, run, exported in zip(shown["phases"], runs, whole):
            piece = page.get(f"/api/v1/campaigns/1/runs/{phase['phase']}")
            brief = page.get(f"/api/v1/campaigns/1/runs/{phase['phase']}"
                             "?brief=1")
            self.assertNotIn("host_intervals", brief)
            self.assertEqual(piece, brief | {
                key: piece[key] for key in ("host_intervals",
                                            "workload_intervals")})
            for other in (run, exported, piece):
                self.assertEqual(other["total"], phase["total"])
            self.assertEqual(exported["drives"], phase["drives"])
            self.assertEqual(exported["intervals"], piece["intervals"])
            line = next(r for r in rows if r["row"] == "total"
                        and r["scope"] == "cluster"
                        and r["phase"] == str(phase["phase"]))
            self.assertEqual(line["run"], phase["run"])
            figures = dict(leaves(phase["total"]))
            common = [key for key in figures if key in line]
            self.assertGreater(len(common), 30)
            for key in common:
                self.assertEqual(float(line[key]), figures[key], key)
        # The table of `show` rounds; its words are those of the figures.
        table = self.lab.lockstep("show", "1", check=0).stdout
        for phase in shown["phases"]:
            self.assertIn(f"{phase['total']['iops']:.1f}", table)

    def test_doors(self):
        page = self.fleet("a")
        netloc = page.url.netloc
        ask = page.ask
        self.assertEqual(ask("GET", "/api/v1/hosts", headers={
            "Host": "rebound.example:7781"})[0].status, 403)
        self.assertEqual(ask("GET", "/api/v1/hosts", headers={
            "Host": "localhost:1"})[0].status, 200)  # a forwarded port
        body = json.dumps(submission(LONG, self.lab.folder))
        for headers, status in (
                ({"Origin": "http://evil.example"}, 403),
                ({"Origin": f"https://{netloc}"}, 403),
                ({"Origin": "null"}, 403),
                ({"Sec-Fetch-Site": "cross-site"}, 403),
                ({"Sec-Fetch-Site": "same-site"}, 403),
                ({"Content-Type": "text/plain"}, 415),
                ({"Content-Type": "application/jsonx"}, 415)):
            response, text = ask("POST", "/api/v1/campaigns", body,
                                 JSON | headers)
            self.assertEqual(response.status, status, headers)
            self.assertTrue(json.loads(text)["error"])
        self.assertEqual(page.get("/api/v1/campaigns")["campaigns"], [])
        response, _ = ask("DELETE", "/api/v1/campaigns")
        self.assertEqual((response.status, response.headers["Allow"]),
                         (405, "GET, HEAD, POST"))
        self.assertEqual(ask("PUT", "/metrics")[0].status, 405)
        self.assertEqual(ask("HEAD", "/api/v1/hosts")[0].status, 200)
        for document, word in (([], "object"), ({}, "files"),
                               ({"files": [{"name": "x"}]}, "text"),
                               ({"files": [{"name": "a\n", "text": ""}]},
                                "name"),
                               ({"files": [{"name": "x", "text": ""}],
                                 "elapsed_s": -1}, "elapsed_s")):
            answer = page.post("/api/v1/campaigns", document, 400)
            self.assertIn(word, answer["error"])
        answer = page.post("/api/v1/campaigns",
                           submission("sd=sd1", self.lab.folder), 422)
        self.assertEqual(answer["messages"][0]["line"], 1)
        answer = page.post("/api/v1/campaigns", submission(
            LONG, self.lab.folder) | {"check": True}, 200)
        self.assertIn("long", answer["plan"])
        self.assertEqual(page.get("/api/v1/campaigns")["campaigns"], [])
        response, _ = ask("POST", "/api/v1/campaigns", b"x" * (3 << 20), JSON)
        self.assertEqual(response.status, 413)
        answer = page.post("/api/v1/campaigns",
                           submission(LONG, self.lab.folder), 201,
                           {"Origin": f"http://{netloc}",
                            "Sec-Fetch-Site": "same-origin"})
        page.post(f"/api/v1/campaigns/{answer['campaign']}/stop", {}, 200)
        status = self.wait_done(page, answer["campaign"])
        self.assertEqual(status["verdict"], "interrupted")

    def test_slow_reader_costs_nobody(self):
        page = self.fleet("a")
        slow = socket.create_connection((page.url.hostname, page.url.port))
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.sendall(b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        quick = Stream(page)
        page.post("/api/v1/campaigns", submission(LONG, self.lab.folder)
                  | {"elapsed_s": 4, "interval_s": 0.1}, 201)
        self.assertEqual(quick.wait("end", 40)["verdict"], "complete")
        seen = [e["interval"] for e in quick.events
                if e["event"] == "interval" and e["run"] == "long"
                and e["kind"] == "measured"]
        self.assertEqual(seen, sorted(seen))
        self.assertGreaterEqual(len(seen), 30)
        slow.close()
        self.lab.processes[0].signal(15)  # with readers at work
        self.assertEqual(self.lab.processes[0].wait(), 0)

    def test_https_needs_a_certificate_of_the_lab(self):
        self.lab.make_keys("a")
        page_url = self.fleet_with_keys("https://127.0.0.1:0")
        keys = self.lab.keys
        strange = self.lab.folder / "strange"
        self.lab.lockstep("keys", "init", "--dir", strange, check=0)
        self.lab.lockstep("keys", "operator", "eve", "--dir", strange, check=0)

        def context(bundle=None):
            made = ssl.create_default_context(cafile=keys / "controller.pem")
            made.check_hostname = False
            if bundle:
                made.load_cert_chain(bundle)
            return made

        page = Page(page_url, context(keys / "operator-op.pem"))
        who = page.get("/api/v1/controller")
        self.assertEqual((who["user"], who["role"], who["may_change"]),
                         ("op", "operator", True))
        answer = page.post("/api/v1/campaigns",
                           submission(LONG, self.lab.folder), 201)
        page.post(f"/api/v1/campaigns/{answer['campaign']}/stop", {}, 200)
        shown = page.get(f"/api/v1/campaigns/{answer['campaign']}/status")
        self.assertTrue(shown["who"].startswith("op from 127.0.0.1:"))
        for bundle, word in ((None, "needs a certificate"),
                             (strange / "operator-eve.pem", "authority"),
                             (keys / "agent-a.pem", "role")):
            page.context = context(bundle)
            self.assertIn(word, page.get("/api/v1/hosts", 403)["error"])

        # A viewer looks on; whoever is revoked does not even that.
        self.lab.lockstep("keys", "viewer", "vera", "--dir", keys, check=0)
        page.context = context(keys / "viewer-vera.pem")
        who = page.get("/api/v1/controller")
        self.assertEqual((who["role"], who["may_change"]), ("viewer", False))
        page.post("/api/v1/campaigns", submission(LONG, self.lab.folder), 403)
        stream = Stream(page)
        self.lab.lockstep("keys", "revoke", "vera", "--dir", keys, check=0)
        lab.wait_until(lambda: b"revoked" in page.ask("GET",
                                                      "/api/v1/hosts")[1],
                       10, "the revocation")
        stream.thread.join(15)
        self.assertFalse(stream.thread.is_alive(), "the stream goes on")

    def fleet_with_keys(self, http):
        self.lab.controller(http=http)
        self.lab.agent("a", offers=[f"{self.lab.folder}/"])
        return self.lab.page

    def test_in_clear_keys_make_it_read_only(self):
        self.lab.make_keys("a")
        page = Page(self.fleet_with_keys("127.0.0.1:0"))
        self.assertFalse(page.get("/api/v1/controller")["may_change"])
        self.assertEqual(len(page.get("/api/v1/hosts")["hosts"]), 1)
        answer = page.post("/api/v1/campaigns",
                           submission(LONG, self.lab.folder), 403)
        self.assertIn("operator", answer["error"])

    def test_addresses(self):
        self.lab.controller(http="127.0.0.1:0")
        taken = self.lab.page.split("//")[1]
        store = self.lab.folder / "other.db"

        def start(*words):
            return self.lab.start("other", [
                lab.LOCKSTEPD, "--listen", "127.0.0.1:0", "--store", store,
                *words])
        other = start("--http", taken)
        self.assertEqual(other.wait(), 1)
        self.assertIn("set http=", other.text())
        other = start("--http", "0.0.0.0:0")
        self.assertEqual(other.wait(), 2)
        self.assertIn("needs keys", other.text())


if __name__ == "__main__":
    lab.main()
