/* Real commands on a real loop: how they end, what they said, what is left. */
#include "common/runner.h"

#include "tests/support/suite.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

static uv_loop_t loop;
static struct runner *runner;
static struct runner_result last;
static char said[RUNNER_LINES_MAX][TEXT_SIZE];
static uint32_t told;

static void setup(void)
{
    ck_assert_int_eq(uv_loop_init(&loop), 0);
    runner = runner_new(&loop);
    ck_assert_ptr_nonnull(runner);
    told = 0;
}

static void teardown(void)
{
    runner_free(runner);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
}

static void done(void *context, const struct runner_result *result)
{
    ck_assert_ptr_eq(context, &told);
    ck_assert(runner_is_free(runner));
    told++;
    last = *result;
    for (uint32_t i = 0; i < result->line_count; i++)
        (void)snprintf(said[i], TEXT_SIZE, "%s", result->lines[i]);
}

static void start(const char *text, uint64_t limit_ns)
{
    static const char *const environment[] = {"LOCKSTEP_PHASE=7", NULL};
    struct command command = {.name = "c", .limit_ns = limit_ns};

    (void)snprintf(command.text, sizeof(command.text), "%s", text);
    ck_assert_int_eq(runner_start(runner, &command, environment, done, &told),
                     0);
    ck_assert_uint_eq(told, 0);
    ck_assert(!runner_is_free(runner));
}

static void run(const char *text)
{
    start(text, 20 * NS_PER_S);
    ck_assert_int_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    ck_assert_uint_eq(told, 1);
    ck_assert(runner_is_idle(runner));
}

START_TEST(lines_come_in_their_order_and_the_status_with_them)
{
    run("/bin/sh -c \"echo one; echo two >&2; echo; echo $LOCKSTEP_PHASE; "
        "exit 3\"");
    ck_assert_int_eq(last.end, RUNNER_EXITED);
    ck_assert_int_eq(last.status, 3);
    ck_assert_uint_eq(last.line_count, 3);
    ck_assert_str_eq(said[0], "one");
    ck_assert_str_eq(said[1], "two");
    ck_assert_str_eq(said[2], "7");
}
END_TEST

START_TEST(words_are_words_and_no_shell_looks_at_them)
{
    run("/bin/echo $HOME ; \"a  b\" >x");
    ck_assert_int_eq(last.status, 0);
    ck_assert_uint_eq(last.line_count, 1);
    ck_assert_str_eq(said[0], "$HOME ; a  b >x");
}
END_TEST

START_TEST(program_that_is_not_there_is_told_as_an_end)
{
    run("/nowhere/at/all");
    ck_assert_int_eq(last.end, RUNNER_NO_START);
    ck_assert_int_eq(last.status, ENOENT);
    told = 0;
    run("/bin/true"); /* and another can follow */
    ck_assert_int_eq(last.end, RUNNER_EXITED);
}
END_TEST

START_TEST(signal_is_no_exit_status)
{
    run("/bin/sh -c \"kill -9 $$\"");
    ck_assert_int_eq(last.end, RUNNER_KILLED);
    ck_assert_int_eq(last.status, SIGKILL);
}
END_TEST

/* It ignores SIGTERM, and so does its child: the whole group goes. */
START_TEST(limit_ends_the_whole_group)
{
    pid_t child;

    start("/bin/sh -c \"trap '' TERM; sleep 60 & echo $!; wait\"",
          300 * NS_PER_MS);
    ck_assert_int_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    ck_assert_uint_eq(told, 1);
    ck_assert_int_eq(last.end, RUNNER_TIMED_OUT);
    ck_assert_uint_ge(last.duration_ns, 300 * NS_PER_MS);
    ck_assert_uint_le(last.duration_ns, 10 * NS_PER_S);
    child = (pid_t)strtol(said[0], NULL, 10);
    ck_assert_int_gt(child, 1);
    /* Killed; gone, or a zombie of whoever adopts orphans here. */
    for (int i = 0; i < 1000 && kill(child, 0) == 0; i++) {
        char path[64], text[256] = "";
        FILE *stat;

        (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)child);
        stat = fopen(path, "r");
        if (stat == NULL)
            break;
        if (fgets(text, sizeof(text), stat) == NULL)
            text[0] = '\0';
        fclose(stat);
        if (strstr(text, ") Z") != NULL)
            break;
        ck_assert_int_lt(i, 999);
        (void)poll(NULL, 0, 5);
    }
}
END_TEST

START_TEST(what_it_left_behind_goes_with_it)
{
    run("/bin/sh -c \"sleep 60 & echo gone\"");
    ck_assert_int_eq(last.end, RUNNER_EXITED);
    ck_assert_str_eq(said[0], "gone");
    ck_assert_uint_le(last.duration_ns, 10 * NS_PER_S);
}
END_TEST

START_TEST(of_much_output_the_last_lines_are_kept)
{
    run("/bin/sh -c \"i=0; while [ $i -lt 5000 ]; do echo line $i; "
        "i=$((i+1)); done\"");
    ck_assert_uint_eq(last.line_count, RUNNER_LINES_MAX);
    ck_assert_str_eq(said[RUNNER_LINES_MAX - 1], "line 4999");
    ck_assert_uint_gt(last.bytes, 45000);
}
END_TEST

START_TEST(lines_are_plain_and_short)
{
    run("/usr/bin/printf \"a\\033[31mb\\000c\\n%0400d\\n\" 7");
    ck_assert_uint_eq(last.line_count, 2);
    ck_assert_str_eq(said[0], "a?[31mb?c");
    ck_assert_uint_eq(strlen(said[1]), TEXT_SIZE - 1);
}
END_TEST

START_TEST(cancelled_one_is_killed_and_says_nothing)
{
    struct command command = {
        .name = "c", .text = "/bin/true", .limit_ns = NS_PER_S};

    start("/bin/sleep 60", 90 * NS_PER_S);
    ck_assert_int_eq(runner_start(runner, &command, NULL, done, &told), -EBUSY);
    runner_cancel(runner);
    ck_assert(runner_is_free(runner));
    ck_assert(!runner_is_idle(runner));
    ck_assert_int_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    ck_assert_uint_eq(told, 0);
    ck_assert(runner_is_idle(runner));
    runner_cancel(runner);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("runner");
    TCase *cases = tcase_create("runner");

    tcase_set_timeout(cases, 60);
    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_test(cases, lines_come_in_their_order_and_the_status_with_them);
    tcase_add_test(cases, words_are_words_and_no_shell_looks_at_them);
    tcase_add_test(cases, program_that_is_not_there_is_told_as_an_end);
    tcase_add_test(cases, signal_is_no_exit_status);
    tcase_add_test(cases, limit_ends_the_whole_group);
    tcase_add_test(cases, what_it_left_behind_goes_with_it);
    tcase_add_test(cases, of_much_output_the_last_lines_are_kept);
    tcase_add_test(cases, lines_are_plain_and_short);
    tcase_add_test(cases, cancelled_one_is_killed_and_says_nothing);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
