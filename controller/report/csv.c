/* csv.c - see csv.h. */
#include "controller/report/csv.h"

#include <string.h>

#include "controller/report/read.h"

/* Where a column's value stands. */
enum csv_from {
    FROM_HEAD,
    FROM_PHASE,
    FROM_ROW,     /* an interval of the cluster */
    FROM_ITEM,    /* a host's, drive's or workload's object */
    FROM_FIGURES, /* of this line */
    FROM_LINE,    /* what this line is */
};

struct csv_column {
    const char *name;
    enum csv_from from;
    const char *path;
};

#define LATENCY(prefix, path)                                                  \
    {prefix "_mean", FROM_FIGURES, path ".mean"},                              \
        {prefix "_min", FROM_FIGURES, path ".min"},                            \
        {prefix "_p50", FROM_FIGURES, path ".p50"},                            \
        {prefix "_p90", FROM_FIGURES, path ".p90"},                            \
        {prefix "_p99", FROM_FIGURES, path ".p99"},                            \
        {prefix "_p999", FROM_FIGURES, path ".p999"},                          \
        {prefix "_p9999", FROM_FIGURES, path ".p9999"},                        \
        {prefix "_max", FROM_FIGURES, path ".max"},                            \
    {                                                                          \
        prefix "_stddev", FROM_FIGURES, path ".stddev"                         \
    }

#define OPERATION(op)                                                          \
    {op "_ios", FROM_FIGURES, op ".ios"},                                      \
        {op "_bytes", FROM_FIGURES, op ".bytes"},                              \
        {op "_errors", FROM_FIGURES, op ".errors"},                            \
        {op "_iops", FROM_FIGURES, op ".iops"},                                \
        {op "_mib_s", FROM_FIGURES, op ".mib_s"},                              \
        LATENCY(op "_service_us", op ".service_us"),                           \
        LATENCY(op "_response_us", op ".response_us")

static const struct csv_column columns[] = {
    {"campaign", FROM_HEAD, "number"},
    {"campaign_id", FROM_HEAD, "id"},
    {"campaign_name", FROM_HEAD, "name"},
    {"campaign_verdict", FROM_HEAD, "verdict"},
    {"phase", FROM_PHASE, "phase"},
    {"run", FROM_PHASE, "run"},
    {"for", FROM_PHASE, "for"},
    {"run_kind", FROM_PHASE, "kind"},
    {"verdict", FROM_PHASE, "verdict"},
    {"error", FROM_PHASE, "error"},
    {"iorate_asked", FROM_PHASE, "iorate_text"},
    {"iorate", FROM_PHASE, "iorate"},
    {"elapsed_s", FROM_PHASE, "elapsed_s"},
    {"warmup_s", FROM_PHASE, "warmup_s"},
    {"interval_s", FROM_PHASE, "interval_s"},
    {"xfersize", FROM_PHASE, "xfersize"},
    {"threads", FROM_PHASE, "threads"},
    {"rdpct", FROM_PHASE, "rdpct"},
    {"seekpct", FROM_PHASE, "seekpct"},
    {"started", FROM_PHASE, "started"},
    {"start_spread_us", FROM_PHASE, "start_spread_us"},
    {"start_uncertainty_us", FROM_PHASE, "start_uncertainty_us"},
    {"row", FROM_LINE, "row"},
    {"scope", FROM_LINE, "scope"},
    {"name", FROM_ITEM, "name"},
    {"host", FROM_ITEM, "host"},
    {"sd", FROM_ITEM, "sd"},
    {"lun", FROM_ITEM, "lun"},
    {"drive_iorate", FROM_ITEM, "iorate"},
    {"interval", FROM_ROW, "interval"},
    {"interval_kind", FROM_ROW, "kind"},
    {"spans", FROM_ROW, "spans"},
    {"revision", FROM_ROW, "revision"},
    {"partial", FROM_ROW, "partial"},
    {"skew_us", FROM_ROW, "skew_us"},
    {"hosts", FROM_ROW, "hosts"},
    {"hosts_expected", FROM_ROW, "hosts_expected"},
    {"wall", FROM_LINE, "wall"},
    {"length_s", FROM_LINE, "length_s"},
    {"ios", FROM_FIGURES, "ios"},
    {"bytes", FROM_FIGURES, "bytes"},
    {"errors", FROM_FIGURES, "errors"},
    {"iops", FROM_FIGURES, "iops"},
    {"mib_s", FROM_FIGURES, "mib_s"},
    {"read_pct", FROM_FIGURES, "read_pct"},
    {"bytes_per_io", FROM_FIGURES, "bytes_per_io"},
    {"queue_depth", FROM_FIGURES, "queue_depth"},
    {"in_flight", FROM_FIGURES, "in_flight"},
    {"oldest_us", FROM_FIGURES, "oldest_us"},
    {"unissued", FROM_FIGURES, "unissued"},
    {"unissued_oldest_us", FROM_FIGURES, "unissued_oldest_us"},
    {"late_us_mean", FROM_FIGURES, "late_us.mean"},
    {"late_us_max", FROM_FIGURES, "late_us.max"},
    {"holds", FROM_FIGURES, "holds"},
    {"held_us", FROM_FIGURES, "held_us"},
    {"put_off", FROM_FIGURES, "put_off"},
    {"busiest_worker_pct", FROM_FIGURES, "busiest_worker_pct"},
    {"agent_cpu_pct", FROM_FIGURES, "agent_cpu_pct"},
    {"host_cpu_pct", FROM_FIGURES, "host_cpu_pct"},
    {"host_system_pct", FROM_FIGURES, "host_system_pct"},
    LATENCY("service_us", "service_us"),
    LATENCY("response_us", "response_us"),
    {"response_lower_bound", FROM_FIGURES, "response_lower_bound"},
    OPERATION("read"),
    OPERATION("write"),
};

/* Where the values of one line come from. */
struct csv_line {
    const json_t *source[FROM_LINE]; /* by csv_from */
    const char *row;
    const char *scope;
    const char *wall;
    const json_t *length_s;
};

/* ---- Cells -----------------------------------------------------------------
 */

static void print_text(FILE *out, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void print_value(FILE *out, const json_t *value)
{
    char text[READ_DIGITS_SIZE];

    if (json_is_string(value))
        print_text(out, json_string_value(value));
    else if (json_is_boolean(value))
        fputs(json_is_true(value) ? "true" : "false", out);
    else
        fputs(read_digits(value, text), out);
}

static void print_line_value(FILE *out, const struct csv_line *line,
                             const char *what)
{
    if (strcmp(what, "row") == 0)
        fputs(line->row, out);
    else if (strcmp(what, "scope") == 0)
        fputs(line->scope, out);
    else if (strcmp(what, "wall") == 0)
        fputs(line->wall, out);
    else
        print_value(out, line->length_s);
}

static void print_line(FILE *out, const struct csv_line *line)
{
    for (size_t i = 0; i < ARRAY_LENGTH(columns); i++) {
        const struct csv_column *c = &columns[i];

        if (i > 0)
            fputc(',', out);
        if (c->from == FROM_LINE)
            print_line_value(out, line, c->path);
        else
            print_value(out, read_path(line->source[c->from], c->path));
    }
    fputs("\r\n", out);
}

/* ---- Lines -----------------------------------------------------------------
 */

static struct csv_line line_of(const struct csv *csv, const json_t *phase,
                               const char *row, const char *scope)
{
    return (struct csv_line){
        .source = {[FROM_HEAD] = csv->head_, [FROM_PHASE] = phase},
        .row = row,
        .scope = scope,
        .wall = "",
    };
}

static void print_totals(const struct csv *csv, const json_t *phase,
                         const char *scope, const json_t *item)
{
    struct csv_line line = line_of(csv, phase, "total", scope);

    if (!json_is_object(item))
        return;
    line.source[FROM_ITEM] = item;
    line.source[FROM_FIGURES] = item;
    line.wall = read_text(phase, "window_end");
    line.length_s = json_object_get(phase, "window_s");
    print_line(csv->out, &line);
}

static void print_all_totals(const struct csv *csv, const json_t *phase)
{
    static const struct {
        const char *key;
        const char *scope;
    } scopes[] = {
        {"hosts", "host"}, {"drives", "drive"}, {"workloads", "workload"}};

    print_totals(csv, phase, "cluster", json_object_get(phase, "total"));
    for (size_t k = 0; k < ARRAY_LENGTH(scopes); k++) {
        const json_t *items = json_object_get(phase, scopes[k].key);

        for (size_t i = 0; i < json_array_size(items); i++)
            print_totals(csv, phase, scopes[k].scope, json_array_get(items, i));
    }
}

static void print_interval(const struct csv *csv, const json_t *phase,
                           const char *scope, const json_t *row,
                           const json_t *item)
{
    struct csv_line line = line_of(csv, phase, "interval", scope);

    line.source[FROM_ROW] = row;
    line.source[FROM_ITEM] = item == row ? NULL : item;
    line.source[FROM_FIGURES] = json_object_get(item, "figures");
    line.wall = read_text(row, "wall");
    line.length_s = json_object_get(row, "length_s");
    print_line(csv->out, &line);
}

/* Those of an array that belong to the row: it is in order of the rows. */
static size_t print_parts(const struct csv *csv, const json_t *phase,
                          const char *scope, const json_t *row,
                          const json_t *parts, size_t from)
{
    bool drain = read_is(row, "kind", "drain");

    for (; from < json_array_size(parts); from++) {
        const json_t *part = json_array_get(parts, from);

        if (read_count(part, "interval") != read_count(row, "interval") ||
            json_is_true(json_object_get(part, "drain")) != drain)
            break;
        print_interval(csv, phase, scope, row, part);
    }
    return from;
}

/* ---- The sink --------------------------------------------------------------
 */

static int take_head(void *self, const json_t *head, struct diag *diag)
{
    struct csv *csv = self;

    (void)diag;
    csv->head_ = json_deep_copy(head);
    for (size_t i = 0; i < ARRAY_LENGTH(columns); i++)
        fprintf(csv->out, "%s%s", i > 0 ? "," : "", columns[i].name);
    fputs("\r\n", csv->out);
    return 0;
}

static int take_phase(void *self, const json_t *phase, struct diag *diag)
{
    const struct csv *csv = self;

    (void)diag;
    if ((csv->rows & CSV_TOTALS) != 0)
        print_all_totals(csv, phase);
    return 0;
}

static int take_rows(void *self, const json_t *phase, const json_t *page,
                     struct diag *diag)
{
    const struct csv *csv = self;
    const json_t *rows = json_object_get(page, "intervals");
    const json_t *hosts = json_object_get(page, "host_intervals");
    const json_t *workloads = json_object_get(page, "workload_intervals");
    size_t host = 0, workload = 0;

    (void)diag;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);

        print_interval(csv, phase, "cluster", row, row);
        host = print_parts(csv, phase, "host", row, hosts, host);
        workload =
            print_parts(csv, phase, "workload", row, workloads, workload);
    }
    return 0;
}

struct sink csv_sink(struct csv *csv, FILE *out, enum csv_rows rows)
{
    *csv = (struct csv){.out = out, .rows = rows};
    return (struct sink){
        .self = csv,
        .head = take_head,
        .phase = take_phase,
        .rows = take_rows,
        .want_rows = (rows & CSV_INTERVALS) != 0,
    };
}

void csv_done(struct csv *csv)
{
    json_decref(csv->head_);
    csv->head_ = NULL;
}
