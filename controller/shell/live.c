/* live.c - see live.h. */
#include "controller/shell/live.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "common/units.h"

/* vdbench repeats its header so often. */
#define HEADER_ROWS 30

void live_init(struct live *live, FILE *out)
{
    *live = (struct live){.out = out};
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

/* A latency in ms of object.key, 0 where there is none. */
static double ms_of(const json_t *object, const char *family, const char *key)
{
    return number_of(json_object_get(object, family), key) / 1000.0;
}

/* HH:MM:SS.mmm of an event's "wall", in local time as vdbench prints it. */
static void clock_text(const json_t *event, char text[16])
{
    const char *wall = text_of(event, "wall");
    struct tm tm = {0};
    const char *rest = strptime(wall, "%Y-%m-%dT%H:%M:%S", &tm);
    char fraction[4] = "000";

    if (rest == NULL) {
        (void)snprintf(text, 16, "--:--:--.---");
        return;
    }
    if (rest[0] == '.')
        (void)snprintf(fraction, sizeof(fraction), "%.3s", rest + 1);

    time_t seconds = timegm(&tm);

    (void)localtime_r(&seconds, &tm);
    (void)snprintf(text, 16, "%02d:%02d:%02d.%s", tm.tm_hour % 100,
                   tm.tm_min % 100, tm.tm_sec % 100, fraction);
}

static void header(struct live *live)
{
    time_t now = time(NULL);
    struct tm tm;
    char date[32];

    (void)localtime_r(&now, &tm);
    (void)strftime(date, sizeof(date), "%b %d, %Y", &tm);
    fprintf(live->out,
            "\n%-12s    interval        i/o   MB/sec   bytes   read     resp"
            "     read    write     read    write     resp  queue  cpu%%  cpu%%"
            "      p99\n"
            "                               rate  1024**2     i/o    pct     "
            "time     resp     resp      max      max   stddev  depth sys+u"
            "   sys     resp\n",
            date);
}

/* The figures of a row, in vdbench's order and formats; service is resp. */
static void print_figures(FILE *out, const json_t *f)
{
    const json_t *read = json_object_get(f, "read");
    const json_t *write = json_object_get(f, "write");

    fprintf(out,
            " %10.1f %8.2f %7.0f %6.2f %8.3f %8.3f %8.3f %8.2f %8.2f %8.3f "
            "%6.1f %5.1f %5.1f",
            number_of(f, "iops"), number_of(f, "mib_s"),
            number_of(f, "bytes_per_io"), number_of(f, "read_pct"),
            ms_of(f, "service_us", "mean"),
            ms_of(read, "service_us", "mean"),
            ms_of(write, "service_us", "mean"),
            ms_of(read, "service_us", "max"), ms_of(write, "service_us", "max"),
            ms_of(f, "service_us", "stddev"),
            number_of(f, "queue_depth"), number_of(f, "host_cpu_pct"),
            number_of(f, "host_system_pct"));
    if (json_is_number(
            json_object_get(json_object_get(f, "service_us"), "p99")))
        fprintf(out, " %8.3f", ms_of(f, "service_us", "p99"));
    else
        fprintf(out, " %8s", "-");
}

static void print_row(struct live *live, const json_t *event, const char *label,
                      const json_t *figures)
{
    char clock[16];

    if (live->rows++ % HEADER_ROWS == 0)
        header(live);
    clock_text(event, clock);
    fprintf(live->out, "%s %11s", clock, label);
    print_figures(live->out, figures);
}

/* What a row has beside its figures, behind it, only where there is some. */
static void print_remarks(FILE *out, const json_t *event)
{
    const json_t *figures = json_object_get(event, "figures");
    json_int_t hosts = integer_of(event, "hosts");
    json_int_t expected = integer_of(event, "hosts_expected");

    if (strcmp(text_of(event, "kind"), "warmup") == 0)
        fputs("  warm-up", out);
    if (hosts < expected)
        fprintf(out, "  %lld of %lld hosts", (long long)hosts,
                (long long)expected);
    if (integer_of(event, "revision") > 1)
        fprintf(out, "  revision %lld",
                (long long)integer_of(event, "revision"));
    if (integer_of(figures, "errors") > 0)
        fprintf(out, "  errors=%lld",
                (long long)integer_of(figures, "errors"));
    if (integer_of(figures, "unissued") > 0)
        fprintf(out, "  unissued=%lld",
                (long long)integer_of(figures, "unissued"));
    fputc('\n', out);
}

static void on_interval(struct live *live, const json_t *event)
{
    char label[24];

    long long interval = integer_of(event, "interval");

    /* Who begins to watch may be told a row twice: as past and as news. */
    if (strcmp(text_of(event, "kind"), "drain") == 0 ||
        (interval <= live->interval && integer_of(event, "revision") <= 1))
        return;
    live->interval = interval;
    (void)snprintf(label, sizeof(label), "%lld", interval);
    print_row(live, event, label, json_object_get(event, "figures"));
    print_remarks(live->out, event);
}

/* "Uncontrolled MAX" is vdbench's name of a closed loop. */
static void print_start(struct live *live, const json_t *event)
{
    const char *rate = text_of(event, "iorate_text");
    const char *loops = text_of(event, "for");
    const json_t *asked = json_object_get(event, "iorate");
    char clock[16];

    clock_text(event, clock);
    fprintf(live->out, "\n%s Starting RD=%s; I/O rate: ", clock,
            text_of(event, "run"));
    if (strcmp(rate, "max") == 0)
        fputs("Uncontrolled MAX", live->out);
    else if (strcmp(rate, "curve") == 0)
        fputs("Uncontrolled curve", live->out);
    else
        fprintf(live->out, "%.0f", json_number_value(asked));
    fprintf(live->out, "; elapsed=%.0f", number_of(event, "elapsed_s"));
    if (number_of(event, "warmup_s") > 0)
        fprintf(live->out, " warmup=%.0f", number_of(event, "warmup_s"));
    fprintf(live->out, "; For loops: %s\n", loops[0] != '\0' ? loops : "None");
}

static void on_phase(struct live *live, const json_t *event)
{
    const json_t *left = json_object_get(event, "remaining_s");
    char text[UNITS_SIZE];

    if (live->phase == integer_of(event, "phase"))
        return;
    live->phase = integer_of(event, "phase");
    live->interval = 0;
    live->rows = 0;
    if (strcmp(text_of(event, "kind"), "fill") == 0)
        fprintf(live->out, "\nFilling the files of %lld drives\n",
                (long long)integer_of(event, "drives"));
    else
        print_start(live, event);
    fprintf(live->out, "phase %lld of %lld, %lld hosts, %lld drives",
            (long long)integer_of(event, "phase"),
            (long long)integer_of(event, "phases"),
            (long long)integer_of(event, "hosts"),
            (long long)integer_of(event, "drives"));
    if (json_is_number(left))
        fprintf(live->out, ", %s left",
                units_print_duration(text,
                                     (uint64_t)json_number_value(left)));
    fputc('\n', live->out);
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
    static const char *const keys[] = {"mean", "min",  "p50",   "p90", "p99",
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
    bool bound =
        json_is_true(json_object_get(figures, "response_lower_bound"));

    fputs("  ms                   mean       min       p50       p90       p99"
          "     p99.9    p99.99       max    stddev\n",
          out);
    print_latency(out, "service", json_object_get(figures, "service_us"),
                  false);
    print_latency(out, "response", json_object_get(figures, "response_us"),
                  bound);
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

static void on_phase_end(struct live *live, const json_t *event)
{
    const json_t *total = json_object_get(event, "total");
    const char *verdict = text_of(event, "verdict");
    char label[48];

    if (integer_of(event, "last_interval") > 0 && json_is_object(total)) {
        (void)snprintf(label, sizeof(label), "avg_%lld-%lld",
                       (long long)integer_of(event, "first_interval"),
                       (long long)integer_of(event, "last_interval"));
        live->rows += live->rows % HEADER_ROWS == 0;
        print_row(live, event, label, total);
        fputc('\n', live->out);
        live_latencies(live->out, total);
    }
    if (json_is_number(json_object_get(event, "start_spread_us")))
        fprintf(live->out,
                "  started within %.0f us on all hosts, clocks known to "
                "%.0f us\n",
                number_of(event, "start_spread_us"),
                number_of(event, "start_uncertainty_us"));
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

bool live_event(struct live *live, const json_t *event)
{
    const char *kind = text_of(event, "event");
    bool end = strcmp(kind, "end") == 0;

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
