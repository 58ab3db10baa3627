#!/usr/bin/env python3
"""The page in Debian's Chromium, against real daemons: page.mjs has the checks.

Screenshots are left in the build folder, tests/web.
"""
import os
import pathlib
import shutil
import subprocess
import unittest

import lab

HERE = pathlib.Path(__file__).resolve().parent
SHOTS = lab.BIN / "tests" / "web"


def need_browser():
    if not (HERE / "node_modules" / "playwright-core").is_dir():
        raise unittest.SkipTest("no playwright-core: deploy/setup.sh could not "
                                "reach npm")
    for program in ("node", "chromium"):
        if shutil.which(program) is None:
            raise unittest.SkipTest(f"no {program}: run deploy/setup.sh")


class Page(unittest.TestCase):
    def setUp(self):
        need_browser()
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.lab = self.enterContext(lab.Lab())

    def drive(self, scenario, seconds=90, **environment):
        words = ["node", HERE / "page.mjs", scenario, self.lab.page, SHOTS]
        done = subprocess.run(words, text=True, timeout=seconds,
                              capture_output=True,
                              env=os.environ | environment)
        print(done.stdout, end="")
        self.assertEqual(done.returncode, 0,
                         f"{done.stdout}{done.stderr}{self.lab.logs()}")

    def test_a_persons_day(self):
        self.lab.controller(http="127.0.0.1:0")
        self.lab.agent("gone").end()
        precious = self.lab.file("precious", "all my letters\n" * 600000)
        for name in ("a", "b"):
            self.lab.agent(name, offers=[f"{self.lab.folder}/"])
        self.drive("day", DRIVES=str(self.lab.folder))
        self.assertTrue(precious.read_text().startswith("all my letters"))

    def test_for_looking(self):
        self.lab.make_keys()
        self.lab.controller(http="127.0.0.1:0")
        self.drive("looking")

    def test_a_thousand_drives(self):
        self.lab.controller(http="127.0.0.1:0")
        agents = self.lab.start("agents", [
            lab.BIN / "tests" / "scale_agents", "--controller", self.lab.at,
            "--agents", "20", "--drives", "50", "--ios", "2000"])
        agents.wait_for(r"agents are connected", 60)
        text = "".join(f"hd=h{i},system=scale{i:04d}\n" for i in range(20))
        text += "".join(f"sd=sd{k}_$host,host=$host,lun=/dev/nvme{k}n1,"
                        "openflags=o_direct,threads=4\n" for k in range(50))
        text += ("wd=w,sd=*,rdpct=100,xfersize=4k\n"
                 "rd=r,wd=w,iorate=max,elapsed=600,interval=1\n")
        number = self.lab.json("submit", "-f", self.lab.file("x.parm", text))
        self.drive("large")
        self.lab.lockstep("stop", number["campaign"], check=0)


if __name__ == "__main__":
    lab.main()
