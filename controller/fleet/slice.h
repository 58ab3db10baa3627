/*
 * slice.h - the part of a run that falls to one host.
 *
 * An agent numbers the targets, workloads and cells of its phase from 0; the
 * plan numbers those of the run.  A slice is the translation: element i is the
 * run's index of what the agent calls i.  Order follows the plan, so the same
 * plan gives the same slice after a restart.
 *
 * Memory: one allocation; slice_free() frees it.  Threads: none of its own.
 */
#ifndef CONTROLLER_FLEET_SLICE_H
#define CONTROLLER_FLEET_SLICE_H

#include "common/base.h"
#include "common/diag.h"

struct plan;
struct sample;

struct slice {
    uint32_t run;  /* index into plan.runs */
    uint32_t host; /* index into plan.hosts */
    uint32_t target_count;
    uint32_t workload_count;
    uint32_t cell_count;
    uint32_t *targets;       /* [target_count] into plan_run.targets */
    uint32_t *workloads;     /* [workload_count] into plan_run.workloads */
    uint32_t *cells;         /* [cell_count] into plan_run.cells */
    uint32_t *cell_target;   /* [cell_count] into targets of this slice */
    uint32_t *cell_workload; /* [cell_count] into workloads of this slice */
};

/*
 * Cuts the host's share out of a run.  Workloads without a cell on the host
 * and targets of other hosts are left out.  Returns 0, -ENOENT when the host
 * has no part in the run, or -ENOMEM.
 */
int slice_new(const struct plan *plan, uint32_t run, uint32_t host,
              struct slice **ret_slice) MUST_CHECK;

/* The agent's numbers of cells and targets in a sample become the plan's.
 * -EPROTO with the reason for one that there is not. */
int slice_translate(const struct plan *plan, const struct slice *slice,
                    struct sample *sample, struct diag *diag) MUST_CHECK;

/* NULL is fine.  Returns NULL. */
struct slice *slice_free(struct slice *slice);

#endif
