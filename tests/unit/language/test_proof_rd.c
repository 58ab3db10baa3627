/* Parameters of rd=: their effect on the I/O that is issued. */
#include "tests/unit/language/proof.h"

#define DRIVE  "sd=s,lun=/dev/x\n"
#define ONE    DRIVE "wd=w,sd=s\nrd=r,wd=w,iorate=max,elapsed=2@\n"
#define WRITE  DRIVE "wd=w,sd=s,rdpct=0\nrd=r,wd=w,iorate=max,elapsed=2@\n"
#define RATE   DRIVE "wd=w,sd=s\nrd=r,wd=w,elapsed=2@\n"
#define DRIVES "sd=a,lun=/dev/a\nsd=b,lun=/dev/b\nsd=c,lun=/dev/c\n"
#define SETS   DRIVES "wd=w,sd=a\nrd=r,wd=w,iorate=max,elapsed=2@\n"

/* ---- what runs where ---- */

static bool all_are_8k(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    return issued_all_of(issue, 8192);
}

/* The names of the drives of each run, as in "a b | c". */
static bool runs_use(struct issue *issue, const char *expected)
{
    char text[256] = "";

    for (uint32_t i = 0; i < issue->plan->run_count; i++) {
        const struct job *job;

        ck_assert(issue_run(issue, i, 0));
        job = issue->rig.job;
        parm_append(text, sizeof(text), "%s", i > 0 ? " |" : "");
        for (uint32_t k = 0; k < job->target_count; k++)
            if (issued_on(issue, k) > 0)
                parm_append(text, sizeof(text), " %s", job->targets[k].sd);
    }
    return strcmp(text, expected) == 0;
}

static bool the_second_drive_is_used(struct issue *issue)
{
    return runs_use(issue, " b");
}

static bool each_drive_is_used_alone(struct issue *issue)
{
    return runs_use(issue, " a | b | c");
}

static bool pairs_are_used(struct issue *issue)
{
    return runs_use(issue, " a b | c");
}

static bool ever_more_are_used(struct issue *issue)
{
    return runs_use(issue, " a | a b | a b c");
}

/* ---- rates ---- */

static bool about(uint64_t count, double expected)
{
    return fabs((double)count - expected) < 5 * sqrt(expected);
}

static bool a_thousand_a_second(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    return about(issue->count, 2000);
}

static bool each_rate_has_a_run(struct issue *issue)
{
    bool first = issue->plan->run_count == 3 && issue_run(issue, 0, 0) &&
                 about(issue->count, 400);

    return first && issue_run(issue, 1, 0) && about(issue->count, 1000) &&
           issue_run(issue, 2, 0) && issue->count > 15000;
}

/* 4 MiB/s of 4 KiB each. */
static bool a_throughput_is_kept(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    return about(issue->count, 2048);
}

/* 20 % and 40 % of the 8000 a second that 8 threads make. */
static bool two_points_are_run(struct issue *issue)
{
    const struct plan *plan = issue->plan;

    if (plan->run_count != 3 || plan->runs[1].rate.kind != PLAN_RATE_PERCENT)
        return false;
    for (uint32_t i = 1; i < 3; i++) {
        double rate = (double)plan_round_rate(8000, plan->runs[i].rate.value);

        ck_assert(issue_run_at(issue, i, 0, rate));
        if (!about(issue->count, 2 * 8000 * 0.2 * i))
            return false;
    }
    return true;
}

static uint64_t gap(const struct issue *issue, uint32_t i)
{
    return issue->ios[i].at_ns - issue->ios[i - 1].at_ns;
}

static bool gaps_are_equal(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    for (uint32_t i = 1; i < issue->count; i++)
        if (gap(issue, i) > NS_PER_MS + 1 || gap(issue, i) < NS_PER_MS - 1)
            return false;
    return issue->count > 1000;
}

/* Not one above two means; an exponential has 13 % of its gaps there. */
static bool gaps_are_short(struct issue *issue)
{
    uint64_t longest = 0;

    ck_assert(issue_run(issue, 0, 0));
    for (uint32_t i = 1; i < issue->count; i++)
        longest = gap(issue, i) > longest ? gap(issue, i) : longest;
    return longest <= 2 * NS_PER_MS && longest > 1900 * NS_PER_US;
}

static bool an_eighth_of_the_gaps_is_long(struct issue *issue)
{
    uint64_t count = 0;

    ck_assert(issue_run(issue, 0, 0));
    for (uint32_t i = 1; i < issue->count; i++)
        count += gap(issue, i) > 2 * NS_PER_MS;
    return share_is(count, issue->count - 1, exp(-2.0));
}

static bool all_come_with_the_second(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    for (uint32_t i = 0; i < issue->count; i++)
        if (issue->ios[i].at_ns % NS_PER_S != 0)
            return false;
    return issue->count == 2000;
}

static bool each_second_has_its_rate(struct issue *issue)
{
    uint64_t first = 0;

    ck_assert(issue_run(issue, 0, 0));
    for (uint32_t i = 0; i < issue->count; i++)
        first += issue->ios[i].at_ns < NS_PER_S;
    return about(first, 100) && about(issue->count - first, 500);
}

/* ---- times ---- */

static bool it_lasts_five_seconds(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    return rig_intervals(&issue->rig) == 5 &&
           issue->ios[issue->count - 1].at_ns < 5 * NS_PER_S &&
           issue->ios[issue->count - 1].at_ns > 4900 * NS_PER_MS;
}

static bool rows_are_two_seconds(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    return issue->rig.rows[0].end_ns == 2 * NS_PER_S &&
           rig_intervals(&issue->rig) == 2;
}

static bool one_second_comes_before(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    return rig_intervals(&issue->rig) == 3 &&
           issue->rig.rows[0].kind == ROW_WARMUP &&
           issue->rig.rows[1].kind == ROW_MEASURED &&
           issue->ios[issue->count - 1].at_ns > 2900 * NS_PER_MS;
}

static bool it_runs_three_times(struct issue *issue)
{
    return runs_use(issue, " s | s | s");
}

/* ---- loops: the first run as always, the second with the other value ---- */

static bool two_runs(struct issue *issue, uint32_t run)
{
    return issue->plan->run_count == 2 && issue_run(issue, run, 0);
}

static bool then_64k(struct issue *issue)
{
    return two_runs(issue, 0) && issued_all_of(issue, 4096) &&
           issue_run(issue, 1, 0) && issued_all_of(issue, 65536);
}

static bool one_then_five_outstanding(struct issue *issue)
{
    return two_runs(issue, 0) && issued_outstanding(issue) == 1 &&
           issue_run(issue, 1, 0) && issued_outstanding(issue) == 5;
}

static bool then_30_percent_read(struct issue *issue)
{
    return two_runs(issue, 0) && issued_reads(issue) == issue->count &&
           issue_run(issue, 1, 0) &&
           share_is(issued_reads(issue), issue->count, 0.3);
}

static bool then_80_percent_hit(struct issue *issue)
{
    return two_runs(issue, 0) &&
           issued_within(issue, 4096, 4096 + MB) < issue->count / 20 &&
           issue_run(issue, 1, 0) &&
           share_is(issued_within(issue, 4096, 4096 + MB), issue->count, 0.8);
}

static bool random_then_in_order(struct issue *issue)
{
    bool in_order = true;

    if (!two_runs(issue, 0) ||
        issue->ios[1].offset == issue->ios[0].offset + issue->ios[0].length)
        return false;
    ck_assert(issue_run(issue, 1, 0));
    for (uint32_t i = 1; i < issue->count && i < 1000; i++)
        in_order &= issue->ios[i].offset ==
                    issue->ios[i - 1].offset + issue->ios[i - 1].length;
    return in_order;
}

static bool hits_in_2_then_8_mib(struct issue *issue)
{
    return two_runs(issue, 0) &&
           share_is(issued_within(issue, 0, 2 * MB + 4096), issue->count,
                    0.5) &&
           issue_run(issue, 1, 0) &&
           share_is(issued_within(issue, 0, 8 * MB + 4096), issue->count, 0.5);
}

static bool then_a_half_compresses(struct issue *issue)
{
    return two_runs(issue, 0) && issue->zeros < issue->bytes / 100 &&
           issue_run(issue, 1, 0) &&
           fabs((double)issue->zeros / (double)issue->bytes - 0.5) < 0.01;
}

static bool it_is_flushed_at_the_end(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    return issue->flushes == 1;
}

/* A parameter of rd= and the same with for in front. */
#define LOOP(name, text, values, holds)                                        \
    PROOF(name, text, "," name "=" values, holds),                             \
        PROOF("for" name, text, ",for" name "=" values, holds)

#define FIXED DRIVE "wd=w,sd=s\nrd=r,wd=w,iorate=1000,elapsed=2@\n"
#define HITS  DRIVE "wd=w,sd=s,rhpct=50\nrd=r,wd=w,iorate=max,elapsed=2@\n"

static const struct proof proofs[] = {
    PROOF("wd",
          DRIVE "wd=a,sd=s\nwd=b,sd=s,xfersize=8k\n"
                "rd=r,iorate=max,elapsed=2@\n",
          ",wd=b", all_are_8k),
    PROOF("sd", SETS, ",sd=b", the_second_drive_is_used),
    PROOF("sd", DRIVES "rd=r,iorate=max,elapsed=2@\n", ",sd=b",
          the_second_drive_is_used),
    PROOF("sd", SETS, ",sd=single", each_drive_is_used_alone),
    PROOF("sd", SETS, ",sd=setsof2", pairs_are_used),
    PROOF("sd", SETS, ",sd=range", ever_more_are_used),
    PROOF("iorate", RATE, ",iorate=1000", a_thousand_a_second),
    PROOF("iorate", RATE, ",iorate=(200,500,max)", each_rate_has_a_run),
    PROOF("iorate", RATE, ",iorate=4MiB/s", a_throughput_is_kept),
    ELSEWHERE("iorate", "50% and find: unit/conduct/test_curve.c"),
    PROOF("curve", DRIVE "wd=w,sd=s\nrd=r,wd=w,iorate=curve,elapsed=2@\n",
          ",curve=(20,40)", two_points_are_run),
    ELSEWHERE("curve", "integration/test_language.py: a curve keeps shares"),
    ELSEWHERE("stopcurve", "unit/conduct/test_curve.c, "
                           "integration/test_language.py"),
    ELSEWHERE("maxdata", "unit/fleet/test_tally.c, "
                         "integration/test_language.py"),
    ELSEWHERE("maxdataread", "unit/fleet/test_tally.c"),
    ELSEWHERE("maxdatawritten", "unit/fleet/test_tally.c"),
    PROOF("elapsed", DRIVE "wd=w,sd=s\nrd=r,wd=w,iorate=max@\n", ",elapsed=5",
          it_lasts_five_seconds),
    PROOF("elapsed", DRIVE "wd=w,sd=s\nrd=r,wd=w,iorate=max@\n",
          ",elapsed=5000ms", it_lasts_five_seconds),
    PROOF("interval", DRIVE "wd=w,sd=s\nrd=r,wd=w,iorate=max,elapsed=4@\n",
          ",interval=2", rows_are_two_seconds),
    PROOF("warmup", ONE, ",warmup=1", one_second_comes_before),
    ELSEWHERE("pause", "unit/conduct/test_conductor.c: a pause is kept"),
    PROOF("repeat", ONE, ",repeat=3", it_runs_three_times),
    LOOP("xfersize", ONE, "(4k,64k)", then_64k),
    LOOP("threads", ONE, "(1,5)", one_then_five_outstanding),
    LOOP("rdpct", ONE, "(100,30)", then_30_percent_read),
    LOOP("rhpct", ONE, "(0,80)", then_80_percent_hit),
    LOOP("whpct", WRITE, "(0,80)", then_80_percent_hit),
    LOOP("seekpct", ONE, "(100,0)", random_then_in_order),
    LOOP("hitarea", HITS, "(2m,8m)", hits_in_2_then_8_mib),
    LOOP("compratio", WRITE, "(1,2)", then_a_half_compresses),
    LOOP("compression", WRITE, "(100,50)", then_a_half_compresses),
    PROOF("distribution", FIXED, ",distribution=deterministic", gaps_are_equal),
    PROOF("distribution", FIXED, ",distribution=uniform", gaps_are_short),
    PROOF("distribution",
          DRIVE "wd=w,sd=s,\nrd=default,distribution=uniform\n"
                "rd=r,wd=w,iorate=1000,elapsed=2@\n",
          ",distribution=exponential", an_eighth_of_the_gaps_is_long),
    PROOF("distribution",
          "sd=s,lun=/dev/x,threads=2000\nwd=w,sd=s\n"
          "rd=r,wd=w,iorate=1000,elapsed=2@\n",
          ",distribution=(deterministic,spike)", all_come_with_the_second),
    PROOF("distribution",
          DRIVE "wd=w,sd=s\nrd=r,wd=w,iorate=(100,1,500,1),elapsed=2@\n",
          ",distribution=variable", each_second_has_its_rate),
    ELSEWHERE("arrival_precision", "unit/agent/test_worker_late.c"),
    PROOF("openflags", WRITE, ",openflags=fsync", it_is_flushed_at_the_end),
    ELSEWHERE("startcmd", "integration/test_commands.py"),
    ELSEWHERE("start_cmd", "integration/test_commands.py"),
    ELSEWHERE("endcmd", "integration/test_commands.py"),
    ELSEWHERE("end_cmd", "integration/test_commands.py"),
    ELSEWHERE("curve_scope", "integration/test_language.py: each drive has "
                             "its own points"),
    ELSEWHERE("find", "unit/conduct/test_curve.c, "
                      "integration/test_language.py"),
};

START_TEST(parameters_of_rd_show_in_the_io)
{
    proof_check(&proofs[_i]);
}
END_TEST

START_TEST(all_that_work_are_proven)
{
    proof_check_section(SECTION_RD, proofs, ARRAY_LENGTH(proofs));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("proof_rd");
    TCase *tests = tcase_create("proof_rd");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, parameters_of_rd_show_in_the_io, 0,
                        ARRAY_LENGTH(proofs));
    tcase_add_test(tests, all_that_work_are_proven);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
