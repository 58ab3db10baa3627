/*
 * Which phase comes next, what it is made of, and how a campaign ends.
 */
#include "controller/conduct/conductor.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

static bool run_has_host(const struct plan *plan, const struct plan_run *run,
                         uint32_t host)
{
    for (uint32_t i = 0; i < run->cell_count; i++) {
        const struct plan_cell *cell = &run->cells[i];

        if (!cell->idle &&
            plan->targets[run->targets[cell->target].target].host == host)
            return true;
    }
    return false;
}

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

/* The longest that filling may take: that of the host with the most. */
static uint64_t fill_limit_ns(const struct conductor *c,
                              const struct plan_run *run)
{
    uint64_t most = 0;

    for (uint32_t host = 0; host < c->plan->host_count; host++) {
        uint64_t bytes = 0;

        for (uint32_t i = 0; i < run->cell_count; i++) {
            const struct plan_cell *cell = &run->cells[i];
            uint32_t target = run->targets[cell->target].target;

            if (c->plan->targets[target].host == host)
                bytes += cell->high - cell->low;
        }
        if (bytes > most)
            most = bytes;
    }
    return 60 * NS_PER_S + (most / c->options.fill_bytes_per_s + 1) * NS_PER_S;
}

uint64_t planning_limit_ns(const struct conductor *c,
                           const struct plan_run *run)
{
    if (run->kind == PLAN_RUN_FILL)
        return fill_limit_ns(c, run);
    return (divide_up(run->warmup_ns, run->interval_ns) +
            divide_up(run->elapsed_ns, run->interval_ns)) *
               run->interval_ns +
           c->options.grace_ns;
}

static void settle_intervals(struct conductor *c, const struct plan_run *run)
{
    struct conduct_phase *phase = &c->phase;

    phase->interval_ns = run->interval_ns;
    phase->drain_limit_ns = c->options.drain_ns;
    phase->time_limit_ns = planning_limit_ns(c, run);
    if (run->kind == PLAN_RUN_FILL)
        return;
    phase->warmup_intervals = divide_up(run->warmup_ns, run->interval_ns);
    phase->measured_intervals = divide_up(run->elapsed_ns, run->interval_ns);
}

/* A new phase for a host; of the one before, this much is remembered. */
static void turn_part(struct part *part, uint32_t previous, bool takes_part)
{
    part->late = (struct part_late){
        .phase = previous,
        .stored = part->stored,
        .due_ns = CONDUCT_NEVER,
    };
    part->state = takes_part ? PART_IDLE : PART_OUT;
    part->probes = 0;
    part->agent_start_ns = 0;
    part->start = (struct offset_estimate){0};
    part->finish = (struct conduct_finish){0};
    part->stored = 0;
    part->opened_first_ns = 0;
    part->opened_last_ns = 0;
    part->opened_uncertainty_ns = 0;
    part->reason[0] = '\0';
}

static void plan_phase(struct conductor *c, uint32_t number, double iops)
{
    const struct plan_run *run = &c->plan->runs[number];
    uint32_t previous =
        c->state == CAMPAIGN_OPENING ? PLAN_NOWHERE : c->phase.number;
    struct part *part;

    c->changes++;
    c->phase = (struct conduct_phase){
        .number = number,
        .state = CONDUCT_PLANNED,
        .since_ns = c->now_ns,
        .iops = iops,
    };
    c->planned_ns = c->now_ns + run->pause_ns;
    c->ending = CONDUCT_ENDING_NONE;
    c->ending_verdict = CONDUCT_COMPLETE;
    c->why[0] = '\0';
    c->stop_after = 0;
    c->tally = TALLY_WAITING;
    c->total = (struct conduct_total){0};
    settle_intervals(c, run);
    FOR_EACH_PART(c, host, part)
    {
        bool takes_part = run_has_host(c->plan, run, host);

        turn_part(part, previous, takes_part);
        c->phase.host_count += takes_part;
    }
}

void course_note_campaign(struct conductor *c, enum conduct_verdict verdict,
                          const char *reason)
{
    if (verdict <= c->verdict)
        return;
    c->verdict = verdict;
    (void)snprintf(c->reason, sizeof(c->reason), "%s", reason);
}

void course_note_verdict(struct conductor *c, enum conduct_verdict verdict,
                         const char *reason)
{
    if (verdict <= c->verdict)
        return;
    c->verdict = verdict;
    (void)snprintf(c->reason, sizeof(c->reason), "phase %u of %u (%s): %.*s",
                   c->phase.number + 1, c->plan->run_count,
                   c->plan->runs[c->phase.number].name, REASON_SIZE - 320,
                   reason);
}

/* The campaign's own commands, once, if it had begun. */
static bool close_first(struct conductor *c)
{
    if (c->state == CAMPAIGN_NEW || c->state == CAMPAIGN_CLOSING ||
        c->plan->end.count == 0)
        return false;
    c->state = CAMPAIGN_CLOSING;
    errands_begin(c, CONDUCT_AFTER_ALL, &c->plan->end);
    return true;
}

void course_end_campaign(struct conductor *c)
{
    struct conduct_effect *effect;
    struct part *part;

    errands_abandon(c);
    if (close_first(c))
        return;
    c->state = CAMPAIGN_ENDED;
    FOR_EACH_PART(c, host, part)
    {
        if (part_is_up(part) && part->leased_phase != PLAN_NOWHERE)
            effect_add_host(c, CONDUCT_DO_RELEASE, host);
    }
    effect = effect_add(c, CONDUCT_CAMPAIGN_ENDED);
    effect->verdict = c->verdict;
    effect->reason = effect_text(c, c->reason);
}

static void skip_phases(struct conductor *c, uint32_t number, uint32_t count,
                        const char *reason)
{
    struct conduct_effect *effect;

    if (count == 0)
        return;
    effect = effect_add(c, CONDUCT_PHASE_SKIPPED);
    effect->phase = number;
    effect->count = count;
    effect->reason = effect_text(c, reason);
}

void course_plan(struct conductor *c, uint32_t number)
{
    struct diag diag = {0};
    uint32_t first = number;
    double iops = 0;
    int err = 0;

    for (; number < c->plan->run_count; number++) {
        err = curve_rate(&c->curve, &c->plan->runs[number].rate, &iops, &diag);
        if (err != -ECANCELED)
            break;
    }
    skip_phases(c, first, number - first, diag.text);
    if (number == c->plan->run_count) {
        course_end_campaign(c);
        return;
    }
    plan_phase(c, number, iops);
    if (err < 0)
        course_break(c, CONDUCT_ENDING_FAILED, "%s", diag.text);
}

uint32_t course_required(const struct conductor *c)
{
    uint32_t all = c->phase.host_count;
    double wanted = all;

    if (c->options.require == CONDUCT_REQUIRE_COUNT)
        wanted = c->options.require_value;
    if (c->options.require == CONDUCT_REQUIRE_PERCENT)
        wanted = ceil(all * c->options.require_value / 100);
    if (wanted < 1)
        return 1;
    return wanted < all ? (uint32_t)wanted : all;
}

bool course_is_open(const struct conductor *c)
{
    if (c->phase.state == CONDUCT_COLLECTED)
        return c->now_ns < c->phase.since_ns + c->options.collect_ns;
    return c->phase.state >= CONDUCT_ARMED &&
           c->phase.state < CONDUCT_COLLECTED;
}
