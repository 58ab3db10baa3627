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

/* The part of range= that this host has of sequential work. */
static void cut_slice(struct plan_cell *cell, uint64_t grain)
{
    uint64_t width = round_down((cell->high - cell->low) / cell->slices, grain);
    uint64_t low = cell->low + cell->slice * width;

    if (cell->slice + 1 < cell->slices)
        cell->high = low + width;
    cell->low = low;
}

static void place_cell(struct placing *placing, const struct plan_run *run,
                       struct plan_cell *cell)
{
    uint32_t index = run->targets[cell->target].target;
    const struct plan_target *target = &placing->plan->targets[index];
    const struct plan_range *range = &cell->range;
    uint64_t size = target->size_bytes;
    uint64_t grain = target->xfer_max;

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
    if (cell->high > cell->low && cell->slices > 1)
        cut_slice(cell, grain);
    if (cell->high < cell->low || cell->high - cell->low < grain)
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

void regions_place(struct placing *placing)
{
    struct plan *plan = placing->plan;
    const struct plan_cell *before = NULL;

    for (uint32_t i = 0; i < plan->run_count; i++) {
        struct plan_run *run = &plan->runs[i];

        if (run->cells == before)
            continue; /* shared with the run before */
        before = run->cells;
        for (uint32_t k = 0; k < run->cell_count; k++)
            if (!placing->failed[run->targets[run->cells[k].target].target])
                place_cell(placing, run, &run->cells[k]);
    }
}
