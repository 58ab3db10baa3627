#!/usr/bin/env python3
"""House rules that a machine can check: layering, banned calls, lengths.

An exception is written on the line: `tidy: allow <rule>, because ...`.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Which rooms a room's files may include headers of.
MAY_INCLUDE = {
    "common": {"common"},
    "agent": {"agent", "common"},
    "controller/language": {"controller/language", "common"},
    "controller/plan": {"controller/plan", "controller/language", "common"},
    "controller/conduct": {"controller/conduct", "controller/plan", "common"},
    "controller/results": {"controller/results", "controller/plan", "common"},
    "controller/fleet": {"controller/fleet", "controller/conduct",
                         "controller/results", "controller/plan",
                         "controller/language", "common"},
    "controller/report": {"controller/report", "common"},
    "controller/web": {"controller/web", "common"},
    "controller/http": {"controller/http", "controller/web",
                        "controller/fleet", "controller/report", "common"},
    "controller/shell": {"controller/shell", "controller/report",
                         "controller/plan", "controller/language", "common"},
    "controller": {"controller", "controller/fleet", "controller/http", "controller/conduct",
                   "controller/results", "controller/plan",
                   "controller/language", "common"},
}

# Which files may include a header of a library, by pattern.
MAY_USE = {
    r"proto/lockstep\.pb-c\.h": r"(agent|controller/fleet|controller/shell)/codec\w*\.[ch]",
    r"uv\.h": r"(common/(channel|runner)\w*|agent/(loop|main)\w*|controller/(loop|main)\w*"
              r"|controller/http/inside"
              r"|controller/shell/(client|run|main)\w*)\.[ch]",
    r"liburing\.h": r"agent/engine_\w+\.[ch]",
    r"sqlite3\.h": r"controller/results/\w+\.[ch]",
    r"openssl/.*": r"common/(tls|keys|digest)\w*\.[ch]",
    r"(microhttpd|gnutls/.*)\.h": r"controller/http/\w+\.[ch]",
    r"ini\.h": r"common/config\w*\.[ch]",
}

BANNED = {
    r"\b(strcpy|strcat|sprintf|vsprintf|gets|strtok|atoi|atol|atof)\(":
        "unbounded or unchecked call",
    r"\b(usleep|sleep|nanosleep)\(": "sleeping instead of waiting for a fact",
    r"\bsystem\(": "a shell",
    r"\bexit\(": "only a main ends the process",
    r"\b(TODO|FIXME|XXX|HACK)\b": "unfinished",
}

LINE_MAX = 80
FILE_MAX = 900
FUNCTION_MAX = 90


def room_of(path):
    room = path.rsplit("/", 1)[0]
    return room


def files():
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"],
                         cwd=ROOT, capture_output=True, text=True, check=True)
    return [f for f in out.stdout.split()
            if f.endswith((".c", ".h")) and (ROOT / f).exists()]


def check_includes(path, number, line):
    match = re.match(r'#include ["<]([^">]+)[">]', line)
    if not match:
        return
    name = match.group(1)
    for library, users in MAY_USE.items():
        if re.fullmatch(library, name) and not path.startswith("tests/") \
                and not re.fullmatch(users, path):
            yield f"{path}:{number}: {name} does not belong in this file"
    room = room_of(path)
    if line.startswith('#include "') and room in MAY_INCLUDE:
        if name.startswith("proto/"):
            return
        if name.rsplit("/", 1)[0] not in MAY_INCLUDE[room]:
            yield f"{path}:{number}: {room} may not include {name}"


def check_line(path, number, line):
    if "tidy: allow" in line:
        return
    yield from check_includes(path, number, line)
    if len(line.expandtabs(8)) > LINE_MAX:
        yield f"{path}:{number}: {len(line)} columns, at most {LINE_MAX}"
    code = re.sub(r'"(\\.|[^"\\])*"', '""', line)
    if code.lstrip().startswith(("*", "/*", "//")):
        return
    if "json_real(" in code and path != "common/json.h" \
            and not path.startswith("tests/"):
        yield f"{path}:{number}: json_fixed() of common/json.h rounds"
    for pattern, why in BANNED.items():
        if re.search(pattern, code):
            yield f"{path}:{number}: {why}: {line.strip()}"


def check_functions(path, lines):
    """A function's body runs from a `{` in column 1 to a `}` in column 1."""
    begin = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            begin = number
        elif line == "}" and begin:
            if number - begin > FUNCTION_MAX and \
                    "tidy: allow" not in lines[begin - 2]:
                yield (f"{path}:{begin}: a function of {number - begin} lines, "
                       f"at most {FUNCTION_MAX}")
            begin = None


def main():
    found = []
    for path in files():
        lines = (ROOT / path).read_text().splitlines()
        if len(lines) > FILE_MAX:
            found.append(f"{path}: {len(lines)} lines, at most {FILE_MAX}")
        for number, line in enumerate(lines, 1):
            found.extend(check_line(path, number, line))
        if not path.startswith("tests/"):
            found.extend(check_functions(path, lines))
    for problem in found:
        print(problem)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
