/*
 * job.h - one phase on this host, as checked by the codec: what phase.c
 * prepares and the workers run.
 *
 * The codec accepts only what is true from here on: indices in range, sizes
 * and regions sound, numbers within the bounds of lockstep.proto.  What only
 * the drives can tell (block sizes, identity) is checked when they are opened.
 *
 * Memory: one allocation tree, job_free() frees all.  Not changed once made.
 * Threads: made on the loop; read by the workers while they run.
 */
#ifndef AGENT_JOB_H
#define AGENT_JOB_H

#include "agent/pattern.h"
#include "common/base.h"
#include "common/diag.h"

#define JOB_TARGETS_MAX     256u
#define JOB_WORKLOADS_MAX   64u
#define JOB_CELLS_MAX       4096u
#define JOB_SIZES_MAX       64u
#define JOB_THREADS_MAX     65536u
#define JOB_XFER_MAX        (256u << 20)
#define JOB_STREAMS_MAX     256u  /* sequential streams of one cell */
#define JOB_STEPS_MAX       3600u /* of a rate that changes with time */
#define JOB_PRIORITY_MAX    64u
#define JOB_HOT_UNITS_MAX   1000000u /* of all hot sets of duplicates */
#define JOB_COMPRESSION_MAX 100.0
#define JOB_PATTERN_MAX     (256u << 10)

enum job_op {
    JOB_READ,
    JOB_WRITE,
    JOB_OPS,
};

enum job_kind {
    JOB_MEASURE,
    JOB_FILL, /* every block of each cell written once, then the end */
};

enum job_arrival {
    JOB_EXPONENTIAL,
    JOB_UNIFORM,
    JOB_DETERMINISTIC,
};

/* Where a request goes that goes elsewhere. */
enum job_seek {
    JOB_SEEK_UNIFORM,
    JOB_SEEK_POISSON, /* a hot area, see job_workload.poisson_mid */
    JOB_SEEK_BAND,    /* ever more towards the beginning, see job_cell.band */
};

enum job_open_flag {
    JOB_OPEN_DIRECT = 1,
    JOB_OPEN_DSYNC = 2,
    JOB_OPEN_SYNC = 4,
    JOB_OPEN_FSYNC = 8,
    JOB_OPEN_ALL = 15,
};

/* Which phase of which campaign, by which start of which controller. */
struct work {
    struct uuid campaign;
    uint32_t phase;
    uint64_t epoch;
};

struct job_target {
    char sd[NAME_SIZE];
    char path[PATH_SIZE];
    uint32_t open_flags;
    uint64_t size_bytes;
    uint32_t threads;
    bool write;
    bool create;
    bool overwrite;          /* named by the campaign: what is on it may go, */
    char consent[TEXT_SIZE]; /* if it is this, see interlock.h */
    struct duplicates duplicates; /* as far as it is told; unit 0: none */
    char serial[TEXT_SIZE];       /* "" and 0: not compared */
    char wwn[TEXT_SIZE];
    uint64_t device_size_bytes;
    uint64_t disk_sequence;
};

struct job_size {
    uint32_t bytes;
    double percent;
};

struct job_workload {
    char name[NAME_SIZE];
    double read_percent;
    double seek_percent;
    bool end_at_eof;
    /* With `size_step`: [0] is the least and [1] the most, half each; any
     * multiple of the step between them is as likely. */
    struct job_size sizes[JOB_SIZES_MAX];
    uint32_t size_count;
    uint32_t size_step;
    double read_hit_percent;  /* of the reads, in the cell's hit area */
    double write_hit_percent; /* both 0: there is no such area */
    uint64_t stride_min;      /* bytes left out behind a sequential request */
    uint64_t stride_max;
    uint32_t streams; /* sequential ones, each in its own slice; 0 is 1 */
    enum job_seek seek;
    double poisson_mid;   /* of 4 x mid pieces the one that is hit most */
    bool starts_anywhere; /* sequential, but not from the beginning */
};

struct job_cell {
    uint32_t workload;
    uint32_t target;
    uint64_t low;
    uint64_t high;
    double iorate; /* 0: closed loop */
    double weight; /* closed loop: share of the target's free slots */
    /* A second piece behind the first: range= beyond the end.  0, 0: none. */
    uint64_t wrap_low;
    uint64_t wrap_high;
    uint64_t shift;     /* positions are a multiple of `align`, and this */
    uint32_t align;     /* 0: of the largest transfer */
    uint64_t hit_bytes; /* from `low` on; 0: no hit area */
    double band_low;    /* JOB_SEEK_BAND: the part of the band that the cell */
    double band_high;   /* is, 0 .. 1 */
    uint32_t priority;  /* 1 goes first; 0: none has one */
    uint32_t joins;     /* 1 + the earlier cell whose sequence goes on here; 0:
                           a cell of its own */
};

/* A rate that changes with time: so long, so many times its mean. */
struct job_step {
    uint64_t duration_ns;
    double rate; /* relative to the others */
};

struct job {
    struct work work;
    char name[TEXT_SIZE];
    enum job_kind kind;
    enum job_arrival arrival;
    uint64_t interval_ns;
    uint32_t warmup_intervals;
    uint64_t measured_intervals; /* 0: a fill, until all is written */
    uint64_t seed;
    uint64_t drain_limit_ns;
    uint64_t time_limit_ns;
    struct job_target *targets;
    uint32_t target_count;
    struct job_workload *workloads;
    uint32_t workload_count;
    struct job_cell *cells;
    uint32_t cell_count;
    struct job_step *steps; /* over and over; NULL: the rate stays */
    uint32_t step_count;
    bool spike;         /* all arrivals of a second come at its beginning */
    double compression; /* of what is written: 2 compresses to half; 0 is 1 */
    uint8_t *pattern;   /* what is written, over and over; NULL: random bytes */
    uint32_t pattern_length;
    uint32_t workers;      /* threads; 0: as the agent's configuration says */
    uint32_t spin_percent; /* of a core, that a worker may spin so as to issue
                              arrivals in time; 0: it sleeps */
};

#define JOB_INTERVAL_MIN_NS (100 * NS_PER_MS)
#define JOB_LENGTH_MAX_NS   (UINT64_C(1) << 60) /* 36 years */

/* A job with room for so many, all zero; NULL without memory, or where a
 * number is above its limit. */
struct job *job_new(uint32_t targets, uint32_t workloads, uint32_t cells);

/* Room for so many steps, all zero.  0, -ENOMEM, or -E2BIG. */
int job_add_steps(struct job *job, uint32_t count) MUST_CHECK;

/* Takes a copy of what is to be written.  0, -ENOMEM, or -E2BIG. */
int job_set_pattern(struct job *job, const void *bytes,
                    size_t length) MUST_CHECK;

/* NULL is fine.  Returns NULL. */
struct job *job_free(struct job *job);

/*
 * Whether all of it holds that can be known without the drives.  Returns 0 or
 * -EBADMSG, `diag` naming what is wrong and its value.
 */
int job_check(const struct job *job, struct diag *diag) MUST_CHECK;

/* Warm-up and measured part together; 0 for a fill without end. */
uint64_t job_length_ns(const struct job *job);

/* What the random positions of a cell are multiples of. */
uint32_t job_grain(const struct job_workload *workload,
                   const struct job_cell *cell);

/* The largest transfer that a workload may draw. */
uint32_t job_xfer_max(const struct job_workload *workload);

#endif
