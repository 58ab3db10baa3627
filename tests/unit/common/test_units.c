#include <errno.h>
#include <string.h>

#include "common/units.h"
#include "tests/support/suite.h"

static const struct {
    const char *text;
    int result;
    uint64_t value;
} sizes[] = {
    {"0", 0, 0},
    {"512", 0, 512},
    {"4k", 0, 4096},
    {"4K", 0, 4096},
    {"4KiB", 0, 4096},
    {"1mb", 0, 1 << 20},
    {"1.5g", 0, UINT64_C(3) << 29},
    {"3t", 0, UINT64_C(3) << 40},
    {"7p", 0, UINT64_C(7) << 50},
    {"8191p", 0, UINT64_C(8191) << 50},
    {"8192p", -ERANGE, 0},
    {"18446744073709551616", -ERANGE, 0},
    {"9223372036854775807", 0, INT64_MAX},
    {"9223372036854775808", -ERANGE, 0},
    {"0.5", -EINVAL, 0},
    {"", -EINVAL, 0},
    {"k", -EINVAL, 0},
    {"-1", -EINVAL, 0},
    {"+1", -EINVAL, 0},
    {" 1", -EINVAL, 0},
    {"1 k", -EINVAL, 0},
    {"4x", -EINVAL, 0},
    {"4kk", -EINVAL, 0},
    {"4.", -EINVAL, 0},
    {"0x10", -EINVAL, 0},
};

START_TEST(parse_sizes)
{
    uint64_t value = 77;

    ck_assert_msg(units_parse_size(sizes[_i].text, &value) ==
                          sizes[_i].result &&
                      value == (sizes[_i].result == 0 ? sizes[_i].value : 77),
                  "'%s': %llu", sizes[_i].text, (unsigned long long)value);
}
END_TEST

static const struct {
    const char *text;
    uint64_t bare_ns;
    int result;
    uint64_t value;
} times[] = {
    {"10ns", 0, 0, 10},
    {"500us", 0, 0, 500 * NS_PER_US},
    {"10ms", 0, 0, 10 * NS_PER_MS},
    {"1.5s", 0, 0, 1500 * NS_PER_MS},
    {"0.000000001s", 0, 0, 1},
    {"30", NS_PER_S, 0, 30 * NS_PER_S},
    {"0.25", NS_PER_S, 0, 250 * NS_PER_MS},
    {"30", 0, -EINVAL, 0},
    {"10m", NS_PER_S, 0, 600 * NS_PER_S},
    {"2h", NS_PER_S, 0, 7200 * NS_PER_S},
    {"1d", 0, 0, 86400 * NS_PER_S},
    {"106751d", 0, 0, UINT64_C(106751) * 86400 * NS_PER_S},
    {"106752d", 0, -ERANGE, 0},
    {"2 h", 0, -EINVAL, 0},
    {"2hm", 0, -EINVAL, 0},
    {"s", 0, -EINVAL, 0},
};

START_TEST(parse_times)
{
    uint64_t value = 77;

    ck_assert_msg(units_parse_time(times[_i].text, times[_i].bare_ns, &value) ==
                          times[_i].result &&
                      value == (times[_i].result == 0 ? times[_i].value : 77),
                  "'%s': %llu", times[_i].text, (unsigned long long)value);
}
END_TEST

START_TEST(parse_rates)
{
    double rate = 0;

    ck_assert_int_eq(units_parse_rate("250", &rate), 0);
    ck_assert(rate == 250);
    ck_assert_int_eq(units_parse_rate("0.5", &rate), 0);
    ck_assert(rate == 0.5);
    ck_assert_int_eq(units_parse_rate("1.2m", &rate), 0);
    ck_assert(rate == 1.2e6);
    ck_assert_int_eq(units_parse_rate("100K", &rate), 0);
    ck_assert(rate == 1e5);
    ck_assert_int_eq(units_parse_rate("100kb", &rate), -EINVAL);
    ck_assert_int_eq(units_parse_rate("-5", &rate), -EINVAL);
    ck_assert(rate == 1e5);
}
END_TEST

enum printer { SIZE, CAPACITY, TIME, DURATION };

static const struct {
    enum printer printer;
    uint64_t value;
    const char *text;
} printed[] = {
    {SIZE, 0, "0 B"},
    {SIZE, 512, "512 B"},
    {SIZE, 1023, "1023 B"},
    {SIZE, 4096, "4 KiB"},
    {SIZE, 1536, "1.50 KiB"},
    {SIZE, 131072, "128 KiB"},
    {SIZE, UINT64_C(3) << 29, "1536 MiB"},
    {SIZE, UINT64_C(1) << 63, "8 EiB"},
    {SIZE, UINT64_MAX, "16.0 EiB"},
    {CAPACITY, 3840755982336, "3.84 TB"},
    {CAPACITY, 960197124096, "960 GB"},
    {CAPACITY, 999999, "1.00 MB"},
    {TIME, 0, "0 ns"},
    {TIME, 870, "870 ns"},
    {TIME, 999, "999 ns"},
    {TIME, 1000, "1.00 us"},
    {TIME, 9994, "9.99 us"},
    {TIME, 9996, "10.0 us"},
    {TIME, 12345, "12.3 us"},
    {TIME, 999499, "999 us"},
    {TIME, 999501, "1.00 ms"},
    {TIME, 1040000000, "1.04 s"},
    {TIME, UINT64_C(4000) * NS_PER_S, "4000 s"},
    {DURATION, 0, "0 s"},
    {DURATION, 59, "59 s"},
    {DURATION, 60, "1 min"},
    {DURATION, 65, "1 min 05 s"},
    {DURATION, 3600, "1 h"},
    {DURATION, 7500, "2 h 05 min"},
    {DURATION, 86400, "1 d"},
    {DURATION, 90000, "1 d 01 h"},
};

START_TEST(print)
{
    static char *(*const printers[])(char[UNITS_SIZE], uint64_t) = {
        [SIZE] = units_print_size,
        [CAPACITY] = units_print_capacity,
        [TIME] = units_print_time,
        [DURATION] = units_print_duration,
    };
    char text[UNITS_SIZE];

    ck_assert_str_eq(printers[printed[_i].printer](text, printed[_i].value),
                     printed[_i].text);
}
END_TEST

START_TEST(print_rates)
{
    char text[UNITS_SIZE];

    ck_assert_str_eq(units_print_rate(text, 0), "0");
    ck_assert_str_eq(units_print_rate(text, 0.5), "0.50");
    ck_assert_str_eq(units_print_rate(text, 950), "950");
    ck_assert_str_eq(units_print_rate(text, 12500), "12.5k");
    ck_assert_str_eq(units_print_rate(text, 1.2e6), "1.20M");
    ck_assert_str_eq(units_print_count(text, 0, "drive"), "0 drives");
    ck_assert_str_eq(units_print_count(text, 1, "drive"), "1 drive");
    ck_assert_str_eq(units_print_count(text, UINT64_MAX, "interval"),
                     "18446744073709551615 intervals");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("units");
    TCase *tc = tcase_create("units");

    tcase_add_loop_test(tc, parse_sizes, 0, (int)ARRAY_LENGTH(sizes));
    tcase_add_loop_test(tc, parse_times, 0, (int)ARRAY_LENGTH(times));
    tcase_add_test(tc, parse_rates);
    tcase_add_loop_test(tc, print, 0, (int)ARRAY_LENGTH(printed));
    tcase_add_test(tc, print_rates);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
