#include "common/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"

#define LINE_SIZE     2048
#define LIMIT_LINES   10
#define LIMIT_WINDOW  (10 * NS_PER_S)
#define LIMITED_SLOTS 64

/* One format and subject, and how often they came in their window. */
struct limited {
    const char *format;
    uint64_t who; /* a hash: two subjects in one slot only share a limit */
    uint64_t window_ns;
    uint32_t lines;
    uint32_t left_out;
};

/*
 * One log per process: the only state of ours that is global.  `lock` guards
 * `limited`; the setup does not change while threads run, the level may.
 */
static struct {
    struct log_setup setup;
    bool journald;
    atomic_int level;
    pthread_mutex_t lock;
    struct limited limited[LIMITED_SLOTS];
} state = {
    .setup = {.program = "lockstep", .bare = true, .fd = STDERR_FILENO},
    .level = LOG_LEVEL_NOTICE,
    .lock = PTHREAD_MUTEX_INITIALIZER,
};

static const char *const level_names[] = {
    [LOG_LEVEL_ERROR] = "error",
    [LOG_LEVEL_WARN] = "warning",
    [LOG_LEVEL_NOTICE] = "notice",
    [LOG_LEVEL_DEBUG] = "debug",
};

void log_open(const struct log_setup *setup)
{
    state.setup = *setup;
    state.journald = getenv("JOURNAL_STREAM") != NULL;
    memset(state.limited, 0, sizeof(state.limited));
    log_set_level(setup->level);
}

void log_set_level(enum log_level level)
{
    atomic_store_explicit(&state.level, (int)level, memory_order_relaxed);
}

bool log_is_on(enum log_level level)
{
    return (int)level <=
           atomic_load_explicit(&state.level, memory_order_relaxed);
}

int log_level_parse(const char *text, enum log_level *ret_level)
{
    for (size_t i = 0; i < ARRAY_LENGTH(level_names); i++)
        if (strcmp(text, level_names[i]) == 0) {
            *ret_level = (enum log_level)i;
            return 0;
        }
    return -EINVAL;
}

static const struct clock *the_clock(void)
{
    return state.setup.clock != NULL ? state.setup.clock : clock_os();
}

static uint64_t hash_text(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; text != NULL && *text != '\0'; text++)
        hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    return hash;
}

/* The slot of a line: its own, else the one whose window began first. */
static struct limited *find_limited(const char *format, uint64_t who)
{
    struct limited *oldest = &state.limited[0];

    for (size_t i = 0; i < LIMITED_SLOTS; i++) {
        struct limited *l = &state.limited[i];

        if (l->format == format && l->who == who)
            return l;
        if (l->window_ns < oldest->window_ns)
            oldest = l;
    }
    *oldest = (struct limited){.format = format, .who = who};
    return oldest;
}

/* May the line be printed?  Also how many like it were not, before. */
static bool admit(const char *who, const char *format, uint32_t *ret_left_out)
{
    uint64_t now_ns = clock_now_ns(the_clock());
    struct limited *l = find_limited(format, hash_text(who));

    *ret_left_out = 0;
    if (l->lines == 0 || now_ns - l->window_ns >= LIMIT_WINDOW) {
        *ret_left_out = l->left_out;
        l->window_ns = now_ns;
        l->lines = 0;
        l->left_out = 0;
    }
    if (l->lines >= LIMIT_LINES) {
        l->left_out++;
        return false;
    }
    l->lines++;
    return true;
}

/* A line under construction; what does not fit is cut. */
struct line {
    char text[LINE_SIZE];
    size_t length;
};

static void PRINTF(2, 0)
    line_vadd(struct line *line, const char *format, va_list args)
{
    size_t room = sizeof(line->text) - line->length;
    int n = vsnprintf(line->text + line->length, room, format, args);

    if (n > 0)
        line->length += (size_t)n < room ? (size_t)n : room - 1;
}

static void PRINTF(2, 3) line_add(struct line *line, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    line_vadd(line, format, args);
    va_end(args);
}

static void add_time(struct line *line)
{
    int64_t ns = the_clock()->wall_ns(the_clock());
    time_t seconds = (time_t)(ns / (int64_t)NS_PER_S);
    char text[32];
    struct tm tm;

    if (localtime_r(&seconds, &tm) == NULL ||
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm) == 0)
        return;
    line_add(line, "%s.%03u ", text,
             (unsigned)(ns % (int64_t)NS_PER_S / (int64_t)NS_PER_MS));
}

static void add_head(struct line *line, enum log_level level, const char *who)
{
    static const int syslog_levels[] = {3, 4, 5, 7};

    if (state.journald)
        line_add(line, "<%d>", syslog_levels[level]);
    else if (!state.setup.bare)
        add_time(line);
    line_add(line, "%s: ", state.setup.program);
    if (level != LOG_LEVEL_NOTICE)
        line_add(line, "%s: ", level_names[level]);
    if (who != NULL)
        line_add(line, "%s: ", who);
}

/* What a peer chose may be in it: one line stays one line. */
static void end_line(struct line *line)
{
    for (size_t i = 0; i < line->length; i++)
        if ((unsigned char)line->text[i] < ' ' || line->text[i] == 0x7f)
            line->text[i] = '?';
    if (line->length == sizeof(line->text) - 1)
        line->length--;
    line->text[line->length++] = '\n';
}

static void write_line(const struct line *line)
{
    size_t done = 0;

    while (done < line->length) {
        ssize_t n =
            write(state.setup.fd, line->text + done, line->length - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return; /* nobody left to tell */
        done += (size_t)n;
    }
}

static void PRINTF(3, 0) log_line(enum log_level level, const char *who,
                                  const char *format, va_list args)
{
    struct line line = {.length = 0};
    uint32_t left_out = 0;
    bool admitted;
    int saved = errno;

    if (!log_is_on(level))
        return;
    (void)pthread_mutex_lock(&state.lock);
    admitted = level == LOG_LEVEL_DEBUG || admit(who, format, &left_out);
    (void)pthread_mutex_unlock(&state.lock);
    if (admitted) {
        add_head(&line, level, who);
        line_vadd(&line, format, args);
        if (left_out > 0)
            line_add(&line, " (%u like it left out)", left_out);
        end_line(&line);
        write_line(&line);
    }
    errno = saved;
}

void log_error(const char *who, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    log_line(LOG_LEVEL_ERROR, who, format, args);
    va_end(args);
}

void log_warn(const char *who, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    log_line(LOG_LEVEL_WARN, who, format, args);
    va_end(args);
}

void log_notice(const char *who, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    log_line(LOG_LEVEL_NOTICE, who, format, args);
    va_end(args);
}

void log_debug(const char *who, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    log_line(LOG_LEVEL_DEBUG, who, format, args);
    va_end(args);
}
