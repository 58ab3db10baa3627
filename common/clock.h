/*
 * clock.h - time as an argument.
 *
 * Monotonic time to measure, wall time only to show.  Code below the mains
 * takes a `const struct clock *` and never asks the kernel itself; tests and
 * the simulator pass a clock that moves only when they move it.
 *
 * Threads: clock_os() may be read from any thread.  A manual clock has one
 * owner.
 */
#ifndef COMMON_CLOCK_H
#define COMMON_CLOCK_H

#include "common/base.h"

struct clock {
    uint64_t (*monotonic_ns)(const struct clock *clock);
    int64_t (*wall_ns)(const struct clock *clock); /* since 1970, UTC */
};

/* CLOCK_MONOTONIC and CLOCK_REALTIME.  Never freed. */
const struct clock *clock_os(void);

static inline uint64_t clock_now_ns(const struct clock *clock)
{
    return clock->monotonic_ns(clock);
}

struct clock_manual {
    struct clock clock; /* first: a manual clock is a clock */
    uint64_t now_ns;
    int64_t wall_ns;
};

void clock_manual_init(struct clock_manual *manual, uint64_t now_ns);

/* Moves both its times forward. */
void clock_manual_advance(struct clock_manual *manual, uint64_t by_ns);

#endif
