/*
 * A placed campaign goes into the store and the queue.
 */
#include "common/arena.h"
#include "common/log.h"
#include "common/units.h"
#include "controller/conduct/queue.h"
#include "controller/fleet/documents.h"
#include "controller/fleet/state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static void free_texts(char **texts, uint32_t count)
{
    for (uint32_t i = 0; texts != NULL && i < count; i++)
        free(texts[i]);
    free(texts);
}

/* The facts of hosts and drives as JSON, for the store; results copies them. */
static int store_plan(struct campaign *campaign, struct diag *diag)
{
    const struct plan *plan = campaign->plan;
    struct results_host *hosts = calloc(plan->host_count, sizeof(*hosts));
    struct results_drive *drives = calloc(plan->target_count, sizeof(*drives));
    char **host_texts = calloc(plan->host_count, sizeof(char *));
    char **drive_texts = calloc(plan->target_count, sizeof(char *));
    int err = -ENOMEM;

    if (hosts == NULL || drives == NULL || host_texts == NULL ||
        drive_texts == NULL)
        goto out;
    for (uint32_t i = 0; i < plan->host_count; i++) {
        const struct host *host = campaign->hosts[i].host;

        hosts[i] = (struct results_host){
            .agent = host->name,
            .address = host->address,
            .version = host->version,
            .instance = host->instance,
            .facts = host_texts[i] = document_host_facts(host),
        };
    }
    for (uint32_t i = 0; i < plan->target_count; i++) {
        const struct plan_target *target = &plan->targets[i];
        const struct wire_drive *drive = registry_drive(
            campaign->hosts[target->host].host, target->facts.device);

        if (drive != NULL)
            drives[i].facts = drive_texts[i] = document_drive_facts(drive);
    }
    err = results_campaign_plan(campaign->fleet->results, &campaign->id, plan,
                                hosts, drives, diag);
out:
    if (err == -ENOMEM)
        (void)diag_set(diag, err, "the controller is out of memory");
    free_texts(host_texts, plan->host_count);
    free_texts(drive_texts, plan->target_count);
    free(hosts);
    free(drives);
    return err;
}

static bool need_drive(struct campaign *campaign,
                       const struct plan_target *target,
                       struct queue_need *need)
{
    const char *host = campaign->hosts[target->host].host->name;
    char key[QUEUE_KEY_SIZE];

    queue_drive_key(host, &target->facts, target->path, key);
    need->key = arena_strdup(campaign->arena, key);
    need->title = arena_printf(campaign->arena, "%s %s", host, target->path);
    return need->key != NULL && need->title != NULL;
}

static bool need_host(struct campaign *campaign, const struct host *host,
                      struct queue_need *need)
{
    need->key = arena_printf(campaign->arena, "host %s", host->name);
    need->title = arena_printf(campaign->arena, "host '%s'", host->name);
    return need->key != NULL && need->title != NULL;
}

int submit_enqueue(struct campaign *campaign, struct diag *diag)
{
    const struct plan *plan = campaign->plan;
    uint32_t count = 0;
    struct queue_need *needs =
        ARENA_ARRAY(campaign->arena, plan->host_count + plan->target_count,
                    struct queue_need);
    bool made = needs != NULL;
    char name[TEXT_SIZE];

    for (uint32_t i = 0; i < plan->target_count && made; i++)
        made = need_drive(campaign, &plan->targets[i], &needs[count++]);
    for (uint32_t i = 0; i < plan->host_count && made; i++)
        made = need_host(campaign, campaign->hosts[i].host, &needs[count++]);
    if (!made)
        return diag_set(diag, -ENOMEM, "the controller is out of memory");
    (void)snprintf(name, sizeof(name), "#%llu %.200s",
                   (unsigned long long)campaign->number, campaign->given.name);
    return queue_add(campaign->fleet->queue, &campaign->id, name, needs, count,
                     diag);
}

/* Also where somebody else has its drives: who, and that it waits for them. */
static void tell_waiting(struct campaign *campaign)
{
    char why[REASON_SIZE];
    char text[REASON_SIZE + 16];

    queue_why(campaign->fleet->queue, &campaign->id, why);
    (void)snprintf(text, sizeof(text), "waiting: %s", why);
    (void)!results_campaign_state(campaign->fleet->results, &campaign->id,
                                  RESULTS_QUEUED, why);
    campaign_notice(campaign, text);
}

/* What the operator agreed to lose; "" for nothing. */
static const char *destroys(const struct campaign *campaign, char text[64])
{
    const struct plan *plan = campaign->plan;
    bool any = false;

    for (uint32_t i = 0; i < plan->target_count; i++)
        any |= plan->targets[i].facts.content[0] != '\0';
    (void)snprintf(text, 64, "%s%.40s", any ? "overwrites, --yes " : "",
                   any ? campaign->yes : "");
    return text;
}

void submit_accept(struct campaign *campaign)
{
    struct fleet *fleet = campaign->fleet;
    struct diag diag = {0};

    if (results_campaign_add(fleet->results, &campaign->given,
                             &campaign->number, &diag) != 0) {
        submit_refuse(campaign, diag.text);
        return;
    }
    fleet->newest_campaign = campaign->number;
    campaign_enter(campaign, CAMPAIGN_STORING);
    if (store_plan(campaign, &diag) != 0)
        campaign_store_failed(campaign, diag.text);
    else
        campaign_remember_origin(campaign); /* submit_stored() follows */
}

void submit_stored(struct campaign *campaign)
{
    struct fleet *fleet = campaign->fleet;
    struct diag diag = {0};
    char text[64];
    char runs[UNITS_SIZE], hosts[UNITS_SIZE];

    campaign_enter(campaign, CAMPAIGN_WAITING);
    log_notice(NULL, "campaign %llu: '%s' submitted by %s, %s on %s",
               (unsigned long long)campaign->number, campaign->given.name,
               campaign->given.who,
               units_print_count(runs, campaign->plan->run_count, "run"),
               units_print_count(hosts, campaign->host_count, "host"));
    submit_audit(campaign, false, destroys(campaign, text));
    submit_answer(campaign, 0, document_submitted(campaign));
    if (submit_enqueue(campaign, &diag) != 0) {
        campaign_end(campaign, VERDICT_FAILED, diag.text);
        return;
    }
    fleet_advance_queue(fleet);
    if (campaign->state == CAMPAIGN_WAITING)
        tell_waiting(campaign);
}
