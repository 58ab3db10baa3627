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
 * A profile bends time: where it asks for twice the mean, arrivals come twice
 * as dense, so that all in all the mean is kept.  A spike moves all arrivals of
 * a second to its beginning.
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

/* A rate that changes with time, over and over; shared by schedules. */
struct arrival_profile {
    struct arrival_step {
        double even_ns; /* where it ends, were the rate even */
        double real_ns; /* and where it does */
    } * steps;
    uint32_t count;
};

/* 0 or -ENOMEM.  The job has at least one step. */
int arrival_profile_init(struct arrival_profile *profile,
                         const struct job *job) MUST_CHECK;
void arrival_profile_done(struct arrival_profile *profile);

struct arrival {
    uint64_t due_ns; /* of the next arrival */
    bool bent;       /* by a profile or a spike */
    bool spike;
    enum job_arrival kind;
    double mean_ns;
    u128 period; /* the mean gap, 64.64 */
    u128 due;    /* the same, 64.64, without profile and spike */
    const struct arrival_profile *profile; /* NULL: even */
    struct prng prng;
};

/* `rate` I/Os a second, above 0. */
void arrival_init(struct arrival *arrival, enum job_arrival kind, double rate,
                  uint64_t seed);

/* The same with a profile (NULL: none), which outlives it, and spikes. */
void arrival_init_steps(struct arrival *arrival, enum job_arrival kind,
                        double rate, uint64_t seed,
                        const struct arrival_profile *profile, bool spike);

/* When the next arrival is due. */
static inline uint64_t arrival_due_ns(const struct arrival *arrival)
{
    return arrival->due_ns;
}

/* Goes on to the arrival after it. */
void arrival_next(struct arrival *arrival);

#endif
