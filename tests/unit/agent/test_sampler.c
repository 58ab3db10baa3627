/* Rows out of banks: late samplers, late workers, and the hand-over itself. */
#include "tests/unit/agent/rig.h"

#include "agent/bank.h"
#include "tests/support/suite.h"

#include <pthread.h>

static struct rig rig;

static void hold_until_7s(struct rig *r, uint64_t since_ns)
{
    r->hold = since_ns < 7500 * NS_PER_MS;
}

/* Three banks fill up, the fourth spans what follows, and nothing is lost. */
START_TEST(a_late_sampler_makes_a_row_span_and_loses_nothing)
{
    static const uint64_t begins[] = {0, 1, 2, 3, 8, 9};
    static const uint32_t spans[] = {1, 1, 1, 5, 1, 1};

    rig_init(&rig, 1, 1, 1);
    rig.job->targets[0].threads = 4;
    rig.tick = hold_until_7s;
    rig_run(&rig);
    ck_assert_uint_eq(rig_intervals(&rig), 6);
    for (uint32_t i = 0; i < 6; i++) {
        ck_assert_uint_eq(rig.rows[i].interval, begins[i]);
        ck_assert_uint_eq(rig.rows[i].spans, spans[i]);
        ck_assert_uint_eq(rig.rows[i].begin_ns, begins[i] * NS_PER_S);
        ck_assert_uint_eq(rig.rows[i].end_ns,
                          (begins[i] + spans[i]) * NS_PER_S);
        ck_assert_uint_eq(rig.rows[i].ios, i == 0 ? 39996 : 40000 * spans[i]);
        ck_assert_uint_eq(rig.rows[i].cell[0][JOB_READ].in_flight, 4);
    }
    ck_assert_uint_eq(rig_ios(&rig), rig.requests);
    rig_done(&rig);
}
END_TEST

static void hold_until_9s(struct rig *r, uint64_t since_ns)
{
    r->hold = since_ns < 9500 * NS_PER_MS;
}

/* The edge between warm-up and measuring is never inside a row. */
START_TEST(no_row_spans_the_end_of_the_warm_up)
{
    rig_init(&rig, 1, 1, 1);
    rig.job->warmup_intervals = 6;
    rig.tick = hold_until_9s;
    rig_run(&rig);
    for (uint32_t i = 0; i < rig_intervals(&rig); i++) {
        const struct rig_row *row = &rig.rows[i];

        ck_assert(row->interval + row->spans <= 6 || row->interval >= 6);
        ck_assert_int_eq(row->kind,
                         row->interval < 6 ? ROW_WARMUP : ROW_MEASURED);
    }
    ck_assert_uint_eq(rig.rows[3].interval, 3);
    ck_assert_uint_eq(rig.rows[3].spans, 3);
    ck_assert_uint_eq(rig.rows[4].interval, 6);
    ck_assert_uint_eq(rig_ios(&rig), rig.requests);
    rig_done(&rig);
}
END_TEST

/* Worker 1 stands still for some seconds while worker 0 goes on. */
static bool one_stands_still;

static bool turn(struct rig *r)
{
    uint64_t since_ns = r->clock.now_ns - RIG_START;
    bool any = false;

    for (uint32_t i = 0; i < r->worker_count; i++) {
        one_stands_still = since_ns > 3 * NS_PER_S && since_ns < 8 * NS_PER_S;
        if ((i == 0 || !one_stands_still) &&
            r->workers[i]->state != WORKER_ENDED)
            any |= worker_turn(r->workers[i]);
    }
    rig_take(r);
    return any;
}

/* Rows do not wait for ever, say who was missing, and what the late one did
 * comes in a later row. */
START_TEST(a_blocked_worker_does_not_hold_back_the_rows)
{
    uint32_t late = 0;
    uint64_t next = 0;

    rig_init(&rig, 2, 1, 2);
    rig.worker_count = 2;
    rig_open(&rig);
    while (turn(&rig))
        if (one_stands_still && rig.clock.now_ns > RIG_START + 7 * NS_PER_S)
            ck_assert_uint_ge(rig.row_count, 4);
    rig_run(&rig);
    for (uint32_t i = 0; i < rig_intervals(&rig); i++) {
        late += rig.rows[i].late_workers;
        ck_assert_uint_eq(rig.rows[i].interval, next);
        next += rig.rows[i].spans;
    }
    ck_assert_uint_eq(next, 10);
    ck_assert_uint_ge(late, 2);
    ck_assert_uint_eq(rig_ios(&rig), rig.requests);
    rig_done(&rig);
}
END_TEST

/* Worker 1 is held up beyond the end of the phase: its rows have gone without
 * it, and there is no interval more for what it did. */
START_TEST(a_worker_that_comes_after_the_last_interval_is_in_the_drain_row)
{
    uint64_t next = 0;

    rig_init(&rig, 2, 1, 2);
    rig.worker_count = 2;
    rig_open(&rig);
    while (rig.clock.now_ns < RIG_START + 20 * NS_PER_S) {
        uint64_t since_ns = rig.clock.now_ns - RIG_START;

        if (rig.workers[0]->state != WORKER_ENDED)
            (void)worker_turn(rig.workers[0]);
        else
            rig.clock.now_ns += NS_PER_MS;
        if (since_ns < 3 * NS_PER_S)
            (void)worker_turn(rig.workers[1]);
        rig_take(&rig);
    }
    rig_run(&rig);
    for (uint32_t i = 0; i < rig_intervals(&rig); i++) {
        ck_assert_uint_eq(rig.rows[i].interval, next);
        next += rig.rows[i].spans;
    }
    ck_assert_uint_eq(next, 10);
    ck_assert_int_eq(rig.rows[rig.row_count - 1].kind, ROW_DRAIN);
    ck_assert_uint_eq(rig.rows[rig.row_count - 1].interval, 10);
    ck_assert_uint_eq(rig_ios(&rig), rig.requests);
    rig_done(&rig);
}
END_TEST

START_TEST(workers_with_different_spans_make_one_row)
{
    rig_init(&rig, 4, 2, 8);
    rig.worker_count = 4;
    rig.job->workloads[0].read_percent = 50;
    rig.tick = hold_until_7s;
    rig_run(&rig);
    ck_assert_uint_eq(rig_ios(&rig), rig.requests);
    for (uint32_t i = 0, next = 0; i < rig_intervals(&rig); i++) {
        ck_assert_uint_eq(rig.rows[i].interval, next);
        next += rig.rows[i].spans;
    }
    rig_done(&rig);
}
END_TEST

START_TEST(a_lost_worker_is_left_out)
{
    rig_init(&rig, 2, 1, 2);
    rig.worker_count = 2;
    rig_open(&rig);
    while (rig.row_count < 3)
        (void)rig_turn(&rig);
    sampler_lose(&rig.sampler, 1);
    while (rig.workers[0]->state != WORKER_ENDED) {
        (void)worker_turn(rig.workers[0]);
        rig_take(&rig);
    }
    rig_take(&rig);
    ck_assert_uint_eq(rig_intervals(&rig), 10);
    ck_assert_uint_eq(rig.rows[9].cell[1][JOB_READ].ios, 0);
    ck_assert_uint_eq(rig.rows[9].cell[0][JOB_READ].ios, 10000);
    ck_assert_uint_eq(rig.rows[10].late_workers, 1);
    rig_done(&rig);
}
END_TEST

enum { CLOSINGS = 2000, EACH = 100 };

/* Closes whenever it may, as a worker does; every value is recorded once. */
static void *close_banks(void *argument)
{
    struct bank_ring *ring = argument;
    struct bank *bank = bank_open(ring);

    for (uint64_t i = 0; i < CLOSINGS; i++) {
        for (uint64_t j = 0; j < EACH; j++)
            histogram_record(bank->tallies[0].service, i * EACH + j);
        bank->tallies[0].bytes += EACH;
        bank->spans++;
        if (i + 1 < CLOSINGS && !bank_may_close(ring, false))
            continue;
        bank_close(ring);
        if (i + 1 < CLOSINGS) {
            bank = bank_open(ring);
            bank->interval = i + 1;
        }
    }
    return NULL;
}

/* For TSan above all: two threads, no lock, nothing lost or twice. */
START_TEST(banks_pass_between_threads)
{
    static struct histogram all;
    enum bank_need needs[1] = {BANK_SERVICE};
    struct bank_ring *ring = aligned_alloc(64, sizeof(*ring));
    uint64_t next = 0, bytes = 0;
    pthread_t thread;

    ck_assert_ptr_nonnull(ring);
    histogram_init(&all);
    ck_assert_int_eq(bank_ring_init(ring, needs, 1), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, close_banks, ring), 0);
    while (next < CLOSINGS) {
        struct bank *bank = bank_closed(ring);

        if (bank == NULL)
            continue;
        ck_assert_uint_eq(bank->interval, next);
        next += bank->spans;
        bytes += bank->tallies[0].bytes;
        histogram_merge(&all, bank->tallies[0].service);
        bank_release(ring);
    }
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_uint_eq(bytes, CLOSINGS * EACH);
    ck_assert_uint_eq(all.count, CLOSINGS * EACH);
    ck_assert_uint_eq((uint64_t)all.sum,
                      (uint64_t)CLOSINGS * EACH * (CLOSINGS * EACH - 1) / 2);
    bank_ring_done(ring);
    free(ring);
}
END_TEST

START_TEST(errors_beyond_four_kinds_are_counted_without_their_kind)
{
    struct tally tally = {0};

    for (int err = 0; err < 6; err++)
        for (int i = 0; i <= err; i++)
            tally_error(&tally, err);
    ck_assert_uint_eq(tally.errors, 21);
    for (uint32_t i = 0; i < ROW_ERRORS; i++) {
        ck_assert_int_eq(tally.by_errno[i].err, (int)i);
        ck_assert_uint_eq(tally.by_errno[i].count, i + 1);
    }
}
END_TEST

START_TEST(host_times_come_from_proc_stat)
{
    struct host_cpu cpu;

    ck_assert_int_eq(host_cpu_parse("cpu  100 20 30 4000 50 6 7 8 0 0\n"
                                    "cpu0 50 10 15 2000 25 3 3 4 0 0\n"
                                    "cpu1 50 10 15 2000 25 3 4 4 0 0\n"
                                    "intr 1 2 3\n",
                                    100, &cpu),
                     0);
    ck_assert_uint_eq(cpu.busy_ns, 163 * 10 * NS_PER_MS);
    ck_assert_uint_eq(cpu.system_ns, 43 * 10 * NS_PER_MS);
    ck_assert_uint_eq(cpu.cpus, 2);
    ck_assert_int_lt(host_cpu_parse("cpu  100 20", 100, &cpu), 0);
    ck_assert_int_lt(host_cpu_parse("", 100, &cpu), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sampler");
    TCase *cases = tcase_create("rows");

    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, a_late_sampler_makes_a_row_span_and_loses_nothing);
    tcase_add_test(cases, no_row_spans_the_end_of_the_warm_up);
    tcase_add_test(cases, a_blocked_worker_does_not_hold_back_the_rows);
    tcase_add_test(
        cases, a_worker_that_comes_after_the_last_interval_is_in_the_drain_row);
    tcase_add_test(cases, workers_with_different_spans_make_one_row);
    tcase_add_test(cases, a_lost_worker_is_left_out);
    tcase_add_test(cases, banks_pass_between_threads);
    tcase_add_test(cases,
                   errors_beyond_four_kinds_are_counted_without_their_kind);
    tcase_add_test(cases, host_times_come_from_proc_stat);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
