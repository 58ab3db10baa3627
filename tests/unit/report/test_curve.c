/* Peaks, spikes and outliers by the stated rules. */
#include "controller/report/curve.h"

#include <check.h>
#include <math.h>

#include "tests/support/suite.h"

START_TEST(the_peak_is_the_highest_rate)
{
    const double iops[] = {100, 250, NAN, 240};

    ck_assert_uint_eq(curve_peak(iops, 4), 1);
    ck_assert_uint_eq(curve_peak(iops, 0), CURVE_NONE);
}
END_TEST

START_TEST(the_point_before_the_first_spike)
{
    const double iops[] = {25, 50, 75, 90, 100};
    const double mean[] = {100, 105, 120, 150, 400};

    ck_assert_uint_eq(curve_pre_spike(iops, mean, 5), 3);
}
END_TEST

START_TEST(latency_that_grows_with_the_load_is_no_spike)
{
    const double iops[] = {10, 20, 40, 80};
    const double mean[] = {100, 160, 300, 520};

    ck_assert_uint_eq(curve_pre_spike(iops, mean, 4), CURVE_NONE);
}
END_TEST

START_TEST(a_rate_that_falls_while_latency_grows_is_a_spike)
{
    const double iops[] = {10, 20, 19};
    const double mean[] = {100, 100, 101};

    ck_assert_uint_eq(curve_pre_spike(iops, mean, 3), 1);
}
END_TEST

START_TEST(points_without_figures_are_no_spike)
{
    const double iops[] = {10, NAN, 19};
    const double mean[] = {100, NAN, 101};

    ck_assert_uint_eq(curve_pre_spike(iops, mean, 3), CURVE_NONE);
}
END_TEST

START_TEST(medians)
{
    const double values[] = {5, NAN, 1, 3, 100};

    ck_assert_double_eq(curve_median(values, 5), 4);
    ck_assert_double_eq(curve_median(values, 1), 5);
    ck_assert(isnan(curve_median(values, 0)));
}
END_TEST

START_TEST(one_slow_drive_of_many_is_an_outlier)
{
    double values[24];
    int8_t side[24];

    for (int i = 0; i < 24; i++)
        values[i] = 100 + i % 5;
    values[7] = 60;
    values[9] = 190;
    ck_assert_uint_eq(curve_outliers(values, 24, side), 2);
    ck_assert_int_eq(side[7], -1);
    ck_assert_int_eq(side[9], 1);
    ck_assert_int_eq(side[0], 0);
}
END_TEST

START_TEST(small_differences_and_few_values_are_none)
{
    const double close[] = {100, 100, 100, 100, 109};
    const double few[] = {1, 1, 100};
    int8_t side[5];

    ck_assert_uint_eq(curve_outliers(close, 5, side), 0);
    ck_assert_uint_eq(curve_outliers(few, 3, side), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("curve");
    TCase *tests = tcase_create("curve");

    tcase_add_test(tests, the_peak_is_the_highest_rate);
    tcase_add_test(tests, the_point_before_the_first_spike);
    tcase_add_test(tests, latency_that_grows_with_the_load_is_no_spike);
    tcase_add_test(tests, a_rate_that_falls_while_latency_grows_is_a_spike);
    tcase_add_test(tests, points_without_figures_are_no_spike);
    tcase_add_test(tests, medians);
    tcase_add_test(tests, one_slow_drive_of_many_is_an_outlier);
    tcase_add_test(tests, small_differences_and_few_values_are_none);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
