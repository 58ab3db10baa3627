/*
 * bank.h - what one worker counts in one interval, and its hand-over.
 *
 * A bank holds a tally for each operation of each cell of the worker.  The
 * worker fills the open bank and closes it at its edge; the sampler takes
 * closed banks in order, reads, clears and releases them.  Nothing is copied or
 * cleared on the worker's side.
 *
 * The ring has BANK_COUNT banks.  When the sampler is late the worker goes on
 * in the open bank, which then spans intervals and says so; the last free bank
 * is kept for the edge between warm-up and measuring, which no bank spans.
 *
 * Threads: the worker calls bank_open() and bank_close(), the sampler
 * bank_closed() and bank_release(); bank_ring_init() comes before, _done()
 * after both.
 * Memory: one populated mapping per ring.
 */
#ifndef AGENT_BANK_H
#define AGENT_BANK_H

#include "agent/row.h"
#include "common/base.h"
#include "common/histogram.h"

#include <stdatomic.h>

#define BANK_COUNT    5u
#define BANK_FAILURES 16u /* kept with their particulars */

/* One operation of one cell. */
struct tally {
    struct histogram *service; /* NULL where it cannot occur */
    struct histogram *response;
    uint64_t bytes;
    uint64_t errors;
    struct row_error by_errno[ROW_ERRORS];
    uint64_t oldest_ns;
    uint64_t unissued;
    uint64_t unissued_oldest_ns;
    uint64_t issued; /* open loop, and how late: see row.h */
    uint64_t late_ns;
    uint64_t late_max_ns;
    uint32_t in_flight;
};

struct bank {
    struct tally *tallies;
    uint64_t interval; /* first one */
    uint32_t spans;    /* 1 or more once closed */
    uint64_t end_ns;   /* true end, set when closed */
    struct row_holds holds;
    struct row_failure failures[BANK_FAILURES];
    uint32_t failure_count;
};

struct bank_ring {
    struct bank bank[BANK_COUNT];
    struct bank drain; /* after the last edge; the worker's until it ended */
    uint32_t tally_count;
    void *memory;
    size_t memory_length;
    _Alignas(64) _Atomic uint32_t closed; /* by the worker, ever */
    _Alignas(64) _Atomic uint32_t taken;  /* by the sampler, ever */
};

/* What a tally has to have. */
enum bank_need {
    BANK_NOTHING, /* the operation cannot occur */
    BANK_SERVICE,
    BANK_BOTH,
};

/* Bytes that bank_ring_init() will map. */
uint64_t bank_memory(const enum bank_need *needs, uint32_t tally_count);

/* 0 or -ENOMEM. */
int bank_ring_init(struct bank_ring *ring, const enum bank_need *needs,
                   uint32_t tally_count) MUST_CHECK;
void bank_ring_done(struct bank_ring *ring);

/* The bank that the worker fills. */
static inline struct bank *bank_open(struct bank_ring *ring)
{
    return &ring->bank[atomic_load_explicit(&ring->closed,
                                            memory_order_relaxed) %
                       BANK_COUNT];
}

/*
 * Whether the open bank may be closed with another one to follow.  `border`:
 * this edge must not be spanned.
 */
bool bank_may_close(struct bank_ring *ring, bool border);

/* Hands the open bank over.  The next one is open then, if there is one. */
void bank_close(struct bank_ring *ring);

/* The oldest closed bank not yet released; NULL when there is none. */
struct bank *bank_closed(struct bank_ring *ring);

/* Clears and gives back what bank_closed() returned. */
void bank_release(struct bank_ring *ring);

/* Adds an error, by errno; 0 is a short transfer. */
void tally_error(struct tally *tally, int err);

/* Keeps the particulars; false when there is no more room in this bank. */
bool bank_keep(struct bank *bank, const struct row_failure *failure);

#endif
