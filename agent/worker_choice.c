/* worker_choice.c - which of several cells a free slot gets, and their ends. */
#include "agent/worker.h"

#include <assert.h>

void worker_weigh(struct worker *w, struct worker_target *t)
{
    double total = 0;
    double below = 0;

    for (uint32_t i = 0; i < t->closed_count; i++)
        total += w->cells[t->closed[i]].weight;
    for (uint32_t i = 0; i < t->closed_count; i++) {
        below += w->cells[t->closed[i]].weight;
        t->closed_below[i] = access_threshold(100.0 * below / total);
    }
}

struct worker_cell *worker_draw_cell(struct worker *w, struct worker_target *t)
{
    uint64_t draw = prng_next(&w->prng);
    uint32_t i = 0;

    assert(t->closed_count > 0);
    while (i + 1 < t->closed_count && draw >= t->closed_below[i])
        i++;
    return &w->cells[t->closed[i]];
}

static void remove_closed(struct worker *w, struct worker_target *t,
                          uint32_t cell)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < t->closed_count; i++)
        if (t->closed[i] != cell)
            t->closed[kept++] = t->closed[i];
    t->closed_count = kept;
    worker_weigh(w, t);
}

void worker_end_cell(struct worker *w, struct worker_cell *cell)
{
    if (!cell->open)
        remove_closed(w, &w->targets[cell->target],
                      (uint32_t)(cell - w->cells));
    assert(w->live_cells > 0);
    w->live_cells--;
    atomic_fetch_sub_explicit(&w->control->live_cells, 1, memory_order_relaxed);
}
