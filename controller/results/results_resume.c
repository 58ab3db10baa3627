/*
 * Phases that go on after the controller was restarted: what the store has of
 * them is read before anything is taken for them.
 */
#include "controller/results/chunk.h"
#include "controller/results/inside.h"
#include "controller/results/statement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KINDS (SAMPLE_ROW_DRAIN + 1u)

struct resume_task {
    struct task task;
    uint64_t closed; /* intervals of the cluster */
    uint64_t *next;  /* by host: stored without a gap, the drain included */
    bool *drained;
    int64_t start_wall_ns;
    int64_t uncertainty_ns;
    struct results_sum *sums; /* room for sums_max() */
    uint32_t sum_count;
};

/* ---- On the store's threads ------------------------------------------------
 */

static int read_phase(struct resume_task *task, struct store_access *access,
                      struct diag *diag)
{
    struct statement s;
    int got;

    statement_begin(&s, access,
                    "SELECT coalesce(started_ns, 0), "
                    "coalesce(uncertainty_ns, -1), coalesce((SELECT "
                    "max(interval) + 1 FROM cluster_interval AS c "
                    "WHERE c.phase = p.id AND drain = 0), 0) "
                    "FROM phase AS p WHERE id = ?");
    statement_uint(&s, task->task.phase->id);
    got = statement_step(&s, diag);
    if (got == 1) {
        task->start_wall_ns = statement_get_int(&s);
        task->uncertainty_ns = statement_get_int(&s);
        task->closed = statement_get_uint(&s);
    }
    statement_end(&s);
    return got < 0 ? got : 0;
}

/* Hosts deliver in order: the last row says how far each has come. */
static int read_hosts(struct resume_task *task, struct store_access *access,
                      struct diag *diag)
{
    struct statement s;
    int got;

    statement_begin(&s, access,
                    "SELECT host, max(interval) + 1, max(drain) "
                    "FROM host_interval WHERE phase = ? GROUP BY host");
    statement_uint(&s, task->task.phase->id);
    while ((got = statement_step(&s, diag)) == 1) {
        uint64_t host = statement_get_uint(&s);

        if (host >= task->task.phase->layout->host_count)
            continue;
        task->next[host] = statement_get_uint(&s);
        task->drained[host] = statement_get_int(&s) != 0;
    }
    statement_end(&s);
    return got;
}

/* Of a curve's maximum the drives may be asked for: it is short, as a rule. */
static bool sums_cells(const struct live_phase *phase)
{
    const struct plan *plan = phase->campaign->plan;

    return plan->runs[phase->number].rate.kind == PLAN_RATE_CURVE;
}

static uint32_t sums_max(const struct live_phase *phase)
{
    return KINDS * (sums_cells(phase) ? phase->layout->cell_count
                                      : phase->layout->workload_count);
}

static void add_cell(struct results_sum *sum, const struct sample_cell *cell)
{
    sum->op[cell->op].ios += cell->ios;
    sum->op[cell->op].bytes += cell->bytes;
    sum->op[cell->op].errors += cell->errors;
}

static int add_chunk(struct resume_task *task, enum sample_kind kind,
                     const uint8_t *data, size_t length)
{
    uint32_t cells = task->task.phase->layout->cell_count;
    struct chunk_reader reader;
    struct sample_cell cell;
    int got = chunk_open(&reader, data, length);

    if (got == 0)
        got = chunk_next(&reader, &cell);
    while (got == 1 && cell.cell < cells) {
        add_cell(&task->sums[cell.cell * KINDS + kind], &cell);
        got = chunk_next(&reader, &cell);
    }
    return got;
}

/* By cell: from the samples themselves. */
static int read_cells(struct resume_task *task, struct store_access *access,
                      struct diag *diag)
{
    struct statement s;
    const uint8_t *data;
    size_t length;
    int64_t kind;
    int got;

    task->sum_count = sums_max(task->task.phase);
    for (uint32_t i = 0; i < task->sum_count; i++) {
        task->sums[i].cell = i / KINDS;
        task->sums[i].kind = (enum sample_kind)(i % KINDS);
    }
    statement_begin(&s, access,
                    "SELECT kind, cells FROM sample WHERE phase = ?");
    statement_uint(&s, task->task.phase->id);
    while ((got = statement_step(&s, diag)) == 1) {
        kind = statement_get_int(&s);
        data = statement_get_blob(&s, &length);
        if (kind < 0 || kind >= KINDS ||
            add_chunk(task, (enum sample_kind)kind, data, length) != 0) {
            got = diag_set(diag, -EUCLEAN, "store '%s': %s", access->path,
                           statement_remedy(-EUCLEAN));
            break;
        }
    }
    statement_end(&s);
    return got;
}

static uint32_t first_cell(const struct layout *layout, uint32_t workload)
{
    uint32_t cell = 0;

    while (cell < layout->cell_count &&
           layout->cells[cell].workload != workload)
        cell++;
    return cell;
}

static void get_sum(struct statement *s, struct resume_task *task)
{
    const struct layout *layout = task->task.phase->layout;
    struct results_sum *to = &task->sums[task->sum_count];
    int64_t kind;

    to->cell = first_cell(layout, (uint32_t)statement_get_uint(s));
    kind = statement_get_int(s);
    if (to->cell >= layout->cell_count || kind < 0 || kind >= KINDS)
        return;
    to->kind = (enum sample_kind)kind;
    for (int op = 0; op < SAMPLE_OPS; op++) {
        to->op[op].ios = statement_get_uint(s);
        to->op[op].bytes = statement_get_uint(s);
        to->op[op].errors = statement_get_uint(s);
    }
    task->sum_count++;
}

static int read_workloads(struct resume_task *task, struct store_access *access,
                          struct diag *diag)
{
    struct statement s;
    int got;

    statement_begin(&s, access,
                    "SELECT workload, kind, sum(w.read_ios), "
                    "sum(w.read_bytes), sum(w.read_errors), sum(w.write_ios), "
                    "sum(w.write_bytes), sum(w.write_errors) "
                    "FROM workload_interval AS w JOIN cluster_interval "
                    "USING (phase, interval, drain) WHERE phase = ? "
                    "GROUP BY workload, kind");
    statement_uint(&s, task->task.phase->id);
    while ((got = statement_step(&s, diag)) == 1 &&
           task->sum_count < sums_max(task->task.phase))
        get_sum(&s, task);
    statement_end(&s);
    return got < 0 ? got : 0;
}

/* Rows that the restart left out are made first. */
static int run_resume(struct store_job *job, struct store_access *access)
{
    struct resume_task *task = (struct resume_task *)job;
    int err = record_rebuild_missing(access, task->task.phase->id, &job->diag);

    if (err == 0)
        err = read_phase(task, access, &job->diag);
    if (err == 0)
        err = sums_cells(task->task.phase)
                  ? read_cells(task, access, &job->diag)
                  : read_workloads(task, access, &job->diag);
    return err < 0 ? err : read_hosts(task, access, &job->diag);
}

/* ---- On the loop -----------------------------------------------------------
 */

/* Merging goes on behind what is there.  Of a drained host, the drain's number
 * is not an interval. */
static void prime(struct live_phase *phase, const struct resume_task *task)
{
    merge_resume(phase->merge, task->closed);
    for (uint32_t h = 0; h < phase->layout->host_count; h++) {
        bool drained = task->drained[h];

        phase->stored_next[h] = task->next[h];
        phase->again[h] = task->next[h] > 0; /* it may not know */
        merge_resume_host(phase->merge, h, task->next[h] - (drained ? 1 : 0),
                          drained);
    }
}

static void resume_over(struct resume_task *task)
{
    free(task->next);
    free(task->drained);
    free(task->sums);
    task->task.results->loading--;
    task_over(&task->task);
}

static void tell_resumed(const struct resume_task *task)
{
    const struct live_phase *phase = task->task.phase;
    struct results *results = task->task.results;
    const struct results_past past = {
        .next = task->next,
        .host_count = phase->layout->host_count,
        .sums = task->sums,
        .sum_count = task->sum_count,
    };

    if (!results->closing)
        results->handler->resumed(results->data, &phase->campaign->id,
                                  phase->number, &past);
}

static void done_resume(struct store_job *job)
{
    struct resume_task *task = (struct resume_task *)job;
    struct live_phase *phase = task->task.phase;

    if (task_succeeded(&task->task))
        prime(phase, task);
    if (task->start_wall_ns != 0)
        phase->start_wall_ns = task->start_wall_ns;
    phase->uncertainty_ns = task->uncertainty_ns;
    if (phase->state == LIVE_LOADING)
        phase->state = LIVE_MEASURING; /* else it was ended meanwhile */
    tell_resumed(task);
    resume_over(task);
}

static int submit_resume(struct live_phase *phase)
{
    struct live_campaign *campaign = phase->campaign;
    struct results *results = campaign->results;
    struct resume_task *task = task_new(sizeof(*task), results, campaign, phase,
                                        run_resume, done_resume);
    size_t hosts = (size_t)phase->layout->host_count + 1;
    int err = -ENOMEM;

    if (task == NULL)
        return err;
    results->loading++;
    task->next = calloc(hosts, sizeof(*task->next));
    task->drained = calloc(hosts, sizeof(*task->drained));
    task->sums = calloc(sums_max(phase) + 1u, sizeof(*task->sums));
    if (task->next != NULL && task->drained != NULL && task->sums != NULL)
        err = store_write(results->store, &task->task.job);
    if (err < 0)
        resume_over(task);
    return err;
}

int results_phase_resume(struct results *results, const struct uuid *campaign,
                         uint32_t number, const struct results_phase *asked,
                         uint64_t start_ns, struct diag *diag)
{
    struct live_campaign *live = find_campaign(results, campaign);
    struct live_phase *phase;
    int err;

    if (live == NULL || live->plan == NULL || live->phases_there == 0 ||
        number >= live->plan->run_count || live->ending ||
        find_phase(results, campaign, number) != NULL)
        return diag_set(diag, -ENOENT, "there is no phase %u to go on with",
                        number + 1);
    err = live_phase_new(live, number, asked, &phase);
    if (err < 0)
        return diag_set(diag, err, "cannot go on with phase %u: %s", number + 1,
                        strerror(-err));
    phase->next = live->phases;
    live->phases = phase;
    if (start_ns > 0) {
        merge_start(phase->merge, start_ns);
        phase->start_wall_ns =
            wall_now(results) +
            (int64_t)(start_ns - clock_now_ns(results->clock));
    }
    err = submit_resume(phase);
    if (err < 0) {
        phase->state = LIVE_OVER;
        campaign_sweep(live);
        return diag_set(diag, err, "cannot go on with phase %u: %s", number + 1,
                        strerror(-err));
    }
    return 0;
}
