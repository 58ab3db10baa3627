#!/usr/bin/env python3
"""`lockstep check`: the plan, or all that is wrong, and the exit status."""
import json
import unittest

import lab

GOOD = """
sd=default,openflags=o_direct
sd=sd1,lun=/dev/nvme0n1
sd=sd2,lun=/dev/nvme1n1
wd=wd1,sd=sd*,rdpct=70,seekpct=100,xfersize=(4k,50,8k,50)
rd=rd1,wd=wd1,iorate=curve,curve=(50,100),elapsed=10,interval=1,forthreads=(1,16)
"""

BAD = """
sd=sd1,lun=/dev/nvme0n1
wd=wd1,sd=sd1,rdpct=101,xfersize=0
wd=wd2,sd=sdx,bogus=3
rd=rd1,wd=wd1,iorate=max
"""


class Check(unittest.TestCase):
    def setUp(self):
        self.lab = self.enterContext(lab.Lab())

    def enterContext(self, manager):
        value = manager.__enter__()
        self.addCleanup(manager.__exit__, None, None, None)
        return value

    def test_table_shows_runs_and_drives(self):
        said = self.lab.lockstep("check", "-f", self.lab.file("g", GOOD),
                                 check=0)
        for word in ("rd1_(50%)", "/dev/nvme0n1", "/dev/nvme1n1", " 16 "):
            self.assertIn(word, said.stdout)
        self.assertEqual(said.stderr, "")

    def test_runs_are_tab_separated(self):
        said = self.lab.lockstep("check", "--runs", "-f",
                                 self.lab.file("g", GOOD), check=0)
        lines = said.stdout.splitlines()
        self.assertEqual(lines[0], "run\tiorate\telapsed_s\twarmup_s\tfor")
        self.assertEqual([l.split("\t")[1] for l in lines[1:]],
                         ["curve", "50%", "100%"] * 2)

    def test_json_is_one_document(self):
        document = self.lab.json("check", "-f", self.lab.file("g", GOOD))
        self.assertEqual(document["verdict"], "complete")
        self.assertEqual(len(document["runs"]), 6)

    def test_all_errors_at_once_with_their_places(self):
        said = self.lab.lockstep("check", "-f", self.lab.file("b", BAD),
                                 check=2)
        self.assertEqual(said.stdout, "")
        for place in ("b:3:", "b:4:"):
            self.assertIn(place, said.stderr)
        for word in ("rdpct", "xfersize", "sdx", "bogus"):
            self.assertIn(word, said.stderr)

    def test_json_holds_the_errors_too(self):
        document = self.lab.json("check", "-f", self.lab.file("b", BAD),
                                 check=2)
        self.assertEqual(document["verdict"], "failed")
        self.assertIn("b:3:", document["error"])
        self.assertGreaterEqual(len(document["messages"]), 4)

    def test_a_relative_lun_is_the_same_to_check_and_run(self):
        parm = self.lab.file("rel.parm", "sd=s,lun=here,size=4m,"
                             "openflags=o_direct\nrd=r,sd=s,iorate=50,"
                             "elapsed=2\n")
        said = self.lab.lockstep("check", "-f", parm, check=0)
        self.assertIn("'lockstep run' takes a relative lun= from where it is "
                      "started", said.stderr)
        plan = self.lab.json("check", "--here", "-f", parm)
        self.assertEqual(plan["drives"][0]["path"],
                         f"{self.lab.folder.resolve()}/here")
        self.lab.lockstep("run", "-f", parm, "-o", "out", check=0)
        self.assertEqual((self.lab.folder / "here").stat().st_size, 4 << 20)

    def test_what_cannot_be_read(self):
        said = self.lab.lockstep("check", "-f", "absent.parm", check=2)
        self.assertIn("absent.parm", said.stderr)
        self.assertIn("No such file", said.stderr)
        said = self.lab.lockstep("check", "-f", self.lab.folder, check=2)
        self.assertIn("directory", said.stderr)
        said = self.lab.lockstep("check", check=2)
        self.assertIn("-f FILE", said.stderr)

    def test_wrong_words_with_json_give_a_document(self):
        said = self.lab.lockstep("check", "--bogus", "--json", check=2)
        self.assertIn("--bogus", json.loads(said.stdout)["error"])

    def test_profiles_are_right(self):
        profiles = lab.pathlib.Path(__file__).parents[2] / "controller/profiles"
        drives = self.lab.file("d", "sd=sd1,lun=/dev/nvme0n1,"
                                    "openflags=o_direct\n")
        for profile in sorted(profiles.glob("*.parm")):
            words = [drives, profile]
            if profile.name == "first-look.parm":
                words = [profile, "file=/tmp/x"]
            self.lab.lockstep("check", "-f", *words, check=0)


if __name__ == "__main__":
    lab.main()
