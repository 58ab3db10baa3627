/*
 * Defaults, and definitions against each other.
 */
#include "controller/language/definitions.h"
#include "tests/support/parm.h"
#include "tests/support/suite.h"

#include <errno.h>

static const struct {
    const char *file;
    const char *says; /* NULL: fine */
} files[] = {
    /* Names are defined, and once. */
    {"sd=s,lun=/x\nsd=s,lun=/y\nrd=r,sd=s,iorate=max\n",
     "2:4: error: sd=s is defined twice, first in line 1"},
    {"sd=s,lun=/x\nwd=w,sd=s\nwd=w,sd=s\nrd=r,wd=w,iorate=max\n",
     "3:4: error: wd=w is defined twice, first in line 2"},
    {"sd=s,lun=/x\nrd=r,sd=s,iorate=max\nrd=r,sd=s,iorate=max\n",
     "3:4: error: rd=r is defined twice, first in line 2"},
    {"hd=h\nhd=h\nsd=s,lun=/x\nrd=r,sd=s,iorate=max\n",
     "2:4: error: hd=h is defined twice"},
    {"sd=s,lun=/x\nrd=r,wd=w*,iorate=max\n", "no wd= matches 'w*'"},
    {"sd=s,lun=/x\nwd=w,sd=s?\nrd=r,wd=w,iorate=max\n", "sd=s? is not defined"},
    {"sd=S1,lun=/x\nrd=r,sd=s1,iorate=max\n", "did you mean S1?"},
    {"sd=s,lun=/x,host=localhost\nrd=r,sd=s,iorate=max\n", NULL},
    {"sd=s,lun=/x,host=h\nrd=r,sd=s,iorate=max\n",
     "hd=h is not defined: the file defines no hosts"},
    {"sd=(s,t),lun=/x\nrd=r,sd=s,iorate=max\n",
     "sd= defines one name, not several"},
    {"sd=s*,lun=/x\nrd=r,sd=s,iorate=max\n",
     "'s*' defines a name, which cannot hold a *"},
    {"sd=32k,lun=/x\nrd=r,sd=32k,iorate=max\n",
     "warning: vdbench refuses the name '32k': it is a number"},
    {"hd=100g\nsd=s,lun=/x,host=100g\nrd=r,sd=s,iorate=max\n", NULL},

    /* lun= and host= in pairs. */
    {"sd=s\nrd=r,sd=s,iorate=max\n", "sd=s has no lun="},
    {"sd=default,lun=/x\nrd=r,sd=s,iorate=max\n",
     "sd=default cannot have a lun="},
    {"hd=a\nhd=b\nsd=s,host=a,lun=/x,lun=/y\nrd=r,sd=s,iorate=max\n",
     "sd=s has 2 lun= and 1 host=; they come in pairs"},
    {"sd=s,lun=/x,lun=/y\nrd=r,sd=s,iorate=max\n",
     "sd=s has several lun=, but no host= for each"},
    {"hd=a\nhd=b\nsd=s,host=a,lun=/x,lun=/y,host=b\nrd=r,sd=s,iorate=max\n",
     NULL},

    /* What hits the hit area is read, or written. */
    {"sd=s,lun=/x\nwd=w,sd=s,rdpct=0,rhpct=50\nrd=r,wd=w,iorate=max\n",
     "2:4: warning: wd=w: rhpct= has no effect: with rdpct=0 nothing is read"},
    {"sd=s,lun=/x\nwd=w,sd=s,whpct=50\nrd=r,wd=w,iorate=max\n",
     "2:4: warning: wd=w: whpct= has no effect: with rdpct=100 nothing is "
     "written"},
    {"sd=s,lun=/x\nwd=w,sd=s,whpct=50\nrd=r,wd=w,iorate=max,forrdpct=(0,100)\n",
     NULL},
    {"sd=s,lun=/x\nwd=w,sd=s,rdpct=50,rhpct=50,whpct=50\n"
     "rd=r,wd=w,iorate=max\n",
     NULL},
    {"sd=s,lun=/x\nwd=default,rhpct=50,whpct=50\nwd=w,sd=s,rdpct=0\n"
     "rd=r,wd=w,iorate=max\n",
     NULL},

    /* Rates that come to nothing. */
    {"sd=s,lun=/x\nrd=r,sd=s,iorate=1e-9\n",
     "warning: rd=r: iorate=1e-09 is less than one request in elapsed=30 "
     "seconds"},
    {"sd=s,lun=/x\nrd=r,sd=s,iorate=(100,0.1),elapsed=5\n",
     "warning: rd=r: iorate=0.1 is less than one request in elapsed=5 seconds"},
    {"sd=s,lun=/x\nrd=r,sd=s,iorate=0.1,elapsed=10\n", NULL},
    {"sd=s,lun=/x\nwd=w,sd=s,iorate=0.01\nrd=r,wd=w,iorate=max,elapsed=4\n",
     "2:4: warning: wd=w: iorate=0.01 is less than one request in the 4 "
     "seconds of a run"},

    /* One drive of all. */
    {"concatenatesds=yes\nsd=s,lun=/x\nwd=w,sd=s,seekpct=seq,threads=2\n"
     "rd=r,wd=w,iorate=max\n",
     NULL},
    {"concatenatesds=yes\nsd=s,lun=/x\n"
     "wd=w,sd=s,threads=2,range=(90,110)\nrd=r,wd=w,iorate=max\n",
     NULL},
    {"concatenatesds=yes\nsd=s,lun=/x\nwd=w,sd=s,threads=2\n"
     "rd=r,wd=w,iorate=curve,curve_scope=drive,forseekpct=(0,100)\n",
     "4:4: error: rd=r: curve_scope=drive does not go with concatenatesds=yes "
     "and sequential work (wd=w)"},
    {"concatenatesds=yes\nsd=s,lun=/x\nwd=w,sd=s,threads=2\n"
     "rd=r,wd=w,iorate=curve,curve_scope=drive\n",
     NULL},

    /* Runs. */
    {"sd=s,lun=/x\n", "no rd= in the file: there is nothing to run"},
    {"sd=s,lun=/x\nrd=r,sd=s\n", "rd=r has no iorate="},
    {"sd=s,lun=/x\nrd=r,iorate=max\n", "rd=r has neither wd= nor sd="},
    {"sd=s,lun=/x\nwd=w,sd=s\nrd=r,wd=w,wd=w,iorate=max\n",
     "wd= is given twice; several workloads are wd=(a,b)"},
    {"sd=s,lun=/x\nrd=r,sd=s,iorate=max,elapsed=1\n",
     "elapsed=1 is less than two intervals of 1 seconds"},
    {"sd=s,lun=/x\nrd=r,sd=s,iorate=max,elapsed=10,interval=4\n",
     "warning: rd=r: elapsed= is rounded up to 12 seconds"},
    {"sd=s,lun=/x\nrd=r,sd=s,iorate=max,interval=4,elapsed=8,warmup=2\n",
     "warmup=2 is not a multiple of interval=4"},
    {"sd=s,lun=/x\nrd=r,sd=s,iorate=max,curve=(10,20)\n",
     "warning: rd=r: curve= has no effect without iorate=curve"},
    {"sd=s,lun=/x\nrd=default,iorate=(1,2)\nrd=r,sd=s,iorate=max\n",
     "warning: the list of iorate= in line 2 stays in force"},
};

START_TEST(test_files)
{
    struct parm parm;

    parm_read(&parm, files[_i].file);
    if (files[_i].says == NULL) {
        parm_assert_ok(&parm);
        ck_assert_str_eq(parm.messages, "");
    } else {
        parm_assert_says(&parm, files[_i].says);
        ck_assert(strstr(files[_i].says, "warning:") != NULL ||
                  parm.err == -EINVAL);
    }
    parm_done(&parm);
}
END_TEST

/* Defaults hold for what follows them, and only for that. */
START_TEST(test_defaults)
{
    struct parm parm;

    parm_read(&parm, "hd=default,system=10.0.0.9\nhd=a\nhd=b,system=other\n"
                     "sd=s0,lun=/0,host=a\n"
                     "sd=default,threads=3,size=1g,host=b,openflags=o_direct\n"
                     "sd=s1,lun=/1\nsd=s2,lun=/2,threads=4,host=a\n"
                     "sd=default,threads=5\nsd=s3,lun=/3\n"
                     "wd=default,rdpct=10,sd=s1\nwd=w1\nwd=w2,rdpct=20,sd=s2\n"
                     "rd=default,elapsed=60,iorate=5\n"
                     "rd=r1,wd=w1\nrd=r2,wd=w2,elapsed=5m\n");
    parm_assert_ok(&parm);

    const struct definitions *d = parm.definitions;

    ck_assert_str_eq(d->hosts[0].system, "10.0.0.9");
    ck_assert_str_eq(d->hosts[1].system, "other");
    ck_assert_uint_eq(d->sds[0].threads, 8);
    ck_assert_uint_eq(d->sds[0].size_bytes, 0);
    ck_assert_uint_eq(d->sds[1].threads, 3);
    ck_assert_str_eq(d->sds[1].paths[0].hosts.items[0].text, "b");
    ck_assert_uint_eq(d->sds[2].threads, 4);
    ck_assert_str_eq(d->sds[2].paths[0].hosts.items[0].text, "a");
    ck_assert_uint_eq(d->sds[3].threads, 5);
    ck_assert_uint_eq(d->sds[3].size_bytes, 1u << 30);
    ck_assert_uint_eq(d->sds[3].open.flags, DEFINITION_OPEN_DIRECT);
    ck_assert_double_eq(d->wds[0].read_percent, 10);
    ck_assert_str_eq(d->wds[0].sds.items[0].text, "s1");
    ck_assert_double_eq(d->wds[1].read_percent, 20);
    ck_assert_uint_eq(d->rds[0].elapsed_ns, 60 * NS_PER_S);
    ck_assert_uint_eq(d->rds[1].elapsed_ns, 300 * NS_PER_S);
    ck_assert_double_eq(d->rds[1].rates[0].value, 5);
    parm_done(&parm);
}
END_TEST

/* What nobody says is as in vdbench. */
START_TEST(test_initial_values)
{
    struct parm parm;

    parm_read(&parm, "sd=s,lun=/x\nwd=w,sd=s\nrd=r,wd=w,iorate=max\n");
    parm_assert_ok(&parm);
    ck_assert_uint_eq(parm.definitions->host_count, 0);
    ck_assert_uint_eq(parm.definitions->sds[0].threads, 8);
    ck_assert_uint_eq(parm.definitions->wds[0].sizes[0].bytes, 4096);
    ck_assert_double_eq(parm.definitions->wds[0].read_percent, 100);
    ck_assert_double_eq(parm.definitions->wds[0].seek_percent, 100);
    ck_assert_uint_eq(parm.definitions->rds[0].elapsed_ns, 30 * NS_PER_S);
    ck_assert_uint_eq(parm.definitions->rds[0].interval_ns, NS_PER_S);
    ck_assert_uint_eq(parm.definitions->rds[0].warmup_ns, 0);
    parm_done(&parm);
}
END_TEST

/* -e, -i and -w win over every rd. */
START_TEST(test_overrides)
{
    static const char text[] = "sd=s,lun=/x\n"
                               "rd=r,sd=s,iorate=max,elapsed=3,interval=7\n";
    struct language_file file = {"t", text, sizeof(text) - 1};
    struct language_input input = {
        .files = &file,
        .file_count = 1,
        .elapsed_ns = 20 * NS_PER_S,
        .interval_ns = 2 * NS_PER_S,
        .warmup_ns = 4 * NS_PER_S,
        .warmup_given = true,
    };
    struct language_report report;
    struct definitions *definitions = NULL;

    language_report_init(&report);
    ck_assert_int_eq(language_read(&input, &report, &definitions), 0);
    ck_assert_uint_eq(definitions->rds[0].elapsed_ns, 20 * NS_PER_S);
    ck_assert_uint_eq(definitions->rds[0].interval_ns, 2 * NS_PER_S);
    ck_assert_uint_eq(definitions->rds[0].warmup_ns, 4 * NS_PER_S);
    definitions_free(definitions);
    language_report_done(&report);
}
END_TEST

/* interval=0 means half of elapsed=, a minute at most. */
START_TEST(test_default_interval)
{
    struct parm parm;

    parm_read(&parm, "sd=s,lun=/x\nrd=default,iorate=max,interval=0.5,sd=s\n"
                     "rd=a,elapsed=10\nrd=b,elapsed=10m\n");
    parm_assert_ok(&parm);
    ck_assert_uint_eq(parm.definitions->rds[0].interval_ns, 5 * NS_PER_S);
    ck_assert_uint_eq(parm.definitions->rds[1].interval_ns, 60 * NS_PER_S);
    parm_done(&parm);
}
END_TEST

/* 32 drives of hosts that are defined under other names. */
START_TEST(case_E04_undefined_hosts)
{
    struct parm parm;

    parm_read(&parm, "hd=h1\nhd=h2\n"
                     "sd=s1,host=x1,lun=/dev/a\nsd=s2,host=x2,lun=/dev/a\n"
                     "rd=r,sd=*,iorate=max\n");
    ck_assert_int_eq(parm.err, -EINVAL);
    ck_assert_uint_eq(parm.report.errors, 2);
    parm_assert_says(&parm, "t.parm:3:12: error: hd=x1 is not defined");
    parm_assert_says(&parm, "t.parm:4:12: error: hd=x2 is not defined");
    parm_done(&parm);
}
END_TEST

/* Unsupported parameters stop a run, not a look at its expansion. */
START_TEST(test_keep_unsupported)
{
    static const char text[] = "sd=s,lun=/x\n"
                               "rd=r,sd=s,iorate=max,replay=f\n";
    struct language_file file = {"t", text, sizeof(text) - 1};
    struct language_input input = {
        .files = &file, .file_count = 1, .keep_unsupported = true};
    struct language_report report;
    struct definitions *definitions = NULL;

    language_report_init(&report);
    ck_assert_int_eq(language_read(&input, &report, &definitions), 0);
    ck_assert(language_report_failed(&report));
    definitions_free(definitions);
    language_report_done(&report);
}
END_TEST

/* $host, #host and #hosts: an entry for each host. */
START_TEST(test_hosts_expand)
{
    struct parm parm;

    parm_read(&parm, "hd=a\nhd=b\n"
                     "sd=s_$host,lun=/f/!host.#host.#hosts,host=$host\n"
                     "rd=r,sd=s_*,iorate=#hosts\n");
    parm_assert_ok(&parm);
    ck_assert_uint_eq(parm.definitions->sd_count, 2);
    ck_assert_str_eq(parm.definitions->sds[1].name, "s_b");
    ck_assert_str_eq(parm.definitions->sds[1].paths[0].lun.text, "/f/b.1.2");
    ck_assert_str_eq(parm.definitions->sds[1].paths[0].hosts.items[0].text,
                     "b");
    ck_assert_uint_eq(parm.definitions->rd_count, 1);
    ck_assert_double_eq(parm.definitions->rds[0].rates[0].value, 2);
    parm_done(&parm);
}
END_TEST

/* count=: numbers at the end, in place of a *, or in a mask. */
START_TEST(test_count)
{
    static const struct {
        const char *file;
        const char *name;
        const char *lun;
    } cases[] = {
        {"sd=s,lun=/f,count=(1,4)\nrd=r,sd=s*,iorate=max\n", "s4", "/f4"},
        {"sd=s*x,lun=/f*/d,count=(7,4)\nrd=r,sd=s*,iorate=max\n", "s10x",
         "/f10/d"},
        {"sd=s%03d,lun=/f%d,count=(1,4)\nrd=r,sd=s*,iorate=max\n", "s004",
         "/f4"},
    };
    struct parm parm;

    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        parm_read(&parm, cases[i].file);
        parm_assert_ok(&parm);
        ck_assert_uint_eq(parm.definitions->sd_count, 4);
        ck_assert_str_eq(parm.definitions->sds[3].name, cases[i].name);
        ck_assert_str_eq(parm.definitions->sds[3].paths[0].lun.text,
                         cases[i].lun);
        parm_done(&parm);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("check");
    TCase *tests = tcase_create("check");

    tcase_add_loop_test(tests, test_files, 0, ARRAY_LENGTH(files));
    tcase_add_test(tests, test_defaults);
    tcase_add_test(tests, test_initial_values);
    tcase_add_test(tests, test_overrides);
    tcase_add_test(tests, test_default_interval);
    tcase_add_test(tests, case_E04_undefined_hosts);
    tcase_add_test(tests, test_keep_unsupported);
    tcase_add_test(tests, test_hosts_expand);
    tcase_add_test(tests, test_count);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
