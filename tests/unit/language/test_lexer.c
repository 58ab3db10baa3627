/*
 * Lines, comments, continuation, quotes: what is read, and what is said about
 * the rest.
 */
#include "controller/language/definitions.h"
#include "tests/support/parm.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <stdio.h>

#define END "rd=r,sd=sd1,iorate=max\n"

/* Files that are read in full, and the path of their first sd. */
static const struct {
    const char *file;
    const char *path;
    uint32_t sds;
    uint32_t warnings;
} files[] = {
    {"sd=sd1,lun=/dev/x\n" END, "/dev/x", 1, 0},
    {"sd=sd1,lun=/dev/x\r\n" END, "/dev/x", 1, 0},
    {"\xef\xbb\xbfsd=sd1,lun=/dev/x\n" END, "/dev/x", 1, 0},
    {"   \t sd=sd1,lun=/dev/x\n" END, "/dev/x", 1, 0},
    {"SD=sd1,LUN=/dev/x\n" END, "/dev/x", 1, 0},

    /* Comments: in front of a line, and behind a blank or a tab. */
    {"* a\n# b\n// c\n/ d\n\nsd=sd1,lun=/dev/x # e\n" END, "/dev/x", 1, 0},
    {"sd=sd1,lun=/dev/x\t\t# note\n" END, "/dev/x", 1, 0},
    {"sd=sd1,lun=/dev/x a word or two\n" END, "/dev/x", 1, 0},
    {"sd=sd1,lun=/dev/x # size=10g\n" END, "/dev/x", 1, 0},
    {"sd=sd1,lun=/dev/x\n" END "eof\nthis is not read\n", "/dev/x", 1, 0},

    /* Continuation, with a comma and without. */
    {"sd=sd1,\nlun=/dev/x,\n* between\n\nthreads=4\n" END, "/dev/x", 1, 0},
    {"sd=sd1\nlun=/dev/x\nthreads=4\n" END, "/dev/x", 1, 0},
    {"sd=sd1,lun=/dev/x,openflags=(o_direct,\n   fsync)\n" END, "/dev/x", 1, 0},

    /* Quotes protect blanks, commas, signs and dashes. */
    {"sd=sd1,lun=\"/mnt/a b,c=d-e\"\n" END, "/mnt/a b,c=d-e", 1, 0},
    {"sd=(\"sd1\"),lun=/dev/x\n" END, "/dev/x", 1, 0},
    {"sd=sd1,lun=/dev/disk/by-id/x=1\n" END, "/dev/disk/by-id/x=1", 1, 0},
    {"sd=sd1,lun=/mnt/a(1,2)\n" END, "/mnt/a(1,2)", 1, 0},
    {"sd=sd1,lun=\\\\.\\PHYSICALDRIVE1\n" END, "\\\\.\\PHYSICALDRIVE1", 1, 0},

    /* Lists that vdbench takes too. */
    {"sd=sd1,lun=/dev/x,openflags=((o_direct))\n" END, "/dev/x", 1, 0},
    {"sd=sd1,lun=/dev/x,openflags=(o_direct\n" END, "/dev/x", 1, 1},
    {"sd=sd1,lun=/dev/x,openflags=(o_direct,,fsync)\n" END, "/dev/x", 1, 1},
    {"sd=sd1,lun=/dev/x,?\n" END, "/dev/x", 1, 0},
};

START_TEST(test_files)
{
    struct parm parm;

    parm_read(&parm, files[_i].file);
    parm_assert_ok(&parm);
    ck_assert_uint_eq(parm.definitions->sd_count, files[_i].sds);
    ck_assert_str_eq(parm.definitions->sds[0].paths[0].lun.text,
                     files[_i].path);
    ck_assert_msg(parm.report.warnings == files[_i].warnings, "%s",
                  parm.messages);
    parm_done(&parm);
}
END_TEST

static const struct {
    const char *file;
    const char *says;
} refused[] = {
    {"sd = sd1\n" END, "expected '=' and a value after 'sd'"},
    {"sd=sd1,,lun=/dev/x\n" END, "expected a parameter before ','"},
    {"sd=sd1,lun=/dev/x,openflags=\n" END, "expected a value after '='"},
    {"sd=sd1,lun=/dev/x,openflags=,threads=4\n" END,
     "expected a value before ','"},
    {"sd=sd1,lun=/dev/x,threads=()\n" END, "threads= has an empty list"},
    {"sd=sd1,lun=/dev/x,threads\n" END,
     "expected '=' and a value after 'threads'"},
    {"sd=sd1,lun=/dev/x)\n" END, "this ')' closes nothing"},
    {"sd=sd1,lun=/dev/x,openflags=(fsync)x\n" END,
     "expected ',' or the end of the line"},
    {"sd=sd1,lun=\"/dev/x\n" END, "the closing '\"' is missing"},
    {"=sd1,lun=/dev/x\n" END, "two letters or more before '='"},
    {"-- not a comment\nsd=sd1,lun=/dev/x\n" END,
     "expected '=' and a value after '--'"},
    {"EOF\nsd=sd1,lun=/dev/x\n" END, "expected '=' and a value after 'EOF'"},

    /* A list that swallows the next line, because of a blank. */
    {"sd=sd1,lun=/dev/x,openflags=(o_direct, fsync)\nthreads=4\n" END,
     "this list is not closed before 'threads='"},
    {"sd=sd1,lun=/dev/\xff\xfe\n" END, "byte 255 is no UTF-8 text"},
    /* What no agent takes: C1 controls, surrogates, overlong forms, tabs. */
    {"sd=sd1,lun=/dev/\xc2\x85\n" END, "byte 194 is no UTF-8 text"},
    {"sd=sd1,lun=/dev/\xed\xa0\x80\n" END, "byte 237 is no UTF-8 text"},
    {"sd=sd1,lun=/dev/\xc0\xaf\n" END, "byte 192 is no UTF-8 text"},
    {"sd=sd1,lun=\"/dev/a\tb\"\n" END, "a control character (code 9)"},
    {"sd=s\x1b[1md,lun=/dev/x\n" END, "a control character (code 27)"},
};

START_TEST(test_refused)
{
    struct parm parm;

    parm_read(&parm, refused[_i].file);
    ck_assert_int_eq(parm.err, -EINVAL);
    parm_assert_says(&parm, refused[_i].says);
    parm_done(&parm);
}
END_TEST

/* A drive line that ends in a comma, and another drive behind it. */
START_TEST(case_E01_comma_before_next_drive)
{
    static const char *const between[] = {"\n", "  \n", " * note\n",
                                          "\n* note\n\n"};
    char file[256];
    struct parm parm;

    for (size_t i = 0; i < ARRAY_LENGTH(between); i++) {
        snprintf(file, sizeof(file),
                 "sd=sd1,lun=/dev/a,%ssd=sd2,lun=/dev/b\n%s", between[i], END);
        parm_read(&parm, file);
        parm_assert_ok(&parm);
        ck_assert_uint_eq(parm.definitions->sd_count, 2);
        ck_assert_str_eq(parm.definitions->sds[0].name, "sd1");
        ck_assert_str_eq(parm.definitions->sds[1].name, "sd2");
        ck_assert_str_eq(parm.definitions->sds[1].paths[0].lun.text, "/dev/b");
        parm_done(&parm);
    }
    parm_read(&parm, "sd=sd1,lun=/dev/a\nrd=r,sd=sd1,iorate=max,");
    parm_assert_ok(&parm); /* the end of the file behind a comma */
    parm_done(&parm);
}
END_TEST

/* What a blank drops is said when it looks like a parameter. */
START_TEST(case_E11_swallowed_text)
{
    struct parm parm;

    parm_read(&parm, "sd=sd1,lun=/dev/x, openflags=o_direct,threads=4\n" END);
    parm_assert_ok(&parm);
    ck_assert_uint_eq(parm.report.warnings, 1);
    ck_assert_uint_eq(parm.report.messages[0].place.line, 1);
    ck_assert_uint_eq(parm.report.messages[0].place.column, 20);
    ck_assert_uint_eq(parm.definitions->sds[0].open.flags, 0);
    parm_done(&parm);

    parm_read(&parm, "sd=sd1,lun=/dev/x\nwd=w,sd=sd1 ,rdpct=50\n"
                     "rd=r,wd=w,iorate=max\n");
    parm_assert_says(&parm, "t.parm:2:13: warning: ignored");
    ck_assert_double_eq(parm.definitions->wds[0].read_percent, 100);
    parm_done(&parm);

    /* A path that begins a line is a comment. */
    parm_read(&parm, "sd=sd1,size=1g,\n/dev/x,threads=4\nlun=/dev/y\n" END);
    parm_assert_ok(&parm);
    parm_assert_says(&parm, "t.parm:2:1: warning: a line that begins with '/'");
    parm_done(&parm);
}
END_TEST

/* Blanks and tabs behind values, dots in names, times with a unit, a bare *. */
START_TEST(case_E04_comments_dots_units)
{
    struct parm parm;

    parm_read(&parm, "hd=h1\t\t# first\nsd=sd.1,lun=/dev/x,host=*\t# note\n"
                     "rd=r,sd=*,iorate=max,elapsed=60s\t# note\n");
    parm_assert_ok(&parm);
    ck_assert_uint_eq(parm.report.count, 0);
    ck_assert_str_eq(parm.definitions->hosts[0].label, "h1");
    ck_assert_uint_eq(parm.definitions->rds[0].elapsed_ns, 60 * NS_PER_S);
    parm_done(&parm);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lexer");
    TCase *tests = tcase_create("lexer");

    tcase_add_loop_test(tests, test_files, 0, ARRAY_LENGTH(files));
    tcase_add_loop_test(tests, test_refused, 0, ARRAY_LENGTH(refused));
    tcase_add_test(tests, case_E01_comma_before_next_drive);
    tcase_add_test(tests, case_E04_comments_dots_units);
    tcase_add_test(tests, case_E11_swallowed_text);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
