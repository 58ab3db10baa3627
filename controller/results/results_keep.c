/* results_keep.c - when retention is at work; see retention.h, inside.h. */
#include "controller/results/inside.h"

/* How often it is looked whether a campaign has become old. */
#define KEEP_EVERY_NS (3600 * NS_PER_S)

struct keep_task {
    struct task task;
    int64_t before_ns;
    bool more;
};

static int run_step(struct store_job *job, struct store_access *access)
{
    struct keep_task *keep = (struct keep_task *)job;

    return retention_step(&keep->task.results->retention, access,
                          keep->before_ns, &keep->more, &job->diag);
}

/* A store that fails says so to those that it fails; here it is tried again
 * later, from the beginning of the phase. */
static void step_done(struct store_job *job)
{
    struct keep_task *keep = (struct keep_task *)job;
    struct results *results = keep->task.results;
    bool failed = job->result < 0;

    if (failed)
        results->retention.phase = 0;
    results->retention_due_ns = clock_now_ns(results->clock) +
                                (keep->more && !failed ? 0 : KEEP_EVERY_NS);
    task_over(&keep->task);
}

static bool submit_step(struct results *results)
{
    struct keep_task *keep =
        task_new(sizeof(*keep), results, NULL, NULL, run_step, step_done);

    if (keep == NULL)
        return false;
    keep->before_ns = wall_now(results) - (int64_t)results->retention_ns;
    return task_submit(&keep->task) == 0;
}

void keep_poll(struct results *results)
{
    uint64_t now_ns = clock_now_ns(results->clock);

    if (results->retention_due_ns > now_ns)
        return;
    /* Samples go first: a queue that is half full is left alone. */
    if (!store_busy(results->store) && submit_step(results))
        results->retention_due_ns = UINT64_MAX;
    else
        results->retention_due_ns = now_ns + NS_PER_S;
}
