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
    return row_new(merge->layout, interval,
                   interval < merge->timing.warmup_intervals
                       ? SAMPLE_ROW_WARMUP
                       : SAMPLE_ROW_MEASURED);
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
        err = row_join(merge->open[at + 1], merge->open[at]);
        (void)row_free(merge->open[at]);
        merge->open_count--;
        memmove(&merge->open[at], &merge->open[at + 1],
                (merge->open_count - at) * sizeof(struct row *));
    }
    *ret_row = merge->open[at];
    return err;
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
    return row_add(merge->drain, from, &merge->sum, merge->workloads, 1,
                   &merge->both);
}

/*
 * The intervals beyond the warm-up that a warm-up sample reaches into: the
 * host has nothing for them, and they need not wait for it.
 */
static void skip_rest(struct merge *merge, const struct host_row *from,
                      uint64_t first)
{
    for (uint64_t k = first; k <= from->interval; k++)
        row_host_of(merge->open[find_open(merge, k)], from->host)->intervals_++;
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
    return row_add(row, from, &merge->sum, merge->workloads,
                   (uint32_t)(last + 1 - first), &merge->both);
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
    return row_finish(row);
}

static struct row *pop(struct merge *merge)
{
    struct row *row = merge->open[0];

    merge->open_count--;
    memmove(&merge->open[0], &merge->open[1],
            merge->open_count * sizeof(struct row *));
    merge->closed = row->interval + 1;
    return row_finish(row);
}

static struct row *next_drain(struct merge *merge)
{
    struct row *row = merge->drain;

    if (row == NULL || !(merge->ended || is_whole(merge, row)))
        return NULL;
    merge->drain = NULL;
    merge->drain_closed = true;
    return row_finish(row);
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
