/* Parameters of sd=: their effect on the I/O that is issued. */
#include "tests/unit/language/proof.h"

#define RUN  "rd=r,wd=w,iorate=max,elapsed=2\n"
#define ONCE "wd=w,sd=s,rdpct=0,seekpct=eof,xfersize=64k\n" RUN

static bool only_the_first_host_issues(struct issue *issue)
{
    return issue_run(issue, 0, 0) && issue->count > 0 &&
           (issue->plan->host_count < 2 || !issue_run(issue, 0, 1));
}

/* Both hosts exist, so that "the second does nothing" means something. */
static bool of_two_hosts_only_one(struct issue *issue)
{
    return issue->plan->target_count == 1 && only_the_first_host_issues(issue);
}

static bool the_agent_opens_it(struct issue *issue)
{
    return issue_run(issue, 0, 0) && issue->count > 0 &&
           strcmp(issue->rig.job->targets[0].path, "/dev/y") == 0;
}

static bool three_drives_are_used(struct issue *issue)
{
    static const char *const paths[] = {"/dev/x1", "/dev/x2", "/dev/x3"};
    const struct job *job;

    ck_assert(issue_run(issue, 0, 0));
    job = issue->rig.job;
    if (job->target_count != 3)
        return false;
    for (uint32_t i = 0; i < 3; i++)
        if (issued_on(issue, i) == 0 ||
            strcmp(job->targets[i].path, paths[i]) != 0)
            return false;
    return true;
}

static bool it_stays_below_8_mib(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    return issued_within(issue, 0, 8 * MB) == issue->count &&
           issued_within(issue, 7 * MB, 8 * MB) > 0;
}

static bool three_are_outstanding(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    return issued_outstanding(issue) == 3;
}

/* Half of all in 8 MiB, the other half behind them. */
static bool hits_are_in_8_mib(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    return share_is(issued_within(issue, 0, 8 * MB + 4096), issue->count, 0.5);
}

static bool places_are_512_behind(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    for (uint32_t i = 0; i < issue->count; i++)
        if (issue->ios[i].offset % 4096 != 512)
            return false;
    return issue->count > 0;
}

static bool places_are_multiples_of_64k(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    for (uint32_t i = 0; i < issue->count; i++)
        if (issue->ios[i].offset % (64 * KB) != 0)
            return false;
    return issued_all_of(issue, 4096);
}

static bool it_is_flushed_at_the_end(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    return issue->flushes == 1;
}

static bool it_is_opened_for_direct_io(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    return issue->rig.job->targets[0].open_flags == JOB_OPEN_DIRECT;
}

static bool it_is_in_the_second_half(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    return issue->count > 0 &&
           issued_within(issue, 32 * MB, 64 * MB) == issue->count;
}

static bool the_agent_may_overwrite(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    return issue->rig.job->targets[0].overwrite;
}

static bool a_quarter_is_different(struct issue *issue)
{
    uint32_t most;
    double ratio;

    ck_assert(issue_run(issue, 0, 0));
    ratio = issued_dedup(issue, &most);
    return ratio > 3.7 && ratio < 4.3;
}

static bool whole_units_repeat(struct issue *issue)
{
    issue->unit = 8192;
    return a_quarter_is_different(issue);
}

static bool one_set_has_hundreds(struct issue *issue)
{
    uint32_t most;

    ck_assert(issue_run(issue, 0, 0));
    (void)issued_dedup(issue, &most);
    return most > 250 && most <= 300;
}

static bool sets_have_two_contents(struct issue *issue)
{
    uint32_t most;
    double ratio;

    ck_assert(issue_run(issue, 0, 0));
    ratio = issued_dedup(issue, &most);
    return ratio > 3.1 && ratio < 3.6;
}

static bool one_piece_is_most(struct issue *issue)
{
    uint32_t most;

    ck_assert(issue_run(issue, 0, 0));
    (void)issued_dedup(issue, &most);
    return share_is(most, issue->digest_count, 0.75);
}

static const struct proof proofs[] = {
    PROOF("host", "hd=h1\nhd=h2\nsd=s,lun=/dev/x@\nwd=w,sd=s\n" RUN, ",host=h1",
          of_two_hosts_only_one),
    PROOF("hd", "hd=h1\nhd=h2\nsd=s,lun=/dev/x@\nwd=w,sd=s\n" RUN, ",hd=h1",
          of_two_hosts_only_one),
    PROOF("lun", "sd=s@\nwd=w,sd=s\n" RUN, ",lun=/dev/y", the_agent_opens_it),
    PROOF("count", "sd=s,lun=/dev/x@\nwd=w,sd=s*\n" RUN, ",count=(1,3)",
          three_drives_are_used),
    PROOF("size", "sd=s,lun=/dev/x@\nwd=w,sd=s\n" RUN, ",size=8m",
          it_stays_below_8_mib),
    PROOF("size", "sd=s,lun=/dev/x@\nwd=w,sd=s\n" RUN, ",size=(16m,2)",
          it_stays_below_8_mib),
    PROOF("threads", "sd=s,lun=/dev/x@\nwd=w,sd=s\n" RUN, ",threads=3",
          three_are_outstanding),
    PROOF("threads", "sd=s,lun=/dev/x@\nwd=w,sd=s\n" RUN, ",threads=(9,3)",
          three_are_outstanding),
    PROOF("hitarea", "sd=s,lun=/dev/x@\nwd=w,sd=s,rhpct=50\n" RUN,
          ",hitarea=8m", hits_are_in_8_mib),
    PROOF("offset", "sd=s,lun=/dev/x@\nwd=w,sd=s\n" RUN, ",offset=512",
          places_are_512_behind),
    PROOF("align", "sd=s,lun=/dev/x@\nwd=w,sd=s\n" RUN, ",align=64k",
          places_are_multiples_of_64k),
    PROOF("openflags", "sd=s,lun=/dev/x@\nwd=w,sd=s,rdpct=0\n" RUN,
          ",openflags=fsync", it_is_flushed_at_the_end),
    PROOF("openflags", "sd=s,lun=/dev/x@\nwd=w,sd=s\n" RUN,
          ",openflags=o_direct", it_is_opened_for_direct_io),
    ELSEWHERE("openflags", "unit/agent/test_interlock_drives.c: O_DIRECT and "
                           "O_DSYNC of the descriptor"),
    PROOF("range", "sd=s,lun=/dev/x@\nwd=w,sd=s\n" RUN, ",range=(50,100)",
          it_is_in_the_second_half),
    PROOF("range", "sd=s,lun=/dev/x@\nwd=w,sd=s\n" RUN, ",range=(32m,64m)",
          it_is_in_the_second_half),
    PROOF("dedupratio", "sd=s,lun=/dev/x_16,dedupunit=4k@\n" ONCE,
          ",dedupratio=4", a_quarter_is_different),
    PROOF("dedupunit", "sd=s,lun=/dev/x_16,dedupratio=4@\n" ONCE,
          ",dedupunit=8k", whole_units_repeat),
    PROOF("dedupsets", "sd=s,lun=/dev/x_16,dedupratio=4,dedupunit=4k@\n" ONCE,
          ",dedupsets=1", one_piece_is_most),
    PROOF("deduphotsets",
          "sd=s,lun=/dev/x_16,dedupratio=4,dedupunit=4k@\n" ONCE,
          ",deduphotsets=(1,300)", one_set_has_hundreds),
    PROOF("dedupflipflop",
          "sd=s,lun=/dev/x_16,dedupratio=4,dedupunit=4k@\n" ONCE,
          ",dedupflipflop=yes", sets_have_two_contents),
    PROOF("overwrite", "sd=s,lun=/dev/x@\nwd=w,sd=s,rdpct=0\n" RUN,
          ",overwrite=yes", the_agent_may_overwrite),
    ELSEWHERE("overwrite", "unit/agent/test_interlock_rules.c"),
    ELSEWHERE("drive", "unit/plan/test_drives.c, integration/test_drives.py"),
};

START_TEST(parameters_of_sd_show_in_the_io)
{
    proof_check(&proofs[_i]);
}
END_TEST

START_TEST(all_that_work_are_proven)
{
    proof_check_section(SECTION_SD, proofs, ARRAY_LENGTH(proofs));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("proof_sd");
    TCase *tests = tcase_create("proof_sd");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, parameters_of_sd_show_in_the_io, 0,
                        ARRAY_LENGTH(proofs));
    tcase_add_test(tests, all_that_work_are_proven);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
