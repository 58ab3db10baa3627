/*
 * What a watcher needs to begin with: the status, the phase at hand, and its
 * rows so far.
 */
#include "controller/results/columns.h"
#include "controller/results/layout.h"
#include "controller/results/query.h"
#include "controller/results/record.h"

#include <errno.h>
#include <stdlib.h>

int query_get_row(struct statement *s, struct row *ret_row,
                  const char **ret_missing, struct diag *diag)
{
    ret_row->interval = statement_get_uint(s);
    ret_row->revision = (uint32_t)statement_get_uint(s);
    ret_row->kind = (enum sample_kind)statement_get_int(s);
    ret_row->spans = (uint32_t)statement_get_uint(s);
    ret_row->begin_ns = statement_get_int(s);
    ret_row->end_ns = statement_get_int(s);
    ret_row->skew_ns = statement_get_int(s);
    ret_row->hosts_delivered = (uint32_t)statement_get_uint(s);
    ret_row->hosts_expected = (uint32_t)statement_get_uint(s);
    *ret_missing = statement_get_text(s);
    ret_row->cpu = columns_get_cpu(s);
    return columns_add_tally(s, &ret_row->sum, diag);
}

static int append_row(struct statement *s, const struct query_phase *phase,
                      const struct query_names *names,
                      struct histogram *scratch, struct object *into,
                      json_t *rows, struct diag *diag)
{
    struct row row = {0};
    const char *missing;
    int err = query_get_row(s, &row, &missing, diag);

    if (err == 0) {
        const struct document_interval d = {
            .campaign = phase->asked.campaign,
            .phase = phase->asked.phase,
            .run = phase->asked.run,
            .interval_ns = phase->asked.interval_ns,
            .start_wall_ns = phase->started_ns,
            .open_loop = phase->asked.iorate > 0,
            .row = &row,
            .missing = query_missing(names, missing),
        };
        struct object event = document_interval_event(&d, scratch);

        object_append(into, rows, &event);
    }
    tally_pair_done(&row.sum);
    return err;
}

/* The last QUERY_ROWS_MAX, oldest first. */
static int append_rows(struct store_access *access,
                       const struct query_phase *phase,
                       const struct query_names *names, struct object *into,
                       json_t *rows, struct diag *diag)
{
    struct histogram *scratch = malloc(sizeof(*scratch));
    struct statement s;
    int got;

    if (scratch == NULL)
        return diag_set(diag, -ENOMEM, "the controller is out of memory");
    histogram_init(scratch);
    statement_begin(&s, access,
                    "SELECT * FROM (SELECT " QUERY_ROW_COLUMNS
                    " FROM cluster_interval "
                    "WHERE phase = ?1 AND drain = 0 "
                    "ORDER BY interval DESC LIMIT ?2) ORDER BY interval");
    statement_uint(&s, phase->id);
    statement_uint(&s, QUERY_ROWS_MAX);
    got = statement_step(&s, diag);
    while (got == 1) {
        got = append_row(&s, phase, names, scratch, into, rows, diag);
        if (got == 0)
            got = statement_step(&s, diag);
    }
    statement_end(&s);
    free(scratch);
    return got;
}

static int put_phase_event(struct store_access *access,
                           const struct query_phase *phase, int64_t now_wall_ns,
                           struct object *into, struct diag *diag)
{
    struct layout *layout = NULL;
    json_t *workloads = NULL;
    struct object event;
    uint64_t planned = 0;
    int got;

    /* One that is only being prepared is told about when it starts. */
    if (phase->state != RECORD_PHASE_RUNNING || phase->uncertainty_ns < 0) {
        object_put(into, "phase_event", json_null());
        return 0;
    }
    got = query_planned_ns(access, phase->asked.campaign, &planned, diag);
    if (got == 0)
        got = query_layout(access, phase->layout, &layout, &workloads, diag);
    if (got < 0)
        return got;
    event = document_phase_event(
        &phase->asked, layout == NULL ? 0 : layout->takes_part_count,
        layout == NULL ? 0 : query_count_drives(layout),
        planned + query_left_ns(phase, now_wall_ns), phase->started_ns);
    object_put_object(into, "phase_event", &event);
    json_decref(workloads);
    (void)layout_free(layout);
    return 0;
}

static int put_rows(struct store_access *access,
                    const struct query_found *found, int64_t now_wall_ns,
                    struct object *into, struct diag *diag)
{
    struct query_names names = {0};
    struct query_phase phase;
    struct statement s;
    json_t *rows = json_array();
    uint32_t phases = 0, done = 0;
    int got = query_count_phases(access, found->number, &phases, &done, diag);

    if (got == 0)
        got = query_names_load(access, found->number, &names, diag);
    if (got < 0) {
        json_decref(rows);
        return got;
    }
    statement_begin(&s, access, query_phase_at_hand);
    statement_uint(&s, found->number);
    got = statement_step(&s, diag);
    if (got == 1) {
        query_get_phase(&s, found, phases, &phase);
        got = append_rows(access, &phase, &names, into, rows, diag);
        if (got == 0)
            got = put_phase_event(access, &phase, now_wall_ns, into, diag);
    } else if (got == 0) {
        object_put(into, "phase_event", json_null());
    }
    statement_end(&s);
    object_put(into, "rows", rows);
    query_names_done(&names);
    return got;
}

int query_watch(struct store_access *access, const struct query_found *found,
                int64_t now_wall_ns, struct bytes *into, struct diag *diag)
{
    struct object o = object_new();
    int err = query_put_status(access, found, now_wall_ns, &o, diag);

    if (err == 0)
        err = put_rows(access, found, now_wall_ns, &o, diag);
    object_write(&o, false, into);
    return err;
}
