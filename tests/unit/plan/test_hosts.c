/*
 * Which agent a host of the file means.
 */
#include "tests/support/parm.h"
#include "tests/support/suite.h"

#include <errno.h>
#include <stdio.h>

static const char *const address1[] = {"10.0.0.1", "fe80::1"};
static const char *const address2[] = {"10.0.0.2"};
static const char *const labels2[] = {"rack-b", "fast"};
static const char *const labels3[] = {"fast"};

static const struct plan_agent agents[] = {
    {"nas1", "nas1.lab.example", address1, 2, NULL, 0, NULL, 0},
    {"nas2", "storage2", address2, 1, labels2, 2, NULL, 0},
    {"nas3", "nas3", NULL, 0, labels3, 1, NULL, 0},
};
static const struct plan_fleet fleet = {.agents = agents,
                                        .agent_count = ARRAY_LENGTH(agents)};

#define REST "\nsd=s,lun=/x\nrd=r,sd=s,iorate=max\n"

static const struct {
    const char *hd;
    uint32_t agent; /* PLAN_NOWHERE: refused */
    const char *says;
} matches[] = {
    {"hd=nas1", 0, NULL},
    {"hd=one,system=nas1", 0, NULL},
    {"hd=one,system=nas1.lab.example", 0, NULL},
    {"hd=one,system=NAS1.lab.example", 0, NULL},
    {"hd=one,system=nas2.elsewhere.example", 1, NULL},
    {"hd=one,system=10.0.0.1", 0, NULL},
    {"hd=one,system=fe80::1", 0, NULL},
    {"hd=storage2", 1, NULL},
    {"hd=rack-b", 1, NULL},
    {"hd=nas3,system=10.0.0.2", 1, NULL}, /* system= is what counts */
    {"hd=nas3,system=192.168.7.7", 2, NULL},
    {"hd=nas4", PLAN_NOWHERE, "host nas4: no agent has this name or address"},
    {"hd=nas", PLAN_NOWHERE, "connected agents: nas1, nas2, nas3"},
    {"hd=x,system=10.0.0", PLAN_NOWHERE, "host x (system=10.0.0): no agent"},
    {"hd=x,system=10.0.0.11", PLAN_NOWHERE, "no agent has this name"},
    {"hd=fast", PLAN_NOWHERE, "host fast: several agents match it"},
    {"", PLAN_NOWHERE, "the file names no hosts (hd=), and several agents"},
};

START_TEST(test_match)
{
    char file[256] = "";
    struct parm parm;

    parm_append(file, sizeof(file), "%s%s", matches[_i].hd, REST);
    parm_expand(&parm, file, &fleet);
    if (matches[_i].agent == PLAN_NOWHERE) {
        ck_assert_int_eq(parm.err, -EINVAL);
        ck_assert_uint_eq(parm.report.errors, 1);
        parm_assert_says(&parm, matches[_i].says);
    } else {
        parm_assert_ok(&parm);
        ck_assert_uint_eq(parm.plan->hosts[0].agent, matches[_i].agent);
    }
    parm_done(&parm);
}
END_TEST

/* Without hd=, the one agent; localhost is whoever is called so. */
START_TEST(test_local)
{
    static const struct plan_agent local = {.name = "localhost",
                                            .hostname = "box"};
    static const struct plan_agent other = {.name = "box7", .hostname = "box7"};
    static const char *const files[] = {
        "" REST,
        "hd=localhost" REST,
        "hd=one,system=127.0.0.1" REST,
    };
    struct plan_fleet one = {.agents = &local, .agent_count = 1};
    struct parm parm;

    for (size_t i = 0; i < ARRAY_LENGTH(files); i++) {
        parm_expand(&parm, files[i], &one);
        parm_assert_ok(&parm);
        ck_assert_uint_eq(parm.plan->hosts[0].agent, 0);
        parm_done(&parm);
    }
    one.agents = &other;
    parm_expand(&parm, files[0], &one);
    parm_assert_ok(&parm);
    ck_assert_str_eq(parm.plan->hosts[0].label, "localhost");
    parm_done(&parm);
    parm_expand(&parm, files[2], &one);
    ck_assert_int_eq(parm.err, -EINVAL);
    parm_done(&parm);

    one.agent_count = 0;
    parm_expand(&parm, files[0], &one);
    ck_assert_int_eq(parm.err, -EINVAL);
    parm_assert_says(&parm, "no agent is connected; start lockstep-agent");
    parm_done(&parm);
}
END_TEST

/* A host that no run uses need not be there. */
START_TEST(test_unused_host)
{
    struct parm parm;

    parm_expand(&parm,
                "hd=nas1\nhd=gone\nsd=s,lun=/x,host=nas1\n"
                "sd=t,lun=/y,host=gone\nrd=r,sd=s,iorate=max\n",
                &fleet);
    parm_assert_ok(&parm);
    ck_assert_uint_eq(parm.plan->host_count, 1);
    parm_done(&parm);
}
END_TEST

/* Every missing host is named, not only the first. */
START_TEST(test_all_missing)
{
    struct parm parm;

    parm_expand(&parm, "hd=gone1\nhd=nas1\nhd=gone2" REST, &fleet);
    ck_assert_int_eq(parm.err, -EINVAL);
    ck_assert_uint_eq(parm.report.errors, 2);
    parm_assert_says(&parm, "t.parm:1:4: error: host gone1");
    parm_assert_says(&parm, "t.parm:3:4: error: host gone2");
    parm_done(&parm);
}
END_TEST

/* Eight host entries with one address, each with its own drive entry. */
START_TEST(case_E03_one_machine_many_names)
{
    char file[2048] = "";
    struct parm parm;
    const struct plan *plan;

    for (int i = 0; i < 8; i++)
        parm_append(file, sizeof(file), "hd=h%d,system=10.0.0.1\n", i);
    for (int i = 0; i < 8; i++)
        parm_append(file, sizeof(file), "sd=s%d,host=h%d,lun=/dev/dm-%d\n", i,
                    i, i);
    parm_append(file, sizeof(file), "rd=r,sd=*,iorate=800\n");
    parm_expand(&parm, file, &fleet);
    parm_assert_ok(&parm);
    plan = parm.plan;
    ck_assert_uint_eq(plan->host_count, 1);
    ck_assert_str_eq(plan->hosts[0].label, "h0");
    ck_assert_str_eq(plan->hosts[0].aliases, "h1, h2, h3, h4, h5, h6, h7");
    ck_assert_uint_eq(plan->target_count, 8);
    ck_assert_uint_eq(plan->runs[0].cell_count, 8);
    parm_done(&parm);
}
END_TEST

/* Two of them with one path are one target; on two machines, two. */
START_TEST(case_E03_one_path)
{
    struct parm parm;

    parm_expand(&parm,
                "hd=a,system=10.0.0.1\nhd=b,system=nas1\nhd=c,system=nas2\n"
                "sd=s,host=*,lun=/dev/dm-0\nrd=r,sd=s,iorate=max,threads=8\n",
                &fleet);
    parm_assert_ok(&parm);
    ck_assert_uint_eq(parm.plan->host_count, 2);
    ck_assert_uint_eq(parm.plan->target_count, 2);
    ck_assert_uint_eq(parm.plan->runs[0].cell_count, 2);
    ck_assert_uint_eq(parm.plan->runs[0].targets[0].threads, 4);
    ck_assert_double_eq_tol(parm.plan->runs[0].cells[0].share, .5, 1e-12);
    parm_done(&parm);

    /* Different paths of one machine stay apart. */
    parm_expand(&parm,
                "hd=a,system=nas1\nhd=b,system=nas1\n"
                "sd=s,host=a,lun=/dev/dm-0,host=b,lun=/dev/dm-1\n"
                "rd=r,sd=s,iorate=max\n",
                &fleet);
    parm_assert_ok(&parm);
    ck_assert_uint_eq(parm.plan->host_count, 1);
    ck_assert_uint_eq(parm.plan->target_count, 2);
    parm_done(&parm);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hosts");
    TCase *tests = tcase_create("hosts");

    tcase_add_loop_test(tests, test_match, 0, ARRAY_LENGTH(matches));
    tcase_add_test(tests, test_local);
    tcase_add_test(tests, test_unused_host);
    tcase_add_test(tests, test_all_missing);
    tcase_add_test(tests, case_E03_one_machine_many_names);
    tcase_add_test(tests, case_E03_one_path);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
