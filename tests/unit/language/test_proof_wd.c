/* Parameters of wd=: their effect on the I/O that is issued. */
#include "tests/unit/language/proof.h"

#define DRIVE "sd=s,lun=/dev/x\n"
#define RUN   "rd=r,wd=w,iorate=max,elapsed=2\n"
#define ONE   DRIVE "wd=w,sd=s@\n" RUN
#define WRITE DRIVE "wd=w,sd=s,rdpct=0@\n" RUN
#define ROW   DRIVE "wd=w,sd=s,seekpct=seq@\n" RUN

/* Drives have block 0 left alone: what is used begins here. */
#define FIRST UINT64_C(4096)

static bool the_second_drive_is_used(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    return issue->count > 0 && issue->rig.job->target_count == 1 &&
           strcmp(issue->rig.job->targets[0].sd, "b") == 0;
}

static bool small_ones_are(struct issue *issue, double share)
{
    ck_assert(issue_run(issue, 0, 0));
    return share_is(issued_of_length(issue, 4096), issue->count, share);
}

static bool four_of_five_are_small(struct issue *issue)
{
    return small_ones_are(issue, 0.8);
}

static bool all_are_64k(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    return issued_all_of(issue, 65536);
}

static bool a_quarter_is_small(struct issue *issue)
{
    return small_ones_are(issue, 0.25) &&
           issued_of_length(issue, 4096) + issued_of_length(issue, 65536) ==
               issue->count;
}

static bool eight_sizes_are_alike(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    for (uint32_t size = 4096; size <= 32768; size += 4096)
        if (!share_is(issued_of_length(issue, size), issue->count, 0.125))
            return false;
    return true;
}

static bool three_of_ten_read(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    return share_is(issued_reads(issue), issue->count, 0.3);
}

static bool it_is_in_the_first_half(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    return issue->count > 0 && issued_within(issue, 0, 32 * MB) == issue->count;
}

/* Density as one over the root of the distance: half is in a quarter. */
static bool half_is_in_the_first_quarter(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    return share_is(issued_within(issue, 0, FIRST + (64 * MB - FIRST) / 4),
                    issue->count, 0.5);
}

/* How many do not begin where the one before ended. */
static uint64_t seeks(const struct issue *issue)
{
    uint64_t count = 0;

    for (uint32_t i = 1; i < issue->count; i++)
        count += issue->ios[i].offset !=
                 issue->ios[i - 1].offset + issue->ios[i - 1].length;
    return count;
}

static bool a_fifth_seeks(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    return share_is(seeks(issue), issue->count - 1, 0.2);
}

/* From the beginning to the end and round again. */
static bool it_goes_round(struct issue *issue)
{
    uint64_t at = FIRST;

    ck_assert(issue_run(issue, 0, 0));
    for (uint32_t i = 0; i < issue->count; i++) {
        if (issue->ios[i].offset != at)
            return false;
        at += issue->ios[i].length;
        at = at == 64 * MB ? FIRST : at;
    }
    return issue->count > 0;
}

/* Each block once, and no more. */
static bool it_ends_at_the_end(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    return issue->count == 16 * MB / 65536 - 1 && seeks(issue) == 0 &&
           issue->ios[0].offset == 65536;
}

static bool it_starts_in_the_midst(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    return issue->ios[0].offset > FIRST && seeks(issue) <= 1;
}

/* 12 pieces; those around the third are hit most. */
static bool the_middle_is_hit_most(struct issue *issue)
{
    uint64_t piece = (64 * MB - FIRST) / 12;
    double second = exp(-3.0) * 9 / 2, third = exp(-3.0) * 27 / 6;

    ck_assert(issue_run(issue, 0, 0));
    return fabs((double)issued_within(issue, FIRST + 2 * piece,
                                      FIRST + 4 * piece) /
                    (double)issue->count -
                second - third) < 0.02;
}

/* The same by the middle asked for: 20 pieces, around the fifth. */
static bool the_middle_is_the_fifth(struct issue *issue)
{
    uint64_t piece = (64 * MB - FIRST) / 20;
    double p4 = exp(-5.0) * 625 / 24, p5 = exp(-5.0) * 3125 / 120;

    ck_assert(issue_run(issue, 0, 0));
    return fabs((double)issued_within(issue, FIRST + 4 * piece,
                                      FIRST + 6 * piece) /
                    (double)issue->count -
                p4 - p5) < 0.02;
}

static bool gaps_are_64k(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    for (uint32_t i = 1; i < issue->count; i++)
        if (issue->ios[i].offset > issue->ios[i - 1].offset &&
            issue->ios[i].offset -
                    (issue->ios[i - 1].offset + issue->ios[i - 1].length) !=
                64 * KB)
            return false;
    return issue->count > 1;
}

/* At full speed the first leaves nothing to the others. */
static bool the_first_has_all(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    return issued_all_of(issue, 4096);
}

/* Its own 200 a second beside the run's 1000. */
static bool it_has_its_own_rate(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    return fabs((double)issued_of_length(issue, 4096) - 400) < 100 &&
           fabs((double)issued_of_length(issue, 8192) - 2000) < 225;
}

static bool four_of_five_hit(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    return share_is(issued_within(issue, FIRST, FIRST + MB), issue->count, 0.8);
}

static bool only_the_second_host_issues(struct issue *issue)
{
    return !issue_run(issue, 0, 0) && issue_run(issue, 0, 1) &&
           issue->count > 0;
}

static bool it_is_flushed_at_the_end(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    return issue->flushes == 1;
}

/* Three in all, by size: one on the small drive, two on the large one. */
static bool three_are_outstanding(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    return issued_outstanding(issue) == 3 &&
           issue->rig.job->targets[1].threads == 2;
}

/* In turn, each going on where it was, in its own quarter. */
static bool four_streams_go_on(struct issue *issue)
{
    uint64_t slice = (64 * MB - FIRST) / 4;

    ck_assert(issue_run(issue, 0, 0));
    for (uint32_t i = 4; i < issue->count && i < 10000; i++)
        if (issue->ios[i].offset !=
            issue->ios[i - 4].offset + issue->ios[i - 4].length)
            return false;
    for (uint32_t i = 1; i < 4; i++)
        if (issue->ios[i].offset - issue->ios[i - 1].offset < slice - 4096)
            return false;
    return issue->count > 4;
}

#define TWO_HOSTS "hd=h1\nhd=h2\n" DRIVE "wd=w,sd=s@\n" RUN
#define RANKED                                                                 \
    DRIVE "wd=default,priority=2\nwd=a,sd=s@\nwd=b,sd=s,xfersize=8k\n"

static const struct proof proofs[] = {
    PROOF("sd", "sd=a,lun=/dev/a\nsd=b,lun=/dev/b\nwd=w@\n" RUN, ",sd=b",
          the_second_drive_is_used),
    PROOF("skew",
          DRIVE "wd=a,sd=s@\nwd=b,sd=s,xfersize=8k\n"
                "rd=r,wd=*,iorate=4000,elapsed=2\n",
          ",skew=80", four_of_five_are_small),
    PROOF("xfersize", ONE, ",xfersize=64k", all_are_64k),
    PROOF("xfersize", ONE, ",xfersize=(4k,25,64k,75)", a_quarter_is_small),
    PROOF("xfersize", ONE, ",xfersize=(4k,32k,4k)", eight_sizes_are_alike),
    PROOF("readpct", ONE, ",readpct=30", three_of_ten_read),
    PROOF("rdpct", ONE, ",rdpct=30", three_of_ten_read),
    PROOF("writepct", ONE, ",writepct=70", three_of_ten_read),
    PROOF("wrpct", ONE, ",wrpct=70", three_of_ten_read),
    PROOF("range", ONE, ",range=(0,50)", it_is_in_the_first_half),
    PROOF("hotband", ONE, ",hotband=(0,100)", half_is_in_the_first_quarter),
    PROOF("seekpct", ONE, ",seekpct=20", a_fifth_seeks),
    PROOF("seekpct", ONE, ",seekpct=seq", it_goes_round),
    PROOF("seekpct", ONE, ",seekpct=0", it_goes_round),
    PROOF("seekpct",
          "sd=s,lun=/dev/x_16\nwd=w,sd=s,xfersize=64k@\n"
          "rd=r,wd=w,iorate=max,elapsed=30\n",
          ",seekpct=eof", it_ends_at_the_end),
    PROOF("seekpct", ONE, ",seekpct=seqnz", it_starts_in_the_midst),
    PROOF("seekpct", ONE, ",seekpct=poisson", the_middle_is_hit_most),
    PROOF("seekpct", ONE, ",seekpct=(poisson,5)", the_middle_is_the_fifth),
    PROOF("stride", ROW, ",stride=(64k,64k)", gaps_are_64k),
    PROOF("priority", RANKED "rd=r,wd=(a,b),iorate=max,elapsed=2\n",
          ",priority=1", the_first_has_all),
    PROOF("iorate", RANKED "rd=r,wd=(a,b),iorate=1000,elapsed=2\n",
          ",iorate=200", it_has_its_own_rate),
    PROOF("rhpct", ONE, ",rhpct=80", four_of_five_hit),
    PROOF("whpct", WRITE, ",whpct=80", four_of_five_hit),
    PROOF("host", TWO_HOSTS, ",host=h2", only_the_second_host_issues),
    PROOF("hd", TWO_HOSTS, ",hd=h2", only_the_second_host_issues),
    PROOF("openflags", WRITE, ",openflags=fsync", it_is_flushed_at_the_end),
    PROOF("threads",
          "concatenatesds=yes\nsd=a,lun=/dev/a_20\nsd=b,lun=/dev/b_60\n"
          "wd=w,sd=*@\n" RUN,
          ",threads=3", three_are_outstanding),
    PROOF("streams", ROW, ",streams=4", four_streams_go_on),
};

START_TEST(parameters_of_wd_show_in_the_io)
{
    proof_check(&proofs[_i]);
}
END_TEST

START_TEST(all_that_work_are_proven)
{
    proof_check_section(SECTION_WD, proofs, ARRAY_LENGTH(proofs));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("proof_wd");
    TCase *tests = tcase_create("proof_wd");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, parameters_of_wd_show_in_the_io, 0,
                        ARRAY_LENGTH(proofs));
    tcase_add_test(tests, all_that_work_are_proven);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
