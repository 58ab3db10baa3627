/*
 * script.h - a conductor and the other side of it, one step at a time: hosts
 * whose clocks are a day apart, a store that adds up by itself.
 */
#ifndef TESTS_UNIT_CONDUCT_SCRIPT_H
#define TESTS_UNIT_CONDUCT_SCRIPT_H

#include "controller/conduct/conduct.h"

#include "tests/support/plans.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

#define HOSTS   4u
#define LEASE   (30 * NS_PER_S)
#define ROUND   (2 * NS_PER_MS) /* a round trip */
#define EFFECTS 4096u

static struct plans plans;
static struct conduct_options options;
static struct conductor *c;
static uint64_t now;
static struct conduct_effect effects[EFFECTS]; /* since the last forget() */
static char reasons[EFFECTS][REASON_SIZE];
static uint32_t effect_count;
static struct uuid instances[HOSTS];
static bool answers_probes[HOSTS];
static uint64_t probe_takes_ns;
static bool totals_itself;

/* Clocks a day apart from one another, before and after the controller's. */
static const int64_t offsets[HOSTS] = {
    86400 * (int64_t)NS_PER_S,
    -86400 * (int64_t)NS_PER_S,
    0,
    3600 * (int64_t)NS_PER_S,
};

/* ---- The other side ------------------------------------------------------ */

static inline void answer_probe(uint32_t host)
{
    uint64_t middle = now - probe_takes_ns / 2;
    struct offset_probe probe = {
        .sent = now - probe_takes_ns,
        .received = middle + (uint64_t)offsets[host],
        .returned = middle + (uint64_t)offsets[host],
        .arrived = now,
    };

    conductor_probed(c, now, host, &probe);
}

/* Takes all effects, answers probes and totals in passing. */
static inline void take(void)
{
    struct conduct_effect effect;

    while (conductor_take_effect(c, &effect)) {
        ck_assert_uint_lt(effect_count, EFFECTS);
        if (effect.kind == CONDUCT_DO_PROBE && answers_probes[effect.host]) {
            now += probe_takes_ns;
            answer_probe(effect.host);
            continue;
        }
        if (effect.kind == CONDUCT_DO_PROBE)
            continue;
        (void)snprintf(reasons[effect_count], REASON_SIZE, "%s", effect.reason);
        effects[effect_count] = effect;
        effects[effect_count].reason = reasons[effect_count];
        effect_count++;
        if (effect.kind == CONDUCT_DO_TOTAL && totals_itself) {
            struct conduct_total total = {.iops = 34246};

            conductor_totalled(c, now, effect.phase, &total);
        }
    }
}

static inline void forget(void)
{
    effect_count = 0;
}

static inline const struct conduct_effect *find(enum conduct_effect_kind kind,
                                                uint32_t host)
{
    for (uint32_t i = effect_count; i-- > 0;)
        if (effects[i].kind == kind && effects[i].host == host)
            return &effects[i];
    return NULL;
}

static inline uint32_t count(enum conduct_effect_kind kind)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < effect_count; i++)
        found += effects[i].kind == kind;
    return found;
}

/* Lets time pass, tick by tick. */
static inline void wait_until(uint64_t until)
{
    for (;;) {
        uint64_t due = conductor_due_ns(c);

        if (due > until)
            break;
        ck_assert_uint_ge(due, 1);
        now = due > now ? due : now;
        conductor_tick(c, now);
        take();
    }
    now = until > now ? until : now;
}

static inline void wait_for(uint64_t ns)
{
    wait_until(now + ns);
}

static inline enum conduct_state state(void)
{
    return conductor_phase(c)->state;
}

static inline void up(uint32_t host, enum conduct_held held, uint32_t phase)
{
    struct conduct_hello hello = {
        .instance = instances[host],
        .boot = instances[host],
        .lease_ns = LEASE,
        .held = held,
        .held_phase = phase,
    };

    conductor_host_up(c, now, host, &hello);
    take();
}

static inline void down(uint32_t host)
{
    conductor_host_down(c, now, host, "connection reset");
    take();
}

static inline void ready(uint32_t host)
{
    conductor_ready(c, now, host, conductor_phase(c)->number);
    take();
}

static inline void armed_for(uint32_t host, uint64_t agent_start_ns)
{
    conductor_armed(c, now, host, conductor_phase(c)->number, agent_start_ns);
    take();
}

/* Answers the last Start; the test's paths are even, so it is exact. */
static inline void armed(uint32_t host)
{
    armed_for(host, conductor_phase(c)->start_ns + (uint64_t)offsets[host]);
}

static inline void finished(uint32_t host, enum conduct_outcome outcome,
                            uint64_t intervals)
{
    struct conduct_finish finish = {
        .outcome = outcome, .reason = "", .intervals = intervals};

    conductor_finished(c, now, host, conductor_phase(c)->number, &finish);
    take();
}

static inline void stored(uint32_t host, uint64_t next)
{
    conductor_stored(c, now, host, conductor_phase(c)->number, next);
    take();
}

static inline uint32_t hosts(void)
{
    return plans.plan.host_count;
}

/* ---- Steps of a phase ---------------------------------------------------- */

static inline void begin(uint32_t host_count, uint32_t runs)
{
    plans_init(&plans, host_count, runs);
    c = conductor_new(&plans.plan, &options, now);
    ck_assert_ptr_nonnull(c);
    for (uint32_t i = 0; i < host_count; i++)
        up(i, CONDUCT_HELD_NOTHING, 0);
    conductor_begin(c, now);
    take();
    ck_assert_int_eq(state(), CONDUCT_PREPARING);
}

static inline void all_ready(void)
{
    for (uint32_t i = 0; i < hosts(); i++)
        ready(i);
    ck_assert_int_eq(state(), CONDUCT_ARMING);
    wait_for(5 * NS_PER_MS);
    ck_assert_uint_eq(count(CONDUCT_DO_START), hosts());
}

static inline void all_running(void)
{
    all_ready();
    for (uint32_t i = 0; i < hosts(); i++)
        armed(i);
    ck_assert_int_eq(state(), CONDUCT_ARMED);
    wait_until(conductor_phase(c)->start_ns);
    ck_assert_int_eq(state(), CONDUCT_RUNNING);
}

/* A host does all that was asked: ten intervals and the drain row. */
static inline void completes(uint32_t host)
{
    stored(host, 11);
    finished(host, CONDUCT_OUTCOME_COMPLETE, 10);
}

static inline void all_complete(void)
{
    wait_until(conductor_phase(c)->end_ns + NS_PER_MS);
    for (uint32_t i = 0; i < hosts(); i++)
        completes(i);
}

static inline const struct conduct_effect *phase_ended(void)
{
    const struct conduct_effect *effect = find(CONDUCT_PHASE_ENDED, 0);

    ck_assert_ptr_nonnull(effect);
    return effect;
}

static inline void check_ended(enum conduct_verdict verdict, const char *part)
{
    const struct conduct_effect *effect = find(CONDUCT_CAMPAIGN_ENDED, 0);

    ck_assert_ptr_nonnull(effect);
    ck_assert_str_eq(conduct_verdict_name(effect->verdict),
                     conduct_verdict_name(verdict));
    if (strstr(effect->reason, part) == NULL)
        ck_abort_msg("'%s' is not in '%s'", part, effect->reason);
}

static inline void setup(void)
{
    now = 90000 * NS_PER_S;
    conduct_options_init(&options);
    probe_takes_ns = ROUND;
    totals_itself = true;
    for (uint32_t i = 0; i < HOSTS; i++) {
        answers_probes[i] = true;
        memset(&instances[i], (int)i + 1, sizeof(instances[i]));
    }
    forget();
}

static inline void teardown(void)
{
    c = conductor_free(c);
}

#endif
