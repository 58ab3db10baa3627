#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/histogram.h"
#include "common/prng.h"
#include "tests/support/suite.h"

static struct histogram a, b, both;
static uint8_t blob[HISTOGRAM_BLOB_MAX];

static void setup(void)
{
    histogram_init(&a);
    histogram_init(&b);
    histogram_init(&both);
}

static bool same(const struct histogram *x, const struct histogram *y)
{
    return x->count == y->count && x->min == y->min && x->max == y->max &&
           x->overflow == y->overflow && x->sum == y->sum &&
           x->sum_squares == y->sum_squares &&
           memcmp(x->bucket, y->bucket, sizeof(x->bucket)) == 0;
}

static double relative(double found, double wanted)
{
    return wanted == 0 ? fabs(found) : fabs(found - wanted) / fabs(wanted);
}

/* ---- Buckets --------------------------------------------------------------
 */

/* Both sides of every power of two, where bucket arithmetic goes wrong. */
START_TEST(error_is_bounded_at_powers_of_two)
{
    for (int delta = -1; delta <= 1; delta++) {
        uint64_t value = (UINT64_C(1) << _i) + (uint64_t)(int64_t)delta;
        uint32_t index;
        uint64_t edge;

        if (value >> HISTOGRAM_MAX_BITS != 0)
            continue;
        index = histogram_index(value);
        edge = histogram_bucket_edge(index);
        ck_assert_uint_lt(index, HISTOGRAM_BUCKETS);
        ck_assert_uint_ge(edge, value);
        ck_assert_uint_le(edge - value, value / 128);
        ck_assert(index == 0 || histogram_bucket_edge(index - 1) < value);
    }
}
END_TEST

START_TEST(every_edge_is_the_last_value_of_its_bucket)
{
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        uint64_t edge = histogram_bucket_edge(i);

        if (histogram_index(edge) != i)
            ck_abort_msg("edge of %u is in bucket %u", i,
                         histogram_index(edge));
        if (i + 1 < HISTOGRAM_BUCKETS && histogram_index(edge + 1) != i + 1)
            ck_abort_msg("value after the edge of %u", i);
    }
    ck_assert_uint_eq(histogram_bucket_edge(HISTOGRAM_BUCKETS - 1),
                      (UINT64_C(1) << HISTOGRAM_MAX_BITS) - 1);
}
END_TEST

/* ---- Percentiles ------------------------------------------------------------
 */

static int by_value(const void *x, const void *y)
{
    uint64_t left = *(const uint64_t *)x, right = *(const uint64_t *)y;

    return left < right ? -1 : left > right;
}

/* The stated error, against what sorting says, for several shapes. */
START_TEST(quantiles_against_sorted_data)
{
    enum { VALUES = 20000 };
    static uint64_t sorted[VALUES];
    static const double qs[] = {0,   0.001, 0.25,  0.5,    0.75,
                                0.9, 0.99,  0.999, 0.9999, 1};
    uint64_t seed = suite_seed();
    struct prng prng;

    prng_seed(&prng, seed);
    for (int i = 0; i < VALUES; i++) {
        uint64_t value = prng_next(&prng);

        switch (_i) {
        case 0: /* every magnitude */
            value >>= 18 + prng_below(&prng, 40);
            break;
        case 1: /* near 100 us */
            value = 95000 + value % 10000;
            break;
        default: /* two humps */
            value = value % 10 == 0 ? 50 * NS_PER_MS + value % 1000
                                    : 80000 + value % 300;
        }
        sorted[i] = value;
        histogram_record(&a, value);
    }
    qsort(sorted, VALUES, sizeof(sorted[0]), by_value);
    for (size_t i = 0; i < ARRAY_LENGTH(qs); i++) {
        size_t rank = (size_t)ceil(qs[i] * VALUES - 1e-6);
        uint64_t exact = sorted[rank == 0 ? 0 : rank - 1];
        uint64_t found = histogram_quantile_raw(&a, qs[i]);

        ck_assert_msg(found >= exact && found - exact <= exact / 128 &&
                          found >= a.min && found <= a.max,
                      "q %g: found %llu, exact %llu; TEST_SEED=%llu", qs[i],
                      (unsigned long long)found, (unsigned long long)exact,
                      (unsigned long long)seed);
    }
}
END_TEST

/* Ten values must lie beyond what is shown. */
START_TEST(rule_of_ten)
{
    uint64_t ns = 77;

    histogram_record_many(&a, 1000, 999);
    ck_assert(!histogram_quantile(&a, 0.99, &ns));
    ck_assert_uint_eq(ns, 77);
    histogram_record(&a, 1000);
    ck_assert(histogram_quantile(&a, 0.99, &ns));
    ck_assert_uint_eq(ns, 1000);
    ck_assert(!histogram_quantile(&a, 0.9901, &ns));
    ck_assert(!histogram_quantile(&a, 1, &ns));
    ck_assert(histogram_quantile(&a, 0, &ns));
    ck_assert(!histogram_quantile(&b, 0.5, &ns)); /* empty */
}
END_TEST

/* Two agents: 999,000 of 100 us and 1,000 of 50 ms.  Percentiles are taken
 * from merged counts; a mean of both p99 would say 25 ms. */
START_TEST(case_A01_percentiles_are_merged)
{
    uint64_t p99, p999, p9995;

    histogram_record_many(&a, 100 * NS_PER_US, 999000);
    histogram_record_many(&b, 50 * NS_PER_MS, 1000);
    histogram_merge(&both, &a);
    histogram_merge(&both, &b);
    ck_assert_uint_eq(both.count, 1000000);
    ck_assert(histogram_quantile(&both, 0.99, &p99));
    ck_assert(histogram_quantile(&both, 0.999, &p999));
    ck_assert(histogram_quantile(&both, 0.9995, &p9995));
    ck_assert_uint_ge(p99, 100 * NS_PER_US);
    ck_assert_uint_le(p99, 100 * NS_PER_US * 129 / 128);
    ck_assert_uint_eq(p999, p99);
    ck_assert_uint_eq(p9995, 50 * NS_PER_MS); /* clamped to the maximum */
    ck_assert_uint_eq(both.max, 50 * NS_PER_MS);
}
END_TEST

/* Seconds to more than an hour; the longest lie beyond the last bucket. */
START_TEST(case_H01_long_latencies)
{
    static const uint64_t seconds[] = {1, 16, 17, 18, 60, 94, 319, 4000};
    uint64_t ns;

    for (size_t i = 0; i < ARRAY_LENGTH(seconds); i++) {
        uint64_t value = seconds[i] * NS_PER_S;

        histogram_record(&a, value);
        ns = histogram_quantile_raw(&a, 1);
        ck_assert_uint_eq(ns, value);
        ns = histogram_quantile_raw(&a, (double)(i + 1) / 8);
    }
    for (size_t i = 0; i < ARRAY_LENGTH(seconds); i++) {
        uint64_t value = seconds[i] * NS_PER_S;

        ns = histogram_quantile_raw(&a, (double)(i + 1) / 8);
        ck_assert_uint_ge(ns, value);
        ck_assert_uint_le(ns - value, value / 128);
    }
    ck_assert_uint_eq(a.overflow, 0);
    ck_assert(histogram_mean(&a) > (double)a.min &&
              histogram_mean(&a) < (double)a.max);
}
END_TEST

START_TEST(case_H01_overflow_is_shown_as_overflow)
{
    uint64_t limit = UINT64_C(1) << HISTOGRAM_MAX_BITS;
    uint64_t ns;

    histogram_record_many(&a, 1000, 100);
    histogram_record(&a, limit - 1);
    ck_assert_uint_eq(a.overflow, 0);
    histogram_record(&a, limit);
    histogram_record_many(&a, 3 * limit, 99);
    ck_assert_uint_eq(a.count, 201);
    ck_assert_uint_eq(a.overflow, 100);
    ck_assert_uint_eq(a.max, 3 * limit);
    ck_assert(histogram_quantile(&a, 0.49, &ns));
    ck_assert_uint_le(ns, 1007);
    ck_assert(!histogram_quantile(&a, 0.9, &ns)); /* no bucket knows it */
    ck_assert_uint_eq(histogram_quantile_raw(&a, 0.9), 3 * limit);
}
END_TEST

/* The edge of a bucket is no value that was measured. */
START_TEST(case_H03_percentile_is_clamped)
{
    uint64_t ns;

    histogram_record_many(&a, 5300001, 100);
    ck_assert_uint_gt(histogram_bucket_edge(histogram_index(5300001)), 5300001);
    ck_assert(histogram_quantile(&a, 0.5, &ns));
    ck_assert_uint_eq(ns, 5300001);
    ck_assert(histogram_quantile(&a, 0.9, &ns));
    ck_assert_uint_eq(ns, a.max);
}
END_TEST

/* ---- Moments ------------------------------------------------------------- */

/* A day of 10^12 values around 10 ms: their spread, not noise. */
START_TEST(case_H05_a_day_of_sums)
{
    const uint64_t centre = 10 * NS_PER_MS, count = UINT64_C(1000000000000);

    histogram_record_many(&a, centre - 5000, count / 2);
    histogram_record_many(&a, centre + 5000, count / 2);
    ck_assert(relative(histogram_mean(&a), 1e7) < 1e-12);
    ck_assert(relative(histogram_stddev(&a), 5000) < 1e-9);
}
END_TEST

/* Equal values far from 0: squares cancel wholly, and nothing is negative. */
START_TEST(case_H05_no_spread_is_zero)
{
    histogram_record_many(&a, 12345678901, 999999999937);
    ck_assert(histogram_stddev(&a) == 0);
    ck_assert(relative(histogram_mean(&a), 12345678901.0) < 1e-12);
}
END_TEST

START_TEST(case_H05_sums_of_the_largest_values)
{
    histogram_record_many(&a, UINT64_C(1) << 63, 1000000);
    histogram_record_many(&a, 1, 1000000);
    ck_assert(a.sum_squares == ~(u128)0); /* saturated, and known to be */
    ck_assert(relative(histogram_mean(&a), ldexp(1, 62)) < 1e-9);
    ck_assert(relative(histogram_stddev(&a), ldexp(1, 62)) < 1e-9);
    ck_assert(!isnan(histogram_stddev(&a)));
}
END_TEST

START_TEST(moments_against_two_passes)
{
    enum { VALUES = 10000 };
    static uint64_t values[VALUES];
    uint64_t seed = suite_seed();
    double mean = 0, squares = 0;
    struct prng prng;

    prng_seed(&prng, seed);
    for (int i = 0; i < VALUES; i++) {
        values[i] = (UINT64_C(1) << 40) + prng_below(&prng, 1000);
        histogram_record(&a, values[i]);
        mean += (double)values[i] / VALUES;
    }
    for (int i = 0; i < VALUES; i++)
        squares += ((double)values[i] - mean) * ((double)values[i] - mean);
    ck_assert_msg(relative(histogram_mean(&a), mean) < 1e-12 &&
                      relative(histogram_stddev(&a), sqrt(squares / VALUES)) <
                          1e-6,
                  "TEST_SEED=%llu", (unsigned long long)seed);
    ck_assert(histogram_mean(&b) == 0 && histogram_stddev(&b) == 0);
}
END_TEST

START_TEST(case_I01_counts_beyond_32_and_53_bits)
{
    static const uint64_t large[] = {UINT64_C(1) << 32, UINT64_C(1) << 53};
    uint64_t total = 0, counted = 0;

    for (size_t i = 0; i < ARRAY_LENGTH(large); i++) {
        histogram_record_many(&a, 4096, large[i] - 1);
        histogram_record(&a, 4096);
        histogram_record(&a, 4096);
        total += large[i] + 1;
    }
    ck_assert_uint_eq(a.count, total);
    ck_assert_int_eq(histogram_merge_blob(&b, blob, histogram_encode(&a, blob)),
                     0);
    ck_assert(same(&a, &b));
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        counted += b.bucket[i];
    ck_assert_uint_eq(counted, total);
}
END_TEST

/* ---- Merging ------------------------------------------------------------- */

static void record_random(struct prng *prng, struct histogram *h, int values)
{
    for (int i = 0; i < values; i++)
        histogram_record(h, prng_next(prng) >> prng_below(prng, 64));
}

START_TEST(merge_equals_recording_everything)
{
    uint64_t seed = suite_seed();
    struct prng prng;

    prng_seed(&prng, seed);
    for (int i = 0; i < 20000; i++) {
        uint64_t value = prng_next(&prng) >> prng_below(&prng, 64);

        histogram_record(prng_below(&prng, 3) == 0 ? &a : &b, value);
        histogram_record(&both, value);
    }
    histogram_merge(&a, &b);
    ck_assert_msg(same(&a, &both), "TEST_SEED=%llu", (unsigned long long)seed);
}
END_TEST

START_TEST(record_many_equals_recording_each)
{
    static const uint64_t values[] = {
        0, 1, 255, 256, 100000, UINT64_C(1) << 46, UINT64_MAX};

    for (size_t i = 0; i < ARRAY_LENGTH(values); i++) {
        for (int k = 0; k < 3; k++)
            histogram_record(&a, values[i]);
        histogram_record_many(&b, values[i], 3);
        histogram_record_many(&b, values[i], 0);
    }
    ck_assert(same(&a, &b));
}
END_TEST

START_TEST(reset_empties)
{
    struct prng prng;

    prng_seed(&prng, 5);
    record_random(&prng, &a, 1000);
    histogram_reset(&a);
    ck_assert(same(&a, &b));
    histogram_record(&a, 1 << 20); /* no overflow */
    histogram_reset(&a);
    ck_assert(same(&a, &b));
    histogram_record(&a, UINT64_MAX); /* nothing but */
    histogram_reset(&a);
    histogram_reset(&a);
    ck_assert(same(&a, &b));
}
END_TEST

/* ---- The blob ------------------------------------------------------------ */

START_TEST(blob_round_trip)
{
    uint64_t seed = suite_seed();
    struct prng prng;

    prng_seed(&prng, seed);
    for (int values = 0; values < 3000; values = values * 2 + 1) {
        size_t length;

        histogram_reset(&a);
        histogram_reset(&b);
        record_random(&prng, &a, values);
        length = histogram_encode(&a, blob);
        ck_assert_uint_le(length, sizeof(blob));
        ck_assert((length == 0) == (values == 0));
        ck_assert_msg(histogram_merge_blob(&b, blob, length) == 0 &&
                          same(&a, &b),
                      "TEST_SEED=%llu", (unsigned long long)seed);
    }
}
END_TEST

START_TEST(blob_of_everything_fits)
{
    const uint64_t count = (UINT64_C(1) << 63) / HISTOGRAM_BUCKETS - 1;
    size_t length;

    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        histogram_record_many(&a, histogram_bucket_edge(i), count);
    length = histogram_encode(&a, blob);
    ck_assert_uint_le(length, sizeof(blob));
    ck_assert_int_eq(histogram_merge_blob(&b, blob, length), 0);
    ck_assert(same(&a, &b));
    ck_assert_int_eq(histogram_merge_blob(&b, blob, length), -EBADMSG);
    ck_assert(same(&a, &b)); /* 2^63 values are too many; nothing changed */
}
END_TEST

START_TEST(blob_merges_into_what_is_there)
{
    struct prng prng;

    prng_seed(&prng, 11);
    record_random(&prng, &a, 500);
    record_random(&prng, &b, 700);
    histogram_merge(&both, &a);
    histogram_merge(&both, &b);
    ck_assert_int_eq(histogram_merge_blob(&b, blob, histogram_encode(&a, blob)),
                     0);
    ck_assert(same(&b, &both));
}
END_TEST

START_TEST(blob_cut_anywhere_is_refused)
{
    struct prng prng;
    size_t length;

    prng_seed(&prng, 3);
    record_random(&prng, &a, 300);
    length = histogram_encode(&a, blob);
    for (size_t cut = 1; cut < length; cut++) {
        uint8_t *exact = malloc(cut); /* a byte too far is a sanitizer's */

        memcpy(exact, blob, cut);
        if (histogram_merge_blob(&b, exact, cut) != -EBADMSG)
            ck_abort_msg("accepted when cut at %zu of %zu", cut, length);
        free(exact);
    }
    ck_assert(same(&b, &both)); /* untouched: empty */
}
END_TEST

/* A changed byte is refused, or makes another histogram that is sound. */
START_TEST(blob_with_a_wrong_byte_is_sound_or_refused)
{
    struct prng prng;
    size_t length;
    int refused = 0;

    prng_seed(&prng, 4);
    for (int i = 0; i < 40; i++)
        histogram_record(&a, 80000 + prng_below(&prng, 50000));
    length = histogram_encode(&a, blob);
    for (size_t at = 0; at < length; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            double deviation;

            histogram_reset(&b);
            blob[at] ^= (uint8_t)(1u << bit);
            if (histogram_merge_blob(&b, blob, length) < 0) {
                refused++;
                if (!same(&b, &both))
                    ck_abort_msg("refused, but changed the histogram");
            } else {
                deviation = histogram_stddev(&b);
                if (!(deviation >= 0 &&
                      deviation <= (double)b.max * 1.000001) ||
                    b.min > b.max || histogram_mean(&b) > (double)b.max)
                    ck_abort_msg("unsound: byte %zu, bit %u", at, bit);
            }
            blob[at] ^= (uint8_t)(1u << bit);
        }
    ck_assert_int_gt(refused, (int)length * 5);
}
END_TEST

/* A blob by hand: version, sub-bits, count, min, max, overflow, sum (2),
 * squares (2), then buckets.  One value of 3 is bucket 3, gap 3. */
static const struct {
    const char *what;
    uint8_t bytes[16];
    size_t length;
    int result;
} by_hand[] = {
    {"sound", {1, 7, 1, 3, 3, 0, 3, 0, 9, 0, 7, 2}, 12, 0},
    {"another version", {2, 7, 1, 3, 3, 0, 3, 0, 9, 0, 7, 2}, 12, -EBADMSG},
    {"other buckets", {1, 6, 1, 3, 3, 0, 3, 0, 9, 0, 7, 2}, 12, -EBADMSG},
    {"count too high", {1, 7, 2, 3, 3, 0, 3, 0, 9, 0, 7, 2}, 12, -EBADMSG},
    {"count 0", {1, 7, 0, 3, 3, 0, 3, 0, 9, 0, 7, 2}, 12, -EBADMSG},
    {"min above max", {1, 7, 1, 4, 3, 0, 3, 0, 9, 0, 7, 2}, 12, -EBADMSG},
    {"min elsewhere", {1, 7, 1, 2, 3, 0, 3, 0, 9, 0, 7, 2}, 12, -EBADMSG},
    {"max elsewhere", {1, 7, 1, 3, 4, 0, 3, 0, 9, 0, 7, 2}, 12, -EBADMSG},
    {"overflow alone", {1, 7, 1, 3, 3, 1, 3, 0, 9, 0, 7, 2}, 12, -EBADMSG},
    {"sum too high", {1, 7, 1, 3, 3, 0, 4, 0, 9, 0, 7, 2}, 12, -EBADMSG},
    {"sum of 64 bits", {1, 7, 1, 3, 3, 0, 3, 1, 9, 0, 7, 2}, 12, -EBADMSG},
    {"squares too low", {1, 7, 1, 3, 3, 0, 3, 0, 8, 0, 7, 2}, 12, -EBADMSG},
    {"squares too high", {1, 7, 1, 3, 3, 0, 3, 0, 10, 0, 7, 2}, 12, -EBADMSG},
    {"gap of 0", {1, 7, 1, 3, 3, 0, 3, 0, 9, 0, 1, 2}, 12, -EBADMSG},
    {"gap after gap", {1, 7, 1, 3, 3, 0, 3, 0, 9, 0, 3, 5, 2}, 13, -EBADMSG},
    {"bucket of 0", {1, 7, 1, 3, 3, 0, 3, 0, 9, 0, 7, 0}, 12, -EBADMSG},
    {"gap at the end", {1, 7, 1, 3, 3, 0, 3, 0, 9, 0, 7, 2, 3}, 13, -EBADMSG},
    {"one bucket more", {1, 7, 1, 3, 3, 0, 3, 0, 9, 0, 7, 2, 2}, 13, -EBADMSG},
    {"beyond the last",
     {1, 7, 1, 3, 3, 0, 3, 0, 9, 0, 0x81, 0x50, 2},
     13,
     -EBADMSG},
    {"long varint", {1, 7, 0x81, 0, 3, 3, 0, 3, 0, 9, 0, 7, 2}, 13, -EBADMSG},
    {"only a version", {1}, 1, -EBADMSG},
    {"empty", {0}, 0, 0},
};

START_TEST(blob_by_hand)
{
    ck_assert_msg(
        histogram_merge_blob(&a, by_hand[_i].bytes, by_hand[_i].length) ==
            by_hand[_i].result,
        "%s", by_hand[_i].what);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("histogram");
    TCase *tc = tcase_create("histogram");

    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_loop_test(tc, error_is_bounded_at_powers_of_two, 1, 47);
    tcase_add_test(tc, every_edge_is_the_last_value_of_its_bucket);
    tcase_add_loop_test(tc, quantiles_against_sorted_data, 0, 3);
    tcase_add_test(tc, rule_of_ten);
    tcase_add_test(tc, case_A01_percentiles_are_merged);
    tcase_add_test(tc, case_H01_long_latencies);
    tcase_add_test(tc, case_H01_overflow_is_shown_as_overflow);
    tcase_add_test(tc, case_H03_percentile_is_clamped);
    tcase_add_test(tc, case_H05_a_day_of_sums);
    tcase_add_test(tc, case_H05_no_spread_is_zero);
    tcase_add_test(tc, case_H05_sums_of_the_largest_values);
    tcase_add_test(tc, moments_against_two_passes);
    tcase_add_test(tc, case_I01_counts_beyond_32_and_53_bits);
    tcase_add_test(tc, merge_equals_recording_everything);
    tcase_add_test(tc, record_many_equals_recording_each);
    tcase_add_test(tc, reset_empties);
    tcase_add_test(tc, blob_round_trip);
    tcase_add_test(tc, blob_of_everything_fits);
    tcase_add_test(tc, blob_merges_into_what_is_there);
    tcase_add_test(tc, blob_cut_anywhere_is_refused);
    tcase_add_test(tc, blob_with_a_wrong_byte_is_sound_or_refused);
    tcase_add_loop_test(tc, blob_by_hand, 0, (int)ARRAY_LENGTH(by_hand));
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
