/*
 * What the less common parameters become in a plan: pieces, places, shares,
 * rates, limits.  That the engine does it is tests/unit/agent's to show.
 */
#include "controller/plan/plan_text.h"
#include "tests/support/parm.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#define MIB (UINT64_C(1) << 20)

static struct plan_facts drive(uint64_t size, const char *serial)
{
    return (struct plan_facts){
        .is_block = true,
        .size_bytes = size,
        .logical_block = 512,
        .device = serial,
        .serial = serial,
    };
}

/* Expands, gives target i the size sizes[i] MiB (the last for the rest). */
static void place(struct parm *parm, const char *text, const uint64_t *sizes,
                  uint32_t count)
{
    parm_expand(parm, text, NULL);
    parm_assert_ok(parm);
    for (uint32_t i = 0; i < parm->plan->target_count; i++) {
        struct plan_facts facts = drive(sizes[i < count ? i : count - 1] * MIB,
                                        parm->plan->targets[i].path);

        ck_assert_int_eq(plan_set_facts(parm->plan, i, &facts), 0);
    }
    parm->err = plan_place(parm->plan, &parm->report);
    free(parm->messages);
    parm->messages = language_report_text(&parm->report);
}

static void place_one(struct parm *parm, const char *text)
{
    place(parm, text, (const uint64_t[]){100}, 1);
    parm_assert_ok(parm);
}

#define CELL(parm, i) ((parm).plan->runs[0].cells[i])

START_TEST(range_beyond_the_end_goes_on_from_the_beginning)
{
    struct parm parm;

    place_one(&parm, "sd=s,lun=/dev/x,range=(90,110)\nrd=r,sd=s,iorate=max\n");
    ck_assert_uint_eq(CELL(parm, 0).low, 90 * MIB);
    ck_assert_uint_eq(CELL(parm, 0).high, 100 * MIB);
    ck_assert_uint_eq(CELL(parm, 0).wrap_low, 4096); /* never block 0 */
    ck_assert_uint_eq(CELL(parm, 0).wrap_high, 10 * MIB);
    parm_done(&parm);
}
END_TEST

START_TEST(offset_moves_the_region)
{
    struct parm parm;

    place_one(&parm, "sd=s,lun=/dev/x,offset=512\nrd=r,sd=s,iorate=max\n");
    ck_assert_uint_eq(CELL(parm, 0).low, 4096 + 512);
    ck_assert_uint_eq(CELL(parm, 0).high, 100 * MIB);
    ck_assert_uint_eq(CELL(parm, 0).shift, 512);
    parm_done(&parm);
}
END_TEST

START_TEST(hitarea_is_in_whole_transfers)
{
    struct parm parm;

    place_one(&parm, "sd=s,lun=/dev/x,hitarea=1000k\n"
                     "wd=w,sd=s,xfersize=64k,rhpct=50\nrd=r,wd=w,iorate=max\n");
    ck_assert_uint_eq(CELL(parm, 0).hit_area, 16 * 65536);
    ck_assert(parm.plan->runs[0].workloads[0].read_hit_percent == 50);
    parm_done(&parm);
}
END_TEST

START_TEST(loops_over_hits_change_workload_and_area)
{
    const struct plan_run *runs;
    struct parm parm;

    place_one(&parm, "sd=s,lun=/dev/x\nwd=w,sd=s\n"
                     "rd=r,wd=w,iorate=max,forrhpct=(0,80),"
                     "forhitarea=(1m,2m),forcompratio=(1,3)\n");
    runs = parm.plan->runs;
    ck_assert_uint_eq(parm.plan->run_count, 8);
    ck_assert(runs[0].workloads[0].read_hit_percent == 0);
    ck_assert(runs[4].workloads[0].read_hit_percent == 80);
    ck_assert_uint_eq(runs[4].cells[0].hit_area, MIB);
    ck_assert_uint_eq(runs[6].cells[0].hit_area, 2 * MIB);
    ck_assert(runs[0].compression == 1 && runs[1].compression == 3);
    parm_done(&parm);
}
END_TEST

/* The old form says what is left; general and on rd= alike, once is enough. */
START_TEST(compression_is_what_is_left_in_per_cent)
{
    const struct plan_run *runs;
    struct parm parm;

    place_one(&parm, "compression=80\nsd=s,lun=/dev/x\nwd=w,sd=s\n"
                     "rd=r,wd=w,iorate=max\n"
                     "rd=f,wd=w,iorate=max,forcompression=(100,30,25)\n"
                     "rd=l,wd=w,iorate=max,compratio=2,compression=50\n");
    runs = parm.plan->runs;
    ck_assert_uint_eq(parm.plan->run_count, 5);
    ck_assert(runs[0].compression == 1.25);
    ck_assert(runs[1].compression == 1 && runs[2].compression == 3.333 &&
              runs[3].compression == 4);
    ck_assert_str_eq(runs[3].for_text, "comp=4");
    ck_assert(runs[4].compression == 2);
    parm_done(&parm);
}
END_TEST

/* 100 and 300 MiB: a band over 10 .. 50 % of all is MiB 40 .. 200. */
START_TEST(hotband_takes_all_sds_as_one)
{
    struct parm parm;

    place(&parm,
          "sd=a,lun=/dev/a\nsd=b,lun=/dev/b\nwd=w,sd=*,hotband=(10,50)\n"
          "rd=r,wd=w,iorate=100\n",
          (const uint64_t[]){100, 300}, 2);
    parm_assert_ok(&parm);
    ck_assert_uint_eq(CELL(parm, 0).low, 40 * MIB);
    ck_assert_uint_eq(CELL(parm, 0).high, 100 * MIB);
    ck_assert_uint_eq(CELL(parm, 1).low, 4096);
    ck_assert_uint_eq(CELL(parm, 1).high, 100 * MIB);
    ck_assert(fabs(CELL(parm, 0).band_high - 60.0 / 160) < 1e-9);
    ck_assert(fabs(CELL(parm, 0).share - sqrt(60.0 / 160)) < 1e-9);
    ck_assert(fabs(CELL(parm, 0).share + CELL(parm, 1).share - 1) < 1e-9);
    parm_done(&parm);
}
END_TEST

START_TEST(what_lies_outside_a_band_is_idle)
{
    struct parm parm;

    place(&parm,
          "sd=a,lun=/dev/a\nsd=b,lun=/dev/b\nwd=w,sd=*,hotband=(0,50)\n"
          "rd=r,wd=w,iorate=100\n",
          (const uint64_t[]){100}, 1);
    parm_assert_ok(&parm);
    ck_assert(!CELL(parm, 0).idle && CELL(parm, 0).share == 1);
    ck_assert(CELL(parm, 1).idle && CELL(parm, 1).share == 0);
    parm_done(&parm);
}
END_TEST

START_TEST(concatenated_sds_share_by_size)
{
    struct parm parm;

    place(&parm,
          "concatenatesds=yes\nsd=a,lun=/dev/a\nsd=b,lun=/dev/b\n"
          "wd=w,sd=*,threads=16\nrd=r,wd=w,iorate=100\n",
          (const uint64_t[]){100, 300}, 2);
    parm_assert_ok(&parm);
    ck_assert(fabs(CELL(parm, 0).share - 0.25) < 0.001);
    ck_assert(fabs(CELL(parm, 1).share - 0.75) < 0.001);
    ck_assert_uint_eq(parm.plan->runs[0].targets[0].threads, 4);
    ck_assert_uint_eq(parm.plan->runs[0].targets[1].threads, 12);
    parm_done(&parm);
}
END_TEST

/* One sequence: the first drive has its rate and threads. */
START_TEST(concatenated_sds_have_one_sequence)
{
    struct parm parm;

    place(&parm,
          "concatenatesds=yes\nsd=a,lun=/dev/a\nsd=b,lun=/dev/b\n"
          "wd=w,sd=*,threads=16,seekpct=seq\nrd=r,wd=w,iorate=100\n",
          (const uint64_t[]){100, 300}, 2);
    parm_assert_ok(&parm);
    ck_assert_double_eq_tol(CELL(parm, 0).share, 1, 1e-9);
    ck_assert_uint_eq(CELL(parm, 0).joins, 0);
    ck_assert_double_eq(CELL(parm, 1).share, 0);
    ck_assert_uint_eq(CELL(parm, 1).joins, 1);
    ck_assert_uint_eq(CELL(parm, 1).high, 300 * MIB);
    ck_assert_uint_eq(parm.plan->runs[0].targets[0].threads, 16);
    parm_done(&parm);
}
END_TEST

static void check_table(const struct parm *parm, const char *says)
{
    char *table = plan_text_table(parm->plan);

    ck_assert_ptr_nonnull(table);
    ck_assert_msg(strstr(table, says) != NULL, "not in the plan: %s\n%s", says,
                  table);
    free(table);
}

/* Two hosts with the same three drives of 10 MiB: half of all is in the midst
 * of the second. */
START_TEST(hosts_have_one_slice_each_of_all_concatenated_sds)
{
    const struct plan_cell *cells;
    struct parm parm;

    place(&parm,
          "concatenatesds=yes\nhd=h1\nhd=h2\n"
          "sd=a,lun=/dev/a,host=*\nsd=b,lun=/dev/b,host=*\n"
          "sd=c,lun=/dev/c,host=*\n"
          "wd=w,sd=*,threads=16,seekpct=eof,rdpct=0\n"
          "rd=r,wd=w,iorate=max\n",
          (const uint64_t[]){10}, 1);
    parm_assert_ok(&parm);
    cells = parm.plan->runs[0].cells;
    ck_assert_uint_eq(parm.plan->runs[0].cell_count, 6);
    /* a: all of it is the first host's. */
    ck_assert_uint_eq(cells[0].low, 4096);
    ck_assert_uint_eq(cells[0].high, 10 * MIB);
    ck_assert(cells[1].idle);
    /* b: both have of it; block 0 of each drive is nobody's. */
    ck_assert_uint_eq(cells[2].low, 4096);
    ck_assert_uint_eq(cells[2].high, cells[3].low);
    ck_assert_uint_eq(cells[3].high, 10 * MIB);
    ck_assert_uint_eq(cells[2].joins, 1);
    ck_assert_uint_eq(cells[3].joins, 0);
    ck_assert_uint_le(
        cells[0].high - cells[0].low + cells[2].high - cells[2].low, 15 * MIB);
    /* c: the second host's, after its part of b. */
    ck_assert(cells[4].idle);
    ck_assert_uint_eq(cells[5].joins, 4);
    ck_assert_double_eq_tol(cells[0].share + cells[3].share, 1, 1e-9);
    ck_assert_double_eq_tol(cells[0].share, 0.5, 0.01);
    ck_assert_uint_eq(parm.plan->runs[0].targets[cells[3].target].threads, 8);
    check_table(&parm,
                "r  wd=w  sd=b  host=h1  4096 - 5242880 (slice 1 of 2 of "
                "all sds)  continues sd=a\n");
    check_table(&parm, "r  wd=w  sd=c  host=h1  nothing\n");
    check_table(&parm, "r  wd=w  sd=b  host=h2  5242880 - 10485760 (slice 2 of "
                       "2 of all sds)\n");
    parm_done(&parm);
}
END_TEST

START_TEST(a_sequence_writes_units_of_one_size)
{
    static const char *const says[] = {"dedupunit= is 8192 here and 4096 there",
                                       NULL};
    struct parm parm;
    char text[512];

    (void)snprintf(text, sizeof(text),
                   "concatenatesds=yes\n"
                   "sd=a,lun=/dev/a,dedupratio=2,dedupunit=4k\n"
                   "sd=b,lun=/dev/b,dedupratio=2,dedupunit=8k\n"
                   "wd=w,sd=*,threads=2,seekpct=seq,xfersize=64k,rdpct=%d\n"
                   "rd=r,wd=w,iorate=max\n",
                   _i == 0 ? 0 : 100);
    place(&parm, text, (const uint64_t[]){10}, 1);
    if (says[_i] != NULL)
        parm_assert_says(&parm, says[_i]);
    else
        parm_assert_ok(&parm);
    parm_done(&parm);
}
END_TEST

/* Where hosts have different drives, those of one host are one sequence, and
 * what they share is cut. */
START_TEST(hosts_with_different_drives_walk_their_own)
{
    const struct plan_cell *cells;
    struct parm parm;

    place(&parm,
          "concatenatesds=yes\nhd=h1\nhd=h2\n"
          "sd=a,lun=/dev/a,host=h1\nsd=b,lun=/dev/b,host=*\n"
          "wd=w,sd=*,threads=16,seekpct=seq\nrd=r,wd=w,iorate=max\n",
          (const uint64_t[]){10}, 1);
    parm_assert_ok(&parm);
    cells = parm.plan->runs[0].cells;
    ck_assert_uint_eq(parm.plan->runs[0].cell_count, 3);
    ck_assert_uint_eq(cells[0].high, 10 * MIB);
    ck_assert_uint_eq(cells[1].joins, 1);
    ck_assert_uint_eq(cells[1].high, cells[2].low);
    ck_assert_uint_eq(cells[2].joins, 0);
    ck_assert_uint_eq(cells[2].high, 10 * MIB);
    ck_assert_double_eq_tol(cells[0].share, 0.75, 0.01);
    parm_done(&parm);
}
END_TEST

START_TEST(rates_of_workloads_stand_beside_the_runs_rate)
{
    const struct plan_run *run;
    struct parm parm;

    place_one(&parm, "sd=s,lun=/dev/x\nwd=a,sd=s,priority=1,iorate=200\n"
                     "wd=b,sd=s,priority=2\nrd=r,wd=*,iorate=(1000,max)\n");
    run = &parm.plan->runs[0];
    ck_assert(plan_cell_rate(run, &run->cells[0], 1000) == 200);
    ck_assert(plan_cell_rate(run, &run->cells[1], 1000) == 1000);
    run = &parm.plan->runs[1];
    ck_assert(plan_cell_rate(run, &run->cells[0], 0) == 200);
    ck_assert(plan_cell_rate(run, &run->cells[1], 0) == 0);
    ck_assert_uint_eq(run->workloads[1].priority, 2);
    parm_done(&parm);
}
END_TEST

static const struct {
    const char *file;
    const char *says;
} refused[] = {
    {"sd=s,lun=/x\nwd=a,sd=s,priority=1\nwd=b,sd=s\nrd=r,wd=*,iorate=1\n",
     "wd=b has no priority="},
    {"sd=s,lun=/x\nwd=a,sd=s,iorate=5\nrd=r,wd=a,iorate=max\n",
     "wd=a has no priority="},
    {"sd=s,lun=/x\nwd=a,sd=s,iorate=5,priority=1,skew=5\nrd=r,wd=a,iorate=9\n",
     "skew= does not go with an iorate= of wd="},
};

START_TEST(priorities_are_all_or_none)
{
    struct parm parm;

    parm_expand(&parm, refused[_i].file, NULL);
    ck_assert_int_eq(parm.err, -EINVAL);
    parm_assert_says(&parm, refused[_i].says);
    parm_done(&parm);
}
END_TEST

/* An I/O rate from bytes: 100 MiB/s of 64 KiB each are 1600 a second. */
START_TEST(throughput_becomes_a_rate)
{
    struct parm parm;

    place_one(&parm, "sd=s,lun=/dev/x\nwd=w,sd=s,xfersize=(32k,50,96k,50)\n"
                     "rd=r,wd=w,iorate=(100MiB/s,10,1GB/s)\n");
    ck_assert_uint_eq(parm.plan->run_count, 3);
    ck_assert(parm.plan->runs[0].rate.value == 1600);
    ck_assert(parm.plan->runs[1].rate.value == 10);
    ck_assert(parm.plan->runs[2].rate.value == 16384);
    parm_done(&parm);
}
END_TEST

START_TEST(variable_is_one_run_with_steps)
{
    const struct plan_run *run;
    struct parm parm;

    place_one(&parm, "sd=s,lun=/dev/x\nrd=r,sd=s,iorate=(100,10,400,5),"
                     "distribution=(variable,spike),arrival_precision=spin\n");
    ck_assert_uint_eq(parm.plan->run_count, 1);
    run = &parm.plan->runs[0];
    ck_assert(run->rate.value == 200);
    ck_assert_uint_eq(run->step_count, 2);
    ck_assert(run->steps[1].rate == 400);
    ck_assert_uint_eq(run->steps[1].duration_ns, 5 * NS_PER_S);
    ck_assert(run->spike);
    ck_assert_uint_eq(run->spin_percent, 30);
    parm_done(&parm);
}
END_TEST

START_TEST(maxdata_counts_each_sd_once)
{
    struct parm parm;

    place(&parm,
          "sd=a,lun=/dev/a\nsd=b,lun=/dev/b\n"
          "rd=r,sd=*,iorate=max,maxdata=2,maxdataread=5g,maxdatawritten=50%\n",
          (const uint64_t[]){100, 300}, 2);
    parm_assert_ok(&parm);
    ck_assert_uint_eq(parm.plan->runs[0].max_bytes, 800 * MIB);
    ck_assert_uint_eq(parm.plan->runs[0].max_bytes_read, 5120 * MIB);
    ck_assert_uint_eq(parm.plan->runs[0].max_bytes_written, 200 * MIB);
    parm_assert_says(&parm, "maxdata=2 means 2 times");
    parm_done(&parm);
}
END_TEST

START_TEST(repeat_and_loop)
{
    static const char *const names[] = {"a", "a", "b", "b"};
    struct parm parm;

    place_one(&parm, "loop=2\nsd=s,lun=/dev/x\n"
                     "rd=a,sd=s,iorate=max,repeat=2\nrd=b,sd=s,iorate=(1,2)\n");
    ck_assert_uint_eq(parm.plan->run_count, 8);
    for (uint32_t i = 0; i < 8; i++)
        ck_assert_str_eq(parm.plan->runs[i].rd, names[i % 4]);
    ck_assert_uint_eq(parm.plan->runs[7].cells[0].high, 100 * MIB);
    parm_done(&parm);
}
END_TEST

/* 30 s each: in five minutes they begin ten times. */
START_TEST(loop_for_a_time)
{
    struct parm parm;

    place_one(&parm, "loop=5m\nsd=s,lun=/dev/x\nrd=a,sd=s,iorate=max\n");
    ck_assert_uint_eq(parm.plan->run_count, 10);
    parm_done(&parm);
}
END_TEST

/* One sd on two hosts, whose serial numbers differ. */
START_TEST(one_sd_is_one_drive)
{
    static const char text[] = "hd=h1\nhd=h2\nsd=s,lun=/dev/nvme0n1\n"
                               "rd=r,sd=s,iorate=max\n";
    struct plan_facts facts[2] = {drive(100 * MIB, "S1"),
                                  drive(100 * MIB, "S2")};
    struct parm parm;

    parm_expand(&parm, text, NULL);
    ck_assert_uint_eq(parm.plan->target_count, 2);
    for (uint32_t i = 0; i < 2; i++)
        ck_assert_int_eq(plan_set_facts(parm.plan, i, &facts[i]), 0);
    parm.err = plan_place(parm.plan, &parm.report);
    free(parm.messages);
    parm.messages = language_report_text(&parm.report);
    ck_assert_int_eq(parm.err, -EINVAL);
    parm_assert_says(&parm, "one sd is one drive");
    parm_assert_says(&parm, "S2");
    parm_done(&parm);
}
END_TEST

START_TEST(shared_sequential_work_has_disjoint_slices)
{
    struct parm parm;

    parm_expand(&parm,
                "hd=h1\nhd=h2\nhd=h3\nsd=s,lun=/dev/x\n"
                "wd=w,sd=s,seekpct=eof,rdpct=0\nrd=r,wd=w,iorate=max\n",
                NULL);
    for (uint32_t i = 0; i < 3; i++) {
        struct plan_facts facts = drive(100 * MIB, "S1");

        ck_assert_int_eq(plan_set_facts(parm.plan, i, &facts), 0);
    }
    ck_assert_int_eq(plan_place(parm.plan, &parm.report), 0);
    ck_assert_uint_eq(CELL(parm, 0).low, 4096);
    ck_assert_uint_eq(CELL(parm, 0).high, CELL(parm, 1).low);
    ck_assert_uint_eq(CELL(parm, 1).high, CELL(parm, 2).low);
    ck_assert_uint_eq(CELL(parm, 2).high, 100 * MIB);
    parm_done(&parm);
}
END_TEST

static const struct {
    const char *rd;
    double mib;
    uint32_t open_ended;
} writes[] = {
    {"wd=w,sd=s,rdpct=0,xfersize=64k\nrd=r,wd=w,iorate=16,elapsed=10", 10, 0},
    {"wd=w,sd=s,rdpct=75,xfersize=64k\nrd=r,wd=w,iorate=16,elapsed=10", 2.5, 0},
    {"wd=w,sd=s,rdpct=0\nrd=r,wd=w,iorate=max,elapsed=10", 0, 1},
    {"wd=w,sd=s,rdpct=100\nrd=r,wd=w,iorate=max,elapsed=10", 0, 0},
    /* Each block once, but for the first: less 64 KiB of 100 MiB. */
    {"wd=w,sd=s,rdpct=0,seekpct=eof,xfersize=64k\n"
     "rd=r,wd=w,iorate=max,elapsed=10",
     99.9375, 0},
    {"wd=w,sd=s,rdpct=0,seekpct=eof,xfersize=64k\n"
     "rd=r,wd=w,iorate=16,elapsed=10",
     10, 0},
    {"wd=w,sd=s,rdpct=0\nrd=r,wd=w,iorate=max,elapsed=10,maxdata=30m", 30, 0},
    {"wd=w,sd=s,rdpct=0\nrd=r,wd=w,iorate=max,elapsed=10,maxdatawritten=50%",
     50, 0},
};

START_TEST(what_will_be_written_is_known_where_it_has_an_end)
{
    uint32_t open_ended;
    char text[512] = "";
    struct parm parm;
    double bytes;

    parm_append(text, sizeof(text), "sd=s,lun=/dev/x\n%s\n", writes[_i].rd);
    place_one(&parm, text);
    bytes = plan_written_bytes(parm.plan, &open_ended);
    ck_assert_msg(fabs(bytes / (double)MIB - writes[_i].mib) < 0.01, "%f",
                  bytes / (double)MIB);
    ck_assert_uint_eq(open_ended, writes[_i].open_ended);
    parm_done(&parm);
}
END_TEST

/* The drives of one bucket share their sets; an sd with a ratio of its own has
 * a bucket of its own. */
START_TEST(duplicates_are_shared_by_all_drives_together)
{
    const struct plan_target *targets;
    struct parm parm;

    place(&parm,
          "dedup=(ratio=2,unit=4k,hotsets=(5,3,2,10))\n"
          "sd=a,lun=/dev/a\nsd=b,lun=/dev/b\nsd=c,lun=/dev/c,dedupratio=4\n"
          "wd=w,sd=*,rdpct=0\nrd=r,wd=w,iorate=100\n",
          (const uint64_t[]){100, 300, 100}, 3);
    parm_assert_ok(&parm);
    targets = parm.plan->targets;
    /* 5 % of 400 MiB; 5 % of 100 MiB. */
    ck_assert_uint_eq(targets[0].dedup.contents, 400 * 256 / 20);
    ck_assert_uint_eq(targets[1].dedup.contents, 400 * 256 / 20);
    ck_assert_uint_eq(targets[2].dedup.contents, 100 * 256 / 20);
    ck_assert(targets[0].dedup.bucket == targets[1].dedup.bucket);
    ck_assert(targets[0].dedup.bucket != targets[2].dedup.bucket);
    ck_assert_uint_eq(targets[1].dedup.hot_first, 1);
    ck_assert_uint_eq(targets[1].dedup.hot_every, 2);
    ck_assert(fabs(targets[1].dedup.unique - 0.45) < 0.001);
    ck_assert(fabs(targets[2].dedup.unique - 0.2) < 0.001);
    parm_done(&parm);
    place(&parm,
          "dedup=(ratio=2,unit=4k,sets=7,hotsets=(5,3,2,10))\n"
          "sd=a,lun=/dev/a\nwd=w,sd=*,rdpct=0\nrd=r,wd=w,iorate=100\n",
          (const uint64_t[]){100}, 1);
    ck_assert_int_eq(parm.err, -EINVAL);
    parm_assert_says(&parm, "deduphotsets= asks for 7 sets, but dedupsets= "
                            "makes 7 in all");
    parm_done(&parm);
}
END_TEST

/* Both pieces of a range that wraps are cut as one: 10 MiB at the end and 20
 * at the beginning, without block 0. */
START_TEST(slices_of_a_range_that_wraps)
{
    const struct plan_cell *cells;
    struct parm parm;

    parm_expand(&parm,
                "hd=h1\nhd=h2\nhd=h3\nhd=h4\nsd=s,lun=/dev/x,range=(90,120)\n"
                "wd=w,sd=s,seekpct=eof,rdpct=0\nrd=r,wd=w,iorate=max\n",
                NULL);
    for (uint32_t i = 0; i < 4; i++) {
        struct plan_facts facts = drive(100 * MIB, "S1");

        ck_assert_int_eq(plan_set_facts(parm.plan, i, &facts), 0);
    }
    ck_assert_int_eq(plan_place(parm.plan, &parm.report), 0);
    cells = parm.plan->runs[0].cells;
    ck_assert_uint_eq(cells[0].low, 90 * MIB);
    ck_assert_uint_eq(cells[0].wrap_high, 0);
    ck_assert_uint_eq(cells[0].high, cells[1].low);
    ck_assert_uint_eq(cells[1].high, 100 * MIB);
    ck_assert_uint_eq(cells[1].wrap_low, 4096);
    ck_assert_uint_eq(cells[1].wrap_high, cells[2].low);
    ck_assert_uint_eq(cells[2].wrap_high, 0);
    ck_assert_uint_eq(cells[2].high, cells[3].low);
    ck_assert_uint_eq(cells[3].high, 20 * MIB);
    ck_assert_uint_eq(cells[3].wrap_high, 0);
    parm_done(&parm);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shape");
    TCase *cases = tcase_create("shape");

    tcase_add_test(cases, range_beyond_the_end_goes_on_from_the_beginning);
    tcase_add_test(cases, offset_moves_the_region);
    tcase_add_test(cases, hitarea_is_in_whole_transfers);
    tcase_add_test(cases, loops_over_hits_change_workload_and_area);
    tcase_add_test(cases, compression_is_what_is_left_in_per_cent);
    tcase_add_test(cases, hotband_takes_all_sds_as_one);
    tcase_add_test(cases, what_lies_outside_a_band_is_idle);
    tcase_add_test(cases, concatenated_sds_share_by_size);
    tcase_add_test(cases, concatenated_sds_have_one_sequence);
    tcase_add_test(cases, hosts_have_one_slice_each_of_all_concatenated_sds);
    tcase_add_test(cases, hosts_with_different_drives_walk_their_own);
    tcase_add_loop_test(cases, a_sequence_writes_units_of_one_size, 0, 2);
    tcase_add_test(cases, rates_of_workloads_stand_beside_the_runs_rate);
    tcase_add_loop_test(cases, priorities_are_all_or_none, 0,
                        ARRAY_LENGTH(refused));
    tcase_add_test(cases, throughput_becomes_a_rate);
    tcase_add_test(cases, variable_is_one_run_with_steps);
    tcase_add_test(cases, maxdata_counts_each_sd_once);
    tcase_add_test(cases, repeat_and_loop);
    tcase_add_test(cases, loop_for_a_time);
    tcase_add_test(cases, one_sd_is_one_drive);
    tcase_add_test(cases, shared_sequential_work_has_disjoint_slices);
    tcase_add_loop_test(cases,
                        what_will_be_written_is_known_where_it_has_an_end, 0,
                        ARRAY_LENGTH(writes));
    tcase_add_test(cases, duplicates_are_shared_by_all_drives_together);
    tcase_add_test(cases, slices_of_a_range_that_wraps);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
