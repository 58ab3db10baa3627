/* Goal: what the page submits is what a shell would say, or is refused. */
#include "controller/http/submission.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"

START_TEST(everything_arrives)
{
    static const char text[] =
        "{\"files\": [{\"name\": \"a.parm\", \"text\": \"sd=1\\n\"},"
        " {\"name\": \"b\", \"text\": \"\", \"included\": true}],"
        " \"variables\": [\"x=1\"], \"name\": \"caf\\u00e9\","
        " \"elapsed_s\": 1.5, \"warmup_s\": 0, \"interval_s\": null}";
    struct submission s;
    struct diag diag;

    ck_assert_int_eq(submission_parse(text, strlen(text), &s, &diag), 0);
    ck_assert_uint_eq(s.submit.file_count, 2);
    ck_assert_str_eq(s.submit.files[0].text, "sd=1\n");
    ck_assert(!s.submit.files[0].included);
    ck_assert(s.submit.files[1].included);
    ck_assert_uint_eq(s.submit.variable_count, 1);
    ck_assert_str_eq(s.submit.variables[0], "x=1");
    ck_assert_str_eq(s.submit.name, "caf\303\251");
    ck_assert_uint_eq(s.submit.elapsed_ns, 1500000000);
    ck_assert_uint_eq(s.submit.interval_ns, 0);
    ck_assert(s.submit.warmup_given);
    submission_done(&s);
}
END_TEST

#define FILES "\"files\": [{\"name\": \"a\", \"text\": \"\"}]"

static const char *const bad[] = {
    "",
    "[]",
    "{}",
    "{\"files\": []}",
    "{\"files\": {}}",
    "{\"files\": [1]}",
    "{\"files\": [{\"name\": \"a\"}]}",
    "{\"files\": [{\"text\": \"a\"}]}",
    "{\"files\": [{\"name\": \"a\\u0007\", \"text\": \"\"}]}",
    "{\"files\": [{\"name\": \"a\", \"text\": \"\\u0000\"}]}",
    "{" FILES ", \"name\": 1}",
    "{" FILES ", \"variables\": [1]}",
    "{" FILES ", \"variables\": [\"\"]}",
    "{" FILES ", \"elapsed_s\": -1}",
    "{" FILES ", \"elapsed_s\": 1e300}",
    "{" FILES ", \"elapsed_s\": \"1\"}",
    "{" FILES ", \"variables\": \"x=1\"}",
    "{" FILES ", \"check\": 1}",
    "{" FILES ", \"check\": \"true\"}",
    "{" FILES ", \"chek\": true}",
    "{\"files\": [{\"name\": \"a\", \"text\": \"\", \"included\": 1}]}",
    "{" FILES ", " FILES "}",
    "{" FILES "} x",
};

START_TEST(wrong_ones_are_refused)
{
    struct submission s;
    struct diag diag = {0};

    ck_assert_int_eq(submission_parse(bad[_i], strlen(bad[_i]), &s, &diag),
                     -EINVAL);
    ck_assert_uint_gt(strlen(diag.text), 10);
}
END_TEST

/* 512 KiB together, and one byte more. */
START_TEST(files_have_a_limit)
{
    size_t room = WIRE_FILES_BYTES + 256;

    for (unsigned extra = 0; extra < 2; extra++) {
        char *fill = malloc(room), *text = malloc(room);
        struct submission s;
        struct diag diag;

        memset(fill, 'x', WIRE_FILES_BYTES + extra);
        fill[WIRE_FILES_BYTES + extra] = '\0';
        (void)snprintf(text, room,
                       "{\"files\": [{\"name\": \"a\", \"text\": \"%s\"}]}",
                       fill);
        ck_assert_int_eq(submission_parse(text, strlen(text), &s, &diag),
                         extra == 0 ? 0 : -EINVAL);
        if (extra == 0)
            submission_done(&s);
        free(fill);
        free(text);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("http.submission");
    TCase *tcase = tcase_create("submission");

    tcase_add_test(tcase, everything_arrives);
    tcase_add_loop_test(tcase, wrong_ones_are_refused, 0, ARRAY_LENGTH(bad));
    tcase_add_test(tcase, files_have_a_limit);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
