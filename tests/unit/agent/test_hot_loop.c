/*
 * While a phase runs, a worker makes no system call but io_uring_enter,
 * allocates nothing and meets no page fault: invariant 9.
 *
 * System calls: a seccomp filter kills the process at any other.  Allocations:
 * the allocator's functions are our own here and count.  Page faults: the
 * kernel's count for this thread.
 */
#include "agent/interlock.h"
#include "agent/sampler.h"
#include "agent/worker.h"

#include "tests/support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Sanitizers allocate, map and call the kernel on their own account. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static uint64_t allocations;

#if !SANITIZED
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void __libc_free(void *memory);

void *malloc(size_t size)
{
    allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    allocations++;
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    allocations++;
    return __libc_realloc(memory, size);
}

void free(void *memory)
{
    allocations++;
    __libc_free(memory);
}
#endif

#define BYTES (UINT64_C(64) << 20)

struct fixture {
    struct job *job;
    struct opened_target opened[2];
    struct worker_control control;
    struct worker *worker;
    struct sampler sampler;
};

static struct fixture f;

static void add_file(uint32_t index)
{
    struct job_target *t = &f.job->targets[index];
    int fd = open("/tmp", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, (off_t)BYTES), 0);
    (void)snprintf(t->sd, NAME_SIZE, "sd%u", index + 1);
    (void)snprintf(t->path, PATH_SIZE, "/tmp");
    t->size_bytes = BYTES;
    t->threads = 16;
    t->write = true;
    f.opened[index] = (struct opened_target){.fd = fd,
                                             .kind = INTERLOCK_FILE,
                                             .size_bytes = BYTES,
                                             .logical_block = 1};
}

static void describe(double rate)
{
    f.job->interval_ns = 100 * NS_PER_MS;
    f.job->measured_intervals = 1000;
    f.job->drain_limit_ns = NS_PER_S;
    f.job->time_limit_ns = 3600 * NS_PER_S;
    for (uint32_t i = 0; i < 2; i++) {
        f.job->workloads[i] = (struct job_workload){
            .name = "wd",
            .read_percent = 60,
            .seek_percent = i == 0 ? 100 : 20,
            .sizes = {{4096, 50}, {16384, 50}},
            .size_count = 2,
        };
        f.job->workloads[i].name[2] = (char)('1' + i);
    }
    for (uint32_t i = 0; i < 4; i++)
        f.job->cells[i] = (struct job_cell){.workload = i % 2,
                                            .target = i / 2,
                                            .high = BYTES,
                                            .iorate = rate,
                                            .weight = 1 + i};
}

static void open_worker(double rate)
{
    static const uint32_t targets[2] = {0, 1};
    struct engine_kind kind = {engine_uring_open, NULL};
    struct diag diag = {0};

    f.job = job_new(2, 2, 4);
    f.worker = aligned_alloc(64, sizeof(*f.worker));
    ck_assert(f.job != NULL && f.worker != NULL);
    add_file(0);
    add_file(1);
    describe(rate);
    ck_assert_msg(job_check(f.job, &diag) == 0, "%s", diag.text);
    f.control.lease_ns = UINT64_MAX;
    f.control.stop_after = UINT64_MAX;
    f.control.stop = WORKER_RUN;
    f.control.live_cells = 4;
    ck_assert_msg(worker_init(f.worker, f.job, f.opened, targets, 2, clock_os(),
                              &f.control, &diag) == 0 &&
                      worker_open(f.worker, &kind, &diag) == 0,
                  "%s", diag.text);
    ck_assert_int_eq(
        sampler_init(&f.sampler, &f.worker, 1, f.job->cell_count, NULL), 0);
}

/* Nothing behind the filter may print: the exit status tells. */
enum verdict {
    FINE = 0,
    NO_IOS = 3,
    ALLOCATED = 4,
    FAULTED = 5,
    NO_FILTER = 6,
};

static void allow_io_uring_enter_alone(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_enter, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrusage, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = {6, code};

    if (SANITIZED)
        return;
    ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    /* Not by an assertion: those write, which is over now. */
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(NO_FILTER);
}

static long faults(void)
{
    struct rusage usage;

    (void)getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt + usage.ru_majflt;
}

/* Over several edges and rows; returns the I/Os of the rows. */
static uint64_t run_until(uint64_t end_ns)
{
    const struct row *row;
    uint64_t ios = 0;

    while (clock_now_ns(f.worker->clock) < end_ns) {
        if (!worker_turn(f.worker))
            break;
        while ((row = sampler_take(&f.sampler,
                                   clock_now_ns(f.worker->clock))) != NULL)
            for (uint32_t i = 0; i < row->cell_count * JOB_OPS; i++)
                ios += row->cells[i].ios;
    }
    return ios;
}

static void watch(double rate)
{
    uint64_t start_ns, before, ios;
    long faults_before;

    open_worker(rate);
    start_ns = clock_now_ns(clock_os());
    worker_begin(f.worker, start_ns);
    sampler_begin(&f.sampler, start_ns);
    (void)run_until(start_ns + 50 * NS_PER_MS);
    allow_io_uring_enter_alone();
    before = allocations;
    faults_before = faults();
    ios = run_until(start_ns + 650 * NS_PER_MS);
    if (ios < 500)
        _exit(NO_IOS);
    if (allocations != before)
        _exit(ALLOCATED);
    if (!SANITIZED && faults() != faults_before)
        _exit(FAULTED);
    _exit(FINE);
}

START_TEST(closed_loop_only_enters_the_ring)
{
    watch(0);
}
END_TEST

START_TEST(open_loop_only_enters_the_ring)
{
    watch(500);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hot_loop");
    TCase *cases = tcase_create("hot loop");

    tcase_set_timeout(cases, 60);
    tcase_add_exit_test(cases, closed_loop_only_enters_the_ring, FINE);
    tcase_add_exit_test(cases, open_loop_only_enters_the_ring, FINE);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
