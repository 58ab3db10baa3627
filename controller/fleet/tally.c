/* tally.c - see tally.h. */
#include "controller/fleet/tally.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define PARTS_MAX 128u

void tally_begin(struct tally *tally, uint32_t phase)
{
    *tally = (struct tally){
        .phase = phase,
        .drive_ios = tally->drive_ios,
        .drive_count = tally->drive_count,
    };
    if (tally->drive_ios != NULL)
        memset(tally->drive_ios, 0,
               tally->drive_count * sizeof(*tally->drive_ios));
}

/* data_errors=(n,seconds): a new span forgets the errors of the last. */
static void add_errors(struct tally *tally, const struct plan *plan,
                       const struct sample *sample, uint64_t errors)
{
    uint64_t at = sample->end_ns > 0 ? (uint64_t)sample->end_ns : 0;

    tally->errors += errors;
    if (plan->max_errors_span_ns > 0 &&
        at / plan->max_errors_span_ns != tally->span) {
        tally->span = at / plan->max_errors_span_ns;
        tally->span_errors = 0;
    }
    tally->span_errors += errors;
}

void tally_skip(struct tally_mark *mark, uint32_t phase, uint64_t next_interval)
{
    *mark = (struct tally_mark){
        .phase = phase,
        .next = next_interval * PARTS_MAX,
    };
}

void tally_add(struct tally *tally, struct tally_mark *mark,
               const struct plan *plan, uint32_t phase,
               const struct sample *sample)
{
    const struct plan_run *run = &plan->runs[phase];
    uint64_t place = sample->interval * PARTS_MAX + sample->part;

    if (tally->phase != phase)
        return;
    if (mark->phase != phase)
        *mark = (struct tally_mark){.phase = phase};
    if (place < mark->next)
        return;
    mark->next = place + 1;
    for (uint32_t i = 0; i < sample->cell_count; i++) {
        const struct sample_cell *cell = &sample->cells[i];
        const struct plan_cell *of = &run->cells[cell->cell];
        uint32_t workload = of->workload;

        add_errors(tally, plan, sample, cell->errors);
        if (sample->kind != SAMPLE_ROW_MEASURED)
            continue;
        tally->bytes[cell->op] += cell->bytes;
        assert(workload < TALLY_WORKLOADS_MAX);
        tally->workload_ios[workload] += cell->ios;
        if (tally->drive_ios != NULL)
            tally->drive_ios[run->targets[of->target].target] += cell->ios;
    }
}

static bool is_past(uint64_t bytes, uint64_t limit, const char *what,
                    char *reason, size_t size)
{
    if (limit == 0 || bytes < limit)
        return false;
    (void)snprintf(reason, size,
                   "%" PRIu64 " bytes of the %" PRIu64 " of %s= were moved",
                   bytes, limit, what);
    return true;
}

bool tally_is_over(const struct tally *tally, const struct plan *plan,
                   bool *ret_failed, char *reason, size_t size)
{
    const struct plan_run *run = &plan->runs[tally->phase];
    uint64_t errors =
        plan->max_errors_span_ns > 0 ? tally->span_errors : tally->errors;

    *ret_failed = plan->max_errors > 0 && errors >= plan->max_errors;
    if (*ret_failed) {
        (void)snprintf(reason, size,
                       "%" PRIu64 " requests failed, data_errors=%" PRIu64
                       " is the limit",
                       errors, plan->max_errors);
        return true;
    }
    return is_past(tally->bytes[SAMPLE_READ] + tally->bytes[SAMPLE_WRITE],
                   run->max_bytes, "maxdata", reason, size) ||
           is_past(tally->bytes[SAMPLE_READ], run->max_bytes_read,
                   "maxdataread", reason, size) ||
           is_past(tally->bytes[SAMPLE_WRITE], run->max_bytes_written,
                   "maxdatawritten", reason, size);
}

bool tally_shares(const struct tally *tally, const struct plan_run *run,
                  double *ret_shares)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < run->workload_count; i++)
        sum += tally->workload_ios[i];
    if (sum == 0)
        return false;
    for (uint32_t i = 0; i < run->workload_count; i++)
        ret_shares[i] = 100.0 * (double)tally->workload_ios[i] / (double)sum;
    return true;
}

bool tally_skew_is_off(const struct tally *tally, const struct plan_run *run,
                       const double *asked, double limit, char *reason,
                       size_t size)
{
    double done[TALLY_WORKLOADS_MAX];
    uint32_t worst = 0;

    if (!tally_shares(tally, run, done))
        return false;
    for (uint32_t i = 1; i < run->workload_count; i++)
        if (fabs(done[i] - asked[i]) > fabs(done[worst] - asked[worst]))
            worst = i;
    if (fabs(done[worst] - asked[worst]) <= limit)
        return false;
    (void)snprintf(reason, size,
                   "wd=%s had %.2f %% of the requests, %.2f %% were asked for: "
                   "more than abort_failed_skew=%g off",
                   run->workloads[worst].name, done[worst], asked[worst],
                   limit);
    return true;
}
