#!/usr/bin/env python3
"""drive=: drives selected by what they are, on this host and in a fleet."""
import unittest

import lab

TEXT = """
{hosts}sd=sd1,drive=(model="loop on {folder}/*",size=16m,count={count}),openflags=o_direct
wd=wd1,sd=sd1,rdpct=100
rd=rd1,wd=wd1,iorate=200,elapsed=2,interval=1
"""


class Drives(unittest.TestCase):
    def setUp(self):
        self.lab = lab.Lab()
        self.lab.__enter__()
        self.addCleanup(self.lab.__exit__, None, None, None)
        self.drives = [self.lab.drive(16) for _ in range(2)]
        self.other = self.lab.drive(32)  # of another size

    def file(self, count=2, hosts=""):
        return self.lab.file("d.parm", TEXT.format(
            folder=self.lab.memory, count=count, hosts=hosts))

    def paths(self):
        return sorted(drive.path for drive in self.drives)

    def test_run_selects_this_hosts_drives(self):
        said = self.lab.lockstep("run", "-f", self.file(), "-o", "out",
                                 check=0)
        for n, path in enumerate(self.paths(), 1):
            self.assertRegex(said.stdout, f"sd1_{n} +localhost .*{path}\n")
        self.assertGreater(min(d.reads() for d in self.drives), 50)

    def test_check_here_has_identity_size_and_regions(self):
        plan = self.lab.json("check", "--here", "-f", self.file())
        self.assertEqual(sorted(d["path"] for d in plan["drives"]),
                         self.paths())
        for drive in plan["drives"]:
            self.assertEqual(drive["size_bytes"], 16 << 20)
            self.assertIn("loop on", drive["model"])
        for cell in plan["runs"][0]["cells"]:
            self.assertEqual((cell["low"], cell["high"]), (4096, 16 << 20))
        said = self.lab.lockstep("check", "--here", "--runs", "-f",
                                 self.file(), check=0)
        self.assertEqual(said.stdout.splitlines()[1], "rd1\t200\t2\t0\t-")

    def test_another_count_is_an_error_with_what_was_found(self):
        said = self.lab.lockstep("check", "--here", "-f", self.file(3),
                                 check=2)
        self.assertIn("count=3 drives of host localhost are asked for, 2 fit",
                      said.stderr)
        for path in self.paths():
            self.assertIn(path.rsplit("/", 1)[1], said.stderr)

    def test_a_fleet_is_asked_and_nothing_is_queued(self):
        self.lab.controller()
        self.lab.agent("a")
        parm = self.file(hosts="hd=a\n")
        said = self.lab.lockstep("check", "--fleet", "-f", parm, check=0)
        for path in self.paths():
            self.assertIn(path, said.stdout)
        self.assertEqual(self.lab.json("campaigns")["campaigns"], [])
        said = self.lab.lockstep("submit", "--wait", "-f", parm, check=0)
        self.assertIn("sd1_2", said.stdout)
        campaign = self.lab.json("show", "1")
        self.assertEqual([d["name"] for d in campaign["phases"][0]["drives"]],
                         ["a:sd1_1", "a:sd1_2"])

    def test_check_alone_says_that_they_come_later(self):
        said = self.lab.lockstep("check", "-f", self.file(), check=0)
        self.assertIn("selected when the fleet is known", said.stderr)
        self.assertIn("sd1_2", said.stdout)  # count= is known


if __name__ == "__main__":
    lab.main()
