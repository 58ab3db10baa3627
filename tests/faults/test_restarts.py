#!/usr/bin/env python3
"""Controllers and agents that end and come back in the middle of a phase."""
import signal
import time
import unittest

import lab

LOAD = """{hosts}
sd=default,openflags=o_direct,threads=4
{drives}
wd=wd1,sd=sd*,rdpct=100,seekpct=100,xfersize=4k
rd=rd1,wd=wd1,iorate=300,elapsed={elapsed},interval=1
{more}
"""
SECOND = "rd=rd2,wd=wd1,iorate=300,elapsed=3,interval=1"


class Restarts(unittest.TestCase):
    def setUp(self):
        lab.need_root()
        self.lab = lab.Lab()
        self.lab.__enter__()
        self.addCleanup(self.lab.__exit__, None, None, None)

    def load(self, agents, elapsed=60, more=""):
        self.drives = {name: self.lab.drive(32) for name in agents}
        return self.lab.file("x.parm", LOAD.format(
            hosts="\n".join(f"hd={name}" for name in agents), more=more,
            elapsed=elapsed, drives="\n".join(
                f"sd=sd{i},host={name},lun={self.drives[name].path}"
                for i, name in enumerate(agents))))

    def submit(self, parm, reads=900):
        number = str(self.lab.json("submit", "-f", parm)["campaign"])
        for drive in self.drives.values():
            lab.wait_until(lambda: drive.reads() > reads, 30, "load")
        return number

    def verdict(self, number):
        lab.wait_until(lambda: self.lab.json("status", number, check=None)
                       .get("verdict"), 90, "a verdict")
        return self.lab.json("show", number, check=None)

    def next_works(self):
        parm = self.load(["a1"], elapsed=2)
        self.lab.lockstep("submit", "--wait", "-f", parm, check=0)

    # ---- the controller is killed and started again

    def kill(self, controller):
        controller.signal(signal.SIGKILL)
        controller.wait()

    def killed(self, controller):
        """Killed, and started again on the same port with the same store."""
        self.kill(controller)
        return self.lab.controller()

    def stored(self, number):
        """{(phase, host): ([intervals of measured rows], I/Os of all rows)}"""
        rows = self.lab.store().execute(
            "SELECT p.phase, h.host, h.interval, h.spans, h.kind, h.read_ios "
            "FROM host_interval AS h JOIN phase AS p ON p.id = h.phase "
            "WHERE p.campaign = ? ORDER BY p.phase, h.host, h.interval",
            (number,)).fetchall()
        parts = {}
        for phase, host, interval, spans, kind, ios in rows:
            part = parts.setdefault((phase, host), ([], []))
            if kind == 0:
                part[0].extend(range(interval + 1 - spans, interval + 1))
            part[1].append(ios)
        return {at: (part[0], sum(part[1])) for at, part in parts.items()}

    def test_a_controller_killed_in_each_state_of_a_phase(self):
        """Inside the lease: not one interval, and who watches stays."""
        more = "\n".join(
            f"rd=rd{n},wd=wd1,iorate=2000,elapsed=2,interval=1{pause}"
            for n, pause in [(2, ""), (3, ""), (4, ""), (5, ",pause=3")])
        controller = self.lab.controller()
        self.lab.agent("a1")
        self.lab.agent("a2")
        parm = self.load(["a1", "a2"], 2, more)
        self.lab.file("p.bin", "0123456789")  # kept with the campaign, as all
        parm.write_text("pattern=p.bin\n" + parm.read_text().replace(
            "iorate=300", "iorate=2000"))
        watch = self.lab.start("watch", self.lab.words(
            "submit", "--wait", "-f", parm))
        controller.wait_for("phase 1 of 5: ")
        controller = self.killed(controller)  # preparing, or arming
        self.wait_reads(1000)
        controller = self.killed(controller)  # running
        self.wait_reads(3990)
        controller = self.killed(controller)  # draining, or collected
        self.wait_reads(4020)
        controller.wait_for("phase 4 of 5: ", 30)
        time.sleep(0.3)  # tidy: allow sleep, because it is armed about then
        controller = self.killed(controller)
        self.wait_reads(7990)
        time.sleep(0.5)  # tidy: allow sleep, because it is in the pause then
        controller = self.killed(controller)
        self.assertEqual(watch.wait(60), 0, watch.text() + self.lab.logs())
        self.assertGreater(watch.text().count("is back"), 3)
        self.check_all_there("1", phases=5, hosts=2, intervals=2)

    def wait_reads(self, count):
        """Until the first drive has done so many: 2000 are a phase."""
        lab.wait_until(lambda: self.drives["a1"].reads() > count, 30,
                       f"{count} reads")

    def check_all_there(self, number, phases, hosts, intervals):
        document = self.lab.json("show", number)
        self.assertEqual(document["verdict"], "complete")
        parts = self.stored(number)
        self.assertEqual(len(parts), phases * hosts)
        for at, (measured, _) in parts.items():
            self.assertEqual(measured, list(range(intervals)), at)
        # What the drives themselves have counted; beyond it, who looked at
        # them before each phase.  An interval is 1000 of each.
        for host, drive in enumerate(self.drives.values()):
            ios = sum(parts[phase, host][1] for phase in range(phases))
            looked = drive.reads() - ios
            print(f"{drive.path}: {ios} in the store, {looked} beside them")
            self.assertGreaterEqual(looked, 0)
            self.assertLess(looked, 500)

    def test_a_controller_back_after_the_lease(self):
        """The phase ends as it deserves, with what was measured; the rest of
        the campaign goes on."""
        controller = self.lab.controller()
        agent = self.lab.agent("a1", None, "--lease", "2s")
        number = self.submit(self.load(["a1"], 60, SECOND))
        self.kill(controller)
        agent.wait_for("the lease ended", 20)
        self.assertTrue(self.drives["a1"].idle(1), "the load goes on")
        self.lab.controller()
        document = self.verdict(number)
        self.assertEqual(document["verdict"], "failed")
        self.assertIn("its lease ended", document["error"])
        verdicts = [phase["verdict"] for phase in document["phases"]]
        self.assertEqual(verdicts, ["failed", "complete"])
        self.assertGreater(document["phases"][0]["total"]["ios"], 800)
        measured, _ = self.stored(number)[0, 0]
        self.assertEqual(measured, list(range(len(measured))))

    def test_a_queue_over_restarts(self):
        """What was acknowledged is there, in its place."""
        controller = self.lab.controller()
        self.lab.agent("a1")
        parm = self.load(["a1"], 3)
        numbers = []
        for _ in range(3):
            controller.wait_for("agent a1: connected")
            numbers.append(str(self.lab.json("submit", "-f", parm)["campaign"]))
            controller = self.killed(controller)
        self.assertEqual(numbers, ["1", "2", "3"])
        for number in numbers:
            self.assertEqual(self.verdict(number)["verdict"], "complete")
        begun = self.lab.store().execute(
            "SELECT id FROM campaign ORDER BY started_ns").fetchall()
        self.assertEqual(begun, [(1,), (2,), (3,)])

    def test_an_end_in_order_keeps_the_queue(self):
        """SIGTERM stops what runs; what waits, waits on."""
        controller = self.lab.controller()
        self.lab.agent("a1")
        first = self.submit(self.load(["a1"], 60), 300)
        second = str(self.lab.json("submit", "-f", self.lab.file(
            "y.parm", self.lab.folder.joinpath("x.parm").read_text().replace(
                "elapsed=60", "elapsed=2")))["campaign"])
        controller.signal(signal.SIGTERM)
        controller.wait()
        self.lab.controller()
        self.assertEqual(self.verdict(first)["verdict"], "interrupted")
        self.assertEqual(self.verdict(second)["verdict"], "complete")

    def test_a_stop_outlives_the_controller(self):
        controller = self.lab.controller()
        agent = self.lab.agent("a1")
        number = self.submit(self.load(["a1"], 60, SECOND), 300)
        agent.signal(signal.SIGSTOP)  # so that it does not hear of it
        self.lab.lockstep("stop", number, check=0)
        self.kill(controller)
        agent.signal(signal.SIGCONT)
        self.lab.controller()
        self.assertEqual(self.verdict(number)["verdict"], "interrupted")
        self.assertTrue(self.drives["a1"].idle(1), "the load goes on")

    def test_a_controller_without_its_store(self):
        """It is another one: not obeyed, and not renewed by."""
        controller = self.lab.controller()
        agent = self.lab.agent("a1", None, "--lease", "3s")
        self.submit(self.load(["a1"]))
        self.kill(controller)
        for path in self.lab.folder.glob("lockstep.db*"):
            path.unlink()
        self.lab.controller()
        agent.wait_for("holds work of controller", 20)
        agent.wait_for("the lease ended", 20)
        self.assertTrue(self.drives["a1"].idle(1), "the load goes on")

    # ---- the agent

    def restarted_agent(self, number_of_signal):
        self.lab.controller()
        agent = self.lab.agent("a1", None, "--lease", "3s")
        self.lab.agent("a2")
        number = self.submit(self.load(["a1", "a2"], 10, SECOND), 600)
        agent.signal(number_of_signal)
        agent.wait()
        self.lab.agent("a1", None, "--lease", "3s")
        document = self.verdict(number)
        self.assertEqual(document["verdict"], "degraded")
        self.assertIn("a1", document["error"])
        verdicts = [phase["verdict"] for phase in document["phases"]]
        self.assertEqual(verdicts, ["degraded", "complete"])
        ios = {h["name"]: h["ios"] for h in document["phases"][0]["hosts"]}
        self.assertGreater(ios["a1"], 100, "what it had measured is lost")
        self.next_works()

    def test_an_agent_that_is_killed_and_comes_back(self):
        self.restarted_agent(signal.SIGKILL)

    def test_an_agent_that_is_told_to_end_and_comes_back(self):
        self.restarted_agent(signal.SIGTERM)

    def test_a_second_agent_of_the_name(self):
        self.lab.controller()
        self.lab.agent("a1")
        second = self.lab.start("second", [
            lab.AGENT, "--name", "a1", "--controller", self.lab.at])
        second.wait_for("another agent of that name")
        self.next_works()


if __name__ == "__main__":
    lab.main()
