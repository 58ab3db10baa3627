/* A campaign on one screen: which line says what. */
#include "controller/shell/screen_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/suite.h"

#define ROWS 24

static struct screen_text screen;

static void give(const char *text)
{
    json_error_t error;
    json_t *event = json_loads(text, 0, &error);

    ck_assert_msg(event != NULL, "%s: %s", error.text, text);
    screen_text_event(&screen, event);
    json_decref(event);
}

static void give_phase(unsigned number, const char *kind)
{
    char text[600];

    (void)snprintf(text, sizeof(text),
                   "{\"event\": \"phase\", \"phase\": %u, \"phases\": 3, "
                   "\"run\": \"rd%u\", \"kind\": \"%s\", \"iorate_text\": "
                   "\"2000\", \"for\": \"threads=4\", \"elapsed_s\": 8.0, "
                   "\"warmup_s\": 2.0, \"interval_s\": 1.0, \"hosts\": 2, "
                   "\"drives\": 3, \"remaining_s\": 100.0}",
                   number, number, kind);
    give(text);
}

/* One interval of `iops` with p99 in microseconds (0: none). */
static void give_interval(unsigned phase, unsigned interval, unsigned revision,
                          double iops, double p99_us)
{
    char text[900], p99[32] = "null";

    if (p99_us > 0)
        (void)snprintf(p99, sizeof(p99), "%.3f", p99_us);
    (void)snprintf(
        text, sizeof(text),
        "{\"event\": \"interval\", \"phase\": %u, \"interval\": %u, "
        "\"revision\": %u, \"kind\": \"measured\", \"figures\": {\"iops\": "
        "%.1f, \"mib_s\": 8.0, \"read_pct\": 70.0, \"queue_depth\": 1.5, "
        "\"errors\": 2, \"unissued\": 5, \"oldest_us\": 2500000.0, "
        "\"service_us\": {\"mean\": 100.0, \"p50\": 90.0, \"p90\": 150.0, "
        "\"p99\": %s, \"p999\": null, \"max\": 4000.0}, \"response_us\": "
        "null}, \"host_rows\": [{\"name\": \"nas1\", \"iops\": 10.0, "
        "\"mib_s\": 1.0, \"service_us\": {\"mean\": 7.0, \"p99\": null, "
        "\"max\": 9.0}}], \"workload_rows\": [{\"name\": \"wd7\", \"iops\": "
        "11.0, \"mib_s\": 1.0, \"service_us\": {\"mean\": 7.0}}]}",
        phase, interval, revision, iops, p99);
    give(text);
}

static const char *line(size_t number, size_t columns)
{
    static char text[SCREEN_LINE_SIZE];

    screen_text_line(&screen,
                     (struct screen_size){.rows = ROWS, .columns = columns},
                     number, text);
    return text;
}

/* The line that begins so; fails without one. */
static const char *line_of(const char *beginning)
{
    for (size_t i = 0; i < ROWS; i++)
        if (strncmp(line(i, 120), beginning, strlen(beginning)) == 0)
            return line(i, 120);
    ck_abort_msg("no line begins with '%s'", beginning);
    return NULL;
}

static void has(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) != NULL, "'%s' has no '%s'", text, part);
}

static void lacks(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) == NULL, "'%s' has '%s'", text, part);
}

static void setup(void)
{
    json_t *status = json_pack("{s:i, s:s}", "number", 7, "name", "oltp");

    screen_text_init(&screen);
    screen_text_status(&screen, status);
    json_decref(status);
}

static void teardown(void)
{
    screen_text_done(&screen);
}

START_TEST(before_the_first_phase_it_says_so)
{
    has(line(0, 120), " campaign 7, ");
    has(line(0, 120), "'oltp'");
    has(line(1, 120), "waiting for the first phase");
}
END_TEST

START_TEST(a_phase_and_its_interval)
{
    give_phase(2, "measure");
    give_interval(2, 4, 1, 2028, 900);
    has(line(0, 120), "phase 2 of 3, 2 hosts, 3 drives");
    has(line(1, 120), "rd2  rate 2000  for threads=4");
    has(line(2, 120), "4 of 10 s, 1 min 36 s left in all");
    has(line_of("2028.0"), "70.0 % reads");
    has(line_of("2028.0"), "unissued 5  errors 2  oldest request 2.5 s");
    has(line_of("service"), "0.100     0.090     0.150     0.900         -");
    has(line_of("nas1"), "0.007");
}
END_TEST

START_TEST(a_closed_loop_has_no_response)
{
    give_phase(1, "measure");
    give_interval(1, 1, 1, 10, 0);
    for (size_t i = 0; i < ROWS; i++)
        lacks(line(i, 120), "response");
}
END_TEST

START_TEST(progress_begins_anew_with_a_phase)
{
    give_phase(1, "measure");
    give_interval(1, 10, 1, 10, 0);
    give_phase(2, "measure");
    has(line(2, 120), " 0 of 10 s, 1 min 40 s left");
}
END_TEST

START_TEST(bars_are_as_high_as_their_share_of_the_top)
{
    give_phase(1, "measure");
    give_interval(1, 1, 1, 1000, 500);
    give_interval(1, 2, 1, 2000, 0);
    give_interval(1, 3, 1, 0, 1000);
    has(line_of("rate "), "▅█▁  top 2000");
    has(line_of("p99 ms"), "▅ █  top 1.000");
}
END_TEST

START_TEST(a_reissued_row_has_no_second_bar)
{
    give_phase(1, "measure");
    give_interval(1, 1, 1, 1000, 500);
    give_interval(1, 1, 2, 2000, 500);
    has(line_of("rate "), " █  top 1000");
    has(line_of("2000.0"), "I/O per second");
}
END_TEST

START_TEST(a_fill_has_no_bars_and_phases_stand_apart)
{
    give_phase(1, "fill");
    give_interval(1, 1, 1, 90000, 500);
    give_phase(2, "measure");
    give_interval(2, 1, 1, 1000, 500);
    give_phase(3, "measure");
    give_interval(3, 1, 1, 1000, 500);
    has(line_of("rate "), "█ █  top 1000");
}
END_TEST

START_TEST(old_bars_leave_at_the_left)
{
    give_phase(1, "measure");
    give_interval(1, 1, 1, 5000, 500);
    for (unsigned i = 2; i < SCREEN_PAST + 50; i++)
        give_interval(1, i, 1, 1000, 500);
    has(line_of("rate "), "top 1000");
}
END_TEST

START_TEST(drives_come_slowest_first)
{
    json_t *document = json_pack(
        "{s:[{s:s,s:s,s:f,s:{s:f}},{s:s,s:s,s:f,s:{s:f}},{s:s,s:s,s:f}]}",
        "drives", "lun", "/dev/a", "name", "a:sd1", "iops", 5.0, "service_us",
        "mean", 80.0, "lun", "/dev/b", "name", "b:sd2", "iops", 6.0,
        "service_us", "mean", 900.0, "lun", "/dev/c", "name", "c:sd3", "iops",
        0.0);
    size_t first = 0;

    give_phase(1, "measure");
    give_interval(1, 1, 1, 10, 0);
    screen_text_drives(&screen, document);
    json_decref(document);
    (void)line_of("drive, slowest first");
    while (strncmp(line(first, 120), "drive", 5) != 0)
        first++;
    has(line(first + 1, 120), "b:sd2  /dev/b");
    has(line(first + 2, 120), "a:sd1");
    has(line(first + 3, 120), "c:sd3");
    screen.list = SCREEN_HOSTS;
    (void)line_of("nas1");
    screen.list = SCREEN_WORKLOADS;
    (void)line_of("wd7");
}
END_TEST

START_TEST(lines_are_cut_to_the_width_in_characters)
{
    give_phase(1, "measure");
    for (unsigned i = 1; i < 200; i++)
        give_interval(1, i, 1, 1000, 500);
    for (size_t i = 0; i < ROWS; i++) {
        const char *text = line(i, 20);
        size_t width = 0;

        for (; *text != '\0'; text++)
            width += ((unsigned char)*text & 0xc0) != 0x80;
        ck_assert_uint_le(width, 20);
    }
}
END_TEST

START_TEST(what_was_said_stands_at_the_bottom)
{
    give_phase(1, "measure");
    give("{\"event\": \"notice\", \"text\": \"host nas2 is lost\"}");
    give("{\"event\": \"phase_end\", \"run\": \"rd1\", \"verdict\": "
         "\"degraded\", \"total\": {\"iops\": 12.0, \"service_us\": {\"mean\": "
         "1500.0}}}");
    has(line(ROWS - 3, 120), "host nas2 is lost");
    has(line(ROWS - 2, 120), "rd1: degraded, 12.0 I/O per second, mean 1.500");
    has(line(ROWS - 1, 120), "q leave");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shell.screen_text");
    TCase *cases = tcase_create("screen_text");

    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_test(cases, before_the_first_phase_it_says_so);
    tcase_add_test(cases, a_phase_and_its_interval);
    tcase_add_test(cases, a_closed_loop_has_no_response);
    tcase_add_test(cases, progress_begins_anew_with_a_phase);
    tcase_add_test(cases, bars_are_as_high_as_their_share_of_the_top);
    tcase_add_test(cases, a_reissued_row_has_no_second_bar);
    tcase_add_test(cases, a_fill_has_no_bars_and_phases_stand_apart);
    tcase_add_test(cases, old_bars_leave_at_the_left);
    tcase_add_test(cases, drives_come_slowest_first);
    tcase_add_test(cases, lines_are_cut_to_the_width_in_characters);
    tcase_add_test(cases, what_was_said_stands_at_the_bottom);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
