/*
 * Commands before and after phases: when they are given, to whom, and what
 * their failing does.
 */
#include "controller/conduct/conduct.h"

#include "tests/support/plans.h"
#include "tests/support/suite.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LEASE (30 * NS_PER_S)

static struct plans plans;
static struct conduct_options options;
static struct conductor *c;
static uint64_t now;
static char did[4096]; /* "a@0" for a command, "prepare@1", "end", ... */
static uint32_t last_number[3];
static const char *broken; /* of the totals */
static bool busy;          /* between Go and Finished */
static enum conduct_verdict verdict;
static char why[REASON_SIZE];
static char phase_verdicts[256];

static const struct plan_command commands[] = {
    {.keyword = "startcmd", .text = "a"},
    {.keyword = "startcmd", .text = "b"},
    {.keyword = "startcmd", .text = "m", .on_controller = true},
    {.keyword = "endcmd", .text = "z"},
    {.keyword = "endcmd", .text = "y", .on_controller = true},
};

static PRINTF(1, 2) void note(const char *format, ...)
{
    size_t length = strlen(did);
    va_list args;

    if (length > 0)
        did[length++] = ' ';
    va_start(args, format);
    (void)vsnprintf(did + length, sizeof(did) - length, format, args);
    va_end(args);
}

static void note_command(const struct conduct_effect *effect)
{
    uint32_t host = effect->host == CONDUCT_CONTROLLER ? 2 : effect->host;
    const char *text = effect->command != NULL ? effect->command->text : "kill";

    ck_assert(!busy);
    last_number[host] = effect->number;
    if (host == 2)
        note("%s@c", text);
    else
        note("%s@%u", text, host);
}

/* What an agent that does all at once answers. */
static void answer(const struct conduct_effect *effect)
{
    struct offset_probe probe = {now, now, now, now};
    struct conduct_total total = {.iops = 1};

    switch (effect->kind) {
    case CONDUCT_DO_PREPARE:
        note("prepare@%u", effect->host);
        conductor_ready(c, now, effect->host, effect->phase);
        break;
    case CONDUCT_DO_PROBE:
        conductor_probed(c, now, effect->host, &probe);
        break;
    case CONDUCT_DO_START:
        conductor_armed(c, now, effect->host, effect->phase,
                        effect->agent_start_ns);
        break;
    case CONDUCT_DO_GO:
        busy = true;
        break;
    case CONDUCT_DO_COMMAND:
        note_command(effect);
        break;
    case CONDUCT_DO_TOTAL:
        (void)snprintf(total.broken, sizeof(total.broken), "%s", broken);
        conductor_totalled(c, now, effect->phase, &total);
        break;
    case CONDUCT_PHASE_ENDED:
        (void)snprintf(phase_verdicts + strlen(phase_verdicts),
                       sizeof(phase_verdicts) - strlen(phase_verdicts), "%s ",
                       conduct_verdict_name(effect->verdict));
        note("ended%u", effect->phase);
        break;
    case CONDUCT_CAMPAIGN_ENDED:
        note("end");
        verdict = effect->verdict;
        (void)snprintf(why, sizeof(why), "%s", effect->reason);
        break;
    default:
        break;
    }
}

static void take(void)
{
    struct conduct_effect effect;

    while (conductor_take_effect(c, &effect))
        answer(&effect);
}

static void wait_for(uint64_t ns)
{
    uint64_t until = now + ns;

    for (uint64_t due; (due = conductor_due_ns(c)) <= until;) {
        now = due > now ? due : now;
        conductor_tick(c, now);
        take();
    }
    now = until;
}

#define DID(text)                                                              \
    do {                                                                       \
        ck_assert_str_eq(did, text);                                           \
        did[0] = '\0';                                                         \
    } while (0)

static void up(uint32_t host)
{
    struct conduct_hello hello = {.lease_ns = LEASE};

    memset(&hello.instance, (int)host + 1, sizeof(hello.instance));
    memset(&hello.boot, (int)host + 1, sizeof(hello.boot));
    conductor_host_up(c, now, host, &hello);
    take();
}

static void begin(uint32_t runs)
{
    plans.plan.run_count = runs;
    c = conductor_new(&plans.plan, &options, now);
    ck_assert_ptr_nonnull(c);
    up(0);
    up(1);
    conductor_begin(c, now);
    take();
}

/* Host 2 is the controller. */
static void done(uint32_t host, const char *failure)
{
    conductor_commanded(c, now, host == 2 ? CONDUCT_CONTROLLER : host,
                        last_number[host], failure);
    take();
}

/* The phase runs to its end and all is stored. */
static void pass_phase(void)
{
    const struct conduct_finish finish = {.reason = "", .intervals = 10};
    uint32_t phase = conductor_phase(c)->number;

    wait_for(15 * NS_PER_S);
    ck_assert(busy);
    busy = false;
    for (uint32_t host = 0; host < 2; host++) {
        conductor_stored(c, now, host, phase, 11);
        conductor_finished(c, now, host, phase, &finish);
        take();
    }
}

static void setup(void)
{
    now = 90000 * NS_PER_S;
    conduct_options_init(&options);
    plans_init(&plans, 2, 2);
    did[0] = why[0] = phase_verdicts[0] = '\0';
    busy = false;
    broken = "";
    verdict = CONDUCT_VERDICTS;
}

static void teardown(void)
{
    c = conductor_free(c);
}

START_TEST(each_runs_on_all_hosts_before_the_next_and_none_beside_io)
{
    plans.plan.start = (struct plan_commands){&commands[2], 1};
    plans.plan.end = (struct plan_commands){&commands[4], 1};
    plans.runs[0].start = (struct plan_commands){&commands[0], 2};
    plans.runs[0].end = (struct plan_commands){&commands[3], 2};
    begin(2);
    DID("m@c");
    done(2, NULL);
    DID("a@0 a@1");
    done(1, NULL);
    DID("");
    done(0, NULL);
    DID("b@0 b@1");
    done(0, NULL);
    done(1, NULL);
    DID("prepare@0 prepare@1");
    pass_phase();
    DID("ended0 z@0 z@1");
    done(0, NULL);
    done(1, NULL);
    DID("y@c");
    done(2, NULL);
    DID("prepare@0 prepare@1"); /* the second has no commands */
    pass_phase();
    DID("ended1 y@c");
    done(2, NULL);
    DID("end");
    ck_assert_int_eq(verdict, CONDUCT_COMPLETE);
    ck_assert_str_eq(phase_verdicts, "complete complete ");
}
END_TEST

START_TEST(failing_before_a_phase_ends_the_campaign_with_its_last_commands)
{
    plans.plan.end = (struct plan_commands){&commands[4], 1};
    plans.runs[0].start = (struct plan_commands){&commands[0], 2};
    plans.runs[0].end = (struct plan_commands){&commands[3], 1};
    begin(2);
    DID("a@0 a@1");
    done(0, "exit status 3");
    done(1, NULL);
    DID("ended0 z@0 z@1"); /* b is not run any more, and nothing prepared */
    done(0, NULL);
    done(1, NULL);
    DID("y@c");
    done(2, NULL);
    DID("end");
    ck_assert_int_eq(verdict, CONDUCT_FAILED);
    ck_assert_ptr_nonnull(strstr(why, "startcmd=a on host0: exit status 3"));
    ck_assert_str_eq(phase_verdicts, "failed ");
}
END_TEST

START_TEST(failing_before_all_leaves_no_phase)
{
    plans.plan.start = (struct plan_commands){&commands[2], 1};
    begin(2);
    DID("m@c");
    done(2, "no such program");
    DID("end");
    ck_assert_int_eq(verdict, CONDUCT_FAILED);
    ck_assert_str_eq(why,
                     "startcmd=m on the controller's host: no such program");
    ck_assert_str_eq(phase_verdicts, "");
}
END_TEST

START_TEST(failing_afterwards_leaves_what_was_measured)
{
    plans.runs[0].end = (struct plan_commands){&commands[3], 2};
    begin(2);
    DID("prepare@0 prepare@1");
    pass_phase();
    DID("ended0 z@0 z@1");
    done(0, "exit status 1");
    done(1, NULL);
    DID("y@c");
    done(2, NULL);
    DID("prepare@0 prepare@1");
    pass_phase();
    DID("ended1 end");
    ck_assert_int_eq(verdict, CONDUCT_FAILED);
    ck_assert_ptr_nonnull(strstr(why, "endcmd=z on host0: exit status 1"));
    ck_assert_str_eq(phase_verdicts, "complete complete ");
}
END_TEST

START_TEST(host_that_comes_back_is_told_the_same_again)
{
    uint32_t number;

    plans.runs[0].start = (struct plan_commands){&commands[0], 1};
    begin(1);
    DID("a@0 a@1");
    number = last_number[1];
    done(0, NULL);
    conductor_host_down(c, now, 1, "cut");
    take();
    wait_for(LEASE / 2);
    DID("");
    up(1);
    DID("a@1");
    ck_assert_uint_eq(last_number[1], number);
    done(1, NULL);
    DID("prepare@0 prepare@1");
}
END_TEST

START_TEST(host_that_stays_away_has_failed_to_run_it)
{
    plans.runs[0].start = (struct plan_commands){&commands[0], 1};
    begin(1);
    done(0, NULL);
    conductor_host_down(c, now, 1, "cut");
    take();
    wait_for(LEASE + NS_PER_S);
    DID("a@0 a@1 ended0 end");
    ck_assert_ptr_nonnull(strstr(why, "startcmd=a on host1: cut"));
}
END_TEST

START_TEST(answers_to_other_numbers_and_twice_do_nothing)
{
    plans.runs[0].start = (struct plan_commands){&commands[0], 2};
    begin(1);
    DID("a@0 a@1");
    conductor_commanded(c, now, 0, last_number[0] + 1, "x");
    take();
    conductor_commanded(c, now, CONDUCT_CONTROLLER, last_number[0], "x");
    take();
    done(0, NULL);
    done(0, "late");
    ck_assert(!conductor_waits_for(c, 0, last_number[0]));
    ck_assert(conductor_waits_for(c, 1, last_number[1]));
    done(1, NULL);
    DID("b@0 b@1");
}
END_TEST

START_TEST(stop_kills_what_runs_and_runs_what_cleans_up)
{
    plans.plan.end = (struct plan_commands){&commands[4], 1};
    plans.runs[0].start = (struct plan_commands){&commands[0], 1};
    begin(2);
    DID("a@0 a@1");
    done(1, NULL);
    conductor_stop(c, now, "by ann");
    take();
    DID("kill@0 y@c");
    conductor_stop(c, now, "by ann"); /* and once more */
    take();
    DID("kill@c end");
    ck_assert_int_eq(verdict, CONDUCT_INTERRUPTED);
}
END_TEST

START_TEST(what_breaks_a_bound_ends_the_campaign_with_its_commands)
{
    plans.runs[0].end = (struct plan_commands){&commands[3], 1};
    broken = "wd=a is off";
    begin(2);
    DID("prepare@0 prepare@1");
    pass_phase();
    DID("ended0 z@0 z@1");
    done(0, NULL);
    done(1, NULL);
    DID("end");
    ck_assert_int_eq(verdict, CONDUCT_FAILED);
    ck_assert_str_eq(phase_verdicts, "failed ");
    ck_assert_str_eq(why, "phase 1 of 2 (rd0): wd=a is off");
}
END_TEST

START_TEST(command_without_an_answer_is_given_up)
{
    plans.plan.start = (struct plan_commands){&commands[2], 1};
    begin(1);
    wait_for(CONDUCT_COMMAND_NS - NS_PER_S);
    DID("m@c");
    wait_for(2 * NS_PER_S);
    DID("end");
    ck_assert_ptr_nonnull(strstr(why, "did not end"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("errand");
    TCase *cases = tcase_create("errand");

    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_test(cases,
                   each_runs_on_all_hosts_before_the_next_and_none_beside_io);
    tcase_add_test(
        cases, failing_before_a_phase_ends_the_campaign_with_its_last_commands);
    tcase_add_test(cases, failing_before_all_leaves_no_phase);
    tcase_add_test(cases, failing_afterwards_leaves_what_was_measured);
    tcase_add_test(cases, host_that_comes_back_is_told_the_same_again);
    tcase_add_test(cases, host_that_stays_away_has_failed_to_run_it);
    tcase_add_test(cases, answers_to_other_numbers_and_twice_do_nothing);
    tcase_add_test(cases, stop_kills_what_runs_and_runs_what_cleans_up);
    tcase_add_test(cases,
                   what_breaks_a_bound_ends_the_campaign_with_its_commands);
    tcase_add_test(cases, command_without_an_answer_is_given_up);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
