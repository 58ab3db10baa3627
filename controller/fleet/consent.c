#include "controller/fleet/consent.h"

#include "controller/fleet/campaign.h"
#include "controller/fleet/registry.h"
#include "controller/plan/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void identify(const struct plan_facts *facts, char *id, size_t size)
{
    if (facts->wwn[0] != '\0')
        (void)snprintf(id, size, "%s", facts->wwn);
    else if (facts->serial[0] != '\0')
        (void)snprintf(id, size, "%s", facts->serial);
    else if (facts->is_block)
        (void)snprintf(id, size, "disk %" PRIu64 " of this boot",
                       facts->disk_sequence);
    else
        (void)snprintf(id, size, "inode %" PRIu64, facts->inode);
}

/* Two sds of one drive are one entry. */
static bool is_listed(const struct consent *consent, const char *host,
                      const char *id, const char *path)
{
    for (uint32_t i = 0; i < consent->count; i++)
        if (strcmp(consent->items[i].host, host) == 0 &&
            strcmp(consent->items[i].id, id) == 0 &&
            strcmp(consent->items[i].path, path) == 0)
            return true;
    return false;
}

static void add(struct consent *consent, const struct plan_target *target,
                const char *host)
{
    const struct plan_facts *facts = &target->facts;
    struct consent_item *item = &consent->items[consent->count];

    *item = (struct consent_item){
        .host = host,
        .sd = target->sd,
        .path = facts->device[0] != '\0' ? facts->device : target->path,
        .model = facts->model,
        .content = facts->content,
        .size_bytes = facts->size_bytes,
    };
    identify(facts, item->id, sizeof(item->id));
    if (!is_listed(consent, host, item->id, item->path))
        consent->count++;
}

/* Each text with its length before it: no two lists read alike. */
static void feed_text(struct digest *digest, const char *text)
{
    char length[32];

    (void)snprintf(length, sizeof(length), "%zu:", strlen(text));
    digest_add(digest, length, strlen(length));
    digest_add(digest, text, strlen(text));
}

static int hash(struct consent *consent)
{
    struct digest *digest = digest_new();
    char size[32];

    if (digest == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < consent->count; i++) {
        const struct consent_item *item = &consent->items[i];

        (void)snprintf(size, sizeof(size), "%" PRIu64, item->size_bytes);
        feed_text(digest, item->host);
        feed_text(digest, item->path);
        feed_text(digest, item->id);
        feed_text(digest, size);
        feed_text(digest, item->model);
        feed_text(digest, item->content);
    }
    return digest_end_short(digest, consent->hash);
}

int consent_of(const struct campaign *campaign, struct consent *ret_consent)
{
    const struct plan *plan = campaign->plan;

    *ret_consent = (struct consent){
        .items = calloc(plan->target_count + 1, sizeof(struct consent_item)),
    };
    if (ret_consent->items == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < plan->target_count; i++)
        if (plan->targets[i].facts.content[0] != '\0')
            add(ret_consent, &plan->targets[i],
                campaign->hosts[plan->targets[i].host].host->name);
    return ret_consent->count == 0 ? 0 : hash(ret_consent);
}

void consent_done(struct consent *consent)
{
    free(consent->items);
    consent->items = NULL;
}
