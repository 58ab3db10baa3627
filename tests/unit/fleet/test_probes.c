#include "world.h"

#include "controller/fleet/agent_session.h"
#include "controller/fleet/probes.h"
#include "tests/support/suite.h"

#define AGENTS (3 * PROBES_OUT)

static struct connection connections[AGENTS];
static struct link links[AGENTS];
static struct agent_session *sessions[AGENTS];
static struct probes probes;

static void setup(void)
{
    static const struct wire_agent_hello hello = {
        .major = WIRE_MAJOR, .name = "x", .version = "0"};

    world_setup();
    memset(&probes, 0, sizeof(probes));
    for (size_t i = 0; i < AGENTS; i++) {
        memset(&connections[i], 0, sizeof(connections[i]));
        links[i] = world_link(&connections[i], i + 1, "", TLS_ROLE_NONE);
        sessions[i] = agent_session_new(&links[i], &hello);
    }
}

static void teardown(void)
{
    for (size_t i = 0; i < AGENTS; i++) {
        agent_session_free(sessions[i]);
        connection_done(&connections[i]);
    }
    world_teardown();
}

static uint32_t sent(void)
{
    uint32_t count = 0;

    for (size_t i = 0; i < AGENTS; i++)
        count += connections[i].sent;
    return count;
}

static void want_all(void)
{
    for (size_t i = 0; i < AGENTS; i++)
        probes_want(&probes, sessions[i]);
}

START_TEST(few_are_away_at_a_time)
{
    want_all();
    ck_assert_uint_eq(sent(), PROBES_OUT);
    probes_answered(&probes, sessions[3]);
    ck_assert_uint_eq(sent(), PROBES_OUT + 1);
    ck_assert_uint_eq(connections[PROBES_OUT].sent, 1); /* in order */
}
END_TEST

START_TEST(asking_twice_probes_once)
{
    want_all();
    want_all(); /* those that wait are there already */
    for (size_t i = 0; i < AGENTS; i++)
        probes_answered(&probes, sessions[i]);
    for (size_t i = PROBES_OUT; i < AGENTS; i++)
        ck_assert_uint_eq(connections[i].sent, 1);
}
END_TEST

START_TEST(a_distant_agent_holds_up_nobody)
{
    want_all();
    ck_assert_uint_eq(probes_due_ns(&probes),
                      world_clock.now_ns + PROBES_AWAY_NS);
    clock_manual_advance(&world_clock, PROBES_AWAY_NS);
    probes_tick(&probes, world_clock.now_ns);
    ck_assert_uint_eq(sent(), 2 * PROBES_OUT);
    clock_manual_advance(&world_clock, PROBES_AWAY_NS);
    probes_tick(&probes, world_clock.now_ns);
    ck_assert_uint_eq(sent(), AGENTS);
    ck_assert_uint_eq(probes_due_ns(&probes), UINT64_MAX);
}
END_TEST

/* Whoever goes leaves neither a slot nor a place in the line behind. */
START_TEST(the_gone_are_forgotten)
{
    want_all();
    probes_forget(&probes, sessions[0]);              /* away */
    probes_forget(&probes, sessions[PROBES_OUT + 1]); /* waiting */
    probes_forget(&probes, sessions[AGENTS - 1]);     /* the last in line */
    ck_assert_uint_eq(sent(), PROBES_OUT + 1);
    for (size_t i = 1; i < AGENTS; i++)
        probes_answered(&probes, sessions[i]);
    ck_assert_uint_eq(connections[PROBES_OUT + 1].sent, 0);
    ck_assert_uint_eq(connections[AGENTS - 1].sent, 0);
    ck_assert_uint_eq(sent(), AGENTS - 2);
    probes_want(&probes, sessions[1]);
    ck_assert_uint_eq(sent(), AGENTS - 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fleet.probes");
    TCase *tcase = tcase_create("probes");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, few_are_away_at_a_time);
    tcase_add_test(tcase, asking_twice_probes_once);
    tcase_add_test(tcase, a_distant_agent_holds_up_nobody);
    tcase_add_test(tcase, the_gone_are_forgotten);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
