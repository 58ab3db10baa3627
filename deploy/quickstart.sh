#!/bin/sh
# From a fresh checkout to a first result: installs what is missing, builds,
# and runs a short campaign on a scratch file, with a controller and an agent of
# its own. Leaves the results in a folder below build/ and nothing else behind.
set -eu
cd "$(dirname "$0")/.."

sh deploy/setup.sh
cmake --preset release >/dev/null
cmake --build --preset release -j "$(nproc)"

scratch=$(mktemp -d "${TMPDIR:-/var/tmp}/lockstep-quickstart.XXXXXX")
trap 'rm -rf "$scratch"' EXIT INT TERM
results=build/quickstart-$(date +%Y%m%d-%H%M%S)

build/release/controller/lockstep run -f controller/profiles/first-look.parm \
    -o "$results" "file=$scratch/drive"
