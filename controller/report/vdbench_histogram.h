/*
 * vdbench_histogram.h - a run's service times as vdbench's histogram.html has
 * them: a line for each range, with its share, the shares so far, and bars.
 *
 * Threads: none of its own.  Pure.
 */
#ifndef CONTROLLER_REPORT_VDBENCH_HISTOGRAM_H
#define CONTROLLER_REPORT_VDBENCH_HISTOGRAM_H

#include "controller/report/read.h"

/* Requests that a phase's "histogram" counts; 0 where there is none. */
json_int_t vdbench_histogram_count(const json_t *phase);

/* All requests, then reads and writes by themselves if there are both. */
void vdbench_print_histogram(FILE *out, const json_t *phase);

#endif
