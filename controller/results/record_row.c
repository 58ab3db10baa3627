/*
 * Rows of hosts and of the cluster, as they come.
 */
#include "controller/results/chunk.h"
#include "controller/results/columns.h"
#include "controller/results/device.h"
#include "controller/results/record.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>

static int is_drain(enum sample_kind kind)
{
    return kind == SAMPLE_ROW_DRAIN;
}

static int out_of_memory(struct store_access *access, struct diag *diag)
{
    return diag_set(diag, -ENOMEM, "store '%s': %s", access->path,
                    statement_remedy(-ENOMEM));
}

static int record_cells(struct store_access *access, uint64_t phase,
                        const struct host_row *row, struct diag *diag)
{
    struct bytes cells = {0}, drives = {0};
    struct statement s;
    int err;

    chunk_encode(&cells, row->parts, row->part_count);
    for (uint32_t i = 0; i < row->part_count; i++)
        if (row->parts[i]->drive_count > 0) /* of one part alone */
            device_encode(&drives, row->parts[i]->drives,
                          row->parts[i]->drive_count);
    if (cells.failed || drives.failed) {
        bytes_done(&cells);
        bytes_done(&drives);
        return out_of_memory(access, diag);
    }
    statement_begin(&s, access,
                    "INSERT INTO sample(phase, interval, drain, host, kind, "
                    "cells, drives) VALUES (?, ?, ?, ?, ?, ?, ?)");
    statement_uint(&s, phase);
    statement_uint(&s, row->interval);
    statement_int(&s, is_drain(row->kind));
    statement_uint(&s, row->host);
    statement_int(&s, row->kind);
    statement_blob(&s, cells.data, cells.length);
    statement_blob(&s, drives.data, drives.length);
    err = statement_run(&s, diag);
    bytes_done(&cells);
    bytes_done(&drives);
    return err;
}

static int record_sum(struct store_access *access, uint64_t phase,
                      const struct host_row *row, bool *ret_fresh,
                      struct diag *diag)
{
    struct statement s;
    int err;

    statement_begin(
        &s, access,
        "INSERT INTO host_interval(phase, interval, drain, host, "
        "kind, spans, begin_ns, end_ns, skew_ns, opened_first_ns, "
        "opened_last_ns, " COLUMNS_CPU ", " COLUMNS_TALLY
        ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, " COLUMNS_CPU_VALUES
        ", " COLUMNS_TALLY_VALUES ") ON CONFLICT DO NOTHING");
    statement_uint(&s, phase);
    statement_uint(&s, row->interval);
    statement_int(&s, is_drain(row->kind));
    statement_uint(&s, row->host);
    statement_int(&s, row->kind);
    statement_uint(&s, row->spans);
    statement_int(&s, row->begin_ns);
    statement_int(&s, row->end_ns);
    statement_int(&s, row->skew_ns);
    statement_int(&s, row->opened_first_ns);
    statement_int(&s, row->opened_last_ns);
    columns_bind_cpu(&s, &row->cpu);
    columns_bind_tally(&s, &row->sum);
    err = statement_run(&s, diag);
    if (err == 0)
        *ret_fresh = sqlite3_changes(access->db) > 0;
    return err;
}

int record_host_row(struct store_access *access, uint64_t phase,
                    const struct host_row *row, bool *ret_fresh,
                    struct diag *diag)
{
    bool fresh = false;
    int err = record_sum(access, phase, row, &fresh, diag);

    if (err == 0 && fresh)
        err = record_cells(access, phase, row, diag);
    if (err == 0)
        *ret_fresh = fresh;
    return err;
}

static int record_workload(struct store_access *access, uint64_t phase,
                           const struct row *row, uint32_t workload,
                           const struct packed *packed, struct diag *diag)
{
    struct statement s;

    statement_begin(&s, access,
                    "INSERT OR REPLACE INTO workload_interval(phase, interval, "
                    "drain, workload, " COLUMNS_TALLY
                    ") VALUES (?, ?, ?, ?, " COLUMNS_TALLY_VALUES ")");
    statement_uint(&s, phase);
    statement_uint(&s, row->interval);
    statement_int(&s, is_drain(row->kind));
    statement_uint(&s, workload);
    columns_bind_tally(&s, packed);
    return statement_run(&s, diag);
}

/* "3 17": the numbers of the hosts whose part is missing.  Cut where there are
 * very many: how many is told elsewhere. */
static const char *missing_of(const struct row *row, char *text, size_t size)
{
    size_t length = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < row->hosts_expected && length + 12 < size; i++)
        if (!row->hosts[i].delivered)
            length +=
                (size_t)snprintf(text + length, size - length, "%s%u",
                                 length == 0 ? "" : " ", row->hosts[i].host);
    return length == 0 ? NULL : text;
}

static void bind_times(struct statement *s, const struct row *row)
{
    if (row->begin_ns > row->end_ns) {
        statement_null(s);
        statement_null(s);
    } else {
        statement_int(s, row->begin_ns);
        statement_int(s, row->end_ns);
    }
}

static int record_cluster(struct store_access *access, uint64_t phase,
                          const struct row *row, const struct packed *packed,
                          struct diag *diag)
{
    char missing[4096];
    struct statement s;

    statement_begin(
        &s, access,
        "INSERT OR REPLACE INTO cluster_interval(phase, interval, "
        "drain, revision, kind, spans, begin_ns, end_ns, skew_ns, "
        "hosts_expected, hosts_delivered, missing, " COLUMNS_CPU
        ", " COLUMNS_TALLY
        ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, " COLUMNS_CPU_VALUES
        ", " COLUMNS_TALLY_VALUES ")");
    statement_uint(&s, phase);
    statement_uint(&s, row->interval);
    statement_int(&s, is_drain(row->kind));
    statement_uint(&s, row->revision);
    statement_int(&s, row->kind);
    statement_uint(&s, row->spans);
    bind_times(&s, row);
    statement_int(&s, row->skew_ns);
    statement_uint(&s, row->hosts_expected);
    statement_uint(&s, row->hosts_delivered);
    statement_text(&s, missing_of(row, missing, sizeof(missing)));
    columns_bind_cpu(&s, &row->cpu);
    columns_bind_tally(&s, packed);
    return statement_run(&s, diag);
}

int record_row(struct store_access *access, uint64_t phase,
               const struct row *row, struct diag *diag)
{
    struct packed packed = {0};
    int err = packed_of(&row->sum, &packed);

    if (err == 0)
        err = record_cluster(access, phase, row, &packed, diag);
    else
        (void)out_of_memory(access, diag);
    packed_done(&packed);
    for (uint32_t w = 0; w < row->workload_count && err == 0; w++) {
        err = packed_of(&row->workloads[w], &packed);
        if (err == 0)
            err = record_workload(access, phase, row, w, &packed, diag);
        else
            (void)out_of_memory(access, diag);
        packed_done(&packed);
    }
    return err;
}
