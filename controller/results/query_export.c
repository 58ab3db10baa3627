/*
 * A campaign piece by piece, for those who render all of it: first what was run
 * and on what, then each phase with its figures, its distribution of latencies
 * and its rows.  A phase of many rows comes in pages, so that neither side ever
 * holds more than one.
 */
#include "controller/results/columns.h"
#include "controller/results/query_show.h"
#include "controller/results/record.h"
#include "controller/results/rest.h"

#include <errno.h>
#include <stdlib.h>

/* Rows of a page: of the cluster, hosts and workloads together. */
#define PAGE_ROWS 4000u

/* Buckets of a histogram that make one of a distribution: 16 an octave. */
#define DISTRIBUTION_STEP 8u

/* ---- The head --------------------------------------------------------------
 */

static struct object text_object(struct statement *s)
{
    struct object o = object_new();

    object_put_text(&o, "name", statement_get_text(s));
    object_put_text(&o, "text", statement_get_text(s));
    return o;
}

static int put_texts(struct show *show, struct object *o)
{
    json_t *array = json_array();
    struct statement s;
    int got;

    statement_begin(&s, show->access,
                    "SELECT name, text FROM file WHERE campaign = ? "
                    "ORDER BY position");
    statement_uint(&s, show->found->number);
    while ((got = statement_step(&s, show->diag)) == 1) {
        struct object item = text_object(&s);

        object_append(o, array, &item);
    }
    statement_end(&s);
    object_put(o, "texts", array);
    return got;
}

static int put_phase_list(struct show *show, struct object *o)
{
    uint32_t phases = 0, done = 0;
    json_t *array = json_array();
    struct statement s;
    int got = query_count_phases(show->access, show->found->number, &phases,
                                 &done, show->diag);

    if (got == 0) {
        statement_begin(&s, show->access, query_phase_by_campaign);
        statement_uint(&s, show->found->number);
        while ((got = statement_step(&s, show->diag)) == 1) {
            struct object item = object_new();

            query_get_phase(&s, show->found, phases, &show->phase);
            show_put_outcome(&item, &show->phase);
            object_append(o, array, &item);
        }
        statement_end(&s);
    }
    object_put(o, "phases", array);
    return got;
}

static int write_head(struct show *show)
{
    struct object o = object_new();
    int err = show_put_head(show, &o);

    if (err == 0)
        err = put_texts(show, &o);
    if (err == 0)
        err = put_phase_list(show, &o);
    object_write(&o, false, show->into);
    return err;
}

/* ---- How latencies are distributed -----------------------------------------
 */

static void append_bucket(json_t *array, uint32_t last, uint64_t count)
{
    double us = (double)histogram_bucket_edge(last) / 1000;

    if (count > 0)
        (void)json_array_append_new(array,
                                    json_pack("[f, I]", us, (json_int_t)count));
}

/* Pairs of an upper edge in us and a count; empty ones are left out. */
static json_t *buckets(const struct histogram *h)
{
    json_t *array = json_array();

    for (uint32_t i = 0; h != NULL && i < HISTOGRAM_BUCKETS;
         i += DISTRIBUTION_STEP) {
        uint64_t count = 0;

        for (uint32_t k = i; k < i + DISTRIBUTION_STEP; k++)
            count += h->bucket[k];
        append_bucket(array, i + DISTRIBUTION_STEP - 1, count);
    }
    return array;
}

static void put_family(struct object *o, const char *key,
                       const struct histogram *read,
                       const struct histogram *write, struct histogram *scratch)
{
    struct object family = object_new();

    histogram_reset(scratch);
    if (read != NULL)
        histogram_merge(scratch, read);
    if (write != NULL)
        histogram_merge(scratch, write);
    object_put(&family, "all", buckets(scratch));
    object_put(&family, "read", buckets(read));
    object_put(&family, "write", buckets(write));
    object_put_object(o, key, &family);
}

static int put_distribution(struct show *show)
{
    struct object o = object_new();
    struct tally_pair pair = {0};
    struct statement s;
    int got;

    statement_begin(&s, show->access,
                    "SELECT " COLUMNS_TALLY " FROM total WHERE phase = ? AND "
                    "scope = ?");
    statement_uint(&s, show->phase.id);
    statement_int(&s, RECORD_CLUSTER);
    got = statement_step(&s, show->diag);
    if (got == 1)
        got = columns_add_tally(&s, &pair, show->diag);
    statement_end(&s);
    if (got == 0) {
        const struct tally *read = &pair.op[SAMPLE_READ];
        const struct tally *write = &pair.op[SAMPLE_WRITE];

        put_family(&o, "service_us", read->service, write->service,
                   show->scratch);
        put_family(&o, "response_us", read->response, write->response,
                   show->scratch);
    }
    object_put_object(&show->o, "distribution", &o);
    if (got == 0)
        got = show_put_histogram(show, pair.op[SAMPLE_READ].service,
                                 pair.op[SAMPLE_WRITE].service);
    tally_pair_done(&pair);
    return got;
}

/* ---- vdbench's total -------------------------------------------------------
 */

static int put_without_first(struct show *show)
{
    struct rest rest = {0};
    struct figures figures;
    int err = rest_read(show->access, show->phase.id, &rest, show->diag);

    if (err < 0)
        return err;
    if (rest.intervals > 0)
        figures_of(&rest.sum, rest.window_ns, show->phase.asked.iorate > 0,
                   &rest.cpu, show->scratch, &figures);
    document_without_first(&show->o, rest.intervals > 0 ? &figures : NULL);
    rest_done(&rest);
    return 0;
}

/* ---- Rows ------------------------------------------------------------------
 */

struct page {
    uint64_t from; /* intervals, from 0 */
    uint64_t to;   /* the first that is not in it */
};

/* How many intervals fit into a page, one at least. */
static uint64_t page_length(const struct show *show, bool parts)
{
    size_t rows =
        1 +
        (parts ? show->names.host_count + json_array_size(show->workloads) : 0);

    return rows >= PAGE_ROWS ? 1 : PAGE_ROWS / rows;
}

static struct object cluster_row(struct show *show, const struct row *row,
                                 const char *missing)
{
    const struct document_interval d = {
        .campaign = show->found->number,
        .phase = show->phase.asked.phase,
        .run = show->phase.asked.run,
        .interval_ns = show->phase.asked.interval_ns,
        .start_wall_ns = show->phase.started_ns,
        .open_loop = show->phase.asked.iorate > 0,
        .row = row,
        .missing = query_missing(&show->names, missing),
    };

    return document_interval_event(&d, show->scratch);
}

static int put_cluster_rows(struct show *show, const struct page *page)
{
    json_t *array = json_array();
    struct statement s;
    int got;

    statement_begin(&s, show->access,
                    "SELECT " QUERY_ROW_COLUMNS " FROM cluster_interval "
                    "WHERE phase = ?1 AND interval >= ?2 AND interval < ?3 "
                    "ORDER BY interval, drain");
    statement_uint(&s, show->phase.id);
    statement_uint(&s, page->from);
    statement_uint(&s, page->to);
    got = statement_step(&s, show->diag);
    while (got == 1) {
        struct row row = {0};
        const char *missing;

        got = query_get_row(&s, &row, &missing, show->diag);
        if (got == 0) {
            struct object o = cluster_row(show, &row, missing);

            object_append(&show->o, array, &o);
            got = statement_step(&s, show->diag);
        }
        tally_pair_done(&row.sum);
    }
    statement_end(&s);
    object_put(&show->o, "intervals", array);
    return got;
}

static const char *part_name(const struct show *show, bool hosts, uint32_t item)
{
    const char *name;

    if (hosts)
        return query_host_name(&show->names, item);
    name = json_string_value(json_array_get(show->workloads, item));
    return name != NULL ? name : "?";
}

/* One row of a host or workload; its rates are over the cluster's window. */
static int append_part(struct show *show, struct statement *s, bool hosts,
                       json_t *array)
{
    struct object o = object_new();
    struct figures figures;
    uint64_t interval = statement_get_uint(s);
    bool drain = statement_get_int(s) != 0;
    uint32_t item = (uint32_t)statement_get_uint(s);
    uint64_t window = statement_get_uint(s);
    int err = show_get_figures(show, s, window, &figures);

    object_put_count(&o, "interval", interval + 1);
    object_put_bool(&o, "drain", drain);
    object_put_text(&o, "name", part_name(show, hosts, item));
    if (err == 0) {
        struct object sums = object_new();

        document_figures(&sums, &figures);
        object_put_object(&o, "figures", &sums);
    }
    object_append(&show->o, array, &o);
    return err;
}

static int put_parts(struct show *show, const char *key, bool hosts,
                     const char *sql, const struct page *page)
{
    json_t *array = json_array();
    struct statement s;
    int got;

    statement_begin(&s, show->access, sql);
    statement_uint(&s, show->phase.id);
    statement_uint(&s, page->from);
    statement_uint(&s, page->to);
    got = statement_step(&s, show->diag);
    while (got == 1) {
        got = append_part(show, &s, hosts, array);
        if (got == 0)
            got = statement_step(&s, show->diag);
    }
    statement_end(&s);
    object_put(&show->o, key, array);
    return got;
}

#define PART_JOIN                                                              \
    " JOIN cluster_interval AS c ON c.phase = p.phase AND "                    \
    "c.interval = p.interval AND c.drain = p.drain "                           \
    "WHERE p.phase = ?1 AND p.interval >= ?2 AND p.interval < ?3 "             \
    "ORDER BY p.interval, p.drain, "
#define PART_WINDOW                                                            \
    "CASE WHEN p.drain THEN 0 ELSE coalesce(c.end_ns - c.begin_ns, 0) END"

static const char host_parts[] =
    "SELECT p.interval, p.drain, p.host, " PART_WINDOW ", " COLUMNS_CPU_OF(
        "p.") ", " COLUMNS_TALLY_OF("p.") " FROM host_interval AS p" PART_JOIN
                                          "p.host";

/* Workloads have no CPUs. */
static const char workload_parts[] =
    "SELECT p.interval, p.drain, p.workload, " PART_WINDOW ", " COLUMNS_CPU_NONE
    ", " COLUMNS_TALLY_OF("p.") " FROM workload_interval AS p" PART_JOIN
                                "p.workload";

/* Whether there is an interval behind the page. */
static int put_next(struct show *show, const struct page *page)
{
    struct statement s;
    int got;

    statement_begin(&s, show->access,
                    "SELECT 1 FROM cluster_interval WHERE phase = ?1 AND "
                    "interval >= ?2 LIMIT 1");
    statement_uint(&s, show->phase.id);
    statement_uint(&s, page->to);
    got = statement_step(&s, show->diag);
    statement_end(&s);
    if (got == 1)
        object_put_count(&show->o, "next_interval", page->to + 1);
    else
        object_put(&show->o, "next_interval", json_null());
    return got < 0 ? got : 0;
}

static int put_page(struct show *show, const struct query_export *asked)
{
    const struct page page = {
        .from = asked->from,
        .to = asked->from + page_length(show, asked->parts),
    };
    int err = put_cluster_rows(show, &page);

    if (err == 0 && asked->parts)
        err = put_parts(show, "host_intervals", true, host_parts, &page);
    if (err == 0 && asked->parts)
        err =
            put_parts(show, "workload_intervals", false, workload_parts, &page);
    if (err == 0)
        err = put_next(show, &page);
    return err;
}

/* ---- One phase -------------------------------------------------------------
 */

static int put_phase(struct show *show, const struct query_export *asked)
{
    int err;

    if (asked->from == 0) {
        err = show_phase(show);
        if (err == 0)
            err = put_distribution(show);
        if (err == 0)
            err = put_without_first(show);
    } else {
        show->o = object_new();
        err = show_load_workloads(show);
    }
    return err == 0 ? put_page(show, asked) : err;
}

static int write_phase(struct show *show, const struct query_export *asked)
{
    uint32_t phases = 0, done = 0;
    struct statement s;
    int got = query_count_phases(show->access, show->found->number, &phases,
                                 &done, show->diag);

    if (got < 0)
        return got;
    if (asked->phase > phases)
        return diag_set(
            show->diag, -ENOENT, "campaign %llu has %u phases, and no phase %u",
            (unsigned long long)show->found->number, phases, asked->phase);
    statement_begin(&s, show->access, query_phase_by_number);
    statement_uint(&s, show->found->number);
    statement_uint(&s, asked->phase - 1);
    got = statement_step(&s, show->diag);
    if (got == 1) {
        query_get_phase(&s, show->found, phases, &show->phase);
        got = put_phase(show, asked);
        object_write(&show->o, false, show->into);
        show_phase_done(show);
    }
    statement_end(&s);
    return got;
}

int query_export(struct store_access *access, const struct query_found *found,
                 const struct query_export *asked, struct bytes *into,
                 struct diag *diag)
{
    struct show show;
    int err = show_init(&show, access, found, into, diag);

    if (err == 0)
        err = asked->phase == 0 ? write_head(&show) : write_phase(&show, asked);
    show_done(&show);
    return err;
}
