/* crew_check.c - see crew_check.h. */
#include "agent/crew_check.h"

#include "agent/interlock.h"
#include "agent/memory.h"
#include "common/units.h"

#include <errno.h>

static int check_block(const struct job *job, const struct job_cell *cell,
                       uint32_t block, struct diag *diag)
{
    const struct job_workload *workload = &job->workloads[cell->workload];
    const char *sd = job->targets[cell->target].sd;

    for (uint32_t i = 0; i < workload->size_count; i++)
        if (workload->sizes[i].bytes % block != 0)
            return diag_set(diag, -EINVAL,
                            "sd=%s takes multiples of %u bytes, and wd=%s "
                            "transfers %u; choose another xfersize=, or leave "
                            "out openflags=o_direct",
                            sd, block, workload->name,
                            workload->sizes[i].bytes);
    if (workload->size_step % block != 0 || cell->align % block != 0 ||
        cell->shift % block != 0 || cell->wrap_low % block != 0)
        return diag_set(diag, -EINVAL,
                        "sd=%s takes multiples of %u bytes, and align= or "
                        "offset= of wd=%s are none",
                        sd, block, workload->name);
    if (cell->low % block != 0)
        return diag_set(diag, -EINVAL,
                        "sd=%s takes multiples of %u bytes, and the region of "
                        "wd=%s begins at %llu",
                        sd, block, workload->name,
                        (unsigned long long)cell->low);
    if (job->kind == JOB_FILL && cell->high % block != 0)
        return diag_set(diag, -EINVAL,
                        "sd=%s takes multiples of %u bytes and is to be filled "
                        "up to %llu; choose another size=",
                        sd, block, (unsigned long long)cell->high);
    return 0;
}

int crew_check_targets(const struct job *job,
                       const struct opened_target *opened, uint32_t *ret_target,
                       struct diag *diag)
{
    for (uint32_t i = 0; i < job->cell_count; i++) {
        const struct job_cell *cell = &job->cells[i];
        const struct opened_target *target = &opened[cell->target];
        int r = check_block(job, cell, target->logical_block, diag);

        if (r == 0 && target->kind != INTERLOCK_CHARACTER &&
            cell->high > target->size_bytes)
            r = diag_set(diag, -EINVAL,
                         "sd=%s is %llu bytes long, and wd=%s goes up to %llu",
                         job->targets[cell->target].sd,
                         (unsigned long long)target->size_bytes,
                         job->workloads[cell->workload].name,
                         (unsigned long long)cell->high);
        if (r < 0) {
            *ret_target = cell->target;
            return r;
        }
    }
    return 0;
}

int crew_check_memory(uint64_t bytes, struct diag *diag)
{
    uint64_t available = memory_available();
    char need[UNITS_SIZE], rest[UNITS_SIZE];

    if (bytes <= available)
        return 0;
    return diag_set(diag, -ENOMEM,
                    "%s of memory are needed for buffers and histograms and "
                    "%s are available; lower threads= or xfersize=",
                    units_print_size(need, bytes),
                    units_print_size(rest, available));
}
