/* General parameters and hd=: their effect on the I/O that is issued. */
#include "tests/unit/language/proof.h"

#include "agent/crew.h"

/* Every block of a drive of 16 MiB written once. */
#define ONCE                                                                   \
    "sd=s,lun=/dev/x_16\nwd=w,sd=s,rdpct=0,seekpct=eof,xfersize=64k\n"         \
    "rd=r,wd=w,iorate=max,elapsed=60\n"

/* Noise has its own zeros: one byte of 256. */
static bool three_quarters_compress(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    return issue->bytes > 0 &&
           fabs((double)issue->zeros / (double)issue->bytes - 0.75 -
                0.25 / 256) < 0.01;
}

static bool a_quarter_is_different(struct issue *issue)
{
    uint32_t most;
    double ratio;

    ck_assert(issue_run(issue, 0, 0));
    ratio = issued_dedup(issue, &most);
    return ratio > 3.7 && ratio < 4.3;
}

/* 4,096 units; sets have about fifteen of them, but for the one hot one. */
static bool one_set_has_hundreds(struct issue *issue)
{
    uint32_t most;

    ck_assert(issue_run(issue, 0, 0));
    (void)issued_dedup(issue, &most);
    return most > 250 && most <= 300;
}

/* A fifth is unique, a twentieth are sets: now each of two contents. */
static bool sets_have_two_contents(struct issue *issue)
{
    uint32_t most;
    double ratio;

    ck_assert(issue_run(issue, 0, 0));
    ratio = issued_dedup(issue, &most);
    return ratio > 3.1 && ratio < 3.6;
}

/* What is unique on both drives at one place, is there once. */
static bool drives_are_alike(struct issue *issue)
{
    uint32_t most;
    double ratio;

    ck_assert(issue_run(issue, 0, 0));
    ratio = issued_dedup(issue, &most);
    return ratio > 1.7 && ratio < 2.2;
}

static bool whole_units_repeat(struct issue *issue)
{
    issue->unit = 8192;
    return a_quarter_is_different(issue);
}

static bool one_piece_is_most(struct issue *issue)
{
    uint32_t most;

    ck_assert(issue_run(issue, 0, 0));
    (void)issued_dedup(issue, &most);
    return share_is(most, issue->digest_count, 0.75);
}

/* Each request holds the letters from the first one on. */
static bool it_writes_the_letters(struct issue *issue)
{
    uint32_t piece = 0;

    ck_assert(issue_run(issue, 0, 0));
    for (uint32_t i = 0; i < issue->count; i++) {
        uint64_t digest = ISSUE_DIGEST;

        for (uint32_t k = 0; k < issue->ios[i].length; k++) {
            digest = issue_digest(
                digest, (uint8_t)ISSUE_PATTERN[k % strlen(ISSUE_PATTERN)]);
            if (k % issue->unit != issue->unit - 1)
                continue;
            if (issue->digests[piece++] != digest)
                return false;
            digest = ISSUE_DIGEST;
        }
    }
    return piece == issue->digest_count && piece > 0;
}

/* The file has its size already, but is filled once more: each byte once. */
static bool a_fill_comes_first(struct issue *issue)
{
    uint64_t at = 0;

    if (issue->plan->run_count != 2)
        return false;
    ck_assert(issue_run(issue, 0, 0));
    for (uint32_t i = 0; i < issue->count; i++) {
        if (issue->ios[i].op != ENGINE_WRITE || issue->ios[i].offset != at)
            return false;
        at += issue->ios[i].length;
    }
    return at == 16 * MB;
}

static bool larger_drives_get_more(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    return share_is(issued_on(issue, 1), issue->count, 0.75);
}

/* a to its end, then b, then a again; 16 at a time. */
static bool it_walks_over_both(struct issue *issue)
{
    uint64_t at = 65536;
    uint16_t drive = 0;

    ck_assert(issue_run(issue, 0, 0));
    for (uint32_t i = 0; i < issue->count; i++) {
        const struct issued *io = &issue->ios[i];

        if (io->target != drive || io->offset != at)
            return false;
        at += io->length;
        if (at < (drive == 0 ? 20 : 60) * MB)
            continue;
        at = 65536;
        drive = !drive;
    }
    return issue->count > 2 * 80 * MB / 65536 &&
           issued_outstanding(issue) == 16;
}

/* Two hosts, each half of the whole, once: the first one's ends in b. */
static bool each_host_writes_half_once(struct issue *issue)
{
    uint64_t on[2][2];

    for (uint32_t host = 0; host < 2; host++) {
        ck_assert(issue_run(issue, 0, host));
        on[host][0] = issued_on(issue, 0);
        on[host][1] = issued_on(issue, 1);
    }
    /* 319 and 959 blocks of 64k; the second host's only drive is b. */
    return on[0][0] == 319 && on[0][1] == 320 && on[1][0] == 639 &&
           on[1][1] == 0;
}

static bool it_runs_twice(struct issue *issue)
{
    if (issue->plan->run_count != 2)
        return false;
    ck_assert(issue_run(issue, 1, 0));
    return issued_all_of(issue, 65536);
}

static bool it_begins_with_large_ones(struct issue *issue)
{
    ck_assert(issue_run(issue, 0, 0));
    return issued_all_of(issue, 65536);
}

/* Threads that the agent starts for its three drives, as it was told. */
static bool it_has_one_worker(struct issue *issue)
{
    const struct crew_options options = {.engine = "null:1ms"};
    struct job *job = issue_job(issue, 0, 0, 0);
    struct opened_target opened[3];
    struct crew *crew = NULL;
    struct diag diag = {0};
    uint32_t workers, asked, target;

    ck_assert_ptr_nonnull(job);
    ck_assert_uint_eq(job->target_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        opened[i] = (struct opened_target){.kind = INTERLOCK_CHARACTER,
                                           .logical_block = 1};
        opened[i].fd = open("/dev/null", O_RDWR | O_CLOEXEC);
        ck_assert_int_ge(opened[i].fd, 0);
    }
    ck_assert_msg(crew_new(job, opened, &options, clock_os(), UINT64_MAX, &crew,
                           &target, &diag) == 0,
                  "%s", diag.text);
    workers = crew_facts(crew).workers;
    asked = job->workers;
    crew_free(crew);
    job_free(job);
    for (uint32_t i = 0; i < 3; i++)
        (void)close(opened[i].fd);
    return asked == 1 && workers == 1;
}

static bool errors_are_limited(struct issue *issue)
{
    return issue->plan->max_errors == 7 &&
           issue->plan->max_errors_span_ns == 60 * NS_PER_S;
}

static const struct proof general[] = {
    PROOF("compratio", "@" ONCE, "compratio=4\n", three_quarters_compress),
    PROOF("compression", "@" ONCE, "compression=25\n", three_quarters_compress),
    PROOF("dedupratio", "@dedupunit=4k\n" ONCE, "dedupratio=4\n",
          a_quarter_is_different),
    PROOF("dedupunit", "dedupratio=4\n@" ONCE, "dedupunit=8k\n",
          whole_units_repeat),
    PROOF("dedupsets", "dedupratio=4\ndedupunit=4k\n@" ONCE, "dedupsets=1\n",
          one_piece_is_most),
    PROOF("dedup", "@" ONCE, "dedup=(ratio=4,unit=4k,sets=5%)\n",
          a_quarter_is_different),
    PROOF("dedup", "dedupunit=4k\n@" ONCE,
          "dedup=(ratio=4,hotsets=(1,300),flipflop=no)\n",
          one_set_has_hundreds),
    PROOF("deduphotsets", "dedupratio=4\ndedupunit=4k\n@" ONCE,
          "deduphotsets=(1,300)\n", one_set_has_hundreds),
    PROOF("dedupflipflop", "dedupratio=4\ndedupunit=4k\n@" ONCE,
          "dedupflipflop=yes\n", sets_have_two_contents),
    PROOF("dedupacross",
          "dedupratio=1.25\ndedupunit=4k\n@sd=a,lun=/dev/a_16\n"
          "sd=b,lun=/dev/b_16\nwd=w,sd=*,rdpct=0,seekpct=eof,xfersize=64k\n"
          "rd=r,wd=w,iorate=max,elapsed=60\n",
          "dedupacross=no\n", drives_are_alike),
    PROOF("pattern", "@" ONCE, "pattern=letters\n", it_writes_the_letters),
    PROOF("pattern",
          "formatsds=yes\n@sd=s,lun=/f,size=16m\nwd=w,sd=s\n"
          "rd=r,wd=w,iorate=9,elapsed=2\n",
          "pattern=letters\n", it_writes_the_letters),
    PROOF("data_errors", "@" ONCE, "data_errors=(7,60)\n", errors_are_limited),
    ELSEWHERE("data_errors", "unit/fleet/test_tally.c: errors past the limit"),
    PROOF("dataerrors", "@" ONCE, "dataerrors=(7,60)\n", errors_are_limited),
    ELSEWHERE("validate", "only no works; unit/language/test_parameters.c"),
    ELSEWHERE("journal", "only no works; unit/language/test_parameters.c"),
    PROOF("formatsds",
          "@sd=s,lun=/f,size=16m\nwd=w,sd=s\nrd=r,wd=w,iorate=9,elapsed=2\n",
          "formatsds=yes\n", a_fill_comes_first),
    PROOF("concatenatesds",
          "@sd=a,lun=/dev/a_20\nsd=b,lun=/dev/b_60\nwd=w,sd=*\n"
          "rd=r,wd=w,iorate=4000,elapsed=2,threads=16\n",
          "concatenatesds=yes\n", larger_drives_get_more),
    PROOF("concatenatesds",
          "@sd=a,lun=/dev/a_20\nsd=b,lun=/dev/b_60\n"
          "wd=w,sd=*,xfersize=64k,seekpct=seq\n"
          "rd=r,wd=w,iorate=max,elapsed=2,threads=16\n",
          "concatenatesds=yes\n", it_walks_over_both),
    PROOF("concatenatesds",
          "@hd=h1\nhd=h2\nsd=a,lun=/dev/a_20,host=*\n"
          "sd=b,lun=/dev/b_60,host=*\n"
          "wd=w,sd=*,xfersize=64k,seekpct=eof,rdpct=0\n"
          "rd=r,wd=w,iorate=max,elapsed=2,threads=16\n",
          "concatenatesds=yes\n", each_host_writes_half_once),
    PROOF("loop",
          "@sd=s,lun=/dev/x\nwd=w,sd=s,xfersize=64k\n"
          "rd=r,wd=w,iorate=max,elapsed=2\n",
          "loop=2\n", it_runs_twice),
    PROOF("loop",
          "@sd=s,lun=/dev/x\nwd=w,sd=s,xfersize=64k\n"
          "rd=r,wd=w,iorate=max,elapsed=2\n",
          "loop=4s\n", it_runs_twice),
    PROOF("first_rd",
          "@sd=s,lun=/dev/x\nwd=w,sd=s\nrd=default,iorate=max,elapsed=2\n"
          "rd=r1,wd=w\nrd=r2,wd=w,xfersize=64k\n",
          "first_rd=r2\n", it_begins_with_large_ones),
    PROOF("workers",
          "@sd=s,lun=/dev/x,count=(1,3)\nwd=w,sd=s*\n"
          "rd=r,wd=w,iorate=max,elapsed=2\n",
          "workers=1\n", it_has_one_worker),
    ELSEWHERE("histogram", "unit/results/test_export.c, "
                           "unit/report/test_vdbench.c"),
    ELSEWHERE("monitor", "integration/test_language.py"),
    ELSEWHERE("abort_failed_skew", "unit/fleet/test_tally.c, "
                                   "integration/test_language.py"),
    ELSEWHERE("startcmd", "integration/test_commands.py"),
    ELSEWHERE("start_cmd", "integration/test_commands.py"),
    ELSEWHERE("endcmd", "integration/test_commands.py"),
    ELSEWHERE("end_cmd", "integration/test_commands.py"),
    ELSEWHERE("heartbeat_error", "integration/test_commands.py"),
    ELSEWHERE("require", "integration/test_waiting.py"),
    ELSEWHERE("host_wait", "integration/test_waiting.py"),
    ELSEWHERE("drain_wait", "faults/test_drives.py"),
};

static const struct proof hosts[] = {
    ELSEWHERE("system", "unit/plan/test_hosts.c, integration/test_fleet.py"),
};

START_TEST(general_parameters_show_in_the_io)
{
    proof_check(&general[_i]);
}
END_TEST

START_TEST(all_that_work_are_proven)
{
    proof_check_section(SECTION_GENERAL, general, ARRAY_LENGTH(general));
    proof_check_section(SECTION_HD, hosts, ARRAY_LENGTH(hosts));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("proof_general");
    TCase *tests = tcase_create("proof_general");

    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, general_parameters_show_in_the_io, 0,
                        ARRAY_LENGTH(general));
    tcase_add_test(tests, all_that_work_are_proven);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
