#!/usr/bin/env python3
"""Bad input and bad days: one line that names the thing and the remedy."""
import json
import os
import signal
import socket
import subprocess
import unittest

import lab

LOAD = """
{hosts}
sd=default,openflags=o_direct,threads=4
{drives}
wd=wd1,sd=sd*,rdpct=100,seekpct=100,xfersize=4k
rd=rd1,wd=wd1,iorate={rate},elapsed={elapsed},interval=1
"""


class BadDays(unittest.TestCase):
    def setUp(self):
        self.lab = lab.Lab()
        self.lab.__enter__()
        self.addCleanup(self.lab.__exit__, None, None, None)

    def daemon(self, *words):
        """A controller that must not come up: its last words and status."""
        process = self.lab.start("failing", [lab.LOCKSTEPD, *words])
        status = process.wait(20)
        lines = process.text().strip().splitlines()
        self.assertTrue(lines, "it said nothing")
        return status, lines[-1]

    def load(self, agents, rate=500, elapsed=60):
        drives = {name: self.lab.drive(32) for name in agents}
        text = LOAD.format(
            hosts="\n".join(f"hd={name}" for name in agents), rate=rate,
            elapsed=elapsed, drives="\n".join(
                f"sd=sd{i},host={name},lun={drives[name].path}"
                for i, name in enumerate(agents)))
        return drives, self.lab.file("x.parm", text)

    # ---- the daemons

    def test_a_port_in_use(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            status, said = self.daemon("--listen", f"127.0.0.1:{port}",
                                       "--store", self.lab.folder / "a.db")
        self.assertNotEqual(status, 0)
        self.assertIn(str(port), said)
        self.assertIn("in use", said)

    def test_a_store_that_cannot_be_made(self):
        status, said = self.daemon("--listen", "127.0.0.1:0", "--store",
                                   "/proc/nowhere/lockstep.db")
        self.assertNotEqual(status, 0)
        self.assertIn("/proc/nowhere", said)

    def test_a_hangup_ends_in_order_unless_it_is_ignored(self):
        """With nohup(1) they outlive the terminal."""
        def ignore():
            signal.signal(signal.SIGHUP, signal.SIG_IGN)

        words = [lab.LOCKSTEPD, "--listen", "127.0.0.1:0", "--http", "off",
                 "--store", self.lab.folder / "lockstep.db"]
        kept = self.lab.start("kept", words, preexec_fn=ignore)
        port = kept.wait_for(r"listening on \S+:(\d+)").group(1)
        self.lab.at = f"127.0.0.1:{port}"
        agent = self.lab.start("agent", [
            lab.AGENT, "--name", "a1", "--controller", self.lab.at,
            "--state-directory", self.lab.folder], preexec_fn=ignore)
        agent.wait_for("connected")
        for process in (agent, kept):
            process.signal(signal.SIGHUP)
        hosts = self.lab.json("hosts")["hosts"]
        self.assertEqual([h["state"] for h in hosts], ["connected"])
        agent.end()
        kept.end()
        self.assertNotIn("SIGHUP", agent.text() + kept.text())
        ended = self.lab.start("ended", words)
        ended.wait_for("listening")
        ended.signal(signal.SIGHUP)
        self.assertEqual(ended.wait(10), 0)
        self.assertIn("the controller's end (SIGHUP)", ended.text())

    def test_no_keys_no_network(self):
        status, said = self.daemon("--listen", "0.0.0.0:0", "--store",
                                   self.lab.folder / "a.db")
        self.assertNotEqual(status, 0)
        self.assertIn("lockstep keys init", said)

    def test_a_configuration_with_an_unknown_key(self):
        conf = self.lab.file("c.conf", "listen = 127.0.0.1:0\nbogus = 1\n")
        status, said = self.daemon("--config", conf)
        self.assertEqual(status, 2)
        self.assertIn("bogus", said)
        self.assertIn("line 2", said)

    def test_case_O03_keys_that_others_may_read(self):
        self.lab.make_keys("a1")
        os.chmod(self.lab.keys / "controller.pem", 0o644)
        status, said = self.daemon("--listen", "127.0.0.1:0", "--keys",
                                   self.lab.keys / "controller.pem",
                                   "--store", self.lab.folder / "a.db")
        self.assertNotEqual(status, 0)
        self.assertIn("controller.pem", said)
        self.assertIn("chmod 600", said)

    def test_no_controller(self):
        said = self.lab.lockstep("hosts", "-c", "127.0.0.1:9", "--json",
                                 check=5)
        self.assertIn("127.0.0.1:9", json.loads(said.stdout)["error"])

    def test_an_address_that_is_none_is_wrong_usage(self):
        for word in ("nonsense", "host:99999", ":", "a:b:c", ""):
            for command in (["hosts"], ["watch", "1"], ["report", "1"]):
                said = self.lab.lockstep(*command, "-c", word, check=2)
                self.assertIn(f"'{word}' is no address", said.stderr)
        said = self.lab.lockstep("hosts", "-c", "127.0.0.1:9", "--keys",
                                 "/absent.pem", check=2)
        self.assertIn("/absent.pem", said.stderr)

    # ---- campaigns

    def test_a_host_nobody_knows(self):
        self.lab.controller()
        self.lab.agent("a1")
        _, parm = self.load(["nobody"])
        document = self.lab.json("submit", "-f", parm, check=2)
        self.assertIn("nobody", document["error"])
        self.assertIn("a1", document["text"] + document["error"])

    def test_a_drive_that_is_not_there(self):
        self.lab.controller()
        self.lab.agent("a1")
        parm = self.lab.file("x.parm", LOAD.format(
            hosts="hd=a1", drives="sd=sd1,host=a1,lun=/dev/absent7", rate=10,
            elapsed=2))
        document = self.lab.json("submit", "--wait", "-f", parm, check=1)
        self.assertIn("/dev/absent7", document["error"])
        self.assertIn("a1", document["error"])

    def test_two_campaigns_that_want_one_drive(self):
        """The second waits, naming the holder, and then runs."""
        self.lab.controller()
        self.lab.agent("a1")
        _, parm = self.load(["a1"], elapsed=4)
        first = self.lab.json("submit", "-f", parm)["campaign"]
        second = self.lab.json("submit", "-f", parm)["campaign"]
        note = lab.wait_until(
            lambda: self.lab.json("status", str(second)).get("note"),
            what="a note of the waiting campaign")
        self.assertIn(str(first), note)
        lab.wait_until(lambda: self.lab.json("status", str(second),
                                             check=None)["verdict"],
                       30, "the end of the second")
        for number in (first, second):
            self.assertEqual(self.lab.json("show", str(number))["verdict"],
                             "complete")

    def test_case_C04_a_lost_agent_degrades_the_phase(self):
        self.lab.controller()
        self.lab.agent("a1", None, "--lease", "2s")
        lost = self.lab.agent("a2", None, "--lease", "2s")
        drives, parm = self.load(["a1", "a2"], elapsed=10)
        number = str(self.lab.json("submit", "-f", parm)["campaign"])
        lab.wait_until(lambda: drives["a2"].reads() > 300,
                       what="load on both")
        lost.signal(signal.SIGKILL)
        lab.wait_until(lambda: self.lab.json("status", number,
                                             check=None)["verdict"],
                       90, "a verdict")
        said = self.lab.lockstep("show", number, "--json", check=3)
        document = json.loads(said.stdout)
        self.assertEqual(document["verdict"], "degraded")
        self.assertIn("a2", document["error"])
        phase = document["phases"][0]
        hosts = {h["name"]: h["ios"] for h in phase["hosts"]}
        self.assertGreater(hosts["a1"], 2200)

    def test_a_full_disk_for_the_store(self):
        lab.need_root()
        small = self.lab.folder / "small"
        small.mkdir()
        lab.run("mount", "-t", "tmpfs", "-o", "size=2m", "none", small)
        self.lab.undo(lab.run, "umount", "--lazy", small, check=False)
        process = self.lab.start("controller", [
            lab.LOCKSTEPD, "--listen", "127.0.0.1:0", "--store",
            small / "lockstep.db"])
        port = process.wait_for(r"listening on \S+:(\d+)").group(1)
        self.lab.at = f"127.0.0.1:{port}"
        self.lab.agent("a1")
        drives, parm = self.load(["a1"], elapsed=60)
        number = str(self.lab.json("submit", "-f", parm)["campaign"])
        lab.wait_until(lambda: drives["a1"].reads() > 300,
                       what="load")
        watch = subprocess.Popen(self.lab.words("watch", number), text=True,
                                 stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT)
        self.addCleanup(watch.kill)
        ballast = os.open(small / "ballast", os.O_WRONLY | os.O_CREAT)
        self.lab.undo(os.close, ballast)
        try:
            while os.write(ballast, bytes(4096)) > 0:
                pass
        except OSError:
            pass
        process.wait_for("the disk is full; free some space", 30)
        self.assertTrue(drives["a1"].idle(5), "the load goes on")
        out, _ = watch.communicate(timeout=60)
        self.assertEqual(watch.returncode, 1)
        self.assertIn("the disk is full", out)
        os.ftruncate(ballast, 0)
        lab.wait_until(lambda: self.lab.json("status", number, check=None)
                       .get("verdict") == "failed", 30, "a stored verdict")
        self.assertIsNone(process.popen.poll(), "the controller ended")


if __name__ == "__main__":
    lab.main()
