#include "controller/conduct/curve.h"

#include <errno.h>

void curve_init(struct curve *curve)
{
    curve->state = CURVE_NONE;
    curve->maximum_iops = 0;
    curve->observed_iops = -1;
}

static int rate_of_point(const struct curve *curve, double percent,
                         double *ret_iops, struct diag *diag)
{
    switch (curve->state) {
    case CURVE_NONE:
        return diag_set(diag, -ENODATA,
                        "no maximum was measured that %g%% could be taken of",
                        percent);
    case CURVE_BROKEN:
        return diag_set(diag, -ECANCELED,
                        "the curve's maximum was not measured by all hosts "
                        "for the whole time, so its points are not run");
    case CURVE_KNOWN:
        break;
    }
    *ret_iops = (double)plan_round_rate(curve->maximum_iops, percent);
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

int curve_rate(const struct curve *curve, const struct plan_rate *rate,
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
}
