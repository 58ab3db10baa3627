#include "controller/fleet/shared.h"

#include "controller/fleet/registry.h"
#include "controller/plan/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_SIZE (3 * TEXT_SIZE)

struct shared_use {
    char key[KEY_SIZE];
    char host[NAME_SIZE];
    char path[PATH_SIZE];
    char use[TEXT_SIZE];
};

/* "" for a drive that does not tell who it is. */
static void make_key(const char *wwn, const char *serial, const char *model,
                     uint64_t size, char key[KEY_SIZE])
{
    if (wwn[0] != '\0')
        (void)snprintf(key, KEY_SIZE, "wwn %s", wwn);
    else if (serial[0] != '\0')
        (void)snprintf(key, KEY_SIZE, "serial %s %s %" PRIu64, serial, model,
                       size);
    else
        key[0] = '\0';
}

static int by_key(const void *a, const void *b)
{
    return strcmp(((const struct shared_use *)a)->key,
                  ((const struct shared_use *)b)->key);
}

static int add(struct shared *shared, uint32_t *room, const struct host *host,
               const struct wire_drive *drive)
{
    struct shared_use *use;
    char key[KEY_SIZE];

    make_key(drive->wwn, drive->serial, drive->model, drive->size_bytes, key);
    if (key[0] == '\0')
        return 0;
    if (shared->count == *room) {
        uint32_t more = *room == 0 ? 64 : *room * 2;
        struct shared_use *grown =
            reallocarray(shared->uses, more, sizeof(*grown));

        if (grown == NULL)
            return -ENOMEM;
        shared->uses = grown;
        *room = more;
    }
    use = &shared->uses[shared->count++];
    memcpy(use->key, key, sizeof(key));
    (void)snprintf(use->host, sizeof(use->host), "%s", host->name);
    (void)snprintf(use->path, sizeof(use->path), "%s", drive->path);
    (void)snprintf(use->use, sizeof(use->use), "%s", drive->used_by[0]);
    return 0;
}

static int look(struct shared *shared, const struct registry *registry)
{
    uint32_t room = 0;

    for (uint32_t i = 0; i < registry_count(registry); i++) {
        const struct host *host = registry_at(registry, i);
        const struct wire_inventory *told =
            host->inventory == NULL ? NULL : &host->inventory->facts;

        for (uint32_t k = 0; told != NULL && k < told->drive_count; k++)
            if (told->drives[k].use_count > 0 &&
                add(shared, &room, host, &told->drives[k]) != 0)
                return -ENOMEM;
    }
    if (shared->count > 1)
        qsort(shared->uses, shared->count, sizeof(*shared->uses), by_key);
    shared->known = true;
    return 0;
}

void shared_forget(struct shared *shared)
{
    free(shared->uses);
    *shared = (struct shared){0};
}

/* The first use of the key, or where it would be. */
static uint32_t first_of(const struct shared *shared, const char *key)
{
    uint32_t low = 0, high = shared->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (strcmp(shared->uses[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool shared_in_use(struct shared *shared, const struct registry *registry,
                   const char *own, const struct plan_facts *facts,
                   char *ret_reason)
{
    char key[KEY_SIZE];

    if (!facts->is_block)
        return false;
    make_key(facts->wwn, facts->serial, facts->model, facts->size_bytes, key);
    if (key[0] == '\0')
        return false;
    if (!shared->known && look(shared, registry) != 0) {
        shared_forget(shared);
        (void)snprintf(ret_reason, REASON_SIZE,
                       "the controller has no memory to tell whether another "
                       "host uses it");
        return true;
    }
    for (uint32_t i = first_of(shared, key);
         i < shared->count && strcmp(shared->uses[i].key, key) == 0; i++) {
        const struct shared_use *use = &shared->uses[i];

        if (strcmp(use->host, own) == 0)
            continue;
        (void)snprintf(ret_reason, REASON_SIZE,
                       "the same drive (%.100s) is in use on host '%s', as "
                       "%.200s: %.250s.  Only what nothing else uses is "
                       "written",
                       facts->wwn[0] != '\0' ? facts->wwn : facts->serial,
                       use->host, use->path, use->use);
        return true;
    }
    return false;
}
