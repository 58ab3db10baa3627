/*
 * sampler.h - closed banks of all workers -> one row for each interval.
 *
 * Banks are merged and given back as they close, so that a slow worker does not
 * keep the banks of the others.  A row is complete when every worker has closed
 * what it covers; a bank that spans intervals makes the row span them.  A
 * worker that does not close (its thread is blocked in the kernel) is left out
 * after two intervals, at least a second; what it counted comes in a later row.
 *
 * Threads: one owner, beside the workers.
 * Memory: one mapping for the row's histograms.
 */
#ifndef AGENT_SAMPLER_H
#define AGENT_SAMPLER_H

#include "agent/host_cpu.h"
#include "agent/row.h"
#include "common/base.h"

struct devices;
struct health_watch;
struct worker;

/* What is known of one worker. */
struct sampler_worker {
    struct worker *worker;
    uint64_t covered;   /* first interval that it has not closed yet */
    bool lost;          /* blocked for good: never looked at again */
    uint32_t in_flight; /* at its last edge */
    uint64_t cpu_ns;    /* at the last look */
};

struct sampler {
    struct sampler_worker *workers;
    uint32_t worker_count;
    struct row row;                            /* being merged, or given out */
    struct row_failure failures[ROW_FAILURES]; /* the row's */
    uint64_t end;             /* first interval beyond the row */
    uint32_t merged;          /* banks in it */
    bool given;               /* the caller has it */
    bool drained;             /* the drain row was given out: the last one */
    uint64_t looked_ns;       /* when it was called last */
    uint64_t patient_from_ns; /* workers are not late before that */
    uint64_t start_ns;
    uint64_t interval_ns;
    uint32_t warmup_intervals;
    uint64_t intervals_max;
    struct host_cpu *host;       /* NULL: rows tell no CPU time */
    struct devices *devices;     /* NULL: nor of drives */
    struct health_watch *health; /* NULL: nor how they are */
    uint64_t health_asked_ns;    /* for the last time; 0: not yet */
    void *memory;
    size_t memory_length;
};

/* Of the opened workers; `host` may be NULL and stays the caller's.  0 or
 * -ENOMEM. */
int sampler_init(struct sampler *sampler, struct worker *const *workers,
                 uint32_t worker_count, uint32_t cell_count,
                 struct host_cpu *host) MUST_CHECK;
void sampler_done(struct sampler *sampler);

/* Bytes that sampler_init() will map. */
uint64_t sampler_memory(struct worker *const *workers, uint32_t worker_count,
                        uint32_t cell_count);

/* Once the workers' start is known. */
void sampler_begin(struct sampler *sampler, uint64_t start_ns);

/* Before the first row: what is told of drives.  All stays the caller's;
 * `drives` has an entry for each target. */
void sampler_watch(struct sampler *sampler, struct devices *devices,
                   struct health_watch *health, struct row_drive *drives);

/* The next row, good until the next call; NULL when there is none yet. */
const struct row *sampler_take(struct sampler *sampler, uint64_t now_ns);

/* The next edge whose row is not complete. */
uint64_t sampler_edge_ns(const struct sampler *sampler);

/* The worker will not come back; its memory is not looked at any more. */
void sampler_lose(struct sampler *sampler, uint32_t worker);

#endif
