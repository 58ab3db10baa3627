#!/usr/bin/env python3
"""What a controller costs: CPU and memory with many simulated agents.

Starts lockstepd and scale_agents of a build, runs one campaign over all of
them, and prints what the controller used while it ran.  Ends with 1 when the
campaign is not complete or a sample was not acknowledged.

    python3 tests/scale/run.py --build build/release --agents 200 --drives 8
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from lab import Process, wait_until  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")


def parameters(args):
    """One sd a drive, on all hosts; one workload on all of them."""
    hosts = [f"h{i:04d}" for i in range(args.agents)]
    lines = [f"hd={h},system=scale{i:04d}" for i, h in enumerate(hosts)]
    lines += [f"sd=sd{k:03d},host=({','.join(hosts)}),lun=/dev/nvme{k}n1,"
              f"openflags=o_direct,threads={32 * args.agents}"
              for k in range(args.drives)]
    lines.append(f"wd=wd1,sd=*,rdpct={args.rdpct},xfersize=4k")
    lines.append(f"rd=rd1,wd=wd1,iorate={args.iorate},elapsed={args.seconds},"
                 f"interval={args.interval}")
    return "\n".join(lines) + "\n"


def cpu_s(pid):
    """User and system time of all threads so far, in seconds."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1]
    return sum(int(n) for n in fields.split()[11:13]) / TICKS


def threads(pid):
    """The same, thread by thread, the loop's first."""
    for task in sorted(pathlib.Path(f"/proc/{pid}/task").iterdir(),
                       key=lambda t: int(t.name)):
        fields = (task / "stat").read_text().rsplit(")", 1)[1].split()
        yield int(fields[11]) / TICKS, int(fields[12]) / TICKS


def memory_mib(pid, what):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"^{what}:\s+(\d+) kB", status, re.M)[1]) / 1024


def lockstep(args, address, *words):
    done = subprocess.run(
        [args.build / "controller" / "lockstep", *words, "-c", address],
        text=True, capture_output=True, timeout=args.seconds + 300)
    if done.returncode != 0:
        raise SystemExit(f"lockstep {words[0]}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def campaign_state(args, address):
    return lockstep(args, address, "status", "--json")


def measure(args, daemon, address):
    """Runs the campaign; returns what was used between its first interval
    and its end."""
    path = args.directory / "scale.parm"
    path.write_text(parameters(args))
    begun = time.monotonic()
    lockstep(args, address, "submit", "-f", str(path), "--json")
    submit_s = time.monotonic() - begun
    daemon.wait_for(r"phase 1 of 1", 120)
    wait_until(lambda: (campaign_state(args, address).get("live") or
                        {}).get("state") == "running", 120, "the start")
    before, begun = cpu_s(daemon.pid), time.monotonic()
    wait_until(lambda: time.monotonic() - begun >= args.seconds - 2,
               args.seconds + 10, "the run")
    used, span = cpu_s(daemon.pid) - before, time.monotonic() - begun
    running_mib = memory_mib(daemon.pid, "VmRSS")
    daemon.wait_for(r"campaign 1: complete", 120)
    return {
        "submit_s": submit_s,
        "cpu_percent": 100 * used / span,
        "rss_mib": running_mib,
        "peak_mib": memory_mib(daemon.pid, "VmHWM"),
        "threads": list(threads(daemon.pid)),
    }


def store_bytes(store):
    """The database and what is not yet merged into it."""
    return sum(p.stat().st_size for p in store.parent.glob(store.name + "*"))


def report(args, figures, bytes_stored, acked):
    print(f"{args.agents} agents x {args.drives} drives, iorate={args.iorate}, "
          f"rdpct={args.rdpct}, interval {args.interval} s, "
          f"{args.seconds} s")
    print(f"  CPU, all threads      {figures['cpu_percent']:7.1f} % of a core")
    print(f"  memory, running       {figures['rss_mib']:7.1f} MiB")
    print(f"  memory, peak          {figures['peak_mib']:7.1f} MiB")
    print(f"  submit to queued      {figures['submit_s']:7.2f} s")
    print(f"  store                 {bytes_stored / 2**20:7.1f} MiB")
    print(f"  samples acknowledged  {acked}")
    for (user, system), name in zip(figures["threads"],
                                    ("loop", "writer", "reader", "more")):
        print(f"  {name:8} user {user:6.2f} s, system {system:6.2f} s "
              "(since its start)")


def run(args):
    store = args.directory / "lockstep.db"
    daemon = Process([args.build / "controller" / "lockstepd",
                      "--listen", "127.0.0.1:0", "--store", store],
                     args.directory / "lockstepd.log")
    agents = None
    try:
        address = daemon.wait_for(r"listening on (\S+)")[1]
        agents = Process([args.build / "tests" / "scale_agents",
                          "--controller", address,
                          "--agents", args.agents, "--drives", args.drives,
                          "--ios", args.ios], args.directory / "agents.log")
        agents.wait_for(r"agents are connected", 60)
        figures = measure(args, daemon, address)
        agents.signal(15)
        agents.wait()
        done = agents.wait_for(r"samples (\d+) acks (\d+)")
        report(args, figures, store_bytes(store), f"{done[2]} of {done[1]}")
        rows = args.agents * (args.seconds // args.interval + 1)
        return 0 if int(done[1]) == rows else 1
    finally:
        for process in (agents, daemon):
            if process is not None:
                process.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=lambda p: pathlib.Path(p).resolve(),
                        default=os.environ.get("LOCKSTEP_BIN",
                                               "build/release"))
    parser.add_argument("--agents", type=int, default=200)
    parser.add_argument("--drives", type=int, default=8)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--interval", type=int, default=1)
    parser.add_argument("--iorate", default="max")
    parser.add_argument("--rdpct", type=int, default=100)
    parser.add_argument("--ios", type=int, default=20000,
                        help="I/Os of a drive in an interval")
    args = parser.parse_args()
    args.build = pathlib.Path(args.build).resolve()
    with tempfile.TemporaryDirectory(prefix="lockstep-scale-") as directory:
        args.directory = pathlib.Path(directory)
        return run(args)


if __name__ == "__main__":
    sys.exit(main())
