/*
 * choice.h - one of several things, each with its share, from one random word.
 *
 * What it is for: which operation and size an I/O has, which of several
 * workloads a free slot gets.  The shares cut the range of a 64-bit word into
 * pieces, one after another; a guide says for the word's top eight bits in
 * which piece to begin to look.  So a choice costs five instructions, and a few
 * more only where a border happens to lie between: the number of things does
 * not matter.
 *
 *     choice_lay(&guide, upto, weights, count);
 *     i = choice_take(&guide, upto, draw_next(&draw));
 *
 * Shares are as exact as a double can say them.
 *
 * Threads: one owner.  Memory: the caller's; `upto` has an entry for each
 * thing.
 */
#ifndef AGENT_CHOICE_H
#define AGENT_CHOICE_H

#include "common/base.h"

#define CHOICE_BITS 8u
#define CHOICE_MAX  65536u /* things */

struct choice_guide {
    uint16_t first[1u << CHOICE_BITS];
};

/* At least one weight is above 0; what has the weight 0 is never chosen. */
void choice_lay(struct choice_guide *guide, uint64_t *upto,
                const double *weights, uint32_t count);

static inline uint32_t choice_take(const struct choice_guide *guide,
                                   const uint64_t *upto, uint64_t word)
{
    uint32_t i = guide->first[word >> (64 - CHOICE_BITS)];

    while (__builtin_expect(word > upto[i], 0))
        i++;
    return i;
}

#endif
