/* phase.c - the state machine of one phase, and the lease over it. */
#include "agent/phase.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/units.h"
#include "common/uuid.h"

enum event {
    EV_PREPARE,
    EV_PREPARED,
    EV_REFUSED, /* this host cannot: nothing was issued */
    EV_START,
    EV_GO,
    EV_BEGIN, /* the instant of the start */
    EV_EDGE,  /* the last interval's */
    EV_CANCEL,
    EV_ENDED, /* the crew is through */
    EV_DROP,  /* acknowledged, released or held too long */
    EVENTS,
};

/* Where an event leads.  A hole is an event that does not belong there. */
static const enum phase_state next_state[PHASE_STATES][EVENTS] = {
    [PHASE_IDLE] =
        {
            [EV_PREPARE] = PHASE_PREPARING,
        },
    [PHASE_PREPARING] =
        {
            [EV_PREPARED] = PHASE_READY,
            [EV_REFUSED] = PHASE_IDLE,
            [EV_CANCEL] = PHASE_HOLDING,
        },
    [PHASE_READY] =
        {
            [EV_START] = PHASE_ARMED,
            [EV_REFUSED] = PHASE_IDLE,
            [EV_CANCEL] = PHASE_HOLDING,
            [EV_ENDED] = PHASE_HOLDING,
        },
    [PHASE_ARMED] =
        {
            [EV_START] = PHASE_ARMED, /* another try, another instant */
            [EV_REFUSED] = PHASE_IDLE,
            [EV_GO] = PHASE_CLEARED,
            [EV_CANCEL] = PHASE_HOLDING,
            [EV_ENDED] = PHASE_HOLDING,
        },
    [PHASE_CLEARED] =
        {
            [EV_BEGIN] = PHASE_RUNNING,
            [EV_CANCEL] = PHASE_DRAINING,
            [EV_ENDED] = PHASE_HOLDING,
        },
    [PHASE_RUNNING] =
        {
            [EV_EDGE] = PHASE_DRAINING,
            [EV_CANCEL] = PHASE_DRAINING,
            [EV_ENDED] = PHASE_HOLDING,
        },
    [PHASE_DRAINING] =
        {
            [EV_ENDED] = PHASE_HOLDING,
        },
    [PHASE_HOLDING] =
        {
            [EV_DROP] = PHASE_IDLE,
        },
};

static bool is_possible(const struct phase *phase, enum event event)
{
    return next_state[phase->state][event] != PHASE_INVALID;
}

const char *phase_state_name(enum phase_state state)
{
    static const char *const names[PHASE_STATES] = {
        [PHASE_INVALID] = "invalid",     [PHASE_IDLE] = "idle",
        [PHASE_PREPARING] = "preparing", [PHASE_READY] = "ready",
        [PHASE_ARMED] = "armed",         [PHASE_CLEARED] = "cleared",
        [PHASE_RUNNING] = "running",     [PHASE_DRAINING] = "draining",
        [PHASE_HOLDING] = "holding",
    };

    return names[state];
}

const char *phase_outcome_name(enum phase_outcome outcome)
{
    static const char *const names[PHASE_OUTCOMES] = {
        [PHASE_COMPLETE] = "complete",     [PHASE_STOPPED] = "stopped",
        [PHASE_LEASE_LOST] = "lease lost", [PHASE_NO_GO] = "no go",
        [PHASE_FAILED] = "failed",         [PHASE_TIME_LIMIT] = "time limit",
    };

    return names[outcome];
}

static uint64_t now_ns(const struct phase *phase)
{
    return clock_now_ns(phase->clock);
}

/* a + b, UINT64_MAX where that does not fit. */
static uint64_t after(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* ---- Effects ------------------------------------------------------------ */

static struct phase_effect *effect(struct phase *phase,
                                   enum phase_effect_kind kind)
{
    uint32_t slot = (phase->effect_first + phase->effect_count) % PHASE_EFFECTS;
    struct phase_effect *effect = &phase->effect[slot];

    assert(phase->effect_count < PHASE_EFFECTS);
    phase->effect_count++;
    memset(effect, 0, sizeof(*effect));
    effect->kind = kind;
    effect->work = phase->work;
    return effect;
}

bool phase_take_effect(struct phase *phase, struct phase_effect *ret_effect)
{
    if (phase->effect_count == 0)
        return false;
    *ret_effect = phase->effect[phase->effect_first];
    phase->effect_first = (phase->effect_first + 1) % PHASE_EFFECTS;
    phase->effect_count--;
    return true;
}

PRINTF(2, 3)
static void say(struct phase *phase, const char *format, ...)
{
    struct phase_effect *line = effect(phase, PHASE_LOG);
    va_list args;

    va_start(args, format);
    (void)vsnprintf(line->text, sizeof(line->text), format, args);
    va_end(args);
}

/* ---- States ------------------------------------------------------------- */

/* The last edge of a phase that has one; UINT64_MAX for a fill without. */
static uint64_t last_edge_ns(const struct phase *phase)
{
    uint64_t length = job_length_ns(phase->job);
    uint64_t edge = length == 0 ? UINT64_MAX : after(phase->start_ns, length);
    u128 ordered = ((u128)phase->stop_after + 1) * phase->job->interval_ns +
                   phase->start_ns;

    return ordered < edge ? (uint64_t)ordered : edge;
}

static uint64_t time_limit_ns(const struct phase *phase)
{
    return after(phase->start_ns, phase->job->time_limit_ns);
}

static uint64_t state_limit_ns(const struct phase *phase)
{
    uint64_t now = now_ns(phase);
    uint64_t edge;

    switch (phase->state) {
    case PHASE_PREPARING:
        return now + PHASE_PREPARE_LIMIT_NS +
               phase->job->target_count * PHASE_PREPARE_TARGET_NS;
    case PHASE_READY:
        return now + PHASE_READY_LIMIT_NS;
    case PHASE_ARMED:
    case PHASE_CLEARED:
        return phase->start_ns;
    case PHASE_RUNNING:
        edge = last_edge_ns(phase);
        return edge < time_limit_ns(phase) ? edge : time_limit_ns(phase);
    case PHASE_DRAINING:
        return after(now, phase->job->drain_limit_ns + PHASE_DRAIN_GRACE_NS);
    case PHASE_HOLDING:
        return now + PHASE_HOLD_LIMIT_NS;
    case PHASE_INVALID:
    case PHASE_IDLE:
    case PHASE_STATES:
        break;
    }
    return UINT64_MAX;
}

/* The one setter. */
static void enter(struct phase *phase, enum event event)
{
    assert(is_possible(phase, event));
    phase->state = next_state[phase->state][event];
    phase->limit_ns = state_limit_ns(phase);
}

static void note(struct phase *phase, enum phase_outcome outcome,
                 const char *reason)
{
    if (phase->outcome != PHASE_COMPLETE)
        return; /* the first cause stays */
    phase->outcome = outcome;
    (void)snprintf(phase->reason, sizeof(phase->reason), "%s", reason);
}

/* ---- The lease ---------------------------------------------------------- */

static void lease_deadline(struct phase *phase, uint64_t deadline_ns)
{
    phase->lease_deadline_ns = deadline_ns;
    /* Where the phase may run on without a lease, its workers must not look at
     * it: then the time limit is what bounds them. */
    effect(phase, PHASE_DO_LEASE)->at_ns =
        phase->config.finish_on_lease_lost ? UINT64_MAX : deadline_ns;
}

static void lease_release(struct phase *phase)
{
    struct phase_effect *release = effect(phase, PHASE_DO_RELEASE);

    release->work.campaign = phase->leased_campaign;
    phase->lease = PHASE_LEASE_NONE;
}

/* Nothing of the campaign may go on; its drives go back when none is open. */
static void lease_end(struct phase *phase)
{
    if (phase->lease != PHASE_LEASE_NONE && phase->job == NULL)
        lease_release(phase);
    else if (phase->lease == PHASE_LEASE_HELD)
        phase->lease = PHASE_LEASE_ENDED;
}

/* ---- Ends --------------------------------------------------------------- */

static void discard(struct phase *phase)
{
    if (phase->job == NULL)
        return;
    effect(phase, PHASE_DO_DISCARD)->job = TAKE(phase->job);
    if (phase->lease == PHASE_LEASE_ENDED ||
        phase->lease == PHASE_LEASE_RELEASED)
        lease_release(phase);
}

static void drop(struct phase *phase)
{
    enter(phase, EV_DROP);
    effect(phase, PHASE_SAY_IDLE);
}

/* Over on this host: `end` says what was made, phase->outcome how it went. */
static void hold(struct phase *phase, const struct phase_end *end)
{
    char count[UNITS_SIZE];

    phase->end = *end;
    phase->end.outcome = phase->outcome;
    (void)snprintf(phase->end.reason, sizeof(phase->end.reason), "%s",
                   phase->reason);
    say(phase, "%s '%s' ended: %s%s%s, %s",
        phase->job->kind == JOB_FILL ? "fill" : "phase", phase->job->name,
        phase_outcome_name(phase->outcome),
        phase->reason[0] != '\0' ? ": " : "", phase->reason,
        units_print_count(count, end->intervals, "interval"));
    if (end->stuck_total > 0)
        say(phase, "%s did not come back",
            units_print_count(count, end->stuck_total, "request"));
    if (phase->lease == PHASE_LEASE_RELEASED) {
        discard(phase);
        drop(phase); /* the campaign is over: nobody asks any more */
    } else {
        discard(phase);
        effect(phase, PHASE_SAY_HOLDING);
    }
}

/* Ends work from within: stops what runs, holds where nothing does. */
static void cancel(struct phase *phase, enum phase_outcome outcome,
                   const char *reason)
{
    static const struct phase_end nothing;

    if (!is_possible(phase, EV_CANCEL))
        return;
    note(phase, outcome, reason);
    enter(phase, EV_CANCEL);
    if (phase->state == PHASE_HOLDING)
        hold(phase, &nothing);
    else
        effect(phase, PHASE_DO_STOP);
}

void phase_refused(struct phase *phase, const char *target, const char *reason)
{
    struct phase_effect *refused;

    if (!is_possible(phase, EV_REFUSED))
        return; /* given up in the meantime */
    refused = effect(phase, PHASE_SAY_REFUSED);
    (void)snprintf(refused->target, sizeof(refused->target), "%s", target);
    (void)snprintf(refused->text, sizeof(refused->text), "%s", reason);
    say(phase, "phase '%s' refused: %s%s%s", phase->job->name, target,
        target[0] != '\0' ? ": " : "", reason);
    enter(phase, EV_REFUSED);
    discard(phase);
}

void phase_ended(struct phase *phase, const struct phase_end *end)
{
    if (phase->job == NULL || !is_possible(phase, EV_ENDED))
        return;
    note(phase, end->outcome, end->reason);
    enter(phase, EV_ENDED);
    hold(phase, end);
}

void phase_acknowledged(struct phase *phase)
{
    if (phase->state == PHASE_HOLDING)
        drop(phase);
}

/* ---- Time --------------------------------------------------------------- */

static void lease_tick(struct phase *phase)
{
    char reason[128];

    if (phase->lease != PHASE_LEASE_HELD ||
        now_ns(phase) < phase->lease_deadline_ns)
        return;
    (void)snprintf(reason, sizeof(reason),
                   "the lease ended: no Renew from the controller for %" PRIu64
                   " ms",
                   phase->config.lease_ns / NS_PER_MS);
    lease_end(phase);
    if (phase->state == PHASE_RUNNING && phase->config.finish_on_lease_lost)
        say(phase, "%s; the phase runs to its end, as configured", reason);
    else if (is_possible(phase, EV_CANCEL))
        cancel(phase, PHASE_LEASE_LOST, reason);
    else
        say(phase, "%s; the drives are given back", reason);
}

static void prepare_limit(struct phase *phase)
{
    phase_refused(phase, "",
                  "preparing has not come to an end: a drive or the file "
                  "system hangs in opening, or memory is short");
}

static void drain_limit(struct phase *phase)
{
    struct phase_end end = {0};

    note(phase, PHASE_FAILED,
         "the workers did not come to an end; what they still do is lost");
    enter(phase, EV_ENDED);
    hold(phase, &end);
}

static void limit(struct phase *phase)
{
    switch (phase->state) {
    case PHASE_PREPARING:
        prepare_limit(phase);
        break;
    case PHASE_READY:
        cancel(phase, PHASE_FAILED, "no Start within 10 minutes");
        break;
    case PHASE_ARMED:
        cancel(phase, PHASE_NO_GO,
               "no Go before the instant of the start: disarmed");
        break;
    case PHASE_CLEARED:
        enter(phase, EV_BEGIN);
        say(phase, "phase '%s' started", phase->job->name);
        break;
    case PHASE_RUNNING:
        if (now_ns(phase) >= last_edge_ns(phase))
            enter(phase, EV_EDGE);
        else
            cancel(phase, PHASE_TIME_LIMIT, "the phase's time limit has come");
        break;
    case PHASE_DRAINING:
        drain_limit(phase);
        break;
    case PHASE_HOLDING:
        say(phase, "samples that nobody took for a day are dropped");
        drop(phase);
        break;
    case PHASE_INVALID:
    case PHASE_IDLE:
    case PHASE_STATES:
        break;
    }
}

void phase_tick(struct phase *phase)
{
    lease_tick(phase);
    /* One limit may be past the next one, after a stop of this process. */
    for (int i = 0; i < PHASE_STATES && now_ns(phase) >= phase->limit_ns; i++)
        limit(phase);
}

uint64_t phase_due_ns(const struct phase *phase)
{
    if (phase->lease == PHASE_LEASE_HELD &&
        phase->lease_deadline_ns < phase->limit_ns)
        return phase->lease_deadline_ns;
    return phase->limit_ns;
}

/* ---- Orders ------------------------------------------------------------- */

int phase_prepare(struct phase *phase, struct job *job, uint64_t arrived_ns,
                  struct diag *diag)
{
    char campaign[UUID_TEXT_SIZE];

    phase_tick(phase);
    if (!is_possible(phase, EV_PREPARE)) {
        (void)job_free(job);
        return diag_set(
            diag, -EPROTO, "this agent still has phase %u of campaign %s (%s)",
            phase->work.phase, uuid_format(&phase->work.campaign, campaign),
            phase_state_name(phase->state));
    }
    /* The controller gives one campaign after the other to a host: that of
     * before is over, even if its Release was lost with a connection. */
    if (phase->lease != PHASE_LEASE_NONE &&
        !uuid_equal(&phase->leased_campaign, &job->work.campaign))
        lease_release(phase);
    phase->job = job;
    phase->work = job->work;
    phase->start_ns = 0;
    phase->stop_after = UINT64_MAX;
    phase->outcome = PHASE_COMPLETE;
    phase->reason[0] = '\0';
    phase->workers = 0;
    phase->memory_bytes = 0;
    phase->lease = PHASE_LEASE_HELD;
    phase->leased_campaign = job->work.campaign;
    enter(phase, EV_PREPARE);
    lease_deadline(phase, after(arrived_ns, phase->config.lease_ns));
    effect(phase, PHASE_DO_PREPARE)->job = job;
    return 0;
}

void phase_prepared(struct phase *phase, uint32_t workers,
                    uint64_t memory_bytes,
                    const struct phase_equipment *equipment)
{
    static const struct phase_equipment none;

    if (!is_possible(phase, EV_PREPARED))
        return; /* given up in the meantime */
    phase->equipment = equipment != NULL ? *equipment : none;
    phase->workers = workers;
    phase->memory_bytes = memory_bytes;
    enter(phase, EV_PREPARED);
    phase_say_ready(phase);
}

void phase_say_ready(struct phase *phase)
{
    struct phase_effect *ready;

    if (phase->state != PHASE_READY)
        return;
    ready = effect(phase, PHASE_SAY_READY);
    ready->workers = phase->workers;
    ready->memory_bytes = phase->memory_bytes;
}

static void say_armed(struct phase *phase)
{
    effect(phase, PHASE_SAY_ARMED)->at_ns = phase->start_ns;
}

int phase_start(struct phase *phase, uint64_t agent_start_ns, struct diag *diag)
{
    uint64_t now;
    char reason[128];

    phase_tick(phase);
    if (phase->state >= PHASE_ARMED && agent_start_ns == phase->start_ns) {
        if (phase->state <= PHASE_CLEARED)
            say_armed(phase); /* asked again: answered again */
        return 0;
    }
    if (!is_possible(phase, EV_START))
        return diag_set(diag, -EPROTO, "the agent is %s",
                        phase_state_name(phase->state));
    now = now_ns(phase);
    if (agent_start_ns <= now)
        return diag_set(diag, -ESTALE,
                        "the Start came %" PRIu64 " us after its instant",
                        (now - agent_start_ns) / 1000);
    if (agent_start_ns - now > PHASE_START_AHEAD_NS) {
        (void)snprintf(reason, sizeof(reason),
                       "the start is %" PRIu64 " s ahead of this host's "
                       "clock, not up to 60 s",
                       (agent_start_ns - now) / NS_PER_S);
        phase_refused(phase, "", reason);
        return 0;
    }
    phase->start_ns = agent_start_ns;
    enter(phase, EV_START);
    effect(phase, PHASE_DO_ARM)->at_ns = agent_start_ns;
    return 0;
}

void phase_armed(struct phase *phase)
{
    if (phase->state == PHASE_ARMED)
        say_armed(phase);
}

int phase_go(struct phase *phase, struct diag *diag)
{
    phase_tick(phase);
    if (phase->state == PHASE_CLEARED || phase->state == PHASE_RUNNING)
        return 0; /* said twice */
    if (!is_possible(phase, EV_GO))
        return diag_set(diag, -EPROTO, "the agent is %s",
                        phase_state_name(phase->state));
    enter(phase, EV_GO);
    effect(phase, PHASE_DO_GO);
    return 0;
}

int phase_stop_after(struct phase *phase, uint64_t interval, struct diag *diag)
{
    uint64_t current;

    phase_tick(phase);
    if (phase->state != PHASE_CLEARED && phase->state != PHASE_RUNNING)
        return diag_set(diag, -EPROTO, "the agent is %s",
                        phase_state_name(phase->state));
    if (interval >= phase->stop_after)
        return 0; /* it ends before that anyway */
    current = phase->state == PHASE_CLEARED
                  ? 0
                  : (now_ns(phase) - phase->start_ns) / phase->job->interval_ns;
    if (interval < current) {
        /* Too late for that edge; an end is wanted all the same, and one that
         * the others may not share is better than load without one. */
        say(phase,
            "StopAfter(%" PRIu64 ") came in interval %" PRIu64
            ", which is the last one now",
            interval, current);
        interval = current;
    }
    phase->stop_after = interval;
    phase->limit_ns = state_limit_ns(phase);
    effect(phase, PHASE_DO_STOP_AFTER)->interval = interval;
    return 0;
}

int phase_renew(struct phase *phase, const struct uuid *campaign,
                uint64_t arrived_ns, struct diag *diag)
{
    uint64_t deadline = after(arrived_ns, phase->config.lease_ns);

    phase_tick(phase);
    if (phase->lease == PHASE_LEASE_NONE ||
        !uuid_equal(campaign, &phase->leased_campaign))
        return diag_set(diag, -ESTALE, "nothing is leased to that campaign");
    if (phase->lease != PHASE_LEASE_HELD)
        return diag_set(diag, -ESTALE, "the lease has ended");
    if (deadline > phase->lease_deadline_ns)
        lease_deadline(phase, deadline);
    return 0;
}

void phase_release(struct phase *phase, const struct uuid *campaign)
{
    phase_tick(phase);
    if (phase->lease != PHASE_LEASE_NONE &&
        uuid_equal(campaign, &phase->leased_campaign)) {
        lease_end(phase);
        if (phase->job != NULL)
            phase->lease = PHASE_LEASE_RELEASED;
    }
    if (!phase_has_work(phase) || !uuid_equal(campaign, &phase->work.campaign))
        return;
    if (phase->state == PHASE_HOLDING)
        drop(phase);
    else
        cancel(phase, PHASE_STOPPED, "the campaign was released");
}

void phase_abort(struct phase *phase, enum phase_outcome outcome,
                 const char *reason)
{
    assert(outcome != PHASE_COMPLETE);
    phase_tick(phase);
    cancel(phase, outcome, reason);
}

void phase_init(struct phase *phase, const struct phase_config *config,
                const struct clock *clock)
{
    memset(phase, 0, sizeof(*phase));
    phase->clock = clock;
    phase->config = *config;
    phase->state = PHASE_IDLE;
    phase->limit_ns = UINT64_MAX;
    phase->stop_after = UINT64_MAX;
}

void phase_done(struct phase *phase)
{
    discard(phase);
    lease_end(phase);
    phase->state = PHASE_IDLE;
    phase->limit_ns = UINT64_MAX;
}
