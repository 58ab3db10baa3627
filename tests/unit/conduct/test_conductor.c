/*
 * The conductor, one decision at a time.  tests/sim has the histories.
 */
#include "tests/unit/conduct/script.h"

/* ---- Starting ------------------------------------------------------------ */

START_TEST(calm_campaign_is_complete)
{
    begin(3, 2);
    all_running();
    all_complete();
    ck_assert_int_eq(phase_ended()->verdict, CONDUCT_COMPLETE);
    forget();
    all_running();
    all_complete();
    check_ended(CONDUCT_COMPLETE, "");
    ck_assert_uint_eq(count(CONDUCT_DO_RELEASE), 3);
}
END_TEST

/* One host prepares slowly, all have clocks of their own: nobody is told to
 * start before all are ready, and then all the same instant. */
START_TEST(case_B01_one_instant_on_clocks_a_day_apart)
{
    uint64_t start;

    begin(4, 1);
    for (uint32_t i = 0; i < 3; i++)
        ready(i);
    wait_for(13 * NS_PER_S);
    ck_assert_int_eq(state(), CONDUCT_PREPARING);
    ck_assert_uint_eq(count(CONDUCT_DO_START), 0);
    ready(3);
    wait_for(5 * NS_PER_MS);
    ck_assert_uint_eq(count(CONDUCT_DO_START), 4);
    start = conductor_phase(c)->start_ns;
    ck_assert_uint_gt(start, now + 3 * ROUND);
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_uint_eq(find(CONDUCT_DO_START, i)->agent_start_ns,
                          start + (uint64_t)offsets[i]);
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(count(CONDUCT_DO_GO), 0);
        armed(i);
    }
    ck_assert_uint_eq(count(CONDUCT_DO_GO), 4);
    ck_assert_uint_eq(find(CONDUCT_PHASE_STARTED, 0)->at_ns, start);
    ck_assert_uint_ge(find(CONDUCT_PHASE_STARTED, 0)->uncertainty_ns,
                      ROUND / 2);
    wait_until(start);
    for (uint32_t i = 0; i < 4; i++)
        conductor_opened(c, i, 0, start + (uint64_t)offsets[i] + i * 1000,
                         start + (uint64_t)offsets[i] + i * 1000);
    all_complete();
    ck_assert_uint_eq(phase_ended()->spread_ns, 3000);
}
END_TEST

/* All hold at the barrier, or the run fails with the list of the missing. */
START_TEST(case_B04_who_does_not_arm_is_named)
{
    uint64_t first, room;

    begin(4, 1);
    all_ready();
    first = conductor_phase(c)->start_ns;
    room = first - now;
    armed(0);
    armed(2);
    forget();
    wait_until(first);
    /* One more try, with more room, and told in time before the first. */
    ck_assert_uint_eq(count(CONDUCT_DO_START), 4);
    ck_assert_uint_gt(conductor_phase(c)->start_ns, first + 2 * room);
    armed(0);
    armed(2);
    forget();
    wait_until(conductor_phase(c)->start_ns);
    ck_assert_uint_eq(count(CONDUCT_DO_GO), 0);
    ck_assert_int_eq(state(), CONDUCT_DRAINING);
    ck_assert_uint_eq(count(CONDUCT_DO_ABORT), 4);
    for (uint32_t i = 0; i < 4; i++)
        finished(i, CONDUCT_OUTCOME_STOPPED, 0);
    check_ended(CONDUCT_FAILED,
                "2 of 4 hosts did not arm in time: host1, host3");
}
END_TEST

/* The answer to the first Start says nothing about the second. */
START_TEST(late_answer_to_the_first_start_is_no_answer_to_the_second)
{
    uint64_t first;

    begin(2, 1);
    all_ready();
    armed(0);
    first = find(CONDUCT_DO_START, 1)->agent_start_ns;
    wait_until(conductor_phase(c)->start_ns - NS_PER_MS);
    ck_assert_uint_eq(count(CONDUCT_DO_START), 4);
    armed(0);
    armed_for(1, first);
    ck_assert_uint_eq(count(CONDUCT_DO_GO), 0);
    armed(1);
    ck_assert_uint_eq(count(CONDUCT_DO_GO), 2);
}
END_TEST

START_TEST(clock_known_too_badly_is_refused_with_figures)
{
    probe_takes_ns = 14 * NS_PER_MS;
    begin(2, 1);
    ready(0);
    ready(1);
    wait_for(10 * NS_PER_S);
    ck_assert_uint_eq(count(CONDUCT_DO_START), 0);
    finished(0, CONDUCT_OUTCOME_STOPPED, 0);
    finished(1, CONDUCT_OUTCOME_STOPPED, 0);
    check_ended(CONDUCT_FAILED, "is known to 7.");
    check_ended(CONDUCT_FAILED, "round trips up to 14.000 ms, 64 probes");
    check_ended(CONDUCT_FAILED, "start_tolerance is 5.000 ms");
}
END_TEST

START_TEST(host_that_answers_no_probe_is_named)
{
    begin(3, 1);
    answers_probes[1] = false;
    for (uint32_t i = 0; i < 3; i++)
        ready(i);
    wait_for(29 * NS_PER_S);
    ck_assert_int_eq(state(), CONDUCT_ARMING);
    wait_for(2 * NS_PER_S);
    ck_assert_int_eq(state(), CONDUCT_DRAINING);
    for (uint32_t i = 0; i < 3; i++)
        finished(i, CONDUCT_OUTCOME_STOPPED, 0);
    check_ended(CONDUCT_FAILED,
                "1 of 3 hosts did not answer the clock probes: host1");
}
END_TEST

START_TEST(refusal_fails_the_phase_and_its_reason_goes_to_all)
{
    begin(3, 2);
    ready(0);
    conductor_refused(c, now, 1, 0, "sd1", "/dev/drive is mounted on /srv");
    take();
    ck_assert_int_eq(state(), CONDUCT_DRAINING);
    ck_assert_uint_eq(count(CONDUCT_DO_ABORT), 2);
    ck_assert_str_eq(find(CONDUCT_DO_ABORT, 0)->reason,
                     "host1: sd1: /dev/drive is mounted on /srv");
    finished(0, CONDUCT_OUTCOME_STOPPED, 0);
    finished(2, CONDUCT_OUTCOME_STOPPED, 0);
    check_ended(CONDUCT_FAILED, "sd1: /dev/drive is mounted on /srv");
    ck_assert_uint_eq(count(CONDUCT_PHASE_BEGAN), 1);
}
END_TEST

START_TEST(missing_hosts_are_waited_for_and_named)
{
    plans_init(&plans, 3, 1);
    c = conductor_new(&plans.plan, &options, now);
    up(0, CONDUCT_HELD_NOTHING, 0);
    up(2, CONDUCT_HELD_NOTHING, 0);
    conductor_begin(c, now);
    take();
    wait_for(options.host_wait_ns - NS_PER_S);
    ck_assert_int_eq(state(), CONDUCT_PLANNED);
    wait_for(2 * NS_PER_S);
    check_ended(CONDUCT_FAILED, "2 of 3 hosts are there; missing after 300 s: "
                                "host1");
}
END_TEST

START_TEST(enough_hosts_are_enough_and_the_verdict_says_who_was_missing)
{
    options.require = CONDUCT_REQUIRE_PERCENT;
    options.require_value = 50;
    plans_init(&plans, 3, 1);
    c = conductor_new(&plans.plan, &options, now);
    up(0, CONDUCT_HELD_NOTHING, 0);
    up(2, CONDUCT_HELD_NOTHING, 0);
    conductor_begin(c, now);
    wait_for(options.host_wait_ns + NS_PER_S);
    ck_assert_int_eq(state(), CONDUCT_PREPARING);
    ready(0);
    ready(2);
    wait_for(5 * NS_PER_MS);
    armed(0);
    armed(2);
    wait_until(conductor_phase(c)->end_ns + NS_PER_MS);
    completes(0);
    completes(2);
    check_ended(CONDUCT_DEGRADED,
                "2 of 3 hosts; without host1 (not connected)");
}
END_TEST

/* ---- Lost hosts ---------------------------------------------------------- */

START_TEST(case_C04_lost_host_degrades_and_the_others_go_on)
{
    options.require = CONDUCT_REQUIRE_COUNT;
    options.require_value = 2;
    begin(3, 2);
    all_running();
    wait_for(4 * NS_PER_S);
    stored(1, 3);
    down(1);
    ck_assert_int_eq(state(), CONDUCT_RUNNING);
    ck_assert_uint_eq(count(CONDUCT_DO_ABORT), 0);
    wait_until(conductor_phase(c)->end_ns + NS_PER_MS);
    completes(0);
    completes(2);
    /* It may come back, and may write: its lease is waited for. */
    ck_assert_int_eq(state(), CONDUCT_DRAINING);
    wait_for(LEASE + options.lag_ns);
    ck_assert_int_eq(phase_ended()->verdict, CONDUCT_DEGRADED);
    ck_assert_ptr_nonnull(strstr(phase_ended()->reason,
                                 "2 of 3 hosts; without host1 from interval 3 "
                                 "(connection reset, and its lease is over)"));
    /* The next phase waits for it, then goes without it. */
    ck_assert_int_eq(state(), CONDUCT_PLANNED);
    wait_for(options.host_wait_ns + NS_PER_S);
    ck_assert_int_eq(state(), CONDUCT_PREPARING);
}
END_TEST

START_TEST(host_back_inside_its_lease_costs_nothing)
{
    begin(2, 1);
    all_running();
    wait_for(3 * NS_PER_S);
    down(1);
    wait_for(5 * NS_PER_S);
    forget();
    up(1, CONDUCT_HELD_RUNNING, 0);
    ck_assert_uint_eq(count(CONDUCT_DO_RENEW), 1); /* at once */
    ck_assert_uint_eq(count(CONDUCT_DO_ABORT), 0);
    all_complete();
    check_ended(CONDUCT_COMPLETE, "");
}
END_TEST

START_TEST(host_back_without_its_work_is_given_up)
{
    begin(2, 1);
    all_running();
    wait_for(3 * NS_PER_S);
    stored(1, 2);
    down(1);
    memset(&instances[1], 77, sizeof(instances[1]));
    up(1, CONDUCT_HELD_NOTHING, 0);
    wait_until(conductor_phase(c)->end_ns + NS_PER_MS);
    completes(0);
    check_ended(CONDUCT_DEGRADED, "1 of 2 hosts; without host1 from interval 2 "
                                  "(it came back without its work (its agent "
                                  "was started anew))");
}
END_TEST

/* Its hands are full of the phase before, so it never got its Prepare, and has
 * nothing to finish when the phase ends without it. */
START_TEST(host_back_with_an_earlier_phase_does_not_hold_the_end)
{
    struct conduct_finish finish = {
        .outcome = CONDUCT_OUTCOME_COMPLETE, .reason = "", .intervals = 10};

    begin(2, 2);
    all_running();
    all_complete();
    wait_for(NS_PER_S);
    ck_assert_int_eq(state(), CONDUCT_PREPARING);
    ck_assert_uint_eq(conductor_phase(c)->number, 1);
    down(0);
    up(0, CONDUCT_HELD_HOLDING, 0);
    conductor_refused(c, now, 1, 1, "sd1", "no such drive");
    take();
    conductor_finished(c, now, 0, 0, &finish);
    take();
    wait_for(600 * NS_PER_S);
    ck_assert_ptr_nonnull(find(CONDUCT_CAMPAIGN_ENDED, 0));
    ck_assert_int_eq(find(CONDUCT_CAMPAIGN_ENDED, 0)->verdict, CONDUCT_FAILED);
}
END_TEST

START_TEST(orders_that_were_lost_are_repeated)
{
    begin(2, 1);
    down(0); /* Prepare did not arrive */
    forget();
    up(0, CONDUCT_HELD_NOTHING, 0);
    ck_assert_ptr_nonnull(find(CONDUCT_DO_PREPARE, 0));
    down(0); /* nor did Ready */
    ready(1);
    up(0, CONDUCT_HELD_READY, 0);
    ck_assert_int_eq(state(), CONDUCT_ARMING);
    wait_for(5 * NS_PER_MS);
    down(0); /* nor Start */
    forget();
    up(0, CONDUCT_HELD_READY, 0);
    ck_assert_ptr_nonnull(find(CONDUCT_DO_START, 0));
    armed(0);
    armed(1);
    ck_assert_int_eq(state(), CONDUCT_ARMED);
    down(0); /* nor Go */
    forget();
    up(0, CONDUCT_HELD_ARMED, 0);
    ck_assert_ptr_nonnull(find(CONDUCT_DO_GO, 0));
}
END_TEST

/* Armed and then without a connection: Go could not reach it. */
START_TEST(nobody_goes_while_one_that_armed_is_not_connected)
{
    begin(2, 1);
    all_ready();
    armed(0);
    down(0);
    armed(1);
    ck_assert_uint_eq(count(CONDUCT_DO_GO), 0);
    up(0, CONDUCT_HELD_ARMED, 0);
    ck_assert_uint_eq(count(CONDUCT_DO_GO), 2);
}
END_TEST

START_TEST(all_lost_is_failed)
{
    begin(2, 1);
    all_running();
    down(0);
    down(1);
    wait_for(100 * NS_PER_S);
    check_ended(CONDUCT_FAILED, "0 of 2 hosts");
}
END_TEST

/* ---- Leases, rows, the end ----------------------------------------------- */

START_TEST(lease_is_renewed_five_times_in_its_time_and_in_pauses)
{
    begin(1, 2);
    plans.runs[1].pause_ns = 60 * NS_PER_S;
    forget();
    wait_for(LEASE);
    ck_assert_uint_eq(count(CONDUCT_DO_RENEW), 5);
    all_running();
    all_complete();
    ck_assert_int_eq(state(), CONDUCT_PLANNED);
    forget();
    wait_for(LEASE);
    ck_assert_uint_eq(count(CONDUCT_DO_RENEW), 5);
}
END_TEST

START_TEST(one_that_is_told_to_stop_is_not_renewed)
{
    begin(2, 1);
    all_running();
    conductor_stop(c, now, "by ann");
    take();
    forget();
    wait_for(LEASE);
    ck_assert_uint_eq(count(CONDUCT_DO_RENEW), 0);
    ck_assert_uint_eq(count(CONDUCT_CAMPAIGN_ENDED), 0);
    wait_for(2 * LEASE);
    check_ended(CONDUCT_INTERRUPTED, "stopped by ann");
}
END_TEST

/* The agent forgets all with the last acknowledgement: Finished comes first. */
START_TEST(last_row_is_acknowledged_after_finished)
{
    begin(1, 1);
    all_running();
    forget();
    stored(0, 5);
    ck_assert_uint_eq(find(CONDUCT_DO_ACK, 0)->interval, 4);
    stored(0, 11);
    ck_assert_uint_eq(find(CONDUCT_DO_ACK, 0)->interval, 10);
    totals_itself = false;
    finished(0, CONDUCT_OUTCOME_COMPLETE, 10);
    ck_assert_uint_eq(find(CONDUCT_DO_ACK, 0)->interval, 11);
    /* That was lost; it comes back and says so again. */
    down(0);
    forget();
    up(0, CONDUCT_HELD_HOLDING, 0);
    finished(0, CONDUCT_OUTCOME_COMPLETE, 10);
    ck_assert_uint_eq(find(CONDUCT_DO_ACK, 0)->interval, 11);
}
END_TEST

/* Late news of the phase before frees the host for the next. */
START_TEST(host_that_still_holds_the_phase_before_is_freed_first)
{
    struct conduct_finish finish = {
        .outcome = CONDUCT_OUTCOME_COMPLETE, .reason = "", .intervals = 10};

    begin(2, 2);
    plans.runs[1].pause_ns = 20 * NS_PER_S;
    all_running();
    all_complete();
    ck_assert_int_eq(state(), CONDUCT_PLANNED);
    down(1); /* its last acknowledgement did not arrive */
    up(1, CONDUCT_HELD_HOLDING, 0);
    wait_for(21 * NS_PER_S);
    ck_assert_int_eq(state(), CONDUCT_PLANNED);
    forget();
    conductor_finished(c, now, 1, 0, &finish);
    take();
    ck_assert_uint_eq(find(CONDUCT_DO_ACK, 1)->interval, 11);
    ck_assert_uint_eq(find(CONDUCT_DO_ACK, 1)->phase, 0);
    ck_assert_int_eq(state(), CONDUCT_PREPARING);
}
END_TEST

START_TEST(requests_that_did_not_come_back_are_told)
{
    struct conduct_finish finish = {.outcome = CONDUCT_OUTCOME_COMPLETE,
                                    .reason = "",
                                    .intervals = 10,
                                    .stuck = 3};

    begin(2, 1);
    all_running();
    wait_until(conductor_phase(c)->end_ns + NS_PER_MS);
    completes(0);
    stored(1, 11);
    conductor_finished(c, now, 1, 0, &finish);
    take();
    check_ended(CONDUCT_DEGRADED,
                "without host1 (3 requests did not come back)");
}
END_TEST

/* A hung agent: told at the drain limit, given up when its lease is over. */
START_TEST(case_C07_phase_of_a_hung_agent_ends)
{
    begin(2, 1);
    all_running();
    wait_until(conductor_phase(c)->end_ns + NS_PER_MS);
    completes(0);
    forget();
    wait_for(options.drain_ns + options.grace_ns);
    ck_assert_ptr_nonnull(find(CONDUCT_DO_ABORT, 1));
    wait_for(LEASE + options.lag_ns);
    check_ended(CONDUCT_DEGRADED, "it did not stop when told to");
}
END_TEST

START_TEST(case_R02_operator_stops_everything)
{
    begin(3, 4);
    for (int phase = 0; phase < 2; phase++) {
        all_running();
        all_complete();
        forget();
    }
    all_running();
    wait_for(4 * NS_PER_S);
    forget();
    conductor_stop(c, now, "by ann from 10.0.0.7");
    take();
    conductor_stop(c, now, "by bob"); /* twice is fine */
    take();
    ck_assert_uint_eq(count(CONDUCT_DO_ABORT), 3);
    for (uint32_t i = 0; i < 3; i++) {
        stored(i, 6);
        finished(i, CONDUCT_OUTCOME_STOPPED, 5);
    }
    ck_assert_int_eq(phase_ended()->verdict, CONDUCT_INTERRUPTED);
    check_ended(CONDUCT_INTERRUPTED, "stopped by ann from 10.0.0.7");
    ck_assert_uint_eq(count(CONDUCT_PHASE_BEGAN), 0);
}
END_TEST

START_TEST(phase_that_has_what_it_wants_ends_everywhere_with_one_interval)
{
    begin(2, 2);
    all_running();
    wait_for(4 * NS_PER_S + 990 * NS_PER_MS);
    forget();
    conductor_end_phase(c, now, CONDUCT_COMPLETE, "maxdata");
    take();
    /* The fourth ends in 10 ms, too soon for everybody to hear of it. */
    ck_assert_uint_eq(find(CONDUCT_DO_STOP_AFTER, 0)->interval, 5);
    ck_assert_uint_eq(find(CONDUCT_DO_STOP_AFTER, 1)->interval, 5);
    wait_until(conductor_phase(c)->end_ns + NS_PER_MS);
    ck_assert_uint_eq(conductor_phase(c)->end_ns,
                      conductor_phase(c)->start_ns + 6 * NS_PER_S);
    for (uint32_t i = 0; i < 2; i++) {
        stored(i, 7);
        finished(i, CONDUCT_OUTCOME_COMPLETE, 6);
    }
    ck_assert_int_eq(phase_ended()->verdict, CONDUCT_COMPLETE);
    ck_assert_uint_eq(conductor_phase(c)->number, 1);
}
END_TEST

START_TEST(phase_ends_with_the_interval_that_goes_on_where_there_is_time)
{
    begin(2, 2);
    all_running();
    wait_for(4 * NS_PER_S + 20 * NS_PER_MS);
    forget();
    conductor_end_phase(c, now, CONDUCT_COMPLETE, "maxdata");
    take();
    ck_assert_uint_eq(find(CONDUCT_DO_STOP_AFTER, 0)->interval, 4);
    ck_assert_uint_eq(find(CONDUCT_DO_STOP_AFTER, 1)->interval, 4);
    ck_assert_uint_eq(conductor_phase(c)->end_ns,
                      conductor_phase(c)->start_ns + 5 * NS_PER_S);
}
END_TEST

START_TEST(errors_fail_a_phase_but_not_those_after_it)
{
    struct conduct_total total = {.iops = 1000, .failures = 12};

    begin(1, 2);
    all_running();
    totals_itself = false;
    all_complete();
    conductor_totalled(c, now, 0, &total);
    take();
    ck_assert_int_eq(phase_ended()->verdict, CONDUCT_FAILED);
    ck_assert_str_eq(phase_ended()->reason, "12 requests failed");
    totals_itself = true;
    forget();
    all_running();
    all_complete();
    check_ended(CONDUCT_FAILED, "phase 1 of 2 (rd0): 12 requests failed");
}
END_TEST

START_TEST(store_that_fails_ends_the_campaign)
{
    begin(2, 2);
    all_running();
    forget();
    conductor_store_failed(c, now, "/var/lib/lockstep is full");
    take();
    ck_assert_uint_eq(count(CONDUCT_DO_ABORT), 2);
    finished(0, CONDUCT_OUTCOME_STOPPED, 1);
    finished(1, CONDUCT_OUTCOME_STOPPED, 1);
    conductor_store_failed(c, now, "/var/lib/lockstep is full");
    take();
    check_ended(CONDUCT_FAILED, "/var/lib/lockstep is full");
}
END_TEST

/* ---- Curves -------------------------------------------------------------- */

static void begin_curve(void)
{
    plans_init(&plans, 2, 4);
    plans.runs[0].rate.kind = PLAN_RATE_CURVE;
    plans.runs[1].rate = (struct plan_rate){PLAN_RATE_PERCENT, 50};
    plans.runs[2].rate = (struct plan_rate){PLAN_RATE_PERCENT, 100};
    c = conductor_new(&plans.plan, &options, now);
    up(0, CONDUCT_HELD_NOTHING, 0);
    up(1, CONDUCT_HELD_NOTHING, 0);
    conductor_begin(c, now);
    take();
    all_running();
}

START_TEST(points_take_their_share_of_the_measured_maximum)
{
    begin_curve();
    all_complete();
    ck_assert(conductor_phase(c)->iops == 17200);
    forget();
    all_running();
    all_complete();
    ck_assert(conductor_phase(c)->iops == 34300);
}
END_TEST

START_TEST(degraded_maximum_stops_its_curve)
{
    begin_curve();
    down(1);
    wait_until(conductor_phase(c)->end_ns + NS_PER_MS);
    completes(0);
    wait_for(2 * LEASE);
    ck_assert_uint_eq(find(CONDUCT_PHASE_SKIPPED, 0)->phase, 1);
    ck_assert_uint_eq(find(CONDUCT_PHASE_SKIPPED, 0)->count, 2);
    ck_assert_uint_eq(conductor_phase(c)->number, 3);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("conduct conductor");
    TCase *tests = tcase_create("conductor");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, calm_campaign_is_complete);
    tcase_add_test(tests, case_B01_one_instant_on_clocks_a_day_apart);
    tcase_add_test(tests, case_B04_who_does_not_arm_is_named);
    tcase_add_test(tests,
                   late_answer_to_the_first_start_is_no_answer_to_the_second);
    tcase_add_test(tests, clock_known_too_badly_is_refused_with_figures);
    tcase_add_test(tests, host_that_answers_no_probe_is_named);
    tcase_add_test(tests, refusal_fails_the_phase_and_its_reason_goes_to_all);
    tcase_add_test(tests, missing_hosts_are_waited_for_and_named);
    tcase_add_test(
        tests, enough_hosts_are_enough_and_the_verdict_says_who_was_missing);
    tcase_add_test(tests, case_C04_lost_host_degrades_and_the_others_go_on);
    tcase_add_test(tests, host_back_inside_its_lease_costs_nothing);
    tcase_add_test(tests, host_back_without_its_work_is_given_up);
    tcase_add_test(tests,
                   host_back_with_an_earlier_phase_does_not_hold_the_end);
    tcase_add_test(tests, orders_that_were_lost_are_repeated);
    tcase_add_test(tests, nobody_goes_while_one_that_armed_is_not_connected);
    tcase_add_test(tests, all_lost_is_failed);
    tcase_add_test(tests,
                   lease_is_renewed_five_times_in_its_time_and_in_pauses);
    tcase_add_test(tests, one_that_is_told_to_stop_is_not_renewed);
    tcase_add_test(tests, last_row_is_acknowledged_after_finished);
    tcase_add_test(tests,
                   host_that_still_holds_the_phase_before_is_freed_first);
    tcase_add_test(tests, requests_that_did_not_come_back_are_told);
    tcase_add_test(tests, case_C07_phase_of_a_hung_agent_ends);
    tcase_add_test(tests, case_R02_operator_stops_everything);
    tcase_add_test(
        tests, phase_that_has_what_it_wants_ends_everywhere_with_one_interval);
    tcase_add_test(
        tests, phase_ends_with_the_interval_that_goes_on_where_there_is_time);
    tcase_add_test(tests, errors_fail_a_phase_but_not_those_after_it);
    tcase_add_test(tests, store_that_fails_ends_the_campaign);
    tcase_add_test(tests, points_take_their_share_of_the_measured_maximum);
    tcase_add_test(tests, degraded_maximum_stops_its_curve);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
