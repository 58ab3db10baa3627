/* The report page: what must be told is told, and nothing leaks into it. */
#include "controller/report/page.h"

#include "controller/report/svg.h"
#include "tests/support/suite.h"
#include "tests/unit/report/pieces.h"

#include <math.h>

static char *text;

static void render(json_t *head, json_t **phases, size_t count)
{
    struct page *page = page_new();
    struct diag diag = {0};
    size_t size;
    FILE *out = open_memstream(&text, &size);

    ck_assert_ptr_nonnull(page);
    give_head(page_sink(page), head);
    for (size_t i = 0; i < count; i++)
        give_phase(page_sink(page), phases[i]);
    ck_assert_int_eq(page_write(page, out, &diag), 0);
    fclose(out);
    (void)page_free(page);
    json_decref(head);
    for (size_t i = 0; i < count; i++)
        json_decref(phases[i]);
}

static void has(const char *word)
{
    ck_assert_msg(strstr(text, word) != NULL, "no '%s' in the page", word);
}

START_TEST(the_verdict_comes_first)
{
    json_t *phase = phase_of(1, "rd1", "\"max\"", "");

    render(head_of("degraded", "\"1 of 2 hosts was lost\"", 1), &phase, 1);
    has("degraded");
    has("1 of 2 hosts was lost");
    ck_assert(strstr(text, "1 of 2 hosts") < strstr(text, "What to look at"));
    ck_assert(strstr(text, "What to look at") < strstr(text, "All runs"));
    free(text);
}
END_TEST

START_TEST(it_needs_nothing_else)
{
    json_t *phase = phase_of(1, "rd1", "\"max\"", "");

    render(head_of("complete", "null", 1), &phase, 1);
    ck_assert_ptr_null(strstr(text, "http:"));
    ck_assert_ptr_null(strstr(text, "https:"));
    ck_assert_ptr_null(strstr(text, "<script"));
    ck_assert_ptr_null(strstr(text, "<link"));
    ck_assert_ptr_null(strstr(text, "src="));
    ck_assert_ptr_null(strstr(text, "@import"));
    ck_assert_ptr_null(strstr(text, "url("));
    has("prefers-color-scheme:dark");
    has("@media print");
    has("</html>");
    free(text);
}
END_TEST

START_TEST(names_are_text_and_not_markup)
{
    json_t *phase = phase_of(1, "<script>alert(1)</script>", "\"max\"", "");

    render(head_of("complete", "null", 1), &phase, 1);
    ck_assert_ptr_null(strstr(text, "<script>"));
    has("&lt;script&gt;");
    has("a &lt;b&gt;.parm");
    free(text);
}
END_TEST

START_TEST(figures_have_the_documents_digits)
{
    json_t *phase = phase_of(1, "rd1", "\"max\"", "");

    render(head_of("complete", "null", 1), &phase, 1);
    has("<data value=\"1500.125\">1,500</data>");
    has("<data value=\"1234.567\">1,235</data>");
    has("<data value=\"100.5\">100</data>");
    ck_assert_ptr_null(strstr(text, "nan"));
    ck_assert_ptr_null(strstr(text, "inf<"));
    free(text);
}
END_TEST

START_TEST(what_went_wrong_is_never_hidden)
{
    json_t *phase = phase_of(1, "rd1", "\"max\"", "");

    json_object_set_new(
        phase, "lost",
        parsed("[{\"host\":\"h9\",\"from_interval\":3,\"reason\":\"its link "
               "ended\"}]"));
    json_object_set_new(
        phase, "stuck",
        parsed("[{\"name\":\"h1:sd1\",\"op\":\"write\",\"offset\":8192}]"));
    json_object_set_new(phase, "idle_drives", parsed("[\"h1:sd7\"]"));
    json_object_set_new(phase, "overlap_low", json_true());
    json_object_set_new(phase, "overlap_pct", json_real(33.3));
    json_object_set_new(
        phase, "failures",
        parsed(
            "{\"count\":12,\"kinds\":[{\"name\":\"h1:sd1\",\"op\":\"read\","
            "\"code\":\"EIO\",\"error\":\"Input/output error\",\"count\":12}],"
            "\"first\":[{\"name\":\"h1:sd1\",\"op\":\"read\",\"code\":\"EIO\","
            "\"offset\":40960,\"length\":4096,\"at_s\":1.5}]}"));
    json_object_set_new(json_object_get(phase, "total"), "response_lower_bound",
                        json_true());
    json_object_set_new(json_object_get(phase, "total"), "unissued",
                        json_integer(77));
    render(head_of("degraded", "\"x\"", 1), &phase, 1);
    has("<b>h9</b> was lost in interval 3: its link ended");
    has("1 request never came back, the first a write on <b>h1:sd1</b>");
    has("1 drive did no I/O: h1:sd7");
    has("12 I/O errors");
    has("12 reads on h1:sd1: EIO (Input/output error)");
    has("read of 4096 bytes at 40960 on h1:sd1: EIO, 1.500000 s after");
    has("77 arrivals");
    has("33.30 % of the window");
    free(text);
}
END_TEST

START_TEST(a_phase_that_measured_nothing_says_so)
{
    json_t *phase = phase_of(1, "rd1", "\"max\"", "");

    json_object_set_new(phase, "total", json_null());
    json_object_set_new(phase, "verdict", json_string("failed"));
    json_object_set_new(phase, "error", json_string("no such drive"));
    render(head_of("failed", "\"no such drive\"", 1), &phase, 1);
    has("Nothing was measured");
    has("no such drive");
    free(text);
}
END_TEST

static json_t *drives_with_one_slow(void)
{
    json_t *drives = json_array();

    for (int i = 0; i < 24; i++) {
        json_t *drive = parsed_of("{\"name\":\"h1:sd%d\",\"host\":\"h1\","
                                  "\"sd\":\"sd%d\"," FIGURES "}",
                                  i, i);

        if (i == 13)
            json_object_set_new(json_object_get(drive, "service_us"), "p99",
                                json_real(900));
        json_array_append_new(drives, drive);
    }
    return drives;
}

START_TEST(outliers_are_named)
{
    json_t *phase = phase_of(1, "rd1", "\"max\"", "");

    json_object_set_new(phase, "drives", drives_with_one_slow());
    render(head_of("complete", "null", 1), &phase, 1);
    has("outlier <b>h1:sd13</b>: p99 service 900 \302\265s against a median of "
        "200");
    has("16 of 24 are listed");
    has("An outlier is further from the median");
    free(text);
}
END_TEST

static json_t *point(int number, const char *run, const char *rate, double iops,
                     double mean)
{
    json_t *phase = phase_of(number, run, rate, "");
    json_t *total = json_object_get(phase, "total");

    json_object_set_new(total, "iops", json_real(iops));
    json_object_set_new(json_object_get(total, "service_us"), "mean",
                        json_real(mean));
    return phase;
}

START_TEST(curves_have_their_points_and_the_rule)
{
    json_t *phases[] = {
        point(1, "rd1", "\"curve\"", 1000, 900),
        point(2, "rd1_(50%)", "500.0", 501, 100),
        point(3, "rd1_(80%)", "800.0", 799, 120),
        point(4, "other", "\"max\"", 5, 5),
    };

    render(head_of("complete", "null", 4), phases, 4);
    has("Latency curves");
    has("<b>Peak</b>: <data value=\"1000\">1,000</data> IOPS");
    has("<b>Pre-spike</b>: <data value=\"799\">799</data> IOPS");
    has("Peak is the point of the highest IOPS.");
    free(text);
}
END_TEST

static json_t *item(const char *name, double iops, double mean)
{
    return parsed_of("{\"name\":\"%s\",\"iops\":%.1f,\"mib_s\":%.1f,"
                     "\"service_us\":{\"mean\":%.1f,\"p99\":%.1f,"
                     "\"p999\":null}}",
                     name, iops, iops * 16, mean, 3 * mean);
}

/* The choices that a reader has: as many as the charts behind them. */
START_TEST(curves_have_lines_of_hosts_and_drives_and_of_each_other)
{
    json_t *phases[] = {
        point(1, "rd1", "\"curve\"", 1000, 900),
        point(2, "rd1_(50%)", "500.0", 501, 100),
        point(3, "rd2", "\"curve\"", 1200, 900),
        point(4, "rd2_(50%)", "600.0", 601, 100),
    };
    size_t choices = 0, charts = 0;

    for (int i = 0; i < 2; i++) {
        json_object_set_new(
            phases[i], "hosts",
            json_pack("[o,o]", item("h<1", 500, 100), item("h2", 400, 300)));
        json_object_set_new(phases[i], "drives",
                            json_pack("[o,o]", item("h1:sd1", 500, 400),
                                      item("h2:sd2", 400, 300)));
    }
    render(head_of("complete", "null", 4), phases, 4);
    has("over IOPS");
    has("over MiB/s");
    has("All curves");
    has("<span class=\"key a\">rd1 ");
    has("by host <span class=\"key odd\">slowest: h2");
    has("by drive <span class=\"key odd\">slowest: h1:sd1");
    for (const char *at = text; (at = strstr(at, "<input type=\"radio\""));
         at++)
        choices++;
    for (const char *at = text; (at = strstr(at, "class=\"choice\"")); at++)
        charts++;
    ck_assert_uint_gt(choices, 8);
    ck_assert_uint_eq(choices, charts);
    free(text);
}
END_TEST

/* curve_scope=drive: what each drive was asked for, beside what it did. */
START_TEST(drives_with_points_of_their_own_have_a_table)
{
    json_t *phases[] = {
        point(1, "rd1", "\"curve\"", 1000, 900),
        point(2, "rd1_(50%)", "500.0", 501, 100),
    };

    json_object_set_new(
        phases[0], "drives",
        parsed_of("[{\"name\":\"h1:sd1\",\"iops\":1000.0,\"service_us\":"
                  "{\"mean\":900.0}}]"));
    json_object_set_new(
        phases[1], "drives",
        parsed_of("[{\"name\":\"h1:sd1\",\"iorate\":498.5,\"iops\":501.0,"
                  "\"service_us\":{\"mean\":100.0}}]"));
    render(head_of("complete", "null", 2), phases, 2);
    has("each drive at percentages of its own maximum");
    has("<td class=\"t\">h1:sd1</td>");
    has("498");
    free(text);
}
END_TEST

START_TEST(many_runs_stay_below_five_megabytes)
{
    enum { RUNS = 900 };
    static json_t *phases[RUNS];
    json_t *intervals = json_array();

    for (int i = 1; i <= 60; i++)
        json_array_append_new(
            intervals,
            parsed_of("{\"interval\":%d,\"kind\":\"measured\",\"spans\":1,"
                      "\"hosts\":1,\"hosts_expected\":1,\"figures\":{" FIGURES
                      "}}",
                      i));
    for (int i = 0; i < RUNS; i++) {
        phases[i] = phase_of(i + 1, "rd1", "\"max\"", "");
        json_object_set(phases[i], "intervals", intervals);
    }
    json_decref(intervals);
    render(head_of("complete", "null", RUNS), phases, RUNS);
    ck_assert_uint_lt(strlen(text), 5u << 20);
    has("id=\"run900\"");
    free(text);
}
END_TEST

START_TEST(two_hundred_runs_of_240_drives)
{
    enum { RUNS = 200, DRIVES = 240 };
    static json_t *phases[RUNS];
    json_t *intervals = json_array(), *drives = json_array();

    for (int i = 1; i <= 60; i++)
        json_array_append_new(
            intervals,
            parsed_of("{\"interval\":%d,\"kind\":\"measured\",\"spans\":1,"
                      "\"hosts\":1,\"hosts_expected\":1,\"figures\":{" FIGURES
                      "}}",
                      i));
    for (int i = 0; i < DRIVES; i++) {
        json_t *drive = parsed_of("{\"name\":\"h1:sd%d\"," FIGURES "}", i);

        json_object_set_new(drive, "iops", json_real(1000 + i));
        json_array_append_new(drives, drive);
    }
    for (int i = 0; i < RUNS; i++) {
        char run[32];

        (void)snprintf(run, sizeof(run), "rd%d_(%d%%)", i / 10, i % 10 * 10);
        phases[i] = phase_of(i + 1, run, "\"max\"", "");
        json_object_set(phases[i], "intervals", intervals);
        json_object_set(phases[i], "drives", drives);
    }
    json_decref(intervals);
    json_decref(drives);
    render(head_of("complete", "null", RUNS), phases, RUNS);
    ck_assert_uint_lt(strlen(text), 5000000);
    ck_assert_ptr_nonnull(strstr(text, "by drive"));
    ck_assert_ptr_nonnull(strstr(text, "not drawn by drive"));
    if (getenv("PAGE_OUT") != NULL) {
        FILE *file = fopen(getenv("PAGE_OUT"), "w");

        fputs(text, file);
        fclose(file);
    }
    free(text);
}
END_TEST

START_TEST(charts_take_what_is_not_there)
{
    const double x[] = {NAN, NAN}, y[] = {NAN, INFINITY};
    const double one[] = {5}, zero[] = {0};
    const struct svg_series none[] = {{"a", SVG_LINE_POINTS, x, y, 2}};
    const struct svg_series single[] = {{"a", SVG_LINE_POINTS, one, zero, 1}};
    struct svg_chart chart = {.title = "t",
                              .x = {.label = "x", .log = true},
                              .y = {.label = "y", .log = true},
                              .series = none,
                              .series_count = 1};
    size_t size;
    FILE *out = open_memstream(&text, &size);

    svg_print(out, &chart);
    chart.series = single;
    svg_print(out, &chart);
    chart.series_count = 0;
    svg_print(out, &chart);
    fclose(out);
    ck_assert_ptr_null(strstr(text, "nan"));
    ck_assert_ptr_null(strstr(text, "inf"));
    free(text);
}
END_TEST

START_TEST(ticks)
{
    char tick[SVG_TICK_SIZE];

    ck_assert_str_eq(svg_tick(1500, SVG_COUNT, tick), "1.5k");
    ck_assert_str_eq(svg_tick(2e6, SVG_COUNT, tick), "2M");
    ck_assert_str_eq(svg_tick(1500, SVG_US, tick), "1.5 ms");
    ck_assert_str_eq(svg_tick(80, SVG_US, tick), "80 \302\265s");
    ck_assert_str_eq(svg_tick(3e6, SVG_US, tick), "3 s");
    ck_assert_str_eq(svg_tick(0, SVG_US, tick), "0");
    ck_assert_str_eq(svg_tick(5, SVG_PERCENT, tick), "5 %");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("page");
    TCase *tests = tcase_create("page");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, the_verdict_comes_first);
    tcase_add_test(tests, it_needs_nothing_else);
    tcase_add_test(tests, names_are_text_and_not_markup);
    tcase_add_test(tests, figures_have_the_documents_digits);
    tcase_add_test(tests, what_went_wrong_is_never_hidden);
    tcase_add_test(tests, a_phase_that_measured_nothing_says_so);
    tcase_add_test(tests, outliers_are_named);
    tcase_add_test(tests, curves_have_their_points_and_the_rule);
    tcase_add_test(tests, drives_with_points_of_their_own_have_a_table);
    tcase_add_test(tests,
                   curves_have_lines_of_hosts_and_drives_and_of_each_other);
    tcase_add_test(tests, many_runs_stay_below_five_megabytes);
    tcase_add_test(tests, two_hundred_runs_of_240_drives);
    tcase_add_test(tests, charts_take_what_is_not_there);
    tcase_add_test(tests, ticks);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
