/*
 * pattern.h - which bytes are written.
 *
 * Random bytes are made once, before the start, into a pool much longer than
 * any compressor looks back; every write takes the next window of it, and each
 * 4 KiB of a write begins with a number that this phase writes nowhere else.
 * So nothing compresses and nothing is a duplicate, for two stores per 4 KiB.
 * Bytes that somebody gave (pattern=) are written as they are instead.
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

/* Fills with the same `count` bytes, 1 or more, over and over. */
void pattern_repeat(void *memory, size_t length, const void *bytes,
                    size_t count);

struct pattern {
    uint64_t key;     /* differs between workers and phases */
    uint64_t counter; /* of blocks made unique */
};

/* ---- duplicates ----
 *
 * A drive is cut into units, each of which is like no other or one of a set.
 * Which of the two, and of which set, is settled by the drive's name and the
 * place, so that the ratio stays when it is written again.  What is like no
 * other is new at every write, so that a store has something to do; what is of
 * a set stays as it is, or flips.
 */

#define DUPLICATES_HOT_MAX 16u

/* So many sets, each of so many units over all drives together. */
struct duplicates_hot {
    uint32_t sets;
    uint32_t units;
};

/* Whether a write of what is of a set takes one of two contents, by chance. */
enum duplicates_flip {
    DUPLICATES_STAY,
    DUPLICATES_FLIP,     /* of any set */
    DUPLICATES_FLIP_HOT, /* of a hot one */
};

struct duplicates {
    uint32_t unit;     /* bytes; 0: there are none */
    double unique;     /* share of units like no other; 0 .. 1 */
    uint64_t sets;     /* more than all hot ones */
    uint32_t bucket;   /* drives of one share their sets */
    bool places_alike; /* what is like no other on its drive is settled by its
                          place: alike on all drives */
    enum duplicates_flip flip;
    /* The units of hot sets, one behind the other, are dealt to the drives of
     * the bucket: this one has number hot_first and every hot_every-th. */
    struct duplicates_hot hot[DUPLICATES_HOT_MAX];
    uint32_t hot_count;
    uint32_t hot_first;
    uint32_t hot_every;

    uint64_t key; /* below: by duplicates_init() */
    uint64_t unique_below;
    uint64_t hot_sets;
    uint64_t hot_units;
};

/* Settles the rest; `name` of the sd. */
void duplicates_init(struct duplicates *duplicates, const char *name);

/* Stamps what is written at `offset`: `memory` is offset % unit into a unit
 * that pattern_fill_units() made. */
void duplicates_stamp(const struct duplicates *duplicates,
                      struct pattern *pattern, void *memory, uint32_t length,
                      uint64_t offset);

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
