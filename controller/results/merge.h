/*
 * merge.h - samples of hosts, put together to rows of the cluster.  Pure.
 *
 * One merge is one phase.  Parts of a sample are put together, duplicates
 * dropped by their key; a whole sample becomes a host's row and is added to the
 * cluster's row of its interval.  That row closes when all hosts that are
 * expected have delivered, or when the longer of two intervals and 5 s have
 * passed since its last edge.  Rows close in order, none twice.  What comes
 * after its row is a `late` host row: the store, which has all rows, rebuilds
 * the cluster's row from them (see record.h).
 *
 *     merge_take(merge, sample, &row, &diag)     for each part that comes
 *     while ((row = merge_next(merge, now)))     after it, and in time
 *
 * Nothing is invented: an interval gets a row when it, or one after it, was
 * delivered by somebody.
 *
 * Memory: histograms of the open rows, of which there are MERGE_OPEN_MAX at
 * most; beyond it the oldest closes early.  The layout must outlive it.
 * Threads: one owner.
 */
#ifndef CONTROLLER_RESULTS_MERGE_H
#define CONTROLLER_RESULTS_MERGE_H

#include "common/diag.h"
#include "controller/results/layout.h"
#include "controller/results/row.h"

#define MERGE_OPEN_MAX    128u
#define MERGE_OPEN_BYTES  (96u << 20) /* of their histograms */
#define MERGE_PENDING_MAX 4u          /* incomplete samples of a host */

struct merge_timing {
    uint64_t interval_ns;
    uint64_t warmup_intervals;
    uint64_t measured_intervals; /* 0: not known, a fill */
};

struct merge;

/* NULL without memory. */
struct merge *merge_new(const struct layout *layout,
                        const struct merge_timing *timing);

/* NULL is fine.  Returns NULL. */
struct merge *merge_free(struct merge *merge);

/* When interval 0 begins, by the clock of merge_next(). */
void merge_start(struct merge *merge, uint64_t start_ns);

/* Goes on with a phase of which the store has rows: all below `closed` of the
 * cluster, all below `next` of a host. */
void merge_resume(struct merge *merge, uint64_t closed);
void merge_resume_host(struct merge *merge, uint32_t host, uint64_t next,
                       bool drained);

/*
 * Takes one part.  Returns 0, the sample then being merge's, with a host row
 * when the sample is whole, or NULL (more parts are to come, or it was here
 * before: `ret_again` says).  -EPROTO when it cannot be true (a host tells of
 * its intervals one after the other, from 0 on), -ENOMEM; the sample is the
 * caller's then.
 */
int merge_take(struct merge *merge, struct sample *sample,
               struct host_row **ret_row, bool *ret_again,
               struct diag *diag) MUST_CHECK;

/* No row waits for it any more; or again; or for none of its intervals from
 * `intervals` on. */
void merge_host_lost(struct merge *merge, uint32_t host);
void merge_host_back(struct merge *merge, uint32_t host);
void merge_host_finished(struct merge *merge, uint32_t host,
                         uint64_t intervals);

/* What was taken did not reach the store: nothing counts as delivered any
 * more, all that comes again is for the store to judge. */
void merge_forget(struct merge *merge);

/* Everything open closes. */
void merge_end(struct merge *merge);

/* The oldest open row if it closes by `now_ns`, else NULL.  The caller frees
 * it. */
struct row *merge_next(struct merge *merge, uint64_t now_ns);

/* When merge_next() will have one though nothing came; UINT64_MAX: never. */
uint64_t merge_due_ns(const struct merge *merge);

/* All intervals below have been given out. */
uint64_t merge_closed(const struct merge *merge);

/* The first interval that the host has not delivered whole. */
uint64_t merge_host_next(const struct merge *merge, uint32_t host);

#endif
