/*
 * worker_edge.c - the edges of intervals, and the end: draining, the fsync, and
 * what never came back.
 */
#include "agent/worker.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* Arrivals that an edge goes over one by one: about a millisecond. */
#define BACKLOG_STEPS 65536u

void worker_control_stop(struct worker_control *control, enum crew_end end)
{
    int32_t run = WORKER_RUN;

    (void)atomic_compare_exchange_strong(&control->stop, &run, (int32_t)end);
}

static void note_in_flight(struct worker *w, struct bank *bank, uint64_t at_ns)
{
    if (w->in_flight + w->sleeper_count == 0)
        return;
    for (uint32_t i = 0; i < w->slot_count; i++) {
        const struct slot *slot = &w->slots[i];
        struct tally *tally = &bank->tallies[slot->tally];
        uint64_t age_ns =
            at_ns > slot->submitted_ns ? at_ns - slot->submitted_ns : 0;

        if (slot->submitted_ns == 0)
            continue;
        tally->in_flight++;
        if (age_ns > tally->oldest_ns)
            tally->oldest_ns = age_ns;
    }
}

/* How many more are due by `at_ns`, from the mean gap: of very many, that is
 * right to a few in a thousand, and an edge must not take long. */
static uint64_t estimate(const struct worker *w, const struct stream *stream,
                         uint64_t at_ns)
{
    uint64_t from_ns = w->start_ns + arrival_due_ns(&stream->ahead);

    return from_ns >= at_ns
               ? 0
               : (uint64_t)((double)(at_ns - from_ns) / stream->ahead.mean_ns);
}

/* Arrivals due by `at_ns` and not issued.  `ahead` remembers how far the last
 * look went, so that each arrival is gone over once. */
static void note_backlog(struct worker *w, struct stream *stream,
                         struct tally *tally, uint64_t at_ns, uint32_t *steps)
{
    uint64_t due_ns = stream_due_ns(w, stream);

    if (due_ns >= at_ns)
        return;
    if (stream->ahead_number < stream->issued) {
        stream->ahead = stream->arrival;
        stream->ahead_number = stream->issued;
    }
    while (w->start_ns + arrival_due_ns(&stream->ahead) < at_ns && *steps > 0) {
        arrival_next(&stream->ahead);
        stream->ahead_number++;
        --*steps;
    }
    tally->unissued =
        stream->ahead_number - stream->issued + estimate(w, stream, at_ns);
    tally->unissued_oldest_ns = at_ns - due_ns;
}

/* The tally of a cell's arrivals of which the operation is not drawn yet. */
static struct tally *arrivals_tally(const struct worker_cell *cell,
                                    struct bank *bank)
{
    return &bank->tallies[access_does(&cell->access, ENGINE_READ)
                              ? cell->tally + ENGINE_READ
                              : cell->tally + ENGINE_WRITE];
}

/* Whether an open cell has not come to its end. */
static bool is_live(const struct worker *w, uint32_t index)
{
    const struct due_heap *open = &w->targets[w->cells[index].target].open;

    for (uint32_t i = 0; i < open->count; i++)
        if (open->entry[i].id == index)
            return true;
    return false;
}

static void note_state(struct worker *w, struct bank *bank, uint64_t at_ns)
{
    uint32_t steps = BACKLOG_STEPS;

    note_in_flight(w, bank, at_ns);
    for (uint32_t i = 0; w->has_open && i < w->cell_count; i++) {
        struct worker_cell *cell = &w->cells[i];

        if (cell->open && is_live(w, i))
            note_backlog(w, &cell->stream, arrivals_tally(cell, bank), at_ns,
                         &steps);
    }
}

/* Hands over the open bank, which ends at `end_ns` with the current interval.
 */
static void close_bank(struct worker *w, uint64_t end_ns)
{
    w->bank->spans = (uint32_t)(w->interval - w->bank->interval + 1);
    w->bank->end_ns = end_ns;
    w->bank->holds.refused = w->engine->refused - w->refused;
    w->refused = w->engine->refused;
    note_state(w, w->bank, end_ns);
    bank_close(&w->banks);
}

static bool is_last(const struct worker *w)
{
    const struct worker_control *c = w->control;
    uint64_t last = atomic_load_explicit(&c->stop_after, memory_order_relaxed);

    return w->interval >= last || w->interval + 1 >= w->intervals_max ||
           atomic_load_explicit(&c->live_cells, memory_order_relaxed) == 0;
}

void worker_look_again(struct worker *w)
{
    w->look_ns = w->edge_ns < w->limit_ns ? w->edge_ns : w->limit_ns;
    if (w->wake_ns < w->look_ns)
        w->look_ns = w->wake_ns;
}

void worker_pass_edges(struct worker *w, uint64_t now_ns)
{
    while (w->state == WORKER_RUNNING && now_ns >= w->edge_ns) {
        if (is_last(w)) {
            worker_stop_issuing(w, w->edge_ns, now_ns);
            return;
        }
        if (bank_may_close(&w->banks, w->interval + 1 == w->warmup_intervals)) {
            close_bank(w, w->edge_ns);
            w->bank = bank_open(&w->banks);
            w->bank->interval = w->interval + 1;
        }
        w->interval++;
        w->edge_ns += w->interval_ns;
    }
    worker_look_again(w);
}

/* What was to be tried again never reached its drive: it is no I/O, and no
 * error. */
static void drop_sleepers(struct worker *w)
{
    for (uint32_t i = 0; i < w->sleeper_count; i++)
        w->slots[w->sleepers[i].slot].submitted_ns = 0;
    w->sleeper_count = 0;
    w->wake_ns = UINT64_MAX;
}

void worker_stop_issuing(struct worker *w, uint64_t end_ns, uint64_t now_ns)
{
    uint64_t begin_ns = w->start_ns + w->interval * w->interval_ns;

    assert(w->state == WORKER_RUNNING);
    close_bank(w, end_ns > begin_ns ? end_ns : begin_ns + 1);
    w->intervals = w->interval + 1;
    w->stopped_ns = end_ns;
    /* Release: whoever sees it finds all banks closed that will be. */
    atomic_store_explicit(&w->stopped, true, memory_order_release);
    w->bank = &w->banks.drain;
    w->bank->interval = w->intervals;
    w->bank->spans = 1;
    w->edge_ns = UINT64_MAX;
    w->drain_until_ns = now_ns + w->drain_limit_ns;
    w->state = WORKER_DRAINING;
    drop_sleepers(w);
}

static void announce_end(struct worker *w)
{
    struct timespec time = {0};

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    w->cpu_end_ns = (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
    w->state = WORKER_ENDED;
    /* Release: rows, stuck requests and reasons are there for the crew. */
    atomic_store_explicit(&w->ended, true, memory_order_release);
}

void worker_skip(struct worker *w)
{
    assert(w->state == WORKER_IDLE);
    w->stopped_ns = clock_now_ns(w->clock);
    atomic_store_explicit(&w->stopped, true, memory_order_release);
    announce_end(w);
}

static void note_stuck(struct worker *w, const struct slot *slot,
                       uint64_t now_ns)
{
    if (w->stuck_total < CREW_STUCK_MAX)
        w->stuck[w->stuck_total] = (struct crew_stuck){
            .target = w->targets[slot->io.file].target,
            .op = slot->io.op == ENGINE_READ ? JOB_READ : JOB_WRITE,
            .offset = slot->io.offset,
            .length = slot->io.length,
            .age_ns = now_ns - slot->submitted_ns,
        };
    w->stuck_total++;
    w->targets[slot->io.file].stuck++;
}

static bool end(struct worker *w, uint64_t now_ns)
{
    for (uint32_t i = 0; w->in_flight > 0 && i < w->slot_count; i++)
        if (w->slots[i].submitted_ns != 0)
            note_stuck(w, &w->slots[i], now_ns);
    note_in_flight(w, w->bank, now_ns);
    w->bank->end_ns = now_ns;
    announce_end(w);
    return false;
}

/* The fsyncs of all targets that want one, in their first slots. */
static void begin_sync(struct worker *w, uint64_t now_ns)
{
    uint32_t count = 0;

    w->state = WORKER_SYNCING;
    for (uint32_t i = 0; i < w->target_count; i++) {
        struct worker_target *t = &w->targets[i];
        struct slot *slot = &w->slots[t->first_slot];

        if (!t->fsync)
            continue;
        slot->io = (struct engine_io){.file = (uint16_t)i, .op = ENGINE_FSYNC};
        slot->submitted_ns = now_ns;
        w->batch[count++] = t->first_slot;
        if (count < w->batch_max)
            continue;
        w->in_flight += count;
        (void)w->engine->ops->submit(w->engine, w->batch, count, now_ns, 0);
        count = 0;
    }
    w->in_flight += count;
    (void)w->engine->ops->submit(w->engine, w->batch, count, now_ns, 0);
}

/* The tally that stands for the writes of a target. */
static struct tally *write_tally(struct worker *w, uint32_t target)
{
    for (uint32_t i = 0; i < w->cell_count; i++)
        if (w->cells[i].target == target &&
            access_does(&w->cells[i].access, ENGINE_WRITE))
            return &w->bank->tallies[w->cells[i].tally + ENGINE_WRITE];
    return NULL;
}

static void synced(struct worker *w, uint32_t index, int32_t result)
{
    struct slot *slot = &w->slots[index];
    struct tally *tally = write_tally(w, slot->io.file);

    slot->submitted_ns = 0;
    if (result >= 0 || tally == NULL)
        return;
    w->errors++;
    tally_error(tally, -result);
    if (w->reason.err == 0) {
        w->reason_target = w->targets[slot->io.file].target;
        (void)diag_set(&w->reason, result, "fsync at the end: %s",
                       strerror(-result));
    }
}

static void reap_syncs(struct worker *w, uint64_t now_ns)
{
    const struct engine_done *done;
    uint64_t at_ns;
    uint32_t count;

    while ((count = w->engine->ops->reap(w->engine, now_ns, &done, &at_ns)) >
           0) {
        for (uint32_t i = 0; i < count; i++)
            synced(w, (uint32_t)done[i].slot, done[i].result);
        w->in_flight -= count;
    }
}

static bool wants_sync(const struct worker *w)
{
    for (uint32_t i = 0; i < w->target_count; i++)
        if (w->targets[i].fsync)
            return true;
    return false;
}

bool worker_drain(struct worker *w, uint64_t now_ns)
{
    if (w->state == WORKER_SYNCING)
        reap_syncs(w, now_ns);
    if (w->in_flight > 0 && now_ns < w->drain_until_ns)
        return true;
    if (w->in_flight > 0 || w->state == WORKER_SYNCING || !wants_sync(w))
        return end(w, now_ns);
    begin_sync(w, now_ns);
    return true;
}
