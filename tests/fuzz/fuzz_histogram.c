/*
 * A histogram's blob: refused and nothing changed, or a sound histogram that is
 * written as the same bytes again.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "common/histogram.h"
#include "tests/fuzz/fuzz.h"

static void check_sound(const struct histogram *h)
{
    uint64_t counted = h->overflow;
    double mean = histogram_mean(h), deviation = histogram_stddev(h);
    uint64_t last = h->min;

    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        counted += h->bucket[i];
    assert(counted == h->count && h->min <= h->max);
    assert(mean >= (double)h->min * (1 - 1e-9) &&
           mean <= (double)h->max * (1 + 1e-9));
    assert(deviation >= 0 && deviation <= (double)h->max * (1 + 1e-6));
    for (int percent = 0; percent <= 100; percent++) {
        uint64_t ns = histogram_quantile_raw(h, percent / 100.0);

        assert(ns >= last && ns <= h->max);
        last = ns;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct histogram h, merged;
    static uint8_t blob[HISTOGRAM_BLOB_MAX];

    histogram_init(&h);
    if (histogram_merge_blob(&h, data, size) < 0) {
        assert(h.count == 0 && h.max == 0 && h.sum == 0);
        return 0;
    }
    if (size == 0)
        return 0;
    check_sound(&h);
    assert(histogram_encode(&h, blob) == size);
    assert(memcmp(blob, data, size) == 0);
    histogram_init(&merged);
    histogram_merge(&merged, &h);
    if (histogram_merge_blob(&merged, data, size) == 0)
        check_sound(&merged);
    return 0;
}
