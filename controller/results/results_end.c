/*
 * How phases end: rows closed, totals made from the store, the verdict.
 *
 * A chain of tasks: one on the writer, so that all samples before it are
 * written (and rows are made anew where some did not get there); one on the
 * reader, which adds up; one on the writer, which keeps the sums; then the
 * verdict, when it is known.
 */
#include "controller/results/inside.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct total_task {
    struct task task;
    bool broken;
    struct totals *totals;
};

static void next_total(struct total_task *from, task_run_fn *run,
                       task_done_fn *done, bool reads);

/* ---- Verdicts --------------------------------------------------------------
 */

struct verdict_task {
    struct task task;
    enum record_phase_state state;
    enum verdict verdict;
    int64_t wall_ns;
    char error[REASON_SIZE];
};

static int run_verdict(struct store_job *job, struct store_access *access)
{
    struct verdict_task *task = (struct verdict_task *)job;
    uint64_t phase = task->task.phase->id;

    return record_phase_verdict(access, phase, task->state, task->verdict,
                                task->error[0] == '\0' ? NULL : task->error,
                                task->wall_ns, &job->diag);
}

static void phase_is_over(struct live_phase *phase)
{
    phase->state = LIVE_OVER;
    campaign_advance(phase->campaign);
}

static void done_verdict(struct store_job *job)
{
    struct verdict_task *task = (struct verdict_task *)job;
    struct live_phase *phase = task->task.phase;

    if (task_succeeded(&task->task) && !task->task.results->closing)
        tell_phase_end(phase, task->verdict,
                       task->error[0] == '\0' ? NULL : task->error);
    if (!task->task.results->closing)
        phase_is_over(phase);
    task_over(&task->task);
}

/* "h2 has 57 of 60": the hosts that lack measured intervals, some of them. */
static void describe_missing(const struct live_phase *phase, char *text,
                             size_t size)
{
    const struct totals *totals = phase->totals;
    const struct plan *plan = phase->campaign->plan;
    uint32_t named = 0, lacking = totals->host_count - totals_measured(totals);
    size_t length = (size_t)snprintf(
        text, size, "%u of %u hosts lack measured intervals:", lacking,
        totals->host_count);

    for (uint32_t i = 0; i < totals->host_count && named < 8; i++) {
        const struct totals_host *host = &totals->hosts[i];

        if (host->intervals == totals->intervals)
            continue;
        length += (size_t)snprintf(
            text + length, size - length, "%s %.*s has %llu of %llu",
            named == 0 ? "" : ",", 64, plan->hosts[host->host].label,
            (unsigned long long)host->intervals,
            (unsigned long long)totals->intervals);
        named++;
    }
    if (lacking > named)
        (void)snprintf(text + length, size - length, ", and others");
}

/* What can be said is no better than what is in the store. */
static void settle(const struct live_phase *phase, struct verdict_task *task)
{
    const struct totals *totals = phase->totals;

    task->verdict = phase->verdict;
    if (phase->error != NULL)
        (void)strncat(task->error, phase->error, sizeof(task->error) - 1);
    if (task->verdict == VERDICT_COMPLETE && totals != NULL &&
        totals->intervals > 0 && totals_measured(totals) < totals->host_count) {
        task->verdict = VERDICT_DEGRADED;
        describe_missing(phase, task->error, sizeof(task->error));
    }
    if (task->verdict == VERDICT_COMPLETE && phase->broken) {
        task->verdict = VERDICT_FAILED;
        (void)snprintf(task->error, sizeof(task->error),
                       "some of what was measured could not be stored");
    }
}

/* Stores the verdict if it is known and the totals are there. */
static void try_verdict(struct live_phase *phase)
{
    struct live_campaign *campaign = phase->campaign;
    struct verdict_task *task;

    if (phase->state != LIVE_TOTALLED || phase->totalling ||
        phase->verdict == VERDICT_NONE || phase->verdict_stored ||
        campaign->results->closing)
        return;
    task = task_new(sizeof(*task), campaign->results, campaign, phase,
                    run_verdict, done_verdict);
    if (task != NULL) {
        task->state = RECORD_PHASE_DONE;
        task->wall_ns = wall_now(campaign->results);
        settle(phase, task);
        phase->verdict_stored = task_submit(&task->task) == 0;
    }
    if (!phase->verdict_stored)
        phase_is_over(phase);
}

/* ---- Totals ----------------------------------------------------------------
 */

static const struct totals_item *cluster_of(const struct totals *totals)
{
    for (uint32_t i = 0; totals != NULL && i < totals->item_count; i++)
        if (totals->items[i].scope == RECORD_CLUSTER)
            return &totals->items[i];
    return NULL;
}

static struct results_total total_of(const struct live_phase *phase, bool good)
{
    const struct totals *totals = phase->totals;
    const struct totals_item *cluster = cluster_of(totals);
    struct results_total total = {
        .iops = NAN,
        .mib_s = NAN,
        .start_spread_ns = totals == NULL ? -1 : totals->spread_ns,
        .verdict = good ? phase->verdict : VERDICT_FAILED,
        .hosts_planned = phase->layout->takes_part_count,
        .hosts_measured = totals == NULL ? 0 : totals_measured(totals),
        .failures = totals == NULL ? 0 : totals->failures,
        .first_failure = totals == NULL ? "" : totals->first_failure,
    };

    if (cluster == NULL)
        return total;
    for (int op = 0; op < SAMPLE_OPS; op++)
        total.ios += cluster->sum.n[op].ios;
    total.iops = rate_of(total.ios, totals_window_ns(totals));
    total.mib_s = rate_of(cluster->sum.n[SAMPLE_READ].bytes +
                              cluster->sum.n[SAMPLE_WRITE].bytes,
                          totals_window_ns(totals)) /
                  1048576;
    return total;
}

/* Of both operations; NULL: none, or no memory.  free() it. */
static struct histogram *sum_of(const struct blob *blobs)
{
    struct histogram *sum = malloc(sizeof(*sum));

    if (sum == NULL)
        return NULL;
    histogram_init(sum);
    for (int op = 0; op < SAMPLE_OPS; op++)
        if (blobs[op].data != NULL &&
            histogram_merge_blob(sum, blobs[op].data, blobs[op].length) < 0)
            histogram_init(sum);
    if (sum->count > 0)
        return sum;
    free(sum);
    return NULL;
}

static void tell_total(struct live_phase *phase, bool good)
{
    struct results *results = phase->campaign->results;
    const struct totals_item *cluster = cluster_of(phase->totals);
    struct results_total total = total_of(phase, good);
    struct histogram *service = NULL, *response = NULL;

    if (cluster != NULL) {
        service = sum_of(cluster->sum.service);
        response = sum_of(cluster->sum.response);
    }
    total.service = service;
    total.response = response;
    results->handler->phase_done(results->data, &phase->campaign->id,
                                 phase->number, &total);
    free(service);
    free(response);
}

/* The end of the chain, well or badly. */
static void totalled(struct live_phase *phase, bool good)
{
    struct results *results = phase->campaign->results;
    bool first = !phase->told;

    phase->totalling = false;
    phase->state = LIVE_TOTALLED;
    if (results->closing)
        return;
    if (first) {
        phase->told = true;
        tell_total(phase, good);
    }
    try_verdict(phase);
}

static void chain_over(struct total_task *task, bool good)
{
    totalled(task->task.phase, good);
    (void)totals_free(task->totals);
    task_over(&task->task);
}

static int run_write(struct store_job *job, struct store_access *access)
{
    struct total_task *task = (struct total_task *)job;

    return totals_write(access, task->totals, &job->diag);
}

static void done_write(struct store_job *job)
{
    struct total_task *task = (struct total_task *)job;
    struct live_phase *phase = task->task.phase;
    bool good = task_succeeded(&task->task);

    if (good) {
        (void)totals_free(phase->totals);
        phase->totals = TAKE(task->totals);
    }
    chain_over(task, good);
}

static int run_read(struct store_job *job, struct store_access *access)
{
    struct total_task *task = (struct total_task *)job;

    return totals_read(access, task->task.phase->id, &task->totals, &job->diag);
}

static void done_read(struct store_job *job)
{
    struct total_task *task = (struct total_task *)job;

    if (!task_succeeded(&task->task) || task->task.results->closing)
        chain_over(task, false);
    else
        next_total(task, run_write, done_write, false);
}

static int run_settle(struct store_job *job, struct store_access *access)
{
    struct total_task *task = (struct total_task *)job;
    int err = 0;

    if (task->broken)
        err = record_forget_rows(access, task->task.phase->id, &job->diag);
    return err < 0 || !task->broken
               ? err
               : record_rebuild_missing(access, task->task.phase->id,
                                        &job->diag);
}

static void done_settle(struct store_job *job)
{
    struct total_task *task = (struct total_task *)job;

    if (!task_succeeded(&task->task) || task->task.results->closing)
        chain_over(task, false);
    else
        next_total(task, run_read, done_read, true);
}

/* Hands the task on to its next step. */
static void next_total(struct total_task *task, task_run_fn *run,
                       task_done_fn *done, bool reads)
{
    struct store *store = task->task.results->store;
    int err;

    task->task.job.run = run;
    task->task.job.done = done;
    err = reads ? store_read(store, &task->task.job)
                : store_write(store, &task->task.job);
    if (err == 0)
        return;
    task->task.job.result =
        diag_set(&task->task.job.diag, err, "cannot make a phase's totals: %s",
                 strerror(-err));
    (void)task_succeeded(&task->task);
    chain_over(task, false);
}

void phase_total(struct live_phase *phase)
{
    struct live_campaign *campaign = phase->campaign;
    struct total_task *task;

    if (phase->totalling)
        return; /* what came since is added up by a verdict's own round */
    merge_end(phase->merge);
    phase_pump(phase);
    task = task_new(sizeof(*task), campaign->results, campaign, phase,
                    run_settle, done_settle);
    if (task == NULL) {
        totalled(phase, false);
        return;
    }
    phase->totalling = true;
    phase->state = LIVE_ENDING;
    task->broken = phase->broken;
    next_total(task, run_settle, done_settle, false);
}

int results_phase_end(struct results *results, const struct uuid *campaign,
                      uint32_t number, enum verdict verdict, const char *error)
{
    struct live_phase *phase = find_phase(results, campaign, number);

    if (phase == NULL)
        return -ENOENT;
    if (!phase_is_open(phase))
        return -EALREADY;
    if (verdict != VERDICT_NONE) {
        phase->verdict = verdict;
        phase->error = error == NULL ? NULL : strdup(error);
    }
    phase_total(phase);
    return 0;
}

int results_phase_verdict(struct results *results, const struct uuid *campaign,
                          uint32_t number, enum verdict verdict,
                          const char *error)
{
    struct live_phase *phase = find_phase(results, campaign, number);

    if (phase == NULL)
        return -ENOENT;
    if (phase->verdict_stored)
        return -EALREADY;
    phase->verdict = verdict;
    free(phase->error);
    phase->error = error == NULL || error[0] == '\0' ? NULL : strdup(error);
    if (phase_is_open(phase))
        phase_total(phase); /* it never had any: e.g. not prepared */
    else
        try_verdict(phase);
    return 0;
}

/* ---- Phases that are not run -----------------------------------------------
 */

struct skip_task {
    struct task task;
    uint64_t phase;
    int64_t wall_ns;
    char reason[REASON_SIZE];
};

static int run_skip(struct store_job *job, struct store_access *access)
{
    struct skip_task *task = (struct skip_task *)job;

    return record_phase_verdict(access, task->phase, RECORD_PHASE_SKIPPED,
                                VERDICT_NONE, task->reason, task->wall_ns,
                                &job->diag);
}

int results_phase_skipped(struct results *results, const struct uuid *campaign,
                          uint32_t number, const char *reason)
{
    struct live_campaign *live = find_campaign(results, campaign);
    struct skip_task *task;

    if (live == NULL || live->plan == NULL || number >= live->plan->run_count)
        return -ENOENT;
    task = task_new(sizeof(*task), results, live, NULL, run_skip, task_done);
    if (task == NULL)
        return -ENOMEM;
    task->phase = live->first_phase + number;
    task->wall_ns = wall_now(results);
    (void)strncat(task->reason, reason == NULL ? "" : reason,
                  sizeof(task->reason) - 1);
    return task_submit(&task->task);
}

/* ---- What an earlier controller left ---------------------------------------
 */

struct abandon_task {
    struct task task;
    uint64_t campaign;
    uint64_t *phases;
    uint32_t phase_count;
    const char *reason;
    int64_t wall_ns;
};

/* What its phases had measured is not lost. */
static int total_abandoned(struct store_access *access, uint64_t phase,
                           struct diag *diag)
{
    struct totals *totals = NULL;
    int err = record_rebuild_missing(access, phase, diag);

    if (err == 0)
        err = totals_read(access, phase, &totals, diag);
    if (err == 0)
        err = totals_write(access, totals, diag);
    (void)totals_free(totals);
    return err;
}

static int run_abandon(struct store_job *job, struct store_access *access)
{
    struct abandon_task *task = (struct abandon_task *)job;
    enum verdict verdict;
    const char *error;
    int err = 0;

    for (uint32_t i = 0; i < task->phase_count && err == 0; i++)
        err = total_abandoned(access, task->phases[i], &job->diag);
    return err < 0 ? err
                   : record_campaign_end(access, task->campaign, VERDICT_FAILED,
                                         task->reason, task->wall_ns, &verdict,
                                         &error, &job->diag);
}

int end_abandoned(struct results *results, uint64_t campaign,
                  const uint64_t *phases, uint32_t phase_count,
                  const char *reason)
{
    struct abandon_task *task = task_new_copying(
        sizeof(*task), 131072 + (size_t)phase_count * sizeof(*phases), results,
        NULL, NULL, run_abandon, task_done);

    if (task == NULL)
        return -ENOMEM;
    task->campaign = campaign;
    task->phases = ARENA_ARRAY(task->task.arena, phase_count + 1, uint64_t);
    task->reason = arena_strdup(task->task.arena, reason);
    if (task->phases == NULL || task->reason == NULL) {
        task_over(&task->task);
        return -ENOMEM;
    }
    memcpy(task->phases, phases, phase_count * sizeof(*phases));
    task->phase_count = phase_count;
    task->wall_ns = wall_now(results);
    return task_submit(&task->task);
}
