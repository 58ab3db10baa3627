/*
 * expand.h - the state of an expansion; for expand*.c only.
 *
 * One rd, with one set of sds, is a *base*: its workloads, the targets they
 * run on, the shares.  A base becomes runs, one for each combination of its
 * loops and rates; what does not differ between neighbours is shared.
 */
#ifndef CONTROLLER_PLAN_EXPAND_H
#define CONTROLLER_PLAN_EXPAND_H

#include "controller/plan/internal.h"

struct base_workload {
    const struct definition_wd *wd;
    const char *name; /* in the plan's memory */
    double skew;      /* per cent; all of a base add up to 100 */
};

/* A target of a base. */
struct base_target {
    uint32_t target; /* in the plan */
    uint32_t sd;     /* in the definitions */
    uint32_t part;   /* of the sd's `parts` targets, this is the part-th */
    uint32_t parts;
    uint32_t open_flags;
};

struct base_cell {
    uint32_t workload;
    uint32_t target; /* in the base */
    uint32_t slice;
    uint32_t slices;
};

struct base {
    const struct definition_rd *rd;
    const uint32_t *sds; /* of this set; NULL: each workload's own */
    uint32_t sd_count;
    const char *name;
    struct language_place place; /* in the plan's memory */
    struct base_workload workloads[RUN_WORKLOADS_MAX];
    uint32_t workload_count;
    struct base_target *targets;
    uint32_t target_count;
    uint32_t target_capacity;
    struct base_cell *cells;
    uint32_t cell_count;
    uint32_t cell_capacity;
    bool skew_given;
    bool failed;
};

/* What the loops set; < 0 of a percentage and 0 of the others: not set. */
struct loop_values {
    uint32_t xfersize;
    uint32_t threads;
    double read_percent;
    double seek_percent; /* LOOP_EOF: sequential to the end */
    double read_hit_percent;
    double write_hit_percent;
    uint64_t hit_area;
    double compression;
    char text[512];
};

#define LOOP_UNSET (-2.0)
#define LOOP_EOF   (-1.0)

struct expansion {
    struct plan *plan;
    const struct definitions *definitions;
    struct definitions selected; /* the same, drive= settled */
    struct language_report *report;
    struct hosts hosts;
    struct targets targets;
    uint32_t run_capacity;
    uint64_t cells_total;

    /* By target of the plan: its number in the base + 1. */
    uint32_t *numbers;
    uint32_t number_capacity;

    /* What the run before had, to be shared by the next of the same base. */
    struct plan_run last;
    const struct base *last_base;
    struct loop_values last_values;
};

/* Settles workloads, targets and shares of a base.  base->failed where the
 * report says why it cannot be. */
int base_build(struct expansion *expansion, struct base *base) MUST_CHECK;

/* All runs of a base. */
int runs_expand(struct expansion *expansion,
                const struct base *base) MUST_CHECK;

/* Largest transfer of any run of a base, into its sds. */
void base_note_transfers(struct expansion *expansion, const struct base *base);

#endif
