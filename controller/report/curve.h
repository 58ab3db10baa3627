/*
 * curve.h - what is said about a latency curve, and about drives beside each
 * other.  Pure.
 *
 * Peak: the point of the highest IOPS.
 * Pre-spike: points stand in order of the load asked for (a closed loop is the
 * last).  The step from one to the next is a spike when the mean service time
 * grows by more than half, and by more than twice as many percent as IOPS do;
 * or when it grows and IOPS fall.  The point before the first spike is the
 * pre-spike point; without a spike there is none.
 *
 * Outliers, of four values or more: those further from the median than 3.5
 * times the scaled median distance (1.4826 x the median of |x - median|), and
 * than 10 % of the median.
 */
#ifndef CONTROLLER_REPORT_CURVE_H
#define CONTROLLER_REPORT_CURVE_H

#include "common/base.h"

#define CURVE_NONE SIZE_MAX

/* The rules above in the reader's words. */
extern const char curve_rule[];
extern const char outlier_rule[];

/* Index of the point, or CURVE_NONE. */
size_t curve_peak(const double *iops, size_t count);
size_t curve_pre_spike(const double *iops, const double *mean_us, size_t count);

/* NAN where there is none; sorts a copy.  NANs among them do not count. */
double curve_median(const double *values, size_t count);

/* Marks outliers; returns how many.  -1 below the median, 1 above, 0 none. */
size_t curve_outliers(const double *values, size_t count, int8_t *ret_side);

#endif
