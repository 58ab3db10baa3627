"""A lab of our own for whole-program tests: hosts, drives, daemons.

Everything is made by the test that uses it and taken down with it: network
namespaces (one bridge, no way out), time namespaces, loop drives over files,
processes ended by their id.

    with Lab() as lab:
        hosts = lab.hosts(3, clocks=[0, 86400, -86400])
        lab.make_keys("a", "b")
        lab.controller(hosts[0])
        lab.agent("a", hosts[1], offers=["/dev/loop*"])
        lab.lockstep("submit", "--wait", "-f", lab.file("x.parm", TEXT))
"""
import asyncio
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest

BIN = pathlib.Path(os.environ.get("LOCKSTEP_BIN", "build/debug")).resolve()
LOCKSTEP = BIN / "controller" / "lockstep"
LOCKSTEPD = BIN / "controller" / "lockstepd"
AGENT = BIN / "agent" / "lockstep-agent"
FAULTDRIVE = BIN / "tests" / "faultdrive"


def run(*words, check=True, **options):
    """A command of the rig itself, which must succeed."""
    return subprocess.run([str(w) for w in words], check=check, text=True,
                          capture_output=True, **options)


def wait_until(fact, seconds=20, what="a fact"):
    """Polls until fact() is true and returns its value."""
    deadline = time.monotonic() + seconds
    while True:
        value = fact()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds} s for {what}")
        time.sleep(0.02)


def is_instrumented():
    """Whether the programs were built with a sanitizer."""
    return b"__sanitizer" in AGENT.read_bytes()


def need_root():
    if os.geteuid() != 0:
        raise unittest.SkipTest("needs root for namespaces and loop drives")


class Process:
    """A program of ours with its output in a file, ended by its id.

    `ip netns exec` and `unshare --time` replace themselves by the program,
    so the id is the program's own.
    """

    def __init__(self, words, log, **options):
        self.log = pathlib.Path(log)
        self.words = [str(w) for w in words]
        with open(self.log, "ab") as out:
            self.begin = out.tell()  # an earlier one of the name has said that
            self.popen = subprocess.Popen(self.words, stdout=out, stderr=out,
                                          stdin=subprocess.DEVNULL, **options)
        self.pid = self.popen.pid

    def text(self):
        return self.log.read_text(errors="replace")

    def wait_for(self, pattern, seconds=20):
        """Waits until the program has said it; returns the match."""
        def look():
            found = re.search(pattern, self.text()[self.begin:])
            if not found and self.popen.poll() is not None:
                raise AssertionError(
                    f"ended with {self.popen.returncode} before that")
            return found
        try:
            return wait_until(look, seconds, f"'{pattern}'")
        except AssertionError as error:
            raise AssertionError(f"{' '.join(self.words)}: '{pattern}': "
                                 f"{error}; it said:\n{self.text()}") from None

    def signal(self, number):
        if self.popen.poll() is None:
            os.kill(self.pid, number)

    def wait(self, seconds=20):
        return self.popen.wait(timeout=seconds)

    def end(self):
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGTERM)
        try:
            self.popen.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.signal(signal.SIGKILL)
            self.popen.wait(timeout=10)


class Host:
    """A network namespace on the lab's bridge, with a clock of its own."""

    def __init__(self, lab, number, clock_s):
        self.lab = lab
        self.name = f"{lab.prefix}h{number}"
        self.address = f"10.77.{lab.net}.{number}"
        self.link = f"{lab.prefix}v{number}"
        self.clock_s = clock_s
        run("ip", "netns", "add", self.name)
        lab.undo(run, "ip", "netns", "del", self.name, check=False)
        run("ip", "link", "add", self.link, "netns", lab.switch, "type",
            "veth", "peer", "name", "eth0", "netns", self.name)
        run("ip", "-n", lab.switch, "link", "set", self.link, "master", "br0",
            "up")
        run("ip", "-n", self.name, "addr", "add", f"{self.address}/24", "dev",
            "eth0")
        for device in ("eth0", "lo"):
            run("ip", "-n", self.name, "link", "set", device, "up")

    def words(self):
        """What goes before a command to run it on this host."""
        words = ["ip", "netns", "exec", self.name]
        if self.clock_s:
            words += ["unshare", "--time", "--monotonic", str(self.clock_s)]
        return words

    def cut(self):
        run("ip", "-n", self.lab.switch, "link", "set", self.link, "down")

    def mend(self):
        run("ip", "-n", self.lab.switch, "link", "set", self.link, "up")


class Drive:
    """A loop drive over a file in memory."""

    def __init__(self, lab, megabytes):
        handle, self.file = tempfile.mkstemp(dir=lab.memory, suffix=".img")
        os.ftruncate(handle, megabytes << 20)
        os.close(handle)
        self.path = run("losetup", "--find", "--show",
                        self.file).stdout.strip()
        self.name = os.path.basename(self.path)
        # Read-only stays with the name, beyond the drive.
        run("blockdev", "--setrw", self.path)
        lab.undo(run, "losetup", "--detach", self.path, check=False)
        self.start = self.completed()  # of those who had this name before

    def reads(self):
        """Reads completed since it was made."""
        return self.completed()[0] - self.start[0]

    def completed(self):
        """The kernel's own count for this name: (reads, writes)."""
        stat = pathlib.Path(f"/sys/block/{self.name}/stat")
        words = stat.read_text().split()
        return int(words[0]), int(words[4])

    def idle(self, seconds):
        """Whether its count comes to stand still within that time."""
        last, since = self.completed(), time.monotonic()
        deadline = since + seconds + 0.3
        while time.monotonic() - since < 0.3:
            time.sleep(0.02)
            now = self.completed()
            if now != last:
                last, since = now, time.monotonic()
            if time.monotonic() > deadline:
                return False
        return True


class FaultDrive:
    """A drive that fails on command; see rigs/faultdrive.c.

    `path` is a loop drive over it, or with raw=True the file itself.
    """

    def __init__(self, lab, megabytes, raw=False):
        need_root()
        if not os.path.exists("/dev/fuse"):
            raise unittest.SkipTest("needs /dev/fuse for drives that fail")
        handle, backing = tempfile.mkstemp(dir=lab.memory, suffix=".img")
        os.ftruncate(handle, megabytes << 20)
        os.close(handle)
        self.folder = tempfile.mkdtemp(dir=lab.folder, prefix="fault")
        self.process = lab.start(os.path.basename(self.folder),
                                 [FAULTDRIVE, self.folder, backing])
        lab.processes.remove(self.process)
        lab.undo(self.end)
        self.process.wait_for("mounted")
        self.path = f"{self.folder}/drive"
        self.loop = None
        if not raw:
            self.path = run("losetup", "--find", "--show", "--direct-io=on",
                            self.path).stdout.strip()
            self.loop = self.path
            run("blockdev", "--setrw", self.path)

    def order(self, command):
        with open(f"{self.folder}/control", "w") as control:
            control.write(command)

    def end(self):
        self.order("clear")
        if self.loop:
            run("losetup", "--detach", self.loop, check=False)
            # It lets go a moment after its last user.
            wait_until(lambda: not os.path.exists(
                f"/sys/block/{os.path.basename(self.loop)}/loop"),
                what=f"the end of {self.loop}")
        self.process.end()


class Delay:
    """A cable with delays of its own for each direction, as a TCP relay."""

    def __init__(self, target, up_s, down_s):
        host, port = target.rsplit(":", 1)
        self.target = (host, int(port))
        self.up_s, self.down_s = up_s, down_s
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()
        self.thread = threading.Thread(target=self._run, args=(ready,),
                                       daemon=True)
        self.thread.start()
        ready.wait()

    def _run(self, ready):
        async def serve():
            server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
            self.at = "127.0.0.1:%d" % server.sockets[0].getsockname()[1]
            ready.set()
        self.loop.create_task(serve())
        self.loop.run_forever()

    async def _accept(self, reader, writer):
        there_reader, there_writer = await asyncio.open_connection(
            *self.target)
        self.loop.create_task(self._pass(reader, there_writer, self.up_s))
        await self._pass(there_reader, writer, self.down_s)

    async def _pass(self, reader, writer, delay_s):
        while data := await reader.read(65536):
            self.loop.call_later(delay_s, writer.write, data)
        self.loop.call_later(delay_s, writer.close)

    def end(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()


def histogram(blob):
    """A stored histogram as (count, {upper edge in ns: count}, min, max)."""
    def varints(data):
        value = shift = 0
        for byte in data:
            value |= (byte & 0x7f) << shift
            shift += 7
            if not byte & 0x80:
                yield value
                value = shift = 0
    assert blob[0] == 1 and blob[1] == 7, "another version of the blob"
    numbers = varints(blob[2:])
    count, low, high = (next(numbers) for _ in range(3))
    for _ in range(5):  # overflow, sum, squares
        next(numbers)
    buckets, index = {}, 0
    for number in numbers:
        if number & 1:
            index += number >> 1
            continue
        beyond = max(index // 128 - 1, 0)
        edge = ((index - beyond * 128 + 1) << beyond) - 1
        buckets[edge] = number >> 1
        index += 1
    assert sum(buckets.values()) == count
    return count, buckets, low, high


def quantile(blob, q):
    """In ns, the upper edge of the bucket that holds it, within the bounds."""
    count, buckets, low, high = histogram(blob)
    rest = q * count
    for edge, number in sorted(buckets.items()):
        rest -= number
        if rest <= 0:
            return max(low, min(high, edge))
    return high


class Lab:
    def __init__(self):
        self.prefix = f"ls{os.getpid() % 100000}"
        self.net = os.getpid() % 250 + 1
        self.switch = f"{self.prefix}sw"
        self._undo = contextlib.ExitStack()
        self._switched = False
        self.processes = []
        self.controller_host = None
        self.port = self.keys = self.at = self.page = None

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="lockstep-test-"))
        self.undo(shutil.rmtree, self.folder, ignore_errors=True)
        memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
        self.memory = tempfile.mkdtemp(prefix="lockstep-test-", dir=memory)
        self.undo(shutil.rmtree, self.memory, ignore_errors=True)
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.end()
        self._undo.close()

    def undo(self, function, *args, **options):
        self._undo.callback(function, *args, **options)

    # ---- the rig

    def hosts(self, count, clocks=None):
        need_root()
        if not self._switched:
            run("ip", "netns", "add", self.switch)
            self.undo(run, "ip", "netns", "del", self.switch, check=False)
            run("ip", "-n", self.switch, "link", "add", "br0", "type",
                "bridge")
            run("ip", "-n", self.switch, "link", "set", "br0", "up")
            self._switched = True
        clocks = clocks or [0] * count
        return [Host(self, n + 1, clocks[n]) for n in range(count)]

    def drive(self, megabytes=64):
        need_root()
        return Drive(self, megabytes)

    def fault_drive(self, megabytes=64, raw=False):
        return FaultDrive(self, megabytes, raw)

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    # ---- the programs

    def start(self, name, words, host=None, **options):
        words = (host.words() if host else []) + [str(w) for w in words]
        process = Process(words, self.folder / f"{name}.log", **options)
        self.processes.append(process)
        return process

    def make_keys(self, *agents):
        self.keys = self.folder / "keys"
        self.lockstep("keys", "init", "--dir", self.keys, check=0)
        for agent in agents:
            self.lockstep("keys", "agent", agent, "--dir", self.keys, check=0)
        self.lockstep("keys", "operator", "op", "--dir", self.keys, check=0)

    def controller(self, host=None, *more, http="off"):
        """Starts lockstepd, at first on a port of its own choice."""
        address = host.address if host else "127.0.0.1"
        words = [LOCKSTEPD, "--listen", f"{address}:{self.port or 0}",
                 "--store", self.folder / "lockstep.db", "--http", http,
                 *more]
        if self.keys:
            words += ["--keys", self.keys / "controller.pem"]
        process = self.start("controller", words, host)
        said = process.wait_for(r"listening on \S+:(\d+)")
        self.port = int(said.group(1))
        self.at = f"{address}:{self.port}"
        self.controller_host = host
        if http != "off":
            self.page = process.wait_for(r"the page is at (\S+)/").group(1)
        return process

    def agent(self, name, host=None, *more, offers=()):
        words = [AGENT, "--name", name, "--controller", self.at]
        for offer in offers:
            words += ["--offer", offer]
        if self.keys:
            words += ["--keys", self.keys / f"agent-{name}.pem"]
        process = self.start(f"agent-{name}", [*words, *more], host)
        process.wait_for("connected")
        return process

    def words(self, *words):
        """The shell's command line, on the controller's host."""
        local = not self.at or (words[0] in ("run", "check", "keys")
                                and "--fleet" not in words)
        host = None if local else self.controller_host
        more = []
        if not local:
            more = ["-c", self.at]
            if self.keys:
                more += ["--keys", self.keys / "operator-op.pem"]
        return [str(w) for w in [*(host.words() if host else []), LOCKSTEP,
                                 *words, *more]]

    def lockstep(self, *words, check=None, seconds=120, **options):
        """Runs the shell; with check, its exit status must be that."""
        result = subprocess.run(self.words(*words), text=True, timeout=seconds,
                                capture_output=True, cwd=self.folder,
                                stdin=subprocess.DEVNULL, **options)
        if check is not None and result.returncode != check:
            raise AssertionError(
                f"lockstep {' '.join(map(str, words))}: exit status "
                f"{result.returncode}, not {check}\n{result.stdout}\n"
                f"{result.stderr}\n{self.logs()}")
        return result

    def json(self, *words, check=0, **options):
        return json.loads(
            self.lockstep(*words, "--json", check=check, **options).stdout)

    def store(self):
        """The controller's store, read only."""
        store = sqlite3.connect(f"file:{self.folder}/lockstep.db?mode=ro",
                                uri=True)
        self.undo(store.close)
        return store

    def logs(self):
        return "\n".join(f"--- {p.log.name}\n{p.text()[-4000:]}"
                         for p in self.processes)


class Reporter(unittest.TextTestResult):
    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        name = test.id().split(".", 1)[-1]
        program = pathlib.Path(sys.argv[0]).stem
        print(f"SKIP {program}.{name}: {reason}", flush=True)


def main():
    """unittest's main, with our lines for skips and 77 when all skipped."""
    runner = unittest.TextTestRunner(resultclass=Reporter, verbosity=2)
    result = unittest.main(testRunner=runner, exit=False).result
    if not result.wasSuccessful():
        sys.exit(1)
    skipped_all = result.skipped and len(result.skipped) == result.testsRun
    sys.exit(77 if skipped_all else 0)
