#include "controller/fleet/shared.h"

#include "controller/fleet/registry.h"
#include "controller/plan/plan.h"

#include <stdio.h>
#include <string.h>

static bool is_same(const struct plan_facts *facts,
                    const struct wire_drive *drive)
{
    if (facts->wwn[0] != '\0' || drive->wwn[0] != '\0')
        return strcmp(facts->wwn, drive->wwn) == 0;
    return facts->serial[0] != '\0' &&
           strcmp(facts->serial, drive->serial) == 0 &&
           strcmp(facts->model, drive->model) == 0 &&
           facts->size_bytes == drive->size_bytes;
}

static const struct wire_drive *used_twin(const struct host *host,
                                          const struct plan_facts *facts)
{
    const struct wire_inventory *told = &host->inventory->facts;

    for (uint32_t i = 0; i < told->drive_count; i++)
        if (told->drives[i].use_count > 0 && is_same(facts, &told->drives[i]))
            return &told->drives[i];
    return NULL;
}

bool shared_use(const struct registry *registry, const struct host *own,
                const struct plan_facts *facts, char *ret_reason)
{
    if (!facts->is_block)
        return false;
    for (uint32_t i = 0; i < registry_count(registry); i++) {
        const struct host *host = registry_at(registry, i);
        const struct wire_drive *twin = host == own || host->inventory == NULL
                                            ? NULL
                                            : used_twin(host, facts);

        if (twin == NULL)
            continue;
        (void)snprintf(ret_reason, REASON_SIZE,
                       "the same drive (%s) is in use on host '%s', as %.200s: "
                       "%.250s.  Only what nothing else uses is written",
                       facts->wwn[0] != '\0' ? facts->wwn : facts->serial,
                       host->name, twin->path, twin->used_by[0]);
        return true;
    }
    return false;
}
