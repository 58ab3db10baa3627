/*
 * histogram.h - latencies in fixed buckets, merged without loss.
 *
 * What it is for: one histogram per cell and operation is filled on the I/O
 * path, handed over once an interval, sent as a blob, and summed over workers,
 * hosts and time.  Counts are exact; a percentile read back is never below the
 * true one and at most 1/128 (0.8 %) above it, clamped to [min, max], whatever
 * was merged in between.
 *
 * Shape: log-linear.  Values below 256 ns have a bucket each; above, every
 * power of two is cut into 128 buckets, up to 2^46 ns (19.5 hours).  What is
 * longer is counted in `overflow` and in min, max and sum.
 *
 * Threads: none of its own; one owner at a time.
 * Memory: 40 KiB dense, by value, no allocation, so init cannot fail.
 *
 *     histogram_init(&h);
 *     histogram_record(&h, done_ns - submitted_ns);
 *     histogram_quantile(&h, 0.99, &p99_ns);
 */
#ifndef COMMON_HISTOGRAM_H
#define COMMON_HISTOGRAM_H

#include "common/base.h"

#define HISTOGRAM_SUB_BITS 7
#define HISTOGRAM_MAX_BITS 46
#define HISTOGRAM_BUCKETS                                                      \
    ((HISTOGRAM_MAX_BITS - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS)
/* 1 .. 2^46 - 1 in 5120 buckets: the blobs in old stores depend on it. */
_Static_assert(HISTOGRAM_BUCKETS == 5120, "the wire format depends on this");

/* Largest blob: every bucket filled with a 64-bit count, and the head. */
#define HISTOGRAM_BLOB_MAX (HISTOGRAM_BUCKETS * 12 + 128)

/* Read the fields if you like; write them only through the functions. */
struct histogram {
    uint64_t count; /* values recorded, overflow included */
    uint64_t min;   /* UINT64_MAX while empty */
    uint64_t max;   /* exact, in overflow too */
    uint64_t overflow;
    u128 sum;         /* exact */
    u128 sum_squares; /* exact up to 2^128; saturates */
    uint64_t bucket[HISTOGRAM_BUCKETS];
};

/* Empties a histogram of any content, e.g. fresh memory. */
void histogram_init(struct histogram *h);

/* The same for one in use; touches only the buckets between min and max. */
void histogram_reset(struct histogram *h);

/*
 * The bucket of a value below 2^46.  With e the number of bits of the value
 * beyond its top eight (0 for values below 256), the bucket is e x 128 +
 * (value >> e): continuous, without a branch.
 */
static inline uint32_t histogram_index(uint64_t value)
{
    uint32_t beyond =
        63u - HISTOGRAM_SUB_BITS -
        (uint32_t)__builtin_clzll(value | (UINT64_C(1) << HISTOGRAM_SUB_BITS));

    return (beyond << HISTOGRAM_SUB_BITS) + (uint32_t)(value >> beyond);
}

/* Largest value of a bucket. */
uint64_t histogram_bucket_edge(uint32_t index);

/* Adds one value.  The I/O path: two branches, both never taken. */
static inline void histogram_record(struct histogram *h, uint64_t value)
{
    h->count++;
    h->sum += value;
    h->min = value < h->min ? value : h->min;
    h->max = value > h->max ? value : h->max;
    if (__builtin_add_overflow(h->sum_squares, (u128)value * value,
                               &h->sum_squares))
        h->sum_squares = ~(u128)0;
    if (__builtin_expect(value >> HISTOGRAM_MAX_BITS != 0, 0))
        h->overflow++;
    else
        h->bucket[histogram_index(value)]++;
}

/* Adds `count` equal values at once; for tests and imports. */
void histogram_record_many(struct histogram *h, uint64_t value, uint64_t count);

/* Adds all of `from` to `into`.  `from` is unchanged. */
void histogram_merge(struct histogram *into, const struct histogram *from);

/*
 * The value that at least `q` of all values do not exceed, 0 <= q <= 1, as the
 * upper edge of its bucket clamped to [min, max].  `q` is taken to the nearest
 * 1e-9, so that 0.999 of a million is value 999,000 and not the one after.
 * Returns false, and leaves `ret_ns` alone, where it may not be shown: fewer
 * than ten values lie beyond it (invariant 1), the histogram is empty, or it
 * lies in the overflow.
 */
bool histogram_quantile(const struct histogram *h, double q, uint64_t *ret_ns);

/* The same without the rule of ten, for those who look at a distribution.
 * `max` where it lies in the overflow; 0 when empty. */
uint64_t histogram_quantile_raw(const struct histogram *h, double q);

/*
 * Mean and standard deviation of the population; 0 when empty.  Both from the
 * exact sums, never negative, never NaN.  Should the squares have saturated,
 * the deviation is taken from the buckets.
 */
double histogram_mean(const struct histogram *h);
double histogram_stddev(const struct histogram *h);

/*
 * The blob: a self-describing byte string for wire and store.
 *   byte    version (1)
 *   byte    sub-bits (7)
 *   varints count, min, max, overflow, sum low, sum high, squares low, high
 *   then, in order of the buckets, for each bucket with a count:
 *     varint (gap << 1 | 1) if `gap` empty buckets precede it, then
 *     varint count << 1
 * Varints are seven bits a byte, lowest first, in as few bytes as will do.
 * Counts are below 2^63: count << 1 fits.
 * An empty histogram is the empty string.
 */

/* Returns the length written to `blob`, which has HISTOGRAM_BLOB_MAX bytes. */
size_t histogram_encode(const struct histogram *h, uint8_t *blob);

/*
 * Adds the histogram of a blob to `into`.  Returns 0, or -EBADMSG, with `into`
 * unchanged, for anything encode could not have written: bad version, order,
 * length, counts that do not add up, min, max or sums that the buckets
 * contradict.  Also where the total would reach 2^63 values.
 */
int histogram_merge_blob(struct histogram *into, const uint8_t *blob,
                         size_t length) MUST_CHECK;

#endif
