#!/bin/sh
# User instructions per I/O of one worker, counted by callgrind: the difference
# of a long and a short run, so that setting up does not count.
#
#     tests/bench/instructions.sh BUILD [WORDS FOR bench.engine]...
#
# Each further argument is one line of the table; without, the usual ones.
# Lines with several sizes stay below a page: /dev/zero cuts longer reads short
# now and then, and a short read is an error with a cost of its own.
#
# IO_URING=PATH names a t/io_uring of fio's to stand beside them at depth 1: see
# README.md for what it must be able to do.
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
        "/dev/zero op=mixed depth=32 size=1024 sizes=3 workloads=3" \
        "/dev/zero op=mixed depth=128 size=1024 sizes=3 workloads=3" \
        "$scratch/file op=mixed depth=32 sizes=3 workloads=3"
fi
printf '%-60s %s\n' target instructions/I/O
for words; do
    printf '%-60s %s\n' "$(basename "${words%% *}") ${words#* }" \
        "$(per_io "$words")"
done

# Instructions and I/Os of one run of so many seconds.
count_other() {
    valgrind --tool=callgrind --callgrind-out-file="$scratch/out" \
        "$IO_URING" -d 1 -s 1 -c 1 -p 0 -O 0 -t "$1" -r "$2" /dev/zero \
        >"$scratch/stdout" 2>"$scratch/stderr"
    sed -n 's/.*Collected : //p' "$scratch/stderr"
    sed -n 's/^done=\([0-9]*\)$/\1/p' "$scratch/stdout"
}

for latencies in 0 1; do
    [ -n "${IO_URING:-}" ] || break
    # shellcheck disable=SC2046
    set -- $(count_other $latencies 1) $(count_other $latencies 4)
    printf '%-60s %s\n' "t/io_uring zero depth=1, latencies: $latencies" \
        $((($3 - $1) / ($4 - $2)))
done
