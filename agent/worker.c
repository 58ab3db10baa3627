/*
 * worker.c - the turn of a worker: the path of every I/O.
 *
 * Everything here is counted in instructions per I/O (tests/bench).  What is
 * rare lives elsewhere: edges and draining in worker_edge.c, errors in
 * worker_trouble.c, the choice among several cells in worker_choice.c.
 */
#include "agent/worker.h"

#include <assert.h>

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define INLINE      static inline __attribute__((always_inline))

/* After so many completions the clock is read again before submitting, so that
 * the time we spent on them is not taken for the drive's. */
#define STAMP_AGAIN 8u

void worker_release(struct worker *w, uint32_t slot)
{
    struct worker_target *t = &w->targets[w->slots[slot].io.file];

    if (!t->has_open) {
        w->freed[w->freed_tail++ & w->freed_mask] = slot;
        return;
    }
    t->free[t->free_count++] = slot;
    if (!t->queued && t->open.count > 0) {
        t->queued = true;
        due_push(&w->due, t->open.entry[0].at_ns, w->slots[slot].io.file);
    }
}

/* What completing needs, out of reach of the stores it makes: kept in
 * registers. */
struct reaping {
    struct slot *slots;
    struct tally *tallies;
    uint32_t *freed;
    uint32_t freed_mask;
    uint32_t freed_tail;
    bool has_open;
    bool has_failures;
};

INLINE void complete(struct worker *w, struct reaping *r, uint32_t index,
                     int32_t result, uint64_t at_ns)
{
    struct slot *slot = &r->slots[index];
    struct tally *tally = &r->tallies[slot->tally];

    if (UNLIKELY(result != (int32_t)slot->io.length)) {
        worker_fail(w, index, result, at_ns);
        return;
    }
    tally->bytes += slot->io.length;
    histogram_record(tally->service, at_ns - slot->submitted_ns);
    if (tally->response != NULL)
        histogram_record(tally->response, at_ns - slot->intended_ns);
    slot->submitted_ns = 0;
    if (UNLIKELY(r->has_failures))
        w->targets[slot->io.file].failures = 0;
    if (r->has_open)
        worker_release(w, index);
    else
        r->freed[r->freed_tail++ & r->freed_mask] = index;
}

INLINE void complete_all(struct worker *w, const struct engine_done *done,
                         uint32_t count, uint64_t at_ns)
{
    struct reaping r = {
        .slots = w->slots,
        .tallies = w->bank->tallies,
        .freed = w->freed,
        .freed_mask = w->freed_mask,
        .freed_tail = w->freed_tail,
        .has_open = w->has_open,
        .has_failures = w->has_failures,
    };

    for (uint32_t i = 0; i < count; i++)
        complete(w, &r, (uint32_t)done[i].slot, done[i].result, at_ns);
    if (!r.has_open)
        w->freed_tail = r.freed_tail;
}

static uint32_t reap(struct worker *w, uint64_t now_ns)
{
    const struct engine_done *done;
    uint32_t total = 0;
    uint64_t at_ns;
    uint32_t count;

    do {
        count = w->engine->ops->reap(w->engine, now_ns, &done, &at_ns);
        complete_all(w, done, count, at_ns);
        total += count;
    } while (count > 0 && w->engine->constructed);
    assert(total <= w->in_flight);
    w->in_flight -= total;
    return total;
}

/* The same bytes for the same place: the window begins where a unit does. */
static void aim_duplicate(const struct worker_target *t, struct slot *slot)
{
    uint32_t within = (uint32_t)(slot->io.offset % t->duplicates.unit);

    slot->io.memory = slot->write_base + within;
    slot->io.region = slot->write_region;
    duplicates_stamp(&t->duplicates, slot->io.memory, slot->io.length,
                     slot->io.offset);
}

/* Takes the next window of the slot's part of the pool. */
INLINE void aim_write(struct worker *w, struct slot *slot)
{
    const struct worker_target *t = &w->targets[slot->io.file];
    uint32_t next;

    if (UNLIKELY(t->duplicates.unit > 0)) {
        aim_duplicate(t, slot);
        return;
    }
    next = slot->write_at +
           ((slot->io.length + PATTERN_BLOCK - 1) & ~(PATTERN_BLOCK - 1));

    slot->io.memory = slot->write_base + slot->write_at;
    slot->io.region = slot->write_region;
    slot->write_at = next <= t->window - t->write_max ? next : 0;
    pattern_stamp(&w->pattern, slot->io.memory, slot->io.length);
}

/* Makes the slot a request of the cell.  False at the cell's end. */
INLINE bool prepare(struct worker *w, struct slot *slot,
                    struct worker_cell *cell, uint64_t now_ns)
{
    if (UNLIKELY(!access_draw(&cell->access, &w->draw, &slot->io)))
        return false;
    slot->submitted_ns = now_ns;
    slot->tally = (uint16_t)(cell->tally + slot->io.op);
    if (slot->io.op == ENGINE_WRITE) {
        aim_write(w, slot);
    } else {
        slot->io.memory = w->read_memory;
        slot->io.region = 0;
    }
    return true;
}

/* Which of several closed cells, by weight. */
INLINE struct worker_cell *choose(struct worker *w,
                                  const struct worker_target *t)
{
    uint64_t word = draw_next(&w->draw);
    uint32_t last = t->closed_count - 1;
    uint32_t i = 0;

    while (i < last && word >= t->closed_below[i])
        i++;
    return &w->cells[t->closed[i]];
}

/* False when no closed cell of the target has anything left to do. */
INLINE bool prepare_closed(struct worker *w, struct slot *slot, uint64_t now_ns)
{
    const struct worker_target *t = &w->targets[slot->io.file];

    for (;;) {
        struct worker_cell *cell = t->only;

        if (cell == NULL) {
            if (UNLIKELY(t->closed_count == 0))
                return false;
            cell = choose(w, t);
        }
        if (LIKELY(prepare(w, slot, cell, now_ns)))
            return true;
        worker_end_cell(w, cell);
    }
}

static uint32_t fill_closed(struct worker *w, uint64_t now_ns, uint32_t count)
{
    uint32_t head = w->freed_head;
    uint32_t tail = w->freed_tail;
    uint32_t *batch = w->batch;
    uint32_t max = w->batch_max;

    while (head != tail && count < max) {
        uint32_t index = w->freed[head++ & w->freed_mask];

        if (LIKELY(prepare_closed(w, &w->slots[index], now_ns)))
            batch[count++] = index;
    }
    w->freed_head = head;
    return count;
}

/* The slots that open cells leave free. */
static uint32_t fill_mixed(struct worker *w, uint64_t now_ns, uint32_t count)
{
    for (uint32_t i = 0; i < w->mixed_count; i++) {
        struct worker_target *t = &w->targets[w->mixed[i]];

        while (t->free_count > 0 && t->closed_count > 0 &&
               count < w->batch_max) {
            uint32_t index = t->free[t->free_count - 1];

            if (!prepare_closed(w, &w->slots[index], now_ns))
                break;
            t->free_count--;
            w->batch[count++] = index;
        }
    }
    return count;
}

/* The arrival of the target that is due first; false when the cell has ended
 * with it. */
static inline bool prepare_arrival(struct worker *w, struct worker_target *t,
                                   uint32_t index, uint64_t now_ns)
{
    uint32_t at = UNLIKELY(t->ranked) ? worker_rank(w, t, now_ns) : 0;
    struct due *first = &t->open.entry[at];
    struct worker_cell *cell = &w->cells[first->id];
    struct slot *slot = &w->slots[index];

    if (UNLIKELY(!prepare(w, slot, cell, now_ns))) {
        due_remove(&t->open, at);
        worker_end_cell(w, cell);
        return false;
    }
    slot->intended_ns = first->at_ns;
    cell->stream.issued++;
    arrival_next(&cell->stream.arrival);
    due_delay(&t->open, at, stream_due_ns(w, &cell->stream));
    return true;
}

static uint32_t fill_open(struct worker *w, uint64_t now_ns, uint32_t count)
{
    while (w->due.count > 0 && w->due.entry[0].at_ns <= now_ns &&
           count < w->batch_max) {
        struct worker_target *t = &w->targets[w->due.entry[0].id];

        if (t->free_count > 0) {
            uint32_t index = t->free[t->free_count - 1];

            if (prepare_arrival(w, t, index, now_ns)) {
                t->free_count--;
                w->batch[count++] = index;
            }
        }
        if (t->free_count == 0 || t->open.count == 0) {
            t->queued = false;
            due_pop(&w->due);
        } else {
            due_replace(&w->due, t->open.entry[0].at_ns);
        }
    }
    return count;
}

/* Lease, time limit and orders: looked at before every batch. */
static bool may_issue(struct worker *w, uint64_t now_ns)
{
    struct worker_control *c = w->control;
    uint64_t lease_ns =
        atomic_load_explicit(&c->lease_ns, memory_order_relaxed);

    if (LIKELY(atomic_load_explicit(&c->stop, memory_order_relaxed) ==
                   WORKER_RUN &&
               now_ns < lease_ns && now_ns < w->limit_ns))
        return true;
    if (now_ns >= w->limit_ns)
        worker_control_stop(c, CREW_TIME_LIMIT);
    else if (now_ns >= lease_ns)
        worker_control_stop(c, CREW_LEASE_LOST);
    worker_stop_issuing(w, now_ns, now_ns);
    return false;
}

static uint32_t fill(struct worker *w, uint64_t now_ns)
{
    uint32_t count = 0;

    if (!may_issue(w, now_ns))
        return 0;
    if (UNLIKELY(now_ns >= w->wake_ns))
        count = worker_wake(w, now_ns, count);
    if (w->has_open) {
        count = fill_open(w, now_ns, count);
        count = fill_mixed(w, now_ns, count);
    }
    count = fill_closed(w, now_ns, count);
    if (UNLIKELY(w->fill && w->live_cells == 0 &&
                 w->in_flight + w->sleeper_count + count == 0))
        worker_stop_issuing(w, now_ns, now_ns);
    return count;
}

/* How long the submit may wait for a completion. */
static inline uint64_t wait_ns(const struct worker *w, uint64_t now_ns)
{
    uint64_t until_ns = now_ns + WORKER_CHECK_NS;

    if (w->state == WORKER_RUNNING) {
        if (w->freed_head != w->freed_tail)
            return 0;
        if (w->due.count > 0 && w->due.entry[0].at_ns < until_ns)
            until_ns = w->due.entry[0].at_ns;
        if (w->wake_ns < until_ns)
            until_ns = w->wake_ns;
    } else if (w->drain_until_ns < until_ns) {
        until_ns = w->drain_until_ns;
    }
    if (w->edge_ns < until_ns)
        until_ns = w->edge_ns;
    return until_ns > now_ns ? until_ns - now_ns : 0;
}

bool worker_turn(struct worker *w)
{
    uint64_t now_ns = clock_now_ns(w->clock);
    uint32_t count = 0;
    int r;

    if (UNLIKELY(now_ns >= w->edge_ns))
        worker_pass_edges(w, now_ns);
    if (w->state != WORKER_SYNCING && reap(w, now_ns) > STAMP_AGAIN)
        now_ns = clock_now_ns(w->clock);
    if (LIKELY(w->state == WORKER_RUNNING))
        count = fill(w, now_ns);
    if (UNLIKELY(w->state != WORKER_RUNNING) && !worker_drain(w, now_ns))
        return false;
    w->in_flight += count;
    r = w->engine->ops->submit(w->engine, w->batch, count, now_ns,
                               wait_ns(w, now_ns));
    if (UNLIKELY(r < 0))
        worker_break(w, r, clock_now_ns(w->clock));
    return true;
}
