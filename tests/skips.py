#!/usr/bin/env python3
"""Lists the tests that were skipped and why.

A test says `SKIP <what>: <reason>` on a line of its own.  With --strict, a
skip that tests/expected-skips does not list is a failure: what silently stops
being tested is not tested.

    tests/skips.py [--strict] BUILD-FOLDER
"""
import pathlib
import re
import sys


def skips(build):
    found = {}
    for log in sorted(build.glob("*/Testing/Temporary/LastTest.log")):
        for line in log.read_text(errors="replace").splitlines():
            match = re.match(r"\s*SKIP (\S+?): (.*)", line)
            if match:
                found[match.group(1)] = match.group(2)
    return found


def expected(path):
    lines = path.read_text().splitlines()
    return {line.split()[0] for line in lines
            if line.strip() and not line.startswith("#")}


def main():
    arguments = [a for a in sys.argv[1:] if a != "--strict"]
    strict = "--strict" in sys.argv
    if len(arguments) != 1:
        sys.exit(__doc__)
    found = skips(pathlib.Path(arguments[0]))
    known = expected(pathlib.Path(__file__).parent / "expected-skips")
    unexpected = [name for name in found if name not in known]
    for name, reason in sorted(found.items()):
        mark = "skipped" if name in known else "SKIPPED, NOT EXPECTED"
        print(f"{mark}: {name}: {reason}")
    if strict and unexpected:
        sys.exit(f"{len(unexpected)} skipped tests are not listed in "
                 "tests/expected-skips")


if __name__ == "__main__":
    main()
