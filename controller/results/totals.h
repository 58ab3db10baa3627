/*
 * totals.h - what a phase came to: all its measured samples in the store,
 * merged.
 *
 * Read by totals_read() on the store's reader, which may take a while for a
 * long phase, then written by totals_write() on its writer.  Doing it again,
 * when late samples came, replaces what was there.
 *
 * Threads: see above; in between, one owner.
 */
#ifndef CONTROLLER_RESULTS_TOTALS_H
#define CONTROLLER_RESULTS_TOTALS_H

#include "controller/results/record.h"
#include "controller/results/rest.h"
#include "controller/results/trust.h"

/* Of one host in the measured part. */
struct totals_host {
    uint32_t host;
    uint64_t intervals; /* that it delivered */
    struct cpu_tally cpu;
};

struct totals_item {
    enum record_scope scope;
    uint32_t item; /* host, target or workload; 0 for the cluster */
    struct packed sum;
    struct cpu_tally cpu; /* of hosts and the cluster */
};

struct totals {
    uint64_t phase;
    int64_t begin_ns; /* the common window; empty when begin >= end */
    int64_t end_ns;
    int64_t spread_ns;         /* of the start; -1: nobody said when */
    int64_t overlap_ns;        /* of the window: when all hosts measured */
    uint64_t intervals;        /* of the host that delivered most */
    struct totals_host *hosts; /* those that take part */
    uint32_t host_count;
    struct totals_item *items;
    uint32_t item_count;
    uint64_t failures; /* requests that failed in all of the phase, warm-up and
                          drain as well; not written, nor is the next */
    char first_failure[REASON_SIZE]; /* in words; "" without any */
    struct device *devices; /* of which anything was told */
    uint32_t device_count;
    struct trust trust;
    struct rest rest; /* for watchers; not written */
};

/* A phase that never began gives totals without items. */
int totals_read(struct store_access *access, uint64_t phase,
                struct totals **ret_totals, struct diag *diag) MUST_CHECK;

/* query_failures.c: of totals_read(). */
int totals_read_failures(struct store_access *access, struct totals *totals,
                         struct diag *diag) MUST_CHECK;

int totals_write(struct store_access *access, const struct totals *totals,
                 struct diag *diag) MUST_CHECK;

uint64_t totals_window_ns(const struct totals *totals);

/* The hosts that delivered as many intervals as any. */
uint32_t totals_measured(const struct totals *totals);

/* NULL is fine.  Returns NULL. */
struct totals *totals_free(struct totals *totals);

#endif
