/*
 * memory.h - memory that is there: mapped, touched, aligned to 2 MiB.
 *
 * What it is for: all that a worker uses while a phase runs.  Page faults and
 * "out of memory" then belong to the preparation.
 */
#ifndef AGENT_MEMORY_H
#define AGENT_MEMORY_H

#include "common/base.h"

/* Zeroed.  NULL when the kernel has not got it. */
void *memory_map(size_t length) MUST_CHECK;

/* NULL is fine.  Returns NULL. */
void *memory_unmap(void *memory, size_t length);

/* What the kernel could still give, in bytes (MemAvailable, and the limit of
 * the own cgroup where there is one); UINT64_MAX when it does not tell. */
uint64_t memory_available(void);

#endif
