/*
 * The whole controller but its sockets: agents and a shell that play their
 * parts, a store on disk, a clock that the test moves.
 */
#include "actor.h"

#define READ_FILE                                                              \
    "hd=default\nhd=a,system=a\nhd=b,system=b\n"                               \
    "sd=sd1,host=(a,b),lun=/dev/sdb,openflags=o_direct,threads=8\n"            \
    "wd=wd1,sd=*,rdpct=100,xfersize=4k\n"                                      \
    "rd=rd1,wd=wd1,iorate=max,elapsed=5,interval=1\n"

static uint64_t number_of(json_t *json)
{
    uint64_t number =
        (uint64_t)json_integer_value(json_object_get(json, "campaign"));

    json_decref(json);
    return number;
}

static uint64_t submit(const char *text)
{
    uint32_t status = 99;
    json_t *json;

    shell_submit(1, text);
    json = shell_wait(LOCKSTEP__FRAME__BODY_ANSWER, "campaign", NULL, &status);
    ck_assert_uint_eq(status, 0);
    return number_of(json);
}

/* The refusal of a submission: its status, and its first error. */
static uint32_t refused(const char *text, char error[REASON_SIZE])
{
    uint32_t status = 99;
    json_t *json;

    shell_submit(1, text);
    json = shell_wait(LOCKSTEP__FRAME__BODY_ANSWER, "error", NULL, &status);
    (void)snprintf(error, REASON_SIZE, "%s",
                   json_string_value(json_object_get(json, "error")));
    json_decref(json);
    return status;
}

static void expect_verdict(const char *verdict)
{
    json_t *json =
        shell_wait(LOCKSTEP__FRAME__BODY_EVENT, "event", "end", NULL);

    ck_assert_str_eq(json_string_value(json_object_get(json, "verdict")),
                     verdict);
    json_decref(json);
}

START_TEST(two_agents_run_a_campaign)
{
    json_t *json;
    const json_t *total;
    const json_t *phase;

    actor_enter(0, "a");
    actor_enter(1, "b");
    shell_enter();
    ck_assert_uint_eq(submit(READ_FILE), 1);
    shell_watch(2, "1");
    expect_verdict("complete");
    stage_play(NS_PER_S); /* what was said last is heard, too */
    for (int i = 0; i < 2; i++) {
        ck_assert_uint_eq(actors[i].prepares, 1);
        ck_assert_uint_eq(actors[i].next, 6); /* five and the drain */
        ck_assert_uint_eq(actors[i].acknowledged, 6);
        ck_assert_uint_eq(actors[i].releases, 1);
    }
    shell_query(3, LOCKSTEP__QUERY_KIND__QUERY_SHOW, "");
    json = shell_wait(LOCKSTEP__FRAME__BODY_ANSWER, "phases", NULL, NULL);
    ck_assert_str_eq(json_string_value(json_object_get(json, "verdict")),
                     "complete");
    phase = json_array_get(json_object_get(json, "phases"), 0);
    total = json_object_get(phase, "total");
    /* Two hosts, five intervals, 1,000 reads each. */
    ck_assert_int_eq(json_integer_value(json_object_get(total, "ios")), 10000);
    json_decref(json);
}
END_TEST

START_TEST(hosts_are_told)
{
    json_t *json;

    actor_enter(0, "a");
    shell_enter();
    stage_play(NS_PER_S);
    shell_query(1, LOCKSTEP__QUERY_KIND__QUERY_HOSTS, "");
    json = shell_wait(LOCKSTEP__FRAME__BODY_ANSWER, "hosts", NULL, NULL);
    ck_assert_uint_eq(json_array_size(json_object_get(json, "hosts")), 1);
    ck_assert(json_is_real(
        json_object_get(json_array_get(json_object_get(json, "hosts"), 0),
                        "clock_uncertainty_us")));
    json_decref(json);
}
END_TEST

START_TEST(a_wrong_file_is_refused_with_all_its_errors)
{
    char error[REASON_SIZE];

    actor_enter(0, "a");
    shell_enter();
    ck_assert_uint_eq(refused("sd=sd1,lun=/dev/sdb,thread=x\nwd=\n", error), 2);
    ck_assert_ptr_nonnull(strstr(error, "test.parm:1"));
}
END_TEST

START_TEST(an_unknown_host_is_named)
{
    char error[REASON_SIZE];

    actor_enter(0, "a");
    shell_enter();
    ck_assert_uint_eq(refused(READ_FILE, error), 2);
    ck_assert_msg(strstr(error, "b") != NULL, "%s", error);
}
END_TEST

START_TEST(a_refused_drive_is_named)
{
    char error[REASON_SIZE];

    actor_enter(0, "a");
    actor_enter(1, "b");
    actors[1].refusal = "it is mounted on /srv";
    shell_enter();
    ck_assert_uint_eq(refused(READ_FILE, error), 1);
    ck_assert_msg(strstr(error, "mounted on /srv") != NULL, "%s", error);
    ck_assert_msg(strstr(error, "/dev/sdb") != NULL, "%s", error);
}
END_TEST

START_TEST(a_silent_agent_does_not_hold_a_submit)
{
    char error[REASON_SIZE];

    actor_enter(0, "a");
    actor_enter(1, "b");
    shell_enter();
    actors[1].is_mute = true;
    ck_assert_uint_eq(refused(READ_FILE, error), 1);
    ck_assert_msg(strstr(error, "'b'") != NULL, "%s", error);
}
END_TEST

START_TEST(an_operator_stops_it)
{
    json_t *json;

    actor_enter(0, "a");
    actor_enter(1, "b");
    shell_enter();
    ck_assert_uint_eq(submit(READ_FILE), 1);
    shell_watch(2, "1");
    json = shell_wait(LOCKSTEP__FRAME__BODY_EVENT, "event", "interval", NULL);
    json_decref(json);
    shell_stop(3, "1");
    expect_verdict("interrupted");
    ck_assert_uint_gt(actors[0].aborts, 0);
    ck_assert_uint_gt(actors[1].aborts, 0);
}
END_TEST

/* Who watches what is over is told its end, and why. */
START_TEST(a_late_watcher_is_told_the_end)
{
    json_t *json;

    actor_enter(0, "a");
    actor_enter(1, "b");
    shell_enter();
    ck_assert_uint_eq(submit(READ_FILE), 1);
    shell_stop(3, "1");
    stage_play(5 * NS_PER_S);
    shell_watch(2, "1");
    json = shell_wait(LOCKSTEP__FRAME__BODY_EVENT, "event", "end", NULL);
    ck_assert_str_eq(json_string_value(json_object_get(json, "verdict")),
                     "interrupted");
    ck_assert_ptr_nonnull(strstr(
        json_string_value(json_object_get(json, "error")), "stopped by ann"));
    json_decref(json);
}
END_TEST

START_TEST(drives_in_use_are_waited_for)
{
    json_t *json;

    actor_enter(0, "a");
    actor_enter(1, "b");
    shell_enter();
    ck_assert_uint_eq(submit(READ_FILE), 1);
    ck_assert_uint_eq(submit(READ_FILE), 2);
    shell_query(7, LOCKSTEP__QUERY_KIND__QUERY_STATUS, "2");
    json = shell_wait(LOCKSTEP__FRAME__BODY_ANSWER, "state", NULL, NULL);
    ck_assert_str_eq(json_string_value(json_object_get(json, "state")),
                     "queued");
    json_decref(json);
    shell_watch(2, "2");
    expect_verdict("complete"); /* of the second, after the first */
    ck_assert_uint_eq(actors[0].prepares, 2);
}
END_TEST

START_TEST(a_broken_link_inside_the_lease_costs_nothing)
{
    json_t *json;

    actor_enter(0, "a");
    actor_enter(1, "b");
    shell_enter();
    ck_assert_uint_eq(submit(READ_FILE), 1);
    shell_watch(2, "1");
    json = shell_wait(LOCKSTEP__FRAME__BODY_EVENT, "event", "interval", NULL);
    json_decref(json);
    fleet_disconnected(fleet, actors[1].link, "connection reset");
    actors[1].link = NULL;
    stage_play(2 * NS_PER_S);
    actor_connect(&actors[1]);
    actors[1].next = actors[1].acknowledged; /* sends them again */
    expect_verdict("complete");
    stage_play(NS_PER_S);
    ck_assert_uint_eq(actors[1].acknowledged, 6);
}
END_TEST

START_TEST(a_second_instance_is_refused)
{
    actor_enter(0, "a");
    actors[1].name = "a";
    actors[1].instance.bytes[0] = 77;
    actor_connect(&actors[1]);
    ck_assert(actors[1].connection.ended);
    ck_assert_ptr_nonnull(strstr(actors[1].connection.reason, "another"));
    ck_assert(!actors[0].connection.ended);
}
END_TEST

START_TEST(the_same_instance_replaces_itself)
{
    struct link *old;

    actor_enter(0, "a");
    old = actors[0].link;
    actors[1] = (struct actor){.name = "a", .instance = actors[0].instance};
    actor_connect(&actors[1]);
    ck_assert_ptr_ne(actors[1].link, old);
    ck_assert(actors[0].connection.ended);
    ck_assert(!actors[1].connection.ended);
    actors[0].link = NULL;
}
END_TEST

/* An agent that still holds what this controller does not know. */
START_TEST(work_of_nobody_is_stopped_and_forgotten)
{
    struct actor *actor = &actors[0];

    actor->name = "a";
    actor->instance.bytes[0] = 1;
    actor->state = ACTOR_RUNNING;
    actor->campaign.bytes[0] = 99;
    actor->interval_ns = NS_PER_S;
    actor->intervals = 1000;
    actor->start_ns = world_clock.now_ns;
    actor_connect(actor);
    stage_play(3 * NS_PER_S);
    ck_assert_uint_eq(actor->aborts, 1);
    ck_assert_int_eq(actor->state, ACTOR_IDLE);
    ck_assert_uint_eq(actor->releases, 1);
}
END_TEST

/* Orders come to agents that said hello, from nobody else. */
START_TEST(frames_out_of_place_end_the_link)
{
    static const struct link_peer peer = {
        .address = "192.0.2.9:1", .name = "", .role = TLS_ROLE_NONE};
    struct connection stranger = {0};
    struct link *link = fleet_connected(fleet, &stranger, &peer);
    Lockstep__Heartbeat beat = LOCKSTEP__HEARTBEAT__INIT;

    BODY_PACK(HEARTBEAT, heartbeat, &beat);
    fleet_frame(fleet, link, body_made.data, body_made.length,
                world_clock.now_ns);
    ck_assert(stranger.ended);
    ck_assert_ptr_nonnull(strstr(stranger.reason, "before a hello"));
    connection_done(&stranger);
    shell_enter();
    body_made.length = 3;
    memset(body_made.data, 0xff, 3);
    shell_say();
    ck_assert(shell_connection.ended);
    shell_link = NULL;
}
END_TEST

START_TEST(strangers_shed_the_oldest_of_them)
{
    static const struct link_peer peer = {
        .address = "192.0.2.9:1", .name = "", .role = TLS_ROLE_NONE};
    static struct connection strangers[FLEET_GREETING_MAX + 1];

    actor_enter(0, "a");
    for (size_t i = 0; i <= FLEET_GREETING_MAX; i++)
        ck_assert_ptr_nonnull(fleet_connected(fleet, &strangers[i], &peer));
    ck_assert(strangers[0].ended);
    ck_assert(!strangers[1].ended);
    ck_assert(!actors[0].connection.ended);
    fleet = fleet_close(fleet);
    for (size_t i = 0; i <= FLEET_GREETING_MAX; i++)
        connection_done(&strangers[i]);
}
END_TEST

/* This process was stopped for a minute: nobody was silent. */
START_TEST(our_own_absence_is_not_silence)
{
    actor_enter(0, "a");
    stage_play(NS_PER_S);
    clock_manual_advance(&world_clock, 60 * NS_PER_S);
    fleet_tick(fleet);
    ck_assert(!actors[0].connection.ended);
    actors[0].is_mute = true;
    stage_play(LINK_SILENCE_NS + NS_PER_S);
    ck_assert(actors[0].connection.ended);
}
END_TEST

START_TEST(an_end_stops_what_runs)
{
    json_t *json;

    actor_enter(0, "a");
    actor_enter(1, "b");
    shell_enter();
    ck_assert_uint_eq(submit(READ_FILE), 1);
    shell_watch(2, "1");
    json = shell_wait(LOCKSTEP__FRAME__BODY_EVENT, "event", "interval", NULL);
    json_decref(json);
    fleet_stop(fleet, "the end of the test");
    expect_verdict("interrupted");
    stage_play(NS_PER_S);
    ck_assert(fleet_is_over(fleet));
    ck_assert_int_eq(actors[0].state, ACTOR_IDLE);
}
END_TEST

/* `lockstep run`: the file may come before the agent, the shell's end is the
 * end of all. */
START_TEST(a_private_fleet_waits_for_its_agent)
{
    static const char text[] =
        "sd=sd1,lun=/dev/sdb,openflags=o_direct\n"
        "wd=wd1,sd=*\n"
        "rd=rd1,wd=wd1,iorate=max,elapsed=60,interval=1\n";
    json_t *json;

    fleet = fleet_close(fleet);
    stage_open(stage_store(), true);
    shell_enter();
    shell_submit(1, text);
    stage_play(NS_PER_S);
    actor_enter(0, "localhost");
    json = shell_wait(LOCKSTEP__FRAME__BODY_ANSWER, "campaign", NULL, NULL);
    json_decref(json);
    stage_play(5 * NS_PER_S);
    ck_assert_int_eq(actors[0].state, ACTOR_RUNNING);
    fleet_disconnected(fleet, shell_link, "the shell was killed");
    shell_link = NULL;
    stage_play(5 * NS_PER_S);
    ck_assert(fleet_is_over(fleet));
    ck_assert_uint_gt(actors[0].aborts, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fleet.fleet");
    TCase *tcase = tcase_create("fleet");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, stage_setup, stage_teardown);
    tcase_add_test(tcase, two_agents_run_a_campaign);
    tcase_add_test(tcase, hosts_are_told);
    tcase_add_test(tcase, a_wrong_file_is_refused_with_all_its_errors);
    tcase_add_test(tcase, an_unknown_host_is_named);
    tcase_add_test(tcase, a_refused_drive_is_named);
    tcase_add_test(tcase, a_silent_agent_does_not_hold_a_submit);
    tcase_add_test(tcase, an_operator_stops_it);
    tcase_add_test(tcase, a_late_watcher_is_told_the_end);
    tcase_add_test(tcase, drives_in_use_are_waited_for);
    tcase_add_test(tcase, a_broken_link_inside_the_lease_costs_nothing);
    tcase_add_test(tcase, a_second_instance_is_refused);
    tcase_add_test(tcase, the_same_instance_replaces_itself);
    tcase_add_test(tcase, work_of_nobody_is_stopped_and_forgotten);
    tcase_add_test(tcase, frames_out_of_place_end_the_link);
    tcase_add_test(tcase, strangers_shed_the_oldest_of_them);
    tcase_add_test(tcase, our_own_absence_is_not_silence);
    tcase_add_test(tcase, an_end_stops_what_runs);
    tcase_add_test(tcase, a_private_fleet_waits_for_its_agent);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
