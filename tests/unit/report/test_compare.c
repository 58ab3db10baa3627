/* Campaigns beside each other: what matches, what is tested, what breaks. */
#include "controller/report/compare.h"

#include "controller/report/read.h"
#include "tests/support/suite.h"
#include "tests/unit/report/pieces.h"

static struct compare *compare;
static json_t *document;
static enum compare_outcome outcome;

static void begin_side(const char *name)
{
    struct diag diag = {0};
    json_t *head = head_of("complete", "null", 1);

    if (compare == NULL)
        compare = compare_new();
    ck_assert_int_eq(compare_begin_side(compare, name, &diag), 0);
    give_head(compare_sink(compare), head);
    json_decref(head);
}

static void add_run(const char *run, double iops, double p99)
{
    json_t *phase = phase_of(1, run, "\"max\"",
                             ",\"drives\":[{\"name\":\"h1:sd1\"," FIGURES "}]");
    json_t *total = json_object_get(phase, "total");

    json_object_set_new(total, "iops", json_real(iops));
    json_object_set_new(json_object_get(total, "service_us"), "p99",
                        p99 > 0 ? json_real(p99) : json_null());
    give_phase(compare_sink(compare), phase);
    json_decref(phase);
}

static void finish(const char *bound_text)
{
    struct bound bound;
    struct diag diag;

    if (bound_text != NULL)
        ck_assert_int_eq(bound_parse(bound_text, &bound, &diag), 0);
    document =
        compare_document(compare, &bound, bound_text != NULL ? 1 : 0, &outcome);
    ck_assert_ptr_nonnull(document);
    compare = compare_free(compare);
}

static const json_t *change_of(const char *figure)
{
    const json_t *match =
        json_array_get(json_object_get(document, "matches"), 0);
    const json_t *changes = json_object_get(match, "changes");

    for (size_t i = 0; i < json_array_size(changes); i++)
        if (read_is(json_array_get(changes, i), "figure", figure))
            return json_array_get(changes, i);
    ck_abort_msg("no change of %s", figure);
}

START_TEST(below_three_runs_the_difference_is_not_tested)
{
    begin_side("1");
    add_run("rd1", 1000, 200);
    add_run("rd1", 1000, 200);
    begin_side("2");
    add_run("rd1", 900, 220);
    add_run("rd1", 900, 220);
    finish(NULL);
    ck_assert_double_eq(read_number(change_of("iops"), "change_pct"), -10);
    ck_assert_str_eq(read_text(change_of("iops"), "verdict"), "not tested");
    ck_assert(json_is_null(json_object_get(change_of("iops"), "p_value")));
    ck_assert_int_eq(read_count(change_of("iops"), "base.runs"), 2);
    json_decref(document);
}
END_TEST

START_TEST(three_runs_a_side_are_tested)
{
    begin_side("1");
    for (int i = 0; i < 3; i++)
        add_run("rd1", 1000 + i, 200 + 40 * i);
    begin_side("2");
    for (int i = 0; i < 3; i++)
        add_run("rd1", 1100 + i, 210 + 40 * i);
    finish(NULL);
    ck_assert_str_eq(read_text(change_of("iops"), "verdict"), "higher");
    ck_assert_str_eq(read_text(change_of("p99"), "verdict"),
                     "no difference shown");
    ck_assert_ptr_nonnull(strstr(read_text(document, "method"), "Welch"));
    json_decref(document);
}
END_TEST

START_TEST(runs_match_by_name_and_values)
{
    json_t *phase;

    begin_side("1");
    add_run("rd1", 1000, 200);
    add_run("rd2", 1000, 200);
    begin_side("2");
    add_run("rd1", 1000, 200);
    phase = phase_of(2, "rd2", "\"max\"", "");
    json_object_set_new(phase, "threads", json_string("16"));
    give_phase(compare_sink(compare), phase);
    json_decref(phase);
    finish(NULL);
    ck_assert_uint_eq(json_array_size(json_object_get(document, "matches")), 1);
    ck_assert_uint_eq(json_array_size(json_object_get(document, "unmatched")),
                      2);
    json_decref(document);
}
END_TEST

START_TEST(failed_runs_are_left_out_and_named)
{
    json_t *phase = phase_of(1, "rd1", "\"max\"", "");

    begin_side("1");
    add_run("rd1", 1000, 200);
    begin_side("2");
    json_object_set_new(phase, "verdict", json_string("failed"));
    give_phase(compare_sink(compare), phase);
    finish("iops < -5%");
    ck_assert_uint_eq(json_array_size(json_object_get(document, "left_out")),
                      1);
    ck_assert_int_eq(outcome, COMPARE_UNKNOWN);
    json_decref(phase);
    json_decref(document);
}
END_TEST

static void two_sides(double p99, const char *bound)
{
    begin_side("1");
    add_run("rd1", 1000, 200);
    begin_side("2");
    add_run("rd1", 1000, p99);
    finish(bound);
    json_decref(document);
}

START_TEST(bounds)
{
    two_sides(221, "p99 > +10%");
    ck_assert_int_eq(outcome, COMPARE_BROKEN);
    two_sides(220, "p99 > +10%");
    ck_assert_int_eq(outcome, COMPARE_KEPT);
    two_sides(0, "p99 > +10%"); /* too few I/Os for it */
    ck_assert_int_eq(outcome, COMPARE_UNKNOWN);
    two_sides(250, "p99 > 240");
    ck_assert_int_eq(outcome, COMPARE_BROKEN);
    two_sides(250, NULL);
    ck_assert_int_eq(outcome, COMPARE_KEPT);
    two_sides(250, "response.p99 > 1%"); /* none has one */
    ck_assert_int_eq(outcome, COMPARE_UNKNOWN);
}
END_TEST

START_TEST(one_repeat_without_the_figure_is_unknown)
{
    begin_side("1");
    add_run("rd1", 1000, 200);
    begin_side("2");
    add_run("rd1", 1000, 200);
    add_run("rd1", 1000, 0);
    finish("p99 > +10%");
    ck_assert_int_eq(outcome, COMPARE_UNKNOWN);
    json_decref(document);
}
END_TEST

START_TEST(drives_are_ranked_over_sides)
{
    const json_t *drives;

    begin_side("1");
    add_run("rd1", 1000, 200);
    begin_side("2");
    add_run("rd1", 1000, 200);
    finish(NULL);
    drives = json_object_get(
        json_array_get(json_object_get(document, "rankings"), 0), "drives");
    ck_assert_uint_eq(json_array_size(drives), 2);
    ck_assert_int_eq(read_count(json_array_get(drives, 0), "rank"), 1);
    ck_assert_str_eq(read_text(json_array_get(drives, 0), "model"), "M1");
    ck_assert_double_eq(read_number(json_array_get(drives, 1), "iops"),
                        1500.125);
    json_decref(document);
}
END_TEST

START_TEST(sides_are_limited)
{
    struct diag diag = {0};

    for (unsigned i = 0; i < COMPARE_SIDES_MAX; i++)
        begin_side("x");
    ck_assert_int_lt(compare_begin_side(compare, "y", &diag), 0);
    ck_assert_ptr_nonnull(strstr(diag.text, "'y'"));
    compare = compare_free(compare);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("compare");
    TCase *tests = tcase_create("compare");

    tcase_add_test(tests, below_three_runs_the_difference_is_not_tested);
    tcase_add_test(tests, three_runs_a_side_are_tested);
    tcase_add_test(tests, runs_match_by_name_and_values);
    tcase_add_test(tests, failed_runs_are_left_out_and_named);
    tcase_add_test(tests, bounds);
    tcase_add_test(tests, one_repeat_without_the_figure_is_unknown);
    tcase_add_test(tests, drives_are_ranked_over_sides);
    tcase_add_test(tests, sides_are_limited);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
