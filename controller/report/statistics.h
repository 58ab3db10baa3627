/*
 * statistics.h - do two samples differ?  Pure.
 *
 * Welch's t-test, two-sided, of the logarithms: rates and latencies differ by
 * factors, and their variances differ too.
 */
#ifndef CONTROLLER_REPORT_STATISTICS_H
#define CONTROLLER_REPORT_STATISTICS_H

#include "common/base.h"

/* Below so many a side nothing is tested. */
#define STATISTICS_RUNS_MIN 3u

struct sample_summary {
    size_t count;  /* that are numbers */
    double mean;   /* NAN of none, as all below */
    double stddev; /* of the sample, n - 1; NAN below two */
    double min;
    double max;
};

struct sample_summary sample_summary_of(const double *values, size_t count);

/* The probability of a difference as large by chance alone; NAN where it is
 * not tested: fewer than STATISTICS_RUNS_MIN a side, or values not above 0. */
double statistics_p_value(const double *a, size_t a_count, const double *b,
                          size_t b_count);

/* Of Student's t, two-sided. */
double statistics_t_tails(double t, double freedom);

#endif
