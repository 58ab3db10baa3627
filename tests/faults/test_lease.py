#!/usr/bin/env python3
"""The dead man's switch: no load without a master, whatever breaks."""
import contextlib
import ctypes
import os
import signal
import time
import unittest

import lab

LEASE_S = 3

LOAD = """
hd={host}
sd=sd1,host={host},lun={lun},threads=4,openflags=o_direct
wd=wd1,sd=sd1,rdpct=100,seekpct=100,xfersize=4k
rd=rd1,wd=wd1,iorate={rate},elapsed={elapsed},interval=1
"""

libc = ctypes.CDLL(None, use_errno=True)
PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH = 0x4206, 0x4207, 17


@contextlib.contextmanager
def wedged(pid):
    """Stops the main thread of a process alone; its workers go on."""
    def call(request):
        if libc.ptrace(request, pid, None, None) < 0:
            raise OSError(ctypes.get_errno(), "ptrace")
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p,
                            ctypes.c_void_p]
    call(PTRACE_SEIZE)
    call(PTRACE_INTERRUPT)
    os.waitpid(pid, 0x40000000)  # __WALL
    try:
        yield
    finally:
        call(PTRACE_DETACH)


class Lease(unittest.TestCase):
    def setUp(self):
        lab.need_root()
        self.lab = lab.Lab()
        self.lab.__enter__()
        self.addCleanup(self.lab.__exit__, None, None, None)
        self.drive = self.lab.drive(32)

    def load(self, *agent_words, rate="max", elapsed=120):
        """A campaign that loads the drive; returns controller and agent."""
        controller = self.lab.controller()
        agent = self.lab.agent("a1", None, "--lease", f"{LEASE_S}s",
                               *agent_words)
        parm = self.lab.file("x.parm", LOAD.format(
            host="a1", lun=self.drive.path, rate=rate, elapsed=elapsed))
        self.number = str(self.lab.json("submit", "-f", parm)["campaign"])
        before = self.drive.completed()[0]
        lab.wait_until(lambda: self.drive.completed()[0] > before + 1000,
                       what="load on the drive")
        return controller, agent

    def idle_after(self):
        """Seconds until the kernel's counter of the drive stands still."""
        start = time.monotonic()
        last, since = self.drive.completed(), start
        while time.monotonic() - since < 0.5:
            time.sleep(0.02)
            now = self.drive.completed()
            if now != last:
                last, since = now, time.monotonic()
            self.assertLess(time.monotonic() - start, 60, "never idle")
        return since - start

    def test_case_R03_kill_9_of_the_controller(self):
        controller, _ = self.load()
        controller.signal(signal.SIGKILL)
        idle = self.idle_after()
        print(f"drive idle {idle:.2f} s after kill -9, lease {LEASE_S} s")
        self.assertLess(idle, LEASE_S + 1)
        self.assertGreater(idle, LEASE_S / 2, "it did not wait for the lease")

    def test_the_agent_with_a_wedged_loop(self):
        """Its workers keep the lease themselves."""
        _, agent = self.load()
        with wedged(agent.pid):
            idle = self.idle_after()
        print(f"drive idle {idle:.2f} s after the loop was wedged")
        self.assertLess(idle, LEASE_S + 1)

    def test_the_agent_stopped_beyond_its_lease(self):
        """SIGSTOP, then SIGCONT: what was armed in it must not fire."""
        controller, agent = self.load()
        agent.signal(signal.SIGSTOP)
        controller.signal(signal.SIGKILL)
        self.idle_after()
        time.sleep(LEASE_S + 1)
        before = self.drive.completed()[0]
        agent.signal(signal.SIGCONT)
        self.idle_after()
        # One batch that was between the check and the submission may pass.
        self.assertLessEqual(self.drive.completed()[0] - before, 64)

    def test_on_lease_lost_finish_ends_with_the_phase(self):
        controller, _ = self.load("--on-lease-lost", "finish", elapsed=8)
        controller.signal(signal.SIGKILL)
        idle = self.idle_after()
        self.assertGreater(idle, LEASE_S + 1)
        self.assertLess(idle, 10)


if __name__ == "__main__":
    lab.main()
