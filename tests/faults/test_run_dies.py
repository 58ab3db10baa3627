#!/usr/bin/env python3
"""`lockstep run` and its two children: any of them ended or stopped."""
import json
import os
import pathlib
import signal
import time
import unittest

import lab

LOAD = """sd=sd1,lun={lun},threads=4,openflags=o_direct
wd=wd1,sd=sd1,rdpct=100,seekpct=100,xfersize=4k
rd=rd1,wd=wd1,iorate=300,elapsed={elapsed},interval=1
rd=rd2,wd=wd1,iorate=300,elapsed=2,interval=1,pause={pause}
"""


class RunDies(unittest.TestCase):
    def setUp(self):
        lab.need_root()
        self.lab = lab.Lab()
        self.lab.__enter__()
        self.addCleanup(self.lab.__exit__, None, None, None)
        self.drive = self.lab.drive(32)
        self.out = self.lab.folder / "out"

    def run_it(self, elapsed, pause=0, out="out"):
        parm = self.lab.file("x.parm", LOAD.format(
            lun=self.drive.path, elapsed=elapsed, pause=pause))
        process = self.lab.start("run", self.lab.words(
            "run", "-f", parm, "-o", self.lab.folder / out))
        return process

    def loaded(self, elapsed=60):
        process = self.run_it(elapsed)
        lab.wait_until(lambda: self.drive.reads() > 300, what="load")
        return process

    def child(self, process, name):
        children = pathlib.Path(
            f"/proc/{process.pid}/task/{process.pid}/children")
        for pid in children.read_text().split():
            comm = pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
            if comm == name[:15]:
                return int(pid)
        raise AssertionError(f"no {name}")

    def nothing_is_left(self, children):
        for pid in children:
            self.assertFalse(os.path.exists(f"/proc/{pid}"))
        self.assertTrue(self.drive.idle(2), "the load goes on")

    def both(self, process):
        return [self.child(process, "lockstepd"),
                self.child(process, "lockstep-agent")]

    def document(self):
        return json.loads((self.out / "result.json").read_text())

    def test_the_agent_is_killed(self):
        """It cannot come back, so nobody waits for it."""
        process = self.loaded()
        children = self.both(process)
        os.kill(children[1], signal.SIGKILL)
        self.assertEqual(process.wait(20), 1)
        self.assertIn("cannot come back", process.text())
        self.nothing_is_left(children)
        first = self.document()["phases"][0]
        self.assertEqual(first["verdict"], "failed")

    def test_the_agent_is_killed_in_a_pause(self):
        process = self.run_it(2, pause=30)
        process.wait_for("avg_2-2", 30)
        children = self.both(process)
        os.kill(children[1], signal.SIGKILL)
        self.assertEqual(process.wait(45), 1)
        self.nothing_is_left(children)
        verdicts = [p["verdict"] for p in self.document()["phases"]]
        self.assertEqual(verdicts, ["complete", "failed"])

    def test_the_controller_is_killed(self):
        process = self.loaded()
        children = self.both(process)
        os.kill(children[0], signal.SIGKILL)
        self.assertEqual(process.wait(20), 1)
        self.assertIn("lockstepd was killed by SIGKILL", process.text())
        self.assertIn(f"'lockstep report {self.out}'", process.text())
        self.nothing_is_left(children)
        self.lab.lockstep("report", self.out, "-o", "after.html", check=0)
        self.assertIn("failed", (self.lab.folder /
                                 "after.html").read_text())

    def ended_with(self, number, whom):
        """Somebody ends the controller: what was measured is written."""
        process = self.loaded()
        process.wait_for(r" 2 +\d", 20)
        children = self.both(process)
        for pid in whom(process.pid, children):
            os.kill(pid, number)
        self.assertIn(process.wait(20), (1, 4), process.text())
        self.nothing_is_left(children)
        document = self.document()
        self.assertIn(document["verdict"], ("failed", "interrupted"))
        self.assertGreater(document["phases"][0]["total"]["ios"], 300)
        self.assertTrue((self.out / "report.html").exists())
        return process.text()

    def test_the_controller_is_told_to_end(self):
        text = self.ended_with(signal.SIGTERM, lambda _, both: both[:1])
        self.assertIn("stopped by the controller's end (SIGTERM)", text)

    def test_a_hangup_of_the_controller(self):
        text = self.ended_with(signal.SIGHUP, lambda _, both: both[:1])
        self.assertIn("stopped by the controller's end (SIGHUP)", text)

    def test_all_are_told_to_end(self):
        """As a service manager does it."""
        self.ended_with(signal.SIGTERM, lambda shell, both: [*both, shell])

    def stopped(self, number):
        """One of the three is stopped for a while, which costs nothing."""
        process = self.loaded(elapsed=12)
        pid = ([process.pid] + self.both(process))[number]
        os.kill(pid, signal.SIGSTOP)
        # tidy: allow sleep, because that is what the peers shall bear
        time.sleep(8)
        os.kill(pid, signal.SIGCONT)
        self.assertEqual(process.wait(60), 0, process.text())
        document = self.document()
        self.assertEqual(document["verdict"], "complete")
        return document["phases"][0]["total"]["ios"]

    def test_the_shell_is_stopped_for_a_while(self):
        self.assertAlmostEqual(self.stopped(0), 3600, delta=400)

    def test_the_controller_is_stopped_for_a_while(self):
        self.assertAlmostEqual(self.stopped(1), 3600, delta=400)

    def test_the_agent_is_stopped_for_a_while(self):
        self.assertGreater(self.stopped(2), 900)

    def test_an_interrupt_at_any_time_is_heard(self):
        """Also one that comes before the campaign is there."""
        for delay in range(0, 300, 30):
            process = self.run_it(60, out=f"out{delay}")
            # tidy: allow sleep, because the instant is what is tried out
            time.sleep(delay / 1000)
            process.signal(signal.SIGINT)
            status = process.wait(20)
            self.assertIn(status, (4, -signal.SIGINT), process.text())
        self.assertTrue(self.drive.idle(2), "the load goes on")


if __name__ == "__main__":
    lab.main()
