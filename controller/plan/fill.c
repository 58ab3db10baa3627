/*
 * fill.c - the run that makes files, before the first one: SD_format.
 */
#include "controller/plan/internal.h"

#include "common/arena.h"

#include <errno.h>
#include <string.h>

bool fill_needs(const struct plan *plan, const struct plan_target *target)
{
    const struct plan_facts *facts = &target->facts;

    return target->size_given && !facts->is_block && !facts->is_character &&
           (facts->missing || plan->format_files ||
            facts->size_bytes < target->size_bytes);
}

static uint32_t count_fills(const struct plan *plan)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < plan->target_count; i++)
        count += fill_needs(plan, &plan->targets[i]);
    return count;
}

/* The largest power of two, 128k at most, that every file is a multiple of. */
static uint32_t fill_transfer(const struct plan *plan)
{
    uint32_t transfer = FILL_TRANSFER_MAX;

    for (uint32_t i = 0; i < plan->target_count; i++)
        if (fill_needs(plan, &plan->targets[i]))
            while (plan->targets[i].size_bytes % transfer != 0)
                transfer /= 2;
    return transfer;
}

static int make_workload(struct plan *plan, struct plan_run *run)
{
    struct plan_size_share *size =
        ARENA_NEW(plan->arena, struct plan_size_share);

    run->workloads = ARENA_NEW(plan->arena, struct plan_workload);
    if (size == NULL || run->workloads == NULL)
        return -ENOMEM;
    *size = (struct plan_size_share){fill_transfer(plan), 100};
    run->workload_count = 1;
    run->workloads[0] = (struct plan_workload){
        .name = FILL_RUN_NAME,
        .end_at_eof = true,
        .sizes = size,
        .size_count = 1,
        .skew = 100,
    };
    return 0;
}

static int make_targets(struct plan *plan, struct plan_run *run, uint32_t count)
{
    uint32_t at = 0;

    run->targets = ARENA_ARRAY(plan->arena, count, struct plan_run_target);
    run->cells = ARENA_ARRAY(plan->arena, count, struct plan_cell);
    if (run->targets == NULL || run->cells == NULL)
        return -ENOMEM;
    run->target_count = run->cell_count = count;
    for (uint32_t i = 0; i < plan->target_count; i++) {
        struct plan_target *target = &plan->targets[i];

        if (!fill_needs(plan, target))
            continue;
        target->written = true;
        run->targets[at] = (struct plan_run_target){
            .target = i,
            .threads = FILL_THREADS,
            .open_flags = target->open_flags,
            .write = true,
        };
        run->cells[at] = (struct plan_cell){
            .target = at,
            .share = 1.0 / count,
            .range = {.high_is_percent = true, .high = 100},
            .slices = 1,
            .high = target->size_bytes,
        };
        at++;
    }
    return 0;
}

static int make_texts(struct plan *plan, struct plan_run *run)
{
    char text[32];

    format_size(run->workloads[0].sizes[0].bytes, text, sizeof(text));
    run->xfersize_text = arena_strdup(plan->arena, text);
    run->threads_text = arena_printf(plan->arena, "%u", FILL_THREADS);
    run->rdpct_text = "0";
    run->seekpct_text = "eof";
    run->for_text = "";
    return run->xfersize_text != NULL && run->threads_text != NULL ? 0
                                                                   : -ENOMEM;
}

/* Puts a run before all others. */
static int put_first(struct plan *plan, const struct plan_run *run)
{
    struct plan_run *runs =
        ARENA_ARRAY(plan->arena, (size_t)plan->run_count + 1, struct plan_run);

    if (runs == NULL)
        return -ENOMEM;
    runs[0] = *run;
    memcpy(runs + 1, plan->runs, plan->run_count * sizeof(*runs));
    plan->runs = runs;
    plan->run_count++;
    return 0;
}

int fill_place(struct placing *placing)
{
    struct plan *plan = placing->plan;
    uint32_t count = count_fills(plan);
    struct plan_run run = {
        .rd = FILL_RUN_NAME,
        .name = FILL_RUN_NAME,
        .kind = PLAN_RUN_FILL,
        .interval_ns = NS_PER_S,
        .compression = plan->run_count > 0 ? plan->runs[0].compression : 1,
    };
    int err;

    if (count == 0)
        return 0;
    err = make_workload(plan, &run);
    if (err == 0)
        err = make_targets(plan, &run, count);
    if (err == 0)
        err = make_texts(plan, &run);
    if (err == 0)
        err = put_first(plan, &run);
    return err;
}
