#!/bin/sh
# Fuzzes every target for SECONDS each (default 60), beginning with its corpus.
#
#     sh tests/fuzz/long.sh [SECONDS] [TARGET...]
#
# New inputs are kept in build/fuzz/corpus; a crash is written to
# build/fuzz/found and ends the run.  Put what matters into tests/fuzz/corpus.
set -eu

cd "$(dirname "$0")/../.."
seconds=${1:-60}
[ $# -gt 0 ] && shift

cmake --preset fuzz >/dev/null
cmake --build --preset fuzz

if [ $# -eq 0 ]; then
    for source in tests/fuzz/fuzz_*.c; do
        what=${source#tests/fuzz/fuzz_}
        set -- "$@" "${what%.c}"
    done
fi

for what in "$@"; do
    mkdir -p "build/fuzz/corpus/$what" build/fuzz/found
    dictionary=tests/fuzz/$what.dict
    [ -f "$dictionary" ] && dictionary=-dict=$dictionary || dictionary=
    echo "== $what: $seconds s"
    # shellcheck disable=SC2086 # no word where there is no dictionary
    "build/fuzz/tests/fuzz/fuzz.$what" $dictionary \
        "-max_total_time=$seconds" -timeout=10 -rss_limit_mb=2048 \
        -print_final_stats=1 -verbosity=0 \
        "-artifact_prefix=build/fuzz/found/$what-" \
        "build/fuzz/corpus/$what" "tests/fuzz/corpus/$what"
done
