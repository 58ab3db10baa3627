#!/usr/bin/env python3
"""Drives that are not empty: what is refused, asked for, overwritten, kept."""
import json
import os
import pty
import re
import select
import signal
import subprocess
import unittest

import lab

MIB = 1 << 20


class Overwrite(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        lab.need_root()

    def setUp(self):
        self.lab = lab.Lab()
        self.lab.__enter__()
        self.addCleanup(self.lab.__exit__, None, None, None)
        self.drive = self.lab.drive(64)

    def parm(self, more="", run="elapsed=2", sd=""):
        return self.lab.file(f"{len(more)}{len(run)}{len(sd)}.parm", f"""
sd=sd1,lun={self.drive.path},openflags=o_direct,threads=2{more}
wd=wd1,sd=sd1,rdpct=0,xfersize=4k,seekpct=100{sd}
rd=rd1,wd=wd1,iorate=200,interval=1,{run}
""")

    def run_it(self, parm, *more, check=None):
        return self.lab.lockstep("run", "-f", parm, "--offer", self.drive.path,
                                 *more, check=check)

    def mkfs(self, label="precious"):
        lab.run("mkfs.ext4", "-q", "-F", "-L", label, self.drive.path)

    def content(self):
        with open(self.drive.file, "rb") as file:
            return file.read()

    def test_case_F06_a_file_system_needs_consent_and_consent_is_to_it(self):
        self.mkfs()
        before = self.content()
        said = self.run_it(self.parm(), check=1)
        self.assertIn('ext4 file system "precious"', said.stderr)
        self.assertIn("overwrite=yes", said.stderr)

        # overwrite=yes alone asks; a script gets the command to repeat, and
        # who only checks reads it as well.
        parm = self.parm(",overwrite=yes")
        said = self.lab.lockstep("check", "--here", "-f", parm, "--offer",
                                 self.drive.path, check=0)
        self.assertIn('will be destroyed: ext4 file system "precious"',
                      said.stderr)
        said = self.run_it(parm, check=2)
        self.assertIn('ext4 file system "precious"', said.stderr)
        self.assertIn(self.drive.path, said.stderr)
        again = re.search(r"^  (lockstep run .* --yes ([0-9a-f]{16}))$",
                          said.stderr, re.M)
        self.assertIn(str(parm), again.group(1))
        document = json.loads(self.run_it(parm, "--json", check=2).stdout)
        self.assertEqual(document["consent"]["hash"], again.group(2))
        listed = document["consent"]["drives"][0]
        self.assertEqual(listed["path"], self.drive.path)
        self.assertEqual(listed["size_bytes"], 64 * MIB)
        self.assertEqual(self.content(), before)

        # The hash of another list is no consent.
        self.mkfs("other")
        before = self.content()
        said = self.run_it(parm, "--yes", again.group(2), check=2)
        self.assertIn('ext4 file system "other"', said.stderr)
        self.assertIn("not what is there", said.stderr)
        self.assertEqual(said.stderr.count("--yes " + again.group(2)), 0)
        self.assertEqual(self.content(), before)

        # That of this list is.
        new = re.search(r"--yes ([0-9a-f]{16})$", said.stderr, re.M).group(1)
        self.run_it(parm, "--yes", new, check=0)
        self.assertNotEqual(self.content(), before)

    def test_case_F02_a_person_is_asked_and_may_say_no(self):
        self.mkfs()
        parm = self.parm(",overwrite=yes")
        for answer, status in (("no\n", 2), ("yes\n", 0)):
            master, slave = pty.openpty()
            process = subprocess.Popen(
                self.lab.words("run", "-f", parm, "--offer", self.drive.path),
                stdin=slave, stderr=slave, stdout=subprocess.DEVNULL,
                cwd=self.lab.folder)
            os.close(slave)
            said = b""
            while b"Type yes: " not in said:
                self.assertTrue(select.select([master], [], [], 20)[0], said)
                said += os.read(master, 4096)
            self.assertIn(b"precious", said)
            os.write(master, answer.encode())
            self.assertEqual(process.wait(60), status)
            os.close(master)

    def test_case_F01_a_mounted_drive_is_refused_whatever_was_said(self):
        self.mkfs()
        parm = self.parm(",overwrite=yes")
        said = self.run_it(parm, check=2)
        yes = re.search(r"--yes ([0-9a-f]{16})$", said.stderr, re.M).group(1)
        folder = self.lab.folder / "mounted"
        folder.mkdir()
        lab.run("mount", self.drive.path, folder)
        self.addCleanup(lab.run, "umount", folder, check=False)
        said = self.run_it(parm, "--yes", yes, check=1)
        self.assertIn(f"mounted on {folder}", said.stderr)

    def test_a_second_run_needs_no_consent_to_what_the_first_left(self):
        parm = self.parm()
        self.run_it(parm, check=0)
        self.run_it(parm, check=0)
        with open(self.drive.path, "r+b", buffering=0) as drive:
            drive.seek(20 * MIB)
            drive.write(b"somebody's data".ljust(4096))
            os.fsync(drive.fileno())
        said = self.run_it(parm, check=1)
        self.assertIn("data of no known kind", said.stderr)

    def test_nothing_is_written_outside_the_printed_regions(self):
        with open(self.drive.file, "r+b") as file:
            file.write(bytes([0xa5]) * (64 * MIB))
        parm = self.parm(",overwrite=yes", "elapsed=2", ",range=(25,50)")
        document = self.lab.json("check", "-f", parm)
        cell = document["runs"][0]["cells"][0]
        said = self.run_it(parm, check=2)
        yes = re.search(r"--yes ([0-9a-f]{16})$", said.stderr, re.M).group(1)
        self.run_it(parm, "--yes", yes, check=0)
        low, high = 16 * MIB, 32 * MIB
        after = self.content()
        self.assertEqual(after[:low].strip(b"\xa5"), b"")
        self.assertEqual(after[high:].strip(b"\xa5"), b"")
        self.assertNotEqual(after[low:high].strip(b"\xa5"), b"")
        self.assertIsNotNone(cell)

    def test_a_fleet_asks_the_same_and_tells_its_agents(self):
        self.mkfs()
        self.lab.controller()
        self.lab.agent("a1", None, offers=[self.drive.path])
        parm = self.lab.file("fleet.parm", f"""
hd=a1
sd=sd1,host=a1,lun={self.drive.path},openflags=o_direct,overwrite=yes
wd=wd1,sd=sd1,rdpct=0,xfersize=4k
rd=rd1,wd=wd1,iorate=100,elapsed=2,interval=1
""")
        document = self.lab.json("submit", "-f", parm, check=2)
        yes = document["consent"]["hash"]
        self.assertEqual(document["consent"]["drives"][0]["host"], "a1")
        self.assertEqual(self.lab.json("campaigns")["campaigns"], [])
        self.lab.lockstep("submit", "--wait", "-f", parm, "--yes", yes,
                          check=0)

    def test_case_F03_drives_swapped_behind_their_names(self):
        """A campaign waits; meanwhile another drive gets the name."""
        other = self.lab.drive(64)
        self.lab.controller()
        self.lab.agent("a1", None,
                       offers=[self.drive.path, other.path])
        text = f"""
hd=a1
sd=sd1,host=a1,lun={other.path},openflags=o_direct,threads=1
sd=sd2,host=a1,lun={self.drive.path},openflags=o_direct,threads=1
wd=wd1,sd=sd1,rdpct=100,xfersize=4k
wd=wd2,sd=sd2,rdpct=0,xfersize=4k
rd=rd1,wd=wd1,iorate=100,elapsed=4,interval=1
rd=rd2,wd=wd2,iorate=100,elapsed=2,interval=1
"""
        before = self.content()
        submitted = self.lab.json("submit", "-f",
                                  self.lab.file("swap.parm", text))
        lab.wait_until(lambda: other.reads() > 10, what="the first phase")
        lab.run("losetup", "--detach", self.drive.path)
        lab.run("losetup", self.drive.path, self.drive.file)
        said = self.lab.lockstep("watch", submitted["campaign"])
        self.assertEqual(said.returncode, 1, said.stdout + said.stderr)
        self.assertIn("its disk sequence was", said.stderr)
        self.assertEqual(self.content(), before)

    def test_a_second_controller_cannot_take_a_leased_drive(self):
        """Two agents of one host, one for each controller."""
        self.lab.controller()
        self.lab.agent("a1", None, offers=[self.drive.path])
        text = """
hd=a1
sd=sd1,host=a1,lun=%s,openflags=o_direct,threads=1
wd=wd1,sd=sd1,rdpct=50,xfersize=4k
rd=rd1,wd=wd1,iorate=50,elapsed=60,interval=1
"""
        parm = self.lab.file("lease.parm", text % self.drive.path)
        number = self.lab.json("submit", "-f", parm)["campaign"]
        lab.wait_until(lambda: self.drive.reads() > 10, what="the load")
        second = lab.Lab()
        second.__enter__()
        self.addCleanup(second.__exit__, None, None, None)
        second.controller()
        second.agent("a1", None, offers=[self.drive.path])
        said = second.lockstep("submit", "--wait", "-f", parm, check=1)
        self.assertIn("is in use: ", said.stderr)
        self.assertIn("lockstep-agent", said.stderr)
        self.lab.lockstep("stop", number, check=0)
        lab.wait_until(lambda: self.lab.json("status", number, check=None)
                       ["verdict"] == "interrupted", what="its end")


if __name__ == "__main__":
    lab.main()
