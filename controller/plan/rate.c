/*
 * rate.c - rates and sizes as vdbench rounds and writes them.
 */
#include "controller/plan/internal.h"
#include "controller/plan/plan_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROUND_MAX 1e15

/* Of a drive that did nothing at its maximum: 0 would be at full speed. */
#define DRIVE_RATE_MIN 0.1

uint64_t plan_round_rate(double observed_iops, double percent)
{
    uint64_t rate;

    if (!(observed_iops > 0) || !(percent > 0))
        return 10;
    if (observed_iops > ROUND_MAX)
        observed_iops = ROUND_MAX;
    if (percent > 1000)
        percent = 1000;
    rate = (uint64_t)observed_iops * (uint64_t)percent / 100;
    rate = rate > 1000 ? (rate + 99) / 100 * 100 : (rate + 9) / 10 * 10;
    return rate < 10 ? 10 : rate;
}

double plan_cell_rate(const struct plan_run *run, const struct plan_cell *cell,
                      double run_rate)
{
    const struct plan_workload *workload = &run->workloads[cell->workload];

    return (workload->rate > 0 ? workload->rate : run_rate) * cell->share;
}

/* What a cell counts for among those of its drive. */
static double weight_of(const struct plan_run *run,
                        const struct plan_cell *cell, const double *shares)
{
    const struct plan_workload *workload = &run->workloads[cell->workload];

    if (workload->rate > 0)
        return 0;
    return shares != NULL && workload->skew > 0
               ? cell->share * shares[cell->workload] / workload->skew
               : cell->share;
}

void plan_drive_rates(const struct plan_run *run, double run_rate,
                      const double *maximum, const double *shares,
                      double *weights, double *ret_rates)
{
    double all = 0;

    for (uint32_t i = 0; i < run->target_count; i++) {
        all += maximum[run->targets[i].target];
        weights[i] = 0;
    }
    for (uint32_t i = 0; i < run->cell_count; i++)
        weights[run->cells[i].target] += weight_of(run, &run->cells[i], shares);
    for (uint32_t i = 0; i < run->cell_count; i++) {
        const struct plan_cell *cell = &run->cells[i];
        double weight = weight_of(run, cell, shares);
        double rate = run->workloads[cell->workload].rate * cell->share;

        if (weight > 0 && all > 0)
            rate = run_rate * maximum[run->targets[cell->target].target] / all *
                   weight / weights[cell->target];
        ret_rates[i] = rate > DRIVE_RATE_MIN ? rate : DRIVE_RATE_MIN;
    }
}

double plan_workload_bytes(const struct plan_workload *workload)
{
    double bytes = 0;

    for (uint32_t i = 0; i < workload->size_count; i++)
        bytes += workload->sizes[i].bytes * workload->sizes[i].percent / 100;
    return bytes;
}

static double region_bytes(const struct plan_cell *cell)
{
    return (double)(cell->high - cell->low) +
           (double)(cell->wrap_high - cell->wrap_low);
}

/* Of the cells in which the sequence of this one goes on. */
static double joined_bytes(const struct plan_run *run,
                           const struct plan_cell *cell)
{
    uint32_t joins = (uint32_t)(cell - run->cells) + 1;
    double bytes = 0;

    for (uint32_t i = joins; run->concatenated && i < run->cell_count; i++)
        if (run->cells[i].joins == joins)
            bytes += region_bytes(&run->cells[i]);
    return bytes;
}

/* Where each block is written once: how much that is; 0: unknown, or not so. */
static double once_through(const struct plan_run *run,
                           const struct plan_cell *cell)
{
    if (run->kind != PLAN_RUN_FILL &&
        !run->workloads[cell->workload].end_at_eof)
        return 0;
    return region_bytes(cell) + joined_bytes(run, cell);
}

/* Bytes that a cell writes; INFINITY: as much as the drive takes. */
static double cell_writes(const struct plan_run *run,
                          const struct plan_cell *cell)
{
    const struct plan_workload *workload = &run->workloads[cell->workload];
    double writes = 1 - workload->read_percent / 100;
    double once = once_through(run, cell);
    double bytes = INFINITY;

    if (writes <= 0 || cell->idle || cell->joins > 0)
        return 0;
    if (run->kind != PLAN_RUN_FILL &&
        (run->rate.kind == PLAN_RATE_FIXED || workload->rate > 0))
        bytes = plan_cell_rate(run, cell, run->rate.value) *
                plan_workload_bytes(workload) *
                (double)(run->warmup_ns + run->elapsed_ns) / 1e9;
    if (once > 0 && once < bytes)
        bytes = once;
    return bytes * writes;
}

/* Bytes that a run writes; INFINITY: as much as the drives take. */
static double written_by(const struct plan_run *run)
{
    double bytes = 0;

    for (uint32_t i = 0; i < run->cell_count; i++)
        bytes += cell_writes(run, &run->cells[i]);
    if (bytes > 0 && run->max_bytes_written > 0)
        bytes = fmin(bytes, (double)run->max_bytes_written);
    if (bytes > 0 && run->max_bytes > 0)
        bytes = fmin(bytes, (double)run->max_bytes);
    return bytes;
}

double plan_written_bytes(const struct plan *plan, uint32_t *ret_open_ended)
{
    double bytes = 0;

    *ret_open_ended = 0;
    for (uint32_t i = 0; i < plan->run_count; i++) {
        double written = written_by(&plan->runs[i]);

        *ret_open_ended += isinf(written) != 0;
        bytes += isinf(written) ? 0 : written;
    }
    return bytes < 0x1p62 ? bytes : 0x1p62;
}

void plan_text_rate(const struct plan_rate *rate, char *text, size_t size)
{
    switch (rate->kind) {
    case PLAN_RATE_MAX:
        (void)snprintf(text, size, "max");
        break;
    case PLAN_RATE_CURVE:
        (void)snprintf(text, size, "curve");
        break;
    case PLAN_RATE_PERCENT:
    case PLAN_RATE_DRIVES:
    case PLAN_RATE_OBSERVED:
        (void)snprintf(text, size, "%llu%%", (unsigned long long)rate->value);
        break;
    case PLAN_RATE_FIND:
        (void)snprintf(text, size, "find");
        break;
    case PLAN_RATE_FIXED:
        (void)snprintf(text, size, "%lld", llround(rate->value));
        break;
    }
}

void format_size(double value, char *text, size_t size)
{
    static const char letters[] = "kmgtp";
    unsigned long long thousandths, whole;
    double unit = 1024;
    int letter = 0;

    if (value < 0) { /* a percentage, as vdbench keeps it */
        (void)snprintf(text, size, "%llu%%", (unsigned long long)-value);
        return;
    }
    if (value < 1024) {
        (void)snprintf(text, size, "%llu", (unsigned long long)value);
        return;
    }
    while (letters[letter + 1] != '\0' && value >= unit * 1024) {
        unit *= 1024;
        letter++;
    }
    thousandths = (unsigned long long)llround(value / unit * 1000);
    whole = thousandths / 1000;
    if (thousandths % 1000 == 0)
        (void)snprintf(text, size, "%llu%c", whole, letters[letter]);
    else
        (void)snprintf(text, size, "%llu.%03llu%c", whole, thousandths % 1000,
                       letters[letter]);
}
