/*
 * plan_walk.c - the plan as a neutral document.
 */
#include "controller/plan/plan_text.h"

struct walk {
    const struct plan *plan;
    const struct plan_visitor *visit;
    void *user;
};

/* "" is unknown. */
static void text_or_null(const struct walk *walk, const char *key,
                         const char *value)
{
    if (value == NULL || value[0] == '\0')
        walk->visit->null(walk->user, key);
    else
        walk->visit->text(walk->user, key, value);
}

static void integer_or_null(const struct walk *walk, const char *key,
                            uint64_t value)
{
    if (value == 0)
        walk->visit->null(walk->user, key);
    else
        walk->visit->integer(walk->user, key, value);
}

static void seconds(const struct walk *walk, const char *key, uint64_t ns)
{
    walk->visit->number(walk->user, key, (double)ns / 1e9);
}

static void walk_rate(const struct walk *walk, const struct plan_run *run)
{
    char text[32];

    plan_text_rate(&run->rate, text, sizeof(text));
    walk->visit->text(walk->user, "iorate",
                      run->kind == PLAN_RUN_FILL ? "fill" : text);
    if (run->rate.kind == PLAN_RATE_FIXED)
        walk->visit->number(walk->user, "iorate_iops", run->rate.value);
}

/* What is out of the ordinary; the rest is left out. */
static void walk_shape(const struct walk *walk,
                       const struct plan_workload *workload)
{
    const struct plan_visitor *visit = walk->visit;

    if (workload->size_step > 0)
        visit->integer(walk->user, "xfersize_step_bytes", workload->size_step);
    if (workload->rate > 0)
        visit->number(walk->user, "iorate_iops", workload->rate);
    if (workload->priority > 0)
        visit->integer(walk->user, "priority", workload->priority);
    if (workload->read_hit_percent > 0 || workload->write_hit_percent > 0) {
        visit->number(walk->user, "read_hit_pct", workload->read_hit_percent);
        visit->number(walk->user, "write_hit_pct", workload->write_hit_percent);
    }
    if (workload->stride_max > 0) {
        visit->integer(walk->user, "stride_min_bytes", workload->stride_min);
        visit->integer(walk->user, "stride_max_bytes", workload->stride_max);
    }
    if (workload->streams > 1)
        visit->integer(walk->user, "streams", workload->streams);
    if (workload->seek != PLAN_SEEK_UNIFORM)
        visit->text(walk->user, "seek",
                    workload->seek == PLAN_SEEK_BAND ? "hotband" : "poisson");
    if (workload->starts_anywhere)
        visit->boolean(walk->user, "starts_anywhere", true);
}

static void walk_workload(const struct walk *walk,
                          const struct plan_workload *workload)
{
    const struct plan_visitor *visit = walk->visit;

    visit->object_begin(walk->user, NULL);
    visit->text(walk->user, "wd", workload->name);
    visit->number(walk->user, "skew_pct", workload->skew);
    visit->number(walk->user, "read_pct", workload->read_percent);
    visit->number(walk->user, "seek_pct", workload->seek_percent);
    visit->boolean(walk->user, "ends_at_eof", workload->end_at_eof);
    walk_shape(walk, workload);
    visit->array_begin(walk->user, "xfersizes");
    for (uint32_t i = 0; i < workload->size_count; i++) {
        visit->object_begin(walk->user, NULL);
        visit->integer(walk->user, "bytes", workload->sizes[i].bytes);
        visit->number(walk->user, "pct", workload->sizes[i].percent);
        visit->object_end(walk->user);
    }
    visit->array_end(walk->user);
    visit->object_end(walk->user);
}

static void walk_cell(const struct walk *walk, const struct plan_run *run,
                      const struct plan_cell *cell)
{
    const struct plan_visitor *visit = walk->visit;
    const struct plan_run_target *at = &run->targets[cell->target];
    const struct plan_target *target = &walk->plan->targets[at->target];

    visit->object_begin(walk->user, NULL);
    visit->text(walk->user, "wd", run->workloads[cell->workload].name);
    visit->text(walk->user, "sd", target->sd);
    visit->text(walk->user, "host", walk->plan->hosts[target->host].label);
    visit->integer(walk->user, "threads", at->threads);
    visit->boolean(walk->user, "write", at->write);
    visit->number(walk->user, "share", cell->share);
    if (cell->high > 0) {
        visit->integer(walk->user, "low", cell->low);
        visit->integer(walk->user, "high", cell->high);
    } else {
        visit->null(walk->user, "low");
        visit->null(walk->user, "high");
    }
    if (cell->wrap_high > 0) {
        visit->integer(walk->user, "wrap_low", cell->wrap_low);
        visit->integer(walk->user, "wrap_high", cell->wrap_high);
    }
    if (cell->shift > 0)
        visit->integer(walk->user, "offset_bytes", cell->shift);
    if (cell->align > 0)
        visit->integer(walk->user, "align_bytes", cell->align);
    if (cell->idle)
        visit->boolean(walk->user, "idle", true);
    if (cell->slices > 1) {
        visit->integer(walk->user, "slice", cell->slice + 1);
        visit->integer(walk->user, "slices", cell->slices);
    }
    if (cell->joins > 0)
        visit->integer(walk->user, "joins", cell->joins - 1);
    visit->object_end(walk->user);
}

static void walk_limits(const struct walk *walk, const struct plan_run *run)
{
    const struct plan_visitor *visit = walk->visit;

    if (run->max_bytes > 0)
        visit->integer(walk->user, "max_bytes", run->max_bytes);
    if (run->max_bytes_read > 0)
        visit->integer(walk->user, "max_bytes_read", run->max_bytes_read);
    if (run->max_bytes_written > 0)
        visit->integer(walk->user, "max_bytes_written", run->max_bytes_written);
    if (run->stop_curve_ns > 0)
        visit->number(walk->user, "stop_curve_us",
                      (double)run->stop_curve_ns / 1e3);
    if (run->rate.kind == PLAN_RATE_FIND) {
        visit->number(walk->user, "find_quantile", run->find_quantile);
        visit->number(walk->user, "find_limit_us",
                      (double)run->find_limit_ns / 1e3);
    }
    if (run->compression > 1)
        visit->number(walk->user, "compratio", run->compression);
    if (run->spike)
        visit->boolean(walk->user, "spike", true);
    if (run->spin_percent > 0)
        visit->integer(walk->user, "spin_percent", run->spin_percent);
    if (run->step_count == 0)
        return;
    visit->array_begin(walk->user, "steps");
    for (uint32_t i = 0; i < run->step_count; i++) {
        visit->object_begin(walk->user, NULL);
        visit->number(walk->user, "iops", run->steps[i].rate);
        seconds(walk, "duration_s", run->steps[i].duration_ns);
        visit->object_end(walk->user);
    }
    visit->array_end(walk->user);
}

/* Left out where there are none. */
static void walk_commands(const struct walk *walk, const char *key,
                          const struct plan_commands *commands)
{
    const struct plan_visitor *visit = walk->visit;

    if (commands->count == 0)
        return;
    visit->array_begin(walk->user, key);
    for (uint32_t i = 0; i < commands->count; i++) {
        visit->object_begin(walk->user, NULL);
        visit->text(walk->user, "command", commands->items[i].text);
        visit->text(walk->user, "on",
                    commands->items[i].on_controller ? "controller" : "hosts");
        visit->object_end(walk->user);
    }
    visit->array_end(walk->user);
}

static void walk_run(const struct walk *walk, const struct plan_run *run)
{
    const struct plan_visitor *visit = walk->visit;

    visit->object_begin(walk->user, NULL);
    visit->text(walk->user, "run", run->name);
    visit->text(walk->user, "rd", run->rd);
    walk_rate(walk, run);
    seconds(walk, "elapsed_s", run->elapsed_ns);
    seconds(walk, "warmup_s", run->warmup_ns);
    seconds(walk, "interval_s", run->interval_ns);
    seconds(walk, "pause_s", run->pause_ns);
    text_or_null(walk, "for", run->for_text);
    text_or_null(walk, "xfersize", run->xfersize_text);
    text_or_null(walk, "threads", run->threads_text);
    text_or_null(walk, "rdpct", run->rdpct_text);
    text_or_null(walk, "seekpct", run->seekpct_text);
    walk_limits(walk, run);
    walk_commands(walk, "startcmd", &run->start);
    walk_commands(walk, "endcmd", &run->end);
    visit->array_begin(walk->user, "workloads");
    for (uint32_t i = 0; i < run->workload_count; i++)
        walk_workload(walk, &run->workloads[i]);
    visit->array_end(walk->user);
    visit->array_begin(walk->user, "cells");
    for (uint32_t i = 0; i < run->cell_count; i++)
        walk_cell(walk, run, &run->cells[i]);
    visit->array_end(walk->user);
    visit->object_end(walk->user);
}

static void walk_host(const struct walk *walk, const struct plan_host *host)
{
    const struct plan_visitor *visit = walk->visit;

    visit->object_begin(walk->user, NULL);
    visit->text(walk->user, "host", host->label);
    visit->text(walk->user, "system", host->system);
    text_or_null(walk, "also_called", host->aliases);
    visit->object_end(walk->user);
}

static void walk_target(const struct walk *walk,
                        const struct plan_target *target)
{
    const struct plan_visitor *visit = walk->visit;

    visit->object_begin(walk->user, NULL);
    visit->text(walk->user, "sd", target->sd);
    visit->text(walk->user, "host", walk->plan->hosts[target->host].label);
    if (target->choice == PLAN_CHOICE_OPEN) {
        visit->null(walk->user, "path");
        visit->text(walk->user, "selects", target->path);
    } else {
        visit->text(walk->user, "path", target->path);
    }
    integer_or_null(walk, "size_bytes", target->size_bytes);
    visit->boolean(walk->user, "written", target->written);
    if (target->overwrite)
        visit->boolean(walk->user, "overwrite", true);
    if (target->dedup.ratio > 1)
        visit->number(walk->user, "dedupratio", target->dedup.ratio);
    text_or_null(walk, "device", target->facts.device);
    text_or_null(walk, "serial", target->facts.serial);
    text_or_null(walk, "wwn", target->facts.wwn);
    text_or_null(walk, "model", target->facts.model);
    visit->object_end(walk->user);
}

static void walk_data(const struct walk *walk)
{
    uint32_t open_ended;
    double bytes = plan_written_bytes(walk->plan, &open_ended);

    walk->visit->integer(walk->user, "written_bytes", (uint64_t)bytes);
    walk->visit->integer(walk->user, "runs_written_without_bound", open_ended);
    if (walk->plan->pattern_length > 0)
        walk->visit->integer(walk->user, "pattern_bytes",
                             walk->plan->pattern_length);
}

void plan_walk(const struct plan *plan, const struct plan_visitor *visitor,
               void *user)
{
    const struct walk walk = {plan, visitor, user};

    visitor->object_begin(user, NULL);
    visitor->array_begin(user, "runs");
    for (uint32_t i = 0; i < plan->run_count; i++)
        walk_run(&walk, &plan->runs[i]);
    visitor->array_end(user);
    visitor->array_begin(user, "hosts");
    for (uint32_t i = 0; i < plan->host_count; i++)
        walk_host(&walk, &plan->hosts[i]);
    visitor->array_end(user);
    visitor->array_begin(user, "drives");
    for (uint32_t i = 0; i < plan->target_count; i++)
        walk_target(&walk, &plan->targets[i]);
    visitor->array_end(user);
    seconds(&walk, "total_s", plan_total_ns(plan));
    walk_data(&walk);
    walk_commands(&walk, "startcmd", &plan->start);
    walk_commands(&walk, "endcmd", &plan->end);
    walk_commands(&walk, "heartbeat_error", &plan->host_lost);
    visitor->object_end(user);
}
