#!/usr/bin/env python3
"""Drives that fail: what failed where is told, and the others go on."""
import os
import subprocess
import time
import unittest

import lab

TWO = """
data_errors=1000000
drain_wait=2s
sd=default,openflags=o_direct,threads=4
sd=bad,lun={bad}
sd=good,lun={good}
wd=wd1,sd=(bad,good),rdpct={rdpct},seekpct=100,xfersize=4k
rd=rd1,wd=wd1,iorate={rate},elapsed={elapsed},interval=1
"""

ONE = """
data_errors=1000000
sd=bad,lun={bad},threads=2,openflags=o_direct
wd=wd1,sd=bad,rdpct=100,seekpct=100,xfersize=4k
rd=rd1,wd=wd1,iorate=200,elapsed=3,interval=1
"""


def kinds(phase):
    return {(kind["sd"], kind["op"], kind["code"]): kind["count"]
            for kind in phase["failures"]["kinds"]}


class Drives(unittest.TestCase):
    def setUp(self):
        self.lab = lab.Lab()
        self.lab.__enter__()
        self.addCleanup(self.lab.__exit__, None, None, None)

    def two(self, rdpct=100, rate=400, elapsed=3, bad=None):
        self.bad = bad or self.lab.fault_drive(16)
        self.good = self.lab.drive(16)
        return self.lab.file("x.parm", TWO.format(
            bad=self.bad.path, good=self.good.path, rdpct=rdpct, rate=rate,
            elapsed=elapsed))

    def begin(self, parm, *more):
        """A run in the background; returns once its first row is there."""
        log = self.lab.folder / "run.txt"
        with open(log, "w") as out:
            process = subprocess.Popen(
                self.lab.words("run", "-f", parm, "-o", "out", *more),
                stdout=out, stderr=subprocess.STDOUT, cwd=self.lab.folder,
                stdin=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        lab.wait_until(lambda: ":" in log.read_text() and
                       any(line.split()[1:2] == ["1"]
                           for line in log.read_text().splitlines()),
                       what="the first row")
        return process, log

    def test_a_bad_region_is_told_by_errno_and_offset(self):
        parm = self.two()
        self.bad.order("fail read EIO 1048576 9437184")
        document = self.lab.json("run", "-f", parm, "-o", "out", check=1)
        phase = document["phases"][0]
        self.assertEqual(document["verdict"], "failed")
        self.assertEqual(list(kinds(phase)), [("bad", "read", "EIO")])
        count = kinds(phase)[("bad", "read", "EIO")]
        self.assertEqual(phase["failures"]["count"], count)
        self.assertEqual(phase["total"]["errors"], count)
        # Half of one drive fails, while the other gets all of its share.
        drives = {drive["sd"]: drive for drive in phase["drives"]}
        self.assertEqual(drives["good"]["errors"], 0)
        self.assertGreater(drives["good"]["ios"], 500)
        self.assertGreater(drives["bad"]["ios"], 50)
        first = phase["failures"]["first"]
        self.assertTrue(1 <= len(first) <= 8, first)
        for failure in first:
            self.assertTrue(1048576 - 4096 < failure["offset"] < 9437184)
            self.assertEqual(failure["length"], 4096)
            self.assertEqual(failure["error"], "Input/output error")
            self.assertTrue(0 <= failure["at_s"] <= 3)
        said = (f"{count} requests failed; the first: read of 4096 bytes at "
                f"{first[0]['offset']} on localhost:bad: EIO, Input/output "
                "error")
        self.assertEqual(phase["error"], said)
        page = (self.lab.folder / "out" / "report.html").read_text()
        self.assertIn(f"{count} reads on localhost:bad: EIO "
                      "(Input/output error)", page)
        self.assertIn(f"at {first[0]['offset']} on localhost:bad", page)

    def test_a_fleet_is_told_the_same(self):
        self.lab.controller()
        self.lab.agent("h1")
        parm = self.two()
        self.bad.order("fail read EIO 1048576 16777216")
        self.lab.lockstep("submit", "--wait", "-f", parm, check=1)
        shown = self.lab.lockstep("show", "1", check=1).stdout
        self.assertRegex(shown, r"failed: \d+ reads on localhost:bad: EIO, "
                         "Input/output error\n  the first: a read of 4096 "
                         r"bytes at \d+ on localhost:bad, [0-2]\.\d+ s after")
        self.assertRegex(shown, r"\d+ requests failed; the first: read of ")

    def test_a_full_drive(self):
        parm = self.two(rdpct=0)
        self.bad.order("fail write ENOSPC 0 8388608")
        document = self.lab.json(
            "run", "-f", parm, "-o", "out", "--offer", self.bad.path,
            "--offer", self.good.path, check=1)
        phase = document["phases"][0]
        self.assertEqual(list(kinds(phase)), [("bad", "write", "ENOSPC")])
        self.assertEqual(phase["drives"][1]["errors"], 0)

    def test_a_drive_that_vanishes(self):
        parm = self.two(elapsed=4)
        process, log = self.begin(parm)
        self.bad.order("gone")
        self.assertEqual(process.wait(30), 1, log.read_text())
        self.assertIn("localhost:bad: ENODEV, No such device",
                      log.read_text())
        self.assertIn("failed: ", log.read_text())

    def test_a_drive_whose_size_becomes_zero(self):
        drive = self.lab.drive(16)
        parm = self.two(elapsed=4, bad=drive)
        process, log = self.begin(parm)
        os.truncate(drive.file, 0)
        lab.run("losetup", "--set-capacity", drive.path)
        self.assertEqual(process.wait(30), 1, log.read_text())
        self.assertIn("localhost:bad: SHORT, transferred less than asked for",
                      log.read_text())

    def test_short_reads_are_no_reads(self):
        drive = self.lab.fault_drive(16, raw=True)
        drive.order("short 0 4194304 512")
        document = self.lab.json(
            "run", "-f", self.lab.file("x.parm", ONE.format(bad=drive.path)),
            "-o", "out", check=1)
        phase = document["phases"][0]
        self.assertEqual(list(kinds(phase)), [("bad", "read", "SHORT")])
        self.assertEqual(
            {f["transferred"] for f in phase["failures"]["first"]}, {512})
        self.assertEqual(phase["total"]["bytes"],
                         phase["total"]["ios"] * 4096)

    def test_case_C07_a_drive_that_hangs(self):
        parm = self.two(rate="max")
        text = parm.read_text() + (
            "rd=rd2,wd=wd1,sd=good,iorate=max,elapsed=2,interval=1\n"
            "rd=rd3,wd=wd1,iorate=max,elapsed=2,interval=1\n")
        parm.write_text(text)
        process, log = self.begin(parm)
        self.bad.order("hang 0 16777216")
        began = time.monotonic()
        # 2 s of the run, 2 s of draining, 2 s of the next run; then the one
        # that wants the drive is refused at once.
        self.assertEqual(process.wait(40), 1, log.read_text())
        self.assertLess(time.monotonic() - began, 30)
        said = log.read_text()
        self.assertIn("4 requests did not come back from bad", said)
        self.assertIn("Starting RD=rd2", said)
        self.assertIn(f"'{self.bad.path}' does not answer: requests of an "
                      "earlier phase have been given up", said)
        page = (self.lab.folder / "out" / "report.html").read_text()
        self.assertIn("4 requests never came back, the first a read on "
                      "<b>localhost:bad</b>", page)

    def test_a_drive_that_hangs_from_the_beginning(self):
        parm = self.two()
        self.bad.order("hang 0 16777216")
        said = self.lab.lockstep("run", "-f", parm, "-o", "out", check=1)
        self.assertIn(f"'{self.bad.path}' does not answer: reading its first "
                      "block is not done after 15 s", said.stderr)
        self.assertIn("cannot end: the kernel waits for requests", said.stderr)


if __name__ == "__main__":
    lab.main()
