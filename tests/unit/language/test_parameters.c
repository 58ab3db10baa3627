/*
 * The one table of parameters: abbreviations, what works, what is for later.
 */
#include "controller/language/internal.h"
#include "tests/support/parm.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <stdio.h>

static const struct {
    enum section section;
    const char *keyword;
    const char *name; /* NULL: unknown */
} abbreviations[] = {
    {SECTION_SD, "th", "threads"},
    {SECTION_SD, "thread", "threads"},
    {SECTION_SD, "openflag", "openflags"},
    {SECTION_SD, "of", "offset"},
    {SECTION_SD, "ho", "host"},
    {SECTION_SD, "re", "replay"},
    {SECTION_WD, "xf", "xfersize"},
    {SECTION_WD, "xfer", "xfersize"},
    {SECTION_WD, "rdp", "rdpct"},
    {SECTION_WD, "re", "readpct"},
    {SECTION_WD, "se", "seekpct"},
    {SECTION_WD, "st", "stride"},
    {SECTION_WD, "sd", "sd"},
    {SECTION_RD, "el", "elapsed"},
    {SECTION_RD, "in", "interval"},
    {SECTION_RD, "io", "iorate"},
    {SECTION_RD, "wa", "warmup"},
    {SECTION_RD, "pa", "pause"},
    {SECTION_RD, "forx", "forxfersize"},
    {SECTION_RD, "forth", "forthreads"},
    {SECTION_RD, "th", "threads"},
    {SECTION_RD, "st", "stopcurve"},
    {SECTION_GENERAL, "comp", "compratio"},
    {SECTION_GENERAL, "compression", "compression"},
    {SECTION_GENERAL, "data", "data_errors"},
    {SECTION_GENERAL, "mess", "messagescan"},
    {SECTION_GENERAL, "report", "report"},
    {SECTION_HD, "sys", "system"},
    /* In full only. */
    {SECTION_RD, "maxdat", NULL},
    {SECTION_RD, "w", NULL},
    {SECTION_GENERAL, "loo", NULL},
    {SECTION_SD, "h", NULL},
    {SECTION_SD, "xfersize", NULL},
};

START_TEST(test_abbreviation)
{
    const struct parameter_kind *kind =
        parameter_find(abbreviations[_i].section, abbreviations[_i].keyword);

    if (abbreviations[_i].name == NULL) {
        ck_assert_ptr_null(kind);
        return;
    }
    ck_assert_ptr_nonnull(kind);
    ck_assert_str_eq(kind->name, abbreviations[_i].name);
}
END_TEST

/* Every row can be reached by its full name, and says what it is for. */
START_TEST(test_rows)
{
    for (uint32_t i = 0; i < parameter_table_length; i++) {
        const struct parameter_kind *kind = &parameter_table[i];

        ck_assert_msg(parameter_find(kind->section, kind->name) == kind,
                      "%s= of %s= is hidden by another", kind->name,
                      section_name(kind->section));
        ck_assert_msg(kind->help[0] != '\0', "%s= has no help", kind->name);
        /* report= is without effect, but its words are looked at. */
        ck_assert((kind->apply != NULL) == (kind->support == PARAMETER_WORKS ||
                                            strcmp(kind->name, "report") == 0));
        ck_assert(i == 0 || parameter_table[i - 1].section <= kind->section);
    }
}
END_TEST

/* A file around one parameter of a section. */
static void write_file(char *file, size_t size,
                       const struct parameter_kind *kind, const char *value)
{
    char in[SECTIONS][160] = {"", "", "", "", ""};

    (void)snprintf(in[kind->section], sizeof(in[0]), "%s%s=%s",
                   kind->section == SECTION_GENERAL ? "" : ",", kind->name,
                   value);
    (void)snprintf(file, size,
                   "%s\nhd=h1%s\nsd=s1,lun=/x%s\nwd=w1,sd=s1%s\n"
                   "rd=r1,sd=s1,iorate=max%s\n",
                   in[SECTION_GENERAL], in[SECTION_HD], in[SECTION_SD],
                   in[SECTION_WD], in[SECTION_RD]);
}

/* Nothing known is ever dropped in silence: it works, is noted, or refused. */
START_TEST(test_support)
{
    for (uint32_t i = 0; i < parameter_table_length; i++) {
        const struct parameter_kind *kind = &parameter_table[i];
        char file[1024];
        struct parm parm;

        if (kind->support == PARAMETER_WORKS)
            continue;
        /* The one whose words are looked at all the same. */
        write_file(file, sizeof(file), kind,
                   kind->apply != NULL ? "host_detail" : "5");
        parm_read(&parm, file);
        if (kind->support == PARAMETER_NO_EFFECT) {
            parm_assert_ok(&parm);
            parm_assert_says(&parm, "without effect here");
        } else {
            ck_assert_int_eq(parm.err, -ENOTSUP);
            ck_assert_uint_eq(parm.report.unsupported, 1);
        }
        parm_assert_says(&parm, kind->name);
        parm_done(&parm);
    }
}
END_TEST

/* What works takes good values, and refuses bad ones with a place. */
static const struct {
    const char *file; /* %s: the value */
    const char *good[4];
    const char *bad[16];
} values[] = {
    {"compratio=%s\nsd=s,lun=/x\nrd=r,sd=s,iorate=max\n",
     {"1", "1.5", "25"},
     {"x", "(1,2)", "0.5", "26", "50%"}},
    {"dedupunit=4k\ndedupratio=%s\nsd=s,lun=/x\nrd=r,sd=s,iorate=max\n",
     {"1", "2.5"},
     {"0", "50%", "x"}},
    {"dedupratio=2\ndedupunit=%s\nsd=s,lun=/x\nrd=r,sd=s,iorate=max\n",
     {"512", "128k"},
     {"0", "100", "x"}},
    {"dedupratio=2\ndedupunit=4k\nsd=s,lun=/x,dedupsets=%s\n"
     "rd=r,sd=s,iorate=max\n",
     {"5%", "100"},
     {"0", "101%", "x"}},
    {"dedupratio=%s\nsd=s,lun=/x\nrd=r,sd=s,iorate=max\n", {"1"}, {"2"}},
    {"compression=%s\nsd=s,lun=/x\nrd=r,sd=s,iorate=max\n",
     {"4", "50", "100"},
     {"x", "0", "3", "101", "-1"}},
    {"sd=s,lun=/x\nrd=r,sd=s,iorate=max,forcompression=%s\n",
     {"4", "50", "(25,50,100)"},
     {"x", "0", "(50,101)"}},
    {"sd=s,lun=/x\nrd=r,sd=s,iorate=max,compression=%s\n",
     {"50", "(25,100)"},
     {"x", "0"}},
    {"data_errors=%s\nsd=s,lun=/x\nrd=r,sd=s,iorate=max\n",
     {"5", "(5,60)", "stop"},
     {"0", "-1", "(5,0)", "(1,2,3)", "50%"}},
    {"abort_failed_skew=%s\nsd=s,lun=/x\nrd=r,sd=s,iorate=max\n",
     {"2", "0.5", "100"},
     {"0", "-1", "101", "x", "(1,2)"}},
    {"histogram=%s\nsd=s,lun=/x\nrd=r,sd=s,iorate=max\n",
     {"(default,20u,1.5m,2s)", "(DEFAULT,1M)", "(default,1u,suppress)"},
     {"20u", "default", "(20u,40u)", "(default,suppress)", "(default,40u,20u)",
      "(default,1m,1m)", "(default,20)", "(default,1k)", "(default,0u)",
      "(default,1.5u)", "(default,-1m)", "(default,20000s)", "(default,1mm)",
      "(default,suppress,20u)", "(default,1e3u)"}},
    {"report=%s\nsd=s,lun=/x\nrd=r,sd=s,iorate=max\n",
     {"host_detail", "(slave_detail,no_sd_detail)", "no_fsd_detail"},
     {"detail", "(host_detail,all)", "host"}},
    {"monitor=%s\nsd=s,lun=/x\nrd=r,sd=s,iorate=max\n",
     {"/tmp/stop", "\"a b\""},
     {"(a,b)"}},
    {"startcmd=%s\nsd=s,lun=/x\nrd=r,sd=s,iorate=max\n",
     {"drop", "\"/bin/x y\"", "(\"a b\",c,cons)", "(x,log,master)"},
     {"cons", "(log,master)", "(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17)"}},
    {"heartbeat_error=%s\nsd=s,lun=/x\nrd=r,sd=s,iorate=max\n",
     {"alarm", "\"mail -s lost root\""},
     {"slave"}},
    {"sd=s,lun=/x\nrd=r,sd=s,iorate=max,end_cmd=%s\n",
     {"drop", "(\"a b\",\"c\",sum)", "(x,slave)"},
     {"summary"}},
    {"loop=%s\nsd=s,lun=/x\nrd=r,sd=s,iorate=max\n",
     {"3", "90s", "5m", "1h"},
     {"0", "x", "-1", "(1,2)", "200000"}},
    {"workers=%s\nsd=s,lun=/x\nrd=r,sd=s,iorate=max\n",
     {"1", "16"},
     {"0", "1.5", "x", "2000"}},
    {"require=%s\nsd=s,lun=/x\nrd=r,sd=s,iorate=max\n",
     {"all", "3", "75%"},
     {"0", "some", "101%", "1.5"}},
    {"drain_wait=%s\nsd=s,lun=/x\nrd=r,sd=s,iorate=max\n",
     {"5s", "500ms", "2m"},
     {"x", "-1"}},
    {"host_wait=%s\nsd=s,lun=/x\nrd=r,sd=s,iorate=max\n",
     {"5m", "0", "90s"},
     {"x", "-1"}},
    {"sd=s,lun=/x,hitarea=%s\nrd=r,sd=s,iorate=max\n",
     {"1m", "512"},
     {"513", "-1", "50%", "x"}},
    {"sd=s,lun=/x,offset=%s\nrd=r,sd=s,iorate=max\n",
     {"0", "512", "1m"},
     {"100", "-512", "x"}},
    {"sd=s,lun=/x,align=%s\nrd=r,sd=s,iorate=max\n",
     {"4k", "1k"},
     {"100", "1g", "x"}},
    {"sd=s,lun=/x,overwrite=%s\nrd=r,sd=s,iorate=max\n",
     {"yes", "no"},
     {"perhaps"}},
    {"sd=s,lun=/x\nwd=w,sd=s,hotband=%s\nrd=r,wd=w,iorate=max\n",
     {"(10,20)", "(1g,2g)"},
     {"(20,10)", "5", "x"}},
    {"sd=s,lun=/x\nwd=w,sd=s,seekpct=seq,stride=%s\nrd=r,wd=w,iorate=max\n",
     {"(64k,128k)", "(4k,4k)"},
     {"4k", "(8k,4k)", "(0,0)", "(100,200)", "(1,2,3)"}},
    {"sd=s,lun=/x\nwd=w,sd=s,seekpct=seq,streams=%s\nrd=r,wd=w,iorate=max\n",
     {"2", "256", "(4,1)"},
     {"1", "0", "257", "x"}},
    {"sd=s,lun=/x\nwd=w,sd=s,priority=%s\nrd=r,wd=w,iorate=max\n",
     {"1", "64"},
     {"0", "65", "1.5", "x"}},
    {"sd=s,lun=/x\nwd=w,sd=s,priority=1,iorate=%s\nrd=r,wd=w,iorate=max\n",
     {"100", "max"},
     {"0", "-1", "(1,2)", "x"}},
    {"sd=s,lun=/x\nrd=r,sd=s,iorate=max,maxdata=%s\n",
     {"10g", "1", "150%"},
     {"0", "-1", "x", "(1,2)"}},
    {"sd=s,lun=/x\nrd=r,sd=s,iorate=curve,stopcurve=%s\n",
     {"5", "500us", "2ms"},
     {"0", "-1", "50%", "x"}},
    {"sd=s,lun=/x\nrd=r,sd=s,iorate=find,find=%s\n",
     {"(p99,2ms)", "(p99.9,500us)"},
     {"p99", "(99,2ms)", "(p10,2ms)", "(p99,2)", "(p99,0s)"}},
    {"sd=s,lun=/x\nrd=r,sd=s,iorate=max,repeat=%s\n",
     {"1", "3"},
     {"0", "1.5", "x", "200000"}},
    {"sd=s,lun=/x\nrd=r,sd=s,distribution=variable,iorate=%s\n",
     {"(100,10,500,5)"},
     {"100", "(1,2,3)", "max"}},
    {"formatsds=%s\nsd=s,lun=/x\nrd=r,sd=s,iorate=max\n",
     {"no", "N"},
     {"maybe"}},
    {"sd=s,lun=/x,size=%s\nrd=r,sd=s,iorate=max\n",
     {"10g", "(100g,2)", "512"},
     {"0", "-1", "x", "50%", "(1,2,3)", "(1g,0)"}},
    {"sd=s,lun=/x,threads=%s\nrd=r,sd=s,iorate=max\n",
     {"1", "1k", "(8,2)", "65536"},
     {"0", "-1", "65537", "5%", "x"}},
    {"sd=s,lun=/x,openflags=%s\nrd=r,sd=s,iorate=max\n",
     {"O_DIRECT", "(directio,fsync)", "0x4000", "o_dsync"},
     {"direct", "0x8000", "17"}},
    {"sd=s,lun=/x,range=%s\nrd=r,sd=s,iorate=max\n",
     {"(0,50)", "(90,120)", "(1g,2g)", "(0%,25%)"},
     {"(50,10)", "50", "(5,5)", "(10,120)", "(2g,1g)", "(a,b)"}},
    {"sd=s,lun=/x,count=%s\nrd=r,sd=s*,iorate=max\n",
     {"(1,4)", "(0,1)"},
     {"4", "(1,0)", "(1,2,3)", "(1,65537)"}},
    {"sd=s,lun=/x\nwd=w,sd=s,rdpct=%s\nrd=r,wd=w,iorate=max\n",
     {"0", "100", "(70)"},
     {"101", "-1", "x", "(1,2)"}},
    {"sd=s,lun=/x\nwd=w,sd=s,wrpct=%s\nrd=r,wd=w,iorate=max\n",
     {"0", "100"},
     {"101", "-1"}},
    {"sd=s,lun=/x\nwd=w,sd=s,seekpct=%s\nrd=r,wd=w,iorate=max\n",
     {"seqnz", "eof", "(poisson,5)", "33.3"},
     {"101", "-2", "sequentially", "50%", "(1,2)", "(poisson,0)"}},
    {"sd=s,lun=/x\nwd=w,sd=s,xfersize=%s\nrd=r,wd=w,iorate=max\n",
     {"4096", "(4k,64k,4k)", "(512,30,1k,70)", "256m"},
     {"0", "513", "257m", "(4k,50,8k,40)", "(4k,50,8k)", "(4k,101,8k,-1)"}},
    {"sd=s,lun=/x\nwd=w,sd=s,skew=%s\nrd=r,wd=w,iorate=max\n",
     {"100"},
     {"101", "-1", "x", "(50,50)"}},
    {"sd=s,lun=/x\nrd=r,sd=s,iorate=%s\n",
     {"max", "(100MiB/s,2GB/s)", "(100,200,max)", "curve"},
     {"0", "-5MB/s", "fast", "(1,0)", "(curve,100)", "1e10"}},
    {"sd=s,lun=/x\nrd=r,sd=s,iorate=curve,curve=%s\n",
     {"(10,50,100)", "50", "(10-120,10)"},
     {"0", "(10,x)", "1001", "-5"}},
    {"sd=s,lun=/x\nrd=r,sd=s,iorate=max,elapsed=%s\n",
     {"10", "5m", "1h", "2500ms"},
     {"-1", "x", "50%", "(1,2)", "1"}},
    {"sd=s,lun=/x\nrd=r,sd=s,iorate=max,interval=%s\n",
     {"1", "5", "500ms", "0"},
     {"20", "50ms", "x"}},
    {"sd=s,lun=/x\nrd=r,sd=s,iorate=max,interval=5,warmup=%s\n",
     {"0", "5", "1m"},
     {"3", "x", "-1"}},
    {"sd=s,lun=/x\nrd=r,sd=s,iorate=max,pause=%s\n",
     {"0", "30", "5m"},
     {"x", "-1"}},
    {"sd=s,lun=/x\nrd=r,sd=s,iorate=max,distribution=%s\n",
     {"exponential", "uni", "DETERMINISTIC", "(exp,spike)"},
     {"poisson"}},
    {"sd=s,lun=/x\nrd=r,sd=s,iorate=9,arrival_precision=%s\n",
     {"sleep", "spin", "10%", "100"},
     {"0", "101", "fast", "-1", "1.5", "(spin,10)"}},
    {"sd=s,lun=/x\nrd=r,sd=s,iorate=max,forseekpct=%s\n",
     {"(0,50,100)", "-1"},
     {"seq", "101", "random"}},
    {"sd=s,lun=/x\nrd=r,sd=s,iorate=max,xfersize=%s\n",
     {"4k", "(4k-64k,d)"},
     {"(4k,50,8k,50)", "0", "(4k-256,d)"}},
    {"sd=s,lun=/x\nrd=r,sd=s,iorate=max,forrhpct=%s\n",
     {"0", "(0,50,100)"},
     {"101", "x"}},
};

START_TEST(test_values)
{
    char file[512];
    struct parm parm;

    for (size_t i = 0; i < 4 && values[_i].good[i] != NULL; i++) {
        const char *value = values[_i].good[i];
        char *at = strstr(values[_i].file, "%s");

        (void)snprintf(file, sizeof(file), "%.*s%s%s",
                       (int)(at - values[_i].file), values[_i].file, value,
                       at + 2);
        parm_read(&parm, file);
        parm_assert_ok(&parm);
        parm_done(&parm);
    }
    for (size_t i = 0;
         i < ARRAY_LENGTH(values[_i].bad) && values[_i].bad[i] != NULL; i++) {
        const char *value = values[_i].bad[i];
        char *at = strstr(values[_i].file, "%s");

        (void)snprintf(file, sizeof(file), "%.*s%s%s",
                       (int)(at - values[_i].file), values[_i].file, value,
                       at + 2);
        parm_read(&parm, file);
        ck_assert_msg(parm.err == -EINVAL, "accepted: %s", file);
        ck_assert_ptr_nonnull(parm.report.messages[0].place.file);
        parm_done(&parm);
    }
}
END_TEST

/* Known values of known parameters that are for later. */
START_TEST(test_values_not_yet)
{
    static const char *const files[] = {
        "validate=yes\nsd=s,lun=/x\nrd=r,sd=s,iorate=max\n",
        "validate=(read_after_write,time)\nsd=s,lun=/x\n"
        "rd=r,sd=s,iorate=max\n",
        "journal=recover\nsd=s,lun=/x\nrd=r,sd=s,iorate=max\n",
        "fsd=f,anchor=/x,depth=1\nfwd=w,fsd=f\nrd=r,fwd=w\n",
        "rg=g,devices=(1)\nsd=s,lun=/x\n",
        "concatenatesds=yes\nsd=s,lun=/x\n"
        "wd=w,sd=s,seekpct=seq,threads=2,range=(90,110)\n"
        "rd=r,wd=w,iorate=max\n",
    };
    struct parm parm;

    for (size_t i = 0; i < ARRAY_LENGTH(files); i++) {
        parm_read(&parm, files[i]);
        ck_assert_msg(parm.err == -ENOTSUP && parm.report.unsupported == 1,
                      "%s%s", files[i], parm.messages);
        ck_assert_ptr_null(parm.definitions);
        parm_done(&parm);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("parameters");
    TCase *tests = tcase_create("parameters");

    tcase_add_loop_test(tests, test_abbreviation, 0,
                        ARRAY_LENGTH(abbreviations));
    tcase_add_test(tests, test_rows);
    tcase_add_test(tests, test_support);
    tcase_add_loop_test(tests, test_values, 0, ARRAY_LENGTH(values));
    tcase_add_test(tests, test_values_not_yet);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
