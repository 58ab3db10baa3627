/*
 * arrival.h - when: the schedule of an open loop.
 *
 * Arrival i is due at a time that was settled when the schedule began, whatever
 * the drive does: response times are measured from there.  Times are kept in
 * 64.64 fixed point, nanoseconds and 2^-64 of one, so that no rate is bent by
 * rounding and nothing drifts over days.
 *
 * Gaps have the mean 1/rate.  Exponential: any gap, as from many independent
 * users.  Uniform: 0 to twice the mean.  Deterministic: all equal, the first
 * one cut at a random point, so that streams do not beat in time.
 *
 * Units: nanoseconds from the start of the phase.
 * Threads: one owner.  Memory: by value; a copy is a schedule of its own that
 * goes on in the same way.
 */
#ifndef AGENT_ARRIVAL_H
#define AGENT_ARRIVAL_H

#include "agent/job.h"
#include "common/base.h"
#include "common/prng.h"

struct arrival {
    enum job_arrival kind;
    double mean_ns;
    u128 period; /* the mean gap, 64.64 */
    u128 due;    /* of the next arrival, 64.64 */
    struct prng prng;
};

/* `rate` I/Os a second, above 0. */
void arrival_init(struct arrival *arrival, enum job_arrival kind, double rate,
                  uint64_t seed);

/* When the next arrival is due. */
static inline uint64_t arrival_due_ns(const struct arrival *arrival)
{
    return (uint64_t)(arrival->due >> 64);
}

/* Goes on to the arrival after it. */
void arrival_next(struct arrival *arrival);

#endif
