/*
 * How late arrivals are issued, on an engine whose timers are late as those of
 * a virtual machine are; and what an open loop promises below saturation.
 */
#include "tests/unit/agent/rig.h"

#include "tests/support/suite.h"

#include <math.h>

#define TIMER_LATE_NS (60 * NS_PER_US)
#define CALL_NS       NS_PER_US

static struct rig rig;

/* Around the null engine: a wait that times out ends late, and a call takes
 * its time. */
static struct late_engine {
    struct engine engine;
    struct engine *inner;
    uint64_t calls;
    uint64_t held_every; /* calls, of which one takes 5 ms more; 0: none */
} late;

static int late_submit(struct engine *engine, const uint32_t *slots,
                       uint32_t count, uint64_t now_ns, uint64_t wait_ns)
{
    uint64_t until_ns = rig.clock.now_ns + wait_ns;
    int r = late.inner->ops->submit(late.inner, slots, count, now_ns, wait_ns);

    (void)engine;
    if (wait_ns == 0)
        clock_manual_advance(&rig.clock, CALL_NS);
    else if (rig.clock.now_ns >= until_ns)
        clock_manual_advance(&rig.clock, TIMER_LATE_NS);
    if (late.held_every > 0 && ++late.calls % late.held_every == 0)
        clock_manual_advance(&rig.clock, 5 * NS_PER_MS);
    return r;
}

static uint32_t late_reap(struct engine *engine, uint64_t now_ns,
                          const struct engine_done **ret_done,
                          uint64_t *ret_at_ns)
{
    (void)engine;
    return late.inner->ops->reap(late.inner, now_ns, ret_done, ret_at_ns);
}

static bool late_close(struct engine *engine, uint32_t pending)
{
    (void)engine;
    return late.inner->ops->close(late.inner, pending);
}

static const struct engine_ops late_ops = {late_submit, late_reap, late_close};

static void open_late(double rate, uint32_t spin_percent)
{
    rig_init(&rig, 1, 1, 1);
    rig.job->arrival = JOB_DETERMINISTIC;
    rig.job->targets[0].threads = 32;
    rig.job->cells[0].iorate = rate;
    rig.job->spin_percent = spin_percent;
    rig.latency_ns = 20 * NS_PER_US;
    rig_open(&rig);
    late.inner = rig.workers[0]->engine;
    late.engine = *late.inner;
    late.engine.ops = &late_ops;
    late.calls = late.held_every = 0;
    rig.workers[0]->engine = &late.engine;
}

static double mean_late_us(void)
{
    const struct row_cell *cell = &rig.total[0][JOB_READ];

    return (double)cell->late_ns / (double)cell->issued / 1e3;
}

/* Asleep until each arrival: as late as the timer, and the response says so to
 * the nanosecond. */
START_TEST(a_late_timer_is_lateness)
{
    const struct row_cell *cell = &rig.total[0][JOB_READ];

    open_late(1000, 0);
    rig_run(&rig);
    ck_assert_uint_ge(cell->issued, 9999);
    ck_assert_uint_eq(cell->issued, rig.requests);
    ck_assert_uint_eq(cell->late_max_ns, TIMER_LATE_NS);
    ck_assert_msg(fabs(mean_late_us() - 60) < 0.5, "%g us", mean_late_us());
    ck_assert_uint_eq((uint64_t)(rig.response->sum - rig.service->sum),
                      cell->late_ns);
    ck_assert_uint_eq(rig.workers[0]->spun_ns, 0);
    rig_done(&rig);
}
END_TEST

/* It wakes 100 us before, 60 of them too late, and polls for the rest. */
START_TEST(spinning_meets_the_arrival)
{
    open_late(1000, 30);
    rig_run(&rig);
    ck_assert_uint_ge(rig.total[0][JOB_READ].issued, 9999);
    ck_assert_msg(mean_late_us() < 2, "%g us", mean_late_us());
    /* 40 us of 1000. */
    ck_assert_uint_le(rig.workers[0]->spun_ns, 450 * NS_PER_MS);
    ck_assert_uint_ge(rig.workers[0]->spun_ns, 350 * NS_PER_MS);
    rig_done(&rig);
}
END_TEST

static const uint32_t shares[] = {1, 5, 10, 30};

/* 40 us for each of 5000 a second would be 20 %.  Never more than the share
 * that was granted, and the more the better. */
START_TEST(spinning_keeps_to_its_share)
{
    double before_us = TIMER_LATE_NS / 1e3 + 1;

    for (size_t i = 0; i < ARRAY_LENGTH(shares); i++) {
        open_late(5000, shares[i]);
        rig_run(&rig);
        ck_assert_uint_le(rig.workers[0]->spun_ns,
                          shares[i] * 10 * NS_PER_S / 100 + NS_PER_MS);
        ck_assert_msg(mean_late_us() < before_us,
                      "%u %%: %g us, then %g us; it spun for %llu ns",
                      shares[i], before_us, mean_late_us(),
                      (unsigned long long)rig.workers[0]->spun_ns);
        before_us = mean_late_us();
        rig_done(&rig);
    }
    ck_assert_msg(before_us < 2, "%g us", before_us);
}
END_TEST

/* The kernel keeps the worker 5 ms: a hold, and lateness of what was due. */
START_TEST(a_blocked_submission_is_a_hold)
{
    uint64_t count = 0, ns = 0;

    open_late(1000, 0);
    late.held_every = 500;
    rig_run(&rig);
    for (uint32_t i = 0; i < rig.row_count; i++) {
        count += rig.rows[i].holds.count;
        ns += rig.rows[i].holds.ns;
    }
    ck_assert_uint_ge(count, late.calls / 500 - 1);
    ck_assert_uint_le(count, late.calls / 500);
    ck_assert_uint_ge(ns, count * 4 * NS_PER_MS);
    ck_assert_uint_le(ns, count * 6 * NS_PER_MS);
    ck_assert_uint_ge(rig.total[0][JOB_READ].late_max_ns, 4 * NS_PER_MS);
    rig_done(&rig);
}
END_TEST

/* ---- what an open loop promises ---- */

static uint64_t by_op[JOB_OPS];
static uint64_t near_edge;

/* 50 to 150 us; counts what is issued. */
static void spread(struct rig *r, const struct engine_io *io, uint64_t number,
                   uint64_t since_ns, struct engine_null_fate *fate)
{
    (void)r;
    by_op[io->op]++;
    near_edge += since_ns % (100 * NS_PER_MS) < NS_PER_MS;
    fate->latency_ns = (50 + number * 7919 % 101) * NS_PER_US;
}

static void run_spread(double rate, uint32_t threads, enum job_arrival arrival)
{
    rig_init(&rig, 1, 1, 1);
    rig.job->interval_ns = 100 * NS_PER_MS;
    rig.job->measured_intervals = 50;
    rig.job->arrival = arrival;
    rig.job->targets[0].threads = threads;
    rig.job->workloads[0].read_percent = 70;
    rig.job->cells[0].iorate = rate;
    rig.fate = spread;
    by_op[JOB_READ] = by_op[JOB_WRITE] = near_edge = 0;
    rig_run(&rig);
}

/* How many arrivals the schedule has in the five seconds. */
static uint64_t drawn(double rate, enum job_arrival kind)
{
    struct arrival arrival = rig.workers[0]->cells[0].stream.arrival;
    uint64_t count = 0;

    arrival_init(&arrival, kind, rate,
                 rig.job->seed + UINT64_C(0x9e3779b97f4a7c15));
    for (; arrival_due_ns(&arrival) < 5 * NS_PER_S; count++)
        arrival_next(&arrival);
    return count;
}

static const struct {
    double share; /* of what 8 threads can do at 100 us each */
    enum job_arrival arrival;
} loads[] = {
    {0.01, JOB_EXPONENTIAL},  {0.1, JOB_EXPONENTIAL},
    {0.5, JOB_EXPONENTIAL},   {0.9, JOB_EXPONENTIAL},
    {0.01, JOB_UNIFORM},      {0.5, JOB_UNIFORM},
    {0.9, JOB_UNIFORM},       {0.01, JOB_DETERMINISTIC},
    {0.5, JOB_DETERMINISTIC}, {0.9, JOB_DETERMINISTIC},
};

/* From 1 to 90 % of a drive's maximum: issued is what the schedule drew, to
 * 0.1 %, in each direction; and that is the rate asked for. */
START_TEST(issued_is_the_schedule)
{
    double rate = loads[_i].share * 8 * 1e4;
    double asked = rate * 5;
    double ios, schedule;

    run_spread(rate, 8, loads[_i].arrival);
    ios = (double)(by_op[JOB_READ] + by_op[JOB_WRITE]);
    schedule = (double)drawn(rate, loads[_i].arrival);
    ck_assert_msg(fabs(ios - schedule) <= 0.001 * schedule, "%g of %g", ios,
                  schedule);
    ck_assert_uint_eq(rig.total[0][JOB_READ].ios, by_op[JOB_READ]);
    ck_assert_uint_eq(rig.total[0][JOB_WRITE].ios, by_op[JOB_WRITE]);
    ck_assert_msg(fabs((double)by_op[JOB_READ] - 0.7 * ios) <=
                      4 * sqrt(0.21 * ios),
                  "%llu reads of %g", (unsigned long long)by_op[JOB_READ], ios);
    ck_assert_msg(fabs(schedule - asked) <=
                      (loads[_i].arrival == JOB_EXPONENTIAL ? 4 * sqrt(asked)
                       : loads[_i].arrival == JOB_UNIFORM ? 4 * sqrt(asked / 3)
                                                          : 0.001 * asked),
                  "%g instead of %g", schedule, asked);
    rig_done(&rig);
}
END_TEST

/* Below saturation more threads change nothing. */
START_TEST(depth_does_not_change_the_median)
{
    static const uint32_t depths[] = {8, 32, 256, 2048};
    uint64_t first_ns = 0;

    for (size_t i = 0; i < ARRAY_LENGTH(depths); i++) {
        uint64_t median_ns = 0;

        run_spread(10000, depths[i], JOB_EXPONENTIAL);
        ck_assert(histogram_quantile(rig.response, 0.5, &median_ns));
        first_ns = i == 0 ? median_ns : first_ns;
        ck_assert_uint_eq(median_ns, first_ns);
        rig_done(&rig);
    }
    ck_assert_uint_ge(first_ns, 99 * NS_PER_US);
    ck_assert_uint_le(first_ns, 102 * NS_PER_US);
}
END_TEST

/* The first millisecond of an interval has no more than its part. */
START_TEST(no_burst_at_edges)
{
    double expected;

    run_spread(20000, 64, JOB_EXPONENTIAL);
    expected = (double)(by_op[JOB_READ] + by_op[JOB_WRITE]) / 100;
    ck_assert_msg(fabs((double)near_edge - expected) <= 4 * sqrt(expected),
                  "%llu instead of %g", (unsigned long long)near_edge,
                  expected);
    rig_done(&rig);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("worker_late");
    TCase *cases = tcase_create("worker_late");

    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, a_late_timer_is_lateness);
    tcase_add_test(cases, spinning_meets_the_arrival);
    tcase_add_test(cases, spinning_keeps_to_its_share);
    tcase_add_test(cases, a_blocked_submission_is_a_hold);
    tcase_add_loop_test(cases, issued_is_the_schedule, 0, ARRAY_LENGTH(loads));
    tcase_add_test(cases, depth_does_not_change_the_median);
    tcase_add_test(cases, no_burst_at_edges);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
