#include "controller/results/inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void *task_new(size_t size, struct results *results,
               struct live_campaign *campaign, struct live_phase *phase,
               task_run_fn *run, task_done_fn *done)
{
    struct task *task = calloc(1, size);

    if (task == NULL)
        return NULL;
    task->job.run = run;
    task->job.done = done;
    task->job.bytes = size;
    task->results = results;
    task->campaign = campaign;
    task->phase = phase;
    if (campaign != NULL)
        campaign->tasks++;
    if (phase != NULL)
        phase->tasks++;
    return task;
}

void *task_new_copying(size_t size, size_t arena_max, struct results *results,
                       struct live_campaign *campaign, struct live_phase *phase,
                       task_run_fn *run, task_done_fn *done)
{
    struct task *task = task_new(size, results, campaign, phase, run, done);

    if (task == NULL)
        return NULL;
    task->arena = arena_new(arena_max);
    if (task->arena == NULL) {
        task_over(task);
        return NULL;
    }
    return task;
}

int task_submit(struct task *task)
{
    int err = store_write(task->results->store, &task->job);

    if (err < 0)
        task_over(task);
    return err;
}

void task_over(struct task *task)
{
    struct live_campaign *campaign = task->campaign;

    if (task->phase != NULL)
        task->phase->tasks--;
    if (campaign != NULL)
        campaign->tasks--;
    (void)arena_free(task->arena);
    free(task);
    if (campaign != NULL)
        campaign_sweep(campaign);
}

void tell_failed(struct live_campaign *campaign, const struct diag *why)
{
    struct results *results = campaign->results;
    bool first = !campaign->failed_told;

    campaign->failed_told = true;
    if (first && !results->closing)
        results->handler->failed(results->data, &campaign->id, why);
}

bool task_succeeded(struct task *task)
{
    if (task->job.result < 0) {
        if (task->phase != NULL)
            phase_break(task->phase);
        if (task->campaign != NULL)
            tell_failed(task->campaign, &task->job.diag);
        return false;
    }
    if (task->campaign != NULL)
        task->campaign->failed_told = false;
    return true;
}

void task_done(struct store_job *job)
{
    struct task *task = (struct task *)job;

    (void)task_succeeded(task);
    task_over(task);
}
