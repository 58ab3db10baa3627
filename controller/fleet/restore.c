/*
 * Campaigns that an earlier start of this controller left unfinished: read
 * again from the store, planned again on the same hosts, and gone on with where
 * they were.  What cannot be gone on with ends as failed and says why.
 */
#include "common/arena.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/uuid.h"
#include "controller/conduct/queue.h"
#include "controller/fleet/memory.h"
#include "controller/fleet/state.h"
#include "controller/language/language.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where it is not stored how long hosts may act without us: their usual lease
 * and as much again. */
#define QUIET_NS (60 * NS_PER_S)

static const char *memory_of(const struct results_unfinished *unfinished,
                             uint32_t phase, const char *name)
{
    for (uint32_t i = 0; i < unfinished->memory_count; i++)
        if (unfinished->memories[i].phase == phase &&
            strcmp(unfinished->memories[i].name, name) == 0)
            return unfinished->memories[i].text;
    return NULL;
}

/* ---- The plan, once more ------------------------------------------------- */

static int expand(struct campaign *campaign, const struct memory_origin *origin)
{
    const struct plan_fleet view = {
        .agents = origin->agents,
        .agent_count = origin->agent_count,
    };
    struct host **hosts = calloc(origin->agent_count + 1u, sizeof(*hosts));
    int err = hosts == NULL ? -ENOMEM : 0;

    for (uint32_t i = 0; i < origin->agent_count && err == 0; i++) {
        hosts[i] =
            registry_expect(campaign->fleet->registry, origin->agents[i].name);
        err = hosts[i] == NULL ? -ENOMEM : 0;
    }
    if (err == 0)
        err = submit_expand(campaign, &view, hosts);
    free(hosts);
    return err;
}

static int place(struct campaign *campaign, const struct memory_origin *origin,
                 struct diag *diag)
{
    struct plan *plan = campaign->plan;
    int err = 0;

    if (plan->target_count != origin->fact_count)
        return diag_set(diag, -ESTALE,
                        "its file names %u drives now, it was %u",
                        plan->target_count, origin->fact_count);
    for (uint32_t i = 0; i < plan->target_count && err == 0; i++)
        err = plan_set_facts(plan, i, &origin->facts[i]);
    return err == 0 ? plan_place(plan, &campaign->report) : err;
}

/* The same files on the same hosts are another plan where another version of
 * this program reads them. */
static int check_plan(const struct campaign *campaign,
                      const struct results_unfinished *unfinished,
                      const struct memory_origin *origin, struct diag *diag)
{
    const struct plan *plan = campaign->plan;
    bool same = memory_fingerprint(plan) == origin->fingerprint;

    if (plan->run_count == unfinished->phase_count &&
        (same || unfinished->state == RESULTS_QUEUED))
        return 0;
    return diag_set(diag, -ESTALE,
                    "this version (" LOCKSTEP_VERSION ") reads its file "
                    "otherwise than the one that began it");
}

static int make_plan(struct campaign *campaign,
                     const struct results_unfinished *unfinished,
                     struct diag *diag)
{
    const char *text = memory_of(unfinished, PLAN_NOWHERE, MEMORY_ORIGIN);
    struct memory_origin origin;
    int err;

    if (text == NULL || unfinished->phase_count == 0)
        return diag_set(diag, -ENOENT,
                        "the controller was restarted before it had taken "
                        "this campaign: submit it again");
    err = memory_origin_read(text, campaign->arena, &origin);
    if (err == 0 && origin.file_count != unfinished->campaign.file_count)
        err = -EBADMSG;
    if (err == 0)
        err =
            submit_copy_given(campaign, &unfinished->campaign, origin.included);
    if (err == 0)
        err = submit_read_files(campaign);
    if (err == 0)
        err = expand(campaign, &origin);
    campaign->definitions = definitions_free(campaign->definitions);
    if (err == 0)
        err = place(campaign, &origin, diag);
    return err != 0 ? err : check_plan(campaign, unfinished, &origin, diag);
}

/* Why it cannot be gone on with. */
static void explain(const struct campaign *campaign, int err, struct diag *diag)
{
    char first[REASON_SIZE];

    if (diag->text[0] != '\0')
        return;
    if (language_report_failed(&campaign->report)) {
        language_report_first(&campaign->report, first, sizeof(first));
        (void)diag_set(diag, err, "%s", first);
    } else {
        (void)diag_set(diag, err, "%s",
                       err == -EBADMSG ? "what is stored of it is damaged"
                                       : strerror(-err));
    }
}

/* ---- Where it was -------------------------------------------------------- */

struct past {
    struct conduct_past conduct;
    struct memory_starts starts;
    struct conduct_finished *finished;
};

/* Of the last phase that was over. */
static int read_carry(struct campaign *campaign,
                      const struct results_unfinished *unfinished,
                      struct past *past)
{
    struct memory_carry carry;
    const char *text = NULL;
    int err;

    curve_init(&past->conduct.memory.curve);
    for (uint32_t phase = unfinished->next_phase; phase > 0 && text == NULL;
         phase--)
        text = memory_of(unfinished, phase - 1, MEMORY_CARRY);
    if (text == NULL)
        return 0;
    err = memory_carry_read(text, campaign->arena, &carry);
    if (err != 0)
        return err;
    if (campaign->drive_maximum != NULL) {
        if (carry.drive_count != campaign->plan->target_count)
            return -EBADMSG;
        memcpy(campaign->drive_maximum, carry.drives,
               carry.drive_count * sizeof(*carry.drives));
    }
    past->conduct.memory = carry.conduct;
    campaign->shares_known = carry.shares_known;
    memcpy(campaign->shares, carry.shares, sizeof(carry.shares));
    return 0;
}

static int read_ending(struct campaign *campaign,
                       const struct results_unfinished *unfinished,
                       struct past *past)
{
    const char *text =
        memory_of(unfinished, unfinished->next_phase, MEMORY_ENDING);
    struct memory_ending ending;
    int err;

    if (text == NULL || !unfinished->phase_runs)
        return 0;
    err = memory_ending_read(text, campaign->arena, &ending);
    if (err != 0)
        return err;
    past->conduct.ending = ending.ending;
    past->conduct.ending_verdict = ending.verdict;
    past->conduct.stop_after = ending.stop_after;
    past->conduct.reason = ending.reason;
    return 0;
}

/* The instant of the start on the clock as it is now.  Where the machine was
 * started anew, the wall clock stands in: it moves no edge, only what we wait
 * for. */
static uint64_t start_now_ns(const struct fleet *fleet,
                             const struct results_unfinished *unfinished)
{
    uint64_t now_ns = fleet_now_ns(fleet);
    int64_t ago =
        fleet->clock->wall_ns(fleet->clock) - unfinished->started_wall_ns;

    if (ago < 0)
        return now_ns;
    return (uint64_t)ago < now_ns ? now_ns - (uint64_t)ago : 1;
}

static int read_starts(struct campaign *campaign,
                       const struct results_unfinished *unfinished,
                       struct past *past)
{
    const char *text =
        memory_of(unfinished, unfinished->next_phase, MEMORY_STARTS);
    struct conduct_past *to = &past->conduct;
    int err;

    if (!unfinished->phase_runs || unfinished->start_ns == 0)
        return 0;
    if (text == NULL)
        return -EBADMSG;
    err = memory_starts_read(text, campaign->arena, &past->starts);
    for (uint32_t i = 0; err == 0 && i < past->starts.host_count; i++)
        if (past->starts.hosts[i].host >= campaign->host_count)
            err = -EBADMSG;
    if (err != 0)
        return err;
    to->clock_is_new = !uuid_equal(&past->starts.boot, &campaign->fleet->boot);
    to->start_ns = to->clock_is_new ? start_now_ns(campaign->fleet, unfinished)
                                    : unfinished->start_ns;
    to->iops = unfinished->asked.iorate;
    to->starts = past->starts.hosts;
    to->start_count = past->starts.host_count;
    campaign->try_epoch = past->starts.epoch;
    return 0;
}

static int read_finished(struct campaign *campaign,
                         const struct results_unfinished *unfinished,
                         struct past *past)
{
    struct conduct_past *to = &past->conduct;
    int err = 0;

    past->finished = ARENA_ARRAY(campaign->arena, unfinished->memory_count,
                                 struct conduct_finished);
    if (past->finished == NULL)
        return -ENOMEM;
    to->finished = past->finished;
    for (uint32_t i = 0; i < unfinished->memory_count && err == 0; i++) {
        const struct results_memory *memory = &unfinished->memories[i];
        struct conduct_finished *one = &past->finished[to->finished_count];

        if (to->start_ns == 0 || memory->phase != unfinished->next_phase ||
            strcmp(memory->name, MEMORY_FINISHED) != 0 ||
            memory->item >= campaign->host_count)
            continue;
        one->host = memory->item;
        err = memory_finish_read(memory->text, campaign->arena, &one->finish);
        to->finished_count++;
    }
    return err;
}

static int read_past(struct campaign *campaign,
                     const struct results_unfinished *unfinished,
                     struct past *past)
{
    const char *quiet = memory_of(unfinished, PLAN_NOWHERE, MEMORY_QUIET);
    int err;

    *past = (struct past){
        .conduct =
            {
                .phase = unfinished->next_phase,
                .begun = unfinished->next_phase > 0 || unfinished->phase_runs,
                .quiet_ns =
                    quiet == NULL ? QUIET_NS : strtoull(quiet, NULL, 10),
                .reason = "",
            },
    };
    campaign->quiet_ns = quiet == NULL ? 0 : past->conduct.quiet_ns;
    err = read_carry(campaign, unfinished, past);
    if (err == 0)
        err = read_ending(campaign, unfinished, past);
    if (err == 0)
        err = read_starts(campaign, unfinished, past);
    return err == 0 ? read_finished(campaign, unfinished, past) : err;
}

/* ---- Going on ------------------------------------------------------------ */

static int resume_phase(struct campaign *campaign,
                        const struct results_unfinished *unfinished,
                        const struct past *past, struct diag *diag)
{
    int err = 0;

    for (uint32_t i = 0; i < past->starts.host_count && err == 0; i++)
        err = campaign_slice(campaign, unfinished->next_phase,
                             past->starts.hosts[i].host);
    return err != 0
               ? err
               : results_phase_resume(campaign->fleet->results, &campaign->id,
                                      unfinished->next_phase,
                                      &unfinished->asked,
                                      past->conduct.start_ns, diag);
}

/* The conductor is there, and nothing else happens before this is done. */
static void go_on(struct campaign *campaign,
                  const struct results_unfinished *unfinished,
                  const struct past *past)
{
    const char *stopped = memory_of(unfinished, PLAN_NOWHERE, MEMORY_STOPPED);
    uint64_t now_ns = fleet_now_ns(campaign->fleet);

    campaign_enter(campaign, CAMPAIGN_RUNNING);
    campaign_note_user(campaign);
    conductor_resume(campaign->conductor, now_ns, &past->conduct);
    if (stopped != NULL)
        conductor_stop(campaign->conductor, now_ns, stopped);
    campaign_step(campaign);
}

static int enter_store(struct campaign *campaign,
                       const struct results_unfinished *unfinished,
                       const struct past *past, struct diag *diag)
{
    struct results *results = campaign->fleet->results;
    int err = results_take_over(results, &campaign->id);

    if (err == 0)
        err = results_campaign_plan(results, &campaign->id, campaign->plan,
                                    NULL, NULL, diag);
    if (err == 0 && past->conduct.start_ns != 0)
        err = resume_phase(campaign, unfinished, past, diag);
    return err;
}

static int take_up(struct campaign *campaign,
                   const struct results_unfinished *unfinished,
                   struct diag *diag)
{
    struct conduct_options options;
    struct past past = {0};
    int err = make_plan(campaign, unfinished, diag);

    if (err == 0 && unfinished->state == RESULTS_RUNNING) {
        err = campaign_keep_room(campaign);
        if (err == 0)
            err = read_past(campaign, unfinished, &past);
        campaign->conductor =
            conductor_new(campaign->plan, campaign_options(campaign, &options),
                          fleet_now_ns(campaign->fleet));
        if (campaign->conductor == NULL)
            err = -ENOMEM;
    }
    if (err == 0)
        err = submit_enqueue(campaign, diag);
    if (err == 0)
        err = enter_store(campaign, unfinished, &past, diag);
    if (err != 0)
        return err;
    if (unfinished->state == RESULTS_RUNNING) {
        queue_resume(campaign->fleet->queue, &campaign->id);
        go_on(campaign, unfinished, &past);
    }
    return 0;
}

static void say_taken(const struct campaign *campaign,
                      const struct results_unfinished *unfinished)
{
    log_notice(NULL, "campaign %llu '%s' goes on: %s, phase %u of %u",
               (unsigned long long)campaign->number, campaign->given.name,
               unfinished->state == RESULTS_QUEUED ? "it waits"
               : unfinished->start_ns != 0         ? "it runs"
               : unfinished->phase_runs            ? "it begins anew"
                                                   : "between phases",
               unfinished->next_phase + 1, unfinished->phase_count);
}

/* The store has taken it over: there it ends as every campaign. */
static void give_up(struct fleet *fleet,
                    const struct results_unfinished *unfinished,
                    const char *why)
{
    const struct uuid *id = &unfinished->campaign.id;
    char reason[REASON_SIZE];
    int err;

    (void)snprintf(reason, sizeof(reason),
                   "controller was restarted, and cannot go on: %.900s", why);
    log_error(NULL, "campaign %llu '%s': %s",
              (unsigned long long)unfinished->number, unfinished->campaign.name,
              reason);
    err = results_abandon(fleet->results, id, reason);
    if (err == -ENOENT)
        err = results_campaign_end(fleet->results, id, VERDICT_FAILED, reason);
    if (err != 0)
        log_error(NULL, "campaign %llu: cannot store its verdict: %s",
                  (unsigned long long)unfinished->number, strerror(-err));
}

static void restore(struct fleet *fleet,
                    const struct results_unfinished *unfinished)
{
    struct campaign *campaign =
        submit_new_campaign(fleet, &unfinished->campaign.id);
    struct diag diag = {0};
    int err = campaign == NULL ? -ENOMEM : 0;

    if (campaign != NULL) {
        campaign->number = unfinished->number;
        campaign->state = CAMPAIGN_WAITING;
        err = take_up(campaign, unfinished, &diag);
    }
    if (fleet->newest_campaign < unfinished->number)
        fleet->newest_campaign = unfinished->number;
    if (err == 0) {
        say_taken(campaign, unfinished);
        return;
    }
    if (campaign == NULL) {
        give_up(fleet, unfinished, "out of memory");
        return;
    }
    explain(campaign, err, &diag);
    give_up(fleet, unfinished, diag.text);
    queue_remove(fleet->queue, &campaign->id);
    campaign_enter(campaign, CAMPAIGN_OVER);
}

void restore_campaigns(struct fleet *fleet)
{
    const struct results_unfinished *list;
    uint32_t count;

    list = results_unfinished(fleet->results, &count);
    /* `lockstep run` has a store of its own, and its load ended with it. */
    for (uint32_t i = 0; i < count && !fleet->is_private; i++)
        restore(fleet, &list[i]);
    results_abandon_unfinished(fleet->results);
    results_wait(fleet->results);
    fleet_advance_queue(fleet);
}
