/* page_curves.c - see page_inside.h. */
#include "controller/report/page_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "controller/report/curve.h"
#include "controller/report/svg.h"

/* Points of one curve, and lines of one chart by drive. */
#define CURVE_POINTS_MAX 64u
#define CURVE_DRIVES_MAX 512u

/* The runs of one curve, in order of the load asked for. */
struct group {
    const struct page_run *run[CURVE_POINTS_MAX];
    size_t count;
    double iops[CURVE_POINTS_MAX];
    double mean[CURVE_POINTS_MAX];
    double p99[CURVE_POINTS_MAX];
    double response[CURVE_POINTS_MAX]; /* p99 */
};

/* "rd1" of "rd1_(50%)". */
static size_t base_length(const char *run)
{
    const char *end = strstr(run, "_(");

    return end != NULL ? (size_t)(end - run) : strlen(run);
}

static bool is_of(const json_t *phase, const json_t *first)
{
    const char *a = read_text(phase, "run"), *b = read_text(first, "run");

    return base_length(a) == base_length(b) &&
           strncmp(a, b, base_length(a)) == 0 &&
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

static void collect(const struct page *page, size_t first, struct group *group)
{
    group->count = 0;
    for (size_t i = first; i < page->run_count; i++)
        if (is_measured(&page->runs[i]) &&
            is_of(page->runs[i].phase, page->runs[first].phase) &&
            group->count < CURVE_POINTS_MAX)
            group->run[group->count++] = &page->runs[i];
    qsort(group->run, group->count, sizeof(group->run[0]), by_load);
    for (size_t i = 0; i < group->count; i++) {
        const json_t *total = json_object_get(group->run[i]->phase, "total");

        group->iops[i] = read_number(total, "iops");
        group->mean[i] = read_number(total, "service_us.mean");
        group->p99[i] = read_number(total, "service_us.p99");
        group->response[i] = read_number(total, "response_us.p99");
    }
}

/* ---- One curve -------------------------------------------------------------
 */

static void print_caption(FILE *out, const struct group *group,
                          const char *what)
{
    const json_t *phase = group->run[0]->phase;
    const char *name = read_text(phase, "run");

    fprintf(out, "<figure><figcaption><b>%.*s</b> ", (int)base_length(name),
            name);
    if (read_text(phase, "for")[0] != '\0') {
        fputs("<small>", out);
        page_text(out, read_text(phase, "for"));
        fputs("</small> ", out);
    }
    fputs(what, out);
}

static void print_point(FILE *out, const char *name, const struct group *group,
                        size_t at)
{
    const json_t *total = json_object_get(group->run[at]->phase, "total");

    fprintf(out, "<b>%s</b>: ", name);
    page_figure(out, total, "iops", PAGE_COUNT);
    fputs(" IOPS at ", out);
    page_figure(out, total, "service_us.mean", PAGE_US);
    fputs(" \302\265s mean, p99 ", out);
    page_figure(out, total, "service_us.p99", PAGE_US);
    fputs(" \302\265s (", out);
    page_run_link(out, group->run[at]->phase);
    fputs("). ", out);
}

static void print_cluster_curve(FILE *out, const struct group *group)
{
    size_t peak = curve_peak(group->iops, group->count);
    size_t spike = curve_pre_spike(group->iops, group->mean, group->count);
    const struct svg_series series[] = {
        {"a", SVG_LINE_POINTS, group->iops, group->mean, group->count},
        {"b", SVG_LINE_POINTS, group->iops, group->p99, group->count},
        {"c", SVG_LINE_POINTS, group->iops, group->response, group->count},
    };
    struct svg_mark marks[2];
    struct svg_chart chart = {
        .title = "Latency over IOPS",
        .x = {.label = "IOPS, measured", .unit = SVG_COUNT, .zero = true},
        .y = {.label = "", .unit = SVG_US, .log = true, .zero = true},
        .series = series,
        .series_count = ARRAY_LENGTH(series),
        .marks = marks,
    };

    if (spike != CURVE_NONE && spike != peak)
        marks[chart.mark_count++] = (struct svg_mark){
            group->iops[spike], group->mean[spike], "pre-spike"};
    marks[chart.mark_count++] =
        (struct svg_mark){group->iops[peak], group->mean[peak],
                          spike == peak ? "peak, pre-spike" : "peak"};
    print_caption(out, group, "");
    page_key(out, "a", "mean service");
    page_key(out, "b", "p99 service");
    if (isfinite(curve_median(group->response, group->count)))
        page_key(out, "c", "p99 response");
    fputs("</figcaption>", out);
    svg_print(out, &chart);
    fputs("<p>", out);
    print_point(out, "Peak", group, peak);
    if (spike != CURVE_NONE)
        print_point(out, "Pre-spike", group, spike);
    else
        fputs("No spike among these points.", out);
    fputs("</p></figure>\n", out);
}

/* One line a drive; the slowest at the highest load is named. */
static size_t slowest_drive(const struct group *group)
{
    const struct page_run *last = group->run[group->count - 1];
    size_t slowest = CURVE_NONE;

    for (size_t d = 0; d < last->drive_count; d++)
        if (isfinite(last->drives[d].mean_us) &&
            (slowest == CURVE_NONE ||
             last->drives[d].mean_us > last->drives[slowest].mean_us))
            slowest = d;
    return slowest;
}

struct drive_lines {
    struct svg_series series[CURVE_DRIVES_MAX];
    double *values; /* x and y of each */
    size_t count;
};

static void add_line(struct drive_lines *lines, const struct group *group,
                     size_t drive, const char *style)
{
    double *x = lines->values + 2 * CURVE_POINTS_MAX * lines->count;
    double *y = x + CURVE_POINTS_MAX;

    for (size_t i = 0; i < group->count; i++) {
        bool known = drive < group->run[i]->drive_count;

        x[i] = known ? group->run[i]->drives[drive].iops : NAN;
        y[i] = known ? group->run[i]->drives[drive].mean_us : NAN;
    }
    lines->series[lines->count++] =
        (struct svg_series){style, SVG_LINE, x, y, group->count};
}

static void print_drive_curve(FILE *out, const struct page *page,
                              const struct group *group,
                              struct drive_lines *lines)
{
    size_t drives = group->run[0]->drive_count;
    size_t slowest = slowest_drive(group);
    const json_t *list = json_object_get(page->head, "drives");
    struct svg_chart chart = {
        .title = "Mean service time over IOPS, by drive",
        .x = {.label = "IOPS of one drive", .unit = SVG_COUNT, .zero = true},
        .y = {.label = "", .unit = SVG_US, .log = true, .zero = true},
        .series = lines->series,
    };

    lines->count = 0;
    for (size_t d = 0; d < drives && lines->count + 1 < CURVE_DRIVES_MAX; d++)
        if (d != slowest)
            add_line(lines, group, d, "thin");
    if (slowest != CURVE_NONE)
        add_line(lines, group, slowest, "odd");
    chart.series_count = lines->count;
    print_caption(out, group, "mean service, by drive ");
    if (slowest != CURVE_NONE) {
        const json_t *drive = json_array_get(list, slowest);

        fputs("<span class=\"key odd\">slowest: ", out);
        page_text(out, read_text(drive, "host"));
        fputc(':', out);
        page_text(out, read_text(drive, "sd"));
        fputs("</span>", out);
    }
    fputs("</figcaption>", out);
    svg_print(out, &chart);
    fputs("</figure>\n", out);
}

/* ---- Each drive's own curve ------------------------------------------------
 */

/* Whether drives were asked for rates of their own: curve_scope=drive. */
static bool has_own_points(const struct group *group)
{
    for (size_t i = 0; i < group->count; i++)
        if (group->run[i]->drive_count > 0 &&
            isfinite(group->run[i]->drives[0].iorate))
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
                          const struct group *group, size_t drive)
{
    const json_t *facts =
        json_array_get(json_object_get(page->head, "drives"), drive);

    fputs("<tr><td class=\"t\">", out);
    page_text(out, read_text(facts, "host"));
    fputc(':', out);
    page_text(out, read_text(facts, "sd"));
    fputs("</td>", out);
    for (size_t i = 0; i < group->count; i++) {
        const struct page_run *run = group->run[i];
        struct page_point none = {NAN, NAN, NAN};
        const struct page_point *point =
            drive < run->drive_count ? &run->drives[drive] : &none;

        print_own_number(out, point->iorate, PAGE_COUNT);
        print_own_number(out, point->iops, PAGE_COUNT);
        print_own_number(out, point->mean_us, PAGE_US);
    }
    fputs("</tr>\n", out);
}

static void print_own_points(FILE *out, const struct page *page,
                             const struct group *group)
{
    size_t drives = group->run[0]->drive_count;

    print_caption(out, group,
                  "each drive at percentages of its own maximum: IOPS asked, "
                  "IOPS, mean service \302\265s");
    fputs("</figcaption><div class=\"wide\"><table><thead><tr>"
          "<th class=\"t\">Drive</th>",
          out);
    for (size_t i = 0; i < group->count; i++) {
        fputs("<th colspan=\"3\">", out);
        page_run_link(out, group->run[i]->phase);
        fputs("</th>", out);
    }
    fputs("</tr></thead><tbody>\n", out);
    for (size_t d = 0; d < drives && d < CURVE_DRIVES_MAX; d++)
        print_own_row(out, page, group, d);
    fputs("</tbody></table></div></figure>\n", out);
}

void page_print_curves(const struct page *page, FILE *out)
{
    struct drive_lines *lines = calloc(1, sizeof(*lines));
    double *values =
        calloc((size_t)2 * CURVE_POINTS_MAX * CURVE_DRIVES_MAX, sizeof(double));
    struct group group;
    bool any = false;

    for (size_t i = 0; i < page->run_count; i++) {
        if (!is_measured(&page->runs[i]) || was_told(page, i))
            continue;
        collect(page, i, &group);
        if (group.count < 2)
            continue;
        if (!any)
            fputs("<h2 id=\"curves\">Latency curves</h2>\n"
                  "<div class=\"figures\">\n",
                  out);
        any = true;
        print_cluster_curve(out, &group);
        if (group.run[0]->drive_count > 1 && lines != NULL && values != NULL) {
            lines->values = values;
            print_drive_curve(out, page, &group, lines);
        }
        if (has_own_points(&group))
            print_own_points(out, page, &group);
    }
    if (any)
        fprintf(out, "</div>\n<p class=\"note\">%s</p>\n", curve_rule);
    free(lines);
    free(values);
}
