/*
 * expand.c - definitions to a plan: rd by rd, in vdbench's order.
 */
#include "controller/plan/expand.h"

#include "common/arena.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plan *plan_free(struct plan *plan)
{
    if (plan != NULL)
        arena_free(plan->arena);
    return NULL;
}

int plan_grow(struct plan *plan, void *array, uint32_t count,
              uint32_t *capacity, size_t size)
{
    void **data = array;
    uint32_t wanted;
    void *grown;

    if (count < *capacity)
        return 0;
    if (*capacity > UINT32_MAX / 2)
        return -ENOMEM;
    wanted = *capacity == 0 ? 8 : *capacity * 2;
    grown = arena_array(plan->arena, wanted, size);
    if (grown == NULL)
        return -ENOMEM;
    if (count > 0)
        memcpy(grown, *data, count * size);
    *data = grown;
    *capacity = wanted;
    return 0;
}

int plan_copy_place(struct plan *plan, const struct language_place *from,
                    struct language_place *ret_place)
{
    struct language_place place = *from;

    if (from->file != NULL) {
        place.file = arena_strdup(plan->arena, from->file);
        place.source = arena_strdup(plan->arena, from->source);
        if (place.file == NULL || place.source == NULL)
            return -ENOMEM;
    }
    *ret_place = place;
    return 0;
}

int plan_copy_commands(struct plan *plan,
                       const struct definition_commands *from,
                       const char *keyword, struct plan_commands *ret_commands)
{
    struct plan_command *items =
        ARENA_ARRAY(plan->arena, from->count + 1, struct plan_command);
    int err = items == NULL ? -ENOMEM : 0;

    for (uint32_t i = 0; i < from->count && err == 0; i++) {
        items[i] = (struct plan_command){
            .keyword = keyword,
            .text = arena_strdup(plan->arena, from->items[i].text),
            .shown = from->shown,
            .on_controller = from->on_master,
        };
        err =
            items[i].text == NULL
                ? -ENOMEM
                : plan_copy_place(plan, &from->items[i].place, &items[i].place);
    }
    *ret_commands = (struct plan_commands){items, from->count};
    return err;
}

uint64_t plan_run_bytes(const struct plan *plan, const struct plan_run *run)
{
    const char *before = "";
    uint64_t sum = 0;

    for (uint32_t i = 0; i < run->target_count; i++) {
        const struct plan_target *target =
            &plan->targets[run->targets[i].target];

        if (target->size_bytes == 0)
            return 0;
        if (strcmp(target->sd, before) != 0)
            sum += target->size_bytes;
        before = target->sd;
    }
    return sum;
}

uint64_t plan_total_ns(const struct plan *plan)
{
    uint64_t total = 0;

    for (uint32_t i = 0; i < plan->run_count; i++) {
        const struct plan_run *run = &plan->runs[i];
        uint64_t sum = run->pause_ns + run->warmup_ns + run->elapsed_ns;

        total = total > UINT64_MAX - sum ? UINT64_MAX : total + sum;
    }
    return total;
}

/* ---- sd=single, sd=setsofN, sd=range ---- */

/* The numbers of java.util.Random: setsofN takes sds in its order. */
static uint32_t java_next(uint64_t *state, uint32_t bits)
{
    *state = (*state * 0x5DEECE66D + 0xB) & ((UINT64_C(1) << 48) - 1);
    return (uint32_t)(*state >> (48 - bits));
}

static uint32_t java_below(uint64_t *state, uint32_t bound)
{
    uint32_t bits, value;

    if ((bound & (bound - 1)) == 0)
        return (uint32_t)(((uint64_t)bound * java_next(state, 31)) >> 31);
    do {
        bits = java_next(state, 31);
        value = bits % bound;
    } while (bits - value + (bound - 1) > INT32_MAX);
    return value;
}

/* All sds, shuffled as vdbench does for sets of two and more. */
static int list_sds(struct expansion *expansion, bool shuffled,
                    uint32_t **ret_sds)
{
    uint32_t count = expansion->definitions->sd_count;
    uint32_t *sds = ARENA_ARRAY(expansion->plan->arena, count, uint32_t);
    uint64_t state = 0x5DEECE66D; /* seed 0 */

    if (sds == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        sds[i] = i;
    for (uint32_t i = 0; shuffled && i < count * 8; i++) {
        uint32_t a = java_below(&state, count);
        uint32_t b = java_below(&state, count);
        uint32_t kept = sds[a];

        sds[a] = sds[b];
        sds[b] = kept;
    }
    *ret_sds = sds;
    return 0;
}

/* "rd1_sd1_sd2", or "rd1_sd1-sd3" for a range. */
static int name_set(struct expansion *expansion, struct base *base)
{
    const struct definitions *definitions = expansion->definitions;
    struct arena *arena = expansion->plan->arena;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (out == NULL)
        return -ENOMEM;
    fputs(base->rd->name, out);
    if (base->rd->spread == SPREAD_RANGE)
        fprintf(out, "_%s-%s", definitions->sds[base->sds[0]].name,
                definitions->sds[base->sds[base->sd_count - 1]].name);
    for (uint32_t i = 0; base->rd->spread == SPREAD_SETS && i < base->sd_count;
         i++)
        fprintf(out, "_%s", definitions->sds[base->sds[i]].name);
    if (fclose(out) == 0)
        base->name = arena_strdup(arena, text);
    free(text);
    return base->name != NULL ? 0 : -ENOMEM;
}

static int expand_base(struct expansion *expansion, struct base *base)
{
    int err = base_build(expansion, base);

    if (err < 0 || base->failed)
        return err;
    base_note_transfers(expansion, base);
    return runs_expand(expansion, base);
}

static int expand_sets(struct expansion *expansion, struct base *base)
{
    const struct definition_rd *rd = base->rd;
    uint32_t count = expansion->definitions->sd_count;
    bool range = rd->spread == SPREAD_RANGE;
    uint32_t *sds;
    int err = list_sds(expansion, !range && rd->spread_size > 1, &sds);

    if (count == 0)
        language_report_add(expansion->report, LANGUAGE_ERROR, &rd->place, NULL,
                            "rd=%s: no sd= is defined", rd->name);
    for (uint32_t i = 0; i < count && err == 0;
         i += range ? 1 : rd->spread_size) {
        struct base one = *base;

        one.sds = range ? sds : sds + i;
        one.sd_count = range ? i + 1 : rd->spread_size;
        if (!range && one.sd_count > count - i)
            one.sd_count = count - i;
        err = name_set(expansion, &one);
        if (err == 0)
            err = expand_base(expansion, &one);
        if (one.failed)
            break; /* the others would say the same */
    }
    return err;
}

static int expand_rd(struct expansion *expansion,
                     const struct definition_rd *rd)
{
    struct base *base = ARENA_NEW(expansion->plan->arena, struct base);

    if (base == NULL)
        return -ENOMEM;
    base->rd = rd;
    if (rd->spread != SPREAD_NAMES)
        return expand_sets(expansion, base);
    base->name = arena_strdup(expansion->plan->arena, rd->name);
    return base->name == NULL ? -ENOMEM : expand_base(expansion, base);
}

/* ---- limits ---- */

static uint64_t times(uint64_t a, uint64_t b)
{
    return b > 0 && a > UINT32_MAX / b ? UINT32_MAX : a * b;
}

/* How many runs an rd becomes; UINT32_MAX for too many. */
static uint64_t count_runs(const struct definitions *definitions,
                           const struct definition_rd *rd)
{
    uint64_t runs = 0;

    for (uint32_t i = 0; i < rd->rate_count; i++)
        runs += rd->rates[i].kind == DEFINITION_RATE_FIND ? PLAN_FIND_STEPS + 1
                : rd->rates[i].kind != DEFINITION_RATE_CURVE ? 1
                : rd->curve_count > 0 ? (uint64_t)rd->curve_count + 1
                                      : 7;
    for (uint32_t i = 0; i < rd->loop_count; i++)
        runs = times(runs, rd->loops[i].count);
    if (rd->spread == SPREAD_RANGE)
        runs = times(runs, definitions->sd_count);
    if (rd->spread == SPREAD_SETS)
        runs = times(runs, (definitions->sd_count + rd->spread_size - 1) /
                               rd->spread_size);
    runs = times(runs, rd->repeat);
    return runs;
}

/* loop=: all runs so often, or until so much time has passed. */
static int repeat_all(struct expansion *expansion)
{
    const struct definition_general *general = &expansion->definitions->general;
    struct plan *plan = expansion->plan;
    uint64_t once_ns = plan_total_ns(plan);
    uint64_t loops = general->loops > 0 ? general->loops : 1;
    uint32_t count = plan->run_count;
    struct plan_run *runs;

    plan->distinct_runs = count;
    if (general->loop_ns > 0 && once_ns > 0)
        loops = (general->loop_ns + once_ns - 1) / once_ns;
    if (loops <= 1 || count == 0)
        return 0;
    if (loops * count > PLAN_RUNS_MAX) {
        language_report_add(
            expansion->report, LANGUAGE_ERROR,
            general->loop_place.file != NULL ? &general->loop_place : NULL,
            NULL, "with loop= the campaign has more than %u runs",
            PLAN_RUNS_MAX);
        return 0;
    }
    runs = ARENA_ARRAY(plan->arena, loops * count, struct plan_run);
    if (runs == NULL)
        return -ENOMEM;
    for (uint64_t i = 0; i < loops; i++)
        memcpy(&runs[i * count], plan->runs, count * sizeof(*runs));
    plan->runs = runs;
    plan->run_count = (uint32_t)(loops * count);
    return 0;
}

/* As text, for the store. */
static int take_histogram(struct plan *plan,
                          const struct definition_histogram *from)
{
    char text[DEFINITION_EDGES_MAX * 12 + 16];
    size_t used = 0;

    if (from->count == 0)
        return 0;
    for (uint32_t i = 0; i < from->count; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used,
                                 "%" PRIu64 ",", from->edges_us[i]);
    (void)snprintf(text + used - 1, sizeof(text) - used + 1, "%s",
                   from->suppress ? ",suppress" : "");
    plan->histogram = arena_strdup(plan->arena, text);
    return plan->histogram == NULL ? -ENOMEM : 0;
}

static int take_general(struct expansion *expansion)
{
    const struct definition_general *general = &expansion->definitions->general;
    struct plan *plan = expansion->plan;
    int err;

    plan->workers = general->workers;
    if (general->pattern_length > 0) {
        plan->pattern = arena_memdup(plan->arena, general->pattern_bytes,
                                     general->pattern_length);
        plan->pattern_length = general->pattern_length;
        if (plan->pattern == NULL)
            return -ENOMEM;
    }
    plan->format_files = general->format_sds;
    plan->max_errors = general->max_errors;
    plan->max_errors_span_ns = general->max_errors_span_ns;
    plan->require = (enum plan_require)general->require;
    plan->require_value = general->require_value;
    plan->host_wait_given = general->host_wait_given;
    plan->host_wait_ns = general->host_wait_ns;
    plan->drain_wait_ns = general->drain_wait_ns;
    plan->skew_limit = general->skew_limit;
    if (general->monitor.text != NULL) {
        plan->monitor = arena_strdup(plan->arena, general->monitor.text);
        if (plan->monitor == NULL)
            return -ENOMEM;
    }
    err = take_histogram(plan, &general->histogram);
    if (err == 0)
        err =
            plan_copy_commands(plan, &general->start, "startcmd", &plan->start);
    if (err == 0)
        err = plan_copy_commands(plan, &general->end, "endcmd", &plan->end);
    if (err == 0)
        err = plan_copy_commands(plan, &general->host_lost, "heartbeat_error",
                                 &plan->host_lost);
    return err;
}

static bool fits(struct expansion *expansion)
{
    const struct definitions *definitions = expansion->definitions;
    uint64_t total = 0;

    for (uint32_t i = 0; i < definitions->rd_count; i++) {
        total += count_runs(definitions, &definitions->rds[i]);
        if (total <= PLAN_RUNS_MAX)
            continue;
        language_report_add(expansion->report, LANGUAGE_ERROR,
                            &definitions->rds[i].place, NULL,
                            "with rd=%s the campaign has more than %u runs",
                            definitions->rds[i].name, PLAN_RUNS_MAX);
        return false;
    }
    return true;
}

/* ---- warnings ---- */

/* "sd=sd1", or "sd=sd1 and 3 more". */
static void name_some(char *text, size_t size, const char *first,
                      uint32_t count)
{
    if (count > 1)
        (void)snprintf(text, size, "sd=%s and %u more", first, count - 1);
    else
        (void)snprintf(text, size, "sd=%s", first);
}

static bool is_buffered(const struct plan_target *target)
{
    return (target->open_flags & PLAN_OPEN_DIRECT) == 0 &&
           strcmp(target->path, "/dev/null") != 0 &&
           strcmp(target->path, "/dev/zero") != 0;
}

/* Case A03: what the page cache answers is not the drive. */
static void warn_buffered(struct expansion *expansion)
{
    const struct plan *plan = expansion->plan;
    const struct plan_target *first = NULL;
    const char *before = "";
    uint32_t count = 0; /* of sds; their targets are mostly neighbours */
    char text[128];

    for (uint32_t i = 0; i < plan->target_count; i++) {
        const struct plan_target *target = &plan->targets[i];

        if (!is_buffered(target))
            continue;
        if (first == NULL)
            first = target;
        count += strcmp(target->sd, before) != 0;
        before = target->sd;
    }
    if (first == NULL)
        return;
    name_some(text, sizeof(text), first->sd, count);
    language_report_add(expansion->report, LANGUAGE_WARNING, &first->place,
                        NULL,
                        "%s without openflags=o_direct: the page cache is "
                        "measured too",
                        text);
}

/* The same file is to mean the same to run and submit; where it cannot, that is
 * said. */
static void warn_relative(struct expansion *expansion)
{
    const struct plan *plan = expansion->plan;
    const struct plan_target *first = NULL;
    const char *before = "";
    uint32_t count = 0;
    char text[128];

    for (uint32_t i = 0; i < plan->target_count; i++) {
        const struct plan_target *target = &plan->targets[i];

        if (target->path[0] == '/' || target->choice != PLAN_CHOICE_NAMED)
            continue;
        if (first == NULL)
            first = target;
        count += strcmp(target->sd, before) != 0;
        before = target->sd;
    }
    if (first == NULL || expansion->hosts.fleet != NULL)
        return;
    name_some(text, sizeof(text), first->sd, count);
    language_report_add(expansion->report, LANGUAGE_WARNING, &first->place,
                        "give the whole path, from '/' on",
                        "%s: 'lockstep run' takes a relative lun= from where "
                        "it is started, 'lockstep submit' refuses it",
                        text);
}

static void warn_unused(struct expansion *expansion)
{
    const struct definitions *definitions = expansion->definitions;
    const struct definition_sd *first = NULL;
    uint32_t count = 0;
    char text[128];

    for (uint32_t i = 0; i < definitions->sd_count; i++) {
        if (expansion->targets.sds[i].resolved)
            continue;
        if (first == NULL)
            first = &definitions->sds[i];
        count++;
    }
    if (first == NULL)
        return;
    name_some(text, sizeof(text), first->name, count);
    language_report_add(expansion->report, LANGUAGE_WARNING, &first->place,
                        NULL, "no rd= uses %s", text);
}

/* ---- the whole ---- */

static void note_transfers(struct expansion *expansion)
{
    struct plan *plan = expansion->plan;

    for (uint32_t i = 0; i < expansion->definitions->sd_count; i++) {
        const struct sd_sites *sites = &expansion->targets.sds[i];

        for (uint32_t k = 0; k < sites->count; k++)
            if (sites->sites[k].target > 0)
                plan->targets[sites->sites[k].target - 1].xfer_max =
                    sites->xfer_max;
    }
}

static int expand_all(struct expansion *expansion)
{
    struct definitions *definitions = &expansion->selected;
    int err;

    expansion->hosts = (struct hosts){
        .plan = expansion->plan,
        .definitions = expansion->definitions,
        .fleet = expansion->hosts.fleet,
        .report = expansion->report,
    };
    err = hosts_init(&expansion->hosts);
    if (err == 0)
        err = drives_select(&expansion->hosts, expansion->definitions,
                            definitions);
    expansion->definitions = expansion->hosts.definitions = definitions;
    if (err == 0)
        err = targets_init(&expansion->targets, &expansion->hosts);
    if (err == 0 && !fits(expansion))
        return -EINVAL;
    for (uint32_t i = 0; i < definitions->rd_count && err == 0; i++)
        err = expand_rd(expansion, &definitions->rds[i]);
    if (err == 0)
        err = repeat_all(expansion);
    if (err == 0)
        err = take_general(expansion);
    if (err < 0)
        return err;
    note_transfers(expansion);
    if (expansion->report->errors == 0) {
        warn_unused(expansion);
        warn_buffered(expansion);
        warn_relative(expansion);
    }
    return 0;
}

static struct plan *plan_new(void)
{
    struct arena *arena = arena_new(PLAN_MEMORY_MAX);
    struct plan *plan = arena != NULL ? ARENA_NEW(arena, struct plan) : NULL;

    if (plan == NULL)
        arena_free(arena);
    else
        plan->arena = arena;
    return plan;
}

int plan_expand(const struct definitions *definitions,
                const struct plan_fleet *fleet, struct language_report *report,
                struct plan **ret_plan)
{
    struct expansion expansion = {
        .definitions = definitions,
        .report = report,
        .hosts = {.fleet = fleet},
    };
    uint32_t errors = report->errors, unsupported = report->unsupported;
    int err;

    expansion.plan = plan_new();
    if (expansion.plan == NULL)
        return -ENOMEM;
    err = expand_all(&expansion);
    language_report_sort(report);
    if (err == 0 && report->out_of_memory)
        err = -ENOMEM;
    if (err == 0 &&
        (report->errors > errors || report->unsupported > unsupported))
        err = -EINVAL;
    if (err == 0)
        *ret_plan = expansion.plan;
    else
        plan_free(expansion.plan);
    return err;
}
