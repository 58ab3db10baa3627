#!/usr/bin/env python3
"""Controllers and agents that end and come back in the middle of a phase."""
import signal
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

    def connected(self, agent):
        """The agent has redialled after the controller's restart."""
        lab.wait_until(lambda: agent.text().count("connected: ") > 1, 30,
                       "a second connection")

    def killed_controller(self, *agent_words):
        controller = self.lab.controller()
        agent = self.lab.agent("a1", None, *agent_words)
        number = self.submit(self.load(["a1"]))
        controller.signal(signal.SIGKILL)
        controller.wait()
        return agent, number

    def check_kept(self, agent, number):
        self.connected(agent)
        document = self.verdict(number)
        self.assertNotEqual(document["verdict"], "complete")
        self.assertIn("restarted", document["error"])
        self.assertGreater(document["phases"][0]["total"]["ios"], 200)
        self.assertTrue(self.drives["a1"].idle(5), "the load goes on")
        self.next_works()

    def test_a_controller_within_the_lease(self):
        """What was stored is kept, and the drives are free again."""
        agent, number = self.killed_controller()
        self.lab.controller()
        self.check_kept(agent, number)

    def test_a_controller_after_the_lease(self):
        agent, number = self.killed_controller("--lease", "2s")
        agent.wait_for("the lease ended", 20)
        self.assertTrue(self.drives["a1"].idle(1), "the load goes on")
        self.lab.controller()
        self.check_kept(agent, number)

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
