/* page_front.c - see page_inside.h. */
#include "controller/report/page_inside.h"

#include <math.h>
#include <string.h>

#include "common/units.h"

/* ---- The verdict -----------------------------------------------------------
 */

static void print_when(const struct page *page, FILE *out)
{
    fputs("<p class=\"when\">Campaign ", out);
    fprintf(out, "%lld", (long long)read_count(page->head, "number"));
    fputs(", run by ", out);
    page_text(out, read_text(page->head, "who"));
    if (read_text(page->head, "started")[0] != '\0') {
        fputs(" from <time>", out);
        page_text(out, read_text(page->head, "started"));
        fputs("</time>", out);
    }
    if (read_text(page->head, "ended")[0] != '\0') {
        fputs(" to <time>", out);
        page_text(out, read_text(page->head, "ended"));
        fputs("</time>", out);
    }
    fputs(". Lockstep ", out);
    page_text(out, read_text(page->head, "version"));
    fputs(".</p>\n", out);
}

static void print_verdict(const struct page *page, FILE *out)
{
    const char *error = read_text(page->head, "error");
    const char *verdict = read_text(page->head, "verdict");

    fputs("<header><h1>", out);
    page_text(out, read_text(page->head, "name"));
    fputs("</h1>\n<p class=\"verdict\">", out);
    page_badge(out, verdict);
    if (error[0] != '\0') {
        fputs(" ", out);
        page_text(out, error);
    } else if (strcmp(verdict, "complete") == 0) {
        fputs(" Every run was measured on every host to its end.", out);
    }
    fputs("</p>\n", out);
    print_when(page, out);
    fputs("</header>\n", out);
}

/* ---- The best --------------------------------------------------------------
 */

/* The run that is best in a figure. */
static const json_t *best_of(const struct page *page, const char *path,
                             bool smallest)
{
    const json_t *best = NULL;
    double value = NAN;

    for (size_t i = 0; i < page->run_count; i++) {
        const json_t *phase = page->runs[i].phase;
        double here = read_number(json_object_get(phase, "total"), path);

        if (!read_is(phase, "kind", "measure") || !isfinite(here))
            continue;
        if (best == NULL || (smallest ? here < value : here > value)) {
            best = phase;
            value = here;
        }
    }
    return best;
}

static void print_tile(const struct page *page, FILE *out, const char *title,
                       const char *path, const char *unit, bool smallest)
{
    const json_t *phase = best_of(page, path, smallest);

    if (phase == NULL)
        return;
    fprintf(out, "<div><small>%s</small><b>", title);
    page_figure(out, json_object_get(phase, "total"), path,
                strcmp(unit, "MiB/s") == 0 ? PAGE_COUNT : PAGE_US);
    fprintf(out, "</b> %s<br>", unit);
    page_run_link(out, phase);
    fputs("</div>", out);
}

static void print_count_tile(FILE *out, const char *title, size_t count,
                             const char *note)
{
    fprintf(out, "<div><small>%s</small><b>%zu</b><br>%s</div>", title, count,
            note);
}

static size_t count_complete(const struct page *page)
{
    size_t complete = 0;

    for (size_t i = 0; i < page->run_count; i++)
        complete += read_is(page->runs[i].phase, "verdict", "complete");
    return complete;
}

static void print_tiles(const struct page *page, FILE *out)
{
    size_t hosts = json_array_size(json_object_get(page->head, "hosts"));
    char note[64], count[UNITS_SIZE];

    fputs("<section class=\"tiles\">", out);
    print_tile(page, out, "Highest rate", "iops", "IOPS", false);
    print_tile(page, out, "Highest throughput", "mib_s", "MiB/s", false);
    print_tile(page, out, "Lowest mean service time", "service_us.mean",
               "\302\265s", true);
    (void)snprintf(note, sizeof(note), "of %zu complete", page->run_count);
    print_count_tile(out, "Runs", count_complete(page), note);
    (void)snprintf(note, sizeof(note), "on %s",
                   units_print_count(count, hosts, "host"));
    print_count_tile(out, "Drives",
                     json_array_size(json_object_get(page->head, "drives")),
                     note);
    fputs("</section>\n", out);
}

/* ---- Findings --------------------------------------------------------------
 */

static void print_findings(const struct page *page, FILE *out)
{
    fputs("<h2 id=\"findings\">What to look at</h2>\n", out);
    if (page->finding_count == 0) {
        fputs("<p>Nothing: no errors, no host or drive missing, no arrival "
              "left waiting, no outliers.</p>\n",
              out);
        return;
    }
    fprintf(out, "<ul class=\"findings\">%s</ul>\n", page->finding_text);
}

/* ---- All runs --------------------------------------------------------------
 */

static void print_bar(FILE *out, double share)
{
    fprintf(out, "<td class=\"bar\"><i style=\"width:%.0f%%\"></i></td>",
            isfinite(share) ? fmax(share * 100, 0.5) : 0);
}

static void print_asked(FILE *out, const json_t *phase)
{
    const char *word = read_text(phase, "iorate_text");
    double rate = read_number(phase, "iorate");

    fputs("<td>", out);
    page_text(out, read_is(phase, "kind", "fill") ? "fill" : word);
    if (isfinite(rate) && strchr(word, '%') != NULL) {
        fputs(" <small>", out);
        page_number(out, rate, PAGE_COUNT);
        fputs("</small>", out);
    }
    fputs("</td>", out);
}

static void print_run_row(FILE *out, const json_t *phase, double most)
{
    const json_t *total = json_object_get(phase, "total");

    fputs("<tr><td class=\"t\">", out);
    page_run_link(out, phase);
    fputs("</td>", out);
    print_asked(out, phase);
    page_figure_cell(out, total, "iops", PAGE_COUNT);
    print_bar(out, read_number(total, "iops") / most);
    page_figure_cell(out, total, "mib_s", PAGE_COUNT);
    page_figure_cell(out, total, "read_pct", PAGE_PERCENT);
    page_figure_cell(out, total, "service_us.mean", PAGE_US);
    page_figure_cell(out, total, "service_us.p50", PAGE_US);
    page_figure_cell(out, total, "service_us.p99", PAGE_US);
    page_figure_cell(out, total, "service_us.p999", PAGE_US);
    page_figure_cell(out, total, "service_us.max", PAGE_US);
    page_figure_cell(out, total, "response_us.p99", PAGE_US);
    fprintf(out, "<td%s>",
            read_or_zero(total, "errors") > 0 ? " class=\"bad\"" : "");
    page_figure(out, total, "errors", PAGE_WHOLE);
    fputs("</td><td class=\"t\">", out);
    page_badge(out, read_text(phase, "verdict")[0] != '\0'
                        ? read_text(phase, "verdict")
                        : read_text(phase, "state"));
    fputs("</td></tr>\n", out);
}

static void print_runs(const struct page *page, FILE *out)
{
    const json_t *most = best_of(page, "iops", false);
    double iops = read_number(json_object_get(most, "total"), "iops");

    fputs("<h2 id=\"summary\">All runs</h2>\n<div class=\"wide\"><table>"
          "<thead><tr><th class=\"t\" rowspan=\"2\">Run</th>"
          "<th rowspan=\"2\">Asked</th><th rowspan=\"2\" colspan=\"2\">IOPS"
          "</th><th rowspan=\"2\">MiB/s</th><th rowspan=\"2\">Read %</th>"
          "<th class=\"group\" colspan=\"5\">Service, \302\265s</th>"
          "<th class=\"group\">Response, \302\265s</th>"
          "<th rowspan=\"2\">Errors</th>"
          "<th class=\"t\" rowspan=\"2\">Verdict</th></tr>"
          "<tr><th>mean</th><th>p50</th><th>p99</th><th>p99.9</th><th>max</th>"
          "<th>p99</th></tr></thead><tbody>\n",
          out);
    for (size_t i = 0; i < page->run_count; i++)
        print_run_row(out, page->runs[i].phase, iops);
    fputs("</tbody></table></div>\n<p class=\"note\">Service is from "
          "submission to completion, what vdbench calls resp. Response is from "
          "the intended start; a run at its maximum has none. A dash is a "
          "percentile with fewer than ten samples beyond it, or what does not "
          "apply. The exact digits of a figure are in its data value.</p>\n",
          out);
}

void page_print_front(const struct page *page, FILE *out)
{
    print_verdict(page, out);
    print_tiles(page, out);
    print_findings(page, out);
    print_runs(page, out);
}
