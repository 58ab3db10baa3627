#!/usr/bin/env python3
"""What parameters do to a campaign as a whole, seen from outside."""
import sqlite3
import unittest

import lab

HEAD = """
sd=sd1,lun={lun},size=64m,threads=4,openflags=o_direct
wd=a,sd=sd1,xfersize=4k,rdpct=100
wd=b,sd=sd1,xfersize=8k,rdpct=50
wd=c,sd=sd1,rdpct=100,iorate=40,priority=1
wd=d,sd=sd1,rdpct=100,priority=2
rd=default,elapsed=2,interval=1
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
        # that has begun is finished.
        self.assertGreaterEqual(first["total"]["bytes"], 8 << 20)
        self.assertLess(first["total"]["bytes"], 50 << 20)
        self.assertEqual(first["verdict"], "complete")
        self.assertEqual(second["run"], "r2")

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

    def test_r_names_an_rd_that_is_there(self):
        parm = self.lab.file("x.parm", HEAD.format(lun="/x") +
                             "rd=r1,wd=a,iorate=1\n")
        said = self.lab.lockstep("check", "-f", parm, "-r", "r9", check=2)
        self.assertIn("there is no rd=r9", said.stderr)


if __name__ == "__main__":
    lab.main()
