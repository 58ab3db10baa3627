/*
 * Goal: what agents measured comes out of the store as it went in, live and
 * final, whatever the order, and each fault of other tools that belongs here
 * stays theirs.
 */
#include "tests/unit/results/lab.h"

static struct lab lab;
static struct field field;
static struct uuid campaign;

static void setup(uint32_t hosts, uint32_t drives, uint32_t workloads,
                  bool threads)
{
    field_init(&field, hosts, drives, workloads, 2);
    lab_init(&lab, suite_memory_directory(), threads);
    (void)lab_campaign(&lab, &field.plan, &campaign);
}

static void teardown(void)
{
    lab_done(&lab);
    field_done(&field);
}

static void finish_all(uint32_t phase, uint64_t intervals)
{
    for (uint32_t h = 0; h < field.plan.host_count; h++)
        ck_assert_int_eq(results_host_finished(lab.results, &campaign, phase, h,
                                               intervals, NULL, 0),
                         0);
}

static void send_simple(uint32_t phase, uint32_t host, uint64_t interval,
                        uint64_t latency_ns, uint64_t count)
{
    struct sample *s = sample_of(host, interval, 4);

    if (count > 0)
        sample_add_many(s, field_cell(&field, host, 0, 0), SAMPLE_READ,
                        latency_ns, count);
    lab_sample(&lab, &campaign, phase, s);
}

/* The sums of the hosts are the cluster's rows, exactly, by SQL. */
static void check_sums(void)
{
    ck_assert_int_eq(
        lab_sql(&lab,
                "SELECT count(*) FROM (SELECT c.phase, c.interval, c.read_ios "
                "AS r, c.write_ios AS w, c.read_bytes AS b, c.write_errors AS "
                "e, sum(h.read_ios) AS hr, sum(h.write_ios) AS hw, "
                "sum(h.read_bytes) AS hb, sum(h.write_errors) AS he "
                "FROM cluster_interval AS c LEFT JOIN host_interval AS h "
                "ON h.phase = c.phase AND h.drain = c.drain AND "
                "h.interval <= c.interval AND "
                "h.interval > c.interval - c.spans WHERE c.drain = 0 "
                "GROUP BY c.phase, c.interval) WHERE r IS NOT "
                "coalesce(hr, 0) OR w IS NOT coalesce(hw, 0) OR b IS NOT "
                "coalesce(hb, 0) OR e IS NOT coalesce(he, 0)"),
        0);
}

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

int main(void)
{
    Suite *suite = suite_create("results");
    TCase *tests = tcase_create("results");

    tcase_add_test(tests, a_campaign_from_submission_to_verdict);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
