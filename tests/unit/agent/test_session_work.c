/* agent/session.c: work, broken links, leases, on a clock moved by hand. */
#include "tests/unit/agent/script.h"

/* ---- Work --------------------------------------------------------------- */

START_TEST(a_phase_from_prepare_to_idle)
{
    const Lockstep__Finished *finished;

    running();
    for (uint64_t i = 0; i < 10; i++) {
        pass_alive(NS_PER_S, true);
        row(i, i < 2 ? ROW_WARMUP : ROW_MEASURED);
        DID("Sample");
        ack(i + 1);
    }
    is_state("draining");
    row(10, ROW_DRAIN);
    ended(PHASE_COMPLETE);
    DID("discard Finished Sample");
    is_state("holding");
    ck_assert_str_eq(samples_sent(), "0 1 2 3 4 5 6 7 8 9 10");
    finished = last_sent(LOCKSTEP__FRAME__BODY_FINISHED)->finished;
    ck_assert_uint_eq(finished->intervals, 10);
    ck_assert_int_eq(finished->outcome, LOCKSTEP__OUTCOME__OUTCOME_COMPLETE);
    ck_assert_uint_eq(session_unacknowledged(session) > 0, 1);
    ack(10);
    is_state("holding"); /* the drain row is not stored yet */
    ack(11);
    is_state("idle");
    ck_assert_uint_eq(session_unacknowledged(session), 0);
    DID("");
    frames_release(&frames_campaign);
    deliver();
    DID("release");
    end();
}
END_TEST

START_TEST(orders_of_another_epoch_or_work_are_not_obeyed)
{
    struct work other;
    struct job *job;

    ready();
    other = work0;
    other.epoch = EPOCH - 1;
    frames_start(&other, now.now_ns + NS_PER_S);
    deliver();
    frames_abort(&other, "old");
    deliver();
    other = work0;
    other.phase = 1;
    frames_start(&other, now.now_ns + NS_PER_S);
    deliver();
    other = work0;
    other.campaign = frames_other;
    frames_start(&other, now.now_ns + NS_PER_S);
    deliver();
    frames_go(&work0); /* right work, wrong state */
    deliver();
    DID("");
    is_state("ready");
    LOGGED("Start not obeyed: it is of epoch 4");
    LOGGED("Go not obeyed");
    /* Once a kind, however many come. */
    ck_assert_ptr_null(strstr(world.log, "is not at hand here"));
    /* A Prepare that cannot be obeyed is answered. */
    job = frames_job(3, EPOCH);
    frames_prepare(job);
    deliver();
    job = job_free(job);
    DID("Refused");
    ck_assert_ptr_nonnull(
        strstr(last_sent(LOCKSTEP__FRAME__BODY_REFUSED)->refused->reason,
               "still has phase 0"));
    ck_assert_uint_eq(
        last_sent(LOCKSTEP__FRAME__BODY_REFUSED)->refused->work->phase, 3);
    end();
}
END_TEST

START_TEST(orders_said_twice)
{
    struct work w = work0;

    ready();
    prepare(0, EPOCH);
    DID("Ready");
    frames_start(&w, now.now_ns + NS_PER_S);
    deliver();
    deliver();
    DID("arm Armed Armed");
    frames_go(&w);
    deliver();
    deliver();
    DID("go");
    end();
}
END_TEST

START_TEST(a_preparation_that_fails_is_refused_with_its_target)
{
    const Lockstep__Refused *refused;

    begin();
    up();
    prepare(0, EPOCH);
    DID("prepare");
    session_refused(session, "sd1", "/dev/nvme0n1 is mounted on /data");
    DID("Refused discard");
    refused = last_sent(LOCKSTEP__FRAME__BODY_REFUSED)->refused;
    ck_assert_str_eq(refused->target, "sd1");
    ck_assert_str_eq(refused->reason, "/dev/nvme0n1 is mounted on /data");
    is_state("idle");
    end();
}
END_TEST

START_TEST(a_refusal_waits_for_a_connection)
{
    begin();
    up();
    prepare(0, EPOCH);
    session_disconnected(session, "reset");
    session_refused(session, "sd1", "gone");
    (void)look();
    pass(SESSION_REDIAL_MIN_NS);
    DID("dial");
    welcome_of(&frames_controller, EPOCH);
    DID("look Refused");
    end();
}
END_TEST

START_TEST(arming_that_fails_is_refused)
{
    ready();
    world.arm_result = -ETIME;
    frames_start(&work0, now.now_ns + NS_PER_S);
    deliver();
    DID("arm Refused discard");
    is_state("idle");
    end();
}
END_TEST

START_TEST(without_go_it_disarms_and_says_so)
{
    armed();
    pass(NS_PER_S);
    is_state("holding");
    ck_assert_ptr_nonnull(strstr(world.did, "discard Finished"));
    ck_assert_int_eq(
        last_sent(LOCKSTEP__FRAME__BODY_FINISHED)->finished->outcome,
        LOCKSTEP__OUTCOME__OUTCOME_NO_GO);
    ck_assert_uint_eq(
        last_sent(LOCKSTEP__FRAME__BODY_FINISHED)->finished->intervals, 0);
    ack(0);
    is_state("idle");
    end();
}
END_TEST

/* Go had come, the start had not: the crew's drain row is of nothing. */
START_TEST(an_abort_before_the_start_leaves_no_rows)
{
    armed();
    frames_go(&work0);
    deliver();
    frames_abort(&work0, "by ann");
    deliver();
    DID("go stop");
    row(0, ROW_DRAIN);
    ended(PHASE_STOPPED);
    DID("discard Finished");
    ck_assert_uint_eq(
        last_sent(LOCKSTEP__FRAME__BODY_FINISHED)->finished->intervals, 0);
    ack(0);
    is_state("idle");
    end();
}
END_TEST

START_TEST(stop_after_and_abort_reach_the_crew)
{
    running();
    frames_stop_after(&work0, 3);
    deliver();
    DID("stop_after");
    ck_assert_uint_eq(world.stop_after, 3);
    frames_abort(&work0, "by ann");
    deliver();
    DID("stop");
    row(0, ROW_WARMUP);
    row(1, ROW_DRAIN);
    ended(PHASE_STOPPED);
    DID("Sample discard Finished Sample");
    ck_assert_str_eq(
        last_sent(LOCKSTEP__FRAME__BODY_FINISHED)->finished->reason, "by ann");
    end();
}
END_TEST

/* ---- Links that break --------------------------------------------------- */

START_TEST(samples_go_again_from_the_first_unacknowledged)
{
    const Lockstep__AgentHello *hello;

    running();
    for (uint64_t i = 0; i < 4; i++)
        row(i, ROW_MEASURED);
    ack(2);
    session_disconnected(session, "reset");
    row(4, ROW_MEASURED); /* measured while nobody listens */
    forget_sent();
    (void)look();
    pass(SESSION_REDIAL_MIN_NS);
    session_connected(session);
    hello = last_sent(LOCKSTEP__FRAME__BODY_AGENT_HELLO)->agent_hello;
    ck_assert_ptr_nonnull(hello->held);
    ck_assert_uint_eq(hello->held->first_unacknowledged, 2);
    ck_assert_int_eq(hello->held->state, LOCKSTEP__AGENT_STATE__AGENT_RUNNING);
    ck_assert_mem_eq(hello->held->work->campaign.data, frames_campaign.bytes,
                     16);
    frames_welcome(&frames_controller, EPOCH, CODEC_MAJOR);
    deliver();
    ck_assert_str_eq(samples_sent(), "2 3 4");
    ack(5);
    ck_assert_uint_eq(session_unacknowledged(session), 0);
    end();
}
END_TEST

START_TEST(a_link_that_breaks_in_each_state)
{
    static void (*const to[])(void) = {ready, armed, running};
    static const Lockstep__AgentState told[] = {
        LOCKSTEP__AGENT_STATE__AGENT_READY,
        LOCKSTEP__AGENT_STATE__AGENT_ARMED,
        LOCKSTEP__AGENT_STATE__AGENT_RUNNING,
    };

    for (size_t i = 0; i < ARRAY_LENGTH(to); i++) {
        struct work w = work0;

        to[i]();
        /* A controller that was killed and started again: the next epoch. */
        reconnect(EPOCH + 1);
        DID("look");
        ck_assert_int_eq(last_sent(LOCKSTEP__FRAME__BODY_AGENT_HELLO)
                             ->agent_hello->held->state,
                         told[i]);
        frames_renew(&w); /* of before: no more */
        world.lease_ns = 0;
        deliver();
        ck_assert_uint_eq(world.lease_ns, 0);
        w.epoch = EPOCH + 1;
        frames_renew(&w);
        deliver();
        ck_assert_uint_eq(world.lease_ns, now.now_ns + LEASE);
        frames_abort(&w, "enough");
        deliver();
        if (i < 2) {
            DID("discard Finished");
        } else {
            DID("stop");
            row(1, ROW_DRAIN);
            ended(PHASE_STOPPED);
            DID("discard Finished Sample");
        }
        ck_assert_uint_eq(
            last_sent(LOCKSTEP__FRAME__BODY_FINISHED)->finished->work->epoch,
            EPOCH); /* of its Prepare */
        end();
    }
}
END_TEST

START_TEST(finished_goes_again_until_it_is_acknowledged)
{
    running();
    row(0, ROW_MEASURED);
    row(1, ROW_DRAIN);
    ended(PHASE_COMPLETE);
    ack(2); /* ends holding, were the link not gone with it */
    is_state("idle");
    end();

    running();
    row(0, ROW_MEASURED);
    session_disconnected(session, "reset");
    row(1, ROW_DRAIN);
    ended(PHASE_COMPLETE);
    (void)look();
    forget_sent();
    pass(SESSION_REDIAL_MIN_NS);
    (void)look();
    welcome_of(&frames_controller, EPOCH);
    DID("look Sample Finished Sample");
    session_disconnected(session, "reset again");
    pass(2 * SESSION_REDIAL_MIN_NS);
    DID("dial");
    forget_sent();
    welcome_of(&frames_controller, EPOCH);
    DID("look Sample Finished Sample");
    ck_assert_int_eq(
        last_sent(LOCKSTEP__FRAME__BODY_AGENT_HELLO)->agent_hello->held->state,
        LOCKSTEP__AGENT_STATE__AGENT_HOLDING);
    ack(2);
    is_state("idle");
    end();
}
END_TEST

START_TEST(an_acknowledgement_before_finished_was_told_ends_nothing)
{
    running();
    row(1, ROW_DRAIN);
    session_disconnected(session, "reset");
    ended(PHASE_COMPLETE);
    pass(SESSION_REDIAL_MIN_NS);
    (void)look();
    world.queued = SESSION_QUEUE_MAX; /* the link takes nothing yet */
    welcome_of(&frames_controller, EPOCH);
    DID("look");
    ack(2);
    DID("Finished"); /* no sample is left to go before it */
    is_state("holding");
    ack(2);
    is_state("idle");
    end();
}
END_TEST

START_TEST(samples_wait_for_room_in_the_connection)
{
    running();
    world.queued = SESSION_QUEUE_MAX;
    row(0, ROW_MEASURED);
    row(1, ROW_DRAIN);
    ended(PHASE_COMPLETE);
    DID("discard");
    world.queued = SESSION_QUEUE_MAX - 1;
    session_tick(session);
    DID("Sample Finished Sample");
    end();
}
END_TEST

/* ---- Whom it serves ----------------------------------------------------- */

START_TEST(held_work_is_refused_to_another_controller)
{
    ready();
    session_disconnected(session, "reset");
    pass(SESSION_REDIAL_MIN_NS);
    (void)look();
    welcome_of(&frames_other, EPOCH + 5);
    DID("Reject hang_up");
    LOGGED("holds work of controller c0ffee00");
    ck_assert(!session_is_up(session));
    is_state("ready");
    end();
}
END_TEST

START_TEST(held_work_is_refused_to_a_lower_epoch)
{
    ready();
    session_disconnected(session, "reset");
    pass(SESSION_REDIAL_MIN_NS);
    (void)look();
    welcome_of(&frames_controller, EPOCH - 1);
    DID("Reject hang_up");
    LOGGED("epoch 5");
    pass(NS_PER_S);
    DID("dial");
    welcome_of(&frames_controller, EPOCH);
    DID("look");
    end();
}
END_TEST

/* The controller was killed in between, and does not know of the first. */
START_TEST(a_phase_ordered_anew_is_not_the_one_at_hand)
{
    struct work again = work0;
    struct job *job = frames_job(0, EPOCH + 1);

    armed();
    reconnect(EPOCH + 1);
    DID("look");
    frames_prepare(job);
    deliver();
    DID("Refused");
    ck_assert_ptr_nonnull(
        strstr(last_sent(LOCKSTEP__FRAME__BODY_REFUSED)->refused->reason,
               "still has phase 0"));
    again.epoch = EPOCH + 1;
    frames_abort(&again, "it begins anew");
    deliver();
    DID("discard Finished");
    frames_ack(&again, 1);
    deliver();
    is_state("idle");
    frames_prepare(job);
    deliver();
    DID("prepare");
    is_state("preparing");
    session_prepared(session, 1, 1 << 20, NULL);
    DID("Ready");
    ck_assert_uint_eq(
        last_sent(LOCKSTEP__FRAME__BODY_READY)->ready->work->epoch, EPOCH + 1);
    job = job_free(job);
    end();
}
END_TEST

START_TEST(an_idle_agent_serves_whoever_it_is_told_to)
{
    begin();
    up();
    session_disconnected(session, "reset");
    pass(SESSION_REDIAL_MIN_NS);
    (void)look();
    welcome_of(&frames_other, 1);
    DID("look");
    end();
}
END_TEST

/* ---- The lease ---------------------------------------------------------- */

START_TEST(the_end_of_the_lease_stops_the_load)
{
    config.phase.lease_ns = 5 * NS_PER_S;
    running();
    session_disconnected(session, "the controller was killed");
    (void)look();
    pass(world.lease_ns - now.now_ns - NS_PER_MS);
    ck_assert_ptr_null(strstr(world.did, "stop"));
    pass(NS_PER_MS);
    ck_assert_ptr_nonnull(strstr(world.did, "stop"));
    row(1, ROW_DRAIN);
    (void)look();
    ended(PHASE_LEASE_LOST);
    DID("discard release");
    is_state("holding"); /* the samples wait for whoever comes */
    ck_assert_int_eq(session_phase(session)->end.outcome, PHASE_LEASE_LOST);
    end();
}
END_TEST

START_TEST(heartbeats_do_not_renew)
{
    ready();
    pass_alive(LEASE, false);
    is_state("holding");
    ck_assert_int_eq(session_phase(session)->end.outcome, PHASE_LEASE_LOST);
    end();
}
END_TEST

START_TEST(renew_counts_from_before_the_wait)
{
    uint64_t before;

    ready();
    session_waits(session);
    before = now.now_ns;
    clock_manual_advance(&now, 3 * NS_PER_S);
    frames_renew(&work0);
    deliver();
    ck_assert_uint_eq(world.lease_ns, before + LEASE);
    clock_manual_advance(&now, NS_PER_S);
    session_waits(session);
    clock_manual_advance(&now, NS_PER_S);
    deliver();
    ck_assert_uint_eq(world.lease_ns, now.now_ns - NS_PER_S + LEASE);
    end();
}
END_TEST

/* ---- Bounds and ends ---------------------------------------------------- */

START_TEST(samples_that_nobody_takes_stop_the_load_at_a_bound)
{
    uint64_t made = 0;

    config.unacknowledged_max = 4096;
    running();
    config.unacknowledged_max = 0;
    session_disconnected(session, "reset");
    (void)look();
    while (strcmp(world.did, "stop") != 0 && made < 1000)
        row(made++, ROW_MEASURED);
    ck_assert_uint_lt(made, 100);
    DID("stop");
    ck_assert_uint_gt(session_unacknowledged(session), 4096);
    row(made, ROW_DRAIN);
    ended(PHASE_STOPPED);
    ck_assert_int_eq(session_phase(session)->end.outcome, PHASE_STOPPED);
    ck_assert_ptr_nonnull(
        strstr(session_phase(session)->end.reason, "4 kB of samples wait"));
    /* All that was measured is still there. */
    forget_sent();
    (void)look();
    pass(SESSION_REDIAL_MIN_NS);
    (void)look();
    welcome_of(&frames_controller, EPOCH);
    ck_assert_uint_eq(
        last_sent(LOCKSTEP__FRAME__BODY_FINISHED)->finished->intervals, made);
    ck_assert_uint_eq(world.sent_count, made + 1 + 2); /* Hello, Finished */
    end();
}
END_TEST

START_TEST(a_stop_of_the_agent_ends_the_phase_and_takes_no_other)
{
    running();
    session_stop(session, "agent host1 was told to end");
    DID("stop");
    ck_assert(!session_is_over(session));
    row(1, ROW_DRAIN);
    ended(PHASE_STOPPED);
    DID("discard Finished Sample");
    ck_assert(session_is_over(session));
    ck_assert_str_eq(
        last_sent(LOCKSTEP__FRAME__BODY_FINISHED)->finished->reason,
        "agent host1 was told to end");
    ack(2);
    is_state("idle");
    prepare(1, EPOCH);
    DID("Refused");
    end();
}
END_TEST

START_TEST(once_means_that_the_end_of_the_link_is_the_end)
{
    config.once = true;
    running();
    session_disconnected(session, "the shell is gone");
    DID("stop");
    ck_assert(!session_is_over(session));
    row(1, ROW_DRAIN);
    ended(PHASE_STOPPED);
    DID("discard");
    ck_assert(session_is_over(session));
    pass(5 * NS_PER_S);
    DID("");
    end();
    config.once = false;
}
END_TEST

START_TEST(release_of_what_is_held_forgets_it)
{
    running();
    session_disconnected(session, "reset");
    row(1, ROW_DRAIN);
    ended(PHASE_COMPLETE);
    pass(SESSION_REDIAL_MIN_NS);
    (void)look();
    welcome_of(&frames_controller, EPOCH);
    (void)look();
    frames_release(&frames_campaign);
    deliver();
    DID("release");
    is_state("idle");
    ck_assert_uint_eq(session_unacknowledged(session), 0);
    prepare(1, EPOCH);
    DID("prepare");
    end();
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        a_phase_from_prepare_to_idle,
        orders_of_another_epoch_or_work_are_not_obeyed,
        orders_said_twice,
        a_preparation_that_fails_is_refused_with_its_target,
        a_refusal_waits_for_a_connection,
        arming_that_fails_is_refused,
        without_go_it_disarms_and_says_so,
        an_abort_before_the_start_leaves_no_rows,
        stop_after_and_abort_reach_the_crew,
        samples_go_again_from_the_first_unacknowledged,
        a_link_that_breaks_in_each_state,
        finished_goes_again_until_it_is_acknowledged,
        an_acknowledgement_before_finished_was_told_ends_nothing,
        samples_wait_for_room_in_the_connection,
        held_work_is_refused_to_another_controller,
        held_work_is_refused_to_a_lower_epoch,
        a_phase_ordered_anew_is_not_the_one_at_hand,
        an_idle_agent_serves_whoever_it_is_told_to,
        the_end_of_the_lease_stops_the_load,
        heartbeats_do_not_renew,
        renew_counts_from_before_the_wait,
        samples_that_nobody_takes_stop_the_load_at_a_bound,
        a_stop_of_the_agent_ends_the_phase_and_takes_no_other,
        once_means_that_the_end_of_the_link_is_the_end,
        release_of_what_is_held_forgets_it,
    };

    return run_tests("session_work", tests, ARRAY_LENGTH(tests));
}
