/*
 * pattern.h - which bytes are written.
 *
 * Random bytes are made once, before the start, into a pool much longer than
 * any compressor looks back; every write takes the next window of it, and each
 * 4 KiB of a write begins with a number that this phase writes nowhere else.
 * So nothing compresses and nothing is a duplicate, for two stores per 4 KiB.
 *
 * Threads: none of its own.
 */
#ifndef AGENT_PATTERN_H
#define AGENT_PATTERN_H

#include "common/base.h"

#define PATTERN_BLOCK 4096u

/* Fills with random bytes; several GB a second. */
void pattern_fill(void *memory, size_t length, uint64_t seed);

/*
 * Lets random bytes compress by `ratio`: of each 4 KiB the last part becomes
 * zeros.  1 and less: nothing is done.
 */
void pattern_compress(void *memory, size_t length, double ratio);

/* Fills so that every `unit` bytes are the same, in all windows and on all
 * hosts: what makes them differ is stamped. */
void pattern_fill_units(void *memory, size_t length, uint32_t unit,
                        double compression);

/* Which blocks of a drive are duplicates, and of what. */
struct duplicates {
    uint32_t unit; /* bytes; 0: there are none */
    uint64_t unique_below;
    uint64_t sets;
    uint64_t key; /* of the drive: the same on every host */
};

/* `name` of the sd. */
void duplicates_init(struct duplicates *duplicates, uint32_t unit,
                     double unique, uint64_t sets, const char *name);

/* Stamps what is written at `offset`: `memory` is offset % unit into a unit
 * that pattern_fill_units() made. */
void duplicates_stamp(const struct duplicates *duplicates, void *memory,
                      uint32_t length, uint64_t offset);

struct pattern {
    uint64_t key;     /* differs between workers and phases */
    uint64_t counter; /* of blocks made unique */
};

static inline void pattern_init(struct pattern *pattern, uint64_t seed)
{
    *pattern = (struct pattern){.key = seed | 1};
}

/*
 * Makes each block of a write unique.  `length` may be any; blocks shorter than
 * the 16 bytes of the number get none.
 */
static inline void pattern_stamp(struct pattern *pattern, void *memory,
                                 uint32_t length)
{
    uint8_t *at = memory;
    uint8_t *end = at + length;

    for (; end - at >= 16; at += PATTERN_BLOCK) {
        uint64_t number = ++pattern->counter * UINT64_C(0x9e3779b97f4a7c15);
        uint64_t words[2] = {number, number ^ pattern->key};

        __builtin_memcpy(at, words, sizeof(words));
        if (end - at <= (ptrdiff_t)PATTERN_BLOCK)
            break;
    }
}

#endif
