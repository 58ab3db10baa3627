/*
 * A phase's service times in vdbench's histogram: few ranges, as histogram= has
 * them.  Stored buckets are 1/128 wide; a request counts as its bucket's
 * largest value, as in percentiles, so that up to 0.8 % below an edge may count
 * above it, and nothing the other way.  Every request is in one range.
 */
#include "controller/results/query_show.h"

#include <stdlib.h>
#include <string.h>

#define EDGES_MAX 64u

struct ranges {
    uint64_t edge_us[EDGES_MAX];
    uint32_t count;
    bool suppress;
};

static const struct ranges usual = {
    .edge_us = {20,     40,     60,     80,      100,    200,    400,
                600,    800,    1000,   2000,    4000,   6000,   8000,
                10000,  20000,  40000,  60000,   80000,  100000, 200000,
                400000, 600000, 800000, 1000000, 2000000},
    .count = 26,
};

/* "20,40,1000,suppress", as the plan wrote it. */
static void parse(const char *text, struct ranges *ret_ranges)
{
    struct ranges ranges = {0};

    while (text != NULL && ranges.count < EDGES_MAX) {
        char *end;
        unsigned long long us = strtoull(text, &end, 10);

        if (end == text)
            break;
        ranges.edge_us[ranges.count++] = us;
        text = *end == ',' ? end + 1 : NULL;
    }
    ranges.suppress = text != NULL && strcmp(text, "suppress") == 0;
    *ret_ranges = ranges.count > 0 ? ranges : usual;
}

static int load(struct show *show, struct ranges *ret_ranges)
{
    struct statement s;
    int got;

    *ret_ranges = usual;
    statement_begin(&s, show->access,
                    "SELECT histogram FROM campaign WHERE id = ?");
    statement_uint(&s, show->found->number);
    got = statement_step(&s, show->diag);
    if (got == 1 && !statement_is_null(&s))
        parse(statement_get_text(&s), ret_ranges);
    statement_end(&s);
    return got < 0 ? got : 0;
}

static void add(const struct ranges *ranges, const struct histogram *from,
                uint64_t *counts)
{
    uint64_t left;
    uint32_t range = 0;

    if (from == NULL)
        return;
    left = from->count;
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        uint64_t last_ns = histogram_bucket_edge(i);

        while (range < ranges->count &&
               last_ns >= ranges->edge_us[range] * 1000)
            range++;
        counts[range] += from->bucket[i];
        left -= from->bucket[i];
    }
    counts[ranges->count] += left; /* longer than any bucket */
}

static json_t *numbers(const uint64_t *from, uint32_t count)
{
    json_t *array = json_array();

    for (uint32_t i = 0; i < count && array != NULL; i++)
        if (json_array_append_new(array, json_integer((json_int_t)from[i])) < 0)
            break;
    return array;
}

int show_put_histogram(struct show *show, const struct histogram *read,
                       const struct histogram *write)
{
    uint64_t all[EDGES_MAX + 1] = {0};
    uint64_t reads[EDGES_MAX + 1] = {0}, writes[EDGES_MAX + 1] = {0};
    struct object o = object_new();
    struct ranges ranges;
    int err = load(show, &ranges);

    add(&ranges, read, reads);
    add(&ranges, write, writes);
    for (uint32_t i = 0; i <= ranges.count; i++)
        all[i] = reads[i] + writes[i];
    object_put_bool(&o, "suppress", ranges.suppress);
    object_put(&o, "edges_us", numbers(ranges.edge_us, ranges.count));
    object_put(&o, "all", numbers(all, ranges.count + 1));
    object_put(&o, "read", numbers(reads, ranges.count + 1));
    object_put(&o, "write", numbers(writes, ranges.count + 1));
    object_put_object(&show->o, "histogram", &o);
    return err;
}
