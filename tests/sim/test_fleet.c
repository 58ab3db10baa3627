/*
 * Whole campaigns: the real fleet, conductor, results and store, the real
 * agents' sessions and phases, in a world that delays, loses, freezes and
 * kills.  Workers, drives, sockets and time are fake.
 *
 * TEST_SEED=n repeats one history (TEST_TRACE=1 tells it), SIM_SEEDS=n runs so
 * many of each mood.
 */
#include "common/log.h"
#include "tests/sim/lab.h"
#include "tests/support/suite.h"

#include "proto/lockstep.pb-c.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Misfortunes --------------------------------------------------------- */

static void revive(void *context, uint64_t token)
{
    (void)token;
    host_start(context);
}

static void kill_host(struct lab *lab, struct host *host)
{
    bool power = world_chance(&lab->world, 0.3);

    host_die(host, power, power ? 5 * NS_PER_S : 2 * NS_PER_MS);
    if (world_chance(&lab->world, 0.7))
        world_at(&lab->world,
                 world_now(&lab->world) +
                     world_between(&lab->world, 100 * NS_PER_MS, 30 * NS_PER_S),
                 revive, host, 0);
}

static void cut_path(struct lab *lab, struct host *host)
{
    static const enum cable_ways ways[] = {CABLE_BOTH, CABLE_BOTH, CABLE_FROM_0,
                                           CABLE_FROM_1};
    uint64_t dark = world_chance(&lab->world, 0.5)
                        ? world_between(&lab->world, 0, NS_PER_S)
                        : world_between(&lab->world, 0, 3 * lab->lease_ns);
    uint64_t notice = world_chance(&lab->world, 0.5) ? NS_PER_MS : 5 * NS_PER_S;

    world_trace(&lab->world, "cut of host%u for %.3f s", host->index,
                (double)dark / 1e9);
    cable_cut(&host->cable, ways[world_between(&lab->world, 0, 3)], dark, 0,
              notice);
}

struct victim {
    struct lab *lab;
    uint32_t host;
};

static struct victim victims[LAB_HOSTS];

static void misfortune(void *context, uint64_t token)
{
    const struct victim *victim = context;
    struct lab *lab = victim->lab;
    struct host *host = &lab->hosts[victim->host];

    (void)token;
    if (lab->over)
        return;
    switch (world_between(&lab->world, 0, 5)) {
    case 0:
    case 1:
        cut_path(lab, host);
        break;
    case 2:
        cable_stall(&host->cable, world_between(&lab->world, 0, 4 * NS_PER_S));
        break;
    case 3:
        host_freeze(host,
                    world_between(&lab->world, NS_PER_MS, 2 * lab->lease_ns));
        break;
    case 4:
        kill_host(lab, host);
        break;
    case 5:
        lab->store_ns = world_between(&lab->world, NS_PER_MS, 3 * NS_PER_S);
        break;
    }
}

/* Only while it does I/O, and short. */
static void gentle_misfortune(void *context, uint64_t token)
{
    const struct victim *victim = context;
    struct lab *lab = victim->lab;
    struct host *host = &lab->hosts[victim->host];

    if (lab->over)
        return;
    if (host->crew == CREW_GOING)
        cable_cut(&host->cable, CABLE_BOTH,
                  world_between(&lab->world, 0, lab->lease_ns / 5), 0,
                  NS_PER_S / 2);
    world_at(&lab->world,
             world_now(&lab->world) + lab->lease_ns +
                 world_between(&lab->world, 0, 10 * NS_PER_S),
             gentle_misfortune, context, token);
}

static void all_is_idle(void *context, uint64_t token)
{
    const struct lab *lab = context;

    (void)token;
    REQUIRE(&lab->world, lab->truth.writing == 0);
}

static void operator_stops(void *context, uint64_t token)
{
    struct lab *lab = context;

    (void)token;
    lab_stop_campaign(lab);
    if (lab->mood == LAB_STOPPED)
        world_at(&lab->world, world_now(&lab->world) + 5 * NS_PER_S / 2,
                 all_is_idle, lab, 0);
}

/* The dead man's switch: without a controller, load ends with the lease. */
static void all_is_idle_without(void *context, uint64_t token)
{
    const struct lab *lab = context;

    if (lab->fleet == NULL)
        all_is_idle(context, token);
}

static void controller_dies(void *context, uint64_t token)
{
    struct lab *lab = context;
    uint64_t now = world_now(&lab->world);

    (void)token;
    if (lab->over || lab->fleet == NULL || lab->dying)
        return;
    lab_crash(lab, lab_dark_ns(lab));
    if (lab->mood == LAB_FELLED)
        world_at(&lab->world, now + lab->lease_ns + NS_PER_S,
                 all_is_idle_without, lab, 0);
}

/* At some time, or at a frame that it gets or is about to send. */
static void draw_crash(struct lab *lab)
{
    static const int kinds[] = {
        LOCKSTEP__FRAME__BODY_PREPARE,    LOCKSTEP__FRAME__BODY_READY,
        LOCKSTEP__FRAME__BODY_START,      LOCKSTEP__FRAME__BODY_ARMED,
        LOCKSTEP__FRAME__BODY_GO,         LOCKSTEP__FRAME__BODY_SAMPLE,
        LOCKSTEP__FRAME__BODY_SAMPLE_ACK, LOCKSTEP__FRAME__BODY_FINISHED,
        LOCKSTEP__FRAME__BODY_RENEW,      LOCKSTEP__FRAME__BODY_RELEASE,
        LOCKSTEP__FRAME__BODY_ANSWER,     LOCKSTEP__FRAME__BODY_AGENT_HELLO,
        LOCKSTEP__FRAME__BODY_WELCOME,    LOCKSTEP__FRAME__BODY_INSPECTED,
    };
    struct world *world = &lab->world;
    uint64_t wait_ns = world_between(world, 0, 20 * NS_PER_S);

    if (lab->crashes_left == 0)
        return;
    lab->crashes_left--;
    if (world_chance(world, 0.3)) {
        world_at(world, world_now(world) + wait_ns, controller_dies, lab, 0);
        return;
    }
    lab->crash_at = kinds[world_between(world, 0, ARRAY_LENGTH(kinds) - 1)];
    lab->crash_after = (uint32_t)world_between(world, 0, 2 * lab->host_count);
}

/* The next one, once it is back: leases are renewed by then. */
static void dies_again(void *context, uint64_t token)
{
    struct lab *lab = context;

    if (lab->over)
        return;
    if (lab->crash_at == 0 && lab->fleet != NULL && !lab->dying)
        draw_crash(lab);
    world_at(&lab->world, world_now(&lab->world) + lab->lease_ns, dies_again,
             lab, token);
}

/* ---- Frames around which a broken path is most awkward ---------------------
 */

static bool is_awkward(const struct lab *lab, Lockstep__Frame__BodyCase kind)
{
    switch ((int)kind) {
    case LOCKSTEP__FRAME__BODY_SAMPLE:
    case LOCKSTEP__FRAME__BODY_FINISHED:
    case LOCKSTEP__FRAME__BODY_SAMPLE_ACK:
        return lab->mood == LAB_GENTLE || lab->mood == LAB_ROUGH;
    case LOCKSTEP__FRAME__BODY_AGENT_HELLO:
    case LOCKSTEP__FRAME__BODY_WELCOME:
    case LOCKSTEP__FRAME__BODY_PREPARE:
    case LOCKSTEP__FRAME__BODY_READY:
    case LOCKSTEP__FRAME__BODY_START:
    case LOCKSTEP__FRAME__BODY_ARMED:
    case LOCKSTEP__FRAME__BODY_GO:
    case LOCKSTEP__FRAME__BODY_ABORT:
        return lab->mood == LAB_ROUGH;
    default:
        return false;
    }
}

static enum cable_fate tap(void *context, int to, const void *bytes,
                           size_t length)
{
    const struct victim *victim = context;
    struct lab *lab = victim->lab;
    Lockstep__Frame *frame;
    Lockstep__Frame__BodyCase kind;

    (void)to;
    frame = lockstep__frame__unpack(NULL, length, bytes);
    REQUIRE(&lab->world, frame != NULL);
    kind = frame->body_case;
    lockstep__frame__free_unpacked(frame, NULL);
    if (kind == LOCKSTEP__FRAME__BODY_START &&
        (lab->mood == LAB_STALLED || lab->mood == LAB_ROUGH) &&
        world_chance(&lab->world, 0.1))
        cable_stall(&lab->hosts[victim->host].cable,
                    world_between(&lab->world, 0, NS_PER_S));
    if (!is_awkward(lab, kind) ||
        !world_chance(&lab->world,
                      kind == LOCKSTEP__FRAME__BODY_SAMPLE_ACK ? 0.02 : 0.006))
        return CABLE_PASSES;
    world_trace(&lab->world, "path of host%u breaks at frame %d", victim->host,
                (int)kind);
    return world_chance(&lab->world, 0.5) ? CABLE_BREAKS_BEFORE
                                          : CABLE_BREAKS_BEHIND;
}

/* ---- A history ----------------------------------------------------------- */

static void draw_host(struct lab *lab, struct host *host)
{
    static const uint64_t bases[] = {10 * NS_PER_US, 100 * NS_PER_US, NS_PER_MS,
                                     4 * NS_PER_MS};
    struct world *world = &lab->world;
    double ppm = (double)world_between(world, 0, 400) - 200;

    host->clock_base_ns =
        (int64_t)world_between(world, 0, 2 * 86400 * NS_PER_S) -
        (int64_t)(86400 * NS_PER_S);
    host->clock_rate = 1 + ppm / 1e6;
    host->prepare_ns = world_between(world, NS_PER_MS, NS_PER_S);
    for (int side = 0; side < 2; side++) {
        uint64_t base = bases[world_between(world, 0, 3)];

        host->cable.delays[side] = (struct cable_delay){
            .base_ns = base,
            .jitter_ns = world_between(world, 0, base),
        };
    }
    host->lags = lab->mood == LAB_CALM || lab->mood == LAB_GENTLE ||
                         lab->mood == LAB_CRASHED || lab->mood == LAB_ROUGH
                     ? 0.05
                     : 0;
    host->cable.tap = tap;
    host->cable.tap_context = &victims[host->index];
    if (lab->mood != LAB_ROUGH)
        return;
    host->finishes = world_chance(world, 0.2);
    host->refuses = world_chance(world, 0.03) ? 0.3 : 0;
    host->sticks = world_chance(world, 0.1) ? 0.3 : 0;
}

static void draw_misfortunes(struct lab *lab)
{
    struct world *world = &lab->world;
    uint64_t now = world_now(world);

    if (lab->mood == LAB_GENTLE)
        for (uint32_t i = 0; i < lab->host_count; i++)
            world_at(world, now + world_between(world, 0, 20 * NS_PER_S),
                     gentle_misfortune, &victims[i], 0);
    if (lab->mood == LAB_STOPPED ||
        (lab->mood == LAB_ROUGH && world_chance(world, 0.2)))
        world_at(world, now + world_between(world, 0, 30 * NS_PER_S),
                 operator_stops, lab, 0);
    if (lab->mood == LAB_CRASHED || lab->mood == LAB_FELLED ||
        (lab->mood == LAB_ROUGH && world_chance(world, 0.3))) {
        lab->crashes_left = (uint32_t)world_between(world, 1, 3);
        dies_again(lab, 0);
    }
    if (lab->mood != LAB_ROUGH)
        return;
    for (uint64_t i = world_between(world, 0, 5); i > 0; i--)
        world_at(world, now + world_between(world, 0, 40 * NS_PER_S),
                 misfortune,
                 &victims[world_between(world, 0, lab->host_count - 1)], 0);
}

static bool all_up(const struct lab *lab)
{
    for (uint32_t i = 0; i < lab->host_count; i++)
        if (!lab_is_up(lab, i))
            return false;
    return true;
}

/* What is stored in the end, whoever stored it. */
static void check_results(struct lab *lab)
{
    uint64_t limit = world_now(&lab->world) + 60 * NS_PER_S;

    if (!lab->submitted)
        return; /* it was refused */
    while (lab->fleet == NULL || lab->dying)
        REQUIRE(&lab->world, world_step(&lab->world, limit));
    lab->crash_at = 0;
    lab_check(lab);
    while (!lab->checked)
        REQUIRE(&lab->world, world_step(&lab->world, limit));
}

/* Half an hour is beyond all limits of all phases together. */
#define HISTORY_NS (3600 * NS_PER_S)

static enum lab_verdict run_history(uint64_t seed, enum lab_mood mood,
                                    const char *directory)
{
    static struct lab lab;
    uint64_t limit;

    lab_init(&lab, seed, mood, directory);
    for (uint32_t i = 0; i < lab.host_count; i++) {
        victims[i] = (struct victim){&lab, i};
        draw_host(&lab, &lab.hosts[i]);
        host_start(&lab.hosts[i]);
    }
    limit = world_now(&lab.world) + 60 * NS_PER_S;
    while (!all_up(&lab) && world_step(&lab.world, limit))
        ;
    REQUIRE(&lab.world, all_up(&lab));
    if (mood == LAB_CRASHED)
        draw_misfortunes(&lab);
    lab_submit(&lab);
    while (!lab.submitted && !lab.over && world_step(&lab.world, limit))
        ;
    REQUIRE(&lab.world, lab.submitted || lab.over);
    if (mood != LAB_CRASHED)
        draw_misfortunes(&lab);
    limit = world_now(&lab.world) + HISTORY_NS;
    while (!lab.over && world_step(&lab.world, limit))
        ;
    REQUIRE(&lab.world, lab.over);
    check_results(&lab);

    /* Who is late must not begin to write now, and who comes back with work
     * must be freed of it. */
    limit = world_now(&lab.world) + 100 * NS_PER_S;
    while (world_step(&lab.world, limit))
        ;
    for (uint32_t i = 0; i < lab.host_count; i++)
        REQUIRE(&lab.world,
                !lab_is_up(&lab, i) ||
                    !phase_has_work(session_phase(lab.hosts[i].session)));
    lab_done(&lab);
    return lab.verdict;
}

/* ---- Tests --------------------------------------------------------------- */

static uint32_t seeds_wanted(uint32_t normally)
{
    const char *text = getenv("SIM_SEEDS");

    if (getenv("TEST_SEED") != NULL)
        return 1;
    return text != NULL ? (uint32_t)strtoul(text, NULL, 10) : normally;
}

static void expect(enum lab_mood mood, uint32_t seeds, enum lab_verdict one,
                   enum lab_verdict other)
{
    uint64_t seed = suite_seed();
    const char *directory = suite_memory_directory();

    for (uint32_t i = 0; i < seeds_wanted(seeds); i++) {
        enum lab_verdict verdict = run_history(seed + i, mood, directory);

        if (verdict != one && verdict != other)
            ck_abort_msg("verdict %d; TEST_SEED=%llu TEST_TRACE=1 shows it",
                         (int)verdict, (unsigned long long)(seed + i));
    }
}

START_TEST(calm_campaigns_are_complete)
{
    expect(LAB_CALM, 20, LAB_COMPLETE, LAB_COMPLETE);
}
END_TEST

START_TEST(links_broken_inside_the_lease_cost_nothing)
{
    expect(LAB_GENTLE, 20, LAB_COMPLETE, LAB_COMPLETE);
}
END_TEST

START_TEST(slow_answers_make_no_ragged_start)
{
    expect(LAB_STALLED, 20, LAB_COMPLETE, LAB_FAILED);
}
END_TEST

START_TEST(case_R02_stop_stops_everything_soon)
{
    expect(LAB_STOPPED, 20, LAB_INTERRUPTED, LAB_COMPLETE);
}
END_TEST

/* In every state of a phase, and between commit and acknowledgement: inside the
 * lease it costs no interval and no verdict. */
START_TEST(controllers_killed_inside_the_lease_cost_nothing)
{
    expect(LAB_CRASHED, 40, LAB_COMPLETE, LAB_COMPLETE);
}
END_TEST

/* case_R03: load hosts do not go on when the controller is gone; when it is
 * back, it says what is left. */
START_TEST(case_R03_load_ends_with_the_controller)
{
    uint64_t seed = suite_seed();
    const char *directory = suite_memory_directory();

    for (uint32_t i = 0; i < seeds_wanted(20); i++)
        (void)run_history(seed + i, LAB_FELLED, directory);
}
END_TEST

START_TEST(rough_campaigns_end_and_say_what_happened)
{
    uint64_t seed = suite_seed();
    const char *directory = suite_memory_directory();
    uint32_t verdicts[LAB_VERDICTS] = {0};
    uint32_t seeds = seeds_wanted(60);

    for (uint32_t i = 0; i < seeds; i++)
        verdicts[run_history(seed + i, LAB_ROUGH, directory)]++;
    (void)fprintf(stderr,
                  "verdicts: %u complete, %u degraded, %u failed, "
                  "%u interrupted\n",
                  verdicts[LAB_COMPLETE], verdicts[LAB_DEGRADED],
                  verdicts[LAB_FAILED], verdicts[LAB_INTERRUPTED]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sim fleet");
    TCase *tests = tcase_create("histories");

    /* What is told is checked; SIM_LOG tells it in the daemon's words, too. */
    if (getenv("SIM_LOG") == NULL)
        log_set_level(LOG_LEVEL_ERROR);
    tcase_set_timeout(tests, 110);
    tcase_add_test(tests, calm_campaigns_are_complete);
    tcase_add_test(tests, links_broken_inside_the_lease_cost_nothing);
    tcase_add_test(tests, slow_answers_make_no_ragged_start);
    tcase_add_test(tests, case_R02_stop_stops_everything_soon);
    tcase_add_test(tests, controllers_killed_inside_the_lease_cost_nothing);
    tcase_add_test(tests, case_R03_load_ends_with_the_controller);
    tcase_add_test(tests, rough_campaigns_end_and_say_what_happened);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
