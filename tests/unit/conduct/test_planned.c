/*
 * Before a phase begins: pauses, and hosts that are waited for.
 */
#include "controller/conduct/conduct.h"

#include "tests/support/plans.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

static struct plans plans;
static struct conduct_options options;
static struct conductor *c;
static uint64_t now;
static uint32_t prepares;
static char notices[1024];
static char ended[REASON_SIZE];

static void take(void)
{
    struct conduct_effect effect;

    while (conductor_take_effect(c, &effect)) {
        prepares += effect.kind == CONDUCT_DO_PREPARE;
        if (effect.kind == CONDUCT_NOTICE)
            (void)snprintf(notices + strlen(notices),
                           sizeof(notices) - strlen(notices), "%s\n",
                           effect.reason);
        if (effect.kind == CONDUCT_CAMPAIGN_ENDED)
            (void)snprintf(ended, sizeof(ended), "%s", effect.reason);
        if (effect.kind == CONDUCT_DO_TOTAL) {
            struct conduct_total total = {0};

            conductor_totalled(c, now, effect.phase, &total);
        }
    }
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

static void up(uint32_t host)
{
    struct conduct_hello hello = {.lease_ns = 30 * NS_PER_S};

    memset(&hello.instance, (int)host + 1, sizeof(hello.instance));
    memset(&hello.boot, (int)host + 1, sizeof(hello.boot));
    conductor_host_up(c, now, host, &hello);
    take();
}

/* A campaign of three hosts, of which the first `there` are connected. */
static void begin(uint32_t there, uint64_t pause_ns)
{
    plans_init(&plans, 3, 1);
    plans.runs[0].pause_ns = pause_ns;
    c = conductor_new(&plans.plan, &options, now);
    ck_assert_ptr_nonnull(c);
    for (uint32_t i = 0; i < there; i++)
        up(i);
    conductor_begin(c, now);
    take();
}

static void setup(void)
{
    now = 90000 * NS_PER_S;
    conduct_options_init(&options);
    prepares = 0;
    notices[0] = ended[0] = '\0';
}

static void teardown(void)
{
    c = conductor_free(c);
}

START_TEST(a_pause_is_kept)
{
    begin(3, 60 * NS_PER_S);
    wait_for(59 * NS_PER_S);
    ck_assert_uint_eq(prepares, 0);
    wait_for(2 * NS_PER_S);
    ck_assert_uint_eq(prepares, 3);
    ck_assert_str_eq(notices, "");
}
END_TEST

START_TEST(who_waits_is_told_for_whom_and_how_long)
{
    begin(1, 0);
    wait_for(NS_PER_S);
    ck_assert_str_eq(notices, "");
    wait_for(options.host_wait_ns - 2 * NS_PER_S);
    ck_assert_str_eq(notices, "phase 1 waits for host1, host2, for 298 s more "
                              "at most (host_wait=)\n");
    ck_assert_uint_eq(prepares, 0);
    wait_for(2 * NS_PER_S);
    ck_assert_str_eq(
        ended,
        "phase 1 of 1 (rd0): 1 of 3 hosts are there; missing after 300 s: "
        "host1, host2");
}
END_TEST

START_TEST(the_wait_ends_when_all_are_there)
{
    begin(1, 0);
    wait_for(10 * NS_PER_S);
    up(1);
    ck_assert_uint_eq(prepares, 0);
    up(2);
    ck_assert_uint_eq(prepares, 3);
}
END_TEST

/* What pauses is not yet waiting; and a short wait is worth no word. */
START_TEST(nothing_is_told_before_its_time)
{
    options.host_wait_ns = NS_PER_S;
    begin(2, 10 * NS_PER_S);
    wait_for(10 * NS_PER_S);
    ck_assert_str_eq(notices, "");
    wait_for(2 * NS_PER_S);
    ck_assert_str_eq(notices, "");
    ck_assert_str_eq(
        ended,
        "phase 1 of 1 (rd0): 2 of 3 hosts are there; missing after 1 s: host2");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("planned");
    TCase *tests = tcase_create("planned");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_pause_is_kept);
    tcase_add_test(tests, who_waits_is_told_for_whom_and_how_long);
    tcase_add_test(tests, the_wait_ends_when_all_are_there);
    tcase_add_test(tests, nothing_is_told_before_its_time);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
