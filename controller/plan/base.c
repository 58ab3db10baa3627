/*
 * base.c - an rd before its loops: which workloads, on which targets, with
 * which shares.
 */
#include "controller/plan/expand.h"

#include "common/arena.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define CELLS_TOTAL_MAX (8u << 20) /* of all runs that do not share them */
#define SKEW_TOLERANCE  0.0001     /* vdbench's */

static void fail(struct expansion *expansion, struct base *base,
                 const struct language_place *place, const char *format, ...)
    PRINTF(4, 5);

static void fail(struct expansion *expansion, struct base *base,
                 const struct language_place *place, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    base->failed = true;
    language_report_add(expansion->report, LANGUAGE_ERROR, place, NULL,
                        "rd=%s: %s", base->rd->name, text);
}

/* ---- workloads ---- */

static int add_workload(struct expansion *expansion, struct base *base,
                        const struct definition_wd *wd, const char *name)
{
    struct base_workload *workload;

    if (base->workload_count == RUN_WORKLOADS_MAX) {
        fail(expansion, base, &base->rd->place,
             "more than %u workloads at once", RUN_WORKLOADS_MAX);
        return 0;
    }
    workload = &base->workloads[base->workload_count++];
    workload->wd = wd;
    workload->name = arena_strdup(expansion->plan->arena, name);
    return workload->name != NULL ? 0 : -ENOMEM;
}

static int add_workloads(struct expansion *expansion, struct base *base)
{
    const struct definitions *definitions = expansion->definitions;
    const struct definition_names *names = &base->rd->wds;
    int err = 0;

    if (names->count == 0) {
        char *name =
            arena_printf(expansion->plan->arena, "rd=%.60s", base->rd->name);

        return name == NULL ? -ENOMEM
                            : add_workload(expansion, base,
                                           &definitions->wd_default, name);
    }
    for (uint32_t i = 0; i < names->count; i++)
        for (uint32_t k = 0; k < definitions->wd_count && err == 0; k++)
            if (!base->failed && definitions_match(names->items[i].text,
                                                   definitions->wds[k].name))
                err = add_workload(expansion, base, &definitions->wds[k],
                                   definitions->wds[k].name);
    return err;
}

/* ---- shares ---- */

/* What the workloads name, and how many name nothing. */
static double given_skew(const struct base *base, uint32_t *ret_without)
{
    double sum = 0;

    *ret_without = 0;
    for (uint32_t i = 0; i < base->workload_count; i++) {
        const struct definition_wd *wd = base->workloads[i].wd;

        sum += wd->skew;
        *ret_without += wd->skew == 0 && wd->rate == 0;
    }
    return sum;
}

static void report_skew(struct expansion *expansion, struct base *base,
                        double sum, uint32_t without)
{
    const struct language_place *place = &base->rd->place;

    for (uint32_t i = 0; i < base->workload_count; i++)
        if (base->workloads[i].wd->skew > 0)
            place = &base->workloads[i].wd->skew_place;
    base->failed = true;
    language_report_add(
        expansion->report, LANGUAGE_ERROR, place,
        without > 0 ? "workloads without skew= share what is left of 100"
                    : NULL,
        "rd=%s: the skew= of its workloads adds up to %.2f, not to 100",
        base->rd->name, sum);
}

/* A workload that gets nothing is left out, and said so. */
static void drop_idle_workloads(struct expansion *expansion, struct base *base)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < base->workload_count; i++) {
        if (base->workloads[i].skew > 0 || base->workloads[i].wd->rate > 0) {
            base->workloads[kept++] = base->workloads[i];
            continue;
        }
        language_report_add(expansion->report, LANGUAGE_WARNING,
                            &base->workloads[i].wd->place, NULL,
                            "rd=%s: wd=%s never runs: the others' skew= adds "
                            "up to 100 already",
                            base->rd->name, base->workloads[i].name);
    }
    base->workload_count = kept;
}

/* Workloads with rates of their own stand beside the run's rate, and leave no
 * skew= to share (vdbench). */
static void check_ranks(struct expansion *expansion, struct base *base)
{
    uint32_t ranked = 0, rated = 0;

    for (uint32_t i = 0; i < base->workload_count; i++) {
        ranked += base->workloads[i].wd->priority > 0;
        rated += base->workloads[i].wd->rate > 0;
    }
    for (uint32_t i = 0; i < base->workload_count; i++) {
        const struct definition_wd *wd = base->workloads[i].wd;

        if ((ranked > 0 || rated > 0) && wd->priority == 0 && !base->failed)
            fail(expansion, base, &wd->place,
                 "wd=%s has no priority=, but %s has", base->workloads[i].name,
                 ranked > 0 ? "another of its workloads"
                            : "one of its workloads an iorate=, which");
        if (rated > 0 && wd->skew > 0 && !base->failed)
            fail(expansion, base, &wd->skew_place,
                 "skew= does not go with an iorate= of wd=");
    }
}

/* Those without skew= share the remainder (case E05). */
static void share_skew(struct expansion *expansion, struct base *base)
{
    uint32_t without;
    double sum = given_skew(base, &without);
    double left = 100 - sum;

    base->skew_given = sum > 0;
    if (without == 0 && sum == 0)
        return; /* all have rates of their own */
    if (left < -SKEW_TOLERANCE || (without == 0 && left > SKEW_TOLERANCE)) {
        report_skew(expansion, base, sum, without);
        return;
    }
    if (fabs(left) <= SKEW_TOLERANCE)
        left = 0;
    for (uint32_t i = 0; i < base->workload_count; i++) {
        double skew = base->workloads[i].wd->skew;

        if (base->workloads[i].wd->rate == 0)
            base->workloads[i].skew = skew > 0 ? skew : left / without;
    }
    drop_idle_workloads(expansion, base);
}

/* ---- targets and cells ---- */

/* The number of a plan's target in the base, added when it is new. */
static int base_target(struct expansion *expansion, struct base *base,
                       uint32_t target, uint32_t sd, uint32_t open_flags,
                       uint32_t *ret_number)
{
    struct plan *plan = expansion->plan;
    int err = 0;

    while (target >= expansion->number_capacity && err == 0)
        err = plan_grow(plan, &expansion->numbers, expansion->number_capacity,
                        &expansion->number_capacity, sizeof(uint32_t));
    if (err < 0)
        return err;
    if (expansion->numbers[target] > 0) {
        *ret_number = expansion->numbers[target] - 1;
        return 0;
    }
    err = plan_grow(plan, &base->targets, base->target_count,
                    &base->target_capacity, sizeof(struct base_target));
    if (err < 0)
        return err;
    *ret_number = base->target_count;
    base->targets[base->target_count++] = (struct base_target){
        .target = target, .sd = sd, .open_flags = open_flags};
    expansion->numbers[target] = base->target_count;
    return 0;
}

static const struct definition_open *
effective_open(const struct base *base, const struct definition_wd *wd,
               const struct definition_sd *sd)
{
    if (base->rd->open.given)
        return &base->rd->open;
    return wd->open.given ? &wd->open : &sd->open;
}

static int add_cell(struct expansion *expansion, struct base *base,
                    const struct base_cell *cell)
{
    if (++expansion->cells_total > CELLS_TOTAL_MAX) {
        if (!base->failed)
            fail(expansion, base, &base->rd->place,
                 "the campaign has too many workloads on too many drives");
        return 0;
    }

    int err = plan_grow(expansion->plan, &base->cells, base->cell_count,
                        &base->cell_capacity, sizeof(*cell));

    if (err == 0)
        base->cells[base->cell_count++] = *cell;
    return err;
}

/* A workload on all hosts of one sd; gives how many. */
static int add_sd(struct expansion *expansion, struct base *base,
                  uint32_t workload, uint32_t sd_index, uint32_t *ret_added)
{
    const struct definition_sd *sd = &expansion->definitions->sds[sd_index];
    const struct definition_wd *wd = base->workloads[workload].wd;
    const struct definition_open *open = effective_open(base, wd, sd);
    struct sd_sites *sites = &expansion->targets.sds[sd_index];
    uint32_t first = base->cell_count;
    int err = targets_resolve(&expansion->targets, sd_index);

    if (err == -ENOENT) {
        base->failed = true;
        return 0;
    }
    for (uint32_t i = 0; i < sites->count && err == 0; i++) {
        struct sd_site *site = &sites->sites[i];
        struct base_cell cell = {.workload = workload};
        uint32_t target;

        if (!hosts_selected(&expansion->hosts, site->hd, &wd->hosts))
            continue;
        err = targets_use(&expansion->targets, sd_index, site, &target);
        if (err == -ENOENT) {
            base->failed = true;
            return 0;
        }
        if (err == 0)
            err = base_target(expansion, base, target, sd_index, open->flags,
                              &cell.target);
        if (err < 0)
            return err;
        if (base->targets[cell.target].open_flags != open->flags) {
            base->failed = true;
            language_report_add(expansion->report, LANGUAGE_UNSUPPORTED,
                                &open->place,
                                "give one of its workloads an sd= of its own "
                                "with the same lun=",
                                "different openflags= for sd=%s in one run "
                                "(rd=%s)",
                                sd->name, base->rd->name);
        }
        err = add_cell(expansion, base, &cell);
    }
    *ret_added = base->cell_count - first;
    for (uint32_t i = first; i < base->cell_count; i++) {
        base->cells[i].slice = i - first;
        base->cells[i].slices = *ret_added;
    }
    return err;
}

/* Marks an sd as used by a workload; false: it was already. */
static bool mark_sd(struct expansion *expansion, struct base *base,
                    bool *marked, uint32_t sd, const char *workload)
{
    if (!marked[sd]) {
        marked[sd] = true;
        return true;
    }
    base->failed = true;
    language_report_add(expansion->report, LANGUAGE_ERROR, &base->rd->place,
                        NULL, "rd=%s: sd=%s is asked for twice in wd=%s",
                        base->rd->name, expansion->definitions->sds[sd].name,
                        workload);
    return false;
}

/* A member that is not known yet stands for all of its family. */
static bool is_open_member(const char *name, const struct definition_sd *sd)
{
    size_t length = sd->family != NULL ? strlen(sd->family) : 0;

    return length > 0 && sd->name == sd->family &&
           strncmp(name, sd->family, length) == 0 && name[length] == '_' &&
           strspn(name + length + 1, "0123456789") == strlen(name + length + 1);
}

static int add_named_sds(struct expansion *expansion, struct base *base,
                         uint32_t workload, bool *marked, uint32_t *added)
{
    const struct definitions *definitions = expansion->definitions;
    const struct base_workload *from = &base->workloads[workload];
    const struct definition_names *names =
        base->rd->sds.count > 0 ? &base->rd->sds : &from->wd->sds;
    int err = 0;

    for (uint32_t i = 0; i < names->count && err == 0 && !base->failed; i++) {
        const struct definition_name *name = &names->items[i];
        bool known = false;

        for (uint32_t sd = 0; sd < definitions->sd_count && err == 0; sd++) {
            uint32_t count = 0;

            if (!definitions_match_sd(name->text, &definitions->sds[sd]) &&
                !is_open_member(name->text, &definitions->sds[sd]))
                continue;
            known = true;
            if (base->failed ||
                !mark_sd(expansion, base, marked, sd, from->name))
                continue;
            err = add_sd(expansion, base, workload, sd, &count);
            *added += count;
        }
        if (!known) /* only of drive= can it be missing here */
            fail(expansion, base, &name->place,
                 "there is no sd=%s: drive= selects fewer drives", name->text);
    }
    return err;
}

/* All cells of one workload. */
static int add_cells(struct expansion *expansion, struct base *base,
                     uint32_t workload, bool *marked)
{
    const struct base_workload *from = &base->workloads[workload];
    uint32_t added = 0;
    int err = 0;

    if (base->sds == NULL && base->rd->sds.count == 0 &&
        from->wd->sds.count == 0) {
        fail(expansion, base, &from->wd->place, "wd=%s has no sd=", from->name);
        return 0;
    }
    if (base->sds == NULL)
        err = add_named_sds(expansion, base, workload, marked, &added);
    for (uint32_t i = 0; base->sds != NULL && i < base->sd_count; i++) {
        uint32_t count = 0;

        if (err < 0 || base->failed)
            break;
        err = add_sd(expansion, base, workload, base->sds[i], &count);
        added += count;
    }
    if (err == 0 && added == 0 && !base->failed)
        fail(expansion, base, &base->rd->place,
             "wd=%s has nothing to run on: none of its sds is on one of "
             "its hosts",
             from->name);
    return err;
}

/* threads= is divided over the sd's targets in this base. */
static void number_parts(struct expansion *expansion, struct base *base)
{
    struct sd_sites *sds = expansion->targets.sds;

    for (uint32_t i = 0; i < base->target_count; i++)
        base->targets[i].part = sds[base->targets[i].sd].parts++;
    for (uint32_t i = 0; i < base->target_count; i++)
        base->targets[i].parts = sds[base->targets[i].sd].parts;
    for (uint32_t i = 0; i < base->target_count; i++)
        sds[base->targets[i].sd].parts = 0;
}

/* What one agent takes in a phase is limited. */
static int check_host_cells(struct expansion *expansion, struct base *base)
{
    const struct plan *plan = expansion->plan;
    uint32_t *counts;

    if (base->cell_count <= HOST_CELLS_MAX)
        return 0;
    counts = ARENA_ARRAY(plan->arena, plan->host_count, uint32_t);
    if (counts == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < base->cell_count; i++) {
        uint32_t target = base->targets[base->cells[i].target].target;
        uint32_t host = plan->targets[target].host;

        if (++counts[host] == HOST_CELLS_MAX + 1)
            fail(expansion, base, &base->rd->place,
                 "more than %u workloads x drives on host %s", HOST_CELLS_MAX,
                 plan->hosts[host].label);
    }
    return 0;
}

int base_build(struct expansion *expansion, struct base *base)
{
    uint32_t sd_count = expansion->definitions->sd_count;
    bool *marked = ARENA_ARRAY(expansion->plan->arena, sd_count, bool);
    int err = marked != NULL ? 0 : -ENOMEM;

    if (err == 0)
        err = plan_copy_place(expansion->plan, &base->rd->place, &base->place);
    if (err == 0)
        err = add_workloads(expansion, base);
    if (err == 0 && !base->failed)
        check_ranks(expansion, base);
    if (err == 0 && !base->failed)
        share_skew(expansion, base);
    for (uint32_t i = 0; i < base->workload_count && err == 0; i++) {
        if (base->failed)
            break;
        memset(marked, 0, sd_count * sizeof(*marked));
        err = add_cells(expansion, base, i, marked);
    }
    for (uint32_t i = 0; i < base->target_count; i++)
        expansion->numbers[base->targets[i].target] = 0;
    if (err < 0 || base->failed)
        return err;
    number_parts(expansion, base);
    return check_host_cells(expansion, base);
}
