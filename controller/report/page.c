/* page.c - see page.h. */
#include "controller/report/page_inside.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* page.css, put into the program by page_style.c. */
extern const char page_style[];

/* ---- The rows of the run at hand -------------------------------------------
 */

static bool grow(struct page_rows *rows)
{
    size_t capacity = rows->capacity == 0 ? 128 : rows->capacity * 2;

    if (rows->count < rows->capacity)
        return true;
    for (int i = 0; i < ROW_VALUES; i++) {
        double *more = realloc(rows->at[i], capacity * sizeof(*more));

        if (more == NULL)
            return false;
        rows->at[i] = more;
    }
    rows->capacity = capacity;
    return true;
}

static void rows_reset(struct page_rows *rows)
{
    rows->count = 0;
    rows->warmup_s = 0;
    rows->missing = 0;
    rows->partial = 0;
}

static bool rows_add(struct page_rows *rows, const json_t *row, double seconds)
{
    const json_t *f = json_object_get(row, "figures");

    if (!grow(rows))
        return false;
    rows->at[ROW_SECONDS][rows->count] = seconds;
    rows->at[ROW_IOPS][rows->count] = read_number(f, "iops");
    rows->at[ROW_MIB][rows->count] = read_number(f, "mib_s");
    rows->at[ROW_MEAN][rows->count] = read_number(f, "service_us.mean");
    rows->at[ROW_P99][rows->count] = read_number(f, "service_us.p99");
    rows->at[ROW_RESPONSE_P99][rows->count] = read_number(f, "response_us.p99");
    rows->count++;
    rows->missing +=
        read_count(row, "hosts") < read_count(row, "hosts_expected");
    rows->partial += json_is_true(json_object_get(row, "partial"));
    if (read_is(row, "kind", "warmup"))
        rows->warmup_s = seconds;
    return true;
}

/* ---- The sink --------------------------------------------------------------
 */

static int no_memory(struct diag *diag)
{
    return diag_set(diag, -ENOMEM, "no memory for the report");
}

static int take_head(void *self, const json_t *head, struct diag *diag)
{
    struct page *page = self;
    size_t count = json_array_size(json_object_get(head, "phases"));

    page->head = json_deep_copy(head);
    page->runs = calloc(count > 0 ? count : 1, sizeof(*page->runs));
    return page->head == NULL || page->runs == NULL ? no_memory(diag) : 0;
}

static struct page_point point_of(const json_t *item)
{
    static const char *const paths[PAGE_LATENCIES] = {
        [PAGE_MEAN] = "service_us.mean",
        [PAGE_P99] = "service_us.p99",
        [PAGE_P999] = "service_us.p999",
        [PAGE_RESPONSE_P99] = "response_us.p99",
        [PAGE_RESPONSE_P999] = "response_us.p999",
    };
    struct page_point point = {
        .iorate = read_number(item, "iorate"),
        .iops = read_number(item, "iops"),
        .mib_s = read_number(item, "mib_s"),
    };

    if (read_text(item, "name")[0] != '\0')
        point.name = strdup(read_text(item, "name"));
    for (int i = 0; i < PAGE_LATENCIES; i++)
        point.us[i] = read_number(item, paths[i]);
    return point;
}

static bool keep_points(struct page_points *points, const json_t *items)
{
    size_t count = json_array_size(items);

    points->at = calloc(count > 0 ? count : 1, sizeof(*points->at));
    if (points->at == NULL)
        return false;
    points->count = count;
    for (size_t i = 0; i < count; i++)
        points->at[i] = point_of(json_array_get(items, i));
    return true;
}

static int take_phase(void *self, const json_t *phase, struct diag *diag)
{
    static const char *const heavy[] = {
        "intervals",    "host_intervals", "workload_intervals",
        "distribution", "histogram",      "hosts",
        "drives",       "workloads"};
    struct page *page = self;
    struct page_run *run = &page->runs[page->run_count];

    rows_reset(&page->rows);
    if (page->run_count >=
        json_array_size(json_object_get(page->head, "phases")))
        return diag_set(diag, -EBADMSG, "more phases than the campaign has");
    run->phase = json_copy((json_t *)(uintptr_t)phase);
    run->total = point_of(json_object_get(phase, "total"));
    if (run->phase == NULL ||
        !keep_points(&run->hosts, json_object_get(phase, "hosts")) ||
        !keep_points(&run->drives, json_object_get(phase, "drives")))
        return no_memory(diag);
    for (size_t i = 0; i < ARRAY_LENGTH(heavy); i++)
        (void)json_object_del(run->phase, heavy[i]);
    page->run_count++;
    return 0;
}

static int take_rows(void *self, const json_t *phase, const json_t *piece,
                     struct diag *diag)
{
    struct page *page = self;
    const json_t *rows = json_object_get(piece, "intervals");
    double interval_s = read_or_zero(phase, "interval_s");

    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);

        if (read_is(row, "kind", "drain") || read_count(row, "spans") == 0)
            continue;
        if (!rows_add(&page->rows, row,
                      (double)read_count(row, "interval") * interval_s))
            return no_memory(diag);
    }
    return 0;
}

static int take_phase_end(void *self, const json_t *phase, struct diag *diag)
{
    struct page *page = self;

    page_print_run(page, phase);
    return ferror(page->sections) || ferror(page->findings) ? no_memory(diag)
                                                            : 0;
}

/* ---- The whole -------------------------------------------------------------
 */

struct page *page_new(void)
{
    struct page *page = calloc(1, sizeof(*page));

    if (page == NULL)
        return NULL;
    page->sections = open_memstream(&page->section_text, &page->section_size);
    page->findings = open_memstream(&page->finding_text, &page->finding_size);
    return page->sections == NULL || page->findings == NULL ? page_free(page)
                                                            : page;
}

static void points_done(struct page_points *points)
{
    for (size_t i = 0; i < points->count; i++)
        free(points->at[i].name);
    free(points->at);
}

struct page *page_free(struct page *page)
{
    if (page == NULL)
        return NULL;
    if (page->sections != NULL)
        (void)fclose(page->sections);
    if (page->findings != NULL)
        (void)fclose(page->findings);
    free(page->section_text);
    free(page->finding_text);
    for (size_t i = 0; i < page->run_count; i++) {
        json_decref(page->runs[i].phase);
        free(page->runs[i].total.name);
        points_done(&page->runs[i].hosts);
        points_done(&page->runs[i].drives);
    }
    for (int i = 0; i < ROW_VALUES; i++)
        free(page->rows.at[i]);
    free(page->runs);
    json_decref(page->head);
    free(page);
    return NULL;
}

struct sink page_sink(struct page *page)
{
    return (struct sink){
        .self = page,
        .head = take_head,
        .phase = take_phase,
        .rows = take_rows,
        .phase_end = take_phase_end,
        .want_rows = true,
    };
}

static void print_top(const struct page *page, FILE *out)
{
    fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
          "<meta name=\"viewport\" content=\"width=device-width\">"
          "<meta name=\"generator\" content=\"lockstep " LOCKSTEP_VERSION "\">"
          "<title>",
          out);
    page_text(out, read_text(page->head, "verdict"));
    fputs(": ", out);
    page_text(out, read_text(page->head, "name"));
    fprintf(out, "</title>\n<style>%s</style></head><body>\n", page_style);
}

int page_write(struct page *page, FILE *out, struct diag *diag)
{
    if (fflush(page->sections) != 0 || fflush(page->findings) != 0)
        return no_memory(diag);
    print_top(page, out);
    page_print_front(page, out);
    page_print_curves(page, out);
    fputs("<h2 id=\"runs\">Each run</h2>\n", out);
    if (page->charts_left_out)
        fputs("<p class=\"note\">So many runs: the later ones have their "
              "figures without charts, to keep this page below 5 MB. All "
              "rows are in the CSV and JSON exports.</p>\n",
              out);
    fputs(page->section_text, out);
    page_print_origin(page, out);
    fputs("</body></html>\n", out);
    return 0;
}
