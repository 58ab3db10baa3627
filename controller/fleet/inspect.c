/*
 * What the agents tell about the targets of a campaign, before it is placed.
 */
#include "common/log.h"
#include "common/units.h"
#include "controller/fleet/agent_session.h"
#include "controller/fleet/consent.h"
#include "controller/fleet/documents.h"
#include "controller/fleet/shared.h"
#include "controller/fleet/state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What every agent would refuse is said here, with its place. */
static void check_path(struct campaign *campaign,
                       const struct plan_target *target)
{
    if (target->path[0] != '/')
        language_report_add(&campaign->report, LANGUAGE_ERROR, &target->place,
                            NULL,
                            "lun=%s: for a fleet a path begins with '/': hosts "
                            "have no directory in common",
                            target->path);
    else if (strlen(target->path) >= PATH_SIZE)
        language_report_add(&campaign->report, LANGUAGE_ERROR, &target->place,
                            NULL, "a path has %d bytes at most", PATH_SIZE - 1);
}

void submit_check_targets(struct campaign *campaign)
{
    const struct plan *plan = campaign->plan;

    for (uint32_t i = 0; i < plan->target_count; i++)
        check_path(campaign, &plan->targets[i]);

    for (uint32_t i = 0; i < plan->host_count; i++)
        if (campaign->hosts[i].target_count > WIRE_TARGETS_MAX)
            language_report_add(
                &campaign->report, LANGUAGE_ERROR, &plan->hosts[i].place, NULL,
                "host '%s' has %u targets, at most %u are possible",
                plan->hosts[i].label, campaign->hosts[i].target_count,
                WIRE_TARGETS_MAX);
}

static void inspect_host(struct campaign *campaign, struct campaign_host *host)
{
    struct wire_inspect_target targets[WIRE_TARGETS_MAX];
    struct wire_out out = {.kind = WIRE_OUT_INSPECT};

    for (uint32_t i = 0; i < host->target_count; i++) {
        const struct plan_target *target =
            &campaign->plan->targets[host->targets[i]];

        targets[i] = (struct wire_inspect_target){
            .path = target->path,
            .write = target->written,
            .create = target->size_given,
            .open_flags = target->open_flags,
            .size_bytes = target->size_given ? target->size_bytes : 0,
            .overwrite = target->overwrite,
        };
    }
    out.inspect = (struct wire_inspect){
        .campaign = campaign->id,
        .targets = targets,
        .target_count = host->target_count,
    };
    host->inspected = host->target_count == 0;
    if (host->target_count > 0)
        (void)link_say(host->host->session->link, &out);
}

static bool all_inspected(const struct campaign *campaign)
{
    for (uint32_t i = 0; i < campaign->host_count; i++)
        if (!campaign->hosts[i].inspected)
            return false;
    return true;
}

/* One drive seen from several hosts is in use on all if it is on one. */
static void check_uses(struct campaign *campaign)
{
    struct fleet *fleet = campaign->fleet;
    const struct plan *plan = campaign->plan;
    char reason[REASON_SIZE];

    for (uint32_t i = 0; i < plan->target_count; i++) {
        const struct plan_target *target = &plan->targets[i];
        const struct host *host = campaign->hosts[target->host].host;

        if (target->written &&
            shared_in_use(&fleet->shared, fleet->registry, host->name,
                          &target->facts, reason))
            language_report_add(&campaign->report, LANGUAGE_ERROR,
                                &target->place, NULL,
                                "sd=%s on host %s: %s: %s", target->sd,
                                host->name, target->path, reason);
    }
}

/* A check asks nothing; it says of which drives a submission will. */
static void tell_lost(struct campaign *campaign)
{
    const struct plan *plan = campaign->plan;

    for (uint32_t i = 0; i < plan->target_count; i++) {
        const struct plan_target *target = &plan->targets[i];

        if (target->facts.content[0] != '\0')
            language_report_add(
                &campaign->report, LANGUAGE_NOTE, &target->place,
                "run and submit ask before, or want --yes HASH",
                "sd=%s on host %s: %s: what is on it will be destroyed: %s",
                target->sd, campaign->hosts[target->host].host->name,
                target->path, target->facts.content);
    }
}

/* What will be destroyed is what the operator has seen, or nothing begins. */
static void submit_ask(struct campaign *campaign)
{
    struct consent consent;
    char why[128];

    if (consent_of(campaign, &consent) != 0) {
        submit_refuse(campaign, "the controller is out of memory");
    } else if (consent.count == 0 || strcmp(consent.hash, campaign->yes) == 0) {
        if (consent.count > 0)
            log_notice(NULL,
                       "'%s': %s agreed to lose what is on %u drives (%s)",
                       campaign->given.name, campaign->given.who, consent.count,
                       consent.hash);
        submit_accept(campaign);
    } else {
        log_notice(NULL,
                   "submit of '%s' by %s refused: it would destroy what is on "
                   "%u drives, and was not told --yes %s",
                   campaign->given.name, campaign->given.who, consent.count,
                   consent.hash);
        (void)snprintf(why, sizeof(why),
                       "it would destroy what is on %u drives, --yes %s",
                       consent.count, consent.hash);
        submit_audit(campaign, true, why);
        submit_answer(campaign, STATUS_USAGE,
                      document_consent(campaign, &consent));
        campaign_enter(campaign, CAMPAIGN_OVER);
    }
    consent_done(&consent);
}

static void finish(struct campaign *campaign)
{
    int err = plan_place(campaign->plan, &campaign->report);

    if (err == 0)
        check_uses(campaign);
    if (err == -ENOMEM) {
        submit_refuse(campaign, "the controller is out of memory");
    } else if (err != 0 || language_report_failed(&campaign->report)) {
        submit_refuse_report(campaign, STATUS_FAILED);
    } else if (campaign->show != WIRE_PLAN_NONE) {
        tell_lost(campaign);
        submit_show(campaign);
    } else {
        submit_ask(campaign);
    }
}

void submit_inspect(struct campaign *campaign)
{
    char text[128], drives[UNITS_SIZE], hosts[UNITS_SIZE];

    (void)snprintf(
        text, sizeof(text), "inspecting %s on %s",
        units_print_count(drives, campaign->plan->target_count, "drive"),
        units_print_count(hosts, campaign->host_count, "host"));
    submit_progress(campaign, text);
    for (uint32_t i = 0; i < campaign->host_count; i++)
        inspect_host(campaign, &campaign->hosts[i]);
    if (all_inspected(campaign))
        finish(campaign);
}

/* Of what is not written, nothing is destroyed. */
static const char *lost_content(const struct plan_target *target,
                                const struct wire_target_facts *from)
{
    return target->written && target->overwrite ? from->content : "";
}

static struct plan_facts facts_of(const struct plan_target *target,
                                  const struct wire_target_facts *from)
{
    bool other = from->kind == WIRE_TARGET_OTHER && from->refusal[0] == '\0';

    return (struct plan_facts){
        .known = true,
        .is_block = from->kind == WIRE_TARGET_BLOCK,
        .is_character = from->kind == WIRE_TARGET_CHARACTER,
        .missing = from->kind == WIRE_TARGET_MISSING,
        /* A file of others that may be overwritten is treated as ours. */
        .ours = from->ours || lost_content(target, from)[0] != '\0',
        .content = lost_content(target, from),
        .refusal = other ? "it is neither a drive nor a file" : from->refusal,
        .free_bytes = from->free_bytes,
        .device_number = from->device_number,
        .inode = from->inode,
        .size_bytes = from->size_bytes,
        .logical_block = from->logical_block,
        .device = from->device,
        .serial = from->serial,
        .wwn = from->wwn,
        .model = from->model,
        .disk_sequence = from->disk_sequence,
    };
}

static int take_facts(struct campaign *campaign,
                      const struct campaign_host *host,
                      const struct wire_inspected *inspected)
{
    for (uint32_t i = 0; i < host->target_count; i++) {
        const struct plan_target *target =
            &campaign->plan->targets[host->targets[i]];
        struct plan_facts facts = facts_of(target, &inspected->targets[i]);
        int err = plan_set_facts(campaign->plan, host->targets[i], &facts);

        if (err != 0)
            return err;
    }
    return 0;
}

void submit_inspected(struct campaign *campaign, uint32_t index,
                      const struct wire_inspected *inspected)
{
    struct campaign_host *host;
    char text[256];

    if (campaign->plan == NULL || campaign->hosts[index].inspected)
        return;
    host = &campaign->hosts[index];
    if (inspected->target_count != host->target_count) {
        (void)snprintf(text, sizeof(text),
                       "agent '%s' told about %u drives, it was asked about "
                       "%u; update it",
                       host->host->name, inspected->target_count,
                       host->target_count);
        submit_refuse(campaign, text);
        return;
    }
    if (take_facts(campaign, host, inspected) != 0) {
        submit_refuse(campaign, "the controller is out of memory");
        return;
    }
    host->inspected = true;
    if (all_inspected(campaign))
        finish(campaign);
}
