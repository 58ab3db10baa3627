/* statistics.c - see statistics.h. */
#include "controller/report/statistics.h"

#include <math.h>

#define STEPS_MAX 300
#define CLOSE     1e-14

struct sample_summary sample_summary_of(const double *values, size_t count)
{
    struct sample_summary s = {
        .mean = NAN, .stddev = NAN, .min = NAN, .max = NAN};
    double sum = 0, squares = 0;

    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i]))
            continue;
        s.count++;
        sum += values[i];
        s.min = fmin(s.min, values[i]);
        s.max = fmax(s.max, values[i]);
    }
    if (s.count == 0)
        return s;
    s.mean = sum / (double)s.count;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i]))
            squares += (values[i] - s.mean) * (values[i] - s.mean);
    if (s.count > 1)
        s.stddev = sqrt(squares / (double)(s.count - 1));
    return s;
}

/* Keeps a divisor away from zero. */
static double nonzero(double value)
{
    return fabs(value) < 1e-300 ? 1e-300 : value;
}

/* The continued fraction of the incomplete beta function, front to back. */
static double beta_fraction(double x, double a, double b)
{
    double c = 1;
    double d = 1 / nonzero(1 - (a + b) * x / (a + 1));
    double fraction = d;

    for (int i = 1; i <= STEPS_MAX; i++) {
        double m = i;
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd =
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double change;

        d = 1 / nonzero(1 + even * d);
        c = nonzero(1 + even / c);
        fraction *= d * c;
        d = 1 / nonzero(1 + odd * d);
        c = nonzero(1 + odd / c);
        change = d * c;
        fraction *= change;
        if (fabs(change - 1) < CLOSE)
            break;
    }
    return fraction;
}

static double incomplete_beta(double x, double a, double b)
{
    double front;

    if (x <= 0)
        return 0;
    if (x >= 1)
        return 1;
    front =
        exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2))
        return front * beta_fraction(x, a, b) / a;
    return 1 - front * beta_fraction(1 - x, b, a) / b;
}

double statistics_t_tails(double t, double freedom)
{
    if (!isfinite(t))
        return 0;
    return incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5);
}

/* Summary of the logarithms; count 0 when one is not above 0. */
static struct sample_summary logs_of(const double *values, size_t count)
{
    struct sample_summary s = {0};
    double sum = 0, squares = 0;

    for (size_t i = 0; i < count; i++) {
        if (isfinite(values[i]) && values[i] <= 0)
            return (struct sample_summary){0};
        if (!isfinite(values[i]))
            continue;
        s.count++;
        sum += log(values[i]);
    }
    s.mean = sum / (double)s.count;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i]))
            squares += (log(values[i]) - s.mean) * (log(values[i]) - s.mean);
    s.stddev = sqrt(squares / ((double)s.count - 1));
    return s;
}

double statistics_p_value(const double *a, size_t a_count, const double *b,
                          size_t b_count)
{
    struct sample_summary x = logs_of(a, a_count), y = logs_of(b, b_count);
    double vx, vy, freedom;

    if (x.count < STATISTICS_RUNS_MIN || y.count < STATISTICS_RUNS_MIN)
        return NAN;
    vx = x.stddev * x.stddev / (double)x.count;
    vy = y.stddev * y.stddev / (double)y.count;
    if (vx + vy <= 0) /* each side is the same every time */
        return x.mean == y.mean ? 1 : 0;
    freedom =
        (vx + vy) * (vx + vy) /
        (vx * vx / ((double)x.count - 1) + vy * vy / ((double)y.count - 1));
    return statistics_t_tails((x.mean - y.mean) / sqrt(vx + vy), freedom);
}
