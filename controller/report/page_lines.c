/* page_lines.c - see page_inside.h. */
#include "controller/report/page_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "controller/report/svg.h"

/* Lines of one chart; further hosts or drives are left out. */
#define LINES_MAX 512u

/* Lines that are told apart by colour; more are thin. */
#define STYLES 5u

/* Buyers of bandwidth think in MiB/s, from transfers of 64 KiB on; figures are
 * rounded. */
#define WIDE_TRANSFER 65000.0

static const char *const styles[STYLES] = {"a", "b", "c", "d", "e"};

/* With more lines than this only the first two of `ways` may be chosen: the
 * page would not stay small enough to mail. */
#define MANY_LINES 64u

/* What may be chosen. */
static const struct {
    enum page_latency latency;
    const char *name;
} ways[] = {
    {PAGE_MEAN, "mean"},
    {PAGE_P99, "p99"},
    {PAGE_P999, "p99.9"},
    {PAGE_RESPONSE_P99, "response p99"},
    {PAGE_RESPONSE_P999, "response p99.9"},
};

/* The lines of a chart: point `i` of line `line`, or NULL. */
struct lines {
    size_t count;
    size_t marked; /* the one that stands out; SIZE_MAX: by colours */
    bool wide;     /* over MiB/s */
    const struct page_point *(*point)(const void *source, size_t line,
                                      size_t i);
    size_t (*length)(const void *source, size_t line);
    const void *source;
};

static const struct page_point *point_at(const struct lines *lines, size_t line,
                                         size_t i)
{
    static const struct page_point none = {
        .iops = NAN,
        .mib_s = NAN,
        .us = {NAN, NAN, NAN, NAN, NAN},
    };
    const struct page_point *point = lines->point(lines->source, line, i);

    return point != NULL ? point : &none;
}

static bool is_shown(const struct lines *lines, size_t way)
{
    enum page_latency latency = ways[way].latency;

    if (lines->count > MANY_LINES && way >= 2)
        return false;
    for (size_t line = 0; line < lines->count; line++)
        for (size_t i = 0; i < lines->length(lines->source, line); i++)
            if (isfinite(point_at(lines, line, i)->us[latency]))
                return true;
    return false;
}

static const char *style_of(const struct lines *lines, size_t line)
{
    if (lines->marked == line)
        return "odd";
    return lines->marked == SIZE_MAX && lines->count <= STYLES ? styles[line]
                                                               : "thin";
}

/* Fills x and y of each line; the one that stands out is drawn last. */
static size_t fill_series(const struct lines *lines, enum page_latency latency,
                          struct svg_series *series, double *values)
{
    size_t count = lines->count < LINES_MAX ? lines->count : LINES_MAX;

    for (size_t line = 0; line < count; line++) {
        size_t length = lines->length(lines->source, line);
        double *x = values + 2 * PAGE_CURVE_MAX * line;
        double *y = x + PAGE_CURVE_MAX;

        for (size_t i = 0; i < length; i++) {
            const struct page_point *point = point_at(lines, line, i);

            x[i] = lines->wide ? point->mib_s : point->iops;
            y[i] = point->us[latency];
        }
        series[line] =
            (struct svg_series){style_of(lines, line), SVG_LINE, x, y, length};
    }
    if (lines->marked < count) {
        struct svg_series last = series[lines->marked];

        series[lines->marked] = series[count - 1];
        series[count - 1] = last;
    }
    return count;
}

/* The choices that have something to show, and a chart for each. */
static void print_charts(FILE *out, const struct lines *lines, unsigned figure)
{
    struct svg_series *series = calloc(LINES_MAX, sizeof(*series));
    double *values =
        calloc((size_t)2 * PAGE_CURVE_MAX * LINES_MAX, sizeof(*values));
    struct svg_chart chart = {
        .title = "Latency over the rate, a line each",
        .x = {.label = lines->wide ? "MiB/s" : "IOPS",
              .unit = SVG_COUNT,
              .zero = true},
        .y = {.label = "", .unit = SVG_US, .log = true, .zero = true},
        .series = series,
    };
    const char *names[ARRAY_LENGTH(ways)];
    size_t count = 0;

    for (size_t i = 0; i < ARRAY_LENGTH(ways); i++)
        if (is_shown(lines, i))
            names[count++] = ways[i].name;
    page_choices(out, figure, names, count);
    for (size_t i = 0; i < ARRAY_LENGTH(ways); i++) {
        if (!is_shown(lines, i) || series == NULL || values == NULL)
            continue;
        chart.series_count =
            fill_series(lines, ways[i].latency, series, values);
        page_choice(out);
        svg_print(out, &chart);
        fputs("</div>", out);
    }
    fputs("</figure>\n", out);
    free(series);
    free(values);
}

static bool is_wide(const struct page_curve *curve)
{
    const struct page_point *last = &curve->run[curve->count - 1]->total;

    return last->mib_s * 1048576 / last->iops >= WIDE_TRANSFER;
}

/* ---- Hosts and drives ------------------------------------------------------
 */

static size_t curve_length(const void *source, size_t line)
{
    const struct page_curve *curve = source;

    (void)line;
    return curve->count;
}

static const struct page_point *nth(const struct page_points *points,
                                    size_t line)
{
    return line < points->count ? &points->at[line] : NULL;
}

static const struct page_point *host_point(const void *source, size_t line,
                                           size_t i)
{
    return nth(&((const struct page_curve *)source)->run[i]->hosts, line);
}

static const struct page_point *drive_point(const void *source, size_t line,
                                            size_t i)
{
    return nth(&((const struct page_curve *)source)->run[i]->drives, line);
}

/* The one with the highest mean at the highest load. */
static size_t slowest(const struct lines *lines, size_t last)
{
    size_t slow = SIZE_MAX;
    double most = -1;

    for (size_t line = 0; line < lines->count; line++) {
        double mean = point_at(lines, line, last)->us[PAGE_MEAN];

        if (isfinite(mean) && mean > most) {
            most = mean;
            slow = line;
        }
    }
    return slow;
}

static void print_scope(FILE *out, const struct page_curve *curve,
                        struct lines *lines, const char *what, unsigned *figure)
{
    if (lines->count < 2)
        return;
    lines->marked = slowest(lines, curve->count - 1);
    page_print_caption(out, curve, what);
    if (lines->marked != SIZE_MAX) {
        const char *name =
            point_at(lines, lines->marked, curve->count - 1)->name;

        fputs(" <span class=\"key odd\">slowest: ", out);
        page_text(out, name != NULL ? name : "");
        fputs("</span>", out);
    }
    fputs("</figcaption>\n", out);
    print_charts(out, lines, (*figure)++);
}

bool page_print_lines(FILE *out, const struct page_curve *curve,
                      unsigned *figure, size_t *drive_lines)
{
    const struct page_run *last = curve->run[curve->count - 1];
    struct lines lines = {
        .wide = is_wide(curve),
        .length = curve_length,
        .source = curve,
        .point = host_point,
        .count = last->hosts.count,
    };

    print_scope(out, curve, &lines, "by host", figure);
    lines.point = drive_point;
    lines.count = last->drives.count;
    if (lines.count > PAGE_DRIVE_LINES_MAX - *drive_lines)
        return false;
    *drive_lines += lines.count;
    print_scope(out, curve, &lines, "by drive", figure);
    return true;
}

/* ---- Curves ----------------------------------------------------------------
 */

static size_t side_length(const void *source, size_t line)
{
    return ((const struct page_curve *)source)[line].count;
}

static const struct page_point *side_point(const void *source, size_t line,
                                           size_t i)
{
    return &((const struct page_curve *)source)[line].run[i]->total;
}

void page_print_side_by_side(FILE *out, const struct page_curve *curves,
                             size_t count, unsigned *figure)
{
    struct lines lines = {
        .count = count,
        .marked = SIZE_MAX,
        .wide = true,
        .length = side_length,
        .point = side_point,
        .source = curves,
    };

    if (count < 2)
        return;
    for (size_t i = 0; i < count; i++)
        lines.wide = lines.wide && is_wide(&curves[i]);
    fputs("<figure><figcaption><b>All curves</b>", out);
    for (size_t i = 0; count <= STYLES && i < count; i++) {
        const json_t *phase = curves[i].run[0]->phase;
        const char *run = read_text(phase, "run");
        char name[256];

        (void)snprintf(name, sizeof(name), "%.*s %s",
                       (int)page_base_length(run), run,
                       read_text(phase, "for"));
        fprintf(out, " <span class=\"key %s\">", styles[i]);
        page_text(out, name);
        fputs("</span>", out);
    }
    fputs("</figcaption>\n", out);
    print_charts(out, &lines, (*figure)++);
}
