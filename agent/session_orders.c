/* session_orders.c - what the controller says once connected. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/session_private.h"
#include "common/uuid.h"

/* ---- Orders ------------------------------------------------------------- */

/* An order that was not obeyed: a line, but not one each time. */
static void complain(struct session *session, const struct order *order,
                     const char *reason)
{
    uint32_t bit = 1u << order->kind;

    if ((session->complained & bit) != 0)
        return;
    session->complained |= bit;
    session_say(session, SESSION_LOG_WARNING, "%s not obeyed: %s",
                order_kind_name(order->kind), reason);
}

static void refuse(struct session *session, const struct order *order,
                   const char *reason)
{
    complain(session, order, reason);
    session_send(session, codec_refused(&order->work, "", reason));
}

static bool is_of_epoch(struct session *session, const struct order *order)
{
    char reason[128];

    if (order->work.epoch == session->master.epoch)
        return true;
    (void)snprintf(reason, sizeof(reason),
                   "it is of epoch %" PRIu64 ", the controller of %" PRIu64,
                   order->work.epoch, session->master.epoch);
    complain(session, order, reason);
    return false;
}

static bool is_same_work(const struct session *session,
                         const struct order *order)
{
    const struct work *work = &session->phase.work;

    return phase_has_work(&session->phase) &&
           uuid_equal(&work->campaign, &order->work.campaign) &&
           work->phase == order->work.phase;
}

/* Whether the order is about what this agent does, from whom it serves. */
static bool is_mine(struct session *session, const struct order *order)
{
    char reason[128];
    char campaign[UUID_TEXT_SIZE];

    if (!is_of_epoch(session, order))
        return false;
    if (is_same_work(session, order))
        return true;
    (void)snprintf(
        reason, sizeof(reason), "phase %u of campaign %s is not at hand here",
        order->work.phase, uuid_format(&order->work.campaign, campaign));
    complain(session, order, reason);
    return false;
}

/* When the frame at hand may have arrived, at the earliest. */
static uint64_t arrived_ns(const struct session *session)
{
    return session->waits_ns != 0 ? session->waits_ns : session_now_ns(session);
}

static void on_prepare(struct session *session, struct order *order)
{
    struct diag diag = {0};

    if (!is_of_epoch(session, order))
        return;
    if (is_same_work(session, order) &&
        session->phase.work.epoch == order->work.epoch) {
        phase_say_ready(&session->phase); /* asked again */
        if (session->telling == SESSION_TELL_DONE)
            session->telling = SESSION_TELL_FINISHED;
        return;
    }
    if (session->stopping[0] != '\0') {
        refuse(session, order, session->stopping);
        return;
    }
    if (session_runs_errand(session)) {
        refuse(session, order, "a command of a campaign still runs here");
        return;
    }
    if (phase_prepare(&session->phase, TAKE(order->job), arrived_ns(session),
                      &diag) < 0)
        refuse(session, order, diag.text);
    else
        session->complained = 0;
}

static void on_work_order(struct session *session, const struct order *order)
{
    struct phase *phase = &session->phase;
    struct diag diag = {0};
    int err = 0;

    if (!is_mine(session, order))
        return;
    if (order->kind == ORDER_START)
        err = phase_start(phase, order->number, &diag);
    else if (order->kind == ORDER_GO)
        err = phase_go(phase, &diag);
    else if (order->kind == ORDER_STOP_AFTER)
        err = phase_stop_after(phase, order->number, &diag);
    else
        phase_abort(phase, PHASE_STOPPED, order->reason);
    if (err < 0)
        complain(session, order, diag.text);
}

static void on_renew(struct session *session, const struct order *order)
{
    struct diag diag = {0};

    if (!is_of_epoch(session, order))
        return;
    if (phase_renew(&session->phase, &order->work.campaign, arrived_ns(session),
                    &diag) < 0)
        complain(session, order, diag.text);
}

static void on_sample_ack(struct session *session, const struct order *order)
{
    /* Of work that is done there may come more than one. */
    if (!is_same_work(session, order) || !is_of_epoch(session, order))
        return;
    outbox_acknowledge(&session->outbox, order->number);
    if (session->telling == SESSION_TELL_DONE &&
        outbox_is_empty(&session->outbox))
        phase_acknowledged(&session->phase);
}

static void on_inspect(struct session *session, struct order *order)
{
    if (session->inspects == SESSION_INSPECTS_MAX) {
        session_leave(session, "too many Inspects at once");
        return;
    }
    session->inspects++;
    session->world->inspect(session->context, &order->campaign,
                            TAKE(order->wishes), order->wish_count);
}

static void on_clock_probe(struct session *session, const struct order *order,
                           uint64_t received_ns)
{
    session_send(session, codec_clock_reply(order->number, received_ns,
                                            session_now_ns(session)));
}

void session_obey(struct session *session, struct order *order,
                  uint64_t received_ns)
{
    switch (order->kind) {
    case ORDER_CLOCK_PROBE:
        on_clock_probe(session, order, received_ns);
        break;
    case ORDER_INSPECT:
        on_inspect(session, order);
        break;
    case ORDER_PREPARE:
        on_prepare(session, order);
        break;
    case ORDER_START:
    case ORDER_GO:
    case ORDER_STOP_AFTER:
    case ORDER_ABORT:
        on_work_order(session, order);
        break;
    case ORDER_RENEW:
        on_renew(session, order);
        break;
    case ORDER_SAMPLE_ACK:
        on_sample_ack(session, order);
        break;
    case ORDER_RELEASE:
        phase_release(&session->phase, &order->campaign);
        break;
    case ORDER_COMMAND:
        if (is_of_epoch(session, order))
            session_command(session, order);
        break;
    case ORDER_WELCOME:
        session_leave(session, "a second Welcome");
        break;
    case ORDER_REJECT:
    case ORDER_UNKNOWN:
    case ORDER_HEARTBEAT:
    case ORDER_KINDS:
        break;
    }
}
