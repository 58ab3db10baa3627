#include "controller/results/rest.h"

#include "controller/results/query.h"

#include <errno.h>

void rest_done(struct rest *rest)
{
    tally_pair_done(&rest->sum);
    rest->intervals = 0;
}

/* The rows behind the first interval, where that was measured. */
static const char rows_behind[] =
    "SELECT " QUERY_ROW_COLUMNS " FROM cluster_interval WHERE phase = ?1 AND "
    "drain = 0 AND interval > 0 AND kind = ?2 AND EXISTS (SELECT 1 FROM "
    "cluster_interval WHERE phase = ?1 AND drain = 0 AND interval = 0 AND "
    "kind = ?2) ORDER BY interval";

static int add_row(struct rest *rest, const struct row *row, struct row *window)
{
    rest->intervals++;
    cpu_tally_follow(&rest->cpu, &row->cpu);
    if (row_window_ns(row) > 0) {
        bool first = row_window_ns(window) == 0;

        if (first || row->begin_ns < window->begin_ns)
            window->begin_ns = row->begin_ns;
        if (first || row->end_ns > window->end_ns)
            window->end_ns = row->end_ns;
    }
    for (int op = 0; op < SAMPLE_OPS; op++)
        rest->sum.op[op].n.in_flight = rest->sum.op[op].n.unissued = 0;
    return tally_pair_add(&rest->sum, &row->sum);
}

int rest_read(struct store_access *access, uint64_t phase,
              struct rest *ret_rest, struct diag *diag)
{
    struct rest rest = {0};
    struct row window = {0};
    struct statement s;
    int got;

    statement_begin(&s, access, rows_behind);
    statement_uint(&s, phase);
    statement_int(&s, SAMPLE_ROW_MEASURED);
    got = statement_step(&s, diag);
    while (got == 1) {
        struct row row = {0};
        const char *missing;

        got = query_get_row(&s, &row, &missing, diag);
        if (got == 0 && add_row(&rest, &row, &window) < 0)
            got = diag_set(diag, -ENOMEM, "the controller is out of memory");
        tally_pair_done(&row.sum);
        if (got == 0)
            got = statement_step(&s, diag);
    }
    statement_end(&s);
    rest.window_ns = row_window_ns(&window);
    if (got < 0)
        rest_done(&rest);
    else
        *ret_rest = rest;
    return got;
}
