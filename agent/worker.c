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
#define COLD        __attribute__((noinline))

/* After so many completions the clock is read again before submitting, so that
 * the time we spent on them is not taken for the drive's. */
#define STAMP_AGAIN 8u

/* A timer may be so late on a virtual machine. */
#define SPIN_NS (100 * NS_PER_US)

void worker_release(struct worker *w, uint32_t slot, uint64_t at_ns)
{
    uint32_t owner = w->slots[slot].io.owner;
    struct worker_target *t = &w->targets[owner];

    if (!t->has_open) {
        w->freed[w->freed_tail++ & w->freed_mask] = slot;
        return;
    }
    if (t->free_count == 0)
        t->free_ns = at_ns;
    t->free[t->free_count++] = slot;
    if (!t->queued && t->open.count > 0) {
        t->queued = true;
        due_push(&w->due, t->open.entry[0].at_ns, owner);
    }
}

/* `plain`: the worker has closed cells only. */
INLINE void complete(struct worker *w, uint32_t index, int32_t result,
                     uint64_t at_ns, bool plain)
{
    struct slot *slot = &w->slots[index];
    struct tally *tally = &w->bank->tallies[slot->tally];

    if (UNLIKELY(result != (int32_t)slot->io.length)) {
        worker_fail(w, index, result, at_ns);
        return;
    }
    tally->bytes += slot->io.length;
    histogram_record(tally->service, at_ns - slot->submitted_ns);
    if (!plain && tally->response != NULL)
        histogram_record(tally->response, at_ns - slot->intended_ns);
    slot->submitted_ns = 0;
    if (UNLIKELY(w->failing > 0))
        worker_recover(w, slot->io.file);
    if (plain)
        w->freed[w->freed_tail++ & w->freed_mask] = index;
    else
        worker_release(w, index, at_ns);
}

INLINE void complete_plain(struct worker *w, const struct engine_done *done,
                           uint32_t count, uint64_t at_ns)
{
    for (uint32_t i = 0; i < count; i++)
        complete(w, (uint32_t)done[i].slot, done[i].result, at_ns, true);
}

static void complete_any(struct worker *w, const struct engine_done *done,
                         uint32_t count, uint64_t at_ns)
{
    for (uint32_t i = 0; i < count; i++)
        complete(w, (uint32_t)done[i].slot, done[i].result, at_ns, false);
}

/* Takes those of one time. */
INLINE uint32_t reap_once(struct worker *w, uint64_t now_ns)
{
    uint32_t count =
        w->engine->ops->reap(w->engine, now_ns, &w->done, &w->done_ns);

    assert(count <= w->in_flight);
    w->in_flight -= count;
    if (LIKELY(w->plain))
        complete_plain(w, w->done, count, w->done_ns);
    else
        complete_any(w, w->done, count, w->done_ns);
    return count;
}

static COLD uint32_t reap_constructed(struct worker *w, uint64_t now_ns)
{
    uint32_t total = 0;
    uint32_t count;

    do {
        count = reap_once(w, now_ns);
        total += count;
    } while (count > 0);
    return total;
}

INLINE uint32_t reap(struct worker *w, uint64_t now_ns)
{
    return LIKELY(!w->engine->constructed) ? reap_once(w, now_ns)
                                           : reap_constructed(w, now_ns);
}

/* A pattern is in the window already; what is there by its place: the window
 * begins where a unit does. */
static void aim_settled(struct worker *w, const struct worker_target *t,
                        struct slot *slot)
{
    uint32_t within;

    slot->io.memory = slot->write_base;
    slot->io.region = slot->write_region;
    if (t->duplicates.unit == 0)
        return;
    within = (uint32_t)(slot->io.offset % t->duplicates.unit);
    slot->io.memory = slot->write_base + within;
    duplicates_stamp(&t->duplicates, &w->pattern, slot->io.memory,
                     slot->io.length, slot->io.offset);
}

/* Takes the next window of the slot's part of the pool. */
INLINE void aim_write(struct worker *w, struct slot *slot)
{
    const struct worker_target *t = &w->targets[slot->io.owner];
    uint32_t next;

    if (UNLIKELY(t->settled)) {
        aim_settled(w, &w->targets[slot->io.file], slot);
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
    if (UNLIKELY(cell->parts != NULL))
        cell = &w->cells[cell->parts[access_piece(&cell->access)]];
    slot->submitted_ns = now_ns;
    slot->io.file = (uint16_t)cell->target;
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
    uint32_t i =
        choice_take(t->closed_guide, t->closed_upto, draw_next(&w->draw));

    return &w->cells[t->closed[i]];
}

/* False when no closed cell of the target has anything left to do. */
INLINE bool prepare_closed(struct worker *w, struct slot *slot, uint64_t now_ns)
{
    const struct worker_target *t = &w->targets[slot->io.owner];

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

INLINE uint32_t fill_closed(struct worker *w, uint64_t now_ns, uint32_t count)
{
    while (w->freed_head != w->freed_tail && count < w->batch_max) {
        uint32_t index = w->freed[w->freed_head++ & w->freed_mask];

        if (LIKELY(prepare_closed(w, &w->slots[index], now_ns)))
            w->batch[count++] = index;
    }
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

INLINE void note_late(struct tally *tally, uint64_t late_ns)
{
    tally->issued++;
    tally->late_ns += late_ns;
    if (late_ns > tally->late_max_ns)
        tally->late_max_ns = late_ns;
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
    note_late(&w->bank->tallies[slot->tally],
              now_ns - (first->at_ns > t->free_ns ? first->at_ns : t->free_ns));
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

static COLD void stop(struct worker *w, enum crew_end end, uint64_t now_ns)
{
    worker_control_stop(w->control, end);
    worker_stop_issuing(w, now_ns, now_ns);
}

/* Lease and orders: looked at before every batch. */
INLINE bool may_issue(struct worker *w, uint64_t now_ns)
{
    struct worker_control *c = w->control;

    if (UNLIKELY(atomic_load_explicit(&c->stop, memory_order_relaxed) !=
                 WORKER_RUN)) {
        worker_stop_issuing(w, now_ns, now_ns);
        return false;
    }
    if (UNLIKELY(now_ns >=
                 atomic_load_explicit(&c->lease_ns, memory_order_relaxed))) {
        stop(w, CREW_LEASE_LOST, now_ns);
        return false;
    }
    return true;
}

/* One of the instants has come that are seldom: the time limit, a sleeper's
 * end.  Returns how much the batch has then. */
static COLD uint32_t attend(struct worker *w, uint64_t now_ns)
{
    if (now_ns >= w->limit_ns)
        stop(w, CREW_TIME_LIMIT, now_ns);
    else if (now_ns >= w->wake_ns)
        return worker_wake(w, now_ns, 0);
    return 0;
}

/* Open loops, and fills, which end. */
static COLD uint32_t fill_any(struct worker *w, uint64_t now_ns, uint32_t count)
{
    if (w->spin_from_ns > 0) {
        w->spun_ns += now_ns - w->spin_from_ns;
        w->spin_from_ns = 0;
    }
    if (w->has_open) {
        count = fill_open(w, now_ns, count);
        count = fill_mixed(w, now_ns, count);
    }
    count = fill_closed(w, now_ns, count);
    if (w->fill && w->live_cells == 0 &&
        w->in_flight + w->sleeper_count + count == 0)
        worker_stop_issuing(w, now_ns, now_ns);
    return count;
}

INLINE uint32_t fill(struct worker *w, uint64_t now_ns)
{
    uint32_t count = 0;

    if (!may_issue(w, now_ns))
        return 0;
    if (UNLIKELY(now_ns >= w->look_ns)) {
        count = attend(w, now_ns);
        if (w->state != WORKER_RUNNING)
            return 0;
    }
    return LIKELY(w->plain) ? fill_closed(w, now_ns, count)
                            : fill_any(w, now_ns, count);
}

/* When to wake for an arrival; at once where it is worth spinning.  What was
 * begun goes on until the arrival: half a spin would be for nothing. */
static uint64_t wake_for(struct worker *w, uint64_t due_ns, uint64_t now_ns)
{
    double share_ns = w->spin_share * (double)(now_ns - w->start_ns);

    if (w->spin_share <= 0 || due_ns <= now_ns)
        return due_ns;
    if (w->spin_due_ns != due_ns && (double)(w->spun_ns + SPIN_NS) > share_ns)
        return due_ns;
    w->spin_due_ns = due_ns;
    if (due_ns - now_ns > SPIN_NS)
        return due_ns - SPIN_NS;
    w->spin_from_ns = now_ns;
    return now_ns;
}

/* How long the submit may wait for a completion. */
INLINE uint64_t wait_ns(struct worker *w, uint64_t now_ns)
{
    uint64_t until_ns = now_ns + WORKER_CHECK_NS;

    if (UNLIKELY(w->freed_head != w->freed_tail))
        return 0;
    if (w->due.count > 0 && w->due.entry[0].at_ns < until_ns)
        until_ns = wake_for(w, w->due.entry[0].at_ns, now_ns);
    if (w->look_ns < until_ns)
        until_ns = w->look_ns;
    return until_ns > now_ns ? until_ns - now_ns : 0;
}

INLINE void submit(struct worker *w, uint32_t count, uint64_t now_ns,
                   uint64_t limit_ns)
{
    int r;

    w->in_flight += count;
    w->return_ns = now_ns + limit_ns + ROW_HOLD_NS;
    r = w->engine->ops->submit(w->engine, w->batch, count, now_ns, limit_ns);
    if (UNLIKELY(r < 0))
        worker_break(w, r, clock_now_ns(w->clock));
}

/* A turn that issues nothing any more. */
static COLD bool end_turn(struct worker *w, uint64_t now_ns)
{
    uint64_t limit_ns = WORKER_CHECK_NS;

    if (!worker_drain(w, now_ns))
        return false;
    if (w->drain_until_ns < now_ns + limit_ns)
        limit_ns = w->drain_until_ns > now_ns ? w->drain_until_ns - now_ns : 0;
    submit(w, 0, now_ns, limit_ns);
    return true;
}

/* The kernel kept the worker for longer than it had asked to wait. */
static COLD void note_hold(struct worker *w, uint64_t now_ns)
{
    w->bank->holds.count++;
    w->bank->holds.ns += now_ns - (w->return_ns - ROW_HOLD_NS);
}

bool worker_turn(struct worker *w)
{
    uint64_t now_ns = clock_now_ns(w->clock);
    uint32_t count;

    if (UNLIKELY(now_ns > w->return_ns))
        note_hold(w, now_ns);
    if (UNLIKELY(now_ns >= w->look_ns && now_ns >= w->edge_ns))
        worker_pass_edges(w, now_ns);
    if (UNLIKELY(w->state != WORKER_RUNNING)) {
        if (w->state != WORKER_SYNCING)
            (void)reap(w, now_ns);
        return end_turn(w, now_ns);
    }
    if (reap(w, now_ns) > STAMP_AGAIN)
        now_ns = clock_now_ns(w->clock);
    count = fill(w, now_ns);
    if (UNLIKELY(w->state != WORKER_RUNNING))
        return end_turn(w, now_ns);
    submit(w, count, now_ns, wait_ns(w, now_ns));
    return true;
}
