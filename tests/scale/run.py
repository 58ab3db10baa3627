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
    """Every drive of every host, and one workload on all of them."""
    lines = [f"hd=h{i:04d},system=scale{i:04d}" for i in range(args.agents)]
    lines += [f"sd=sd{k:03d}_$host,host=$host,lun=/dev/nvme{k}n1,"
              "openflags=o_direct,threads=32" for k in range(args.drives)]
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


def make_keys(args):
    """The lab's keys and one bundle an agent; the words that name them."""
    folder = args.directory / "keys"
    shell = args.build / "controller" / "lockstep"
    for words in (["init"], ["operator", "op"],
                  *(["agent", f"scale{i:04d}"] for i in range(args.agents))):
        subprocess.run([shell, "keys", *words, "--dir", folder],
                       check=True, capture_output=True)
    return folder


def lockstep(args, address, *words):
    keys = ["--keys", args.keys / "operator-op.pem"] if args.keys else []
    done = subprocess.run(
        [args.build / "controller" / "lockstep", *words, "-c", address, *keys],
        text=True, capture_output=True, timeout=args.seconds + 300)
    if done.returncode != 0:
        raise SystemExit(f"lockstep {words[0]}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def wait_for_load(args, address):
    """Until the phase runs.  Asked rarely: asking costs the controller, too."""
    for _ in range(60):
        live = lockstep(args, address, "status", "--json").get("live") or {}
        if live.get("state") not in ("planned", "preparing", "arming", "armed"):
            break
        time.sleep(1)
    if live.get("state") != "running":
        raise AssertionError(f"the load does not run: {live.get('state')}")


def measure(args, daemon, address):
    """Runs the campaign; returns what was used between its first interval
    and its end."""
    path = args.directory / "scale.parm"
    path.write_text(parameters(args))
    begun = time.monotonic()
    lockstep(args, address, "submit", "-f", str(path), "--json")
    submit_s = time.monotonic() - begun
    daemon.wait_for(r"phase 1 of 1", 120)
    wait_for_load(args, address)
    before, begun = cpu_s(daemon.pid), time.monotonic()
    wait_until(lambda: time.monotonic() - begun >= args.seconds - 3,
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
    print(f"{args.agents} agents x {args.drives} drives, "
          f"{'TLS' if args.keys else 'plain'}, iorate={args.iorate}, "
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
                      "--listen", "127.0.0.1:0", "--store", store,
                      *(["--keys", args.keys / "controller.pem"]
                        if args.keys else [])],
                     args.directory / "lockstepd.log")
    agents = None
    try:
        address = daemon.wait_for(r"listening on (\S+)")[1]
        agents = Process([args.build / "tests" / "scale_agents",
                          "--controller", address,
                          "--agents", args.agents, "--drives", args.drives,
                          "--ios", args.ios,
                          *(["--keys", args.keys] if args.keys else [])],
                         args.directory / "agents.log")
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
    parser.add_argument("--tls", action="store_true",
                        help="with keys, as between machines")
    parser.add_argument("--ios", type=int, default=20000,
                        help="I/Os of a drive in an interval")
    args = parser.parse_args()
    args.build = pathlib.Path(args.build).resolve()
    with tempfile.TemporaryDirectory(prefix="lockstep-scale-") as directory:
        args.directory = pathlib.Path(directory)
        args.keys = make_keys(args) if args.tls else None
        try:
            return run(args)
        except AssertionError as problem:
            print(str(problem)[-2000:], file=sys.stderr)
            return 1


if __name__ == "__main__":
    sys.exit(main())
