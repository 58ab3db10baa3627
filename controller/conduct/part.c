#include "controller/conduct/conductor.h"

#include <stdarg.h>
#include <stdio.h>

/*
 * Where an event leads.  A hole (PART_INVALID) is news that does not matter in
 * that state: a frame that crossed an Abort, an answer after the answer.
 */
static const enum part_state next_state[PART_STATES][PART_EVENTS] = {
    [PART_IDLE] =
        {
            [PART_EV_PREPARE] = PART_PREPARING,
            [PART_EV_GIVE_UP] = PART_GONE,
        },
    [PART_PREPARING] =
        {
            [PART_EV_READY] = PART_READY,
            [PART_EV_FINISHED] = PART_FINISHED,
            [PART_EV_REFUSED] = PART_REFUSED,
            [PART_EV_ABORT] = PART_STOPPING,
            [PART_EV_GIVE_UP] = PART_GONE,
        },
    [PART_READY] =
        {
            [PART_EV_PREPARE] = PART_PREPARING, /* it lost what it had */
            [PART_EV_START] = PART_STARTING,
            [PART_EV_FINISHED] = PART_FINISHED,
            [PART_EV_REFUSED] = PART_REFUSED,
            [PART_EV_ABORT] = PART_STOPPING,
            [PART_EV_GIVE_UP] = PART_GONE,
        },
    [PART_STARTING] =
        {
            [PART_EV_ARMED] = PART_ARMED,
            [PART_EV_FINISHED] = PART_FINISHED,
            [PART_EV_REFUSED] = PART_REFUSED,
            [PART_EV_ABORT] = PART_STOPPING,
            [PART_EV_GIVE_UP] = PART_GONE,
        },
    [PART_ARMED] =
        {
            [PART_EV_START] = PART_STARTING, /* the second try */
            [PART_EV_GO] = PART_RUNNING,
            [PART_EV_FINISHED] = PART_FINISHED,
            [PART_EV_REFUSED] = PART_REFUSED,
            [PART_EV_ABORT] = PART_STOPPING,
            [PART_EV_GIVE_UP] = PART_GONE,
        },
    [PART_RUNNING] =
        {
            [PART_EV_FINISHED] = PART_FINISHED,
            [PART_EV_ABORT] = PART_STOPPING,
            [PART_EV_GIVE_UP] = PART_GONE,
        },
    [PART_STOPPING] =
        {
            [PART_EV_FINISHED] = PART_FINISHED,
            [PART_EV_REFUSED] = PART_REFUSED,
            [PART_EV_GIVE_UP] = PART_GONE,
        },
    [PART_FINISHED] =
        {
            [PART_EV_STORED] = PART_COLLECTED,
            [PART_EV_GIVE_UP] = PART_GONE,
        },
    [PART_GONE] =
        {
            [PART_EV_BACK] = PART_STOPPING,
        },
};

bool part_handle(struct part *part, enum part_event event)
{
    enum part_state next = next_state[part->state][event];

    if (next == PART_INVALID)
        return false;
    part->state = next;
    return true;
}

bool part_is_busy(const struct part *part)
{
    return part->state >= PART_PREPARING && part->state <= PART_STOPPING;
}

bool part_is_starter(const struct part *part)
{
    return part->state >= PART_PREPARING && part->state <= PART_ARMED;
}

bool part_takes_part(const struct part *part)
{
    return part->state != PART_OUT;
}

uint64_t part_rows(const struct part *part)
{
    return part->finish.intervals == 0 ? 0 : part->finish.intervals + 1;
}

void part_set_reason(struct part *part, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(part->reason, sizeof(part->reason), format, args);
    va_end(args);
}

static const char *outcome_text(enum conduct_outcome outcome)
{
    switch (outcome) {
    case CONDUCT_OUTCOME_COMPLETE:
        return "";
    case CONDUCT_OUTCOME_STOPPED:
        return "stopped";
    case CONDUCT_OUTCOME_LEASE_LOST:
        return "its lease ended";
    case CONDUCT_OUTCOME_NO_GO:
        return "no Go came in time";
    case CONDUCT_OUTCOME_FAILED:
        return "failed";
    case CONDUCT_OUTCOME_TIME_LIMIT:
        return "its time limit passed";
    }
    return "ended in an unknown way";
}

void part_note_finish(struct part *part, const struct conduct_finish *finish)
{
    part->finish = *finish;
    part->finish.reason = NULL;
    if (finish->outcome == CONDUCT_OUTCOME_STOPPED && part->reason[0] != '\0')
        return;
    part_set_reason(part, "%s%s%s", outcome_text(finish->outcome),
                    finish->reason[0] != '\0' &&
                            finish->outcome != CONDUCT_OUTCOME_COMPLETE
                        ? ": "
                        : "",
                    finish->reason);
}

const char *part_label(const struct conductor *c, uint32_t host)
{
    return c->plan->hosts[host].label;
}

uint32_t part_count(const struct conductor *c,
                    bool (*picks)(const struct part *part))
{
    const struct part *part;
    uint32_t count = 0;

    FOR_EACH_PART(c, host, part)
    count += picks(part);
    return count;
}

void part_give_up(struct conductor *c, uint32_t host, const char *format, ...)
{
    struct part *part = &c->parts[host];
    va_list args;

    if (!part_handle(part, PART_EV_GIVE_UP))
        return;
    c->changes++;
    va_start(args, format);
    (void)vsnprintf(part->reason, sizeof(part->reason), format, args);
    va_end(args);
    effect_notice(c, "%s is given up: %s", part_label(c, host), part->reason);

    struct conduct_effect *effect = effect_add(c, CONDUCT_HOST_GIVEN_UP);

    effect->host = host;
    effect->reason = effect_text(c, part->reason);
}

void part_collect(struct conductor *c, uint32_t host)
{
    struct part *part = &c->parts[host];

    if (part->state != PART_FINISHED && part->state != PART_COLLECTED)
        return;
    if (part->stored < part_rows(part))
        return;
    (void)part_handle(part, PART_EV_STORED);
    /* Also when it had all been acknowledged before: it waits for this one. */
    order_acknowledge(c, host, c->phase.number, part->stored);
    part->holds = PLAN_NOWHERE;
}

bool part_renews(const struct conductor *c, const struct part *part)
{
    if (!part_is_up(part) || part->leased_phase == PLAN_NOWHERE)
        return false;
    if (part->holds == PLAN_NOWHERE)
        return true; /* its claims on the drives live by the lease, too */
    return part->holds == c->phase.number && part->state != PART_STOPPING &&
           part->state != PART_GONE;
}

static bool is_probed(const struct conductor *c, const struct part *part)
{
    return part_is_up(part) && part_is_busy(part) &&
           c->phase.state >= CONDUCT_ARMING;
}

/*
 * The last Renew may have been on its way for a while; from its arrival the
 * lease ran, and then what was in flight completed: the lag is for both.  (What
 * a drive never completes, no limit waits for.)  An agent that finishes the
 * phase without a lease goes on to the phase's own limit.
 */
uint64_t part_quiet_ns(const struct conductor *c, const struct part *part)
{
    const struct conduct_options *options = &c->options;
    uint64_t after = options->lag_ns;
    uint64_t quiet = part->renewed_ns + part->hello.lease_ns + after;
    uint64_t limit = c->phase.start_ns + c->phase.time_limit_ns + after;

    if (part->hello.finishes && c->phase.state >= CONDUCT_ARMED &&
        limit > quiet)
        return limit;
    return quiet;
}

/* In a phase that prepares or arms, a host has other limits. */
static bool may_expire(const struct conductor *c, const struct part *part)
{
    return part_is_busy(part) && !part_renews(c, part) &&
           c->phase.state >= CONDUCT_ARMED;
}

static uint64_t renewal_due_ns(const struct part *part)
{
    return part->renewed_ns + part->hello.lease_ns / 5;
}

void part_tick(struct conductor *c, uint32_t host)
{
    struct part *part = &c->parts[host];

    back_tick(c, host);
    if (part_renews(c, part) && c->now_ns >= renewal_due_ns(part))
        order_renew(c, host);
    if (is_probed(c, part) && c->now_ns >= part->probe_due_ns)
        order_probe(c, host);
    if (!may_expire(c, part) || c->now_ns < part_quiet_ns(c, part))
        return;
    if (part_is_up(part))
        part_give_up(c, host,
                     "it did not stop when told to, until its lease "
                     "was over");
    else
        part_give_up(c, host, "%s, and its lease is over", part->link_reason);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t part_due_ns(const struct conductor *c, const struct part *part)
{
    uint64_t due = part->late.due_ns;

    if (part_renews(c, part))
        due = earlier(due, renewal_due_ns(part));
    if (is_probed(c, part))
        due = earlier(due, part->probe_due_ns);
    if (may_expire(c, part))
        due = earlier(due, part_quiet_ns(c, part));
    return due;
}
