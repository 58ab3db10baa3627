/*
 * Facts about targets to sizes, regions and the fill.
 */
#include "tests/support/parm.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

static struct plan_facts drive(uint64_t size)
{
    return (struct plan_facts){
        .is_block = true,
        .size_bytes = size,
        .logical_block = 512,
        .device = "/dev/drive",
        .serial = "S1",
    };
}

static struct plan_facts file(uint64_t size, bool ours)
{
    return (struct plan_facts){
        .size_bytes = size,
        .logical_block = 1,
        .ours = ours,
        .device = "/mnt/file",
    };
}

static struct plan_facts missing(void)
{
    return (struct plan_facts){.missing = true, .logical_block = 1};
}

/* Expands, gives every target the same facts, places. */
static void place(struct parm *parm, const char *text,
                  const struct plan_facts *facts)
{
    parm_expand(parm, text, NULL);
    parm_assert_ok(parm);
    for (uint32_t i = 0; i < parm->plan->target_count; i++)
        ck_assert_int_eq(plan_set_facts(parm->plan, i, facts), 0);
    parm->err = plan_place(parm->plan, &parm->report);
    free(parm->messages);
    parm->messages = language_report_text(&parm->report);
}

/* One sd, one workload: where it may go. */
static const struct {
    const char *sd;
    const char *wd;
    uint64_t size;
    uint64_t low;
    uint64_t high;
} regions[] = {
    /* A device keeps its first transfer; its end is where it ends. */
    {"", "", GIB, 4096, GIB},
    {"", ",xfersize=64k", GIB, 65536, GIB},
    {"", ",xfersize=(4k,50,1m,50)", GIB, MIB, GIB},
    {"", "", GIB + 512, 4096, GIB + 512},
    {",size=1m", "", GIB, 4096, MIB},
    /* Ranges: of the drive, in per cent or bytes; wd= before sd=. */
    {",range=(0,50)", "", GIB, 4096, GIB / 2},
    {",range=(50,100)", "", GIB, GIB / 2, GIB},
    {",range=(10,20)", "", 1000 * MIB, 100 * MIB, 200 * MIB},
    {",range=(0,50)", ",range=(50,75)", GIB, GIB / 2, GIB / 4 * 3},
    {",range=(1m,2m)", "", GIB, MIB, 2 * MIB},
    {",range=(50,1g)", "", GIB, GIB / 2, GIB},
    {",range=(0%,25%)", "", GIB, 4096, GIB / 4},
};

START_TEST(test_regions)
{
    struct plan_facts facts = drive(regions[_i].size);
    char text[512];
    struct parm parm;

    snprintf(text, sizeof(text),
             "sd=s,lun=/dev/x%s\nwd=w,sd=s%s\nrd=r,wd=w,iorate=max\n",
             regions[_i].sd, regions[_i].wd);
    place(&parm, text, &facts);
    parm_assert_ok(&parm);
    ck_assert_uint_eq(parm.plan->runs[0].cells[0].low, regions[_i].low);
    ck_assert_uint_eq(parm.plan->runs[0].cells[0].high, regions[_i].high);
    parm_done(&parm);
}
END_TEST

/* A file may use its first block. */
START_TEST(test_file_region)
{
    struct plan_facts facts = file(MIB, false);
    struct parm parm;

    place(&parm, "sd=s,lun=/f\nrd=r,sd=s,iorate=max\n", &facts);
    parm_assert_ok(&parm);
    ck_assert_uint_eq(parm.plan->runs[0].cells[0].low, 0);
    ck_assert_uint_eq(parm.plan->runs[0].cells[0].high, MIB);
    ck_assert_uint_eq(parm.plan->targets[0].size_bytes, MIB);
    parm_done(&parm);
}
END_TEST

/*
 * A 10 GB volume cut in per cent by hosts with different transfer sizes: one
 * edge, whatever is transferred, and no byte in two ranges.
 */
START_TEST(case_K01_one_edge)
{
    struct plan_facts facts = drive(UINT64_C(2441472) * 4096);
    struct parm parm;
    uint64_t edge = 0;

    facts.logical_block = 4096;
    place(&parm,
          "sd=s,lun=/dev/x\n"
          "wd=a,sd=s,range=(0,1),xfersize=4k\n"
          "wd=b,sd=s,range=(1,100),xfersize=1m\n"
          "wd=c,sd=s,range=(1,100),xfersize=4k\n"
          "rd=r1,wd=(a,b),iorate=max\n"
          "rd=r2,wd=c,iorate=max,forxfersize=(4k,64k)\n"
          "rd=r3,wd=a,iorate=max,forxfersize=(4k-1m,d)\n",
          &facts);
    parm_assert_ok(&parm);
    for (uint32_t i = 0; i < parm.plan->run_count; i++) {
        const struct plan_run *run = &parm.plan->runs[i];

        for (uint32_t k = 0; k < run->cell_count; k++) {
            const struct plan_cell *cell = &run->cells[k];
            bool first = cell->range.low == 0;
            uint64_t here = first ? cell->high : cell->low;

            if (edge == 0)
                edge = here;
            ck_assert_uint_eq(here, edge);
        }
    }
    ck_assert_uint_eq(edge % MIB, 0);
    parm_done(&parm);
}
END_TEST

/* Slices of hosts: disjoint, next to each other, all of it. */
START_TEST(test_slices)
{
    struct plan_facts facts = drive(GIB + 12345 * 512);
    struct parm parm;
    const struct plan_run *run;
    uint64_t at = 256 * 1024;

    place(&parm,
          "hd=a\nhd=b\nhd=c\nsd=s,lun=/dev/x\n"
          "wd=w,sd=s,seekpct=eof,xfersize=256k,rdpct=0\n"
          "rd=r,wd=w,iorate=max\n",
          &facts);
    parm_assert_ok(&parm);
    run = &parm.plan->runs[0];
    ck_assert_uint_eq(run->cell_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(run->cells[i].low, at);
        ck_assert_uint_eq(run->cells[i].low % (256 * 1024), 0);
        at = run->cells[i].high;
    }
    ck_assert_uint_eq(at, facts.size_bytes);
    parm_done(&parm);
}
END_TEST

/* ---- what cannot be ---- */

static const struct {
    const char *text;
    struct plan_facts facts;
    const char *says;
} refused[] = {
    {"sd=s,lun=/dev/x\nrd=r,sd=s,iorate=max\n",
     {.missing = true},
     "t.parm:1:10: error: sd=s on host localhost: /dev/x: there is no such "
     "drive"},
    {"sd=s,lun=/dev/x,size=1g\nrd=r,sd=s,iorate=max\n",
     {.missing = true},
     "there is no such drive"},
    {"sd=s,lun=/f\nrd=r,sd=s,iorate=max\n",
     {.missing = true},
     "/f: there is no such file; with size= it would be made"},
    {"sd=s,lun=/f,size=10g\nrd=r,sd=s,iorate=max\n",
     {.missing = true, .free_bytes = 1u << 30},
     "the file system has 1073741824 bytes free, size= asks for 10737418240"},
    {"sd=s,lun=/dev/x,size=2g\nrd=r,sd=s,iorate=max\n",
     {.is_block = true, .size_bytes = 1u << 30},
     "size= asks for 2147483648 bytes, the drive has 1073741824"},
    {"sd=s,lun=/dev/x\nrd=r,sd=s,iorate=max\n",
     {.is_block = true},
     "the drive has no size"},
    {"sd=s,lun=/dev/x\nrd=r,sd=s,iorate=max\n",
     {.is_block = true,
      .size_bytes = 1u << 30,
      .refusal = "mounted on /; unmount it first"},
     "/dev/x: mounted on /; unmount it first"},
    {"sd=s,lun=/f\nrd=r,sd=s,iorate=max\n",
     {.size_bytes = 0},
     "the file is empty"},
    {"sd=s,lun=/f,size=2g\nrd=r,sd=s,iorate=max\n",
     {.size_bytes = 1u << 30},
     "Lockstep did not make it and does not extend it"},
    {"sd=s,lun=/f,size=2g\nrd=r,sd=s,iorate=max\n",
     {.size_bytes = 1u << 30, .ours = true, .free_bytes = 1000},
     "the file system has 1000 bytes free, size= asks for 1073741824 more"},
    {"sd=s,lun=/dev/null\nrd=r,sd=s,iorate=max\n",
     {.is_character = true},
     "this device has no size: give size="},
    {"sd=s,lun=/dev/x\nrd=r,sd=s,iorate=max,xfersize=1m\n",
     {.is_block = true, .size_bytes = 1u << 20},
     "too small: a region of 0 bytes for wd=rd=r, whose largest transfer is "
     "1048576 (the first is never touched on a device)"},
    {"sd=s,lun=/f,range=(10,11)\nrd=r,sd=s,iorate=max,xfersize=64k\n",
     {.size_bytes = 1u << 20},
     "too small: a region of 0 bytes"},
    {"sd=s,lun=/f,range=(0,2g)\nrd=r,sd=s,iorate=max\n",
     {.size_bytes = 1u << 20},
     "range= ends at 2147483648, the drive has 1048576 bytes"},
    {"hd=a\nhd=b\nsd=s,lun=/f\n"
     "rd=r,sd=s,iorate=max,seekpct=0,xfersize=1m\n",
     {.size_bytes = 1u << 20},
     "too small: its slice of 0 bytes"},
};

START_TEST(test_refused)
{
    struct parm parm;

    place(&parm, refused[_i].text, &refused[_i].facts);
    ck_assert_int_eq(parm.err, -EINVAL);
    parm_assert_says(&parm, refused[_i].says);
    ck_assert_uint_le(parm.report.errors, parm.plan->target_count);
    parm_done(&parm);
}
END_TEST

/* A target that nobody asked about is no target. */
START_TEST(test_unknown)
{
    struct parm parm;

    parm_expand(&parm, "sd=s,lun=/dev/x\nrd=r,sd=s,iorate=max\n", NULL);
    ck_assert_int_eq(plan_place(parm.plan, &parm.report), -EINVAL);
    ck_assert_str_eq(parm.report.messages[parm.report.count - 1].text,
                     "sd=s on host localhost: /dev/x: its host has not told "
                     "about it");
    parm_done(&parm);
}
END_TEST

/* Sizes that are no blocks of the drive, fixed or mixed: cases G03 and G04. */
START_TEST(case_G04_transfers_in_blocks)
{
    struct plan_facts facts = drive(GIB);
    struct parm parm;

    facts.logical_block = 4096;
    place(&parm,
          "sd=s,lun=/dev/x,openflags=o_direct\n"
          "wd=w,sd=s,xfersize=(4k,50,30720,50)\nrd=r,wd=w,iorate=max\n",
          &facts);
    ck_assert_int_eq(parm.err, -EINVAL);
    ck_assert_uint_eq(parm.report.errors, 1);
    parm_assert_says(&parm, "xfersize=30720 of wd=w is not a multiple of its "
                            "block of 4096 bytes");
    parm_done(&parm);

    /* Edges are whole blocks even where the size is not. */
    facts.size_bytes = GIB + 512;
    place(&parm,
          "sd=s,lun=/dev/x,openflags=o_direct,range=(33,67)\n"
          "rd=r,sd=s,iorate=max\n",
          &facts);
    parm_assert_ok(&parm);
    ck_assert_uint_eq(parm.plan->targets[0].size_bytes, GIB);
    ck_assert_uint_eq(parm.plan->runs[0].cells[0].low % 4096, 0);
    ck_assert_uint_eq(parm.plan->runs[0].cells[0].high % 4096, 0);
    parm_done(&parm);
}
END_TEST

/* Two entries that turn out to be one drive of a host. */
START_TEST(case_E03_same_drive)
{
    struct plan_facts facts = drive(GIB);
    struct parm parm;

    place(&parm,
          "hd=a\nhd=b\nsd=s,lun=/dev/x,host=a\nsd=t,lun=/dev/by-id/x,host=a\n"
          "sd=u,lun=/dev/x,host=b\nrd=r,sd=*,iorate=max\n",
          &facts);
    parm_assert_ok(&parm);
    parm_assert_says(&parm, "t.parm:4:10: warning: sd=s and sd=t are the same "
                            "/dev/drive on host a");
    ck_assert_ptr_null(strstr(parm.messages, "sd=u are"));
    parm_done(&parm);
}
END_TEST

/* ---- the fill ---- */

START_TEST(test_fill)
{
    struct parm parm;
    const struct plan_run *fill;
    struct plan_facts facts[] = {missing(), file(MIB, true), file(GIB, false),
                                 drive(GIB)};

    parm_expand(&parm,
                "sd=default,size=10m,openflags=o_direct\n"
                "sd=a,lun=/a\nsd=b,lun=/b\nsd=c,lun=/c\nsd=d,lun=/dev/d\n"
                "rd=r,sd=*,iorate=max\n",
                NULL);
    for (uint32_t i = 0; i < 4; i++)
        ck_assert_int_eq(plan_set_facts(parm.plan, i, &facts[i]), 0);
    parm.err = plan_place(parm.plan, &parm.report);
    parm_assert_ok(&parm);
    ck_assert_uint_eq(parm.plan->run_count, 2);
    fill = &parm.plan->runs[0];
    ck_assert_int_eq(fill->kind, PLAN_RUN_FILL);
    ck_assert_str_eq(fill->name, "SD_format");
    ck_assert_uint_eq(fill->elapsed_ns, 0);
    ck_assert_uint_eq(fill->target_count, 2);
    ck_assert_uint_eq(fill->targets[0].target, 0);
    ck_assert_uint_eq(fill->targets[1].target, 1);
    ck_assert(fill->targets[1].write);
    ck_assert_uint_eq(fill->targets[0].open_flags, PLAN_OPEN_DIRECT);
    ck_assert_uint_eq(fill->cells[0].low, 0);
    ck_assert_uint_eq(fill->cells[0].high, 10 * MIB);
    ck_assert_uint_eq(fill->workloads[0].sizes[0].bytes, 128 * 1024);
    ck_assert_double_eq(fill->workloads[0].read_percent, 0);
    ck_assert(fill->workloads[0].end_at_eof);
    ck_assert(parm.plan->targets[0].written);
    ck_assert(!parm.plan->targets[3].written);
    ck_assert_str_eq(parm.plan->runs[1].name, "r");
    parm_done(&parm);
}
END_TEST

/* The fill's transfers fit every file, whatever its size. */
START_TEST(test_fill_transfer)
{
    struct plan_facts facts = missing();
    struct parm parm;

    place(&parm,
          "sd=a,lun=/a,size=1000k\nsd=b,lun=/b,size=10m\n"
          "rd=r,sd=*,iorate=max\n",
          &facts);
    parm_assert_ok(&parm);
    ck_assert_uint_eq(parm.plan->runs[0].workloads[0].sizes[0].bytes, 8 * 1024);
    parm_done(&parm);
}
END_TEST

/* Nothing is filled where nothing is missing; devices never are. */
START_TEST(test_no_fill)
{
    struct plan_facts big = file(GIB, false), device = drive(GIB);
    struct parm parm;

    place(&parm, "sd=s,lun=/f,size=10m\nrd=r,sd=s,iorate=max\n", &big);
    parm_assert_ok(&parm);
    ck_assert_uint_eq(parm.plan->run_count, 1);
    ck_assert_uint_eq(parm.plan->targets[0].size_bytes, 10 * MIB);
    parm_done(&parm);
    place(&parm, "sd=s,lun=/dev/x,size=10m\nrd=r,sd=s,iorate=max\n", &device);
    parm_assert_ok(&parm);
    ck_assert_uint_eq(parm.plan->run_count, 1);
    parm_done(&parm);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("place");
    TCase *tests = tcase_create("place");

    tcase_add_loop_test(tests, test_regions, 0, ARRAY_LENGTH(regions));
    tcase_add_test(tests, test_file_region);
    tcase_add_test(tests, case_K01_one_edge);
    tcase_add_test(tests, test_slices);
    tcase_add_loop_test(tests, test_refused, 0, ARRAY_LENGTH(refused));
    tcase_add_test(tests, test_unknown);
    tcase_add_test(tests, case_G04_transfers_in_blocks);
    tcase_add_test(tests, case_E03_same_drive);
    tcase_add_test(tests, test_fill);
    tcase_add_test(tests, test_fill_transfer);
    tcase_add_test(tests, test_no_fill);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
