/* choice.c - see choice.h. */
#include "agent/choice.h"

#include <assert.h>
#include <math.h>

static double sum_of(const double *weights, uint32_t count)
{
    double sum = 0;

    for (uint32_t i = 0; i < count; i++)
        sum += weights[i];
    return sum;
}

/* The last word of a piece that ends at `share` of the range; -1: it is empty,
 * and so are all before it. */
static int64_t last_word(double share, uint64_t *ret_word)
{
    double end = ldexp(share, 64);

    if (end < 1)
        return -1;
    *ret_word = end >= 0x1.0p64 ? UINT64_MAX : (uint64_t)end - 1;
    return 0;
}

void choice_lay(struct choice_guide *guide, uint64_t *upto,
                const double *weights, uint32_t count)
{
    double sum = sum_of(weights, count);
    double below = 0;
    uint32_t first = 0; /* that has a piece */
    uint32_t last = 0;

    assert(count > 0 && count <= CHOICE_MAX && sum > 0);
    for (uint32_t i = 0; i < count; i++) {
        below += weights[i];
        upto[i] = 0;
        if (last_word(below / sum, &upto[i]) < 0)
            first = i + 1;
        if (weights[i] > 0)
            last = i;
    }
    /* Rounding leaves no word without a piece. */
    upto[last] = UINT64_MAX;
    for (uint32_t b = 0, i = first; b < 1u << CHOICE_BITS; b++) {
        while (upto[i] < (uint64_t)b << (64 - CHOICE_BITS))
            i++;
        guide->first[b] = (uint16_t)i;
    }
}
