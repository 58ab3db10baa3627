/*
 * targets.c - sds on hosts.
 */
#include "controller/plan/internal.h"

#include "common/arena.h"

#include <errno.h>
#include <string.h>

int targets_init(struct targets *targets, struct hosts *hosts)
{
    targets->hosts = hosts;
    targets->sds = ARENA_ARRAY(hosts->plan->arena, hosts->definitions->sd_count,
                               struct sd_sites);
    targets->host_targets =
        ARENA_ARRAY(hosts->plan->arena, hosts_defined(hosts), uint32_t);
    return targets->sds != NULL && targets->host_targets != NULL ? 0 : -ENOMEM;
}

/* Case E03: hosts that are one machine have one target for one path. */
static bool is_known_site(const struct sd_sites *sites,
                          const struct sd_site *site)
{
    for (uint32_t i = 0; i < sites->count; i++)
        if (sites->sites[i].host == site->host &&
            strcmp(sites->sites[i].path->lun.text, site->path->lun.text) == 0)
            return true;
    return false;
}

static int add_sites(struct targets *targets, struct sd_sites *sites,
                     const struct definition_path *path, uint32_t *capacity)
{
    struct hosts *hosts = targets->hosts;
    uint32_t count;
    const uint32_t *found = hosts_find(hosts, &path->hosts, &count);
    bool missing = false;

    for (uint32_t i = 0; i < count; i++) {
        struct sd_site site = {.hd = found[i], .path = path};
        int err = hosts_use(hosts, site.hd, &site.host);

        if (err == -ENOENT) {
            missing = true;
            continue;
        }
        if (err < 0)
            return err;
        if (is_known_site(sites, &site))
            continue;
        err = plan_grow(hosts->plan, &sites->sites, sites->count, capacity,
                        sizeof(site));
        if (err < 0)
            return err;
        sites->sites[sites->count++] = site;
    }
    return missing ? -ENOENT : 0;
}

int targets_resolve(struct targets *targets, uint32_t sd)
{
    const struct definition_sd *definition =
        &targets->hosts->definitions->sds[sd];
    struct sd_sites *sites = &targets->sds[sd];
    uint32_t capacity = 0;
    int result = 0;

    if (sites->resolved)
        return sites->count > 0 ? 0 : -ENOENT;
    sites->resolved = true;
    for (uint32_t i = 0; i < definition->path_count; i++) {
        int err = add_sites(targets, sites, &definition->paths[i], &capacity);

        if (err == -ENOMEM)
            return err;
        if (err < 0)
            result = err;
    }
    return result;
}

static int report_many(struct targets *targets, const struct sd_site *site,
                       uint32_t host, uint32_t limit)
{
    language_report_add(targets->hosts->report, LANGUAGE_ERROR,
                        &site->path->lun.place, NULL,
                        "more than %u drives on host %s in one campaign", limit,
                        targets->hosts->plan->hosts[host].label);
    return -ENOENT;
}

/* `lockstep run` takes a relative path from where it was started. */
static char *absolute_path(const struct hosts *hosts,
                           const struct definition_sd *sd, const char *path)
{
    struct arena *arena = hosts->plan->arena;

    if (path[0] == '/' || hosts->fleet == NULL ||
        hosts->fleet->folder == NULL || sd->select.given)
        return arena_strdup(arena, path);
    return arena_printf(arena, "%s/%s", hosts->fleet->folder, path);
}

static struct plan_dedup dedup_of(const struct definition_dedup *from)
{
    struct plan_dedup to = {
        .ratio = from->ratio,
        .unit = from->unit,
        .sets = from->sets,
        .sets_is_percent = from->sets_is_percent,
        .hot_count = from->hot_count,
        .flip = (enum plan_flip)from->flip,
        .places_alike = from->places_alike,
        .bucket = from->bucket,
    };

    for (uint32_t i = 0; i < from->hot_count; i++)
        to.hot[i] = (struct plan_hot){from->hot[i].sets, from->hot[i].units};
    return to;
}

int targets_use(struct targets *targets, uint32_t sd, struct sd_site *site,
                uint32_t *ret_target)
{
    const struct definition_sd *definition =
        &targets->hosts->definitions->sds[sd];
    struct plan *plan = targets->hosts->plan;
    struct plan_target target = {.host = site->host};
    int err;

    if (site->target > 0) {
        *ret_target = site->target - 1;
        return 0;
    }
    if (targets->host_targets[site->host] == HOST_TARGETS_MAX)
        return report_many(targets, site, site->host, HOST_TARGETS_MAX);
    if (plan->target_count == PLAN_TARGETS_MAX)
        return report_many(targets, site, site->host, PLAN_TARGETS_MAX);
    target.sd = arena_strdup(plan->arena, definition->name);
    target.path =
        absolute_path(targets->hosts, definition, site->path->lun.text);
    if (target.sd == NULL || target.path == NULL)
        return -ENOMEM;
    target.size_bytes = definition->size_bytes;
    target.size_given = definition->size_bytes > 0;
    target.overwrite = definition->overwrite;
    if (definition->select.given)
        target.choice = targets->hosts->fleet != NULL ? PLAN_CHOICE_CHOSEN
                                                      : PLAN_CHOICE_OPEN;
    target.dedup = dedup_of(&definition->dedup);
    target.sd_number = sd;
    target.facts = (struct plan_facts){.refusal = "",
                                       .device = "",
                                       .serial = "",
                                       .wwn = "",
                                       .model = "",
                                       .content = ""};
    err = plan_copy_place(plan, &site->path->lun.place, &target.place);
    if (err == 0)
        err = plan_grow(plan, &plan->targets, plan->target_count,
                        &targets->capacity, sizeof(target));
    if (err < 0)
        return err;
    targets->host_targets[site->host]++;
    plan->targets[plan->target_count++] = target;
    site->target = plan->target_count;
    *ret_target = plan->target_count - 1;
    return 0;
}
