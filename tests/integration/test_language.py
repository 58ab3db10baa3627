#!/usr/bin/env python3
"""What parameters do to a campaign as a whole, seen from outside."""
import base64
import json
import shutil
import sqlite3
import unittest
import zlib

import lab

HEAD = """
sd=sd1,lun={lun},size=64m,threads=4,openflags=o_direct
wd=a,sd=sd1,xfersize=4k,rdpct=100
wd=b,sd=sd1,xfersize=8k,rdpct=50
wd=c,sd=sd1,rdpct=100,iorate=40,priority=1
wd=d,sd=sd1,rdpct=100,priority=2
rd=default,elapsed=2,interval=1
"""


MIX = """
compratio=2
dedupratio=3
dedupunit=8k
workers=1
sd=default,openflags=o_direct,size=32m,threads=2
sd=s1,lun={folder}/f1,hitarea=1m,offset=4k,align=4k
sd=s2,lun={folder}/f2,range=(90,110)
sd=s3,lun={folder}/f3
wd=a,sd=s1,rhpct=50,whpct=20,priority=1,iorate=100,rdpct=50
wd=b,sd=s2,seekpct=seq,streams=4,stride=(4k,8k),priority=2
wd=c,sd=(s1,s2,s3),hotband=(10,60)
wd=d,sd=s3,xfersize=(4k,64k,4k),seekpct=(poisson,3),rdpct=0
wd=e,sd=s3,seekpct=eof,rdpct=0,xfersize=64k
wd=f,sd=s3,seekpct=seqnz
rd=default,elapsed=2,interval=1
rd=r1,wd=(a,b),iorate=max
rd=r2,wd=c,iorate=(200,1,400,1),distribution=(variable,spike)
rd=r3,wd=d,iorate=10MiB/s
rd=r4,wd=e,iorate=max,elapsed=60
rd=r5,wd=f,iorate=max,forrhpct=(0,50),forcompratio=(1,3)
"""


class Language(unittest.TestCase):
    def setUp(self):
        self.lab = lab.Lab()
        self.lab.__enter__()
        self.addCleanup(self.lab.__exit__, None, None, None)

    def run_file(self, text, *words, check=0):
        lun = self.lab.folder / "scratch"
        parm = self.lab.file("x.parm", text.format(lun=lun))
        document = self.lab.json("run", "-f", parm, "-o", "out", *words,
                                 check=check)
        return document, [phase for phase in document.get("phases", [])
                          if phase["run"] != "SD_format"]

    def test_maxdata_ends_a_run_and_the_next_one_begins(self):
        document, phases = self.run_file(
            HEAD + "rd=r1,wd=a,iorate=2000,maxdata=8m,elapsed=60\n"
                   "rd=r2,wd=a,iorate=100\n")
        self.assertEqual(document["verdict"], "complete")
        first, second = phases
        # 2000 x 4 KiB a second: past 8 MiB after two seconds, and an interval
        # that has begun is finished, so there are three.
        self.assertGreaterEqual(first["total"]["bytes"], 8 << 20)
        self.assertLess(first["total"]["bytes"], 28 << 20)
        self.assertEqual(first["verdict"], "complete")
        self.assertEqual(second["run"], "r2")

    def test_the_bytes_of_a_pattern_are_written_and_kept(self):
        folder = self.lab.folder / "parms"
        folder.mkdir()
        pattern = bytes(range(256)) * 3 + b"\0\xff pattern"
        (folder / "p.bin").write_bytes(pattern)
        lun = self.lab.folder / "scratch"
        parm = folder / "x.parm"
        parm.write_text(f"pattern=p.bin\nsd=s,lun={lun},size=8m,"
                        "openflags=o_direct\nwd=w,sd=s,rdpct=0,xfersize=4k\n"
                        "rd=default,elapsed=2,interval=1\nrd=r,wd=w,"
                        "iorate=max\n")
        self.assertIn(f'"pattern_bytes": {len(pattern)}',
                      json.dumps(self.lab.json("check", "-f", parm)))
        document = self.lab.json("run", "-f", parm, "-o", "out")
        self.assertEqual(document["verdict"], "complete")
        self.assertGreater(document["phases"][-1]["total"]["ios"], 0)
        data = lun.read_bytes()
        self.assertEqual(len(data), 8 << 20)
        written = (pattern * (4096 // len(pattern) + 1))[:4096]
        filled = (pattern * ((1 << 20) // len(pattern) + 1))[:1 << 20]
        pieces = [data[at:at + 4096] for at in range(0, len(data), 4096)]
        first = [filled[at:at + 4096] for at in range(0, 1 << 20, 4096)]
        # The fill's requests begin with it, and so does each one of the run.
        for number, piece in enumerate(pieces):
            self.assertIn(piece, (written, first[number % 256]), number)
        self.assertGreater(pieces.count(written), 8)
        with sqlite3.connect(self.lab.folder / "out" / "lockstep.db") as store:
            kept = dict(store.execute("SELECT name, text FROM file"))
        self.assertEqual(base64.b64decode(kept["pattern=p.bin"]), pattern)

    def test_a_pattern_that_cannot_be_read_is_refused_with_its_place(self):
        folder = self.lab.folder
        (folder / "empty").write_bytes(b"")
        (folder / "long").write_bytes(b"x" * ((256 << 10) + 1))
        for name, words in (("missing", "cannot read pattern file 'missing'"),
                            (str(folder), "cannot read pattern file"),
                            ("/dev/zero", "cannot read pattern file"),
                            ("empty", "'empty' is empty"),
                            ("long", "'long' is longer than 256 KiB")):
            parm = self.lab.file(
                "x.parm", f"pattern={name}\nsd=s,lun={folder}/f,size=1m\n"
                "wd=w,sd=s,rdpct=0\nrd=r,wd=w,iorate=max,elapsed=2\n")
            for command in ("check", "run"):
                document = self.lab.json(command, "-f", parm, check=2)
                said = json.dumps(document)
                self.assertIn(words, said)
                self.assertRegex(said, r"x\.parm:1:9|\"column\": 9")

    def test_stopcurve_ends_the_curve_alone(self):
        document, phases = self.run_file(
            HEAD + "rd=r1,wd=a,iorate=curve,curve=(10,50,90),stopcurve=1us\n"
                   "rd=r2,wd=a,iorate=50\n")
        self.assertEqual(document["verdict"], "complete")
        self.assertEqual([(p["run"], p["verdict"] is not None) for p in phases],
                         [("r1", True), ("r1_(10%)", True),
                          ("r1_(50%)", False), ("r1_(90%)", False),
                          ("r2", True)])
        self.assertIn("stopcurve", phases[2]["error"])

    def test_a_curve_keeps_the_shares_of_its_maximum(self):
        _, phases = self.run_file(
            HEAD + "rd=r1,wd=(a,b),iorate=curve,curve=(20),elapsed=4\n"
                   "rd=r2,wd=(c,d),iorate=400,elapsed=4\n")
        top, point, own = phases
        shares = [[w["ios"] / p["total"]["ios"] for w in p["workloads"]]
                  for p in (top, point)]
        self.assertAlmostEqual(shares[0][0], shares[1][0], delta=0.1)
        rates = {w["name"]: w["iops"] for w in own["workloads"]}
        self.assertAlmostEqual(rates["c"], 40, delta=20)
        self.assertAlmostEqual(rates["d"], 400, delta=80)

    def test_each_drive_has_a_curve_of_its_own(self):
        """2 ms a request: 2000 and 500 a second, halves of their own."""
        folder = self.lab.folder
        parm = self.lab.file("x.parm",
            f"sd=default,size=16m,openflags=o_direct\n"
            f"sd=s1,lun={folder}/f1,threads=4\n"
            f"sd=s2,lun={folder}/f2,threads=1\n"
            "wd=a,sd=s*,rdpct=100\n"
            "rd=r,wd=a,iorate=curve,curve=(50),curve_scope=drive,elapsed=3\n")
        document = self.lab.json("run", "-f", parm, "-o", "out", "--engine",
                                 "null:2ms")
        top, point = [p for p in document["phases"] if p["run"] != "SD_format"]
        most = {d["sd"]: d["iops"] for d in top["drives"]}
        self.assertGreater(most["s1"], 2 * most["s2"])
        for drive in point["drives"]:
            self.assertAlmostEqual(drive["iorate"], most[drive["sd"]] / 2,
                                   delta=0.05 * most[drive["sd"]])
            self.assertAlmostEqual(drive["iops"], drive["iorate"],
                                   delta=0.25 * drive["iorate"])
        page = (folder / "out" / "report.html").read_text()
        self.assertIn("percentages of its own maximum", page)

    def test_concatenated_drives_are_gone_through_once(self):
        folder = self.lab.folder
        parm = self.lab.file("x.parm",
            f"concatenatesds=yes\nworkers=2\n"
            f"sd=default,openflags=o_direct\n"
            f"sd=s1,lun={folder}/f1,size=8m\n"
            f"sd=s2,lun={folder}/f2,size=16m\n"
            f"sd=s3,lun={folder}/f3,size=8m\n"
            "wd=once,sd=s*,seekpct=eof,rdpct=0,xfersize=64k,threads=8\n"
            "wd=round,sd=s*,seekpct=seq,rdpct=100,xfersize=4k,threads=8\n"
            "rd=r1,wd=once,iorate=max,elapsed=60,interval=1\n"
            "rd=r2,wd=round,iorate=6000,elapsed=2,interval=1\n")
        document = self.lab.json("run", "-f", parm, "-o", "out")
        self.assertEqual(document["verdict"], "complete")
        once, again = [p for p in document["phases"]
                       if p["run"] != "SD_format"]
        self.assertEqual({d["sd"]: d["bytes"] for d in once["drives"]},
                         {"s1": 8 << 20, "s2": 16 << 20, "s3": 8 << 20})
        # 2048 blocks, 4096, 2048: the second time round ends within s2.
        ios = {d["sd"]: d["ios"] for d in again["drives"]}
        self.assertEqual((ios["s2"] > 4096, ios["s3"]), (True, 2048))
        self.assertEqual(ios["s1"], 4096)

    def test_variable_rates_follow_their_seconds(self):
        self.run_file(HEAD + "rd=r1,wd=a,elapsed=4,iorate=(50,1,500,1),"
                             "distribution=(deterministic,variable)\n")
        store = sqlite3.connect(self.lab.folder / "out" / "lockstep.db")
        rows = [row[0] for row in store.execute(
            "select read_ios from cluster_interval c join phase_host p "
            "on p.phase = c.phase where c.drain = 0 and read_ios > 0 "
            "order by c.phase desc, interval")][:4]
        for asked, done in zip((50, 500, 50, 500), rows):
            self.assertAlmostEqual(done, asked, delta=30)

    def test_find_searches_below_the_maximum(self):
        document, phases = self.run_file(
            HEAD + "rd=r1,wd=a,iorate=find,find=(p90,50ms)\n")
        self.assertEqual(document["verdict"], "complete")
        self.assertEqual(len(phases), 9)
        top = phases[0]["total"]["iops"]
        self.assertAlmostEqual(phases[1]["iorate"], top / 2, delta=1)
        for phase in phases[1:]:
            self.assertLessEqual(phase["iorate"], top)

    def test_includes_are_found_beside_the_file_and_sent(self):
        folder = self.lab.folder / "deep"
        folder.mkdir()
        lun = self.lab.folder / "scratch"
        (folder / "drives.inc").write_text(
            f"sd=sd1,lun={lun},size=16m,openflags=o_direct\n")
        (folder / "main.parm").write_text(
            "include=drives.inc\nwd=w,sd=sd1\n"
            "rd=r1,wd=w,iorate=100,elapsed=2\nrd=r2,wd=w,iorate=50,elapsed=2\n")
        document = self.lab.json("run", "-f", folder / "main.parm", "-o", "out",
                                 "-r", "r2", "-l", "2")
        runs = [p["run"] for p in document["phases"] if p["run"] != "SD_format"]
        self.assertEqual(runs, ["r2", "r2"])
        (folder / "drives.inc").unlink()
        said = self.lab.lockstep("check", "-f", folder / "main.parm", check=2)
        self.assertIn("main.parm:1:1: error: cannot read include file",
                      said.stderr)

    def test_everything_at_once_on_files(self):
        folder = self.lab.folder
        parm = self.lab.file("mix.parm", MIX.format(folder=folder))
        document = self.lab.json("run", "-f", parm, "-o", "out")
        self.assertEqual(document["verdict"], "complete")
        by_run = {p["run"]: p for p in document["phases"]}
        rates = {w["name"]: w["ios"] for w in by_run["r1"]["workloads"]}
        self.assertGreater(rates["a"], 50)   # 100 a second beside full speed
        self.assertGreater(rates["b"], 0)
        # Every block of the file once, then the end.
        self.assertEqual(by_run["r4"]["total"]["bytes"], 32 << 20)
        self.assertEqual(by_run["r4"]["total"]["ios"], 512)
        # The three share their duplicates; f2 is written by the fill alone.
        data = b"".join((folder / f).read_bytes() for f in ("f2", "f1", "f3"))
        units = [data[i:i + 8192] for i in range(0, len(data), 8192)]
        self.assertAlmostEqual(len(units) / len(set(units)), 3, delta=0.4)
        packed = sum(len(zlib.compress(unit)) for unit in units[:256])
        self.assertAlmostEqual(256 * 8192 / packed, 2, delta=0.15)

    def watch(self, text, *words):
        """Starts a run of which test and people see the rows."""
        lun = self.lab.folder / "scratch"
        parm = self.lab.file("x.parm", text.format(lun=lun))
        return self.lab.start("run", self.lab.words(
            "run", "-f", parm, "-o", self.lab.folder / "out", *words))

    def test_a_file_ends_runs_from_outside(self):
        stop = self.lab.folder / "stop"
        run = self.watch(f"monitor={stop}\n" + HEAD +
                         "rd=default,elapsed=60,iorate=50\nrd=r1,wd=a\n"
                         "rd=r2,wd=a\nrd=r3,wd=a\n")
        for rd, word in (("r1", " End_RD \n"), ("r2", "terminate")):
            run.wait_for(fr"Starting RD={rd};(.|\n)*?\n\S+ +1 +\d")
            self.assertEqual(stop.read_text(), "")
            stop.write_text(word)
        self.assertEqual(run.wait(30), 4)
        self.assertEqual(stop.read_text(), "")
        said = run.text()
        self.assertRegex(said, "the run that goes on is ended by ")
        store = sqlite3.connect(self.lab.folder / "out" / "lockstep.db")
        self.assertEqual(
            store.execute("select run, verdict from phase where run != "
                          "'SD_format' order by phase").fetchall(),
            [("r1", 1), ("r2", 3), ("r3", 0)])

    def test_a_file_that_holds_something_else_is_left_alone(self):
        other = self.lab.file("precious", "two\nlines\n")
        said = self.lab.lockstep("run", "-o", "out", "-f", self.lab.file(
            "x.parm", f"monitor={other}\nsd=s,lun=/dev/zero,size=1g\n"
            "rd=r,sd=s,iorate=50,elapsed=2\n"), check=0)
        self.assertIn("holds something else already, and is left alone",
                      said.stderr)
        self.assertEqual(other.read_text(), "two\nlines\n")

    def test_a_skew_that_is_off_ends_the_campaign(self):
        text = (HEAD.replace("wd=a,sd=sd1,", "wd=a,sd=sd1,skew=33.3,")
                .split("wd=c")[0] + "rd=default,elapsed=2,interval=1\n"
                "rd=r1,wd=(a,b),iorate=300\nrd=r2,wd=(a,b),iorate=300\n")
        document, phases = self.run_file("abort_failed_skew=0.0001\n" + text,
                                         check=1)
        self.assertIn("abort_failed_skew=0.0001", document["error"])
        self.assertEqual([p["verdict"] for p in phases], ["failed", None])
        shutil.rmtree(self.lab.folder / "out")
        document, _ = self.run_file("abort_failed_skew=30\n" + text)
        self.assertEqual(document["verdict"], "complete")

    def test_fifty_errors_end_a_campaign_that_says_nothing_else(self):
        text = ("sd=sd1,lun=/dev/zero,size=1g\nwd=a,sd=sd1\n"
                "rd=default,interval=1\n"
                "rd=r1,wd=a,iorate=400,elapsed=60\n"
                "rd=r2,wd=a,iorate=400,elapsed=60\n")
        self.lab.controller()
        self.lab.agent("a1", None, "--engine", "null:100us,error=5/10")
        document = self.lab.json("submit", "--wait", "-f",
                                 self.lab.file("x.parm", text), check=1)
        first, second = document["phases"]
        self.assertEqual(document["verdict"], "failed")
        self.assertIn("data_errors=50", document["error"])
        self.assertGreaterEqual(first["total"]["errors"], 50)
        self.assertLess(first["total"]["errors"], 200)
        self.assertIsNone(second["verdict"])
        # Said otherwise, the runs go on to their end.
        text = "data_errors=1m\n" + text.replace("elapsed=60", "elapsed=2")
        document = self.lab.json("submit", "--wait", "-f",
                                 self.lab.file("y.parm", text), check=1)
        self.assertEqual([p["verdict"] for p in document["phases"]],
                         ["failed", "failed"])
        self.assertGreater(document["phases"][1]["total"]["errors"], 50)

    def test_r_names_an_rd_that_is_there(self):
        parm = self.lab.file("x.parm", HEAD.format(lun="/x") +
                             "rd=r1,wd=a,iorate=1\n")
        said = self.lab.lockstep("check", "-f", parm, "-r", "r9", check=2)
        self.assertIn("there is no rd=r9", said.stderr)


if __name__ == "__main__":
    lab.main()
