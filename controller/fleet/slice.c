#include "controller/fleet/slice.h"

#include "controller/plan/plan.h"
#include "controller/results/sample.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

static const struct plan_run *run_of(const struct plan *plan, uint32_t run)
{
    assert(run < plan->run_count);
    return &plan->runs[run];
}

static bool is_on_host(const struct plan *plan, const struct plan_run *run,
                       uint32_t run_target, uint32_t host)
{
    assert(run_target < run->target_count);
    return plan->targets[run->targets[run_target].target].host == host;
}

/* Cells of the run that are on the host. */
static uint32_t count_cells(const struct plan *plan, const struct plan_run *run,
                            uint32_t host)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < run->cell_count; i++)
        count += is_on_host(plan, run, run->cells[i].target, host) ? 1 : 0;
    return count;
}

/* Room for so many cells, each of another target and workload at most. */
static struct slice *slice_alloc(uint32_t cells)
{
    struct slice *slice =
        calloc(1, sizeof(*slice) + 5 * (size_t)cells * sizeof(uint32_t));

    if (slice == NULL)
        return NULL;
    slice->targets = (uint32_t *)(slice + 1);
    slice->workloads = slice->targets + cells;
    slice->cells = slice->workloads + cells;
    slice->cell_target = slice->cells + cells;
    slice->cell_workload = slice->cell_target + cells;
    return slice;
}

/* Notes `value` as the next of ours, once.  Returns what we call it. */
static uint32_t number_of(uint32_t *ours, uint32_t *known, uint32_t *count,
                          uint32_t value)
{
    if (ours[value] == UINT32_MAX) {
        ours[value] = *count;
        known[(*count)++] = value;
    }
    return ours[value];
}

static void fill_slice(struct slice *slice, const struct plan *plan,
                       const struct plan_run *run, uint32_t *target_number,
                       uint32_t *workload_number)
{
    for (uint32_t i = 0; i < run->cell_count; i++) {
        const struct plan_cell *cell = &run->cells[i];

        if (cell->idle || !is_on_host(plan, run, cell->target, slice->host))
            continue;
        slice->cell_target[slice->cell_count] = number_of(
            target_number, slice->targets, &slice->target_count, cell->target);
        slice->cell_workload[slice->cell_count] =
            number_of(workload_number, slice->workloads, &slice->workload_count,
                      cell->workload);
        slice->cells[slice->cell_count++] = i;
    }
}

int slice_new(const struct plan *plan, uint32_t run_index, uint32_t host,
              struct slice **ret_slice)
{
    const struct plan_run *run = run_of(plan, run_index);
    uint32_t cells = count_cells(plan, run, host);
    size_t numbers = (size_t)run->target_count + run->workload_count;
    struct slice *slice;
    uint32_t *number;

    if (cells == 0)
        return -ENOENT;
    slice = slice_alloc(cells);
    number = malloc(numbers * sizeof(*number));
    if (slice == NULL || number == NULL) {
        free(number);
        free(slice);
        return -ENOMEM;
    }
    for (size_t i = 0; i < numbers; i++)
        number[i] = UINT32_MAX;
    slice->run = run_index;
    slice->host = host;
    fill_slice(slice, plan, run, number, number + run->target_count);
    free(number);
    *ret_slice = slice;
    return 0;
}

struct slice *slice_free(struct slice *slice)
{
    free(slice);
    return NULL;
}

/* ---- Samples ----------------------------------------------------------- */

static int translate_cell(const struct slice *slice, uint32_t *cell,
                          struct diag *diag)
{
    if (*cell >= slice->cell_count)
        return diag_set(diag, -EPROTO, "a sample speaks of cell %u of %u",
                        *cell, slice->cell_count);
    *cell = slice->cells[*cell];
    return 0;
}

/* The agent's cells become the run's. */
static int translate_cells(const struct slice *slice, struct sample *sample,
                           struct diag *diag)
{
    int err = 0;

    for (uint32_t i = 0; i < sample->cell_count && err == 0; i++)
        err = translate_cell(slice, &sample->cells[i].cell, diag);
    for (uint32_t i = 0; i < sample->error_count && err == 0; i++)
        err = translate_cell(slice, &sample->errors[i].cell, diag);
    for (uint32_t i = 0; i < sample->failure_count && err == 0; i++)
        err = translate_cell(slice, &sample->failures[i].cell, diag);
    return err;
}

/* The agent's targets become the plan's. */
static int translate_drives(const struct plan *plan, const struct slice *slice,
                            struct sample *sample, struct diag *diag)
{
    const struct plan_run *run = &plan->runs[slice->run];

    for (uint32_t i = 0; i < sample->drive_count; i++) {
        uint32_t target = sample->drives[i].target;

        if (target >= slice->target_count)
            return diag_set(diag, -EPROTO, "a sample speaks of drive %u of %u",
                            target, slice->target_count);
        sample->drives[i].target = run->targets[slice->targets[target]].target;
    }
    return 0;
}

int slice_translate(const struct plan *plan, const struct slice *slice,
                    struct sample *sample, struct diag *diag)
{
    int err = translate_cells(slice, sample, diag);

    return err < 0 ? err : translate_drives(plan, slice, sample, diag);
}
