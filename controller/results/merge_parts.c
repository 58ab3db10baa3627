/*
 * What a sample may say, and how its parts come together.
 */
#include "controller/results/merge_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TIME_MAX_NS (INT64_C(1) << 60) /* sums of a few stay in 64 bits */
#define PARTS_MAX   64u

static bool is_own(const struct merge *merge, const struct sample *sample,
                   uint32_t cell, enum sample_op op)
{
    const struct layout *layout = merge->layout;

    return cell < layout->cell_count && (unsigned)op < SAMPLE_OPS &&
           layout->cells[cell].host == sample->host;
}

static int not_own(uint32_t cell, struct diag *diag)
{
    return diag_set(diag, -EPROTO,
                    "a sample speaks of cell %u, which is not the host's",
                    cell);
}

static int check_cells(const struct merge *merge, const struct sample *sample,
                       struct diag *diag)
{
    for (uint32_t i = 0; i < sample->cell_count; i++)
        if (!is_own(merge, sample, sample->cells[i].cell, sample->cells[i].op))
            return not_own(sample->cells[i].cell, diag);
    for (uint32_t i = 0; i < sample->error_count; i++)
        if (!is_own(merge, sample, sample->errors[i].cell,
                    sample->errors[i].op))
            return not_own(sample->errors[i].cell, diag);
    for (uint32_t i = 0; i < sample->failure_count; i++)
        if (!is_own(merge, sample, sample->failures[i].cell,
                    sample->failures[i].op))
            return not_own(sample->failures[i].cell, diag);
    return 0;
}

/* A host tells of its intervals one after the other. */
static int check_order(const struct merge *merge, const struct sample *sample,
                       struct diag *diag)
{
    uint64_t next = merge->hosts[sample->host].next;

    if (merge->forgotten || sample->kind == SAMPLE_ROW_DRAIN ||
        sample->interval < next || merge_first_of(sample) == next)
        return 0;
    return diag_set(
        diag, -EPROTO, "intervals %llu to %llu come although %llu is the next",
        (unsigned long long)merge_first_of(sample),
        (unsigned long long)sample->interval, (unsigned long long)next);
}

static int check_interval(const struct merge *merge,
                          const struct sample *sample, struct diag *diag)
{
    const struct merge_timing *timing = &merge->timing;
    uint64_t end = timing->warmup_intervals + timing->measured_intervals;
    bool is_drain = sample->kind == SAMPLE_ROW_DRAIN;

    if (sample->spans == 0 || sample->spans > sample->interval + 1)
        return diag_set(diag, -EPROTO, "interval %llu cannot span %u",
                        (unsigned long long)sample->interval, sample->spans);
    if (timing->measured_intervals > 0 &&
        sample->interval + (is_drain ? 0 : 1) > end)
        return diag_set(diag, -EPROTO, "interval %llu of a phase that has %llu",
                        (unsigned long long)sample->interval,
                        (unsigned long long)end);
    return check_order(merge, sample, diag);
}

static bool is_time(int64_t ns)
{
    return ns > -TIME_MAX_NS && ns < TIME_MAX_NS;
}

static int check_times(const struct sample *sample, struct diag *diag)
{
    if (sample->begin_ns <= sample->end_ns && is_time(sample->begin_ns) &&
        is_time(sample->end_ns) && is_time(sample->edge_skew_ns) &&
        is_time(sample->opened_first_ns) && is_time(sample->opened_last_ns))
        return 0;
    return diag_set(diag, -EPROTO, "interval %llu is from %lld to %lld ns",
                    (unsigned long long)sample->interval,
                    (long long)sample->begin_ns, (long long)sample->end_ns);
}

int merge_check(const struct merge *merge, const struct sample *sample,
                struct diag *diag)
{
    const struct layout *layout = merge->layout;
    int err;

    if (sample->host >= layout->host_count || !layout->takes_part[sample->host])
        return diag_set(diag, -EPROTO,
                        "a sample of a host that has no part in the phase");
    if (sample->parts == 0 || sample->parts > PARTS_MAX ||
        sample->part >= sample->parts)
        return diag_set(diag, -EPROTO, "part %u of %u", sample->part,
                        sample->parts);
    err = check_times(sample, diag);
    if (err == 0)
        err = check_interval(merge, sample, diag);
    return err < 0 ? err : check_cells(merge, sample, diag);
}

void merge_pending_done(struct pending *pending)
{
    for (uint32_t i = 0; pending->parts != NULL && i < pending->part_count; i++)
        (void)sample_free(pending->parts[i]);
    free(pending->parts);
    memset(pending, 0, sizeof(*pending));
}

static struct pending *find_pending(struct merge_host *host,
                                    const struct sample *sample)
{
    struct pending *unused = NULL;

    for (uint32_t i = 0; i < MERGE_PENDING_MAX; i++) {
        struct pending *pending = &host->pending[i];

        if (pending->parts == NULL)
            unused = pending;
        else if (pending->interval == sample->interval &&
                 pending->kind == sample->kind)
            return pending;
    }
    return unused;
}

static int begin_pending(struct pending *pending, const struct sample *sample)
{
    pending->parts = calloc(sample->parts, sizeof(struct sample *));
    if (pending->parts == NULL)
        return -ENOMEM;
    pending->part_count = sample->parts;
    pending->interval = sample->interval;
    pending->kind = sample->kind;
    return 0;
}

int merge_collect(struct merge *merge, struct sample *sample,
                  struct pending **ret_pending, struct diag *diag)
{
    struct pending *pending = find_pending(&merge->hosts[sample->host], sample);

    if (pending == NULL)
        return diag_set(diag, -EPROTO, "more than %u samples lack parts",
                        MERGE_PENDING_MAX);
    if (pending->parts == NULL && begin_pending(pending, sample) < 0)
        return -ENOMEM;
    if (pending->part_count != sample->parts)
        return diag_set(diag, -EPROTO,
                        "interval %llu comes in %u parts, and in %u",
                        (unsigned long long)sample->interval,
                        pending->part_count, sample->parts);
    if (pending->parts[sample->part] != NULL)
        return -EALREADY;
    pending->parts[sample->part] = sample;
    pending->seen++;
    *ret_pending = pending;
    return pending->seen == pending->part_count;
}
