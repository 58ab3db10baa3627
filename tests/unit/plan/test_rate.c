/*
 * Rates and sizes as vdbench rounds and writes them.
 */
#include "controller/plan/internal.h"
#include "controller/plan/plan_text.h"
#include "tests/support/suite.h"

#include <math.h>
static const struct {
    double observed;
    double percent;
    uint64_t rate;
} rates[] = {
    {34246, 50, 17200}, /* 17123: up to the next 100 */
    {34200, 50, 17100},
    {2000, 50, 1000}, /* 1000 is not above 1000 */
    {2002, 50, 1100},
    {1999, 50, 1000}, /* 999: up to the next 10 */
    {42825.7, 10, 4300},
    {100, 10, 10},
    {101, 10, 10},
    {119, 10, 20},
    {5, 10, 10}, /* none below 10 */
    {0, 50, 10},
    {-1, 50, 10},
    {1e300, 100, UINT64_C(1000000000000000)},
    {1000, 120, 1200},
    {1000, 33.9, 330}, /* the percentage counts without its fraction */
};

START_TEST(test_round_rate)
{
    ck_assert_uint_eq(plan_round_rate(rates[_i].observed, rates[_i].percent),
                      rates[_i].rate);
}
END_TEST

/* Rounded up to a step, and never more than a step too much. */
START_TEST(test_round_rate_bounds)
{
    for (uint32_t i = 1; i < 200000; i += 97) {
        for (uint32_t percent = 1; percent <= 120; percent += 17) {
            uint64_t exact = (uint64_t)i * percent / 100;
            uint64_t rate = plan_round_rate(i, percent);
            uint64_t step = exact > 1000 ? 100 : 10;

            ck_assert_uint_eq(rate % step, 0);
            ck_assert_uint_ge(rate, exact);
            ck_assert(rate < exact + step || rate == 10);
        }
    }
}
END_TEST

static const struct {
    double value;
    const char *text;
} sizes[] = {
    {0, "0"},           {83.14, "83"},       {512, "512"},
    {1024, "1k"},       {1536, "1.500k"},    {65536, "64k"},
    {1048576, "1m"},    {419430400, "400m"}, {1.5 * 1073741824, "1.500g"},
    {1e15, "909.495t"}, {2e18, "1776.357p"}, {-50, "50%"},
};

START_TEST(test_format_size)
{
    char text[32];

    format_size(sizes[_i].value, text, sizeof(text));
    ck_assert_str_eq(text, sizes[_i].text);
}
END_TEST

START_TEST(test_rate_text)
{
    static const struct {
        struct plan_rate rate;
        const char *text;
    } cases[] = {
        {{PLAN_RATE_MAX, 0}, "max"},
        {{PLAN_RATE_CURVE, 0}, "curve"},
        {{PLAN_RATE_PERCENT, 50}, "50%"},
        {{PLAN_RATE_OBSERVED, 33}, "33%"},
        {{PLAN_RATE_FIXED, 10.5}, "11"},
        {{PLAN_RATE_FIXED, 1e9}, "1000000000"},
    };
    char text[32];

    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        plan_text_rate(&cases[i].rate, text, sizeof(text));
        ck_assert_str_eq(text, cases[i].text);
    }
}
END_TEST

/* 9:1 at the maximum; two workloads that had 3:1 of it; one keeps its 5. */
START_TEST(drives_get_percentages_of_their_own_maximum)
{
    struct plan_workload workloads[] = {
        {.skew = 50}, {.skew = 50}, {.rate = 5}};
    struct plan_run_target targets[] = {{.target = 4}, {.target = 2}};
    struct plan_cell cells[] = {
        {.workload = 0, .target = 0, .share = 0.25},
        {.workload = 0, .target = 1, .share = 0.25},
        {.workload = 1, .target = 0, .share = 0.25},
        {.workload = 1, .target = 1, .share = 0.25},
        {.workload = 2, .target = 1, .share = 1},
    };
    struct plan_run run = {.workloads = workloads,
                           .workload_count = 3,
                           .targets = targets,
                           .target_count = 2,
                           .cells = cells,
                           .cell_count = 5};
    const double maximum[] = {0, 0, 100, 0, 900};
    const double shares[] = {75, 25, 0};
    double weights[2], each[5];

    plan_drive_rates(&run, 500, maximum, shares, weights, each);
    ck_assert(fabs(each[0] - 337.5) < 1e-9); /* 450 x 3/4 */
    ck_assert(fabs(each[1] - 37.5) < 1e-9);
    ck_assert(fabs(each[2] - 112.5) < 1e-9);
    ck_assert(fabs(each[3] - 12.5) < 1e-9);
    ck_assert(each[4] == 5);
}
END_TEST

/* A rate of 0 would be full speed. */
START_TEST(a_drive_that_did_nothing_is_not_let_loose)
{
    struct plan_workload workload = {.skew = 100};
    struct plan_run_target targets[] = {{.target = 0}, {.target = 1}};
    struct plan_cell cells[] = {{.target = 0, .share = 0.5},
                                {.target = 1, .share = 0.5}};
    struct plan_run run = {.workloads = &workload,
                           .workload_count = 1,
                           .targets = targets,
                           .target_count = 2,
                           .cells = cells,
                           .cell_count = 2};
    const double maximum[] = {1000, 0};
    double weights[2], each[2];

    plan_drive_rates(&run, 100, maximum, NULL, weights, each);
    ck_assert(each[0] == 100);
    ck_assert(each[1] > 0 && each[1] < 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rate");
    TCase *tests = tcase_create("rate");

    tcase_add_loop_test(tests, test_round_rate, 0, ARRAY_LENGTH(rates));
    tcase_add_test(tests, test_round_rate_bounds);
    tcase_add_loop_test(tests, test_format_size, 0, ARRAY_LENGTH(sizes));
    tcase_add_test(tests, test_rate_text);
    tcase_add_test(tests, drives_get_percentages_of_their_own_maximum);
    tcase_add_test(tests, a_drive_that_did_nothing_is_not_let_loose);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
