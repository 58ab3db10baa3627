/* What people write behind --fail-if. */
#include "controller/report/bound.h"

#include <check.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "tests/support/suite.h"

static struct bound parsed(const char *text)
{
    struct bound bound;
    struct diag diag = {0};
    int err = bound_parse(text, &bound, &diag);

    ck_assert_msg(err == 0, "%s: %s", text, diag.text);
    return bound;
}

START_TEST(the_forms)
{
    struct bound b = parsed("p99 > +10%");

    ck_assert_str_eq(b.path, "service_us.p99");
    ck_assert_int_eq(b.sign, BOUND_MORE);
    ck_assert_double_eq(b.value, 10);
    ck_assert(b.change);
    b = parsed("iops<-5%");
    ck_assert_str_eq(b.path, "iops");
    ck_assert_int_eq(b.sign, BOUND_LESS);
    ck_assert_double_eq(b.value, -5);
    b = parsed("  write.response.p99.9 >= 2500 ");
    ck_assert_str_eq(b.path, "write.response_us.p999");
    ck_assert_int_eq(b.sign, BOUND_AT_LEAST);
    ck_assert(!b.change);
    ck_assert_str_eq(parsed("read.service.mean<=1").path,
                     "read.service_us.mean");
    ck_assert_str_eq(parsed("response.max>0%").path, "response_us.max");
}
END_TEST

START_TEST(what_is_no_bound)
{
    static const char *const wrong[] = {
        "",          "p99",        "p99 >",      "p99 > x", "p98 > 1%",
        "p99 = 1%",  "p99 > 1% 2", "p99 > 1%%",  "> 1%",    "response.iops > 1",
        "p99 > nan", "p99 > inf%", "p99 > 1e999"};
    struct bound bound;
    struct diag diag;

    for (size_t i = 0; i < ARRAY_LENGTH(wrong); i++) {
        ck_assert_msg(bound_parse(wrong[i], &bound, &diag) == -EINVAL, "%s",
                      wrong[i]);
        ck_assert_ptr_nonnull(strstr(diag.text, wrong[i]));
    }
}
END_TEST

START_TEST(figures_against_bounds)
{
    struct bound rise = parsed("p99 > +10%"), least = parsed("iops < 500");

    ck_assert(bound_is_broken(&rise, bound_figure(&rise, 100, 111)));
    ck_assert(!bound_is_broken(&rise, bound_figure(&rise, 100, 110)));
    ck_assert(!bound_is_broken(&rise, bound_figure(&rise, 100, 90)));
    ck_assert(bound_is_broken(&least, bound_figure(&least, NAN, 499)));
    ck_assert(isnan(bound_figure(&rise, NAN, 5)));
    ck_assert(isnan(bound_figure(&rise, 5, NAN)));
    ck_assert(isnan(bound_figure(&rise, 0, 5)));
    ck_assert_double_eq(bound_figure(&rise, 0, 0), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bound");
    TCase *tests = tcase_create("bound");

    tcase_add_test(tests, the_forms);
    tcase_add_test(tests, what_is_no_bound);
    tcase_add_test(tests, figures_against_bounds);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
