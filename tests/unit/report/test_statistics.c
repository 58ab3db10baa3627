/* Student's t against tables, and what is not tested at all. */
#include "controller/report/statistics.h"

#include <check.h>
#include <math.h>

#include "tests/support/suite.h"

START_TEST(tails_are_those_of_the_tables)
{
    /* Two-sided critical values of t for 5 %. */
    static const double table[][2] = {{1, 12.7062},  {2, 4.30265},
                                      {4, 2.77645},  {10, 2.22814},
                                      {30, 2.04227}, {1000, 1.96234}};

    for (size_t i = 0; i < ARRAY_LENGTH(table); i++)
        ck_assert_double_eq_tol(statistics_t_tails(table[i][1], table[i][0]),
                                0.05, 1e-5);
    ck_assert_double_eq_tol(statistics_t_tails(0, 7), 1, 1e-12);
    ck_assert_double_eq_tol(statistics_t_tails(-2.77645, 4), 0.05, 1e-5);
    ck_assert_double_eq(statistics_t_tails(INFINITY, 4), 0);
}
END_TEST

START_TEST(welch_agrees_with_a_worked_example)
{
    /* exp() of {1,2,3,4} and {2,4,6,8}: t = -1.7321, freedom 4.4118. */
    const double a[] = {exp(1), exp(2), exp(3), exp(4)};
    const double b[] = {exp(2), exp(4), exp(6), exp(8)};

    ck_assert_double_eq_tol(statistics_p_value(a, 4, b, 4), 0.15149, 1e-3);
    ck_assert_double_eq_tol(statistics_p_value(b, 4, a, 4),
                            statistics_p_value(a, 4, b, 4), 1e-12);
}
END_TEST

START_TEST(below_three_a_side_nothing_is_tested)
{
    const double a[] = {1, 2, NAN}, b[] = {10, 11, 12};

    ck_assert(isnan(statistics_p_value(a, 2, b, 3)));
    ck_assert(isnan(statistics_p_value(a, 3, b, 3)));
    ck_assert(isnan(statistics_p_value(b, 3, a, 3)));
}
END_TEST

START_TEST(values_without_logarithms_are_not_tested)
{
    const double zeros[] = {0, 0, 0}, b[] = {10, 11, 12};

    ck_assert(isnan(statistics_p_value(zeros, 3, b, 3)));
}
END_TEST

START_TEST(sides_that_never_vary)
{
    const double a[] = {5, 5, 5}, b[] = {6, 6, 6};

    ck_assert_double_eq(statistics_p_value(a, 3, a, 3), 1);
    ck_assert_double_lt(statistics_p_value(a, 3, b, 3), 1e-12);
}
END_TEST

START_TEST(summaries)
{
    const double values[] = {1, NAN, 3, 8};
    struct sample_summary s = sample_summary_of(values, 4);

    ck_assert_uint_eq(s.count, 3);
    ck_assert_double_eq(s.mean, 4);
    ck_assert_double_eq_tol(s.stddev, 3.605551, 1e-6);
    ck_assert_double_eq(s.min, 1);
    ck_assert_double_eq(s.max, 8);
    ck_assert(isnan(sample_summary_of(values, 0).mean));
    ck_assert(isnan(sample_summary_of(values, 1).stddev));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("statistics");
    TCase *tests = tcase_create("statistics");

    tcase_add_test(tests, tails_are_those_of_the_tables);
    tcase_add_test(tests, welch_agrees_with_a_worked_example);
    tcase_add_test(tests, below_three_a_side_nothing_is_tested);
    tcase_add_test(tests, values_without_logarithms_are_not_tested);
    tcase_add_test(tests, sides_that_never_vary);
    tcase_add_test(tests, summaries);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
