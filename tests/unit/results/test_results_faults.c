/*
 * Goal: bad days.  Links that break, commits that fail, a controller that is
 * killed: what is acknowledged is stored, what is stored counts once, and what
 * is missing is said.
 */
#include "common/fault.h"
#include "tests/unit/results/stage.h"

/* ---- Acknowledging ---------------------------------------------------------
 */

START_TEST(what_is_acknowledged_is_in_the_store)
{
    setup(1, 1, 1, true);
    lab_begin(&lab, &campaign, 0, 0, 0, 50);
    for (uint64_t k = 0; k < 50; k++) {
        send_simple(0, 0, k, 1000, 10);
        lab_until(&lab, &lab.stored_calls, (uint32_t)k + 1);
        ck_assert_uint_eq(lab.stored[0], k + 1);
        ck_assert_int_eq(lab_sql(&lab, "SELECT count(*) FROM sample"),
                         (int64_t)k + 1);
    }
    teardown();
}
END_TEST

/* Its acknowledgement was lost on the way: it comes again, and so does that. */
START_TEST(a_sample_that_comes_again_is_acknowledged_again)
{
    setup(2, 1, 1, false);
    lab_begin(&lab, &campaign, 0, 0, 0, 9);
    for (uint64_t k = 0; k < 3; k++)
        send_simple(0, 0, k, 1000, 10);
    (void)results_poll(lab.results);
    ck_assert_uint_eq(lab.stored[0], 3);
    lab.stored[0] = 0;
    send_simple(0, 0, 1, 1000, 10);
    (void)results_poll(lab.results);
    ck_assert_uint_eq(lab.stored[0], 3);
    ck_assert_int_eq(lab_sql(&lab, "SELECT sum(read_ios) FROM host_interval"),
                     30);
    teardown();
}
END_TEST

/* ---- Late ------------------------------------------------------------------
 */

/* One host's link is cut for 12 s: the rows go on without it, and are whole
 * when it is back. */
START_TEST(late_samples_reissue_their_rows)
{
    json_t *row, *show;
    size_t before;

    setup(3, 1, 2, false);
    lab_begin(&lab, &campaign, 0, 0, 0, 20);
    for (uint64_t k = 0; k < 20; k++) {
        clock_manual_advance(&lab.clock, NS_PER_S);
        for (uint32_t h = 0; h < 3; h++)
            if (h != 1 || k < 4)
                send_simple(0, h, k, 1000, 10);
        (void)results_poll(lab.results);
    }
    /* 5 s after the edge a row closes without it. */
    ck_assert_uint_eq(count_events(&lab, "interval"), 15);
    row = event_at(&lab, "interval", 14);
    ck_assert_double_eq(number_at(row, "hosts"), 2);
    ck_assert_double_eq(number_at(row, "hosts_expected"), 3);
    ck_assert_str_eq(text_at(row, "missing.0"), "h1");
    ck_assert_double_eq(number_at(row, "figures.ios"), 20);
    ck_assert_double_eq(number_at(row, "revision"), 1);
    for (uint64_t k = 4; k < 20; k++)
        send_simple(0, 1, k, 5000, 7);
    (void)results_poll(lab.results);
    before = count_events(&lab, "interval");
    ck_assert_uint_eq(before, 15 + 16);
    row = event_at(&lab, "interval", 15);
    ck_assert_double_eq(number_at(row, "interval"), 5);
    ck_assert_double_eq(number_at(row, "revision"), 2);
    ck_assert_double_eq(number_at(row, "hosts"), 3);
    ck_assert_double_eq(number_at(row, "figures.ios"), 27);
    ck_assert_double_eq(number_at(row, "workload_rows.0.ios"), 27);
    ck_assert_uint_eq(lab.stored[1], 20);
    check_sums();
    ck_assert_int_eq(lab_sql(&lab,
                             "SELECT count(*) FROM cluster_interval "
                             "WHERE hosts_delivered = 3 AND missing IS NULL"),
                     20);
    lab_end(&lab, &campaign, 0, VERDICT_COMPLETE, NULL);
    lab_finish(&lab, &campaign, VERDICT_COMPLETE, NULL);
    show = lab_ask(&lab, RESULTS_QUERY_SHOW, "");
    ck_assert_str_eq(text_at(show, "verdict"), "complete");
    ck_assert_double_eq(number_at(show, "phases.0.total.ios"),
                        20 * 20 + 4 * 10 + 16 * 7);
    teardown();
}
END_TEST

/* The same, of a sampler that spanned intervals which are closed already. */
START_TEST(late_spanning_samples_reissue_what_they_cover)
{
    struct sample *s;
    json_t *row;

    setup(2, 1, 1, false);
    lab_begin(&lab, &campaign, 0, 0, 0, 20);
    for (uint64_t k = 0; k < 9; k++) {
        clock_manual_advance(&lab.clock, NS_PER_S);
        send_simple(0, 0, k, 1000, 10);
        (void)results_poll(lab.results);
    }
    ck_assert_uint_eq(count_events(&lab, "interval"), 4);
    s = sample_of(1, 6, 1); /* 0 to 6: 0 to 3 are closed, 4 to 6 open */
    s->spans = 7;
    s->begin_ns = 0;
    sample_add_many(s, field_cell(&field, 1, 0, 0), SAMPLE_READ, 1000, 700);
    lab_sample(&lab, &campaign, 0, s);
    (void)results_poll(lab.results);
    row = event_at(&lab, "interval", count_events(&lab, "interval") - 1);
    ck_assert_double_eq(number_at(row, "interval"), 7);
    ck_assert_double_eq(number_at(row, "spans"), 7);
    ck_assert_double_eq(number_at(row, "figures.ios"), 770);
    ck_assert_double_eq(number_at(row, "figures.iops"), 110);
    ck_assert_double_eq(number_at(row, "hosts"), 2);
    check_sums();
    ck_assert_int_eq(
        lab_sql(&lab, "SELECT count(*) FROM cluster_interval WHERE spans = 0"),
        6);
    teardown();
}
END_TEST

START_TEST(what_is_missing_is_never_called_complete)
{
    json_t *show;

    setup(2, 1, 1, false);
    lab_begin(&lab, &campaign, 0, 0, 0, 3);
    for (uint64_t k = 0; k < 3; k++)
        send_simple(0, 0, k, 1000, 10);
    send_simple(0, 1, 0, 1000, 10);
    lab_end(&lab, &campaign, 0, VERDICT_COMPLETE, NULL);
    lab_finish(&lab, &campaign, VERDICT_COMPLETE, NULL);
    ck_assert_uint_eq(lab.total.hosts_measured, 1);
    show = lab_ask(&lab, RESULTS_QUERY_SHOW, "");
    ck_assert_str_eq(text_at(show, "phases.0.verdict"), "degraded");
    ck_assert_ptr_nonnull(
        strstr(text_at(show, "phases.0.error"), "h1 has 1 of 3"));
    ck_assert_str_eq(text_at(show, "verdict"), "degraded");
    ck_assert_str_eq(text_at(event_at(&lab, "end", 0), "verdict"), "degraded");
    teardown();
}
END_TEST

/* ---- Bad days --------------------------------------------------------------
 */

#ifdef FAULTS
/* A commit fails: the samples in it are not acknowledged, the campaign is told
 * once, and what comes again is stored and counted once. */
START_TEST(what_could_not_be_stored_is_not_acknowledged)
{
    json_t *show;

    setup(2, 1, 1, false);
    lab_begin(&lab, &campaign, 0, 0, 0, 6);
    for (uint64_t k = 0; k < 2; k++)
        for (uint32_t h = 0; h < 2; h++)
            send_simple(0, h, k, 1000, 10);
    (void)results_poll(lab.results);
    ck_assert_uint_eq(lab.stored[0], 2);
    fault_arm("store.commit", -ENOSPC, 0);
    for (uint64_t k = 2; k < 4; k++)
        for (uint32_t h = 0; h < 2; h++)
            send_simple(0, h, k, 1000, 10);
    (void)results_poll(lab.results);
    fault_disarm_all();
    ck_assert_uint_eq(lab.stored[0], 2);
    ck_assert_uint_eq(lab.failures, 1);
    ck_assert_int_eq(lab.failure.err, -ENOSPC);
    ck_assert_ptr_nonnull(strstr(lab.failure.text, lab.path));
    ck_assert_int_eq(lab_sql(&lab, "SELECT count(*) FROM sample"), 4);
    /* Room again: host 0 sends all of them once more, host 1 is gone. */
    for (uint64_t k = 2; k < 4; k++)
        send_simple(0, 0, k, 1000, 10);
    (void)results_poll(lab.results);
    ck_assert_uint_eq(lab.stored[0], 4);
    lab_end(&lab, &campaign, 0, VERDICT_FAILED, "the disk was full");
    lab_finish(&lab, &campaign, VERDICT_FAILED, "the disk was full");
    show = lab_ask(&lab, RESULTS_QUERY_SHOW, "");
    ck_assert_double_eq(number_at(show, "phases.0.total.ios"), 60);
    ck_assert_double_eq(number_at(show, "phases.0.hosts.1.ios"), 20);
    check_sums();
    teardown();
}
END_TEST

/* phase_done comes whatever happens: the conductor waits for it. */
START_TEST(totals_that_cannot_be_stored_are_told_as_failed)
{
    setup(1, 1, 1, false);
    lab_begin(&lab, &campaign, 0, 0, 0, 1);
    send_simple(0, 0, 0, 1000, 10);
    (void)results_poll(lab.results);
    fault_arm("store.commit", -EIO, 0);
    ck_assert_int_eq(
        results_phase_end(lab.results, &campaign, 0, VERDICT_NONE, NULL), 0);
    (void)results_poll(lab.results);
    ck_assert_uint_eq(lab.phase_dones, 1);
    ck_assert_int_eq(lab.total.verdict, VERDICT_FAILED);
    ck_assert_int_eq(
        results_campaign_end(lab.results, &campaign, VERDICT_FAILED, "no disk"),
        0);
    (void)results_poll(lab.results);
    ck_assert_uint_eq(lab.campaign_dones, 0);
    ck_assert_uint_ge(lab.failures, 1);
    fault_disarm_all();
    /* Tried again, later: it is over. */
    ck_assert_int_eq(
        results_campaign_end(lab.results, &campaign, VERDICT_FAILED, "no disk"),
        0);
    (void)results_poll(lab.results);
    ck_assert_uint_eq(lab.campaign_dones, 1);
    ck_assert_int_eq(lab_sql(&lab, "SELECT verdict FROM campaign"),
                     VERDICT_FAILED);
    teardown();
}
END_TEST
#endif

/* ---- Restart ---------------------------------------------------------------
 */

static void reopen(void)
{
    struct diag diag = {0};

    lab.results = results_close(lab.results);
    ck_assert_msg(lab_open(&lab, &diag) == 0, "%s", diag.text);
}

static void remember(uint32_t phase, const char *name, const char *text)
{
    const struct results_memory memory = {
        .phase = phase, .name = name, .text = text};
    uint32_t before = lab.remembered;

    ck_assert_int_eq(results_remember(lab.results, &campaign, &memory), 0);
    lab_until(&lab, &lab.remembered, before + 1);
}

START_TEST(a_restart_finds_what_was_unfinished_and_loses_nothing)
{
    const struct results_unfinished *list;
    uint32_t count;
    json_t *show;

    setup(2, 1, 1, true);
    lab_begin(&lab, &campaign, 0, 0, 0, 10);
    remember(0, "starts", "of this phase");
    ck_assert_str_eq(lab.last_memory, "starts of this phase");
    remember(PLAN_NOWHERE, "origin", "first");
    remember(PLAN_NOWHERE, "origin", "of all");
    for (uint64_t k = 0; k < 3; k++)
        for (uint32_t h = 0; h < (k == 2 ? 1 : 2); h++)
            send_simple(0, h, k, 1000, 10);
    reopen();
    ck_assert_uint_eq(results_epoch(lab.results), 2);
    list = results_unfinished(lab.results, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(list[0].number, 1);
    ck_assert_int_eq(list[0].state, RESULTS_RUNNING);
    ck_assert_str_eq(list[0].campaign.files[0].text, "sd=sd1\n");
    ck_assert_str_eq(list[0].campaign.variables[0], "disk=/dev/x");
    ck_assert_str_eq(list[0].campaign.who, "ann from shell");
    ck_assert(uuid_equal(&list[0].campaign.id, &campaign));
    ck_assert_uint_eq(list[0].phase_count, 2);
    ck_assert_uint_eq(list[0].memory_count, 2);
    ck_assert_uint_eq(list[0].memories[0].phase, PLAN_NOWHERE);
    ck_assert_str_eq(list[0].memories[0].text, "of all");
    ck_assert_uint_eq(list[0].memories[1].phase, 0);
    ck_assert_str_eq(list[0].memories[1].name, "starts");
    results_abandon_unfinished(lab.results);
    reopen();
    (void)results_unfinished(lab.results, &count);
    ck_assert_uint_eq(count, 0);
    show = lab_ask(&lab, RESULTS_QUERY_SHOW, "1");
    ck_assert_str_eq(text_at(show, "verdict"), "failed");
    ck_assert_str_eq(text_at(show, "error"), "controller was restarted");
    ck_assert_str_eq(text_at(show, "phases.0.verdict"), "failed");
    ck_assert_double_eq(number_at(show, "phases.0.total.ios"), 50);
    ck_assert_str_eq(text_at(show, "phases.1.state"), "skipped");
    ck_assert_int_eq(lab_sql(&lab, "SELECT count(*) FROM memory"), 0);
    /* The interval that one host had delivered has a row. */
    check_sums();
    ck_assert_int_eq(lab_sql(&lab, "SELECT count(*) FROM cluster_interval"), 3);
    ck_assert_int_eq(lab_sql(&lab,
                             "SELECT hosts_delivered FROM cluster_interval "
                             "WHERE interval = 2"),
                     1);
    teardown();
}
END_TEST

static uint64_t sum_of_ios(enum sample_kind kind)
{
    uint64_t ios = 0;

    for (uint32_t i = 0; i < lab.sum_count; i++)
        if (lab.sums[i].kind == kind)
            ios += lab.sums[i].op[SAMPLE_READ].ios +
                   lab.sums[i].op[SAMPLE_WRITE].ios;
    return ios;
}

/* Between two phases, or before the verdict, none runs. */
START_TEST(a_restart_says_which_phase_is_next)
{
    const struct results_unfinished *list;
    uint32_t count;

    setup(1, 1, 1, true);
    lab_begin(&lab, &campaign, 0, 0, 0, 1);
    send_simple(0, 0, 0, 1000, 10);
    lab_end(&lab, &campaign, 0, VERDICT_COMPLETE, NULL);
    reopen();
    list = results_unfinished(lab.results, &count);
    ck_assert_uint_eq(list[0].next_phase, 1);
    ck_assert(!list[0].phase_runs);
    ck_assert_int_eq(results_take_over(lab.results, &campaign), 0);
    ck_assert_int_eq(results_abandon(lab.results, &campaign, "no"), -ENOENT);
    {
        struct diag diag = {0};

        ck_assert_int_eq(results_campaign_plan(lab.results, &campaign,
                                               &field.plan, NULL, NULL, &diag),
                         0);
    }
    lab_begin(&lab, &campaign, 1, 0, 0, 1);
    send_simple(1, 0, 0, 1000, 10);
    lab_end(&lab, &campaign, 1, VERDICT_COMPLETE, NULL);
    reopen();
    list = results_unfinished(lab.results, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(list[0].next_phase, 2);
    ck_assert_int_eq(results_abandon(lab.results, &campaign, "it is broken"),
                     0);
    reopen();
    (void)results_unfinished(lab.results, &count);
    ck_assert_uint_eq(count, 0);
    ck_assert_str_eq(text_at(lab_ask(&lab, RESULTS_QUERY_SHOW, "1"), "error"),
                     "it is broken");
    teardown();
}
END_TEST

/* A taken-over phase goes on: what was stored is not asked for again, what was
 * on its way comes again, and in the end nothing tells of the restart. */
START_TEST(a_phase_goes_on_after_a_restart)
{
    const struct results_unfinished *list;
    struct diag diag = {0};
    uint32_t count;
    json_t *show;

    setup(3, 1, 2, _i != 0);
    lab_begin(&lab, &campaign, 0, 0, 1, 5);
    for (uint64_t k = 0; k < 4; k++)
        for (uint32_t h = 0; h < 3; h++)
            if (h == 0 || k < 2) /* 2 and 3 have one host's rows */
                send_simple(0, h, k, 1000, 10 + k);
    reopen();
    list = results_unfinished(lab.results, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert(list[0].phase_runs);
    ck_assert_uint_eq(list[0].next_phase, 0);
    ck_assert_uint_eq(list[0].asked.warmup_intervals, 1);
    ck_assert_uint_eq(list[0].asked.measured_intervals, 5);
    ck_assert_uint_eq(list[0].start_ns, lab.clock.now_ns);
    ck_assert_int_eq(results_take_over(lab.results, &campaign), 0);
    ck_assert_int_eq(results_take_over(lab.results, &campaign), -ENOENT);
    ck_assert_int_eq(results_campaign_plan(lab.results, &campaign, &field.plan,
                                           NULL, NULL, &diag),
                     0);
    ck_assert_int_eq(results_phase_resume(lab.results, &campaign, 0,
                                          &list[0].asked, list[0].start_ns,
                                          &diag),
                     0);
    results_abandon_unfinished(lab.results);
    ck_assert(results_busy(lab.results));
    lab.stored[0] = 0;
    while (results_busy(lab.results))
        (void)results_poll(lab.results);
    ck_assert_uint_eq(lab.stored[0], 4); /* it is told what is stored */
    ck_assert_uint_eq(lab.stored[1], 2);
    ck_assert_uint_eq(sum_of_ios(SAMPLE_ROW_WARMUP), 3 * 10);
    ck_assert_uint_eq(sum_of_ios(SAMPLE_ROW_MEASURED), 3 * 11 + 12 + 13);
    for (uint64_t k = 1; k < 6; k++)
        for (uint32_t h = 0; h < 3; h++)
            send_simple(0, h, k, 1000, 10 + k);
    finish_all(0, 6);
    lab_end(&lab, &campaign, 0, VERDICT_COMPLETE, NULL);
    ck_assert_uint_eq(lab.stored[2], 6);
    lab_begin(&lab, &campaign, 1, 0, 0, 1); /* and the next one */
    for (uint32_t h = 0; h < 3; h++)
        send_simple(1, h, 0, 1000, 10);
    lab_end(&lab, &campaign, 1, VERDICT_COMPLETE, NULL);
    lab_finish(&lab, &campaign, VERDICT_COMPLETE, NULL);
    show = lab_ask(&lab, RESULTS_QUERY_SHOW, "");
    ck_assert_double_eq(number_at(show, "number"), 1);
    ck_assert_str_eq(text_at(show, "verdict"), "complete");
    ck_assert_double_eq(number_at(show, "phases.0.total.ios"),
                        3 * (11 + 12 + 13 + 14 + 15));
    ck_assert_double_eq(number_at(show, "phases.1.total.ios"), 30);
    check_sums();
    ck_assert_int_eq(lab_sql(&lab, "SELECT count(*) FROM cluster_interval "
                                   "WHERE hosts_delivered = 3"),
                     7);
    teardown();
}
END_TEST

START_TEST(another_plan_is_not_gone_on_with)
{
    struct diag diag = {0};

    setup(1, 1, 1, false);
    lab_begin(&lab, &campaign, 0, 0, 0, 5);
    reopen();
    ck_assert_int_eq(results_take_over(lab.results, &campaign), 0);
    field.plan.run_count = 1;
    ck_assert_int_eq(results_campaign_plan(lab.results, &campaign, &field.plan,
                                           NULL, NULL, &diag),
                     -ESTALE);
    ck_assert_ptr_nonnull(strstr(diag.text, "had 2 phases"));
    field.plan.run_count = 2;
    results_abandon_unfinished(lab.results);
    lab_finish(&lab, &campaign, VERDICT_FAILED, "its file has changed");
    teardown();
}
END_TEST

START_TEST(numbers_go_on_after_a_restart)
{
    struct uuid second;

    setup(1, 1, 1, true);
    lab_begin(&lab, &campaign, 0, 0, 0, 1);
    send_simple(0, 0, 0, 1000, 10);
    reopen();
    results_abandon_unfinished(lab.results);
    ck_assert_uint_eq(lab_campaign(&lab, &field.plan, &second), 2);
    lab_begin(&lab, &second, 0, 0, 0, 1);
    {
        struct sample *s = sample_of(0, 0, 1);

        sample_add_many(s, 0, SAMPLE_READ, 1000, 33);
        lab_sample(&lab, &second, 0, s);
    }
    lab_end(&lab, &second, 0, VERDICT_COMPLETE, NULL);
    lab_finish(&lab, &second, VERDICT_COMPLETE, NULL);
    ck_assert_double_eq(
        number_at(lab_ask(&lab, RESULTS_QUERY_SHOW, "2"), "phases.0.total.ios"),
        33);
    ck_assert_double_eq(
        number_at(lab_ask(&lab, RESULTS_QUERY_SHOW, "1"), "phases.0.total.ios"),
        10);
    teardown();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("results_faults");
    TCase *tests = tcase_create("results_faults");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, what_is_acknowledged_is_in_the_store);
    tcase_add_test(tests, a_sample_that_comes_again_is_acknowledged_again);
    tcase_add_test(tests, late_samples_reissue_their_rows);
    tcase_add_test(tests, late_spanning_samples_reissue_what_they_cover);
    tcase_add_test(tests, what_is_missing_is_never_called_complete);
#ifdef FAULTS
    tcase_add_test(tests, what_could_not_be_stored_is_not_acknowledged);
#endif
#ifdef FAULTS
    tcase_add_test(tests, totals_that_cannot_be_stored_are_told_as_failed);
#endif
    tcase_add_test(tests,
                   a_restart_finds_what_was_unfinished_and_loses_nothing);
    tcase_add_test(tests, a_restart_says_which_phase_is_next);
    tcase_add_loop_test(tests, a_phase_goes_on_after_a_restart, 0, 2);
    tcase_add_test(tests, another_plan_is_not_gone_on_with);
    tcase_add_test(tests, numbers_go_on_after_a_restart);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
