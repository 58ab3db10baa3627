#include "controller/results/figures.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIB        1048576.0
#define VALUES_MAX (UINT64_C(1) << 62)

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

struct counts counts_of(const struct sample_cell *cell)
{
    return (struct counts){
        .ios = cell->ios,
        .bytes = cell->bytes,
        .errors = cell->errors,
        .in_flight = cell->in_flight,
        .oldest_ns = cell->oldest_ns,
        .unissued = cell->unissued,
        .unissued_oldest_ns = cell->unissued_oldest_ns,
        .issued = cell->issued,
        .late_ns = cell->late_ns,
        .late_max_ns = cell->late_max_ns,
    };
}

struct cpu_tally cpu_tally_of(const struct sample_host *host)
{
    return (struct cpu_tally){
        .host_ns = host->host_cpu_ns,
        .system_ns = host->host_system_ns,
        .capacity_ns = host->capacity_ns,
        .agent_ns = host->agent_cpu_ns,
        .worker_ns = host->worker_cpu_ns,
        .holds = host->holds,
        .held_ns = host->held_ns,
        .refused = host->refused,
    };
}

/* All that is no gauge. */
static void add_sums(struct counts *into, const struct counts *from)
{
    into->ios = add_saturated(into->ios, from->ios);
    into->bytes = add_saturated(into->bytes, from->bytes);
    into->errors = add_saturated(into->errors, from->errors);
    into->issued = add_saturated(into->issued, from->issued);
    into->late_ns = add_saturated(into->late_ns, from->late_ns);
    into->late_max_ns = larger(into->late_max_ns, from->late_max_ns);
}

void counts_add(struct counts *into, const struct counts *from)
{
    into->in_flight = add_saturated(into->in_flight, from->in_flight);
    into->oldest_ns = larger(into->oldest_ns, from->oldest_ns);
    into->unissued = add_saturated(into->unissued, from->unissued);
    into->unissued_oldest_ns =
        larger(into->unissued_oldest_ns, from->unissued_oldest_ns);
    add_sums(into, from);
}

void counts_follow(struct counts *into, const struct counts *from)
{
    struct counts sum = *from;

    add_sums(&sum, into);
    *into = sum;
}

void counts_clear_gauges(struct counts *counts)
{
    counts->in_flight = 0;
    counts->oldest_ns = 0;
    counts->unissued = 0;
    counts->unissued_oldest_ns = 0;
}

void tally_done(struct tally *tally)
{
    free(tally->service);
    free(tally->response);
    memset(tally, 0, sizeof(*tally));
}

void tally_pair_done(struct tally_pair *pair)
{
    for (int op = 0; op < SAMPLE_OPS; op++)
        tally_done(&pair->op[op]);
}

static void tally_reset(struct tally *tally)
{
    memset(&tally->n, 0, sizeof(tally->n));
    if (tally->service != NULL)
        histogram_reset(tally->service);
    if (tally->response != NULL)
        histogram_reset(tally->response);
}

void tally_pair_reset(struct tally_pair *pair)
{
    for (int op = 0; op < SAMPLE_OPS; op++)
        tally_reset(&pair->op[op]);
}

/* Makes the histogram if there is none. */
static int need(struct histogram **histogram)
{
    if (*histogram != NULL)
        return 0;
    *histogram = malloc(sizeof(**histogram));
    if (*histogram == NULL)
        return -ENOMEM;
    histogram_init(*histogram);
    return 0;
}

static int merge(struct histogram **into, const struct histogram *from)
{
    int err;

    if (from == NULL || from->count == 0)
        return 0;
    err = need(into);
    if (err < 0)
        return err;
    if ((*into)->count >= VALUES_MAX - from->count)
        return -EOVERFLOW;
    histogram_merge(*into, from);
    return 0;
}

static int tally_add(struct tally *into, const struct tally *from)
{
    int err = merge(&into->service, from->service);

    if (err == 0)
        err = merge(&into->response, from->response);
    if (err == 0)
        counts_add(&into->n, &from->n);
    return err;
}

int tally_pair_add(struct tally_pair *into, const struct tally_pair *from)
{
    int err = 0;

    for (int op = 0; op < SAMPLE_OPS && err == 0; op++)
        err = tally_add(&into->op[op], &from->op[op]);
    return err;
}

/* `least` to `count` values. */
static int add_blob(struct histogram **into, const uint8_t *blob, size_t length,
                    uint64_t least, uint64_t count)
{
    uint64_t before, added;
    int err;

    if (length == 0)
        return count == 0 ? 0 : -EBADMSG;
    if (count >= VALUES_MAX)
        return -EOVERFLOW;
    err = need(into);
    if (err < 0)
        return err;
    before = (*into)->count;
    if (before >= VALUES_MAX - count)
        return -EOVERFLOW;
    err = histogram_merge_blob(*into, blob, length);
    if (err < 0)
        return err;
    added = (*into)->count - before;
    return added >= least && added <= count ? 0 : -EBADMSG;
}

int tally_add_blob(struct histogram **into, const uint8_t *blob, size_t length,
                   uint64_t count)
{
    return add_blob(into, blob, length, count, count);
}

int tally_add_responses(struct histogram **into, const uint8_t *blob,
                        size_t length, uint64_t count)
{
    return length == 0 ? 0 : add_blob(into, blob, length, 0, count);
}

static void add_cpu(struct cpu_tally *into, const struct cpu_tally *from)
{
    into->host_ns = add_saturated(into->host_ns, from->host_ns);
    into->system_ns = add_saturated(into->system_ns, from->system_ns);
    into->capacity_ns = add_saturated(into->capacity_ns, from->capacity_ns);
    into->agent_ns = add_saturated(into->agent_ns, from->agent_ns);
    into->holds = add_saturated(into->holds, from->holds);
    into->held_ns = add_saturated(into->held_ns, from->held_ns);
    into->refused = add_saturated(into->refused, from->refused);
}

void cpu_tally_add(struct cpu_tally *into, const struct cpu_tally *from)
{
    add_cpu(into, from);
    into->worker_ns = larger(into->worker_ns, from->worker_ns);
}

void cpu_tally_follow(struct cpu_tally *into, const struct cpu_tally *from)
{
    add_cpu(into, from);
    into->worker_ns = add_saturated(into->worker_ns, from->worker_ns);
}

static double to_us(double ns)
{
    return ns / 1000.0;
}

static double quantile_us(const struct histogram *h, double q)
{
    uint64_t ns;

    return histogram_quantile(h, q, &ns) ? to_us((double)ns) : NAN;
}

void latency_figures_of(const struct histogram *h,
                        struct latency_figures *ret_figures)
{
    if (h == NULL || h->count == 0) {
        *ret_figures = (struct latency_figures){0,   0,   NAN, NAN, NAN, NAN,
                                                NAN, NAN, NAN, NAN, NAN};
        return;
    }
    *ret_figures = (struct latency_figures){
        .count = h->count,
        .overflow = h->overflow,
        .mean_us = to_us(histogram_mean(h)),
        .min_us = to_us((double)h->min),
        .p50_us = quantile_us(h, 0.5),
        .p90_us = quantile_us(h, 0.9),
        .p99_us = quantile_us(h, 0.99),
        .p999_us = quantile_us(h, 0.999),
        .p9999_us = quantile_us(h, 0.9999),
        .max_us = to_us((double)h->max),
        .stddev_us = to_us(histogram_stddev(h)),
    };
}

double rate_of(uint64_t count, uint64_t window_ns)
{
    return window_ns == 0
               ? NAN
               : (double)count * (double)NS_PER_S / (double)window_ns;
}

double share_pct(uint64_t part, uint64_t whole)
{
    return whole == 0 ? NAN : 100.0 * (double)part / (double)whole;
}

static void rates_of(const struct counts *n, uint64_t window_ns,
                     struct op_figures *ret_figures)
{
    ret_figures->ios = n->ios;
    ret_figures->bytes = n->bytes;
    ret_figures->errors = n->errors;
    ret_figures->iops = rate_of(n->ios, window_ns);
    ret_figures->mib_s = rate_of(n->bytes, window_ns) / MIB;
}

static void op_figures_of(const struct tally *tally, uint64_t window_ns,
                          struct op_figures *ret_figures)
{
    rates_of(&tally->n, window_ns, ret_figures);
    latency_figures_of(tally->service, &ret_figures->service);
    latency_figures_of(tally->response, &ret_figures->response);
}

/*
 * The figures of both operations together.  Most loads read only or write
 * only: then those are the figures, and nothing need be merged.
 */
static void both_of(const struct histogram *a, const struct histogram *b,
                    struct histogram *scratch,
                    struct latency_figures *ret_figures)
{
    bool has_a = a != NULL && a->count > 0;
    bool has_b = b != NULL && b->count > 0;

    if (!has_a || !has_b) {
        latency_figures_of(has_a ? a : b, ret_figures);
        return;
    }
    histogram_reset(scratch);
    histogram_merge(scratch, a);
    histogram_merge(scratch, b);
    latency_figures_of(scratch, ret_figures);
}

static double depth_of(const struct tally_pair *pair, uint64_t window_ns)
{
    double busy_ns = 0;

    for (int op = 0; op < SAMPLE_OPS; op++)
        if (pair->op[op].service != NULL)
            busy_ns += (double)pair->op[op].service->sum;
    return window_ns == 0 ? NAN : busy_ns / (double)window_ns;
}

static void cpu_figures_of(const struct cpu_tally *cpu, uint64_t window_ns,
                           struct figures *ret_figures)
{
    bool known = cpu != NULL && cpu->capacity_ns > 0;

    ret_figures->has_cpu = known;
    ret_figures->holds = known ? cpu->holds : 0;
    ret_figures->held_us = known ? to_us((double)cpu->held_ns) : NAN;
    ret_figures->refused = known ? cpu->refused : 0;
    ret_figures->busiest_worker_pct =
        known ? share_pct(cpu->worker_ns, window_ns) : NAN;
    ret_figures->agent_cpu_pct =
        known ? share_pct(cpu->agent_ns, window_ns) : NAN;
    ret_figures->host_cpu_pct =
        known ? share_pct(cpu->host_ns, cpu->capacity_ns) : NAN;
    ret_figures->host_system_pct =
        known ? share_pct(cpu->system_ns, cpu->capacity_ns) : NAN;
}

void figures_of(const struct tally_pair *pair, uint64_t window_ns,
                bool open_loop, const struct cpu_tally *cpu,
                struct histogram *scratch, struct figures *ret_figures)
{
    const struct tally *reads = &pair->op[SAMPLE_READ];
    const struct tally *writes = &pair->op[SAMPLE_WRITE];
    struct figures f = {.open_loop = open_loop};
    struct counts n = reads->n;

    counts_add(&n, &writes->n);
    op_figures_of(reads, window_ns, &f.read);
    op_figures_of(writes, window_ns, &f.write);
    rates_of(&n, window_ns, &f.all);
    both_of(reads->service, writes->service, scratch, &f.all.service);
    both_of(reads->response, writes->response, scratch, &f.all.response);
    f.read_pct = share_pct(reads->n.ios, n.ios);
    f.bytes_per_io = n.ios == 0 ? NAN : (double)n.bytes / (double)n.ios;
    f.queue_depth = depth_of(pair, window_ns);
    f.in_flight = n.in_flight;
    f.oldest_us = n.in_flight == 0 ? NAN : to_us((double)n.oldest_ns);
    f.unissued = n.unissued;
    f.unissued_oldest_us =
        n.unissued == 0 ? NAN : to_us((double)n.unissued_oldest_ns);
    f.late_mean_us =
        n.issued == 0 ? NAN : to_us((double)n.late_ns / (double)n.issued);
    f.late_max_us = n.issued == 0 ? NAN : to_us((double)n.late_max_ns);
    f.response_lower_bound = open_loop && n.unissued > 0;
    cpu_figures_of(cpu, window_ns, &f);
    *ret_figures = f;
}
