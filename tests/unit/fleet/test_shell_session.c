#include "world.h"

#include "controller/fleet/shell_session.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <stdio.h>

static struct connection connection;
static struct link link_;
static struct shell_session *shell;

static void setup(void)
{
    const struct wire_shell_hello hello = {
        .major = WIRE_MAJOR, .user = "ann", .version = "0.1.0"};

    world_setup();
    memset(&connection, 0, sizeof(connection));
    link_ = world_link(&connection, 1, "", TLS_ROLE_NONE);
    shell = shell_session_new(&link_, &hello);
    ck_assert_ptr_nonnull(shell);
}

static void teardown(void)
{
    shell = shell_session_free(shell);
    connection_done(&connection);
    world_teardown();
}

static void expect_event(const char *text)
{
    Lockstep__Frame *frame = world_take(&connection);

    ck_assert_ptr_nonnull(frame);
    ck_assert_int_eq(frame->body_case, LOCKSTEP__FRAME__BODY_EVENT);
    ck_assert_uint_eq(frame->event->document.len, strlen(text));
    ck_assert_mem_eq(frame->event->document.data, text, strlen(text));
    lockstep__frame__free_unpacked(frame, NULL);
}

static void event(enum shell_event kind, const char *text)
{
    shell_session_event(shell, 1, kind, text, strlen(text));
}

START_TEST(ids_are_used_once)
{
    ck_assert_int_eq(shell_session_open(shell, 0), -EINVAL);
    ck_assert_int_eq(shell_session_open(shell, 1), 0);
    ck_assert_int_eq(shell_session_open(shell, 1), -EEXIST);
    for (uint32_t id = 2; id <= SHELL_REQUESTS_MAX; id++)
        ck_assert_int_eq(shell_session_open(shell, id), 0);
    ck_assert_int_eq(shell_session_open(shell, 99), -EBUSY);
    shell_session_answer(shell, 1, 0, "{}", 2);
    ck_assert_int_eq(shell_session_open(shell, 1), 0);
}
END_TEST

/* A long answer comes in parts that join to the same document. */
START_TEST(a_long_answer_comes_in_parts)
{
    size_t length = 3 * WIRE_DOCUMENT_BYTES + 77;
    char *text = malloc(length);
    size_t got = 0;
    bool last = false;

    for (size_t i = 0; i < length; i++)
        text[i] = (char)('a' + i % 23);
    ck_assert_int_eq(shell_session_open(shell, 5), 0);
    shell_session_answer(shell, 5, 3, text, length);
    while (!last) {
        Lockstep__Frame *frame =
            world_find(&connection, LOCKSTEP__FRAME__BODY_ANSWER);
        const Lockstep__Answer *answer = frame->answer;

        ck_assert_uint_eq(answer->id, 5);
        ck_assert_uint_eq(answer->status, 3);
        ck_assert_uint_le(got + answer->document.len, length);
        ck_assert_mem_eq(answer->document.data, text + got,
                         answer->document.len);
        got += answer->document.len;
        last = answer->last;
        lockstep__frame__free_unpacked(frame, NULL);
    }
    ck_assert_uint_eq(got, length);
    free(text);
}
END_TEST

START_TEST(events_wait_for_the_answer)
{
    ck_assert_int_eq(shell_session_open(shell, 1), 0);
    shell_session_watch(shell, 1, &body_campaign);
    event(SHELL_EVENT_INTERVAL, "one");
    event(SHELL_EVENT_KEPT, "two");
    event(SHELL_EVENT_END, "three");
    ck_assert_uint_eq(connection.sent, 0);
    shell_session_answer_watch(shell, 1, "{}", 2);
    world_expect(&connection, LOCKSTEP__FRAME__BODY_ANSWER);
    expect_event("one");
    expect_event("two");
    expect_event("three");
    ck_assert_ptr_null(shell_session_request(shell, 1)); /* closed by the end */
    event(SHELL_EVENT_KEPT, "four");
    ck_assert_ptr_null(world_take(&connection));
}
END_TEST

/* A slow shell: the newest intervals arrive, all else too. */
START_TEST(a_slow_shell_loses_old_intervals_only)
{
    char text[32];

    ck_assert_int_eq(shell_session_open(shell, 1), 0);
    shell_session_watch(shell, 1, &body_campaign);
    shell_session_answer_watch(shell, 1, "{}", 2);
    world_expect(&connection, LOCKSTEP__FRAME__BODY_ANSWER);
    connection.queued = SHELL_QUEUED_MAX;
    event(SHELL_EVENT_KEPT, "phase");
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(text, sizeof(text), "interval %d", i);
        event(SHELL_EVENT_INTERVAL, text);
    }
    event(SHELL_EVENT_END, "end");
    ck_assert_ptr_null(world_take(&connection));
    connection.queued = 0;
    shell_session_drained(shell);
    expect_event("phase");
    for (int i = 1000 - (int)SHELL_INTERVALS_MAX; i < 1000; i++) {
        (void)snprintf(text, sizeof(text), "interval %d", i);
        expect_event(text);
    }
    expect_event("end");
    ck_assert_uint_eq(shell->dropped, 1000 - SHELL_INTERVALS_MAX);
    ck_assert_uint_eq(shell->backlog_bytes, 0);
}
END_TEST

START_TEST(a_shell_that_does_not_read_is_let_go)
{
    size_t length = 4u << 20;
    char *text = calloc(1, length);

    ck_assert_int_eq(shell_session_open(shell, 1), 0);
    connection.queued = SHELL_QUEUED_MAX;
    for (int i = 0; i < 20 && link_is_open(&link_); i++)
        shell_session_event(shell, 1, SHELL_EVENT_KEPT, text, length);
    ck_assert(!link_is_open(&link_));
    ck_assert_ptr_nonnull(strstr(connection.reason, "does not read"));
    free(text);
}
END_TEST

START_TEST(an_error_closes_a_watch)
{
    ck_assert_int_eq(shell_session_open(shell, 1), 0);
    shell_session_watch(shell, 1, &body_campaign);
    event(SHELL_EVENT_INTERVAL, "one");
    shell_session_answer(shell, 1, 2, "{}", 2);
    world_expect(&connection, LOCKSTEP__FRAME__BODY_ANSWER);
    ck_assert_ptr_null(world_take(&connection));
    ck_assert_uint_eq(shell->backlog_bytes, 0);
    ck_assert_uint_eq(shell->backlog_intervals, 0);
    ck_assert_int_eq(shell_session_open(shell, 1), 0);
}
END_TEST

START_TEST(the_certificate_names_the_user)
{
    const struct wire_shell_hello hello = {
        .major = WIRE_MAJOR, .user = "root", .version = "0.1.0"};
    struct link other = world_link(&connection, 2, "ann", TLS_ROLE_OPERATOR);
    struct shell_session *session = shell_session_new(&other, &hello);
    char who[REASON_SIZE];

    shell_session_who(session, who);
    ck_assert_str_eq(who, "ann from 192.0.2.7:4711");
    shell_session_free(session);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fleet.shell_session");
    TCase *tcase = tcase_create("shell");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, ids_are_used_once);
    tcase_add_test(tcase, a_long_answer_comes_in_parts);
    tcase_add_test(tcase, events_wait_for_the_answer);
    tcase_add_test(tcase, a_slow_shell_loses_old_intervals_only);
    tcase_add_test(tcase, a_shell_that_does_not_read_is_let_go);
    tcase_add_test(tcase, an_error_closes_a_watch);
    tcase_add_test(tcase, the_certificate_names_the_user);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
