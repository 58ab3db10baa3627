#include "world.h"

#include "controller/conduct/offset.h"
#include "controller/fleet/agent_session.h"
#include "controller/fleet/greeting.h"
#include "controller/fleet/registry.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <stdio.h>

static struct connection connection;
static struct link link_;

static void setup(void)
{
    world_setup();
    memset(&connection, 0, sizeof(connection));
    link_ = world_link(&connection, 1, "", TLS_ROLE_NONE);
}

static void teardown(void)
{
    connection_done(&connection);
    world_teardown();
}

static void pass(uint64_t ns)
{
    clock_manual_advance(&world_clock, ns);
    link_tick(&link_, world_clock.now_ns);
}

START_TEST(no_hello_ends_it)
{
    pass(LINK_GREETING_NS - 1);
    ck_assert(link_is_open(&link_));
    ck_assert_uint_eq(connection.sent, 0); /* nothing is said to strangers */
    pass(1);
    ck_assert(connection.ended);
    ck_assert_ptr_nonnull(strstr(connection.reason, "no hello"));
    world_expect(&connection, LOCKSTEP__FRAME__BODY_REJECT);
}
END_TEST

START_TEST(silence_ends_it)
{
    link_enter(&link_, LINK_AGENT);
    pass(LINK_SILENCE_NS - 1);
    link_heard(&link_, world_clock.now_ns);
    pass(LINK_SILENCE_NS - 1);
    ck_assert(link_is_open(&link_));
    pass(1);
    ck_assert(!link_is_open(&link_));
    ck_assert_ptr_nonnull(strstr(connection.reason, "silent"));
}
END_TEST

START_TEST(heartbeats_fill_the_silence)
{
    const struct wire_out probe = {.kind = WIRE_OUT_CLOCK_PROBE};

    link_enter(&link_, LINK_SHELL);
    for (int i = 0; i < 30; i++) { /* 3 s */
        pass(100 * NS_PER_MS);
        link_heard(&link_, world_clock.now_ns);
    }
    ck_assert_uint_eq(connection.sent, 3);
    for (int i = 0; i < 30; i++) { /* what is said anyway is enough */
        (void)link_say(&link_, &probe);
        pass(100 * NS_PER_MS);
        link_heard(&link_, world_clock.now_ns);
    }
    ck_assert_uint_eq(connection.sent, 33);
}
END_TEST

START_TEST(an_end_is_said_once)
{
    const struct wire_out probe = {.kind = WIRE_OUT_CLOCK_PROBE};

    link_end(&link_, "first");
    link_end(&link_, "second");
    ck_assert_str_eq(connection.reason, "first");
    ck_assert_uint_eq(connection.sent, 1);
    ck_assert_int_eq(link_say(&link_, &probe), -ENOTCONN);
}
END_TEST

START_TEST(addresses_lose_their_ports)
{
    static const char *const cases[][2] = {
        {"192.0.2.7:40312", "192.0.2.7"},
        {"[2001:db8::1]:40312", "2001:db8::1"},
        {"local", "local"},
    };
    char text[LINK_ADDRESS_SIZE];

    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        (void)snprintf(link_.address, sizeof(link_.address), "%s", cases[i][0]);
        link_host_address(&link_, text);
        ck_assert_str_eq(text, cases[i][1]);
    }
}
END_TEST

/* ---- Who may come in ----------------------------------------------------- */

static struct wire_agent_hello hello_of(const char *name)
{
    return (struct wire_agent_hello){
        .major = WIRE_MAJOR,
        .name = name,
        .version = "0.1.0",
        .instance = body_instance,
        .lease_ms = 30000,
    };
}

START_TEST(another_major_is_refused_with_both_versions)
{
    struct wire_agent_hello hello = hello_of("host7");
    struct diag diag;

    hello.major = 2;
    hello.minor = 5;
    ck_assert_int_eq(greeting_agent(&link_, &hello, NULL, &diag),
                     -EPROTONOSUPPORT);
    ck_assert_ptr_nonnull(strstr(diag.text, "host7"));
    ck_assert_ptr_nonnull(strstr(diag.text, "2.5"));
    ck_assert_ptr_nonnull(strstr(diag.text, "1.0"));
    hello.major = 1;
    hello.minor = 99;
    ck_assert_int_eq(greeting_agent(&link_, &hello, NULL, &diag), 0);
}
END_TEST

START_TEST(a_name_is_its_certificates)
{
    struct wire_agent_hello hello = hello_of("host7");
    struct diag diag;

    link_ = world_link(&connection, 1, "host8", TLS_ROLE_AGENT);
    ck_assert_int_eq(greeting_agent(&link_, &hello, NULL, &diag), -EACCES);
    ck_assert_ptr_nonnull(strstr(diag.text, "host8"));
    link_ = world_link(&connection, 1, "host7", TLS_ROLE_OPERATOR);
    ck_assert_int_eq(greeting_agent(&link_, &hello, NULL, &diag), -EACCES);
    ck_assert_ptr_nonnull(strstr(diag.text, "operator"));
    link_ = world_link(&connection, 1, "host7", TLS_ROLE_AGENT);
    ck_assert_int_eq(greeting_agent(&link_, &hello, NULL, &diag), 0);
}
END_TEST

START_TEST(a_shell_needs_an_operators_certificate)
{
    const struct wire_shell_hello hello = {
        .major = WIRE_MAJOR, .user = "ann", .version = "0.1.0"};
    struct diag diag;

    ck_assert_int_eq(greeting_shell(&link_, &hello, &diag), 0);
    link_ = world_link(&connection, 1, "host7", TLS_ROLE_AGENT);
    ck_assert_int_eq(greeting_shell(&link_, &hello, &diag), -EACCES);
    link_ = world_link(&connection, 1, "ann", TLS_ROLE_OPERATOR);
    ck_assert_int_eq(greeting_shell(&link_, &hello, &diag), 0);
}
END_TEST

START_TEST(one_name_is_one_instance)
{
    struct wire_agent_hello hello = hello_of("host7");
    struct agent_session *session = agent_session_new(&link_, &hello);
    struct host host = {.name = "host7", .session = session};
    struct connection second = {0};
    struct link newer = world_link(&second, 2, "", TLS_ROLE_NONE);
    struct diag diag;

    (void)snprintf(newer.address, sizeof(newer.address), "198.51.100.9:1");
    ck_assert_int_eq(greeting_agent(&newer, &hello, &host, &diag), 0);
    hello.instance = body_other;
    ck_assert_int_eq(greeting_agent(&newer, &hello, &host, &diag), -EADDRINUSE);
    ck_assert_ptr_nonnull(strstr(diag.text, "192.0.2.7"));
    ck_assert_ptr_nonnull(strstr(diag.text, "198.51.100.9"));
    host.session = NULL; /* the old one has gone: a restarted agent */
    ck_assert_int_eq(greeting_agent(&newer, &hello, &host, &diag), 0);
    agent_session_free(session);
}
END_TEST

/* ---- Probes -------------------------------------------------------------- */

START_TEST(a_probe_is_answered_once)
{
    struct wire_agent_hello hello = hello_of("host7");
    struct agent_session *session = agent_session_new(&link_, &hello);
    struct wire_clock_reply reply = {.agent_received_ns = 70,
                                     .agent_sent_ns = 71};
    uint64_t sent_ns = world_clock.now_ns;
    struct offset_probe probe;
    Lockstep__Frame *frame;

    agent_session_probe(session);
    frame = world_find(&connection, LOCKSTEP__FRAME__BODY_CLOCK_PROBE);
    reply.sequence = frame->clock_probe->sequence;
    lockstep__frame__free_unpacked(frame, NULL);
    ck_assert(agent_session_probed(session, &reply, sent_ns + 500, &probe));
    ck_assert_uint_eq(probe.sent, sent_ns);
    ck_assert_uint_eq(probe.received, 70);
    ck_assert_uint_eq(probe.arrived, sent_ns + 500);
    ck_assert(!agent_session_probed(session, &reply, sent_ns + 600, &probe));
    reply.sequence = 0;
    ck_assert(!agent_session_probed(session, &reply, sent_ns + 600, &probe));
    reply.sequence = 77; /* never asked */
    ck_assert(!agent_session_probed(session, &reply, sent_ns + 600, &probe));
    agent_session_free(session);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fleet.link");
    TCase *tcase = tcase_create("link");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, no_hello_ends_it);
    tcase_add_test(tcase, silence_ends_it);
    tcase_add_test(tcase, heartbeats_fill_the_silence);
    tcase_add_test(tcase, an_end_is_said_once);
    tcase_add_test(tcase, addresses_lose_their_ports);
    tcase_add_test(tcase, another_major_is_refused_with_both_versions);
    tcase_add_test(tcase, a_name_is_its_certificates);
    tcase_add_test(tcase, a_shell_needs_an_operators_certificate);
    tcase_add_test(tcase, one_name_is_one_instance);
    tcase_add_test(tcase, a_probe_is_answered_once);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
