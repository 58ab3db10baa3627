/*
 * plan.h - a campaign after expansion: what will run where.
 *
 * Two pure steps make it.  plan_expand() turns definitions into runs, targets
 * and cells.  With a fleet, it matches the file's hosts to agents, and hosts
 * that are one agent become one; without (`lockstep check`), plan_host.agent
 * stays PLAN_NOWHERE.  Then the caller asks the agents about the targets
 * (Inspect), hands each answer to plan_set_facts(), and plan_place() settles
 * sizes in bytes, regions and the fill phase; this is what is conducted.
 * Between the two, sizes and regions may be 0 (unknown).
 *
 *     err = plan_expand(definitions, &fleet, &report, &plan);
 *     for each plan->targets[i]: ask plan->hosts[target->host].agent,
 *         err = plan_set_facts(plan, i, &facts);
 *     err = plan_place(plan, &report);
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
#include "controller/language/report.h"

struct arena;
struct definitions;

#define PLAN_NOWHERE UINT32_MAX

/* Limits of a plan; more is a clear error of the file. */
#define PLAN_HOSTS_MAX   4096u
#define PLAN_TARGETS_MAX 65536u
#define PLAN_RUNS_MAX    200000u
#define PLAN_FIND_STEPS  8u /* of iorate=find: to 1/256 of the maximum */

enum plan_rate_kind {
    PLAN_RATE_MAX,      /* closed loop */
    PLAN_RATE_CURVE,    /* closed loop; its result is the 100 % of a curve */
    PLAN_RATE_PERCENT,  /* a point of a curve; value: per cent of what the
                           PLAN_RATE_CURVE run before it measured */
    PLAN_RATE_OBSERVED, /* iorate=50%; value: per cent of the rate that the
                           run before it measured, whatever that was */
    PLAN_RATE_FIXED,    /* value: I/Os a second, all cells together */
    PLAN_RATE_FIND,     /* value: step, from 1, of the search for the highest
                           rate that keeps the run's find_limit_ns, below what
                           the PLAN_RATE_CURVE run before it measured */
    PLAN_RATE_DRIVES,   /* as PLAN_RATE_PERCENT, but each drive's own maximum
                           is its 100 %: curve_scope=drive */
};

/* How the arrivals of an open loop are spread; the values of the wire. */
enum plan_arrival {
    PLAN_ARRIVAL_EXPONENTIAL,
    PLAN_ARRIVAL_UNIFORM,
    PLAN_ARRIVAL_DETERMINISTIC,
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

/*
 * A machine.  Several hd= that turn out to be one agent are one host: the
 * first names it, `aliases` lists the others ("one, two"; "" for none).
 */
struct plan_host {
    const char *label;  /* hd=, or "localhost" */
    const char *system; /* system=, or the label */
    const char *aliases;
    uint32_t agent; /* index into the fleet given to plan_expand() */
    struct language_place place;
};

/* A drive as its agent's inventory tells; "" is unknown. */
struct plan_drive {
    const char *name; /* nvme0n1 */
    const char *path; /* /dev/nvme0n1 */
    const char *by_id;
    const char *model;
    const char *serial;
    const char *firmware;
    const char *wwn;
    uint64_t size_bytes;
    const char *const *used_by; /* "mounted on /" ...; none: it is free */
    uint32_t use_count;
};

/* An agent as the registry knows it.  Strings are the caller's. */
struct plan_agent {
    const char *name;
    const char *hostname;
    const char *const *addresses; /* of its connection; without ports */
    uint32_t address_count;
    const char *const *labels;
    uint32_t label_count;
    const struct plan_drive *drives; /* for drive=; NULL: it told none yet */
    uint32_t drive_count;
};

struct plan_fleet {
    const struct plan_agent *agents; /* the connected ones */
    uint32_t agent_count;
    bool this_host_only; /* `lockstep run`: there will never be others */
    const char *folder;  /* of relative lun=; NULL: they are left as they are */
};

/* What an agent told about a target (Inspected), or unknown. */
struct plan_facts {
    bool known;
    bool is_block;       /* a device of which block 0 is never touched */
    bool is_character;   /* /dev/null and /dev/zero: no size of their own */
    bool missing;        /* no such path; a fill phase may make the file */
    bool ours;           /* an existing file that Lockstep made */
    const char *refusal; /* why the interlock would not open it; "": it would */
    uint64_t free_bytes; /* of the file system, for a file; 0: unknown */
    uint64_t device_number;
    uint64_t inode;
    uint64_t size_bytes;
    uint32_t logical_block; /* bytes; 1 for buffered files */
    const char *device;     /* canonical path */
    const char *serial;     /* "" is unknown, here and below */
    const char *wwn;
    const char *model;
    uint64_t disk_sequence;
    const char *content; /* what writing to it destroys; "": nothing */
};

/* dedupflipflop=; the values of DedupFlip on the wire. */
enum plan_flip {
    PLAN_FLIP_NO,
    PLAN_FLIP_YES,
    PLAN_FLIP_HOT,
};

#define PLAN_HOT_MAX 16u

struct plan_hot {
    uint32_t sets;
    uint32_t units;
};

/* dedupratio= and its kin. */
struct plan_dedup {
    double ratio;  /* 1 or less: no duplicates */
    uint32_t unit; /* bytes */
    double sets;   /* so many, or per cent of the units of the bucket */
    bool sets_is_percent;
    struct plan_hot hot[PLAN_HOT_MAX];
    uint32_t hot_count;
    enum plan_flip flip;
    bool places_alike;
    uint32_t bucket; /* drives of one share their duplicates */
    /* After placement: share of unique units, how many different duplicates
       there are (0: no duplicates), which of the hot ones lie here. */
    double unique;
    uint64_t contents;
    uint32_t hot_first;
    uint32_t hot_every;
};

/* Whether the file names a drive, or drive= selects it. */
enum plan_choice {
    PLAN_CHOICE_NAMED,
    PLAN_CHOICE_OPEN,   /* selected once the fleet is known; `path` says what */
    PLAN_CHOICE_CHOSEN, /* selected; the facts have what the inventory told */
};

struct plan_target {
    uint32_t host; /* index into plan.hosts */
    const char *sd;
    const char *path;    /* lun=, with $host and the like replaced */
    uint32_t open_flags; /* of all its runs together, for Inspect */
    uint64_t size_bytes; /* size=, 0: all of it.  After placement: the bytes
                            that I/O stays below */
    bool size_given;     /* a missing file may be made */
    bool overwrite;      /* overwrite=yes: what is on it may be destroyed */
    enum plan_choice choice;
    struct plan_dedup dedup;
    uint32_t sd_number; /* targets of one sd have the same */
    bool written;       /* by some run of the campaign, a fill included */
    uint32_t xfer_max;  /* largest transfer of the campaign on its sd */
    struct plan_facts facts;
    struct language_place place; /* of its lun= */
};

/* Where a request goes that does not follow the one before; as on the wire. */
enum plan_seek {
    PLAN_SEEK_UNIFORM,
    PLAN_SEEK_POISSON, /* seekpct=poisson */
    PLAN_SEEK_BAND,    /* hotband= */
};

/* A rate that changes with time: distribution=variable. */
struct plan_step {
    double rate; /* I/Os a second */
    uint64_t duration_ns;
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
    uint32_t size_step; /* not 0: sizes are the least and the most, half each;
                           any multiple of the step between them is as likely */
    double skew; /* per cent of the run's rate; all of a run's add up to 100 */
    double rate; /* its own, iorate= of wd=; 0: its share of the run's */
    uint32_t priority;       /* 1 goes first; 0: none */
    double read_hit_percent; /* rhpct=, whpct= */
    double write_hit_percent;
    uint64_t stride_min; /* stride=, bytes */
    uint64_t stride_max;
    uint32_t streams; /* 0: one */
    enum plan_seek seek;
    double poisson_mid;
    bool starts_anywhere; /* seekpct=seqnz */
};

/* A target in one run. */
struct plan_run_target {
    uint32_t target;     /* index into plan.targets */
    uint32_t threads;    /* outstanding on this target's host: threads= divided
                            over the sd's hosts; 1 or more */
    uint32_t open_flags; /* in this run: openflags= of wd and rd win over sd */
    bool write;          /* this run writes to it */
};

/* range= as asked: each edge in per cent of the target or in bytes.  `high` 0:
 * to the end. */
struct plan_range {
    bool low_is_percent;
    bool high_is_percent;
    double low;
    double high;
};

/*
 * One workload on one target in one run.  Sequential work on an sd that several
 * hosts share is cut into `slices` equal parts, of which this host has number
 * `slice`, from 0.
 */
struct plan_cell {
    uint32_t workload; /* index into plan_run.workloads */
    uint32_t target;   /* index into plan_run.targets */
    double share;      /* of the run's rate; all cells of a run add up to 1.
                          Of a workload with a rate of its own: of that rate */
    struct plan_range range;
    uint32_t slice;
    uint32_t slices; /* 1: not cut */
    uint64_t low;    /* region in bytes; high 0: unknown before placement */
    uint64_t high;
    uint64_t wrap_low; /* the part of range= beyond the end; 0, 0: none */
    uint64_t wrap_high;
    uint64_t shift;    /* offset=: places are shift + n x grain */
    uint32_t align;    /* the grain of places; 0: the largest transfer */
    uint64_t hit_area; /* hitarea=; 0: not used.  After placement from `low` */
    double band_low;   /* hotband=: which part of the band this is, 0 .. 1 */
    double band_high;
    uint32_t joins; /* 1 + the earlier cell of the run, on the same host,
                       whose sequence goes on here; the share is all that
                       one's.  0: a cell of its own */
    bool idle;      /* nothing of a band or of concatenated sds lies here */
};

/* A command that runs before or after runs: by the name or text that the
 * configuration of a host, or the controller's, has for it. */
struct plan_command {
    const char *keyword; /* "startcmd", "endcmd", "heartbeat_error" */
    const char *text;
    bool shown;         /* what it writes also goes to people */
    bool on_controller; /* else on every host of the run */
    struct language_place place;
};

struct plan_commands {
    const struct plan_command *items; /* in their order */
    uint32_t count;
};

struct plan_run {
    const char *rd;   /* rd= */
    const char *name; /* rd1, or rd1_(50%) as vdbench prints it */
    enum plan_run_kind kind;
    struct plan_rate rate;
    enum plan_arrival arrival;
    bool skew_given;      /* some wd names skew=: shares are kept at max too */
    const char *for_text; /* "threads=1 xfersize=4k", "" without loops */
    uint64_t elapsed_ns;  /* measured part; 0 for a fill */
    uint64_t warmup_ns;
    uint64_t interval_ns;
    uint64_t pause_ns;             /* before the run */
    const struct plan_step *steps; /* NULL: the rate stays */
    uint32_t step_count;
    bool spike;
    uint32_t spin_percent;  /* arrival_precision=: 0 sleeps, else of a core */
    bool concatenated;      /* the sds of a workload are one large one */
    double compression;     /* compratio=; 1: none */
    uint64_t stop_curve_ns; /* a point above it ends the curve; 0: none */
    double find_quantile;   /* of response times, 0 .. 1; iorate=find */
    uint64_t find_limit_ns;
    /* Merged bytes, warm-up not counted, after which it ends; 0: none. */
    uint64_t max_bytes;
    uint64_t max_bytes_read;
    uint64_t max_bytes_written;
    double max_ratio[3]; /* the same as a multiple of all sds, until placed */
    struct plan_commands start; /* startcmd= of rd=: before it */
    struct plan_commands end;   /* endcmd=: after it */
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
    struct language_place place; /* of its rd= */
};

/* How much of a run's hosts must take part: require=. */
enum plan_require {
    PLAN_REQUIRE_ALL,
    PLAN_REQUIRE_COUNT,
    PLAN_REQUIRE_PERCENT,
};

struct plan {
    struct plan_host *hosts;
    uint32_t host_count;
    struct plan_target *targets;
    uint32_t target_count;
    struct plan_run *runs;
    uint32_t run_count;
    uint32_t distinct_runs;      /* those behind are the same again (loop=) */
    uint32_t workers;            /* workers=; 0: as agents are configured */
    const uint8_t *pattern;      /* pattern=: what is written; NULL: none */
    uint32_t pattern_length;
    bool format_files;           /* formatsds=yes: fill files that are there */
    uint64_t max_errors;         /* data_errors=, of a run; 0: no limit */
    uint64_t max_errors_span_ns; /* within so long; 0: altogether */
    enum plan_require require;   /* hosts that must take part in a run */
    double require_value;
    bool host_wait_given; /* else as the controller is configured */
    uint64_t host_wait_ns;
    uint64_t drain_wait_ns;     /* 0: as the controller is configured */
    const char *monitor;        /* monitor=, read by who watches; NULL: none */
    double skew_limit;          /* abort_failed_skew=, per cent; 0: none */
    const char *histogram;      /* histogram=: us, by commas, and "suppress";
                                   NULL: vdbench's own */
    struct plan_commands start; /* before the first run, on the controller */
    struct plan_commands end;   /* after the last one, however it ended */
    struct plan_commands host_lost; /* when a host is given up */
    struct arena *arena;            /* plan_free()'s */
};

/*
 * Makes the plan.  `fleet` NULL: no agents are looked for.  Returns 0 with
 * `ret_plan` set (it does not need the definitions any more); -EINVAL with
 * errors in the report: a host that no agent is, too many runs or targets, and
 * the like; -ENOMEM.
 */
int plan_expand(const struct definitions *definitions,
                const struct plan_fleet *fleet, struct language_report *report,
                struct plan **ret_plan) MUST_CHECK;

/* Copies what an agent told about targets[target].  0 or -ENOMEM. */
int plan_set_facts(struct plan *plan, uint32_t target,
                   const struct plan_facts *facts) MUST_CHECK;

/*
 * Settles sizes, regions and the fill run from the targets' facts; called
 * once.  The fill, if one is needed, becomes runs[0] and is named SD_format.
 * Returns 0; -EINVAL with errors in the report, one a target: missing, refused,
 * too small, blocks that do not fit; -ENOMEM.
 */
int plan_place(struct plan *plan, struct language_report *report) MUST_CHECK;

/*
 * A curve's point, or a percentage of an observed rate, in I/Os a second, as
 * vdbench rounds it: whole numbers; above 1000 up to the next 100, else up to
 * the next 10.  Never below 10.
 */
uint64_t plan_round_rate(double observed_iops, double percent);

/* I/Os a second of a cell where the run asks for `run_rate`; 0: as many as go.
 */
double plan_cell_rate(const struct plan_run *run, const struct plan_cell *cell,
                      double run_rate);

/*
 * The rates of a PLAN_RATE_DRIVES run's cells: the run's is divided over the
 * drives as `maximum` [plan->target_count] says, what a drive gets over its
 * cells by `shares` [run->workload_count] of the workloads (NULL: as planned).
 * Workloads with a rate of their own keep it.  `ret_rates` [run->cell_count];
 * `weights` [run->target_count] is scratch.
 */
void plan_drive_rates(const struct plan_run *run, double run_rate,
                      const double *maximum, const double *shares,
                      double *weights, double *ret_rates);

/* Bytes of a request of the workload, in the mean. */
double plan_workload_bytes(const struct plan_workload *workload);

/* Bytes of all sds of a run, each counted once; 0 where one is not known. */
uint64_t plan_run_bytes(const struct plan *plan, const struct plan_run *run);

/* Bytes that the runs write which have an end: by a rate, each block once, or
 * maxdata=.  `ret_open_ended`: how many runs write as much as drives take. */
double plan_written_bytes(const struct plan *plan, uint32_t *ret_open_ended);

/* Pauses, warm-ups and measured times of all runs; fills count as 0. */
uint64_t plan_total_ns(const struct plan *plan);

/* Frees all of it.  NULL is fine.  Returns NULL. */
struct plan *plan_free(struct plan *plan);

#endif
