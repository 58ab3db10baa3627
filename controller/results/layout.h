/*
 * layout.h - which cell of a phase is on which host and drive and belongs to
 * which workload: what merging goes by.
 *
 * Drives are a host's targets: two hosts' views of one shared drive are two,
 * so that what a host did is always the sum of what its drives did.
 *
 * Threads: not changed once made; may be read by any.
 */
#ifndef CONTROLLER_RESULTS_LAYOUT_H
#define CONTROLLER_RESULTS_LAYOUT_H

#include "common/base.h"
#include "controller/results/bytes.h"

struct plan;
struct plan_run;

#define LAYOUT_HOSTS_MAX     4096u
#define LAYOUT_TARGETS_MAX   65536u
#define LAYOUT_WORKLOADS_MAX 64u
#define LAYOUT_CELLS_MAX     (1u << 20)

struct layout_cell {
    uint32_t host;   /* index into plan.hosts */
    uint32_t target; /* index into plan.targets */
    uint32_t workload;
};

struct layout {
    uint32_t host_count; /* of the plan, as the next */
    uint32_t target_count;
    uint32_t workload_count;
    uint32_t cell_count;
    struct layout_cell *cells;
    bool *takes_part; /* by host: it has a cell */
    uint32_t takes_part_count;
};

/* Of one run.  -EINVAL when it is beyond the bounds above, or -ENOMEM. */
int layout_of_run(const struct plan *plan, const struct plan_run *run,
                  struct layout **ret_layout) MUST_CHECK;

/* NULL is fine.  Returns NULL. */
struct layout *layout_free(struct layout *layout);

static inline void layout_freep(struct layout **layout)
{
    (void)layout_free(*layout);
}

void layout_encode(const struct layout *layout, struct bytes *into);

/* -EBADMSG for anything encode could not have written, or -ENOMEM. */
int layout_decode(const uint8_t *data, size_t length,
                  struct layout **ret_layout) MUST_CHECK;

#endif
