/*
 * campaign_asks.c - what a campaign's own parameters change in how it is
 * conducted: require=, host_wait=, the shares of workloads, iorate=find.
 */
#include "common/histogram.h"
#include "controller/fleet/state.h"

/* Points of a curve keep the shares that workloads without skew= had at its
 * maximum. */
const double *campaign_shares(const struct campaign *campaign, uint32_t phase)
{
    const struct plan_run *run = &campaign->plan->runs[phase];

    return campaign->shares_known && run->rate.kind == PLAN_RATE_PERCENT &&
                   !run->skew_given && run->workload_count > 1
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
    if (plan->host_wait_ns > 0)
        options->host_wait_ns = plan->host_wait_ns;
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
