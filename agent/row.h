/*
 * row.h - what all workers of this host measured in one interval.
 *
 * What it is for: the crew makes rows, the codec turns them into samples.
 * Interval k is [start + k x interval, start + (k + 1) x interval) of the
 * agent's monotonic clock; an I/O belongs to the interval in which it was
 * reaped.  The sum of all rows, the drain row included, is every I/O that the
 * phase ever submitted and got back.
 *
 * Units: nanoseconds of CLOCK_MONOTONIC, bytes.
 * Memory: the crew's.  A row is good until the next crew_take_row() or
 * crew_free().
 */
#ifndef AGENT_ROW_H
#define AGENT_ROW_H

#include "agent/job.h"
#include "common/histogram.h"

/* Different errors told apart for a cell and operation in one interval; what
 * is beyond is in `errors` alone. */
#define ROW_ERRORS 4

/* Requests that failed, kept with their particulars in one row. */
#define ROW_FAILURES 64u

enum row_kind {
    ROW_MEASURED,
    ROW_WARMUP,
    ROW_DRAIN, /* after the last edge; never part of a rate */
};

struct row_error {
    int err; /* positive errno; 0: a short transfer, or none when count is 0 */
    uint64_t count;
};

/* One request that failed: among the first of its drive. */
struct row_failure {
    uint64_t at_ns; /* when it was known */
    uint64_t offset;
    uint32_t length;
    uint32_t cell; /* index in the job */
    enum job_op op;
    int32_t result; /* a negative errno, or the bytes that were transferred */
};

/* One cell, one operation. */
struct row_cell {
    uint64_t ios; /* completed without error: service->count */
    uint64_t bytes;
    uint64_t errors;
    struct row_error by_errno[ROW_ERRORS];
    uint32_t in_flight; /* at the row's end */
    uint64_t oldest_ns; /* age of the oldest in flight, 0 without */
    /* Open loop: due and not issued at the row's end.  Whether such an arrival
       will read or write is not drawn yet: they stand with the reads, with the
       writes in a cell that only writes. */
    uint64_t unissued;
    uint64_t unissued_oldest_ns;
    /* Open loop: arrivals issued in the row, and how late: from the instant at
       which one was due and a thread free, to its submission.  It is the
       generator's own doing, never the drive's. */
    uint64_t issued;
    uint64_t late_ns; /* all together */
    uint64_t late_max_ns;
    const struct histogram *service;  /* NULL when the cell never does the op */
    const struct histogram *response; /* NULL in a closed loop, too */
};

/*
 * When the kernel did not let the workers go on.  A hold is more than a
 * millisecond beyond the time that a worker had asked to wait: a submission
 * that blocks, a thread that does not get its CPU.
 */
struct row_holds {
    uint64_t count;
    uint64_t ns;      /* beyond what was asked, all together */
    uint64_t refused; /* submissions put off: EAGAIN, EBUSY */
};

#define ROW_HOLD_NS NS_PER_MS

/* What the kernel counted of a drive. */
struct row_counters {
    uint64_t reads; /* completed */
    uint64_t reads_merged;
    uint64_t read_bytes;
    uint64_t writes;
    uint64_t writes_merged;
    uint64_t write_bytes;
    uint32_t in_flight; /* when it was looked at */
};

#define ROW_NO_TEMPERATURE INT32_MIN

/* What a drive says of itself; counters are of its whole life. */
struct row_health {
    bool known;             /* the log: all but the temperature */
    int32_t temperature_mc; /* thousandths of a degree Celsius */
    bool hot;               /* the drive's own warning */
    uint32_t used_percent;  /* of the life that its maker estimates */
    uint64_t media_errors;
    uint64_t written_bytes; /* by hosts */
    uint64_t throttles;     /* times that it slowed down for its temperature */
    uint64_t throttled_s;
};

/* One target's drive. */
struct row_drive {
    bool counted;
    bool shared;                  /* others may use it, too: see device.h */
    struct row_counters counters; /* since the row before */
    struct row_health health;     /* the latest, never waited for */
};

/* CPU time in the row's interval. */
struct row_host {
    uint64_t host_cpu_ns;
    uint64_t host_system_ns;
    uint64_t capacity_ns;
    uint64_t agent_cpu_ns;  /* with the kernel's io_uring threads */
    uint64_t worker_cpu_ns; /* of the busiest worker, without those */
};

struct row {
    uint64_t interval; /* the first one it covers */
    uint32_t spans;    /* how many; above 1 when the sampler came too late */
    enum row_kind kind;
    uint64_t begin_ns;
    uint64_t end_ns;
    uint64_t opened_first_ns; /* when the first worker opened its schedule */
    uint64_t opened_last_ns;
    uint32_t late_workers; /* that did not close this interval in time: what
                              they did is in a later row */
    struct row_host host;
    struct row_holds holds; /* of all workers */
    struct row_cell *cells; /* [cell x JOB_OPS + op] */
    uint32_t cell_count;    /* as in the job */
    const struct row_failure *failures;
    uint32_t failure_count;
    struct row_drive *drives; /* by target; NULL: nobody looked */
    uint32_t drive_count;
};

static inline const struct row_cell *row_cell(const struct row *row,
                                              uint32_t cell, enum job_op op)
{
    return &row->cells[(size_t)cell * JOB_OPS + op];
}

#endif
