/*
 * The histogram as a byte string; histogram.h describes it.
 */
#include "common/histogram.h"

#include <assert.h>
#include <errno.h>

#define BLOB_VERSION 1
#define COUNT_LIMIT  (UINT64_C(1) << 63)
#define U128_MAX     (~(u128)0)

static uint8_t *put_varint(uint8_t *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *at++ = (uint8_t)value;
    return at;
}

static uint8_t *put_head(uint8_t *at, const struct histogram *h)
{
    *at++ = BLOB_VERSION;
    *at++ = HISTOGRAM_SUB_BITS;
    at = put_varint(at, h->count);
    at = put_varint(at, h->min);
    at = put_varint(at, h->max);
    at = put_varint(at, h->overflow);
    at = put_varint(at, (uint64_t)h->sum);
    at = put_varint(at, (uint64_t)(h->sum >> 64));
    at = put_varint(at, (uint64_t)h->sum_squares);
    return put_varint(at, (uint64_t)(h->sum_squares >> 64));
}

size_t histogram_encode(const struct histogram *h, uint8_t *blob)
{
    uint64_t left = h->count - h->overflow;
    uint32_t expected = 0;
    uint8_t *at = blob;

    if (h->count == 0)
        return 0;
    assert(h->count < COUNT_LIMIT);
    at = put_head(at, h);
    for (uint32_t i = left > 0 ? histogram_index(h->min) : 0; left > 0; i++) {
        assert(i < HISTOGRAM_BUCKETS);
        if (h->bucket[i] == 0)
            continue;
        if (i > expected)
            at = put_varint(at, (uint64_t)(i - expected) << 1 | 1);
        at = put_varint(at, h->bucket[i] << 1);
        left -= h->bucket[i];
        expected = i + 1;
    }
    return (size_t)(at - blob);
}

/* Takes varints off the front; the first error makes it bad for good. */
struct reader {
    const uint8_t *at;
    const uint8_t *end;
    bool bad;
};

static uint64_t fail(struct reader *r)
{
    r->bad = true;
    r->at = r->end;
    return 0;
}

static uint64_t take_long_varint(struct reader *r)
{
    uint64_t value = 0;

    for (uint32_t shift = 0; r->at < r->end; shift += 7) {
        uint8_t byte = *r->at++;

        if (shift == 63 && byte > 1)
            return fail(r); /* beyond 64 bits */
        value |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) != 0)
            continue;
        return byte == 0 && shift > 0 ? fail(r) : value; /* not the shortest */
    }
    return fail(r);
}

static inline uint64_t take_varint(struct reader *r)
{
    if (r->at < r->end && *r->at < 0x80)
        return *r->at++;
    return take_long_varint(r);
}

static u128 take_u128(struct reader *r)
{
    u128 low = take_varint(r);

    return low | (u128)take_varint(r) << 64;
}

/* The fields before the buckets. */
struct head {
    uint64_t count;
    uint64_t min;
    uint64_t max;
    uint64_t overflow;
    u128 sum;
    u128 sum_squares;
};

static int take_head(struct reader *r, struct head *ret_head)
{
    struct head head;

    if (r->end - r->at < 2 || r->at[0] != BLOB_VERSION ||
        r->at[1] != HISTOGRAM_SUB_BITS)
        return -EBADMSG;
    r->at += 2;
    head.count = take_varint(r);
    head.min = take_varint(r);
    head.max = take_varint(r);
    head.overflow = take_varint(r);
    head.sum = take_u128(r);
    head.sum_squares = take_u128(r);
    if (r->bad || head.count == 0 || head.count >= COUNT_LIMIT ||
        head.overflow > head.count || head.min > head.max)
        return -EBADMSG;
    *ret_head = head;
    return 0;
}

/* What the buckets add up to, and the bounds that the head's sum must keep. */
struct totals {
    uint64_t count;
    uint32_t first; /* HISTOGRAM_BUCKETS while none has a count */
    uint32_t last;
    u128 sum_low;
    u128 sum_spread; /* sum_low + this is the highest sum */
};

/* Takes the next bucket; `index` moves to the one after it. */
static inline int take_bucket(struct reader *r, uint32_t *index,
                              uint64_t *ret_count)
{
    uint64_t word = take_varint(r);

    if ((word & 1) != 0) {
        uint64_t gap = word >> 1;

        if (gap == 0 || gap >= HISTOGRAM_BUCKETS - *index)
            return -EBADMSG;
        *index += (uint32_t)gap;
        word = take_varint(r);
    }
    if (r->bad || word == 0 || (word & 1) != 0 || *index >= HISTOGRAM_BUCKETS)
        return -EBADMSG;
    *ret_count = word >> 1;
    (*index)++;
    return 0;
}

static inline void totals_add(struct totals *t, uint32_t index, uint64_t count)
{
    uint32_t octave = index >> HISTOGRAM_SUB_BITS;
    uint32_t beyond = octave == 0 ? 0 : octave - 1;
    uint64_t low = (uint64_t)(index - (beyond << HISTOGRAM_SUB_BITS)) << beyond;

    t->first = t->first < index ? t->first : index;
    t->last = index;
    t->count += count;
    t->sum_low += (u128)low * count;
    t->sum_spread += (u128)((UINT64_C(1) << beyond) - 1) * count;
}

/*
 * Adds the buckets at once, so that they are read once; `ret_added` of them,
 * also where the next one is wrong.
 */
static int add_buckets(struct histogram *into, struct reader r,
                       const struct head *head, struct totals *ret_totals,
                       uint32_t *ret_added)
{
    struct totals t = {.first = HISTOGRAM_BUCKETS};
    uint64_t in_buckets = head->count - head->overflow;
    uint32_t index = 0, added = 0;
    int result = 0;

    while (r.at < r.end) {
        uint64_t count;

        if (take_bucket(&r, &index, &count) < 0 ||
            count > in_buckets - t.count) {
            result = -EBADMSG;
            break;
        }
        into->bucket[index - 1] += count;
        added++;
        totals_add(&t, index - 1, count);
    }
    *ret_totals = t;
    *ret_added = added;
    return t.count != in_buckets ? -EBADMSG : result;
}

static void take_back_buckets(struct histogram *into, struct reader r,
                              uint32_t added)
{
    uint32_t index = 0;
    uint64_t count;

    while (added-- > 0 && take_bucket(&r, &index, &count) == 0)
        into->bucket[index - 1] -= count;
}

static bool min_and_max_fit(const struct head *head, const struct totals *t)
{
    bool has_buckets = t->first < HISTOGRAM_BUCKETS;
    bool min_over = head->min >> HISTOGRAM_MAX_BITS != 0;
    bool max_over = head->max >> HISTOGRAM_MAX_BITS != 0;

    if (min_over == has_buckets || max_over != (head->overflow > 0))
        return false;
    return (min_over || histogram_index(head->min) == t->first) &&
           (max_over || histogram_index(head->max) == t->last);
}

static bool sum_fits(const struct head *head, const struct totals *t)
{
    u128 low = t->sum_low;
    u128 high = low + t->sum_spread;

    low += (u128)head->overflow << HISTOGRAM_MAX_BITS;
    high += (u128)head->overflow * head->max;
    return head->sum >= low && head->sum <= high;
}

/*
 * The squares could be those of real values.  They are not less than the sum
 * allows (no variance is negative: exact, in whole numbers, see
 * histogram_stddev()), and not more than where all values are at `min` or at
 * `max`: (x - min) (max - x) is never negative, added up for all values.
 */
static bool squares_fit(const struct head *head)
{
    u128 m = head->sum / head->count;
    u128 r = head->sum % head->count;
    u128 squares = head->sum_squares;
    double min = (double)head->min, max = (double)head->max;
    double most = (min + max) * (double)head->sum;

    if (squares == U128_MAX)
        return true;
    if (m != 0 && head->sum + r > squares / m)
        return false;
    if (squares - m * (head->sum + r) < (r * r + head->count - 1) / head->count)
        return false;
    return (double)squares <=
           most - (double)head->count * min * max + 1e-14 * most;
}

static void merge_head(struct histogram *into, const struct head *head)
{
    into->count += head->count;
    into->overflow += head->overflow;
    into->sum += head->sum;
    into->sum_squares = head->sum_squares > U128_MAX - into->sum_squares
                            ? U128_MAX
                            : into->sum_squares + head->sum_squares;
    into->min = head->min < into->min ? head->min : into->min;
    into->max = head->max > into->max ? head->max : into->max;
}

int histogram_merge_blob(struct histogram *into, const uint8_t *blob,
                         size_t length)
{
    struct reader r = {blob, blob + length, false};
    struct totals totals;
    struct head head;
    uint32_t added;

    if (length == 0)
        return 0;
    if (take_head(&r, &head) < 0 || !squares_fit(&head) ||
        into->count >= COUNT_LIMIT - head.count)
        return -EBADMSG;
    if (add_buckets(into, r, &head, &totals, &added) < 0 ||
        !min_and_max_fit(&head, &totals) || !sum_fits(&head, &totals)) {
        take_back_buckets(into, r, added);
        return -EBADMSG;
    }
    merge_head(into, &head);
    return 0;
}
