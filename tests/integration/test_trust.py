#!/usr/bin/env python3
"""What the kernel counted beside what the workers did, and what it says."""
import sqlite3
import unittest

import lab


class Trust(unittest.TestCase):
    def setUp(self):
        self.lab = lab.Lab()
        self.lab.__enter__()
        self.addCleanup(self.lab.__exit__, None, None, None)

    def run_file(self, text, *more):
        document = self.lab.json("run", "-f", self.lab.file("x.parm", text),
                                 "-o", "out", *more)
        return document["phases"]

    def words(self, phase):
        return {flag["flag"] for flag in phase["flags"]}

    def test_a_drive_has_done_what_was_issued(self):
        lab.need_root()
        drive = self.lab.drive()
        phase = self.run_file(f"""
sd=sd1,lun={drive.path},threads=4,openflags=o_direct
wd=wd1,sd=sd1,rdpct=70,seekpct=100,xfersize=(4k,50,16k,50)
rd=rd1,wd=wd1,iorate=1000,elapsed=3,interval=1,warmup=1
""", "--offer", drive.path)[0]
        self.assertNotIn("device_differs", self.words(phase))
        row = phase["drives"][0]
        device = row["device"]
        self.assertFalse(device["shared"])
        self.assertEqual(device["in_flight"], 0)
        # The counters are of the whole phase, warm-up and drain included.
        told = device["reads"]["bytes"] + device["writes"]["bytes"]
        self.assertEqual(told, self.bytes_of_all_rows())
        self.assertGreater(told, row["bytes"])
        self.assertGreater(device["reads"]["completed"], 2000)
        self.assertGreater(device["writes"]["completed"], 800)

    def bytes_of_all_rows(self):
        with sqlite3.connect(self.lab.folder / "out" / "lockstep.db") as base:
            return base.execute("SELECT sum(read_bytes + write_bytes) "
                                "FROM host_interval").fetchone()[0]

    def test_a_cache_that_answers_is_flagged(self):
        lab.need_root()
        drive = self.lab.drive()
        phase = self.run_file(f"""
sd=sd1,lun={drive.path},threads=4
wd=wd1,sd=sd1,rdpct=100,seekpct=100,xfersize=4k
rd=rd1,wd=wd1,iorate=max,elapsed=2,interval=1
""")[0]
        self.assertEqual(phase["verdict"], "complete")
        flag = [flag for flag in phase["flags"]
                if flag["flag"] == "device_differs"][0]
        self.assertEqual(flag["sd"], "sd1")
        self.assertIn("a cache answered", flag["text"])
        text = self.lab.lockstep(
            "run", "-f", self.lab.file("y.parm", f"""
sd=sd1,lun={drive.path},threads=4
wd=wd1,sd=sd1,rdpct=100,seekpct=100,xfersize=4k
rd=rd1,wd=wd1,iorate=max,elapsed=2,interval=1
"""), "-o", "out2", check=0).stdout
        self.assertRegex(text, r"\n  flag device_differs, \S+:sd1: ")

    def test_a_thousand_a_second_cost_next_to_nothing(self):
        """Below 5 % of a core, asleep; and how late that is, is told."""
        phase = self.run_file("""
sd=sd1,lun=/dev/zero,size=1g,threads=32
wd=wd1,sd=sd1,rdpct=100,seekpct=100,xfersize=4k
rd=rd1,wd=wd1,iorate=1000,elapsed=4,interval=1
""")[0]
        total = phase["total"]
        self.assertAlmostEqual(total["ios"], 4000, delta=260)
        # Sanitizers double the cost.
        limit = 10 if lab.is_instrumented() else 5
        self.assertLess(total["agent_cpu_pct"], 2 * limit)
        self.assertLess(total["busiest_worker_pct"], limit)
        self.assertGreater(total["late_us"]["mean"], 0)
        self.assertLessEqual(total["late_us"]["mean"], total["late_us"]["max"])
        self.assertLessEqual(total["late_us"]["mean"],
                             total["response_us"]["mean"])

    def test_a_generator_at_its_limit_is_flagged(self):
        phase = self.run_file("""
sd=sd1,lun=/dev/zero,size=1g,threads=64
wd=wd1,sd=sd1,rdpct=100,seekpct=100,xfersize=4k
rd=rd1,wd=wd1,iorate=20000000,elapsed=2,interval=1
""")[0]
        self.assertEqual(phase["verdict"], "complete")
        self.assertTrue({"worker_busy", "host_busy"} & self.words(phase),
                        phase["flags"])


if __name__ == "__main__":
    lab.main()
