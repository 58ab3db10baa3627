#!/bin/sh
# Installs what Lockstep needs to build, run and test itself on Debian 12.
# Safe to run again: what is there stays as it is.
set -eu
cd "$(dirname "$0")/.."

packages="
    build-essential cmake ninja-build pkg-config clang libclang-rt-14-dev
    libuv1-dev protobuf-c-compiler libprotobuf-c-dev liburing-dev check
    libsqlite3-dev sqlite3 libssl-dev libjansson-dev libinih-dev libblkid-dev
    libmicrohttpd-dev libgnutls28-dev libedit-dev libncurses-dev
    libfuse3-dev zlib1g-dev
    iproute2 nftables procps util-linux python3 chromium
"
# A Node.js from elsewhere brings its own npm, and conflicts with Debian's.
command -v npm >/dev/null || packages="$packages nodejs npm"

missing=""
for package in $packages; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null |
        grep -q 'install ok installed' || missing="$missing $package"
done
if [ -n "$missing" ]; then
    if [ "$(id -u)" -ne 0 ]; then
        echo "setup: these packages are missing:$missing" >&2
        echo "setup: run 'sudo sh deploy/setup.sh', then try again" >&2
        exit 1
    fi
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -q
    # shellcheck disable=SC2086 # a list of words is what we want
    apt-get install -q -y --no-install-recommends $missing
fi

# What the page and its tests are made with, at the versions of their locks.
# Without it the page has no charts and its tests are skipped; all else works.
for folder in controller/web tests/web; do
    [ -f "$folder/package.json" ] || continue
    cmp -s "$folder/package-lock.json" "$folder/node_modules/.lock" && continue
    if npm ci --prefix "$folder" --ignore-scripts --no-audit --no-fund \
        >/dev/null; then
        cp "$folder/package-lock.json" "$folder/node_modules/.lock"
    else
        echo "setup: npm cannot fetch the packages of $folder, ignoring" >&2
    fi
done
