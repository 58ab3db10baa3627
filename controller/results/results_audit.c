/*
 * The audit log: who submitted, stopped, or was refused, from where.
 */
#include "controller/results/inside.h"
#include "controller/results/object.h"
#include "controller/results/query.h"
#include "controller/results/statement.h"

#include <errno.h>
#include <string.h>

#define ARENA_BYTES (64u << 10)
#define SHOWN_MAX   1000

struct audit_task {
    struct task task;
    struct results_audit entry; /* texts lie in the task's arena */
    int64_t wall_ns;
};

static int insert(struct store_access *access, const struct audit_task *task,
                  struct diag *diag)
{
    const struct results_audit *entry = &task->entry;
    struct statement s;

    statement_begin(&s, access,
                    "INSERT INTO audit(at_ns, who, role, address, action, "
                    "subject, campaign, refused, detail) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    statement_int(&s, task->wall_ns);
    statement_text(&s, entry->who);
    statement_text(&s, entry->role);
    statement_text(&s, entry->address);
    statement_text(&s, entry->action);
    statement_text(&s, entry->subject);
    if (entry->campaign != 0)
        statement_uint(&s, entry->campaign);
    else
        statement_null(&s);
    statement_int(&s, entry->refused);
    statement_text(&s, entry->detail);
    return statement_run(&s, diag);
}

static int forget_oldest(struct store_access *access, struct diag *diag)
{
    struct statement s;

    statement_begin(&s, access,
                    "DELETE FROM audit WHERE id <= (SELECT max(id) FROM audit) "
                    "- ?");
    statement_uint(&s, RESULTS_AUDIT_MAX);
    return statement_run(&s, diag);
}

static int run_audit(struct store_job *job, struct store_access *access)
{
    const struct audit_task *task = (struct audit_task *)job;
    int err = insert(access, task, &job->diag);

    return err < 0 ? err : forget_oldest(access, &job->diag);
}

/* Copies the texts; false without memory. */
static bool take_entry(struct audit_task *task,
                       const struct results_audit *entry)
{
    const char **texts[] = {&task->entry.who,     &task->entry.role,
                            &task->entry.address, &task->entry.action,
                            &task->entry.subject, &task->entry.detail};

    task->entry = *entry;
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
        *texts[i] =
            arena_strdup(task->task.arena, *texts[i] != NULL ? *texts[i] : "");
        if (*texts[i] == NULL)
            return false;
    }
    return true;
}

int results_audit(struct results *results, const struct results_audit *entry)
{
    struct audit_task *task = task_new_copying(
        sizeof(*task), ARENA_BYTES, results, NULL, NULL, run_audit, task_done);

    if (task == NULL)
        return -ENOMEM;
    task->wall_ns = wall_now(results);
    if (!take_entry(task, entry)) {
        task_over(&task->task);
        return -ENOMEM;
    }
    return task_submit(&task->task);
}

/* ---- Shown --------------------------------------------------------------- */

static void put_entry(struct object *whole, json_t *list, struct statement *s)
{
    struct object o = object_new();

    object_put_time(&o, "at", statement_get_int(s));
    object_put_word(&o, "who", statement_get_text(s));
    object_put_word(&o, "role", statement_get_text(s));
    object_put_word(&o, "from", statement_get_text(s));
    object_put_text(&o, "action", statement_get_text(s));
    object_put_word(&o, "subject", statement_get_text(s));
    if (statement_is_null(s)) {
        (void)statement_get_uint(s);
        object_put(&o, "campaign", json_null());
    } else {
        object_put_count(&o, "campaign", statement_get_uint(s));
    }
    object_put_text(&o, "outcome",
                    statement_get_int(s) != 0 ? "refused" : "done");
    object_put_word(&o, "detail", statement_get_text(s));
    object_append(whole, list, &o);
}

int query_audit(struct store_access *access, struct bytes *into,
                struct diag *diag)
{
    struct object document = object_new();
    json_t *list = json_array();
    struct statement s;
    int got;

    statement_begin(&s, access,
                    "SELECT at_ns, who, role, address, action, subject, "
                    "campaign, refused, detail FROM audit "
                    "ORDER BY id DESC LIMIT ?");
    statement_int(&s, SHOWN_MAX);
    while ((got = statement_step(&s, diag)) == 1)
        put_entry(&document, list, &s);
    statement_end(&s);
    object_put(&document, "audit", list);
    object_write(&document, false, into);
    return got;
}
