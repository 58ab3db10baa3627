#include "common/histogram.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define SUB_BUCKETS (1u << HISTOGRAM_SUB_BITS)
#define U128_MAX    (~(u128)0)

/* How many values must lie beyond a percentile that is shown. */
#define BEYOND_MIN 10

void histogram_init(struct histogram *h)
{
    memset(h, 0, sizeof(*h));
    h->min = UINT64_MAX;
}

/* The buckets that may hold counts: `first` up to, without, `end`. */
static void used_range(const struct histogram *h, uint32_t *ret_first,
                       uint32_t *ret_end)
{
    bool none = h->count == h->overflow; /* then min and max say nothing */

    *ret_first = none ? 0 : histogram_index(h->min);
    *ret_end = none ? 0
               : h->max >> HISTOGRAM_MAX_BITS != 0
                   ? HISTOGRAM_BUCKETS
                   : histogram_index(h->max) + 1;
}

void histogram_reset(struct histogram *h)
{
    uint32_t first, end;

    used_range(h, &first, &end);
    memset(h->bucket + first, 0, (end - first) * sizeof(h->bucket[0]));
    memset(h, 0, offsetof(struct histogram, bucket));
    h->min = UINT64_MAX;
}

uint64_t histogram_bucket_edge(uint32_t index)
{
    uint32_t beyond;

    assert(index < HISTOGRAM_BUCKETS);
    if (index < 2 * SUB_BUCKETS)
        return index;
    beyond = (index >> HISTOGRAM_SUB_BITS) - 1;
    return ((uint64_t)(SUB_BUCKETS + index % SUB_BUCKETS + 1) << beyond) - 1;
}

static u128 add_saturated(u128 a, u128 b)
{
    return a > U128_MAX - b ? U128_MAX : a + b;
}

static u128 multiply_saturated(u128 a, uint64_t b)
{
    return b != 0 && a > U128_MAX / b ? U128_MAX : a * b;
}

void histogram_record_many(struct histogram *h, uint64_t value, uint64_t count)
{
    if (count == 0)
        return;
    h->count += count;
    h->sum += (u128)value * count;
    h->min = value < h->min ? value : h->min;
    h->max = value > h->max ? value : h->max;
    h->sum_squares = add_saturated(
        h->sum_squares, multiply_saturated((u128)value * value, count));
    if (value >> HISTOGRAM_MAX_BITS != 0)
        h->overflow += count;
    else
        h->bucket[histogram_index(value)] += count;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
    uint32_t first, end;

    used_range(from, &first, &end);
    for (uint32_t i = first; i < end; i++)
        into->bucket[i] += from->bucket[i];
    into->count += from->count;
    into->overflow += from->overflow;
    into->sum += from->sum;
    into->sum_squares = add_saturated(into->sum_squares, from->sum_squares);
    into->min = from->min < into->min ? from->min : into->min;
    into->max = from->max > into->max ? from->max : into->max;
}

/* How many of the values, in order, at least `q` of them are; 1 or more. */
static uint64_t rank_of(const struct histogram *h, double q)
{
    uint64_t billionths = (uint64_t)llround(q * 1e9);
    u128 product = (u128)h->count * billionths;
    uint64_t rank = (uint64_t)((product + 999999999u) / 1000000000u);

    return rank == 0 ? 1 : rank;
}

static uint64_t value_at(const struct histogram *h, uint64_t rank)
{
    uint64_t seen = 0;
    uint32_t first, end;

    used_range(h, &first, &end);
    for (uint32_t i = first; i < end; i++) {
        uint64_t edge;

        seen += h->bucket[i];
        if (seen < rank)
            continue;
        edge = histogram_bucket_edge(i);
        return edge < h->min ? h->min : edge > h->max ? h->max : edge;
    }
    return h->max;
}

bool histogram_quantile(const struct histogram *h, double q, uint64_t *ret_ns)
{
    uint64_t rank;

    assert(q >= 0 && q <= 1);
    if (h->count == 0)
        return false;
    rank = rank_of(h, q);
    if (h->count - rank < BEYOND_MIN || rank > h->count - h->overflow)
        return false;
    *ret_ns = value_at(h, rank);
    return true;
}

uint64_t histogram_quantile_raw(const struct histogram *h, double q)
{
    assert(q >= 0 && q <= 1);
    return h->count == 0 ? 0 : value_at(h, rank_of(h, q));
}

double histogram_mean(const struct histogram *h)
{
    return h->count == 0 ? 0 : (double)h->sum / (double)h->count;
}

static double squared(double x)
{
    return x * x;
}

/* Without the sum of squares: every value as its bucket's middle. */
static double variance_from_buckets(const struct histogram *h)
{
    double mean = histogram_mean(h);
    double sum = (double)h->overflow * squared((double)h->max - mean);

    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        double edge = (double)histogram_bucket_edge(i);
        double below = i == 0 ? 0 : (double)histogram_bucket_edge(i - 1) + 1;

        if (h->bucket[i] > 0)
            sum += (double)h->bucket[i] * squared((edge + below) / 2 - mean);
    }
    return sum / (double)h->count;
}

/*
 * With n values of sum S = n x m + r, r < n, the squares of the distances from
 * the whole number m add up to Q - m x S - m x r, exactly; arithmetic modulo
 * 2^128 gives it although the parts may be longer.  The mean is m + r/n, so
 * the variance is that sum / n - (r/n)^2.  What is subtracted in floating
 * point is below 1 ns^2: nothing cancels.
 */
static double variance_from_sums(const struct histogram *h)
{
    u128 m = h->sum / h->count;
    u128 r = h->sum % h->count;
    u128 about_m = h->sum_squares - m * h->sum - m * r;

    return (double)about_m / (double)h->count -
           squared((double)r / (double)h->count);
}

double histogram_stddev(const struct histogram *h)
{
    double variance;

    if (h->count == 0)
        return 0;
    variance = h->sum_squares == U128_MAX ? variance_from_buckets(h)
                                          : variance_from_sums(h);
    return variance > 0 ? sqrt(variance) : 0;
}
