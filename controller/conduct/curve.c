#include "controller/conduct/curve.h"

#include "controller/conduct/conduct.h"

#include <errno.h>
#include <math.h>

void curve_init(struct curve *curve)
{
    curve->state = CURVE_NONE;
    curve->maximum_iops = 0;
    curve->observed_iops = -1;
    curve->kept_iops = 0;
    curve->broke_iops = 0;
    curve->asked_iops = 0;
}

/* Whether there is a maximum to take shares of. */
static int check_maximum(const struct curve *curve, struct diag *diag)
{
    switch (curve->state) {
    case CURVE_NONE:
        return diag_set(diag, -ENODATA,
                        "no maximum was measured that a share could be taken "
                        "of");
    case CURVE_BROKEN:
        return diag_set(diag, -ECANCELED,
                        "the curve's maximum was not measured by all hosts "
                        "for the whole time, so its points are not run");
    case CURVE_STOPPED:
        return diag_set(diag, -ECANCELED,
                        "the point before was slower than stopcurve= allows");
    case CURVE_KNOWN:
        break;
    }
    return 0;
}

static int rate_of_point(const struct curve *curve, double percent,
                         double *ret_iops, struct diag *diag)
{
    int err = check_maximum(curve, diag);

    if (err < 0)
        return err;
    *ret_iops = (double)plan_round_rate(curve->maximum_iops, percent);
    return 0;
}

/* What the drives did by themselves is theirs to share: nothing is rounded. */
static int rate_of_drives(const struct curve *curve, double percent,
                          double *ret_iops, struct diag *diag)
{
    int err = check_maximum(curve, diag);

    if (err < 0)
        return err;
    *ret_iops = fmax(curve->maximum_iops * percent / 100, 1);
    return 0;
}

/* In the middle of what is left; whole I/Os a second. */
static int rate_of_step(struct curve *curve, double *ret_iops,
                        struct diag *diag)
{
    int err = check_maximum(curve, diag);

    if (err < 0)
        return err;
    curve->asked_iops = floor((curve->kept_iops + curve->broke_iops) / 2);
    if (curve->asked_iops < 1)
        curve->asked_iops = 1;
    *ret_iops = curve->asked_iops;
    return 0;
}

static int rate_of_observed(const struct curve *curve, double percent,
                            double *ret_iops, struct diag *diag)
{
    if (curve->observed_iops < 0)
        return diag_set(diag, -ENODATA,
                        "iorate=%g%% is a share of what the run before "
                        "measured, and no run came before",
                        percent);
    *ret_iops = (double)plan_round_rate(curve->observed_iops, percent);
    return 0;
}

int curve_rate(struct curve *curve, const struct plan_rate *rate,
               double *ret_iops, struct diag *diag)
{
    switch (rate->kind) {
    case PLAN_RATE_MAX:
    case PLAN_RATE_CURVE:
        *ret_iops = 0;
        return 0;
    case PLAN_RATE_FIXED:
        *ret_iops = rate->value;
        return 0;
    case PLAN_RATE_PERCENT:
        return rate_of_point(curve, rate->value, ret_iops, diag);
    case PLAN_RATE_DRIVES:
        return rate_of_drives(curve, rate->value, ret_iops, diag);
    case PLAN_RATE_FIND:
        return rate_of_step(curve, ret_iops, diag);
    case PLAN_RATE_OBSERVED:
        return rate_of_observed(curve, rate->value, ret_iops, diag);
    }
    return diag_set(diag, -EINVAL, "rate of unknown kind %d", (int)rate->kind);
}

void curve_note(struct curve *curve, const struct plan_rate *rate,
                double observed_iops, bool whole)
{
    curve->observed_iops = observed_iops;
    if (rate->kind != PLAN_RATE_CURVE)
        return;
    curve->maximum_iops = observed_iops;
    curve->state = whole ? CURVE_KNOWN : CURVE_BROKEN;
    curve->kept_iops = 0;
    curve->broke_iops = observed_iops;
}

/* A rate that was not reached did not keep the limit either. */
static void note_step(struct curve *curve, const struct plan_run *run,
                      const struct conduct_total *total)
{
    bool kept = total->response_find_ns > 0 &&
                total->response_find_ns <= (double)run->find_limit_ns &&
                total->iops >= 0.95 * curve->asked_iops;

    if (kept)
        curve->kept_iops = curve->asked_iops;
    else
        curve->broke_iops = curve->asked_iops;
}

void curve_note_times(struct curve *curve, const struct plan_run *run,
                      const struct conduct_total *total)
{
    if (run->rate.kind == PLAN_RATE_FIND)
        note_step(curve, run, total);
    if ((run->rate.kind == PLAN_RATE_PERCENT ||
         run->rate.kind == PLAN_RATE_DRIVES) &&
        run->stop_curve_ns > 0 &&
        total->service_mean_ns > (double)run->stop_curve_ns)
        curve->state = CURVE_STOPPED;
}
