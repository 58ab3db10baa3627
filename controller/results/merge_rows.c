/*
 * The cluster's rows: a host's row finds the one it belongs to.
 */
#include "controller/results/merge_inside.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WAIT_MIN_NS (5 * NS_PER_S)

static struct row *new_row(const struct merge *merge, uint64_t interval)
{
    const struct layout *layout = merge->layout;
    struct row *row = calloc(1, sizeof(*row));
    uint32_t at = 0;

    if (row == NULL)
        return NULL;
    row->interval = interval;
    row->spans = 1;
    row->kind = interval < merge->timing.warmup_intervals ? SAMPLE_ROW_WARMUP
                                                          : SAMPLE_ROW_MEASURED;
    row->begin_ns = INT64_MAX;
    row->end_ns = INT64_MIN;
    row->hosts_expected = layout->takes_part_count;
    row->workload_count = layout->workload_count;
    row->workloads =
        calloc((size_t)layout->workload_count + 1, sizeof(*row->workloads));
    row->hosts =
        calloc((size_t)layout->takes_part_count + 1, sizeof(*row->hosts));
    if (row->workloads == NULL || row->hosts == NULL)
        return row_free(row);
    for (uint32_t h = 0; h < layout->host_count; h++)
        if (layout->takes_part[h])
            row->hosts[at++] = (struct row_host){
                .host = h, .mean_us = NAN, .p99_us = NAN, .max_us = NAN};
    return row;
}

static uint64_t end_of_open(const struct merge *merge)
{
    return merge->open_count == 0
               ? merge->closed
               : merge->open[merge->open_count - 1]->interval + 1;
}

/* Rows for all intervals up to `last`. */
static int extend(struct merge *merge, uint64_t last)
{
    while (end_of_open(merge) <= last) {
        struct row *row;

        if (merge->open_count == MERGE_OPEN_MAX)
            return -ENOBUFS;
        row = new_row(merge, end_of_open(merge));
        if (row == NULL)
            return -ENOMEM;
        merge->open[merge->open_count++] = row;
    }
    return 0;
}

static struct row_host *host_of(struct row *row, uint32_t host)
{
    uint32_t low = 0, high = row->hosts_expected;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (row->hosts[middle].host < host)
            low = middle + 1;
        else
            high = middle;
    }
    assert(low < row->hosts_expected && row->hosts[low].host == host);
    return &row->hosts[low];
}

static double larger_of(double a, double b)
{
    return !(a > b) && !isnan(b) ? b : a;
}

/* Puts two parts of a host's row together, one after the other in time. */
static void join_host(struct row_host *into, const struct row_host *from)
{
    uint64_t ios = into->n[SAMPLE_READ].ios + into->n[SAMPLE_WRITE].ios;
    uint64_t more = from->n[SAMPLE_READ].ios + from->n[SAMPLE_WRITE].ios;

    if (ios > 0 && more > 0) {
        into->mean_us =
            (into->mean_us * (double)ios + from->mean_us * (double)more) /
            (double)(ios + more);
        into->p99_us = NAN;
    } else if (more > 0) {
        into->mean_us = from->mean_us;
        into->p99_us = from->p99_us;
    }
    into->max_us = larger_of(into->max_us, from->max_us);
    into->intervals_ += from->intervals_;
    into->samples_ += from->samples_;
    for (int op = 0; op < SAMPLE_OPS; op++)
        counts_follow(&into->n[op], &from->n[op]);
    cpu_tally_add(&into->cpu, &from->cpu);
}

static void join_window(struct row *row, int64_t begin_ns, int64_t end_ns,
                        int64_t skew_ns)
{
    row->begin_ns = begin_ns < row->begin_ns ? begin_ns : row->begin_ns;
    row->end_ns = end_ns > row->end_ns ? end_ns : row->end_ns;
    row->skew_ns = skew_ns > row->skew_ns ? skew_ns : row->skew_ns;
}

static void clear_gauges(struct tally_pair *pair)
{
    for (int op = 0; op < SAMPLE_OPS; op++) {
        struct counts *n = &pair->op[op].n;

        *n = (struct counts){
            .ios = n->ios, .bytes = n->bytes, .errors = n->errors};
    }
}

/* What was in flight at an edge within a row is not in flight at its end. */
static void clear_all_gauges(struct tally_pair *sum,
                             struct tally_pair *workloads, uint32_t count)
{
    clear_gauges(sum);
    for (uint32_t w = 0; w < count; w++)
        clear_gauges(&workloads[w]);
}

/* The row of the later intervals takes those before into itself. */
static int join(struct row *later, struct row *earlier)
{
    int err;

    clear_all_gauges(&earlier->sum, earlier->workloads,
                     earlier->workload_count);
    err = tally_pair_add(&later->sum, &earlier->sum);

    for (uint32_t w = 0; w < later->workload_count && err == 0; w++)
        err = tally_pair_add(&later->workloads[w], &earlier->workloads[w]);
    if (err < 0)
        return err;
    for (uint32_t i = 0; i < later->hosts_expected; i++) {
        struct row_host host = earlier->hosts[i];

        join_host(&host, &later->hosts[i]);
        later->hosts[i] = host;
    }
    join_window(later, earlier->begin_ns, earlier->end_ns, earlier->skew_ns);
    cpu_tally_add(&later->cpu, &earlier->cpu);
    later->spans += earlier->spans;
    return 0;
}

/* The index of the open row that covers an interval. */
static uint32_t find_open(const struct merge *merge, uint64_t interval)
{
    uint32_t i = 0;

    while (merge->open[i]->interval < interval)
        i++;
    return i;
}

/* One row for all of first .. last. */
static int span(struct merge *merge, uint64_t first, uint64_t last,
                struct row **ret_row)
{
    uint32_t at = find_open(merge, first);
    int err = 0;

    while (merge->open[at]->interval < last && err == 0) {
        err = join(merge->open[at + 1], merge->open[at]);
        (void)row_free(merge->open[at]);
        merge->open_count--;
        memmove(&merge->open[at], &merge->open[at + 1],
                (merge->open_count - at) * sizeof(struct row *));
    }
    *ret_row = merge->open[at];
    return err;
}

static void host_latency(struct merge *merge, struct row_host *ret_host)
{
    struct figures figures;

    /* One window is as good as another: latencies do not depend on it. */
    figures_of(&merge->sum, 0, false, NULL, &merge->both, &figures);
    ret_host->mean_us = figures.all.service.mean_us;
    ret_host->p99_us = figures.all.service.p99_us;
    ret_host->max_us = figures.all.service.max_us;
}

/* Adds merge's scratch, which is the sum of `from`, to a row. */
static int add_to_row(struct merge *merge, struct row *row,
                      const struct host_row *from, uint32_t intervals)
{
    struct row_host host = {.intervals_ = intervals, .samples_ = 1};
    int err;

    if (from->interval < row->interval)
        clear_all_gauges(&merge->sum, merge->workloads, row->workload_count);
    err = tally_pair_add(&row->sum, &merge->sum);

    for (uint32_t w = 0; w < row->workload_count && err == 0; w++)
        err = tally_pair_add(&row->workloads[w], &merge->workloads[w]);
    if (err < 0)
        return err;
    for (int op = 0; op < SAMPLE_OPS; op++)
        host.n[op] = merge->sum.op[op].n;
    host.cpu = from->cpu;
    host_latency(merge, &host);
    join_host(host_of(row, from->host), &host);
    join_window(row, from->begin_ns, from->end_ns, from->skew_ns);
    cpu_tally_add(&row->cpu, &from->cpu);
    return 0;
}

static int add_drain(struct merge *merge, const struct host_row *from)
{
    if (merge->drain == NULL) {
        merge->drain = new_row(merge, from->interval);
        if (merge->drain == NULL)
            return -ENOMEM;
        merge->drain->kind = SAMPLE_ROW_DRAIN;
    }
    if (from->interval > merge->drain->interval)
        merge->drain->interval = from->interval;
    return add_to_row(merge, merge->drain, from, 1);
}

/*
 * The intervals beyond the warm-up that a warm-up sample reaches into: the
 * host has nothing for them, and they need not wait for it.
 */
static void skip_rest(struct merge *merge, const struct host_row *from,
                      uint64_t first)
{
    for (uint64_t k = first; k <= from->interval; k++)
        host_of(merge->open[find_open(merge, k)], from->host)->intervals_++;
}

static int add_interval(struct merge *merge, const struct host_row *from)
{
    uint64_t first = from->interval + 1 - from->spans;
    uint64_t last = from->interval;
    struct row *row;
    int err = extend(merge, last);

    if (err < 0)
        return err;
    if (from->kind == SAMPLE_ROW_WARMUP &&
        last >= merge->timing.warmup_intervals) {
        skip_rest(merge, from, merge->timing.warmup_intervals);
        last = merge->timing.warmup_intervals - 1;
    }
    err = span(merge, first, last, &row);
    if (err < 0)
        return err;
    return add_to_row(merge, row, from, (uint32_t)(last + 1 - first));
}

static void force(struct merge *merge, uint64_t below)
{
    merge->forced = below > merge->forced ? below : merge->forced;
}

/*
 * The cluster's rows that it reaches into are rebuilt with it, so they must be
 * in the store before: they close now, and those that are not there yet come to
 * be.
 */
static void place_late(struct merge *merge, struct host_row *row)
{
    row->late = true;
    if (row->kind != SAMPLE_ROW_DRAIN && row->interval >= merge->closed)
        force(merge, row->interval + 1);
}

static bool is_late(const struct merge *merge, const struct host_row *row)
{
    if (merge->forgotten)
        return true;
    if (row->kind == SAMPLE_ROW_DRAIN)
        return merge->drain_closed;
    return row->interval + 1 - row->spans < merge->closed ||
           row->interval >= merge->closed + MERGE_OPEN_MAX;
}

void merge_place(struct merge *merge, struct host_row *row)
{
    int err;

    if (is_late(merge, row)) {
        place_late(merge, row);
        return;
    }
    err = row->kind == SAMPLE_ROW_DRAIN ? add_drain(merge, row)
                                        : add_interval(merge, row);
    /* Without memory the cluster's row is not what it should be.  From what is
       in the store it can still be made. */
    if (err < 0)
        place_late(merge, row);
}

/* ---- Closing ---------------------------------------------------------------
 */

static bool waits_for(const struct merge *merge, const struct row *row,
                      const struct row_host *host)
{
    const struct merge_host *state = &merge->hosts[host->host];

    if (row->kind == SAMPLE_ROW_DRAIN)
        return state->state != HOST_LOST && !state->drained;
    if (host->intervals_ >= row->spans || state->state == HOST_LOST)
        return false;
    return state->state == HOST_EXPECTED || state->finished > row->interval;
}

static bool is_whole(const struct merge *merge, const struct row *row)
{
    for (uint32_t i = 0; i < row->hosts_expected; i++)
        if (waits_for(merge, row, &row->hosts[i]))
            return false;
    return true;
}

/* When a row closes without those it waits for. */
static uint64_t due_ns(const struct merge *merge, const struct row *row)
{
    uint64_t interval_ns = merge->timing.interval_ns;
    uint64_t wait_ns =
        2 * interval_ns > WAIT_MIN_NS ? 2 * interval_ns : WAIT_MIN_NS;
    u128 due =
        merge->start_ns + (u128)(row->interval + 1) * interval_ns + wait_ns;

    return !merge->started || due > UINT64_MAX ? UINT64_MAX : (uint64_t)due;
}

static bool closes(const struct merge *merge, const struct row *row,
                   uint64_t now_ns)
{
    return merge->ended || row->interval + 1 - row->spans < merge->forced ||
           merge->open_count > merge->open_max ||
           now_ns >= due_ns(merge, row) || is_whole(merge, row);
}

static struct row *finish(struct row *row)
{
    row->hosts_delivered = 0;
    for (uint32_t i = 0; i < row->hosts_expected; i++) {
        struct row_host *host = &row->hosts[i];

        host->delivered = host->samples_ > 0 && host->intervals_ >= row->spans;
        row->hosts_delivered += host->delivered ? 1 : 0;
    }
    return row;
}

/* The row of an interval that a later one has in it, or that nobody has. */
static struct row *next_empty(struct merge *merge, const struct row *within)
{
    struct row *row = new_row(merge, merge->closed);

    if (row == NULL)
        return NULL;
    row->spans = within == NULL ? 1 : 0;
    for (uint32_t i = 0; within != NULL && i < row->hosts_expected; i++) {
        row->hosts[i].samples_ = within->hosts[i].samples_;
        row->hosts[i].intervals_ =
            within->hosts[i].intervals_ >= within->spans ? 1 : 0;
    }
    merge->closed++;
    return finish(row);
}

static struct row *pop(struct merge *merge)
{
    struct row *row = merge->open[0];

    merge->open_count--;
    memmove(&merge->open[0], &merge->open[1],
            merge->open_count * sizeof(struct row *));
    merge->closed = row->interval + 1;
    return finish(row);
}

static struct row *next_drain(struct merge *merge)
{
    struct row *row = merge->drain;

    if (row == NULL || !(merge->ended || is_whole(merge, row)))
        return NULL;
    merge->drain = NULL;
    merge->drain_closed = true;
    return finish(row);
}

struct row *merge_next(struct merge *merge, uint64_t now_ns)
{
    struct row *oldest = merge->open_count == 0 ? NULL : merge->open[0];

    if (oldest == NULL && merge->closed < merge->forced)
        return next_empty(merge, NULL);
    if (oldest == NULL)
        return next_drain(merge);
    if (!closes(merge, oldest, now_ns))
        return NULL;
    if (merge->closed < oldest->interval)
        return next_empty(merge, oldest);
    return pop(merge);
}

uint64_t merge_due_ns(const struct merge *merge)
{
    return merge->open_count == 0 ? UINT64_MAX : due_ns(merge, merge->open[0]);
}
