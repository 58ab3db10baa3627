/*
 * The conductor of a controller that was restarted: it goes on with what the
 * one before had stored.
 */
#include "tests/unit/conduct/script.h"

/* ---- After a restart ----------------------------------------------------- */

static struct conduct_start starts[HOSTS];

/* What a store would have kept: of a phase that started, its starts. */
static struct conduct_past remember(bool started)
{
    const struct conduct_phase *phase = conductor_phase(c);
    struct conduct_past past = {
        .phase = phase->number,
        .begun = true,
        .quiet_ns = conductor_quiet_ns(c, 0),
        .reason = "",
        .starts = starts,
    };

    conductor_memory(c, &past.memory);
    if (!started)
        return past;
    past.start_ns = phase->start_ns;
    past.iops = phase->iops;
    for (uint32_t i = 0; i < hosts(); i++)
        past.start_count +=
            conductor_start_of(c, i, &starts[past.start_count]) ? 1 : 0;
    return past;
}

static void restart_after(const struct conduct_past *past, uint64_t ns)
{
    c = conductor_free(c);
    forget();
    now += ns;
    c = conductor_new(&plans.plan, &options, now);
    ck_assert_ptr_nonnull(c);
    conductor_resume(c, now, past);
    take();
}

static void restart(const struct conduct_past *past)
{
    restart_after(past, 2 * NS_PER_S);
}

/* It has something of the first try of the phase at hand. */
static void up_before(uint32_t host, enum conduct_held held)
{
    struct conduct_hello hello = {
        .instance = instances[host],
        .boot = instances[host],
        .lease_ns = LEASE,
        .held = held,
        .held_phase = conductor_phase(c)->number,
        .held_before = true,
    };

    conductor_host_up(c, now, host, &hello);
    take();
}

static void left(uint32_t host)
{
    conductor_left(c, now, host, conductor_phase(c)->number, 0);
    take();
}

START_TEST(restart_in_a_running_phase_costs_nothing)
{
    int64_t at, skew;

    begin(2, 2);
    all_running();
    wait_for(3 * NS_PER_S);

    struct conduct_past past = remember(true);

    ck_assert_uint_eq(past.start_count, 2);
    restart(&past);
    ck_assert_int_eq(state(), CONDUCT_RUNNING);
    ck_assert_uint_eq(count(CONDUCT_PHASE_BEGAN), 0);
    for (uint32_t i = 0; i < 2; i++) {
        up(i, CONDUCT_HELD_RUNNING, 0);
        ck_assert_uint_eq(count(CONDUCT_DO_RENEW), i + 1); /* at once */
    }
    ck_assert(conductor_place(
        c, 0, past.start_ns + (uint64_t)offsets[0] + NS_PER_S, &at, &skew));
    ck_assert_int_eq(at, (int64_t)NS_PER_S);
    ck_assert_int_le(skew < 0 ? -skew : skew, (int64_t)NS_PER_MS);
    ck_assert_uint_eq(count(CONDUCT_DO_ABORT), 0);
    all_complete();
    ck_assert_int_eq(phase_ended()->verdict, CONDUCT_COMPLETE);
    forget();
    wait_for(NS_PER_S);
    ck_assert_uint_eq(conductor_phase(c)->number, 1);
    ck_assert_int_eq(state(), CONDUCT_PREPARING);
}
END_TEST

/* Its Finished is in the store, and it has forgotten all, as it may. */
START_TEST(restart_does_not_lose_who_had_finished)
{
    const struct conduct_finished finished_0 = {
        .finish = {.outcome = CONDUCT_OUTCOME_COMPLETE,
                   .reason = "",
                   .intervals = 10}};

    begin(2, 1);
    all_running();
    wait_until(conductor_phase(c)->end_ns + NS_PER_MS);

    struct conduct_past past = remember(true);

    past.finished = &finished_0;
    past.finished_count = 1;
    restart(&past);
    stored(0, 11);
    up(0, CONDUCT_HELD_NOTHING, 0);
    up(1, CONDUCT_HELD_HOLDING, 0);
    completes(1);
    check_ended(CONDUCT_COMPLETE, "");
}
END_TEST

START_TEST(restart_waits_for_hosts_as_long_as_their_lease)
{
    begin(2, 1);
    all_running();

    struct conduct_past past = remember(true);

    restart(&past);
    up(0, CONDUCT_HELD_RUNNING, 0);
    wait_until(conductor_phase(c)->end_ns + NS_PER_MS);
    completes(0);
    ck_assert_ptr_null(find(CONDUCT_CAMPAIGN_ENDED, 0));
    wait_for(past.quiet_ns);
    check_ended(CONDUCT_DEGRADED,
                "without host1 (not connected since the controller was "
                "restarted, and its lease is over)");
}
END_TEST

/* Nobody gets the second Prepare while somebody may have the first. */
START_TEST(restart_before_the_start_begins_the_phase_anew)
{
    begin(3, 1);
    all_ready();

    struct conduct_past past = remember(false);

    restart(&past);
    ck_assert_int_eq(state(), CONDUCT_PLANNED);
    up_before(0, CONDUCT_HELD_ARMED);
    ck_assert_ptr_nonnull(find(CONDUCT_DO_ABORT, 0));
    ck_assert_uint_eq(count(CONDUCT_DO_RENEW), 0);
    up(1, CONDUCT_HELD_NOTHING, 0);
    up_before(2, CONDUCT_HELD_HOLDING);
    left(2);
    ck_assert_ptr_nonnull(find(CONDUCT_DO_ACK, 2));
    ck_assert_int_eq(state(), CONDUCT_PLANNED);
    left(0);
    ck_assert_int_eq(state(), CONDUCT_PREPARING);
    ck_assert_uint_eq(count(CONDUCT_DO_PREPARE), 3);
    forget();
    all_running();
    all_complete();
    check_ended(CONDUCT_COMPLETE, "");
}
END_TEST

START_TEST(restart_before_the_start_bears_who_does_not_come)
{
    options.require = CONDUCT_REQUIRE_COUNT;
    options.require_value = 1;
    options.host_wait_ns = NS_PER_S;
    begin(2, 1);
    all_ready();

    struct conduct_past past = remember(false);
    uint64_t due = now + 2 * NS_PER_S + past.quiet_ns;

    restart(&past);
    up(0, CONDUCT_HELD_NOTHING, 0);
    wait_until(due - NS_PER_S);
    ck_assert_int_eq(state(), CONDUCT_PLANNED); /* host1 may have begun */
    wait_until(due + NS_PER_S);
    ck_assert_int_eq(state(), CONDUCT_PREPARING);
    /* Here it is, with the first try: too late for the second. */
    forget();
    up_before(1, CONDUCT_HELD_HOLDING);
    left(1);
    ck_assert_uint_eq(count(CONDUCT_DO_PREPARE), 0); /* it was given up */
}
END_TEST

START_TEST(restart_remembers_how_a_phase_was_to_end)
{
    begin(2, 2);
    all_running();
    wait_for(NS_PER_S);
    conductor_end_phase(c, now, CONDUCT_COMPLETE, "maxdata");
    take();

    const struct conduct_effect *ending = find(CONDUCT_PHASE_ENDING, 0);
    struct conduct_past past = remember(true);

    ck_assert_ptr_nonnull(ending);
    ck_assert_int_eq(ending->ending, CONDUCT_ENDING_EARLY);
    past.ending = ending->ending;
    past.ending_verdict = ending->verdict;
    past.stop_after = ending->interval;
    past.reason = "maxdata";
    restart_after(&past, 100 * NS_PER_MS);
    up(0, CONDUCT_HELD_RUNNING, 0);
    ck_assert_uint_eq(find(CONDUCT_DO_STOP_AFTER, 0)->interval,
                      past.stop_after);
    past.ending = CONDUCT_ENDING_FAILED;
    past.reason = "too many errors";
    restart(&past);
    ck_assert_int_eq(state(), CONDUCT_DRAINING);
    up(0, CONDUCT_HELD_RUNNING, 0);
    up(1, CONDUCT_HELD_HOLDING, 0);
    ck_assert_str_eq(find(CONDUCT_DO_ABORT, 0)->reason, "too many errors");
    for (uint32_t i = 0; i < 2; i++) {
        stored(i, 4);
        finished(i, CONDUCT_OUTCOME_STOPPED, 3);
    }
    check_ended(CONDUCT_FAILED, "too many errors");
}
END_TEST

START_TEST(restart_remembers_an_ending_before_the_start)
{
    begin(2, 1);
    all_ready();

    struct conduct_past past = remember(false);

    past.ending = CONDUCT_ENDING_FAILED;
    past.reason = "host1: no such drive";
    restart(&past);
    up_before(0, CONDUCT_HELD_READY);
    up(1, CONDUCT_HELD_NOTHING, 0);
    ck_assert_ptr_null(find(CONDUCT_CAMPAIGN_ENDED, 0));
    left(0);
    check_ended(CONDUCT_FAILED, "host1: no such drive");
    ck_assert_uint_eq(count(CONDUCT_DO_PREPARE), 0);
}
END_TEST

/* The operator's word holds, and nobody is let go who may have begun. */
START_TEST(restart_does_not_forget_a_stop)
{
    begin(2, 1);
    all_ready();

    struct conduct_past past = remember(false);

    restart(&past);
    conductor_stop(c, now, "by ann");
    take();
    up_before(0, CONDUCT_HELD_RUNNING);
    left(0);
    ck_assert_ptr_null(find(CONDUCT_CAMPAIGN_ENDED, 0));
    wait_for(past.quiet_ns);
    check_ended(CONDUCT_INTERRUPTED, "by ann");
}
END_TEST

START_TEST(restart_keeps_a_curve_s_maximum_and_verdicts)
{
    begin(1, 2);
    plans.runs[0].rate = (struct plan_rate){.kind = PLAN_RATE_CURVE};
    plans.runs[1].rate = (struct plan_rate){PLAN_RATE_PERCENT, 50};
    all_running();
    all_complete();
    wait_for(NS_PER_S);

    struct conduct_past past = remember(false);

    ck_assert_uint_eq(past.phase, 1);
    ck_assert(!past.memory.over);
    past.memory.verdict = CONDUCT_DEGRADED;
    (void)snprintf(past.memory.reason, REASON_SIZE, "phase 1");
    restart(&past);
    up(0, CONDUCT_HELD_NOTHING, 0);
    ck_assert_double_eq(find(CONDUCT_PHASE_BEGAN, 0)->iops, 17200);
    all_running();
    all_complete();
    check_ended(CONDUCT_DEGRADED, "phase 1");
    conductor_memory(c, &past.memory);
    ck_assert(past.memory.over);
    restart(&past); /* killed before that was stored */
    check_ended(CONDUCT_DEGRADED, "phase 1");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("conduct resume");
    TCase *tests = tcase_create("resume");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, restart_in_a_running_phase_costs_nothing);
    tcase_add_test(tests, restart_does_not_lose_who_had_finished);
    tcase_add_test(tests, restart_waits_for_hosts_as_long_as_their_lease);
    tcase_add_test(tests, restart_before_the_start_begins_the_phase_anew);
    tcase_add_test(tests, restart_before_the_start_bears_who_does_not_come);
    tcase_add_test(tests, restart_remembers_how_a_phase_was_to_end);
    tcase_add_test(tests, restart_remembers_an_ending_before_the_start);
    tcase_add_test(tests, restart_does_not_forget_a_stop);
    tcase_add_test(tests, restart_keeps_a_curve_s_maximum_and_verdicts);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
