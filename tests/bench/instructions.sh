#!/bin/sh
# User instructions per I/O of one worker, counted by callgrind: the difference
# of a long and a short run, so that setting up does not count.
#
#     tests/bench/instructions.sh BUILD [WORDS FOR bench.engine]...
#
# Each further argument is one line of the table; without, the usual ones.
set -eu
bench=$1/tests/bench.engine
shift
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Prints "<instructions> <ios>" of one run.
count() {
    # shellcheck disable=SC2086
    valgrind --tool=callgrind --callgrind-out-file="$scratch/out" \
        "$bench" $1 ios="$2" >"$scratch/stdout" 2>"$scratch/stderr"
    sed -n 's/.*Collected : //p' "$scratch/stderr"
    sed -n 's/^ios=\([0-9]*\) .*/\1/p' "$scratch/stdout"
}

per_io() {
    # shellcheck disable=SC2046
    set -- $(count "$1" 20000) $(count "$1" 140000)
    echo $((($3 - $1) / ($4 - $2)))
}

if [ $# -eq 0 ]; then
    truncate -s 256M "$scratch/file"
    set -- "/dev/zero depth=1" "/dev/zero depth=32" "/dev/zero depth=128" \
        "/dev/null op=write depth=32" "/dev/zero depth=32 rate=100000" \
        "$scratch/file op=mixed depth=32 sizes=3 workloads=3"
fi
printf '%-60s %s\n' target instructions/I/O
for words; do
    printf '%-60s %s\n' "$(basename "${words%% *}") ${words#* }" \
        "$(per_io "$words")"
done
