/*
 * crew.h - the workers of one phase: the whole face of the engine towards
 * phase.c and the loop.
 *
 * The life of a crew, as crew_state() tells it:
 *
 *     crew_new()      PREPARING  threads start, allocate, touch and register
 *                     READY      (or FAILED: crew_outcome() has the reason)
 *     crew_arm(t)     ARMED      every worker waits for its clock to reach t
 *     crew_go()                  before t, or it disarms: FINISHED, NO_GO
 *                     RUNNING    from t on
 *                     DRAINING   the first worker has stopped issuing
 *                     FINISHED   all workers are through, or given up for stuck
 *     crew_free()     from any state; it never waits for a drive
 *
 * There are no callbacks: the loop calls crew_state() and crew_take_row() at
 * crew_next_poll_ns(), which is every 10 ms outside of RUNNING and 10 ms after
 * each edge in it.  None of the calls blocks.
 *
 * What the workers do by themselves, whatever becomes of the loop: they stop
 * issuing when the lease has passed, at the job's time limit, at the last
 * interval, when all cells have come to their end.
 *
 * Units: nanoseconds of the agent's CLOCK_MONOTONIC.
 * Threads: every call is for one thread, the loop.  One thread per worker
 * below; what is shared is in crew.c.
 * Memory: job, targets and descriptors may go once crew_free() returned.
 * Requests that never came back keep their ring, buffers and thread for the
 * life of the process; crew_quarantined() tells how much that is.
 */
#ifndef AGENT_CREW_H
#define AGENT_CREW_H

#include "agent/job.h"
#include "agent/row.h"
#include "common/clock.h"
#include "common/diag.h"

#define CREW_STUCK_MAX 64u /* kept with their particulars; all are counted */

struct crew_options {
    const char *engine;   /* NULL: io_uring.  "null:...": see engine_null.h */
    uint32_t workers_max; /* 0: as many as CPUs are allowed */
    bool pin;             /* each worker stays on its CPU */
    uint32_t turn;        /* see placement_choose() */
    const char *root;     /* where sysfs is; NULL: "" */
};

enum crew_state {
    CREW_PREPARING,
    CREW_READY,
    CREW_ARMED,
    CREW_RUNNING,
    CREW_DRAINING,
    CREW_FINISHED,
    CREW_FAILED, /* in preparation; nothing was issued */
};

/* As Outcome of lockstep.proto. */
enum crew_end {
    CREW_COMPLETE,
    CREW_STOPPED, /* crew_abort() */
    CREW_LEASE_LOST,
    CREW_NO_GO,
    CREW_ERROR, /* preparation or the engine failed, or a fill met an error */
    CREW_TIME_LIMIT,
};

struct crew_outcome {
    enum crew_end end;
    uint32_t target; /* index that the reason is about; UINT32_MAX: the host */
    struct diag reason; /* "" when complete */
    uint64_t intervals; /* rows made, the drain row not counted */
    uint64_t errors;    /* I/Os that failed, over all of the phase */
    uint64_t stuck_total;
};

/* A request that did not come back within the drain limit. */
struct crew_stuck {
    uint32_t target;
    enum job_op op;
    uint64_t offset;
    uint32_t length;
    uint64_t age_ns;
};

/* What it took, for Ready. */
struct crew_facts {
    uint32_t workers;
    uint64_t memory_bytes;
    const char *features; /* of the engine, as in use; "" before READY */
    double compressible;  /* what is written, measured; 0: nothing is */
    const char *unlocked; /* why buffers are not registered; "": they are */
};

struct crew;
struct opened_target; /* agent/interlock.h; in the order of job.targets */

/*
 * Checks the job against the targets (alignment, size, room for memory) and
 * starts the workers.  `lease_ns` is the first lease: an instant, see
 * crew_lease().  Returns 0; -EINVAL, -ENOMEM or -EAGAIN with the reason, the
 * target's index in `ret_target` where it is about one (else UINT32_MAX).
 */
int crew_new(const struct job *job, const struct opened_target *targets,
             const struct crew_options *options, const struct clock *clock,
             uint64_t lease_ns, struct crew **ret_crew, uint32_t *ret_target,
             struct diag *diag) MUST_CHECK;

enum crew_state crew_state(struct crew *crew);

/* From READY on: "worker 0 on CPU 3, node 0: sd1 sd2; ...", as far as it fits.
 * CPUs are what the kernel said when the worker had been pinned. */
void crew_print_placement(const struct crew *crew, const struct job *job,
                          char *text, size_t size);

struct crew_facts crew_facts(const struct crew *crew);

/* When to look again, by the crew's clock.  UINT64_MAX once FINISHED or
 * FAILED and all rows are taken. */
uint64_t crew_next_poll_ns(struct crew *crew);

/*
 * READY -> ARMED; ARMED without Go: moves the start.  -EINVAL in another state,
 * -ETIME when start_ns, or the start of before, is less than a millisecond
 * ahead.
 */
int crew_arm(struct crew *crew, uint64_t start_ns) MUST_CHECK;

/* -ETIME when the workers had to give up already. */
int crew_go(struct crew *crew) MUST_CHECK;

/* The workers issue nothing at or after `deadline_ns`.  UINT64_MAX: no
 * lease. */
void crew_lease(struct crew *crew, uint64_t deadline_ns);

/*
 * Ends with this interval.  -ETIME, and it goes on, when the interval's end is
 * past; one that has begun ends with its own edge as well.
 */
int crew_stop_after(struct crew *crew, uint64_t interval) MUST_CHECK;

/*
 * Issues nothing more from now on; then drains.  In any state, more than once:
 * the first reason wins.
 */
void crew_abort(struct crew *crew, enum crew_end end);

/*
 * The next row, in order of intervals, the drain row last.  NULL when there is
 * none yet.  With a worker that does not close its interval (its thread is
 * blocked in the kernel) the row comes without it after two intervals, at
 * least a second.
 */
const struct row *crew_take_row(struct crew *crew);

/* All rows were taken and the crew is FINISHED or FAILED. */
bool crew_finished(struct crew *crew);

/* In FINISHED and FAILED only. */
const struct crew_outcome *crew_outcome(const struct crew *crew);

/* Requests that did not come back, in FINISHED only; at most
 * CREW_STUCK_MAX. */
const struct crew_stuck *crew_stuck(const struct crew *crew,
                                    uint32_t *ret_count);

/*
 * Stops, and frees what no stuck request can reach.  Waits for the threads as
 * long as they need to see the order (milliseconds), never for a drive.  NULL
 * is fine.  Returns NULL.
 */
struct crew *crew_free(struct crew *crew);

/* Bytes that stuck requests of past crews hold on to, in this process. */
uint64_t crew_quarantined(void);

#endif
