#!/usr/bin/env python3
"""The agent's worker and fio on the same targets, in turn.

    tests/bench/compare.py BUILD [--seconds S] [--rounds N] [--depth D]...

Prints one line for each target and depth: medians over the rounds of IOPS and
of CPU time per I/O (user and system of the whole process, the kernel's
io_uring threads included), and the ratios to fio with its best settings that
still record latencies (registered files and buffers, batches).  Single figures
of a shared machine mean little; the ratios of runs in turn do.

It makes its own targets: files below --scratch, and a loop device and a zram
device when it may.  zram hands every request to a thread of the kernel, which
sets the pace: it is reported, no claim is made about it.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

FIO_BEST = ["--registerfiles", "--fixedbufs", "--norandommap",
            "--randrepeat=0"]


def run_timed(command):
    """Returns stdout and the CPU seconds (user, system) of the command."""
    with subprocess.Popen(command, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        out = process.stdout.read()
        err = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command[0]}: {err or out}")
    return out, usage.ru_utime, usage.ru_stime


def run_ours(bench, target, depth, seconds):
    words = [bench, target["path"], f"op={target['op']}", f"depth={depth}",
             f"seconds={seconds}", f"direct={int(target['direct'])}"]
    out, user, system = run_timed(words)
    found = dict(re.findall(r"(\w+)=([\d.]+)", out))
    if float(found["errors"]) > 0:
        sys.exit(f"{target['name']}: {found['errors']} errors")
    return figures(float(found["iops"]), float(found["ios"]), user, system)


def run_fio(target, depth, seconds):
    size = ["--size=1t"] if target["path"].startswith("/dev/zero") or \
        target["path"] == "/dev/null" else []
    command = ["fio", "--name=x", "--ioengine=io_uring", "--thread",
               f"--filename={target['path']}", f"--rw=rand{target['op']}",
               "--bs=4k", f"--iodepth={depth}",
               f"--iodepth_batch_submit={depth}", "--iodepth_batch_complete_min=1",
               f"--iodepth_batch_complete_max={depth}", "--time_based",
               f"--runtime={seconds}", f"--direct={int(target['direct'])}",
               "--output-format=json", "--invalidate=0", *size, *FIO_BEST]
    out, user, system = run_timed(command)
    part = json.loads(out[out.index("{"):])["jobs"][0][target["op"]]
    return figures(part["iops"], part["total_ios"], user, system)


def figures(iops, ios, user, system):
    return {"iops": iops, "user": user * 1e9 / ios, "system": system * 1e9 / ios}


def medians(runs):
    return {key: statistics.median(run[key] for run in runs)
            for key in runs[0]}


def make_file(directory, megabytes=256):
    path = directory / "file"
    with open(path, "wb") as file:
        for _ in range(megabytes):
            file.write(os.urandom(1 << 20))
    return str(path)


def make_loop(backing):
    """None where this machine does not let us."""
    made = subprocess.run(["losetup", "--find", "--show", backing],
                          capture_output=True, text=True, check=False)
    return made.stdout.strip() if made.returncode == 0 else None


ZRAM = Path("/sys/class/zram-control")


def make_zram(megabytes=256):
    """One of our own, full of bytes that do not compress; None where this
    machine does not let us."""
    try:
        number = int((ZRAM / "hot_add").read_text())
        Path(f"/sys/block/zram{number}/disksize").write_text(f"{megabytes}M")
        with open(f"/dev/zram{number}", "wb") as drive:
            for _ in range(megabytes):
                drive.write(os.urandom(1 << 20))
    except (OSError, ValueError):
        return None
    return number


def remove_zram(number):
    Path(f"/sys/block/zram{number}/reset").write_text("1")
    (ZRAM / "hot_remove").write_text(str(number))


def targets(directory, loop, zram):
    null = {"name": "/dev/null write", "path": "/dev/null", "op": "write"}
    zero = {"name": "/dev/zero read", "path": "/dev/zero", "op": "read"}
    found = [dict(null, direct=False), dict(zero, direct=False)]
    if loop:
        found.append({"name": "loop on tmpfs read", "path": loop, "op": "read",
                      "direct": True})
    if zram is not None:
        found.append({"name": "zram read", "path": f"/dev/zram{zram}",
                      "op": "read", "direct": True})
    found.append({"name": "file read", "path": make_file(directory),
                  "op": "read", "direct": True})
    return found


def compare(options, bench, target, depth):
    ours, fio = [], []
    for _ in range(options.rounds):
        ours.append(run_ours(bench, target, depth, options.seconds))
        fio.append(run_fio(target, depth, options.seconds))
    a, b = medians(ours), medians(fio)
    cpu_a, cpu_b = a["user"] + a["system"], b["user"] + b["system"]
    print(f"{target['name']:<20} {depth:>5} {a['iops']:>10.0f} "
          f"{b['iops']:>10.0f} {a['iops'] / b['iops']:>6.2f} "
          f"{a['user']:>6.0f} {a['system']:>6.0f} {b['user']:>6.0f} "
          f"{b['system']:>6.0f} {cpu_a / cpu_b:>6.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--depth", type=int, action="append")
    parser.add_argument("--scratch", default="/tmp")
    options = parser.parse_args()
    options.seconds = max(1, round(options.seconds))
    bench = str(Path(options.build) / "tests" / "bench.engine")
    print(f"{'':<20} {'depth':>5} {'iops':>10} {'fio':>10} {'ratio':>6} "
          f"{'user':>6} {'sys':>6} {'fio u':>6} {'fio s':>6} {'cpu':>6}")
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch, \
            tempfile.TemporaryDirectory(dir="/dev/shm") as shm:
        loop = make_loop(make_file(Path(shm)))
        zram = make_zram()
        try:
            for target in targets(Path(scratch), loop, zram):
                for depth in options.depth or [1, 32, 128]:
                    compare(options, bench, target, depth)
        finally:
            if loop:
                subprocess.run(["losetup", "-d", loop], check=False)
            if zram is not None:
                remove_zram(zram)


if __name__ == "__main__":
    main()
