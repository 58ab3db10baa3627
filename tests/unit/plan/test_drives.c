/*
 * drive=: which drives of which hosts an sd means, what they are called, and
 * what is said where they are not there.
 */
#include "tests/support/parm.h"
#include "tests/support/suite.h"

#include <errno.h>

#define TB UINT64_C(1000000000000)

static const char *const mounted[] = {"mounted on /"};

/* As an inventory lists them: by name. */
static const struct plan_drive drives1[] = {
    {"nvme0n1", "/dev/nvme0n1", "", "SAMSUNG PM1725b", "S9", "F1", "eui.9",
     3840755982336, NULL, 0},
    {"nvme1n1", "/dev/nvme1n1", "/dev/disk/by-id/nvme-SAMSUNG_PM1725b_S10",
     "SAMSUNG PM1725b", "S10", "F2", "eui.10", 3840755982336, NULL, 0},
    {"nvme2n1", "/dev/nvme2n1", "", "INTEL P4510", "B1", "F1", "eui.b1", TB,
     NULL, 0},
    {"sda", "/dev/sda", "", "SAMSUNG PM1725b", "S1", "F1", "eui.1", TB, mounted,
     1},
    {"sdb", "/dev/sdb", "", "SAMSUNG PM1725b", "S2", "", "", 0, NULL, 0},
};
static const struct plan_drive drives2[] = {
    {"nvme0n1", "/dev/nvme0n1", "", "SAMSUNG PM1725b", "S11", "F1", "eui.11",
     3840755982336, NULL, 0},
    {"nvme5n1", "/dev/nvme5n1", "", "INTEL P4510", "B1", "F1", "eui.b1", TB,
     NULL, 0},
};

static const struct plan_agent agents[] = {
    {.name = "h1",
     .hostname = "h1",
     .drives = drives1,
     .drive_count = ARRAY_LENGTH(drives1)},
    {.name = "h2",
     .hostname = "h2",
     .drives = drives2,
     .drive_count = ARRAY_LENGTH(drives2)},
    {.name = "h3", .hostname = "h3"}, /* told nothing yet */
};
static const struct plan_fleet fleet = {.agents = agents,
                                        .agent_count = ARRAY_LENGTH(agents)};

static void expand(struct parm *parm, const char *drive, const char *rest,
                   const struct plan_fleet *among)
{
    char text[1024] = "";

    parm_append(text, sizeof(text),
                "hd=h1\nhd=h2\nsd=sd1,openflags=o_direct,drive=(%s)%s", drive,
                rest);
    parm_expand(parm, text, among);
}

#define ALL "\nwd=w,sd=sd1\nrd=r,wd=w,iorate=100\n"

/* "sd1_1 h1 /dev/nvme0n1;..." */
static void assert_targets(const struct parm *parm, const char *expected)
{
    char text[1024] = "";

    parm_assert_ok(parm);
    for (uint32_t i = 0; i < parm->plan->target_count; i++) {
        const struct plan_target *target = &parm->plan->targets[i];

        ck_assert_int_eq(target->choice, PLAN_CHOICE_CHOSEN);
        parm_append(text, sizeof(text), "%s %s %s;", target->sd,
                    parm->plan->hosts[target->host].label, target->path);
    }
    ck_assert_str_eq(text, expected);
}

static const struct {
    const char *drive;
    const char *targets;
} selections[] = {
    /* By host, then by serial number: S9 before S10, whatever the names. */
    {"model=*pm1725*",
     "sd1_1 h1 /dev/nvme0n1;sd1_2 h1 /dev/nvme1n1;sd1_3 h2 /dev/nvme0n1;"},
    {"model=*PM1725*,size=3.84t",
     "sd1_1 h1 /dev/nvme0n1;sd1_2 h1 /dev/nvme1n1;sd1_3 h2 /dev/nvme0n1;"},
    {"model=*,size=2t-4t",
     "sd1_1 h1 /dev/nvme0n1;sd1_2 h1 /dev/nvme1n1;sd1_3 h2 /dev/nvme0n1;"},
    {"serial=S9,serial=S11", "sd1_1 h1 /dev/nvme0n1;sd1_2 h2 /dev/nvme0n1;"},
    {"serial=(S9,S11)", "sd1_1 h1 /dev/nvme0n1;sd1_2 h2 /dev/nvme0n1;"},
    {"wwn=eui.9,wwn=eui.11", "sd1_1 h1 /dev/nvme0n1;sd1_2 h2 /dev/nvme0n1;"},
    {"name=nvme0n1", "sd1_1 h1 /dev/nvme0n1;sd1_2 h2 /dev/nvme0n1;"},
    {"name=nvme[05]n1,firmware=F1,size=3.84t",
     "sd1_1 h1 /dev/nvme0n1;sd1_2 h2 /dev/nvme0n1;"},
    /* One drive on two hosts is one sd. */
    {"model=INTEL*,count=1", "sd1_1 h1 /dev/nvme2n1;sd1_1 h2 /dev/nvme5n1;"},
};

START_TEST(drives_are_selected_by_what_they_are)
{
    struct parm parm;

    expand(&parm, selections[_i].drive, ALL, &fleet);
    assert_targets(&parm, selections[_i].targets);
    parm_done(&parm);
}
END_TEST

START_TEST(by_id_is_the_name_of_the_link)
{
    struct parm parm;

    expand(&parm, "by_id=nvme-SAMSUNG*S10", ",host=h1" ALL, &fleet);
    assert_targets(&parm, "sd1_1 h1 /dev/nvme1n1;");
    parm_done(&parm);
}
END_TEST

START_TEST(used_drives_are_left_out_and_named)
{
    struct parm parm;

    expand(&parm, "serial=S*,model=*PM*", ",host=h1" ALL, &fleet);
    assert_targets(&parm, "sd1_1 h1 /dev/nvme0n1;sd1_2 h1 /dev/nvme1n1;");
    parm_assert_says(&parm, "sd=sd1 on host h1: left out as in use: sda "
                            "(mounted on /)");
    parm_done(&parm);
    expand(&parm, "serial=S*,used=yes", ",host=h1" ALL, &fleet);
    assert_targets(&parm, "sd1_1 h1 /dev/sda;sd1_2 h1 /dev/nvme0n1;"
                          "sd1_3 h1 /dev/nvme1n1;");
    parm_done(&parm);
}
END_TEST

START_TEST(a_run_may_name_one_of_them)
{
    struct parm parm;

    expand(&parm, "model=*PM1725*",
           "\nsd=sd10,lun=/dev/x\nwd=w,sd=(sd1_2,sd10)\n"
           "rd=r,wd=w,iorate=100\n",
           &fleet);
    parm_assert_ok(&parm);
    ck_assert_uint_eq(parm.plan->runs[0].target_count, 3);
    ck_assert_str_eq(parm.plan->targets[0].sd, "sd1_2");
    parm_done(&parm);
    expand(&parm, "model=*PM1725*", "\nwd=w,sd=sd1_9\nrd=r,wd=w,iorate=9\n",
           &fleet);
    ck_assert_int_eq(parm.err, -EINVAL);
    parm_assert_says(&parm, "there is no sd=sd1_9: drive= selects fewer");
    parm_done(&parm);
}
END_TEST

/* sd=single and its kin count what was selected. */
START_TEST(each_drive_by_itself)
{
    struct parm parm;

    expand(&parm, "model=*PM1725*", "\nwd=w\nrd=r,wd=w,sd=single,iorate=9\n",
           &fleet);
    parm_assert_ok(&parm);
    ck_assert_uint_eq(parm.plan->run_count, 3);
    ck_assert_str_eq(parm.plan->runs[2].name, "r_sd1_3");
    parm_done(&parm);
}
END_TEST

/* threads= are those of one sd: each drive has them all. */
START_TEST(threads_and_rate_are_of_each_sd)
{
    const struct plan_run *run;
    struct parm parm;

    expand(&parm, "model=*PM1725*", ",threads=6" ALL, &fleet);
    parm_assert_ok(&parm);
    run = &parm.plan->runs[0];
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_uint_eq(run->targets[i].threads, 6);
        ck_assert(run->cells[i].share > 0.333 && run->cells[i].share < 0.334);
    }
    parm_done(&parm);
}
END_TEST

static const struct {
    const char *drive;
    const char *rest;
    const char *says;
} refused[] = {
    {"model=nothing", ALL, "sd=sd1: host h1 has no free drive=(model=nothing)"},
    {"model=nothing", ALL, "the host has: nvme0n1 (SAMSUNG PM1725b S9 3."},
    {"model=nothing", ALL, "sd=sd1: host h2 has no free drive="},
    {"model=*PM1725*,count=2", ALL,
     "sd=sd1: count=2 drives of host h2 are asked for, 1 fit"},
    {"model=*PM1725*,count=2", ALL, "found: nvme0n1 (SAMSUNG PM1725b S11 3."},
    {"serial=S1,used=no", ",host=h1" ALL, "has no free drive="},
    {"model=*PM1725*", "\nsd=sd1_2,lun=/dev/x" ALL,
     "sd=sd1_2 is also the name of a drive that drive= selects for sd=sd1"},
};

START_TEST(what_does_not_fit_is_named_by_host)
{
    struct parm parm;

    expand(&parm, refused[_i].drive, refused[_i].rest, &fleet);
    ck_assert_int_eq(parm.err, -EINVAL);
    parm_assert_says(&parm, refused[_i].says);
    parm_done(&parm);
}
END_TEST

START_TEST(a_host_that_told_nothing_is_waited_for)
{
    struct parm parm;

    parm_expand(&parm, "hd=h3\nsd=s,drive=(model=*)\nrd=r,sd=s,iorate=1\n",
                &fleet);
    ck_assert_int_eq(parm.err, -EINVAL);
    parm_assert_says(&parm, "host h3 has not told about its drives yet");
    parm_done(&parm);
}
END_TEST

/* Two hd= of one machine do not double its drives. */
START_TEST(an_alias_counts_once)
{
    struct parm parm;

    parm_expand(&parm,
                "hd=h1\nhd=again,system=h1\nsd=s,openflags=o_direct,"
                "drive=(model=INTEL*)\nrd=r,sd=s,iorate=1\n",
                &fleet);
    assert_targets(&parm, "s_1 h1 /dev/nvme2n1;");
    parm_done(&parm);
}
END_TEST

START_TEST(an_unused_sd_needs_no_host)
{
    struct parm parm;

    parm_expand(&parm,
                "hd=h1\nhd=h9\nsd=a,openflags=o_direct,host=h1,"
                "drive=(model=INTEL*)\nsd=b,host=h9,drive=(model=*)\n"
                "rd=r,sd=a,iorate=1\n",
                &fleet);
    assert_targets(&parm, "a_1 h1 /dev/nvme2n1;");
    parm_done(&parm);
}
END_TEST

START_TEST(without_a_fleet_they_are_selected_later)
{
    struct parm parm;

    expand(&parm, "model=*PM1725*", "\nwd=w,sd=sd1_7\nrd=r,wd=w,iorate=1\n",
           NULL);
    parm_assert_ok(&parm);
    parm_assert_says(&parm, "sd=sd1: its drives are selected when the fleet "
                            "is known");
    ck_assert_uint_eq(parm.plan->target_count, 2); /* one for each host */
    ck_assert_int_eq(parm.plan->targets[0].choice, PLAN_CHOICE_OPEN);
    ck_assert_str_eq(parm.plan->targets[0].path, "drive=(model=*PM1725*)");
    parm_done(&parm);
    expand(&parm, "model=*PM1725*,count=24", ALL, NULL);
    parm_assert_ok(&parm);
    ck_assert_uint_eq(parm.plan->target_count, 48);
    ck_assert_str_eq(parm.plan->targets[47].sd, "sd1_48");
    parm_done(&parm);
}
END_TEST

static const struct {
    const char *sd;
    const char *says;
} wrong[] = {
    {"drive=(modle=x)", "did you mean model?"},
    {"drive=(model=x),lun=/dev/x", "drive= does not go with lun="},
    {"drive=(model=x),count=(1,4)", "write it within, as in drive=(count=24)"},
    {"drive=(count=0)", "count=0 is not a number of drives from 1 to 256"},
    {"drive=(size=4t-1t)", "the range '4t-1t' runs backwards"},
    {"drive=(size=big)", "size=big is not a size such as 3.84t"},
    {"drive=(used=maybe)", "expected yes or no, not 'maybe'"},
    {"drive=(PM1725)", "drive= takes key=value, not 'PM1725'"},
    {"drive=(model=,size=1t)", "expected a value after 'model='"},
};

START_TEST(wrong_selections_say_what_is_wrong)
{
    char text[256] = "";
    struct parm parm;

    parm_append(text, sizeof(text), "sd=s,%s\nrd=r,sd=s,iorate=1\n",
                wrong[_i].sd);
    parm_read(&parm, text);
    ck_assert_int_eq(parm.err, -EINVAL);
    parm_assert_says(&parm, wrong[_i].says);
    parm_done(&parm);
}
END_TEST

/* A list that was to end, whose next parameter has '=', is still an error. */
START_TEST(other_lists_take_no_keys)
{
    struct parm parm;

    parm_read(&parm, "sd=s,lun=/x,openflags=(o_direct,threads=4\n"
                     "rd=r,sd=s,iorate=1\n");
    ck_assert_int_eq(parm.err, -EINVAL);
    parm_assert_says(&parm, "this list is not closed before 'threads='");
    parm_done(&parm);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("drives");
    TCase *cases = tcase_create("drives");

    tcase_add_loop_test(cases, drives_are_selected_by_what_they_are, 0,
                        ARRAY_LENGTH(selections));
    tcase_add_test(cases, by_id_is_the_name_of_the_link);
    tcase_add_test(cases, used_drives_are_left_out_and_named);
    tcase_add_test(cases, a_run_may_name_one_of_them);
    tcase_add_test(cases, each_drive_by_itself);
    tcase_add_test(cases, threads_and_rate_are_of_each_sd);
    tcase_add_loop_test(cases, what_does_not_fit_is_named_by_host, 0,
                        ARRAY_LENGTH(refused));
    tcase_add_test(cases, a_host_that_told_nothing_is_waited_for);
    tcase_add_test(cases, an_alias_counts_once);
    tcase_add_test(cases, an_unused_sd_needs_no_host);
    tcase_add_test(cases, without_a_fleet_they_are_selected_later);
    tcase_add_loop_test(cases, wrong_selections_say_what_is_wrong, 0,
                        ARRAY_LENGTH(wrong));
    tcase_add_test(cases, other_lists_take_no_keys);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
