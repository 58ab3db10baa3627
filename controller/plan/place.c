/*
 * place.c - what the agents told about the targets, turned into sizes.
 *
 * Every target that cannot be used is one error; nothing more is said about
 * it.  The regions of those that can follow in regions.c, the fill in fill.c.
 */
#include "controller/plan/internal.h"
#include "controller/plan/plan_text.h"

#include "common/arena.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void placing_fail(struct placing *placing, uint32_t target, const char *format,
                  ...)
{
    const struct plan *plan = placing->plan;
    const struct plan_target *about = &plan->targets[target];
    char text[REASON_SIZE], quoted[PATH_SIZE + 2];
    bool named; /* as an agent's reason has it */
    va_list args;

    if (placing->failed[target])
        return;
    placing->failed[target] = true;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    (void)snprintf(quoted, sizeof(quoted), "'%s'", about->path);
    named = strstr(text, quoted) != NULL;
    language_report_add(placing->report, LANGUAGE_ERROR, &about->place, NULL,
                        "sd=%s on host %s: %s%s%s", about->sd,
                        plan->hosts[about->host].label,
                        named ? "" : about->path, named ? "" : ": ", text);
}

int plan_set_facts(struct plan *plan, uint32_t target,
                   const struct plan_facts *facts)
{
    struct plan_facts copy = *facts;
    const char **texts[] = {&copy.refusal, &copy.device, &copy.serial,
                            &copy.wwn,     &copy.model,  &copy.content};

    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
        *texts[i] =
            arena_strdup(plan->arena, *texts[i] != NULL ? *texts[i] : "");
        if (*texts[i] == NULL)
            return -ENOMEM;
    }
    copy.known = true;
    plan->targets[target].facts = copy;
    return 0;
}

/* ---- one target ---- */

static bool is_in_dev(const char *path)
{
    return strncmp(path, "/dev/", 5) == 0;
}

/* A path that is not there: a file that will be made, or an error. */
static void place_missing(struct placing *placing, uint32_t index)
{
    struct plan_target *target = &placing->plan->targets[index];

    if (is_in_dev(target->path))
        placing_fail(placing, index, "there is no such drive");
    else if (!target->size_given)
        placing_fail(placing, index,
                     "there is no such file; with size= it would be made");
    else if (target->facts.free_bytes > 0 &&
             target->facts.free_bytes < target->size_bytes)
        placing_fail(placing, index,
                     "the file system has %" PRIu64
                     " bytes free, size= asks for %" PRIu64,
                     target->facts.free_bytes, target->size_bytes);
}

static void place_block(struct placing *placing, uint32_t index)
{
    struct plan_target *target = &placing->plan->targets[index];
    uint64_t real = target->facts.size_bytes;

    if (real == 0)
        placing_fail(placing, index, "the drive has no size");
    else if (target->size_given && target->size_bytes > real)
        placing_fail(placing, index,
                     "size= asks for %" PRIu64 " bytes, the drive has %" PRIu64,
                     target->size_bytes, real);
    else if (!target->size_given)
        target->size_bytes = real;
}

static void place_file(struct placing *placing, uint32_t index)
{
    struct plan_target *target = &placing->plan->targets[index];
    const struct plan_facts *facts = &target->facts;

    if (!target->size_given) {
        target->size_bytes = facts->size_bytes;
        if (facts->size_bytes == 0)
            placing_fail(placing, index, "the file is empty");
        return;
    }
    if (placing->plan->format_files && !facts->ours) {
        placing_fail(placing, index,
                     "formatsds=yes would write over it, and Lockstep did not "
                     "make it");
        return;
    }
    if (facts->size_bytes >= target->size_bytes)
        return;
    if (!facts->ours)
        placing_fail(placing, index,
                     "the file has %" PRIu64 " bytes, size= asks for %" PRIu64
                     "; Lockstep did not make it and does not extend it",
                     facts->size_bytes, target->size_bytes);
    else if (facts->free_bytes > 0 &&
             facts->free_bytes < target->size_bytes - facts->size_bytes)
        placing_fail(placing, index,
                     "the file system has %" PRIu64
                     " bytes free, size= asks for %" PRIu64 " more",
                     facts->free_bytes, target->size_bytes - facts->size_bytes);
}

/* /dev/null and /dev/zero have the size that is asked for. */
static void place_character(struct placing *placing, uint32_t index)
{
    if (!placing->plan->targets[index].size_given)
        placing_fail(placing, index, "this device has no size: give size=");
}

/* What offsets and lengths are multiples of. */
static uint32_t target_block(const struct plan_target *target)
{
    return target->facts.logical_block > 0 ? target->facts.logical_block : 1;
}

static void place_target(struct placing *placing, uint32_t index)
{
    struct plan_target *target = &placing->plan->targets[index];
    const struct plan_facts *facts = &target->facts;
    uint32_t block = target_block(target);

    if (!facts->known)
        placing_fail(placing, index, "its host has not told about it");
    else if (facts->refusal[0] != '\0')
        placing_fail(placing, index, "%s", facts->refusal);
    else if (facts->missing)
        place_missing(placing, index);
    else if (facts->is_block)
        place_block(placing, index);
    else if (facts->is_character)
        place_character(placing, index);
    else
        place_file(placing, index);
    target->size_bytes = target->size_bytes / block * block;
}

/* ---- transfers ---- */

/* Cases G03 and G04: every transfer is a whole number of blocks. */
static void check_transfers(struct placing *placing, const struct plan_run *run)
{
    for (uint32_t i = 0; i < run->cell_count; i++) {
        const struct plan_cell *cell = &run->cells[i];
        const struct plan_workload *workload = &run->workloads[cell->workload];
        uint32_t index = run->targets[cell->target].target;
        uint32_t block = target_block(&placing->plan->targets[index]);

        if (placing->failed[index])
            continue;
        for (uint32_t k = 0; k < workload->size_count; k++)
            if (workload->sizes[k].bytes % block != 0)
                placing_fail(placing, index,
                             "xfersize=%u of wd=%s is not a multiple of its "
                             "block of %u bytes",
                             workload->sizes[k].bytes, workload->name, block);
    }
}

/* ---- one drive under two names ---- */

static int by_device(const void *a, const void *b, void *targets)
{
    const struct plan_target *x =
        &((const struct plan_target *)targets)[*(const uint32_t *)a];
    const struct plan_target *y =
        &((const struct plan_target *)targets)[*(const uint32_t *)b];
    int order;

    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    order = strcmp(x->facts.device, y->facts.device);
    return order != 0 ? order
                      : (*(const uint32_t *)a > *(const uint32_t *)b) -
                            (*(const uint32_t *)a < *(const uint32_t *)b);
}

/* Case E03, second half: different entries may turn out to be one drive. */
static int warn_same_device(struct placing *placing)
{
    struct plan *plan = placing->plan;
    uint32_t *order = ARENA_ARRAY(plan->arena, plan->target_count, uint32_t);

    if (order == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < plan->target_count; i++)
        order[i] = i;
    qsort_r(order, plan->target_count, sizeof(*order), by_device,
            plan->targets);
    for (uint32_t i = 1; i < plan->target_count; i++) {
        const struct plan_target *a = &plan->targets[order[i - 1]];
        const struct plan_target *b = &plan->targets[order[i]];

        if (a->host == b->host && b->facts.device[0] != '\0' &&
            strcmp(a->facts.device, b->facts.device) == 0)
            language_report_add(
                placing->report, LANGUAGE_WARNING, &b->place, NULL,
                "sd=%s and sd=%s are the same %s on host %s", a->sd, b->sd,
                b->facts.device, plan->hosts[b->host].label);
    }
    return 0;
}

/* ---- one name for different drives ---- */

static const char *drive_identity(const struct plan_target *target)
{
    return target->facts.wwn[0] != '\0' ? target->facts.wwn
                                        : target->facts.serial;
}

/* Several hosts that see one sd must see one drive; where they do not, each
 * host wants an sd of its own. */
static void check_same_drive(struct placing *placing)
{
    const struct plan *plan = placing->plan;
    const struct plan_target *first = NULL;

    for (uint32_t i = 0; i < plan->target_count; i++) {
        const struct plan_target *target = &plan->targets[i];
        const char *mine = drive_identity(target);

        if (first == NULL || strcmp(first->sd, target->sd) != 0 ||
            drive_identity(first)[0] == '\0') {
            first = target;
            continue;
        }
        if (target->facts.is_block && first->facts.is_block &&
            mine[0] != '\0' && strcmp(mine, drive_identity(first)) != 0)
            placing_fail(placing, i,
                         "this is the drive %s, but on host %s it is %s: one "
                         "sd is one drive; give each host its own, as in "
                         "sd=%s_$host,host=$host,lun=%s",
                         mine, plan->hosts[first->host].label,
                         drive_identity(first), target->sd, target->path);
    }
}

/* ---- the whole ---- */

int plan_place(struct plan *plan, struct language_report *report)
{
    struct placing placing = {.plan = plan, .report = report};
    uint32_t errors = report->errors, unsupported = report->unsupported;
    int err;

    placing.failed = ARENA_ARRAY(plan->arena, plan->target_count, bool);
    if (placing.failed == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < plan->target_count; i++)
        place_target(&placing, i);
    for (uint32_t i = 0; i < plan->run_count; i++)
        check_transfers(&placing, &plan->runs[i]);
    check_same_drive(&placing);
    regions_place(&placing);
    err = duplicates_place(&placing);
    if (err == 0)
        err = warn_same_device(&placing);
    if (err == 0 && report->errors == errors)
        err = fill_place(&placing);
    language_report_sort(report);
    if (err == 0 && report->out_of_memory)
        err = -ENOMEM;
    if (err == 0 &&
        (report->errors > errors || report->unsupported > unsupported))
        err = -EINVAL;
    return err;
}
