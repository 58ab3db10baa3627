/* vdbench_lines.c - see vdbench_lines.h. */
#include "controller/report/vdbench_lines.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "common/units.h"

/* What vdbench writes for a rate that is not asked for. */
#define FLAT_RATE_MAX   9999988
#define FLAT_RATE_CURVE 9999977

static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

/* ---- Times -----------------------------------------------------------------
 */

static bool is_letters(const char *zone)
{
    size_t length = 0;

    for (; zone[length] != '\0'; length++)
        if (!isalpha((unsigned char)zone[length]))
            return false;
    return length > 0;
}

/* False for what is no time. */
static bool wall_tm(const char *wall, struct tm *ret_tm, int *ret_ms)
{
    int64_t seconds;
    time_t time;

    if (!read_time(wall, &seconds, ret_ms))
        return false;
    time = (time_t)seconds;
    if (localtime_r(&time, ret_tm) == NULL || !is_letters(ret_tm->tm_zone))
        (void)gmtime_r(&time, ret_tm);
    return true;
}

void vdbench_tod(const char *wall, char text[VDBENCH_TOD_SIZE])
{
    struct tm tm = {0};
    int ms = 0;

    (void)wall_tm(wall, &tm, &ms);
    (void)snprintf(text, VDBENCH_TOD_SIZE, "%02d:%02d:%02d.%03d",
                   tm.tm_hour % 100, tm.tm_min % 100, tm.tm_sec % 100,
                   ms % 1000);
}

void vdbench_stamp(const char *wall, char text[VDBENCH_STAMP_SIZE])
{
    struct tm tm = {.tm_year = 70, .tm_mday = 1, .tm_zone = "UTC"};
    int ms = 0;

    (void)wall_tm(wall, &tm, &ms);
    (void)snprintf(text, VDBENCH_STAMP_SIZE, "%02d/%02d/%04d-%02d:%02d:%02d-%s",
                   tm.tm_mon % 12 + 1, tm.tm_mday % 100,
                   (tm.tm_year + 1900) % 10000, tm.tm_hour % 100,
                   tm.tm_min % 100, tm.tm_sec % 100,
                   strcmp(tm.tm_zone, "GMT") == 0 ? "UTC" : tm.tm_zone);
}

/* ---- Lines -----------------------------------------------------------------
 */

void vdbench_print_distribution(FILE *out)
{
    fputs("Vdbench distribution: vdbench50407 layout, written by "
          "lockstep " LOCKSTEP_VERSION "\n",
          out);
}

static void print_rate(FILE *out, const json_t *phase)
{
    char text[READ_DIGITS_SIZE];

    if (read_is(phase, "iorate_text", "max"))
        fputs("Uncontrolled MAX", out);
    else if (read_is(phase, "iorate_text", "curve"))
        fputs("Uncontrolled curve", out);
    else
        fputs(read_digits_of(read_or_zero(phase, "iorate"), 3, text), out);
}

/* Whole seconds, and one at least where there is any. */
static long whole(double seconds)
{
    return seconds > 0 && seconds < 1 ? 1 : lround(seconds);
}

void vdbench_print_start(FILE *out, const json_t *phase, const char *wall)
{
    const char *loops = read_text(phase, "for");
    char tod[VDBENCH_TOD_SIZE];

    vdbench_tod(wall, tod);
    fprintf(out, "%s Starting RD=%s; I/O rate: ", tod, read_text(phase, "run"));
    print_rate(out, phase);
    fprintf(out, "; elapsed=%ld", whole(read_or_zero(phase, "elapsed_s")));
    if (read_or_zero(phase, "warmup_s") > 0)
        fprintf(out, " warmup=%ld", whole(read_or_zero(phase, "warmup_s")));
    fprintf(out, "; For loops: %s", loops[0] != '\0' ? loops : "None");
}

void vdbench_print_header(FILE *out, const char *wall, const char *more_first,
                          const char *more_second)
{
    struct tm tm = {.tm_year = 70, .tm_mday = 1};
    int ms;

    (void)wall_tm(wall, &tm, &ms);
    fprintf(out,
            "\n%s %02d, %d    interval        i/o   MB/sec   bytes   read     "
            "resp     read    write     read    write     resp  queue  cpu%%  "
            "cpu%%%s\n"
            "                               rate  1024**2     i/o    pct     "
            "time     resp     resp      max      max   stddev  depth sys+u"
            "   sys%s\n",
            months[tm.tm_mon % 12], tm.tm_mday, tm.tm_year + 1900, more_first,
            more_second);
}

/* A latency in ms, 0 where there is none. */
static double ms_of(const json_t *figures, const char *path)
{
    return read_or_zero(figures, path) / 1000;
}

void vdbench_print_row(FILE *out, const char *wall, const char *label,
                       const json_t *f)
{
    char tod[VDBENCH_TOD_SIZE];

    vdbench_tod(wall, tod);
    fprintf(out,
            "%s %11s %10.1f %8.2f %7.0f %6.2f %8.3f %8.3f %8.3f %8.2f %8.2f "
            "%8.3f %6.1f %5.1f %5.1f",
            tod, label, read_or_zero(f, "iops"), read_or_zero(f, "mib_s"),
            read_or_zero(f, "bytes_per_io"), read_or_zero(f, "read_pct"),
            ms_of(f, "service_us.mean"), ms_of(f, "read.service_us.mean"),
            ms_of(f, "write.service_us.mean"), ms_of(f, "read.service_us.max"),
            ms_of(f, "write.service_us.max"), ms_of(f, "service_us.stddev"),
            read_or_zero(f, "queue_depth"), read_or_zero(f, "host_cpu_pct"),
            read_or_zero(f, "host_system_pct"));
}

void vdbench_label(const json_t *event, char text[VDBENCH_LABEL_SIZE])
{
    if (read_is(event, "event", "phase_end"))
        (void)snprintf(text, VDBENCH_LABEL_SIZE, "avg_%lld-%lld",
                       (long long)read_count(event, "first_interval"),
                       (long long)read_count(event, "last_interval"));
    else
        (void)snprintf(text, VDBENCH_LABEL_SIZE, "%lld",
                       (long long)read_count(event, "interval"));
}

const json_t *vdbench_average(const json_t *event,
                              char label[VDBENCH_LABEL_SIZE])
{
    const json_t *rest = json_object_get(event, "without_first");
    const json_t *total = json_object_get(event, "total");

    vdbench_label(event, label);
    if (read_count(event, "last_interval") == 0 || !json_is_object(total))
        return NULL;
    if (!json_is_object(rest))
        return total;
    (void)snprintf(label, VDBENCH_LABEL_SIZE, "avg_2-%lld",
                   (long long)read_count(event, "last_interval"));
    return rest;
}

/* ---- The flatfile ----------------------------------------------------------
 */

enum flat_form {
    FLAT_TOD,
    FLAT_STAMP,
    FLAT_RUN,
    FLAT_INTERVAL,
    FLAT_RATE,   /* asked */
    FLAT_FIGURE, /* of the figures, as it is; 0 where there is none */
    FLAT_KNOWN,  /* the same, but n/a */
    FLAT_MS,     /* of the figures, us as ms */
    FLAT_WHOLE,  /* of the figures, rounded */
    FLAT_SIZE,   /* of the phase, "4k" as bytes */
    FLAT_TEXT,   /* of the phase, one word */
    FLAT_USER,   /* the CPUs' share that is neither system nor idle */
    FLAT_IDLE,
    FLAT_ONE,
    FLAT_NONE, /* never known */
};

static const struct flat_column {
    const char *name;
    enum flat_form form;
    const char *path;
} flat_columns[] = {
    {"tod", FLAT_TOD, NULL},
    {"timestamp", FLAT_STAMP, NULL},
    {"Run", FLAT_RUN, "run"},
    {"Interval", FLAT_INTERVAL, NULL},
    {"reqrate", FLAT_RATE, NULL},
    {"rate", FLAT_FIGURE, "iops"},
    {"MB/sec", FLAT_FIGURE, "mib_s"},
    {"bytes/io", FLAT_WHOLE, "bytes_per_io"},
    {"read%", FLAT_FIGURE, "read_pct"},
    {"resp", FLAT_MS, "service_us.mean"},
    {"read_resp", FLAT_MS, "read.service_us.mean"},
    {"write_resp", FLAT_MS, "write.service_us.mean"},
    {"resp_max", FLAT_MS, "service_us.max"},
    {"read_max", FLAT_MS, "read.service_us.max"},
    {"write_max", FLAT_MS, "write.service_us.max"},
    {"resp_std", FLAT_MS, "service_us.stddev"},
    {"read_std", FLAT_MS, "read.service_us.stddev"},
    {"write_std", FLAT_MS, "write.service_us.stddev"},
    {"xfersize", FLAT_SIZE, "xfersize"},
    {"threads", FLAT_TEXT, "threads"},
    {"rdpct", FLAT_TEXT, "rdpct"},
    {"rhpct", FLAT_NONE, NULL},
    {"whpct", FLAT_NONE, NULL},
    {"seekpct", FLAT_TEXT, "seekpct"},
    {"lunsize", FLAT_NONE, NULL},
    {"version", FLAT_NONE, NULL},
    {"compratio", FLAT_ONE, NULL},
    {"dedupratio", FLAT_NONE, NULL},
    {"queue_depth", FLAT_FIGURE, "queue_depth"},
    {"cpu_used", FLAT_KNOWN, "host_cpu_pct"},
    {"cpu_user", FLAT_USER, NULL},
    {"cpu_kernel", FLAT_KNOWN, "host_system_pct"},
    {"cpu_wait", FLAT_NONE, NULL},
    {"cpu_idle", FLAT_IDLE, NULL},
};

void vdbench_print_flat_header(FILE *out)
{
    for (size_t i = 0; i < ARRAY_LENGTH(flat_columns); i++)
        fprintf(out, " %s", flat_columns[i].name);
    fputc('\n', out);
}

/* A word without blanks, of one line. */
static void print_word(FILE *out, const char *text)
{
    if (text[0] == '\0')
        fputs("n/a", out);
    for (; *text != '\0'; text++)
        fputc(isspace((unsigned char)*text) ? '_' : *text, out);
}

static void print_size(FILE *out, const char *text)
{
    uint64_t bytes;

    if (units_parse_size(text, &bytes) == 0)
        fprintf(out, "%llu", (unsigned long long)bytes);
    else
        fputs("n/a", out);
}

static void print_asked(FILE *out, const json_t *phase)
{
    char text[READ_DIGITS_SIZE];

    if (read_is(phase, "iorate_text", "max"))
        fprintf(out, "%d", FLAT_RATE_MAX);
    else if (read_is(phase, "iorate_text", "curve"))
        fprintf(out, "%d", FLAT_RATE_CURVE);
    else
        fputs(read_digits_of(read_or_zero(phase, "iorate"), 3, text), out);
}

static void print_known(FILE *out, double value)
{
    char text[READ_DIGITS_SIZE];

    fputs(isfinite(value) ? read_digits_of(value, 6, text) : "n/a", out);
}

/* A value of the figures. */
static void print_figure(FILE *out, const struct flat_column *column,
                         const json_t *f)
{
    double used = read_number(f, "host_cpu_pct");
    double system = read_number(f, "host_system_pct");

    switch (column->form) {
    case FLAT_MS:
        print_known(out, ms_of(f, column->path));
        break;
    case FLAT_WHOLE:
        fprintf(out, "%.0f", read_or_zero(f, column->path));
        break;
    case FLAT_USER:
        print_known(out,
                    isfinite(used - system) ? fmax(used - system, 0) : NAN);
        break;
    case FLAT_IDLE:
        print_known(out, 100 - used);
        break;
    case FLAT_KNOWN:
        print_known(out, read_number(f, column->path));
        break;
    default:
        print_known(out, read_or_zero(f, column->path));
        break;
    }
}

struct flat_row {
    const json_t *phase;
    const char *wall;
    const char *label;
    const json_t *figures;
};

static void print_flat(FILE *out, const struct flat_column *column,
                       const struct flat_row *row)
{
    char text[VDBENCH_STAMP_SIZE];

    switch (column->form) {
    case FLAT_TOD:
        vdbench_tod(row->wall, text);
        fputs(text, out);
        break;
    case FLAT_STAMP:
        vdbench_stamp(row->wall, text);
        fputs(text, out);
        break;
    case FLAT_INTERVAL: /* vdbench has two blanks before an average */
        fprintf(out, "%s%s", row->label[0] == 'a' ? " " : "", row->label);
        break;
    case FLAT_RATE:
        print_asked(out, row->phase);
        break;
    case FLAT_SIZE:
        print_size(out, read_text(row->phase, column->path));
        break;
    case FLAT_RUN:
    case FLAT_TEXT:
        print_word(out, read_text(row->phase, column->path));
        break;
    case FLAT_ONE:
        fputs("1", out);
        break;
    case FLAT_NONE:
        fputs("n/a", out);
        break;
    default:
        print_figure(out, column, row->figures);
        break;
    }
}

void vdbench_print_flat_row(FILE *out, const json_t *phase, const char *wall,
                            const char *label, const json_t *figures)
{
    const struct flat_row row = {phase, wall, label, figures};

    for (size_t i = 0; i < ARRAY_LENGTH(flat_columns); i++) {
        print_flat(out, &flat_columns[i], &row);
        fputc(' ', out);
    }
    fputc('\n', out);
}
