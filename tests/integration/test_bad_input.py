#!/usr/bin/env python3
"""Hostile and unlucky input: what `lockstep` says to it, and leaves behind."""
import json
import os
import shutil
import signal
import subprocess
import unittest

import lab

GOOD = """sd=sd1,lun={lun},size=16m,threads=2,openflags=o_direct
wd=wd1,sd=sd1,rdpct=100,seekpct=100,xfersize=4k
rd=rd1,wd=wd1,iorate={rate},elapsed={elapsed},interval=1
"""


class BadInput(unittest.TestCase):
    def setUp(self):
        self.lab = lab.Lab()
        self.lab.__enter__()
        self.addCleanup(self.lab.__exit__, None, None, None)
        self.out = self.lab.folder / "out"

    def parm(self, name="x.parm", rate=200, elapsed=2, lun=None):
        text = GOOD.format(lun=lun or self.lab.folder / "scratch", rate=rate,
                           elapsed=elapsed)
        path = os.path.join(os.fsencode(self.lab.folder), os.fsencode(name))
        with open(path, "wb") as out:
            out.write(os.fsencode(text))
        return os.fsdecode(path)

    def refused(self, parm, *words):
        """Exit status 2, one document with an error, nothing left behind."""
        for command in ("check", "run"):
            more = ["-o", self.out] if command == "run" else []
            document = self.lab.json(command, "-f", parm, *more, *words,
                                     check=2)
            self.assertEqual(document["verdict"], "failed")
            self.assertFalse(self.out.exists(), "it left its directory")
        return document["error"]

    def test_a_zero_byte_is_not_the_end_of_a_file(self):
        parm = self.parm()
        with open(parm, "ab") as out:
            out.write(b"\0rd=rd2,wd=wd1,elapsed=1\n")
        self.assertIn("zero byte", self.refused(parm))

    def test_bytes_that_are_no_text(self):
        for lun in ("/tmp/a\udcffb", "/tmp/a\u0085b", "/tmp/a\x1b[1mb"):
            self.assertIn("character", self.refused(self.parm(lun=lun)))

    def test_the_name_of_a_file_may_have_any_bytes(self):
        document = self.lab.json(
            "run", "-f", self.parm("n\udcff\x07.parm"), "-o", self.out)
        self.assertTrue(document["name"].endswith("n??.parm"))
        document = self.lab.json("check", "-f", "absent\udcff", check=2)
        self.assertIn("absent?", document["error"])

    def test_words_that_are_no_text(self):
        parm = self.parm()
        for words in (["--name", "a\udcff"], ["--name", "a\x1b"], ["a=\udcff"],
                      ["--name", "x" * 2000]):
            self.refused_run(parm, words)

    def refused_run(self, parm, words):
        document = self.lab.json("run", "-f", parm, "-o", self.out, *words,
                                 check=2)
        self.assertTrue(document["error"])
        self.assertFalse(self.out.exists())

    def test_a_path_that_no_agent_takes_costs_no_agent(self):
        """It is said with its place; the agent stays, and its work too."""
        self.lab.controller()
        agent = self.lab.agent("a1")
        parm = self.lab.file("r.parm", "hd=a1\n" + GOOD.format(
            lun="relative", rate=10, elapsed=2))
        document = self.lab.json("submit", "-f", parm, check=2)
        self.assertIn("r.parm:2", document["error"])
        self.assertIn("relative", document["error"])
        self.assertEqual(agent.text().count("connected"), 1)

    def test_a_refused_file_leaves_nothing(self):
        parm = self.parm(lun="/dev/absent0")
        self.lab.lockstep("run", "-f", parm, "-o", self.out, check=1)
        self.assertFalse(self.out.exists())

    # ---- output

    def run_words(self, parm, *more):
        return self.lab.words("run", "-f", parm, "-o", self.out, *more)

    def test_output_that_cannot_be_written_is_no_success(self):
        parm = self.parm()
        for words in (["run", "-f", parm, "-o", self.out],
                      ["check", "-f", parm], ["check", "--json", "-f", parm]):
            with open("/dev/full", "w") as full:
                ended = subprocess.run(self.lab.words(*words), stdout=full,
                                       stderr=subprocess.PIPE, text=True,
                                       timeout=60)
            self.assertEqual(ended.returncode, 1)
            self.assertIn("cannot write the output", ended.stderr)

    def test_a_result_that_cannot_be_kept_is_no_success(self):
        parm = self.parm(elapsed=4)
        process = subprocess.Popen(self.run_words(parm), text=True,
                                   stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        for line in process.stdout:
            if "Starting RD=rd1" in line:
                shutil.rmtree(self.out)
                break
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        self.assertIn("result.json", errors)

    def test_the_end_of_the_reader_ends_the_load(self):
        parm = self.parm(elapsed=60)
        process = subprocess.Popen(self.run_words(parm), text=True,
                                   stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        for line in process.stdout:
            if "Starting RD=rd1" in line:
                break
        process.stdout.close()
        self.assertEqual(process.wait(30), 4)
        self.assertIn("nobody reads", process.stderr.read())
        process.stderr.close()
        document = json.loads((self.out / "result.json").read_text())
        self.assertEqual(document["verdict"], "interrupted")

    def test_without_any_descriptor(self):
        """Sockets and the store must not become somebody's output."""
        parm = self.parm()
        ended = subprocess.run(
            ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh",
             *self.run_words(parm)], timeout=60)
        self.assertEqual(ended.returncode, 0)
        document = json.loads((self.out / "result.json").read_text())
        self.assertEqual(document["verdict"], "complete")

    def test_nohup_outlives_the_terminal(self):
        parm = self.parm(elapsed=4)
        process = subprocess.Popen(
            self.run_words(parm), text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.addCleanup(process.kill)
        for line in process.stdout:
            if "Starting RD=rd1" in line:
                process.send_signal(signal.SIGHUP)
                break
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)

    # ---- more than there can be

    def test_a_rate_beyond_all_hardware(self):
        document = self.lab.json(
            "run", "-f", self.parm(rate=1000000000), "-o", self.out)
        total = document["phases"][-1]["total"]
        self.assertGreater(total["ios"], 0)
        self.assertAlmostEqual(total["unissued"], 2e9, delta=2e7)


if __name__ == "__main__":
    lab.main()
