/*
 * plan_text.c - the plan as lines: check --runs, and the table.
 */
#include "controller/plan/plan_text.h"
#include "common/units.h"
#include "controller/plan/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Closes a memory stream; NULL where something did not fit in memory. */
static char *finish(FILE *out, char **text)
{
    bool failed = ferror(out) != 0;

    if (fclose(out) != 0 || failed) {
        free(*text);
        return NULL;
    }
    return *text;
}

/* Seconds, with what stands behind the point only where there is any. */
static void write_seconds(FILE *out, uint64_t ns)
{
    uint64_t rest = ns % NS_PER_S / 1000;
    char digits[8];
    size_t length;

    fprintf(out, "%" PRIu64, ns / NS_PER_S);
    if (rest == 0)
        return;
    (void)snprintf(digits, sizeof(digits), "%06u", (unsigned)rest);
    length = strlen(digits);
    while (length > 0 && digits[length - 1] == '0')
        digits[--length] = '\0';
    fprintf(out, ".%s", digits);
}

char *plan_text_runs(const struct plan *plan)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (out == NULL)
        return NULL;
    fputs("run\tiorate\telapsed_s\twarmup_s\tfor\n", out);
    for (uint32_t i = 0; i < plan->run_count; i++) {
        const struct plan_run *run = &plan->runs[i];
        char rate[32];

        plan_text_rate(&run->rate, rate, sizeof(rate));
        fprintf(out, "%s\t%s\t", run->rd, rate);
        write_seconds(out, run->elapsed_ns);
        fputc('\t', out);
        write_seconds(out, run->warmup_ns);
        fprintf(out, "\t%s\n", run->for_text[0] != '\0' ? run->for_text : "-");
    }
    return finish(out, &text);
}

/* ---- the table ---- */

/* Columns as wide as their widest text; the last one is not padded. */
#define COLUMNS_MAX 10u

struct table {
    FILE *out;
    uint32_t columns;
    uint32_t width[COLUMNS_MAX];
    bool right[COLUMNS_MAX]; /* numbers */
};

/* A plan, and what its hosts have to do, added up once. */
struct sheet {
    const struct plan *plan;
    uint32_t *drives;  /* by host */
    uint32_t *threads; /* by host: most of any run */
    uint32_t *now;     /* by host: of the run that is added up */
};

typedef void (*fill_row)(const struct sheet *sheet, uint32_t row,
                         char cells[COLUMNS_MAX][160]);

static void measure_row(struct table *table, char cells[COLUMNS_MAX][160])
{
    for (uint32_t c = 0; c < table->columns; c++) {
        uint32_t width = (uint32_t)strlen(cells[c]);

        if (width > table->width[c])
            table->width[c] = width;
    }
}

static void write_row(const struct table *table, char cells[COLUMNS_MAX][160])
{
    for (uint32_t c = 0; c < table->columns; c++) {
        int width = (int)table->width[c];

        if (c > 0)
            fputs("  ", table->out);
        if (table->right[c])
            fprintf(table->out, "%*s", width, cells[c]);
        else
            fprintf(table->out, "%-*s", c + 1 < table->columns ? width : 0,
                    cells[c]);
    }
    fputc('\n', table->out);
}

static void write_table(struct table *table, const struct sheet *sheet,
                        const char *const *heads, uint32_t rows, fill_row fill)
{
    char cells[COLUMNS_MAX][160];

    for (uint32_t c = 0; c < table->columns; c++)
        (void)snprintf(cells[c], sizeof(cells[c]), "%s", heads[c]);
    measure_row(table, cells);
    for (uint32_t i = 0; i < rows; i++) {
        fill(sheet, i, cells);
        measure_row(table, cells);
    }
    for (uint32_t c = 0; c < table->columns; c++)
        (void)snprintf(cells[c], sizeof(cells[c]), "%s", heads[c]);
    write_row(table, cells);
    for (uint32_t i = 0; i < rows; i++) {
        fill(sheet, i, cells);
        write_row(table, cells);
    }
}

static void or_dash(char *cell, const char *text)
{
    (void)snprintf(cell, 160, "%s", text[0] != '\0' ? text : "-");
}

static void format_seconds(char *cell, uint64_t ns)
{
    if (ns % NS_PER_S == 0)
        (void)snprintf(cell, 160, "%" PRIu64, ns / NS_PER_S);
    else
        (void)snprintf(cell, 160, "%.3f", (double)ns / 1e9);
}

static void fill_run(const struct sheet *sheet, uint32_t row,
                     char cells[COLUMNS_MAX][160])
{
    const struct plan_run *run = &sheet->plan->runs[row];

    (void)snprintf(cells[0], 160, "%u", row + 1);
    (void)snprintf(cells[1], 160, "%s", run->name);
    plan_text_rate(&run->rate, cells[2], 160);
    format_seconds(cells[3], run->warmup_ns);
    format_seconds(cells[4], run->elapsed_ns);
    or_dash(cells[5], run->xfersize_text);
    or_dash(cells[6], run->threads_text);
    or_dash(cells[7], run->rdpct_text);
    or_dash(cells[8], run->seekpct_text);
    (void)snprintf(cells[9], 160, "%u", run->target_count);
    if (run->kind == PLAN_RUN_FILL) {
        (void)snprintf(cells[2], 160, "fill");
        (void)snprintf(cells[4], 160, "-");
    }
}

static void add_run_threads(struct sheet *sheet, const struct plan_run *run)
{
    const struct plan *plan = sheet->plan;

    memset(sheet->now, 0, plan->host_count * sizeof(*sheet->now));
    for (uint32_t i = 0; i < run->target_count; i++) {
        uint32_t host = plan->targets[run->targets[i].target].host;

        sheet->now[host] += run->targets[i].threads;
        if (sheet->now[host] > sheet->threads[host])
            sheet->threads[host] = sheet->now[host];
    }
}

/* What the hosts have to do, over all runs. */
static int sheet_init(struct sheet *sheet, const struct plan *plan)
{
    sheet->plan = plan;
    sheet->drives = calloc(plan->host_count + 1u, 3 * sizeof(uint32_t));
    if (sheet->drives == NULL)
        return -ENOMEM;
    sheet->threads = sheet->drives + plan->host_count;
    sheet->now = sheet->threads + plan->host_count;
    for (uint32_t i = 0; i < plan->target_count; i++)
        sheet->drives[plan->targets[i].host]++;
    for (uint32_t i = 0; i < plan->run_count; i++)
        if (i == 0 || plan->runs[i].targets != plan->runs[i - 1].targets)
            add_run_threads(sheet, &plan->runs[i]);
    return 0;
}

static void fill_host(const struct sheet *sheet, uint32_t row,
                      char cells[COLUMNS_MAX][160])
{
    const struct plan_host *host = &sheet->plan->hosts[row];

    (void)snprintf(cells[0], 160, "%s", host->label);
    (void)snprintf(cells[1], 160, "%s", host->system);
    (void)snprintf(cells[2], 160, "%u", sheet->drives[row]);
    (void)snprintf(cells[3], 160, "%u", sheet->threads[row]);
    or_dash(cells[4], host->aliases);
}

static void format_flags(char *cell, uint32_t flags)
{
    (void)snprintf(cell, 160, "%s%s%s%s%s",
                   (flags & PLAN_OPEN_DIRECT) != 0 ? "o_direct " : "",
                   (flags & PLAN_OPEN_DSYNC) != 0 ? "o_dsync " : "",
                   (flags & PLAN_OPEN_SYNC) != 0 ? "o_sync " : "",
                   (flags & PLAN_OPEN_FSYNC) != 0 ? "fsync " : "",
                   flags == 0 ? "-" : "");
    if (cell[strlen(cell) - 1] == ' ')
        cell[strlen(cell) - 1] = '\0';
}

static void fill_target(const struct sheet *sheet, uint32_t row,
                        char cells[COLUMNS_MAX][160])
{
    const struct plan *plan = sheet->plan;
    const struct plan_target *target = &plan->targets[row];
    char size[32] = "-";

    if (target->size_bytes > 0)
        format_size((double)target->size_bytes, size, sizeof(size));
    (void)snprintf(cells[0], 160, "%s", target->sd);
    (void)snprintf(cells[1], 160, "%s", plan->hosts[target->host].label);
    (void)snprintf(cells[2], 160, "%s", size);
    (void)snprintf(cells[3], 160, "%s", target->written ? "write" : "read");
    format_flags(cells[4], target->open_flags);
    or_dash(cells[5], target->facts.model);
    or_dash(cells[6], target->facts.serial);
    (void)snprintf(cells[7], 160, "%.150s", target->path);
}

/* ---- regions ---- */

static void format_edge(const struct plan_range *range, bool high, char *text,
                        size_t size)
{
    double value = high ? range->high : range->low;
    bool percent = high ? range->high_is_percent : range->low_is_percent;

    if (percent)
        (void)snprintf(text, size, "%g%%", value);
    else
        format_size(value, text, size);
}

/* Where a workload runs on a drive: bytes once they are known. */
static void write_region(FILE *out, const struct plan_run *run,
                         const struct plan_cell *cell)
{
    char low[32], high[32];

    if (cell->high > 0) {
        fprintf(out, "%" PRIu64 " - %" PRIu64, cell->low, cell->high);
    } else {
        format_edge(&cell->range, false, low, sizeof(low));
        format_edge(&cell->range, true, high, sizeof(high));
        fprintf(out, "%s - %s", low, high);
    }
    if (cell->wrap_high > 0)
        fprintf(out, " and %" PRIu64 " - %" PRIu64, cell->wrap_low,
                cell->wrap_high);
    if (cell->slices > 1)
        fprintf(out, " (slice %u of %u%s)", cell->slice + 1, cell->slices,
                run->concatenated ? " of all sds" : "");
}

/* hitarea=, streams=, hotband=: what lies within a region. */
static void write_shape(FILE *out, const struct plan_run *run,
                        const struct plan_cell *cell)
{
    const struct plan_workload *workload = &run->workloads[cell->workload];

    if (workload->read_hit_percent > 0 || workload->write_hit_percent > 0)
        fprintf(out, "  hits in the first %" PRIu64, cell->hit_area);
    if (workload->streams > 1)
        fprintf(out, "  %u streams", workload->streams);
    if (workload->seek == PLAN_SEEK_BAND)
        fprintf(out, "  hotband");
    if (workload->seek == PLAN_SEEK_POISSON)
        fprintf(out, "  poisson");
}

static bool is_whole(const struct plan_run *run, const struct plan_cell *cell)
{
    const struct plan_workload *workload = &run->workloads[cell->workload];

    if (workload->read_hit_percent > 0 || workload->write_hit_percent > 0 ||
        workload->streams > 1 || workload->seek != PLAN_SEEK_UNIFORM)
        return false;
    return cell->high == 0 && cell->slices == 1 && cell->range.low == 0 &&
           cell->range.high_is_percent && cell->range.high == 100;
}

static bool is_same_region(const struct plan_run *a, const struct plan_run *b)
{
    return a->cells == b->cells && a->rd == b->rd;
}

/* Where the sequence begins that goes on here. */
static const char *joined_sd(const struct plan *plan,
                             const struct plan_run *run,
                             const struct plan_cell *cell)
{
    uint32_t target = run->cells[cell->joins - 1].target;

    return plan->targets[run->targets[target].target].sd;
}

static void write_regions(FILE *out, const struct plan *plan)
{
    bool headed = false;

    for (uint32_t i = 0; i < plan->run_count; i++) {
        const struct plan_run *run = &plan->runs[i];

        if (i > 0 && is_same_region(run, run - 1))
            continue;
        for (uint32_t k = 0; k < run->cell_count; k++) {
            const struct plan_cell *cell = &run->cells[k];
            const struct plan_target *target =
                &plan->targets[run->targets[cell->target].target];

            if (is_whole(run, cell))
                continue;
            if (!headed)
                fputs("\nRegions, in bytes or as the file has them\n", out);
            headed = true;
            fprintf(out, "%s  wd=%s  sd=%s  host=%s  ", run->rd,
                    run->workloads[cell->workload].name, target->sd,
                    plan->hosts[target->host].label);
            if (cell->idle)
                fputs("nothing", out);
            else
                write_region(out, run, cell);
            if (cell->joins > 0)
                fprintf(out, "  continues sd=%s", joined_sd(plan, run, cell));
            write_shape(out, run, cell);
            fputc('\n', out);
        }
    }
}

static void write_data(FILE *out, const struct plan *plan)
{
    uint32_t open_ended;
    double bytes = plan_written_bytes(plan, &open_ended);
    char text[UNITS_SIZE], runs[UNITS_SIZE];

    if (bytes == 0 && open_ended == 0) {
        fputs("nothing is written\n", out);
        return;
    }
    fputs("written: ", out);
    if (bytes > 0)
        fputs(units_print_size(text, (uint64_t)bytes), out);
    if (open_ended > 0)
        fprintf(out,
                "%sas much as the drives take in %s at full speed or in per "
                "cent of it",
                bytes > 0 ? ", and " : "",
                units_print_count(runs, open_ended, "run"));
    fputc('\n', out);
}

/* maxdata= up to 100 in both readings, where the sizes are known. */
static void write_limits(FILE *out, const struct plan *plan)
{
    const char *before = "";

    for (uint32_t i = 0; i < plan->run_count; i++) {
        const struct plan_run *run = &plan->runs[i];
        double all = (double)plan_run_bytes(plan, run);

        for (int k = 0; k < 3; k++)
            if (run->max_ratio[k] > 0 && all > 0 &&
                strcmp(before, run->rd) != 0)
                fprintf(out,
                        "%s: maxdata= ends it after %.0f bytes; as a "
                        "percentage, as vdbench 5.04.07 takes it, after %.0f\n",
                        run->rd, run->max_ratio[k] * all,
                        run->max_ratio[k] * all / 100);
        before = run->rd;
    }
}

/* "rd1: startcmd=drop, on every host of the run" */
static void write_list(FILE *out, const char *of,
                       const struct plan_commands *commands)
{
    for (uint32_t i = 0; i < commands->count; i++)
        fprintf(out, "%s%s%s=%s, on %s\n", of, of[0] != '\0' ? ": " : "",
                commands->items[i].keyword, commands->items[i].text,
                commands->items[i].on_controller ? "the controller's host"
                                                 : "every host of the run");
}

static void write_commands(FILE *out, const struct plan *plan)
{
    const char *before = "";

    write_list(out, "", &plan->start);
    for (uint32_t i = 0; i < plan->distinct_runs; i++) {
        const struct plan_run *run = &plan->runs[i];

        if (strcmp(before, run->rd) != 0) {
            write_list(out, run->rd, &run->start);
            write_list(out, run->rd, &run->end);
        }
        before = run->rd;
    }
    write_list(out, "", &plan->end);
    write_list(out, "", &plan->host_lost);
}

static void write_total(FILE *out, const struct plan *plan)
{
    uint64_t seconds = (plan_total_ns(plan) + NS_PER_S - 1) / NS_PER_S;
    bool fills = plan->run_count > 0 && plan->runs[0].kind == PLAN_RUN_FILL;
    char runs[UNITS_SIZE];

    fprintf(out, "\n%s, %" PRIu64 ":%02u:%02u in all%s\n",
            units_print_count(runs, plan->run_count, "run"), seconds / 3600,
            (unsigned)(seconds / 60 % 60), (unsigned)(seconds % 60),
            fills ? ", and the time of the fill" : "");
}

char *plan_text_table(const struct plan *plan)
{
    static const char *const run_heads[] = {
        "#",        "run",     "iorate", "warmup",  "elapsed",
        "xfersize", "threads", "rdpct",  "seekpct", "drives"};
    static const char *const host_heads[] = {"host", "system", "drives",
                                             "threads", "also called"};
    static const char *const target_heads[] = {
        "drive", "host", "size", "use", "openflags", "model", "serial", "path"};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct table runs = {.out = out, .columns = ARRAY_LENGTH(run_heads)};
    struct table hosts = {.out = out, .columns = ARRAY_LENGTH(host_heads)};
    struct table targets = {.out = out, .columns = ARRAY_LENGTH(target_heads)};
    struct sheet sheet;

    if (out == NULL)
        return NULL;
    if (sheet_init(&sheet, plan) < 0) {
        (void)fclose(out);
        free(text);
        return NULL;
    }
    for (uint32_t c = 0; c < runs.columns; c++)
        runs.right[c] = c != 1;
    hosts.right[2] = hosts.right[3] = targets.right[2] = true;
    write_table(&runs, &sheet, run_heads, plan->run_count, fill_run);
    fputc('\n', out);
    write_table(&hosts, &sheet, host_heads, plan->host_count, fill_host);
    fputc('\n', out);
    write_table(&targets, &sheet, target_heads, plan->target_count,
                fill_target);
    free(sheet.drives);
    write_regions(out, plan);
    write_total(out, plan);
    write_data(out, plan);
    write_limits(out, plan);
    write_commands(out, plan);
    return finish(out, &text);
}
