/*
 * worker.h - one thread of load: arrival -> access -> engine -> histogram.
 *
 * A worker owns one engine and one or more targets whole: their slots (one per
 * outstanding request), the cells on them, and a ring of banks that the sampler
 * empties.  Its life:
 *
 *     worker_init()    copies what it needs of the job       loop thread
 *     worker_open()    memory, engine: all that can fail     its own thread
 *     worker_begin()   opens the schedule                    from here on own
 *     while (worker_turn()) ;                                thread
 *     worker_close()   gives the engine back; false while requests are stuck:
 *                      then worker_linger() and again
 *     worker_done()    frees the rest                        whoever is last
 *
 * A turn is one batch: look at the clock, close what edges have passed, reap,
 * check lease and orders, fill the free slots, submit and wait.  No turn
 * allocates, locks, faults or makes another system call than io_uring_enter.
 *
 * Closed loop: a free slot draws a cell by weight.  Open loop: each cell has
 * its schedule; of the cells of one target the arrival due first goes first,
 * and waits (as backlog) for a free slot.  Submission is stamped once a batch,
 * before the submit, completion once a batch, after the wait: a request never
 * looks faster than it was.
 *
 * Lateness: an arrival can be issued from when it is due and a slot is free.
 * What passes from then to its submission is counted beside the latencies
 * (row.h).  A worker sleeps until the next arrival is due, and timers are late:
 * with job.spin_percent it wakes SPIN_NS (worker.c) before and polls, for no
 * more than that share of its time.
 *
 * Threads: as above.  `control` is shared by the workers of a crew and the
 * loop.
 */
#ifndef AGENT_WORKER_H
#define AGENT_WORKER_H

#include "agent/access.h"
#include "agent/arrival.h"
#include "agent/bank.h"
#include "agent/crew.h"
#include "agent/draw.h"
#include "agent/due.h"
#include "agent/engine.h"
#include "agent/job.h"
#include "agent/pattern.h"
#include "agent/stuck.h"
#include "common/clock.h"
#include "common/diag.h"

#include <stdatomic.h>
#include <time.h>

#define WORKER_RUN (-1) /* worker_control.stop while nothing ended it */

/* A silent drive does not keep a worker from looking at its orders longer. */
#define WORKER_CHECK_NS (20 * NS_PER_MS)

/* Failures of a drive in a phase that are told with their particulars, each
 * worker's own. */
#define WORKER_FAILURES_KEPT 8u

/* Orders to all workers of a crew, read before every batch. */
struct worker_control {
    _Alignas(64) _Atomic uint64_t lease_ns; /* nothing is issued from then on */
    _Atomic uint64_t stop_after;            /* the last interval */
    _Atomic int32_t stop;        /* WORKER_RUN or enum crew_end; set once */
    _Atomic uint32_t live_cells; /* that have not come to their end */
};

/* Ends all workers' issuing; the first reason stays. */
void worker_control_stop(struct worker_control *control, enum crew_end end);

enum worker_state {
    WORKER_IDLE, /* not begun */
    WORKER_RUNNING,
    WORKER_DRAINING, /* issues nothing; what is in flight comes back */
    WORKER_SYNCING,  /* the fsync at the end, where asked for */
    WORKER_ENDED,
};

/* One outstanding request, or none.  A cache line. */
struct slot {
    struct engine_io io;
    uint64_t submitted_ns; /* 0: free */
    uint64_t intended_ns;
    uint8_t *write_base; /* its window of the pool of bytes to write */
    uint32_t write_at;   /* next position in it */
    uint16_t tally;
    uint16_t write_region;
};
_Static_assert(sizeof(struct slot) == 64, "one cache line");

/* The schedule of one cell in an open loop. */
struct stream {
    struct arrival arrival;
    uint64_t issued;
    struct arrival ahead;  /* goes through what is due and not issued */
    uint64_t ahead_number; /* of its next arrival; behind `issued`: stale */
};

struct worker_cell {
    uint32_t cell;     /* index in the job */
    uint32_t target;   /* of the worker */
    uint16_t tally;    /* of its reads; the next is that of its writes */
    bool open;         /* open loop */
    uint32_t priority; /* 1 goes first; 0: none */
    double weight;
    struct access access;
    struct stream stream;
    uint32_t *parts; /* cells by piece of `access`; NULL: it is the only one */
    uint32_t part_count; /* 1 where there are none; 0: joins another cell */
};

struct worker_target {
    uint32_t target; /* index in the job */
    int fd;          /* our own duplicate */
    uint32_t threads;
    uint32_t first_slot;
    uint32_t write_max; /* longest write; 0: none */
    uint32_t window;    /* bytes of each slot's window of the pool */
    uint32_t failures;  /* in a row */
    uint32_t kept;      /* failures told with their particulars */
    bool fsync;         /* at the end */
    bool settled;       /* what is written is not random: duplicates, or the
                           job's pattern */
    struct stuck_drive drive;
    uint64_t stuck; /* requests that did not come back */
    struct duplicates duplicates;
    /* Closed loop: live cells, and how one of them is chosen. */
    uint32_t *closed;
    double *closed_weights;
    uint64_t *closed_upto;
    struct choice_guide *closed_guide;
    uint32_t closed_count;
    struct worker_cell *only; /* of the closed ones, when there is one */
    /* Open loop: live cells by due time, and the free slots. */
    struct due_heap open;
    uint32_t *free;
    uint32_t free_count;
    bool has_open;
    uint64_t free_ns; /* since when some slot is free */
    bool ranked;      /* cells have priorities */
    bool queued;      /* in worker.due */
};

struct sleeper {
    uint64_t until_ns;
    uint32_t slot;
    bool retry; /* the kernel was short of something: the same again */
};

struct worker {
    /* What a turn touches. */
    const struct clock *clock;
    struct engine *engine;
    struct worker_control *control;
    struct slot *slots;
    struct bank *bank; /* being filled */
    struct worker_target *targets;
    struct worker_cell *cells;
    enum worker_state state;
    uint32_t in_flight;
    uint64_t edge_ns;  /* end of the current interval */
    uint64_t limit_ns; /* the job's time limit, as an instant */
    uint64_t wake_ns;  /* of the first sleeper */
    uint64_t look_ns;  /* the first of these three, while running */
    const struct engine_done *done; /* what the engine gave last */
    uint64_t done_ns;
    uint32_t *freed; /* ring of free slots of closed targets */
    uint32_t freed_mask;
    uint32_t freed_head;
    uint32_t freed_tail;
    uint32_t *batch;
    uint32_t batch_max;
    bool plain; /* closed cells only, and no fill */
    bool has_open;
    uint32_t failing; /* targets whose last request failed */
    uint8_t *read_memory;
    struct pattern pattern;
    struct draw draw;
    uint64_t return_ns;  /* when the last submit had to be back */
    struct due_heap due; /* open targets with a free slot */
    uint32_t *mixed;     /* open targets with closed cells, too */
    uint32_t mixed_count;
    double spin_share;     /* of a core; 0: it sleeps until the next arrival */
    uint64_t spin_from_ns; /* it spins since then; 0: it does not */
    uint64_t spin_due_ns;  /* the arrival for which it does or will */
    uint64_t spun_ns;

    /* What it touches at edges and in trouble. */
    uint64_t interval_ns;
    uint64_t interval; /* the current one */
    uint64_t intervals_max;
    uint32_t warmup_intervals;
    uint32_t live_cells;
    bool fill; /* ends when its cells have ended */
    struct arrival_profile profile;
    const uint8_t *pattern_bytes; /* the job's, to be written; NULL: none */
    uint32_t pattern_length;
    double compression;  /* asked */
    double compressible; /* measured, of what it writes; 0: it does not */
    uint64_t start_ns;
    uint64_t opened_ns;  /* when it opened its schedule */
    clockid_t cpu_clock; /* of its thread, from then on */
    uint64_t cpu_begin_ns;
    uint64_t refused; /* by the engine, as of the last bank */
    uint64_t drain_limit_ns;
    uint64_t drain_until_ns;
    struct sleeper *sleepers;
    uint32_t sleeper_count;
    struct bank_ring banks;
    _Atomic bool stopped; /* issues nothing more: its last bank is closed */

    /* Results, for others once `ended` is set. */
    uint64_t intervals;  /* how many it went through */
    uint64_t cpu_end_ns; /* what its thread had used then */
    uint64_t stopped_ns; /* when it issued the last time */
    uint64_t errors;
    uint64_t retries;
    struct diag reason; /* why it failed, if it did */
    uint32_t reason_target;
    struct crew_stuck stuck[CREW_STUCK_MAX];
    uint64_t stuck_total;
    _Atomic bool ended;

    /* Memory. */
    struct access_piece *pieces; /* of cells that are joined, and */
    uint32_t *parts;             /* which these are */
    uint32_t cell_count;
    uint32_t target_count;
    uint32_t slot_count;
    uint32_t read_max;
    void *tables;
    size_t tables_length;
    struct engine_region *regions; /* [0] is the read memory, if any */
    uint32_t region_count;
};

/*
 * Copies what concerns `targets` (indices into the job's) and duplicates their
 * descriptors.  Nothing of the job or of `opened` is used afterwards.  Returns
 * 0 or a negative errno; worker_done() in either case.
 */
int worker_init(struct worker *worker, const struct job *job,
                const struct opened_target *opened, const uint32_t *targets,
                uint32_t target_count, const struct clock *clock,
                struct worker_control *control, struct diag *diag) MUST_CHECK;

/* Bytes of buffers that worker_open() will register. */
uint64_t worker_buffers(const struct worker *worker);

/* Bytes that worker_open() will take, the engine's rings not counted. */
uint64_t worker_memory(const struct worker *worker);

/* 0, or a negative errno with the reason; worker_close() in either case. */
int worker_open(struct worker *worker, const struct engine_kind *kind,
                struct diag *diag) MUST_CHECK;

/* From here on it issues; `start_ns` is the edge of interval 0. */
void worker_begin(struct worker *worker, uint64_t start_ns);

/* Instead of all that follows: it never begins. */
void worker_skip(struct worker *worker);

/* One batch.  False when it has ended: drained, or given up for stuck. */
bool worker_turn(struct worker *worker);

/* Gives back engine, buffers and descriptors.  False while requests are stuck:
 * all of it stays as it is. */
bool worker_close(struct worker *worker);

/* Waits up to a second for stuck requests; nothing of them is counted. */
void worker_linger(struct worker *worker);

void worker_done(struct worker *worker);

/*
 * Between the files of the worker.
 */

/* worker_edge.c: closes the intervals whose edges are past; may end it. */
void worker_pass_edges(struct worker *worker, uint64_t now_ns);

/* worker_edge.c: issues nothing more; the open bank ends at `end_ns`. */
void worker_stop_issuing(struct worker *worker, uint64_t end_ns,
                         uint64_t now_ns);

/* worker_edge.c: settles `look_ns`; after every change to what it is made of.
 */
void worker_look_again(struct worker *worker);

/* worker_edge.c: goes on draining; false when through. */
bool worker_drain(struct worker *worker, uint64_t now_ns);

/* worker_trouble.c: a request that failed or was short. */
void worker_fail(struct worker *worker, uint32_t slot, int32_t result,
                 uint64_t now_ns);

/* worker_trouble.c: a request of the target did not fail. */
void worker_recover(struct worker *worker, uint32_t target);

/* worker_trouble.c: releases the sleepers that are due; those to be tried again
 * go to the batch. */
uint32_t worker_wake(struct worker *worker, uint64_t now_ns, uint32_t count);

/* worker_trouble.c: the engine is broken. */
void worker_break(struct worker *worker, int err, uint64_t now_ns);

/* worker_choice.c: of the arrivals of a target that are due, which has the
 * highest rank: its place in the heap. */
uint32_t worker_rank(const struct worker *worker,
                     const struct worker_target *target, uint64_t now_ns);

/* worker_choice.c: a cell has come to its end. */
void worker_end_cell(struct worker *worker, struct worker_cell *cell);

/* worker_choice.c: settles how the live cells are chosen. */
void worker_weigh(struct worker *worker, struct worker_target *target);

/* worker.c: the slot may be used again, from `at_ns` on. */
void worker_release(struct worker *worker, uint32_t slot, uint64_t at_ns);

static inline uint64_t stream_due_ns(const struct worker *worker,
                                     const struct stream *stream)
{
    return worker->start_ns + arrival_due_ns(&stream->arrival);
}

#endif
