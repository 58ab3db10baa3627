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
    if (cell->slices > 1) {
        visit->integer(walk->user, "slice", cell->slice + 1);
        visit->integer(walk->user, "slices", cell->slices);
    }
    visit->object_end(walk->user);
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
    visit->text(walk->user, "path", target->path);
    integer_or_null(walk, "size_bytes", target->size_bytes);
    visit->boolean(walk->user, "written", target->written);
    text_or_null(walk, "device", target->facts.device);
    text_or_null(walk, "serial", target->facts.serial);
    text_or_null(walk, "wwn", target->facts.wwn);
    text_or_null(walk, "model", target->facts.model);
    visit->object_end(walk->user);
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
    visitor->object_end(user);
}
