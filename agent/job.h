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

#include "common/base.h"
#include "common/diag.h"

#define JOB_TARGETS_MAX   256u
#define JOB_WORKLOADS_MAX 64u
#define JOB_CELLS_MAX     4096u
#define JOB_SIZES_MAX     64u
#define JOB_THREADS_MAX   65536u
#define JOB_XFER_MAX      (256u << 20)

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
    char serial[TEXT_SIZE]; /* "" and 0: not compared */
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
    struct job_size sizes[JOB_SIZES_MAX];
    uint32_t size_count;
};

struct job_cell {
    uint32_t workload;
    uint32_t target;
    uint64_t low;
    uint64_t high;
    double iorate; /* 0: closed loop */
    double weight; /* closed loop: share of the target's free slots */
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
};

#define JOB_INTERVAL_MIN_NS (100 * NS_PER_MS)
#define JOB_LENGTH_MAX_NS   (UINT64_C(1) << 60) /* 36 years */

/* A job with room for so many, all zero; NULL without memory, or where a
 * number is above its limit. */
struct job *job_new(uint32_t targets, uint32_t workloads, uint32_t cells);

/* NULL is fine.  Returns NULL. */
struct job *job_free(struct job *job);

/*
 * Whether all of it holds that can be known without the drives.  Returns 0 or
 * -EBADMSG, `diag` naming what is wrong and its value.
 */
int job_check(const struct job *job, struct diag *diag) MUST_CHECK;

/* Warm-up and measured part together; 0 for a fill without end. */
uint64_t job_length_ns(const struct job *job);

/* The largest transfer that a workload may draw. */
uint32_t job_xfer_max(const struct job_workload *workload);

#endif
