/*
 * Numbers, lists and ranges.
 */
#include "controller/language/internal.h"
#include "tests/support/parm.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <stdio.h>

static const struct {
    const char *text;
    enum unit unit;
    double value; /* < 0: refused */
} numbers[] = {
    {"0", UNIT_COUNT, 0},
    {"8", UNIT_COUNT, 8},
    {".1", UNIT_COUNT, .1},
    {"1e3", UNIT_COUNT, 1000},
    {"1.5k", UNIT_BYTES, 1536},
    {"4k", UNIT_BYTES, 4096},
    {"4K", UNIT_BYTES, 4096},
    {"4kb", UNIT_BYTES, 4096},
    {"1m", UNIT_BYTES, 1 << 20},
    {"1g", UNIT_BYTES, 1 << 30},
    {"1t", UNIT_BYTES, 1099511627776.0},
    {"1k", UNIT_COUNT, 1024},
    {"1h", UNIT_BYTES, 3600}, /* vdbench's */
    {"5m", UNIT_SECONDS, 300},
    {"2h", UNIT_SECONDS, 7200},
    {"10s", UNIT_SECONDS, 10},
    {"250ms", UNIT_SECONDS, .25},
    {"1d", UNIT_SECONDS, 1}, /* vdbench's: not a day */
    {"50%", UNIT_COUNT, 50},
    {"99.99", UNIT_COUNT, 99.99},
    {"83.14", UNIT_COUNT, 83.14},
    {"10s", UNIT_BYTES, -1},
    {"10x", UNIT_COUNT, -1},
    {"1gib", UNIT_BYTES, -1},
    {"", UNIT_COUNT, -1},
    {"k", UNIT_BYTES, -1},
    {"-", UNIT_COUNT, -1},
    {"0x10", UNIT_COUNT, -1},
    {"nan", UNIT_COUNT, -1},
    {"inf", UNIT_COUNT, -1},
    {"1e999", UNIT_COUNT, -1},
    {"50%%", UNIT_COUNT, -1},
    {"1,5", UNIT_COUNT, -1},
};

START_TEST(test_number)
{
    struct number number = {0};
    int err = number_parse(numbers[_i].text, numbers[_i].unit, &number);

    if (numbers[_i].value < 0) {
        ck_assert_int_eq(err, -EINVAL);
        return;
    }
    ck_assert_int_eq(err, 0);
    ck_assert_double_eq(number.value, numbers[_i].value);
    ck_assert(number.is_percent == (strchr(numbers[_i].text, '%') != NULL));
}
END_TEST

/* What forthreads= becomes; NULL: refused, with `says`. */
static const struct {
    const char *list;
    const char *values;
    const char *says;
} lists[] = {
    {"4", "4", NULL},
    {"(4)", "4", NULL},
    {"(1,2,3)", "1 2 3", NULL},
    {"(1-10,3)", "1 4 7 10", NULL},
    {"(1-9,3)", "1 4 7", NULL},
    {"(1-100,30)", "1 31 61 91", NULL},
    {"(1-64,d)", "1 2 4 8 16 32 64", NULL},
    {"(1-100,d)", "1 2 4 8 16 32 64", NULL},
    {"(64-1,d)", "64 32 16 8 4 2 1", NULL},
    {"(1-4,1,100)", "1 2 3 4 100", NULL},
    {"(8,1-4,1,64-16,d)", "8 1 2 3 4 64 32 16", NULL},
    {"(4-4,1)", "4", NULL},
    {"(4-4,d)", "4", NULL},
    {"(1-4)", NULL, "wants a step behind it, or d to double, as in (1-4,d)"},
    {"1-4", NULL, "wants parentheses and a step"},
    {"(1-10,0)", NULL, "the step of a range must be above 0"},
    {"(1-10,-3)", NULL, "the step of a range must be above 0"},
    {"(10-1,3)", NULL, "runs backwards"},
    {"(64,1,d)", NULL, "expected a number, not 'd'"},
    {"(0-64,d)", NULL, "cannot be doubled"},
    {"(1-100000,1)", NULL, "more than 10240 values"},
    {"(1,two)", NULL, "expected a number, not 'two'"},
    {"(1-2-3,1)", NULL, "expected a number, not '2-3'"},
};

/* Lists of numbers, ranges up, down and doubling: cases E06 and more. */
START_TEST(case_E06_ranges)
{
    char file[256], found[256] = "";
    struct parm parm;

    snprintf(file, sizeof(file),
             "sd=sd1,lun=/dev/x\nrd=r,sd=sd1,iorate=max,forthreads=%s\n",
             lists[_i].list);
    parm_read(&parm, file);
    if (lists[_i].values == NULL) {
        ck_assert_int_eq(parm.err, -EINVAL);
        parm_assert_says(&parm, lists[_i].says);
        parm_done(&parm);
        return;
    }
    parm_assert_ok(&parm);

    const struct definition_loop *loop = &parm.definitions->rds[0].loops[0];

    for (uint32_t i = 0; i < loop->count; i++)
        parm_append(found, sizeof(found), "%s%g", i > 0 ? " " : "",
                    loop->values[i]);
    ck_assert_str_eq(found, lists[_i].values);
    parm_done(&parm);
}
END_TEST

static const struct {
    const char *list;
    const char *names; /* of the sds it takes; NULL: refused */
} names[] = {
    {"sd1", "sd1"},
    {"(sd1,sd3)", "sd1 sd3"},
    {"(sd1-sd3)", "sd1 sd2 sd3"},
    {"(sd01-sd03)", "sd01 sd02 sd03"},
    {"(a-b,sd1)", "a-b sd1"},
    {"(sd-1-1)", "sd-1-1"},
    {"(\"sd1-sd3\")", "sd1-sd3"},
    {"(sd3-sd1)", NULL},
};

START_TEST(test_names)
{
    char file[256], found[256] = "";
    struct parm parm;

    snprintf(file, sizeof(file), "sd=default,lun=/x\nrd=r,sd=%s,iorate=max\n",
             names[_i].list);
    parm_read(&parm, file);
    if (names[_i].names == NULL) {
        parm_assert_says(&parm, "runs backwards");
        parm_done(&parm);
        return;
    }
    /* None of them is defined: the report names them as they were read. */
    for (uint32_t i = 0; i < parm.report.count; i++) {
        const char *text = parm.report.messages[i].text;
        const char *end = strstr(text, " is not defined");

        if (end != NULL)
            parm_append(found, sizeof(found), "%s%.*s",
                        found[0] != '\0' ? " " : "", (int)(end - text - 3),
                        text + 3);
    }
    ck_assert_str_eq(found, names[_i].names);
    parm_done(&parm);
}
END_TEST

/* A unit of days does not exist; the letter is read as vdbench reads it. */
START_TEST(test_days)
{
    struct parm parm;

    parm_read(&parm, "sd=sd1,lun=/dev/x\nrd=r,sd=sd1,iorate=max,elapsed=10d\n");
    parm_assert_ok(&parm);
    parm_assert_says(&parm, "warning: '10d' is 10, as in vdbench");
    parm_done(&parm);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("value");
    TCase *tests = tcase_create("value");

    tcase_add_loop_test(tests, test_number, 0, ARRAY_LENGTH(numbers));
    tcase_add_loop_test(tests, case_E06_ranges, 0, ARRAY_LENGTH(lists));
    tcase_add_loop_test(tests, test_names, 0, ARRAY_LENGTH(names));
    tcase_add_test(tests, test_days);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
