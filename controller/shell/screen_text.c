/* screen_text.c - see screen_text.h. */
#include "controller/shell/screen_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/units.h"
#include "controller/report/read.h"

/* Where each part begins. */
enum line {
    LINE_TITLE,
    LINE_RUN,
    LINE_PROGRESS,
    LINE_RATES = 4,
    LINE_LATENCY_HEAD = 6,
    LINE_SERVICE,
    LINE_RESPONSE,
    LINE_RATE_BARS = 10,
    LINE_P99_BARS,
    LINE_LIST_HEAD = 13,
    LINE_LIST,
};

void screen_text_init(struct screen_text *screen)
{
    memset(screen, 0, sizeof(*screen));
}

void screen_text_done(struct screen_text *screen)
{
    json_decref(screen->status);
    json_decref(screen->phase);
    json_decref(screen->interval);
    json_decref(screen->drives);
    screen_text_init(screen);
}

/* ---- what is known ------------------------------------------------------- */

static void keep(json_t **slot, const json_t *value)
{
    json_decref(*slot);
    *slot = json_deep_copy(value);
}

/* Milliseconds; below 0: not known. */
static double latency_of(const json_t *figures, const char *family,
                         const char *key)
{
    const json_t *value =
        json_object_get(json_object_get(figures, family), key);

    return json_is_number(value) ? json_number_value(value) / 1000 : -1;
}

static bool is_fill(const struct screen_text *s)
{
    return strcmp(read_text(s->phase, "kind"), "fill") == 0;
}

/* Below 0: a gap. */
static void remember(struct screen_text *s, double rate, double p99)
{
    if (s->past == SCREEN_PAST) {
        memmove(s->rates, s->rates + 1, sizeof(s->rates) - sizeof(s->rates[0]));
        memmove(s->p99s, s->p99s + 1, sizeof(s->p99s) - sizeof(s->p99s[0]));
        s->past--;
    }
    s->rates[s->past] = rate;
    s->p99s[s->past++] = p99;
}

static void on_interval(struct screen_text *s, const json_t *event)
{
    const json_t *figures = json_object_get(event, "figures");

    if (strcmp(read_text(event, "kind"), "drain") == 0)
        return;
    /* A row that was made anew replaces its figures, not its bar. */
    if (read_count(event, "phase") == read_count(s->interval, "phase") &&
        read_count(event, "interval") < read_count(s->interval, "interval"))
        return;
    if (read_count(event, "revision") <= 1 && !is_fill(s))
        remember(s, read_or_zero(figures, "iops"),
                 latency_of(figures, "service_us", "p99"));
    keep(&s->interval, event);
}

static void say(struct screen_text *s, const char *text)
{
    memmove(s->said[0], s->said[1], sizeof(s->said) - sizeof(s->said[0]));
    (void)snprintf(s->said[SCREEN_SAID - 1], sizeof(s->said[0]), "%s", text);
}

/* Phases stand apart among the bars. */
static void on_phase(struct screen_text *s, const json_t *event)
{
    if (s->past > 0)
        remember(s, -1, -1);
    keep(&s->phase, event);
}

static void on_phase_end(struct screen_text *s, const json_t *event)
{
    const json_t *total = json_object_get(event, "total");
    char text[REASON_SIZE];

    (void)snprintf(text, sizeof(text),
                   "%.80s: %s, %.1f I/O per second, mean %.3f ms",
                   read_text(event, "run"), read_text(event, "verdict"),
                   read_or_zero(total, "iops"),
                   fmax(0, latency_of(total, "service_us", "mean")));
    say(s, text);
}

void screen_text_status(struct screen_text *screen, const json_t *status)
{
    keep(&screen->status, status);
}

void screen_text_event(struct screen_text *screen, const json_t *event)
{
    const char *kind = read_text(event, "event");

    if (strcmp(kind, "interval") == 0)
        on_interval(screen, event);
    else if (strcmp(kind, "phase") == 0)
        on_phase(screen, event);
    else if (strcmp(kind, "phase_end") == 0)
        on_phase_end(screen, event);
    else if (strcmp(kind, "notice") == 0)
        say(screen, read_text(event, "text"));
}

static int slower(const void *a, const void *b)
{
    double x = latency_of(*(json_t *const *)a, "service_us", "mean");
    double y = latency_of(*(json_t *const *)b, "service_us", "mean");

    return x < y ? 1 : x > y ? -1 : 0;
}

void screen_text_drives(struct screen_text *screen, const json_t *document)
{
    const json_t *drives = json_object_get(document, "drives");
    size_t count = json_array_size(drives);
    json_t **sorted = calloc(count + 1, sizeof(json_t *));

    if (sorted == NULL)
        return;
    for (size_t i = 0; i < count; i++)
        sorted[i] = json_array_get(drives, i);
    qsort(sorted, count, sizeof(json_t *), slower);
    json_decref(screen->drives);
    screen->drives = json_array();
    for (size_t i = 0; i < count; i++)
        (void)json_array_append_new(screen->drives, json_deep_copy(sorted[i]));
    free(sorted);
}

/* ---- lines --------------------------------------------------------------- */

static const char *count_of(const struct screen_text *s, const char *key,
                            const char *noun, char text[UNITS_SIZE])
{
    return units_print_count(text, (uint64_t)read_count(s->phase, key), noun);
}

static void put_title(const struct screen_text *s, char *line)
{
    char hosts[UNITS_SIZE], drives[UNITS_SIZE];

    (void)snprintf(
        line, SCREEN_LINE_SIZE,
        " campaign %lld, phase %lld of %lld, %s, %s  '%.80s'",
        read_count(s->status, "number"), read_count(s->phase, "phase"),
        read_count(s->phase, "phases"), count_of(s, "hosts", "host", hosts),
        count_of(s, "drives", "drive", drives), read_text(s->status, "name"));
}

static void put_run(const struct screen_text *s, char *line)
{
    const char *loops = read_text(s->phase, "for");
    char drives[UNITS_SIZE];

    if (s->phase == NULL)
        (void)snprintf(line, SCREEN_LINE_SIZE, "waiting for the first phase");
    else if (is_fill(s))
        (void)snprintf(line, SCREEN_LINE_SIZE, "filling the files of %s",
                       count_of(s, "drives", "drive", drives));
    else
        (void)snprintf(line, SCREEN_LINE_SIZE, "%.80s  rate %.40s%s%.120s",
                       read_text(s->phase, "run"),
                       read_text(s->phase, "iorate_text"),
                       loops[0] != '\0' ? "  for " : "", loops);
}

/* Seconds of the phase; 0 where its end is not known beforehand. */
static double length_of(const struct screen_text *s)
{
    return read_or_zero(s->phase, "elapsed_s") +
           read_or_zero(s->phase, "warmup_s");
}

/* Seconds of it that have been told about. */
static double done_of(const struct screen_text *s)
{
    if (read_count(s->phase, "phase") != read_count(s->interval, "phase"))
        return 0;
    return fmin(length_of(s), (double)read_count(s->interval, "interval") *
                                  read_or_zero(s->phase, "interval_s"));
}

static void put_progress(const struct screen_text *s, size_t columns,
                         char *line)
{
    double length = length_of(s);
    double past = done_of(s);
    double left = read_or_zero(s->phase, "remaining_s") - past;
    size_t width = columns > 60 ? 40 : 20;
    size_t used = 0, done;
    char text[UNITS_SIZE];

    if (s->phase == NULL || length <= 0)
        return;
    done = (size_t)(past / length * (double)width);
    for (size_t i = 0; i < width; i++)
        used += (size_t)snprintf(line + used, SCREEN_LINE_SIZE - used, "%s",
                                 i < done ? "━" : "─");
    used += (size_t)snprintf(line + used, SCREEN_LINE_SIZE - used,
                             " %.0f of %.0f s", past, length);
    if (json_is_number(json_object_get(s->phase, "remaining_s")))
        (void)snprintf(line + used, SCREEN_LINE_SIZE - used, ", %s left in all",
                       units_print_duration(text, (uint64_t)fmax(0, left)));
}

static void put_rates(const struct screen_text *s, char *line)
{
    const json_t *f = json_object_get(s->interval, "figures");
    size_t used;

    if (f == NULL)
        return;
    used = (size_t)snprintf(
        line, SCREEN_LINE_SIZE,
        "%.1f I/O per second  %.2f MiB/s  %.1f %% reads  queue depth %.1f",
        read_or_zero(f, "iops"), read_or_zero(f, "mib_s"),
        read_or_zero(f, "read_pct"), read_or_zero(f, "queue_depth"));
    if (read_count(f, "unissued") > 0)
        used += (size_t)snprintf(line + used, SCREEN_LINE_SIZE - used,
                                 "  unissued %lld", read_count(f, "unissued"));
    if (read_count(f, "errors") > 0)
        used += (size_t)snprintf(line + used, SCREEN_LINE_SIZE - used,
                                 "  errors %lld", read_count(f, "errors"));
    if (read_or_zero(f, "oldest_us") >= NS_PER_S / 1000.0)
        (void)snprintf(line + used, SCREEN_LINE_SIZE - used,
                       "  oldest request %.1f s",
                       read_or_zero(f, "oldest_us") / 1e6);
}

static const char *const latency_keys[] = {"mean", "p50",  "p90",
                                           "p99",  "p999", "max"};

static void put_latency(const struct screen_text *s, const char *family,
                        const char *name, char *line)
{
    const json_t *f = json_object_get(s->interval, "figures");
    size_t used;

    if (latency_of(f, family, "mean") < 0)
        return;
    used = (size_t)snprintf(line, SCREEN_LINE_SIZE, "%-10s", name);
    for (size_t i = 0; i < ARRAY_LENGTH(latency_keys); i++) {
        double ms = latency_of(f, family, latency_keys[i]);

        if (ms < 0)
            used += (size_t)snprintf(line + used, SCREEN_LINE_SIZE - used,
                                     "%10s", "-");
        else
            used += (size_t)snprintf(line + used, SCREEN_LINE_SIZE - used,
                                     "%10.3f", ms);
    }
}

static void put_bars(const char *name, const double *values, size_t count,
                     int digits, size_t columns, char *line)
{
    static const char *const bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    size_t room = columns > 40 ? columns - 32 : 8;
    size_t first = count > room ? count - room : 0;
    double top = 0;
    size_t used;

    for (size_t i = first; i < count; i++)
        top = fmax(top, values[i]);
    if (count == 0 || top <= 0)
        return;
    used = (size_t)snprintf(line, SCREEN_LINE_SIZE, "%-10s", name);
    for (size_t i = first; i < count; i++) {
        double share = fmax(0, values[i]) / top;
        size_t level = (size_t)(share * (ARRAY_LENGTH(bars) - 1) + 0.5);

        used += (size_t)snprintf(line + used, SCREEN_LINE_SIZE - used, "%s",
                                 values[i] < 0 ? " " : bars[level]);
    }
    (void)snprintf(line + used, SCREEN_LINE_SIZE - used, "  top %.*f", digits,
                   top);
}

static const json_t *list_of(const struct screen_text *s)
{
    if (s->list == SCREEN_DRIVES && json_array_size(s->drives) > 0)
        return s->drives;
    return json_object_get(s->interval, s->list == SCREEN_WORKLOADS
                                            ? "workload_rows"
                                            : "host_rows");
}

static void put_list_head(const struct screen_text *s, char *line)
{
    bool drives = list_of(s) == s->drives && s->drives != NULL;
    const char *name = drives                        ? "drive, slowest first"
                       : s->list == SCREEN_WORKLOADS ? "workload"
                                                     : "host";

    if (s->interval != NULL)
        (void)snprintf(line, SCREEN_LINE_SIZE, "%-34s%11s%10s%10s%10s%10s",
                       name, "I/O per s", "MiB/s", "mean ms", "p99 ms",
                       "max ms");
}

static size_t put_ms(char *text, size_t size, double ms)
{
    return (size_t)(ms < 0 ? snprintf(text, size, "%10s", "-")
                           : snprintf(text, size, "%10.3f", ms));
}

static void put_item(const struct screen_text *s, size_t number, char *line)
{
    static const char *const keys[] = {"mean", "p99", "max"};
    const json_t *row = json_array_get(list_of(s), number);
    const char *lun = read_text(row, "lun");
    char name[128];
    size_t used;

    if (row == NULL)
        return;
    (void)snprintf(name, sizeof(name), "%.60s  %.60s", read_text(row, "name"),
                   lun);
    used =
        (size_t)snprintf(line, SCREEN_LINE_SIZE, "%-34.34s%11.1f%10.2f", name,
                         read_or_zero(row, "iops"), read_or_zero(row, "mib_s"));
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++)
        used += put_ms(line + used, SCREEN_LINE_SIZE - used,
                       latency_of(row, "service_us", keys[i]));
    if (read_or_zero(row, "oldest_us") >= NS_PER_S / 1000.0)
        (void)snprintf(line + used, SCREEN_LINE_SIZE - used, "  oldest %.1f s",
                       read_or_zero(row, "oldest_us") / 1e6);
}

static void put_keys(char *line)
{
    (void)snprintf(line, SCREEN_LINE_SIZE,
                   " d drives  h hosts  w workloads  q leave (the campaign "
                   "goes on)");
}

/* Cuts after so many characters. */
static void cut(char *line, size_t columns)
{
    size_t width = 0;
    char *at = line;

    for (; *at != '\0'; at++) {
        width += ((unsigned char)*at & 0xc0) != 0x80;
        if (width > columns)
            break;
    }
    *at = '\0';
}

/* The part above the list. */
static void put_head(const struct screen_text *s, struct screen_size size,
                     size_t number, char *line)
{
    switch ((enum line)number) {
    case LINE_TITLE:
        put_title(s, line);
        break;
    case LINE_RUN:
        put_run(s, line);
        break;
    case LINE_PROGRESS:
        put_progress(s, size.columns, line);
        break;
    case LINE_RATES:
        put_rates(s, line);
        break;
    case LINE_LATENCY_HEAD:
        if (s->interval != NULL)
            (void)snprintf(line, SCREEN_LINE_SIZE,
                           "%-10s%10s%10s%10s%10s%10s%10s", "ms", "mean", "p50",
                           "p90", "p99", "p99.9", "max");
        break;
    case LINE_SERVICE:
        put_latency(s, "service_us", "service", line);
        break;
    case LINE_RESPONSE:
        put_latency(s, "response_us", "response", line);
        break;
    case LINE_RATE_BARS:
        put_bars("rate", s->rates, s->past, 0, size.columns, line);
        break;
    case LINE_P99_BARS:
        put_bars("p99 ms", s->p99s, s->past, 3, size.columns, line);
        break;
    case LINE_LIST_HEAD:
        put_list_head(s, line);
        break;
    default:
        break;
    }
}

void screen_text_line(const struct screen_text *screen, struct screen_size size,
                      size_t number, char line[SCREEN_LINE_SIZE])
{
    size_t said = size.rows > SCREEN_SAID ? size.rows - 1 - SCREEN_SAID : 0;

    line[0] = '\0';
    if (number + 1 == size.rows)
        put_keys(line);
    else if (number >= said && number >= LINE_LIST)
        (void)snprintf(line, SCREEN_LINE_SIZE, "%s",
                       screen->said[number - said]);
    else if (number >= LINE_LIST)
        put_item(screen, number - LINE_LIST, line);
    else
        put_head(screen, size, number, line);
    cut(line, size.columns);
}
