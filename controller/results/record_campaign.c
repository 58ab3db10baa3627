/*
 * Campaigns: as submitted, as planned, and how they end.
 */
#include "controller/results/record.h"
#include "controller/results/statement.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>

static const char *or_empty(const char *text)
{
    return text == NULL ? "" : text;
}

static int record_head(struct store_access *access,
                       const struct record_origin *origin,
                       const struct results_campaign *campaign,
                       struct diag *diag)
{
    struct statement s;

    statement_begin(&s, access,
                    "INSERT INTO campaign(id, uuid, name, who, state, verdict, "
                    "submitted_ns, elapsed_ns, interval_ns, warmup_ns, "
                    "version, epoch) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    statement_uint(&s, origin->campaign);
    statement_blob(&s, campaign->id.bytes, sizeof(campaign->id.bytes));
    statement_text(&s, or_empty(campaign->name));
    statement_text(&s, or_empty(campaign->who));
    statement_int(&s, RESULTS_QUEUED);
    statement_int(&s, VERDICT_NONE);
    statement_int(&s, origin->wall_ns);
    statement_uint(&s, campaign->elapsed_ns);
    statement_uint(&s, campaign->interval_ns);
    if (campaign->warmup_given)
        statement_uint(&s, campaign->warmup_ns);
    else
        statement_null(&s);
    statement_text(&s, origin->version);
    statement_uint(&s, origin->epoch);
    return statement_run(&s, diag);
}

static int record_file(struct store_access *access, uint64_t campaign,
                       uint32_t position, const struct results_file *file,
                       struct diag *diag)
{
    struct statement s;

    statement_begin(&s, access,
                    "INSERT INTO file(campaign, position, name, text) "
                    "VALUES (?, ?, ?, CAST(coalesce(?, '') AS TEXT))");
    statement_uint(&s, campaign);
    statement_uint(&s, position);
    statement_text(&s, or_empty(file->name));
    statement_blob(&s, file->text, file->length);
    return statement_run(&s, diag);
}

static int record_variable(struct store_access *access, uint64_t campaign,
                           uint32_t position, const char *text,
                           struct diag *diag)
{
    struct statement s;

    statement_begin(&s, access,
                    "INSERT INTO variable(campaign, position, text) "
                    "VALUES (?, ?, ?)");
    statement_uint(&s, campaign);
    statement_uint(&s, position);
    statement_text(&s, or_empty(text));
    return statement_run(&s, diag);
}

int record_campaign(struct store_access *access,
                    const struct record_origin *origin,
                    const struct results_campaign *campaign, struct diag *diag)
{
    int err = record_head(access, origin, campaign, diag);

    for (uint32_t i = 0; i < campaign->file_count && err == 0; i++)
        err =
            record_file(access, origin->campaign, i, &campaign->files[i], diag);
    for (uint32_t i = 0; i < campaign->variable_count && err == 0; i++)
        err = record_variable(access, origin->campaign, i,
                              campaign->variables[i], diag);
    return err;
}

/* ---- The plan --------------------------------------------------------------
 */

static int record_host(struct store_access *access, uint64_t campaign,
                       uint32_t number, const struct plan_host *host,
                       const struct results_host *agent, struct diag *diag)
{
    static const struct results_host nobody;
    struct statement s;

    if (agent == NULL)
        agent = &nobody;
    statement_begin(&s, access,
                    "INSERT INTO host(campaign, host, label, "
                    "system, aliases, agent, address, version, instance, "
                    "facts) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    statement_uint(&s, campaign);
    statement_uint(&s, number);
    statement_text(&s, or_empty(host->label));
    statement_text(&s, or_empty(host->system));
    statement_text(&s, or_empty(host->aliases));
    statement_text(&s, or_empty(agent->agent));
    statement_text(&s, or_empty(agent->address));
    statement_text(&s, or_empty(agent->version));
    statement_blob(&s, agent->instance.bytes, sizeof(agent->instance.bytes));
    statement_text(&s, agent->facts);
    return statement_run(&s, diag);
}

static int record_target(struct store_access *access, uint64_t campaign,
                         uint32_t number, const struct plan_target *target,
                         const char *facts, struct diag *diag)
{
    const struct plan_facts *told = &target->facts;
    struct statement s;

    statement_begin(&s, access,
                    "INSERT INTO target(campaign, target, host, sd, "
                    "path, device, size_bytes, device_bytes, logical_block, "
                    "written, serial, wwn, model, facts, content) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    statement_uint(&s, campaign);
    statement_uint(&s, number);
    statement_uint(&s, target->host);
    statement_text(&s, or_empty(target->sd));
    statement_text(&s, or_empty(target->path));
    statement_text(&s, or_empty(told->device));
    statement_uint(&s, target->size_bytes);
    statement_uint(&s, told->size_bytes);
    statement_uint(&s, told->logical_block);
    statement_int(&s, target->written);
    statement_text(&s, or_empty(told->serial));
    statement_text(&s, or_empty(told->wwn));
    statement_text(&s, or_empty(told->model));
    statement_text(&s, facts);
    statement_text(&s, or_empty(told->content));
    return statement_run(&s, diag);
}

static int record_run(struct store_access *access, uint64_t campaign,
                      uint64_t id, uint32_t number, const struct plan_run *run,
                      struct diag *diag)
{
    struct statement s;

    statement_begin(&s, access,
                    "INSERT INTO phase(id, campaign, phase, run, kind, "
                    "rate_kind, rate_value, for_text, elapsed_ns, warmup_ns, "
                    "interval_ns, pause_ns, xfersize, threads, rdpct, seekpct, "
                    "state, verdict) VALUES "
                    "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    statement_uint(&s, id);
    statement_uint(&s, campaign);
    statement_uint(&s, number);
    statement_text(&s, or_empty(run->name));
    statement_int(&s, run->kind);
    statement_int(&s, run->rate.kind);
    statement_real(&s, run->rate.value);
    statement_text(&s, or_empty(run->for_text));
    statement_uint(&s, run->elapsed_ns);
    statement_uint(&s, run->warmup_ns);
    statement_uint(&s, run->interval_ns);
    statement_uint(&s, run->pause_ns);
    statement_text(&s, or_empty(run->xfersize_text));
    statement_text(&s, or_empty(run->threads_text));
    statement_text(&s, or_empty(run->rdpct_text));
    statement_text(&s, or_empty(run->seekpct_text));
    statement_int(&s, RECORD_PHASE_PLANNED);
    statement_int(&s, VERDICT_NONE);
    return statement_run(&s, diag);
}

static int record_histogram(struct store_access *access, uint64_t campaign,
                            const char *text, struct diag *diag)
{
    struct statement s;

    statement_begin(&s, access,
                    "UPDATE campaign SET histogram = ?2 WHERE id = ?1");
    statement_uint(&s, campaign);
    statement_text(&s, text);
    return statement_run(&s, diag);
}

int record_plan(struct store_access *access, uint64_t campaign,
                uint64_t first_phase, const struct plan *plan,
                const struct results_host *hosts,
                const struct results_drive *drives, struct diag *diag)
{
    int err = 0;

    for (uint32_t i = 0; i < plan->host_count && err == 0; i++)
        err = record_host(access, campaign, i, &plan->hosts[i],
                          hosts == NULL ? NULL : &hosts[i], diag);
    for (uint32_t i = 0; i < plan->target_count && err == 0; i++)
        err = record_target(access, campaign, i, &plan->targets[i],
                            drives == NULL ? NULL : drives[i].facts, diag);
    for (uint32_t i = 0; i < plan->run_count && err == 0; i++)
        err = record_run(access, campaign, first_phase + i, i, &plan->runs[i],
                         diag);
    if (err == 0 && plan->histogram != NULL)
        err = record_histogram(access, campaign, plan->histogram, diag);
    return err;
}

int record_memory(struct store_access *access, uint64_t campaign,
                  const struct results_memory *memory, struct diag *diag)
{
    struct statement s;

    statement_begin(&s, access,
                    "INSERT OR REPLACE INTO memory(campaign, phase, name, "
                    "item, text) VALUES (?, ?, ?, ?, ?)");
    statement_uint(&s, campaign);
    statement_int(&s,
                  memory->phase == PLAN_NOWHERE ? -1 : (int64_t)memory->phase);
    statement_text(&s, memory->name);
    statement_uint(&s, memory->item);
    statement_text(&s, memory->text);
    return statement_run(&s, diag);
}

static int forget_memories(struct store_access *access, uint64_t campaign,
                           struct diag *diag)
{
    struct statement s;

    statement_begin(&s, access, "DELETE FROM memory WHERE campaign = ?");
    statement_uint(&s, campaign);
    return statement_run(&s, diag);
}

/* ---- States and the end ----------------------------------------------------
 */

int record_command(struct store_access *access, uint64_t campaign,
                   const struct results_command *command, int64_t wall_ns,
                   struct diag *diag)
{
    struct statement s;

    statement_begin(&s, access,
                    "INSERT OR REPLACE INTO command(campaign, number, host, "
                    "phase, keyword, command, duration_ns, error, output, "
                    "wall_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    statement_uint(&s, campaign);
    statement_uint(&s, command->number);
    statement_text(&s, command->host != NULL ? command->host : "");
    if (command->phase == UINT32_MAX)
        statement_null(&s);
    else
        statement_uint(&s, command->phase);
    statement_text(&s, command->keyword);
    statement_text(&s, command->command);
    statement_uint(&s, command->duration_ns);
    statement_text(&s, command->error);
    statement_text(&s, command->output);
    statement_int(&s, wall_ns);
    return statement_run(&s, diag);
}

int record_campaign_state(struct store_access *access, uint64_t campaign,
                          enum results_state state, const char *note,
                          int64_t wall_ns, struct diag *diag)
{
    struct statement s;

    statement_begin(&s, access,
                    "UPDATE campaign SET state = ?2, note = ?3, started_ns = "
                    "CASE WHEN ?2 = ?5 THEN coalesce(started_ns, ?4) "
                    "ELSE started_ns END WHERE id = ?1");
    statement_uint(&s, campaign);
    statement_int(&s, state);
    statement_text(&s, note);
    statement_int(&s, wall_ns);
    statement_int(&s, RESULTS_RUNNING);
    return statement_run(&s, diag);
}

/* Those that still run share the campaign's verdict; those that never began
 * say so. */
static int end_phases(struct store_access *access, uint64_t campaign,
                      enum verdict verdict, const char *error, int64_t wall_ns,
                      struct diag *diag)
{
    struct statement s;
    int err;

    statement_begin(&s, access,
                    "UPDATE phase SET state = ?2, verdict = ?3, error = ?4, "
                    "ended_ns = ?5 WHERE campaign = ?1 AND state = ?6");
    statement_uint(&s, campaign);
    statement_int(&s, RECORD_PHASE_DONE);
    statement_int(&s, verdict);
    statement_text(&s, error);
    statement_int(&s, wall_ns);
    statement_int(&s, RECORD_PHASE_RUNNING);
    err = statement_run(&s, diag);
    if (err < 0)
        return err;
    statement_begin(&s, access,
                    "UPDATE phase SET state = ?2 WHERE campaign = ?1 AND "
                    "state = ?3");
    statement_uint(&s, campaign);
    statement_int(&s, RECORD_PHASE_SKIPPED);
    statement_int(&s, RECORD_PHASE_PLANNED);
    return statement_run(&s, diag);
}

/* The number of phases that ran and were not complete. */
static int count_flawed(struct store_access *access, uint64_t campaign,
                        uint64_t *ret_count, struct diag *diag)
{
    struct statement s;
    int got;

    statement_begin(&s, access,
                    "SELECT count(*) FROM phase WHERE campaign = ? AND "
                    "state = ? AND verdict <> ?");
    statement_uint(&s, campaign);
    statement_int(&s, RECORD_PHASE_DONE);
    statement_int(&s, VERDICT_COMPLETE);
    got = statement_step(&s, diag);
    if (got == 1)
        *ret_count = statement_get_uint(&s);
    statement_end(&s);
    return got < 0 ? got : 0;
}

int record_campaign_end(struct store_access *access, uint64_t campaign,
                        enum verdict verdict, const char *error,
                        int64_t wall_ns, enum verdict *ret_verdict,
                        const char **ret_error, struct diag *diag)
{
    uint64_t flawed = 0;
    struct statement s;
    int err = end_phases(access, campaign, verdict, error, wall_ns, diag);

    if (err == 0)
        err = forget_memories(access, campaign, diag);
    if (err == 0 && verdict == VERDICT_COMPLETE)
        err = count_flawed(access, campaign, &flawed, diag);
    if (err < 0)
        return err;
    if (flawed > 0) {
        verdict = VERDICT_DEGRADED;
        error = "not all phases are complete: each says why";
    }
    statement_begin(&s, access,
                    "UPDATE campaign SET state = ?2, verdict = ?3, error = ?4, "
                    "note = NULL, ended_ns = ?5 WHERE id = ?1");
    statement_uint(&s, campaign);
    statement_int(&s, RESULTS_DONE);
    statement_int(&s, verdict);
    statement_text(&s, error);
    statement_int(&s, wall_ns);
    err = statement_run(&s, diag);
    if (err == 0) {
        *ret_verdict = verdict;
        *ret_error = error;
    }
    return err;
}
