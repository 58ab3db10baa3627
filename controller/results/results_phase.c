/*
 * Phases, from their beginning until their rows are closed: samples in, rows
 * of hosts and of the cluster to the store.
 */
#include "controller/results/inside.h"
#include "controller/results/object.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STUCK_MAX 4096u

void live_phase_free(struct live_phase *phase)
{
    assert(phase->tasks == 0);
    (void)merge_free(phase->merge);
    (void)totals_free(phase->totals);
    phase->layout = layout_free(phase->layout);
    free(phase->stored_next);
    free(phase->again);
    free(phase->error);
    free(phase);
}

struct live_phase *find_phase(struct results *results, const struct uuid *id,
                              uint32_t number)
{
    struct live_campaign *campaign = find_campaign(results, id);
    struct live_phase *phase = campaign == NULL ? NULL : campaign->phases;

    while (phase != NULL &&
           (phase->number != number || phase->state == LIVE_OVER))
        phase = phase->next;
    return phase;
}

/* ---- Beginning -------------------------------------------------------------
 */

int live_phase_new(struct live_campaign *campaign, uint32_t number,
                   const struct results_phase *asked,
                   struct live_phase **ret_phase)
{
    const struct plan_run *run = &campaign->plan->runs[number];
    struct live_phase *phase = calloc(1, sizeof(*phase));
    const struct merge_timing timing = {
        .interval_ns = run->interval_ns,
        .warmup_intervals = asked->warmup_intervals,
        .measured_intervals = asked->measured_intervals,
    };
    size_t hosts = (size_t)campaign->plan->host_count + 1;
    int err;

    if (phase == NULL)
        return -ENOMEM;
    phase->campaign = campaign;
    phase->number = number;
    phase->id = campaign->first_phase + number;
    phase->asked = *asked;
    phase->interval_ns = run->interval_ns;
    phase->uncertainty_ns = -1;
    err = layout_of_run(campaign->plan, run, &phase->layout);
    if (err == 0) {
        phase->merge = merge_new(phase->layout, &timing);
        phase->stored_next = calloc(hosts, sizeof(*phase->stored_next));
        phase->again = calloc(hosts, sizeof(*phase->again));
        if (phase->merge == NULL || phase->stored_next == NULL ||
            phase->again == NULL)
            err = -ENOMEM;
    }
    if (err < 0)
        live_phase_free(phase);
    else
        *ret_phase = phase;
    return err;
}

struct begin_task {
    struct task task;
    struct record_begin begin;
    struct results_phase asked;
    struct bytes cells;
    char *workloads;
};

static int run_begin(struct store_job *job, struct store_access *access)
{
    struct begin_task *task = (struct begin_task *)job;

    return record_phase_begin(access, &task->begin, &job->diag);
}

static void begin_over(struct begin_task *task)
{
    bytes_done(&task->cells);
    free(task->workloads);
    task_over(&task->task);
}

static void done_begin(struct store_job *job)
{
    struct begin_task *task = (struct begin_task *)job;

    if (!task_succeeded(&task->task))
        task->task.campaign->layout = 0; /* the next phase stores it again */
    begin_over(task);
}

static char *workload_names(const struct plan_run *run)
{
    struct object o = {json_array(), false};

    for (uint32_t i = 0; i < run->workload_count; i++) {
        json_t *name = json_string(run->workloads[i].name);

        o.failed |= json_array_append_new(
                        o.json, name == NULL ? json_string("?") : name) < 0;
    }
    return object_text(&o);
}

/* Most phases of a campaign have the layout of the one before: it is stored
 * once. */
static int give_layout(struct begin_task *task, struct live_phase *phase)
{
    struct live_campaign *campaign = phase->campaign;
    const struct plan_run *run = &campaign->plan->runs[phase->number];
    struct bytes key = {0};
    bool same;

    task->workloads = workload_names(run);
    layout_encode(phase->layout, &task->cells);
    if (task->workloads == NULL || task->cells.failed)
        return -ENOMEM;
    bytes_put(&key, task->cells.data, task->cells.length);
    bytes_put(&key, task->workloads, strlen(task->workloads));
    if (key.failed) {
        bytes_done(&key);
        return -ENOMEM;
    }
    same = campaign->layout != 0 && campaign->layout_length == key.length &&
           memcmp(campaign->layout_bytes, key.data, key.length) == 0;
    if (same) {
        bytes_done(&key);
        bytes_done(&task->cells);
    } else {
        campaign->layout = campaign->results->next_layout++;
        free(campaign->layout_bytes);
        campaign->layout_bytes = key.data;
        campaign->layout_length = key.length;
    }
    task->begin.layout = campaign->layout;
    task->begin.cells = task->cells.data;
    task->begin.cells_length = task->cells.length;
    task->begin.workloads = task->workloads;
    return 0;
}

static int submit_begin(struct live_phase *phase)
{
    struct live_campaign *campaign = phase->campaign;
    struct begin_task *task = task_new(sizeof(*task), campaign->results,
                                       campaign, phase, run_begin, done_begin);
    int err;

    if (task == NULL)
        return -ENOMEM;
    task->asked = phase->asked;
    task->begin.asked = &task->asked;
    task->begin.phase = phase->id;
    task->begin.campaign = campaign->number;
    task->begin.wall_ns = wall_now(campaign->results);
    err = give_layout(task, phase);
    if (err == 0)
        err = store_write(campaign->results->store, &task->task.job);
    if (err < 0) {
        campaign->layout = 0; /* it is not known to be stored */
        begin_over(task);
    }
    return err;
}

int results_phase_begin(struct results *results, const struct uuid *campaign,
                        uint32_t number, const struct results_phase *asked,
                        struct diag *diag)
{
    struct live_campaign *live = find_campaign(results, campaign);
    struct live_phase *phase;
    int err;

    if (live == NULL || live->plan == NULL || number >= live->plan->run_count ||
        live->ending)
        return diag_set(diag, -ENOENT, "there is no such phase");
    if (find_phase(results, campaign, number) != NULL)
        return diag_set(diag, -EEXIST, "phase %u has begun already",
                        number + 1);
    err = live_phase_new(live, number, asked, &phase);
    if (err < 0)
        return diag_set(diag, err, "cannot begin phase %u: %s", number + 1,
                        strerror(-err));
    phase->state = LIVE_MEASURING;
    phase->next = live->phases;
    live->phases = phase;
    err = submit_begin(phase);
    if (err < 0) {
        phase->state = LIVE_OVER;
        campaign_sweep(live);
        return diag_set(diag, err, "cannot store the phase: %s",
                        strerror(-err));
    }
    return 0;
}

/* ---- Starting --------------------------------------------------------------
 */

struct started_task {
    struct task task;
    uint64_t start_ns;
    uint64_t uncertainty_ns;
    int64_t wall_ns;
};

static int run_started(struct store_job *job, struct store_access *access)
{
    struct started_task *task = (struct started_task *)job;

    return record_phase_started(access, task->task.phase->id, task->start_ns,
                                task->uncertainty_ns, task->wall_ns,
                                &job->diag);
}

static void done_started(struct store_job *job)
{
    struct task *task = (struct task *)job;

    if (task_succeeded(task) && !task->results->closing)
        tell_phase(task->phase);
    task_over(task);
}

int results_phase_started(struct results *results, const struct uuid *campaign,
                          uint32_t number, uint64_t start_ns,
                          uint64_t uncertainty_ns)
{
    struct live_phase *phase = find_phase(results, campaign, number);
    struct started_task *task;
    uint64_t now_ns = clock_now_ns(results->clock);

    if (phase == NULL)
        return -ENOENT;
    task = task_new(sizeof(*task), results, phase->campaign, phase, run_started,
                    done_started);
    if (task == NULL)
        return -ENOMEM;
    merge_start(phase->merge, start_ns);
    phase->uncertainty_ns = (int64_t)uncertainty_ns;
    phase->start_wall_ns = wall_now(results) + (int64_t)(start_ns - now_ns);
    task->start_ns = start_ns;
    task->uncertainty_ns = uncertainty_ns;
    task->wall_ns = phase->start_wall_ns;
    return task_submit(&task->task);
}

/* ---- The cluster's rows ----------------------------------------------------
 */

struct row_task {
    struct task task;
    struct row *row;
};

static int run_row(struct store_job *job, struct store_access *access)
{
    struct row_task *task = (struct row_task *)job;

    return record_row(access, task->task.phase->id, task->row, &job->diag);
}

static void row_over(struct row_task *task)
{
    (void)row_free(task->row);
    task_over(&task->task);
}

static void done_row(struct store_job *job)
{
    struct row_task *task = (struct row_task *)job;

    if (task_succeeded(&task->task) && !task->task.results->closing)
        tell_row(task->task.phase, task->row);
    row_over(task);
}

static int submit_row(struct live_phase *phase, struct row *row)
{
    struct live_campaign *campaign = phase->campaign;
    struct row_task *task = task_new(sizeof(*task), campaign->results, campaign,
                                     phase, run_row, done_row);
    int err;

    if (task == NULL) {
        (void)row_free(row);
        return -ENOMEM;
    }
    task->row = row;
    task->task.job.bytes += (size_t)(row->workload_count + 1) * SAMPLE_OPS *
                            sizeof(struct histogram);
    err = store_write(campaign->results->store, &task->task.job);
    if (err < 0)
        row_over(task);
    return err;
}

void phase_break(struct live_phase *phase)
{
    if (phase->broken)
        return;
    phase->broken = true;
    merge_forget(phase->merge);
}

void phase_pump(struct live_phase *phase)
{
    uint64_t now_ns = clock_now_ns(phase->campaign->results->clock);
    struct row *row;

    while ((row = merge_next(phase->merge, now_ns)) != NULL) {
        if (phase->broken)
            (void)row_free(row); /* the store will make it of what it has */
        else if (submit_row(phase, row) < 0)
            phase_break(phase);
    }
}

/* ---- Samples ---------------------------------------------------------------
 */

struct sample_task {
    struct task task;
    struct host_row *row;
    bool rebuild;
    struct row *rebuilt; /* of the cluster, when this one was late */
};

static int run_sample(struct store_job *job, struct store_access *access)
{
    struct sample_task *task = (struct sample_task *)job;
    uint64_t phase = task->task.phase->id;
    bool fresh;
    int err = record_host_row(access, phase, task->row, &fresh, &job->diag);

    if (err == 0 && fresh)
        err = record_failures(access, phase, task->task.phase->layout,
                              task->row, &job->diag);
    if (err == 0 && task->rebuild && fresh)
        err = record_rebuild(access, phase, task->row, &task->rebuilt,
                             &job->diag);
    return err;
}

/* What is stored is stored in order: an acknowledgement covers all below. */
static void acknowledge(struct live_phase *phase, const struct host_row *row)
{
    struct results *results = phase->campaign->results;
    uint64_t *next = &phase->stored_next[row->host];
    uint64_t first = row->interval + 1 - row->spans;

    if (row->kind == SAMPLE_ROW_DRAIN)
        first = row->interval;
    if (first > *next)
        return; /* one before it is not there */
    if (row->interval + 1 > *next)
        *next = row->interval + 1;
    results->handler->stored(results->data, &phase->campaign->id, phase->number,
                             row->host, *next);
}

static void sample_over(struct sample_task *task)
{
    (void)host_row_free(task->row);
    (void)row_free(task->rebuilt);
    task_over(&task->task);
}

static void done_sample(struct store_job *job)
{
    struct sample_task *task = (struct sample_task *)job;
    struct live_phase *phase = task->task.phase;

    if (task_succeeded(&task->task) && !task->task.results->closing) {
        acknowledge(phase, task->row);
        if (task->rebuilt != NULL)
            tell_row(phase, task->rebuilt);
        if (task->row->late && phase->state == LIVE_TOTALLED)
            phase_total(phase);
    }
    sample_over(task);
}

static size_t bytes_of(const struct host_row *row)
{
    size_t bytes = 0;

    for (uint32_t p = 0; p < row->part_count; p++)
        for (uint32_t i = 0; i < row->parts[p]->cell_count; i++)
            bytes += sizeof(struct sample_cell) +
                     row->parts[p]->cells[i].service_length +
                     row->parts[p]->cells[i].response_length;
    return bytes;
}

static int submit_sample(struct live_phase *phase, struct host_row *row)
{
    struct live_campaign *campaign = phase->campaign;
    struct sample_task *task =
        task_new(sizeof(*task), campaign->results, campaign, phase, run_sample,
                 done_sample);
    int err;

    if (task == NULL) {
        (void)host_row_free(row);
        return -ENOMEM;
    }
    task->row = row;
    task->rebuild = row->late && !phase->broken;
    task->task.job.bytes += bytes_of(row);
    err = store_write(campaign->results->store, &task->task.job);
    if (err < 0)
        sample_over(task);
    return err;
}

int results_sample(struct results *results, const struct uuid *campaign,
                   uint32_t number, struct sample *sample, struct diag *diag)
{
    struct live_phase *phase = find_phase(results, campaign, number);
    uint32_t host = sample->host;
    struct host_row *row;
    bool again;
    int err;

    if (phase == NULL)
        return diag_set(diag, -ENOENT,
                        "a sample of phase %u, which is not open", number + 1);
    if (results_busy(results))
        return diag_set(diag, -EAGAIN, "the store is behind");
    err = merge_take(phase->merge, sample, &row, &again, diag);
    if (err < 0)
        return err;
    if (again) {
        phase->again[host] = true;
        results->wake(results->data);
    }
    if (row == NULL)
        return 0;
    if (row->late)
        phase_pump(phase); /* rows that it goes into come first */
    if (submit_sample(phase, row) < 0)
        phase_break(phase); /* it is not acknowledged, and comes again */
    else
        phase_pump(phase);
    return 0;
}

uint64_t phase_poll(struct live_phase *phase)
{
    struct results *results = phase->campaign->results;

    for (uint32_t h = 0; h < phase->layout->host_count; h++) {
        if (!phase->again[h])
            continue;
        phase->again[h] = false;
        if (phase->stored_next[h] > 0)
            results->handler->stored(results->data, &phase->campaign->id,
                                     phase->number, h, phase->stored_next[h]);
    }
    if (phase->state == LIVE_MEASURING)
        phase_pump(phase);
    return merge_due_ns(phase->merge);
}

/* ---- Hosts -----------------------------------------------------------------
 */

struct host_task {
    struct task task;
    uint32_t host;
    uint64_t interval;
    struct results_stuck *stuck;
    uint32_t stuck_count;
    char reason[REASON_SIZE];
    bool lost;
};

struct ready_task {
    struct task task;
    uint32_t host;
    char engine[REASON_SIZE];
    char placement[RESULTS_PLACEMENT_MAX + 1];
};

static int run_ready(struct store_job *job, struct store_access *access)
{
    const struct ready_task *task = (const struct ready_task *)job;

    return record_host_ready(access, task->task.phase->id, task->host,
                             task->engine, task->placement, &job->diag);
}

int results_host_ready(struct results *results, const struct uuid *campaign,
                       uint32_t number, uint32_t host, const char *engine,
                       const char *placement)
{
    struct live_phase *phase = find_phase(results, campaign, number);
    struct ready_task *task;

    if (phase == NULL)
        return -ENOENT;
    if (host >= phase->layout->host_count)
        return -EINVAL;
    task = task_new(sizeof(*task), results, phase->campaign, phase, run_ready,
                    task_done);
    if (task == NULL)
        return -ENOMEM;
    task->host = host;
    (void)snprintf(task->engine, sizeof(task->engine), "%s", engine);
    (void)snprintf(task->placement, sizeof(task->placement), "%s", placement);
    return task_submit(&task->task);
}

static int run_finished(struct store_job *job, struct store_access *access)
{
    struct host_task *task = (struct host_task *)job;

    return record_host_finished(access, task->task.phase->id, task->host,
                                task->interval, task->stuck, task->stuck_count,
                                &job->diag);
}

int results_host_finished(struct results *results, const struct uuid *campaign,
                          uint32_t number, uint32_t host, uint64_t intervals,
                          const struct results_stuck *stuck,
                          uint32_t stuck_count)
{
    struct live_phase *phase = find_phase(results, campaign, number);
    struct host_task *task;

    if (phase == NULL)
        return -ENOENT;
    if (host >= phase->layout->host_count || stuck_count > STUCK_MAX)
        return -EINVAL;
    task = task_new_copying(sizeof(*task), 65536 + STUCK_MAX * sizeof(*stuck),
                            results, phase->campaign, phase, run_finished,
                            task_done);
    if (task == NULL)
        return -ENOMEM;
    task->host = host;
    task->interval = intervals;
    task->stuck_count = stuck_count;
    if (stuck_count > 0) {
        task->stuck =
            ARENA_ARRAY(task->task.arena, stuck_count, struct results_stuck);
        if (task->stuck == NULL) {
            task_over(&task->task);
            return -ENOMEM;
        }
        memcpy(task->stuck, stuck, stuck_count * sizeof(*stuck));
    }
    merge_host_finished(phase->merge, host, intervals);
    if (phase->state == LIVE_MEASURING)
        phase_pump(phase);
    return task_submit(&task->task);
}

static int run_lost(struct store_job *job, struct store_access *access)
{
    struct host_task *task = (struct host_task *)job;

    return record_host_lost(access, task->task.phase->id, task->host,
                            task->interval, task->lost ? task->reason : NULL,
                            &job->diag);
}

static int note_host(struct live_phase *phase, uint32_t host,
                     const char *reason)
{
    struct live_campaign *campaign = phase->campaign;
    struct host_task *task = task_new(sizeof(*task), campaign->results,
                                      campaign, phase, run_lost, task_done);

    if (task == NULL)
        return -ENOMEM;
    task->host = host;
    task->lost = reason != NULL;
    task->interval = merge_host_next(phase->merge, host);
    if (reason != NULL)
        (void)strncat(task->reason, reason, sizeof(task->reason) - 1);
    return task_submit(&task->task);
}

int results_host_lost(struct results *results, const struct uuid *campaign,
                      uint32_t number, uint32_t host, const char *reason)
{
    struct live_phase *phase = find_phase(results, campaign, number);

    if (phase == NULL)
        return -ENOENT;
    if (host >= phase->layout->host_count || !phase->layout->takes_part[host])
        return 0;
    merge_host_lost(phase->merge, host);
    if (phase->state == LIVE_MEASURING)
        phase_pump(phase);
    return note_host(phase, host, reason == NULL ? "" : reason);
}

int results_host_back(struct results *results, const struct uuid *campaign,
                      uint32_t number, uint32_t host)
{
    struct live_phase *phase = find_phase(results, campaign, number);

    if (phase == NULL)
        return -ENOENT;
    if (host >= phase->layout->host_count || !phase->layout->takes_part[host])
        return 0;
    merge_host_back(phase->merge, host);
    return note_host(phase, host, NULL);
}
