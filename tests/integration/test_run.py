#!/usr/bin/env python3
"""`lockstep run`: a campaign on this host without any daemon."""
import json
import os
import signal
import sqlite3
import subprocess
import unittest

import lab

CURVE = """
sd=sd1,lun={lun},size=32m,threads=4,openflags=o_direct
wd=wd1,sd=sd1,rdpct=70,seekpct=100,xfersize=4k
rd=default,elapsed=3,interval=1
rd=rd1,wd=wd1,iorate=curve,curve=(50),warmup=1
"""

LONG = """
sd=sd1,lun={lun},threads=4,openflags=o_direct
wd=wd1,sd=sd1,rdpct=100,seekpct=100,xfersize=4k
rd=rd1,wd=wd1,iorate=max,elapsed=60,interval=1
rd=rd2,wd=wd1,iorate=max,elapsed=60,interval=1
"""


class Run(unittest.TestCase):
    def setUp(self):
        self.lab = lab.Lab()
        self.lab.__enter__()
        self.addCleanup(self.lab.__exit__, None, None, None)

    def parm(self, text, **values):
        return self.lab.file("x.parm", text.format(**values))

    def scratch(self):
        return self.lab.folder / "scratch"

    def test_a_file_is_made_filled_and_measured(self):
        document = self.lab.json(
            "run", "-f", self.parm(CURVE, lun=self.scratch()), "-o", "out")
        self.assertEqual(document["verdict"], "complete")
        runs = [phase["run"] for phase in document["phases"]]
        self.assertEqual(runs, ["SD_format", "rd1", "rd1_(50%)"])
        fill, top, half = document["phases"]
        self.assertEqual(fill["total"]["bytes"], 32 << 20)
        self.assertEqual(self.scratch().stat().st_size, 32 << 20)
        self.assertIsNone(top["total"]["response_us"])
        self.assertGreater(half["total"]["response_us"]["mean"], 0)
        self.assertAlmostEqual(half["total"]["read_pct"], 70, delta=5)
        asked = half["iorate"]
        grain = 100 if top["total"]["iops"] / 2 > 1000 else 10
        self.assertEqual(asked % grain, 0)
        self.assertLessEqual(abs(asked - top["total"]["iops"] / 2), grain)
        self.assertAlmostEqual(half["total"]["iops"], asked,
                               delta=5 * asked ** 0.5 + asked * 0.1)
        service = top["total"]["service_us"]
        self.assertLessEqual(service["min"], service["p50"])
        self.assertLessEqual(service["p50"], service["p99"])
        self.assertLessEqual(service["p99"], service["max"])

    def test_rows_for_people(self):
        said = self.lab.lockstep(
            "run", "-f", self.parm(CURVE, lun=self.scratch()), "-o", "out",
            check=0)
        self.assertIn("Starting RD=rd1; I/O rate: Uncontrolled curve; "
                      "elapsed=3 warmup=1; For loops: None", said.stdout)
        self.assertIn("phase 2 of 3", said.stdout)
        rows = [line.split() for line in said.stdout.splitlines()
                if line[:2].isdigit() and "avg_" in line]
        self.assertEqual([row[1] for row in rows], ["avg_2-4", "avg_2-4"])
        self.assertEqual(len(rows[1]), 15)
        self.assertEqual(said.stderr, "")

    def test_a_second_run_uses_the_file_as_it_is(self):
        parm = self.parm(CURVE, lun=self.scratch())
        self.lab.json("run", "-f", parm, "-o", "a")
        document = self.lab.json("run", "-f", parm, "-o", "b")
        self.assertEqual([p["run"] for p in document["phases"]],
                         ["rd1", "rd1_(50%)"])

    def test_a_file_of_somebody_else_is_not_written(self):
        self.scratch().write_bytes(b"precious" * (4 << 20))
        document = self.lab.json(
            "run", "-f", self.parm(CURVE, lun=self.scratch()), "-o", "out",
            check=1)
        self.assertIn(str(self.scratch()), document["error"])
        self.assertEqual(self.scratch().read_bytes()[:8], b"precious")

    def test_results_are_never_overwritten(self):
        (self.lab.folder / "out").mkdir()
        said = self.lab.lockstep(
            "run", "-f", self.parm(CURVE, lun=self.scratch()), "-o", "out",
            check=2)
        self.assertIn("'out' is there already", said.stderr)

    def test_hosts_that_are_not_here(self):
        text = "hd=far,system=192.0.2.7\n" + CURVE
        document = self.lab.json(
            "run", "-f", self.parm(text, lun=self.scratch()), "-o", "out",
            check=2)
        self.assertIn("far", document["error"])
        self.assertIn("lockstep submit", document["error"])

    def test_a_drive_that_is_not_there(self):
        document = self.lab.json(
            "run", "-f", self.parm(LONG, lun="/dev/absent0"), "-o", "out",
            check=1)
        self.assertIn("/dev/absent0", document["error"])

    def test_a_block_device_needs_an_offer(self):
        drive = self.lab.drive(32)
        text = LONG.replace("rdpct=100", "rdpct=0").replace("=60", "=2")
        parm = self.parm(text, lun=drive.path)
        before = drive.completed()[1]
        document = self.lab.json("run", "-f", parm, "-o", "a", check=1)
        self.assertIn("--offer", document["error"])
        self.assertIn(drive.path, document["error"])
        self.assertEqual(drive.completed()[1], before)
        document = self.lab.json("run", "-f", parm, "-o", "b", "--offer",
                                 drive.path)
        self.assertEqual(document["verdict"], "complete")
        self.assertEqual(document["phases"][0]["total"]["read_pct"], 0)

    def test_case_F01_a_mounted_drive_is_refused(self):
        drive = self.lab.drive(32)
        lab.run("mkfs.ext4", "-q", drive.path)
        mount = self.lab.folder / "mnt"
        mount.mkdir()
        lab.run("mount", drive.path, mount)
        self.lab.undo(lab.run, "umount", mount, check=False)
        parm = self.parm(LONG.replace("rdpct=100", "rdpct=0"), lun=drive.path)
        document = self.lab.json("run", "-f", parm, "-o", "a", "--offer",
                                 drive.path, check=1)
        self.assertIn("mounted", document["error"])
        lab.run("umount", mount)
        document = self.lab.json("run", "-f", parm, "-o", "b", "--offer",
                                 drive.path, check=1)
        self.assertIn("ext4", document["error"])

    def test_read_only_and_too_small(self):
        drive = self.lab.drive(32)
        parm = self.parm(LONG.replace("threads=4", "threads=4,size=1g"),
                         lun=drive.path)
        document = self.lab.json("run", "-f", parm, "-o", "a", check=1)
        self.assertIn("size=", document["error"])
        lab.run("blockdev", "--setro", drive.path)
        parm = self.parm(LONG.replace("rdpct=100", "rdpct=0"), lun=drive.path)
        document = self.lab.json("run", "-f", parm, "-o", "b", "--offer",
                                 drive.path, check=1)
        self.assertIn("read-only", document["error"])

    # ---- Ctrl-C

    def start(self, *more):
        drive = self.lab.drive(32)
        parm = self.parm(LONG, lun=drive.path)
        words = [str(w) for w in self.lab.words("run", "-f", parm, "-o", "out",
                                                *more)]
        process = subprocess.Popen(words, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True,
                                   cwd=self.lab.folder)
        self.addCleanup(process.kill)
        lab.wait_until(lambda: drive.reads() > 1000,
                       what="load on the drive")
        return drive, process

    def test_case_P01_workers_stay_within_the_allowed_cpus(self):
        cpu = max(os.sched_getaffinity(0))
        document = json.loads(subprocess.run(
            ["taskset", "-c", str(cpu)] + self.lab.words(
                "run", "--json", "-o", "out", "-f",
                self.parm(CURVE, lun=self.scratch())),
            cwd=self.lab.folder, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, timeout=60).stdout)
        self.assertEqual(document["verdict"], "complete")
        for phase in document["phases"]:
            (engine,) = phase["engines"]
            self.assertRegex(engine["placement"],
                             rf"^worker 0 on CPU {cpu}(, node 0)?: sd1$")
            self.assertRegex(engine["engine"], "^io_uring .*fixed_files.*; "
                             "what is written compresses 1.00 : 1 in pieces "
                             "of 4 KiB, 1.00 : 1 is asked$")

    def test_case_R02_ctrl_c_stops_and_keeps_what_there_is(self):
        drive, process = self.start("--json")
        lab.wait_until(lambda: self.stored_rows() >= 2, what="stored rows")
        process.send_signal(signal.SIGINT)
        self.assertTrue(drive.idle(2), "the load goes on")
        out, _ = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 4)
        document = json.loads(out)
        self.assertEqual(document["verdict"], "interrupted")
        first, *later = document["phases"]
        self.assertEqual(first["verdict"], "interrupted")
        self.assertGreater(first["total"]["ios"], 0)
        for phase in later:
            self.assertEqual(phase["total"]["ios"] if phase.get("total")
                             else 0, 0)

    def stored_rows(self):
        path = self.lab.folder / "out" / "lockstep.db"
        if not path.exists():
            return 0
        try:
            store = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
            rows = store.execute("SELECT count(*) FROM cluster_interval").fetchone()
            store.close()
            return rows[0]
        except sqlite3.Error:
            return 0

    def test_a_second_ctrl_c_gives_up_waiting(self):
        drive, process = self.start()
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=10)
        self.assertEqual(process.returncode, 4)
        self.assertTrue(drive.idle(2), "the load goes on")

    def test_the_end_of_the_shell_is_the_end_of_the_load(self):
        drive, process = self.start()
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=10)
        self.assertTrue(drive.idle(5), "the load goes on")


if __name__ == "__main__":
    lab.main()
