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

void pattern_repeat(void *memory, size_t length, const void *bytes,
                    size_t count)
{
    uint8_t *at = memory;

    for (size_t done = 0; done < length; done += count)
        memcpy(at + done, bytes, length - done < count ? length - done : count);
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

void duplicates_init(struct duplicates *duplicates, const char *name)
{
    double scaled = ldexp(duplicates->unique, 64);

    duplicates->key = 0;
    for (; *name != '\0'; name++)
        duplicates->key = mix(duplicates->key ^ (uint8_t)*name);
    duplicates->unique_below =
        scaled >= 0x1.0p64 ? UINT64_MAX : (uint64_t)scaled;
    duplicates->hot_sets = duplicates->hot_units = 0;
    for (uint32_t i = 0; i < duplicates->hot_count; i++) {
        const struct duplicates_hot *hot = &duplicates->hot[i];

        duplicates->hot_sets += hot->sets;
        duplicates->hot_units += (uint64_t)hot->sets * hot->units;
    }
}

/* The hot set of unit `at` of all hot ones. */
static uint64_t hot_set(const struct duplicates *duplicates, uint64_t at)
{
    uint64_t set = 0;

    for (uint32_t i = 0; i < duplicates->hot_count; i++) {
        const struct duplicates_hot *hot = &duplicates->hot[i];
        uint64_t units = (uint64_t)hot->sets * hot->units;

        if (at < units)
            return set + at / hot->units;
        at -= units;
        set += hot->sets;
    }
    return set;
}

/* Sets have even numbers; the two faces of one differ in the highest bit. */
static uint64_t content_of_set(const struct duplicates *duplicates,
                               struct pattern *pattern, uint64_t set,
                               bool is_hot)
{
    bool flips = duplicates->flip == DUPLICATES_FLIP ||
                 (duplicates->flip == DUPLICATES_FLIP_HOT && is_hot);
    uint64_t number = (mix(duplicates->bucket) ^ set) << 1 & INT64_MAX;

    if (flips && (mix(pattern->key ^ ++pattern->counter) & 1) != 0)
        number |= UINT64_C(1) << 63;
    return number;
}

/* What a unit holds: a number of its own, which is odd, or that of its set. */
static uint64_t content_of(const struct duplicates *duplicates,
                           struct pattern *pattern, uint64_t unit)
{
    uint64_t own = mix(duplicates->key ^ mix(unit));
    uint64_t hot = unit * duplicates->hot_every + duplicates->hot_first;

    if (hot < duplicates->hot_units)
        return content_of_set(duplicates, pattern, hot_set(duplicates, hot),
                              true);
    if (own >= duplicates->unique_below &&
        duplicates->unique_below != UINT64_MAX)
        return content_of_set(duplicates, pattern,
                              duplicates->hot_sets +
                                  mix(own) %
                                      (duplicates->sets - duplicates->hot_sets),
                              false);
    return duplicates->places_alike
               ? mix(unit) | 1
               : mix(own ^ mix(pattern->key ^ ++pattern->counter)) | 1;
}

void duplicates_stamp(const struct duplicates *duplicates,
                      struct pattern *pattern, void *memory, uint32_t length,
                      uint64_t offset)
{
    uint32_t unit = duplicates->unit;
    uint32_t step = unit < PATTERN_BLOCK ? unit : PATTERN_BLOCK;
    uint64_t end = offset + length;
    uint64_t content = 0, known = UINT64_MAX;
    uint8_t *at = memory;

    while (offset < end) {
        uint64_t within = offset % unit;
        uint64_t left = unit - within;
        uint64_t next = step - within % step;
        uint64_t words[2];

        if (offset / unit != known) {
            known = offset / unit;
            content = content_of(duplicates, pattern, known);
        }
        words[0] = mix(content ^ mix(within / step + 1));
        words[1] = ~words[0];
        if (within % step == 0 && end - offset >= sizeof(words))
            memcpy(at, words, sizeof(words));
        if (next > left)
            next = left;
        at += next;
        offset += next;
    }
}
