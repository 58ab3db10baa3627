/*
 * The newest interval of the phase at hand, drive by drive: what a live view
 * and a scrape show.  One host's samples are in memory at a time, and the
 * histograms of one drive.
 */
#include "controller/results/chunk.h"
#include "controller/results/layout.h"
#include "controller/results/query.h"
#include "controller/results/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A cell's sums in the interval, pointing into `live.text`. */
struct live_cell {
    struct layout_cell where;
    struct sample_cell sample;
};

struct live {
    struct store_access *access;
    struct diag *diag;
    struct query_names names;
    struct query_phase phase;
    struct layout *layout;
    json_t *workloads;
    struct histogram *scratch;
    bool want_cells;
    uint64_t interval; /* the last that the row covers */
    uint64_t spans;
    uint64_t window_ns;
    int64_t end_ns;
    /* Of the host at hand: copies of its chunks. */
    uint8_t **texts;
    size_t text_count;
    struct live_cell *cells;
    size_t cell_count;
    size_t cell_room;
    struct object o;
    json_t *drives;
};

static int no_memory(struct live *live)
{
    return diag_set(live->diag, -ENOMEM, "the controller is out of memory");
}

static int damaged(struct live *live)
{
    return diag_set(live->diag, -EUCLEAN, "store '%s': %s", live->access->path,
                    statement_remedy(-EUCLEAN));
}

/* ---- One host's samples ----------------------------------------------------
 */

static void forget_host(struct live *live)
{
    for (size_t i = 0; i < live->text_count; i++)
        free(live->texts[i]);
    live->text_count = 0;
    live->cell_count = 0;
}

static int add_cell(struct live *live, const struct sample_cell *sample)
{
    if (sample->cell >= live->layout->cell_count)
        return damaged(live);
    if (live->cell_count == live->cell_room) {
        size_t room = live->cell_room == 0 ? 64 : 2 * live->cell_room;
        struct live_cell *more = realloc(live->cells, room * sizeof(*more));

        if (more == NULL)
            return no_memory(live);
        live->cells = more;
        live->cell_room = room;
    }
    live->cells[live->cell_count++] = (struct live_cell){
        .where = live->layout->cells[sample->cell],
        .sample = *sample,
    };
    return 0;
}

/* The blob lives until the next row; what it has is needed until the host's
 * last. */
static uint8_t *keep(struct live *live, const uint8_t *blob, size_t length)
{
    uint8_t **texts =
        realloc(live->texts, (live->text_count + 1) * sizeof(*texts));
    uint8_t *copy = malloc(length > 0 ? length : 1);

    live->texts = texts != NULL ? texts : live->texts;
    if (texts == NULL || copy == NULL) {
        free(copy);
        return NULL;
    }
    if (length > 0)
        memcpy(copy, blob, length);
    live->texts[live->text_count++] = copy;
    return copy;
}

static int add_chunk(struct live *live, const uint8_t *blob, size_t length)
{
    const uint8_t *copy = keep(live, blob, length);
    struct chunk_reader reader;
    struct sample_cell cell;
    int got;

    if (copy == NULL)
        return no_memory(live);
    if (chunk_open(&reader, copy, length) < 0)
        return damaged(live);
    while ((got = chunk_next(&reader, &cell)) == 1) {
        int err = add_cell(live, &cell);

        if (err < 0)
            return err;
    }
    return got < 0 ? damaged(live) : 0;
}

/* ---- One drive -------------------------------------------------------------
 */

static int by_place(const void *a, const void *b)
{
    const struct live_cell *x = a, *y = b;

    if (x->where.target != y->where.target)
        return x->where.target < y->where.target ? -1 : 1;
    if (x->where.workload != y->where.workload)
        return x->where.workload < y->where.workload ? -1 : 1;
    return (int)x->sample.op - (int)y->sample.op;
}

static int add_sample(struct live *live, const struct sample_cell *from,
                      struct tally_pair *into)
{
    struct tally *tally = &into->op[from->op];
    const struct counts n = counts_of(from);
    int err = 0;

    counts_add(&tally->n, &n);
    if (from->service_length > 0) /* retention may have taken it */
        err = tally_add_blob(&tally->service, from->service,
                             from->service_length, n.ios);
    if (err == 0 && from->response_length > 0)
        err = tally_add_responses(&tally->response, from->response,
                                  from->response_length, n.ios);
    if (err == -ENOMEM)
        return no_memory(live);
    return err < 0 ? damaged(live) : 0;
}

static void put_cell(struct live *live, const struct live_cell *cell,
                     const struct tally_pair *pair, json_t *array)
{
    const char *name = json_string_value(
        json_array_get(live->workloads, cell->where.workload));
    struct object o = object_new();
    struct figures f;

    figures_of(pair, live->window_ns, live->phase.asked.iorate > 0, NULL,
               live->scratch, &f);
    object_put_text(&o, "workload", name);
    object_put_text(&o, "op",
                    cell->sample.op == SAMPLE_READ ? "read" : "write");
    document_op(&o, cell->sample.op == SAMPLE_READ ? &f.read : &f.write,
                f.open_loop);
    object_append(&live->o, array, &o);
}

static bool same_cell(const struct live_cell *a, const struct live_cell *b)
{
    return by_place(a, b) == 0;
}

/* Each workload and operation of cells[from .. to). */
static int put_cells(struct live *live, size_t from, size_t to,
                     struct tally_pair *pair, json_t *array)
{
    int err = 0;

    for (size_t i = from; i < to && err == 0; i++) {
        err = add_sample(live, &live->cells[i].sample, pair);
        if (i + 1 < to && same_cell(&live->cells[i], &live->cells[i + 1]))
            continue;
        put_cell(live, &live->cells[i], pair, array);
        tally_pair_reset(pair);
    }
    return err;
}

static void put_drive_name(struct live *live, struct object *o, uint32_t target)
{
    const struct query_drive *drive =
        target < live->names.drive_count ? &live->names.drives[target] : NULL;
    const char *host =
        drive == NULL ? "?" : query_host_name(&live->names, drive->host);
    char name[2 * TEXT_SIZE];

    (void)snprintf(name, sizeof(name), "%s:%s", host,
                   drive == NULL ? "?" : drive->sd);
    object_put_text(o, "name", name);
    object_put_text(o, "host", host);
    object_put_text(o, "sd", drive == NULL ? NULL : drive->sd);
    object_put_text(o, "lun", drive == NULL ? NULL : drive->path);
}

/* cells[from .. to) are those of one drive. */
static int put_drive(struct live *live, size_t from, size_t to,
                     struct tally_pair *pair)
{
    struct object o = object_new();
    json_t *array = live->want_cells ? json_array() : NULL;
    struct figures f;
    int err = 0;

    put_drive_name(live, &o, live->cells[from].where.target);
    for (size_t i = from; i < to && err == 0; i++)
        err = add_sample(live, &live->cells[i].sample, pair);
    figures_of(pair, live->window_ns, live->phase.asked.iorate > 0, NULL,
               live->scratch, &f);
    document_brief(&o, &f);
    tally_pair_reset(pair);
    if (live->want_cells && err == 0)
        err = put_cells(live, from, to, pair, array);
    if (live->want_cells)
        object_put(&o, "cells", array);
    object_append(&live->o, live->drives, &o);
    return err;
}

static int put_host(struct live *live, struct tally_pair *pair)
{
    size_t from = 0;
    int err = 0;

    if (live->cell_count == 0)
        return 0;
    qsort(live->cells, live->cell_count, sizeof(*live->cells), by_place);
    for (size_t i = 1; i <= live->cell_count && err == 0; i++)
        if (i == live->cell_count ||
            live->cells[i].where.target != live->cells[from].where.target) {
            err = put_drive(live, from, i, pair);
            from = i;
        }
    forget_host(live);
    return err;
}

/* ---- All hosts -------------------------------------------------------------
 */

static int put_drives(struct live *live)
{
    struct tally_pair pair = {0};
    struct statement s;
    uint32_t host = UINT32_MAX;
    int got;

    statement_begin(&s, live->access,
                    "SELECT host, cells FROM sample WHERE phase = ?1 AND "
                    "drain = 0 AND interval > ?2 AND interval <= ?3 "
                    "ORDER BY host, interval");
    statement_uint(&s, live->phase.id);
    statement_int(&s, (int64_t)live->interval - (int64_t)live->spans);
    statement_uint(&s, live->interval);
    while ((got = statement_step(&s, live->diag)) == 1) {
        uint32_t next = (uint32_t)statement_get_uint(&s);
        const uint8_t *blob;
        size_t length;

        if (next != host)
            got = put_host(live, &pair);
        host = next;
        blob = statement_get_blob(&s, &length);
        if (got >= 0)
            got = add_chunk(live, blob, length);
        if (got < 0)
            break;
    }
    statement_end(&s);
    if (got == 0)
        got = put_host(live, &pair);
    tally_pair_done(&pair);
    return got;
}

/* 1 with the newest row of the phase; 0 while there is none. */
static int find_row(struct live *live)
{
    struct statement s;
    int64_t begin_ns;
    int got;

    statement_begin(&s, live->access,
                    "SELECT interval, spans, begin_ns, end_ns "
                    "FROM cluster_interval WHERE phase = ? AND drain = 0 AND "
                    "spans > 0 AND hosts_delivered > 0 "
                    "ORDER BY interval DESC LIMIT 1");
    statement_uint(&s, live->phase.id);
    got = statement_step(&s, live->diag);
    if (got == 1) {
        live->interval = statement_get_uint(&s);
        live->spans = statement_get_uint(&s);
        begin_ns = statement_get_int(&s);
        live->end_ns = statement_get_int(&s);
        live->window_ns = live->end_ns > begin_ns
                              ? (uint64_t)live->end_ns - (uint64_t)begin_ns
                              : 0;
    }
    statement_end(&s);
    return got;
}

static int put_interval(struct live *live)
{
    int got = find_row(live);

    if (got == 1)
        got = query_layout(live->access, live->phase.layout, &live->layout,
                           &live->workloads, live->diag);
    if (got <= 0) {
        object_put(&live->o, "interval", json_null());
        return got;
    }
    object_put_count(&live->o, "interval", live->interval + 1);
    object_put_seconds(&live->o, "length_s", live->window_ns);
    object_put_time(&live->o, "wall",
                    live->phase.started_ns == 0
                        ? 0
                        : live->phase.started_ns + live->end_ns);
    return put_drives(live);
}

static int put_phase(struct live *live, const struct query_found *found)
{
    uint32_t phases = 0, done = 0;
    struct statement s;
    int got = query_count_phases(live->access, found->number, &phases, &done,
                                 live->diag);

    if (got < 0)
        return got;
    statement_begin(&s, live->access, query_phase_at_hand);
    statement_uint(&s, found->number);
    got = statement_step(&s, live->diag);
    if (got == 1) {
        query_get_phase(&s, found, phases, &live->phase);
        object_put_count(&live->o, "phase",
                         (uint64_t)live->phase.asked.phase + 1);
        object_put_text(&live->o, "run", live->phase.asked.run);
        object_put_bool(&live->o, "running",
                        live->phase.state == RECORD_PHASE_RUNNING);
        got = put_interval(live);
    } else {
        object_put(&live->o, "phase", json_null());
        object_put(&live->o, "run", json_null());
        object_put_bool(&live->o, "running", false);
        object_put(&live->o, "interval", json_null());
    }
    statement_end(&s);
    return got;
}

static void live_done(struct live *live)
{
    forget_host(live);
    free(live->texts);
    free(live->cells);
    free(live->scratch);
    json_decref(live->workloads);
    (void)layout_free(live->layout);
    query_names_done(&live->names);
}

int query_live(struct store_access *access, const struct query_found *found,
               bool cells, struct bytes *into, struct diag *diag)
{
    struct live live = {
        .access = access,
        .diag = diag,
        .want_cells = cells,
        .o = object_new(),
        .drives = json_array(),
        .scratch = malloc(sizeof(*live.scratch)),
    };
    int err = live.scratch == NULL
                  ? no_memory(&live)
                  : query_names_load(access, found->number, &live.names, diag);

    if (err == 0) {
        histogram_init(live.scratch);
        err = query_put_head(access, found->number, &live.o, diag);
    }
    if (err == 0)
        err = put_phase(&live, found);
    object_put(&live.o, "drives", live.drives);
    object_write(&live.o, false, into);
    live_done(&live);
    return err;
}
