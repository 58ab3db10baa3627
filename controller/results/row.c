#include "controller/results/row.h"

#include "controller/results/layout.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sample *sample_free(struct sample *sample)
{
    if (sample != NULL) {
        free(sample->cells);
        free(sample->errors);
        free(sample->failures);
        free(sample->drives);
        free(sample->memory);
        free(sample);
    }
    return NULL;
}

static int pack(const struct histogram *h, struct blob *ret_blob)
{
    uint8_t buffer[HISTOGRAM_BLOB_MAX];
    size_t length;
    uint8_t *data;

    if (h == NULL || h->count == 0)
        return 0;
    length = histogram_encode(h, buffer);
    data = malloc(length);
    if (data == NULL)
        return -ENOMEM;
    memcpy(data, buffer, length);
    *ret_blob = (struct blob){data, length};
    return 0;
}

int packed_of(const struct tally_pair *pair, struct packed *ret_packed)
{
    struct packed packed = {0};
    int err = 0;

    for (int op = 0; op < SAMPLE_OPS && err == 0; op++) {
        packed.n[op] = pair->op[op].n;
        err = pack(pair->op[op].service, &packed.service[op]);
        if (err == 0)
            err = pack(pair->op[op].response, &packed.response[op]);
    }
    if (err < 0)
        packed_done(&packed);
    else
        *ret_packed = packed;
    return err;
}

void packed_done(struct packed *packed)
{
    for (int op = 0; op < SAMPLE_OPS; op++) {
        free(packed->service[op].data);
        free(packed->response[op].data);
    }
    memset(packed, 0, sizeof(*packed));
}

int packed_add_to(const struct packed *packed, struct tally_pair *into)
{
    for (int op = 0; op < SAMPLE_OPS; op++) {
        const struct counts *n = &packed->n[op];
        const struct blob *service = &packed->service[op];
        const struct blob *response = &packed->response[op];
        struct tally *tally = &into->op[op];
        int err = tally_add_blob(&tally->service, service->data,
                                 service->length, n->ios);

        if (err == 0)
            err = tally_add_responses(&tally->response, response->data,
                                      response->length, n->ios);
        if (err < 0)
            return err;
        counts_add(&tally->n, n);
    }
    return 0;
}

struct host_row *host_row_free(struct host_row *row)
{
    if (row == NULL)
        return NULL;
    for (uint32_t i = 0; i < row->part_count; i++)
        (void)sample_free(row->parts[i]);
    free(row->parts);
    packed_done(&row->sum);
    free(row);
    return NULL;
}

struct row *row_new(const struct layout *layout, uint64_t interval,
                    enum sample_kind kind)
{
    struct row *row = calloc(1, sizeof(*row));
    uint32_t at = 0;

    if (row == NULL)
        return NULL;
    row->interval = interval;
    row->spans = 1;
    row->kind = kind;
    row->begin_ns = INT64_MAX;
    row->end_ns = INT64_MIN;
    row->hosts_expected = layout->takes_part_count;
    row->workload_count = layout->workload_count;
    row->workloads =
        calloc((size_t)layout->workload_count + 1, sizeof(*row->workloads));
    row->hosts =
        calloc((size_t)layout->takes_part_count + 1, sizeof(*row->hosts));
    if (row->workloads == NULL || row->hosts == NULL)
        return row_free(row);
    for (uint32_t h = 0; h < layout->host_count; h++)
        if (layout->takes_part[h])
            row->hosts[at++] = (struct row_host){
                .host = h, .mean_us = NAN, .p99_us = NAN, .max_us = NAN};
    return row;
}

struct row *row_free(struct row *row)
{
    if (row == NULL)
        return NULL;
    tally_pair_done(&row->sum);
    for (uint32_t i = 0; row->workloads != NULL && i < row->workload_count; i++)
        tally_pair_done(&row->workloads[i]);
    free(row->workloads);
    free(row->hosts);
    free(row);
    return NULL;
}

struct row_host *row_host_of(struct row *row, uint32_t host)
{
    uint32_t low = 0, high = row->hosts_expected;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (row->hosts[middle].host < host)
            low = middle + 1;
        else
            high = middle;
    }
    assert(low < row->hosts_expected && row->hosts[low].host == host);
    return &row->hosts[low];
}

static double larger_of(double a, double b)
{
    return !(a > b) && !isnan(b) ? b : a;
}

/* Puts two parts of a host's row together, one after the other in time. */
static void join_host(struct row_host *into, const struct row_host *from)
{
    uint64_t ios = into->n[SAMPLE_READ].ios + into->n[SAMPLE_WRITE].ios;
    uint64_t more = from->n[SAMPLE_READ].ios + from->n[SAMPLE_WRITE].ios;

    if (ios > 0 && more > 0) {
        into->mean_us =
            (into->mean_us * (double)ios + from->mean_us * (double)more) /
            (double)(ios + more);
        into->p99_us = NAN;
    } else if (more > 0) {
        into->mean_us = from->mean_us;
        into->p99_us = from->p99_us;
    }
    into->max_us = larger_of(into->max_us, from->max_us);
    into->intervals_ += from->intervals_;
    into->samples_ += from->samples_;
    for (int op = 0; op < SAMPLE_OPS; op++)
        counts_follow(&into->n[op], &from->n[op]);
    cpu_tally_follow(&into->cpu, &from->cpu);
}

static void join_window(struct row *row, int64_t begin_ns, int64_t end_ns,
                        int64_t skew_ns)
{
    row->begin_ns = begin_ns < row->begin_ns ? begin_ns : row->begin_ns;
    row->end_ns = end_ns > row->end_ns ? end_ns : row->end_ns;
    row->skew_ns = skew_ns > row->skew_ns ? skew_ns : row->skew_ns;
}

static void clear_gauges(struct tally_pair *pair)
{
    for (int op = 0; op < SAMPLE_OPS; op++)
        counts_clear_gauges(&pair->op[op].n);
}

/* What was in flight at an edge within a row is not in flight at its end. */
static void clear_all_gauges(struct tally_pair *sum,
                             struct tally_pair *workloads, uint32_t count)
{
    clear_gauges(sum);
    for (uint32_t w = 0; w < count; w++)
        clear_gauges(&workloads[w]);
}

int row_join(struct row *later, struct row *earlier)
{
    int err;

    clear_all_gauges(&earlier->sum, earlier->workloads,
                     earlier->workload_count);
    err = tally_pair_add(&later->sum, &earlier->sum);

    for (uint32_t w = 0; w < later->workload_count && err == 0; w++)
        err = tally_pair_add(&later->workloads[w], &earlier->workloads[w]);
    if (err < 0)
        return err;
    for (uint32_t i = 0; i < later->hosts_expected; i++) {
        struct row_host host = earlier->hosts[i];

        join_host(&host, &later->hosts[i]);
        later->hosts[i] = host;
    }
    join_window(later, earlier->begin_ns, earlier->end_ns, earlier->skew_ns);
    cpu_tally_follow(&later->cpu, &earlier->cpu);
    later->spans += earlier->spans;
    return 0;
}

/* The service times of both operations, in one histogram: `scratch` where both
 * have some.  NULL: nothing. */
static const struct histogram *both(const struct tally_pair *sum,
                                    struct histogram *scratch)
{
    const struct histogram *some = NULL;

    for (int op = 0; op < SAMPLE_OPS; op++) {
        const struct histogram *h = sum->op[op].service;

        if (h == NULL || h->count == 0)
            continue;
        if (some == NULL) {
            some = h;
            continue;
        }
        histogram_reset(scratch);
        histogram_merge(scratch, some);
        histogram_merge(scratch, h);
        some = scratch;
    }
    return some;
}

static void host_latency(const struct tally_pair *sum,
                         struct histogram *scratch, struct row_host *ret_host)
{
    const struct histogram *h = both(sum, scratch);
    uint64_t p99_ns;

    ret_host->mean_us = ret_host->p99_us = ret_host->max_us = NAN;
    if (h == NULL)
        return;
    ret_host->mean_us = histogram_mean(h) / 1000;
    ret_host->max_us = (double)h->max / 1000;
    if (histogram_quantile(h, 0.99, &p99_ns))
        ret_host->p99_us = (double)p99_ns / 1000;
}

int row_add(struct row *row, const struct host_row *from,
            struct tally_pair *sum, struct tally_pair *workloads,
            uint32_t intervals, struct histogram *scratch)
{
    struct row_host host = {.intervals_ = intervals, .samples_ = 1};
    int err;

    if (from->interval < row->interval)
        clear_all_gauges(sum, workloads, row->workload_count);
    err = tally_pair_add(&row->sum, sum);
    for (uint32_t w = 0; w < row->workload_count && err == 0; w++)
        err = tally_pair_add(&row->workloads[w], &workloads[w]);
    if (err < 0)
        return err;
    for (int op = 0; op < SAMPLE_OPS; op++)
        host.n[op] = sum->op[op].n;
    host.cpu = from->cpu;
    host_latency(sum, scratch, &host);
    join_host(row_host_of(row, from->host), &host);
    join_window(row, from->begin_ns, from->end_ns, from->skew_ns);
    cpu_tally_add(&row->cpu, &from->cpu);
    return 0;
}

struct row *row_finish(struct row *row)
{
    row->hosts_delivered = 0;
    for (uint32_t i = 0; i < row->hosts_expected; i++) {
        struct row_host *host = &row->hosts[i];

        host->delivered = host->samples_ > 0 && host->intervals_ >= row->spans;
        row->hosts_delivered += host->delivered ? 1 : 0;
    }
    return row;
}

uint64_t row_window_ns(const struct row *row)
{
    return row->end_ns > row->begin_ns
               ? (uint64_t)row->end_ns - (uint64_t)row->begin_ns
               : 0;
}

bool row_is_skewed(const struct row *row, uint64_t interval_ns)
{
    return (u128)row->skew_ns * 20 > interval_ns;
}

bool row_is_partial(const struct row *row, uint64_t interval_ns)
{
    return row->spans > 0 && row->kind != SAMPLE_ROW_DRAIN &&
           (u128)row_window_ns(row) * 20 < (u128)interval_ns * row->spans * 19;
}
