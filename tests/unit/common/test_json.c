/*
 * Numbers in documents have the digits they were rounded to, and no more.
 */
#include "common/json.h"

#include "tests/support/suite.h"

#include <stdlib.h>

static void check_text(double value, int decimals, const char *expected)
{
    json_t *array = json_array();
    char *text;

    ck_assert_int_eq(json_array_append_new(array, json_fixed(value, decimals)),
                     0);
    text = json_dumps(array, JSON_COMPACT | JSON_FORM);
    ck_assert_str_eq(text, expected);
    free(text);
    json_decref(array);
}

START_TEST(numbers_have_their_decimals)
{
    check_text(601.518000000001, 3, "[601.518]");
    check_text(0.1 + 0.2, 6, "[0.3]");
    check_text(1.0 / 3, 6, "[0.333333]");
    check_text(200.0 / 3, 2, "[66.67]");
    check_text(-0.0004, 3, "[-0.0]");
    check_text(86400000601.518, 3, "[86400000601.518]");
    check_text(12, 3, "[12.0]");
    check_text(1e300, 3, "[1e300]");
    check_text(NAN, 3, "[null]");
    check_text(INFINITY, 3, "[null]");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("json");
    TCase *tests = tcase_create("json");

    tcase_add_test(tests, numbers_have_their_decimals);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
