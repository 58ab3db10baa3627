/*
 * curve.h - the rate of a run: as asked, or a share of what earlier runs did.
 *
 * A curve is a run at full speed (PLAN_RATE_CURVE) and points at percentages
 * of what it measured (PLAN_RATE_PERCENT).  A maximum that was not measured by
 * all hosts for the whole time is no 100 %: its points are not run.
 *
 *     curve_init(&curve);
 *     for each run: curve_rate(&curve, &run->rate, &iops, &diag), then
 *                   curve_note(&curve, &run->rate, observed, whole);
 *
 * A point of PLAN_RATE_DRIVES is the same percentage of what each drive did by
 * itself; its rate is that of all of them together, not rounded.
 *
 * iorate=find is a run at full speed and steps (PLAN_RATE_FIND), each in the
 * middle of what is left between a rate that kept the limit and one that did
 * not.
 *
 * Threads: none of its own.  Memory: by value.
 */
#ifndef CONTROLLER_CONDUCT_CURVE_H
#define CONTROLLER_CONDUCT_CURVE_H

#include "common/diag.h"
#include "controller/plan/plan.h"

enum curve_state {
    CURVE_NONE,    /* no maximum was measured yet */
    CURVE_KNOWN,   /* maximum_iops is 100 % */
    CURVE_BROKEN,  /* the last maximum was not whole: its points are skipped */
    CURVE_STOPPED, /* a point was slower than stopcurve=: so are the others */
};

struct curve {
    enum curve_state state;
    double maximum_iops;
    double observed_iops; /* of the run before; negative: there is none */
    /* iorate=find: the highest rate that kept the limit, the lowest that did
       not. */
    double kept_iops;
    double broke_iops;
    double asked_iops; /* by the last step */
};

struct conduct_total;

void curve_init(struct curve *curve);

/*
 * The I/Os a second of all cells together that a run is to ask for; 0 is a
 * closed loop.  Returns 0; -ECANCELED for a point of a broken or stopped curve,
 * -ENODATA where nothing was observed to take a share of, with the sentence
 * that says so.
 */
int curve_rate(struct curve *curve, const struct plan_rate *rate,
               double *ret_iops, struct diag *diag) MUST_CHECK;

/* What a run measured; `whole`: by all its hosts for all its time. */
void curve_note(struct curve *curve, const struct plan_rate *rate,
                double observed_iops, bool whole);

/*
 * The times that a run measured: may stop its curve, or halve what is left of
 * a search.  Call it after curve_note().
 */
void curve_note_times(struct curve *curve, const struct plan_run *run,
                      const struct conduct_total *total);

#endif
