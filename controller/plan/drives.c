/*
 * drives.c - drive=: which drives of the fleet an sd means.
 *
 * Members of an sd are numbered by host, in the order of the file, then by
 * what a drive keeps over a reboot: its serial number, else its WWN, else its
 * name.  A drive that several hosts see (one WWN, or one serial, model and
 * size) is one sd with a path on each.
 */
#include "controller/plan/internal.h"

#include "common/arena.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BY_ID_FOLDER "/dev/disk/by-id/"
#define LIST_SIZE    400u /* of drives in a message */

/* A member of an sd: one drive, and where it is. */
struct member {
    const struct plan_drive *drive; /* on the first of its hosts */
    struct definition_path *paths;
    uint32_t path_count;
    uint32_t path_capacity;
};

struct selection {
    struct hosts *hosts;
    const struct definition_sd *sd;
    struct member *members;
    uint32_t member_count;
    uint32_t member_capacity;
    uint32_t *slots; /* index of members by identity: number + 1, or 0 */
    uint32_t slot_count;
    struct definition_sd *sds; /* of all families, and of the others */
    uint32_t sd_count;
    uint32_t sd_capacity;
};

/* ---- one drive ---- */

static bool is_size(const struct definition_pattern *pattern, uint64_t bytes)
{
    return (bytes >= pattern->low[0] && bytes <= pattern->high[0]) ||
           (bytes >= pattern->low[1] && bytes <= pattern->high[1]);
}

static const char *link_name(const struct plan_drive *drive)
{
    size_t length = sizeof(BY_ID_FOLDER) - 1;

    return strncmp(drive->by_id, BY_ID_FOLDER, length) == 0
               ? drive->by_id + length
               : drive->by_id;
}

static bool fits(const struct definition_pattern *pattern,
                 const struct plan_drive *drive)
{
    const char *const texts[SELECT_KEYS] = {
        [SELECT_MODEL] = drive->model,       [SELECT_SERIAL] = drive->serial,
        [SELECT_WWN] = drive->wwn,           [SELECT_NAME] = drive->name,
        [SELECT_FIRMWARE] = drive->firmware, [SELECT_BY_ID] = link_name(drive),
    };

    if (pattern->key == SELECT_SIZE)
        return is_size(pattern, drive->size_bytes);
    return fnmatch(pattern->text, texts[pattern->key], FNM_CASEFOLD) == 0;
}

/* Of each key that is asked for, one pattern. */
static bool is_meant(const struct definition_select *select,
                     const struct plan_drive *drive)
{
    bool asked[SELECT_KEYS] = {false};
    bool met[SELECT_KEYS] = {false};

    for (uint32_t i = 0; i < select->pattern_count; i++) {
        const struct definition_pattern *pattern = &select->patterns[i];

        asked[pattern->key] = true;
        met[pattern->key] = met[pattern->key] || fits(pattern, drive);
    }
    for (int key = 0; key < SELECT_KEYS; key++)
        if (asked[key] && !met[key])
            return false;
    return drive->size_bytes > 0;
}

static bool is_taken(const struct definition_select *select,
                     const struct plan_drive *drive)
{
    return is_meant(select, drive) && (select->used || drive->use_count == 0);
}

static const char *identity(const struct plan_drive *drive)
{
    if (drive->serial[0] != '\0')
        return drive->serial;
    return drive->wwn[0] != '\0' ? drive->wwn : drive->name;
}

static int by_identity(const void *a, const void *b)
{
    const struct plan_drive *x = *(const struct plan_drive *const *)a;
    const struct plan_drive *y = *(const struct plan_drive *const *)b;
    int order = strverscmp(identity(x), identity(y));

    return order != 0 ? order : strverscmp(x->name, y->name);
}

static bool is_same_drive(const struct plan_drive *a,
                          const struct plan_drive *b)
{
    if (a->wwn[0] != '\0' || b->wwn[0] != '\0')
        return strcmp(a->wwn, b->wwn) == 0;
    return a->serial[0] != '\0' && strcmp(a->serial, b->serial) == 0 &&
           strcmp(a->model, b->model) == 0 && a->size_bytes == b->size_bytes;
}

/* ---- messages ---- */

struct list {
    char text[LIST_SIZE];
    uint32_t count;
};

static void list_add(struct list *list, const char *format, ...) PRINTF(2, 3);

/* What does not fit is left out, and dots say so. */
static void list_add(struct list *list, const char *format, ...)
{
    size_t used = strlen(list->text);
    va_list args;
    int n;

    list->count++;
    if (used + 64 > sizeof(list->text))
        return;
    if (used > 0)
        used += (size_t)snprintf(list->text + used, sizeof(list->text) - used,
                                 ", ");
    va_start(args, format);
    n = vsnprintf(list->text + used, sizeof(list->text) - used, format, args);
    va_end(args);
    if (n < 0 || used + (size_t)n + 64 > sizeof(list->text))
        (void)snprintf(list->text + sizeof(list->text) - 6, 6, ", ...");
}

static void list_drive(struct list *list, const struct plan_drive *drive)
{
    char size[32];

    format_size((double)drive->size_bytes, size, sizeof(size));
    list_add(list, "%s (%s%s%s%s%s)", drive->name, drive->model,
             drive->model[0] != '\0' ? " " : "", drive->serial,
             drive->serial[0] != '\0' ? " " : "", size);
}

/* Those that fit and are used: nobody is to wonder where they are. */
static void tell_used(struct selection *selection, uint32_t hd,
                      const struct plan_agent *agent)
{
    const struct definition_select *select = &selection->sd->select;
    struct list used = {.count = 0};

    for (uint32_t i = 0; i < agent->drive_count; i++) {
        const struct plan_drive *drive = &agent->drives[i];

        if (is_meant(select, drive) && !is_taken(select, drive))
            list_add(&used, "%s (%s)", drive->name, drive->used_by[0]);
    }
    if (used.count > 0)
        language_report_add(
            selection->hosts->report, LANGUAGE_NOTE, &select->place,
            "drive=(...,used=yes) takes them, too",
            "sd=%s on host %s: left out as in use: %s", selection->sd->name,
            hosts_label(selection->hosts, hd), used.text);
}

static int report_count(struct selection *selection, uint32_t hd,
                        const struct plan_agent *agent, uint32_t found)
{
    const struct definition_select *select = &selection->sd->select;
    const char *host = hosts_label(selection->hosts, hd);
    struct list all = {.count = 0};
    char hint[LIST_SIZE + 64];

    for (uint32_t i = 0; i < agent->drive_count; i++)
        if (found == 0 || is_taken(select, &agent->drives[i]))
            list_drive(&all, &agent->drives[i]);
    (void)snprintf(hint, sizeof(hint), "%s%s",
                   found > 0        ? "found: "
                   : all.count == 0 ? "the host has no drives"
                                    : "the host has: ",
                   all.text);
    if (found == 0)
        language_report_add(selection->hosts->report, LANGUAGE_ERROR,
                            &select->place, hint,
                            "sd=%s: host %s has no free drive=(%s)",
                            selection->sd->name, host, select->text);
    else
        language_report_add(selection->hosts->report, LANGUAGE_ERROR,
                            &select->place, hint,
                            "sd=%s: count=%u drives of host %s are asked for, "
                            "%u fit",
                            selection->sd->name, select->count, host, found);
    return -EINVAL;
}

/* ---- the drives of one host ---- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++)
        hash = (hash ^ (uint8_t)*text) * UINT64_C(1099511628211);
    return (hash ^ 0xffu) * UINT64_C(1099511628211);
}

/* The same for drives that is_same_drive(); the size need not count. */
static uint32_t hash_drive(const struct plan_drive *drive)
{
    uint64_t hash = hash_text(UINT64_C(14695981039346656037), drive->wwn);

    if (drive->wwn[0] == '\0')
        hash = hash_text(hash_text(hash, drive->serial), drive->model);
    return (uint32_t)(hash >> 32);
}

/* Where the drive is in the index, or would be. */
static uint32_t *find_slot(const struct selection *selection,
                           const struct plan_drive *drive)
{
    uint32_t at = hash_drive(drive);

    for (;; at++) {
        uint32_t *slot = &selection->slots[at & (selection->slot_count - 1)];

        if (*slot == 0 ||
            is_same_drive(selection->members[*slot - 1].drive, drive))
            return slot;
    }
}

/* Drives that do not say who they are, are in no index. */
static bool has_identity(const struct plan_drive *drive)
{
    return drive->wwn[0] != '\0' || drive->serial[0] != '\0';
}

static void index_add(struct selection *selection, const struct member *member)
{
    uint32_t *slot;

    if (!has_identity(member->drive))
        return;
    slot = find_slot(selection, member->drive);
    if (*slot == 0)
        *slot = (uint32_t)(member - selection->members) + 1;
}

/* Room for `more` members; half of the slots stay empty. */
static int index_grow(struct selection *selection, uint32_t more)
{
    uint32_t wanted = 2 * (selection->member_count + more);
    uint32_t count = 64;

    if (wanted <= selection->slot_count)
        return 0;
    while (count < wanted)
        count *= 2;
    selection->slots =
        ARENA_ARRAY(selection->hosts->plan->arena, count, uint32_t);
    if (selection->slots == NULL)
        return -ENOMEM;
    selection->slot_count = count;
    for (uint32_t i = 0; i < selection->member_count; i++)
        index_add(selection, &selection->members[i]);
    return 0;
}

/* The member that is this drive; NULL: there is none. */
static struct member *find_member(const struct selection *selection,
                                  const struct plan_drive *drive)
{
    uint32_t slot = has_identity(drive) ? *find_slot(selection, drive) : 0;

    return slot > 0 ? &selection->members[slot - 1] : NULL;
}

/* A new member; `drive` NULL: it is not known yet. */
static struct member *add_member(struct selection *selection,
                                 const struct plan_drive *drive)
{
    if (plan_grow(selection->hosts->plan, &selection->members,
                  selection->member_count, &selection->member_capacity,
                  sizeof(struct member)) < 0)
        return NULL;
    selection->members[selection->member_count] =
        (struct member){.drive = drive};
    return &selection->members[selection->member_count++];
}

static int add_path(struct selection *selection, struct member *member,
                    uint32_t hd, const char *path)
{
    struct arena *arena = selection->hosts->plan->arena;
    const struct language_place *place = &selection->sd->select.place;
    struct definition_name *host = ARENA_NEW(arena, struct definition_name);
    char *text = arena_strdup(arena, path);
    int err =
        plan_grow(selection->hosts->plan, &member->paths, member->path_count,
                  &member->path_capacity, sizeof(*member->paths));

    if (err < 0 || host == NULL || text == NULL)
        return -ENOMEM;
    *host = (struct definition_name){hosts_label(selection->hosts, hd), *place};
    member->paths[member->path_count++] = (struct definition_path){
        .lun = {text, *place},
        .hosts = {host, 1},
    };
    return 0;
}

static int select_of_agent(struct selection *selection, uint32_t hd,
                           const struct plan_agent *agent)
{
    const struct definition_select *select = &selection->sd->select;
    const struct plan_drive **taken =
        ARENA_ARRAY(selection->hosts->plan->arena, agent->drive_count,
                    const struct plan_drive *);
    uint32_t earlier = selection->member_count;
    uint32_t count = 0;
    int err = 0;

    if (taken == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < agent->drive_count; i++)
        if (is_taken(select, &agent->drives[i]))
            taken[count++] = &agent->drives[i];
    tell_used(selection, hd, agent);
    if (count == 0 || (select->count > 0 && count != select->count))
        return report_count(selection, hd, agent, count);
    qsort(taken, count, sizeof(*taken), by_identity);
    err = index_grow(selection, count);
    for (uint32_t i = 0; i < count && err == 0; i++) {
        struct member *member = find_member(selection, taken[i]);

        /* Two of one host are two, whatever they say they are. */
        if (member == NULL || member >= selection->members + earlier)
            member = add_member(selection, taken[i]);
        err = member == NULL ? -ENOMEM
                             : add_path(selection, member, hd, taken[i]->path);
        if (err == 0)
            index_add(selection, member);
    }
    return err;
}

/* Without a fleet: as many as count= says, or one that stands for all. */
static int select_later(struct selection *selection, uint32_t hd)
{
    const struct definition_select *select = &selection->sd->select;
    uint32_t count = select->count > 0 ? select->count : 1;
    int err = 0;

    for (uint32_t i = 0; i < count && err == 0; i++) {
        struct member *member = add_member(selection, NULL);

        err = member == NULL ? -ENOMEM
                             : add_path(selection, member, hd,
                                        selection->sd->paths[0].lun.text);
    }
    return err;
}

static int select_of_host(struct selection *selection, uint32_t hd,
                          uint32_t host)
{
    const struct hosts *hosts = selection->hosts;
    const struct plan_agent *agent;

    if (hosts->fleet == NULL)
        return select_later(selection, hd);
    agent = &hosts->fleet->agents[hosts->plan->hosts[host].agent];
    if (agent->drives != NULL)
        return select_of_agent(selection, hd, agent);
    language_report_add(hosts->report, LANGUAGE_ERROR,
                        &selection->sd->select.place, "try again in a moment",
                        "sd=%s: host %s has not told about its drives yet",
                        selection->sd->name, hosts_label(hosts, hd));
    return -EINVAL;
}

/* ---- one sd= ---- */

/* Whether an earlier hd= of the sd is the same machine. */
static bool is_alias(bool *seen, uint32_t host)
{
    bool before = seen[host];

    seen[host] = true;
    return before;
}

static int select_members(struct selection *selection)
{
    struct hosts *hosts = selection->hosts;
    uint32_t count;
    const uint32_t *found =
        hosts_find(hosts, &selection->sd->paths[0].hosts, &count);
    bool *seen = ARENA_ARRAY(hosts->plan->arena, hosts_defined(hosts), bool);
    int result = 0;

    if (seen == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t host;
        int err = hosts_use(hosts, found[i], &host);

        if (err == 0 && !is_alias(seen, host))
            err = select_of_host(selection, found[i], host);
        if (err == -ENOMEM)
            return err;
        if (err < 0)
            result = -EINVAL; /* said; the other hosts are looked at, too */
    }
    return result;
}

static int add_sd(struct selection *selection, const struct definition_sd *sd)
{
    int err =
        plan_grow(selection->hosts->plan, &selection->sds, selection->sd_count,
                  &selection->sd_capacity, sizeof(*sd));

    if (err == 0)
        selection->sds[selection->sd_count++] = *sd;
    return err;
}

static int add_member_sd(struct selection *selection, uint32_t index)
{
    const struct member *member = &selection->members[index];
    struct definition_sd sd = *selection->sd;

    sd.family = selection->sd->name;
    if (member->drive != NULL || sd.select.count > 0)
        sd.name = arena_printf(selection->hosts->plan->arena, "%s_%u",
                               sd.family, index + 1);
    if (sd.name == NULL)
        return -ENOMEM;
    if (strlen(sd.name) >= NAME_SIZE) {
        language_report_add(selection->hosts->report, LANGUAGE_ERROR, &sd.place,
                            NULL,
                            "sd=%s: with their numbers the names of its drives "
                            "are longer than %d bytes",
                            sd.family, NAME_SIZE - 1);
        return -EINVAL;
    }
    sd.paths = member->paths;
    sd.path_count = member->path_count;
    return add_sd(selection, &sd);
}

static void tell_later(struct selection *selection)
{
    if (selection->hosts->fleet == NULL)
        language_report_add(
            selection->hosts->report, LANGUAGE_NOTE,
            &selection->sd->select.place,
            "'lockstep check --fleet' asks a controller which they are, --here "
            "this host",
            "sd=%s: its drives are selected when the fleet is known",
            selection->sd->name);
}

static void tell_shared(struct selection *selection)
{
    uint32_t shared = 0;

    for (uint32_t i = 0; i < selection->member_count; i++)
        shared += selection->members[i].path_count > 1;
    if (shared > 0)
        language_report_add(selection->hosts->report, LANGUAGE_NOTE,
                            &selection->sd->select.place, NULL,
                            "sd=%s: %u of its drives are seen by several "
                            "hosts; each of them is one sd",
                            selection->sd->name, shared);
}

static int select_sd(struct selection *selection,
                     const struct definition_sd *sd)
{
    int err;

    selection->sd = sd;
    selection->member_count = 0;
    selection->slot_count = 0;
    err = select_members(selection);
    tell_later(selection);
    tell_shared(selection);
    for (uint32_t i = 0; i < selection->member_count && err == 0; i++)
        err = add_member_sd(selection, i);
    return err;
}

/* ---- all of them ---- */

static bool is_named(const struct definition_names *names,
                     const struct definition_sd *sd)
{
    size_t length = strlen(sd->name);

    for (uint32_t i = 0; i < names->count; i++)
        if (definitions_match(names->items[i].text, sd->name) ||
            (strncmp(names->items[i].text, sd->name, length) == 0 &&
             names->items[i].text[length] == '_'))
            return true;
    return false;
}

/* Hosts need not be there for an sd that no run uses. */
static bool is_used(const struct definitions *definitions,
                    const struct definition_sd *sd)
{
    for (uint32_t i = 0; i < definitions->rd_count; i++)
        if (definitions->rds[i].spread != SPREAD_NAMES ||
            is_named(&definitions->rds[i].sds, sd))
            return true;
    for (uint32_t i = 0; i < definitions->wd_count; i++)
        if (is_named(&definitions->wds[i].sds, sd))
            return true;
    return is_named(&definitions->wd_default.sds, sd);
}

static int by_sd_name(const void *a, const void *b)
{
    const struct definition_sd *x = *(const struct definition_sd *const *)a;
    const struct definition_sd *y = *(const struct definition_sd *const *)b;

    return strcmp(x->name, y->name);
}

/* A name of the file may be that of a member, too. */
static int check_names(struct selection *selection)
{
    const struct definition_sd **order =
        ARENA_ARRAY(selection->hosts->plan->arena, selection->sd_count,
                    const struct definition_sd *);
    int result = 0;

    if (order == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < selection->sd_count; i++)
        order[i] = &selection->sds[i];
    qsort(order, selection->sd_count, sizeof(*order), by_sd_name);
    for (uint32_t i = 1; i < selection->sd_count; i++) {
        if (strcmp(order[i - 1]->name, order[i]->name) != 0 ||
            (order[i]->family != NULL &&
             order[i - 1]->family == order[i]->family))
            continue; /* of one family: they are not known yet */
        language_report_add(
            selection->hosts->report, LANGUAGE_ERROR, &order[i]->place, NULL,
            "sd=%s is also the name of a drive that drive= "
            "selects for sd=%s",
            order[i]->name,
            order[i]->family != NULL ? order[i]->family : order[i - 1]->family);
        result = -EINVAL;
    }
    return result;
}

int drives_select(struct hosts *hosts, const struct definitions *definitions,
                  struct definitions *ret_definitions)
{
    struct selection selection = {.hosts = hosts};
    bool any = false;
    int result = 0;

    *ret_definitions = *definitions;
    for (uint32_t i = 0; i < definitions->sd_count; i++)
        any = any || definitions->sds[i].select.given;
    for (uint32_t i = 0; i < definitions->sd_count && any; i++) {
        const struct definition_sd *sd = &definitions->sds[i];
        int err = sd->select.given && is_used(definitions, sd)
                      ? select_sd(&selection, sd)
                      : add_sd(&selection, sd);

        if (err == -ENOMEM)
            return err;
        if (err < 0)
            result = err;
    }
    if (!any || result < 0)
        return result;
    ret_definitions->sds = selection.sds;
    ret_definitions->sd_count = selection.sd_count;
    return check_names(&selection);
}
