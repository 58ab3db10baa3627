/*
 * rate.c - rates and sizes as vdbench rounds and writes them.
 */
#include "controller/plan/internal.h"
#include "controller/plan/plan_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ROUND_MAX 1e15

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

double plan_workload_bytes(const struct plan_workload *workload)
{
    double bytes = 0;

    for (uint32_t i = 0; i < workload->size_count; i++)
        bytes += workload->sizes[i].bytes * workload->sizes[i].percent / 100;
    return bytes;
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
