/*
 * campaign_user.c - for the listings: who uses a host and its drives.
 */
#include "common/arena.h"
#include "controller/fleet/state.h"

static const char *device_of(const struct plan_target *target)
{
    bool known = target->facts.known && target->facts.device != NULL &&
                 target->facts.device[0] != '\0';

    return known ? target->facts.device : target->path;
}

void campaign_note_user(struct campaign *campaign)
{
    for (uint32_t i = 0; i < campaign->host_count; i++) {
        const struct campaign_host *part = &campaign->hosts[i];
        struct host *host = part->host;

        host->user = campaign->number;
        host->user_path_count = 0;
        host->user_paths =
            ARENA_ARRAY(campaign->arena, part->target_count, const char *);
        if (host->user_paths == NULL)
            continue;
        for (uint32_t t = 0; t < part->target_count; t++)
            host->user_paths[t] =
                device_of(&campaign->plan->targets[part->targets[t]]);
        host->user_path_count = part->target_count;
    }
}

void campaign_forget_user(struct campaign *campaign)
{
    for (uint32_t i = 0; i < campaign->host_count; i++) {
        struct host *host = campaign->hosts[i].host;

        if (host == NULL || campaign->number == 0 ||
            host->user != campaign->number)
            continue;
        host->user = 0;
        host->user_paths = NULL;
        host->user_path_count = 0;
    }
}
