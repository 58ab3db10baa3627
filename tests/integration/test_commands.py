#!/usr/bin/env python3
"""startcmd=, endcmd= and heartbeat_error=: what a host's owner lets run."""
import os
import signal
import unittest

import lab

HEAD = """
sd=sd1,lun=/dev/zero,size=1g
wd=a,sd=sd1
rd=default,elapsed=2,interval=1,iorate=50
"""

HOSTS = """
hd=a1
hd=a2
"""


class Commands(unittest.TestCase):
    def setUp(self):
        self.lab = lab.Lab()
        self.lab.__enter__()
        self.addCleanup(self.lab.__exit__, None, None, None)
        self.trace = self.lab.folder / "trace"

    def script(self, name, text):
        path = self.lab.file(name, "#!/bin/sh\n" + text)
        path.chmod(0o755)
        return path

    def noter(self):
        """A command that notes its arguments and the phase."""
        return self.script("note", f'echo "$@ $LOCKSTEP_PHASE" '
                                   f'>> {self.trace}\necho noted "$@"\n')

    def traced(self):
        return self.trace.read_text().splitlines()

    def test_they_run_around_the_runs_in_their_order(self):
        note = self.noter()
        parm = self.lab.file("x.parm", (
            f'startcmd=("{note} first",cons)\n'
            "endcmd=last\n" + HEAD +
            "rd=default,start_cmd=before\n"
            'rd=r1,wd=a,startcmd=("own",summary),endcmd=(after,master)\n'
            "rd=r2,wd=a,forthreads=(1,2)\n"))
        more = []
        for name in ("first", "last", "before", "own", "after"):
            more += ["--command", f"{name} 10s {note} {name}"]
        said = self.lab.lockstep("run", "-f", parm, "-o", "out", *more,
                                 check=0)
        # Like vdbench, what rd=default says is added to, not replaced.
        self.assertEqual(self.traced(), [
            "first 1", "before 1", "own 1", "after 1", "before 2", "before 3",
            "last 3"])
        self.assertIn("controller: Cmd: noted first", said.stdout)
        self.assertIn("localhost: Cmd: noted own", said.stdout)
        self.assertNotIn("noted last", said.stdout)
        plan = self.lab.json("check", "-f", parm)
        runs = plan["runs"]
        self.assertEqual(runs[0]["startcmd"],
                         [{"command": "before", "on": "hosts"},
                          {"command": "own", "on": "hosts"}])
        self.assertEqual(runs[0]["endcmd"],
                         [{"command": "after", "on": "controller"}])

    def test_what_is_not_offered_is_an_error_with_the_line_to_add(self):
        parm = self.lab.file("x.parm", HOSTS + HEAD +
                             'rd=r1,wd=a,startcmd="/bin/true --now",'
                             "endcmd=(tidy,master)\n")
        self.lab.controller()
        self.lab.agent("a1", None, "--command", "yes /bin/true --now")
        self.lab.agent("a2", None, "--command", "no /bin/true")
        said = self.lab.lockstep("submit", "--wait", "-f", parm, check=2)
        self.assertIn("x.parm:8:21: error: host 'a2' does not let campaigns "
                      "run '/bin/true --now'", said.stderr)
        self.assertIn("add to /etc/lockstep/agent.conf there: command = true "
                      "/bin/true --now", said.stderr)
        self.assertIn("add to /etc/lockstep/controller.conf there: command = "
                      "tidy /PROGRAM", said.stderr)
        self.assertNotIn("'a1'", said.stderr)
        hosts = {h["name"]: h for h in self.lab.json("hosts")["hosts"]}
        self.assertEqual(hosts["a1"]["commands"],
                         [{"name": "yes", "command": "/bin/true --now",
                           "limit_s": 60.0}])

    def test_one_that_fails_before_a_run_ends_the_campaign(self):
        note = self.noter()
        fail = self.script("fail", "echo out of paper; exit 3\n")
        parm = self.lab.file("x.parm", HOSTS + "endcmd=last\n" + HEAD +
                             "rd=r1,wd=a,startcmd=(good,bad,good),"
                             "endcmd=after\nrd=r2,wd=a\n")
        parm.write_text(parm.read_text().replace(
            HOSTS + "endcmd=last\n", "endcmd=last\n" + HOSTS))
        self.lab.controller(None, "--command", f"last {note} last")
        for name in ("a1", "a2"):
            self.lab.agent(name, None, "--command", f"good {note} {name}",
                           "--command",
                           f"bad {fail if name == 'a2' else '/bin/true'}",
                           "--command", f"after {note} after-{name}")
        said = self.lab.lockstep("submit", "--wait", "-f", parm, check=1)
        self.assertIn("startcmd=bad on a2: exit status 3: out of paper",
                      said.stderr)
        self.assertEqual(sorted(self.traced()[:2]), ["a1 1", "a2 1"])
        self.assertEqual(sorted(self.traced()[2:]),
                         ["after-a1 1", "after-a2 1", "last 1"])
        document = self.lab.json("show", "1", check=1)
        self.assertEqual([p["verdict"] for p in document["phases"]],
                         ["failed", None])
        self.assertEqual(document["phases"][0]["total"]["ios"], 0)
        bad = [c for c in document["commands"] if c["command"] == "bad"]
        self.assertEqual({c["host"]: (c["error"], c["output"]) for c in bad},
                         {"a1": (None, None),
                          "a2": ("exit status 3: out of paper",
                                 "out of paper")})
        shown = self.lab.lockstep("show", "1", check=1).stdout
        self.assertIn("startcmd=bad on a2, phase 1: after", shown)
        self.assertIn("  | out of paper", shown)

    def test_one_that_fails_after_a_run_leaves_what_was_measured(self):
        parm = self.lab.file("x.parm", HEAD + "rd=r1,wd=a,endcmd=slow\n"
                                              "rd=r2,wd=a\n")
        document = self.lab.json(
            "run", "-f", parm, "-o", "out", "--command",
            "slow 300ms /bin/sleep 60", check=1)
        self.assertEqual([p["verdict"] for p in document["phases"]],
                         ["complete", "complete"])
        self.assertIn("endcmd=slow on localhost: not done within its time",
                      document["error"])
        command = document["commands"][0]
        self.assertGreaterEqual(command["duration_s"], 0.3)
        self.assertLess(command["duration_s"], 5)

    def test_a_lost_host_is_told_to_the_controllers_host(self):
        note = self.noter()
        parm = self.lab.file("x.parm", "heartbeat_error=alarm\n"
                                       "require=1\n" + HOSTS + HEAD +
                             "rd=r1,wd=a,elapsed=6\n")
        self.lab.controller(None, "--command", f"alarm {note} lost")
        self.lab.agent("a1")
        lost = self.lab.agent("a2", None, "--lease", "1s")
        watcher = self.lab.start("watch", self.lab.words(
            "submit", "--wait", "-f", parm))
        watcher.wait_for("Starting RD=r1")
        os.kill(lost.pid, signal.SIGKILL)
        self.assertEqual(watcher.wait(40), 3)
        self.assertEqual(self.traced(), ["lost 1"])
        commands = self.lab.json("show", "1", check=3)["commands"]
        self.assertEqual([(c["keyword"], c["phase"], c["error"])
                          for c in commands], [("heartbeat_error", 1, None)])


if __name__ == "__main__":
    lab.main()
