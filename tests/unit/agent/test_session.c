/* agent/session.c: connections, on a clock moved by hand. */
#include "tests/unit/agent/script.h"

/* ---- Connections -------------------------------------------------------- */

START_TEST(redials_back_off_to_a_second_at_most)
{
    uint64_t longest = 0, before;

    begin();
    for (int i = 0; i < 12; i++) {
        session_disconnected(session, "connection refused");
        before = now.now_ns;
        while (strcmp(world.did, "dial") != 0)
            pass(10 * NS_PER_MS);
        DID("dial");
        if (i == 0)
            ck_assert_uint_le(now.now_ns - before, SESSION_REDIAL_MIN_NS);
        if (now.now_ns - before > longest)
            longest = now.now_ns - before;
    }
    ck_assert_uint_ge(longest, SESSION_REDIAL_MAX_NS * 3 / 4);
    ck_assert_uint_le(longest, SESSION_REDIAL_MAX_NS);
    /* One line for all of them. */
    LOGGED("cannot reach the controller: connection refused");
    ck_assert_ptr_null(strstr(strstr(world.log, "refused") + 1, "refused"));
    end();
}
END_TEST

START_TEST(hello_says_who_it_is)
{
    const Lockstep__AgentHello *hello;

    config.label_count = 1;
    memcpy(config.labels[0], "rack=\x01z", 8);
    config.phase.finish_on_lease_lost = true;
    begin();
    session_connected(session);
    hello = last_sent(LOCKSTEP__FRAME__BODY_AGENT_HELLO)->agent_hello;
    ck_assert_str_eq(hello->name, "host1");
    ck_assert_uint_eq(hello->major, CODEC_MAJOR);
    ck_assert_uint_eq(hello->instance.len, 16);
    ck_assert_uint_eq(hello->instance.data[0], 7);
    ck_assert_uint_eq(hello->lease_ms, 30000);
    ck_assert(hello->finishes_phase);
    ck_assert_uint_eq(hello->n_labels, 1);
    ck_assert_str_eq(hello->labels[0], "rack=?z");
    ck_assert_ptr_null(hello->held);
    end();
}
END_TEST

START_TEST(another_major_version_is_refused_with_both)
{
    const Lockstep__Reject *reject;

    begin();
    session_connected(session);
    frames_welcome(&frames_controller, 1, CODEC_MAJOR + 1);
    deliver();
    DID("Hello Reject hang_up");
    reject = last_sent(LOCKSTEP__FRAME__BODY_REJECT)->reject;
    ck_assert_ptr_nonnull(strstr(reject->reason, "host1"));
    ck_assert_ptr_nonnull(strstr(reject->reason, "1.0"));
    ck_assert_ptr_nonnull(strstr(reject->reason, "2.7"));
    LOGGED("2.7");
    ck_assert(!session_is_up(session));
    end();
}
END_TEST

START_TEST(a_reject_is_shown_once_and_dialled_again)
{
    begin();
    for (int i = 0; i < 3; i++) {
        session_connected(session);
        DID("Hello");
        frames_reject("another instance of host1 is connected from 10.0.0.7");
        deliver();
        DID("hang_up");
        pass(NS_PER_S);
        DID("dial");
    }
    LOGGED("10.0.0.7");
    ck_assert_ptr_null(strstr(strstr(world.log, "10.0.0.7") + 1, "10.0.0.7"));
    end();
}
END_TEST

START_TEST(no_welcome_is_no_connection)
{
    begin();
    session_connected(session);
    DID("Hello");
    pass(SESSION_GREETING_NS);
    DID("hang_up");
    LOGGED("no Welcome");
    end();
}
END_TEST

START_TEST(an_order_before_the_welcome_ends_the_connection)
{
    begin();
    session_connected(session);
    DID("Hello");
    frames_probe(1);
    deliver();
    DID("Reject hang_up");
    end();
}
END_TEST

START_TEST(a_wrong_frame_ends_the_connection)
{
    begin();
    up();
    frame_made.length = 3;
    memcpy(frame_made.data, "\xff\xff\xff", 3);
    deliver();
    DID("Reject hang_up");
    LOGGED("wrong");
    end();
}
END_TEST

START_TEST(silence_of_five_seconds_is_taken_for_the_end)
{
    begin();
    up();
    pass(SESSION_SILENCE_NS - NS_PER_S / 2);
    DID("Heartbeat Heartbeat Heartbeat Heartbeat");
    pass(NS_PER_S / 2);
    DID("Reject hang_up");
    LOGGED("said nothing for 5 s");
    end();
}
END_TEST

START_TEST(heartbeats_fill_what_is_silent_only)
{
    begin();
    up();
    for (int i = 0; i < 30; i++) {
        pass(100 * NS_PER_MS);
        frames_probe((uint64_t)i);
        deliver();
    }
    ck_assert_ptr_null(strstr(world.did, "Heartbeat"));
    end();
}
END_TEST

/* A process that was stopped itself must not take that for the peer's
 * silence. */
START_TEST(its_own_pause_is_not_the_controllers)
{
    begin();
    up();
    clock_manual_advance(&now, 60 * NS_PER_S);
    session_tick(session);
    DID("Heartbeat");
    ck_assert(session_is_up(session));
    pass(SESSION_SILENCE_NS);
    ck_assert_ptr_nonnull(strstr(world.did, "hang_up"));
    end();
}
END_TEST

START_TEST(probes_are_answered_at_once_with_both_stamps)
{
    const Lockstep__ClockReply *reply;

    begin();
    up();
    frames_probe(77);
    clock_manual_advance(&now, 3000);
    session_frame(session, frame_made.data, frame_made.length,
                  now.now_ns - 2000);
    DID("ClockReply");
    reply = last_sent(LOCKSTEP__FRAME__BODY_CLOCK_REPLY)->clock_reply;
    ck_assert_uint_eq(reply->sequence, 77);
    ck_assert_uint_eq(reply->agent_received_ns, now.now_ns - 2000);
    ck_assert_uint_eq(reply->agent_sent_ns, now.now_ns);
    end();
}
END_TEST

START_TEST(inspect_goes_to_the_interlock_and_back)
{
    struct interlock_facts facts = {.kind = INTERLOCK_BLOCK,
                                    .size_bytes = 4096};
    const Lockstep__Inspected *inspected;

    begin();
    up();
    frames_inspect(&frames_campaign, "/dev/nvme0n1", 1, 1);
    deliver();
    DID("inspect");
    memcpy(facts.model, "M\xffX", 4);
    session_inspected(session, &frames_campaign, &facts, 1);
    DID("Inspected");
    inspected = last_sent(LOCKSTEP__FRAME__BODY_INSPECTED)->inspected;
    ck_assert_uint_eq(inspected->n_targets, 1);
    ck_assert_str_eq(inspected->targets[0]->model, "M?X");
    end();
}
END_TEST

START_TEST(inspects_at_once_are_bounded)
{
    begin();
    up();
    for (uint32_t i = 0; i < SESSION_INSPECTS_MAX; i++) {
        frames_inspect(&frames_campaign, "/dev/nvme0n1", 1, 1);
        deliver();
    }
    (void)look();
    frames_inspect(&frames_campaign, "/dev/nvme0n1", 1, 1);
    deliver();
    DID("Reject hang_up");
    end();
}
END_TEST

START_TEST(inventory_is_sent_while_connected)
{
    struct inventory inventory = {.host = {.hostname = "h"}};
    struct codec_engine engine = {.name = "io_uring"};

    begin();
    session_inventory(session, &inventory, &engine);
    DID("");
    up();
    session_inventory(session, &inventory, &engine);
    DID("Inventory");
    end();
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        redials_back_off_to_a_second_at_most,
        hello_says_who_it_is,
        another_major_version_is_refused_with_both,
        a_reject_is_shown_once_and_dialled_again,
        no_welcome_is_no_connection,
        an_order_before_the_welcome_ends_the_connection,
        a_wrong_frame_ends_the_connection,
        silence_of_five_seconds_is_taken_for_the_end,
        heartbeats_fill_what_is_silent_only,
        its_own_pause_is_not_the_controllers,
        probes_are_answered_at_once_with_both_stamps,
        inspect_goes_to_the_interlock_and_back,
        inspects_at_once_are_bounded,
        inventory_is_sent_while_connected,
    };

    return run_tests("session", tests, ARRAY_LENGTH(tests));
}
