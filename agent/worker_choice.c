/* worker_choice.c - which of several cells a free slot gets, and their ends. */
#include "agent/worker.h"

#include <assert.h>

/* 1 is the highest rank, 0 the lowest. */
static uint32_t rank_of(const struct worker_cell *cell)
{
    return cell->priority > 0 ? cell->priority : UINT32_MAX;
}

/* At full speed those of the highest rank leave nothing to the others. */
static double weight_of(const struct worker *w, const struct worker_target *t,
                        uint32_t index)
{
    const struct worker_cell *cell = &w->cells[t->closed[index]];

    for (uint32_t i = 0; i < t->closed_count; i++)
        if (rank_of(&w->cells[t->closed[i]]) < rank_of(cell))
            return 0;
    return cell->weight;
}

uint32_t worker_rank(const struct worker *w, const struct worker_target *t,
                     uint64_t now_ns)
{
    const struct due *entry = t->open.entry;
    uint32_t best = 0;

    for (uint32_t i = 1; i < t->open.count; i++) {
        uint32_t rank = rank_of(&w->cells[entry[i].id]);
        uint32_t lowest = rank_of(&w->cells[entry[best].id]);

        if (entry[i].at_ns <= now_ns &&
            (rank < lowest ||
             (rank == lowest && entry[i].at_ns < entry[best].at_ns)))
            best = i;
    }
    return best;
}

void worker_weigh(struct worker *w, struct worker_target *t)
{
    t->only = t->closed_count == 1 ? &w->cells[t->closed[0]] : NULL;
    for (uint32_t i = 0; i < t->closed_count; i++)
        t->closed_weights[i] = weight_of(w, t, i);
    if (t->closed_count > 1)
        choice_lay(t->closed_guide, t->closed_upto, t->closed_weights,
                   t->closed_count);
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
    assert(w->live_cells >= cell->part_count);
    w->live_cells -= cell->part_count;
    atomic_fetch_sub_explicit(&w->control->live_cells, cell->part_count,
                              memory_order_relaxed);
}
