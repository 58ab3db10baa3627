/* Crews on a loop device that the test makes: blocks, filling, and a drive that
 * breaks while it is used. */
#include "agent/crew.h"

#include "agent/interlock.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define BYTES       (UINT64_C(8) << 20)
#define PATIENCE_NS (20 * NS_PER_S)
#define SKIPPED     77

static int backing = -1; /* the file below */
static int device = -1;
static struct job *job;
static struct crew *crew;
static struct row_cell sum[JOB_OPS];
static struct row_error errors[ROW_ERRORS];

static uint64_t now(void)
{
    return clock_now_ns(clock_os());
}

static bool can_make_loops(void)
{
    return access("/dev/loop-control", R_OK | W_OK) == 0 && geteuid() == 0;
}

/* Goes away by itself with the last descriptor. */
static void attach(void)
{
    struct loop_config config = {.block_size = 4096,
                                 .info.lo_flags = LO_FLAGS_AUTOCLEAR};
    int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
    char path[64];

    backing = open("/tmp", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
    ck_assert(control >= 0 && backing >= 0);
    ck_assert_int_eq(ftruncate(backing, (off_t)BYTES), 0);
    config.fd = (uint32_t)backing;
    for (int tries = 0; device < 0 && tries < 10; tries++) {
        int number = ioctl(control, LOOP_CTL_GET_FREE);

        ck_assert_int_ge(number, 0);
        (void)snprintf(path, sizeof(path), "/dev/loop%d", number);
        device = open(path, O_RDWR | O_CLOEXEC | O_DIRECT);
        /* Someone else may have been faster. */
        if (device >= 0 && ioctl(device, LOOP_CONFIGURE, &config) < 0) {
            (void)close(device);
            device = -1;
        }
    }
    (void)close(control);
    ck_assert_msg(device >= 0, "no loop device: %s", strerror(errno));
    /* Read-only stays with the name, beyond the drive. */
    ck_assert_int_eq(ioctl(device, BLKROSET, &(int){0}), 0);
}

static void describe(enum job_kind kind, double read_percent)
{
    job = job_new(1, 1, 1);
    ck_assert_ptr_nonnull(job);
    job->kind = kind;
    job->interval_ns = 100 * NS_PER_MS;
    job->measured_intervals = kind == JOB_FILL ? 0 : 8;
    job->drain_limit_ns = 5 * NS_PER_S;
    job->time_limit_ns = 60 * NS_PER_S;
    (void)snprintf(job->targets[0].sd, NAME_SIZE, "sd1");
    (void)snprintf(job->targets[0].path, PATH_SIZE, "/dev/loop");
    job->targets[0].threads = 8;
    job->targets[0].size_bytes = BYTES;
    job->targets[0].write = true;
    job->targets[0].open_flags = JOB_OPEN_DIRECT;
    job->workloads[0] = (struct job_workload){
        .name = "wd",
        .read_percent = read_percent,
        .seek_percent = 100,
        .sizes = {{kind == JOB_FILL ? 131072 : 4096, 100}},
        .size_count = 1};
    job->cells[0] = (struct job_cell){.low = 4096, .high = BYTES, .weight = 1};
}

static void pause_briefly(void)
{
    struct timespec time = {.tv_nsec = 1000000};

    /* Between two looks at a fact. */
    (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

static void add_errors(const struct row_cell *cell)
{
    for (uint32_t i = 0; i < ROW_ERRORS; i++)
        for (uint32_t j = 0; cell->by_errno[i].count > 0 && j < ROW_ERRORS; j++)
            if (errors[j].count == 0 ||
                errors[j].err == cell->by_errno[i].err) {
                errors[j].err = cell->by_errno[i].err;
                errors[j].count += cell->by_errno[i].count;
                break;
            }
}

static void take_rows(void)
{
    const struct row *row;

    while ((row = crew_take_row(crew)) != NULL)
        for (uint32_t op = 0; op < JOB_OPS; op++) {
            sum[op].ios += row->cells[op].ios;
            sum[op].bytes += row->cells[op].bytes;
            sum[op].errors += row->cells[op].errors;
            add_errors(&row->cells[op]);
        }
}

static void await(enum crew_state state)
{
    uint64_t until = now() + PATIENCE_NS;

    while (crew_state(crew) != state) {
        ck_assert_msg(now() < until && crew_state(crew) != CREW_FAILED,
                      "state %d instead of %d", crew_state(crew), state);
        take_rows();
        pause_briefly();
    }
    take_rows();
}

static void start(void)
{
    struct opened_target opened = {.fd = device,
                                   .kind = INTERLOCK_BLOCK,
                                   .size_bytes = BYTES,
                                   .logical_block = 4096};
    struct diag diag = {0};
    uint32_t target;

    memset(sum, 0, sizeof(sum));
    memset(errors, 0, sizeof(errors));
    ck_assert_msg(crew_new(job, &opened, NULL, clock_os(), UINT64_MAX, &crew,
                           &target, &diag) == 0,
                  "%s", diag.text);
    await(CREW_READY);
    ck_assert_int_eq(crew_arm(crew, now() + 300 * NS_PER_MS), 0);
    ck_assert_int_eq(crew_go(crew), 0);
}

static void done(void)
{
    crew = crew_free(crew);
    job = job_free(job);
}

/* The first block is never written; all that follows is, with random bytes. */
START_TEST(a_device_is_filled_and_then_used)
{
    static uint8_t bytes[BYTES];
    uint64_t zeros = 0;

    attach();
    describe(JOB_FILL, 0);
    start();
    await(CREW_FINISHED);
    ck_assert_msg(crew_outcome(crew)->end == CREW_COMPLETE, "%s",
                  crew_outcome(crew)->reason.text);
    ck_assert_uint_eq(sum[JOB_WRITE].bytes, BYTES - 4096);
    done();
    ck_assert_int_eq(fsync(device), 0);
    ck_assert_int_eq(pread(backing, bytes, BYTES, 0), BYTES);
    for (uint32_t i = 0; i < 4096; i++)
        ck_assert_int_eq(bytes[i], 0);
    for (uint64_t i = 4096; i < BYTES; i++)
        zeros += bytes[i] == 0;
    ck_assert_uint_lt(zeros, BYTES / 200);

    describe(JOB_MEASURE, 50);
    start();
    await(CREW_FINISHED);
    ck_assert_int_eq(crew_outcome(crew)->end, CREW_COMPLETE);
    ck_assert_uint_eq(crew_outcome(crew)->errors, 0);
    ck_assert_uint_gt(sum[JOB_READ].ios, 100);
    ck_assert_uint_gt(sum[JOB_WRITE].ios, 100);
    done();
    ck_assert_int_eq(pread(backing, bytes, 4096, 0), 4096);
    for (uint32_t i = 0; i < 4096; i++)
        ck_assert_int_eq(bytes[i], 0);
}
END_TEST

/* The file below is cut: reads behind its end fail, the others go on. */
START_TEST(a_drive_that_fails_in_part_goes_on_in_part)
{
    attach();
    describe(JOB_MEASURE, 100);
    start();
    await(CREW_RUNNING);
    ck_assert_int_eq(ftruncate(backing, (off_t)BYTES / 2), 0);
    await(CREW_FINISHED);
    ck_assert_int_eq(crew_outcome(crew)->end, CREW_COMPLETE);
    ck_assert_uint_gt(sum[JOB_READ].errors, 0);
    ck_assert_uint_gt(sum[JOB_READ].ios, 0);
    ck_assert_uint_eq(crew_outcome(crew)->errors, sum[JOB_READ].errors);
    ck_assert_int_eq(errors[0].err, EIO);
    done();
}
END_TEST

/* The device shrinks to half, as a drive that loses its size does: a read
 * behind the end transfers nothing, which is an error and not a fast I/O. */
START_TEST(a_drive_that_shrinks_gives_short_transfers)
{
    attach();
    describe(JOB_MEASURE, 100);
    start();
    await(CREW_RUNNING);
    ck_assert_int_eq(ftruncate(backing, (off_t)BYTES / 2), 0);
    ck_assert_int_eq(ioctl(device, LOOP_SET_CAPACITY), 0);
    await(CREW_FINISHED);
    ck_assert_uint_gt(sum[JOB_READ].errors, 0);
    ck_assert_uint_gt(sum[JOB_READ].ios, 0);
    ck_assert(errors[0].err == 0 || errors[1].err == 0);
    done();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("crew_loop");
    TCase *cases = tcase_create("loop");

    if (!can_make_loops()) {
        (void)printf("skipped: making loop devices needs root and "
                     "/dev/loop-control\n");
        return SKIPPED;
    }
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, a_device_is_filled_and_then_used);
    tcase_add_test(cases, a_drive_that_fails_in_part_goes_on_in_part);
    tcase_add_test(cases, a_drive_that_shrinks_gives_short_transfers);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
