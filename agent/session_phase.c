/* session_phase.c - what the phase wants, its samples, and how it ends. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/row.h"
#include "agent/session_private.h"

/* ---- Samples and the end ------------------------------------------------ */

static void send_finished(struct session *session)
{
    session->telling = SESSION_TELL_DONE;
    session_send(session,
                 codec_finished(&session->phase.work, &session->phase.end));
}

/*
 * Sends what waits, as far as the connection takes it.  Finished goes before
 * the drain row: an acknowledgement of that row then tells that both came.
 */
static void pump(struct session *session)
{
    struct outbox *outbox = &session->outbox;
    const struct codec_bytes *part;

    if (session->state != SESSION_UP)
        return;
    while (!outbox_is_sent(outbox) &&
           session->world->queued(session->context) < SESSION_QUEUE_MAX) {
        if (outbox_is_at_last(outbox) &&
            session->telling == SESSION_TELL_NOTHING)
            return; /* the crew is about to end */
        if (outbox_is_at_last(outbox) &&
            session->telling == SESSION_TELL_FINISHED)
            send_finished(session);
        part = outbox_next(outbox);
        session->world->send(session->context, part->data, part->length);
        session->sent_ns = session_now_ns(session);
    }
    if (session->telling == SESSION_TELL_FINISHED && outbox_is_sent(outbox))
        send_finished(session);
}

void session_send_refusal(struct session *session)
{
    struct session_refusal *refusal = &session->refusal;

    if (session->state != SESSION_UP || !refusal->waits)
        return;
    refusal->waits = false;
    session_send(session, codec_refused(&refusal->work, refusal->target,
                                        refusal->reason));
}

/* ---- What the phase wants ----------------------------------------------- */

static void carry_out_arm(struct session *session,
                          const struct phase_effect *effect)
{
    struct diag diag = {0};

    if (session->world->arm(session->context, effect->at_ns, &diag) == 0)
        phase_armed(&session->phase);
    else
        phase_refused(&session->phase, "", diag.text);
}

static void forget_samples(struct session *session)
{
    outbox_reset(&session->outbox);
    session->drain_row = 0;
    session->telling = SESSION_TELL_NOTHING;
}

static void note_refusal(struct session *session,
                         const struct phase_effect *effect)
{
    struct session_refusal *refusal = &session->refusal;

    refusal->waits = true;
    refusal->work = effect->work;
    memcpy(refusal->target, effect->target, sizeof(refusal->target));
    memcpy(refusal->reason, effect->text, sizeof(refusal->reason));
}

static void carry_out(struct session *session,
                      const struct phase_effect *effect)
{
    const struct session_world *world = session->world;
    void *context = session->context;

    switch (effect->kind) {
    case PHASE_DO_PREPARE:
        forget_samples(session);
        session->refusal.waits = false;
        world->prepare(context, effect->job);
        break;
    case PHASE_DO_ARM:
        carry_out_arm(session, effect);
        break;
    case PHASE_DO_GO:
        world->go(context);
        break;
    case PHASE_DO_STOP_AFTER:
        world->stop_after(context, effect->interval);
        break;
    case PHASE_DO_STOP:
        world->stop(context);
        break;
    case PHASE_DO_LEASE:
        world->lease(context, effect->at_ns);
        break;
    case PHASE_DO_DISCARD:
        world->discard(context, effect->job);
        break;
    case PHASE_DO_RELEASE:
        world->release(context, &effect->work.campaign);
        break;
    case PHASE_SAY_READY:
        if (session->state == SESSION_UP)
            session_send(session, codec_ready(&effect->work, effect->workers,
                                              effect->memory_bytes,
                                              &session->phase.equipment));
        break;
    case PHASE_SAY_ARMED:
        if (session->state == SESSION_UP)
            session_send(session, codec_armed(&effect->work, effect->at_ns));
        break;
    case PHASE_SAY_REFUSED:
        note_refusal(session, effect);
        session_send_refusal(session);
        break;
    case PHASE_SAY_HOLDING:
        session->telling = SESSION_TELL_FINISHED;
        break;
    case PHASE_SAY_IDLE:
        forget_samples(session);
        break;
    case PHASE_LOG:
        session_say(session, SESSION_LOG_INFO, "%s", effect->text);
        break;
    }
}

void session_settle(struct session *session)
{
    struct phase_effect effect;

    while (phase_take_effect(&session->phase, &effect))
        carry_out(session, &effect);
    pump(session);
}

/* ---- Answers of the world ----------------------------------------------- */

void session_inventory(struct session *session,
                       const struct inventory *inventory,
                       const struct codec_engine *engine)
{
    if (session->state == SESSION_UP)
        session_send(session, codec_inventory(inventory, engine));
}

void session_inspected(struct session *session, const struct uuid *campaign,
                       const struct interlock_facts *facts, uint32_t count)
{
    assert(session->inspects > 0);
    session->inspects--;
    if (session->state == SESSION_UP)
        session_send(session, codec_inspected(campaign, facts, count));
}

void session_prepared(struct session *session, uint32_t workers,
                      uint64_t memory_bytes,
                      const struct phase_equipment *equipment)
{
    phase_prepared(&session->phase, workers, memory_bytes, equipment);
    session_settle(session);
}

void session_refused(struct session *session, const char *target,
                     const char *reason)
{
    phase_refused(&session->phase, target, reason);
    session_settle(session);
}

/* What is not acknowledged has a bound: load nobody takes the figures of is
 * stopped. */
static void check_bound(struct session *session)
{
    char reason[160];
    uint64_t bound = session->config.unacknowledged_max;

    if (outbox_bytes(&session->outbox) <= bound)
        return;
    (void)snprintf(reason, sizeof(reason),
                   "stopped: more than %" PRIu64
                   " kB of samples wait for the controller to store them",
                   bound >> 10);
    phase_abort(&session->phase, PHASE_STOPPED, reason);
}

void session_row(struct session *session, const struct row *row)
{
    struct codec_bytes parts[CODEC_PARTS_MAX];
    uint32_t count;

    if (session->phase.job == NULL)
        return; /* given up in the meantime */
    if (row->kind == ROW_DRAIN && row->interval == 0)
        return; /* ended before its start: there are no rows */
    count = codec_sample(&session->phase.work, row, parts);
    if (count == 0 || outbox_add(&session->outbox, row->interval + row->spans,
                                 row->kind == ROW_DRAIN, parts, count) < 0)
        phase_abort(&session->phase, PHASE_FAILED,
                    "an interval's figures fit neither memory nor 64 MiB");
    else if (row->kind == ROW_DRAIN)
        session->drain_row = row->interval;
    check_bound(session);
    session_settle(session);
}

void session_ended(struct session *session, const struct phase_end *end)
{
    struct phase_end counted = *end;

    counted.intervals = session->drain_row;
    phase_ended(&session->phase, &counted);
    session_settle(session);
}
