/* pattern.c - random bytes, four generators side by side for the compiler to
 * put into vector registers. */
#include "agent/pattern.h"

#include "common/prng.h"

#include <math.h>
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

/* ---- duplicates ---- */

#define UNIT_SEED UINT64_C(0x6c6f636b73746570)

void pattern_fill_units(void *memory, size_t length, uint32_t unit,
                        double compression)
{
    uint8_t *at = memory;
    size_t first = length < unit ? length : unit;

    pattern_fill(memory, first, UNIT_SEED);
    pattern_compress(memory, first, compression);
    for (size_t done = first; done < length; done += unit)
        memcpy(at + done, at, length - done < unit ? length - done : unit);
}

/* Well-mixed bits of a number. */
static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

void duplicates_init(struct duplicates *duplicates, uint32_t unit,
                     double unique, uint64_t sets, const char *name)
{
    double scaled = ldexp(unique, 64);
    uint64_t key = 0;

    for (; *name != '\0'; name++)
        key = mix(key ^ (uint8_t)*name);
    *duplicates = (struct duplicates){
        .unit = unit,
        .unique_below = scaled >= 0x1.0p64 ? UINT64_MAX : (uint64_t)scaled,
        .sets = sets,
        .key = key,
    };
}

/* What a unit holds: a number of its own, which is odd, or that of its set. */
static uint64_t content_of(const struct duplicates *duplicates, uint64_t unit)
{
    uint64_t own = mix(duplicates->key ^ mix(unit));

    if (own < duplicates->unique_below ||
        duplicates->unique_below == UINT64_MAX)
        return own | 1;
    return mix(own) % duplicates->sets << 1;
}

void duplicates_stamp(const struct duplicates *duplicates, void *memory,
                      uint32_t length, uint64_t offset)
{
    uint32_t unit = duplicates->unit;
    uint32_t step = unit < PATTERN_BLOCK ? unit : PATTERN_BLOCK;
    uint64_t end = offset + length;
    uint8_t *at = memory;

    while (offset < end) {
        uint64_t within = offset % unit;
        uint64_t left = unit - within;
        uint64_t next = step - within % step;
        uint64_t number =
            mix(content_of(duplicates, offset / unit) ^ mix(within / step + 1));
        uint64_t words[2] = {number, ~number};

        if (within % step == 0 && end - offset >= sizeof(words))
            memcpy(at, words, sizeof(words));
        if (next > left)
            next = left;
        at += next;
        offset += next;
    }
}
