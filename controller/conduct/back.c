/*
 * A host that comes back tells what it has.  What was said on the old
 * connection may have been lost in either direction, so what is known here and
 * what is there are brought together again: orders that did not arrive are
 * repeated, answers that did not are taken from what it holds.
 */
#include "controller/conduct/conductor.h"

static bool holds_idle_hands(enum conduct_held held)
{
    return held == CONDUCT_HELD_NOTHING || held == CONDUCT_HELD_DRAINING ||
           held == CONDUCT_HELD_HOLDING;
}

static void back_preparing(struct conductor *c, uint32_t host)
{
    struct part *part = &c->parts[host];

    switch (part->hello.held) {
    case CONDUCT_HELD_NOTHING:
        order_prepare(c, host);
        break;
    case CONDUCT_HELD_READY:
        (void)part_handle(part, PART_EV_READY);
        break;
    case CONDUCT_HELD_PREPARING:
    case CONDUCT_HELD_ARMED:
    case CONDUCT_HELD_RUNNING:
    case CONDUCT_HELD_DRAINING:
    case CONDUCT_HELD_HOLDING:
        break; /* Ready or Finished will tell */
    }
}

/* It has an answer, but the work it was about is gone. */
static void back_empty(struct conductor *c, uint32_t host)
{
    struct part *part = &c->parts[host];

    if (c->phase.state == CONDUCT_PREPARING)
        order_prepare(c, host);
    else
        part_give_up(c, host, "it came back without its work (%s)",
                     part->link_reason);
}

static void back_starting(struct conductor *c, uint32_t host)
{
    struct part *part = &c->parts[host];

    if (part->hello.held == CONDUCT_HELD_NOTHING)
        back_empty(c, host);
    else if (part->state == PART_STARTING)
        order_start(c, host);
}

/* It did not hear that the phase ends early, or may not have.  Where that
 * interval is over, it ends with its next edge. */
static void back_early(struct conductor *c, uint32_t host)
{
    const struct conduct_phase *phase = &c->phase;
    uint64_t edge_ns =
        phase->start_ns + (c->stop_after + 1) * phase->interval_ns;

    if (c->ending != CONDUCT_ENDING_EARLY)
        return;
    if (c->now_ns + barrier_round_trip_ns(c) < edge_ns)
        order_stop_after(c, host);
}

static void back_running(struct conductor *c, uint32_t host)
{
    struct part *part = &c->parts[host];

    switch (part->hello.held) {
    case CONDUCT_HELD_NOTHING:
        back_empty(c, host);
        break;
    case CONDUCT_HELD_ARMED: /* Go was lost; too late does no harm */
        effect_add_host(c, CONDUCT_DO_GO, host);
        break;
    case CONDUCT_HELD_PREPARING:
    case CONDUCT_HELD_READY:
        order_abort(c, host, "the phase has begun without this host");
        break;
    case CONDUCT_HELD_RUNNING:
        back_early(c, host);
        break;
    case CONDUCT_HELD_DRAINING:
    case CONDUCT_HELD_HOLDING:
        break; /* Finished follows */
    }
}

/* Given up, but here it is: its rows are welcome, its load is not. */
static void back_gone(struct conductor *c, uint32_t host)
{
    struct part *part = &c->parts[host];

    if (part->hello.held == CONDUCT_HELD_NOTHING)
        return;
    if (course_is_open(c))
        (void)part_handle(part, PART_EV_BACK);
    if (!holds_idle_hands(part->hello.held))
        order_abort(c, host, "this host was given up");
}

static void back_current(struct conductor *c, uint32_t host)
{
    struct part *part = &c->parts[host];

    switch (part->state) {
    case PART_PREPARING:
        back_preparing(c, host);
        break;
    case PART_READY:
        if (part->hello.held == CONDUCT_HELD_NOTHING)
            back_empty(c, host);
        break;
    case PART_STARTING:
    case PART_ARMED:
        back_starting(c, host);
        break;
    case PART_RUNNING:
        back_running(c, host);
        break;
    case PART_STOPPING:
        if (part->hello.held == CONDUCT_HELD_NOTHING)
            part_give_up(c, host, "it came back without its work (%s)",
                         part->link_reason);
        else if (!holds_idle_hands(part->hello.held))
            order_abort(c, host,
                        c->why[0] != '\0' ? c->why : "the phase is over");
        break;
    case PART_REFUSED:
        if (!holds_idle_hands(part->hello.held))
            order_abort(c, host, "this host refused the phase");
        break;
    case PART_GONE:
        back_gone(c, host);
        break;
    case PART_INVALID:
    case PART_OUT:
    case PART_IDLE:
    case PART_FINISHED:  /* rows that came may yet be committed */
    case PART_COLLECTED: /* it repeats Finished, which is acknowledged again */
    case PART_STATES:
        break;
    }
}

/* It has nothing of an earlier phase any more. */
static void back_cleared(struct conductor *c, uint32_t host)
{
    struct part *part = &c->parts[host];

    part->holds = PLAN_NOWHERE;
    part->suspect = false;
    if (part->state == PART_PREPARING)
        order_prepare(c, host); /* the first was for one with full hands */
    else if (part->state == PART_STOPPING)
        part_give_up(c, host, "the phase ended before it could begin here");
}

static void back_other(struct conductor *c, uint32_t host)
{
    struct part *part = &c->parts[host];

    if (!holds_idle_hands(part->hello.held)) {
        struct conduct_effect *effect =
            effect_add_host(c, CONDUCT_DO_ABORT, host);

        effect->phase = part->hello.held_phase;
        effect->reason = "its phase is over";
    }
    /* What it had to do with the phase at hand did not arrive or is lost. */
    if (part_is_busy(part) && part->state != PART_PREPARING)
        part_give_up(c, host, "it came back with work of another phase");
}

void back_reconcile(struct conductor *c, uint32_t host)
{
    struct part *part = &c->parts[host];
    const struct conduct_hello *hello = &part->hello;

    part->holds =
        hello->held == CONDUCT_HELD_NOTHING ? PLAN_NOWHERE : hello->held_phase;
    if (hello->held_before)
        part->holds = PART_HOLDS_BEFORE;
    if (hello->held == CONDUCT_HELD_NOTHING ||
        hello->held == CONDUCT_HELD_HOLDING)
        part->suspect = false;
    if (part->holds == PLAN_NOWHERE || part->holds == c->phase.number)
        back_current(c, host);
    else
        back_other(c, host);
    if (part_renews(c, part))
        order_renew(c, host);
}

void back_finished(struct conductor *c, uint32_t host, uint32_t phase,
                   uint64_t rows)
{
    struct part *part = &c->parts[host];
    struct part_late *late = &part->late;

    if (phase == late->phase && late->stored < rows) {
        late->rows = rows;
        late->due_ns = c->now_ns + c->options.grace_ns;
        return;
    }
    order_acknowledge(c, host, phase, rows);
    if (part->holds == phase)
        back_cleared(c, host);
}

void back_left(struct conductor *c, uint32_t host, uint32_t phase,
               uint64_t rows)
{
    order_acknowledge(c, host, phase, rows);
    if (c->parts[host].holds == PART_HOLDS_BEFORE)
        back_cleared(c, host);
}

void back_stored(struct conductor *c, uint32_t host, uint32_t phase,
                 uint64_t next_interval)
{
    struct part_late *late = &c->parts[host].late;

    order_acknowledge(c, host, phase, next_interval);
    if (phase != late->phase || next_interval <= late->stored)
        return;
    late->stored = next_interval;
    if (late->due_ns != CONDUCT_NEVER && late->stored >= late->rows)
        late->due_ns = c->now_ns;
}

void back_tick(struct conductor *c, uint32_t host)
{
    struct part *part = &c->parts[host];
    struct part_late *late = &part->late;

    if (c->now_ns < late->due_ns)
        return;
    late->due_ns = CONDUCT_NEVER;
    order_acknowledge(c, host, late->phase, late->rows);
    if (part_is_up(part) && part->holds == late->phase)
        back_cleared(c, host);
}
