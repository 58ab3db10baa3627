#include "controller/conduct/conductor.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How long samples are collected once the store has failed. */
#define NO_STORE_NS (10 * NS_PER_S)

void conduct_options_init(struct conduct_options *options)
{
    *options = (struct conduct_options){
        .start_tolerance_ns = 5 * NS_PER_MS,
        .host_wait_ns = 300 * NS_PER_S,
        .prepare_ns = 60 * NS_PER_S,
        .prepare_target_ns = 2 * NS_PER_S,
        .probe_ns = 30 * NS_PER_S,
        .probe_every_ns = 1 * NS_PER_S,
        .drain_ns = 30 * NS_PER_S,
        .grace_ns = 10 * NS_PER_S,
        .lag_ns = 5 * NS_PER_S,
        .collect_ns = 120 * NS_PER_S,
        .fill_bytes_per_s = 1u << 20,
        .require = CONDUCT_REQUIRE_ALL,
    };
}

static void part_init(struct part *part)
{
    memset(part, 0, sizeof(*part));
    part->state = PART_OUT;
    part->holds = PLAN_NOWHERE;
    part->leased_phase = PLAN_NOWHERE;
    part->late.phase = PLAN_NOWHERE;
    part->late.due_ns = CONDUCT_NEVER;
    (void)snprintf(part->link_reason, sizeof(part->link_reason),
                   "not connected");
    offset_init(&part->offset);
}

struct conductor *conductor_new(const struct plan *plan,
                                const struct conduct_options *options,
                                uint64_t now_ns)
{
    struct conductor *c = calloc(1, sizeof(*c));

    if (c == NULL)
        return NULL;
    c->plan = plan;
    c->options = *options;
    c->now_ns = now_ns;
    c->phase.state = CONDUCT_PLANNED;
    curve_init(&c->curve);
    c->parts = calloc(plan->host_count + 1u, sizeof(*c->parts));
    /* One event makes a handful for each host and a few of the phase. */
    c->effect_room = 8 * plan->host_count + 64;
    c->effects = calloc(c->effect_room, sizeof(*c->effects));
    if (c->parts == NULL || c->effects == NULL)
        return conductor_free(c);
    for (uint32_t i = 0; i < plan->host_count; i++)
        part_init(&c->parts[i]);
    return c;
}

struct conductor *conductor_free(struct conductor *c)
{
    if (c == NULL)
        return NULL;
    free(c->parts);
    free(c->effects);
    free(c);
    return NULL;
}

/* ---- Events -------------------------------------------------------------- */

/* False once the campaign has ended: then nothing matters any more. */
static bool begin_event(struct conductor *c, uint64_t now_ns)
{
    if (c->drained)
        c->text_length = 0; /* nobody reads those texts any more */
    c->drained = false;
    if (now_ns > c->now_ns)
        c->now_ns = now_ns;
    return c->state != CAMPAIGN_ENDED;
}

/* It speaks of the phase at hand. */
static bool is_current(const struct conductor *c, uint32_t phase)
{
    return phase == c->phase.number && c->phase.state > CONDUCT_COMMANDS;
}

void conductor_begin(struct conductor *c, uint64_t now_ns)
{
    if (!begin_event(c, now_ns))
        return;
    assert(c->state == CAMPAIGN_NEW);
    c->state = CAMPAIGN_OPENING;
    errands_begin(c, CONDUCT_BEFORE_ALL, &c->plan->start);
    course_step(c);
}

void conductor_tick(struct conductor *c, uint64_t now_ns)
{
    if (!begin_event(c, now_ns) || c->state == CAMPAIGN_NEW)
        return;
    for (uint32_t host = 0; host < c->plan->host_count; host++)
        part_tick(c, host);
    course_step(c);
}

uint64_t conductor_due_ns(const struct conductor *c)
{
    const struct part *part;
    uint64_t due;

    if (c->state == CAMPAIGN_NEW || c->state == CAMPAIGN_ENDED)
        return CONDUCT_NEVER;
    due = errands_due_ns(c);
    if (c->state == CAMPAIGN_GOING || c->state == CAMPAIGN_STOPPING) {
        uint64_t of_phase = course_due_ns(c);

        due = of_phase < due ? of_phase : due;
    }
    FOR_EACH_PART(c, host, part)
    {
        uint64_t mine = part_due_ns(c, part);

        if (mine < due)
            due = mine;
    }
    return due;
}

static bool same_uuid(const struct uuid *a, const struct uuid *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

void conductor_host_up(struct conductor *c, uint64_t now_ns, uint32_t host,
                       const struct conduct_hello *hello)
{
    struct part *part = &c->parts[host];

    if (!begin_event(c, now_ns))
        return;
    assert(hello->lease_ns > 0);
    if (part->hello.lease_ns != 0 &&
        !same_uuid(&part->hello.boot, &hello->boot))
        offset_init(&part->offset); /* another boot, another clock */
    if (part->hello.lease_ns != 0 &&
        !same_uuid(&part->hello.instance, &hello->instance))
        (void)snprintf(part->link_reason, sizeof(part->link_reason),
                       "its agent was started anew");
    part->hello = *hello;
    part->link = PART_LINK_UP;
    part->probe = PROBE_IDLE;
    part->probe_due_ns = c->now_ns;
    back_reconcile(c, host);
    errands_host_up(c, host);
    course_step(c);
}

void conductor_host_down(struct conductor *c, uint64_t now_ns, uint32_t host,
                         const char *reason)
{
    struct part *part = &c->parts[host];

    if (!begin_event(c, now_ns) || !part_is_up(part))
        return;
    part->link = PART_LINK_DOWN;
    part->probe = PROBE_IDLE;
    (void)snprintf(part->link_reason, sizeof(part->link_reason), "%s", reason);
    if (part_is_busy(part))
        effect_notice(c, "connection to %s lost: %s", part_label(c, host),
                      reason);
    if (part_is_busy(part) && c->options.no_return)
        part_give_up(c, host, "%s, and it cannot come back", reason);
    errands_host_down(c, host);
    course_step(c);
}

void conductor_probed(struct conductor *c, uint64_t now_ns, uint32_t host,
                      const struct offset_probe *probe)
{
    struct part *part = &c->parts[host];

    if (!begin_event(c, now_ns))
        return;

    int told = offset_take(&part->offset, probe);

    if (told == 1)
        effect_notice(c, "the clock of %s jumped", part_label(c, host));
    if (told >= 0)
        part->probes++;
    if (part->probe == PROBE_OUT) {
        part->probe = PROBE_IDLE;
        part->probe_due_ns = barrier_probe_due_ns(c, part);
    }
    course_step(c);
    if (c->state != CAMPAIGN_ENDED)
        part_tick(c, host);
}

void conductor_ready(struct conductor *c, uint64_t now_ns, uint32_t host,
                     uint32_t phase)
{
    if (!begin_event(c, now_ns) || !is_current(c, phase))
        return;
    (void)part_handle(&c->parts[host], PART_EV_READY);
    course_step(c);
}

void conductor_armed(struct conductor *c, uint64_t now_ns, uint32_t host,
                     uint32_t phase, uint64_t agent_start_ns)
{
    struct part *part = &c->parts[host];

    if (!begin_event(c, now_ns) || !is_current(c, phase))
        return;
    /* An answer to an earlier Start says nothing about the last one. */
    if (agent_start_ns == part->agent_start_ns)
        (void)part_handle(part, PART_EV_ARMED);
    course_step(c);
}

void conductor_refused(struct conductor *c, uint64_t now_ns, uint32_t host,
                       uint32_t phase, const char *target, const char *reason)
{
    struct part *part = &c->parts[host];

    if (!begin_event(c, now_ns) || !is_current(c, phase))
        return;
    if (part_handle(part, PART_EV_REFUSED)) {
        part_set_reason(part, "%s%s%s", target, target[0] != '\0' ? ": " : "",
                        reason);
        part->holds = PLAN_NOWHERE;
    } else {
        effect_notice(c, "%s: %s%s%s", part_label(c, host), target,
                      target[0] != '\0' ? ": " : "", reason);
    }
    course_step(c);
}

static void finish_current(struct conductor *c, uint32_t host,
                           const struct conduct_finish *finish)
{
    struct part *part = &c->parts[host];
    uint64_t rows = finish->intervals == 0 ? 0 : finish->intervals + 1;

    if (part->state == PART_GONE && course_is_open(c))
        (void)part_handle(part, PART_EV_BACK);
    if (part_handle(part, PART_EV_FINISHED)) {
        part_note_finish(part, finish);
        part_collect(c, host);
    } else if (part->state == PART_FINISHED || part->state == PART_COLLECTED) {
        part_collect(c, host); /* it says so again: so do we */
    } else {
        order_acknowledge(c, host, c->phase.number, rows);
        part->holds = PLAN_NOWHERE;
    }
}

void conductor_finished(struct conductor *c, uint64_t now_ns, uint32_t host,
                        uint32_t phase, const struct conduct_finish *finish)
{
    if (!begin_event(c, now_ns))
        return;
    if (is_current(c, phase))
        finish_current(c, host, finish);
    else
        back_finished(c, host, phase,
                      finish->intervals == 0 ? 0 : finish->intervals + 1);
    course_step(c);
}

void conductor_left(struct conductor *c, uint64_t now_ns, uint32_t host,
                    uint32_t phase, uint64_t rows)
{
    if (!begin_event(c, now_ns))
        return;
    back_left(c, host, phase, rows);
    course_step(c);
}

void conductor_opened(struct conductor *c, uint32_t host, uint32_t phase,
                      uint64_t agent_first_ns, uint64_t agent_last_ns)
{
    struct part *part = &c->parts[host];
    struct offset_estimate first, last;
    uint64_t first_ns, last_ns;

    if (!is_current(c, phase) || part->opened_first_ns != 0)
        return;
    if (!offset_to_controller(&part->offset, agent_first_ns, &first_ns,
                              &first) ||
        !offset_to_controller(&part->offset, agent_last_ns, &last_ns, &last))
        return;
    part->opened_first_ns = first_ns;
    part->opened_last_ns = last_ns;
    part->opened_uncertainty_ns = first.uncertainty_ns > last.uncertainty_ns
                                      ? first.uncertainty_ns
                                      : last.uncertainty_ns;
}

void conductor_stored(struct conductor *c, uint64_t now_ns, uint32_t host,
                      uint32_t phase, uint64_t next_interval)
{
    struct part *part = &c->parts[host];

    if (!begin_event(c, now_ns))
        return;
    if (!is_current(c, phase)) {
        back_stored(c, host, phase, next_interval);
    } else {
        if (next_interval > part->stored)
            part->stored = next_interval;
        if (part->state == PART_FINISHED)
            part_collect(c, host);
        /* The last row is not acknowledged before Finished has come: the
         * agent would forget all, and Finished might be lost. */
        if (part->state != PART_COLLECTED && part->stored > 0)
            order_acknowledge(c, host, phase, part->stored - 1);
    }
    course_step(c);
}

void conductor_commanded(struct conductor *c, uint64_t now_ns, uint32_t host,
                         uint32_t number, const char *failure)
{
    if (!begin_event(c, now_ns))
        return;
    errands_answer(c, host, number, failure);
    course_step(c);
}

/* What was measured is not what was asked for: the campaign fails with it. */
static void condemn(struct conductor *c, const char *why)
{
    if (c->ending == CONDUCT_ENDING_FAILED ||
        c->ending == CONDUCT_ENDING_INTERRUPTED)
        return;
    if (c->ending == CONDUCT_ENDING_NONE)
        c->stop_after = UINT64_MAX - 1; /* it was not ended before its time */
    c->ending = CONDUCT_ENDING_EARLY;
    c->ending_verdict = CONDUCT_FAILED;
    (void)snprintf(c->why, sizeof(c->why), "%s", why);
}

void conductor_totalled(struct conductor *c, uint64_t now_ns, uint32_t phase,
                        const struct conduct_total *total)
{
    if (!begin_event(c, now_ns) || !is_current(c, phase) ||
        c->tally != TALLY_ASKED)
        return;
    c->total = *total;
    c->tally = TALLY_TOLD;
    if (total->broken[0] != '\0')
        condemn(c, total->broken);
    course_step(c);
}

void conductor_store_failed(struct conductor *c, uint64_t now_ns,
                            const char *reason)
{
    if (!begin_event(c, now_ns))
        return;
    if (c->state != CAMPAIGN_GOING && c->state != CAMPAIGN_STOPPING) {
        course_note_campaign(c, CONDUCT_FAILED, reason);
        course_end_campaign(c);
        return;
    }
    /* The campaign fails; its agents keep their samples for a while, should
     * there be room again. */
    if (c->options.collect_ns > NO_STORE_NS)
        c->options.collect_ns = NO_STORE_NS;
    course_break(c, CONDUCT_ENDING_FAILED, "%s", reason);
    course_step(c);
}

void conductor_stop(struct conductor *c, uint64_t now_ns, const char *who)
{
    if (!begin_event(c, now_ns) || c->state == CAMPAIGN_STOPPING)
        return;
    (void)snprintf(c->who, sizeof(c->who), "stopped %s", who);
    if (c->state == CAMPAIGN_CLOSING) {
        course_note_campaign(c, CONDUCT_INTERRUPTED, c->who);
        course_end_campaign(c); /* its last commands are killed */
        return;
    }
    if (c->state != CAMPAIGN_GOING ||
        (c->phase.state <= CONDUCT_COMMANDS && !course_has_suspects(c))) {
        course_note_verdict(c, CONDUCT_INTERRUPTED, c->who);
        course_end_campaign(c);
        return;
    }
    c->state = CAMPAIGN_STOPPING;
    if (c->phase.state == CONDUCT_PLANNED)
        return; /* until those who may have begun have surely stopped */
    /* When no I/O is left to stop, what was measured is whole. */
    if (c->phase.state < CONDUCT_DRAINING)
        course_break(c, CONDUCT_ENDING_INTERRUPTED, "%s", c->who);
    course_step(c);
}

/* The interval that is going on when the order has arrived: its edge is the
 * first that all can still end at. */
static uint64_t interval_at_hand(const struct conductor *c)
{
    uint64_t room = 50 * NS_PER_MS + 2 * barrier_round_trip_ns(c);

    return (c->now_ns + room - c->phase.start_ns) / c->phase.interval_ns;
}

void conductor_end_phase(struct conductor *c, uint64_t now_ns,
                         enum conduct_verdict verdict, const char *reason)
{
    struct conduct_phase *phase = &c->phase;
    struct part *part;

    if (!begin_event(c, now_ns) || phase->state != CONDUCT_RUNNING ||
        c->ending != CONDUCT_ENDING_NONE)
        return;

    uint64_t last = interval_at_hand(c);
    uint64_t end_ns = phase->start_ns + (last + 1) * phase->interval_ns;

    if (phase->end_ns != 0 && end_ns >= phase->end_ns)
        last = phase->warmup_intervals + phase->measured_intervals - 1;
    else
        phase->end_ns = end_ns;
    c->ending = CONDUCT_ENDING_EARLY;
    c->ending_verdict = verdict;
    c->stop_after = last;
    (void)snprintf(c->why, sizeof(c->why), "%s", reason);
    course_note_ending(c);
    FOR_EACH_PART(c, host, part)
    {
        if (part->state == PART_RUNNING && part_is_up(part))
            order_stop_after(c, host);
    }
    course_step(c);
}

/* ---- What is going on ---------------------------------------------------- */

const struct conduct_phase *conductor_phase(const struct conductor *c)
{
    return &c->phase;
}

bool conductor_host_takes_part(const struct conductor *c, uint32_t host)
{
    return part_takes_part(&c->parts[host]);
}

const char *conductor_host_state(const struct conductor *c, uint32_t host)
{
    static const char *const names[PART_STATES] = {
        [PART_OUT] = "no part in this phase", [PART_IDLE] = "waiting",
        [PART_PREPARING] = "preparing",       [PART_READY] = "ready",
        [PART_STARTING] = "arming",           [PART_ARMED] = "armed",
        [PART_RUNNING] = "running",           [PART_STOPPING] = "stopping",
        [PART_FINISHED] = "finished",         [PART_COLLECTED] = "collected",
        [PART_REFUSED] = "refused",           [PART_GONE] = "given up",
    };
    const struct part *part = &c->parts[host];

    if (!part_is_up(part) && part_is_busy(part))
        return part->link_reason;
    if (part->state == PART_REFUSED || part->state == PART_GONE)
        return part->reason;
    return names[part->state];
}

bool conductor_place(const struct conductor *c, uint32_t host,
                     uint64_t agent_ns, int64_t *ret_relative_ns,
                     int64_t *ret_skew_ns)
{
    const struct part *part = &c->parts[host];
    struct offset_estimate estimate;
    uint64_t instant;

    if (part->agent_start_ns == 0)
        return false;
    *ret_relative_ns = (int64_t)(agent_ns - part->agent_start_ns);
    *ret_skew_ns = 0; /* as long as nobody has looked */
    if (offset_to_controller(&part->offset, agent_ns, &instant, &estimate))
        *ret_skew_ns = estimate.offset_ns - part->start.offset_ns;
    return true;
}

const char *conduct_state_name(enum conduct_state state)
{
    static const char *const names[CONDUCT_STATES] = {
        [CONDUCT_INVALID] = "invalid",
        [CONDUCT_PLANNED] = "planned",
        [CONDUCT_COMMANDS] = "running startcmd=",
        [CONDUCT_PREPARING] = "preparing",
        [CONDUCT_ARMING] = "arming",
        [CONDUCT_ARMED] = "armed",
        [CONDUCT_RUNNING] = "running",
        [CONDUCT_DRAINING] = "draining",
        [CONDUCT_COLLECTED] = "collected",
        [CONDUCT_OVER] = "over",
    };

    return names[state];
}
