/*
 * draw.h - the random numbers of the I/O path: operations, sizes, offsets.
 *
 * What it is for: several numbers for each I/O, at a third of the instructions
 * of common/prng.h.  A counter that steps by an odd constant (so it goes
 * through all 2^64 states) is multiplied with itself, altered, to 128 bits,
 * and both halves are folded.  The tests look at bits, runs and pairs; it is
 * for load, not for statistics, and never for keys.
 *
 * Threads: one owner.  Memory: 8 bytes, by value.
 */
#ifndef AGENT_DRAW_H
#define AGENT_DRAW_H

#include "common/base.h"
#include "common/prng.h"

struct draw {
    uint64_t state;
};

/* Every seed is fine; equal seeds give equal sequences, and those of different
 * seeds are far apart. */
static inline void draw_seed(struct draw *draw, uint64_t seed)
{
    struct prng prng;

    prng_seed(&prng, seed);
    draw->state = prng_next(&prng);
}

static inline uint64_t draw_next(struct draw *draw)
{
    uint64_t state = draw->state += UINT64_C(0x9e3779b97f4a7c15);
    u128 product = (u128)state * (state ^ UINT64_C(0xd1b54a32d192ed03));

    return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

/* 0 .. bound - 1, by multiply-high. */
static inline uint64_t draw_below(struct draw *draw, uint64_t bound)
{
    return (uint64_t)(((u128)draw_next(draw) * bound) >> 64);
}

/* Uniform in (0, 1]. */
static inline double draw_unit(struct draw *draw)
{
    return (double)((draw_next(draw) >> 11) + 1) * 0x1.0p-53;
}

#endif
