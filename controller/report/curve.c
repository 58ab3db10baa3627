/* curve.c - see curve.h. */
#include "controller/report/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SPIKE_GROWTH   0.5 /* of the mean service time */
#define SPIKE_SLOPE    2.0 /* times the growth of IOPS */
#define OUTLIER_MIN    4u
#define OUTLIER_FACTOR 3.5
#define OUTLIER_SHARE  0.10
#define MAD_SCALE      1.4826

const char curve_rule[] =
    "Peak is the point of the highest IOPS. Points stand in the order of the "
    "load asked for; the step from one to the next is a spike when the mean "
    "service time grows by more than 50 %, and by more than twice as many "
    "percent as IOPS do, or when it grows while IOPS fall. The pre-spike point "
    "is the last one before the first spike.";

const char outlier_rule[] =
    "An outlier is further from the median of its run than 3.5 scaled median "
    "distances (1.4826 x the median of |x - median|) and than 10 % of the "
    "median; asked of four values or more.";

size_t curve_peak(const double *iops, size_t count)
{
    size_t peak = CURVE_NONE;

    for (size_t i = 0; i < count; i++)
        if (isfinite(iops[i]) && (peak == CURVE_NONE || iops[i] > iops[peak]))
            peak = i;
    return peak;
}

static bool is_spike(const double *iops, const double *mean_us, size_t from)
{
    double load = iops[from + 1] / iops[from] - 1;
    double latency = mean_us[from + 1] / mean_us[from] - 1;

    if (load < 0)
        return latency > 0;
    return latency > SPIKE_GROWTH && latency > SPIKE_SLOPE * load;
}

size_t curve_pre_spike(const double *iops, const double *mean_us, size_t count)
{
    for (size_t i = 0; i + 1 < count; i++)
        if (iops[i] > 0 && mean_us[i] > 0 && is_spike(iops, mean_us, i))
            return i;
    return CURVE_NONE;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double curve_median(const double *values, size_t count)
{
    double *sorted = calloc(count > 0 ? count : 1, sizeof(*sorted));
    double median = NAN;
    size_t known = 0;

    for (size_t i = 0; sorted != NULL && i < count; i++)
        if (isfinite(values[i]))
            sorted[known++] = values[i];
    if (known > 0) {
        qsort(sorted, known, sizeof(*sorted), ascending);
        median = (sorted[(known - 1) / 2] + sorted[known / 2]) / 2;
    }
    free(sorted);
    return median;
}

size_t curve_outliers(const double *values, size_t count, int8_t *ret_side)
{
    double *away = calloc(count > 0 ? count : 1, sizeof(*away));
    double median = curve_median(values, count);
    size_t known = 0, found = 0;
    double bound;

    memset(ret_side, 0, count);
    for (size_t i = 0; away != NULL && i < count; i++) {
        away[i] = fabs(values[i] - median);
        known += isfinite(values[i]);
    }
    bound = away == NULL
                ? INFINITY
                : fmax(OUTLIER_FACTOR * MAD_SCALE * curve_median(away, count),
                       OUTLIER_SHARE * fabs(median));
    for (size_t i = 0; known >= OUTLIER_MIN && i < count; i++) {
        if (!isfinite(values[i]) || !(fabs(values[i] - median) > bound))
            continue;
        ret_side[i] = values[i] > median ? 1 : -1;
        found++;
    }
    free(away);
    return found;
}
