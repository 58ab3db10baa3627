#include "controller/results/merge_inside.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* More I/Os than any host does in an interval.  Sums over all hosts stay far
 * from where histograms end. */
#define IOS_MAX (UINT64_C(1) << 40)

static uint32_t open_max_of(const struct layout *layout)
{
    size_t row = ((size_t)layout->workload_count + 1) * SAMPLE_OPS * 2 *
                 sizeof(struct histogram);
    size_t fits = MERGE_OPEN_BYTES / row;

    return fits > MERGE_OPEN_MAX ? MERGE_OPEN_MAX
           : fits < 8            ? 8
                                 : (uint32_t)fits;
}

struct merge *merge_new(const struct layout *layout,
                        const struct merge_timing *timing)
{
    struct merge *merge = calloc(1, sizeof(*merge));

    if (merge == NULL)
        return NULL;
    merge->layout = layout;
    merge->timing = *timing;
    merge->open_max = open_max_of(layout);
    merge->hosts =
        calloc((size_t)layout->host_count + 1, sizeof(*merge->hosts));
    merge->workloads =
        calloc((size_t)layout->workload_count + 1, sizeof(*merge->workloads));
    histogram_init(&merge->both);
    if (merge->hosts == NULL || merge->workloads == NULL)
        return merge_free(merge);
    return merge;
}

struct merge *merge_free(struct merge *merge)
{
    if (merge == NULL)
        return NULL;
    for (uint32_t h = 0; merge->hosts != NULL && h < merge->layout->host_count;
         h++)
        for (uint32_t i = 0; i < MERGE_PENDING_MAX; i++)
            merge_pending_done(&merge->hosts[h].pending[i]);
    for (uint32_t i = 0; i < merge->open_count; i++)
        (void)row_free(merge->open[i]);
    for (uint32_t i = 0;
         merge->workloads != NULL && i < merge->layout->workload_count; i++)
        tally_pair_done(&merge->workloads[i]);
    (void)row_free(merge->drain);
    tally_pair_done(&merge->sum);
    free(merge->workloads);
    free(merge->hosts);
    free(merge);
    return NULL;
}

void merge_start(struct merge *merge, uint64_t start_ns)
{
    merge->start_ns = start_ns;
    merge->started = true;
}

void merge_resume(struct merge *merge, uint64_t closed)
{
    assert(merge->open_count == 0);
    merge->closed = closed;
}

void merge_resume_host(struct merge *merge, uint32_t host, uint64_t next,
                       bool drained)
{
    assert(host < merge->layout->host_count);
    merge->hosts[host].next = next;
    merge->hosts[host].drained = drained;
}

/* ---- One host's sample ----------------------------------------------------
 */

static int add_cell(struct merge *merge, const struct sample_cell *cell)
{
    uint32_t workload = merge->layout->cells[cell->cell].workload;
    struct tally *tally = &merge->workloads[workload].op[cell->op];
    const struct counts n = counts_of(cell);
    int err = tally_add_blob(&tally->service, cell->service,
                             cell->service_length, cell->ios);

    if (err == 0 && cell->response_length > 0)
        err = tally_add_blob(&tally->response, cell->response,
                             cell->response_length, cell->ios);
    if (err == 0)
        counts_add(&tally->n, &n);
    return err;
}

/* Sums a sample up by workload and all together, into merge's scratch. */
static int sum_up(struct merge *merge, const struct pending *whole)
{
    int err = 0;

    tally_pair_reset(&merge->sum);
    for (uint32_t w = 0; w < merge->layout->workload_count; w++)
        tally_pair_reset(&merge->workloads[w]);
    for (uint32_t p = 0; p < whole->part_count && err == 0; p++)
        for (uint32_t i = 0; i < whole->parts[p]->cell_count && err == 0; i++)
            err = add_cell(merge, &whole->parts[p]->cells[i]);
    for (uint32_t w = 0; w < merge->layout->workload_count && err == 0; w++)
        err = tally_pair_add(&merge->sum, &merge->workloads[w]);
    for (int op = 0; op < SAMPLE_OPS && err == 0; op++)
        err = merge->sum.op[op].n.ios > IOS_MAX ? -EOVERFLOW : 0;
    return err;
}

static int64_t distance(int64_t a, int64_t b)
{
    return a > b ? a - b : b - a;
}

/* How far the row's first edge is from where it should be, on the
 * controller's clock: at most the two together. */
static int64_t skew_of(const struct merge *merge, const struct sample *sample)
{
    u128 edge = (u128)merge_first_of(sample) * merge->timing.interval_ns;

    if (sample->kind == SAMPLE_ROW_DRAIN || edge >= (u128)(INT64_MAX / 4))
        return 0;
    return distance(sample->begin_ns, (int64_t)edge) +
           distance(sample->edge_skew_ns, 0);
}

static void fill_from_sample(struct host_row *row, const struct sample *sample)
{
    row->host = sample->host;
    row->interval = sample->interval;
    row->spans = sample->spans;
    row->kind = sample->kind;
    row->begin_ns = sample->begin_ns;
    row->end_ns = sample->end_ns;
    row->opened_first_ns = sample->opened_first_ns;
    row->opened_last_ns = sample->opened_last_ns;
    if (sample->has_host)
        row->cpu = cpu_tally_of(&sample->host_sample);
}

/* What is not all measured is all warm-up. */
static enum sample_kind kind_of(const struct merge *merge,
                                const struct sample *sample)
{
    if (sample->kind == SAMPLE_ROW_DRAIN)
        return SAMPLE_ROW_DRAIN;
    return merge_first_of(sample) < merge->timing.warmup_intervals
               ? SAMPLE_ROW_WARMUP
               : SAMPLE_ROW_MEASURED;
}

/* Takes the parts out of `whole`. */
static int make_host_row(struct merge *merge, struct pending *whole,
                         struct host_row **ret_row)
{
    struct host_row *row = calloc(1, sizeof(*row));
    int err = row == NULL ? -ENOMEM : packed_of(&merge->sum, &row->sum);

    if (err < 0) {
        free(row);
        return err;
    }
    fill_from_sample(row, whole->parts[0]);
    row->kind = kind_of(merge, whole->parts[0]);
    row->skew_ns = skew_of(merge, whole->parts[0]);
    row->parts = TAKE(whole->parts);
    row->part_count = whole->part_count;
    merge_pending_done(whole);
    *ret_row = row;
    return 0;
}

static bool is_known(const struct merge *merge, const struct sample *sample)
{
    const struct merge_host *host = &merge->hosts[sample->host];

    if (merge->forgotten)
        return false;
    return sample->kind == SAMPLE_ROW_DRAIN ? host->drained
                                            : sample->interval < host->next;
}

static void note_delivered(struct merge *merge, const struct host_row *row)
{
    struct merge_host *host = &merge->hosts[row->host];

    if (row->kind == SAMPLE_ROW_DRAIN)
        host->drained = true;
    else if (row->interval >= host->next)
        host->next = row->interval + 1;
}

static int explain(int err, const struct sample *sample, struct diag *diag)
{
    if (err != -EBADMSG && err != -EOVERFLOW)
        return diag_set(diag, err, "the controller is out of memory");
    return diag_set(diag, -EPROTO,
                    "interval %llu: the counts and histograms of a cell do not "
                    "fit together",
                    (unsigned long long)sample->interval);
}

/* Takes the sample out again: it is the caller's. */
static int refuse(int err, struct pending *pending, struct sample *sample,
                  struct diag *diag)
{
    pending->parts[sample->part] = NULL;
    merge_pending_done(pending);
    return explain(err, sample, diag);
}

int merge_take(struct merge *merge, struct sample *sample,
               struct host_row **ret_row, bool *ret_again, struct diag *diag)
{
    struct host_row *row = NULL;
    struct pending *pending = NULL;
    bool again = false;
    int err = merge_check(merge, sample, diag);

    if (err < 0)
        return err;
    err = is_known(merge, sample)
              ? -EALREADY
              : merge_collect(merge, sample, &pending, diag);
    again = err == -EALREADY;
    if (again)
        (void)sample_free(sample);
    else if (err < 0)
        return err;
    if (err == 1) {
        err = sum_up(merge, pending);
        if (err == 0)
            err = make_host_row(merge, pending, &row);
        if (err < 0)
            return refuse(err, pending, sample, diag);
        merge_place(merge, row);
        note_delivered(merge, row);
    }
    *ret_row = row;
    *ret_again = again;
    return 0;
}

void merge_host_lost(struct merge *merge, uint32_t host)
{
    if (host < merge->layout->host_count &&
        merge->hosts[host].state == HOST_EXPECTED)
        merge->hosts[host].state = HOST_LOST;
}

void merge_host_back(struct merge *merge, uint32_t host)
{
    if (host < merge->layout->host_count &&
        merge->hosts[host].state == HOST_LOST)
        merge->hosts[host].state = HOST_EXPECTED;
}

void merge_host_finished(struct merge *merge, uint32_t host, uint64_t intervals)
{
    if (host >= merge->layout->host_count)
        return;
    merge->hosts[host].state = HOST_FINISHED;
    merge->hosts[host].finished = intervals;
}

void merge_forget(struct merge *merge)
{
    merge->forgotten = true;
}

void merge_end(struct merge *merge)
{
    merge->ended = true;
}

uint64_t merge_closed(const struct merge *merge)
{
    return merge->closed;
}

uint64_t merge_host_next(const struct merge *merge, uint32_t host)
{
    return host < merge->layout->host_count ? merge->hosts[host].next : 0;
}
