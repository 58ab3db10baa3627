/*
 * duplicates.c - dedupratio=, for all drives that share their duplicates.
 *
 * Of N units of such drives together, U are unique and the rest are D different
 * ones: U + D of N are what a store keeps, 1/ratio of all.  The first units of
 * the drives are those of hot sets, dealt to them one by one.
 */
#include "controller/plan/internal.h"

#include "common/arena.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The drives of one bucket together; each sd counts once. */
struct bucket {
    double units;
    uint32_t sds;
};

struct sharing {
    struct placing *placing;
    struct bucket *buckets;
    uint32_t *order; /* by sd_number: its place in its bucket, + 1 */
};

static bool has_duplicates(const struct plan_target *target)
{
    return target->dedup.ratio > 1 && target->dedup.unit > 0 &&
           target->size_bytes >= target->dedup.unit;
}

static void add_target(struct sharing *sharing,
                       const struct plan_target *target)
{
    struct bucket *bucket = &sharing->buckets[target->dedup.bucket];

    if (!has_duplicates(target) || sharing->order[target->sd_number] > 0)
        return;
    sharing->order[target->sd_number] = ++bucket->sds;
    bucket->units += (double)(target->size_bytes / target->dedup.unit);
}

static double hot_units(const struct plan_dedup *dedup, uint64_t *ret_sets)
{
    double units = 0;

    *ret_sets = 0;
    for (uint32_t i = 0; i < dedup->hot_count; i++) {
        *ret_sets += dedup->hot[i].sets;
        units += (double)dedup->hot[i].sets * dedup->hot[i].units;
    }
    return units;
}

/* Hot units on this drive: number `first` and every `every`-th from there on.
 */
static double hot_here(const struct plan_dedup *dedup, double units)
{
    return units > dedup->hot_first
               ? floor((units - 1 - dedup->hot_first) / dedup->hot_every) + 1
               : 0;
}

static void place_target(struct sharing *sharing, uint32_t index)
{
    struct plan_target *target = &sharing->placing->plan->targets[index];
    struct plan_dedup *dedup = &target->dedup;
    const struct bucket *bucket = &sharing->buckets[dedup->bucket];
    double sets = dedup->sets_is_percent ? bucket->units * dedup->sets / 100
                                         : dedup->sets;
    double unique = 1 / dedup->ratio - sets / bucket->units;
    double mine = (double)(target->size_bytes / dedup->unit), hot;
    uint64_t hot_sets;

    if (unique < 0)
        language_report_add(sharing->placing->report, LANGUAGE_WARNING,
                            &target->place, NULL,
                            "sd=%s: with so many dedupsets= its data cannot "
                            "deduplicate by %g",
                            target->sd, dedup->ratio);
    dedup->hot_first = sharing->order[target->sd_number] - 1;
    dedup->hot_every = bucket->sds;
    dedup->contents = sets < 1 ? 1 : (uint64_t)sets;
    hot = hot_here(dedup, hot_units(dedup, &hot_sets));
    if (hot_sets >= dedup->contents || hot >= mine)
        placing_fail(sharing->placing, index,
                     "deduphotsets= asks for %" PRIu64
                     " sets, but dedupsets= makes %" PRIu64
                     " in all: give more, or less hot ones",
                     hot_sets, dedup->contents);
    unique = unique < 0 ? 0 : unique * mine / (mine - hot);
    dedup->unique = unique > 1 ? 1 : unique;
}

int duplicates_place(struct placing *placing)
{
    struct plan *plan = placing->plan;
    struct sharing sharing = {.placing = placing};
    uint32_t buckets = 0, sds = 0;

    for (uint32_t i = 0; i < plan->target_count; i++) {
        const struct plan_target *target = &plan->targets[i];

        if (target->dedup.bucket >= buckets)
            buckets = target->dedup.bucket + 1;
        if (target->sd_number >= sds)
            sds = target->sd_number + 1;
    }
    sharing.buckets = ARENA_ARRAY(plan->arena, buckets, struct bucket);
    sharing.order = ARENA_ARRAY(plan->arena, sds, uint32_t);
    if (sharing.buckets == NULL || sharing.order == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < plan->target_count; i++)
        add_target(&sharing, &plan->targets[i]);
    for (uint32_t i = 0; i < plan->target_count; i++)
        if (has_duplicates(&plan->targets[i]))
            place_target(&sharing, i);
    return 0;
}
