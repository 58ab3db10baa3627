/* Open loops: arrivals keep their times, whatever the drive does. */
#include "tests/unit/agent/rig.h"

#include "tests/support/suite.h"

#include <math.h>

static struct rig rig;

static void open_loop(double rate, uint32_t threads, enum job_arrival arrival)
{
    rig.job->arrival = arrival;
    rig.job->targets[0].threads = threads;
    rig.job->cells[0].iorate = rate;
}

static const double rates[] = {1, 50, 1000, 20000, 150000};

/* Issued is what the schedule drew; the schedule is within 4/sqrt(n). */
START_TEST(case_D01_the_rate_is_the_one_asked_for)
{
    double expected, off;

    rig_init(&rig, 1, 1, 1);
    rig.job->measured_intervals = _i == 0 ? 400 : _i == 4 ? 2 : 10;
    open_loop(rates[_i], 64, JOB_EXPONENTIAL);
    rig_run(&rig);
    expected = rates[_i] * (double)rig.job->measured_intervals;
    off = fabs((double)rig_ios(&rig) - expected);
    ck_assert_msg(off <= 4 * sqrt(expected), "%llu for %g",
                  (unsigned long long)rig_ios(&rig), expected);
    ck_assert_uint_eq(rig_ios(&rig), rig.requests);
    ck_assert_uint_eq(rig.response->count, rig.requests);
    rig_done(&rig);
}
END_TEST

/* 100 a second, 90 % reads, two sizes: neither direction is doubled. */
START_TEST(case_D01_each_direction_has_its_rate)
{
    double reads, writes;

    rig_init(&rig, 1, 1, 1);
    rig.job->measured_intervals = 1200;
    open_loop(100, 8, JOB_EXPONENTIAL);
    rig.job->workloads[0].read_percent = 90;
    rig.job->workloads[0].sizes[0] = (struct job_size){8192, 90};
    rig.job->workloads[0].sizes[1] = (struct job_size){16384, 10};
    rig.job->workloads[0].size_count = 2;
    rig_run(&rig);
    reads = (double)rig.total[0][JOB_READ].ios;
    writes = (double)rig.total[0][JOB_WRITE].ios;
    ck_assert_msg(fabs(reads / 108000 - 1) < 0.013, "%g reads", reads);
    ck_assert_msg(fabs(writes / 12000 - 1) < 0.04, "%g writes", writes);
    rig_done(&rig);
}
END_TEST

/* Dispersion of the counts of 120 intervals, on the real path. */
static double dispersion(enum job_arrival arrival)
{
    double sum = 0, squares = 0, n = 0;
    double mean;

    rig_init(&rig, 1, 1, 1);
    rig.job->interval_ns = 100 * NS_PER_MS;
    rig.job->measured_intervals = 2000;
    open_loop(1000, 64, arrival);
    rig_run(&rig);
    for (uint32_t i = 1; i < rig_intervals(&rig); i++, n++) {
        sum += (double)rig.rows[i].ios;
        squares += (double)rig.rows[i].ios * (double)rig.rows[i].ios;
    }
    mean = sum / n;
    rig_done(&rig);
    return (squares / n - mean * mean) / mean;
}

START_TEST(case_D01_completions_disperse_like_arrivals)
{
    double exponential = dispersion(JOB_EXPONENTIAL);
    double uniform = dispersion(JOB_UNIFORM);
    double equal = dispersion(JOB_DETERMINISTIC);

    ck_assert_msg(fabs(exponential - 1) < 0.15, "exponential: %g", exponential);
    ck_assert_msg(fabs(uniform - 1 / 3.0) < 0.05, "uniform: %g", uniform);
    ck_assert_msg(equal < 0.01, "deterministic: %g", equal);
}
END_TEST

static void frozen(struct rig *r, const struct engine_io *io, uint64_t number,
                   uint64_t since_ns, struct engine_null_fate *fate)
{
    uint64_t done_ns = since_ns + r->latency_ns;

    (void)io;
    (void)number;
    if (done_ns >= 8 * NS_PER_S && done_ns < 10 * NS_PER_S)
        fate->latency_ns = 10 * NS_PER_S - since_ns;
}

/* 1000 a second, frozen for 2 s of 20: 10 % of all waited up to 2 s, which the
 * response shows and the service hides but for those in flight. */
START_TEST(case_D06_a_stall_shows_in_response)
{
    uint64_t p90 = 0, p50 = 0;

    rig_init(&rig, 1, 1, 1);
    rig.job->measured_intervals = 20;
    open_loop(1000, 32, JOB_DETERMINISTIC);
    rig.fate = frozen;
    rig_run(&rig);
    ck_assert_uint_eq(rig_ios(&rig), 20000);
    ck_assert(histogram_quantile(rig.response, 0.5, &p50));
    ck_assert_uint_le(p50, 101 * NS_PER_US);
    /* Of 20 000, 2000 have responses uniform in 0 .. 2 s. */
    ck_assert(histogram_quantile(rig.response, 0.95, &p90));
    ck_assert_uint_ge(p90, 990 * NS_PER_MS);
    ck_assert_uint_le(p90, 1020 * NS_PER_MS);
    ck_assert_uint_ge(rig.response->max, 1990 * NS_PER_MS);
    /* It is the drive's doing: nothing was issued late. */
    ck_assert_uint_eq(rig.total[0][JOB_READ].issued, 20000);
    ck_assert_uint_eq(rig.total[0][JOB_READ].late_max_ns, 0);
    ck_assert(histogram_quantile(rig.service, 0.998, &p90));
    ck_assert_uint_le(p90, 101 * NS_PER_US);
    /* Rows tell the backlog while it lasts. */
    ck_assert_uint_eq(rig.rows[8].ios, 0);
    ck_assert_uint_eq(rig.rows[8].cell[0][JOB_READ].in_flight, 32);
    ck_assert_uint_ge(rig.rows[8].cell[0][JOB_READ].unissued, 968);
    ck_assert_uint_le(rig.rows[8].cell[0][JOB_READ].unissued, 969);
    ck_assert_uint_ge(rig.rows[8].cell[0][JOB_READ].unissued_oldest_ns,
                      966 * NS_PER_MS);
    ck_assert_uint_eq(rig.rows[9].cell[0][JOB_READ].unissued,
                      rig.rows[8].cell[0][JOB_READ].unissued + 1000);
    ck_assert_uint_eq(rig.rows[10].cell[0][JOB_READ].unissued, 0);
    ck_assert_uint_ge(rig.rows[10].ios, 3000);
    ck_assert_uint_le(rig.rows[10].ios, 3001);
    rig_done(&rig);
}
END_TEST

/* The arrivals of the stall are those of the run without it. */
START_TEST(a_stall_does_not_change_the_schedule)
{
    uint64_t ios[2];

    for (int i = 0; i < 2; i++) {
        rig_init(&rig, 1, 1, 1);
        rig.job->measured_intervals = 20;
        open_loop(1000, 32, JOB_EXPONENTIAL);
        rig.fate = i == 0 ? NULL : frozen;
        rig_run(&rig);
        ios[i] = rig_ios(&rig);
        rig_done(&rig);
    }
    ck_assert_uint_eq(ios[0], ios[1]);
}
END_TEST

/* 1000 asked, 100 possible: what was due and not issued at the end is told. */
START_TEST(saturation_is_told_as_unissued)
{
    const struct row_cell *last;

    rig_init(&rig, 1, 1, 1);
    open_loop(1000, 1, JOB_DETERMINISTIC);
    rig.latency_ns = 10 * NS_PER_MS;
    rig_run(&rig);
    last = &rig.rows[9].cell[0][JOB_READ];
    ck_assert_uint_ge(last->unissued, 8998);
    ck_assert_uint_le(last->unissued, 9001);
    ck_assert_uint_ge(last->unissued_oldest_ns, 8990 * NS_PER_MS);
    ck_assert_uint_eq(rig_ios(&rig) + last->unissued, 10000);
    ck_assert_uint_ge(rig.response->max, 8900 * NS_PER_MS);
    ck_assert_uint_eq(rig.service->max, 10 * NS_PER_MS);
    rig_done(&rig);
}
END_TEST

/* A billion a second are asked for and nearly all are backlog: edges still cost
 * next to nothing, and the number is right. */
START_TEST(a_huge_backlog_is_counted_without_counting)
{
    double expected;

    rig_init(&rig, 1, 1, 1);
    open_loop(1e9, 4, JOB_EXPONENTIAL);
    rig.latency_ns = 10 * NS_PER_MS;
    rig_run(&rig);
    for (uint32_t i = 0; i < 10; i++) {
        const struct row_cell *cell = &rig.rows[i].cell[0][JOB_READ];

        expected = 1e9 * (i + 1) - 400.0 * (i + 1);
        ck_assert_msg(fabs((double)cell->unissued / expected - 1) < 0.001,
                      "%llu instead of %g", (unsigned long long)cell->unissued,
                      expected);
    }
    rig_done(&rig);
}
END_TEST

static void slow_sd1(struct rig *r, const struct engine_io *io, uint64_t number,
                     uint64_t since_ns, struct engine_null_fate *fate)
{
    (void)r;
    (void)number;
    (void)since_ns;
    if (io->file == 0)
        fate->latency_ns = 10 * NS_PER_MS;
}

/* Our choice: drives are independent; a full queue holds back nobody else. */
START_TEST(case_D08_a_full_queue_holds_back_nobody_else)
{
    rig_init(&rig, 2, 1, 2);
    open_loop(1000, 1, JOB_DETERMINISTIC);
    rig.job->cells[1].iorate = 50;
    rig.fate = slow_sd1;
    rig_run(&rig);
    ck_assert_uint_eq(rig.total[0][JOB_READ].ios, 1000);
    ck_assert_uint_eq(rig.total[1][JOB_READ].ios, 500);
    ck_assert_uint_ge(rig.rows[9].cell[0][JOB_READ].unissued, 8990);
    ck_assert_uint_eq(rig.rows[9].cell[1][JOB_READ].unissued, 0);
    rig_done(&rig);
}
END_TEST

/* On one saturated drive the workloads keep the proportion of their rates:
 * first due, first served. */
START_TEST(workloads_of_one_drive_keep_their_proportion)
{
    double share;

    rig_init(&rig, 1, 3, 3);
    open_loop(6000, 4, JOB_EXPONENTIAL);
    rig.job->cells[1].iorate = 3000;
    rig.job->cells[2].iorate = 1000;
    rig.latency_ns = NS_PER_MS;
    rig_run(&rig);
    share = (double)rig.total[0][JOB_READ].ios / (double)rig_ios(&rig);
    ck_assert_msg(fabs(share - 0.6) < 0.02, "%g", share);
    share = (double)rig.total[2][JOB_READ].ios / (double)rig_ios(&rig);
    ck_assert_msg(fabs(share - 0.1) < 0.02, "%g", share);
    rig_done(&rig);
}
END_TEST

START_TEST(below_saturation_depth_does_not_change_the_median)
{
    for (uint32_t threads = 4; threads <= 256; threads *= 8) {
        uint64_t p50 = 0;

        rig_init(&rig, 1, 1, 1);
        open_loop(10000, threads, JOB_EXPONENTIAL);
        rig_run(&rig);
        ck_assert(histogram_quantile(rig.service, 0.5, &p50));
        ck_assert_uint_le(p50, 101 * NS_PER_US);
        rig_done(&rig);
    }
}
END_TEST

/* Counts in tenths of an interval around its edges are like all others. */
static uint64_t tenths[1000];

static void count_tenths(struct rig *r, const struct engine_io *io,
                         uint64_t number, uint64_t since_ns,
                         struct engine_null_fate *fate)
{
    (void)r;
    (void)io;
    (void)number;
    (void)fate;
    tenths[since_ns / (10 * NS_PER_MS) % 1000]++;
}

START_TEST(no_burst_at_the_edges)
{
    memset(tenths, 0, sizeof(tenths));
    rig_init(&rig, 1, 1, 1);
    rig.job->interval_ns = 100 * NS_PER_MS;
    rig.job->measured_intervals = 100;
    open_loop(10000, 64, JOB_DETERMINISTIC);
    rig.fate = count_tenths;
    rig_run(&rig);
    for (uint32_t i = 0; i < 1000; i++)
        ck_assert_msg(tenths[i] >= 99 && tenths[i] <= 101, "%llu in tenth %u",
                      (unsigned long long)tenths[i], i);
    rig_done(&rig);
}
END_TEST

/* An open and a closed workload on one drive: the rate is kept, the rest of the
 * slots is kept busy, and only the open one has a response. */
START_TEST(open_and_closed_share_a_drive)
{
    rig_init(&rig, 1, 2, 2);
    open_loop(1000, 8, JOB_DETERMINISTIC);
    rig.latency_ns = NS_PER_MS;
    rig_run(&rig);
    ck_assert_uint_ge(rig.total[0][JOB_READ].ios, 9990);
    ck_assert_uint_le(rig.total[0][JOB_READ].ios, 10001);
    ck_assert_uint_ge(rig.total[1][JOB_READ].ios, 69000);
    ck_assert_uint_eq(rig.response->count, rig.total[0][JOB_READ].ios);
    rig_done(&rig);
}
END_TEST

START_TEST(a_sequential_open_cell_ends_at_the_end)
{
    rig_init(&rig, 1, 2, 2);
    open_loop(1000, 8, JOB_DETERMINISTIC);
    rig.job->cells[1].iorate = 500;
    rig.job->workloads[0].seek_percent = 0;
    rig.job->workloads[0].end_at_eof = true;
    rig.job->cells[0].high = 300 * 4096;
    rig_run(&rig);
    ck_assert_uint_eq(rig.total[0][JOB_READ].ios, 300);
    ck_assert_uint_eq(rig.total[1][JOB_READ].ios, 5000);
    for (uint32_t i = 0; i < 10; i++)
        ck_assert_uint_eq(rig.rows[i].cell[0][JOB_READ].unissued, 0);
    rig_done(&rig);
}
END_TEST

/* A worker that was kept from running issues what it owes, and it shows. */
static void oversleep(struct rig *r, uint64_t since_ns)
{
    if (since_ns > 5 * NS_PER_S && since_ns < 5500 * NS_PER_MS)
        clock_manual_advance(&r->clock, 300 * NS_PER_MS);
}

START_TEST(our_own_lateness_is_in_the_response_too)
{
    rig_init(&rig, 1, 1, 1);
    open_loop(1000, 1000, JOB_DETERMINISTIC);
    rig.tick = oversleep;
    rig_run(&rig);
    ck_assert_uint_eq(rig_ios(&rig), 10000);
    ck_assert_uint_ge(rig.response->max, 290 * NS_PER_MS);
    ck_assert_uint_eq(rig.service->max, 100 * NS_PER_US);
    rig_done(&rig);
}
END_TEST

/* priority=: of what is due, rank 1 goes first; the rest takes what is left. */
START_TEST(what_is_due_goes_by_priority)
{
    rig_init(&rig, 1, 2, 2);
    rig.latency_ns = NS_PER_MS;
    open_loop(800, 1, JOB_EXPONENTIAL);
    rig.job->cells[0].priority = 2;
    rig.job->cells[1].iorate = 800;
    rig.job->cells[1].priority = 1;
    rig_run(&rig);
    /* The drive does 1000 a second: 800 and what is left of them. */
    ck_assert_msg(fabs((double)rig.total[1][JOB_READ].ios - 8000) < 400, "%llu",
                  (unsigned long long)rig.total[1][JOB_READ].ios);
    ck_assert_msg(fabs((double)rig_ios(&rig) - 10000) < 20, "%llu",
                  (unsigned long long)rig_ios(&rig));
    rig_done(&rig);
}
END_TEST

/* At full speed the highest rank leaves nothing to the others. */
START_TEST(at_full_speed_the_highest_rank_takes_all)
{
    rig_init(&rig, 1, 2, 2);
    rig.latency_ns = NS_PER_MS;
    rig.job->targets[0].threads = 4;
    rig.job->cells[0].priority = 2;
    rig.job->cells[1].priority = 1;
    rig_run(&rig);
    ck_assert_uint_eq(rig.total[0][JOB_READ].ios, 0);
    ck_assert_uint_gt(rig.total[1][JOB_READ].ios, 39000);
    rig_done(&rig);
}
END_TEST

/* iorate= of wd=: one has its rate, the other all that is left. */
START_TEST(a_rate_of_its_own_beside_full_speed)
{
    rig_init(&rig, 1, 2, 2);
    rig.latency_ns = NS_PER_MS;
    open_loop(300, 2, JOB_DETERMINISTIC);
    rig_run(&rig);
    ck_assert_uint_ge(rig.total[0][JOB_READ].ios, 2999);
    ck_assert_uint_le(rig.total[0][JOB_READ].ios, 3001);
    ck_assert_msg(fabs((double)rig_ios(&rig) - 20000) < 40, "%llu",
                  (unsigned long long)rig_ios(&rig));
    rig_done(&rig);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("worker_open");
    TCase *cases = tcase_create("open loop");

    tcase_set_timeout(cases, 60);
    tcase_add_loop_test(cases, case_D01_the_rate_is_the_one_asked_for, 0, 5);
    tcase_add_test(cases, case_D01_each_direction_has_its_rate);
    tcase_add_test(cases, case_D01_completions_disperse_like_arrivals);
    tcase_add_test(cases, case_D06_a_stall_shows_in_response);
    tcase_add_test(cases, a_stall_does_not_change_the_schedule);
    tcase_add_test(cases, saturation_is_told_as_unissued);
    tcase_add_test(cases, a_huge_backlog_is_counted_without_counting);
    tcase_add_test(cases, case_D08_a_full_queue_holds_back_nobody_else);
    tcase_add_test(cases, workloads_of_one_drive_keep_their_proportion);
    tcase_add_test(cases, below_saturation_depth_does_not_change_the_median);
    tcase_add_test(cases, no_burst_at_the_edges);
    tcase_add_test(cases, open_and_closed_share_a_drive);
    tcase_add_test(cases, a_sequential_open_cell_ends_at_the_end);
    tcase_add_test(cases, our_own_lateness_is_in_the_response_too);
    tcase_add_test(cases, what_is_due_goes_by_priority);
    tcase_add_test(cases, at_full_speed_the_highest_rank_takes_all);
    tcase_add_test(cases, a_rate_of_its_own_beside_full_speed);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
