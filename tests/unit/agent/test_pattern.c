/* What is written cannot be compressed and repeats nowhere. */
#include "agent/pattern.h"
#include "agent/pattern_ratio.h"

#include "tests/support/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE 65536u

static uint64_t seed;

static void setup(void)
{
    /* Statistics with one known seed cannot fail by bad luck. */
    seed = getenv("TEST_SEED") != NULL ? suite_seed() : 1;
}

static double bits_per_byte(const uint8_t *bytes, size_t length)
{
    uint64_t count[256] = {0};
    double bits = 0;

    for (size_t i = 0; i < length; i++)
        count[bytes[i]]++;
    for (int i = 0; i < 256; i++)
        if (count[i] > 0)
            bits -= (double)count[i] / (double)length *
                    log2((double)count[i] / (double)length);
    return bits;
}

static int compare_words(const void *a, const void *b)
{
    return memcmp(a, b, 8);
}

/* How many words of eight bytes, at any alignment of eight, occur twice: what
 * every compressor looks for. */
static size_t repeats(const uint8_t *bytes, size_t length)
{
    uint64_t *words = malloc(length);
    size_t count = length / 8, again = 0;

    ck_assert_ptr_nonnull(words);
    memcpy(words, bytes, count * 8);
    qsort(words, count, 8, compare_words);
    for (size_t i = 1; i < count; i++)
        again += words[i] == words[i - 1];
    free(words);
    return again;
}

START_TEST(case_M05_random_bytes_do_not_compress)
{
    uint8_t *bytes = malloc(SAMPLE);

    ck_assert_ptr_nonnull(bytes);
    pattern_fill(bytes, SAMPLE, seed);
    /* 255 / (2 ln 2 n) is what 64 KiB of perfect noise lack of 8 bits. */
    ck_assert_msg(bits_per_byte(bytes, SAMPLE) > 7.99, "TEST_SEED=%llu",
                  (unsigned long long)seed);
    ck_assert_uint_eq(repeats(bytes, SAMPLE), 0);
    free(bytes);
}
END_TEST

START_TEST(fill_takes_any_length)
{
    uint8_t bytes[200];

    for (size_t length = 0; length < sizeof(bytes) - 1; length++) {
        memset(bytes, 0xa5, sizeof(bytes));
        pattern_fill(bytes, length, seed);
        for (size_t i = length; i < sizeof(bytes); i++)
            ck_assert_int_eq(bytes[i], 0xa5);
    }
    ck_assert(bits_per_byte(bytes, sizeof(bytes) - 1) > 5);
}
END_TEST

/* The same memory written again and again: each block differs from all others,
 * and what is not the number is left alone. */
START_TEST(each_block_of_each_write_is_unique)
{
    enum { WRITES = 1000, BLOCKS = 4 };
    uint8_t *bytes = malloc(BLOCKS * PATTERN_BLOCK);
    uint8_t *before = malloc(BLOCKS * PATTERN_BLOCK);
    uint8_t *heads = malloc((size_t)WRITES * BLOCKS * 8);
    struct pattern pattern;

    pattern_init(&pattern, seed);
    pattern_fill(bytes, BLOCKS * PATTERN_BLOCK, seed);
    memcpy(before, bytes, BLOCKS * PATTERN_BLOCK);
    for (size_t i = 0; i < WRITES; i++) {
        pattern_stamp(&pattern, bytes, BLOCKS * PATTERN_BLOCK);
        for (size_t j = 0; j < BLOCKS; j++) {
            memcpy(heads + (i * BLOCKS + j) * 8, bytes + j * PATTERN_BLOCK, 8);
            ck_assert(memcmp(bytes + j * PATTERN_BLOCK + 16,
                             before + j * PATTERN_BLOCK + 16,
                             PATTERN_BLOCK - 16) == 0);
        }
    }
    ck_assert_uint_eq(repeats(heads, (size_t)WRITES * BLOCKS * 8), 0);
    free(bytes);
    free(before);
    free(heads);
}
END_TEST

/* Never a byte beyond the write, whatever its length. */
START_TEST(stamps_stay_within_the_write)
{
    static const uint32_t lengths[] = {0,    1,    15,   16,   17,   512,  4095,
                                       4096, 4097, 4111, 4112, 8192, 10000};
    uint8_t bytes[3 * PATTERN_BLOCK] = {0};
    struct pattern pattern;
    uint32_t length = lengths[_i];

    pattern_init(&pattern, seed);
    pattern_stamp(&pattern, bytes, length);
    for (uint32_t i = length; i < sizeof(bytes); i++)
        ck_assert_int_eq(bytes[i], 0);
    ck_assert_uint_eq(pattern.counter,
                      length / PATTERN_BLOCK + (length % PATTERN_BLOCK >= 16));
}
END_TEST

/* What a drive gets, at every size of the pieces that it may compress: within
 * 3 % of what was asked, and what zlib itself takes for a piece. */
START_TEST(case_M05_the_ratio_is_right_at_every_size)
{
    static const double ratios[] = {1, 1.25, 1.5, 2, 3, 4};
    static const size_t pieces[] = {4096, 8192, 16384, 65536, 262144};
    size_t length = 1u << 20;
    uint8_t *bytes = malloc(length);
    double asked = ratios[_i];

    pattern_fill(bytes, length, seed);
    pattern_compress(bytes, length, asked);
    for (size_t i = 0; i < ARRAY_LENGTH(pieces); i++) {
        double got = pattern_ratio_of(bytes, length, pieces[i]);
        double least = 1 / (1 / asked + 100.0 / (double)pieces[i]) * 0.97;

        ck_assert_msg(got >= least && got <= asked * 1.03,
                      "%.3f of %.3f in pieces of %zu", got, asked, pieces[i]);
    }
    free(bytes);
}
END_TEST

START_TEST(the_ratio_is_measured)
{
    uint8_t *bytes = calloc(1, 8192);

    ck_assert_double_gt(pattern_ratio(bytes, 8192), 50);
    ck_assert_double_eq(pattern_ratio(bytes, 100), 0);
    pattern_fill(bytes, 8192, seed);
    ck_assert_double_eq_tol(pattern_ratio(bytes, 8192), 1, 1e-9);
    free(bytes);
}
END_TEST

START_TEST(a_pattern_is_repeated_to_the_end)
{
    static const size_t counts[] = {1, 3, 999, 1000, 1001, 4096};
    size_t count = counts[_i];
    uint8_t *bytes = malloc(count);
    uint8_t *memory = malloc(1000); /* and not a byte more is written */

    pattern_fill(bytes, count, seed);
    pattern_repeat(memory, 1000, bytes, count);
    for (size_t i = 0; i < 1000; i++)
        ck_assert_uint_eq(memory[i], bytes[i % count]);
    free(memory);
    free(bytes);
}
END_TEST

/* compratio=: the last part of each 4 KiB is zeros, the rest stays noise. */
START_TEST(compression_leaves_one_part_of_each_block)
{
    static const double ratios[] = {0, 1, 1.5, 2, 4, 25};
    uint8_t *bytes = malloc(SAMPLE + 1000);
    size_t zeros = 0, all = 0;

    pattern_fill(bytes, SAMPLE, seed);
    pattern_compress(bytes, SAMPLE, ratios[_i]);
    for (size_t i = 0; i < SAMPLE; i += PATTERN_BLOCK)
        for (size_t j = i; j < i + PATTERN_BLOCK && j < SAMPLE; j++, all++)
            zeros += bytes[j] == 0;
    /* Noise has its own zeros: one byte of 256. */
    double kept = ratios[_i] > 1 ? 1 / ratios[_i] : 1;
    double expected = (1 - kept) + kept / 256;

    ck_assert_msg(fabs((double)zeros / (double)all - expected) < 0.003,
                  "%zu of %zu for %g", zeros, all, ratios[_i]);
    free(bytes);
}
END_TEST

/* ---- duplicates ---- */

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* FNV of a unit: what a deduplicating store would look at. */
static uint64_t digest(const uint8_t *at, size_t length)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < length; i++)
        h = (h ^ at[i]) * UINT64_C(0x100000001b3);
    return h;
}

/* A drive written once, in pieces that are no multiples of the unit, by
 * windows as workers have them. */
static void write_drive(const struct duplicates *d, uint8_t *drive,
                        size_t length, size_t piece)
{
    static struct pattern pattern = {.key = 77};

    uint8_t *window = malloc(piece + d->unit);

    pattern_fill_units(window, piece + d->unit, d->unit, 2);
    for (size_t at = 0; at < length; at += piece) {
        size_t n = length - at < piece ? length - at : piece;
        uint8_t *from = window + at % d->unit;

        duplicates_stamp(d, &pattern, from, (uint32_t)n, at);
        memcpy(drive + at, from, n);
    }
    free(window);
}

static size_t distinct_units(const uint8_t *drive, size_t count, uint32_t unit)
{
    uint64_t *digests = malloc(count * sizeof(*digests));
    size_t distinct = 1;

    for (size_t i = 0; i < count; i++)
        digests[i] = digest(drive + i * unit, unit);
    qsort(digests, count, sizeof(*digests), by_number);
    for (size_t i = 1; i < count; i++)
        distinct += digests[i] != digests[i - 1];
    free(digests);
    return distinct;
}

static const uint32_t units[] = {512, 1024, 4096, 8192, 12288};

/* dedupratio=4, dedupsets=5%: a fifth of all is unique, and 5 % are the rest.
 */
START_TEST(data_deduplicate_as_asked)
{
    enum { COUNT = 4000 };
    uint32_t unit = units[_i];
    size_t length = (size_t)COUNT * unit;
    uint8_t *drive = calloc(1, length);
    uint8_t *again = calloc(1, length);
    struct duplicates duplicates = {
        .unit = unit, .unique = 0.25 - 0.05, .sets = COUNT / 20};
    size_t distinct, same = 0;

    duplicates_init(&duplicates, "sd1");
    write_drive(&duplicates, drive, length, unit);
    distinct = distinct_units(drive, COUNT, unit);
    ck_assert_msg(fabs((double)COUNT / (double)distinct - 4) < 0.3,
                  "%u units, %zu of them different", COUNT, distinct);
    /* Other transfers, the same duplicates; what is unique is new. */
    write_drive(&duplicates, again, length, 5 * 512);
    for (size_t i = 0; i < COUNT; i++)
        same += memcmp(drive + i * unit, again + i * unit, unit) == 0;
    ck_assert_msg(fabs((double)same / COUNT - 0.8) < 0.03, "%zu", same);
    distinct = distinct_units(again, COUNT, unit);
    ck_assert(fabs((double)COUNT / (double)distinct - 4) < 0.3);
    free(drive);
    free(again);
}
END_TEST

START_TEST(two_drives_share_their_duplicates_and_nothing_else)
{
    enum { COUNT = 2000, UNIT = 4096 };
    uint8_t *drives = malloc((size_t)2 * COUNT * UNIT);
    struct duplicates duplicates = {.unit = UNIT, .unique = 0.5, .sets = 20};
    size_t distinct;

    for (int i = 0; i < 2; i++) {
        duplicates_init(&duplicates, i == 0 ? "sd1" : "sd2");
        write_drive(&duplicates, drives + (size_t)i * COUNT * UNIT,
                    (size_t)COUNT * UNIT, UNIT);
    }
    distinct = distinct_units(drives, 2 * COUNT, UNIT);
    ck_assert_msg(distinct > COUNT - 150 && distinct < COUNT + 170, "%zu",
                  distinct);
    free(drives);
}
END_TEST

/* dedupacross=no: what is like no other on one drive is on both. */
START_TEST(places_alike_are_the_same_on_two_drives)
{
    enum { COUNT = 2000, UNIT = 4096 };
    uint8_t *drives = malloc((size_t)2 * COUNT * UNIT);
    struct duplicates duplicates = {
        .unit = UNIT, .unique = 1, .sets = 1, .places_alike = true};

    for (int i = 0; i < 2; i++) {
        duplicates_init(&duplicates, i == 0 ? "sd1" : "sd2");
        write_drive(&duplicates, drives + (size_t)i * COUNT * UNIT,
                    (size_t)COUNT * UNIT, UNIT);
    }
    ck_assert_uint_eq(distinct_units(drives, COUNT, UNIT), COUNT);
    ck_assert_uint_eq(distinct_units(drives, 2 * COUNT, UNIT), COUNT);
    free(drives);
}
END_TEST

/* Two contents of each set, about half of the writes each. */
START_TEST(duplicates_flip_between_two_contents)
{
    enum { COUNT = 1000, UNIT = 4096 };
    uint8_t *drive = malloc((size_t)COUNT * UNIT);
    struct duplicates duplicates = {
        .unit = UNIT, .unique = 0, .sets = 10, .flip = DUPLICATES_FLIP};

    duplicates_init(&duplicates, "sd1");
    write_drive(&duplicates, drive, (size_t)COUNT * UNIT, UNIT);
    ck_assert_uint_eq(distinct_units(drive, COUNT, UNIT), 20);
    duplicates.flip = DUPLICATES_FLIP_HOT; /* there are none */
    write_drive(&duplicates, drive, (size_t)COUNT * UNIT, UNIT);
    ck_assert_uint_eq(distinct_units(drive, COUNT, UNIT), 10);
    free(drive);
}
END_TEST

/* Three sets of two and two of five, dealt to two drives; behind them none. */
START_TEST(hot_sets_are_at_the_beginning_of_the_drives)
{
    enum { COUNT = 100, UNIT = 512, HOT = 3 * 2 + 2 * 5 };
    static const uint32_t expected[] = {1, 1, 2, 2, 3, 3, 4, 4,
                                        4, 4, 4, 5, 5, 5, 5, 5};
    uint8_t drives[2][COUNT * UNIT];
    struct duplicates duplicates = {
        .unit = UNIT,
        .unique = 0,
        .sets = 50,
        .hot = {{3, 2}, {2, 5}},
        .hot_count = 2,
        .hot_every = 2,
    };

    for (uint32_t i = 0; i < 2; i++) {
        duplicates.hot_first = i;
        duplicates_init(&duplicates, i == 0 ? "sd1" : "sd2");
        write_drive(&duplicates, drives[i], sizeof(drives[i]), UNIT);
    }
    for (uint32_t i = 0; i < 2 * COUNT; i++)
        for (uint32_t j = 0; j < i && j < HOT; j++) {
            bool same = memcmp(drives[i % 2] + i / 2 * UNIT,
                               drives[j % 2] + j / 2 * UNIT, UNIT) == 0;

            ck_assert_msg(same == (i < HOT && expected[i] == expected[j]),
                          "units %u and %u", i, j);
        }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pattern");
    TCase *cases = tcase_create("pattern");

    tcase_add_checked_fixture(cases, setup, NULL);
    tcase_add_test(cases, case_M05_random_bytes_do_not_compress);
    tcase_add_loop_test(cases, data_deduplicate_as_asked, 0, 5);
    tcase_add_test(cases, two_drives_share_their_duplicates_and_nothing_else);
    tcase_add_test(cases, places_alike_are_the_same_on_two_drives);
    tcase_add_test(cases, duplicates_flip_between_two_contents);
    tcase_add_test(cases, hot_sets_are_at_the_beginning_of_the_drives);
    tcase_add_loop_test(cases, compression_leaves_one_part_of_each_block, 0, 6);
    tcase_add_loop_test(cases, case_M05_the_ratio_is_right_at_every_size, 0, 6);
    tcase_add_test(cases, the_ratio_is_measured);
    tcase_add_loop_test(cases, a_pattern_is_repeated_to_the_end, 0, 6);
    tcase_add_test(cases, fill_takes_any_length);
    tcase_add_test(cases, each_block_of_each_write_is_unique);
    tcase_add_loop_test(cases, stamps_stay_within_the_write, 0, 13);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
