/* One of several: every word has its piece, pieces are as long as their
 * shares, and the guide changes nothing but the speed. */
#include "agent/choice.h"

#include "agent/draw.h"
#include "tests/support/suite.h"

#include <math.h>
#include <string.h>

#define THINGS 300u
#define DRAWS  (1u << 20)

static struct choice_guide guide;
static uint64_t upto[THINGS];
static double weights[THINGS];

/* What a walk over all pieces from the first one finds. */
static uint32_t walk(uint64_t word)
{
    uint32_t i = 0;

    while (weights[i] <= 0 || word > upto[i])
        i++;
    return i;
}

static void check_word(uint64_t word)
{
    uint32_t got = choice_take(&guide, upto, word);

    if (got != walk(word))
        ck_abort_msg("word %llx: %u instead of %u", (unsigned long long)word,
                     got, walk(word));
}

/* The words around every border, and around every step of the guide. */
static void check_borders(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint64_t d = 0; d < 3; d++)
            if (weights[i] > 0)
                check_word(upto[i] + d - 1);
    for (uint64_t b = 0; b < 256; b++)
        for (uint64_t d = 0; d < 3; d++)
            check_word((b << 56) + d - 1);
    check_word(0);
    check_word(UINT64_MAX);
}

START_TEST(pieces_are_as_long_as_their_shares)
{
    static const double shares[] = {62.5, 12.5, 25};

    memcpy(weights, shares, sizeof(shares));
    choice_lay(&guide, upto, weights, 3);
    ck_assert_uint_eq(upto[0], UINT64_C(0x9fffffffffffffff));
    ck_assert_uint_eq(upto[1], UINT64_C(0xbfffffffffffffff));
    ck_assert_uint_eq(upto[2], UINT64_MAX);
    check_borders(3);
}
END_TEST

START_TEST(what_has_no_weight_is_never_chosen)
{
    static const double shares[] = {0, 0, 1, 0, 3, 0};

    memcpy(weights, shares, sizeof(shares));
    choice_lay(&guide, upto, weights, 6);
    check_borders(6);
    ck_assert_uint_eq(choice_take(&guide, upto, 0), 2);
    ck_assert_uint_eq(choice_take(&guide, upto, UINT64_MAX >> 2), 2);
    ck_assert_uint_eq(choice_take(&guide, upto, UINT64_C(1) << 62), 4);
    ck_assert_uint_eq(choice_take(&guide, upto, UINT64_MAX), 4);
}
END_TEST

/* More things than the guide has steps, of very different weights. */
START_TEST(any_weights)
{
    uint64_t hits[THINGS] = {0};
    double sum = 0;
    struct draw draw;

    draw_seed(&draw, 7);
    for (uint32_t i = 0; i < THINGS; i++)
        sum += weights[i] = i % 7 == 0 ? 0 : pow(draw_unit(&draw), 1 + i % 9);
    choice_lay(&guide, upto, weights, THINGS);
    check_borders(THINGS);
    for (uint32_t i = 0; i < DRAWS; i++)
        hits[choice_take(&guide, upto, draw_next(&draw))]++;
    for (uint32_t i = 0; i < THINGS; i++) {
        double expected = DRAWS * weights[i] / sum;

        ck_assert_msg(fabs((double)hits[i] - expected) <=
                          6 * sqrt(expected) + 1,
                      "thing %u: %llu instead of %g", i,
                      (unsigned long long)hits[i], expected);
    }
}
END_TEST

START_TEST(one_thing_is_always_chosen)
{
    weights[0] = 0.001;
    choice_lay(&guide, upto, weights, 1);
    check_borders(1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("choice");
    TCase *cases = tcase_create("choice");

    tcase_add_test(cases, pieces_are_as_long_as_their_shares);
    tcase_add_test(cases, what_has_no_weight_is_never_chosen);
    tcase_add_test(cases, any_weights);
    tcase_add_test(cases, one_thing_is_always_chosen);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
