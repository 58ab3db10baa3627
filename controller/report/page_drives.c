/* page_drives.c - see page_inside.h. */
#include "controller/report/page_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "controller/report/curve.h"
#include "controller/report/svg.h"

/* What is looked at among them. */
enum spread_value {
    SPREAD_IOPS,
    SPREAD_MEAN,
    SPREAD_P99,
    SPREAD_VALUES,
};

static const char *const paths[SPREAD_VALUES] = {"iops", "service_us.mean",
                                                 "service_us.p99"};
static const char *const names[SPREAD_VALUES] = {"IOPS", "mean service",
                                                 "p99 service"};

struct spread {
    const json_t *items;
    size_t count;
    double *value[SPREAD_VALUES];
    int8_t *side[SPREAD_VALUES];
    size_t *order; /* outliers first, then by p99, the slowest first */
};

static void spread_done(struct spread *s)
{
    for (int v = 0; v < SPREAD_VALUES; v++) {
        free(s->value[v]);
        free(s->side[v]);
    }
    free(s->order);
}

static bool spread_init(struct spread *s, const json_t *items)
{
    bool whole = true;

    *s = (struct spread){.items = items, .count = json_array_size(items)};
    s->order = calloc(s->count + 1, sizeof(*s->order));
    whole = s->order != NULL;
    for (int v = 0; v < SPREAD_VALUES; v++) {
        s->value[v] = calloc(s->count + 1, sizeof(double));
        s->side[v] = calloc(s->count + 1, 1);
        whole = whole && s->value[v] != NULL && s->side[v] != NULL;
    }
    for (int v = 0; whole && v < SPREAD_VALUES; v++) {
        for (size_t i = 0; i < s->count; i++)
            s->value[v][i] = read_number(json_array_get(items, i), paths[v]);
        (void)curve_outliers(s->value[v], s->count, s->side[v]);
    }
    return whole;
}

static bool is_odd(const struct spread *s, size_t i)
{
    for (int v = 0; v < SPREAD_VALUES; v++)
        if (s->side[v][i] != 0)
            return true;
    return false;
}

/* By p99, or by the mean where there is no p99. */
static double slowness(const struct spread *s, size_t i)
{
    double p99 = s->value[SPREAD_P99][i];

    return isfinite(p99) ? p99 : s->value[SPREAD_MEAN][i];
}

static bool goes_before(const struct spread *s, size_t a, size_t b)
{
    if (is_odd(s, a) != is_odd(s, b))
        return is_odd(s, a);
    return slowness(s, a) > slowness(s, b);
}

/* The first so many in order; the rest in any. */
static void sort_first(struct spread *s, size_t wanted)
{
    for (size_t i = 0; i < s->count; i++)
        s->order[i] = i;
    for (size_t k = 0; k < wanted && k < s->count; k++) {
        size_t best = k;
        size_t swap;

        for (size_t i = k + 1; i < s->count; i++)
            if (goes_before(s, s->order[i], s->order[best]))
                best = i;
        swap = s->order[k];
        s->order[k] = s->order[best];
        s->order[best] = swap;
    }
}

/* ---- Findings --------------------------------------------------------------
 */

static void find_outlier(struct page *page, const json_t *phase,
                         const struct spread *s, size_t i)
{
    FILE *out = page_finding(page, phase);
    const char *comma = "";

    fputs("outlier <b>", out);
    page_text(out, read_text(json_array_get(s->items, i), "name"));
    fputs("</b>: ", out);
    for (int v = 0; v < SPREAD_VALUES; v++) {
        if (s->side[v][i] == 0)
            continue;
        fprintf(out, "%s%s ", comma, names[v]);
        page_number(out, s->value[v][i], PAGE_US);
        fputs(v == SPREAD_IOPS ? "" : " \302\265s", out);
        fputs(" against a median of ", out);
        page_number(out, curve_median(s->value[v], s->count), PAGE_US);
        comma = ", ";
    }
    fputs("</li>\n", out);
}

static void find_outliers(struct page *page, const json_t *phase,
                          const struct spread *s)
{
    size_t told = 0, odd = 0;

    for (size_t k = 0; k < s->count; k++) {
        odd += is_odd(s, k);
        if (is_odd(s, s->order[k]) && k < PAGE_ITEMS_MAX && told++ < 4)
            find_outlier(page, phase, s, s->order[k]);
    }
    if (odd > told)
        fprintf(page_finding(page, phase), "%zu more outliers</li>\n",
                odd - told);
}

/* ---- The chart and the table -----------------------------------------------
 */

static void print_scatter(FILE *out, const struct spread *s, const char *title)
{
    double *odd = calloc(s->count + 1, sizeof(*odd));
    struct svg_mark marks[4];
    const double *y = s->value[SPREAD_P99];
    struct svg_series series[2];
    struct svg_chart chart = {
        .title = "p99 service over IOPS, a point each",
        .x = {.label = "IOPS of one", .unit = SVG_COUNT, .zero = true},
        .y = {.label = "", .unit = SVG_US, .zero = true},
        .series = series,
        .marks = marks,
    };

    if (odd == NULL)
        return;
    if (!isfinite(curve_median(y, s->count)))
        y = s->value[SPREAD_MEAN];
    for (size_t i = 0; i < s->count; i++)
        odd[i] = is_odd(s, i) ? y[i] : NAN;
    for (size_t k = 0; k < s->count && chart.mark_count < 4; k++)
        if (isfinite(odd[s->order[k]]))
            marks[chart.mark_count++] = (struct svg_mark){
                s->value[SPREAD_IOPS][s->order[k]], odd[s->order[k]],
                read_text(json_array_get(s->items, s->order[k]), "name")};
    series[0] = (struct svg_series){"a", SVG_POINTS, s->value[SPREAD_IOPS], y,
                                    s->count};
    series[1] = (struct svg_series){"odd", SVG_POINTS, s->value[SPREAD_IOPS],
                                    odd, s->count};
    chart.series_count = 2;
    fprintf(out,
            "<figure><figcaption><b>%s</b> %s service over IOPS, a point "
            "each</figcaption>",
            title, y == s->value[SPREAD_P99] ? "p99" : "mean");
    svg_print(out, &chart);
    fputs("</figure>\n", out);
    free(odd);
}

static void print_item(FILE *out, const struct spread *s, size_t i)
{
    const json_t *item = json_array_get(s->items, i);

    fprintf(out, "<tr%s><td class=\"t\">",
            is_odd(s, i) ? " class=\"odd\"" : "");
    page_text(out, read_text(item, "name"));
    if (read_text(item, "lun")[0] != '\0') {
        fputs(" <small>", out);
        page_text(out, read_text(item, "lun"));
        fputs("</small>", out);
    }
    fputs("</td>", out);
    page_figure_cell(out, item, "iops", PAGE_COUNT);
    page_figure_cell(out, item, "mib_s", PAGE_COUNT);
    page_figure_cell(out, item, "service_us.mean", PAGE_US);
    page_figure_cell(out, item, "service_us.p99", PAGE_US);
    page_figure_cell(out, item, "service_us.max", PAGE_US);
    page_figure_cell(out, item, "response_us.p99", PAGE_US);
    page_figure_cell(out, item, "errors", PAGE_WHOLE);
    fputs("</tr>\n", out);
}

static void print_median(FILE *out, const struct spread *s)
{
    static const int order[] = {SPREAD_IOPS, -1, SPREAD_MEAN, SPREAD_P99};

    fprintf(out, "<tr class=\"median\"><td class=\"t\">median of %zu</td>",
            s->count);
    for (size_t i = 0; i < ARRAY_LENGTH(order); i++) {
        double median =
            order[i] < 0 ? NAN : curve_median(s->value[order[i]], s->count);

        fputs("<td>", out);
        if (isfinite(median))
            page_number(out, median, PAGE_US);
        fputs("</td>", out);
    }
    fputs("<td></td><td></td><td></td></tr>\n", out);
}

static void print_table(FILE *out, const struct spread *s, const char *title)
{
    fprintf(out,
            "<div class=\"wide\"><table><thead><tr><th class=\"t\">%s</th>"
            "<th>IOPS</th><th>MiB/s</th><th>mean \302\265s</th>"
            "<th>p99 \302\265s</th><th>max \302\265s</th>"
            "<th>response p99 \302\265s</th><th>Errors</th></tr></thead>"
            "<tbody>\n",
            title);
    for (size_t k = 0; k < s->count && k < PAGE_ITEMS_MAX; k++)
        print_item(out, s, s->order[k]);
    print_median(out, s);
    fputs("</tbody></table></div>\n", out);
    if (s->count > PAGE_ITEMS_MAX)
        fprintf(out,
                "<p class=\"note\">%u of %zu are listed: outliers, then the "
                "slowest. All are in the exports.</p>\n",
                PAGE_ITEMS_MAX, s->count);
}

/* One alone is the total. */
void page_print_items(struct page *page, const json_t *phase, const char *key,
                      const char *title)
{
    const json_t *items = json_object_get(phase, key);
    FILE *out = page->sections;
    struct spread s;

    if (json_array_size(items) < 2)
        return;
    if (spread_init(&s, items)) {
        sort_first(&s, PAGE_ITEMS_MAX);
        if (!page->charts_left_out) {
            fputs("<div class=\"figures\">", out);
            print_scatter(out, &s, title);
            fputs("</div>\n", out);
        }
        print_table(out, &s, title);
        find_outliers(page, phase, &s);
    }
    spread_done(&s);
}
