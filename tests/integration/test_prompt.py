#!/usr/bin/env python3
"""`lockstep` at a terminal: the prompt, its Tab key, and the live screen."""
import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unittest

import lab

PARM = """
sd=sd1,lun={lun},size=16m,threads=2,openflags=o_direct
wd=wd1,sd=sd1,rdpct=70,xfersize=4k
rd=rd7,wd=wd1,iorate=500,elapsed=60,interval=1
"""


class Terminal:
    """A program at a terminal of its own."""

    def __init__(self, words, env, rows=30, columns=110):
        self.said = ""
        self.status = None
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(words[0], [str(word) for word in words], env)
        self.resize(rows, columns)

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds):
        """What comes within that time; "" at the end."""
        ready, _, _ = select.select([self.fd], [], [], seconds)
        if not ready:
            return ""
        try:
            got = os.read(self.fd, 65536).decode("utf-8", "replace")
        except OSError:
            return ""
        self.said += got
        return got

    def type(self, text):
        """Forgets what was said before."""
        self.said = ""
        os.write(self.fd, text.encode())

    def wait_for(self, pattern, seconds=30):
        limit = time.monotonic() + seconds
        while not re.search(pattern, self.said):
            if time.monotonic() > limit:
                raise AssertionError(f"no {pattern!r} in: {self.said!r}")
            self.read(0.2)
        return self.said

    def leave(self):
        """Ctrl-D, until it is seen: a line editor prints its prompt a moment
        before it has the keys.  The exit status."""
        for _ in range(30):
            try:
                os.write(self.fd, b"\x04")
            except OSError:
                break
            if self.gone(1):
                break
        return self.end()

    def gone(self, seconds):
        limit = time.monotonic() + seconds
        while self.status is None and time.monotonic() < limit:
            self.read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid != 0:
                self.status = os.waitstatus_to_exitcode(status)
        return self.status is not None

    def end(self, seconds=30):
        """Waits for its end; the exit status."""
        if not self.gone(seconds):
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            raise AssertionError(f"still there after: {self.said!r}")
        os.close(self.fd)
        return self.status


class Prompt(unittest.TestCase):
    def setUp(self):
        self.lab = lab.Lab()
        self.lab.__enter__()
        self.addCleanup(self.lab.__exit__, None, None, None)

    def fleet(self):
        self.lab.controller()
        self.lab.agent("nas1", offers=[f"{self.lab.folder}/"])
        lab.wait_until(lambda: self.lab.json("hosts")["hosts"],
                       what="the agent")

    def env(self, **options):
        env = dict(os.environ, HOME=str(self.lab.folder), TERM="xterm",
                   LANG="C.UTF-8",
                   LOCKSTEP_CONTROLLER=self.lab.at or "127.0.0.1:1")
        env.pop("XDG_STATE_HOME", None)
        return dict(env, **options)

    def terminal(self, *words, **options):
        return Terminal([lab.LOCKSTEP, *words], self.env(**options))

    def ask(self, *words):
        """Standard output and error, and the exit status, without a terminal."""
        said = subprocess.run([lab.LOCKSTEP, *words], env=self.env(),
                              stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=30, check=False)
        return said.stdout, said.stderr, said.returncode

    def history(self):
        return self.lab.folder / ".local/state/lockstep/history"

    def test_commands_history_and_errors(self):
        self.fleet()
        at = self.terminal()
        at.wait_for("lockstep> ")
        at.type("hosts\n")
        at.wait_for(r"nas1 +connected[\s\S]*lockstep> ")
        at.type("chekc\n")
        at.wait_for("there is no command 'chekc'[\\s\\S]*lockstep> ")
        at.type('check -f "two words.parm"\n')
        at.wait_for("cannot read 'two words.parm'")
        at.type('"open\n')
        at.wait_for(r"a quote is open[\s\S]*lockstep> ")
        at.type("half a line\x03")
        at.wait_for("lockstep> $")
        at.type("exit\n")
        self.assertEqual(at.end(), 2)  # as the last command's
        self.assertEqual(self.history().stat().st_mode & 0o777, 0o600)
        self.assertIn("chekc", self.history().read_text())
        again = self.terminal()
        again.wait_for("lockstep> ")
        again.type("\x1b[A\x1b[A\x1b[A\n")
        again.wait_for(r"cannot read 'two words.parm'[\s\S]*lockstep> ")
        self.assertEqual(again.leave(), 2)

    def test_tab_completes_commands_options_and_names(self):
        self.fleet()
        at = self.terminal()
        at.wait_for("lockstep> ")
        at.type("dri\t")
        at.wait_for("ves ")
        at.type("n\t")
        at.wait_for("as1 ")
        at.type("--js\t")
        at.wait_for("on ")
        at.type("\n")
        at.wait_for('"drives"')
        at.type("c\t")
        at.wait_for("check\r?\n[\\s\\S]*campaigns")
        at.type("\x03")
        at.wait_for("lockstep> $")
        at.type("exit\n")
        self.assertEqual(at.end(), 0)

    def test_a_setting_holds_for_the_commands_behind_it(self):
        at = self.terminal()
        at.wait_for("lockstep> ")
        at.type("-c 127.0.0.1:2\nhosts\n")
        at.wait_for(r"no controller at 127.0.0.1:2[\s\S]*lockstep> ")
        self.assertEqual(at.leave(), 5)

    def test_without_a_terminal_it_is_a_mistake(self):
        _, error, status = self.ask()
        self.assertEqual(status, 2)
        self.assertIn("no command", error)

    def test_other_shells_ask_the_program(self):
        self.fleet()

        def offers(*words):
            return self.ask("--complete", *words)[0].splitlines()
        self.assertEqual(offers("st"), ["status", "stop"])
        self.assertEqual(offers("drives", ""), ["nas1"])
        self.assertEqual(offers("check", "--r"), ["--runs"])
        folder = self.lab.folder / "a b"
        folder.mkdir()
        self.assertEqual(offers("check", "-f", f"{self.lab.folder}/a "),
                         [f"{folder}/"])

    def test_bash_completes(self):
        self.fleet()
        script = pathlib.Path(__file__).parents[2] / "deploy/completion/lockstep"
        said = subprocess.run(
            ["bash", "-c", f"""source {script}
             COMP_WORDS=({lab.LOCKSTEP} drives n) COMP_CWORD=2
             _lockstep; echo "${{COMPREPLY[@]}}" """],
            env=self.env(), capture_output=True, text=True, check=True)
        self.assertEqual((said.stdout, said.stderr), ("nas1\n", ""))

    def test_the_live_screen(self):
        self.fleet()
        self.lab.lockstep("submit", "-f",
                          self.lab.file("x.parm", PARM.format(
                              lun=self.lab.folder / "f")), check=0)
        at = self.terminal("watch")
        at.wait_for("I/O per second")
        at.wait_for("rd7")
        at.wait_for("█")
        at.wait_for("drive, slowest first")
        at.type("")
        at.resize(15, 60)
        at.wait_for("phase 2 of 2")  # drawn anew
        at.type("w")
        at.wait_for("workload")
        at.type("q")
        self.assertEqual(at.end(), 4)
        self.assertIn("\x1b[?1049l", at.said)  # the terminal is as it was
        after = at.said[at.said.rindex("\x1b[?1049l"):]
        self.assertIn("campaign 1 goes on", after)
        self.assertIn("Starting RD=rd7", after)
        self.assertEqual(self.lab.json("status")["state"], "running")

        at = self.terminal("watch")
        at.wait_for("█")
        self.lab.lockstep("stop", "1", check=0)
        self.assertEqual(at.end(), 4)
        after = at.said[at.said.rindex("\x1b[?1049l"):]
        self.assertIn("interrupted", after)
        self.assertIn("service", after)

    def test_rows_where_the_terminal_cannot_or_is_not_to(self):
        self.fleet()
        self.lab.lockstep("submit", "-f",
                          self.lab.file("x.parm", PARM.format(
                              lun=self.lab.folder / "f")), check=0)
        for words, term in (["watch", "--lines"], "xterm"), (["watch"], "dumb"):
            at = self.terminal(*words, TERM=term)
            at.wait_for("Starting RD=rd7")
            at.wait_for(r"\d\d:\d\d:\d\d\.\d{3} +\d+ +\d+\.\d ")
            at.type("\x03")
            self.assertEqual(at.end(), 4)
            self.assertNotIn("\x1b[?1049h", at.said)


if __name__ == "__main__":
    lab.main()
