/* What the kernel and the drives told comes back, and what it says of the
 * figures: each rule on both sides of its threshold. */
#include "controller/results/trust.h"

#include "tests/support/suite.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct trust trust;
static struct figures figures;
static struct device device;

static void setup(void)
{
    trust = (struct trust){0};
    device = (struct device){.sum = {.target = 7, .counted = true}};
    figures = (struct figures){
        .has_cpu = true,
        .busiest_worker_pct = 94,
        .host_cpu_pct = 94,
        .agent_cpu_pct = 120,
        .late_mean_us = 99,
        .late_max_us = 5000,
        .held_us = 9000,
        .refused = 1,
        .all = {.ios = 1000, .response = {.mean_us = 100}},
    };
}

static void teardown(void)
{
    trust_done(&trust);
}

/* Exactly one flag, with this word and a text that has `part`; NULL: none. */
static void check_flags(enum record_scope scope, uint32_t item,
                        const char *word, const char *part)
{
    if (word == NULL) {
        ck_assert_msg(trust.count == 0, "%s", trust.flags[0].text);
        return;
    }
    ck_assert_uint_eq(trust.count, 1);
    ck_assert_str_eq(trust.flags[0].word, word);
    ck_assert_int_eq(trust.flags[0].scope, scope);
    ck_assert_uint_eq(trust.flags[0].item, item);
    ck_assert_msg(strstr(trust.flags[0].text, part) != NULL, "%s",
                  trust.flags[0].text);
}

static void check_host(const char *word, const char *part)
{
    trust_judge_host(&trust, 3, &figures, NS_PER_S);
    check_flags(RECORD_HOST, 3, word, part);
}

static void check_drive(const char *word, const char *part)
{
    trust_judge_drive(&trust, &device);
    check_flags(RECORD_DRIVE, 7, word, part);
}

START_TEST(a_host_in_order_has_no_flag)
{
    check_host(NULL, NULL);
}
END_TEST

START_TEST(a_host_of_which_nothing_is_known_has_no_flag)
{
    figures.busiest_worker_pct = figures.host_cpu_pct = NAN;
    figures.late_mean_us = figures.late_max_us = figures.held_us = NAN;
    figures.all.response.mean_us = NAN;
    figures.refused = 0;
    check_host(NULL, NULL);
}
END_TEST

START_TEST(a_busy_worker)
{
    figures.busiest_worker_pct = 95;
    check_host("worker_busy", "95 %");
}
END_TEST

START_TEST(a_busy_host)
{
    figures.host_cpu_pct = 97;
    check_host("host_busy", "97 %");
}
END_TEST

START_TEST(late_by_a_millisecond)
{
    figures.late_mean_us = 1001;
    figures.all.response.mean_us = 1e6;
    check_host("late", "1001 us");
}
END_TEST

START_TEST(late_by_a_fifth_of_the_response)
{
    figures.late_mean_us = 101;
    figures.all.response.mean_us = 506;
    check_host(NULL, NULL);
    figures.all.response.mean_us = 504;
    check_host("late", "5000 at most");
}
END_TEST

START_TEST(kept_back_by_the_kernel)
{
    figures.held_us = 10001;
    figures.holds = 4;
    check_host("held", "4 times, 10 ms");
}
END_TEST

START_TEST(submissions_put_off)
{
    figures.refused = 2;
    check_host("held", "put off 2");
}
END_TEST

/* 1 GiB of reads: 1 % is a little more than 10 MiB. */
START_TEST(the_device_did_something_else)
{
    device.bytes[SAMPLE_READ] = UINT64_C(1) << 30;
    device.sum.read_bytes = (UINT64_C(1) << 30) - (10 << 20);
    check_drive(NULL, NULL);
    device.sum.read_bytes = (UINT64_C(1) << 30) - (11 << 20);
    check_drive("device_differs", "1013.0 MiB");
}
END_TEST

START_TEST(a_cache_took_the_writes)
{
    device.bytes[SAMPLE_WRITE] = 5 << 20;
    check_drive("device_differs", "5.0");
}
END_TEST

START_TEST(little_is_no_difference)
{
    device.bytes[SAMPLE_WRITE] = 1 << 20;
    check_drive(NULL, NULL);
}
END_TEST

START_TEST(counters_of_others_are_no_witness)
{
    device.bytes[SAMPLE_WRITE] = 5 << 20;
    device.sum.shared = true;
    check_drive(NULL, NULL);
    device.sum.shared = false;
    device.sum.counted = false;
    check_drive(NULL, NULL);
}
END_TEST

START_TEST(a_drive_slowed_down)
{
    device.before = (struct sample_health){.known = true, .throttles = 4};
    device.after =
        (struct sample_health){.known = true, .throttles = 6, .throttled_s = 9};
    device.hottest_mc = 78400;
    check_drive("throttled", "2 times for its temperature, for 9 s; 78");
}
END_TEST

START_TEST(a_drive_had_media_errors)
{
    device.before = (struct sample_health){.known = true, .media_errors = 1};
    device.after = (struct sample_health){.known = true, .media_errors = 4};
    check_drive("media_errors", "3 media errors");
}
END_TEST

/* A drive that was reset begins to count anew. */
START_TEST(what_goes_back_is_no_flag)
{
    device.before = (struct sample_health){
        .known = true, .throttles = 4, .media_errors = 9};
    device.after = (struct sample_health){.known = true};
    check_drive(NULL, NULL);
}
END_TEST

/* ---- the byte string, and sums ---- */

static const struct sample_drive rows[] = {
    {.target = 7,
     .counted = true,
     .reads = 10,
     .reads_merged = 1,
     .read_bytes = 40960,
     .writes = 5,
     .writes_merged = 2,
     .write_bytes = 20480,
     .in_flight = 3,
     .has_temperature = true,
     .temperature_mc = 41500,
     .health = {true, false, 3, 1, 1 << 30, 2, 60}},
    {.target = 9},
    {.target = 300, .has_temperature = true, .temperature_mc = -5250},
    {.target = 8,
     .counted = true,
     .shared = true,
     .reads = UINT64_C(1) << 40,
     .health = {true, true, 255, 0, INT64_MAX, 0, 0}},
};

START_TEST(drives_come_back)
{
    struct bytes bytes = {0};
    struct byte_reader reader;
    struct sample_drive drive;

    device_encode(&bytes, rows, ARRAY_LENGTH(rows));
    ck_assert_int_eq(device_open(&reader, bytes.data, bytes.length), 0);
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        ck_assert_int_eq(device_next(&reader, &drive), 1);
        ck_assert_uint_eq(drive.target, rows[i].target);
        ck_assert(drive.counted == rows[i].counted);
        ck_assert(drive.shared == rows[i].shared);
        ck_assert_uint_eq(drive.reads, rows[i].reads);
        ck_assert_uint_eq(drive.write_bytes, rows[i].write_bytes);
        ck_assert_uint_eq(drive.in_flight, rows[i].in_flight);
        ck_assert_int_eq(drive.temperature_mc, rows[i].temperature_mc);
        ck_assert(drive.health.known == rows[i].health.known);
        ck_assert(drive.health.hot == rows[i].health.hot);
        ck_assert_uint_eq(drive.health.written_bytes,
                          rows[i].health.written_bytes);
        ck_assert_uint_eq(drive.health.throttled_s, rows[i].health.throttled_s);
    }
    ck_assert_int_eq(device_next(&reader, &drive), 0);
    for (size_t length = 0; length < bytes.length; length++) {
        int got = device_open(&reader, bytes.data, length);

        while (got == 0 && (got = device_next(&reader, &drive)) == 1)
            got = 0;
        ck_assert(got == 0 || got == -EBADMSG);
    }
    bytes_done(&bytes);
}
END_TEST

START_TEST(rows_add_up)
{
    struct sample_drive later = rows[0];
    struct device sum = {0};

    later.temperature_mc = 39000;
    later.in_flight = 0;
    later.health.media_errors = 5;
    device_add(&sum, &rows[0]);
    device_add(&sum, &later);
    ck_assert_uint_eq(sum.sum.reads, 20);
    ck_assert_uint_eq(sum.sum.write_bytes, 40960);
    ck_assert_uint_eq(sum.sum.in_flight, 0);
    ck_assert_int_eq(sum.sum.temperature_mc, 39000);
    ck_assert_int_eq(sum.hottest_mc, 41500);
    ck_assert_uint_eq(sum.before.media_errors, 1);
    ck_assert_uint_eq(sum.after.media_errors, 5);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("trust");
    TCase *cases = tcase_create("trust");

    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_test(cases, a_host_in_order_has_no_flag);
    tcase_add_test(cases, a_host_of_which_nothing_is_known_has_no_flag);
    tcase_add_test(cases, a_busy_worker);
    tcase_add_test(cases, a_busy_host);
    tcase_add_test(cases, late_by_a_millisecond);
    tcase_add_test(cases, late_by_a_fifth_of_the_response);
    tcase_add_test(cases, kept_back_by_the_kernel);
    tcase_add_test(cases, submissions_put_off);
    tcase_add_test(cases, the_device_did_something_else);
    tcase_add_test(cases, a_cache_took_the_writes);
    tcase_add_test(cases, little_is_no_difference);
    tcase_add_test(cases, counters_of_others_are_no_witness);
    tcase_add_test(cases, a_drive_slowed_down);
    tcase_add_test(cases, a_drive_had_media_errors);
    tcase_add_test(cases, what_goes_back_is_no_flag);
    tcase_add_test(cases, drives_come_back);
    tcase_add_test(cases, rows_add_up);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
