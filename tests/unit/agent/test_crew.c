/* Real threads on the real clock: the barrier, the orders, the lease, the end,
 * with constructed latencies and with files. */
#include "agent/crew.h"

#include "agent/interlock.h"
#include "agent/placement.h"
#include "agent/stuck.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_NS (20 * NS_PER_S)

struct fixture {
    struct job *job;
    struct opened_target opened[8];
    struct crew *crew;
    struct diag diag;
    uint32_t bad_target;
    uint64_t rows;
    uint64_t ios;
    uint64_t drain_rows;
    struct row last; /* without cells */
    uint32_t in_flight;
};

static struct fixture f;

static uint64_t now(void)
{
    return clock_now_ns(clock_os());
}

static void make_job(uint32_t targets, uint32_t threads, const char *path)
{
    memset(&f, 0, sizeof(f));
    f.job = job_new(targets, 1, targets);
    ck_assert_ptr_nonnull(f.job);
    f.job->interval_ns = 100 * NS_PER_MS;
    f.job->measured_intervals = 5;
    f.job->drain_limit_ns = NS_PER_S;
    f.job->time_limit_ns = 60 * NS_PER_S;
    f.job->workloads[0] = (struct job_workload){.name = "wd",
                                                .read_percent = 100,
                                                .seek_percent = 100,
                                                .sizes = {{4096, 100}},
                                                .size_count = 1};
    for (uint32_t i = 0; i < targets; i++) {
        struct job_target *t = &f.job->targets[i];

        (void)snprintf(t->sd, NAME_SIZE, "sd%u", i + 1);
        (void)snprintf(t->path, PATH_SIZE, "%s", path);
        t->size_bytes = 1 << 20;
        t->threads = threads;
        t->write = true;
        f.job->cells[i] =
            (struct job_cell){.target = i, .high = 1 << 20, .weight = 1};
        f.opened[i].fd = open(path, O_RDWR | O_CLOEXEC);
        ck_assert_msg(f.opened[i].fd >= 0, "%s: %s", path, strerror(errno));
        f.opened[i].kind = INTERLOCK_CHARACTER;
        f.opened[i].logical_block = 1;
        f.opened[i].device_number = 0x100 + i;
    }
}

/* Waits for a fact of the crew; rows are taken meanwhile. */
static void take_rows(void)
{
    const struct row *row;

    while ((row = crew_take_row(f.crew)) != NULL) {
        f.rows += row->kind != ROW_DRAIN;
        f.drain_rows += row->kind == ROW_DRAIN;
        f.last = *row;
        f.in_flight = 0;
        for (uint32_t i = 0; i < row->cell_count * JOB_OPS; i++) {
            f.ios += row->cells[i].ios;
            f.in_flight += row->cells[i].in_flight;
        }
    }
}

static void pause_briefly(void)
{
    struct timespec time = {.tv_nsec = 1000000};

    /* Between two looks at a fact. */
    (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

static void await(enum crew_state state)
{
    uint64_t until = now() + PATIENCE_NS;

    while (crew_state(f.crew) != state) {
        ck_assert_msg(now() < until, "state %d instead of %d",
                      crew_state(f.crew), state);
        if (crew_state(f.crew) >= CREW_RUNNING)
            take_rows();
        pause_briefly();
    }
    if (state == CREW_FINISHED)
        take_rows();
}

static void make_crew(const char *engine)
{
    struct crew_options options = {.engine = engine};
    int r = crew_new(f.job, f.opened, &options, clock_os(), UINT64_MAX, &f.crew,
                     &f.bad_target, &f.diag);

    ck_assert_msg(r == 0, "%s", f.diag.text);
    await(CREW_READY);
}

static void go(void)
{
    ck_assert_int_eq(crew_arm(f.crew, now() + 300 * NS_PER_MS), 0);
    ck_assert_int_eq(crew_go(f.crew), 0);
}

static void done(void)
{
    f.crew = crew_free(f.crew);
    for (uint32_t i = 0; i < f.job->target_count; i++)
        (void)close(f.opened[i].fd);
    f.job = job_free(f.job);
}

/* P02: where each worker is comes from the kernel. */
START_TEST(case_P02_workers_stay_where_they_are_said_to_be)
{
    struct crew_options options = {.engine = "null:1ms", .pin = true};
    struct placement_host host;
    char text[1024], expected[64];

    make_job(2, 4, "/dev/null");
    placement_host("", &host);
    ck_assert_int_eq(crew_new(f.job, f.opened, &options, clock_os(), UINT64_MAX,
                              &f.crew, &f.bad_target, &f.diag),
                     0);
    await(CREW_READY);
    crew_print_placement(f.crew, f.job, text, sizeof(text));
    (void)snprintf(expected, sizeof(expected), "worker 0 on CPU %u",
                   host.cpus[0].number);
    ck_assert_ptr_eq(strstr(text, expected), text);
    ck_assert_ptr_nonnull(strstr(text, f.job->targets[0].sd));
    ck_assert_ptr_nonnull(strstr(text, f.job->targets[1].sd));
    ck_assert_uint_eq(crew_facts(f.crew).workers, host.cpu_count > 1 ? 2 : 1);
    done();
}
END_TEST

START_TEST(a_phase_runs_through)
{
    uint64_t start;

    make_job(3, 4, "/dev/null");
    make_crew("null:1ms");
    ck_assert_uint_ge(crew_facts(f.crew).workers, 1);
    ck_assert_uint_gt(crew_facts(f.crew).memory_bytes, 3 * 40960);
    ck_assert_str_eq(crew_facts(f.crew).features, "null");
    ck_assert_ptr_null(crew_take_row(f.crew));
    start = now() + NS_PER_S;
    ck_assert_int_eq(crew_arm(f.crew, start + NS_PER_S), 0);
    ck_assert_int_eq(crew_state(f.crew), CREW_ARMED);
    ck_assert_int_eq(crew_arm(f.crew, start), 0); /* moved, before Go */
    ck_assert_int_eq(crew_go(f.crew), 0);
    ck_assert_int_eq(crew_arm(f.crew, start), -EINVAL);
    ck_assert_int_eq(crew_go(f.crew), 0);
    await(CREW_FINISHED);
    ck_assert(crew_finished(f.crew));
    ck_assert_uint_eq(f.rows, 5);
    ck_assert_uint_eq(f.drain_rows, 1);
    ck_assert_uint_eq(f.last.interval, 5);
    ck_assert_uint_ge(f.last.opened_first_ns, start);
    ck_assert_uint_ge(f.last.opened_last_ns, f.last.opened_first_ns);
    ck_assert_uint_gt(f.ios, 1000);
    ck_assert_uint_le(f.ios, 3 * 4 * 500 + 12);
    ck_assert_int_eq(crew_outcome(f.crew)->end, CREW_COMPLETE);
    ck_assert_uint_eq(crew_outcome(f.crew)->intervals, 5);
    ck_assert_str_eq(crew_outcome(f.crew)->reason.text, "");
    ck_assert_uint_eq(crew_next_poll_ns(f.crew), UINT64_MAX);
    done();
}
END_TEST

/* On the real engine: every I/O of every worker is in a row. */
START_TEST(a_phase_runs_through_on_io_uring)
{
    make_job(4, 8, "/dev/zero");
    make_crew(NULL);
    ck_assert_ptr_nonnull(strstr(crew_facts(f.crew).features, "fixed_files"));
    go();
    await(CREW_FINISHED);
    ck_assert_uint_eq(f.rows, 5);
    ck_assert_uint_gt(f.ios, 1000);
    ck_assert_uint_eq(crew_outcome(f.crew)->errors, 0);
    ck_assert_uint_eq(crew_outcome(f.crew)->stuck_total, 0);
    ck_assert_uint_gt(f.last.host.capacity_ns, 0);
    done();
}
END_TEST

START_TEST(without_go_it_disarms)
{
    make_job(2, 1, "/dev/null");
    make_crew("null:1ms");
    ck_assert_int_eq(crew_arm(f.crew, now() + 5 * NS_PER_MS), 0);
    await(CREW_FINISHED);
    ck_assert(crew_finished(f.crew));
    ck_assert_int_eq(crew_go(f.crew), -ETIME);
    ck_assert_int_eq(crew_outcome(f.crew)->end, CREW_NO_GO);
    ck_assert_uint_eq(crew_outcome(f.crew)->intervals, 0);
    ck_assert_uint_eq(f.rows + f.drain_rows, 0);
    done();
}
END_TEST

START_TEST(an_instant_that_is_past_is_refused)
{
    make_job(1, 1, "/dev/null");
    make_crew("null:1ms");
    ck_assert_int_eq(crew_go(f.crew), -EINVAL);
    ck_assert_int_eq(crew_arm(f.crew, now()), -ETIME);
    ck_assert_int_eq(crew_arm(f.crew, 1), -ETIME);
    go();
    await(CREW_FINISHED);
    ck_assert_int_eq(crew_outcome(f.crew)->end, CREW_COMPLETE);
    done();
}
END_TEST

/* Abort in each state leads to FINISHED, promptly, also beside a drive that is
 * silent for hours. */
START_TEST(abort_ends_it_in_every_state)
{
    static const enum crew_state states[] = {CREW_PREPARING, CREW_READY,
                                             CREW_ARMED, CREW_RUNNING};
    uint64_t asked;

    make_job(2, 4, "/dev/null");
    f.job->measured_intervals = 10000;
    f.job->time_limit_ns = 3600 * NS_PER_S;
    f.job->drain_limit_ns = 200 * NS_PER_MS;
    if (states[_i] == CREW_PREPARING) {
        struct crew_options options = {.engine = "null:1h"};

        ck_assert_int_eq(crew_new(f.job, f.opened, &options, clock_os(),
                                  UINT64_MAX, &f.crew, &f.bad_target, &f.diag),
                         0);
    } else {
        make_crew("null:1h");
    }
    if (states[_i] >= CREW_ARMED)
        ck_assert_int_eq(
            crew_arm(f.crew,
                     now() + (states[_i] == CREW_ARMED ? NS_PER_S : 5000000)),
            0);
    if (states[_i] == CREW_RUNNING) {
        ck_assert_int_eq(crew_go(f.crew), 0);
        await(CREW_RUNNING);
    }
    asked = now();
    crew_abort(f.crew, CREW_STOPPED);
    crew_abort(f.crew, CREW_LEASE_LOST); /* the first reason stays */
    await(CREW_FINISHED);
    ck_assert_uint_lt(now() - asked, 2 * NS_PER_S);
    ck_assert_int_eq(crew_outcome(f.crew)->end, CREW_STOPPED);
    ck_assert(crew_outcome(f.crew)->reason.text[0] != '\0');
    ck_assert(crew_finished(f.crew));
    done();
}
END_TEST

START_TEST(stop_after_is_an_edge_to_come)
{
    make_job(2, 4, "/dev/null");
    f.job->measured_intervals = 10000;
    f.job->time_limit_ns = 3600 * NS_PER_S;
    make_crew("null:1ms");
    go();
    await(CREW_RUNNING);
    ck_assert_int_eq(crew_stop_after(f.crew, 3), 0);
    await(CREW_FINISHED);
    ck_assert_uint_eq(f.rows, 4);
    ck_assert_uint_eq(crew_outcome(f.crew)->intervals, 4);
    ck_assert_int_eq(crew_stop_after(f.crew, 1), -ETIME);
    ck_assert_int_eq(crew_outcome(f.crew)->end, CREW_COMPLETE);
    done();
}
END_TEST

START_TEST(the_lease_stops_the_load)
{
    uint64_t deadline;

    make_job(2, 4, "/dev/null");
    f.job->measured_intervals = 10000;
    f.job->time_limit_ns = 3600 * NS_PER_S;
    make_crew("null:1ms");
    deadline = now() + 300 * NS_PER_MS;
    crew_lease(f.crew, deadline);
    go();
    await(CREW_FINISHED);
    ck_assert_int_eq(crew_outcome(f.crew)->end, CREW_LEASE_LOST);
    ck_assert_uint_ge(now(), deadline);
    /* The last interval ends with the lease. */
    ck_assert_uint_lt(f.last.begin_ns, deadline + 200 * NS_PER_MS);
    done();
}
END_TEST

static struct stuck_drive drive_of(uint32_t target)
{
    return (struct stuck_drive){
        .device_number = f.opened[target].device_number,
    };
}

/* Requests that hang: told with particulars, and nobody waits for them. */
START_TEST(case_C07_stuck_requests_are_left_behind)
{
    const struct crew_stuck *stuck;
    uint64_t before = crew_quarantined();
    uint32_t count = 0;
    struct stuck_drive drive;
    uint64_t asked, since_ns;

    make_job(2, 4, "/dev/null");
    f.job->drain_limit_ns = 200 * NS_PER_MS;
    make_crew("null:1ms,hang=20");
    go();
    await(CREW_FINISHED);
    ck_assert_uint_ge(crew_outcome(f.crew)->stuck_total, 1);
    stuck = crew_stuck(f.crew, &count);
    ck_assert_uint_eq(count, crew_outcome(f.crew)->stuck_total);
    ck_assert_uint_eq(count, f.in_flight);
    for (uint32_t i = 0; i < count; i++) {
        ck_assert_uint_lt(stuck[i].target, 2);
        ck_assert_uint_eq(stuck[i].length, 4096);
        ck_assert_uint_ge(stuck[i].age_ns, 200 * NS_PER_MS);
    }
    ck_assert_int_eq(crew_outcome(f.crew)->end, CREW_COMPLETE);
    asked = now();
    drive = drive_of(0);
    ck_assert(!stuck_since(&drive, &since_ns));
    done();
    ck_assert_uint_lt(now() - asked, NS_PER_S);
    ck_assert_uint_gt(crew_quarantined(), before);
    /* Later phases stay away from the drive. */
    ck_assert(stuck_since(&drive, &since_ns));
    ck_assert_uint_ge(since_ns, asked);
}
END_TEST

/* What comes back late frees what it held, and is in no row. */
START_TEST(late_completions_end_the_quarantine)
{
    uint64_t until = now() + PATIENCE_NS;
    struct stuck_drive drive;
    uint64_t since_ns;

    make_job(1, 4, "/dev/null");
    f.job->drain_limit_ns = 50 * NS_PER_MS;
    f.job->measured_intervals = 1;
    make_crew("null:1500ms");
    go();
    await(CREW_FINISHED);
    ck_assert_uint_eq(crew_outcome(f.crew)->stuck_total, 4);
    ck_assert_uint_eq(f.ios, 0);
    drive = drive_of(0);
    done();
    ck_assert_uint_gt(crew_quarantined(), 0);
    ck_assert(stuck_since(&drive, &since_ns));
    while (stuck_since(&drive, &since_ns)) {
        ck_assert(now() < until);
        pause_briefly();
    }
    ck_assert_uint_eq(crew_quarantined(), 0);
}
END_TEST

START_TEST(free_works_in_every_state)
{
    make_job(2, 4, "/dev/null");
    f.job->measured_intervals = 10000;
    f.job->time_limit_ns = 3600 * NS_PER_S;
    make_crew(_i % 2 == 0 ? "null:1ms" : "null:1h");
    if (_i >= 2)
        ck_assert_int_eq(crew_arm(f.crew, now() + 300 * NS_PER_MS), 0);
    if (_i >= 4) {
        ck_assert_int_eq(crew_go(f.crew), 0);
        await(CREW_RUNNING);
    }
    done();
}
END_TEST

/* A failure to prepare is told with its reason, and nothing was issued. */
START_TEST(too_much_memory_is_refused_with_figures)
{
    struct crew_options options = {0};

    make_job(1, 65536, "/dev/null");
    f.job->targets[0].size_bytes = UINT64_C(1) << 40;
    f.job->cells[0].high = UINT64_C(1) << 40;
    f.job->workloads[0].read_percent = 0;
    f.job->workloads[0].sizes[0].bytes = 256 << 20;
    ck_assert_int_eq(crew_new(f.job, f.opened, &options, clock_os(), UINT64_MAX,
                              &f.crew, &f.bad_target, &f.diag),
                     -ENOMEM);
    ck_assert_ptr_nonnull(strstr(f.diag.text, "GiB"));
    f.crew = NULL;
    done();
}
END_TEST

START_TEST(unfit_transfers_are_refused_by_name)
{
    make_job(2, 1, "/dev/null");
    f.opened[1].logical_block = 4096;
    f.job->workloads[0].sizes[0].bytes = 6144;
    ck_assert_int_eq(crew_new(f.job, f.opened, NULL, clock_os(), UINT64_MAX,
                              &f.crew, &f.bad_target, &f.diag),
                     -EINVAL);
    ck_assert_uint_eq(f.bad_target, 1);
    ck_assert_ptr_nonnull(strstr(f.diag.text, "sd=sd2"));
    ck_assert_ptr_nonnull(strstr(f.diag.text, "4096"));
    f.opened[1].logical_block = 1;
    f.opened[0].kind = INTERLOCK_FILE;
    f.opened[0].size_bytes = 100000;
    ck_assert_int_eq(crew_new(f.job, f.opened, NULL, clock_os(), UINT64_MAX,
                              &f.crew, &f.bad_target, &f.diag),
                     -EINVAL);
    ck_assert_uint_eq(f.bad_target, 0);
    f.crew = NULL;
    done();
}
END_TEST

/* A file on the disk of /tmp, filled by a crew and then read by another. */
START_TEST(a_file_is_filled_and_read)
{
    char path[4200];
    uint8_t block[4096];
    uint64_t zeros = 0;

    (void)snprintf(path, sizeof(path), "%s/drive", suite_directory());
    (void)close(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    ck_assert_int_eq(truncate(path, 5 * 131072 + 4096), 0);
    make_job(1, 4, path);
    f.job->kind = JOB_FILL;
    f.job->measured_intervals = 0;
    f.job->targets[0].size_bytes = 5 * 131072 + 4096;
    f.job->targets[0].open_flags = JOB_OPEN_FSYNC;
    f.job->cells[0].high = 5 * 131072 + 4096;
    f.job->workloads[0].sizes[0].bytes = 131072;
    f.opened[0].kind = INTERLOCK_FILE;
    f.opened[0].size_bytes = 5 * 131072 + 4096;
    make_crew(NULL);
    go();
    await(CREW_FINISHED);
    ck_assert_msg(crew_outcome(f.crew)->end == CREW_COMPLETE, "%s",
                  crew_outcome(f.crew)->reason.text);
    ck_assert_uint_eq(f.ios, 6);
    for (off_t at = 0; at < 5 * 131072 + 4096; at += 4096) {
        ck_assert_int_eq(pread(f.opened[0].fd, block, 4096, at), 4096);
        for (uint32_t i = 0; i < 4096; i++)
            zeros += block[i] == 0;
    }
    /* Random bytes: one of 256 is zero. */
    ck_assert_uint_lt(zeros, (5 * 131072 + 4096) / 200);
    done();
}
END_TEST

/* Both stop together: after SIGCONT beyond the lease not one batch is issued,
 * which the shared page tells. */
static void stopped_child(_Atomic uint64_t *shared)
{
    make_job(2, 4, "/dev/null");
    f.job->measured_intervals = 100000;
    f.job->time_limit_ns = 3600 * NS_PER_S;
    make_crew("null:1ms");
    crew_lease(f.crew, now() + 1200 * NS_PER_MS);
    go();
    await(CREW_RUNNING);
    shared[0] = 1;
    await(CREW_FINISHED);
    shared[1] = (uint64_t)crew_outcome(f.crew)->end;
    shared[2] = f.last.begin_ns; /* of the drain: when it stopped issuing */
    done();
    _exit(0);
}

START_TEST(stop_and_continue_beyond_the_lease)
{
    _Atomic uint64_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t continued;
    int status;
    pid_t child;

    ck_assert_ptr_ne(shared, MAP_FAILED);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0)
        stopped_child(shared);
    while (shared[0] == 0)
        pause_briefly();
    ck_assert_int_eq(kill(child, SIGSTOP), 0);
    ck_assert_int_eq(waitpid(child, &status, WUNTRACED), child);
    for (uint64_t until = now() + 1500 * NS_PER_MS; now() < until;)
        pause_briefly();
    continued = now();
    ck_assert_int_eq(kill(child, SIGCONT), 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(shared[1], CREW_LEASE_LOST);
    ck_assert_uint_ge(shared[2], continued);
    ck_assert_uint_lt(shared[2], continued + NS_PER_S);
    ck_assert_int_eq(munmap((void *)shared, 4096), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("crew");
    TCase *cases = tcase_create("crew");

    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, a_phase_runs_through);
    tcase_add_test(cases, a_phase_runs_through_on_io_uring);
    tcase_add_test(cases, without_go_it_disarms);
    tcase_add_test(cases, an_instant_that_is_past_is_refused);
    tcase_add_loop_test(cases, abort_ends_it_in_every_state, 0, 4);
    tcase_add_test(cases, stop_after_is_an_edge_to_come);
    tcase_add_test(cases, the_lease_stops_the_load);
    tcase_add_test(cases, case_P02_workers_stay_where_they_are_said_to_be);
    tcase_add_test(cases, case_C07_stuck_requests_are_left_behind);
    tcase_add_test(cases, late_completions_end_the_quarantine);
    tcase_add_loop_test(cases, free_works_in_every_state, 0, 6);
    tcase_add_test(cases, too_much_memory_is_refused_with_figures);
    tcase_add_test(cases, unfit_transfers_are_refused_by_name);
    tcase_add_test(cases, a_file_is_filled_and_read);
    tcase_add_test(cases, stop_and_continue_beyond_the_lease);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
