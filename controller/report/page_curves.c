/* page_curves.c - see page_inside.h. */
#include "controller/report/page_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "controller/report/curve.h"
#include "controller/report/svg.h"

/* Curves that are set side by side. */
#define CURVES_MAX 64u

/* Drives of which a table tells their points. */
#define OWN_DRIVES_MAX 512u

static bool is_of(const json_t *phase, const json_t *first)
{
    const char *a = read_text(phase, "run"), *b = read_text(first, "run");

    return page_base_length(a) == page_base_length(b) &&
           strncmp(a, b, page_base_length(a)) == 0 &&
           strcmp(read_text(phase, "for"), read_text(first, "for")) == 0;
}

static bool is_measured(const struct page_run *run)
{
    return read_is(run->phase, "kind", "measure") &&
           read_number(json_object_get(run->phase, "total"), "iops") > 0;
}

/* A closed loop asks for more than any rate. */
static double load_of(const struct page_run *run)
{
    const json_t *rate = json_object_get(run->phase, "iorate");

    return json_is_number(rate) ? json_number_value(rate) : INFINITY;
}

static int by_load(const void *a, const void *b)
{
    double x = load_of(*(const struct page_run *const *)a);
    double y = load_of(*(const struct page_run *const *)b);

    return (x > y) - (x < y);
}

static bool was_told(const struct page *page, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (is_measured(&page->runs[i]) &&
            is_of(page->runs[i].phase, page->runs[index].phase))
            return true;
    return false;
}

static void collect(const struct page *page, size_t first,
                    struct page_curve *curve)
{
    curve->count = 0;
    for (size_t i = first; i < page->run_count; i++)
        if (is_measured(&page->runs[i]) &&
            is_of(page->runs[i].phase, page->runs[first].phase) &&
            curve->count < PAGE_CURVE_MAX)
            curve->run[curve->count++] = &page->runs[i];
    qsort(curve->run, curve->count, sizeof(curve->run[0]), by_load);
}

/* ---- One curve -------------------------------------------------------------
 */

void page_print_caption(FILE *out, const struct page_curve *curve,
                        const char *what)
{
    const json_t *phase = curve->run[0]->phase;
    const char *name = read_text(phase, "run");

    fprintf(out, "<figure><figcaption><b>%.*s</b> ",
            (int)page_base_length(name), name);
    if (read_text(phase, "for")[0] != '\0') {
        fputs("<small>", out);
        page_text(out, read_text(phase, "for"));
        fputs("</small> ", out);
    }
    fputs(what, out);
}

static void print_point(FILE *out, const char *name,
                        const struct page_curve *curve, size_t at)
{
    const json_t *total = json_object_get(curve->run[at]->phase, "total");

    fprintf(out, "<b>%s</b>: ", name);
    page_figure(out, total, "iops", PAGE_COUNT);
    fputs(" IOPS at ", out);
    page_figure(out, total, "service_us.mean", PAGE_US);
    fputs(" \302\265s mean, p99 ", out);
    page_figure(out, total, "service_us.p99", PAGE_US);
    fputs(" \302\265s (", out);
    page_run_link(out, curve->run[at]->phase);
    fputs("). ", out);
}

/* The values of a curve's points, one array each. */
struct values {
    double iops[PAGE_CURVE_MAX];
    double mib_s[PAGE_CURVE_MAX];
    double us[PAGE_LATENCIES][PAGE_CURVE_MAX];
};

static void read_values(const struct page_curve *curve, struct values *values)
{
    for (size_t i = 0; i < curve->count; i++) {
        const struct page_point *point = &curve->run[i]->total;

        values->iops[i] = point->iops;
        values->mib_s[i] = point->mib_s;
        for (int k = 0; k < PAGE_LATENCIES; k++)
            values->us[k][i] = point->us[k];
    }
}

struct look {
    const char *style;
    const char *name;
};

static const struct look looks[PAGE_LATENCIES] = {
    [PAGE_MEAN] = {"a", "mean service"},
    [PAGE_P99] = {"b", "p99 service"},
    [PAGE_P999] = {"d", "p99.9 service"},
    [PAGE_RESPONSE_P99] = {"c", "p99 response"},
    [PAGE_RESPONSE_P999] = {"e", "p99.9 response"},
};

/* All latencies over one measure of the rate. */
static void print_chart(FILE *out, const struct values *values, size_t count,
                        const double *x, const char *label)
{
    struct svg_series series[PAGE_LATENCIES];
    size_t peak = curve_peak(values->iops, count);
    size_t spike = curve_pre_spike(values->iops, values->us[PAGE_MEAN], count);
    struct svg_mark marks[2];
    struct svg_chart chart = {
        .title = "Latency over the rate",
        .x = {.label = label, .unit = SVG_COUNT, .zero = true},
        .y = {.label = "", .unit = SVG_US, .log = true, .zero = true},
        .series = series,
        .series_count = PAGE_LATENCIES,
        .marks = marks,
    };

    for (int k = 0; k < PAGE_LATENCIES; k++)
        series[k] = (struct svg_series){looks[k].style, SVG_LINE_POINTS, x,
                                        values->us[k], count};
    if (spike != CURVE_NONE && spike != peak)
        marks[chart.mark_count++] = (struct svg_mark){
            x[spike], values->us[PAGE_MEAN][spike], "pre-spike"};
    marks[chart.mark_count++] =
        (struct svg_mark){x[peak], values->us[PAGE_MEAN][peak],
                          spike == peak ? "peak, pre-spike" : "peak"};
    page_choice(out);
    svg_print(out, &chart);
    fputs("</div>", out);
}

static void print_cluster_curve(FILE *out, const struct page_curve *curve,
                                unsigned *figure)
{
    static const char *const names[] = {"over IOPS", "over MiB/s"};
    struct values values;
    size_t peak, spike;

    read_values(curve, &values);
    peak = curve_peak(values.iops, curve->count);
    spike = curve_pre_spike(values.iops, values.us[PAGE_MEAN], curve->count);
    page_print_caption(out, curve, "");
    for (int k = 0; k < PAGE_LATENCIES; k++)
        if (isfinite(curve_median(values.us[k], curve->count)))
            page_key(out, looks[k].style, looks[k].name);
    fputs("</figcaption>\n", out);
    page_choices(out, (*figure)++, names, ARRAY_LENGTH(names));
    print_chart(out, &values, curve->count, values.iops, "IOPS, measured");
    print_chart(out, &values, curve->count, values.mib_s, "MiB/s, measured");
    fputs("<p>", out);
    print_point(out, "Peak", curve, peak);
    if (spike != CURVE_NONE)
        print_point(out, "Pre-spike", curve, spike);
    else
        fputs("No spike among these points.", out);
    fputs("</p></figure>\n", out);
}

/* ---- Each drive's own curve ------------------------------------------------
 */

/* Whether drives were asked for rates of their own: curve_scope=drive. */
static bool has_own_points(const struct page_curve *curve)
{
    for (size_t i = 0; i < curve->count; i++)
        if (curve->run[i]->drives.count > 0 &&
            isfinite(curve->run[i]->drives.at[0].iorate))
            return true;
    return false;
}

static void print_own_number(FILE *out, double value, enum page_form form)
{
    fputs("<td>", out);
    if (isfinite(value))
        page_number(out, value, form);
    fputs("</td>", out);
}

static void print_own_row(FILE *out, const struct page *page,
                          const struct page_curve *curve, size_t drive)
{
    const json_t *facts =
        json_array_get(json_object_get(page->head, "drives"), drive);

    fputs("<tr><td class=\"t\">", out);
    page_text(out, read_text(facts, "host"));
    fputc(':', out);
    page_text(out, read_text(facts, "sd"));
    fputs("</td>", out);
    for (size_t i = 0; i < curve->count; i++) {
        const struct page_run *run = curve->run[i];
        static const struct page_point none = {
            .iorate = NAN, .iops = NAN, .us = {[PAGE_MEAN] = NAN}};
        const struct page_point *point =
            drive < run->drives.count ? &run->drives.at[drive] : &none;

        print_own_number(out, point->iorate, PAGE_COUNT);
        print_own_number(out, point->iops, PAGE_COUNT);
        print_own_number(out, point->us[PAGE_MEAN], PAGE_US);
    }
    fputs("</tr>\n", out);
}

static void print_own_points(FILE *out, const struct page *page,
                             const struct page_curve *curve)
{
    size_t drives = curve->run[0]->drives.count;

    page_print_caption(
        out, curve,
        "each drive at percentages of its own maximum: IOPS asked, "
        "IOPS, mean service \302\265s");
    fputs("</figcaption><div class=\"wide\"><table><thead><tr>"
          "<th class=\"t\">Drive</th>",
          out);
    for (size_t i = 0; i < curve->count; i++) {
        fputs("<th colspan=\"3\">", out);
        page_run_link(out, curve->run[i]->phase);
        fputs("</th>", out);
    }
    fputs("</tr></thead><tbody>\n", out);
    for (size_t d = 0; d < drives && d < OWN_DRIVES_MAX; d++)
        print_own_row(out, page, curve, d);
    fputs("</tbody></table></div></figure>\n", out);
}

static bool print_curve(const struct page *page, FILE *out,
                        const struct page_curve *curve, unsigned *figure,
                        size_t *drive_lines)
{
    bool whole;

    print_cluster_curve(out, curve, figure);
    whole = page_print_lines(out, curve, figure, drive_lines);
    if (has_own_points(curve))
        print_own_points(out, page, curve);
    return whole;
}

void page_print_curves(const struct page *page, FILE *out)
{
    struct page_curve *curves = calloc(CURVES_MAX, sizeof(*curves));
    unsigned figure = 0;
    size_t count = 0, drive_lines = 0;
    bool whole = true;

    for (size_t i = 0; curves != NULL && i < page->run_count; i++) {
        if (count == CURVES_MAX || !is_measured(&page->runs[i]) ||
            was_told(page, i))
            continue;
        collect(page, i, &curves[count]);
        count += curves[count].count > 1;
    }
    if (count > 0) {
        fputs("<h2 id=\"curves\">Latency curves</h2>\n"
              "<div class=\"figures\">\n",
              out);
        page_print_side_by_side(out, curves, count, &figure);
        for (size_t i = 0; i < count; i++)
            whole &= print_curve(page, out, &curves[i], &figure, &drive_lines);
        fprintf(out, "</div>\n<p class=\"note\">%s</p>\n", curve_rule);
        if (!whole)
            fputs("<p class=\"note\">So many drives: the later curves are not "
                  "drawn by drive, to keep this page below 5 MB. All figures "
                  "are in the CSV and JSON exports.</p>\n",
                  out);
    }
    free(curves);
}
