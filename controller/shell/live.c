/* live.c - see live.h. */
#include "controller/shell/live.h"

#include <string.h>
#include <unistd.h>

#include "common/units.h"
#include "controller/report/vdbench_lines.h"

/* vdbench repeats its header so often. */
#define HEADER_ROWS 30

void live_init(struct live *live, FILE *out)
{
    *live = (struct live){.out = out, .terminal = isatty(fileno(out)) == 1};
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text != NULL ? text : "";
}

/* A figure, 0 where there is none, as vdbench prints it. */
static double number_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static json_int_t integer_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

/* Behind a row on a terminal: what vdbench has no column for. */
static void print_p99(const struct live *live, const json_t *figures)
{
    const json_t *service = json_object_get(figures, "service_us");

    if (!live->terminal)
        return;
    if (json_is_number(json_object_get(service, "p99")))
        fprintf(live->out, " %8.3f", number_of(service, "p99") / 1000);
    else
        fprintf(live->out, " %8s", "-");
}

static void print_row(struct live *live, const json_t *event, const char *label,
                      const json_t *figures)
{
    const char *wall = text_of(event, "wall");

    if (live->rows++ % HEADER_ROWS == 0)
        vdbench_print_header(live->out, wall, live->terminal ? "      p99" : "",
                             live->terminal ? "     resp" : "");
    vdbench_print_row(live->out, wall, label, figures);
    print_p99(live, figures);
}

/* What a row has beside its figures, in words; "" where there is none. */
static void remarks_of(const json_t *event, bool terminal, char *text,
                       size_t size)
{
    const json_t *figures = json_object_get(event, "figures");
    json_int_t hosts = integer_of(event, "hosts");
    json_int_t expected = integer_of(event, "hosts_expected");
    json_int_t errors = integer_of(figures, "errors");
    json_int_t unissued = integer_of(figures, "unissued");
    size_t used = 0;

    text[0] = '\0';
    if (terminal && strcmp(text_of(event, "kind"), "warmup") == 0)
        used += (size_t)snprintf(text + used, size - used, "  warm-up");
    if (hosts < expected)
        used +=
            (size_t)snprintf(text + used, size - used, "  %lld of %lld hosts",
                             (long long)hosts, (long long)expected);
    if (terminal && integer_of(event, "revision") > 1)
        used += (size_t)snprintf(text + used, size - used, "  revision %lld",
                                 (long long)integer_of(event, "revision"));
    if (errors > 0)
        used += (size_t)snprintf(text + used, size - used, "  errors=%lld",
                                 (long long)errors);
    if (terminal && unissued > 0)
        (void)snprintf(text + used, size - used, "  unissued=%lld",
                       (long long)unissued);
}

/* Behind the row on a terminal; else on a line of their own, since scripts
 * count a row's words. */
static void print_remarks(struct live *live, const json_t *event)
{
    char text[160];

    remarks_of(event, live->terminal, text, sizeof(text));
    if (live->terminal)
        fprintf(live->out, "%s\n", text);
    else if (text[0] != '\0')
        fprintf(live->out, "\n  interval %lld:%s\n",
                (long long)integer_of(event, "interval"), text);
    else
        fputc('\n', live->out);
}

static void on_interval(struct live *live, const json_t *event)
{
    long long interval = integer_of(event, "interval");
    char label[VDBENCH_LABEL_SIZE];
    bool again = live->terminal && integer_of(event, "revision") > 1;

    /* Who begins to watch may be told a row twice: as past and as news. */
    if (strcmp(text_of(event, "kind"), "drain") == 0 ||
        (interval <= live->interval && !again))
        return;
    live->interval = interval;
    if (live->filling && !live->terminal)
        return; /* no run of vdbench's */
    vdbench_label(event, label);
    print_row(live, event, label, json_object_get(event, "figures"));
    print_remarks(live, event);
}

static void print_plan(const struct live *live, const json_t *event)
{
    const json_t *left = json_object_get(event, "remaining_s");
    char text[UNITS_SIZE], drives[UNITS_SIZE];

    fprintf(
        live->out, "phase %lld of %lld, %s, %s",
        (long long)integer_of(event, "phase"),
        (long long)integer_of(event, "phases"),
        units_print_count(text, (uint64_t)integer_of(event, "hosts"), "host"),
        units_print_count(drives, (uint64_t)integer_of(event, "drives"),
                          "drive"));
    if (json_is_number(left))
        fprintf(live->out, ", %s left",
                units_print_duration(text, (uint64_t)json_number_value(left)));
    fputc('\n', live->out);
}

static void on_phase(struct live *live, const json_t *event)
{
    char drives[UNITS_SIZE];

    if (live->phase == integer_of(event, "phase"))
        return;
    live->phase = integer_of(event, "phase");
    live->interval = 0;
    live->rows = 0;
    live->filling = strcmp(text_of(event, "kind"), "fill") == 0;
    fputc('\n', live->out);
    if (live->filling) {
        fprintf(live->out, "Filling the files of %s\n",
                units_print_count(drives, (uint64_t)integer_of(event, "drives"),
                                  "drive"));
    } else {
        vdbench_print_start(live->out, event, text_of(event, "wall"));
        fputc('\n', live->out);
    }
    print_plan(live, event);
}

static void print_ms(FILE *out, const json_t *family, const char *key)
{
    const json_t *value = json_object_get(family, key);

    if (json_is_number(value))
        fprintf(out, " %9.3f", json_number_value(value) / 1000.0);
    else
        fprintf(out, " %9s", "-");
}

static void print_latency(FILE *out, const char *name, const json_t *family,
                          bool lower_bound)
{
    static const char *const keys[] = {"mean", "min",   "p50", "p90",   "p99",
                                       "p999", "p9999", "max", "stddev"};

    if (!json_is_number(json_object_get(family, "mean")))
        return;
    fprintf(out, "  %-15s", name);
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++)
        print_ms(out, family, keys[i]);
    fputs(lower_bound ? "  at least\n" : "\n", out);
}

void live_latencies(FILE *out, const json_t *figures)
{
    static const char *const ops[] = {"read", "write"};
    bool bound = json_is_true(json_object_get(figures, "response_lower_bound"));

    fputs("  ms                   mean       min       p50       p90       p99"
          "     p99.9    p99.99       max    stddev\n",
          out);
    print_latency(out, "service", json_object_get(figures, "service_us"),
                  false);
    print_latency(out, "response", json_object_get(figures, "response_us"),
                  bound);
    print_latency(out, "issued late", json_object_get(figures, "late_us"),
                  false);
    if (number_of(figures, "read_pct") <= 0 ||
        number_of(figures, "read_pct") >= 100)
        return;
    for (size_t i = 0; i < ARRAY_LENGTH(ops); i++) {
        const json_t *op = json_object_get(figures, ops[i]);
        char name[32];

        (void)snprintf(name, sizeof(name), "%s service", ops[i]);
        print_latency(out, name, json_object_get(op, "service_us"), false);
        (void)snprintf(name, sizeof(name), "%s response", ops[i]);
        print_latency(out, name, json_object_get(op, "response_us"), bound);
    }
}

void live_flags(FILE *out, const json_t *phase)
{
    const json_t *flag;
    size_t i;

    json_array_foreach(json_object_get(phase, "flags"), i, flag)
        fprintf(out, "  flag %s, %s: %s\n", text_of(flag, "flag"),
                text_of(flag, "name"), text_of(flag, "text"));
}

/* A run's average row and its percentiles; of a fill, how much it wrote. */
static void print_total(struct live *live, const json_t *event,
                        const json_t *total)
{
    char label[VDBENCH_LABEL_SIZE];
    char text[UNITS_SIZE];
    const json_t *row = vdbench_average(event, label);

    if (live->filling && !live->terminal) {
        fprintf(live->out, "  filled %s\n",
                units_print_size(text, (uint64_t)integer_of(total, "bytes")));
        return;
    }
    live->rows += live->rows % HEADER_ROWS == 0;
    print_row(live, event, label, row);
    if (row != total)
        fprintf(live->out, "\n  all of 1-%lld:",
                (long long)integer_of(event, "last_interval"));
    fputc('\n', live->out);
    live_latencies(live->out, total);
}

static void on_phase_end(struct live *live, const json_t *event)
{
    const json_t *total = json_object_get(event, "total");
    const char *verdict = text_of(event, "verdict");

    if (integer_of(event, "last_interval") > 0 && json_is_object(total))
        print_total(live, event, total);
    if (json_is_number(json_object_get(event, "start_spread_us")))
        fprintf(live->out,
                "  started within %.0f us on all hosts, clocks known to "
                "%.0f us\n",
                number_of(event, "start_spread_us"),
                number_of(event, "start_uncertainty_us"));
    live_flags(live->out, event);
    if (strcmp(verdict, "complete") != 0)
        fprintf(live->out, "  %s: %s\n", verdict, text_of(event, "error"));
}

static void on_end(struct live *live, const json_t *event)
{
    static const char *const verdicts[] = {"complete", "degraded",
                                           "interrupted", "failed"};

    live->verdict = "failed";
    for (size_t i = 0; i < ARRAY_LENGTH(verdicts); i++)
        if (strcmp(text_of(event, "verdict"), verdicts[i]) == 0)
            live->verdict = verdicts[i];
    (void)snprintf(live->error, sizeof(live->error), "%s",
                   text_of(event, "error"));
}

/* Scripts look for vdbench's version at the top. */
static void begin(struct live *live)
{
    if (!live->begun && !live->terminal)
        vdbench_print_distribution(live->out);
    live->begun = true;
}

bool live_event(struct live *live, const json_t *event)
{
    const char *kind = text_of(event, "event");
    bool end = strcmp(kind, "end") == 0;

    if (!end)
        begin(live);
    if (strcmp(kind, "interval") == 0)
        on_interval(live, event);
    else if (strcmp(kind, "phase") == 0)
        on_phase(live, event);
    else if (strcmp(kind, "phase_end") == 0)
        on_phase_end(live, event);
    else if (strcmp(kind, "notice") == 0)
        fprintf(live->out, "%s\n", text_of(event, "text"));
    else if (end)
        on_end(live, event);
    fflush(live->out);
    return end;
}
