/*
 * Phases: from their beginning to their verdict.
 */
#include "controller/results/record.h"
#include "controller/results/statement.h"

static int record_layout(struct store_access *access,
                         const struct record_begin *begin, struct diag *diag)
{
    struct statement s;

    statement_begin(&s, access,
                    "INSERT INTO layout(id, campaign, cells, workloads) "
                    "VALUES (?, ?, ?, ?)");
    statement_uint(&s, begin->layout);
    statement_uint(&s, begin->campaign);
    statement_blob(&s, begin->cells, begin->cells_length);
    statement_text(&s, begin->workloads);
    return statement_run(&s, diag);
}

int record_phase_begin(struct store_access *access,
                       const struct record_begin *begin, struct diag *diag)
{
    const struct results_phase *asked = begin->asked;
    struct statement s;
    int err = begin->cells == NULL ? 0 : record_layout(access, begin, diag);

    if (err < 0)
        return err;
    statement_begin(&s, access,
                    "UPDATE phase SET iorate = ?2, warmup_intervals = ?3, "
                    "measured_intervals = ?4, layout = ?5, state = ?6, "
                    "started_ns = ?7 WHERE id = ?1");
    statement_uint(&s, begin->phase);
    statement_real(&s, asked->iorate);
    statement_uint(&s, asked->warmup_intervals);
    statement_uint(&s, asked->measured_intervals);
    statement_uint(&s, begin->layout);
    statement_int(&s, RECORD_PHASE_RUNNING);
    statement_int(&s, begin->wall_ns);
    return statement_run(&s, diag);
}

int record_phase_started(struct store_access *access, uint64_t phase,
                         uint64_t start_ns, uint64_t uncertainty_ns,
                         int64_t wall_ns, struct diag *diag)
{
    struct statement s;

    statement_begin(&s, access,
                    "UPDATE phase SET uncertainty_ns = ?2, started_ns = ?3, "
                    "start_ns = ?4 WHERE id = ?1");
    statement_uint(&s, phase);
    statement_uint(&s, uncertainty_ns);
    statement_int(&s, wall_ns);
    statement_uint(&s, start_ns);
    return statement_run(&s, diag);
}

static int record_stuck(struct store_access *access, uint64_t phase,
                        uint32_t host, uint32_t position,
                        const struct results_stuck *stuck, struct diag *diag)
{
    struct statement s;

    statement_begin(&s, access,
                    "INSERT OR REPLACE INTO stuck(phase, host, position, "
                    "target, write, offset, length, age_ns) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    statement_uint(&s, phase);
    statement_uint(&s, host);
    statement_uint(&s, position);
    statement_uint(&s, stuck->target);
    statement_int(&s, stuck->write);
    statement_uint(&s, stuck->offset);
    statement_uint(&s, stuck->length);
    statement_uint(&s, stuck->age_ns);
    return statement_run(&s, diag);
}

int record_host_ready(struct store_access *access, uint64_t phase,
                      uint32_t host, const char *engine, const char *placement,
                      struct diag *diag)
{
    struct statement s;

    statement_begin(&s, access,
                    "INSERT INTO phase_host(phase, host, engine, placement) "
                    "VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET "
                    "engine = ?3, placement = ?4");
    statement_uint(&s, phase);
    statement_uint(&s, host);
    statement_text(&s, engine);
    statement_text(&s, placement);
    return statement_run(&s, diag);
}

int record_host_finished(struct store_access *access, uint64_t phase,
                         uint32_t host, uint64_t intervals,
                         const struct results_stuck *stuck,
                         uint32_t stuck_count, struct diag *diag)
{
    struct statement s;
    int err;

    statement_begin(&s, access,
                    "INSERT INTO phase_host(phase, host, intervals) "
                    "VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET "
                    "intervals = ?3");
    statement_uint(&s, phase);
    statement_uint(&s, host);
    statement_uint(&s, intervals);
    err = statement_run(&s, diag);
    for (uint32_t i = 0; i < stuck_count && err == 0; i++)
        err = record_stuck(access, phase, host, i, &stuck[i], diag);
    return err;
}

int record_host_lost(struct store_access *access, uint64_t phase, uint32_t host,
                     uint64_t interval, const char *reason, struct diag *diag)
{
    struct statement s;

    statement_begin(&s, access,
                    "INSERT INTO phase_host(phase, host, lost_at_interval, "
                    "reason) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET "
                    "lost_at_interval = ?3, reason = ?4");
    statement_uint(&s, phase);
    statement_uint(&s, host);
    if (reason == NULL)
        statement_null(&s);
    else
        statement_uint(&s, interval);
    statement_text(&s, reason);
    return statement_run(&s, diag);
}

int record_phase_verdict(struct store_access *access, uint64_t phase,
                         enum record_phase_state state, enum verdict verdict,
                         const char *error, int64_t wall_ns, struct diag *diag)
{
    struct statement s;

    statement_begin(&s, access,
                    "UPDATE phase SET state = ?2, verdict = ?3, error = ?4, "
                    "ended_ns = ?5 WHERE id = ?1");
    statement_uint(&s, phase);
    statement_int(&s, state);
    statement_int(&s, verdict);
    statement_text(&s, error);
    statement_int(&s, wall_ns);
    return statement_run(&s, diag);
}
