/*
 * Values that no parameter takes, and texts that are none: never a crash, never
 * silence, never a message without its place.
 */
#include "controller/language/internal.h"
#include "tests/support/parm.h"
#include "tests/support/suite.h"

#include <errno.h>

/* ---- what must hold of every message ---- */

static void check_places(const struct parm *parm, const char *what)
{
    for (uint32_t i = 0; i < parm->report.count; i++) {
        const struct language_message *message = &parm->report.messages[i];
        const struct language_place *place = &message->place;

        ck_assert_msg(place->file != NULL && place->line >= 1,
                      "%s: no place in \"%s\"", what, message->text);
        ck_assert_msg(
            place->column >= 1 && place->column <= strlen(place->source) + 1 &&
                place->width >= 1,
            "%s: column %u of \"%s\"", what, place->column, place->source);
    }
    ck_assert_msg((parm->err == 0) == !language_report_failed(&parm->report),
                  "%s: %d, but:\n%s", what, parm->err, parm->messages);
}

/* Errors and warnings, but for the one that the drive itself earns. */
static uint32_t messages(const struct parm *parm)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < parm->report.count; i++)
        count += parm->report.messages[i].severity != LANGUAGE_NOTE &&
                 strstr(parm->report.messages[i].text, "page cache") == NULL;
    return count;
}

/* ---- every parameter with every value ---- */

static void write_file(char *text, size_t size,
                       const struct parameter_kind *kind, const char *value)
{
    static const char wd[] = "wd=wd1,sd=sd1", rd[] = "rd=rd1,wd=wd1,iorate=max";
    enum section in = kind->section;

    text[0] = '\0';
    if (in == SECTION_GENERAL)
        parm_append(text, size, "%s=%s\n", kind->name, value);
    if (in == SECTION_HD)
        parm_append(text, size, "hd=h1,%s=%s\n", kind->name, value);
    parm_append(text, size, "sd=sd1,lun=/dev/x");
    if (in == SECTION_SD)
        parm_append(text, size, ",%s=%s", kind->name, value);
    parm_append(text, size, "\n%s", wd);
    if (in == SECTION_WD)
        parm_append(text, size, ",%s=%s", kind->name, value);
    parm_append(text, size, "\n%s", rd);
    if (in == SECTION_RD)
        parm_append(text, size, ",%s=%s", kind->name, value);
    parm_append(text, size, "\n");
}

/* Wrong whatever the parameter. */
static const char *const broken[] = {
    "",     "(",    "1)", "\"",  "(,)",     "()",       "$zz", "\xff",
    "\x01", "\xc3", "(1", "\"a", "(\"a,b)", "(1,2)(3)", "=",   "(a=b",
};

/* Wrong for all that takes numbers, sizes, times, rates or chosen words. */
static const char *const nonsense[] = {
    "a(b",
    "-7",
    "1e30",
    "1e999",
    "abc",
    "(9-1,1)",
    "nan",
    "inf",
    "-50%",
    "--1",
    "%",
    "1-2",
    "0x1g",
    "10x",
    "1.2.3",
    "(1-2)",
    "(1,a)",
    "1,5",
    "(5-9,0)",
    "/",
    "\"1 2\"",
    "\xc3\xa4",
    "99999999999999999999999",
};

/* Those that take any word at all; what it means is looked at elsewhere. */
static const char *const wordy[] = {
    "system",  "startcmd", "start_cmd",       "endcmd",
    "end_cmd", "monitor",  "heartbeat_error",
};

static bool is_wordy(const struct parameter_kind *kind)
{
    for (size_t i = 0; i < ARRAY_LENGTH(wordy); i++)
        if (strcmp(wordy[i], kind->name) == 0)
            return true;
    return false;
}

static void try_value(const struct parameter_kind *kind, const char *value,
                      bool must_be_told)
{
    char text[512], what[128];
    struct parm parm;

    write_file(text, sizeof(text), kind, value);
    (void)snprintf(what, sizeof(what), "%s: %s=%s", section_name(kind->section),
                   kind->name, value);
    parm_expand(&parm, text, NULL);
    check_places(&parm, what);
    ck_assert_msg(!must_be_told || messages(&parm) > 0,
                  "%s is taken without a word", what);
    parm_done(&parm);
}

START_TEST(wrong_values_are_told)
{
    const struct parameter_kind *kind = &parameter_table[_i];
    bool works = kind->support == PARAMETER_WORKS;

    for (size_t i = 0; i < ARRAY_LENGTH(broken); i++)
        try_value(kind, broken[i], true);
    for (size_t i = 0; i < ARRAY_LENGTH(nonsense); i++)
        try_value(kind, nonsense[i], works && !is_wordy(kind));
}
END_TEST

/* What would be dropped, or counts for something else, is said. */
static const char *const dropped[] = {
    "data_errors=1.5\n@",
    "data_errors=5d\n@",
    "loop=1d\n@",
    "loop=1.5\n@",
    "loop=0.5\n@",
    "dedupratio=2\ndedupunit=4k\ndedupsets=0.5\n@",
    "dedup=(ratio=0)\n@",
    "dedup=(maxkey=3)\n@",
    "dedup=(ratio)\n@",
    "dedupratio=2\ndedupunit=4k\ndeduphotsets=3\n@",
    "dedupratio=2\ndedupunit=4k\ndeduphotsets=(2,0)\n@",
    "dedupratio=2\ndedupunit=4k\ndeduphotsets=(1000000,2)\n@",
    "dedupratio=2\ndedupunit=4k\ndedupflipflop=hot\n@",
    "dedupratio=2\ndedupunit=4k\ndedupflipflop=maybe\n@",
    "formatsds=nay\n@",
    "histogram=(default,20u,20u)\n@",
    "histogram=(default,1.0000001s)\n@",
    "report=hosts_detail\n@",
    "require=2d\n@",
    "@,threads=1.5",
    "@,forthreads=(1,2.5)",
    "@,forrdpct=(0.5,99.5)",
    "@,seekpct=5d",
    "@,stopcurve=1e-9,iorate=curve",
    "@,distribution=\"\"",
    "@,curve=50",
    "@,find=(p99,2ms)",
    "@,elapsed=2.5",
};

START_TEST(what_is_dropped_is_told)
{
    static const char file[] = "sd=sd1,lun=/dev/x\nwd=wd1,sd=sd1\n"
                               "rd=rd1,wd=wd1,iorate=max";
    const char *at = strchr(dropped[_i], '@');
    char text[512] = "";
    struct parm parm;

    parm_append(text, sizeof(text), "%.*s%s%s\n", (int)(at - dropped[_i]),
                dropped[_i], file, at + 1);
    parm_expand(&parm, text, NULL);
    check_places(&parm, dropped[_i]);
    ck_assert_msg(messages(&parm) > 0, "%s is taken without a word",
                  dropped[_i]);
    parm_done(&parm);
}
END_TEST

/* host_wait=0 is no wait, not the default. */
START_TEST(no_wait_is_none)
{
    struct parm parm;

    parm_expand(&parm, "host_wait=0\nsd=s,lun=/dev/x\nrd=r,sd=s,iorate=max\n",
                NULL);
    parm_assert_ok(&parm);
    ck_assert(parm.plan->host_wait_given && parm.plan->host_wait_ns == 0);
    parm_done(&parm);
}
END_TEST

/* ---- texts ---- */

/* A file of bytes, which may hold zeros. */
static void read_bytes(struct parm *parm, const char *bytes, size_t length)
{
    struct language_file file = {"t.parm", bytes, length};
    struct language_input input = {.files = &file, .file_count = 1};

    parm_read_input(parm, &input);
    check_places(parm, "bytes");
}

#define GOOD                                                                   \
    "sd=s,lun=/dev/x,openflags=o_direct\r\n\twd=w,sd=s\t# so\r\n"              \
    "rd=r,wd=w,iorate=max"

START_TEST(ends_of_lines_and_marks_are_no_matter)
{
    static const char *const files[] = {GOOD, GOOD "\r\n", "\xef\xbb\xbf" GOOD,
                                        GOOD "\n\n\t\n", GOOD "\r\r\n"};
    struct parm parm;

    read_bytes(&parm, files[_i], strlen(files[_i]));
    parm_assert_ok(&parm);
    ck_assert_str_eq(parm.messages, "");
    parm_done(&parm);
}
END_TEST

static const struct {
    const char *bytes;
    size_t length;
    const char *says;
} texts[] = {
    {"sd=s,lun=/x\nwd=w,sd=\0s\n", 23, "t.parm:2:9: error: a zero byte"},
    {"\0", 1, "t.parm:1:1: error: a zero byte"},
    {"\xff\xfes\0d\0", 6, "t.parm:1:4: error: a zero byte"},
    {"sd=s,lun=/x\rwd=w,sd=s\r", 22, "t.parm:1:12: error: a control character"},
    {"sd=s,lun=/x\nwd=w,sd=\"s\n", 23, "t.parm:2:9: error: the closing '\"'"},
    {"sd=s,lun=/x\nwd=w,sd=(s", 22, "t.parm:2:9: warning: this list is not"},
    {"sd=\xe2\x82,lun=/x\n", 13, "t.parm:1:4: error: byte 226 is no UTF-8"},
};

START_TEST(what_is_no_text_is_told_with_its_place)
{
    struct parm parm;

    read_bytes(&parm, texts[_i].bytes, texts[_i].length);
    parm_assert_says(&parm, texts[_i].says);
    parm_done(&parm);
}
END_TEST

/* 1 MB of a letter on one line, behind `before`. */
static char *long_line(const char *before, char letter, size_t *ret_length)
{
    size_t length = strlen(before) + (1u << 20);
    char *text = malloc(length + 1);

    ck_assert_ptr_nonnull(text);
    memset(text, letter, length);
    memcpy(text, before, strlen(before));
    text[length] = '\0';
    *ret_length = length;
    return text;
}

START_TEST(a_megabyte_of_line)
{
    static const char letters[] = "y \t,(\"/*=";
    size_t length;
    char *text =
        long_line("sd=s,lun=/x\nwd=w,sd=s,xfersize=", letters[_i], &length);
    struct parm parm;

    read_bytes(&parm, text, length);
    if (letters[_i] != ' ' && letters[_i] != '\t')
        parm_assert_says(&parm, "t.parm:2:61: error: the line is longer than "
                                "65536 bytes");
    ck_assert_uint_gt(parm.report.errors, 0);
    ck_assert_uint_lt(strlen(parm.messages), 1000);
    parm_done(&parm);
    free(text);
}
END_TEST

START_TEST(more_lines_than_there_may_be)
{
    size_t length;
    char *text = long_line("", '\n', &length);
    struct parm parm;

    read_bytes(&parm, text, length);
    parm_assert_says(&parm, "t.parm:65537:1: error: the file has more than "
                            "65536 lines");
    parm_done(&parm);
    free(text);
}
END_TEST

START_TEST(more_text_than_there_may_be)
{
    size_t length = (size_t)LANGUAGE_TEXT_MAX + 100;
    char *text = malloc(length);
    struct parm parm;

    ck_assert_ptr_nonnull(text);
    for (size_t i = 0; i < length; i++)
        text[i] = i % 1024 == 1023 ? '\n' : '#';
    read_bytes(&parm, text, length);
    parm_assert_says(&parm, "t.parm:8193:1: error: from here on all files "
                            "together are longer than 8 MiB");
    parm_done(&parm);
    free(text);
}
END_TEST

/* ---- include= ---- */

/* "self" includes itself, "ok" is fine, the others are not there. */
static int include(void *user, const char *name, const char *from,
                   char **ret_text, size_t *ret_length)
{
    (void)user, (void)from;
    if (strcmp(name, "self") != 0 && strcmp(name, "ok") != 0)
        return -ENOENT;
    *ret_text = strdup(strcmp(name, "self") == 0 ? "* loop\n include=self\n"
                                                 : "* nothing\n");
    ck_assert_ptr_nonnull(*ret_text);
    *ret_length = strlen(*ret_text);
    return 0;
}

START_TEST(a_file_that_includes_itself)
{
    struct parm parm;

    parm_read_including(&parm, "include=self\n" GOOD, include);
    check_places(&parm, "self");
    ck_assert_uint_eq(parm.report.errors, 1);
    parm_assert_says(&parm, "self:2:2: error: an included file cannot include");
    parm_done(&parm);
}
END_TEST

START_TEST(more_includes_than_there_may_be)
{
    char text[4096] = "";
    struct parm parm;

    for (uint32_t i = 0; i < LANGUAGE_INCLUDES_MAX + 2; i++)
        parm_append(text, sizeof(text), "include=ok\n");
    parm_append(text, sizeof(text), "%s", GOOD);
    parm_read_including(&parm, text, include);
    check_places(&parm, "many");
    ck_assert_uint_eq(parm.report.errors, 2);
    parm_assert_says(&parm, "t.parm:65:1: error: more than 64 files are");
    parm_done(&parm);
}
END_TEST

START_TEST(names_of_includes)
{
    static const char *const names[] = {"", "\"", "\"\"", "\"ok", " ok", "no"};
    char text[512] = "";
    struct parm parm;

    parm_append(text, sizeof(text), "include=%s\n%s", names[_i], GOOD);
    parm_read_including(&parm, text, include);
    check_places(&parm, names[_i]);
    ck_assert((parm.err == 0) == (strcmp(names[_i], "\"ok") == 0));
    parm_done(&parm);
}
END_TEST

static void add_texts(TCase *tests)
{
    tcase_add_loop_test(tests, ends_of_lines_and_marks_are_no_matter, 0, 5);
    tcase_add_loop_test(tests, what_is_no_text_is_told_with_its_place, 0,
                        ARRAY_LENGTH(texts));
    tcase_add_loop_test(tests, a_megabyte_of_line, 0, 9);
    tcase_add_test(tests, more_lines_than_there_may_be);
    tcase_add_test(tests, more_text_than_there_may_be);
    tcase_add_test(tests, a_file_that_includes_itself);
    tcase_add_test(tests, more_includes_than_there_may_be);
    tcase_add_loop_test(tests, names_of_includes, 0, 6);
}

int main(void)
{
    Suite *suite = suite_create("hostile");
    TCase *tests = tcase_create("hostile");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, wrong_values_are_told, 0,
                        (int)parameter_table_length);
    tcase_add_loop_test(tests, what_is_dropped_is_told, 0,
                        ARRAY_LENGTH(dropped));
    tcase_add_test(tests, no_wait_is_none);
    add_texts(tests);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
