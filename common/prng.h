/*
 * prng.h - fast repeatable random numbers: xoshiro256++ seeded by splitmix64.
 *
 * What it is for: offsets, operations, sizes, gaps and write data of the load,
 * and every random choice of the simulator.  Never for keys.
 *
 * Threads: one owner at a time.  Memory: 32 bytes, by value.
 */
#ifndef COMMON_PRNG_H
#define COMMON_PRNG_H

#include "common/base.h"

struct prng {
    uint64_t state[4];
};

/* Every seed is fine, 0 too; equal seeds give equal sequences. */
void prng_seed(struct prng *prng, uint64_t seed);

static inline uint64_t prng_rotl_(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

static inline uint64_t prng_next(struct prng *prng)
{
    uint64_t *s = prng->state;
    uint64_t result = prng_rotl_(s[0] + s[3], 23) + s[0];
    uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = prng_rotl_(s[3], 45);
    return result;
}

/* 0 .. bound - 1, by multiply-high: the bias is below bound / 2^64. */
static inline uint64_t prng_below(struct prng *prng, uint64_t bound)
{
    return (uint64_t)(((u128)prng_next(prng) * bound) >> 64);
}

/* Uniform in (0, 1]: its logarithm is finite. */
static inline double prng_unit(struct prng *prng)
{
    return (double)((prng_next(prng) >> 11) + 1) * 0x1.0p-53;
}

#endif
