/* How a phase ends: by its length, by order, by lease and limit, drained or
 * not; and fills, which end by themselves. */
#include "tests/unit/agent/rig.h"

#include "tests/support/suite.h"

#include <errno.h>

static struct rig rig;

static enum crew_end ended_by(void)
{
    int32_t stop = atomic_load(&rig.control.stop);

    return stop == WORKER_RUN ? CREW_COMPLETE : (enum crew_end)stop;
}

START_TEST(stop_after_ends_with_that_interval)
{
    rig_init(&rig, 1, 1, 1);
    rig_open(&rig);
    atomic_store(&rig.control.stop_after, 4);
    rig_run(&rig);
    ck_assert_uint_eq(rig_intervals(&rig), 5);
    ck_assert_uint_eq(rig.rows[4].end_ns, 5 * NS_PER_S);
    ck_assert_uint_eq(rig.rows[5].interval, 5);
    ck_assert_int_eq(ended_by(), CREW_COMPLETE);
    rig_done(&rig);
}
END_TEST

static void abort_at(struct rig *r, uint64_t since_ns)
{
    if (since_ns >= 2300 * NS_PER_MS)
        worker_control_stop(&r->control, CREW_STOPPED);
}

/* The last interval is as long as it was, not as it should have been. */
START_TEST(case_N05_abort_ends_at_once_with_a_true_length)
{
    rig_init(&rig, 1, 1, 1);
    rig.job->targets[0].threads = 4;
    rig.tick = abort_at;
    rig_run(&rig);
    ck_assert_uint_eq(rig_intervals(&rig), 3);
    ck_assert_uint_eq(rig.rows[2].begin_ns, 2 * NS_PER_S);
    ck_assert_uint_ge(rig.rows[2].end_ns, 2300 * NS_PER_MS);
    ck_assert_uint_le(rig.rows[2].end_ns, 2301 * NS_PER_MS);
    ck_assert_int_eq(ended_by(), CREW_STOPPED);
    ck_assert_uint_eq(rig_ios(&rig), rig.requests);
    rig_done(&rig);
}
END_TEST

static uint64_t last_request_ns;

static void note_time(struct rig *r, const struct engine_io *io,
                      uint64_t number, uint64_t since_ns,
                      struct engine_null_fate *fate)
{
    (void)r;
    (void)io;
    (void)number;
    (void)fate;
    last_request_ns = since_ns;
}

START_TEST(nothing_is_issued_once_the_lease_has_passed)
{
    rig_init(&rig, 2, 1, 2);
    rig.worker_count = 2;
    rig.fate = note_time;
    rig_open(&rig);
    atomic_store(&rig.control.lease_ns, RIG_START + 3500 * NS_PER_MS);
    rig_run(&rig);
    ck_assert_int_eq(ended_by(), CREW_LEASE_LOST);
    ck_assert_uint_lt(last_request_ns, 3500 * NS_PER_MS);
    ck_assert_uint_ge(last_request_ns, 3499 * NS_PER_MS);
    ck_assert_uint_eq(rig_intervals(&rig), 4);
    rig_done(&rig);
}
END_TEST

/* As after SIGSTOP and SIGCONT: hours have passed between two turns, with
 * nothing in between that could have seen the lease. */
static void long_stop(struct rig *r, uint64_t since_ns)
{
    if (since_ns > 2 * NS_PER_S && since_ns < 3600 * NS_PER_S)
        clock_manual_advance(&r->clock, 7200 * NS_PER_S);
}

START_TEST(not_one_request_after_a_long_stop)
{
    rig_init(&rig, 1, 1, 1);
    rig.job->measured_intervals = 100000;
    rig.job->time_limit_ns = UINT64_C(1) << 50;
    rig.job->targets[0].threads = 4;
    rig.tick = long_stop;
    rig.fate = note_time;
    rig_open(&rig);
    atomic_store(&rig.control.lease_ns, RIG_START + 30 * NS_PER_S);
    rig_run(&rig);
    ck_assert_int_eq(ended_by(), CREW_LEASE_LOST);
    ck_assert_uint_le(last_request_ns, 2 * NS_PER_S);
    ck_assert_uint_eq(rig_ios(&rig), rig.requests);
    rig_done(&rig);
}
END_TEST

/* A renewal right after one worker saw the end does not leave the other alone:
 * the end is one for all. */
START_TEST(a_late_renewal_does_not_split_the_workers)
{
    rig_init(&rig, 2, 1, 2);
    rig.worker_count = 2;
    rig_open(&rig);
    atomic_store(&rig.control.lease_ns, RIG_START + NS_PER_S);
    while (rig.workers[0]->state == WORKER_RUNNING &&
           rig.workers[1]->state == WORKER_RUNNING)
        (void)rig_turn(&rig);
    atomic_store(&rig.control.lease_ns, UINT64_MAX);
    rig_run(&rig);
    ck_assert_int_eq(ended_by(), CREW_LEASE_LOST);
    ck_assert_uint_le(rig_intervals(&rig), 2);
    rig_done(&rig);
}
END_TEST

START_TEST(the_time_limit_is_the_agents_own)
{
    rig_init(&rig, 1, 1, 1);
    rig.job->time_limit_ns = 4200 * NS_PER_MS;
    rig.fate = note_time;
    rig_run(&rig);
    ck_assert_int_eq(ended_by(), CREW_TIME_LIMIT);
    ck_assert_uint_lt(last_request_ns, 4200 * NS_PER_MS);
    rig_done(&rig);
}
END_TEST

static void slow(struct rig *r, const struct engine_io *io, uint64_t number,
                 uint64_t since_ns, struct engine_null_fate *fate)
{
    (void)r;
    (void)io;
    (void)number;
    (void)since_ns;
    fate->latency_ns = 1500 * NS_PER_MS;
}

/* The drain is a row of its own and no part of the rate. */
START_TEST(case_C08_the_drain_has_its_own_row)
{
    rig_init(&rig, 1, 1, 1);
    rig.job->targets[0].threads = 64;
    rig.job->measured_intervals = 1;
    rig.fate = slow;
    rig_run(&rig);
    ck_assert_uint_eq(rig_intervals(&rig), 1);
    ck_assert_uint_eq(rig.rows[0].ios, 0);
    ck_assert_uint_eq(rig.rows[0].cell[0][JOB_READ].in_flight, 64);
    ck_assert_uint_eq(rig.rows[1].ios, 64);
    ck_assert_uint_eq(rig.rows[1].begin_ns, NS_PER_S);
    ck_assert_uint_eq(rig.rows[1].end_ns, 1500 * NS_PER_MS);
    ck_assert_uint_eq(rig.rows[1].cell[0][JOB_READ].in_flight, 0);
    rig_done(&rig);
}
END_TEST

static void hangs(struct rig *r, const struct engine_io *io, uint64_t number,
                  uint64_t since_ns, struct engine_null_fate *fate)
{
    (void)r;
    (void)io;
    (void)since_ns;
    if (number == 1000 || number == 2000 || number == 3000)
        fate->latency_ns = ENGINE_NULL_NEVER;
}

START_TEST(case_C07_what_never_comes_back_is_told)
{
    const struct worker *w;

    rig_init(&rig, 1, 1, 1);
    rig.job->targets[0].threads = 8;
    rig.job->workloads[0].read_percent = 0;
    rig.fate = hangs;
    rig_run(&rig);
    w = rig.workers[0];
    ck_assert_uint_eq(rig_intervals(&rig), 10);
    ck_assert_uint_eq(rig.rows[9].cell[0][JOB_WRITE].in_flight, 8);
    ck_assert_uint_ge(rig.rows[9].cell[0][JOB_WRITE].oldest_ns, 9 * NS_PER_S);
    ck_assert_uint_eq(rig.rows[10].cell[0][JOB_WRITE].in_flight, 3);
    /* Five seconds of drain limit, and not more. */
    ck_assert_uint_ge(rig.rows[10].end_ns, 15 * NS_PER_S);
    ck_assert_uint_le(rig.rows[10].end_ns, 15100 * NS_PER_MS);
    ck_assert_uint_eq(w->stuck_total, 3);
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(w->stuck[i].target, 0);
        ck_assert_int_eq(w->stuck[i].op, JOB_WRITE);
        ck_assert_uint_eq(w->stuck[i].length, 4096);
        ck_assert_uint_eq(w->stuck[i].offset % 4096, 0);
        ck_assert_uint_ge(w->stuck[i].age_ns, 14 * NS_PER_S);
    }
    ck_assert_uint_eq(rig_ios(&rig) + 3, rig.requests);
    /* Buffers and ring are not given back while the drive may use them. */
    ck_assert(!worker_close(rig.workers[0]));
    rig_done(&rig);
}
END_TEST

/* Exactly one byte written for each byte of each region. */
static uint8_t *filled;

static void note_fill(struct rig *r, const struct engine_io *io,
                      uint64_t number, uint64_t since_ns,
                      struct engine_null_fate *fate)
{
    (void)r;
    (void)number;
    (void)since_ns;
    (void)fate;
    if (io->op != ENGINE_WRITE || io->offset + io->length > 10000000)
        ck_abort_msg("op %d at %llu", io->op, (unsigned long long)io->offset);
    for (uint64_t i = 0; i < io->length; i++)
        filled[10000000u * io->file + io->offset + i]++;
}

START_TEST(fill_covers_every_byte_once_and_ends_by_itself)
{
    filled = calloc(2, 10000000);
    ck_assert_ptr_nonnull(filled);
    rig_init(&rig, 2, 1, 3);
    rig.job->kind = JOB_FILL;
    rig.job->measured_intervals = 0;
    rig.job->workloads[0].sizes[0].bytes = 131072;
    for (uint32_t i = 0; i < 2; i++) {
        rig.job->targets[i].threads = 5;
        rig.job->targets[i].size_bytes = 10000000;
    }
    rig.job->cells[0].high = 5000000;
    rig.job->cells[1].high = 10000000;
    rig.job->cells[2].low = 5000000;
    rig.job->cells[2].high = 9999999;
    rig.latency_ns = 123 * NS_PER_MS;
    rig.fate = note_fill;
    rig_run(&rig);
    for (uint32_t i = 0; i < 20000000; i++)
        if (filled[i] != (i != 9999999))
            ck_abort_msg("byte %u was written %u times", i, filled[i]);
    ck_assert_int_eq(ended_by(), CREW_COMPLETE);
    ck_assert_uint_eq(rig.total[0][JOB_WRITE].bytes, 5000000);
    ck_assert_uint_eq(rig.total[1][JOB_WRITE].bytes, 10000000);
    ck_assert_uint_eq(rig.total[2][JOB_WRITE].bytes, 4999999);
    /* 77 writes of sd1 by five at a time, 123 ms each. */
    ck_assert_uint_eq(rig_intervals(&rig), 2);
    ck_assert_uint_eq(rig.rows[1].end_ns, 16 * 123 * NS_PER_MS);
    free(filled);
    rig_done(&rig);
}
END_TEST

static void full_disk(struct rig *r, const struct engine_io *io,
                      uint64_t number, uint64_t since_ns,
                      struct engine_null_fate *fate)
{
    (void)r;
    (void)number;
    (void)since_ns;
    if (io->offset >= 100 * UINT64_C(131072))
        fate->result = -ENOSPC;
}

START_TEST(case_G06_a_fill_that_fails_stops_and_says_where)
{
    rig_init(&rig, 1, 1, 1);
    rig.job->kind = JOB_FILL;
    rig.job->measured_intervals = 0;
    rig.job->workloads[0].sizes[0].bytes = 131072;
    rig.fate = full_disk;
    rig_run(&rig);
    ck_assert_int_eq(ended_by(), CREW_ERROR);
    ck_assert_int_eq(rig.workers[0]->reason.err, -ENOSPC);
    ck_assert_ptr_nonnull(strstr(rig.workers[0]->reason.text, "13107200"));
    ck_assert_uint_eq(rig.workers[0]->reason_target, 0);
    ck_assert_uint_eq(rig.total[0][JOB_WRITE].errors, 1);
    ck_assert_uint_eq(rig.requests, 101);
    rig_done(&rig);
}
END_TEST

static uint32_t syncs;

static void count_syncs(struct rig *r, const struct engine_io *io,
                        uint64_t number, uint64_t since_ns,
                        struct engine_null_fate *fate)
{
    (void)r;
    (void)number;
    (void)since_ns;
    if (io->op != ENGINE_FSYNC)
        return;
    syncs++;
    fate->latency_ns = 2 * NS_PER_S;
    fate->result = io->file == 1 ? -EIO : 0;
}

/* Buffered writes fail in write-back: the flush at the end tells. */
START_TEST(case_G01_the_flush_at_the_end_counts)
{
    syncs = 0;
    rig_init(&rig, 3, 1, 3);
    rig.job->workloads[0].read_percent = 50;
    rig.job->targets[0].open_flags = JOB_OPEN_FSYNC;
    rig.job->targets[1].open_flags = JOB_OPEN_FSYNC;
    rig.fate = count_syncs;
    rig_run(&rig);
    ck_assert_uint_eq(syncs, 2);
    ck_assert_uint_eq(rig.total[1][JOB_WRITE].errors, 1);
    ck_assert_uint_eq(rig.total[0][JOB_WRITE].errors, 0);
    ck_assert_int_eq(rig.workers[0]->reason.err, -EIO);
    ck_assert_uint_eq(rig.workers[0]->reason_target, 1);
    ck_assert_uint_ge(rig.rows[rig.row_count - 1].end_ns, 12 * NS_PER_S);
    ck_assert_uint_eq(rig_ios(&rig) + syncs, rig.requests);
    rig_done(&rig);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("worker_end");
    TCase *cases = tcase_create("end");

    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, stop_after_ends_with_that_interval);
    tcase_add_test(cases, case_N05_abort_ends_at_once_with_a_true_length);
    tcase_add_test(cases, nothing_is_issued_once_the_lease_has_passed);
    tcase_add_test(cases, not_one_request_after_a_long_stop);
    tcase_add_test(cases, a_late_renewal_does_not_split_the_workers);
    tcase_add_test(cases, the_time_limit_is_the_agents_own);
    tcase_add_test(cases, case_C08_the_drain_has_its_own_row);
    tcase_add_test(cases, case_C07_what_never_comes_back_is_told);
    tcase_add_test(cases, fill_covers_every_byte_once_and_ends_by_itself);
    tcase_add_test(cases, case_G06_a_fill_that_fails_stops_and_says_where);
    tcase_add_test(cases, case_G01_the_flush_at_the_end_counts);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
