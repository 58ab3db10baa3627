#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "tests/support/suite.h"

static struct clock_manual manual;
static int ends[2];
static char text[1 << 16];

static void open_log(bool bare)
{
    struct log_setup setup = {
        .program = "lockstepd",
        .level = LOG_LEVEL_NOTICE,
        .bare = bare,
        .fd = ends[1],
        .clock = &manual.clock,
    };

    log_open(&setup);
}

static void setup(void)
{
    ck_assert_int_eq(unsetenv("JOURNAL_STREAM"), 0);
    ck_assert_int_eq(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    clock_manual_init(&manual, 1000 * NS_PER_S);
    manual.wall_ns = INT64_C(1769860800123456789);
    ck_assert_int_eq(setenv("TZ", "UTC", 1), 0);
    open_log(true);
}

static void teardown(void)
{
    (void)close(ends[0]);
    (void)close(ends[1]);
}

/* What was logged since the last time. */
static const char *logged(void)
{
    ssize_t n = read(ends[0], text, sizeof(text) - 1);

    text[n > 0 ? n : 0] = '\0';
    return text;
}

static int lines(void)
{
    int count = 0;

    for (const char *at = logged(); *at != '\0'; at++)
        count += *at == '\n';
    return count;
}

START_TEST(levels_and_subjects)
{
    errno = EIO;
    log_notice(NULL, "listening on %s", "x:1");
    ck_assert_int_eq(errno, EIO);
    ck_assert_str_eq(logged(), "lockstepd: listening on x:1\n");
    log_warn("agent host7", "gone, ignoring");
    ck_assert_str_eq(logged(),
                     "lockstepd: warning: agent host7: gone, ignoring\n");
    log_error("store", "full");
    ck_assert_str_eq(logged(), "lockstepd: error: store: full\n");
    log_debug(NULL, "chatter");
    ck_assert_str_eq(logged(), "");
    log_set_level(LOG_LEVEL_DEBUG);
    ck_assert(log_is_on(LOG_LEVEL_DEBUG));
    log_debug(NULL, "chatter");
    ck_assert_str_eq(logged(), "lockstepd: debug: chatter\n");
    log_set_level(LOG_LEVEL_ERROR);
    log_warn(NULL, "quiet");
    ck_assert_str_eq(logged(), "");
}
END_TEST

START_TEST(stamps)
{
    open_log(false);
    log_notice(NULL, "here");
    ck_assert_str_eq(logged(), "2026-01-31 12:00:00.123 lockstepd: here\n");
    ck_assert_int_eq(setenv("JOURNAL_STREAM", "8:1", 1), 0);
    open_log(false);
    log_warn(NULL, "here");
    ck_assert_str_eq(logged(), "<4>lockstepd: warning: here\n");
}
END_TEST

/* What a peer sends cannot forge a second line, nor colour a terminal. */
START_TEST(one_line_stays_one_line)
{
    char big[5000];

    log_notice("agent\nx", "a\r\nlockstepd: forged \x1b[31m");
    ck_assert_str_eq(logged(),
                     "lockstepd: agent?x: a??lockstepd: forged ?[31m\n");
    memset(big, 'x', sizeof(big) - 1);
    big[sizeof(big) - 1] = '\0';
    log_notice(NULL, "%s", big);
    ck_assert_uint_eq(strlen(logged()), 2047);
    ck_assert_int_eq(text[2046], '\n');
}
END_TEST

static void repeat(const char *who, int times)
{
    for (int i = 0; i < times; i++)
        log_warn(who, "refused %d", i);
}

START_TEST(repeated_lines_are_limited)
{
    repeat("a", 25);
    repeat("b", 3); /* another subject has its own limit */
    ck_assert_int_eq(lines(), 13);
    clock_manual_advance(&manual, 9 * NS_PER_S);
    repeat("a", 5);
    ck_assert_int_eq(lines(), 0);
    clock_manual_advance(&manual, NS_PER_S);
    repeat("a", 1);
    ck_assert_str_eq(logged(), "lockstepd: warning: a: refused 0 (20 like it "
                               "left out)\n");
    repeat("a", 1);
    ck_assert_str_eq(logged(), "lockstepd: warning: a: refused 0\n");
}
END_TEST

/* Many subjects share a bounded table; none is lost for it. */
START_TEST(many_subjects)
{
    char who[32];

    for (int i = 0; i < 300; i++) {
        (void)snprintf(who, sizeof(who), "agent host%d", i);
        log_notice(who, "connected");
        ck_assert_int_eq(lines(), 1);
    }
}
END_TEST

static void *log_much(void *who)
{
    for (int i = 0; i < 200; i++)
        log_notice(who, "line %d", i);
    return NULL;
}

START_TEST(any_thread)
{
    static char names[4][2] = {"a", "b", "c", "d"};
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, log_much, names[i]),
                         0);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_int_eq(lines(), 40);
}
END_TEST

START_TEST(names_of_levels)
{
    enum log_level level = LOG_LEVEL_ERROR;

    ck_assert_int_eq(log_level_parse("debug", &level), 0);
    ck_assert_int_eq(level, LOG_LEVEL_DEBUG);
    ck_assert_int_eq(log_level_parse("warning", &level), 0);
    ck_assert_int_eq(level, LOG_LEVEL_WARN);
    ck_assert_int_eq(log_level_parse("loud", &level), -EINVAL);
    ck_assert_int_eq(level, LOG_LEVEL_WARN);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("log");
    TCase *tc = tcase_create("log");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, levels_and_subjects);
    tcase_add_test(tc, stamps);
    tcase_add_test(tc, one_line_stays_one_line);
    tcase_add_test(tc, repeated_lines_are_limited);
    tcase_add_test(tc, many_subjects);
    tcase_add_test(tc, any_thread);
    tcase_add_test(tc, names_of_levels);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
