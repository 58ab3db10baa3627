#include "common/arena.h"
#include "common/fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_ALIGN       _Alignof(max_align_t)
#define ARENA_BLOCK_FIRST (4u << 10)
#define ARENA_BLOCK_LARGE (256u << 10)

struct block {
    struct block *next; /* older */
    size_t size;        /* of `data` */
    size_t used;
    _Alignas(max_align_t) uint8_t data[];
};

struct arena {
    struct block *newest;
    size_t max;
    size_t taken; /* from the system, this struct included */
};

struct arena *arena_new(size_t max)
{
    struct arena *arena = calloc(1, sizeof(*arena));

    if (arena == NULL)
        return NULL;
    arena->max = max;
    arena->taken = sizeof(*arena);
    return arena;
}

struct arena *arena_free(struct arena *arena)
{
    if (arena == NULL)
        return NULL;
    for (struct block *b = arena->newest, *older; b != NULL; b = older) {
        older = b->next;
        free(b);
    }
    free(arena);
    return NULL;
}

/* Blocks double, so that a large tree costs few mallocs. */
static size_t block_size(const struct arena *arena, size_t need)
{
    size_t size = ARENA_BLOCK_FIRST - sizeof(struct block);

    if (arena->newest != NULL)
        size = arena->newest->size * 2;
    if (size > ARENA_BLOCK_LARGE)
        size = ARENA_BLOCK_LARGE;
    return size < need ? need : size;
}

static struct block *add_block(struct arena *arena, size_t need)
{
    size_t left = arena->max > arena->taken ? arena->max - arena->taken : 0;
    size_t size = block_size(arena, need);
    struct block *b;

    if (left < sizeof(*b) || need > left - sizeof(*b))
        return NULL;
    if (size > left - sizeof(*b))
        size = left - sizeof(*b);
    b = malloc(sizeof(*b) + size);
    if (b == NULL)
        return NULL;
    b->next = arena->newest;
    b->size = size;
    b->used = 0;
    arena->newest = b;
    arena->taken += sizeof(*b) + size;
    return b;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    struct block *b = arena->newest;
    void *result;

    if (size > arena->max || FAULT("arena.alloc") < 0)
        return NULL;
    /* At least one unit, so that every pointer is one of its own. */
    size = (size + (size == 0) + ARENA_ALIGN - 1) & ~(ARENA_ALIGN - 1);
    if (b == NULL || b->size - b->used < size)
        b = add_block(arena, size);
    if (b == NULL)
        return NULL;
    result = b->data + b->used;
    b->used += size;
    return memset(result, 0, size);
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    return arena_alloc(arena, bytes);
}

void *arena_memdup(struct arena *arena, const void *data, size_t length)
{
    void *copy = arena_alloc(arena, length);

    if (copy != NULL && length > 0)
        memcpy(copy, data, length);
    return copy;
}

char *arena_strndup(struct arena *arena, const char *text, size_t length)
{
    size_t actual = strnlen(text, length);
    char *copy = arena_alloc(arena, actual + 1);

    if (copy != NULL)
        memcpy(copy, text, actual);
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args, again;
    char *text = NULL;
    int length;

    va_start(args, format);
    va_copy(again, args);
    length = vsnprintf(NULL, 0, format, args);
    if (length >= 0)
        text = arena_alloc(arena, (size_t)length + 1);
    if (text != NULL)
        (void)vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    va_end(args);
    return text;
}

size_t arena_size(const struct arena *arena)
{
    return arena->taken;
}

void arena_reset(struct arena *arena)
{
    struct block *b = arena->newest;

    while (b != NULL && b->next != NULL) {
        struct block *older = b->next;

        arena->taken -= sizeof(*b) + b->size;
        free(b);
        b = older;
    }
    arena->newest = b;
    if (b != NULL)
        b->used = 0;
}
