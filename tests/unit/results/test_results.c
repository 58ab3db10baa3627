/*
 * Goal: what agents measured comes out of the store as it went in, live and
 * final, whatever the order, and each fault of other tools that belongs here
 * stays theirs.
 */
#include "tests/unit/results/stage.h"

START_TEST(a_campaign_from_submission_to_verdict)
{
    json_t *show;

    setup(2, 1, 1, true);
    lab_begin(&lab, &campaign, 0, 0, 1, 3);
    for (uint64_t k = 0; k < 4; k++)
        for (uint32_t h = 0; h < 2; h++)
            send_simple(0, h, k, 100000, 100 * (h + 1));
    finish_all(0, 4);
    lab_end(&lab, &campaign, 0, VERDICT_COMPLETE, NULL);
    ck_assert_uint_eq(lab.total.ios, 900);
    ck_assert_double_eq(lab.total.iops, 300);
    ck_assert_uint_eq(lab.total.hosts_measured, 2);
    lab_finish(&lab, &campaign, VERDICT_COMPLETE, NULL);
    ck_assert_uint_eq(lab.stored[0], 4);
    ck_assert_uint_eq(lab.stored[1], 4);
    ck_assert_uint_eq(lab.failures, 0);
    check_sums();

    show = lab_ask(&lab, RESULTS_QUERY_SHOW, "1");
    ck_assert_str_eq(text_at(show, "verdict"), "complete");
    ck_assert_double_eq(number_at(show, "phases.0.total.iops"), 300);
    ck_assert_double_eq(number_at(show, "phases.0.total.ios"), 900);
    ck_assert_double_eq(number_at(show, "phases.0.hosts.1.iops"), 200);
    ck_assert_double_eq(number_at(show, "phases.0.drives.0.ios"), 300);
    ck_assert_double_eq(number_at(show, "phases.0.workloads.0.ios"), 900);
    ck_assert_str_eq(text_at(show, "phases.1.state"), "skipped");
    ck_assert(null_at(show, "phases.0.total.response_us"));
    ck_assert_uint_eq(count_events(&lab, "interval"), 4);
    ck_assert_str_eq(text_at(event_at(&lab, "interval", 0), "kind"), "warmup");
    ck_assert_uint_eq(count_events(&lab, "phase"), 1);
    ck_assert_uint_eq(count_events(&lab, "phase_end"), 1);
    ck_assert_str_eq(text_at(event_at(&lab, "end", 0), "verdict"), "complete");
    teardown();
}
END_TEST

/* The same to the nearest digit, wherever it is asked. */
START_TEST(case_A02_one_definition_of_rates_everywhere)
{
    json_t *show;
    double hosts = 0, drives = 0, total;

    /* Host 0 measures 2 intervals, host 1 all 6: as 10 s against 60 s. */
    setup(2, 2, 1, false);
    lab_begin(&lab, &campaign, 0, 0, 0, 6);
    for (uint64_t k = 0; k < 6; k++)
        for (uint32_t h = k < 2 ? 0 : 1; h < 2; h++)
            send_simple(0, h, k, 250000, 120 + k);
    lose(0, 0, "gone");
    lab_end(&lab, &campaign, 0, VERDICT_DEGRADED, "1 of 2 hosts was lost");
    lab_finish(&lab, &campaign, VERDICT_DEGRADED, "see phase 1");
    show = lab_ask(&lab, RESULTS_QUERY_SHOW, "");
    total = number_at(show, "phases.0.total.iops");
    for (size_t i = 0; i < 2; i++)
        hosts +=
            number_at(json_array_get(at(show, "phases.0.hosts"), i), "iops");
    for (size_t i = 0; i < 4; i++)
        drives +=
            number_at(json_array_get(at(show, "phases.0.drives"), i), "iops");
    ck_assert_double_eq_tol(hosts, total, 0.002);
    ck_assert_double_eq_tol(drives, total, 0.004);
    ck_assert_double_eq_tol(lab.total.iops, total, 0.001);
    ck_assert_double_eq_tol(total, (241 + 735) / 6.0,
                            0.001); /* all, over the window of all */
    ck_assert_double_eq_tol(
        number_at(event_at(&lab, "phase_end", 0), "total.iops"), total, 1e-9);
    ck_assert_double_eq(number_at(show, "phases.0.window_s"), 6);
    /* A03: who did not run together is pointed out. */
    ck_assert_double_eq_tol(number_at(show, "phases.0.overlap_pct"), 33.33,
                            0.01);
    ck_assert(json_is_true(at(show, "phases.0.overlap_low")));
    ck_assert_str_eq(text_at(show, "phases.0.lost.0.host"), "h0");
    ck_assert_double_eq(number_at(show, "phases.0.lost.0.from_interval"), 3);
    /* A drive that did nothing is a finding. */
    ck_assert_str_eq(text_at(show, "phases.0.idle_drives.0"), "h0:sd1");
    check_sums();
    teardown();
}
END_TEST

/* Workers one after the other: the sum of their rates is no rate. */
START_TEST(case_A03_rates_of_different_times_are_not_added)
{
    json_t *show;

    setup(3, 1, 1, false);
    lab_begin(&lab, &campaign, 0, 0, 0, 9);
    for (uint64_t k = 0; k < 9; k++)
        for (uint32_t h = 0; h < 3; h++)
            send_simple(0, h, k, 100000, k / 3 == h ? 900 : 0);
    lab_end(&lab, &campaign, 0, VERDICT_COMPLETE, NULL);
    show = lab_ask(&lab, RESULTS_QUERY_SHOW, "");
    ck_assert_double_eq(number_at(show, "phases.0.total.iops"), 900);
    ck_assert_double_eq(number_at(show, "phases.0.hosts.0.iops"), 300);
    teardown();
}
END_TEST

START_TEST(case_A01_no_percentile_is_averaged_on_the_way)
{
    json_t *show, *row;

    setup(2, 1, 1, false);
    lab_begin(&lab, &campaign, 0, 0, 0, 1);
    send_simple(0, 0, 0, 100000, 999000);
    send_simple(0, 1, 0, 50000000, 1000);
    lab_end(&lab, &campaign, 0, VERDICT_COMPLETE, NULL);
    show = lab_ask(&lab, RESULTS_QUERY_SHOW, "");
    row = event_at(&lab, "interval", 0);
    for (int i = 0; i < 2; i++) {
        json_t *figures =
            i == 0 ? at(show, "phases.0.total") : at(row, "figures");

        ck_assert_double_eq(number_at(figures, "ios"), 1000000);
        ck_assert_double_eq_tol(number_at(figures, "service_us.p99"), 100, 0.8);
        ck_assert_double_eq_tol(number_at(figures, "service_us.p999"), 100,
                                0.8);
        ck_assert_double_eq_tol(number_at(figures, "service_us.p9999"), 50000,
                                400);
        ck_assert_double_eq(number_at(figures, "service_us.max"), 50000);
    }
    teardown();
}
END_TEST

/* Mixed load, a stall of three intervals: one row each, reads and writes at
 * the same index, zeros included. */
START_TEST(case_N04_exactly_one_row_an_interval)
{
    setup(1, 1, 1, false);
    lab_begin(&lab, &campaign, 0, 0, 0, 7);
    for (uint64_t k = 0; k < 7; k++) {
        struct sample *s = sample_of(0, k, 2);

        if (k < 2 || k > 4) {
            sample_add_many(s, 0, SAMPLE_READ, 100000, 10);
            sample_add_many(s, 0, SAMPLE_WRITE, 100000, 20);
        }
        lab_sample(&lab, &campaign, 0, s);
    }
    lab_end(&lab, &campaign, 0, VERDICT_COMPLETE, NULL);
    ck_assert_uint_eq(count_events(&lab, "interval"), 7);
    for (size_t k = 0; k < 7; k++) {
        json_t *row = event_at(&lab, "interval", k);
        bool idle = k >= 2 && k <= 4;

        ck_assert_double_eq(number_at(row, "interval"), (double)k + 1);
        ck_assert_double_eq(number_at(row, "figures.read.ios"), idle ? 0 : 10);
        ck_assert_double_eq(number_at(row, "figures.write.ios"), idle ? 0 : 20);
        ck_assert_double_eq(number_at(row, "figures.iops"), idle ? 0 : 30);
        ck_assert_int_eq(null_at(row, "figures.read.service_us.mean"), idle);
        ck_assert_int_eq(null_at(row, "figures.service_us.max"), idle);
        ck_assert_int_eq(null_at(row, "figures.read_pct"), idle);
    }
    ck_assert_int_eq(lab_sql(&lab, "SELECT count(DISTINCT interval) = count(*) "
                                   "FROM cluster_interval"),
                     1);
    teardown();
}
END_TEST

START_TEST(case_N05_partial_intervals_are_marked_with_their_length)
{
    struct sample *s;

    setup(1, 1, 1, false);
    lab_begin(&lab, &campaign, 0, 0, 0, 10);
    send_simple(0, 0, 0, 1000, 100);
    s = sample_of(0, 1, 1);
    s->end_ns = s->begin_ns + 50000000;
    sample_add_many(s, 0, SAMPLE_READ, 1000, 5);
    lab_sample(&lab, &campaign, 0, s);
    lab_end(&lab, &campaign, 0, VERDICT_INTERRUPTED, "by ann");
    ck_assert(json_is_false(at(event_at(&lab, "interval", 0), "partial")));
    ck_assert(json_is_true(at(event_at(&lab, "interval", 1), "partial")));
    ck_assert_double_eq(number_at(event_at(&lab, "interval", 1), "length_s"),
                        0.05);
    ck_assert_double_eq(
        number_at(event_at(&lab, "interval", 1), "figures.iops"), 100);
    ck_assert_double_eq_tol(lab.total.iops, 100, 1e-9);
    teardown();
}
END_TEST

START_TEST(case_C08_the_drain_changes_no_rate)
{
    struct sample *s;
    json_t *show;

    setup(2, 1, 1, false);
    lab_begin(&lab, &campaign, 0, 0, 0, 1);
    for (uint32_t h = 0; h < 2; h++) {
        send_simple(0, h, 0, 1000, 100);
        s = sample_of(h, 1, 1);
        s->kind = SAMPLE_ROW_DRAIN;
        s->end_ns += 4 * (int64_t)NS_PER_S;
        sample_add_many(s, field_cell(&field, h, 0, 0), SAMPLE_READ, 4000000000,
                        32);
        lab_sample(&lab, &campaign, 0, s);
    }
    lab_end(&lab, &campaign, 0, VERDICT_COMPLETE, NULL);
    show = lab_ask(&lab, RESULTS_QUERY_SHOW, "");
    ck_assert_double_eq(number_at(show, "phases.0.total.ios"), 200);
    ck_assert_double_eq(number_at(show, "phases.0.total.iops"), 200);
    ck_assert_double_eq(number_at(show, "phases.0.drain.ios"), 64);
    ck_assert_double_eq(number_at(show, "phases.0.drain.seconds"), 5);
    ck_assert_double_eq(number_at(show, "phases.0.drain.hosts"), 2);
    ck_assert_uint_eq(lab.stored[0], 2);
    teardown();
}
END_TEST

/* ---- Questions -------------------------------------------------------------
 */

START_TEST(campaigns_are_found_by_number_and_uuid)
{
    char text[UUID_TEXT_SIZE];

    setup(1, 1, 1, false);
    (void)uuid_format(&campaign, text);
    ck_assert_double_eq(
        number_at(lab_ask(&lab, RESULTS_QUERY_STATUS, ""), "number"), 1);
    ck_assert_double_eq(
        number_at(lab_ask(&lab, RESULTS_QUERY_STATUS, "1"), "number"), 1);
    ck_assert_double_eq(
        number_at(lab_ask(&lab, RESULTS_QUERY_STATUS, text), "number"), 1);
    text[11] = '\0';
    ck_assert_double_eq(
        number_at(lab_ask(&lab, RESULTS_QUERY_STATUS, text), "number"), 1);
    (void)lab_ask(&lab, RESULTS_QUERY_STATUS, "77");
    ck_assert_int_eq(lab.answer_err, -ENOENT);
    ck_assert_ptr_nonnull(strstr(text_at(lab.answer, "error"), "'77'"));
    (void)lab_ask(&lab, RESULTS_QUERY_SHOW, "%");
    ck_assert_int_eq(lab.answer_err, -ENOENT);
    (void)lab_ask(&lab, RESULTS_QUERY_SHOW, "x'; DROP TABLE campaign; --");
    ck_assert_int_eq(lab.answer_err, -ENOENT);
    ck_assert_double_eq(
        (double)json_array_size(
            at(lab_ask(&lab, RESULTS_QUERY_CAMPAIGNS, ""), "campaigns")),
        1);
    teardown();
}
END_TEST

START_TEST(without_campaigns_the_question_has_an_answer)
{
    lab_init(&lab, suite_memory_directory(), false);
    (void)lab_ask(&lab, RESULTS_QUERY_SHOW, "");
    ck_assert_int_eq(lab.answer_err, -ENOENT);
    ck_assert_uint_eq(
        json_array_size(
            at(lab_ask(&lab, RESULTS_QUERY_CAMPAIGNS, ""), "campaigns")),
        0);
    lab_done(&lab);
}
END_TEST

START_TEST(a_watcher_gets_the_rows_so_far)
{
    json_t *watch;

    setup(2, 1, 1, false);
    field.plan.runs[0].rate = (struct plan_rate){PLAN_RATE_PERCENT, 50};
    lab_begin(&lab, &campaign, 0, 5000, 1, 9);
    for (uint64_t k = 0; k < 4; k++)
        for (uint32_t h = 0; h < 2; h++)
            send_simple(0, h, k, 1000, 10);
    clock_manual_advance(&lab.clock, 4 * NS_PER_S);
    (void)results_poll(lab.results);
    watch = lab_ask(&lab, RESULTS_QUERY_WATCH, "");
    ck_assert_str_eq(text_at(watch, "state"), "running");
    ck_assert_uint_eq(json_array_size(at(watch, "rows")), 4);
    ck_assert_double_eq(number_at(watch, "rows.3.figures.ios"), 20);
    ck_assert_str_eq(text_at(watch, "rows.0.kind"), "warmup");
    ck_assert_str_eq(text_at(watch, "phase_event.event"), "phase");
    ck_assert_double_eq(number_at(watch, "phase_event.iorate"), 5000);
    ck_assert_str_eq(text_at(watch, "phase_event.iorate_text"), "50%");
    ck_assert_double_eq(number_at(watch, "phase_event.hosts"), 2);
    ck_assert_double_eq(number_at(watch, "phase"), 1);
    ck_assert_double_eq(number_at(watch, "phases"), 2);
    /* 10 s of this one, 4 gone; 10 s of the next. */
    ck_assert_double_eq(number_at(watch, "remaining_s"), 16);
    /* The row that was told live is the row in the store. */
    ck_assert(json_equal(at(watch, "rows.2.figures"),
                         at(event_at(&lab, "interval", 2), "figures")));
    ck_assert_str_eq(text_at(watch, "rows.2.wall"),
                     text_at(event_at(&lab, "interval", 2), "wall"));
    teardown();
}
END_TEST

START_TEST(an_open_loop_has_both_latencies)
{
    static struct histogram service, response;
    struct sample *s;
    json_t *show;

    setup(1, 1, 1, false);
    field.plan.runs[0].rate = (struct plan_rate){PLAN_RATE_FIXED, 1000};
    lab_begin(&lab, &campaign, 0, 1000, 0, 1);
    histogram_init(&service);
    histogram_init(&response);
    histogram_record_many(&service, 100000, 1000);
    histogram_record_many(&response, 100000, 900);
    histogram_record_many(&response, 2000000000, 100);
    s = sample_of(0, 0, 1);
    sample_add(s, 0, SAMPLE_WRITE, &service, &response)->unissued = 50;
    s->cells[0].unissued_oldest_ns = 1500000;
    lab_sample(&lab, &campaign, 0, s);
    lab_end(&lab, &campaign, 0, VERDICT_COMPLETE, NULL);
    show = lab_ask(&lab, RESULTS_QUERY_SHOW, "");
    ck_assert_double_eq(number_at(show, "phases.0.total.service_us.p99"), 100);
    ck_assert_double_eq_tol(number_at(show, "phases.0.total.response_us.p90"),
                            100, 0.8);
    ck_assert_double_eq(number_at(show, "phases.0.total.response_us.max"),
                        2000000);
    ck_assert(json_is_true(at(show, "phases.0.total.response_lower_bound")));
    ck_assert_double_eq(number_at(show, "phases.0.total.unissued"), 50);
    ck_assert_double_eq(number_at(show, "phases.0.total.unissued_oldest_us"),
                        1500);
    ck_assert_double_eq(number_at(show, "phases.0.iorate"), 1000);
    teardown();
}
END_TEST

/* The spread is over all workers of all hosts, on the controller's clock. */
START_TEST(the_start_spread_is_of_all_workers)
{
    json_t *show;

    setup(2, 1, 1, false);
    lab_begin(&lab, &campaign, 0, 0, 0, 1);
    for (uint32_t h = 0; h < 2; h++) {
        struct sample *s = sample_of(h, 0, 1);

        s->opened_first_ns = h == 0 ? -15000 : 40000;
        s->opened_last_ns = h == 0 ? 20000 : 230000;
        lab_sample(&lab, &campaign, 0, s);
    }
    lab_end(&lab, &campaign, 0, VERDICT_COMPLETE, NULL);
    ck_assert_int_eq(lab.total.start_spread_ns, 245000);
    show = lab_ask(&lab, RESULTS_QUERY_SHOW, "");
    ck_assert_double_eq(number_at(show, "phases.0.start_spread_us"), 245);
    ck_assert_double_eq(number_at(show, "phases.0.start_uncertainty_us"), 20);
    teardown();
}
END_TEST

START_TEST(stuck_requests_are_told_by_drive)
{
    const struct results_stuck stuck[] = {{1, true, 4096, 8192, 30000000000},
                                          {1, false, 0, 512, 1000}};
    json_t *show;

    setup(1, 2, 1, false);
    lab_begin(&lab, &campaign, 0, 0, 0, 1);
    send_simple(0, 0, 0, 1000, 10);
    ck_assert_int_eq(
        results_host_finished(lab.results, &campaign, 0, 0, 1, stuck, 2), 0);
    lab_end(&lab, &campaign, 0, VERDICT_FAILED, "a drive hangs");
    show = lab_ask(&lab, RESULTS_QUERY_SHOW, "");
    ck_assert_uint_eq(json_array_size(at(show, "phases.0.stuck")), 2);
    ck_assert_str_eq(text_at(show, "phases.0.stuck.0.name"), "h0:sd1");
    ck_assert_str_eq(text_at(show, "phases.0.stuck.0.op"), "write");
    ck_assert_double_eq(number_at(show, "phases.0.stuck.0.age_us"), 30000000);
    teardown();
}
END_TEST

/* A sample of which 3 reads of drive 1 failed, one of them told. */
static void send_failing(uint64_t interval)
{
    struct sample *s = sample_of(0, interval, 1);

    sample_add_many(s, field_cell(&field, 0, 1, 0), SAMPLE_READ, 1000, 10)
        ->errors = 3;
    s->errors = calloc(2, sizeof(*s->errors));
    s->failures = calloc(1, sizeof(*s->failures));
    s->errors[0] = (struct sample_error){s->cells[0].cell, SAMPLE_READ, 5, 2};
    s->errors[1] = (struct sample_error){s->cells[0].cell, SAMPLE_READ, 0, 1};
    s->error_count = 2;
    s->failures[0] = (struct sample_failure){
        .cell = s->cells[0].cell,
        .op = SAMPLE_READ,
        .offset = 8192 + interval,
        .length = 4096,
        .err = 5,
        .at_ns = (int64_t)(interval * NS_PER_S + NS_PER_S / 2),
    };
    s->failure_count = 1;
    lab_sample(&lab, &campaign, 0, s);
}

START_TEST(failures_are_told_by_drive_and_errno)
{
    json_t *show;

    setup(1, 2, 1, false);
    lab_begin(&lab, &campaign, 0, 0, 0, 2);
    ck_assert_int_eq(results_host_ready(lab.results, &campaign, 0, 0,
                                        "io_uring fixed_files",
                                        "worker 0 on CPU 3: sd0 sd1"),
                     0);
    send_failing(0);
    send_failing(0); /* what comes again counts once */
    send_failing(1);
    lab_end(&lab, &campaign, 0, VERDICT_FAILED, "6 requests failed");
    ck_assert_uint_eq(lab.total.failures, 6);
    ck_assert_str_eq(lab.first_failure,
                     "read of 4096 bytes at 8192 on h0:sd1: EIO, "
                     "Input/output error");
    show = lab_ask(&lab, RESULTS_QUERY_SHOW, "");
    ck_assert_double_eq(number_at(show, "phases.0.failures.count"), 6);
    ck_assert_uint_eq(json_array_size(at(show, "phases.0.failures.kinds")), 2);
    ck_assert_str_eq(text_at(show, "phases.0.failures.kinds.0.name"), "h0:sd1");
    ck_assert_str_eq(text_at(show, "phases.0.failures.kinds.0.code"), "SHORT");
    ck_assert_str_eq(text_at(show, "phases.0.failures.kinds.1.code"), "EIO");
    ck_assert_double_eq(number_at(show, "phases.0.failures.kinds.1.count"), 4);
    ck_assert_uint_eq(json_array_size(at(show, "phases.0.failures.first")), 2);
    ck_assert_double_eq(number_at(show, "phases.0.failures.first.1.offset"),
                        8193);
    ck_assert_double_eq(number_at(show, "phases.0.failures.first.1.at_s"), 1.5);
    ck_assert_str_eq(text_at(show, "phases.0.engines.0.host"), "h0");
    ck_assert_str_eq(text_at(show, "phases.0.engines.0.engine"),
                     "io_uring fixed_files");
    ck_assert_str_eq(text_at(show, "phases.0.engines.0.placement"),
                     "worker 0 on CPU 3: sd0 sd1");
    teardown();
}
END_TEST

START_TEST(a_phase_that_never_started_has_a_verdict)
{
    json_t *show;

    setup(1, 1, 1, false);
    {
        const struct results_phase asked = {0, 0, 5};
        struct diag diag;

        ck_assert_int_eq(
            results_phase_begin(lab.results, &campaign, 0, &asked, &diag), 0);
    }
    ck_assert_int_eq(results_phase_verdict(lab.results, &campaign, 0,
                                           VERDICT_FAILED, "not prepared"),
                     0);
    (void)results_poll(lab.results);
    ck_assert_int_eq(
        results_phase_skipped(lab.results, &campaign, 1, "its curve broke"), 0);
    lab_finish(&lab, &campaign, VERDICT_FAILED, "not prepared");
    show = lab_ask(&lab, RESULTS_QUERY_SHOW, "");
    ck_assert_str_eq(text_at(show, "phases.0.error"), "not prepared");
    ck_assert(null_at(show, "phases.0.start_spread_us"));
    ck_assert_str_eq(text_at(show, "phases.1.error"), "its curve broke");
    ck_assert_str_eq(text_at(show, "phases.1.state"), "skipped");
    ck_assert(null_at(event_at(&lab, "phase_end", 0), "total"));
    ck_assert(null_at(event_at(&lab, "phase_end", 0), "last_interval"));
    teardown();
}
END_TEST

/* Two campaigns side by side do not mix. */
START_TEST(campaigns_side_by_side)
{
    struct uuid other;

    setup(1, 1, 1, true);
    (void)lab_campaign(&lab, &field.plan, &other);
    lab_begin(&lab, &campaign, 0, 0, 0, 5);
    lab_begin(&lab, &other, 0, 0, 0, 5);
    for (uint64_t k = 0; k < 5; k++) {
        struct sample *s = sample_of(0, k, 1);

        send_simple(0, 0, k, 1000, 1);
        sample_add_many(s, 0, SAMPLE_READ, 1000, 2);
        lab_sample(&lab, &other, 0, s);
    }
    lab_end(&lab, &other, 0, VERDICT_COMPLETE, NULL);
    ck_assert_uint_eq(lab.total.ios, 10);
    lab_end(&lab, &campaign, 0, VERDICT_COMPLETE, NULL);
    ck_assert_uint_eq(lab.total.ios, 5);
    lab_finish(&lab, &campaign, VERDICT_COMPLETE, NULL);
    lab_finish(&lab, &other, VERDICT_COMPLETE, NULL);
    teardown();
}
END_TEST

/* ---- The property, from end to end -----------------------------------------
 */

#define P_HOSTS     4u
#define P_DRIVES    3u
#define P_WORKLOADS 2u
#define P_INTERVALS 12u
#define P_WARMUP    2u

struct truth {
    uint64_t ios, bytes, errors;
    uint64_t drive[P_HOSTS * P_DRIVES];
    uint64_t workload[P_WORKLOADS];
    uint64_t *raw;
    size_t raw_count;
};

static struct sample *random_part(struct prng *prng, struct truth *truth,
                                  uint32_t host, uint64_t interval,
                                  uint32_t drive)
{
    struct sample *s = sample_of(host, interval, 2 * P_WORKLOADS);

    s->part = drive;
    s->parts = P_DRIVES;
    s->has_host = drive == 0;
    for (uint32_t w = 0; w < P_WORKLOADS; w++)
        for (enum sample_op op = 0; op < SAMPLE_OPS; op++) {
            static struct histogram h;
            uint64_t count = prng_below(prng, 30);
            bool measured = interval >= P_WARMUP;
            struct sample_cell *cell;

            histogram_init(&h);
            for (uint64_t i = 0; i < count; i++) {
                uint64_t ns = 10000 + prng_below(prng, 1u << 24);

                histogram_record(&h, ns);
                if (measured)
                    truth->raw[truth->raw_count++] = ns;
            }
            cell =
                sample_add(s, field_cell(&field, host, drive, w), op, &h, NULL);
            cell->errors = prng_below(prng, 3);
            if (!measured)
                continue;
            truth->ios += count;
            truth->bytes += cell->bytes;
            truth->errors += cell->errors;
            truth->drive[host * P_DRIVES + drive] += count;
            truth->workload[w] += count;
        }
    return s;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static void check_percentile(json_t *total, const char *key, double q,
                             struct truth *truth)
{
    size_t rank = (size_t)ceil(q * (double)truth->raw_count - 1e-9);
    double exact = (double)truth->raw[rank - 1] / 1000;
    double shown = number_at(at(total, "service_us"), key);

    ck_assert_double_ge(shown, exact - 0.001);
    ck_assert_double_le(shown, exact * (1 + 1.0 / 128) + 0.001);
}

static void check_truth(json_t *phase, struct truth *truth)
{
    json_t *total = at(phase, "total");

    ck_assert_double_eq(number_at(total, "ios"), (double)truth->ios);
    ck_assert_double_eq(number_at(total, "bytes"), (double)truth->bytes);
    ck_assert_double_eq(number_at(total, "errors"), (double)truth->errors);
    for (size_t i = 0; i < P_HOSTS * P_DRIVES; i++)
        ck_assert_double_eq(
            number_at(json_array_get(at(phase, "drives"), i), "ios"),
            (double)truth->drive[i]);
    for (size_t i = 0; i < P_WORKLOADS; i++)
        ck_assert_double_eq(
            number_at(json_array_get(at(phase, "workloads"), i), "ios"),
            (double)truth->workload[i]);
    qsort(truth->raw, truth->raw_count, sizeof(uint64_t), compare);
    check_percentile(total, "p50", 0.5, truth);
    check_percentile(total, "p90", 0.9, truth);
    check_percentile(total, "p99", 0.99, truth);
}

/* Hosts in any order, each far behind or ahead, time passing so that some rows
 * close early: in the end all is there, and once. */
START_TEST(nothing_is_lost_and_nothing_counts_twice)
{
    static struct truth truth;
    uint64_t sent[P_HOSTS] = {0}, left = P_HOSTS * P_INTERVALS;
    uint64_t seed = suite_seed() + (uint64_t)_i;
    struct prng prng;
    json_t *show;

    prng_seed(&prng, seed);
    printf("TEST_SEED=%llu\n", (unsigned long long)(seed - (uint64_t)_i));
    truth.raw = calloc((size_t)P_HOSTS * P_INTERVALS * P_DRIVES * 4 * 30, 8);
    setup(P_HOSTS, P_DRIVES, P_WORKLOADS, _i % 2 == 0);
    lab_begin(&lab, &campaign, 0, 0, P_WARMUP, P_INTERVALS - P_WARMUP);
    while (left > 0) {
        uint32_t h = (uint32_t)prng_below(&prng, P_HOSTS);

        if (sent[h] == P_INTERVALS)
            continue;
        for (uint32_t d = 0; d < P_DRIVES; d++)
            lab_sample(&lab, &campaign, 0,
                       random_part(&prng, &truth, h, sent[h], d));
        sent[h]++;
        left--;
        if (prng_below(&prng, 3) == 0)
            clock_manual_advance(&lab.clock, prng_below(&prng, NS_PER_S));
        if (prng_below(&prng, 20) == 0)
            lose(0, h, "blink");
        if (prng_below(&prng, 2) == 0)
            (void)results_poll(lab.results);
    }
    finish_all(0, P_INTERVALS);
    lab_end(&lab, &campaign, 0, VERDICT_COMPLETE, NULL);
    lab_finish(&lab, &campaign, VERDICT_COMPLETE, NULL);
    show = lab_ask(&lab, RESULTS_QUERY_SHOW, "");
    ck_assert_str_eq(text_at(show, "verdict"), "complete");
    check_truth(at(show, "phases.0"), &truth);
    check_sums();
    ck_assert_int_eq(lab_sql(&lab, "SELECT count(*) FROM cluster_interval"),
                     P_INTERVALS);
    ck_assert_int_eq(
        lab_sql(&lab, "SELECT sum(read_ios + write_ios) FROM cluster_interval "
                      "WHERE kind = 0"),
        (int64_t)truth.ios);
    ck_assert_int_eq(
        lab_sql(&lab, "SELECT sum(read_ios + write_ios) FROM workload_interval "
                      "WHERE interval >= 2"),
        (int64_t)truth.ios);
    ck_assert_int_eq(lab_sql(&lab, "SELECT count(*) FROM cluster_interval "
                                   "WHERE hosts_delivered <> hosts_expected"),
                     0);
    free(truth.raw);
    teardown();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("results");
    TCase *tests = tcase_create("results");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_campaign_from_submission_to_verdict);
    tcase_add_test(tests, case_A02_one_definition_of_rates_everywhere);
    tcase_add_test(tests, case_A03_rates_of_different_times_are_not_added);
    tcase_add_test(tests, case_A01_no_percentile_is_averaged_on_the_way);
    tcase_add_test(tests, case_N04_exactly_one_row_an_interval);
    tcase_add_test(tests,
                   case_N05_partial_intervals_are_marked_with_their_length);
    tcase_add_test(tests, case_C08_the_drain_changes_no_rate);
    tcase_add_test(tests, campaigns_are_found_by_number_and_uuid);
    tcase_add_test(tests, without_campaigns_the_question_has_an_answer);
    tcase_add_test(tests, a_watcher_gets_the_rows_so_far);
    tcase_add_test(tests, an_open_loop_has_both_latencies);
    tcase_add_test(tests, the_start_spread_is_of_all_workers);
    tcase_add_test(tests, stuck_requests_are_told_by_drive);
    tcase_add_test(tests, failures_are_told_by_drive_and_errno);
    tcase_add_test(tests, a_phase_that_never_started_has_a_verdict);
    tcase_add_test(tests, campaigns_side_by_side);
    tcase_add_loop_test(tests, nothing_is_lost_and_nothing_counts_twice, 0, 12);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
