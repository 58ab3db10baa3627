/*
 * The cluster's rows once more, from the hosts' rows in the store: what is
 * stored decides, not what the loop remembers.  So it does not matter how late
 * a sample comes, or how often the controller has been started since.
 */
#include "controller/results/chunk.h"
#include "controller/results/columns.h"
#include "controller/results/record.h"

#include <errno.h>
#include <stdlib.h>

/* How far from a row others that reach into it are looked for. */
#define REACH 4096

struct rebuild {
    struct store_access *access;
    uint64_t phase;
    struct layout *layout;
    uint64_t warmup;
    /* first .. last become one row. */
    enum sample_kind kind;
    uint64_t first;
    uint64_t last;
    struct row *row;
    struct tally_pair sum; /* of one host */
    struct tally_pair *workloads;
    struct histogram *scratch;
};

static int explain(const struct rebuild *r, int err, struct diag *diag)
{
    return diag_set(diag, err == -ENOMEM ? err : -EUCLEAN, "store '%s': %s",
                    r->access->path,
                    statement_remedy(err == -ENOMEM ? err : -EUCLEAN));
}

static bool is_drain(const struct rebuild *r)
{
    return r->kind == SAMPLE_ROW_DRAIN;
}

/* 0: the phase has none, its beginning was not stored. */
static int load_layout(struct rebuild *r, struct diag *diag)
{
    struct statement s;
    const uint8_t *cells;
    size_t length;
    int got;

    statement_begin(&s, r->access,
                    "SELECT coalesce(warmup_intervals, 0), cells FROM phase "
                    "JOIN layout ON layout.id = phase.layout "
                    "WHERE phase.id = ?");
    statement_uint(&s, r->phase);
    got = statement_step(&s, diag);
    if (got == 1) {
        r->warmup = statement_get_uint(&s);
        cells = statement_get_blob(&s, &length);
        got = layout_decode(cells, length, &r->layout);
        got = got < 0 ? explain(r, got, diag) : 1;
    }
    statement_end(&s);
    return got;
}

/* 1: it can be done; 0: there is nothing to make rows of. */
static int rebuild_open(struct rebuild *r, struct store_access *access,
                        uint64_t phase, struct diag *diag)
{
    int got;

    *r = (struct rebuild){.access = access, .phase = phase};
    got = load_layout(r, diag);
    if (got <= 0)
        return got;
    r->workloads =
        calloc((size_t)r->layout->workload_count + 1, sizeof(*r->workloads));
    r->scratch = malloc(sizeof(*r->scratch));
    if (r->workloads == NULL || r->scratch == NULL)
        return explain(r, -ENOMEM, diag);
    histogram_init(r->scratch);
    return 1;
}

static void rebuild_close(struct rebuild *r)
{
    for (uint32_t w = 0; r->workloads != NULL && w < r->layout->workload_count;
         w++)
        tally_pair_done(&r->workloads[w]);
    tally_pair_done(&r->sum);
    free(r->workloads);
    free(r->scratch);
    r->row = row_free(r->row);
    r->layout = layout_free(r->layout);
}

/* ---- Which intervals -------------------------------------------------------
 */

static void bind_range(struct statement *s, const struct rebuild *r)
{
    statement_uint(s, r->phase);
    statement_int(s, is_drain(r));
    statement_uint(s, r->first);
    statement_uint(s, r->last);
    statement_int(s, r->kind);
}

/* A warm-up row that reaches beyond the warm-up is one of the warm-up. */
static uint64_t clip(const struct rebuild *r, uint64_t last)
{
    return r->kind == SAMPLE_ROW_WARMUP && last >= r->warmup ? r->warmup - 1
                                                             : last;
}

/* One step to the rows that share intervals with first .. last. */
static int widen_once(struct rebuild *r, bool *ret_wider, struct diag *diag)
{
    struct statement s;
    uint64_t first, last;
    int got;

    statement_begin(&s, r->access,
                    "SELECT min(interval + 1 - spans), max(interval) "
                    "FROM host_interval WHERE phase = ?1 AND drain = ?2 AND "
                    "interval BETWEEN ?3 AND ?4 + ?6 AND "
                    "interval + 1 - spans <= ?4 AND kind = ?5");
    bind_range(&s, r);
    statement_int(&s, REACH);
    got = statement_step(&s, diag);
    if (got == 1 && !statement_is_null(&s)) {
        first = statement_get_uint(&s);
        last = clip(r, statement_get_uint(&s));
        *ret_wider = first < r->first || last > r->last;
        r->first = first < r->first ? first : r->first;
        r->last = last > r->last ? last : r->last;
    }
    statement_end(&s);
    return got < 0 ? got : 0;
}

static int widen(struct rebuild *r, struct diag *diag)
{
    bool wider = true;
    int err = 0;

    while (wider && err == 0) {
        wider = false;
        err = is_drain(r) ? 0 : widen_once(r, &wider, diag);
    }
    return err;
}

static int next_revision(const struct rebuild *r, uint32_t *ret_revision,
                         struct diag *diag)
{
    struct statement s;
    int got;

    statement_begin(&s, r->access,
                    "SELECT max(revision) + 1 FROM cluster_interval "
                    "WHERE phase = ?1 AND drain = ?2 AND "
                    "(interval BETWEEN ?3 AND ?4 OR ?2 = 1) AND ?5 = ?5");
    bind_range(&s, r);
    got = statement_step(&s, diag);
    if (got == 1)
        *ret_revision = (uint32_t)statement_get_uint(&s); /* NULL: 0 */
    statement_end(&s);
    return got < 0 ? got : 0;
}

/* ---- What is in them -------------------------------------------------------
 */

static int add_cell(struct rebuild *r, const struct sample_cell *cell)
{
    const struct counts n = counts_of(cell);
    struct tally *tally;
    int err;

    if (cell->cell >= r->layout->cell_count)
        return -EBADMSG;
    tally = &r->workloads[r->layout->cells[cell->cell].workload].op[cell->op];
    if (cell->service_length == 0)
        return 0; /* thinned: the workload's figures stay without it */
    err = tally_add_blob(&tally->service, cell->service, cell->service_length,
                         cell->ios);
    if (err == 0 && cell->response_length > 0)
        err = tally_add_blob(&tally->response, cell->response,
                             cell->response_length, cell->ios);
    if (err == 0)
        counts_add(&tally->n, &n);
    return err;
}

static int add_cells(struct rebuild *r, const uint8_t *data, size_t length)
{
    struct chunk_reader reader;
    struct sample_cell cell;
    int got = chunk_open(&reader, data, length);

    if (got == 0)
        got = chunk_next(&reader, &cell);
    while (got == 1) {
        got = add_cell(r, &cell);
        if (got == 0)
            got = chunk_next(&reader, &cell);
    }
    return got;
}

static void get_host_row(struct statement *s, struct host_row *ret_row)
{
    ret_row->host = (uint32_t)statement_get_uint(s);
    ret_row->interval = statement_get_uint(s);
    ret_row->spans = (uint32_t)statement_get_uint(s);
    ret_row->begin_ns = statement_get_int(s);
    ret_row->end_ns = statement_get_int(s);
    ret_row->skew_ns = statement_get_int(s);
    ret_row->cpu = columns_get_cpu(s);
}

static int add_host(struct rebuild *r, struct statement *s, struct diag *diag)
{
    struct host_row host = {0};
    const uint8_t *cells;
    size_t length;
    uint64_t last;
    int err;

    tally_pair_reset(&r->sum);
    for (uint32_t w = 0; w < r->layout->workload_count; w++)
        tally_pair_reset(&r->workloads[w]);
    get_host_row(s, &host);
    cells = statement_get_blob(s, &length);
    if (host.host >= r->layout->host_count || !r->layout->takes_part[host.host])
        return explain(r, -EUCLEAN, diag);
    err = columns_add_tally(s, &r->sum, diag);
    if (err < 0)
        return err;
    err = add_cells(r, cells, length);
    last = is_drain(r) ? host.interval : clip(r, host.interval);
    if (err == 0)
        err = row_add(
            r->row, &host, &r->sum, r->workloads,
            is_drain(r) ? 1 : (uint32_t)(last + host.spans - host.interval),
            r->scratch);
    return err < 0 ? explain(r, err, diag) : 0;
}

static int add_hosts(struct rebuild *r, struct diag *diag)
{
    struct statement s;
    int got;

    statement_begin(
        &s, r->access,
        "SELECT host, interval, spans, begin_ns, end_ns, skew_ns, " COLUMNS_CPU
        ", cells, " COLUMNS_TALLY " FROM host_interval JOIN sample "
        "USING (phase, interval, drain, host) "
        "WHERE phase = ?1 AND drain = ?2 AND "
        "(interval BETWEEN ?3 AND ?4 + ?6 OR ?2 = 1) AND "
        "(interval + 1 - spans <= ?4 OR ?2 = 1) AND "
        "host_interval.kind = ?5 ORDER BY interval, host");
    bind_range(&s, r);
    statement_int(&s, REACH);
    got = statement_step(&s, diag);
    while (got == 1) {
        got = add_host(r, &s, diag);
        if (got == 0)
            got = statement_step(&s, diag);
    }
    statement_end(&s);
    return got;
}

/* ---- Writing it ------------------------------------------------------------
 */

/* The intervals before the last are in its row. */
static int write_empty(struct rebuild *r, uint64_t interval, struct diag *diag)
{
    struct row *row = row_new(r->layout, interval, r->kind);
    int err;

    if (row == NULL)
        return explain(r, -ENOMEM, diag);
    row->spans = 0;
    row->revision = r->row->revision;
    for (uint32_t i = 0; i < row->hosts_expected; i++)
        row->hosts[i].samples_ = r->row->hosts[i].delivered ? 1 : 0;
    err = record_row(r->access, r->phase, row_finish(row), diag);
    (void)row_free(row);
    return err;
}

/* The drain's row has the number of the last host's; only one is kept. */
static int forget_drain(struct rebuild *r, struct diag *diag)
{
    struct statement s;

    statement_begin(&s, r->access,
                    "DELETE FROM cluster_interval WHERE phase = ? AND "
                    "drain = 1");
    statement_uint(&s, r->phase);
    return statement_run(&s, diag);
}

static int make_row(struct rebuild *r, struct diag *diag)
{
    uint32_t revision = 0;
    int err = next_revision(r, &revision, diag);

    if (err < 0)
        return err;
    r->row = row_new(r->layout, r->last, r->kind);
    if (r->row == NULL)
        return explain(r, -ENOMEM, diag);
    r->row->revision = revision;
    r->row->spans = (uint32_t)(r->last + 1 - r->first);
    err = add_hosts(r, diag);
    if (err < 0)
        return err;
    (void)row_finish(r->row);
    if (is_drain(r))
        err = forget_drain(r, diag);
    for (uint64_t k = r->first; k < r->last && err == 0; k++)
        err = write_empty(r, k, diag);
    return err < 0 ? err : record_row(r->access, r->phase, r->row, diag);
}

/* Sets the intervals to begin with: those of one host's row. */
static void aim(struct rebuild *r, const struct host_row *at)
{
    r->kind = at->kind;
    r->last = at->interval;
    r->first = is_drain(r) ? r->last : at->interval + 1 - at->spans;
    r->last = is_drain(r) ? r->last : clip(r, r->last);
    r->row = row_free(r->row);
}

int record_rebuild(struct store_access *access, uint64_t phase,
                   const struct host_row *late, struct row **ret_row,
                   struct diag *diag)
{
    struct rebuild r;
    int got = rebuild_open(&r, access, phase, diag);

    if (got == 1) {
        aim(&r, late);
        got = widen(&r, diag);
        if (got == 0)
            got = make_row(&r, diag);
    }
    if (got == 0)
        *ret_row = TAKE(r.row);
    rebuild_close(&r);
    return got;
}

/* The first host row, from an interval on, that no row of the cluster covers;
 * 0: there is none. */
static int find_missing(struct rebuild *r, struct host_row *ret_row,
                        struct diag *diag)
{
    struct statement s;
    int got;

    statement_begin(&s, r->access,
                    "SELECT interval, spans, kind FROM host_interval AS h "
                    "WHERE phase = ?1 AND interval >= ?4 AND NOT EXISTS ("
                    " SELECT 1 FROM cluster_interval AS c"
                    " WHERE c.phase = ?1 AND c.drain = h.drain AND"
                    " (c.drain = 1 OR c.interval ="
                    "  CASE WHEN h.kind = ?2 THEN min(h.interval, ?3 - 1)"
                    "  ELSE h.interval END)) "
                    "ORDER BY interval LIMIT 1");
    statement_uint(&s, r->phase);
    statement_int(&s, SAMPLE_ROW_WARMUP);
    statement_uint(&s, r->warmup);
    statement_uint(&s, ret_row->interval);
    got = statement_step(&s, diag);
    if (got == 1) {
        ret_row->interval = statement_get_uint(&s);
        ret_row->spans = (uint32_t)statement_get_uint(&s);
        ret_row->kind = (enum sample_kind)statement_get_int(&s);
    }
    statement_end(&s);
    return got;
}

int record_forget_rows(struct store_access *access, uint64_t phase,
                       struct diag *diag)
{
    struct statement s;
    int err;

    statement_begin(&s, access, "DELETE FROM cluster_interval WHERE phase = ?");
    statement_uint(&s, phase);
    err = statement_run(&s, diag);
    if (err < 0)
        return err;
    statement_begin(&s, access,
                    "DELETE FROM workload_interval WHERE phase = ?");
    statement_uint(&s, phase);
    return statement_run(&s, diag);
}

int record_rebuild_missing(struct store_access *access, uint64_t phase,
                           struct diag *diag)
{
    struct host_row missing = {0};
    struct rebuild r;
    int got = rebuild_open(&r, access, phase, diag);

    if (got == 1)
        got = find_missing(&r, &missing, diag);
    while (got == 1) {
        aim(&r, &missing);
        got = widen(&r, diag);
        if (got == 0)
            got = make_row(&r, diag);
        if (got == 0)
            got = find_missing(&r, &missing, diag);
    }
    rebuild_close(&r);
    return got;
}
