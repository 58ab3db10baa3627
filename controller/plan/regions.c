/*
 * regions.c - which bytes of a target a cell may touch.
 *
 * All edges within a target are multiples of the largest transfer of the whole
 * campaign on its sd, so that they are the same on every host and in every
 * run, whatever is transferred there (case K01).  The first such multiple of a
 * block device is never touched: it holds what tells systems what the drive
 * is.
 */
#include "controller/plan/internal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static uint64_t round_down(uint64_t value, uint64_t grain)
{
    return value / grain * grain;
}

/* One edge of range=, in bytes; beyond the end is the end. */
static uint64_t edge_bytes(double value, bool is_percent, uint64_t size)
{
    double bytes = is_percent ? (double)size * value / 100 : value;

    return bytes >= (double)size ? size : (uint64_t)bytes;
}

/*
 * The part of range= that this host has of sequential work.  Where the range
 * goes on from the beginning, both pieces are cut as one: a slice may lie in
 * either, or end in the second.
 */
static void cut_slice(struct plan_cell *cell, uint64_t grain)
{
    uint64_t first = round_down(cell->high - cell->low, grain);
    uint64_t second = cell->wrap_high - cell->wrap_low;
    uint64_t width = round_down((first + second) / cell->slices, grain);
    uint64_t begin = cell->slice * width;
    uint64_t end =
        cell->slice + 1 < cell->slices ? begin + width : first + second;

    if (begin >= first) {
        cell->low = cell->wrap_low + (begin - first);
        cell->high = cell->wrap_low + (end - first);
        cell->wrap_low = cell->wrap_high = 0;
        return;
    }
    cell->low += begin;
    if (end < first)
        cell->high = cell->low + width;
    cell->wrap_high = end > first ? cell->wrap_low + (end - first) : 0;
    if (cell->wrap_high == 0)
        cell->wrap_low = 0;
}

static void fail_small(struct placing *placing, const struct plan_run *run,
                       const struct plan_cell *cell)
{
    uint32_t index = run->targets[cell->target].target;
    const struct plan_target *target = &placing->plan->targets[index];

    placing_fail(placing, index,
                 "too small: %s of %" PRIu64 " bytes for wd=%s, whose "
                 "largest transfer is %u%s",
                 cell->slices > 1 ? "its slice" : "a region",
                 cell->high > cell->low ? cell->high - cell->low : 0,
                 run->workloads[cell->workload].name, target->xfer_max,
                 target->facts.is_block
                     ? " (the first is never touched on a device)"
                     : "");
}

/* The part of range= beyond the end: from the beginning on. */
static void place_wrap(struct plan_cell *cell, uint64_t size, uint64_t grain,
                       bool is_block)
{
    uint64_t low = is_block ? grain : 0;
    uint64_t high =
        round_down(edge_bytes(cell->range.high - 100, true, size), grain);

    cell->wrap_low = cell->wrap_high = 0;
    if (!cell->range.high_is_percent || cell->range.high <= 100)
        return;
    if (high > cell->low)
        high = cell->low;
    if (high < low + grain)
        return;
    cell->wrap_low = low;
    cell->wrap_high = high;
}

/* hitarea= in whole transfers, with something left beside it. */
static void place_hits(struct placing *placing, const struct plan_run *run,
                       struct plan_cell *cell, uint64_t grain)
{
    const struct plan_workload *workload = &run->workloads[cell->workload];
    uint32_t index = run->targets[cell->target].target;
    uint64_t bytes = (cell->hit_area + grain - 1) / grain * grain;

    if (workload->read_hit_percent <= 0 && workload->write_hit_percent <= 0)
        return;
    cell->hit_area = bytes;
    if (cell->high - cell->low < bytes + grain)
        placing_fail(placing, index,
                     "too small: a hitarea= of %" PRIu64 " bytes in a region "
                     "of %" PRIu64 " for wd=%s",
                     bytes, cell->high - cell->low, workload->name);
}

static void place_cell(struct placing *placing, const struct plan_run *run,
                       struct plan_cell *cell)
{
    const struct plan_workload *workload = &run->workloads[cell->workload];
    uint32_t index = run->targets[cell->target].target;
    const struct plan_target *target = &placing->plan->targets[index];
    const struct plan_range *range = &cell->range;
    uint64_t grain = target->xfer_max;
    uint64_t size =
        target->size_bytes > cell->shift ? target->size_bytes - cell->shift : 0;

    if (!range->high_is_percent && range->high > (double)size) {
        placing_fail(placing, index,
                     "range= ends at %.0f, the drive has %" PRIu64 " bytes",
                     range->high, size);
        return;
    }
    cell->low =
        round_down(edge_bytes(range->low, range->low_is_percent, size), grain);
    cell->high = edge_bytes(range->high, range->high_is_percent, size);
    if (cell->high < size)
        cell->high = round_down(cell->high, grain);
    if (target->facts.is_block && cell->low == 0)
        cell->low = grain;
    place_wrap(cell, size, grain, target->facts.is_block);
    if (cell->high > cell->low && cell->slices > 1 && !run->concatenated)
        cut_slice(cell, grain);
    if (cell->high < cell->low || cell->high - cell->low < grain) {
        fail_small(placing, run, cell);
        return;
    }
    if (workload->streams > 1 && !run->concatenated &&
        (cell->high - cell->low) / workload->streams < grain)
        placing_fail(placing, index,
                     "too small: %u streams of wd=%s in %" PRIu64 " bytes",
                     workload->streams, workload->name, cell->high - cell->low);
    place_hits(placing, run, cell, grain);
    cell->low += cell->shift;
    cell->high += cell->shift;
    if (cell->wrap_high > 0) {
        cell->wrap_low += cell->shift;
        cell->wrap_high += cell->shift;
    }
}

/* ---- several sds as one ---- */

static uint64_t cell_bytes(const struct placing *placing,
                           const struct plan_run *run,
                           const struct plan_cell *cell)
{
    return placing->plan->targets[run->targets[cell->target].target].size_bytes;
}

/* Whether the cell before has the same sd, on another host. */
static bool is_same_sd(const struct placing *placing,
                       const struct plan_run *run, const struct plan_cell *a,
                       const struct plan_cell *b)
{
    const struct plan_target *targets = placing->plan->targets;

    return strcmp(targets[run->targets[a->target].target].sd,
                  targets[run->targets[b->target].target].sd) == 0;
}

/* Bytes of a workload's sds, each counted once. */
static uint64_t band_bytes(const struct placing *placing,
                           const struct plan_run *run, uint32_t workload)
{
    const struct plan_cell *before = NULL;
    uint64_t sum = 0;

    for (uint32_t i = 0; i < run->cell_count; i++) {
        const struct plan_cell *cell = &run->cells[i];

        if (cell->workload != workload)
            continue;
        if (before == NULL || !is_same_sd(placing, run, before, cell))
            sum += cell_bytes(placing, run, cell);
        before = cell;
    }
    return sum;
}

/* How many hosts a cell's sd has in the workload. */
static uint32_t hosts_of(const struct placing *placing,
                         const struct plan_run *run, const struct plan_cell *of)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < run->cell_count; i++)
        count += run->cells[i].workload == of->workload &&
                 is_same_sd(placing, run, &run->cells[i], of);
    return count;
}

/*
 * The part of a band [low, high) that lies on a cell whose sd begins at
 * `begin`.  Density falls as 1/sqrt(x), so the part's share is the difference
 * of the edges' square roots.
 */
static void cut_band(struct placing *placing, const struct plan_run *run,
                     struct plan_cell *cell, uint64_t begin,
                     const uint64_t band[2])
{
    const struct plan_target *target =
        &placing->plan->targets[run->targets[cell->target].target];
    uint64_t grain = target->xfer_max;
    uint64_t end = begin + target->size_bytes;
    uint64_t low = band[0] > begin ? band[0] : begin;
    uint64_t high = band[1] < end ? band[1] : end;
    double width = (double)(band[1] - band[0]);

    cell->idle = high <= low;
    if (!cell->idle) {
        cell->band_low = (double)(low - band[0]) / width;
        cell->band_high = (double)(high - band[0]) / width;
        cell->low = round_down(low - begin, grain);
        cell->high =
            high == end ? target->size_bytes : round_down(high - begin, grain);
        if (target->facts.is_block && cell->low == 0)
            cell->low = grain;
        cell->low += cell->shift;
        if (cell->high > cell->low && cell->high < target->size_bytes &&
            cell->high + cell->shift <= target->size_bytes)
            cell->high += cell->shift;
        cell->idle = cell->high < cell->low || cell->high - cell->low < grain;
    }
    if (cell->idle) {
        cell->low = cell->high = 0;
        cell->share = 0;
        return;
    }
    cell->share = (sqrt(cell->band_high) - sqrt(cell->band_low)) /
                  hosts_of(placing, run, cell);
}

/* The shares of a workload's cells add up to what they added up to before. */
static void scale_shares(struct plan_run *run, uint32_t workload, double sum)
{
    double now = 0;

    for (uint32_t i = 0; i < run->cell_count; i++)
        if (run->cells[i].workload == workload)
            now += run->cells[i].share;
    for (uint32_t i = 0; i < run->cell_count && now > 0; i++)
        if (run->cells[i].workload == workload)
            run->cells[i].share *= sum / now;
}

static double sum_shares(const struct plan_run *run, uint32_t workload)
{
    double sum = 0;

    for (uint32_t i = 0; i < run->cell_count; i++)
        if (run->cells[i].workload == workload)
            sum += run->cells[i].share;
    return sum;
}

/* hotband=: all sds of the workload are one band. */
static void place_band(struct placing *placing, struct plan_run *run,
                       uint32_t workload)
{
    const struct plan_cell *before = NULL;
    double sum = sum_shares(run, workload);
    uint64_t total = band_bytes(placing, run, workload);
    uint64_t begin = 0;
    uint64_t band[2];

    for (uint32_t i = 0; i < run->cell_count; i++) {
        struct plan_cell *cell = &run->cells[i];
        const struct plan_range *range = &cell->range;

        if (cell->workload != workload)
            continue;
        if (before != NULL && !is_same_sd(placing, run, before, cell))
            begin += cell_bytes(placing, run, before);
        band[0] = edge_bytes(range->low, range->low_is_percent, total);
        band[1] = edge_bytes(range->high, range->high_is_percent, total);
        if (band[1] > band[0])
            cut_band(placing, run, cell, begin, band);
        if (!cell->idle)
            place_hits(placing, run, cell,
                       placing->plan->targets[run->targets[cell->target].target]
                           .xfer_max);
        before = cell;
    }
    scale_shares(run, workload, sum);
}

/* concatenatesds= with random work: each sd gets as much as it is of the whole.
 */
static void place_concatenated(struct placing *placing, struct plan_run *run,
                               uint32_t workload)
{
    double sum = sum_shares(run, workload);

    for (uint32_t i = 0; i < run->cell_count; i++) {
        struct plan_cell *cell = &run->cells[i];

        if (cell->workload == workload)
            cell->share =
                (double)(cell->high - cell->low) / hosts_of(placing, run, cell);
    }
    scale_shares(run, workload, sum);
}

/* ---- one sequence over all sds ---- */

static bool is_walked(const struct plan_workload *workload)
{
    return workload->seek_percent < 100 && workload->seek == PLAN_SEEK_UNIFORM;
}

static uint32_t host_of(const struct placing *placing,
                        const struct plan_run *run,
                        const struct plan_cell *cell)
{
    return placing->plan->targets[run->targets[cell->target].target].host;
}

static uint32_t grain_of(const struct placing *placing,
                         const struct plan_run *run,
                         const struct plan_cell *cell)
{
    return placing->plan->targets[run->targets[cell->target].target].xfer_max;
}

/* Whether each host has its part of the whole: all have all sds, so that slice
 * n is the same host on each. */
static bool share_all(const struct placing *placing, const struct plan_run *run,
                      uint32_t workload)
{
    uint32_t first = UINT32_MAX;

    for (uint32_t i = 0; i < run->cell_count; i++) {
        const struct plan_cell *cell = &run->cells[i];
        const struct plan_cell *same;

        if (cell->workload != workload)
            continue;
        if (first == UINT32_MAX)
            first = i;
        same = &run->cells[first + cell->slice];
        if (cell->slices != run->cells[first].slices ||
            same->workload != workload || same->slice != cell->slice ||
            host_of(placing, run, same) != host_of(placing, run, cell))
            return false;
    }
    return true;
}

/* Bytes of an sd's region in whole transfers of the largest size of all. */
static uint64_t whole_bytes(const struct plan_cell *cell, uint64_t grain)
{
    return cell->high > cell->low ? round_down(cell->high - cell->low, grain)
                                  : 0;
}

/* What `slice` bytes of the whole leave of a cell whose sd begins at `begin`.
 */
static void cut_whole(struct plan_cell *cell, uint64_t begin,
                      const uint64_t slice[2], uint64_t grain)
{
    uint64_t end = begin + whole_bytes(cell, grain);
    uint64_t low = slice[0] > begin ? slice[0] : begin;
    uint64_t high = slice[1] < end ? slice[1] : end;

    cell->idle = high <= low;
    if (cell->idle) {
        cell->low = cell->high = 0;
        return;
    }
    if (high < end)
        cell->high = cell->low + (high - begin);
    cell->low += low - begin;
}

/* One slice of the whole for each host. */
static void slice_whole(struct placing *placing, struct plan_run *run,
                        uint32_t workload)
{
    const struct plan_cell *before = NULL;
    uint64_t grain = 0, total = 0, begin = 0, length = 0;

    for (uint32_t i = 0; i < run->cell_count; i++)
        if (run->cells[i].workload == workload &&
            grain_of(placing, run, &run->cells[i]) > grain)
            grain = grain_of(placing, run, &run->cells[i]);
    for (uint32_t i = 0; i < run->cell_count; i++)
        if (run->cells[i].workload == workload && run->cells[i].slice == 0)
            total += whole_bytes(&run->cells[i], grain);
    for (uint32_t i = 0; i < run->cell_count; i++) {
        struct plan_cell *cell = &run->cells[i];
        uint64_t width = round_down(total / cell->slices, grain);
        const uint64_t slice[2] = {
            cell->slice * width,
            cell->slice + 1 < cell->slices ? (cell->slice + 1) * width : total};

        if (cell->workload != workload)
            continue;
        if (width < grain)
            fail_small(placing, run, cell);
        if (before == NULL || !is_same_sd(placing, run, before, cell)) {
            begin += length;
            length = whole_bytes(cell, grain);
        }
        cut_whole(cell, begin, slice, grain);
        before = cell;
    }
}

static void slice_each(const struct placing *placing, struct plan_run *run,
                       uint32_t workload)
{
    for (uint32_t i = 0; i < run->cell_count; i++)
        if (run->cells[i].workload == workload && run->cells[i].slices > 1)
            cut_slice(&run->cells[i], grain_of(placing, run, &run->cells[i]));
}

static uint32_t unit_of(const struct placing *placing,
                        const struct plan_run *run,
                        const struct plan_cell *cell)
{
    const struct plan_dedup *dedup =
        &placing->plan->targets[run->targets[cell->target].target].dedup;

    return dedup->ratio > 1 ? dedup->unit : 0;
}

/* What one sequence writes has units of one size. */
static void check_units(struct placing *placing, const struct plan_run *run,
                        const struct plan_cell *first,
                        const struct plan_cell *cell)
{
    const struct plan_workload *workload = &run->workloads[cell->workload];

    if (workload->read_percent < 100 &&
        unit_of(placing, run, first) != unit_of(placing, run, cell))
        placing_fail(placing, run->targets[cell->target].target,
                     "wd=%s goes over it and over others as one drive, and "
                     "dedupunit= is %u here and %u there",
                     workload->name, unit_of(placing, run, cell),
                     unit_of(placing, run, first));
}

/* The cells of one host after `first` go on with its sequence.  Returns the
 * bytes of all. */
static uint64_t join_host(struct placing *placing, struct plan_run *run,
                          uint32_t first)
{
    uint32_t workload = run->cells[first].workload;
    uint32_t host = host_of(placing, run, &run->cells[first]);
    uint64_t bytes = 0;

    for (uint32_t i = first; i < run->cell_count; i++) {
        struct plan_cell *cell = &run->cells[i];

        if (cell->workload != workload || cell->idle ||
            host_of(placing, run, cell) != host)
            continue;
        bytes += cell->high - cell->low;
        check_units(placing, run, &run->cells[first], cell);
        cell->joins = i > first ? first + 1 : 0;
    }
    return bytes;
}

static void check_joined(struct placing *placing, const struct plan_run *run,
                         const struct plan_cell *cell, uint64_t bytes)
{
    const struct plan_workload *workload = &run->workloads[cell->workload];
    uint64_t grain = grain_of(placing, run, cell);

    if (workload->streams > 1 && bytes / workload->streams < 2 * grain)
        placing_fail(placing, run->targets[cell->target].target,
                     "too small: %u streams of wd=%s in %" PRIu64 " bytes",
                     workload->streams, workload->name, bytes);
}

/* Where every cell has its region: one sequence a host, whose rate and threads
 * its first cell has. */
static void place_walked(struct placing *placing, struct plan_run *run,
                         uint32_t workload)
{
    double sum = sum_shares(run, workload);

    if (share_all(placing, run, workload))
        slice_whole(placing, run, workload);
    else
        slice_each(placing, run, workload);
    for (uint32_t i = 0; i < run->cell_count; i++) {
        struct plan_cell *cell = &run->cells[i];
        uint64_t bytes;

        if (cell->workload != workload)
            continue;
        cell->share = 0;
        if (cell->idle || cell->joins > 0)
            continue;
        bytes = join_host(placing, run, i);
        cell->share = (double)bytes;
        check_joined(placing, run, cell, bytes);
    }
    scale_shares(run, workload, sum);
}

/* threads= of concatenated sds, by the shares of their targets; at least one
 * each. */
static void share_threads(struct plan_run *run)
{
    for (uint32_t i = 0; i < run->target_count; i++) {
        struct plan_run_target *target = &run->targets[i];
        double share = 0;

        for (uint32_t k = 0; k < run->cell_count; k++)
            if (run->cells[k].target == i)
                share += run->cells[k].share;
        target->threads = (uint32_t)(target->threads * share + 0.5);
        if (target->threads == 0)
            target->threads = 1;
    }
}

static void place_together(struct placing *placing, struct plan_run *run)
{
    for (uint32_t i = 0; i < run->workload_count; i++) {
        if (run->workloads[i].seek == PLAN_SEEK_BAND)
            place_band(placing, run, i);
        else if (run->concatenated && is_walked(&run->workloads[i]))
            place_walked(placing, run, i);
        else if (run->concatenated)
            place_concatenated(placing, run, i);
    }
}

/* maxdata= as a multiple of all sds of the run, each counted once. */
static void place_limits(struct placing *placing, struct plan_run *run)
{
    uint64_t *bytes[] = {&run->max_bytes, &run->max_bytes_read,
                         &run->max_bytes_written};
    uint64_t total = plan_run_bytes(placing->plan, run);

    for (size_t i = 0; i < ARRAY_LENGTH(bytes); i++)
        if (run->max_ratio[i] > 0)
            *bytes[i] = (uint64_t)(run->max_ratio[i] * (double)total);
}

void regions_place(struct placing *placing)
{
    struct plan *plan = placing->plan;
    const struct plan_cell *before = NULL;
    const struct plan_run_target *targets = NULL;

    for (uint32_t i = 0; i < plan->run_count; i++) {
        struct plan_run *run = &plan->runs[i];

        place_limits(placing, run);
        if (i >= plan->distinct_runs)
            continue; /* a repetition: what follows is shared */
        if (run->cells != before)
            for (uint32_t k = 0; k < run->cell_count; k++)
                if (!placing->failed[run->targets[run->cells[k].target].target])
                    place_cell(placing, run, &run->cells[k]);
        if (run->cells != before)
            place_together(placing, run);
        if (run->concatenated && run->targets != targets)
            share_threads(run);
        before = run->cells;
        targets = run->targets;
    }
}
