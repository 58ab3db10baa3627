/*
 * campaign_memory.c - what a campaign leaves in the store for a controller that
 * is started again: see memory.h.  Finished goes through the store before the
 * conductor hears of it: an agent whose end is acknowledged forgets all.
 */
#include "controller/fleet/memory.h"

#include "common/log.h"
#include "controller/fleet/agent_session.h"
#include "controller/fleet/state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes the text, NULL for one that could not be made. */
static int keep(struct campaign *campaign, uint32_t phase, const char *name,
                uint32_t item, char *text)
{
    const struct results_memory memory = {
        .phase = phase, .name = name, .item = item, .text = text};
    int err = text == NULL ? -ENOMEM
                           : results_remember(campaign->fleet->results,
                                              &campaign->id, &memory);

    free(text);
    return err;
}

/* ---- Of the campaign ----------------------------------------------------- */

/* A failure of this one is the store's, and told by it. */
void campaign_remember_origin(struct campaign *campaign)
{
    const struct plan *plan = campaign->plan;
    struct plan_facts *facts = calloc(plan->target_count + 1u, sizeof(*facts));
    struct memory_origin origin = {
        .included = campaign->included,
        .file_count = campaign->given.file_count,
        .agents = campaign->agents,
        .agent_count = campaign->host_count,
        .facts = facts,
        .fact_count = plan->target_count,
        .fingerprint = memory_fingerprint(plan),
    };
    char *text = NULL;
    int err;

    for (uint32_t i = 0; facts != NULL && i < plan->target_count; i++)
        facts[i] = plan->targets[i].facts;
    if (facts != NULL)
        text = memory_origin_text(&origin);
    free(facts);
    err = keep(campaign, PLAN_NOWHERE, MEMORY_ORIGIN, 0, text);
    if (err != 0)
        campaign_store_failed(campaign, err == -EAGAIN
                                            ? "the store is busy; try again"
                                            : strerror(-err));
}

void campaign_remember_quiet(struct campaign *campaign, uint32_t host)
{
    uint64_t quiet_ns = conductor_quiet_ns(campaign->conductor, host);
    char text[24];

    if (quiet_ns <= campaign->quiet_ns)
        return;
    campaign->quiet_ns = quiet_ns;
    (void)snprintf(text, sizeof(text), "%" PRIu64, quiet_ns);
    campaign_note_store(
        campaign, keep(campaign, PLAN_NOWHERE, MEMORY_QUIET, 0, strdup(text)),
        "the leases of hosts");
}

/* Where it cannot be kept, it is still obeyed. */
void campaign_remember_stop(struct campaign *campaign, const char *who)
{
    (void)!keep(campaign, PLAN_NOWHERE, MEMORY_STOPPED, 0, strdup(who));
}

/* ---- Of a phase ---------------------------------------------------------- */

void campaign_remember_starts(struct campaign *campaign, uint32_t phase)
{
    struct memory_starts starts = {
        .boot = campaign->fleet->boot,
        .epoch = campaign->try_epoch,
        .hosts = calloc(campaign->host_count + 1u, sizeof(*starts.hosts)),
    };
    char *text = NULL;

    for (uint32_t i = 0; starts.hosts != NULL && i < campaign->host_count; i++)
        starts.host_count +=
            conductor_start_of(campaign->conductor, i,
                               &starts.hosts[starts.host_count])
                ? 1
                : 0;
    if (starts.hosts != NULL)
        text = memory_starts_text(&starts);
    free(starts.hosts);
    campaign_note_store(campaign, keep(campaign, phase, MEMORY_STARTS, 0, text),
                        "who started");
}

void campaign_remember_ending(struct campaign *campaign,
                              const struct conduct_effect *effect)
{
    const struct memory_ending ending = {
        .ending = effect->ending,
        .verdict = effect->verdict,
        .stop_after = effect->interval,
        .reason = effect->reason,
    };

    /* A phase that fails because the store does, fails all the same. */
    (void)!keep(campaign, effect->phase, MEMORY_ENDING, 0,
                memory_ending_text(&ending));
}

void campaign_remember_carry(struct campaign *campaign, uint32_t phase)
{
    struct memory_carry carry = {
        .shares_known = campaign->shares_known,
        .drives = campaign->drive_maximum,
        .drive_count =
            campaign->drive_maximum == NULL ? 0 : campaign->plan->target_count,
    };

    conductor_memory(campaign->conductor, &carry.conduct);
    memcpy(carry.shares, campaign->shares, sizeof(carry.shares));
    campaign_note_store(
        campaign,
        keep(campaign, phase, MEMORY_CARRY, 0, memory_carry_text(&carry)),
        "what later phases need");
}

/* ---- Finished ------------------------------------------------------------ */

static uint32_t target_named(const struct campaign *campaign, uint32_t host,
                             const char *sd)
{
    const struct campaign_host *part = &campaign->hosts[host];

    for (uint32_t i = 0; i < part->target_count; i++)
        if (strcmp(campaign->plan->targets[part->targets[i]].sd, sd) == 0)
            return part->targets[i];
    return UINT32_MAX;
}

static int tell_finished(struct campaign *campaign, uint32_t host,
                         const struct wire_finished *finished)
{
    struct results_stuck stuck[WIRE_STUCK_MAX];
    uint32_t count = 0;

    for (uint32_t i = 0; i < finished->stuck_count; i++) {
        const struct wire_stuck *from = &finished->stuck[i];
        uint32_t target = target_named(campaign, host, from->sd);

        if (target != UINT32_MAX)
            stuck[count++] = (struct results_stuck){
                .target = target,
                .write = from->write,
                .offset = from->offset,
                .length = from->length,
                .age_ns = from->age_ns,
            };
    }
    return results_host_finished(campaign->fleet->results, &campaign->id,
                                 finished->work.phase, host,
                                 finished->intervals, stuck, count);
}

static void tell_conductor(struct campaign *campaign, uint32_t host)
{
    struct campaign_finish *finish = &campaign->hosts[host].finish;

    if (!finish->waits)
        return;
    finish->waits = false;
    finish->finish.reason = finish->reason;
    conductor_finished(campaign->conductor, fleet_now_ns(campaign->fleet), host,
                       finish->phase, &finish->finish);
}

void campaign_flush_finished(struct campaign *campaign)
{
    for (uint32_t i = 0; i < campaign->host_count; i++)
        tell_conductor(campaign, i);
}

static void store_finished(struct campaign *campaign, uint32_t host,
                           const struct wire_finished *finished)
{
    struct campaign_finish *finish = &campaign->hosts[host].finish;
    int err = tell_finished(campaign, host, finished);

    tell_conductor(campaign, host); /* of an earlier phase, if any */
    finish->waits = true;
    finish->phase = finished->work.phase;
    finish->finish = (struct conduct_finish){
        .outcome = (enum conduct_outcome)finished->outcome,
        .intervals = finished->intervals,
        .stuck = finished->stuck_total,
    };
    if (finished->stuck_count > 0)
        (void)snprintf(finish->finish.stuck_on, sizeof(finish->finish.stuck_on),
                       "%s", finished->stuck[0].sd);
    (void)snprintf(finish->reason, sizeof(finish->reason), "%s",
                   finished->reason);
    finish->finish.reason = finish->reason;
    if (err == 0)
        err = keep(campaign, finish->phase, MEMORY_FINISHED, host,
                   memory_finish_text(&finish->finish));
    if (err == 0)
        return;         /* campaign_remembered() follows */
    if (err != -ENOENT) /* the phase is not open there: nothing to add */
        campaign_note_store(campaign, err, "the end of a host's phase");
    tell_conductor(campaign, host);
}

void campaign_finished(struct campaign *campaign, uint32_t host,
                       const struct wire_finished *finished)
{
    uint64_t rows = finished->intervals == 0 ? 0 : finished->intervals + 1;

    if (campaign->state != CAMPAIGN_RUNNING)
        return;
    if (campaign_is_before(campaign, &finished->work))
        conductor_left(campaign->conductor, fleet_now_ns(campaign->fleet), host,
                       finished->work.phase, rows);
    else
        store_finished(campaign, host, finished);
    campaign_step(campaign);
}

/* ---- From results -------------------------------------------------------- */

void campaign_remembered(struct campaign *campaign,
                         const struct results_memory *memory, bool stored)
{
    if (campaign->state == CAMPAIGN_STORING && stored &&
        strcmp(memory->name, MEMORY_ORIGIN) == 0)
        submit_stored(campaign);
    if (campaign->state != CAMPAIGN_RUNNING ||
        strcmp(memory->name, MEMORY_FINISHED) != 0)
        return;
    tell_conductor(campaign, memory->item);
    campaign_step(campaign);
}

/* What is stored, as if it came in one sample. */
static void count_sum(struct campaign *campaign, uint32_t phase,
                      const struct results_sum *sum)
{
    struct tally_mark mark = {.phase = phase};
    struct sample_cell cells[SAMPLE_OPS];
    struct sample sample = {
        .kind = sum->kind, .cells = cells, .cell_count = SAMPLE_OPS};

    for (uint32_t op = 0; op < SAMPLE_OPS; op++)
        cells[op] = (struct sample_cell){
            .cell = sum->cell,
            .op = (enum sample_op)op,
            .ios = sum->op[op].ios,
            .bytes = sum->op[op].bytes,
            .errors = sum->op[op].errors,
        };
    tally_add(&campaign->tally, &mark, campaign->plan, phase, &sample);
}

void campaign_resumed(struct campaign *campaign, uint32_t phase,
                      const struct results_past *past)
{
    if (campaign->state != CAMPAIGN_RUNNING || campaign->tally.phase != phase)
        return;
    for (uint32_t i = 0; i < past->sum_count; i++)
        count_sum(campaign, phase, &past->sums[i]);
    for (uint32_t i = 0; i < campaign->host_count; i++)
        tally_skip(&campaign->hosts[i].counted, phase, past->next[i]);
    campaign_check_limits(campaign);
}
