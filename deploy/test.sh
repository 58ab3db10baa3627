#!/bin/sh
# Installs what is missing, builds, and runs every test: all of them under
# address and undefined-behaviour sanitizers, the agent's threads under the
# thread sanitizer, the whole programs once more as they are shipped.
set -eu
cd "$(dirname "$0")/.."
sh deploy/setup.sh

jobs=$(nproc)
failed=""

# step NAME COMMAND...: runs all steps, remembers what failed.
step() {
    name=$1
    shift
    echo "== $name"
    "$@" || failed="$failed $name"
}

# tests PRESET CTEST-ARGUMENT...
tests() {
    preset=$1
    shift
    ctest --test-dir "build/$preset" --output-on-failure -j "$jobs" "$@"
}

for preset in asan tsan release; do
    cmake --preset "$preset" >"/tmp/lockstep-configure.$$" 2>&1 || {
        cat "/tmp/lockstep-configure.$$"
        exit 1
    }
    rm -f "/tmp/lockstep-configure.$$"
    cmake --build --preset "$preset" -j "$jobs"
done

step "house rules" python3 tests/tidy.py
step "all tests, asan" tests asan
step "agent threads, tsan" tests tsan -R '^unit\.agent\.'
step "simulation, release" tests release -L sim
step "programs as shipped, release" tests release \
    -R '^(integration\.(run|exact|trust)|faults\.lease)$'

python3 tests/skips.py build
if [ -n "$failed" ]; then
    echo "FAILED:$failed"
    exit 1
fi
echo "all tests passed"
