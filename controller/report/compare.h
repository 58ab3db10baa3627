/*
 * compare.h - campaigns beside each other.
 *
 *     compare = compare_new();
 *     compare_begin_side(compare, "1");     then each of its campaigns' pieces
 *     ... compare_sink(compare) ...
 *     compare_begin_side(compare, "2,3");
 *     document = compare_document(compare, bounds, count, &outcome);
 *     compare_free(compare);
 *
 * The first side is what the others are compared with.  Runs are matched by
 * name and values: run, loops, rate asked, xfersize, threads, rdpct, seekpct.
 * Runs of one side that match each other are its repeats; they are the unit of
 * the test, since intervals of one run say nothing about the next run.  Runs
 * that failed or were interrupted are left out, and named.
 *
 * The document: method; sides; matches, each with its changes; unmatched;
 * left_out; rankings; bounds.  README.md has the keys.
 *
 * Threads: one owner.
 */
#ifndef CONTROLLER_REPORT_COMPARE_H
#define CONTROLLER_REPORT_COMPARE_H

#include "controller/report/bound.h"
#include "controller/report/sink.h"

#define COMPARE_SIDES_MAX 32u

struct compare;

enum compare_outcome {
    COMPARE_KEPT,    /* all bounds, or none were given */
    COMPARE_BROKEN,  /* one at least */
    COMPARE_UNKNOWN, /* none broken, but one could not be looked at */
};

struct compare *compare_new(void);
int compare_begin_side(struct compare *compare, const char *name,
                       struct diag *diag) MUST_CHECK;
struct sink compare_sink(struct compare *compare);

/* A new reference; NULL without memory. */
json_t *compare_document(const struct compare *compare,
                         const struct bound *bounds, size_t bound_count,
                         enum compare_outcome *ret_outcome);

/* NULL is fine.  Returns NULL. */
struct compare *compare_free(struct compare *compare);

#endif
