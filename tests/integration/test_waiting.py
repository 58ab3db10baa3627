#!/usr/bin/env python3
"""host_wait= and require=: a phase that waits for a host, and what is said."""
import json
import signal
import subprocess
import unittest

import lab

FILE = """{general}
hd=a1
hd=a2
sd=s1,host=a1,lun=/dev/null,size=64m
sd=s2,host=a2,lun=/dev/zero,size=64m
wd=wd1,sd=s*,rdpct=100
rd=default,wd=wd1,iorate=200,interval=1,elapsed=3
rd=r1
rd=r2,elapsed=2
"""


class Waiting(unittest.TestCase):
    def setUp(self):
        self.lab = lab.Lab()
        self.lab.__enter__()
        self.addCleanup(self.lab.__exit__, None, None, None)
        self.lab.controller()
        self.agents = [self.lab.agent(name, None, "--lease", "2s", "--engine",
                                      "null:1ms") for name in ("a1", "a2")]

    def lose_one(self, general):
        """a2 is killed in the first phase; what those say who watch."""
        parm = self.lab.file("x.parm", FILE.format(general=general))
        watch = subprocess.Popen(self.lab.words("submit", "--wait", "-f", parm),
                                 text=True, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT)
        self.addCleanup(watch.kill)
        said = []
        for line in watch.stdout:
            said.append(line)
            if line.split()[1:2] == ["1"] and self.agents[1].popen.poll() is None:
                self.agents[1].signal(signal.SIGKILL)
        watch.stdout.close()
        return watch.wait(60), "".join(said)

    def show(self):
        said = self.lab.lockstep("show", "1", "--json")
        return json.loads(said.stdout)

    def test_what_is_there_goes_on_where_that_is_enough(self):
        status, said = self.lose_one("host_wait=4s\nrequire=50%")
        self.assertEqual(status, 3, said)
        self.assertRegex(said, r"phase 2 waits for a2, for [12] s more at "
                               r"most \(host_wait=\)")
        document = self.show()
        self.assertEqual([p["verdict"] for p in document["phases"]],
                         ["degraded", "degraded"])
        self.assertAlmostEqual(document["phases"][1]["total"]["ios"], 200,
                               delta=80)  # its share of two seconds

    def test_too_few_end_the_campaign_after_the_wait(self):
        status, said = self.lose_one("host_wait=3s")
        self.assertEqual(status, 1, said)
        self.assertIn("waits for a2", said)
        self.assertIn("1 of 2 hosts are there; missing after 3 s: a2", said)


if __name__ == "__main__":
    lab.main()
