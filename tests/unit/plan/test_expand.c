/*
 * Definitions to runs: order, names, shares, threads, limits.
 */
#include "controller/plan/plan_text.h"
#include "tests/support/parm.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#define SDS  "sd=sd1,lun=/1\nsd=sd2,lun=/2\nsd=sd3,lun=/3\n"
#define HEAD "run\tiorate\telapsed_s\twarmup_s\tfor\n"

/* The runs of a file, in vdbench's order. */
static const struct {
    const char *rds; /* behind SDS and wd=w,sd=sd1 */
    const char *runs;
} expansions[] = {
    {"rd=r,wd=w,iorate=max\n", "r\tmax\t30\t0\t-\n"},
    {"rd=r,wd=w,iorate=(100,max,50%),elapsed=5m,warmup=10\n",
     "r\t100\t300\t10\t-\nr\tmax\t300\t10\t-\nr\t50%\t300\t10\t-\n"},
    {"rd=r,wd=w,iorate=(10-40,10)\n",
     "r\t10\t30\t0\t-\nr\t20\t30\t0\t-\nr\t30\t30\t0\t-\nr\t40\t30\t0\t-\n"},

    /* The first loop is the outermost, the rate the innermost. */
    {"rd=r,wd=w,iorate=(1,2),threads=(1,2),forxfersize=(1k,1.5k)\n",
     "r\t1\t30\t0\tthreads=1 xfersize=1k\nr\t2\t30\t0\tthreads=1 xfersize=1k\n"
     "r\t1\t30\t0\tthreads=1 xfersize=1.500k\n"
     "r\t2\t30\t0\tthreads=1 xfersize=1.500k\n"
     "r\t1\t30\t0\tthreads=2 xfersize=1k\nr\t2\t30\t0\tthreads=2 xfersize=1k\n"
     "r\t1\t30\t0\tthreads=2 xfersize=1.500k\n"
     "r\t2\t30\t0\tthreads=2 xfersize=1.500k\n"},

    /* A loop given again replaces the first one, and goes innermost. */
    {"rd=default,threads=4,seekpct=0\nrd=r,wd=w,iorate=max,forthreads=(2,3)\n",
     "r\tmax\t30\t0\tseekpct=0 threads=2\nr\tmax\t30\t0\tseekpct=0 "
     "threads=3\n"},

    /* Each combination has its curve. */
    {"rd=r,wd=w,iorate=curve,curve=(10,50),rdpct=(0,83.14)\n",
     "r\tcurve\t30\t0\trdpct=0\nr\t10%\t30\t0\trdpct=0\n"
     "r\t50%\t30\t0\trdpct=0\n"
     "r\tcurve\t30\t0\trdpct=83\nr\t10%\t30\t0\trdpct=83\n"
     "r\t50%\t30\t0\trdpct=83\n"},
    {"rd=r,wd=w,iorate=curve\n",
     "r\tcurve\t30\t0\t-\nr\t10%\t30\t0\t-\nr\t50%\t30\t0\t-\n"
     "r\t70%\t30\t0\t-\nr\t80%\t30\t0\t-\nr\t90%\t30\t0\t-\n"
     "r\t100%\t30\t0\t-\n"},

    /* Runs for each sd, for sets, for more and more of them. */
    {"rd=r,wd=w,sd=single,iorate=1\n",
     "r_sd1\t1\t30\t0\t-\nr_sd2\t1\t30\t0\t-\nr_sd3\t1\t30\t0\t-\n"},
    {"rd=r,wd=w,sd=range,iorate=1\n",
     "r_sd1-sd1\t1\t30\t0\t-\nr_sd1-sd2\t1\t30\t0\t-\nr_sd1-sd3\t1\t30\t0\t-"
     "\n"},

    /* Values as vdbench writes them; a rate is rounded. */
    {"rd=r,wd=w,iorate=10.5,threads=1024,hitarea=400m,elapsed=2500ms,"
     "interval=500ms\n",
     "r\t11\t2.5\t0\tthreads=1k hitarea=400m\n"},
};

START_TEST(test_runs)
{
    char file[1024], expected[2048];
    struct parm parm;
    char *runs;

    snprintf(file, sizeof(file), "%swd=w,sd=sd1\n%s", SDS, expansions[_i].rds);
    snprintf(expected, sizeof(expected), "%s%s", HEAD, expansions[_i].runs);
    parm_expand(&parm, file, NULL);
    parm_assert_ok(&parm);
    runs = plan_text_runs(parm.plan);
    ck_assert_str_eq(runs, expected);
    free(runs);
    parm_done(&parm);
}
END_TEST

/* vdbench shuffles the sds of sets; every sd is in one of them. */
START_TEST(test_sets)
{
    struct parm parm;

    parm_expand(&parm, SDS "rd=r,sd=setsof2,iorate=1\n", NULL);
    parm_assert_ok(&parm);
    ck_assert_uint_eq(parm.plan->run_count, 2);
    ck_assert_uint_eq(parm.plan->runs[0].target_count, 2);
    ck_assert_uint_eq(parm.plan->runs[1].target_count, 1);
    ck_assert_uint_eq(parm.plan->target_count, 3);
    parm_done(&parm);
}
END_TEST

START_TEST(test_names)
{
    struct parm parm;

    parm_expand(&parm,
                SDS "rd=r,sd=sd1,iorate=curve,curve=(10,120)\n"
                    "rd=s,sd=sd1,iorate=(7,40%)\n",
                NULL);
    parm_assert_ok(&parm);
    ck_assert_uint_eq(parm.plan->run_count, 5);
    ck_assert_str_eq(parm.plan->runs[0].name, "r");
    ck_assert_str_eq(parm.plan->runs[1].name, "r_(10%)");
    ck_assert_str_eq(parm.plan->runs[2].name, "r_(120%)");
    ck_assert_str_eq(parm.plan->runs[2].rd, "r");
    ck_assert_str_eq(parm.plan->runs[4].name, "s_(40%)");
    ck_assert_int_eq(parm.plan->runs[0].rate.kind, PLAN_RATE_CURVE);
    ck_assert_int_eq(parm.plan->runs[1].rate.kind, PLAN_RATE_PERCENT);
    ck_assert_int_eq(parm.plan->runs[3].rate.kind, PLAN_RATE_FIXED);
    ck_assert_int_eq(parm.plan->runs[4].rate.kind, PLAN_RATE_OBSERVED);
    /* A run without wd= has wd=default's workload. */
    ck_assert_str_eq(parm.plan->runs[0].workloads[0].name, "rd=r");
    parm_done(&parm);
}
END_TEST

/* A rate of nothing before it. */
START_TEST(test_observed_first)
{
    struct parm parm;

    parm_expand(&parm, SDS "rd=r,sd=sd1,iorate=50%\n", NULL);
    ck_assert_int_eq(parm.err, -EINVAL);
    parm_assert_says(&parm, "no run comes before it");
    parm_done(&parm);
}
END_TEST

/* ---- effective values ---- */

START_TEST(test_effective_values)
{
    struct parm parm;
    const struct plan_run *run;

    parm_expand(&parm,
                SDS "wd=w1,sd=sd1,xfersize=(4k,70,8k,30),rdpct=70,seekpct=eof\n"
                    "wd=w2,sd=sd2,rdpct=0,seekpct=20\n"
                    "rd=a,wd=w1,iorate=max,distribution=uniform\n"
                    "rd=b,wd=w*,iorate=max,forxfersize=16k,forthreads=24\n"
                    "rd=c,wd=w1,iorate=max,forseekpct=-1,pause=5m\n",
                NULL);
    parm_assert_ok(&parm);
    run = &parm.plan->runs[0];
    ck_assert_str_eq(run->xfersize_text, "(4k,70,8k,30)");
    ck_assert_str_eq(run->threads_text, "8");
    ck_assert_str_eq(run->rdpct_text, "70");
    ck_assert_str_eq(run->seekpct_text, "eof");
    ck_assert_int_eq(run->arrival, PLAN_ARRIVAL_UNIFORM);
    ck_assert_uint_eq(run->workloads[0].size_count, 2);
    run = &parm.plan->runs[1];
    ck_assert_str_eq(run->xfersize_text, "16k");
    ck_assert_str_eq(run->threads_text, "24");
    ck_assert_str_eq(run->rdpct_text, "");
    ck_assert_str_eq(run->seekpct_text, "");
    ck_assert_uint_eq(run->workloads[0].sizes[0].bytes, 16384);
    ck_assert_uint_eq(run->targets[0].threads, 24);
    ck_assert(run->targets[1].write);
    run = &parm.plan->runs[2];
    ck_assert(run->workloads[0].end_at_eof);
    ck_assert_uint_eq(run->pause_ns, 300 * NS_PER_S);
    ck_assert_uint_eq(plan_total_ns(parm.plan), 390 * NS_PER_S);
    parm_done(&parm);
}
END_TEST

/* Percentages of a mix that round to 100 are made to add up. */
START_TEST(test_mix_adds_up)
{
    struct parm parm;
    const struct plan_workload *workload;
    double sum = 0;

    parm_expand(&parm,
                SDS "wd=w,sd=sd1,xfersize=(4k,33.2,8k,33.3,16k,33.3,64k,0)\n"
                    "rd=r,wd=w,iorate=max\n",
                NULL);
    parm_assert_ok(&parm);
    workload = &parm.plan->runs[0].workloads[0];
    ck_assert_uint_eq(workload->size_count, 3);
    for (uint32_t i = 0; i < workload->size_count; i++)
        sum += workload->sizes[i].percent;
    ck_assert_double_eq_tol(sum, 100, 1e-9);
    parm_done(&parm);
}
END_TEST

START_TEST(test_openflags)
{
    struct parm parm;

    parm_expand(&parm,
                "sd=default,openflags=o_direct\n" SDS
                "wd=w1,sd=sd1\nwd=w2,sd=sd1,openflags=fsync\n"
                "rd=a,wd=w1,iorate=1\nrd=b,wd=w2,iorate=1\n"
                "rd=c,wd=w2,iorate=1,openflags=(o_direct,o_dsync)\n",
                NULL);
    parm_assert_ok(&parm);
    ck_assert_uint_eq(parm.plan->runs[0].targets[0].open_flags,
                      PLAN_OPEN_DIRECT);
    ck_assert_uint_eq(parm.plan->runs[1].targets[0].open_flags,
                      PLAN_OPEN_FSYNC);
    ck_assert_uint_eq(parm.plan->runs[2].targets[0].open_flags,
                      PLAN_OPEN_DIRECT | PLAN_OPEN_DSYNC);
    ck_assert_uint_eq(parm.plan->targets[0].open_flags,
                      PLAN_OPEN_DIRECT | PLAN_OPEN_DSYNC | PLAN_OPEN_FSYNC);
    parm_done(&parm);

    parm_expand(&parm,
                SDS "wd=w1,sd=sd1\nwd=w2,sd=sd1,openflags=o_direct\n"
                    "rd=a,wd=w*,iorate=1\n",
                NULL);
    ck_assert_int_eq(parm.err, -EINVAL);
    parm_assert_says(&parm, "not supported yet: different openflags= for "
                            "sd=sd1 in one run (rd=a)");
    parm_done(&parm);
}
END_TEST

/* ---- shares ---- */

/* Skews of three workloads; what they become, or what is said. */
static const struct {
    const char *skew[3];
    double share[3];
    const char *says;
} skews[] = {
    {{"", "", ""}, {33.3333, 33.3333, 33.3333}, NULL},
    {{",skew=40", "", ""}, {40, 30, 30}, NULL},
    {{",skew=50", ",skew=30", ",skew=20"}, {50, 30, 20}, NULL},
    {{",skew=33.3333", ",skew=33.3333", ",skew=33.3334"},
     {33.3333, 33.3333, 33.3334},
     NULL},
    {{",skew=33.33", ",skew=33.33", ",skew=33.33"},
     {0},
     "the skew= of its workloads adds up to 99.99, not to 100"},
    {{",skew=60", ",skew=60", ""},
     {0},
     "the skew= of its workloads adds up to 120.00, not to 100"},
    {{",skew=100", "", ""},
     {100, 0, 0},
     "warning: rd=r: wd=w2 never runs: the others' skew= adds up to 100"},
};

/* Shares add up to 100; the rest is split; a negative rest is refused. */
START_TEST(case_E05_skew)
{
    char file[512];
    struct parm parm;

    snprintf(file, sizeof(file),
             SDS "wd=w1,sd=sd1%s\nwd=w2,sd=sd2%s\nwd=w3,sd=sd*%s\n"
                 "rd=r,wd=w*,iorate=1000\n",
             skews[_i].skew[0], skews[_i].skew[1], skews[_i].skew[2]);
    parm_expand(&parm, file, NULL);
    if (skews[_i].says != NULL)
        parm_assert_says(&parm, skews[_i].says);
    if (skews[_i].share[0] == 0) {
        ck_assert_int_eq(parm.err, -EINVAL);
        parm_done(&parm);
        return;
    }
    parm_assert_ok(&parm);

    const struct plan_run *run = &parm.plan->runs[0];
    double sum = 0;

    for (uint32_t i = 0; i < run->workload_count; i++) {
        double share = 0;

        for (uint32_t k = 0; k < run->cell_count; k++)
            if (run->cells[k].workload == i)
                share += run->cells[k].share;
        ck_assert_double_eq_tol(share * 100, skews[_i].share[i], 1e-4);
        ck_assert_double_eq_tol(run->workloads[i].skew, skews[_i].share[i],
                                1e-4);
        sum += share;
    }
    ck_assert_double_eq_tol(sum, 1, 1e-6);
    ck_assert(run->skew_given == (skews[_i].skew[0][0] != '\0'));
    parm_done(&parm);
}
END_TEST

/* threads= of an sd is for all its hosts together. */
START_TEST(test_threads)
{
    static const uint32_t wanted[][3] = {{3, 3, 2}, {1, 1, 1}, {34, 33, 33}};
    struct parm parm;

    parm_expand(&parm,
                "hd=a\nhd=b\nhd=c\nsd=s,lun=/x\n"
                "rd=r,sd=s,iorate=max,threads=(8,2,100)\n",
                NULL);
    parm_assert_ok(&parm);
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(parm.plan->runs[i].target_count, 3);
        for (uint32_t k = 0; k < 3; k++)
            ck_assert_uint_eq(parm.plan->runs[i].targets[k].threads,
                              wanted[i][k]);
    }
    parm_done(&parm);
}
END_TEST

/* Sequential work on a shared sd is cut up; random work is not. */
START_TEST(test_slices)
{
    struct parm parm;

    parm_expand(&parm,
                "hd=a\nhd=b\nsd=s,lun=/x\nsd=t,lun=/y,host=b\n"
                "wd=seq,sd=*,seekpct=seq\n"
                "rd=r,wd=seq,iorate=max\nrd=q,wd=seq,iorate=max,seekpct=100\n",
                NULL);
    parm_assert_ok(&parm);

    const struct plan_cell *cells = parm.plan->runs[0].cells;

    ck_assert_uint_eq(parm.plan->runs[0].cell_count, 3);
    ck_assert_uint_eq(cells[0].slice, 0);
    ck_assert_uint_eq(cells[0].slices, 2);
    ck_assert_uint_eq(cells[1].slice, 1);
    ck_assert_uint_eq(cells[1].slices, 2);
    ck_assert_uint_eq(cells[2].slices, 1);
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_uint_eq(parm.plan->runs[1].cells[i].slices, 1);
    parm_done(&parm);
}
END_TEST

/* ---- what goes where ---- */

/* host1:d1, host1:d2, host1:d3, host2:d1: none replaces another. */
START_TEST(case_J02_drives_accumulate)
{
    struct parm parm;
    uint32_t drives[2] = {0, 0};

    parm_expand(&parm,
                "hd=host1\nhd=host2\n"
                "sd=sd1,host=host1,lun=/dev/d1\nsd=sd2,host=host1,lun=/dev/d2\n"
                "sd=sd3,host=host1,lun=/dev/d3\nsd=sd4,host=host2,lun=/dev/d1\n"
                "rd=r,sd=sd*,iorate=max\n",
                NULL);
    parm_assert_ok(&parm);
    ck_assert_uint_eq(parm.plan->host_count, 2);
    for (uint32_t i = 0; i < parm.plan->target_count; i++)
        drives[parm.plan->targets[i].host]++;
    ck_assert_uint_eq(drives[0], 3);
    ck_assert_uint_eq(drives[1], 1);
    ck_assert_uint_eq(parm.plan->runs[0].cell_count, 4);
    parm_done(&parm);
}
END_TEST

static const struct {
    const char *file;
    const char *says;
} refused[] = {
    {SDS "wd=w\nrd=r,wd=w,iorate=1\n", "rd=r: wd=w has no sd="},
    {SDS "wd=w,sd=(sd1,sd*)\nrd=r,wd=w,iorate=1\n",
     "rd=r: sd=sd1 is asked for twice in wd=w"},
    {"hd=a\nhd=b\nsd=s,lun=/x,host=a\nwd=w,sd=s,host=b\nrd=r,wd=w,iorate=1\n",
     "wd=w has nothing to run on: none of its sds is on one of its hosts"},
    {SDS "rd=r,sd=sd1,iorate=(1-1000,1),forthreads=(1-201,1)\n",
     "with rd=r the campaign has more than 200000 runs"},
    {SDS "rd=r,sd=sd1,iorate=(1-10000,1),forthreads=(1-10000,1),"
         "forrdpct=(0-100,1),forseekpct=(0-100,1)\n",
     "more than 200000 runs"},
    {"sd=s%d,lun=/x,count=(1,300)\nrd=r,sd=*,iorate=1\n",
     "more than 256 drives on host localhost in one campaign"},
};

START_TEST(test_refused)
{
    struct parm parm;

    parm_expand(&parm, refused[_i].file, NULL);
    ck_assert_int_eq(parm.err, -EINVAL);
    parm_assert_says(&parm, refused[_i].says);
    ck_assert_ptr_null(parm.plan);
    parm_done(&parm);
}
END_TEST

/* Sums that would overflow are still too many. */
START_TEST(test_too_many_workloads)
{
    char file[4096] = SDS;
    struct parm parm;

    for (int i = 0; i < 65; i++)
        parm_append(file, sizeof(file), "wd=w%d,sd=sd1\n", i);
    parm_append(file, sizeof(file), "rd=r,wd=w*,iorate=1\n");
    parm_expand(&parm, file, NULL);
    ck_assert_int_eq(parm.err, -EINVAL);
    parm_assert_says(&parm, "rd=r: more than 64 workloads at once");
    parm_done(&parm);
}
END_TEST

/* The page cache is said, once for all; drives that nobody uses are said. */
START_TEST(case_A03_buffered)
{
    struct parm parm;

    parm_expand(&parm,
                "sd=sd0,lun=/dev/null\nsd=sd1,lun=/dev/x\n"
                "sd=sd2,lun=/dev/y,openflags=o_direct\nsd=sd3,lun=/f\n"
                "sd=sd4,lun=/dev/z\nsd=sd5,lun=/dev/a\nsd=sd6,lun=/dev/b\n"
                "rd=r,sd=(sd0-sd3),iorate=max\n",
                NULL);
    parm_assert_ok(&parm);
    ck_assert_uint_eq(parm.report.warnings, 2);
    parm_assert_says(&parm, "t.parm:2:12: warning: sd=sd1 and 1 more without "
                            "openflags=o_direct: the page cache is measured");
    parm_assert_says(&parm, "t.parm:5:4: warning: no rd= uses sd=sd4 and 2 "
                            "more");
    parm_done(&parm);
}
END_TEST

/* What the plan knows does not hang on the definitions. */
START_TEST(test_outlives_definitions)
{
    struct parm parm;

    parm_expand(&parm, SDS "rd=r,sd=sd*,iorate=curve,forxfersize=(4k,8k)\n",
                NULL);
    parm_assert_ok(&parm);
    parm.definitions = definitions_free(parm.definitions);
    ck_assert_str_eq(parm.plan->runs[8].name, "r_(10%)");
    ck_assert_str_eq(parm.plan->runs[8].for_text, "xfersize=8k");
    ck_assert_str_eq(parm.plan->runs[8].place.source,
                     "rd=r,sd=sd*,iorate=curve,forxfersize=(4k,8k)");
    ck_assert_str_eq(parm.plan->targets[2].sd, "sd3");
    ck_assert_str_eq(parm.plan->runs[8].workloads[0].name, "rd=r");
    parm_done(&parm);
}
END_TEST

START_TEST(a_curve_of_each_drive)
{
    struct parm parm;
    char *text;

    parm_expand(&parm,
                "sd=s,lun=/x,openflags=o_direct\nrd=r,sd=s,iorate=curve,"
                "curve=(50,110),curve_scope=drive\n",
                NULL);
    parm_assert_ok(&parm);
    ck_assert_uint_eq(parm.plan->run_count, 3);
    ck_assert_int_eq(parm.plan->runs[0].rate.kind, PLAN_RATE_CURVE);
    ck_assert_int_eq(parm.plan->runs[2].rate.kind, PLAN_RATE_DRIVES);
    ck_assert_str_eq(parm.plan->runs[2].name, "r_(110%)");
    text = plan_text_runs(parm.plan);
    ck_assert_ptr_nonnull(strstr(text, "r\t50%\t"));
    free(text);
    parm_done(&parm);
    parm_read(&parm, "sd=s,lun=/x\nrd=r,sd=s,iorate=max,curve_scope=drive\n");
    parm_assert_says(&parm, "curve_scope= has no effect without iorate=curve");
    parm_done(&parm);
}
END_TEST

/* A relative lun= is of where `lockstep run` was started. */
START_TEST(a_relative_lun_is_of_the_folder)
{
    static const char text[] = "sd=s,lun=data/f,size=1m,openflags=o_direct\n"
                               "rd=r,sd=s,iorate=1\n";
    static const struct plan_agent agent = {.name = "localhost",
                                            .hostname = "box"};
    struct plan_fleet fleet = {.agents = &agent, .agent_count = 1};
    struct parm parm;

    parm_expand(&parm, text, NULL);
    parm_assert_ok(&parm);
    parm_assert_says(&parm, "sd=s: 'lockstep run' takes a relative lun= from "
                            "where it is started, 'lockstep submit' refuses");
    parm_done(&parm);
    fleet.folder = "/home/me";
    parm_expand(&parm, text, &fleet);
    parm_assert_ok(&parm);
    ck_assert_str_eq(parm.plan->targets[0].path, "/home/me/data/f");
    ck_assert_str_eq(parm.messages, "");
    parm_done(&parm);
}
END_TEST

/* As vdbench has it: those of rd=default come first, options may be quoted,
 * and general ones run where the controller does. */
START_TEST(commands_go_with_every_run_of_their_rd)
{
    const struct plan *plan;
    struct parm parm;

    parm_expand(&parm,
                "startcmd=(\"first one\",slave)\nend_cmd=last\n"
                "heartbeat_error=(alarm,cons)\n"
                "sd=s,lun=/x,openflags=o_direct\nwd=w,sd=s\n"
                "rd=default,startcmd=all,elapsed=4\n"
                "rd=a,wd=w,iorate=(1,2),startcmd=(\"x y\",\"cons\"),"
                "endcmd=(z,master)\n"
                "rd=b,wd=w,iorate=1\n",
                NULL);
    parm_assert_ok(&parm);
    parm_assert_says(&parm, "runs on the controller's host, as in vdbench");
    plan = parm.plan;
    ck_assert_uint_eq(plan->start.count, 1);
    ck_assert_str_eq(plan->start.items[0].text, "first one");
    ck_assert(plan->start.items[0].on_controller);
    ck_assert(!plan->start.items[0].shown);
    ck_assert_str_eq(plan->end.items[0].text, "last");
    ck_assert(plan->host_lost.items[0].shown);
    for (int i = 0; i < 2; i++) {
        const struct plan_run *run = &plan->runs[i];

        ck_assert_uint_eq(run->start.count, 2);
        ck_assert_str_eq(run->start.items[0].text, "all");
        ck_assert_str_eq(run->start.items[1].text, "x y");
        ck_assert_str_eq(run->start.items[1].keyword, "startcmd");
        ck_assert(run->start.items[1].shown);
        ck_assert(!run->start.items[1].on_controller);
        ck_assert_uint_eq(run->end.count, 1);
        ck_assert(run->end.items[0].on_controller);
        ck_assert_uint_eq(run->end.items[0].place.line, 7);
    }
    ck_assert_uint_eq(plan->runs[2].start.count, 1);
    ck_assert_uint_eq(plan->runs[2].end.count, 0);
    parm_done(&parm);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("expand");
    TCase *tests = tcase_create("expand");

    tcase_add_loop_test(tests, test_runs, 0, ARRAY_LENGTH(expansions));
    tcase_add_test(tests, test_sets);
    tcase_add_test(tests, commands_go_with_every_run_of_their_rd);
    tcase_add_test(tests, test_names);
    tcase_add_test(tests, test_observed_first);
    tcase_add_test(tests, test_effective_values);
    tcase_add_test(tests, test_mix_adds_up);
    tcase_add_test(tests, test_openflags);
    tcase_add_loop_test(tests, case_E05_skew, 0, ARRAY_LENGTH(skews));
    tcase_add_test(tests, test_threads);
    tcase_add_test(tests, test_slices);
    tcase_add_test(tests, case_J02_drives_accumulate);
    tcase_add_loop_test(tests, test_refused, 0, ARRAY_LENGTH(refused));
    tcase_add_test(tests, test_too_many_workloads);
    tcase_add_test(tests, case_A03_buffered);
    tcase_add_test(tests, test_outlives_definitions);
    tcase_add_test(tests, a_curve_of_each_drive);
    tcase_add_test(tests, a_relative_lun_is_of_the_folder);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
