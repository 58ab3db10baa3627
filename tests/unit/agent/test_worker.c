/* Closed loops: what is issued, and in which interval it counts. */
#include "tests/unit/agent/rig.h"

#include "tests/support/suite.h"

#include <errno.h>
#include <math.h>

static struct rig rig;

static void check_share(uint64_t hits, uint64_t of, double percent)
{
    double p = percent / 100;
    double bound = 4 * sqrt(p * (1 - p) * (double)of);

    ck_assert_msg(fabs((double)hits - p * (double)of) <= bound,
                  "%llu of %llu, asked %g %%", (unsigned long long)hits,
                  (unsigned long long)of, percent);
}

/* 8 threads x 1 ms: 8000 a second, to the I/O. */
START_TEST(closed_loop_keeps_all_threads_busy)
{
    rig_init(&rig, 1, 1, 1);
    rig.job->targets[0].threads = 8;
    rig.latency_ns = NS_PER_MS;
    rig_run(&rig);
    ck_assert_uint_eq(rig_intervals(&rig), 10);
    for (uint32_t i = 0; i < 10; i++) {
        const struct rig_row *row = &rig.rows[i];

        ck_assert_uint_eq(row->interval, i);
        ck_assert_uint_eq(row->spans, 1);
        ck_assert_int_eq(row->kind, ROW_MEASURED);
        ck_assert_uint_eq(row->begin_ns, i * NS_PER_S);
        ck_assert_uint_eq(row->end_ns, (i + 1) * NS_PER_S);
        /* What completes at an edge belongs to the interval behind it. */
        ck_assert_uint_eq(row->ios, i == 0 ? 7992 : 8000);
        ck_assert_uint_eq(row->cell[0][JOB_READ].bytes, row->ios * 4096);
        ck_assert_uint_eq(row->cell[0][JOB_READ].in_flight, 8);
        ck_assert_uint_eq(row->cell[0][JOB_READ].oldest_ns, NS_PER_MS);
        ck_assert_ptr_null(row->cell[0][JOB_WRITE].service);
        ck_assert_ptr_null(row->cell[0][JOB_READ].response);
    }
    ck_assert_uint_eq(rig.rows[10].ios, 8);
    ck_assert_uint_eq(rig.service->min, NS_PER_MS);
    ck_assert_uint_eq(rig.service->max, NS_PER_MS);
    rig_done(&rig);
}
END_TEST

START_TEST(every_request_is_in_exactly_one_row)
{
    rig_init(&rig, 3, 2, 6);
    rig.worker_count = 2;
    rig.latency_ns = 777777;
    for (uint32_t i = 0; i < 3; i++)
        rig.job->targets[i].threads = 5 + i;
    rig.job->workloads[0].read_percent = 40;
    rig_run(&rig);
    ck_assert_uint_eq(rig_ios(&rig), rig.requests);
    ck_assert_uint_eq(rig.service->count, rig.requests);
    rig_done(&rig);
}
END_TEST

START_TEST(warm_up_only_flips_the_flag)
{
    rig_init(&rig, 1, 1, 1);
    rig.job->warmup_intervals = 3;
    rig.job->measured_intervals = 4;
    rig_run(&rig);
    ck_assert_uint_eq(rig_intervals(&rig), 7);
    for (uint32_t i = 0; i < 7; i++) {
        ck_assert_int_eq(rig.rows[i].kind, i < 3 ? ROW_WARMUP : ROW_MEASURED);
        ck_assert_uint_eq(rig.rows[i].ios, i == 0 ? 9999 : 10000);
    }
    rig_done(&rig);
}
END_TEST

START_TEST(reads_and_writes_have_their_share)
{
    rig_init(&rig, 1, 1, 1);
    rig.job->targets[0].threads = 32;
    rig.job->workloads[0].read_percent = 70;
    rig.latency_ns = NS_PER_MS;
    rig_run(&rig);
    check_share(rig.total[0][JOB_READ].ios, rig_ios(&rig), 70);
    ck_assert_uint_gt(rig.total[0][JOB_WRITE].ios, 0);
    rig_done(&rig);
}
END_TEST

/* The share of I/Os, not of time: a slow workload does not get fewer. */
START_TEST(free_slots_draw_their_workload_by_weight)
{
    rig_init(&rig, 1, 3, 3);
    rig.job->targets[0].threads = 16;
    rig.job->cells[0].weight = 10;
    rig.job->cells[1].weight = 30;
    rig.job->cells[2].weight = 60;
    rig.latency_ns = NS_PER_MS;
    rig_run(&rig);
    check_share(rig.total[0][JOB_READ].ios, rig_ios(&rig), 10);
    check_share(rig.total[1][JOB_READ].ios, rig_ios(&rig), 30);
    check_share(rig.total[2][JOB_READ].ios, rig_ios(&rig), 60);
    rig_done(&rig);
}
END_TEST

static void slow_sd2(struct rig *r, const struct engine_io *io, uint64_t number,
                     uint64_t since_ns, struct engine_null_fate *fate)
{
    (void)r;
    (void)number;
    (void)since_ns;
    if (io->file == 1)
        fate->latency_ns = 10 * NS_PER_MS;
}

START_TEST(a_slow_drive_does_not_slow_another)
{
    rig_init(&rig, 2, 1, 2);
    rig.fate = slow_sd2;
    rig_run(&rig);
    ck_assert_uint_eq(rig.total[0][JOB_READ].ios, 100000);
    ck_assert_uint_eq(rig.total[1][JOB_READ].ios, 1000);
    rig_done(&rig);
}
END_TEST

/* See also the merge of two such hosts in results. */
static struct engine_null_text two_latencies;

static void constructed(struct rig *r, const struct engine_io *io,
                        uint64_t number, uint64_t since_ns,
                        struct engine_null_fate *fate)
{
    (void)r;
    (void)io;
    engine_null_decide(&two_latencies, number, since_ns, fate);
}

START_TEST(case_A01_latencies_are_recorded_as_constructed)
{
    struct diag diag = {0};
    uint64_t p = 0;

    ck_assert_msg(engine_null_parse("null:999000x100us,1000x50ms",
                                    &two_latencies, &diag) == 0,
                  "%s", diag.text);
    rig_init(&rig, 1, 1, 1);
    rig.job->targets[0].threads = 100;
    rig.job->workloads[0].seek_percent = 0;
    rig.job->workloads[0].end_at_eof = true;
    rig.job->cells[0].high = 1000000 * UINT64_C(4096);
    rig.job->targets[0].size_bytes = rig.job->cells[0].high;
    rig.fate = constructed;
    rig_run(&rig);
    ck_assert_uint_eq(rig.service->count, 1000000);
    ck_assert_uint_eq(rig.service->min, 100 * NS_PER_US);
    ck_assert_uint_eq(rig.service->max, 50 * NS_PER_MS);
    ck_assert(histogram_quantile(rig.service, 0.99, &p));
    ck_assert_uint_ge(p, 100 * NS_PER_US);
    ck_assert_uint_le(p, 101 * NS_PER_US);
    ck_assert(histogram_quantile(rig.service, 0.9995, &p));
    ck_assert_uint_eq(p, 50 * NS_PER_MS);
    rig_done(&rig);
}
END_TEST

/* The drive is silent for three intervals: rows come all the same, each with
 * what hangs and how long. */
static void silent(struct rig *r, const struct engine_io *io, uint64_t number,
                   uint64_t since_ns, struct engine_null_fate *fate)
{
    (void)r;
    (void)io;
    (void)number;
    if (since_ns > 2500 * NS_PER_MS && since_ns < 6000 * NS_PER_MS)
        fate->latency_ns = 6000 * NS_PER_MS - since_ns;
}

START_TEST(case_N04_a_silent_drive_keeps_its_rows)
{
    rig_init(&rig, 1, 1, 1);
    rig.job->targets[0].threads = 4;
    rig.fate = silent;
    rig_run(&rig);
    ck_assert_uint_eq(rig_intervals(&rig), 10);
    for (uint32_t i = 3; i < 6; i++) {
        const struct row_cell *cell = &rig.rows[i].cell[0][JOB_READ];

        ck_assert_uint_eq(cell->ios, 0);
        ck_assert_uint_eq(cell->in_flight, 4);
        ck_assert_uint_ge(cell->oldest_ns, (i + 1) * NS_PER_S - 2501000000);
        ck_assert_uint_le(cell->oldest_ns, (i + 1) * NS_PER_S - 2500000000);
    }
    ck_assert_uint_eq(rig.rows[6].ios, 40000);
    rig_done(&rig);
}
END_TEST

/* 5 % fail, one after the other too: they are counted by errno, nothing stops,
 * and a short transfer is an error as well. */
static void faulty(struct rig *r, const struct engine_io *io, uint64_t number,
                   uint64_t since_ns, struct engine_null_fate *fate)
{
    (void)r;
    (void)io;
    (void)since_ns;
    if (number % 100 < 3)
        fate->result = -EIO;
    else if (number % 100 == 50)
        fate->result = 512;
    else if (number % 100 == 70)
        fate->result = 0;
}

START_TEST(errors_are_counted_by_errno_and_survived)
{
    uint64_t eio = 0, shorts = 0;

    rig_init(&rig, 1, 1, 1);
    rig.job->targets[0].threads = 8;
    rig.fate = faulty;
    rig_run(&rig);
    for (uint32_t i = 0; i < rig.row_count; i++)
        for (uint32_t j = 0; j < ROW_ERRORS; j++) {
            const struct row_error *e =
                &rig.rows[i].cell[0][JOB_READ].by_errno[j];

            eio += e->err == EIO ? e->count : 0;
            shorts += e->err == 0 ? e->count : 0;
        }
    ck_assert_uint_gt(eio, 100);
    ck_assert_uint_gt(shorts, 50);
    ck_assert_uint_eq(eio + shorts, rig.total[0][JOB_READ].errors);
    ck_assert_uint_eq(rig.total[0][JOB_READ].ios +
                          rig.total[0][JOB_READ].errors,
                      rig.requests);
    ck_assert_uint_eq(rig.workers[0]->errors, eio + shorts);
    ck_assert_uint_eq(rig.failure_count, WORKER_FAILURES_KEPT);
    for (uint32_t i = 0; i < rig.failure_count; i++) {
        const struct row_failure *failure = &rig.failures[i];

        ck_assert_int_eq(failure->op, JOB_READ);
        ck_assert_uint_eq(failure->length, 4096);
        ck_assert_uint_eq(failure->offset % 4096, 0);
        ck_assert(failure->result == -EIO || failure->result == 512 ||
                  failure->result == 0);
    }
    rig_done(&rig);
}
END_TEST

/* Reads leave a pattern in their memory; no write may ever carry it. */
static void reading_leaves_traces(struct rig *r, const struct engine_io *io,
                                  uint64_t number, uint64_t since_ns,
                                  struct engine_null_fate *fate)
{
    const uint8_t *bytes = io->memory;
    uint32_t traces = 0;

    (void)r;
    (void)number;
    (void)since_ns;
    (void)fate;
    if (io->op == ENGINE_READ) {
        memset(io->memory, 0x41, io->length);
        return;
    }
    for (uint32_t i = 0; i + 8 <= io->length; i += 8)
        traces += memcmp(bytes + i, "AAAAAAAA", 8) == 0;
    ck_assert_uint_eq(traces, 0);
}

START_TEST(case_M05_what_was_read_is_never_written)
{
    rig_init(&rig, 1, 1, 1);
    rig.job->targets[0].threads = 8;
    rig.job->targets[0].write = true;
    rig.job->workloads[0].read_percent = 50;
    rig.fate = reading_leaves_traces;
    rig_run(&rig);
    ck_assert_uint_gt(rig.total[0][JOB_READ].ios, 1000);
    ck_assert_uint_gt(rig.total[0][JOB_WRITE].ios, 1000);
    ck_assert_double_eq_tol(rig.workers[0]->compressible, 1, 1e-9);
    rig_done(&rig);
}
END_TEST

static void dead(struct rig *r, const struct engine_io *io, uint64_t number,
                 uint64_t since_ns, struct engine_null_fate *fate)
{
    (void)r;
    (void)number;
    (void)since_ns;
    fate->latency_ns = 0;
    if (io->file == 0)
        fate->result = -ENODEV;
}

/* A dead drive answers at once: it must not be asked in a storm, and the other
 * drive of the worker must not notice. */
START_TEST(a_dead_drive_is_not_stormed)
{
    rig_init(&rig, 2, 1, 2);
    rig.job->targets[0].threads = 32;
    rig.job->measured_intervals = 3;
    rig.fate = dead;
    rig_open(&rig);
    for (uint64_t i = 0; i < 200000 && rig_turn(&rig); i++)
        clock_manual_advance(&rig.clock, 20 * NS_PER_US);
    rig_run(&rig);
    ck_assert_uint_eq(rig.total[0][JOB_READ].ios, 0);
    ck_assert_uint_gt(rig.total[0][JOB_READ].errors, 500);
    ck_assert_uint_lt(rig.total[0][JOB_READ].errors, 2000);
    ck_assert_uint_gt(rig.total[1][JOB_READ].ios, 100000);
    rig_done(&rig);
}
END_TEST

static void busy_kernel(struct rig *r, const struct engine_io *io,
                        uint64_t number, uint64_t since_ns,
                        struct engine_null_fate *fate)
{
    (void)r;
    (void)io;
    (void)since_ns;
    if (number % 2 == 0)
        fate->result = -EAGAIN;
}

/* The same request again, its latency from the first try on. */
START_TEST(case_J07_eagain_is_tried_again_and_no_error)
{
    rig_init(&rig, 1, 1, 1);
    rig.fate = busy_kernel;
    rig_run(&rig);
    ck_assert_uint_eq(rig.total[0][JOB_READ].errors, 0);
    ck_assert_uint_gt(rig.workers[0]->retries, 1000);
    ck_assert_uint_ge(rig.service->min, 1200 * NS_PER_US);
    ck_assert_uint_eq(rig_ios(&rig) + rig.workers[0]->retries, rig.requests);
    rig_done(&rig);
}
END_TEST

static uint64_t written[64];

static void note_writes(struct rig *r, const struct engine_io *io,
                        uint64_t number, uint64_t since_ns,
                        struct engine_null_fate *fate)
{
    (void)r;
    (void)number;
    (void)since_ns;
    (void)fate;
    if (io->offset / 4096 >= 64)
        ck_abort_msg("offset %llu", (unsigned long long)io->offset);
    written[io->offset / 4096] += io->length;
}

START_TEST(sequential_threads_share_one_cursor)
{
    memset(written, 0, sizeof(written));
    rig_init(&rig, 1, 1, 1);
    rig.job->targets[0].threads = 7;
    rig.job->workloads[0].read_percent = 0;
    rig.job->workloads[0].seek_percent = 0;
    rig.job->workloads[0].end_at_eof = true;
    rig.job->cells[0].low = 4 * 4096;
    rig.job->cells[0].high = 60 * 4096;
    rig.fate = note_writes;
    rig_run(&rig);
    for (uint32_t i = 0; i < 64; i++)
        ck_assert_uint_eq(written[i], i >= 4 && i < 60 ? 4096 : 0);
    /* All cells ended: the phase ends with the interval. */
    ck_assert_uint_eq(rig_intervals(&rig), 1);
    rig_done(&rig);
}
END_TEST

static uint32_t reads_into_writes;

static void compare_buffers(struct rig *r, const struct engine_io *io,
                            uint64_t number, uint64_t since_ns,
                            struct engine_null_fate *fate)
{
    const struct engine_region *reads = &r->workers[0]->regions[io->region];
    uint8_t *begin = reads->memory;

    (void)number;
    (void)since_ns;
    (void)fate;
    if ((uint8_t *)io->memory < begin ||
        (uint8_t *)io->memory + io->length > begin + reads->length)
        ck_abort_msg("a buffer outside its region");
    if ((io->op == ENGINE_READ) != (io->region == 0))
        reads_into_writes++;
}

/* ---- one sequence over several drives ---- */

static uint32_t walked;      /* requests so far */
static uint32_t outstanding; /* the most at a time */
static uint64_t began_ns[4096];

/* Three drives of 8, 16 and 8 blocks, one after another. */
static void note_walk(struct rig *r, const struct engine_io *io,
                      uint64_t number, uint64_t since_ns,
                      struct engine_null_fate *fate)
{
    uint32_t at = walked % 32;
    uint32_t drive = at < 8 ? 0 : at < 24 ? 1 : 2;
    uint32_t now = 0;

    (void)r;
    (void)number;
    ck_assert_uint_eq(io->file, drive);
    ck_assert_uint_eq(io->offset, (at - (drive == 0   ? 0
                                         : drive == 1 ? 8
                                                      : 24)) *
                                      UINT64_C(4096));
    fate->latency_ns = NS_PER_MS;
    began_ns[walked++ % 4096] = since_ns;
    for (uint32_t i = walked; i-- > 0 && walked - i <= 32;)
        now += began_ns[i % 4096] + NS_PER_MS > since_ns;
    outstanding = now > outstanding ? now : outstanding;
}

/* The second and the third cell go on with the first one's sequence. */
static void walk_three(void)
{
    static const uint64_t blocks[] = {8, 16, 8};

    walked = outstanding = 0;
    rig_init(&rig, 3, 1, 3);
    rig.job->targets[0].threads = 5;
    rig.job->workloads[0].seek_percent = 0;
    rig.job->measured_intervals = 2;
    for (uint32_t i = 0; i < 3; i++) {
        rig.job->cells[i].high = blocks[i] * 4096;
        rig.job->cells[i].joins = i > 0;
    }
    rig.fate = note_walk;
}

/* The threads of the first drive go over all, round and round; each drive's
 * figures are what it did. */
START_TEST(a_sequence_crosses_drives_with_its_threads)
{
    walk_three();
    rig_run(&rig);
    ck_assert_uint_eq(outstanding, 5);
    ck_assert_uint_gt(walked, 9000);
    ck_assert_uint_eq(rig_ios(&rig), walked);
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_double_eq_tol((double)rig.total[i][JOB_READ].ios / walked,
                                i == 1 ? 0.5 : 0.25, 0.01);
    rig_done(&rig);
}
END_TEST

/* At its end every drive was gone over once, in an open loop as well, and the
 * phase ends. */
START_TEST(a_sequence_over_drives_ends_once)
{
    static const uint64_t blocks[] = {8, 16, 8};

    walk_three();
    rig.job->workloads[0].end_at_eof = true;
    rig.job->workloads[0].read_percent = 0;
    rig.job->cells[0].iorate = _i == 0 ? 0 : 100;
    rig_run(&rig);
    ck_assert_uint_eq(walked, 32);
    ck_assert_uint_eq(rig_intervals(&rig), 1);
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(rig.total[i][JOB_WRITE].ios, blocks[i]);
        ck_assert_uint_eq(rig.total[i][JOB_WRITE].issued,
                          _i == 0 ? 0 : blocks[i]);
    }
    ck_assert_uint_eq(rig.response->count, _i == 0 ? 0 : 32);
    rig_done(&rig);
}
END_TEST

static uint64_t strays;

static void note_strays(struct rig *r, const struct engine_io *io,
                        uint64_t number, uint64_t since_ns,
                        struct engine_null_fate *fate)
{
    (void)r;
    (void)number;
    (void)since_ns;
    (void)fate;
    /* Those of 8k are random, on the first drive alone. */
    strays += io->length == 8192 && io->file != 0;
}

/* A slot that the sequence had is the first drive's again afterwards. */
START_TEST(other_work_of_the_first_drive_stays_there)
{
    strays = 0;
    rig_init(&rig, 2, 2, 3);
    rig.job->targets[0].threads = 4;
    rig.job->workloads[0].seek_percent = 0;
    rig.job->workloads[1].sizes[0].bytes = 8192;
    rig.job->cells[0].high = 64 * 4096;
    rig.job->cells[1] = rig.job->cells[0];
    rig.job->cells[1].target = 1;
    rig.job->cells[1].joins = 1;
    rig.job->cells[2].workload = 1;
    rig.job->cells[2].target = 0;
    rig.fate = note_strays;
    rig_run(&rig);
    ck_assert_uint_eq(strays, 0);
    check_share(rig.total[2][JOB_READ].ios, rig_ios(&rig), 50);
    ck_assert_uint_gt(rig.total[1][JOB_READ].ios, 1000);
    rig_done(&rig);
}
END_TEST

START_TEST(case_M05_reads_never_touch_a_write_buffer)
{
    reads_into_writes = 0;
    rig_init(&rig, 1, 1, 1);
    rig.job->targets[0].threads = 9;
    rig.job->workloads[0].read_percent = 50;
    rig.job->workloads[0].sizes[0].percent = 50;
    rig.job->workloads[0].sizes[1] = (struct job_size){100000, 50};
    rig.job->workloads[0].size_count = 2;
    rig.fate = compare_buffers;
    rig.latency_ns = NS_PER_MS;
    rig_run(&rig);
    ck_assert_uint_gt(rig.requests, 80000);
    ck_assert_uint_eq(reads_into_writes, 0);
    rig_done(&rig);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("worker");
    TCase *cases = tcase_create("closed loop");

    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, closed_loop_keeps_all_threads_busy);
    tcase_add_test(cases, every_request_is_in_exactly_one_row);
    tcase_add_test(cases, warm_up_only_flips_the_flag);
    tcase_add_test(cases, reads_and_writes_have_their_share);
    tcase_add_test(cases, free_slots_draw_their_workload_by_weight);
    tcase_add_test(cases, a_slow_drive_does_not_slow_another);
    tcase_add_test(cases, case_A01_latencies_are_recorded_as_constructed);
    tcase_add_test(cases, case_N04_a_silent_drive_keeps_its_rows);
    tcase_add_test(cases, errors_are_counted_by_errno_and_survived);
    tcase_add_test(cases, case_M05_what_was_read_is_never_written);
    tcase_add_test(cases, a_dead_drive_is_not_stormed);
    tcase_add_test(cases, case_J07_eagain_is_tried_again_and_no_error);
    tcase_add_test(cases, sequential_threads_share_one_cursor);
    tcase_add_test(cases, a_sequence_crosses_drives_with_its_threads);
    tcase_add_loop_test(cases, a_sequence_over_drives_ends_once, 0, 2);
    tcase_add_test(cases, other_work_of_the_first_drive_stays_there);
    tcase_add_test(cases, case_M05_reads_never_touch_a_write_buffer);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
