/*
 * engine.c - one worker of the agent on one target, in this thread, nothing
 * else: how fast it is and what an I/O costs.
 *
 *     bench.engine PATH [depth=32] [op=read|write|mixed] [size=4096]
 *                  [seek=100] [rate=0] [seconds=1] [ios=0] [direct=0]
 *                  [workloads=1] [sizes=1] [bytes=0]
 *
 * With ios=N it ends after about so many I/Os, which is what counting
 * instructions needs; see instructions.sh.  Prints one line: ios, iops, user_ns
 * and sys_ns per I/O, mean_us, p99_us, errors.
 * It writes to PATH when told so, without asking: never name a drive in use.
 */
#include "agent/crew.h"
#include "agent/interlock.h"
#include "agent/sampler.h"
#include "agent/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOK_TURNS 64u

struct options {
    const char *path;
    const char *op;
    uint32_t depth;
    uint32_t size;
    double seek;
    double rate;
    double seconds;
    uint64_t ios;
    uint64_t bytes;
    uint32_t workloads;
    uint32_t sizes;
    bool direct;
};

static void die(const char *what)
{
    (void)fprintf(stderr, "bench.engine: %s: %s\n", what, strerror(errno));
    exit(2); /* tidy: allow exit, because it is all one main */
}

static void parse_word(struct options *o, const char *word)
{
    const char *value = strchr(word, '=');
    double number;

    if (value == NULL) {
        o->path = word;
        return;
    }
    number = strtod(++value, NULL);
#define IS(name) (strncmp(word, name "=", sizeof(name)) == 0)
    if (IS("depth"))
        o->depth = (uint32_t)number;
    else if (IS("op"))
        o->op = value;
    else if (IS("size"))
        o->size = (uint32_t)number;
    else if (IS("seek"))
        o->seek = number;
    else if (IS("rate"))
        o->rate = number;
    else if (IS("seconds"))
        o->seconds = number;
    else if (IS("ios"))
        o->ios = (uint64_t)number;
    else if (IS("bytes"))
        o->bytes = (uint64_t)number;
    else if (IS("workloads"))
        o->workloads = (uint32_t)number;
    else if (IS("sizes"))
        o->sizes = (uint32_t)number;
    else if (IS("direct"))
        o->direct = number > 0;
    else
        die(word);
#undef IS
}

static double read_percent(const struct options *o)
{
    if (strcmp(o->op, "read") == 0)
        return 100;
    return strcmp(o->op, "write") == 0 ? 0 : 70;
}

static uint64_t size_of(const struct options *o, int fd)
{
    off_t end = lseek(fd, 0, SEEK_END);

    if (o->bytes > 0)
        return o->bytes;
    return end > 0 ? (uint64_t)end : UINT64_C(1) << 40;
}

static void describe(const struct options *o, struct job *job, uint64_t bytes)
{
    job->kind = JOB_MEASURE;
    job->interval_ns = NS_PER_S;
    job->measured_intervals = UINT64_C(1) << 20;
    job->time_limit_ns = UINT64_C(1) << 60;
    job->drain_limit_ns = 5 * NS_PER_S;
    job->seed = 1;
    (void)snprintf(job->targets[0].sd, NAME_SIZE, "sd1");
    (void)snprintf(job->targets[0].path, PATH_SIZE, "%s", o->path);
    job->targets[0].threads = o->depth;
    job->targets[0].size_bytes = bytes;
    job->targets[0].write = read_percent(o) < 100;
    for (uint32_t i = 0; i < o->workloads; i++) {
        struct job_workload *w = &job->workloads[i];

        (void)snprintf(w->name, NAME_SIZE, "wd%u", i);
        w->read_percent = read_percent(o);
        w->seek_percent = o->seek;
        w->size_count = o->sizes;
        for (uint32_t j = 0; j < o->sizes; j++)
            w->sizes[j] = (struct job_size){o->size << j, 100.0 / o->sizes};
        job->cells[i] = (struct job_cell){
            .workload = i,
            .high = bytes,
            .iorate = o->rate / o->workloads,
            .weight = i + 1,
        };
    }
}

struct total {
    uint64_t ios;
    uint64_t errors;
    struct histogram service;
};

static void add_row(struct total *total, const struct row *row)
{
    for (uint32_t i = 0; i < row->cell_count * JOB_OPS; i++) {
        total->ios += row->cells[i].ios;
        total->errors += row->cells[i].errors;
        if (row->cells[i].service != NULL)
            histogram_merge(&total->service, row->cells[i].service);
    }
}

static uint64_t ios_so_far(const struct worker *w, const struct total *total)
{
    uint64_t ios = total->ios;

    for (uint32_t i = 0; i < w->banks.tally_count; i++)
        if (w->bank->tallies[i].service != NULL)
            ios += w->bank->tallies[i].service->count;
    return ios;
}

static void run(const struct options *o, struct worker *w, struct sampler *s,
                struct total *total)
{
    uint64_t start_ns = clock_now_ns(w->clock);
    uint64_t end_ns = start_ns + (uint64_t)(o->seconds * (double)NS_PER_S);
    const struct row *row;
    bool stopped = false;

    worker_begin(w, start_ns);
    sampler_begin(s, start_ns);
    for (uint32_t turn = 0; worker_turn(w); turn++) {
        /* Seldom, so that what is measured is the worker. */
        if (turn % LOOK_TURNS != 0)
            continue;
        while ((row = sampler_take(s, clock_now_ns(w->clock))) != NULL)
            add_row(total, row);
        if (stopped)
            continue;
        stopped = o->ios > 0 ? ios_so_far(w, total) >= o->ios
                             : clock_now_ns(w->clock) >= end_ns;
        if (stopped)
            worker_control_stop(w->control, CREW_STOPPED);
    }
    while ((row = sampler_take(s, clock_now_ns(w->clock))) != NULL)
        add_row(total, row);
}

static double ns_of(const struct timeval *time)
{
    return (double)time->tv_sec * 1e9 + (double)time->tv_usec * 1e3;
}

static void print(const struct worker *w, struct total *total)
{
    double ios = (double)(total->ios > 0 ? total->ios : 1);
    double seconds = (double)(w->stopped_ns - w->start_ns) / 1e9;
    struct rusage usage;
    uint64_t p99 = histogram_quantile_raw(&total->service, 0.99);

    (void)getrusage(RUSAGE_SELF, &usage);
    (void)printf(
        "ios=%llu iops=%.0f user_ns=%.0f sys_ns=%.0f mean_us=%.2f p99_us=%.2f "
        "errors=%llu\n",
        (unsigned long long)total->ios, ios / seconds,
        ns_of(&usage.ru_utime) / ios, ns_of(&usage.ru_stime) / ios,
        histogram_mean(&total->service) / 1e3, (double)p99 / 1e3,
        (unsigned long long)total->errors);
}

static void bench(const struct options *o, int fd)
{
    static struct worker w;
    static struct total total;
    struct worker_control control = {
        .lease_ns = UINT64_MAX,
        .stop_after = UINT64_MAX,
        .stop = WORKER_RUN,
        .live_cells = o->workloads,
    };
    struct opened_target opened = {.fd = fd, .logical_block = 1};
    struct engine_kind kind = {engine_uring_open, NULL};
    struct job *job = job_new(1, o->workloads, o->workloads);
    struct worker *workers[1] = {&w};
    struct sampler sampler;
    struct diag diag = {0};
    uint32_t target = 0;

    if (job == NULL)
        die("job");
    describe(o, job, size_of(o, fd));
    histogram_init(&total.service);
    if (job_check(job, &diag) < 0 ||
        worker_init(&w, job, &opened, &target, 1, clock_os(), &control, &diag) <
            0 ||
        worker_open(&w, &kind, &diag) < 0 ||
        sampler_init(&sampler, workers, 1, o->workloads, NULL) < 0) {
        errno = -diag.err;
        die(diag.text);
    }
    run(o, &w, &sampler, &total);
    print(&w, &total);
    if (worker_close(&w))
        worker_done(&w);
    sampler_done(&sampler);
    (void)job_free(job);
}

int main(int argc, char **argv)
{
    struct options o = {
        .op = "read",
        .depth = 32,
        .size = 4096,
        .seek = 100,
        .seconds = 1,
        .workloads = 1,
        .sizes = 1,
    };
    int flags;
    int fd;

    for (int i = 1; i < argc; i++)
        parse_word(&o, argv[i]);
    if (o.path == NULL)
        die("no PATH");
    flags = strcmp(o.op, "read") == 0 ? O_RDONLY : O_RDWR;
    fd = open(o.path, flags | O_CLOEXEC | (o.direct ? O_DIRECT : 0));
    if (fd < 0)
        die(o.path);
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    bench(&o, fd);
    (void)close(fd);
    return 0;
}
