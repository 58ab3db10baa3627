#include "controller/conduct/conduct.h"
#include "controller/conduct/curve.h"

#include "tests/support/suite.h"

#include <errno.h>
#include <math.h>

static struct curve curve;
static struct diag diag;

static void setup(void)
{
    curve_init(&curve);
}

static double rate_of(enum plan_rate_kind kind, double value)
{
    struct plan_rate rate = {kind, value};
    double iops = -1;

    ck_assert_int_eq(curve_rate(&curve, &rate, &iops, &diag), 0);
    return iops;
}

static int failure_of(enum plan_rate_kind kind, double value)
{
    struct plan_rate rate = {kind, value};
    double iops = -1;
    int err;

    diag.text[0] = '\0';
    err = curve_rate(&curve, &rate, &iops, &diag);
    ck_assert_int_lt(err, 0);
    ck_assert(iops == -1);
    ck_assert(diag.text[0] != '\0');
    return err;
}

static void note(enum plan_rate_kind kind, double observed, bool whole)
{
    struct plan_rate rate = {kind, 0};

    curve_note(&curve, &rate, observed, whole);
}

START_TEST(rates_that_need_no_history)
{
    ck_assert(rate_of(PLAN_RATE_MAX, 0) == 0);
    ck_assert(rate_of(PLAN_RATE_CURVE, 0) == 0);
    ck_assert(rate_of(PLAN_RATE_FIXED, 123) == 123);
}
END_TEST

/* vdbench: 34246 observed, 50 % of it is 17123, rounded up to 17200. */
START_TEST(points_are_shares_of_the_maximum_as_vdbench_rounds)
{
    note(PLAN_RATE_CURVE, 34246, true);
    ck_assert(rate_of(PLAN_RATE_PERCENT, 50) == 17200);
    ck_assert(rate_of(PLAN_RATE_PERCENT, 120) == 41100);
    /* What a point measured does not move the next one. */
    note(PLAN_RATE_PERCENT, 9000, true);
    ck_assert(rate_of(PLAN_RATE_PERCENT, 50) == 17200);
    /* iorate=50% is a share of the run before, whatever that was. */
    ck_assert(rate_of(PLAN_RATE_OBSERVED, 50) == 4500);
    note(PLAN_RATE_OBSERVED, 985, true);
    ck_assert(rate_of(PLAN_RATE_OBSERVED, 50) == 500);
}
END_TEST

START_TEST(shares_of_nothing_are_refused)
{
    ck_assert_int_eq(failure_of(PLAN_RATE_PERCENT, 50), -ENODATA);
    ck_assert_int_eq(failure_of(PLAN_RATE_OBSERVED, 50), -ENODATA);
    note(PLAN_RATE_MAX, 1000, true);
    ck_assert_int_eq(failure_of(PLAN_RATE_PERCENT, 50), -ENODATA);
    ck_assert(rate_of(PLAN_RATE_OBSERVED, 50) == 500);
}
END_TEST

START_TEST(degraded_maximum_stops_its_curve_and_no_other)
{
    note(PLAN_RATE_CURVE, 1000, false);
    ck_assert_int_eq(failure_of(PLAN_RATE_PERCENT, 50), -ECANCELED);
    ck_assert(rate_of(PLAN_RATE_FIXED, 10) == 10);
    note(PLAN_RATE_CURVE, 2000, true);
    ck_assert(rate_of(PLAN_RATE_PERCENT, 50) == 1000);
}
END_TEST

/* stopcurve=: a point that was too slow ends the curve, the next one begins
 * anew. */
START_TEST(a_slow_point_ends_its_curve)
{
    struct plan_run run = {.rate = {PLAN_RATE_PERCENT, 50},
                           .stop_curve_ns = 2 * NS_PER_MS};
    struct conduct_total total = {.service_mean_ns = 1.9e6};

    note(PLAN_RATE_CURVE, 1000, true);
    curve_note_times(&curve, &run, &total);
    ck_assert(rate_of(PLAN_RATE_PERCENT, 70) == 700);
    total.service_mean_ns = 2.1e6;
    curve_note_times(&curve, &run, &total);
    ck_assert_int_eq(failure_of(PLAN_RATE_PERCENT, 80), -ECANCELED);
    note(PLAN_RATE_CURVE, 1000, true);
    ck_assert(rate_of(PLAN_RATE_PERCENT, 80) == 800);
}
END_TEST

/* iorate=find against a drive whose p99 is 10 us x rate: 1 ms is kept up to
 * 100 a second. */
START_TEST(a_search_halves_what_is_left)
{
    struct plan_run run = {.rate = {PLAN_RATE_FIND, 1},
                           .find_quantile = 0.99,
                           .find_limit_ns = NS_PER_MS};
    double rate = 0;

    note(PLAN_RATE_CURVE, 1000, true);
    for (uint32_t step = 1; step <= PLAN_FIND_STEPS; step++) {
        struct conduct_total total;

        rate = rate_of(PLAN_RATE_FIND, step);
        total = (struct conduct_total){.iops = rate,
                                       .response_find_ns = rate * 1e4};
        curve_note_times(&curve, &run, &total);
    }
    ck_assert_msg(curve.kept_iops >= 96 && curve.kept_iops <= 100, "%g",
                  curve.kept_iops);
    ck_assert_msg(curve.broke_iops > 100 && curve.broke_iops <= 104, "%g",
                  curve.broke_iops);
}
END_TEST

/* Fast answers to half of what was asked are no proof. */
START_TEST(a_rate_that_was_not_reached_keeps_nothing)
{
    struct plan_run run = {.rate = {PLAN_RATE_FIND, 1},
                           .find_limit_ns = NS_PER_MS};
    struct conduct_total total = {.iops = 250, .response_find_ns = 1e5};

    note(PLAN_RATE_CURVE, 1000, true);
    ck_assert(rate_of(PLAN_RATE_FIND, 1) == 500);
    curve_note_times(&curve, &run, &total);
    ck_assert(rate_of(PLAN_RATE_FIND, 2) == 250);
}
END_TEST

/* Each drive's share is its own: nothing is rounded to what vdbench prints. */
START_TEST(points_of_drives_are_not_rounded)
{
    struct plan_rate top = {PLAN_RATE_CURVE, 0};
    struct plan_rate point = {PLAN_RATE_DRIVES, 33};
    double iops = 0;

    curve_init(&curve);
    ck_assert_int_eq(curve_rate(&curve, &point, &iops, &diag), -ENODATA);
    curve_note(&curve, &top, 12345, true);
    ck_assert_int_eq(curve_rate(&curve, &point, &iops, &diag), 0);
    ck_assert(fabs(iops - 4073.85) < 1e-6);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("conduct curve");
    TCase *tests = tcase_create("curve");

    tcase_add_checked_fixture(tests, setup, NULL);
    tcase_add_test(tests, rates_that_need_no_history);
    tcase_add_test(tests, a_slow_point_ends_its_curve);
    tcase_add_test(tests, a_search_halves_what_is_left);
    tcase_add_test(tests, a_rate_that_was_not_reached_keeps_nothing);
    tcase_add_test(tests, points_are_shares_of_the_maximum_as_vdbench_rounds);
    tcase_add_test(tests, shares_of_nothing_are_refused);
    tcase_add_test(tests, degraded_maximum_stops_its_curve_and_no_other);
    tcase_add_test(tests, points_of_drives_are_not_rounded);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
