/*
 * plan.h - a campaign after expansion: what will run where.
 *
 * Two pure steps make it.  plan_expand() turns definitions into runs, targets
 * and cells, knowing the file alone; this is what `lockstep check` prints.
 * plan_place() then takes what the fleet's agents told about hosts and targets
 * and settles agents, sizes in bytes, regions and the fill phases; this is what
 * is conducted.  Between the two, plan_host.agent is PLAN_NOWHERE and sizes may
 * be 0 (unknown).
 *
 * Words: a *target* is one sd on one host; a *cell* is one workload on one
 * target; a *run* is one phase to come.  Indices, not pointers, tie them.
 *
 * Memory: all of a plan lives in its arena; plan_free() frees all.  A plan is
 * not changed after placement.
 * Threads: none of its own.
 */
#ifndef CONTROLLER_PLAN_PLAN_H
#define CONTROLLER_PLAN_PLAN_H

#include "common/base.h"

#define PLAN_NOWHERE UINT32_MAX

/* Limits of a plan; more is a clear error of the file. */
#define PLAN_HOSTS_MAX   4096u
#define PLAN_TARGETS_MAX 65536u
#define PLAN_RUNS_MAX    200000u

enum plan_rate_kind {
    PLAN_RATE_MAX,     /* closed loop */
    PLAN_RATE_CURVE,   /* closed loop; its result is the 100 % of a curve */
    PLAN_RATE_PERCENT, /* value: per cent of the last curve maximum, or of the
                          rate last observed where no curve came before */
    PLAN_RATE_FIXED,   /* value: I/Os a second, all cells together */
};

struct plan_rate {
    enum plan_rate_kind kind;
    double value;
};

/* Bits of plan_target.open_flags; the values of OpenFlag on the wire. */
enum plan_open_flag {
    PLAN_OPEN_DIRECT = 1,
    PLAN_OPEN_DSYNC = 2,
    PLAN_OPEN_SYNC = 4,
    PLAN_OPEN_FSYNC = 8,
};

enum plan_run_kind {
    PLAN_RUN_MEASURE,
    PLAN_RUN_FILL, /* makes and fills files; placed before the first run */
};

struct plan_host {
    const char *label;  /* hd=, or "localhost" */
    const char *system; /* system=, or the label */
    uint32_t agent;     /* index in the fleet given to plan_place() */
};

/* What an agent told about a target, or unknown. */
struct plan_facts {
    bool known;
    bool is_block;    /* a device of which block 0 is never written */
    bool missing;     /* a file that a fill phase will make */
    bool ours;        /* an existing file that Lockstep made */
    uint64_t size_bytes;
    uint32_t logical_block; /* bytes; 1 for buffered files */
    const char *device;     /* canonical path */
    const char *serial;     /* "" is unknown, here and below */
    const char *wwn;
    const char *model;
    uint64_t disk_sequence;
};

struct plan_target {
    uint32_t host;          /* index into plan.hosts */
    const char *sd;
    const char *path;       /* lun=, with $host and the like replaced */
    uint32_t open_flags;
    uint64_t size_bytes;    /* size=, 0: all of it.  After placement: the bytes
                               that I/O stays below */
    bool size_given;
    bool written;           /* by some run of the campaign */
    struct plan_facts facts;
};

struct plan_size_share {
    uint32_t bytes;
    double percent;
};

struct plan_workload {
    const char *name;
    double read_percent;
    double seek_percent; /* 0 sequential .. 100 random */
    bool end_at_eof;
    const struct plan_size_share *sizes;
    uint32_t size_count;
    double skew; /* per cent of the run's rate; all of a run's add up to 100 */
};

/* A target in one run. */
struct plan_run_target {
    uint32_t target;  /* index into plan.targets */
    uint32_t threads; /* outstanding on this target's host: threads= divided
                         over the sd's hosts; 1 or more */
    bool write;       /* this run writes to it */
};

/* One workload on one target in one run. */
struct plan_cell {
    uint32_t workload; /* index into plan_run.workloads */
    uint32_t target;   /* index into plan_run.targets */
    double share;      /* of the run's rate; all cells of a run add up to 1 */
    uint64_t low;      /* region in bytes; high 0: unknown before placement */
    uint64_t high;
};

struct plan_run {
    const char *name;     /* rd1, or rd1_(50%) as vdbench prints it */
    enum plan_run_kind kind;
    struct plan_rate rate;
    bool skew_given;      /* some wd names skew=: shares are kept at max too */
    const char *for_text; /* "threads=1 xfersize=4k", "" without loops */
    uint64_t elapsed_ns;  /* measured part; 0 for a fill */
    uint64_t warmup_ns;
    uint64_t interval_ns;
    uint64_t pause_ns;    /* before the run */
    struct plan_workload *workloads;
    uint32_t workload_count;
    struct plan_run_target *targets;
    uint32_t target_count;
    struct plan_cell *cells;
    uint32_t cell_count;
    /* Effective values for every row of a result, where all workloads agree;
       "" where they do not.  As vdbench writes them. */
    const char *xfersize_text;
    const char *threads_text;
    const char *rdpct_text;
    const char *seekpct_text;
};

struct plan {
    struct plan_host *hosts;
    uint32_t host_count;
    struct plan_target *targets;
    uint32_t target_count;
    struct plan_run *runs;
    uint32_t run_count;
    struct arena *arena; /* plan_free()'s */
};

/* Frees all of it.  NULL is fine.  Returns NULL. */
struct plan *plan_free(struct plan *plan);

#endif
