/*
 * pattern=: bytes come whole, and whatever is wrong has its place.
 */
#include "controller/language/definitions.h"
#include "tests/support/parm.h"
#include "tests/support/suite.h"

#include <errno.h>

#define SD   "sd=s,lun=/dev/x\n"
#define WD   "wd=w,sd=s,rdpct=0\n"
#define RD   "rd=r,wd=w,iorate=max\n"
#define GOOD SD WD RD

/* What include() gives; text NULL: -err. */
static struct {
    char *text;
    int err;
    uint32_t asked;
    char from[64];
} file;

static int include(void *user, const char *name, const char *from,
                   char **ret_text, size_t *ret_length)
{
    (void)user;
    ck_assert_str_eq(name, "pattern=x.bin");
    (void)snprintf(file.from, sizeof(file.from), "%s", from);
    file.asked++;
    if (file.text == NULL)
        return file.err;
    *ret_text = strdup(file.text);
    ck_assert_ptr_nonnull(*ret_text);
    *ret_length = strlen(file.text);
    return 0;
}

static void give(char *text, int err)
{
    free(file.text);
    file.text = text;
    file.err = err;
    file.asked = 0;
}

static void give_bytes(const uint8_t *bytes, size_t length)
{
    give(language_pattern_text(bytes, length), 0);
    ck_assert_ptr_nonnull(file.text);
}

static void read_general(struct parm *parm, const char *general,
                         const char *rest)
{
    char text[512] = "";

    parm_append(text, sizeof(text), "%s%s", general, rest);
    parm_read_including(parm, text, include);
}

START_TEST(bytes_of_any_number_and_value_come_whole)
{
    uint8_t bytes[600];
    struct parm parm;

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * 7 + i / 256);
    for (size_t length = 1; length <= sizeof(bytes); length++) {
        const struct definition_general *general;

        give_bytes(bytes, length);
        read_general(&parm, "pattern=x.bin\n", GOOD);
        parm_assert_ok(&parm);
        general = &parm.definitions->general;
        ck_assert_uint_eq(file.asked, 1);
        ck_assert_str_eq(file.from, "t.parm");
        ck_assert_uint_eq(general->pattern_length, length);
        ck_assert_mem_eq(general->pattern_bytes, bytes, length);
        parm_done(&parm);
    }
}
END_TEST

/* As RFC 4648 has it: others make these texts, too. */
START_TEST(the_text_is_base64)
{
    static const char *const pairs[][2] = {
        {"f", "Zg=="},          {"fo", "Zm8="},           {"foo", "Zm9v"},
        {"foobar", "Zm9vYmFy"}, {"\xfb\xff\xfe", "+//+"},
    };

    for (size_t i = 0; i < ARRAY_LENGTH(pairs); i++) {
        give_bytes((const uint8_t *)pairs[i][0], strlen(pairs[i][0]));
        ck_assert_str_eq(file.text, pairs[i][1]);
    }
}
END_TEST

START_TEST(as_many_bytes_as_there_may_be)
{
    static uint8_t bytes[LANGUAGE_PATTERN_MAX + 1];
    struct parm parm;

    give_bytes(bytes, LANGUAGE_PATTERN_MAX);
    read_general(&parm, "pattern=x.bin\n", GOOD);
    parm_assert_ok(&parm);
    parm_done(&parm);
    give_bytes(bytes, LANGUAGE_PATTERN_MAX + 1);
    read_general(&parm, "pattern=x.bin\n", GOOD);
    ck_assert_int_eq(parm.err, -EINVAL);
    parm_assert_says(&parm, "t.parm:1:9: error: pattern file 'x.bin' is longer "
                            "than 256 KiB");
    parm_done(&parm);
}
END_TEST

static const struct {
    const char *text;
    int err;
    const char *says;
} unreadable[] = {
    {NULL, -ENOENT, "cannot read pattern file 'x.bin'\n"},
    {NULL, -EIO, "cannot read pattern file 'x.bin': Input/output error"},
    {"", 0, "pattern file 'x.bin' is empty"},
    {"Zg", 0, "is no base64"},
    {"Zg=", 0, "is no base64"},
    {"Z===", 0, "is no base64"},
    {"====", 0, "is no base64"},
    {"Zg==Zg==", 0, "is no base64"},
    {"Zm9v\n", 0, "is no base64"},
    {"Zm 9", 0, "is no base64"},
    {"Zm9\xff", 0, "is no base64"},
};

START_TEST(what_cannot_be_read_is_told_with_its_place)
{
    char expected[256] = "";
    struct parm parm;

    parm_append(expected, sizeof(expected), "t.parm:2:11: error: %s",
                strncmp(unreadable[_i].says, "is", 2) == 0
                    ? "pattern file 'x.bin' was submitted as a text that "
                    : "");
    parm_append(expected, sizeof(expected), "%s", unreadable[_i].says);
    give(unreadable[_i].text != NULL ? strdup(unreadable[_i].text) : NULL,
         unreadable[_i].err);
    read_general(&parm, "* x\n  pattern=x.bin\n", GOOD);
    ck_assert_int_eq(parm.err, -EINVAL);
    ck_assert_uint_eq(parm.report.errors, 1);
    parm_assert_says(&parm, expected);
    parm_done(&parm);
}
END_TEST

START_TEST(without_a_function_there_is_no_file)
{
    struct parm parm;

    parm_read(&parm, "pattern=x.bin\n" GOOD);
    ck_assert_int_eq(parm.err, -EINVAL);
    parm_assert_says(&parm, "t.parm:1:9: error: cannot read pattern file");
    parm_done(&parm);
}
END_TEST

static const struct {
    const char *general;
    const char *rest;
    const char *other;
} both[] = {
    {"pattern=x.bin\ncompratio=2\n", GOOD, "compratio="},
    {"compression=50\npattern=x.bin\n", GOOD, "compratio="},
    {"pattern=x.bin\n", SD WD "rd=r,wd=w,iorate=max,forcompratio=(1,2)\n",
     "compratio="},
    {"pattern=x.bin\ndedupratio=2\ndedupunit=4k\n", GOOD, "dedupratio="},
    {"pattern=x.bin\n", "sd=s,lun=/dev/x,dedupratio=2,dedupunit=4k\n" WD RD,
     "dedupratio="},
};

START_TEST(bytes_are_said_once)
{
    char expected[128] = "";
    struct parm parm;

    parm_append(expected, sizeof(expected),
                "error: pattern= and %s both say which bytes are written",
                both[_i].other);
    give_bytes((const uint8_t *)"abc", 3);
    read_general(&parm, both[_i].general, both[_i].rest);
    ck_assert_int_eq(parm.err, -EINVAL);
    parm_assert_says(&parm, expected);
    parm_done(&parm);
}
END_TEST

/* The last one counts, and only it is read. */
START_TEST(many_patterns_are_read_once)
{
    char text[32768] = "";
    struct parm parm;

    for (uint32_t i = 0; i < 1000; i++)
        parm_append(text, sizeof(text), "pattern=other%u\n", i);
    parm_append(text, sizeof(text), "pattern=x.bin\n%s", GOOD);
    give_bytes((const uint8_t *)"abc", 3);
    parm_read_including(&parm, text, include);
    parm_assert_ok(&parm);
    ck_assert_uint_eq(file.asked, 1);
    parm_done(&parm);
}
END_TEST

START_TEST(a_name_is_one_word)
{
    static const char *const names[] = {"", "\"\"", "()", "(a,b)"};
    char general[64] = "";
    struct parm parm;

    parm_append(general, sizeof(general), "pattern=%s\n", names[_i]);
    read_general(&parm, general, GOOD);
    ck_assert_int_eq(parm.err, -EINVAL);
    parm_assert_says(&parm, "t.parm:1:");
    parm_done(&parm);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pattern");
    TCase *cases = tcase_create("pattern");

    tcase_add_test(cases, bytes_of_any_number_and_value_come_whole);
    tcase_add_test(cases, the_text_is_base64);
    tcase_add_test(cases, as_many_bytes_as_there_may_be);
    tcase_add_loop_test(cases, what_cannot_be_read_is_told_with_its_place, 0,
                        ARRAY_LENGTH(unreadable));
    tcase_add_test(cases, without_a_function_there_is_no_file);
    tcase_add_loop_test(cases, bytes_are_said_once, 0, ARRAY_LENGTH(both));
    tcase_add_test(cases, many_patterns_are_read_once);
    tcase_add_loop_test(cases, a_name_is_one_word, 0, 4);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
