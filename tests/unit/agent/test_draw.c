/* Numbers for load: uniform, each bit, each pair of neighbours, no short
 * cycles.  Known seeds, so nothing fails by bad luck. */
#include "agent/draw.h"

#include "tests/support/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DRAWS (1u << 18)

static struct draw draw;

static void setup(void)
{
    draw_seed(&draw, 1);
}

/* Chi-square of `cells` counts: within six deviations of its mean. */
static void check_uniform(const uint32_t *count, uint32_t cells, double draws,
                          const char *what)
{
    double expected = draws / cells, sum = 0;

    for (uint32_t i = 0; i < cells; i++)
        sum += (count[i] - expected) * (count[i] - expected) / expected;
    ck_assert_msg(fabs(sum - (cells - 1)) < 6 * sqrt(2.0 * (cells - 1)),
                  "%s: chi-square %g of %u cells", what, sum, cells);
}

START_TEST(each_bit_is_a_coin)
{
    uint32_t ones[64] = {0};

    for (uint32_t i = 0; i < DRAWS; i++) {
        uint64_t word = draw_next(&draw);

        for (int bit = 0; bit < 64; bit++)
            ones[bit] += (uint32_t)(word >> bit & 1);
    }
    for (int bit = 0; bit < 64; bit++)
        ck_assert_msg(fabs(ones[bit] - DRAWS / 2.0) < 5 * sqrt(DRAWS) / 2,
                      "bit %d: %u ones", bit, ones[bit]);
}
END_TEST

START_TEST(bounded_numbers_are_uniform)
{
    static const uint64_t bounds[] = {2, 3, 7, 1000, 1021};
    uint32_t count[1021] = {0};

    for (uint32_t i = 0; i < DRAWS; i++) {
        uint64_t n = draw_below(&draw, bounds[_i]);

        if (n >= bounds[_i])
            ck_abort_msg("%llu is not below", (unsigned long long)n);
        count[n]++;
    }
    check_uniform(count, (uint32_t)bounds[_i], DRAWS, "bounded");
}
END_TEST

/* Operation, size and offset of one I/O are neighbours: they must not know of
 * each other.  High bits of up to three draws later, against each other. */
START_TEST(neighbours_are_independent)
{
    static uint32_t count[32 * 32];
    uint64_t word[4];

    for (int lag = 1; lag <= 3; lag++) {
        memset(count, 0, sizeof(count));
        for (int i = 0; i < 4; i++)
            word[i] = draw_next(&draw);
        for (uint32_t i = 0; i < DRAWS; i++) {
            count[(word[0] >> 59) * 32 + (word[lag] >> 59)]++;
            memmove(word, word + 1, sizeof(word) - sizeof(word[0]));
            word[3] = draw_next(&draw);
        }
        check_uniform(count, 32 * 32, DRAWS, "pairs");
    }
}
END_TEST

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

START_TEST(seeds_give_sequences_of_their_own)
{
    uint64_t *words = malloc(8 * 1000 * sizeof(*words));

    ck_assert_ptr_nonnull(words);
    for (uint64_t seed = 0; seed < 8; seed++) {
        draw_seed(&draw, seed);
        for (uint32_t i = 0; i < 1000; i++)
            words[seed * 1000 + i] = draw_next(&draw);
    }
    qsort(words, 8000, sizeof(*words), compare);
    for (uint32_t i = 1; i < 8000; i++)
        ck_assert_uint_ne(words[i], words[i - 1]);
    free(words);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("draw");
    TCase *cases = tcase_create("draw");

    tcase_add_checked_fixture(cases, setup, NULL);
    tcase_add_test(cases, each_bit_is_a_coin);
    tcase_add_loop_test(cases, bounded_numbers_are_uniform, 0, 5);
    tcase_add_test(cases, neighbours_are_independent);
    tcase_add_test(cases, seeds_give_sequences_of_their_own);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
