/*
 * rig.h - a whole phase of one agent on a clock that the test moves: workers,
 * null engines and the sampler, in one thread.
 *
 *     rig_init(&rig, targets, workloads, cells);   then fill rig.job, or
 *     rig_take_job(&rig, job);                      one from elsewhere
 *     rig.fate = ...;                               what the drive does
 *     rig_run(&rig);                                to the end
 *     rig.rows[], rig.total[cell][op]               what came out
 */
#ifndef TESTS_UNIT_AGENT_RIG_H
#define TESTS_UNIT_AGENT_RIG_H

#include "agent/engine_null.h"
#include "agent/interlock.h"
#include "agent/sampler.h"
#include "agent/worker.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RIG_START   (1000 * NS_PER_S)
#define RIG_ROWS    4096u
#define RIG_CELLS   16u
#define RIG_WORKERS 8u

/* One row, without its histograms. */
struct rig_row {
    uint64_t interval;
    uint32_t spans;
    enum row_kind kind;
    uint64_t begin_ns; /* from the start */
    uint64_t end_ns;
    uint32_t late_workers;
    struct row_holds holds;
    struct row_cell cell[RIG_CELLS][JOB_OPS];
    uint64_t ios; /* of all cells */
};

struct rig {
    struct job *job;
    struct clock_manual clock;
    struct worker_control control;
    struct worker *workers[RIG_WORKERS];
    uint32_t worker_count; /* 1 unless set before rig_open() */
    struct opened_target opened[RIG_CELLS];
    struct sampler sampler;
    struct engine_null_script script;
    /* The drive; by default it completes after `latency_ns`. */
    void (*fate)(struct rig *rig, const struct engine_io *io, uint64_t number,
                 uint64_t since_ns, struct engine_null_fate *fate);
    uint64_t latency_ns;
    /* Called before each turn. */
    void (*tick)(struct rig *rig, uint64_t since_ns);
    bool hold; /* rows are not taken */
    struct rig_row *rows;
    struct row_failure failures[ROW_FAILURES]; /* of all rows */
    uint32_t failure_count;
    uint32_t row_count;
    struct row_cell total[RIG_CELLS][JOB_OPS];
    struct histogram *service; /* of all cells and operations */
    struct histogram *response;
    uint64_t requests;
};

static inline void rig_decide(void *context, const struct engine_io *io,
                              uint64_t number, uint64_t now_ns,
                              struct engine_null_fate *fate)
{
    struct rig *rig = context;

    rig->requests++;
    fate->latency_ns = rig->latency_ns;
    if (rig->fate != NULL)
        rig->fate(rig, io, number, now_ns - RIG_START, fate);
}

/* A job made elsewhere; it is the rig's from here on. */
static inline void rig_take_job(struct rig *rig, struct job *job)
{
    memset(rig, 0, sizeof(*rig));
    ck_assert_ptr_nonnull(job);
    ck_assert_uint_le(job->cell_count, RIG_CELLS);
    ck_assert_uint_le(job->target_count, RIG_CELLS);
    rig->job = job;
    for (uint32_t i = 0; i < job->target_count; i++) {
        rig->opened[i].fd = open("/dev/null", O_RDWR | O_CLOEXEC);
        ck_assert_int_ge(rig->opened[i].fd, 0);
        rig->opened[i].logical_block = 1;
    }
    rig->worker_count = 1;
    rig->latency_ns = 100 * NS_PER_US;
    rig->rows = calloc(RIG_ROWS, sizeof(*rig->rows));
    rig->service = malloc(sizeof(*rig->service));
    rig->response = malloc(sizeof(*rig->response));
    ck_assert_ptr_nonnull(rig->rows);
    ck_assert_ptr_nonnull(rig->service);
    ck_assert_ptr_nonnull(rig->response);
    histogram_init(rig->service);
    histogram_init(rig->response);
}

/* Ten intervals of a second; every cell reads 4k at random on target 0, one
 * after another, until the test says otherwise. */
static inline void rig_init(struct rig *rig, uint32_t targets,
                            uint32_t workloads, uint32_t cells)
{
    rig_take_job(rig, job_new(targets, workloads, cells));
    rig->job->interval_ns = NS_PER_S;
    rig->job->measured_intervals = 10;
    rig->job->seed = getenv("TEST_SEED") != NULL
                         ? strtoull(getenv("TEST_SEED"), NULL, 0)
                         : 1;
    rig->job->drain_limit_ns = 5 * NS_PER_S;
    rig->job->time_limit_ns = 3600 * NS_PER_S;
    for (uint32_t i = 0; i < targets; i++) {
        struct job_target *t = &rig->job->targets[i];

        (void)snprintf(t->sd, NAME_SIZE, "sd%u", i + 1);
        (void)snprintf(t->path, PATH_SIZE, "/dev/null");
        t->size_bytes = UINT64_C(1) << 30;
        t->threads = 1;
        t->write = true;
    }
    for (uint32_t i = 0; i < workloads; i++) {
        struct job_workload *w = &rig->job->workloads[i];

        (void)snprintf(w->name, NAME_SIZE, "wd%u", i + 1);
        w->read_percent = 100;
        w->seek_percent = 100;
        w->sizes[0] = (struct job_size){4096, 100};
        w->size_count = 1;
    }
    for (uint32_t i = 0; i < cells; i++)
        rig->job->cells[i] = (struct job_cell){
            .workload = i % workloads,
            .target = i % targets,
            .high = UINT64_C(1) << 30,
            .weight = 1,
        };
}

static inline void rig_open_worker(struct rig *rig, uint32_t number)
{
    struct engine_kind kind = {engine_null_open, &rig->script};
    struct worker *w = aligned_alloc(64, sizeof(*w));
    uint32_t targets[RIG_CELLS];
    uint32_t count = 0;
    struct diag diag = {0};

    ck_assert_ptr_nonnull(w);
    for (uint32_t i = number; i < rig->job->target_count;
         i += rig->worker_count)
        targets[count++] = i;
    ck_assert_int_eq(worker_init(w, rig->job, rig->opened, targets, count,
                                 &rig->clock.clock, &rig->control, &diag),
                     0);
    ck_assert_int_eq(worker_open(w, &kind, &diag), 0);
    rig->workers[number] = w;
}

static inline void rig_open(struct rig *rig)
{
    struct diag diag = {0};

    ck_assert_msg(job_check(rig->job, &diag) == 0, "%s", diag.text);
    clock_manual_init(&rig->clock, RIG_START);
    rig->script = (struct engine_null_script){
        .fate = rig_decide,
        .context = rig,
        .clock = &rig->clock.clock,
        .manual = &rig->clock,
    };
    rig->control.lease_ns = UINT64_MAX;
    rig->control.stop_after = UINT64_MAX;
    rig->control.stop = WORKER_RUN;
    rig->control.live_cells = rig->job->cell_count;
    for (uint32_t i = 0; i < rig->worker_count; i++)
        rig_open_worker(rig, i);
    ck_assert_int_eq(sampler_init(&rig->sampler, rig->workers,
                                  rig->worker_count, rig->job->cell_count,
                                  NULL),
                     0);
    for (uint32_t i = 0; i < rig->worker_count; i++)
        worker_begin(rig->workers[i], RIG_START);
    sampler_begin(&rig->sampler, RIG_START);
}

static inline void rig_keep_cell(struct rig *rig, struct rig_row *to,
                                 uint32_t cell, uint32_t op,
                                 const struct row_cell *from)
{
    struct row_cell *total = &rig->total[cell][op];

    to->cell[cell][op] = *from;
    to->ios += from->ios;
    total->ios += from->ios;
    total->bytes += from->bytes;
    total->errors += from->errors;
    total->issued += from->issued;
    total->late_ns += from->late_ns;
    if (from->late_max_ns > total->late_max_ns)
        total->late_max_ns = from->late_max_ns;
    if (from->service != NULL) {
        ck_assert_uint_eq(from->service->count, from->ios);
        histogram_merge(rig->service, from->service);
    }
    if (from->response != NULL) {
        ck_assert_uint_eq(from->response->count, from->ios);
        histogram_merge(rig->response, from->response);
    }
}

static inline void rig_keep(struct rig *rig, const struct row *row)
{
    struct rig_row *to = &rig->rows[rig->row_count++];

    ck_assert_uint_le(rig->row_count, RIG_ROWS);
    to->interval = row->interval;
    to->spans = row->spans;
    to->kind = row->kind;
    to->begin_ns = row->begin_ns - RIG_START;
    to->end_ns = row->end_ns - RIG_START;
    to->late_workers = row->late_workers;
    to->holds = row->holds;
    for (uint32_t i = 0; i < row->failure_count; i++)
        rig->failures[rig->failure_count++ % ROW_FAILURES] = row->failures[i];
    for (uint32_t i = 0; i < row->cell_count; i++)
        for (uint32_t op = 0; op < JOB_OPS; op++)
            rig_keep_cell(rig, to, i, op, &row->cells[i * JOB_OPS + op]);
}

static inline void rig_take(struct rig *rig)
{
    const struct row *row;

    while (!rig->hold &&
           (row = sampler_take(&rig->sampler, rig->clock.now_ns)) != NULL)
        rig_keep(rig, row);
}

/* One turn of every worker that has not ended; false when all have. */
static inline bool rig_turn(struct rig *rig)
{
    bool any = false;

    if (rig->tick != NULL)
        rig->tick(rig, rig->clock.now_ns - RIG_START);
    for (uint32_t i = 0; i < rig->worker_count; i++)
        if (rig->workers[i]->state != WORKER_ENDED)
            any |= worker_turn(rig->workers[i]);
    rig_take(rig);
    return any;
}

static inline void rig_run(struct rig *rig)
{
    if (rig->workers[0] == NULL)
        rig_open(rig);
    while (rig_turn(rig))
        ;
    rig->hold = false;
    rig_take(rig);
}

static inline void rig_done(struct rig *rig)
{
    for (uint32_t i = 0; i < rig->worker_count; i++) {
        if (rig->workers[i] == NULL)
            continue;
        if (!worker_close(rig->workers[i])) {
            /* The null engine's requests are nobody's. */
            rig->workers[i]->in_flight = 0;
            ck_assert(worker_close(rig->workers[i]));
        }
        worker_done(rig->workers[i]);
        free(rig->workers[i]);
    }
    sampler_done(&rig->sampler);
    for (uint32_t i = 0; i < rig->job->target_count; i++)
        (void)close(rig->opened[i].fd);
    rig->job = job_free(rig->job);
    free(rig->rows);
    free(rig->service);
    free(rig->response);
}

/* Rows of intervals, the drain row not counted. */
static inline uint32_t rig_intervals(const struct rig *rig)
{
    ck_assert_uint_gt(rig->row_count, 0);
    ck_assert_int_eq(rig->rows[rig->row_count - 1].kind, ROW_DRAIN);
    return rig->row_count - 1;
}

static inline uint64_t rig_ios(const struct rig *rig)
{
    uint64_t ios = 0;

    for (uint32_t i = 0; i < rig->row_count; i++)
        ios += rig->rows[i].ios;
    return ios;
}

#endif
