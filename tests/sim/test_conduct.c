/*
 * The real conductor and clock estimation, with model agents, in a world that
 * delays, loses, freezes, kills and lies about the time.
 *
 *   safety    nobody starts unless all have armed for that instant; all start
 *             within the stated uncertainty; two phases never overlap; nobody
 *             writes after the campaign; what a verdict says is what happened
 *   liveness  every campaign ends, within the sum of its limits
 *
 * TEST_SEED=n repeats one history (TEST_TRACE=1 tells it), SIM_SEEDS=n runs so
 * many.
 */
#include "tests/sim/stage.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Misfortunes --------------------------------------------------------- */

static void revive(void *context, uint64_t token)
{
    (void)token;
    model_start(context);
}

static void kill_host(struct stage *s, struct model *model)
{
    bool power = world_chance(&s->world, 0.3);

    model_die(model, power, power ? 5 * NS_PER_S : 2 * NS_PER_MS);
    if (world_chance(&s->world, 0.7))
        world_at(&s->world,
                 world_now(&s->world) +
                     world_between(&s->world, 100 * NS_PER_MS, 30 * NS_PER_S),
                 revive, model, 0);
}

/* The controller closes on one that is silent for 5 s. */
static void silence(void *context, uint64_t connection)
{
    struct port *port = context;

    stage_hang_up(port->stage, port->host, connection);
}

static void freeze_host(struct stage *s, struct port *port)
{
    struct model *model = &s->models[port->host];
    uint64_t for_ns = world_between(&s->world, NS_PER_MS, 2 * s->lease_ns);

    if (for_ns > 5 * NS_PER_S)
        world_at(&s->world, world_now(&s->world) + 5 * NS_PER_S, silence, port,
                 model->cable.connection);
    model_freeze(model, for_ns);
}

static void cut_link(struct stage *s, struct model *model)
{
    uint64_t dark = world_chance(&s->world, 0.5)
                        ? world_between(&s->world, 0, NS_PER_S)
                        : world_between(&s->world, 0, 3 * s->lease_ns);
    uint64_t notice = world_chance(&s->world, 0.5) ? NS_PER_MS : 5 * NS_PER_S;

    world_trace(&s->world, "cut of host%u for %.3f s", model->index,
                (double)dark / 1e9);
    cable_cut(&model->cable, CABLE_BOTH, dark, 0, notice);
}

static void misfortune(void *context, uint64_t token)
{
    struct port *port = context;
    struct stage *s = port->stage;
    struct model *model = &s->models[port->host];

    (void)token;
    if (s->over)
        return;
    switch (world_between(&s->world, 0, 5)) {
    case 0:
    case 1:
        cut_link(s, model);
        break;
    case 2:
        cable_stall(&model->cable, world_between(&s->world, 0, 4 * NS_PER_S));
        break;
    case 3:
        freeze_host(s, port);
        break;
    case 4:
        kill_host(s, model);
        break;
    case 5:
        s->store_ns = world_between(&s->world, NS_PER_MS, 10 * NS_PER_S);
        break;
    }
}

static void gentle_misfortune(void *context, uint64_t token)
{
    struct port *port = context;
    struct stage *s = port->stage;
    struct model *model = &s->models[port->host];

    if (s->over)
        return;
    if (conductor_phase(s->conductor)->state == CONDUCT_RUNNING)
        cable_cut(&model->cable, CABLE_BOTH,
                  world_between(&s->world, 0, s->lease_ns / 5), 0,
                  NS_PER_S / 2);
    world_at(&s->world,
             world_now(&s->world) + s->lease_ns +
                 world_between(&s->world, 0, 20 * NS_PER_S),
             gentle_misfortune, port, token);
}

static void operator_stops(void *context, uint64_t token)
{
    struct stage *s = context;

    (void)token;
    if (s->over)
        return;
    s->stopped = true;
    s->stopped_ns = world_now(&s->world);
    world_trace(&s->world, "the operator stops it");
    conductor_stop(s->conductor, world_now(&s->world), "by ann");
    stage_carry_out(s);
}

static void results_end(void *context, uint64_t token)
{
    struct stage *s = context;
    const struct conduct_phase *phase = conductor_phase(s->conductor);

    (void)token;
    if (s->over)
        return;
    conductor_end_phase(s->conductor, world_now(&s->world), CONDUCT_COMPLETE,
                        "maxdata");
    if (phase->state == CONDUCT_RUNNING && s->stop_after == UINT64_MAX)
        s->stop_after =
            (phase->end_ns - phase->start_ns) / phase->interval_ns - 1;
    stage_carry_out(s);
}

/* ---- A history ----------------------------------------------------------- */

static void draw_delays(struct stage *s, struct model *model)
{
    static const uint64_t bases[] = {10 * NS_PER_US, 100 * NS_PER_US, NS_PER_MS,
                                     4 * NS_PER_MS};
    bool rough = s->mood == MOOD_ROUGH;

    for (int side = 0; side < 2; side++) {
        uint64_t base = bases[world_between(&s->world, 0, rough ? 3 : 2)];

        model->cable.delays[side] = (struct cable_delay){
            .base_ns = base,
            .jitter_ns = world_between(&s->world, 0, 2 * base),
            .spike = rough && world_chance(&s->world, 0.3) ? 0.05 : 0,
        };
    }
}

static void draw_model(struct stage *s, struct model *model)
{
    struct world *world = &s->world;
    double ppm = (double)world_between(world, 0, 400) - 200;

    model->clock_base_ns =
        (int64_t)world_between(world, 0, 2 * 86400 * NS_PER_S) -
        (int64_t)(86400 * NS_PER_S);
    model->clock_rate = 1 + ppm / 1e6;
    model->boot = 1000 * (model->index + 1);
    model->instance = 100 * (model->index + 1);
    model->lease_ns = s->lease_ns;
    model->drain_limit_ns = s->options.drain_ns;
    model->prepare_ns = world_between(world, NS_PER_MS, NS_PER_S);
    draw_delays(s, model);
    if (s->mood != MOOD_ROUGH)
        return;
    model->finishes = world_chance(world, 0.2);
    if (world_chance(world, 0.03))
        model->prepare_ns = 20 * NS_PER_S;
    model->refuses = world_chance(world, 0.03) ? 0.3 : 0;
    model->sticks = world_chance(world, 0.1) ? 0.3 : 0;
}

static void draw_require(struct stage *s)
{
    if (s->mood != MOOD_ROUGH || world_chance(&s->world, 0.5))
        return;
    s->options.require = CONDUCT_REQUIRE_COUNT;
    s->options.require_value = (double)world_between(&s->world, 1, s->hosts);
}

/* Commands of every kind, in half of all campaigns. */
static void draw_commands(struct stage *s)
{
    static const struct plan_command items[] = {
        {.keyword = "startcmd", .text = "a"},
        {.keyword = "startcmd", .text = "b", .on_controller = true},
        {.keyword = "startcmd", .text = "c"},
    };
    struct plan *plan = &s->plans.plan;

    if (world_chance(&s->world, 0.5))
        return;
    plan->start = (struct plan_commands){&items[1], 1};
    plan->end = (struct plan_commands){&items[1], 1};
    for (uint32_t i = 0; i < plan->run_count; i++) {
        s->plans.runs[i].start = (struct plan_commands){
            items, (uint32_t)world_between(&s->world, 0, 3)};
        s->plans.runs[i].end = (struct plan_commands){
            items, (uint32_t)world_between(&s->world, 0, 3)};
    }
}

static void draw_plan(struct stage *s)
{
    uint32_t runs = (uint32_t)world_between(&s->world, 1, 4);

    plans_init(&s->plans, s->hosts, runs);
    for (uint32_t i = 0; i < runs; i++) {
        struct plan_run *run = &s->plans.runs[i];

        run->elapsed_ns =
            world_between(&s->world, 2,
                          world_chance(&s->world, 0.2) ? 60 : 12) *
            NS_PER_S;
        run->warmup_ns = world_between(&s->world, 0, 3) * NS_PER_S;
        run->pause_ns = world_chance(&s->world, 0.3) ? 5 * NS_PER_S : 0;
        if (i > 0 && world_chance(&s->world, 0.3))
            run->rate = (struct plan_rate){PLAN_RATE_PERCENT, 50};
    }
    s->plans.runs[0].rate.kind = PLAN_RATE_CURVE;
    draw_commands(s);
}

/* Stopping is quick where nothing else is wrong. */
static void all_is_idle(void *context, uint64_t token)
{
    struct stage *s = context;

    (void)token;
    REQUIRE(&s->world, s->truth.writing == 0);
}

static void operator_stops_calm(void *context, uint64_t token)
{
    struct stage *s = context;

    operator_stops(s, token);
    world_at(&s->world, world_now(&s->world) + 5 * NS_PER_S / 2, all_is_idle, s,
             0);
}

static void draw_misfortunes(struct stage *s)
{
    struct port *ports = s->ports;
    struct world *world = &s->world;
    uint64_t now = world_now(world);
    uint64_t count = world_between(world, 0, 5);

    if (s->mood == MOOD_CALM || s->mood == MOOD_STALLED)
        return;
    if (s->mood == MOOD_STOPPED) {
        world_at(world, now + world_between(world, 0, 30 * NS_PER_S),
                 operator_stops_calm, s, 0);
        return;
    }
    if (s->mood == MOOD_GENTLE) {
        for (uint32_t i = 0; i < s->hosts; i++)
            world_at(world, now + world_between(world, 0, 20 * NS_PER_S),
                     gentle_misfortune, &ports[i], 0);
        return;
    }
    for (uint64_t i = 0; i < count; i++)
        world_at(world, now + world_between(world, 0, 40 * NS_PER_S),
                 misfortune, &ports[world_between(world, 0, s->hosts - 1)], 0);
    if (world_chance(world, 0.2))
        world_at(world, now + world_between(world, 0, 60 * NS_PER_S),
                 operator_stops, s, 0);
    if (world_chance(world, 0.2))
        world_at(world, now + world_between(world, 0, 30 * NS_PER_S),
                 results_end, s, 0);
}

static void stage_init(struct stage *s, uint64_t seed, enum mood mood)
{
    memset(s, 0, sizeof(*s));
    world_init(&s->world, seed);
    s->mood = mood;
    s->hosts = (uint32_t)world_between(&s->world, 1, STAGE_HOSTS);
    s->lease_ns =
        world_between(&s->world, 5, world_chance(&s->world, 0.5) ? 7 : 30) *
        NS_PER_S;
    s->store_ns = world_between(&s->world, NS_PER_MS, 50 * NS_PER_MS);
    s->tick_ns = UINT64_MAX;
    truth_init(&s->truth, &s->world, s->hosts);
    conduct_options_init(&s->options);
    s->options.host_wait_ns = 40 * NS_PER_S;
    s->options.prepare_ns = 15 * NS_PER_S;
    s->options.prepare_target_ns = 0;
    s->options.drain_ns = 3 * NS_PER_S;
    s->options.grace_ns = 3 * NS_PER_S;
    s->options.collect_ns = 60 * NS_PER_S;
    s->options.start_tolerance_ns =
        mood == MOOD_ROUGH
            ? world_between(&s->world, 2 * NS_PER_MS, 30 * NS_PER_MS)
            : 10 * NS_PER_MS;
    draw_require(s);
    draw_plan(s);
    s->conductor =
        conductor_new(&s->plans.plan, &s->options, world_now(&s->world));
    REQUIRE(&s->world, s->conductor != NULL);
}

/* No state is waited in for longer than its limits say. */
static uint64_t longest_ns(const struct stage *s)
{
    const struct conduct_options *o = &s->options;
    uint64_t sum = 0;

    for (uint32_t i = 0; i < s->plans.plan.run_count; i++) {
        const struct plan_run *run = &s->plans.runs[i];

        sum += run->pause_ns + o->host_wait_ns + o->prepare_ns + o->probe_ns +
               run->warmup_ns + run->elapsed_ns + 30 * NS_PER_S +
               2 * (o->drain_ns + o->grace_ns + o->lag_ns) + s->lease_ns +
               2 * o->collect_ns;
        /* A command answers soon, or its host is gone, frozen or cut. */
        sum +=
            (run->start.count + run->end.count) * (s->lease_ns + 60 * NS_PER_S);
    }
    return sum;
}

static void stage_done(struct stage *s)
{
    (void)conductor_free(s->conductor);
    for (uint32_t i = 0; i < s->hosts; i++)
        model_done(&s->models[i]);
    world_done(&s->world);
}

/* Messages around which a broken path is most awkward. */
static bool is_awkward(const struct stage *s, const struct message *message)
{
    switch (message->kind) {
    case MESSAGE_SAMPLE:
    case MESSAGE_FINISHED:
    case MESSAGE_ACK:
        return s->mood == MOOD_GENTLE || s->mood == MOOD_ROUGH;
    case MESSAGE_ABORT: /* the first, where it is to be quick */
        return s->mood == MOOD_ROUGH ||
               (s->mood == MOOD_STOPPED &&
                world_now(&s->world) < s->stopped_ns + 50 * NS_PER_MS);
    case MESSAGE_RENEW:
    case MESSAGE_PROBE:
    case MESSAGE_REPLY:
        return false;
    default:
        return s->mood == MOOD_ROUGH;
    }
}

static enum cable_fate tap(void *context, int to, const void *bytes,
                           size_t length)
{
    struct port *port = context;
    struct stage *s = port->stage;
    const struct message *message = bytes;
    bool slow = message->kind == MESSAGE_START &&
                (s->mood == MOOD_ROUGH || s->mood == MOOD_STALLED);

    (void)to, (void)length;
    if (slow && world_chance(&s->world, 0.1))
        cable_stall(&s->models[port->host].cable,
                    world_between(&s->world, 0,
                                  world_chance(&s->world, 0.7) ? 400 * NS_PER_MS
                                                               : NS_PER_S));
    if (!is_awkward(s, message) ||
        !world_chance(&s->world, message->kind == MESSAGE_ABORT ? 0.3 : 0.004))
        return CABLE_PASSES;
    world_trace(&s->world, "path of host%u breaks at message %d", port->host,
                (int)message->kind);
    return world_chance(&s->world, 0.5) ? CABLE_BREAKS_BEFORE
                                        : CABLE_BREAKS_BEHIND;
}

static enum conduct_verdict run_history(uint64_t seed, enum mood mood)
{
    static struct stage stage;
    struct stage *s = &stage;
    uint64_t limit;

    stage_init(s, seed, mood);
    for (uint32_t i = 0; i < s->hosts; i++) {
        model_init(&s->models[i], &s->world, &s->truth, i);
        draw_model(s, &s->models[i]);
    }
    stage_listen(s);
    for (uint32_t i = 0; i < s->hosts; i++) {
        s->models[i].cable.tap = tap;
        s->models[i].cable.tap_context = &s->ports[i];
    }
    for (uint32_t i = 0; i < s->hosts; i++)
        model_start(&s->models[i]);
    draw_misfortunes(s);
    limit = world_now(&s->world) + longest_ns(s);
    conductor_begin(s->conductor, world_now(&s->world));
    stage_carry_out(s);
    while (!s->over && world_step(&s->world, limit))
        ;
    REQUIRE(&s->world, s->over);

    /* Who is late must not begin to write now. */
    limit = world_now(&s->world) + 200 * NS_PER_S;
    while (world_step(&s->world, limit))
        ;
    stage_done(s);
    return s->verdict;
}

/* ---- Tests --------------------------------------------------------------- */

static uint32_t seeds_wanted(uint32_t normally)
{
    const char *text = getenv("SIM_SEEDS");

    if (getenv("TEST_SEED") != NULL)
        return 1;
    return text != NULL ? (uint32_t)strtoul(text, NULL, 10) : normally;
}

START_TEST(calm_campaigns_are_complete)
{
    uint64_t seed = suite_seed();

    for (uint32_t i = 0; i < seeds_wanted(300); i++)
        if (run_history(seed + i, MOOD_CALM) != CONDUCT_COMPLETE)
            ck_abort_msg("not complete; TEST_SEED=%llu",
                         (unsigned long long)(seed + i));
}
END_TEST

/* Either all of them start in time, or none does. */
START_TEST(slow_answers_make_no_ragged_start)
{
    uint64_t seed = suite_seed();

    for (uint32_t i = 0; i < seeds_wanted(300); i++) {
        enum conduct_verdict verdict = run_history(seed + i, MOOD_STALLED);

        if (verdict != CONDUCT_FAILED && verdict != CONDUCT_COMPLETE)
            ck_abort_msg("neither complete nor failed; TEST_SEED=%llu",
                         (unsigned long long)(seed + i));
    }
}
END_TEST

/* Inside the lease a broken link costs no interval and no verdict. */
START_TEST(links_broken_inside_the_lease_cost_nothing)
{
    uint64_t seed = suite_seed();

    for (uint32_t i = 0; i < seeds_wanted(300); i++)
        if (run_history(seed + i, MOOD_GENTLE) != CONDUCT_COMPLETE)
            ck_abort_msg("not complete; TEST_SEED=%llu",
                         (unsigned long long)(seed + i));
}
END_TEST

/* Every drive is idle soon after the operator's word, in any state, and no
 * later phase begins.  2.5 s: an Abort may get lost, and the agent dial anew.
 */
START_TEST(case_R02_stop_stops_everything_soon)
{
    uint64_t seed = suite_seed();

    for (uint32_t i = 0; i < seeds_wanted(300); i++) {
        enum conduct_verdict verdict = run_history(seed + i, MOOD_STOPPED);

        if (verdict != CONDUCT_INTERRUPTED && verdict != CONDUCT_COMPLETE)
            ck_abort_msg("neither complete nor interrupted; TEST_SEED=%llu",
                         (unsigned long long)(seed + i));
    }
}
END_TEST

START_TEST(rough_campaigns_end_and_say_what_happened)
{
    uint64_t seed = suite_seed();
    uint32_t verdicts[CONDUCT_VERDICTS] = {0};
    uint32_t seeds = seeds_wanted(2000);

    for (uint32_t i = 0; i < seeds; i++)
        verdicts[run_history(seed + i, MOOD_ROUGH)]++;
    /* Faults that do not happen are not tested. */
    for (uint32_t i = 0; seeds >= 1000 && i < CONDUCT_VERDICTS; i++)
        ck_assert_uint_gt(verdicts[i], 0);
    (void)fprintf(stderr,
                  "verdicts: %u complete, %u degraded, %u failed, "
                  "%u interrupted\n",
                  verdicts[0], verdicts[1], verdicts[2], verdicts[3]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sim conduct");
    TCase *tests = tcase_create("histories");

    tcase_set_timeout(tests, 100);
    tcase_add_test(tests, calm_campaigns_are_complete);
    tcase_add_test(tests, slow_answers_make_no_ragged_start);
    tcase_add_test(tests, links_broken_inside_the_lease_cost_nothing);
    tcase_add_test(tests, case_R02_stop_stops_everything_soon);
    tcase_add_test(tests, rough_campaigns_end_and_say_what_happened);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
