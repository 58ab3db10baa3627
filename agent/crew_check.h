/*
 * crew_check.h - what must hold before a crew is made, beyond job_check(): what
 * only the opened targets and this host can tell.
 *
 * Threads: none of its own.
 */
#ifndef AGENT_CREW_CHECK_H
#define AGENT_CREW_CHECK_H

#include "agent/job.h"
#include "common/base.h"
#include "common/diag.h"

struct opened_target;

/*
 * Every offset and length that the job can draw fits its target's block and
 * size.  0 or -EINVAL, with the target's index in `ret_target`.
 */
int crew_check_targets(const struct job *job,
                       const struct opened_target *opened, uint32_t *ret_target,
                       struct diag *diag) MUST_CHECK;

/* 0, or -ENOMEM with need and rest when `bytes` are more than there is. */
int crew_check_memory(uint64_t bytes, struct diag *diag) MUST_CHECK;

#endif
