/*
 * arena.h - memory that is freed as a whole.
 *
 * What it is for: trees whose parts live and die together (a plan, a decoded
 * message).  An arena has a stated maximum, so that what a peer or a file can
 * make us allocate has one too; beyond it, as without memory, it gives NULL.
 *
 * Threads: one owner at a time.  Memory is zeroed, aligned for every type,
 * and never moves.
 */
#ifndef COMMON_ARENA_H
#define COMMON_ARENA_H

#include "common/base.h"

struct arena;

/* An arena of `max` bytes at most, its own bookkeeping included.  NULL without
 * memory. */
struct arena *arena_new(size_t max) MUST_CHECK;

/* NULL is fine.  Returns NULL. */
struct arena *arena_free(struct arena *arena);

/* Zeroed bytes; a `size` of 0 gives a pointer of its own as well. */
void *arena_alloc(struct arena *arena, size_t size) MUST_CHECK;

/* `count` elements of `size` bytes; NULL also where the product overflows. */
void *arena_array(struct arena *arena, size_t count, size_t size) MUST_CHECK;

char *arena_strdup(struct arena *arena, const char *text) MUST_CHECK;
char *arena_strndup(struct arena *arena, const char *text,
                    size_t length) MUST_CHECK;
void *arena_memdup(struct arena *arena, const void *data,
                   size_t length) MUST_CHECK;
char *arena_printf(struct arena *arena, const char *format, ...)
    PRINTF(2, 3) MUST_CHECK;

/* Bytes taken from the system so far. */
size_t arena_size(const struct arena *arena);

/* All that was allocated is gone; the first block stays for what comes next,
 * so that an arena used once a message costs no malloc. */
void arena_reset(struct arena *arena);

#define ARENA_NEW(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, count, type)                                        \
    ((type *)arena_array((arena), (count), sizeof(type)))

/* For CLEANUP(arena_freep). */
static inline void arena_freep(struct arena **arena)
{
    (void)arena_free(*arena);
}

#endif
