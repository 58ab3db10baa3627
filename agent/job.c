/* job.c - what must hold of a phase before any drive is looked at. */
#include "agent/job.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RATE_MAX 1e9 /* I/Os a second of one cell */

/* Shares in per cent are sums of decimal numbers. */
#define SHARE_TOLERANCE 0.01

struct job *job_new(uint32_t targets, uint32_t workloads, uint32_t cells)
{
    struct job *job;

    if (targets > JOB_TARGETS_MAX || workloads > JOB_WORKLOADS_MAX ||
        cells > JOB_CELLS_MAX)
        return NULL;
    job = calloc(1, sizeof(*job));
    if (job == NULL)
        return NULL;
    job->targets = calloc(targets + 1u, sizeof(*job->targets));
    job->workloads = calloc(workloads + 1u, sizeof(*job->workloads));
    job->cells = calloc(cells + 1u, sizeof(*job->cells));
    job->target_count = targets;
    job->workload_count = workloads;
    job->cell_count = cells;
    if (job->targets == NULL || job->workloads == NULL || job->cells == NULL)
        return job_free(job);
    return job;
}

int job_add_steps(struct job *job, uint32_t count)
{
    if (count > JOB_STEPS_MAX)
        return -E2BIG;
    job->steps = calloc(count + 1u, sizeof(*job->steps));
    if (job->steps == NULL)
        return -ENOMEM;
    job->step_count = count;
    return 0;
}

int job_set_pattern(struct job *job, const void *bytes, size_t length)
{
    if (length > JOB_PATTERN_MAX)
        return -E2BIG;
    job->pattern = malloc(length + 1);
    if (job->pattern == NULL)
        return -ENOMEM;
    memcpy(job->pattern, bytes, length);
    job->pattern_length = (uint32_t)length;
    return 0;
}

struct job *job_free(struct job *job)
{
    if (job == NULL)
        return NULL;
    free(job->targets);
    free(job->workloads);
    free(job->cells);
    free(job->steps);
    free(job->pattern);
    free(job);
    return NULL;
}

uint32_t job_xfer_max(const struct job_workload *workload)
{
    uint32_t max = 0;

    for (uint32_t i = 0; i < workload->size_count; i++)
        if (workload->sizes[i].bytes > max)
            max = workload->sizes[i].bytes;
    return max;
}

uint32_t job_grain(const struct job_workload *workload,
                   const struct job_cell *cell)
{
    return cell->align > 0 ? cell->align : job_xfer_max(workload);
}

uint64_t job_length_ns(const struct job *job)
{
    if (job->measured_intervals == 0)
        return 0;
    return (job->warmup_intervals + job->measured_intervals) * job->interval_ns;
}

static bool is_percent(double value)
{
    return value >= 0 && value <= 100; /* false for NaN */
}

static int check_times(const struct job *job, struct diag *diag)
{
    u128 length = ((u128)job->warmup_intervals + job->measured_intervals) *
                  job->interval_ns;

    if (job->interval_ns < JOB_INTERVAL_MIN_NS)
        return diag_set(diag, -EBADMSG,
                        "the interval of %llu ns is below 100 ms",
                        (unsigned long long)job->interval_ns);
    if (length > JOB_LENGTH_MAX_NS)
        return diag_set(diag, -EBADMSG,
                        "%u + %llu intervals of %llu ns are too long a phase",
                        job->warmup_intervals,
                        (unsigned long long)job->measured_intervals,
                        (unsigned long long)job->interval_ns);
    if (job->measured_intervals == 0 && job->kind != JOB_FILL)
        return diag_set(diag, -EBADMSG,
                        "a phase that measures has no interval to measure");
    if (job->drain_limit_ns == 0 || job->drain_limit_ns > JOB_LENGTH_MAX_NS)
        return diag_set(diag, -EBADMSG,
                        "the drain limit of %llu ns is not 1 .. 2^60",
                        (unsigned long long)job->drain_limit_ns);
    if (job->time_limit_ns == 0 || job->time_limit_ns > JOB_LENGTH_MAX_NS)
        return diag_set(diag, -EBADMSG,
                        "the time limit of %llu ns is not 1 .. 2^60",
                        (unsigned long long)job->time_limit_ns);
    return 0;
}

static bool are_duplicates_sound(const struct duplicates *d)
{
    uint64_t sets = 0, units = 0;

    if (d->unit == 0)
        return true;
    for (uint32_t i = 0; i < d->hot_count; i++) {
        if (d->hot[i].sets == 0 || d->hot[i].units == 0)
            return false;
        sets += d->hot[i].sets;
        units += (uint64_t)d->hot[i].sets * d->hot[i].units;
        if (units > JOB_HOT_UNITS_MAX)
            return false;
    }
    return d->unit <= JOB_XFER_MAX && d->unit % 512 == 0 && d->unique >= 0 &&
           d->unique <= 1 && d->sets > sets &&
           (units == 0 || d->hot_every > 0) &&
           (uint32_t)d->flip <= DUPLICATES_FLIP_HOT;
}

static int check_target(const struct job *job, uint32_t index,
                        struct diag *diag)
{
    const struct job_target *target = &job->targets[index];

    if (target->sd[0] == '\0')
        return diag_set(diag, -EBADMSG, "target %u has no sd name", index);
    for (uint32_t i = 0; i < index; i++)
        if (strcmp(job->targets[i].sd, target->sd) == 0)
            return diag_set(diag, -EBADMSG, "targets %u and %u are both sd=%s",
                            i, index, target->sd);
    if (target->path[0] != '/')
        return diag_set(diag, -EBADMSG,
                        "sd=%s: the path '%s' does not begin with /",
                        target->sd, target->path);
    if ((target->open_flags & ~(uint32_t)JOB_OPEN_ALL) != 0)
        return diag_set(diag, -EBADMSG, "sd=%s: unknown open flags %#x",
                        target->sd, target->open_flags);
    if (target->size_bytes == 0 || target->size_bytes > INT64_MAX)
        return diag_set(diag, -EBADMSG,
                        "sd=%s: a size of %llu bytes is not 1 .. 2^63 - 1",
                        target->sd, (unsigned long long)target->size_bytes);
    if (target->threads == 0 || target->threads > JOB_THREADS_MAX)
        return diag_set(diag, -EBADMSG, "sd=%s: threads=%u is not 1 .. %u",
                        target->sd, target->threads, JOB_THREADS_MAX);
    if (!are_duplicates_sound(&target->duplicates))
        return diag_set(diag, -EBADMSG,
                        "sd=%s: duplicates of %u bytes, %g unique, %llu sets, "
                        "%u kinds of hot ones",
                        target->sd, target->duplicates.unit,
                        target->duplicates.unique,
                        (unsigned long long)target->duplicates.sets,
                        target->duplicates.hot_count);
    if (target->create && !target->write)
        return diag_set(diag, -EBADMSG,
                        "sd=%s is to be made by a phase that does not write it",
                        target->sd);
    return 0;
}

static int check_workload(const struct job_workload *workload, uint32_t index,
                          struct diag *diag)
{
    double sum = 0;

    if (workload->name[0] == '\0')
        return diag_set(diag, -EBADMSG, "workload %u has no name", index);
    if (!is_percent(workload->read_percent))
        return diag_set(diag, -EBADMSG, "wd=%s: rdpct=%g is not 0 .. 100",
                        workload->name, workload->read_percent);
    if (!is_percent(workload->seek_percent))
        return diag_set(diag, -EBADMSG, "wd=%s: seekpct=%g is not 0 .. 100",
                        workload->name, workload->seek_percent);
    if (workload->size_count == 0 || workload->size_count > JOB_SIZES_MAX)
        return diag_set(diag, -EBADMSG,
                        "wd=%s has %u transfer sizes, not 1 .. %u",
                        workload->name, workload->size_count, JOB_SIZES_MAX);
    for (uint32_t i = 0; i < workload->size_count; i++) {
        const struct job_size *size = &workload->sizes[i];

        if (size->bytes == 0 || size->bytes > JOB_XFER_MAX)
            return diag_set(diag, -EBADMSG,
                            "wd=%s: a transfer of %u bytes is not 1 .. %u",
                            workload->name, size->bytes, JOB_XFER_MAX);
        if (!is_percent(size->percent) || size->percent <= 0)
            return diag_set(diag, -EBADMSG,
                            "wd=%s: a share of %g %% is not above 0 .. 100",
                            workload->name, size->percent);
        sum += size->percent;
    }
    if (fabs(sum - 100) > SHARE_TOLERANCE)
        return diag_set(diag, -EBADMSG,
                        "wd=%s: the shares of its sizes add up to %g, not 100",
                        workload->name, sum);
    return 0;
}

static int check_shape(const struct job_workload *workload, struct diag *diag)
{
    uint32_t step = workload->size_step;

    if (step > 0 && (workload->size_count != 2 ||
                     workload->sizes[0].bytes > workload->sizes[1].bytes))
        return diag_set(diag, -EBADMSG,
                        "wd=%s: sizes in steps of %u need a least and a most",
                        workload->name, step);
    if (!is_percent(workload->read_hit_percent) ||
        !is_percent(workload->write_hit_percent))
        return diag_set(diag, -EBADMSG,
                        "wd=%s: rhpct=%g and whpct=%g are not 0 .. 100",
                        workload->name, workload->read_hit_percent,
                        workload->write_hit_percent);
    if (workload->stride_min > workload->stride_max ||
        workload->stride_max > INT64_MAX)
        return diag_set(diag, -EBADMSG, "wd=%s: a stride of %llu .. %llu bytes",
                        workload->name,
                        (unsigned long long)workload->stride_min,
                        (unsigned long long)workload->stride_max);
    if (workload->streams > JOB_STREAMS_MAX)
        return diag_set(diag, -EBADMSG, "wd=%s: %u streams, at most %u",
                        workload->name, workload->streams, JOB_STREAMS_MAX);
    if ((int)workload->seek < JOB_SEEK_UNIFORM ||
        workload->seek > JOB_SEEK_BAND)
        return diag_set(diag, -EBADMSG, "wd=%s: seeks of unknown kind %d",
                        workload->name, (int)workload->seek);
    if (workload->seek == JOB_SEEK_POISSON &&
        !(workload->poisson_mid >= 1 && workload->poisson_mid <= 100))
        return diag_set(diag, -EBADMSG,
                        "wd=%s: poisson's middle %g is not 1 .. 100",
                        workload->name, workload->poisson_mid);
    return 0;
}

static int check_steps(const struct job *job, struct diag *diag)
{
    double sum = 0;

    for (uint32_t i = 0; i < job->step_count; i++) {
        const struct job_step *step = &job->steps[i];

        if (step->duration_ns == 0 || step->duration_ns > JOB_LENGTH_MAX_NS ||
            !(step->rate >= 0 && step->rate <= RATE_MAX))
            return diag_set(diag, -EBADMSG, "step %u: a rate of %g for %llu ns",
                            i, step->rate,
                            (unsigned long long)step->duration_ns);
        sum += step->rate;
    }
    if (job->step_count > 0 && !(sum > 0))
        return diag_set(diag, -EBADMSG, "no step has a rate above 0");
    if (!(job->compression == 0 ||
          (job->compression >= 1 && job->compression <= JOB_COMPRESSION_MAX)))
        return diag_set(diag, -EBADMSG, "compratio=%g is not 1 .. %g",
                        job->compression, JOB_COMPRESSION_MAX);
    if (job->spin_percent > 100)
        return diag_set(diag, -EBADMSG, "arrival_precision=%u%% is above 100",
                        job->spin_percent);
    return 0;
}

/* A pattern is written as it is. */
static int check_pattern(const struct job *job, struct diag *diag)
{
    if (job->pattern_length == 0)
        return 0;
    if (job->compression > 1)
        return diag_set(diag, -EBADMSG, "a pattern, and compratio=%g",
                        job->compression);
    for (uint32_t i = 0; i < job->target_count; i++)
        if (job->targets[i].duplicates.unit > 0)
            return diag_set(diag, -EBADMSG,
                            "a pattern, and duplicates on sd=%s",
                            job->targets[i].sd);
    return 0;
}

/* A piece of the target; `what` for people. */
static int check_piece(const struct job *job, uint32_t index, uint64_t low,
                       uint64_t high, struct diag *diag)
{
    const struct job_cell *cell = &job->cells[index];
    const struct job_target *target = &job->targets[cell->target];
    const struct job_workload *workload = &job->workloads[cell->workload];

    if (low >= high || high > target->size_bytes)
        return diag_set(diag, -EBADMSG,
                        "cell %u: the region %llu .. %llu is not within the "
                        "%llu bytes of sd=%s",
                        index, (unsigned long long)low,
                        (unsigned long long)high,
                        (unsigned long long)target->size_bytes, target->sd);
    if (job->kind == JOB_MEASURE && high - low < job_xfer_max(workload))
        return diag_set(diag, -EBADMSG,
                        "cell %u: %u bytes do not fit the region %llu .. %llu "
                        "of sd=%s",
                        index, job_xfer_max(workload), (unsigned long long)low,
                        (unsigned long long)high, target->sd);
    return 0;
}

static int check_cell_shape(const struct job *job, uint32_t index,
                            struct diag *diag)
{
    const struct job_cell *cell = &job->cells[index];
    const struct job_workload *workload = &job->workloads[cell->workload];
    uint32_t longest = job_xfer_max(workload);
    uint64_t length = cell->high - cell->low;
    int err = 0;

    if (cell->wrap_high > 0)
        err = check_piece(job, index, cell->wrap_low, cell->wrap_high, diag);
    if (err < 0)
        return err;
    if (cell->wrap_high > 0 && cell->wrap_high > cell->low)
        return diag_set(diag, -EBADMSG, "cell %u: its two pieces overlap",
                        index);
    if (cell->align > JOB_XFER_MAX || cell->shift > INT64_MAX)
        return diag_set(diag, -EBADMSG,
                        "cell %u: positions of %u bytes, shifted by %llu",
                        index, cell->align, (unsigned long long)cell->shift);
    if (cell->hit_bytes > 0 &&
        (cell->hit_bytes < longest || cell->hit_bytes > length ||
         length - cell->hit_bytes < longest))
        return diag_set(diag, -EBADMSG,
                        "cell %u: a hit area of %llu bytes in %llu, for %u "
                        "bytes a request",
                        index, (unsigned long long)cell->hit_bytes,
                        (unsigned long long)length, longest);
    if (workload->seek == JOB_SEEK_BAND &&
        !(cell->band_low >= 0 && cell->band_low < cell->band_high &&
          cell->band_high <= 1))
        return diag_set(diag, -EBADMSG, "cell %u is %g .. %g of its band",
                        index, cell->band_low, cell->band_high);
    if (cell->priority > JOB_PRIORITY_MAX)
        return diag_set(diag, -EBADMSG, "cell %u: priority %u, at most %u",
                        index, cell->priority, JOB_PRIORITY_MAX);
    return 0;
}

/* A sequence over several targets: regions in one piece, on a plain grid. */
static int check_joined(const struct job *job, uint32_t index,
                        struct diag *diag)
{
    const struct job_cell *cell = &job->cells[index];
    const struct job_workload *workload = &job->workloads[cell->workload];
    const struct job_cell *first;

    if (cell->joins == 0)
        return 0;
    if (cell->joins > index)
        return diag_set(diag, -EBADMSG, "cell %u joins cell %u, not an earlier",
                        index, cell->joins - 1);
    first = &job->cells[cell->joins - 1];
    if (first->joins > 0 || first->workload != cell->workload ||
        first->target == cell->target || job->kind != JOB_MEASURE)
        return diag_set(diag, -EBADMSG,
                        "cell %u cannot go on with the sequence of cell %u",
                        index, cell->joins - 1);
    if (workload->seek_percent >= 100 || workload->seek != JOB_SEEK_UNIFORM ||
        (cell->wrap_high | cell->shift | cell->align | cell->hit_bytes) > 0 ||
        (first->wrap_high | first->shift | first->align | first->hit_bytes) > 0)
        return diag_set(diag, -EBADMSG,
                        "cells %u and %u: wd=%s is not plain sequential work",
                        cell->joins - 1, index, workload->name);
    if (workload->read_percent < 100 &&
        job->targets[first->target].duplicates.unit !=
            job->targets[cell->target].duplicates.unit)
        return diag_set(diag, -EBADMSG,
                        "sd=%s and sd=%s are one for wd=%s, and have "
                        "duplicates of %u and %u bytes",
                        job->targets[first->target].sd,
                        job->targets[cell->target].sd, workload->name,
                        job->targets[first->target].duplicates.unit,
                        job->targets[cell->target].duplicates.unit);
    return 0;
}

/* A stream across targets loses up to one request where they meet. */
static int check_streams(const struct job *job, uint32_t index,
                         struct diag *diag)
{
    const struct job_cell *cell = &job->cells[index];
    const struct job_workload *workload = &job->workloads[cell->workload];
    uint64_t length = cell->high - cell->low;
    uint64_t least = job_xfer_max(workload);

    if (workload->streams <= 1 || cell->joins > 0)
        return 0;
    for (uint32_t i = index + 1; i < job->cell_count; i++)
        if (job->cells[i].joins == index + 1) {
            length += job->cells[i].high - job->cells[i].low;
            least = 2 * (uint64_t)job_xfer_max(workload);
        }
    if (length / workload->streams < least)
        return diag_set(diag, -EBADMSG,
                        "cell %u: %u streams have less than %llu bytes each",
                        index, workload->streams, (unsigned long long)least);
    return 0;
}

static int check_cell_rate(const struct job_cell *cell, uint32_t index,
                           struct diag *diag)
{
    if (!(cell->iorate >= 0 && cell->iorate <= RATE_MAX))
        return diag_set(diag, -EBADMSG,
                        "cell %u: a rate of %g a second is not 0 .. %g", index,
                        cell->iorate, RATE_MAX);
    if (!(cell->weight >= 0 && cell->weight <= RATE_MAX))
        return diag_set(diag, -EBADMSG, "cell %u: a weight of %g", index,
                        cell->weight);
    if (cell->iorate <= 0 && cell->weight <= 0)
        return diag_set(diag, -EBADMSG,
                        "cell %u has neither a rate nor a weight", index);
    return 0;
}

static int check_cell(const struct job *job, uint32_t index, struct diag *diag)
{
    const struct job_cell *cell = &job->cells[index];
    const struct job_target *target;
    const struct job_workload *workload;
    int err;

    if (cell->workload >= job->workload_count ||
        cell->target >= job->target_count)
        return diag_set(diag, -EBADMSG,
                        "cell %u names workload %u of %u, target %u of %u",
                        index, cell->workload, job->workload_count,
                        cell->target, job->target_count);
    target = &job->targets[cell->target];
    workload = &job->workloads[cell->workload];
    err = check_piece(job, index, cell->low, cell->high, diag);
    if (err == 0)
        err = check_cell_shape(job, index, diag);
    if (err < 0)
        return err;
    if (!target->write &&
        (job->kind == JOB_FILL || workload->read_percent < 100))
        return diag_set(diag, -EBADMSG,
                        "wd=%s writes, but sd=%s is not to be written",
                        workload->name, target->sd);
    return check_cell_rate(cell, index, diag);
}

static int check_numbers(const struct job *job, struct diag *diag)
{
    if (job->target_count == 0 || job->target_count > JOB_TARGETS_MAX ||
        job->workload_count == 0 || job->workload_count > JOB_WORKLOADS_MAX ||
        job->cell_count == 0 || job->cell_count > JOB_CELLS_MAX)
        return diag_set(diag, -EBADMSG,
                        "%u targets, %u workloads and %u cells are not 1 .. "
                        "%u, %u and %u",
                        job->target_count, job->workload_count, job->cell_count,
                        JOB_TARGETS_MAX, JOB_WORKLOADS_MAX, JOB_CELLS_MAX);
    return 0;
}

int job_check(const struct job *job, struct diag *diag)
{
    int err = check_numbers(job, diag);

    if (err == 0)
        err = check_times(job, diag);
    for (uint32_t i = 0; err == 0 && i < job->target_count; i++)
        err = check_target(job, i, diag);
    for (uint32_t i = 0; err == 0 && i < job->workload_count; i++)
        err = check_workload(&job->workloads[i], i, diag);
    for (uint32_t i = 0; err == 0 && i < job->workload_count; i++)
        err = check_shape(&job->workloads[i], diag);
    if (err == 0)
        err = check_steps(job, diag);
    if (err == 0)
        err = check_pattern(job, diag);
    for (uint32_t i = 0; err == 0 && i < job->cell_count; i++)
        err = check_cell(job, i, diag);
    for (uint32_t i = 0; err == 0 && i < job->cell_count; i++)
        err = check_joined(job, i, diag);
    for (uint32_t i = 0; err == 0 && i < job->cell_count; i++)
        err = check_streams(job, i, diag);
    return err;
}
