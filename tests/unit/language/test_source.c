/*
 * Files, includes and variables.
 */
#include "controller/language/definitions.h"
#include "tests/support/parm.h"
#include "tests/support/suite.h"

#include <errno.h>

static const char two_luns[] = "sd=sd1,lun=$lun1\nsd=sd2,lun=!lun\n"
                               "rd=r,sd=*,iorate=max,threads=$t\n";

/* The longest name wins: $lun1 is not $lun and a 1. */
START_TEST(test_longest_name)
{
    const char *variables[] = {"lun=/dev/a", "lun1=/dev/b", "t=(1,2)"};
    struct parm parm;

    parm_read_with(&parm, two_luns, variables, 3);
    parm_assert_ok(&parm);
    ck_assert_str_eq(parm.definitions->sds[0].paths[0].lun.text, "/dev/b");
    ck_assert_str_eq(parm.definitions->sds[1].paths[0].lun.text, "/dev/a");
    ck_assert_uint_eq(parm.definitions->rds[0].loops[0].count, 2);
    parm_done(&parm);
}
END_TEST

START_TEST(test_unused)
{
    const char *variables[] = {"lun=/dev/a", "lun1=/dev/b", "t=1", "other=x"};
    struct parm parm;

    parm_read_with(&parm, two_luns, variables, 4);
    ck_assert_int_eq(parm.err, -EINVAL);
    ck_assert_uint_eq(parm.report.errors, 1);
    parm_assert_says(&parm, "variable 'other' is given, but no file has "
                            "$other");
    parm_done(&parm);
}
END_TEST

START_TEST(test_unresolved)
{
    const char *variables[] = {"lun=/dev/a"};
    struct parm parm;

    parm_read_with(&parm,
                   "* $comments are not looked at\nsd=sd1,lun=$lun\n"
                   "rd=r,sd=sd1,iorate=(1,$t),elapsed=!time\n",
                   variables, 1);
    ck_assert_int_eq(parm.err, -EINVAL);
    parm_assert_says(&parm, "t.parm:3:23: error: variable $t is not given");
    parm_assert_says(&parm, "t.parm:3:35: error: variable !time is not given");
    ck_assert_uint_eq(parm.report.errors, 2);
    parm_done(&parm);

    /* One mistake is one error: that there is no lun= follows from it. */
    parm_read_with(&parm, "sd=sd1,lun=$lun\nrd=r,sd=sd1,iorate=max\n", NULL, 0);
    ck_assert_int_eq(parm.err, -EINVAL);
    parm_assert_says(&parm, "t.parm:1:12: error: variable $lun is not given");
    ck_assert_uint_eq(parm.report.errors, 1);
    parm_done(&parm);
}
END_TEST

START_TEST(test_bad_variables)
{
    const char *variables[] = {"noequals", "=x", "a=1", "a=2"};
    struct parm parm;

    parm_read_with(&parm, "sd=sd1,lun=/x,threads=$a\nrd=r,sd=sd1,iorate=max\n",
                   variables, 4);
    parm_assert_says(&parm, "variable 'noequals' is not NAME=VALUE");
    parm_assert_says(&parm, "variable '=x' is not NAME=VALUE");
    parm_assert_says(&parm, "variable 'a' is given twice");
    parm_done(&parm);
}
END_TEST

/* A value may be empty, hold blanks, or make the whole line. */
START_TEST(test_values)
{
    const char *variables[] = {"sd= sd=sd1,lun=/x ", "none="};
    struct parm parm;

    parm_read_with(&parm, "$sd\nrd=r,sd=sd1,iorate=max$none\n", variables, 2);
    parm_assert_ok(&parm);
    ck_assert_str_eq(parm.definitions->sds[0].paths[0].lun.text, "/x");
    parm_done(&parm);
}
END_TEST

/* ---- includes ---- */

struct included {
    const char *name;
    const char *text;
    unsigned asked;
};

static int read_included(void *user, const char *name, const char *from,
                         char **ret_text, size_t *ret_length)
{
    struct included *included = user;

    included->asked++;
    ck_assert_str_eq(from, "main.parm");
    if (strcmp(name, included->name) != 0)
        return -ENOENT;
    *ret_text = strdup(included->text);
    *ret_length = strlen(included->text);
    return 0;
}

/* Reads two files, the first of which may include a third. */
static int read_files(const char *text, struct included *included,
                      struct language_report *report,
                      struct definitions **definitions)
{
    struct language_file files[] = {
        {"main.parm", text, strlen(text)},
        {"more.parm", "rd=r,sd=sd1,iorate=max,elapsed=x\n", 33},
    };
    struct language_input input = {
        .files = files,
        .file_count = 2,
        .include = included != NULL ? read_included : NULL,
        .include_user = included,
    };

    files[1].length = 22; /* without the bad elapsed= */
    language_report_init(report);
    return language_read(&input, report, definitions);
}

START_TEST(test_include)
{
    struct included included = {"luns", "sd=sd1,lun=/x\neof\nnot read\n", 0};
    struct language_report report;
    struct definitions *definitions = NULL;

    ck_assert_int_eq(read_files("sd=default,threads=3\ninclude=luns\n",
                                &included, &report, &definitions),
                     0);
    ck_assert_uint_eq(included.asked, 1);
    ck_assert_uint_eq(definitions->sds[0].threads, 3);
    ck_assert_str_eq(definitions->sds[0].place.file, "luns");
    ck_assert_str_eq(definitions->rds[0].place.file, "more.parm");
    definitions_free(definitions);
    language_report_done(&report);
}
END_TEST

START_TEST(test_include_refused)
{
    static const struct {
        const char *text;
        const char *included;
        const char *says;
    } cases[] = {
        {"include=other\n", "", "cannot read include file 'other': No such"},
        {"include=luns\n", "include=luns\n",
         "an included file cannot include another"},
        {"include=luns\n", "sd=sd1,lun=/x,threads=0\n",
         "luns:1:23: error: threads=0"},
    };

    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        struct included included = {"luns", cases[i].included, 0};
        struct language_report report;
        struct definitions *definitions = NULL;
        char *text;

        ck_assert_int_eq(
            read_files(cases[i].text, &included, &report, &definitions),
            -EINVAL);
        text = language_report_text(&report);
        ck_assert_msg(strstr(text, cases[i].says) != NULL, "%s", text);
        free(text);
        language_report_done(&report);
    }
}
END_TEST

START_TEST(test_include_without_reader)
{
    struct language_report report;
    struct definitions *definitions = NULL;

    ck_assert_int_eq(read_files("include=luns\n", NULL, &report, &definitions),
                     -EINVAL);
    ck_assert_str_eq(report.messages[0].text,
                     "include= cannot be followed here");
    language_report_done(&report);
}
END_TEST

/* ---- limits ---- */

/* Of texts, lines and their lengths: test_hostile.c. */
START_TEST(test_limits)
{
    struct language_file files[LANGUAGE_FILES_MAX + 1];
    struct language_input input = {.files = files};
    struct language_report report;
    struct definitions *definitions = NULL;

    for (uint32_t i = 0; i <= LANGUAGE_FILES_MAX; i++)
        files[i] = (struct language_file){"a", "", 0};
    for (uint32_t i = 0; i < 2; i++) {
        input.file_count = i * (LANGUAGE_FILES_MAX + 1);
        language_report_init(&report);
        ck_assert_int_eq(language_read(&input, &report, &definitions), -EINVAL);
        ck_assert_ptr_nonnull(
            strstr(report.messages[0].text, "1 to 64 are read"));
        language_report_done(&report);
    }
}
END_TEST

/* A variable that makes a line too long is an error, not a crash. */
START_TEST(test_long_substitution)
{
    static char variable[LANGUAGE_LINE_MAX];
    const char *variables[] = {variable};
    struct parm parm;

    memset(variable, 'x', sizeof(variable) - 1);
    memcpy(variable, "v=", 2);
    parm_read_with(&parm, "sd=sd1,lun=$v$v\nrd=r,sd=sd1,iorate=max\n",
                   variables, 1);
    ck_assert_int_eq(parm.err, -EINVAL);
    parm_assert_says(&parm, "with its variables the line is longer");
    parm_done(&parm);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("source");
    TCase *tests = tcase_create("source");

    tcase_add_test(tests, test_longest_name);
    tcase_add_test(tests, test_unused);
    tcase_add_test(tests, test_unresolved);
    tcase_add_test(tests, test_bad_variables);
    tcase_add_test(tests, test_values);
    tcase_add_test(tests, test_include);
    tcase_add_test(tests, test_include_refused);
    tcase_add_test(tests, test_include_without_reader);
    tcase_add_test(tests, test_limits);
    tcase_add_test(tests, test_long_substitution);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
