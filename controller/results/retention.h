/*
 * retention.h - what old campaigns lose: the histograms of their drives'
 * intervals, which are nearly all of a store.
 *
 * Nothing else goes: counts of every interval of every drive stay, and so do
 * the histograms of hosts, workloads and cluster by interval, and all totals.
 * Pinned campaigns stay whole.  SQLite uses the room again; the file does not
 * become smaller by itself.
 *
 * Threads: the store's writer.
 */
#ifndef CONTROLLER_RESULTS_RETENTION_H
#define CONTROLLER_RESULTS_RETENTION_H

#include "controller/results/store.h"

/* Samples that one step looks at, and bytes: a step is a transaction beside
 * which samples wait. */
#define RETENTION_SAMPLES 256u
#define RETENTION_BYTES   (8u << 20)

/* Where it is; begin with zeros. */
struct retention {
    uint64_t phase;   /* in the store; 0: the next one is to be found */
    int64_t interval; /* of the last sample that was looked at ... */
    int64_t drain;
    int64_t host;
};

/*
 * Thins samples of campaigns that ended before `before_ns` (since 1970).
 * `ret_more`: there is more to do.  0 or a negative errno with `diag`.
 */
int retention_step(struct retention *retention, struct store_access *access,
                   int64_t before_ns, bool *ret_more,
                   struct diag *diag) MUST_CHECK;

#endif
