/*
 * due.h - what is due next: a heap of instants in memory of its owner.
 *
 * Threads: one owner.  No allocation; the owner gives as many entries as it
 * will ever push.
 */
#ifndef AGENT_DUE_H
#define AGENT_DUE_H

#include "common/base.h"

struct due {
    uint64_t at_ns;
    uint32_t id;
};

struct due_heap {
    struct due *entry; /* [0] is due first */
    uint32_t count;
};

static inline void due_swap_(struct due *a, struct due *b)
{
    struct due keep = *a;

    *a = *b;
    *b = keep;
}

/* Puts entry `i` where it belongs after its time has grown. */
static inline void due_sink(struct due_heap *heap, uint32_t i)
{
    struct due *entry = heap->entry;

    for (;;) {
        uint32_t next = 2 * i + 1;

        if (next >= heap->count)
            return;
        if (next + 1 < heap->count && entry[next + 1].at_ns < entry[next].at_ns)
            next++;
        if (entry[i].at_ns <= entry[next].at_ns)
            return;
        due_swap_(&entry[i], &entry[next]);
        i = next;
    }
}

static inline void due_push(struct due_heap *heap, uint64_t at_ns, uint32_t id)
{
    struct due *entry = heap->entry;
    uint32_t i = heap->count++;

    entry[i] = (struct due){at_ns, id};
    for (; i > 0 && entry[i].at_ns < entry[(i - 1) / 2].at_ns; i = (i - 1) / 2)
        due_swap_(&entry[i], &entry[(i - 1) / 2]);
}

/* Removes the first entry. */
static inline void due_pop(struct due_heap *heap)
{
    heap->entry[0] = heap->entry[--heap->count];
    due_sink(heap, 0);
}

/* Removes any entry. */
static inline void due_remove(struct due_heap *heap, uint32_t i)
{
    heap->entry[i].at_ns = 0;
    for (; i > 0; i = (i - 1) / 2)
        due_swap_(&heap->entry[i], &heap->entry[(i - 1) / 2]);
    due_pop(heap);
}

/* Changes the time of entry `i` to a later one, or that of the first to any. */
static inline void due_delay(struct due_heap *heap, uint32_t i, uint64_t at_ns)
{
    heap->entry[i].at_ns = at_ns;
    due_sink(heap, i);
}

/* Changes the time of the first entry. */
static inline void due_replace(struct due_heap *heap, uint64_t at_ns)
{
    due_delay(heap, 0, at_ns);
}

#endif
