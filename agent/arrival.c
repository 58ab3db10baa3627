/* arrival.c - see arrival.h. */
#include "agent/arrival.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* No gap is longer (36 years), so that no sum overflows in a phase. */
#define GAP_MAX_NS 0x1.0p60

/* Through signed numbers, which processors convert in one instruction.  Exact:
 * the fraction has at most 53 bits of the 63. */
static u128 fixed_point(double ns)
{
    int64_t whole = (int64_t)(ns < GAP_MAX_NS ? ns : GAP_MAX_NS);
    double fraction = ns < GAP_MAX_NS ? ns - (double)whole : 0;

    return ((u128)(uint64_t)whole << 64) |
           (uint64_t)(int64_t)(fraction * 0x1.0p63) << 1;
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

/* ---- profiles ---- */

int arrival_profile_init(struct arrival_profile *profile, const struct job *job)
{
    double work = 0, length = 0, done = 0, passed = 0;

    profile->steps = calloc(job->step_count, sizeof(*profile->steps));
    if (profile->steps == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < job->step_count; i++) {
        work += job->steps[i].rate * (double)job->steps[i].duration_ns;
        length += (double)job->steps[i].duration_ns;
    }
    for (uint32_t i = 0; i < job->step_count; i++) {
        done += job->steps[i].rate * (double)job->steps[i].duration_ns;
        passed += (double)job->steps[i].duration_ns;
        profile->steps[i] = (struct arrival_step){done / work * length, passed};
    }
    profile->count = job->step_count;
    return 0;
}

void arrival_profile_done(struct arrival_profile *profile)
{
    free(profile->steps);
    *profile = (struct arrival_profile){0};
}

/* From time at an even rate to time as the profile has it. */
static uint64_t bend(const struct arrival_profile *profile, uint64_t even_ns)
{
    uint64_t cycle_ns = (uint64_t)profile->steps[profile->count - 1].real_ns;
    uint64_t past_ns = even_ns / cycle_ns * cycle_ns;
    double even = (double)(even_ns - past_ns);
    double even_from = 0, real_from = 0;

    for (uint32_t i = 0; i < profile->count; i++) {
        const struct arrival_step *step = &profile->steps[i];

        if (even < step->even_ns)
            return past_ns +
                   (uint64_t)(real_from + (even - even_from) *
                                              (step->real_ns - real_from) /
                                              (step->even_ns - even_from));
        even_from = step->even_ns;
        real_from = step->real_ns;
    }
    return past_ns + cycle_ns;
}

static void settle(struct arrival *arrival)
{
    arrival->due_ns = (uint64_t)(arrival->due >> 64);
    if (!arrival->bent)
        return;
    if (arrival->profile != NULL)
        arrival->due_ns = bend(arrival->profile, arrival->due_ns);
    if (arrival->spike)
        arrival->due_ns -= arrival->due_ns % NS_PER_S;
}

/* ---- schedules ---- */

void arrival_init_steps(struct arrival *arrival, enum job_arrival kind,
                        double rate, uint64_t seed,
                        const struct arrival_profile *profile, bool spike)
{
    assert(rate > 0);
    *arrival = (struct arrival){
        .kind = kind,
        .profile = profile,
        .spike = spike,
        .bent = spike || profile != NULL,
        .mean_ns = (double)NS_PER_S / rate,
    };
    arrival->period = fixed_point(arrival->mean_ns);
    prng_seed(&arrival->prng, seed);
    if (kind == JOB_DETERMINISTIC)
        arrival->due =
            fixed_point(prng_unit(&arrival->prng) * arrival->mean_ns);
    else
        arrival->due = gap(arrival);
    settle(arrival);
}

void arrival_init(struct arrival *arrival, enum job_arrival kind, double rate,
                  uint64_t seed)
{
    arrival_init_steps(arrival, kind, rate, seed, NULL, false);
}

void arrival_next(struct arrival *arrival)
{
    u128 due = arrival->due + gap(arrival);

    /* Beyond any phase: stay there rather than wrap. */
    arrival->due = due >> 126 == 0 ? due : (u128)1 << 126;
    settle(arrival);
}
