#include "common/prng.h"

/* One step of splitmix64: spreads a poor seed over all bits. */
static uint64_t splitmix(uint64_t *x)
{
    uint64_t z = (*x += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void prng_seed(struct prng *prng, uint64_t seed)
{
    for (size_t i = 0; i < ARRAY_LENGTH(prng->state); i++)
        prng->state[i] = splitmix(&seed);
}
