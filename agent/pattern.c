/* pattern.c - random bytes, four generators side by side for the compiler to
 * put into vector registers. */
#include "agent/pattern.h"

#include "common/prng.h"

#include <string.h>

#define LANES 4

typedef uint64_t lanes __attribute__((vector_size(8 * LANES)));

static void seed_lanes(lanes state[2], uint64_t seed)
{
    struct prng prng;

    prng_seed(&prng, seed);
    for (int i = 0; i < LANES; i++) {
        state[0][i] = prng_next(&prng);
        state[1][i] = prng_next(&prng) | 1;
    }
}

/* xorshift128+ in each lane. */
static void step(lanes state[2], lanes *ret_words)
{
    lanes x = state[0];
    lanes y = state[1];

    state[0] = y;
    x ^= x << 23;
    state[1] = x ^ y ^ (x >> 17) ^ (y >> 26);
    *ret_words = state[1] + y;
}

void pattern_fill(void *memory, size_t length, uint64_t seed)
{
    uint8_t *at = memory;
    lanes state[2];
    lanes words;

    seed_lanes(state, seed);
    for (; length >= sizeof(words); length -= sizeof(words)) {
        step(state, &words);
        memcpy(at, &words, sizeof(words));
        at += sizeof(words);
    }
    step(state, &words);
    memcpy(at, &words, length);
}

void pattern_compress(void *memory, size_t length, double ratio)
{
    uint8_t *at = memory;
    size_t kept;

    if (!(ratio > 1))
        return;
    kept = (size_t)(PATTERN_BLOCK / ratio);
    for (; length > kept; at += PATTERN_BLOCK) {
        size_t block = length < PATTERN_BLOCK ? length : PATTERN_BLOCK;

        memset(at + kept, 0, block - kept);
        length -= block;
    }
}
