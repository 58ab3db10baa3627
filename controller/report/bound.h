/*
 * bound.h - what a comparison must keep: "p99 > +10%" breaks it.  Pure.
 *
 * METRIC SIGN VALUE, blanks as you like.  SIGN is <, <=, > or >=.  VALUE with %
 * is the change from the first side, without it the figure itself in the unit
 * of the document (us, I/Os a second, MiB/s).
 * METRIC: iops, mib_s, errors, mean, min, p50, p90, p99, p99.9 (p999), p99.99
 * (p9999), max, stddev: of service times; with response. before it of response
 * times; with read. or write. before it of that operation.
 */
#ifndef CONTROLLER_REPORT_BOUND_H
#define CONTROLLER_REPORT_BOUND_H

#include "common/base.h"
#include "common/diag.h"

enum bound_sign {
    BOUND_LESS,
    BOUND_AT_MOST,
    BOUND_MORE,
    BOUND_AT_LEAST,
};

struct bound {
    const char *text;     /* as given */
    char path[NAME_SIZE]; /* within figures */
    enum bound_sign sign;
    double value;
    bool change; /* in percent of the first side */
};

/* 0, or -EINVAL with the form in `diag`.  `text` is not copied. */
int bound_parse(const char *text, struct bound *ret_bound,
                struct diag *diag) MUST_CHECK;

/* NAN where it cannot be said: a figure is missing, or a change from 0. */
double bound_figure(const struct bound *bound, double base, double other);
bool bound_is_broken(const struct bound *bound, double figure);

#endif
