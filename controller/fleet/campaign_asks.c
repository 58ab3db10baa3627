/*
 * campaign_asks.c - what a campaign's own parameters change in how it is
 * conducted: require=, host_wait=, the shares of workloads, the maxima of
 * drives, iorate=find.
 */
#include "common/arena.h"
#include "common/histogram.h"
#include "controller/fleet/shared.h"
#include "controller/fleet/state.h"

#include <errno.h>
#include <stdio.h>

static bool is_point(const struct plan_run *run)
{
    return run->rate.kind == PLAN_RATE_PERCENT ||
           run->rate.kind == PLAN_RATE_DRIVES;
}

/* Points of a curve keep the shares that workloads without skew= had at its
 * maximum. */
const double *campaign_shares(const struct campaign *campaign, uint32_t phase)
{
    const struct plan_run *run = &campaign->plan->runs[phase];

    return campaign->shares_known && is_point(run) && !run->skew_given &&
                   run->workload_count > 1
               ? campaign->shares
               : NULL;
}

void campaign_keep_shares(struct campaign *campaign, uint32_t phase)
{
    const struct plan_run *run = &campaign->plan->runs[phase];

    if (run->rate.kind == PLAN_RATE_CURVE && campaign->tally.phase == phase)
        campaign->shares_known =
            tally_shares(&campaign->tally, run, campaign->shares);
}

/* ---- abort_failed_skew= ------------------------------------------------- */

/* What each workload was asked to have of all requests, in per cent; false
 * where nothing was asked, as at full speed without skew=. */
static bool asked_shares(const struct campaign *campaign,
                         const struct plan_run *run, uint32_t phase,
                         double *ret_shares)
{
    const double *kept = campaign_shares(campaign, phase);
    double iops = conductor_phase(campaign->conductor)->iops;
    double sum = 0;

    if (run->rate.kind == PLAN_RATE_MAX || run->rate.kind == PLAN_RATE_CURVE)
        iops = run->skew_given ? 100 : 0;
    for (uint32_t i = 0; i < run->workload_count; i++) {
        const struct plan_workload *workload = &run->workloads[i];
        double skew = kept != NULL ? kept[i] : workload->skew;

        ret_shares[i] = workload->rate > 0 ? workload->rate : iops * skew / 100;
        sum += ret_shares[i];
    }
    for (uint32_t i = 0; i < run->workload_count; i++)
        ret_shares[i] = sum > 0 ? 100 * ret_shares[i] / sum : 0;
    return iops > 0 && sum > 0;
}

bool campaign_skew_is_off(const struct campaign *campaign, uint32_t phase,
                          char *reason, size_t size)
{
    const struct plan *plan = campaign->plan;
    const struct plan_run *run = &plan->runs[phase];
    double asked[TALLY_WORKLOADS_MAX];

    reason[0] = '\0';
    return plan->skew_limit > 0 && run->kind == PLAN_RUN_MEASURE &&
           run->workload_count > 1 && campaign->tally.phase == phase &&
           asked_shares(campaign, run, phase, asked) &&
           tally_skew_is_off(&campaign->tally, run, asked, plan->skew_limit,
                             reason, size);
}

/* ---- curve_scope=drive ------------------------------------------------- */

int campaign_keep_room(struct campaign *campaign)
{
    const struct plan *plan = campaign->plan;
    uint32_t cells = 0;

    for (uint32_t i = 0; i < plan->run_count; i++)
        if (plan->runs[i].rate.kind == PLAN_RATE_DRIVES &&
            plan->runs[i].cell_count > cells)
            cells = plan->runs[i].cell_count;
    if (cells == 0 || campaign->drive_maximum != NULL)
        return 0;
    campaign->rates_phase = UINT32_MAX;
    campaign->cell_rates = ARENA_ARRAY(campaign->arena, cells, double);
    campaign->drive_weights =
        ARENA_ARRAY(campaign->arena, plan->target_count, double);
    campaign->tally.drive_count = plan->target_count;
    campaign->tally.drive_ios =
        ARENA_ARRAY(campaign->arena, plan->target_count, uint64_t);
    campaign->drive_maximum =
        ARENA_ARRAY(campaign->arena, plan->target_count, double);
    return campaign->cell_rates != NULL && campaign->drive_weights != NULL &&
                   campaign->tally.drive_ios != NULL &&
                   campaign->drive_maximum != NULL
               ? 0
               : -ENOMEM;
}

void campaign_keep_drives(struct campaign *campaign, uint32_t phase,
                          double iops)
{
    const struct tally *tally = &campaign->tally;
    uint64_t all = 0;

    if (campaign->drive_maximum == NULL || tally->phase != phase ||
        campaign->plan->runs[phase].rate.kind != PLAN_RATE_CURVE)
        return;
    for (uint32_t i = 0; i < tally->drive_count; i++)
        all += tally->drive_ios[i];
    for (uint32_t i = 0; i < tally->drive_count && all > 0; i++)
        campaign->drive_maximum[i] =
            iops * (double)tally->drive_ios[i] / (double)all;
}

const double *campaign_cell_rates(struct campaign *campaign, uint32_t phase,
                                  double iops)
{
    const struct plan_run *run = &campaign->plan->runs[phase];

    if (campaign->drive_maximum == NULL || run->rate.kind != PLAN_RATE_DRIVES)
        return NULL;
    if (campaign->rates_phase != phase)
        plan_drive_rates(run, iops, campaign->drive_maximum,
                         campaign_shares(campaign, phase),
                         campaign->drive_weights, campaign->cell_rates);
    campaign->rates_phase = phase;
    return campaign->cell_rates;
}

/* The controller's, but for what the campaign asks itself. */
const struct conduct_options *campaign_options(const struct campaign *campaign,
                                               struct conduct_options *options)
{
    static const enum conduct_require_kind kinds[] = {
        [PLAN_REQUIRE_ALL] = CONDUCT_REQUIRE_ALL,
        [PLAN_REQUIRE_COUNT] = CONDUCT_REQUIRE_COUNT,
        [PLAN_REQUIRE_PERCENT] = CONDUCT_REQUIRE_PERCENT,
    };
    const struct plan *plan = campaign->plan;

    *options = campaign->fleet->conduct;
    if (plan->require != PLAN_REQUIRE_ALL) {
        options->require = kinds[plan->require];
        options->require_value = plan->require_value;
    }
    if (plan->host_wait_given)
        options->host_wait_ns = plan->host_wait_ns;
    if (plan->drain_wait_ns > 0)
        options->drain_ns = plan->drain_wait_ns;
    return options;
}

double campaign_response_ns(const struct campaign *campaign, uint32_t phase,
                            const struct results_total *total)
{
    const struct plan_run *run = &campaign->plan->runs[phase];

    if (total->response == NULL || run->rate.kind != PLAN_RATE_FIND)
        return 0;
    return (double)histogram_quantile_raw(total->response, run->find_quantile);
}

/* A written target of the host (any: UINT32_MAX) that another host uses. */
static const struct plan_target *used_elsewhere(struct campaign *campaign,
                                                const struct plan_run *run,
                                                uint32_t host, char *reason)
{
    struct fleet *fleet = campaign->fleet;
    const struct plan *plan = campaign->plan;

    for (uint32_t i = 0; i < run->target_count; i++) {
        const struct plan_target *target =
            &plan->targets[run->targets[i].target];

        if ((host == UINT32_MAX || target->host == host) &&
            run->targets[i].write &&
            shared_in_use(&fleet->shared, fleet->registry,
                          campaign->hosts[target->host].host->name,
                          &target->facts, reason))
            return target;
    }
    return NULL;
}

bool campaign_refuse_used(struct campaign *campaign, uint32_t phase,
                          uint32_t host)
{
    char reason[REASON_SIZE];
    const struct plan_target *used =
        used_elsewhere(campaign, &campaign->plan->runs[phase], host, reason);

    if (used != NULL)
        conductor_refused(campaign->conductor, fleet_now_ns(campaign->fleet),
                          host, phase, used->sd, reason);
    return used != NULL;
}

void campaign_stop_used(struct campaign *campaign)
{
    const struct plan_run *run;
    char reason[REASON_SIZE];
    char who[REASON_SIZE + 32];

    if (campaign->state != CAMPAIGN_RUNNING || campaign->conductor == NULL)
        return;
    run = &campaign->plan->runs[conductor_phase(campaign->conductor)->number];
    if (used_elsewhere(campaign, run, UINT32_MAX, reason) == NULL)
        return;
    (void)snprintf(who, sizeof(who), "the interlock: %s", reason);
    campaign_stop(campaign, who);
}
