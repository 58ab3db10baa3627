/*
 * Merging, told by bytes what comes when: samples in any order and of any
 * numbers, hosts lost, back and finished, time.  Every interval has one row, in
 * order; what was taken is in the rows or late, and nothing else is.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/histogram.h"
#include "controller/results/merge.h"
#include "tests/fuzz/fuzz.h"

#define HOSTS     3u
#define WORKLOADS 2u

struct world {
    const uint8_t *at;
    const uint8_t *end;
    struct layout *layout;
    struct merge *merge;
    uint64_t now_ns;
    uint64_t rows;  /* the number of the next */
    uint64_t taken; /* I/Os of whole samples in time */
    uint64_t given; /* I/Os in rows */
};

static uint32_t pick(struct world *w, uint32_t below)
{
    return w->at == w->end ? 0 : *w->at++ % below;
}

static struct layout *make_layout(void)
{
    struct layout *layout = calloc(1, sizeof(*layout));

    *layout =
        (struct layout){HOSTS,
                        HOSTS,
                        WORKLOADS,
                        HOSTS * WORKLOADS,
                        calloc(HOSTS * WORKLOADS, sizeof(struct layout_cell)),
                        calloc(HOSTS, sizeof(bool)),
                        HOSTS};
    for (uint32_t i = 0; i < layout->cell_count; i++)
        layout->cells[i] =
            (struct layout_cell){i / WORKLOADS, i / WORKLOADS, i % WORKLOADS};
    for (uint32_t h = 0; h < HOSTS; h++)
        layout->takes_part[h] = true;
    return layout;
}

static struct sample *make_sample(struct world *w)
{
    static struct histogram h;
    uint8_t blob[HISTOGRAM_BLOB_MAX];
    struct sample *s = calloc(1, sizeof(*s));
    uint32_t host = pick(w, HOSTS + 1);
    uint64_t next = merge_host_next(w->merge, host);

    s->host = host;
    s->interval = next + pick(w, 6);
    s->interval -= s->interval < 2 ? 0 : pick(w, 3);
    s->spans = 1 + pick(w, 4);
    s->parts = 1 + pick(w, 3);
    s->part = pick(w, 4);
    s->kind = (enum sample_kind)pick(w, 3);
    s->begin_ns = (int64_t)pick(w, 200) - 100;
    s->end_ns = s->begin_ns + pick(w, 100);
    s->cells = calloc(1, sizeof(*s->cells));
    s->cell_count = 1;
    histogram_init(&h);
    histogram_record_many(&h, 1000 * pick(w, 256), 1 + pick(w, 9));
    s->cells[0].cell = host * WORKLOADS + pick(w, WORKLOADS + 1);
    s->cells[0].op = (enum sample_op)pick(w, 2);
    s->cells[0].ios = h.count;
    s->cells[0].service_length = histogram_encode(&h, blob);
    s->memory = malloc(s->cells[0].service_length);
    memcpy(s->memory, blob, s->cells[0].service_length);
    s->cells[0].service = s->memory;
    return s;
}

static uint64_t packed_ios(const struct packed *packed)
{
    return packed->n[SAMPLE_READ].ios + packed->n[SAMPLE_WRITE].ios;
}

static void give_sample(struct world *w)
{
    struct sample *s = make_sample(w);
    struct host_row *row = NULL;
    struct diag diag;
    bool again;

    if (merge_take(w->merge, s, &row, &again, &diag) < 0)
        (void)sample_free(s);
    if (row != NULL && !row->late)
        w->taken += packed_ios(&row->sum);
    (void)host_row_free(row);
}

static void check_row(struct world *w, const struct row *row)
{
    uint64_t ios =
        row->sum.op[SAMPLE_READ].n.ios + row->sum.op[SAMPLE_WRITE].n.ios;
    uint64_t hosts = 0, workloads = 0;

    for (uint32_t i = 0; i < row->hosts_expected; i++)
        hosts += row->hosts[i].n[SAMPLE_READ].ios +
                 row->hosts[i].n[SAMPLE_WRITE].ios;
    for (uint32_t i = 0; i < row->workload_count; i++)
        workloads += row->workloads[i].op[SAMPLE_READ].n.ios +
                     row->workloads[i].op[SAMPLE_WRITE].n.ios;
    assert(hosts == ios && workloads == ios);
    assert(row->hosts_delivered <= row->hosts_expected);
    w->given += ios;
    if (row->kind == SAMPLE_ROW_DRAIN)
        return;
    assert(row->interval == w->rows);
    w->rows++;
    assert(merge_closed(w->merge) == w->rows);
}

static void take_rows(struct world *w)
{
    struct row *row;

    while ((row = merge_next(w->merge, w->now_ns)) != NULL) {
        check_row(w, row);
        (void)row_free(row);
    }
}

static void act(struct world *w)
{
    switch (pick(w, 8)) {
    case 0:
        merge_host_lost(w->merge, pick(w, HOSTS + 1));
        break;
    case 1:
        merge_host_back(w->merge, pick(w, HOSTS + 1));
        break;
    case 2:
        merge_host_finished(w->merge, pick(w, HOSTS + 1), pick(w, 12));
        break;
    case 3:
        w->now_ns += pick(w, 256) * (NS_PER_S / 16);
        break;
    case 4:
        take_rows(w);
        break;
    default:
        give_sample(w);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct world w = {.at = data, .end = data + size};
    const struct merge_timing timing = {NS_PER_S, pick(&w, 4), pick(&w, 16)};

    w.layout = make_layout();
    w.merge = merge_new(w.layout, &timing);
    merge_start(w.merge, 0);
    while (w.at < w.end)
        act(&w);
    merge_end(w.merge);
    take_rows(&w);
    assert(w.given == w.taken);
    w.merge = merge_free(w.merge);
    w.layout = layout_free(w.layout);
    return 0;
}
