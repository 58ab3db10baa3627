/*
 * What people read: whole messages, letter by letter.
 */
#include "tests/support/parm.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <stdio.h>

static const struct {
    const char *file;
    const char *messages;
} golden[] = {
    {"sd=sd1,lun=/dev/x,openflags=o_direct\n"
     "wd=wd1,sd=sd1,rdpct=101\n"
     "rd=rd1,wd=wd1,iorate=max\n",
     "t.parm:2:21: error: rdpct=101 is not a percentage from 0 to 100\n"
     "    wd=wd1,sd=sd1,rdpct=101\n"
     "                        ^~~\n"},

    /* A near miss is named. */
    {"sd=sd1,lun=/dev/x\nwd=wd1,sd=sd1,xfersise=4k\nrd=r,wd=wd1,iorate=max\n",
     "t.parm:2:15: error: 'xfersise' is no parameter of wd=\n"
     "    wd=wd1,sd=sd1,xfersise=4k\n"
     "                  ^~~~~~~~\n"
     "    did you mean xfersize=?\n"},
    {"hd=host1\nsd=sd1,lun=/dev/x,host=hots1\nrd=r,sd=sd1,iorate=max\n",
     "t.parm:2:24: error: hd=hots1 is not defined\n"
     "    sd=sd1,lun=/dev/x,host=hots1\n"
     "                           ^~~~~\n"
     "    did you mean host1?\n"},
    {"sd=sd1,lun=/dev/x,openflags=o_driect\nrd=r,sd=sd1,iorate=max\n",
     "t.parm:1:29: error: 'o_driect' is no open flag; known are o_direct, "
     "o_dsync, o_sync and fsync\n"
     "    sd=sd1,lun=/dev/x,openflags=o_driect\n"
     "                                ^~~~~~~~\n"
     "    did you mean o_direct?\n"},

    /* A parameter in the wrong place. */
    {"sd=sd1,lun=/dev/x\nrd=r,sd=sd1,iorate=max\nmessagescan=no\n",
     "t.parm:3:1: error: messagescan= is a general parameter; those come "
     "first, but the rd entries began in line 2\n"
     "    messagescan=no\n"
     "    ^~~~~~~~~~~\n"
     "    move it above the first hd=, sd=, wd= and rd=\n"},

    /* Tabs keep the caret where it belongs. */
    {"\tsd=sd1,lun=/dev/x,threads=0\nrd=r,sd=sd1,iorate=max\n",
     "t.parm:1:28: error: threads=0 is not a number from 1 to 65536\n"
     "    \tsd=sd1,lun=/dev/x,threads=0\n"
     "    \t                          ^\n"},

    /* So do letters of several bytes. */
    {"sd=plätte,lun=/dev/x,threads=0\nrd=r,sd=plätte,iorate=max\n",
     "t.parm:1:31: error: threads=0 is not a number from 1 to 65536\n"
     "    sd=plätte,lun=/dev/x,threads=0\n"
     "                                 ^\n"},

    /* A name that is missing is one error, however many places have it. */
    {"hd=h1\nsd=a,lun=/dev/a,host=h2\nsd=b,lun=/dev/b,host=h2\n"
     "sd=c,lun=/dev/c,host=h2\nrd=r,sd=(a,x1),iorate=max\n",
     "t.parm:2:22: error: hd=h2 is not defined; 2 more places have it\n"
     "    sd=a,lun=/dev/a,host=h2\n"
     "                         ^~\n"
     "    did you mean h1?\n"
     "t.parm:5:12: error: sd=x1 is not defined\n"
     "    rd=r,sd=(a,x1),iorate=max\n"
     "               ^~\n"},

    /* One mistake is one message: not each sd= and wd= that follows. */
    {"sd=default,lun=/dev/x\nsd=a,threads=4\nsd=b\nwd=w,sd=(a,b)\n"
     "rd=r,wd=w,iorate=max\n",
     "t.parm:1:12: error: sd=default cannot have a lun=: give it to each sd=\n"
     "    sd=default,lun=/dev/x\n"
     "               ^~~\n"},
    {"include=drives\nwd=w,sd=sd*\nrd=r,wd=w,iorate=max\n",
     "t.parm:1:1: error: cannot read include file 'drives': No such file or "
     "directory\n"
     "    include=drives\n"
     "    ^~~~~~~~~~~~~~\n"
     "    it is looked for beside this file, in the current directory, and in "
     "the parent of this file's\n"},

    /* Braces make no variable. */
    {"sd=a,lun=/dev/x,openflags=o_direct\nrd=r,sd=a,iorate=${iops}\n",
     "t.parm:2:18: warning: '${' stands for itself, as in vdbench\n"
     "    rd=r,sd=a,iorate=${iops}\n"
     "                     ^~~~~~~\n"
     "    a variable is written $name, without braces\n"
     "t.parm:2:18: error: expected a number, not '${iops}'\n"
     "    rd=r,sd=a,iorate=${iops}\n"
     "                     ^~~~~~~\n"},

    /* Behind all there is. */
    {"sd=a,lun=/dev/x\n",
     "t.parm:1:16: error: no rd= in the file: there is nothing to run\n"
     "    sd=a,lun=/dev/x\n"
     "                   ^\n"},
    {"", "t.parm:1:1: error: no rd= in the file: there is nothing to run\n"
         "    \n"
         "    ^\n"},

    /* What changes nothing where it stands. */
    {"dedupunit=4k\nformatsds=yes\nsd=a,lun=/dev/x,hitarea=2m\n"
     "rd=r,sd=a,iorate=max,distribution=uniform\n",
     "t.parm:1:1: warning: dedupunit= has no effect without dedupratio=\n"
     "    dedupunit=4k\n"
     "    ^~~~~~~~~\n"
     "t.parm:2:1: warning: formatsds= has no effect: no sd= has a size=\n"
     "    formatsds=yes\n"
     "    ^~~~~~~~~\n"
     "    files have a size=; devices are never formatted\n"
     "t.parm:3:17: warning: hitarea= has no effect: nothing has rhpct= or "
     "whpct=\n"
     "    sd=a,lun=/dev/x,hitarea=2m\n"
     "                    ^~~~~~~\n"
     "t.parm:4:22: warning: distribution= has no effect at full speed "
     "(iorate=max): there are no arrivals to spread\n"
     "    rd=r,sd=a,iorate=max,distribution=uniform\n"
     "                         ^~~~~~~~~~~~\n"},

    /* Known, but for later. */
    {"sd=sd1,lun=/dev/x\nrd=r,sd=sd1,iorate=max,replay=f.bin\n",
     "t.parm:2:24: not supported yet: replay=\n"
     "    rd=r,sd=sd1,iorate=max,replay=f.bin\n"
     "                           ^~~~~~\n"},

    {"data_errors=\"/bin/x $lun\"\nsd=sd1,lun=/dev/x\n"
     "rd=r,sd=sd1,iorate=max\n",
     "t.parm:1:13: not supported yet: data_errors=/bin/x $lun\n"
     "    data_errors=\"/bin/x $lun\"\n"
     "                ^~~~~~~~~~~~~\n"
     "    data_errors=N says when to end, and endcmd= runs a command that the "
     "host offers, however the campaign ends\n"},
    {"data_errors=(remove_device,10)\nsd=sd1,lun=/dev/x\n"
     "rd=r,sd=sd1,iorate=max\n",
     "t.parm:1:14: not supported yet: data_errors=remove_device\n"
     "    data_errors=(remove_device,10)\n"
     "                 ^~~~~~~~~~~~~\n"
     "    data_errors=N ends the campaign when N requests have failed\n"},
    {"data_errors=remove_devices\nsd=sd1,lun=/dev/x\n"
     "rd=r,sd=sd1,iorate=max\n",
     "t.parm:1:13: error: data_errors=remove_devices is neither a number of "
     "errors nor stop; did you mean remove_device?\n"
     "    data_errors=remove_devices\n"
     "                ^~~~~~~~~~~~~~\n"},

    /* All without effect in one note; it is no error. */
    {"messagescan=no\nhd=h,jvms=4,shell=ssh\nsd=sd1,lun=/dev/x\n"
     "rd=r,sd=sd1,iorate=max\n",
     "t.parm:1:1: note: accepted, but without effect here: messagescan=, "
     "jvms=, shell=\n"
     "    messagescan=no\n"
     "    ^~~~~~~~~~~\n"},
};

static int nothing_there(void *user, const char *name, const char *from,
                         char **ret_text, size_t *ret_length)
{
    (void)user, (void)name, (void)from, (void)ret_text, (void)ret_length;
    return -ENOENT;
}

START_TEST(test_golden)
{
    struct parm parm;

    parm_read_including(&parm, golden[_i].file, nothing_there);
    ck_assert_str_eq(parm.messages, golden[_i].messages);
    parm_done(&parm);
}
END_TEST

/* Errors of every step, sorted as the file is. */
START_TEST(test_all_at_once)
{
    struct parm parm;
    char first[256];

    parm_read(&parm, "sd=sd1,lun=/dev/x,threads=0\n"
                     "wd=wd1,sd=sd2\n"
                     "bogus\n"
                     "rd=rd1,wd=wd1,iorate=max,elapsed=x,warmap=1\n");
    ck_assert_int_eq(parm.err, -EINVAL);
    ck_assert_uint_eq(parm.report.errors, 5);
    for (uint32_t i = 1; i < parm.report.count; i++)
        ck_assert_uint_le(parm.report.messages[i - 1].place.line,
                          parm.report.messages[i].place.line);
    language_report_first(&parm.report, first, sizeof(first));
    ck_assert_str_eq(first,
                     "t.parm:1:27: threads=0 is not a number from 1 to 65536");
    parm_done(&parm);
}
END_TEST

/* The place of what a variable brought is the variable. */
START_TEST(test_place_of_variable)
{
    const char *variables[] = {"pct=200", "lun=/dev/a/long/path/to/it"};
    struct parm parm;

    parm_read_with(&parm,
                   "sd=sd1,lun=$lun\nwd=w,sd=sd1,rdpct=$pct,xfersize=7\n"
                   "rd=r,wd=w,iorate=max\n",
                   variables, 2);
    ck_assert_uint_eq(parm.report.count, 2);
    ck_assert_uint_eq(parm.report.messages[0].place.column, 19);
    ck_assert_uint_eq(parm.report.messages[1].place.column, 33);
    parm_done(&parm);
}
END_TEST

/* A long line is shown around its column. */
START_TEST(test_long_line)
{
    char file[2048] = "sd=sd1,lun=/";
    struct parm parm;

    for (int i = 0; i < 1000; i++)
        parm_append(file, sizeof(file), "y");
    parm_append(file, sizeof(file), ",threads=0,size=10g,");
    for (int i = 0; i < 500; i++)
        parm_append(file, sizeof(file), " ");
    parm_append(file, sizeof(file), "\nrd=r,sd=sd1,iorate=max\n");
    parm_read(&parm, file);
    ck_assert_uint_eq(parm.report.errors, 1);
    ck_assert_uint_lt(strlen(parm.messages), 400);
    parm_assert_says(&parm, "yyy,threads=0,size=10g");
    parm_done(&parm);
}
END_TEST

/* A file cannot write to the terminal of who reads the message. */
START_TEST(test_control_characters)
{
    struct parm parm;

    parm_read(&parm, "sd=sd1,lun=/dev/x\nrd=\x1b[2Jr,sd=sd1,iorate=max\n");
    ck_assert_int_eq(parm.err, -EINVAL);
    parm_assert_says(&parm, "2:4: error: a control character (code 27)");
    ck_assert_ptr_null(strchr(parm.messages, 0x1b));
    parm_done(&parm);
}
END_TEST

/* Warnings do not push out the error that comes behind them. */
START_TEST(test_many_messages)
{
    char file[16384] = "sd=sd1,lun=/dev/x\n";
    struct parm parm;

    for (int i = 0; i < 400; i++)
        parm_append(file, sizeof(file), "wd=w%d,sd=sd1,rdpct=0.5\n", i);
    parm_append(file, sizeof(file), "rd=r,wd=w1,iorate=0\n");
    parm_read(&parm, file);
    ck_assert_uint_eq(parm.report.warnings, 400);
    ck_assert_uint_eq(parm.report.errors, 1);
    ck_assert_uint_le(parm.report.count, LANGUAGE_MESSAGES_MAX);
    parm_assert_says(&parm, "iorate=0 is not a rate above 0");
    parm_assert_says(&parm, "and 300 more like these");
    parm_done(&parm);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("messages");
    TCase *tests = tcase_create("messages");

    tcase_add_loop_test(tests, test_golden, 0, ARRAY_LENGTH(golden));
    tcase_add_test(tests, test_all_at_once);
    tcase_add_test(tests, test_place_of_variable);
    tcase_add_test(tests, test_long_line);
    tcase_add_test(tests, test_control_characters);
    tcase_add_test(tests, test_many_messages);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
