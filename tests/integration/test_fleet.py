#!/usr/bin/env python3
"""Three agents on hosts of their own, with clocks a day apart, under TLS."""
import json
import os
import pathlib
import re
import signal
import subprocess
import unittest

import lab

DAY = 86400
CLOCKS = [0, DAY, 2 * DAY, 3600]  # the controller's, then the agents'


class Fleet(unittest.TestCase):
    """One lab for all: building it takes longer than using it."""

    @classmethod
    def setUpClass(cls):
        lab.need_root()
        cls.lab = lab.Lab()
        cls.lab.__enter__()
        cls.addClassCleanup(cls.lab.__exit__, None, None, None)
        cls.hosts = cls.lab.hosts(4, CLOCKS)
        cls.drives = [cls.lab.drive(64) for _ in range(3)]
        cls.lab.make_keys("a1", "a2", "a3")
        cls.lab.controller(cls.hosts[0])
        cls.agents = [
            cls.lab.agent(f"a{i + 1}", cls.hosts[i + 1],
                          offers=[cls.drives[i].path, f"{cls.lab.folder}/"])
            for i in range(3)]

    def parm(self, text):
        """A campaign on one drive of each host."""
        lines = ["hd=a1", "hd=a2", "hd=a3", "sd=default,openflags=o_direct"]
        for i, drive in enumerate(self.drives):
            lines.append(f"sd=sd{i + 1},host=a{i + 1},lun={drive.path},"
                         "threads=4")
        return self.lab.file("fleet.parm", "\n".join(lines) + "\n" + text)

    def test_hosts_and_drives_are_shown(self):
        hosts = self.lab.json("hosts")["hosts"]
        self.assertEqual([h["name"] for h in hosts], ["a1", "a2", "a3"])
        for host in hosts:
            self.assertEqual(host["state"], "connected")
            self.assertGreater(host["memory_bytes"], 0)
        table = self.lab.lockstep("hosts", check=0).stdout
        self.assertIn("connected", table)
        drives = self.lab.json("drives")["drives"]
        mine = [d for d in drives if d["path"] == self.drives[1].path]
        self.assertEqual({d["host"] for d in mine}, {"a1", "a2", "a3"})
        self.assertEqual({d["host"] for d in mine if d["offered"]}, {"a2"})
        self.assertEqual(mine[0]["size_bytes"], 64 << 20)
        self.assertIn("unknown", self.lab.lockstep("drives", "a1",
                                                   check=0).stdout)
        self.assertIn("no such drives",
                      self.lab.lockstep("drives", "a4", check=2).stderr)

    def test_one_exact_result(self):
        """Sums of the hosts' rows are the cluster's, sums of rows the run."""
        document = self.lab.json("submit", "--wait", "-f", self.parm("""
wd=wd1,sd=sd*,rdpct=70,seekpct=100,xfersize=4k,skew=60
wd=wd2,sd=sd1,rdpct=100,seekpct=0,xfersize=64k
rd=rd1,wd=wd*,iorate=900,elapsed=4,interval=1,warmup=1
rd=rd2,wd=wd*,iorate=max,elapsed=3,interval=1
"""))
        self.assertEqual(document["verdict"], "complete")
        for phase in document["phases"]:
            total = phase["total"]
            for scope in ("hosts", "drives", "workloads"):
                for key in ("ios", "bytes", "errors"):
                    self.assertEqual(sum(s[key] for s in phase[scope]),
                                     total[key], (phase["run"], scope, key))
            self.assertEqual(len(phase["hosts"]), 3)
            self.assertLess(phase["start_spread_us"], 100000)
        self.check_store(document)
        rated = document["phases"][0]
        self.assertAlmostEqual(rated["total"]["iops"], 900, delta=90)
        share = {w["name"]: w["ios"] for w in rated["workloads"]}
        part = share["wd1"] / (share["wd1"] + share["wd2"])
        self.assertAlmostEqual(part, 0.6, delta=0.06)

    def check_store(self, document):
        """The same from the store's own rows, by SQL alone."""
        store = self.lab.store()
        rows = store.execute(SUMS, (document["number"],)).fetchall()
        self.assertGreater(len(rows), 6)
        for row in rows:
            self.assertEqual(row[2:5], row[5:8], f"phase, interval {row[:2]}")

    def test_a_public_file_of_several_hosts(self):
        """Somebody's file for three hosts and 21 drives, on our hosts.

        Its hosts and drives become variables, its values stay; what it does
        for hours, or 999 TB, is cut to seconds.
        """
        corpus = os.environ.get("LOCKSTEP_CORPUS")
        if not corpus:
            self.skipTest("LOCKSTEP_CORPUS does not name the public files")
        text = pathlib.Path(
            corpus, "files",
            "claytondukes-vdbench_workloads_logzilla.vdb").read_text()
        for name, host in (("ape3", "$h3"), ("ape2", "$h2"), ("ape", "$h1")):
            text = text.replace(f"hd={name},system=127.0.0.1",
                                f"hd={name},system={host}")
        text = text.replace("maxdata=999t,", "")
        text = text.replace("lun=/dev/", "lun=$drives/")
        text = text.replace("sd=default,", "sd=default,size=4m,", 1)
        drives = self.lab.folder / "drives"
        drives.mkdir()
        document = self.lab.json(
            "submit", "--wait", "-f", self.lab.file("public.parm", text),
            "-e", "3", "-i", "1", "-w", "1", f"drives={drives}",
            *(f"h{i}={self.hosts[i].address}" for i in (1, 2, 3)),
            seconds=280)
        self.assertEqual(document["verdict"], "complete")
        self.assertEqual([h["name"] for h in document["hosts"]],
                         ["ape", "ape2", "ape3"])
        measured = [p for p in document["phases"] if p["run"] != "SD_format"]
        for phase in measured:
            self.assertEqual(len(phase["drives"]), len(document["drives"]))
            self.assertTrue(all(d["ios"] > 0 for d in phase["drives"]))
            self.assertEqual(sum(h["ios"] for h in phase["hosts"]),
                             phase["total"]["ios"])
        self.check_store(document)

    def test_the_start_is_one_and_its_uncertainty_true(self):
        document = self.lab.json("submit", "--wait", "-f", self.parm("""
wd=wd1,sd=sd*,rdpct=100,seekpct=100,xfersize=4k
rd=rd1,wd=wd1,iorate=max,elapsed=1,interval=500ms,forrdpct=(%s)
""" % ",".join(str(100 - i) for i in range(20))), seconds=200)
        spreads = sorted(p["start_spread_us"] for p in document["phases"])
        self.assertEqual(len(spreads), 20)
        print("start spread us: median %.0f, 90th %.0f, max %.0f" %
              (spreads[10], spreads[18], spreads[-1]))
        # The aim is 1 and 5 ms on a quiet machine; this bound is for a busy one.
        self.assertLess(spreads[10], 20000)
        for phase in document["phases"]:
            self.assertLess(phase["start_uncertainty_us"], 5000)

    def test_stop_ends_a_campaign_as_interrupted(self):
        parm = self.parm("""
wd=wd1,sd=sd*,rdpct=100,seekpct=100,xfersize=4k
rd=rd1,wd=wd1,iorate=max,elapsed=100,interval=1
""")
        number = str(self.lab.json("submit", "-f", parm)["campaign"])
        lab.wait_until(lambda: self.lab.json("status", number).get("phase"),
                       what="a running phase")
        self.lab.lockstep("stop", number, check=0)
        lab.wait_until(lambda: self.lab.json("show", number, check=None)
                       ["verdict"], what="a verdict")
        document = self.lab.json("show", number, check=None)
        self.assertEqual(document["verdict"], "interrupted")
        self.assertEqual(self.lab.lockstep("show", "999", check=2).stdout, "")

    def test_ctrl_c_only_detaches_who_watches(self):
        parm = self.parm("""
wd=wd1,sd=sd*,rdpct=100,seekpct=100,xfersize=4k
rd=rd1,wd=wd1,iorate=300,elapsed=100,interval=1
""")
        for words in (("submit", "--wait", "-f", parm), ("watch",)):
            shell = subprocess.Popen(self.lab.words(*words), text=True,
                                     stdout=subprocess.PIPE)
            self.addCleanup(shell.kill)
            said = ""
            while "Starting RD=rd1" not in said:
                line = shell.stdout.readline()
                self.assertTrue(line, "it ended early")
                said += line
            shell.send_signal(signal.SIGINT)
            rest, _ = shell.communicate(timeout=20)
            self.assertEqual(shell.returncode, 4)
            stop = re.search(r"lockstep stop (\d+)", rest)
            self.assertIsNone(self.lab.json("status", stop[1])["verdict"])
        self.lab.lockstep(*stop[0].split()[1:], check=0)
        lab.wait_until(lambda: self.lab.json("status", stop[1], check=None)
                       ["verdict"] == "interrupted", what="the verdict")

    def test_strangers_are_refused(self):
        other = self.lab.folder / "other"
        self.lab.lockstep("keys", "init", "--dir", other, check=0)
        self.lab.lockstep("keys", "operator", "op", "--dir", other, check=0)
        words = self.lab.words("hosts")
        words[words.index("--keys") + 1] = str(other / "operator-op.pem")
        said = lab.run(*words, check=False)
        self.assertEqual(said.returncode, 5)
        self.assertIn("no controller", said.stderr)
        # An agent's key does not make an operator.
        words[words.index("--keys") + 1] = str(self.lab.keys / "agent-a1.pem")
        self.assertEqual(lab.run(*words, check=False).returncode, 5)

    def test_listings_without_a_controller(self):
        words = self.lab.words("hosts", "--json")
        words[words.index("-c") + 1] = "127.0.0.1:1"
        said = lab.run(*words, check=False)
        self.assertEqual(said.returncode, 5)
        self.assertIn("127.0.0.1:1", json.loads(said.stdout)["error"])


SUMS = """
SELECT c.phase, c.interval, c.read_ios, c.write_ios,
       c.read_bytes + c.write_bytes,
       sum(h.read_ios), sum(h.write_ios), sum(h.read_bytes + h.write_bytes)
FROM campaign
JOIN phase ON phase.campaign = campaign.id
JOIN cluster_interval c ON c.phase = phase.id AND c.drain = 0
JOIN host_interval h ON h.phase = c.phase AND h.interval = c.interval
                     AND h.drain = 0
WHERE campaign.id = ?
GROUP BY c.phase, c.interval
"""

if __name__ == "__main__":
    lab.main()
