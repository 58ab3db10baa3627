/*
 * rest.h - a run without its first interval, for vdbench's average row: where
 * there is no warm-up, vdbench leaves the first interval out of the average.
 *
 * Threads: the store's reader.  Memory: rest_done() frees the histograms.
 */
#ifndef CONTROLLER_RESULTS_REST_H
#define CONTROLLER_RESULTS_REST_H

#include "controller/results/figures.h"
#include "controller/results/statement.h"

struct rest {
    uint64_t intervals; /* 0: there was a warm-up, or nothing is left */
    uint64_t window_ns;
    struct tally_pair sum;
    struct cpu_tally cpu;
};

/* `phase`: its number in the store. */
int rest_read(struct store_access *access, uint64_t phase,
              struct rest *ret_rest, struct diag *diag) MUST_CHECK;
void rest_done(struct rest *rest);

#endif
