/*
 * The plan as a document: the table, and the walk.
 */
#include "controller/plan/plan_text.h"
#include "tests/support/parm.h"
#include "tests/support/suite.h"

#include <errno.h>

static const char example[] =
    "hd=a,system=10.0.0.1\nhd=b,system=10.0.0.2\n"
    "sd=default,openflags=o_direct\n"
    "sd=sd1,lun=/dev/nvme0n1,range=(0,50)\nsd=sd2,host=a,lun=/f,size=1g\n"
    "wd=w1,sd=sd1,rdpct=70\nwd=w2,sd=sd2,rdpct=0,seekpct=eof,xfersize=1m\n"
    "rd=oltp,wd=w1,iorate=(1000,max),elapsed=60,warmup=10,threads=16\n"
    "rd=load,wd=w2,iorate=max,elapsed=2500ms,interval=500ms,pause=1h\n";

static const char table[] =
    "#  run   iorate  warmup  elapsed  xfersize  threads  rdpct  seekpct  "
    "drives\n"
    "1  oltp    1000      10       60        4k       16     70      100       "
    "2\n"
    "2  oltp     max      10       60        4k       16     70      100       "
    "2\n"
    "3  load     max       0    2.500        1m        8      0      eof       "
    "1\n"
    "\n"
    "host  system    drives  threads  also called\n"
    "a     10.0.0.1       2        8  -\n"
    "b     10.0.0.2       1        8  -\n"
    "\n"
    "drive  host  size  use    openflags  model  serial  path\n"
    "sd1    a        -  write  o_direct   -      -       /dev/nvme0n1\n"
    "sd1    b        -  write  o_direct   -      -       /dev/nvme0n1\n"
    "sd2    a       1g  write  o_direct   -      -       /f\n"
    "\n"
    "Regions, in bytes or as the file has them\n"
    "oltp  wd=w1  sd=sd1  host=a  0% - 50%\n"
    "oltp  wd=w1  sd=sd1  host=b  0% - 50%\n"
    "\n"
    "3 runs, 1:02:23 in all\n"
    "written: 82.0 MiB, and as much as the drives take in 2 runs at full speed "
    "or in per cent of it\n";

START_TEST(test_table)
{
    struct parm parm;
    char *text;

    parm_expand(&parm, example, NULL);
    parm_assert_ok(&parm);
    text = plan_text_table(parm.plan);
    ck_assert_str_eq(text, table);
    free(text);
    parm_done(&parm);
}
END_TEST

/* After placement: serials, sizes, bytes, slices and the fill. */
START_TEST(test_table_placed)
{
    static const char *const lines[] = {
        "1  SD_format    fill",
        "sd1    a       1g  read   o_direct   M7     S123    /dev/x",
        "SD_format  wd=SD_format  sd=sd2  host=a  0 - 1048576\n",
        "r  wd=w  sd=sd1  host=a  4096 - 536870912 (slice 1 of 2)\n",
        "r  wd=w  sd=sd1  host=b  536870912 - 1073741824 (slice 2 of 2)\n",
        "in all, and the time of the fill\n",
    };
    struct plan_facts facts = {.is_block = true,
                               .size_bytes = 1u << 30,
                               .logical_block = 512,
                               .serial = "S123",
                               .model = "M7"};
    struct parm parm;
    char *text;

    parm_expand(&parm,
                "hd=a\nhd=b\nsd=default,openflags=o_direct\n"
                "sd=sd1,lun=/dev/x\nsd=sd2,lun=/f,size=1m,host=a\n"
                "wd=w,sd=*,seekpct=0\nrd=r,wd=w,iorate=max\n",
                NULL);
    parm_assert_ok(&parm);
    for (uint32_t i = 0; i < parm.plan->target_count; i++) {
        if (strcmp(parm.plan->targets[i].sd, "sd2") == 0)
            facts = (struct plan_facts){.missing = true};
        ck_assert_int_eq(plan_set_facts(parm.plan, i, &facts), 0);
    }
    ck_assert_int_eq(plan_place(parm.plan, &parm.report), 0);
    text = plan_text_table(parm.plan);
    for (size_t i = 0; i < ARRAY_LENGTH(lines); i++)
        ck_assert_msg(strstr(text, lines[i]) != NULL, "no \"%s\" in:\n%s",
                      lines[i], text);
    free(text);
    parm_done(&parm);
}
END_TEST

/* ---- the walk ---- */

/* Writes what it visits: {"a": 1, ...} without commas. */
struct written {
    char text[16384];
    int depth;
};

static void write_key(void *user, const char *key)
{
    struct written *written = user;

    parm_append(written->text, sizeof(written->text), key != NULL ? "%s=" : "",
                key);
}

static void on_object(void *user, const char *key)
{
    struct written *written = user;

    write_key(user, key);
    written->depth++;
    parm_append(written->text, sizeof(written->text), "{");
}

static void on_object_end(void *user)
{
    struct written *written = user;

    written->depth--;
    parm_append(written->text, sizeof(written->text), "} ");
}

static void on_array(void *user, const char *key)
{
    struct written *written = user;

    write_key(user, key);
    written->depth++;
    parm_append(written->text, sizeof(written->text), "[");
}

static void on_array_end(void *user)
{
    struct written *written = user;

    written->depth--;
    parm_append(written->text, sizeof(written->text), "] ");
}

static void on_text(void *user, const char *key, const char *value)
{
    struct written *written = user;

    write_key(user, key);
    parm_append(written->text, sizeof(written->text), "'%s' ", value);
}

static void on_integer(void *user, const char *key, uint64_t value)
{
    struct written *written = user;

    write_key(user, key);
    parm_append(written->text, sizeof(written->text), "%llu ",
                (unsigned long long)value);
}

static void on_number(void *user, const char *key, double value)
{
    struct written *written = user;

    write_key(user, key);
    parm_append(written->text, sizeof(written->text), "%g ", value);
}

static void on_boolean(void *user, const char *key, bool value)
{
    struct written *written = user;

    write_key(user, key);
    parm_append(written->text, sizeof(written->text), "%s ",
                value ? "true" : "false");
}

static void on_null(void *user, const char *key)
{
    struct written *written = user;

    write_key(user, key);
    parm_append(written->text, sizeof(written->text), "null ");
}

static const struct plan_visitor visitor = {
    on_object,  on_object_end, on_array,   on_array_end, on_text,
    on_integer, on_number,     on_boolean, on_null,
};

START_TEST(test_walk)
{
    static const char *const parts[] = {
        "{runs=[{run='oltp' rd='oltp' iorate='1000' iorate_iops=1000 "
        "elapsed_s=60 warmup_s=10 interval_s=1 pause_s=0 for='threads=16' "
        "xfersize='4k' threads='16' rdpct='70' seekpct='100' "
        "workloads=[{wd='w1' skew_pct=100 read_pct=70 seek_pct=100 "
        "ends_at_eof=false xfersizes=[{bytes=4096 pct=100 } ] } ] "
        "cells=[{wd='w1' sd='sd1' host='a' threads=8 write=true share=0.5 "
        "low=null high=null } ",
        "{run='load' rd='load' iorate='max' elapsed_s=2.5 ",
        "for=null ",
        "hosts=[{host='a' system='10.0.0.1' also_called=null } ",
        "drives=[{sd='sd1' host='a' path='/dev/nvme0n1' size_bytes=null "
        "written=true device=null serial=null wwn=null model=null } ",
        "size_bytes=1073741824 ",
        "total_s=3742.5 written_bytes=",
    };
    struct written *written = calloc(1, sizeof(*written));
    struct parm parm;

    ck_assert_ptr_nonnull(written);
    parm_expand(&parm, example, NULL);
    parm_assert_ok(&parm);
    plan_walk(parm.plan, &visitor, written);
    ck_assert_int_eq(written->depth, 0);
    for (size_t i = 0; i < ARRAY_LENGTH(parts); i++)
        ck_assert_msg(strstr(written->text, parts[i]) != NULL,
                      "no \"%s\" in:\n%s", parts[i], written->text);
    parm_done(&parm);
    free(written);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("text");
    TCase *tests = tcase_create("text");

    tcase_add_test(tests, test_table);
    tcase_add_test(tests, test_table_placed);
    tcase_add_test(tests, test_walk);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
