/*
 * Questions: answered by the store's reader, told by the loop.
 */
#include "controller/results/inside.h"
#include "controller/results/query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ASKED_MAX 64

struct query_task {
    struct task task;
    enum results_query query;
    struct query_export piece;
    bool cells;
    bool pinned;
    int refused; /* of a pin: why nothing was written */
    char asked[ASKED_MAX];
    int64_t wall_ns;
    struct query_found found;
    struct bytes text;
    void (*answered)(void *data, const struct results_answer *answer);
    void *data;
};

static int run_on_campaign(struct query_task *task, struct store_access *access)
{
    struct diag *diag = &task->task.job.diag;
    int err = query_find(access, task->asked, &task->found, diag);

    if (err < 0)
        return err;
    if (task->query == RESULTS_QUERY_STATUS)
        return query_status(access, &task->found, task->wall_ns, &task->text,
                            diag);
    if (task->query == RESULTS_QUERY_WATCH)
        return query_watch(access, &task->found, task->wall_ns, &task->text,
                           diag);
    if (task->query == RESULTS_QUERY_EXPORT)
        return query_export(access, &task->found, &task->piece, &task->text,
                            diag);
    if (task->query == RESULTS_QUERY_RUNS)
        return query_runs(access, &task->found, &task->text, diag);
    if (task->query == RESULTS_QUERY_LIVE)
        return query_live(access, &task->found, task->cells, &task->text, diag);
    return query_show(access, &task->found, &task->text, diag);
}

static int run_query(struct store_job *job, struct store_access *access)
{
    struct query_task *task = (struct query_task *)job;
    int err;

    if (task->query == RESULTS_QUERY_CAMPAIGNS)
        err = query_campaigns(access, &task->text, &job->diag);
    else if (task->query == RESULTS_QUERY_AUDIT)
        err = query_audit(access, &task->text, &job->diag);
    else
        err = run_on_campaign(task, access);

    if (err == 0 && task->text.failed)
        err = diag_set(&job->diag, -ENOMEM,
                       "the answer is longer than the controller can make");
    return err;
}

/* {"error": ...}: a document, whatever goes wrong. */
static char *error_text(const struct diag *diag)
{
    struct object o = object_new();

    object_put(&o, "verdict", json_null());
    object_put_text(&o, "error", diag->text);
    return object_text(&o);
}

static int write_pin(struct query_task *task, struct store_access *access)
{
    struct object o = object_new();
    struct statement s;

    object_put_count(&o, "campaign", task->found.number);
    object_put_bool(&o, "pinned", task->pinned);
    object_write(&o, false, &task->text);
    statement_begin(&s, access,
                    "UPDATE campaign SET pinned = ?2 WHERE id = ?1");
    statement_uint(&s, task->found.number);
    statement_int(&s, task->pinned);
    return statement_run(&s, &task->task.job.diag);
}

/* A campaign that is not there must not fail what is written beside it. */
static int run_pin(struct store_job *job, struct store_access *access)
{
    struct query_task *task = (struct query_task *)job;

    task->refused = query_find(access, task->asked, &task->found, &job->diag);
    return task->refused < 0 ? 0 : write_pin(task, access);
}

static void done_query(struct store_job *job)
{
    struct query_task *task = (struct query_task *)job;
    int err = job->result < 0 ? job->result : task->refused;
    bool failed = err < 0 && !task->task.results->closing;
    char *error = failed ? error_text(&job->diag) : NULL;
    struct results_answer answer = {
        .err = task->task.results->closing ? -ECANCELED : err,
        .campaign = task->found.id,
        .number = task->found.number,
        .state = task->found.state,
        .verdict = task->found.verdict,
        .text = "",
    };

    if (error != NULL) {
        answer.text = error;
        answer.length = strlen(error);
    } else if (answer.err == 0) {
        answer.text = (const char *)task->text.data;
        answer.length = task->text.length;
    }
    task->answered(task->data, &answer);
    free(error);
    bytes_done(&task->text);
    task_over(&task->task);
}

struct question {
    enum results_query query;
    const char *campaign;
    struct query_export piece;
    bool cells;
    bool pins;
    bool pinned;
    void (*answered)(void *data, const struct results_answer *answer);
    void *data;
};

static int ask(struct results *results, const struct question *question)
{
    struct query_task *task =
        task_new(sizeof(*task), results, NULL, NULL,
                 question->pins ? run_pin : run_query, done_query);
    const char *campaign = question->campaign;
    int err;

    if (task == NULL)
        return -ENOMEM;
    task->query = question->query;
    task->piece = question->piece;
    task->cells = question->cells;
    task->pinned = question->pinned;
    (void)strncat(task->asked, campaign == NULL ? "" : campaign, ASKED_MAX - 1);
    task->wall_ns = wall_now(results);
    task->answered = question->answered;
    task->data = question->data;
    err = question->pins ? store_write(results->store, &task->task.job)
                         : store_read(results->store, &task->task.job);
    if (err < 0)
        task_over(&task->task);
    return err;
}

int results_query(struct results *results, enum results_query query,
                  const char *campaign,
                  void (*answered)(void *data,
                                   const struct results_answer *answer),
                  void *data)
{
    const struct question question = {.query = query,
                                      .campaign = campaign,
                                      .answered = answered,
                                      .data = data};

    return ask(results, &question);
}

/* From 0; a far one is beyond all rows, and must not overflow. */
static uint64_t first_interval(uint64_t interval)
{
    if (interval == 0)
        return 0;
    return interval > UINT32_MAX ? UINT32_MAX : interval - 1;
}

int results_export(struct results *results, const char *campaign,
                   uint32_t phase, uint64_t interval, bool parts,
                   void (*answered)(void *data,
                                    const struct results_answer *answer),
                   void *data)
{
    const struct question question = {
        .query = RESULTS_QUERY_EXPORT,
        .campaign = campaign,
        .piece = {.phase = phase,
                  .from = first_interval(interval),
                  .parts = parts},
        .answered = answered,
        .data = data,
    };

    return ask(results, &question);
}

int results_pin(struct results *results, const char *campaign, bool pinned,
                void (*answered)(void *data,
                                 const struct results_answer *answer),
                void *data)
{
    const struct question question = {
        .campaign = campaign,
        .pins = true,
        .pinned = pinned,
        .answered = answered,
        .data = data,
    };

    return ask(results, &question);
}

int results_live(struct results *results, const char *campaign, bool cells,
                 void (*answered)(void *data,
                                  const struct results_answer *answer),
                 void *data)
{
    const struct question question = {
        .query = RESULTS_QUERY_LIVE,
        .campaign = campaign,
        .cells = cells,
        .answered = answered,
        .data = data,
    };

    return ask(results, &question);
}
