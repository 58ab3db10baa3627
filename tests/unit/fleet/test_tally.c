/* Limits that end a phase, from samples as they come. */
#include "controller/fleet/tally.h"

#include "tests/support/suite.h"

#include <string.h>

static struct plan plan;
static struct plan_run run;
static struct plan_cell cells[2];
static struct plan_workload workloads[2];
static struct tally tally;
static struct tally_mark mark;
static char reason[TEXT_SIZE];

static void setup(void)
{
    memset(&plan, 0, sizeof(plan));
    memset(&run, 0, sizeof(run));
    memset(&mark, 0, sizeof(mark));
    cells[1].workload = 1;
    run.cells = cells;
    run.cell_count = 2;
    run.workloads = workloads;
    run.workload_count = 2;
    plan.runs = &run;
    plan.run_count = 1;
    tally_begin(&tally, 0);
}

static void add(uint64_t interval, uint32_t part, enum sample_kind kind,
                uint64_t ios, uint64_t errors)
{
    struct sample_cell of[2] = {
        {.cell = 0,
         .op = SAMPLE_READ,
         .ios = ios,
         .bytes = ios * 1000,
         .errors = errors},
        {.cell = 1, .op = SAMPLE_WRITE, .ios = 3 * ios, .bytes = ios * 3000},
    };
    struct sample sample = {
        .interval = interval,
        .part = part,
        .kind = kind,
        .end_ns = (int64_t)((interval + 1) * NS_PER_S),
        .cells = of,
        .cell_count = 2,
    };

    tally_add(&tally, &mark, &plan, 0, &sample);
}

static bool is_over(bool *ret_failed)
{
    return tally_is_over(&tally, &plan, ret_failed, reason, sizeof(reason));
}

START_TEST(maxdata_counts_measured_bytes_once)
{
    bool failed;

    run.max_bytes = 8000;
    add(0, 0, SAMPLE_ROW_WARMUP, 100, 0);
    ck_assert(!is_over(&failed));
    add(1, 0, SAMPLE_ROW_MEASURED, 1, 0);
    add(1, 0, SAMPLE_ROW_MEASURED, 1, 0); /* sent again */
    ck_assert(!is_over(&failed));
    add(1, 1, SAMPLE_ROW_MEASURED, 1, 0); /* its other part */
    ck_assert(is_over(&failed));
    ck_assert(!failed);
    ck_assert_ptr_nonnull(strstr(reason, "maxdata="));
}
END_TEST

START_TEST(reads_and_writes_have_limits_of_their_own)
{
    bool failed;

    run.max_bytes_read = 2000;
    add(0, 0, SAMPLE_ROW_MEASURED, 1, 0);
    ck_assert(!is_over(&failed));
    add(1, 0, SAMPLE_ROW_MEASURED, 1, 0);
    ck_assert(is_over(&failed));
    ck_assert_ptr_nonnull(strstr(reason, "maxdataread="));
    run.max_bytes_read = 0;
    run.max_bytes_written = 6000;
    ck_assert(is_over(&failed));
    ck_assert_ptr_nonnull(strstr(reason, "maxdatawritten="));
    run.max_bytes_written = 6001;
    ck_assert(!is_over(&failed));
}
END_TEST

START_TEST(data_errors_fail_the_campaign)
{
    bool failed;

    plan.max_errors = 5;
    add(0, 0, SAMPLE_ROW_WARMUP, 1, 4);
    ck_assert(!is_over(&failed));
    add(1, 0, SAMPLE_ROW_MEASURED, 1, 1);
    ck_assert(is_over(&failed));
    ck_assert(failed);
}
END_TEST

START_TEST(data_errors_within_a_time)
{
    bool failed;

    plan.max_errors = 5;
    plan.max_errors_span_ns = 2 * NS_PER_S;
    for (uint64_t i = 0; i < 20; i += 2)
        add(i, 0, SAMPLE_ROW_MEASURED, 1, 4);
    ck_assert(!is_over(&failed));
    add(20, 0, SAMPLE_ROW_MEASURED, 1, 4);
    add(21, 0, SAMPLE_ROW_MEASURED, 1, 4);
    add(22, 0, SAMPLE_ROW_MEASURED, 1, 1);
    ck_assert(is_over(&failed));
}
END_TEST

START_TEST(shares_are_of_the_measured_requests)
{
    double shares[TALLY_WORKLOADS_MAX];

    ck_assert(!tally_shares(&tally, &run, shares));
    add(0, 0, SAMPLE_ROW_WARMUP, 50, 0);
    ck_assert(!tally_shares(&tally, &run, shares));
    add(1, 0, SAMPLE_ROW_MEASURED, 10, 0);
    ck_assert(tally_shares(&tally, &run, shares));
    ck_assert(shares[0] == 25 && shares[1] == 75);
}
END_TEST

START_TEST(skew_is_off_by_what_the_worst_workload_lacks)
{
    const double asked[] = {30, 70}, wide[] = {25, 75};

    workloads[0].name = "a";
    workloads[1].name = "b";
    ck_assert(!tally_skew_is_off(&tally, &run, asked, 1, reason,
                                 sizeof(reason))); /* nothing was done */
    add(1, 0, SAMPLE_ROW_MEASURED, 10, 0);         /* 25 : 75 */
    ck_assert(
        tally_skew_is_off(&tally, &run, asked, 4.9, reason, sizeof(reason)));
    ck_assert_str_eq(
        reason, "wd=a had 25.00 % of the requests, 30.00 % were asked for: "
                "more than abort_failed_skew=4.9 off");
    ck_assert(
        !tally_skew_is_off(&tally, &run, asked, 5, reason, sizeof(reason)));
    ck_assert(
        !tally_skew_is_off(&tally, &run, wide, 0.001, reason, sizeof(reason)));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tally");
    TCase *cases = tcase_create("tally");

    tcase_add_checked_fixture(cases, setup, NULL);
    tcase_add_test(cases, maxdata_counts_measured_bytes_once);
    tcase_add_test(cases, reads_and_writes_have_limits_of_their_own);
    tcase_add_test(cases, data_errors_fail_the_campaign);
    tcase_add_test(cases, data_errors_within_a_time);
    tcase_add_test(cases, shares_are_of_the_measured_requests);
    tcase_add_test(cases, skew_is_off_by_what_the_worst_workload_lacks);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
