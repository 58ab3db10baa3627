/*
 * Requests that failed: how many of each errno on each drive, and the first
 * ones as they were.
 */
#include "controller/results/record.h"
#include "controller/results/statement.h"

static void bind_key(struct statement *s, uint64_t phase,
                     const struct host_row *row)
{
    statement_uint(s, phase);
    statement_uint(s, row->interval);
    statement_int(s, row->kind == SAMPLE_ROW_DRAIN);
    statement_uint(s, row->host);
}

static int record_error(struct store_access *access, uint64_t phase,
                        const struct host_row *row, uint32_t target,
                        const struct sample_error *error, struct diag *diag)
{
    struct statement s;

    statement_begin(&s, access,
                    "INSERT INTO failure_count(phase, interval, drain, host, "
                    "target, op, err, count) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
                    "ON CONFLICT DO UPDATE SET count = count + excluded.count");
    bind_key(&s, phase, row);
    statement_uint(&s, target);
    statement_int(&s, error->op);
    statement_uint(&s, error->err);
    statement_uint(&s, error->count);
    return statement_run(&s, diag);
}

static int record_failure(struct store_access *access, uint64_t phase,
                          const struct host_row *row, uint32_t position,
                          uint32_t target, const struct sample_failure *failure,
                          struct diag *diag)
{
    struct statement s;

    statement_begin(&s, access,
                    "INSERT INTO failure(phase, interval, drain, host, "
                    "position, target, op, offset, length, err, transferred, "
                    "at_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    bind_key(&s, phase, row);
    statement_uint(&s, position);
    statement_uint(&s, target);
    statement_int(&s, failure->op);
    statement_uint(&s, failure->offset);
    statement_uint(&s, failure->length);
    statement_uint(&s, failure->err);
    statement_uint(&s, failure->transferred);
    statement_int(&s, failure->at_ns);
    return statement_run(&s, diag);
}

int record_failures(struct store_access *access, uint64_t phase,
                    const struct layout *layout, const struct host_row *row,
                    struct diag *diag)
{
    int err = 0;

    for (uint32_t p = 0; p < row->part_count; p++) {
        const struct sample *part = row->parts[p];

        for (uint32_t i = 0; i < part->error_count && err == 0; i++)
            err = record_error(access, phase, row,
                               layout->cells[part->errors[i].cell].target,
                               &part->errors[i], diag);
        for (uint32_t i = 0; i < part->failure_count && err == 0; i++)
            err = record_failure(access, phase, row, i,
                                 layout->cells[part->failures[i].cell].target,
                                 &part->failures[i], diag);
    }
    return err;
}
