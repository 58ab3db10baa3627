/* Who may do what, and what the audit log is told of it. */
#include "actor.h"

#include "controller/fleet/audit.h"

#define READ_FILE                                                              \
    "hd=a\n"                                                                   \
    "sd=sd1,host=a,lun=/dev/sdb,openflags=o_direct\n"                          \
    "wd=wd1,sd=*,rdpct=100,xfersize=4k\n"                                      \
    "rd=rd1,wd=wd1,iorate=max,elapsed=60,interval=1\n"

static const struct link_peer viewer = {
    .address = "192.0.2.9:7", .name = "vera", .role = TLS_ROLE_VIEWER};
static const struct link_peer operator= {
    .address = "192.0.2.8:8", .name = "otto", .role = TLS_ROLE_OPERATOR};

static const char *text_at(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));

    return text != NULL ? text : "";
}

static json_t *wait_answer(uint32_t *ret_status)
{
    return shell_wait(LOCKSTEP__FRAME__BODY_ANSWER, NULL, NULL, ret_status);
}

/* The log, newest first; decref it. */
static json_t *audit(uint32_t id)
{
    json_t *json, *list;

    shell_query(id, LOCKSTEP__QUERY_KIND__QUERY_AUDIT, "");
    json = shell_wait(LOCKSTEP__FRAME__BODY_ANSWER, "audit", NULL, NULL);
    list = json_incref(json_object_get(json, "audit"));
    json_decref(json);
    return list;
}

static void leave(void)
{
    fleet_disconnected(fleet, shell_link, "gone");
    connection_done(&shell_connection);
    memset(&shell_connection, 0, sizeof(shell_connection));
    shell_link = NULL;
}

START_TEST(a_viewer_watches_and_reads)
{
    uint32_t status = 99;

    actor_enter(0, "a");
    shell_enter_as(&operator);
    shell_submit(1, READ_FILE);
    json_decref(wait_answer(&status));
    ck_assert_uint_eq(status, 0);
    leave();
    shell_enter_as(&viewer);
    shell_watch(1, "1");
    json_decref(
        shell_wait(LOCKSTEP__FRAME__BODY_EVENT, "event", "interval", NULL));
    shell_query(2, LOCKSTEP__QUERY_KIND__QUERY_DRIVES, "");
    json_decref(
        shell_wait(LOCKSTEP__FRAME__BODY_ANSWER, "drives", NULL, &status));
    ck_assert_uint_eq(status, 0);
    shell_query(3, LOCKSTEP__QUERY_KIND__QUERY_STATUS, "1");
    json_decref(
        shell_wait(LOCKSTEP__FRAME__BODY_ANSWER, "state", NULL, &status));
    ck_assert_uint_eq(status, 0);
}
END_TEST

START_TEST(a_viewer_submits_and_stops_nothing)
{
    uint32_t status = 99;
    json_t *json, *log;

    actor_enter(0, "a");
    shell_enter_as(&viewer);
    stage_play(NS_PER_S);
    shell_submit(1, READ_FILE);
    json = wait_answer(&status);
    ck_assert_uint_eq(status, 1);
    ck_assert_ptr_nonnull(strstr(text_at(json, "error"), "may watch and read"));
    json_decref(json);
    stage_play(2 * NS_PER_S);
    ck_assert_uint_eq(actors[0].prepares, 0);
    leave();

    shell_enter_as(&operator);
    shell_submit(1, READ_FILE);
    json_decref(wait_answer(&status));
    ck_assert_uint_eq(status, 0);
    leave();
    shell_enter_as(&viewer);
    stage_play(5 * NS_PER_S);
    shell_stop(1, "1");
    json = wait_answer(&status);
    ck_assert_uint_eq(status, 1);
    json_decref(json);
    stage_play(2 * NS_PER_S);
    ck_assert_int_eq(actors[0].state, ACTOR_RUNNING);
    ck_assert_uint_eq(actors[0].aborts, 0);

    log = audit(2);
    ck_assert_uint_eq(json_array_size(log), 3);
    ck_assert_str_eq(text_at(json_array_get(log, 0), "action"), "stop");
    ck_assert_str_eq(text_at(json_array_get(log, 0), "who"), "vera");
    ck_assert_str_eq(text_at(json_array_get(log, 0), "role"), "viewer");
    ck_assert_str_eq(text_at(json_array_get(log, 0), "from"), "192.0.2.9:7");
    ck_assert_str_eq(text_at(json_array_get(log, 0), "outcome"), "refused");
    ck_assert_str_eq(text_at(json_array_get(log, 1), "who"), "otto");
    ck_assert_str_eq(text_at(json_array_get(log, 1), "outcome"), "done");
    ck_assert_int_eq(
        json_integer_value(json_object_get(json_array_get(log, 1), "campaign")),
        1);
    ck_assert_str_eq(text_at(json_array_get(log, 2), "outcome"), "refused");
    json_decref(log);
}
END_TEST

START_TEST(submits_stops_and_refusals_are_logged)
{
    uint32_t status = 99;
    json_t *log;

    actor_enter(0, "a");
    shell_enter_as(&operator);
    shell_submit(1, "sd=nonsense\n");
    json_decref(wait_answer(&status));
    ck_assert_uint_eq(status, 2);
    shell_submit(2, READ_FILE);
    json_decref(wait_answer(&status));
    shell_stop(3, "1");
    json_decref(wait_answer(&status));
    ck_assert_uint_eq(status, 0);
    log = audit(4);
    ck_assert_uint_eq(json_array_size(log), 3);
    ck_assert_str_eq(text_at(json_array_get(log, 0), "action"), "stop");
    ck_assert_str_eq(text_at(json_array_get(log, 0), "outcome"), "done");
    ck_assert_str_eq(text_at(json_array_get(log, 1), "action"), "submit");
    ck_assert_str_eq(text_at(json_array_get(log, 1), "subject"), "test.parm");
    ck_assert_str_eq(text_at(json_array_get(log, 2), "outcome"), "refused");
    ck_assert_ptr_nonnull(
        strstr(text_at(json_array_get(log, 2), "detail"), "test.parm:1"));
    json_decref(log);
}
END_TEST

/* An agent's certificate does not make a shell, nor a viewer's an agent. */
START_TEST(wrong_roles_are_logged)
{
    static const struct link_peer agent = {
        .address = "192.0.2.7:7", .name = "a", .role = TLS_ROLE_AGENT};
    struct connection wrong = {0};
    struct link *link = fleet_connected(fleet, &wrong, &agent);
    Lockstep__ShellHello hello = LOCKSTEP__SHELL_HELLO__INIT;
    json_t *log;

    hello.major = 1;
    BODY_PACK(SHELL_HELLO, shell_hello, &hello);
    fleet_frame(fleet, link, body_made.data, body_made.length,
                world_clock.now_ns);
    ck_assert(wrong.ended);
    connection_done(&wrong);
    fleet_turned_away(fleet, "192.0.2.66:6", "no certificate");

    shell_enter_as(&operator);
    log = audit(1);
    ck_assert_uint_eq(json_array_size(log), 2);
    ck_assert_str_eq(text_at(json_array_get(log, 0), "from"), "192.0.2.66:6");
    ck_assert_str_eq(text_at(json_array_get(log, 0), "action"), "connect");
    ck_assert_str_eq(text_at(json_array_get(log, 1), "who"), "a");
    ck_assert_ptr_nonnull(
        strstr(text_at(json_array_get(log, 1), "detail"), "role"));
    json_decref(log);
}
END_TEST

/* Who knocks without end does not push out what was logged before. */
START_TEST(strangers_do_not_flood_the_log)
{
    json_t *log;
    size_t count;

    for (int i = 0; i < 5000; i++)
        fleet_turned_away(fleet, "192.0.2.66:6", "no certificate");
    shell_enter_as(&operator);
    log = audit(1);
    count = json_array_size(log);
    ck_assert_uint_eq(count, AUDIT_STRANGERS_MAX);
    json_decref(log);
    stage_play(10 * NS_PER_S);
    fleet_turned_away(fleet, "192.0.2.66:6", "no certificate");
    log = audit(2);
    ck_assert_uint_eq(json_array_size(log), count + 1);
    ck_assert_ptr_nonnull(strstr(text_at(json_array_get(log, 0), "detail"),
                                 "(and 4900 more before it)"));
    json_decref(log);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fleet.audit");
    TCase *tcase = tcase_create("audit");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, stage_setup, stage_teardown);
    tcase_add_test(tcase, a_viewer_watches_and_reads);
    tcase_add_test(tcase, a_viewer_submits_and_stops_nothing);
    tcase_add_test(tcase, submits_stops_and_refusals_are_logged);
    tcase_add_test(tcase, wrong_roles_are_logged);
    tcase_add_test(tcase, strangers_do_not_flood_the_log);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
