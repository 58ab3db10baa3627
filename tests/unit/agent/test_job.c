/* agent/job.c: what must hold of a phase, each rule broken once. */
#include "agent/job.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "tests/unit/agent/frames.h"

static void reset(struct job **job)
{
    *job = job_free(*job);
    *job = frames_job(0, 1);
}

/* The job with one thing spoilt; the reason must name `word`. */
#define BREAKS(what, word)                                                     \
    do {                                                                       \
        struct diag diag = {0};                                                \
                                                                               \
        reset(&job);                                                           \
        what;                                                                  \
        ck_assert_int_eq(job_check(job, &diag), -EBADMSG);                     \
        ck_assert_msg(strstr(diag.text, word) != NULL, "%s: %s", #what,        \
                      diag.text);                                              \
    } while (0)

#define HOLDS(what)                                                            \
    do {                                                                       \
        struct diag diag = {0};                                                \
                                                                               \
        reset(&job);                                                           \
        what;                                                                  \
        ck_assert_msg(job_check(job, &diag) == 0, "%s: %s", #what, diag.text); \
    } while (0)

START_TEST(a_sound_job_holds)
{
    struct job *job = NULL;

    HOLDS((void)0);
    HOLDS(job->cells[0].iorate = 0);
    HOLDS(job->cells[0].weight = 0);
    HOLDS(job->workloads[0].sizes[0].percent = 90.005);
    HOLDS(job->targets[0].threads = JOB_THREADS_MAX);
    HOLDS(job->kind = JOB_FILL; job->measured_intervals = 0;
          job->cells[0].low = 0; job->cells[0].high = 1);
    job = job_free(job);
}
END_TEST

START_TEST(times_are_bounded)
{
    struct job *job = NULL;

    BREAKS(job->interval_ns = 99 * NS_PER_MS, "100 ms");
    BREAKS(job->measured_intervals = 0, "no interval");
    BREAKS(job->measured_intervals = UINT64_MAX, "too long");
    BREAKS(job->interval_ns = UINT64_MAX, "too long");
    BREAKS(job->drain_limit_ns = 0, "drain limit");
    BREAKS(job->drain_limit_ns = UINT64_MAX, "drain limit");
    BREAKS(job->time_limit_ns = 0, "time limit");
    BREAKS(job->time_limit_ns = UINT64_MAX, "time limit");
    job = job_free(job);
}
END_TEST

START_TEST(a_pattern_is_all_that_is_written)
{
    struct job *job = NULL;

    HOLDS(ck_assert_int_eq(job_set_pattern(job, "abc", 3), 0));
    BREAKS(ck_assert_int_eq(job_set_pattern(job, "abc", 3), 0);
           job->compression = 2, "compratio=2");
    BREAKS(ck_assert_int_eq(job_set_pattern(job, "abc", 3), 0);
           job->targets[0].duplicates.unit = 4096;
           job->targets[0].duplicates.unique = 0.5;
           job->targets[0].duplicates.sets = 1, "duplicates on sd=");
    ck_assert_int_eq(job_set_pattern(job, "", JOB_PATTERN_MAX + 1), -E2BIG);
    job = job_free(job);
}
END_TEST

START_TEST(targets_are_sound)
{
    struct job *job = NULL;

    BREAKS(job->target_count = 0, "targets");
    BREAKS(job->targets[0].sd[0] = '\0', "no sd name");
    BREAKS(job->targets[0].path[0] = 'd', "begin with /");
    BREAKS(job->targets[0].open_flags = 16, "open flags");
    BREAKS(job->targets[0].size_bytes = 0, "size");
    BREAKS(job->targets[0].size_bytes = UINT64_MAX, "size");
    BREAKS(job->targets[0].threads = 0, "threads");
    BREAKS(job->targets[0].threads = JOB_THREADS_MAX + 1, "threads");
    BREAKS(job->targets[0].write = false; job->targets[0].create = true;
           job->workloads[0].read_percent = 100, "to be made");
    job = job_free(job);
}
END_TEST

START_TEST(two_targets_of_one_name_are_refused)
{
    struct job *job = job_new(2, 1, 1);
    struct job *one = frames_job(0, 1);
    struct job_target *targets = job->targets;
    struct diag diag = {0};

    targets[0] = one->targets[0];
    targets[1] = one->targets[0];
    one->target_count = 2;
    free(one->targets);
    one->targets = TAKE(job->targets);
    ck_assert_int_eq(job_check(one, &diag), -EBADMSG);
    ck_assert_ptr_nonnull(strstr(diag.text, "both sd=sd1"));
    memcpy(targets[1].sd, "sd2", 4);
    ck_assert_int_eq(job_check(one, &diag), 0);
    one = job_free(one);
    job = job_free(job);
}
END_TEST

/* Two drives, one sequence over both. */
static struct job *joined_job(void)
{
    struct job *job = job_new(2, 1, 2);
    struct job *one = frames_job(0, 1);
    struct job_target *targets = job->targets;
    struct job_cell *cells = job->cells;

    targets[0] = targets[1] = one->targets[0];
    memcpy(targets[1].sd, "sd2", 4);
    cells[0] = cells[1] = one->cells[0];
    cells[1].target = 1;
    cells[1].joins = 1;
    one->target_count = one->cell_count = 2;
    free(one->targets);
    free(one->cells);
    one->targets = TAKE(job->targets);
    one->cells = TAKE(job->cells);
    one->workloads[0].seek_percent = 0;
    job = job_free(job);
    return one;
}

START_TEST(sequences_over_drives_are_sound)
{
    struct diag diag = {0};

#define SPOILS(what, word)                                                     \
    do {                                                                       \
        struct job *job = joined_job();                                        \
                                                                               \
        what;                                                                  \
        ck_assert_int_eq(job_check(job, &diag), -EBADMSG);                     \
        ck_assert_msg(strstr(diag.text, word) != NULL, "%s: %s", #what,        \
                      diag.text);                                              \
        job = job_free(job);                                                   \
    } while (0)
    struct job *sound = joined_job();

    ck_assert_msg(job_check(sound, &diag) == 0, "%s", diag.text);
    sound = job_free(sound);
    SPOILS(job->cells[0].joins = 2, "not an earlier");
    SPOILS(job->cells[1].joins = 2, "not an earlier");
    SPOILS(job->cells[1].target = 0, "cannot go on");
    SPOILS(job->workloads[0].seek_percent = 100, "plain sequential");
    SPOILS(job->cells[0].shift = 4096, "plain sequential");
    SPOILS(job->cells[1].align = 8192, "plain sequential");
    SPOILS(job->targets[1].duplicates =
               ((struct duplicates){.unit = 4096, .unique = 1, .sets = 1}),
           "duplicates of 0 and 4096");
    SPOILS(job->workloads[0].streams = 64;
           job->cells[0].high =
               job->cells[0].low + 64 * job_xfer_max(&job->workloads[0]);
           job->cells[1].high =
               job->cells[1].low + job_xfer_max(&job->workloads[0]),
           "64 streams");
}
END_TEST

START_TEST(workloads_are_sound)
{
    struct job *job = NULL;
    struct job_workload *w;

#define WD (w = &job->workloads[0], w)
    BREAKS(job->workload_count = 0, "workloads");
    BREAKS(WD->name[0] = '\0', "no name");
    BREAKS(WD->read_percent = 100.5, "rdpct");
    BREAKS(WD->read_percent = (double)NAN, "rdpct");
    BREAKS(WD->seek_percent = -1, "seekpct");
    BREAKS(WD->seek_percent = (double)INFINITY, "seekpct");
    BREAKS(WD->size_count = 0, "transfer sizes");
    BREAKS(WD->size_count = JOB_SIZES_MAX + 1, "transfer sizes");
    BREAKS(WD->sizes[1].bytes = 0, "a transfer of 0");
    BREAKS(WD->sizes[1].bytes = JOB_XFER_MAX + 1, "a transfer");
    BREAKS(WD->sizes[1].percent = 0, "share");
    BREAKS(WD->sizes[1].percent = (double)NAN, "share");
    BREAKS(WD->sizes[1].percent = 9, "add up to 99");
#undef WD
    job = job_free(job);
}
END_TEST

START_TEST(cells_are_sound)
{
    struct job *job = NULL;

    BREAKS(job->cell_count = 0, "cells");
    BREAKS(job->cells[0].workload = 1, "names workload 1");
    BREAKS(job->cells[0].target = 1, "target 1 of 1");
    BREAKS(job->cells[0].high = job->cells[0].low, "region");
    BREAKS(job->cells[0].high = (1u << 30) + 1, "region");
    BREAKS(job->cells[0].high = job->cells[0].low + 8191, "do not fit");
    BREAKS(job->targets[0].write = false, "not to be written");
    BREAKS(job->cells[0].iorate = -1, "rate");
    BREAKS(job->cells[0].iorate = (double)NAN, "rate");
    BREAKS(job->cells[0].iorate = 2e9, "rate");
    BREAKS(job->cells[0].weight = (double)NAN, "weight");
    BREAKS(job->cells[0].iorate = 0; job->cells[0].weight = 0, "neither");
    job = job_free(job);
}
END_TEST

START_TEST(a_fill_writes_whatever_its_workload_says)
{
    struct job *job = NULL;

    BREAKS(job->kind = JOB_FILL; job->targets[0].write = false;
           job->workloads[0].read_percent = 100, "not to be written");
    job = job_free(job);
}
END_TEST

START_TEST(no_job_is_made_beyond_the_limits)
{
    ck_assert_ptr_null(job_new(JOB_TARGETS_MAX + 1, 1, 1));
    ck_assert_ptr_null(job_new(1, JOB_WORKLOADS_MAX + 1, 1));
    ck_assert_ptr_null(job_new(1, 1, JOB_CELLS_MAX + 1));
    ck_assert_ptr_null(job_free(NULL));
}
END_TEST

START_TEST(the_length_is_warm_up_and_measured)
{
    struct job *job = frames_job(0, 1);

    ck_assert_uint_eq(job_length_ns(job), 10 * NS_PER_S);
    ck_assert_uint_eq(job_xfer_max(&job->workloads[0]), 8192);
    job->measured_intervals = 0;
    ck_assert_uint_eq(job_length_ns(job), 0);
    job = job_free(job);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("job");
    TCase *tcase = tcase_create("job");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_test(tcase, a_sound_job_holds);
    tcase_add_test(tcase, times_are_bounded);
    tcase_add_test(tcase, a_pattern_is_all_that_is_written);
    tcase_add_test(tcase, targets_are_sound);
    tcase_add_test(tcase, two_targets_of_one_name_are_refused);
    tcase_add_test(tcase, sequences_over_drives_are_sound);
    tcase_add_test(tcase, workloads_are_sound);
    tcase_add_test(tcase, cells_are_sound);
    tcase_add_test(tcase, a_fill_writes_whatever_its_workload_says);
    tcase_add_test(tcase, no_job_is_made_beyond_the_limits);
    tcase_add_test(tcase, the_length_is_warm_up_and_measured);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
