/* arrival.c - see arrival.h. */
#include "agent/arrival.h"

#include <assert.h>
#include <math.h>

/* No gap is longer (36 years), so that no sum overflows in a phase. */
#define GAP_MAX_NS 0x1.0p60

/* Exact: the whole part and the fraction fit 64 bits each. */
static u128 fixed_point(double ns)
{
    double whole;
    double fraction = modf(ns < GAP_MAX_NS ? ns : GAP_MAX_NS, &whole);

    return ((u128)(uint64_t)whole << 64) | (uint64_t)ldexp(fraction, 64);
}

static u128 gap(struct arrival *arrival)
{
    switch (arrival->kind) {
    case JOB_EXPONENTIAL:
        return fixed_point(-log(prng_unit(&arrival->prng)) * arrival->mean_ns);
    case JOB_UNIFORM:
        return fixed_point(2 * prng_unit(&arrival->prng) * arrival->mean_ns);
    case JOB_DETERMINISTIC:
        break;
    }
    return arrival->period;
}

void arrival_init(struct arrival *arrival, enum job_arrival kind, double rate,
                  uint64_t seed)
{
    assert(rate > 0);
    arrival->kind = kind;
    arrival->mean_ns = (double)NS_PER_S / rate;
    arrival->period = fixed_point(arrival->mean_ns);
    prng_seed(&arrival->prng, seed);
    if (kind == JOB_DETERMINISTIC)
        arrival->due =
            fixed_point(prng_unit(&arrival->prng) * arrival->mean_ns);
    else
        arrival->due = gap(arrival);
}

void arrival_next(struct arrival *arrival)
{
    u128 due = arrival->due + gap(arrival);

    /* Beyond any phase: stay there rather than wrap. */
    arrival->due = due >> 126 == 0 ? due : (u128)1 << 126;
}
