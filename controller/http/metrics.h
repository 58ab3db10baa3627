/*
 * metrics.h - the fleet in Prometheus' text format.  Pure.
 *
 * Made of the documents that everybody else gets: hosts, and for each campaign
 * that runs its status and its newest interval.  All are gauges, or summaries
 * without sums, of that interval; names and labels are stable.  Quantiles are
 * exact ones of merged histograms, over one interval and one drive, workload
 * and operation: they must not be averaged.  README.md has the list.
 *
 * Threads: one owner.
 */
#ifndef CONTROLLER_HTTP_METRICS_H
#define CONTROLLER_HTTP_METRICS_H

#include <jansson.h>
#include <stdio.h>

#include "common/base.h"

/* `live` has `count` documents of LIVE with cells, and `status` theirs. */
void metrics_print(FILE *out, const json_t *hosts, const json_t *const *live,
                   const json_t *const *status, size_t count);

#endif
