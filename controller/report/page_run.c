/* page_run.c - see page_inside.h. */
#include "controller/report/page_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/units.h"
#include "controller/report/curve.h"
#include "controller/report/svg.h"

/* Buckets of a distribution that are drawn. */
#define BUCKETS_MAX 800u

/* ---- What went wrong -------------------------------------------------------
 */

static void find_lost(struct page *page, const json_t *phase)
{
    const json_t *lost = json_object_get(phase, "lost");

    for (size_t i = 0; i < json_array_size(lost); i++) {
        const json_t *host = json_array_get(lost, i);
        FILE *out = page_finding(page, phase);

        fputs("host <b>", out);
        page_text(out, read_text(host, "host"));
        fprintf(out, "</b> was lost in interval %lld: ",
                (long long)read_count(host, "from_interval"));
        page_text(out, read_text(host, "reason"));
        fputs("</li>\n", out);
    }
}

static void find_stuck(struct page *page, const json_t *phase)
{
    const json_t *stuck = json_object_get(phase, "stuck");
    const json_t *first = json_array_get(stuck, 0);
    char count[UNITS_SIZE];
    FILE *out;

    if (first == NULL)
        return;
    out = page_finding(page, phase);
    fprintf(out, "%s never came back, the first a %s on <b>",
            units_print_count(count, json_array_size(stuck), "request"),
            read_text(first, "op"));
    page_text(out, read_text(first, "name"));
    fprintf(out, "</b> at offset %lld</li>\n",
            (long long)read_count(first, "offset"));
}

static void find_idle(struct page *page, const json_t *phase)
{
    const json_t *idle = json_object_get(phase, "idle_drives");
    char count[UNITS_SIZE];
    FILE *out;

    if (json_array_size(idle) == 0)
        return;
    out = page_finding(page, phase);
    fprintf(out, "%s did no I/O: ",
            units_print_count(count, json_array_size(idle), "drive"));
    for (size_t i = 0; i < json_array_size(idle) && i < PAGE_ITEMS_MAX; i++) {
        fputs(i > 0 ? ", " : "", out);
        page_text(out, json_string_value(json_array_get(idle, i)));
    }
    fputs("</li>\n", out);
}

static void print_failure(FILE *out, const json_t *failure)
{
    fprintf(out, "%s of %lld bytes at %lld on ", read_text(failure, "op"),
            (long long)read_count(failure, "length"),
            (long long)read_count(failure, "offset"));
    page_text(out, read_text(failure, "name"));
    fputs(": ", out);
    page_text(out, read_text(failure, "code"));
    fprintf(out, ", %.6f s after the start", read_or_zero(failure, "at_s"));
}

static void print_first_failures(FILE *out, const json_t *first)
{
    if (json_array_size(first) == 0)
        return;
    fputs("; the first:<ul>", out);
    for (size_t i = 0; i < json_array_size(first) && i < PAGE_ITEMS_MAX; i++) {
        fputs("<li>", out);
        print_failure(out, json_array_get(first, i));
        fputs("</li>", out);
    }
    fputs("</ul>", out);
}

static void find_errors(struct page *page, const json_t *phase)
{
    const json_t *kinds = read_path(phase, "failures.kinds");
    FILE *out;

    if (json_array_size(kinds) == 0)
        return;
    out = page_finding(page, phase);
    fprintf(out, "<b class=\"bad\">%lld I/O errors</b>",
            (long long)read_count(json_object_get(phase, "failures"), "count"));
    for (size_t i = 0; i < json_array_size(kinds) && i < PAGE_ITEMS_MAX; i++) {
        const json_t *kind = json_array_get(kinds, i);

        fprintf(out, ", %lld %ss on ", (long long)read_count(kind, "count"),
                read_text(kind, "op"));
        page_text(out, read_text(kind, "name"));
        fputs(": ", out);
        page_text(out, read_text(kind, "code"));
        fputs(" (", out);
        page_text(out, read_text(kind, "error"));
        fputs(")", out);
    }
    print_first_failures(out, read_path(phase, "failures.first"));
    fputs("</li>\n", out);
}

static void find_rest(struct page *page, const json_t *phase)
{
    const char *verdict = read_text(phase, "verdict");

    if (verdict[0] != '\0' && strcmp(verdict, "complete") != 0) {
        FILE *out = page_finding(page, phase);

        page_badge(out, verdict);
        fputs(" ", out);
        page_text(out, read_text(phase, "error"));
        fputs("</li>\n", out);
    }
    if (json_is_true(read_path(phase, "total.response_lower_bound")))
        fprintf(page_finding(page, phase),
                "%lld arrivals that were due had not been issued at the end: "
                "the response percentiles are lower bounds</li>\n",
                (long long)read_count(phase, "total.unissued"));
    if (json_is_true(json_object_get(phase, "overlap_low")))
        fprintf(page_finding(page, phase),
                "all hosts measured together in only %.2f %% of the "
                "window</li>\n",
                read_or_zero(phase, "overlap_pct"));
    if (page->rows.missing > 0)
        fprintf(page_finding(page, phase), "%zu intervals lack hosts</li>\n",
                page->rows.missing);
}

/* Where the figures say more about the generator, or a drive was not itself. */
static void find_flags(struct page *page, const json_t *phase)
{
    const json_t *flag;
    size_t i;

    json_array_foreach(json_object_get(phase, "flags"), i, flag)
    {
        FILE *out = page_finding(page, phase);

        page_text(out, read_text(flag, "name"));
        fputs(": ", out);
        page_text(out, read_text(flag, "text"));
        fputs("</li>\n", out);
    }
}

static void find_all(struct page *page, const json_t *phase)
{
    find_flags(page, phase);
    find_rest(page, phase);
    find_errors(page, phase);
    find_lost(page, phase);
    find_stuck(page, phase);
    find_idle(page, phase);
}

/* ---- Figures ---------------------------------------------------------------
 */

static void print_effective(FILE *out, const json_t *phase)
{
    static const char *const keys[] = {"xfersize", "rdpct", "seekpct",
                                       "threads"};

    fputs("<p class=\"asked\">", out);
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++)
        if (read_text(phase, keys[i])[0] != '\0') {
            fprintf(out, "<code>%s=", keys[i]);
            page_text(out, read_text(phase, keys[i]));
            fputs("</code> ", out);
        }
    fputs("<code>iorate=", out);
    page_text(out, read_text(phase, "iorate_text"));
    fprintf(out, "</code> %.10g s measured", read_or_zero(phase, "window_s"));
    if (read_or_zero(phase, "warmup_s") > 0)
        fprintf(out, " after %.10g s of warm-up",
                read_or_zero(phase, "warmup_s"));
    fputs(", all workers started within ", out);
    page_figure(out, phase, "start_spread_us", PAGE_US);
    fputs(" \302\265s, clocks known to ", out);
    page_figure(out, phase, "start_uncertainty_us", PAGE_US);
    fputs(" \302\265s.</p>\n", out);
}

/* Which engine did it, and which worker was where. */
static void print_engines(FILE *out, const json_t *phase)
{
    const json_t *engines = json_object_get(phase, "engines");

    if (json_array_size(engines) == 0)
        return;
    fputs("<details><summary>Engines and workers</summary><ul>\n", out);
    for (size_t i = 0; i < json_array_size(engines) && i < PAGE_ITEMS_MAX;
         i++) {
        const json_t *engine = json_array_get(engines, i);

        fputs("<li><b>", out);
        page_text(out, read_text(engine, "host"));
        fputs("</b>: ", out);
        page_text(out, read_text(engine, "engine"));
        fputs("<br>", out);
        page_text(out, read_text(engine, "placement"));
        fputs("</li>\n", out);
    }
    fputs("</ul></details>\n", out);
}

static void print_latency(FILE *out, const char *name, const json_t *figures,
                          const char *family)
{
    static const char *const keys[] = {"mean", "min",   "p50", "p90",   "p99",
                                       "p999", "p9999", "max", "stddev"};
    char path[32];

    (void)snprintf(path, sizeof(path), "%s.mean", family);
    if (!json_is_number(read_path(figures, path)))
        return;
    fprintf(out, "<tr><td class=\"t\">%s</td>", name);
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++) {
        (void)snprintf(path, sizeof(path), "%s.%s", family, keys[i]);
        page_figure_cell(out, figures, path, PAGE_US);
    }
    fputs("</tr>\n", out);
}

static void print_latencies(FILE *out, const json_t *total)
{
    bool mixed = read_or_zero(total, "read.ios") > 0 &&
                 read_or_zero(total, "write.ios") > 0;
    bool bound = json_is_true(json_object_get(total, "response_lower_bound"));

    fputs("<div class=\"wide\"><table><thead><tr><th class=\"t\">\302\265s</th>"
          "<th>mean</th><th>min</th><th>p50</th><th>p90</th><th>p99</th>"
          "<th>p99.9</th><th>p99.99</th><th>max</th><th>stddev</th></tr>"
          "</thead><tbody>\n",
          out);
    print_latency(out, "service", total, "service_us");
    print_latency(out, bound ? "response, at least" : "response", total,
                  "response_us");
    print_latency(out, "issued late", total, "late_us");
    if (mixed) {
        print_latency(out, "read service", json_object_get(total, "read"),
                      "service_us");
        print_latency(out, "write service", json_object_get(total, "write"),
                      "service_us");
        print_latency(out, "read response", json_object_get(total, "read"),
                      "response_us");
        print_latency(out, "write response", json_object_get(total, "write"),
                      "response_us");
    }
    fputs("</tbody></table></div>\n", out);
}

static void print_rates(FILE *out, const json_t *total)
{
    fputs("<p class=\"rates\"><b>", out);
    page_figure(out, total, "iops", PAGE_COUNT);
    fputs("</b> IOPS <b>", out);
    page_figure(out, total, "mib_s", PAGE_COUNT);
    fputs("</b> MiB/s <b>", out);
    page_figure(out, total, "read_pct", PAGE_PERCENT);
    fputs("</b> % reads <b>", out);
    page_figure(out, total, "queue_depth", PAGE_COUNT);
    fputs("</b> in flight <b>", out);
    page_figure(out, total, "errors", PAGE_WHOLE);
    fputs("</b> errors <b>", out);
    page_figure(out, total, "host_cpu_pct", PAGE_PERCENT);
    fputs("</b> % of the hosts' CPUs</p>\n", out);
}

/* ---- Over time -------------------------------------------------------------
 */

/* One value of several rows: the mean of a rate, the largest latency. */
static double together(const double *values, size_t count, bool largest)
{
    double sum = 0, most = NAN;

    for (size_t i = 0; i < count; i++) {
        most = fmax(most, values[i]);
        sum += values[i];
    }
    return largest ? most : sum / (double)count;
}

/* Puts rows together until few enough are left.  How many make one. */
static size_t thin_out(struct page_rows *rows)
{
    size_t step = (rows->count + PAGE_POINTS_MAX - 1) / PAGE_POINTS_MAX;
    size_t kept = 0;

    if (step <= 1)
        return 1;
    for (size_t i = 0; i < rows->count; i += step, kept++) {
        size_t count = i + step <= rows->count ? step : rows->count - i;

        for (int v = 0; v < ROW_VALUES; v++)
            rows->at[v][kept] =
                together(rows->at[v] + i, count, v != ROW_IOPS && v != ROW_MIB);
    }
    rows->count = kept;
    return step;
}

static void print_time_chart(FILE *out, const struct page_rows *rows,
                             const char *title, enum svg_unit unit,
                             const struct svg_series *series, size_t count)
{
    const struct svg_chart chart = {
        .title = title,
        .x = {.label = "seconds since the start",
              .unit = SVG_SECONDS,
              .zero = true},
        .y = {.label = "", .unit = unit, .log = unit == SVG_US, .zero = true},
        .series = series,
        .series_count = count,
        .shade_to = rows->warmup_s,
    };

    svg_print(out, &chart);
    fputs("</figure>\n", out);
}

static void print_over_time(FILE *out, struct page_rows *rows)
{
    size_t step = thin_out(rows);
    const double *x = rows->at[ROW_SECONDS];
    const struct svg_series rate[] = {
        {"a", SVG_LINE, x, rows->at[ROW_IOPS], rows->count}};
    const struct svg_series latency[] = {
        {"a", SVG_LINE, x, rows->at[ROW_MEAN], rows->count},
        {"b", SVG_LINE, x, rows->at[ROW_P99], rows->count},
        {"c", SVG_LINE, x, rows->at[ROW_RESPONSE_P99], rows->count},
    };
    char note[96] = "";

    if (rows->count < 2)
        return;
    if (step > 1)
        (void)snprintf(note, sizeof(note),
                       " <small>%zu intervals a point: mean of rates, largest "
                       "latency</small>",
                       step);
    fprintf(out, "<figure><figcaption><b>IOPS</b> over time%s</figcaption>",
            note);
    print_time_chart(out, rows, "IOPS over time", SVG_COUNT, rate, 1);
    fputs("<figure><figcaption><b>Latency</b> over time ", out);
    page_key(out, "a", "mean service");
    page_key(out, "b", "p99 service");
    if (isfinite(curve_median(rows->at[ROW_RESPONSE_P99], rows->count)))
        page_key(out, "c", "p99 response");
    fprintf(out, "%s</figcaption>", note);
    print_time_chart(out, rows, "Latency over time", SVG_US, latency,
                     ARRAY_LENGTH(latency));
}

/* ---- Distribution ----------------------------------------------------------
 */

struct steps {
    double x[BUCKETS_MAX];
    double y[BUCKETS_MAX];
    size_t count;
};

/* A bucket's lower edge is 1/16 of an octave below its upper one, or the edge
 * before it. */
static void take_buckets(const json_t *buckets, double total,
                         struct steps *steps)
{
    double before = 0;

    steps->count = 0;
    for (size_t i = 0; i < json_array_size(buckets); i++) {
        const json_t *pair = json_array_get(buckets, i);
        double edge = json_number_value(json_array_get(pair, 0));
        double count = json_number_value(json_array_get(pair, 1));
        double below = fmax(before, edge / 1.0625);

        if (steps->count + 2 > BUCKETS_MAX)
            return;
        if (below > before || steps->count == 0) {
            steps->x[steps->count] = below;
            steps->y[steps->count++] = 0;
        }
        steps->x[steps->count] = edge;
        steps->y[steps->count++] = count * 100 / total;
        before = edge;
    }
}

static void print_distribution(FILE *out, const json_t *phase)
{
    struct steps service, response;
    double ios = read_or_zero(phase, "total.ios");
    const json_t *total = json_object_get(phase, "total");
    struct svg_series series[2];
    struct svg_chart chart = {
        .title = "Distribution of latencies",
        .x = {.label = "latency", .unit = SVG_US, .log = true},
        .y = {.label = "", .unit = SVG_PERCENT, .zero = true},
        .series = series,
    };

    if (!(ios > 0))
        return;
    take_buckets(read_path(phase, "distribution.service_us.all"), ios,
                 &service);
    take_buckets(read_path(phase, "distribution.response_us.all"), ios,
                 &response);
    if (service.count < 4)
        return;
    series[chart.series_count++] = (struct svg_series){
        "a", SVG_STEPS, service.x, service.y, service.count};
    if (response.count > 0)
        series[chart.series_count++] = (struct svg_series){
            "c", SVG_STEPS, response.x, response.y, response.count};
    fputs("<figure><figcaption><b>Distribution</b> share of I/Os by latency ",
          out);
    page_key(out, "a", "service");
    if (response.count > 0)
        page_key(out, "c", "response");
    if (read_or_zero(total, "service_us.overflow") > 0)
        fputs("<small>with values beyond 19.5 hours</small>", out);
    fputs("</figcaption>", out);
    svg_print(out, &chart);
    fputs("</figure>\n", out);
}

/* ---- The section -----------------------------------------------------------
 */

static void print_heading(FILE *out, const json_t *phase)
{
    const char *error = read_text(phase, "error");

    fprintf(out, "<section class=\"run\" id=\"run%lld\"><h3>",
            (long long)read_count(phase, "phase"));
    page_text(out, read_text(phase, "run"));
    if (read_text(phase, "for")[0] != '\0') {
        fputs(" <small>", out);
        page_text(out, read_text(phase, "for"));
        fputs("</small>", out);
    }
    fputs(" ", out);
    page_badge(out, read_text(phase, "verdict")[0] != '\0'
                        ? read_text(phase, "verdict")
                        : read_text(phase, "state"));
    fputs("</h3>\n", out);
    if (error[0] != '\0') {
        fputs("<p class=\"bad\">", out);
        page_text(out, error);
        fputs("</p>\n", out);
    }
}

void page_print_run(struct page *page, const json_t *phase)
{
    const json_t *total = json_object_get(phase, "total");
    FILE *out = page->sections;

    find_all(page, phase);
    print_heading(out, phase);
    if (json_is_object(total)) {
        print_effective(out, phase);
        print_rates(out, total);
        print_engines(out, phase);
        print_latencies(out, total);
        if (ftell(out) < (long)PAGE_CHARTS_MAX) {
            fputs("<div class=\"figures\">\n", out);
            print_over_time(out, &page->rows);
            print_distribution(out, phase);
            fputs("</div>\n", out);
        } else {
            page->charts_left_out = true;
        }
        page_print_items(page, phase, "hosts", "Hosts");
        page_print_items(page, phase, "drives", "Drives");
    } else {
        fputs("<p>Nothing was measured.</p>\n", out);
    }
    fputs("</section>\n", out);
}
