/*
 * plans.h - small plans, placed by hand, for tests of those that conduct them.
 *
 * Every host has one target and every run uses all hosts.  Change what you
 * like after plans_init(); all arrays are in the struct.
 */
#ifndef TESTS_SUPPORT_PLANS_H
#define TESTS_SUPPORT_PLANS_H

#include "controller/plan/plan.h"

#define PLANS_HOSTS 16u
#define PLANS_RUNS  8u

struct plans {
    struct plan plan;
    struct plan_host hosts[PLANS_HOSTS];
    struct plan_target targets[PLANS_HOSTS];
    struct plan_run runs[PLANS_RUNS];
    struct plan_run_target run_targets[PLANS_HOSTS];
    struct plan_cell cells[PLANS_HOSTS];
    struct plan_workload workload;
    struct plan_size_share size;
};

/* Runs at full speed of 10 intervals of 1 s each, without warm-up or pause. */
void plans_init(struct plans *plans, uint32_t hosts, uint32_t runs);

#endif
