/*
 * runs.c - loops and rates: a base becomes its runs.
 */
#include "controller/plan/expand.h"

#include "common/arena.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_BYTES 240 /* a run's name on the wire; longer ones are cut */

/* ---- loops ---- */

static const char *const loop_names[LOOP_KINDS] = {
    [LOOP_XFERSIZE] = "xfersize", [LOOP_THREADS] = "threads",
    [LOOP_RDPCT] = "rdpct",       [LOOP_RHPCT] = "rhpct",
    [LOOP_WHPCT] = "whpct",       [LOOP_SEEKPCT] = "seekpct",
    [LOOP_HITAREA] = "hitarea",   [LOOP_COMPRATIO] = "comp",
};

static void set_value(struct loop_values *values,
                      enum definition_loop_kind kind, double value)
{
    switch (kind) {
    case LOOP_XFERSIZE:
        values->xfersize = (uint32_t)value;
        break;
    case LOOP_THREADS:
        values->threads = (uint32_t)value;
        break;
    case LOOP_RDPCT:
        values->read_percent = value;
        break;
    case LOOP_SEEKPCT:
        values->seek_percent = value;
        break;
    case LOOP_RHPCT:
        values->read_hit_percent = value;
        break;
    case LOOP_WHPCT:
        values->write_hit_percent = value;
        break;
    case LOOP_HITAREA:
        values->hit_area = (uint64_t)value;
        break;
    case LOOP_COMPRATIO:
        values->compression = value;
        break;
    case LOOP_KINDS:
        break;
    }
}

/* The values of one combination, and its text: "threads=1 xfersize=4k". */
static void take_values(const struct definition_rd *rd, const uint32_t *at,
                        struct loop_values *values)
{
    size_t used = 0;

    *values = (struct loop_values){
        .read_percent = LOOP_UNSET,
        .seek_percent = LOOP_UNSET,
        .read_hit_percent = LOOP_UNSET,
        .write_hit_percent = LOOP_UNSET,
    };
    for (uint32_t i = 0; i < rd->loop_count; i++) {
        const struct definition_loop *loop = &rd->loops[i];
        double value = loop->values[at[i]];
        char text[32];
        int n;

        set_value(values, loop->kind, value);
        format_size(value, text, sizeof(text));
        n = snprintf(values->text + used, sizeof(values->text) - used,
                     "%s%s=%s", i > 0 ? " " : "", loop_names[loop->kind], text);
        used += n > 0 ? (size_t)n : 0;
    }
}

/* The next combination, the last loop first; false: that was the last. */
static bool next_combination(const struct definition_rd *rd, uint32_t *at)
{
    for (uint32_t i = rd->loop_count; i-- > 0;) {
        if (++at[i] < rd->loops[i].count)
            return true;
        at[i] = 0;
    }
    return false;
}

/* ---- workloads ---- */

static double read_percent(const struct definition_wd *wd,
                           const struct loop_values *values)
{
    return values->read_percent >= 0 ? values->read_percent : wd->read_percent;
}

static double seek_percent(const struct definition_wd *wd,
                           const struct loop_values *values)
{
    if (values->seek_percent == LOOP_UNSET)
        return wd->seek_percent;
    return values->seek_percent == LOOP_EOF ? 0 : values->seek_percent;
}

static bool ends_at_eof(const struct definition_wd *wd,
                        const struct loop_values *values)
{
    return values->seek_percent == LOOP_UNSET
               ? wd->end_at_eof
               : values->seek_percent == LOOP_EOF;
}

static int copy_sizes(struct plan *plan, const struct definition_wd *wd,
                      const struct loop_values *values,
                      struct plan_workload *workload)
{
    uint32_t count = values->xfersize > 0 ? 1 : wd->size_count;
    struct plan_size_share *sizes =
        ARENA_ARRAY(plan->arena, count, struct plan_size_share);

    if (sizes == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        sizes[i] = values->xfersize > 0
                       ? (struct plan_size_share){values->xfersize, 100}
                       : (struct plan_size_share){wd->sizes[i].bytes,
                                                  wd->sizes[i].percent};
    workload->sizes = sizes;
    workload->size_count = count;
    return 0;
}

/* What is out of the ordinary; a loop over seekpct= ends what it replaces. */
static void shape_workload(const struct definition_wd *wd,
                           const struct loop_values *values,
                           struct plan_workload *workload)
{
    bool seek_looped = values->seek_percent != LOOP_UNSET;

    workload->size_step = values->xfersize > 0 ? 0 : wd->size_step;
    workload->rate = wd->rate;
    workload->priority = wd->priority;
    workload->read_hit_percent = values->read_hit_percent != LOOP_UNSET
                                     ? values->read_hit_percent
                                     : wd->read_hit_percent;
    workload->write_hit_percent = values->write_hit_percent != LOOP_UNSET
                                      ? values->write_hit_percent
                                      : wd->write_hit_percent;
    workload->stride_min = wd->stride_min;
    workload->stride_max = wd->stride_max;
    workload->streams = wd->streams;
    workload->poisson_mid = wd->poisson_mid;
    workload->seek = (enum plan_seek)wd->seek;
    if (seek_looped && wd->seek == DEFINITION_SEEK_POISSON)
        workload->seek = PLAN_SEEK_UNIFORM;
    workload->starts_anywhere = wd->starts_anywhere && !seek_looped;
}

static int make_workloads(struct expansion *expansion, const struct base *base,
                          const struct loop_values *values,
                          struct plan_run *run)
{
    struct plan *plan = expansion->plan;

    run->workloads =
        ARENA_ARRAY(plan->arena, base->workload_count, struct plan_workload);
    if (run->workloads == NULL)
        return -ENOMEM;
    run->workload_count = base->workload_count;
    for (uint32_t i = 0; i < base->workload_count; i++) {
        const struct definition_wd *wd = base->workloads[i].wd;
        struct plan_workload *workload = &run->workloads[i];
        int err = copy_sizes(plan, wd, values, workload);

        if (err < 0)
            return err;
        workload->name = base->workloads[i].name;
        workload->skew = base->workloads[i].skew;
        workload->read_percent = read_percent(wd, values);
        workload->seek_percent = seek_percent(wd, values);
        workload->end_at_eof = ends_at_eof(wd, values);
        shape_workload(wd, values, workload);
    }
    return 0;
}

/* ---- targets ---- */

static uint32_t sd_threads(const struct expansion *expansion,
                           const struct base *base, uint32_t sd,
                           const struct loop_values *values)
{
    if (values->threads == 0 && expansion->definitions->general.concatenate)
        return base->workloads[0].wd->threads;
    return values->threads > 0 ? values->threads
                               : expansion->definitions->sds[sd].threads;
}

/* The part-th of `parts` hosts: all add up, but none has less than one. */
static uint32_t threads_part(uint32_t threads, uint32_t part, uint32_t parts)
{
    uint32_t share = threads / parts + (part < threads % parts);

    return share > 0 ? share : 1;
}

static int make_targets(struct expansion *expansion, const struct base *base,
                        const struct loop_values *values, struct plan_run *run)
{
    bool concatenated = expansion->definitions->general.concatenate;
    struct plan *plan = expansion->plan;

    run->targets =
        ARENA_ARRAY(plan->arena, base->target_count, struct plan_run_target);
    if (run->targets == NULL)
        return -ENOMEM;
    run->target_count = base->target_count;
    for (uint32_t i = 0; i < base->target_count; i++) {
        const struct base_target *from = &base->targets[i];

        run->targets[i] = (struct plan_run_target){
            .target = from->target,
            .threads = concatenated
                           ? sd_threads(expansion, base, from->sd, values)
                           : threads_part(
                                 sd_threads(expansion, base, from->sd, values),
                                 from->part, from->parts),
            .open_flags = from->open_flags,
        };
        plan->targets[from->target].open_flags |= from->open_flags;
    }
    for (uint32_t i = 0; i < base->cell_count; i++) {
        const struct base_cell *cell = &base->cells[i];

        if (run->workloads[cell->workload].read_percent >= 100)
            continue;
        run->targets[cell->target].write = true;
        plan->targets[run->targets[cell->target].target].written = true;
    }
    return 0;
}

/* ---- cells ---- */

static struct plan_range make_range(const struct definition_wd *wd,
                                    const struct definition_sd *sd)
{
    const struct definition_range *range =
        wd->range.given ? &wd->range : &sd->range;

    if (!range->given)
        return (struct plan_range){
            .low_is_percent = true, .high_is_percent = true, .high = 100};
    return (struct plan_range){
        .low_is_percent = range->low_is_percent,
        .high_is_percent = range->high_is_percent,
        .low = range->low,
        .high = range->high,
    };
}

static int make_cells(struct expansion *expansion, const struct base *base,
                      const struct loop_values *values, struct plan_run *run)
{
    uint32_t counts[RUN_WORKLOADS_MAX] = {0};

    run->cells =
        ARENA_ARRAY(expansion->plan->arena, base->cell_count, struct plan_cell);
    if (run->cells == NULL)
        return -ENOMEM;
    run->cell_count = base->cell_count;
    for (uint32_t i = 0; i < base->cell_count; i++)
        counts[base->cells[i].workload]++;
    for (uint32_t i = 0; i < base->cell_count; i++) {
        const struct base_cell *from = &base->cells[i];
        const struct base_workload *workload = &base->workloads[from->workload];
        const struct definition_sd *sd =
            &expansion->definitions->sds[base->targets[from->target].sd];
        bool sequential = run->workloads[from->workload].seek_percent == 0;

        run->cells[i] = (struct plan_cell){
            .workload = from->workload,
            .target = from->target,
            .share = (workload->wd->rate > 0 ? 1 : workload->skew / 100) /
                     counts[from->workload],
            .range = make_range(workload->wd, sd),
            .shift = sd->offset,
            .align = sd->align > 0 ? sd->align
                     : values->xfersize > 0
                         ? 0
                         : base->workloads[from->workload].wd->size_step,
            .hit_area = values->hit_area > 0 ? values->hit_area : sd->hit_area,
            .band_high = 1,
            .slice = sequential ? from->slice : 0,
            .slices = sequential ? from->slices : 1,
        };
    }
    return 0;
}

/* ---- texts ---- */

/* "50", "83.14". */
static void format_number(double value, char *text, size_t size)
{
    long long hundredths = llround(value * 100);

    if (hundredths % 100 == 0)
        (void)snprintf(text, size, "%lld", hundredths / 100);
    else if (hundredths % 10 == 0)
        (void)snprintf(text, size, "%lld.%lld", hundredths / 100,
                       hundredths % 100 / 10);
    else
        (void)snprintf(text, size, "%lld.%02lld", hundredths / 100,
                       hundredths % 100);
}

static void format_sizes(const struct plan_workload *workload, char *text,
                         size_t size)
{
    size_t used = 0;

    if (workload->size_count == 1) {
        format_size(workload->sizes[0].bytes, text, size);
        return;
    }
    for (uint32_t i = 0; i < workload->size_count; i++) {
        char bytes[32], percent[32];
        int n;

        format_size(workload->sizes[i].bytes, bytes, sizeof(bytes));
        format_number(workload->sizes[i].percent, percent, sizeof(percent));
        n = snprintf(text + used, size - used, "%s%s,%s", i > 0 ? "," : "(",
                     bytes, percent);
        if (n < 0 || (size_t)n >= size - used - 1)
            return;
        used += (size_t)n;
    }
    (void)snprintf(text + used, size - used, ")");
}

static bool are_sizes_equal(const struct plan_run *run)
{
    const struct plan_workload *first = &run->workloads[0];

    for (uint32_t i = 1; i < run->workload_count; i++) {
        const struct plan_workload *other = &run->workloads[i];

        if (other->size_count != first->size_count)
            return false;
        for (uint32_t k = 0; k < first->size_count; k++)
            if (other->sizes[k].bytes != first->sizes[k].bytes ||
                other->sizes[k].percent != first->sizes[k].percent)
                return false;
    }
    return true;
}

static bool are_reads_equal(const struct plan_run *run)
{
    for (uint32_t i = 1; i < run->workload_count; i++)
        if (run->workloads[i].read_percent != run->workloads[0].read_percent)
            return false;
    return true;
}

static bool are_seeks_equal(const struct plan_run *run)
{
    for (uint32_t i = 1; i < run->workload_count; i++)
        if (run->workloads[i].seek_percent != run->workloads[0].seek_percent ||
            run->workloads[i].end_at_eof != run->workloads[0].end_at_eof)
            return false;
    return true;
}

/* Keeps `text`, or the same text of the run before. */
static const char *keep_text(struct expansion *expansion, const char *text,
                             const char *before)
{
    if (before != NULL && strcmp(before, text) == 0)
        return before;
    return arena_strdup(expansion->plan->arena, text);
}

static const char *threads_text(struct expansion *expansion,
                                const struct base *base,
                                const struct loop_values *values,
                                const char *before)
{
    uint32_t threads = sd_threads(expansion, base, base->targets[0].sd, values);
    char text[32];

    (void)snprintf(text, sizeof(text), "%u", threads);
    for (uint32_t i = 1; i < base->target_count; i++)
        if (sd_threads(expansion, base, base->targets[i].sd, values) != threads)
            text[0] = '\0';
    return keep_text(expansion, text, before);
}

static int make_texts(struct expansion *expansion, const struct base *base,
                      const struct loop_values *values, struct plan_run *run)
{
    const struct plan_run *last = &expansion->last;
    const struct plan_workload *first = &run->workloads[0];
    char text[2048];

    text[0] = '\0';
    if (are_sizes_equal(run))
        format_sizes(first, text, sizeof(text));
    run->xfersize_text = keep_text(expansion, text, last->xfersize_text);

    text[0] = '\0';
    if (are_reads_equal(run))
        format_number(first->read_percent, text, sizeof(text));
    run->rdpct_text = keep_text(expansion, text, last->rdpct_text);

    text[0] = '\0';
    if (are_seeks_equal(run) && first->end_at_eof)
        (void)snprintf(text, sizeof(text), "eof");
    else if (are_seeks_equal(run))
        format_number(first->seek_percent, text, sizeof(text));
    run->seekpct_text = keep_text(expansion, text, last->seekpct_text);

    run->threads_text =
        threads_text(expansion, base, values, last->threads_text);
    run->for_text = keep_text(expansion, values->text, last->for_text);
    return run->xfersize_text != NULL && run->rdpct_text != NULL &&
                   run->seekpct_text != NULL && run->threads_text != NULL &&
                   run->for_text != NULL
               ? 0
               : -ENOMEM;
}

/* ---- runs ---- */

/* What of the run before can be used again. */
static bool is_same_work(const struct loop_values *a,
                         const struct loop_values *b)
{
    return a->xfersize == b->xfersize && a->read_percent == b->read_percent &&
           a->seek_percent == b->seek_percent &&
           a->read_hit_percent == b->read_hit_percent &&
           a->write_hit_percent == b->write_hit_percent;
}

/* Hits have regions of their own. */
static bool is_same_place(const struct loop_values *a,
                          const struct loop_values *b)
{
    return a->seek_percent == b->seek_percent && a->hit_area == b->hit_area &&
           a->read_hit_percent == b->read_hit_percent &&
           a->write_hit_percent == b->write_hit_percent;
}

/* Fills what all rates of one combination share. */
static int make_template(struct expansion *expansion, const struct base *base,
                         const struct loop_values *values, struct plan_run *run)
{
    const struct loop_values *before = &expansion->last_values;
    bool again = expansion->last_base == base;
    bool same_work = again && is_same_work(before, values);
    int err = 0;

    if (same_work) {
        run->workloads = expansion->last.workloads;
        run->workload_count = expansion->last.workload_count;
    } else {
        err = make_workloads(expansion, base, values, run);
    }
    if (err == 0 && same_work && before->threads == values->threads) {
        run->targets = expansion->last.targets;
        run->target_count = expansion->last.target_count;
    } else if (err == 0) {
        err = make_targets(expansion, base, values, run);
    }
    if (err == 0 && again && is_same_place(before, values)) {
        run->cells = expansion->last.cells;
        run->cell_count = expansion->last.cell_count;
    } else if (err == 0) {
        err = make_cells(expansion, base, values, run);
    }
    run->compression = values->compression > 0
                           ? values->compression
                           : expansion->definitions->general.compression;
    if (err == 0)
        err = make_texts(expansion, base, values, run);
    expansion->last = *run;
    expansion->last_base = base;
    expansion->last_values = *values;
    return err;
}

static const char *run_name(struct plan *plan, const struct base *base,
                            const struct plan_rate *rate)
{
    const char *cut = strlen(base->name) > NAME_MAX_BYTES ? "..." : "";
    bool is_percent = rate->kind == PLAN_RATE_PERCENT ||
                      rate->kind == PLAN_RATE_DRIVES ||
                      rate->kind == PLAN_RATE_OBSERVED;

    if (rate->kind == PLAN_RATE_FIND)
        return arena_printf(plan->arena, "%.*s%s_(find%u)", NAME_MAX_BYTES - 3,
                            base->name, cut, (unsigned)rate->value);
    if (!is_percent && cut[0] == '\0')
        return base->name;
    if (!is_percent)
        return arena_printf(plan->arena, "%.*s%s", NAME_MAX_BYTES - 3,
                            base->name, cut);
    return arena_printf(plan->arena, "%.*s%s_(%u%%)", NAME_MAX_BYTES - 3,
                        base->name, cut, (unsigned)rate->value);
}

static int add_run(struct expansion *expansion, const struct base *base,
                   struct plan_run *run, enum plan_rate_kind kind, double value)
{
    struct plan *plan = expansion->plan;
    int err = plan_grow(plan, &plan->runs, plan->run_count,
                        &expansion->run_capacity, sizeof(*run));

    if (err < 0)
        return err;
    run->rate = (struct plan_rate){kind, value};
    run->name = run_name(plan, base, &run->rate);
    if (run->name == NULL)
        return -ENOMEM;
    plan->runs[plan->run_count++] = *run;
    return 0;
}

/* repeat=: the same run several times in a row. */
static int add_repeated(struct expansion *expansion, const struct base *base,
                        struct plan_run *run, enum plan_rate_kind kind,
                        double value)
{
    int err = 0;

    for (uint32_t i = 0; i < base->rd->repeat && err == 0; i++)
        err = add_run(expansion, base, run, kind, value);
    return err;
}

/* 100MiB/s as I/Os a second. */
static double rate_of_bytes(const struct plan_run *run, double bytes)
{
    double each = 0, skew = 0;

    for (uint32_t i = 0; i < run->workload_count; i++) {
        each +=
            plan_workload_bytes(&run->workloads[i]) * run->workloads[i].skew;
        skew += run->workloads[i].skew;
    }
    return each > 0 ? bytes * skew / each : bytes;
}

static int add_curve(struct expansion *expansion, const struct base *base,
                     struct plan_run *run)
{
    static const double usual[] = {10, 50, 70, 80, 90, 100};
    const double *points = base->rd->curve;
    uint32_t count = base->rd->curve_count;
    int err = add_run(expansion, base, run, PLAN_RATE_CURVE, 0);

    run->stop_curve_ns = base->rd->stop_curve_ns;
    if (points == NULL) {
        points = usual;
        count = ARRAY_LENGTH(usual);
    }
    for (uint32_t i = 0; i < count && err == 0; i++)
        err = add_run(expansion, base, run,
                      base->rd->curve_per_drive ? PLAN_RATE_DRIVES
                                                : PLAN_RATE_PERCENT,
                      points[i]);
    return err;
}

/* iorate=find: the maximum, and steps that halve what is left. */
static int add_search(struct expansion *expansion, const struct base *base,
                      struct plan_run *run)
{
    int err = add_run(expansion, base, run, PLAN_RATE_CURVE, 0);

    run->find_quantile = base->rd->find_quantile;
    run->find_limit_ns = base->rd->find_limit_ns;
    for (uint32_t i = 1; i <= PLAN_FIND_STEPS && err == 0; i++)
        err = add_run(expansion, base, run, PLAN_RATE_FIND, i);
    return err;
}

static int add_rates(struct expansion *expansion, const struct base *base,
                     struct plan_run *run)
{
    int err = 0;

    for (uint32_t i = 0; i < base->rd->rate_count && err == 0; i++) {
        const struct definition_rate *rate = &base->rd->rates[i];

        switch (rate->kind) {
        case DEFINITION_RATE_NONE:
            break;
        case DEFINITION_RATE_MAX:
            err = add_repeated(expansion, base, run, PLAN_RATE_MAX, 0);
            break;
        case DEFINITION_RATE_CURVE:
            for (uint32_t k = 0; k < base->rd->repeat && err == 0; k++)
                err = add_curve(expansion, base, run);
            break;
        case DEFINITION_RATE_FIND:
            for (uint32_t k = 0; k < base->rd->repeat && err == 0; k++)
                err = add_search(expansion, base, run);
            break;
        case DEFINITION_RATE_BYTES:
            err = add_repeated(expansion, base, run, PLAN_RATE_FIXED,
                               rate_of_bytes(run, rate->value));
            break;
        case DEFINITION_RATE_FIXED:
            err = add_repeated(expansion, base, run, PLAN_RATE_FIXED,
                               rate->value);
            break;
        case DEFINITION_RATE_OBSERVED:
            if (expansion->plan->run_count == 0) {
                language_report_add(expansion->report, LANGUAGE_ERROR,
                                    &base->rd->rate_place, NULL,
                                    "rd=%s: iorate=%g%% is of the rate before, "
                                    "but no run comes before it",
                                    base->rd->name, rate->value);
                return 0;
            }
            err = add_repeated(expansion, base, run, PLAN_RATE_OBSERVED,
                               rate->value);
            break;
        }
    }
    return err;
}

/* maxdata=: bytes, or so many times all sds of the run. */
static void set_limits(const struct definition_rd *rd, struct plan_run *run)
{
    uint64_t *bytes[DATA_KINDS] = {
        [DATA_ALL] = &run->max_bytes,
        [DATA_READ] = &run->max_bytes_read,
        [DATA_WRITTEN] = &run->max_bytes_written,
    };

    for (int i = 0; i < DATA_KINDS; i++)
        if (rd->max[i].value > 100)
            *bytes[i] = (uint64_t)rd->max[i].value;
        else
            run->max_ratio[i] = rd->max[i].value;
}

/* distribution=variable, once for all runs. */
static int copy_steps(struct expansion *expansion,
                      const struct definition_rd *rd, struct plan_run *run)
{
    struct plan_step *steps =
        ARENA_ARRAY(expansion->plan->arena, rd->step_count, struct plan_step);

    if (rd->step_count == 0)
        return 0;
    if (steps == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < rd->step_count; i++)
        steps[i] = (struct plan_step){.rate = rd->steps[i].rate,
                                      .duration_ns = rd->steps[i].duration_ns};
    run->steps = steps;
    run->step_count = rd->step_count;
    return 0;
}

static struct plan_run empty_run(const struct base *base)
{
    return (struct plan_run){
        .rd = base->name,
        .kind = PLAN_RUN_MEASURE,
        .arrival = (enum plan_arrival)base->rd->arrival,
        .skew_given = base->skew_given,
        .elapsed_ns = base->rd->elapsed_ns,
        .warmup_ns = base->rd->warmup_ns,
        .interval_ns = base->rd->interval_ns,
        .pause_ns = base->rd->pause_ns,
        .spike = base->rd->spike,
        .spin_percent = base->rd->spin_percent,
        .place = base->place,
    };
}

int runs_expand(struct expansion *expansion, const struct base *base)
{
    uint32_t at[LOOP_KINDS] = {0};
    struct plan_run first = empty_run(base);
    struct loop_values values;
    int err = copy_steps(expansion, base->rd, &first);

    if (err == 0)
        err = plan_copy_commands(expansion->plan, &base->rd->start, "startcmd",
                                 &first.start);
    if (err == 0)
        err = plan_copy_commands(expansion->plan, &base->rd->end, "endcmd",
                                 &first.end);
    if (err < 0)
        return err;
    first.concatenated = expansion->definitions->general.concatenate;
    set_limits(base->rd, &first);
    expansion->last_base = NULL;
    do {
        struct plan_run run = first;

        take_values(base->rd, at, &values);
        err = make_template(expansion, base, &values, &run);
        if (err == 0)
            err = add_rates(expansion, base, &run);
    } while (err == 0 && next_combination(base->rd, at));
    return err;
}

void base_note_transfers(struct expansion *expansion, const struct base *base)
{
    uint32_t loop_max = 0;

    for (uint32_t i = 0; i < base->rd->loop_count; i++) {
        const struct definition_loop *loop = &base->rd->loops[i];

        for (uint32_t k = 0; loop->kind == LOOP_XFERSIZE && k < loop->count;
             k++)
            if (loop->values[k] > loop_max)
                loop_max = (uint32_t)loop->values[k];
    }
    for (uint32_t i = 0; i < base->cell_count; i++) {
        const struct definition_wd *wd =
            base->workloads[base->cells[i].workload].wd;
        struct sd_sites *sites =
            &expansion->targets.sds[base->targets[base->cells[i].target].sd];
        uint32_t max = loop_max;

        for (uint32_t k = 0; loop_max == 0 && k < wd->size_count; k++)
            if (wd->sizes[k].bytes > max)
                max = wd->sizes[k].bytes;
        if (max > sites->xfer_max)
            sites->xfer_max = max;
    }
}
