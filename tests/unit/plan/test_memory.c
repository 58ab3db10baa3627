/*
 * Memory that is not there, one allocation after the other.
 */
#include "common/fault.h"
#include "tests/support/parm.h"
#include "tests/support/suite.h"

#include <errno.h>

static const char text[] =
    "messagescan=no\nloop=2\ndedupratio=2\ndedupunit=4k\n"
    "hd=default,user=me\nhd=h1\nhd=h2\n"
    "sd=default,threads=4,openflags=o_direct\n"
    "sd=sd1,lun=/dev/x,host=*\nsd=c%02d,lun=/f*,count=(1,3),size=1m\n"
    "sd=s_$host,lun=/$host,host=$host,size=1m\n"
    "sd=d,drive=(model=(M1,M2),size=1g)\n"
    "wd=wd1,sd=(c01-c03,\"sd1\"),xfersise=4k\n"
    "wd=wd2,sd=c*,xfersize=(4k,50,8k,50),skew=30,seekpct=seq\n"
    "wd=wd3,sd=(s_h1,s_h2),rdpct=$pct\n"
    "wd=wd4,sd=(s_h1,s_h2),priority=1,iorate=5,xfersize=(4k,64k,4k)\n"
    "wd=wd5,sd=c*,priority=2,hotband=(10,40)\nwd=wd6,sd=d\n"
    "rd=rd1,wd=(wd2,wd3),iorate=curve,curve=(10,50),forthreads=(1-4,d)\n"
    "rd=rd2,sd=setsof2,iorate=(100,max)\n"
    "rd=rd3,wd=(wd4,wd5),iorate=(100,1,20,2),distribution=variable,repeat=2\n"
    "rd=rd4,wd=wd5,iorate=find,find=(p99,2ms),maxdata=2\n"
    "rd=rd6,wd=wd6,iorate=1\n"
    "rd=rd5,wd=(wd2,wd3),iorate=(10MiB/s,max)\n";

/* The file of pattern=; there are no others. */
static int include(void *user, const char *name, const char *from,
                   char **ret_text, size_t *ret_length)
{
    (void)user, (void)from;
    if (strcmp(name, "pattern=letters") != 0)
        return -ENOENT;
    *ret_text = language_pattern_text((const uint8_t *)"abc", 3);
    ck_assert_ptr_nonnull(*ret_text);
    *ret_length = strlen(*ret_text);
    return 0;
}

/* Everything the rooms do; gives the first error. */
static int do_all(const char *file_text)
{
    static const char *const variables[] = {"pct=50"};
    static const char *const used[] = {"mounted on /"};
    static const struct plan_drive drives[] = {
        {"sda", "/dev/sda", "", "M1", "S1", "F", "", 1u << 30, used, 1},
        {"sdb", "/dev/sdb", "", "M2", "S2", "F", "w2", 1u << 30, NULL, 0},
        {"sdc", "/dev/sdc", "", "M2", "", "F", "", 1u << 30, NULL, 0},
    };
    static const struct plan_agent agents[] = {
        {"h1", "h1", NULL, 0, NULL, 0, drives, ARRAY_LENGTH(drives)},
        {"h2", "h2", NULL, 0, NULL, 0, drives, 2},
    };
    static const struct plan_fleet fleet = {.agents = agents, .agent_count = 2};
    struct plan_facts facts = {.missing = true};
    struct language_file file = {"t.parm", file_text, strlen(file_text)};
    struct language_input input = {.files = &file,
                                   .file_count = 1,
                                   .variables = variables,
                                   .variable_count = 1,
                                   .include = include};
    struct language_report report;
    struct definitions *definitions = NULL;
    struct plan *plan = NULL;
    int err;

    language_report_init(&report);
    err = language_read(&input, &report, &definitions);
    if (err == 0)
        err = plan_expand(definitions, &fleet, &report, &plan);
    for (uint32_t i = 0; err == 0 && i < plan->target_count; i++) {
        facts.is_block = strncmp(plan->targets[i].path, "/dev/", 5) == 0;
        facts.missing = !facts.is_block;
        facts.size_bytes = facts.is_block ? 1u << 30 : 0;
        err = plan_set_facts(plan, i, &facts);
    }
    if (err == 0)
        err = plan_place(plan, &report);
    plan_free(plan);
    definitions_free(definitions);
    language_report_done(&report);
    return err;
}

/* -ENOMEM at every call of a point, until the outcome is what it is with
 * memory; so often at least. */
static void fail_everywhere(const char *file_text, const char *point,
                            uint32_t least)
{
#ifdef FAULTS
    int outcome = do_all(file_text);
    uint32_t pass = 0;
    int err = -ENOMEM;

    while (err == -ENOMEM) {
        fault_arm(point, -ENOMEM, pass++);
        err = do_all(file_text);
        fault_disarm_all();
    }
    ck_assert_int_eq(err, outcome);
    ck_assert_uint_gt(pass, least);
#else
    (void)file_text, (void)point, (void)least;
#endif
}

/* A file that becomes a plan. */
START_TEST(test_good_file)
{
    char good[sizeof(text)];
    char *wrong;

    memcpy(good, text, sizeof(text));
    wrong = strstr(good, ",xfersise=4k");
    memmove(wrong, wrong + 12, strlen(wrong + 12) + 1);
    ck_assert_int_eq(do_all(good), 0);
    fail_everywhere(good, "arena.alloc", 100);
}
END_TEST

/* A file that becomes messages. */
START_TEST(test_bad_file)
{
    ck_assert_int_eq(do_all(text), -EINVAL);
    fail_everywhere(text, "arena.alloc", 100);
}
END_TEST

START_TEST(test_pattern)
{
    static const char good[] = "pattern=letters\nhd=h1\nsd=s,lun=/dev/x\n"
                               "wd=w,sd=s,rdpct=$pct\nrd=r,wd=w,iorate=1\n";

    ck_assert_int_eq(do_all(good), 0);
    fail_everywhere(good, "arena.alloc", 20);
}
END_TEST

/* Messages of every kind: places of their own, hints, names that repeat. */
START_TEST(test_messages)
{
    static const char wrong[] =
        "messagescan=no\nformatsds=yes\nbogus\nhd=h1\nhd=h1\n"
        "sd=default,lun=/dev/d\nsd=s1,hitarea=2m,threads=0\n"
        "sd=s2,lun=/dev/x,host=h7\nsd=s2,lun=/dev/y,host=h7 threads=4\n"
        "wd=w,sd=(s1,q*),xfersise=4k,rdpct=${p},skew=$pct\n"
        "rd=r,wd=v,iorate=(1,,x),elapsed=1d\nrd=r2,iorate=max,replay=f";

    ck_assert_int_eq(do_all(wrong), -EINVAL);
    fail_everywhere(wrong, "arena.alloc", 100);
    fail_everywhere(wrong, "report.add", 10);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory");
    TCase *tests = tcase_create("memory");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, test_good_file);
    tcase_add_test(tests, test_bad_file);
    tcase_add_test(tests, test_pattern);
    tcase_add_test(tests, test_messages);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
