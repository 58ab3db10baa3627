/* session.c - one connection, one phase, and the samples in between. */
#include "agent/session.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/outbox.h"
#include "agent/row.h"
#include "common/prng.h"
#include "common/uuid.h"

enum state {
    STATE_DOWN, /* until `due_ns`, then it dials */
    STATE_DIALLING,
    STATE_GREETING, /* hello sent */
    STATE_UP,
    STATE_OVER, /* config.once, and it has been */
};

/* Whether the controller has been told that the phase is over. */
enum telling {
    TELL_NOTHING,
    TELL_FINISHED, /* as soon as all samples are sent */
    TELL_DONE,     /* on this connection */
};

struct refusal {
    bool waits; /* for a connection */
    struct work work;
    char target[NAME_SIZE];
    char reason[REASON_SIZE];
};

struct session {
    struct session_config config;
    const struct clock *clock;
    const struct session_world *world;
    void *context;

    enum state state;
    uint64_t due_ns;    /* of the state; UINT64_MAX: none */
    uint64_t redial_ns; /* how long to wait next time */
    uint64_t sent_ns;
    uint64_t heard_ns;
    uint64_t waits_ns; /* since when frames may have been waiting */
    uint64_t ticked_ns;
    struct prng prng; /* so that not all agents of a lab dial at once */

    struct order_welcome master; /* the last that was accepted */
    struct phase phase;
    struct outbox outbox;
    uint64_t drain_row; /* its number; 0 while there is none */
    enum telling telling;
    struct refusal refusal;
    uint32_t inspects;

    char stopping[REASON_SIZE];     /* why the agent is to end; "" */
    char last_trouble[REASON_SIZE]; /* logged already */
    uint32_t complained;            /* bits of enum order_kind */
};

static uint64_t now_ns(const struct session *session)
{
    return clock_now_ns(session->clock);
}

PRINTF(3, 4)
static void say(struct session *session, enum session_log level,
                const char *format, ...)
{
    char text[REASON_SIZE + 256];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    session->world->log(session->context, level, text);
}

/* The same trouble is told once, however often it is met in redialling. */
static void say_trouble(struct session *session, const char *what,
                        const char *reason)
{
    char text[REASON_SIZE];

    (void)snprintf(text, sizeof(text), "%s: %s", what, reason);
    if (strcmp(text, session->last_trouble) == 0)
        return;
    memcpy(session->last_trouble, text, sizeof(text));
    say(session, SESSION_LOG_WARNING, "%s%s", text,
        session->config.once ? "" : "; trying again");
}

static void send(struct session *session, struct codec_bytes bytes)
{
    session->world->send(session->context, bytes.data, bytes.length);
    session->sent_ns = now_ns(session);
    codec_bytes_done(&bytes);
}

bool session_is_up(const struct session *session)
{
    return session->state == STATE_UP;
}

/* ---- The connection ----------------------------------------------------- */

/* Work, or drives of a campaign: only the controller they belong to may be
 * talked to. */
static bool is_bound(const struct session *session)
{
    return phase_has_work(&session->phase) ||
           session->phase.lease != PHASE_LEASE_NONE;
}

/* Leaves whatever connection there was; another one is dialled later. */
static void go_down(struct session *session)
{
    uint64_t wait = session->redial_ns;

    session->state = session->config.once ? STATE_OVER : STATE_DOWN;
    if (session->telling == TELL_DONE)
        session->telling = TELL_FINISHED;
    outbox_rewind(&session->outbox);
    if (session->state == STATE_OVER) {
        session->due_ns = UINT64_MAX;
        phase_abort(&session->phase, PHASE_STOPPED,
                    "the controller that started this agent is gone");
        return;
    }
    wait -= prng_below(&session->prng, wait / 4);
    session->due_ns = now_ns(session) + wait;
    session->redial_ns = session->redial_ns * 2 > SESSION_REDIAL_MAX_NS
                             ? SESSION_REDIAL_MAX_NS
                             : session->redial_ns * 2;
}

/* Ends the connection from this side.  The peer hears `reason` as a Reject. */
static void leave(struct session *session, const char *reason)
{
    send(session, codec_reject(reason));
    session->world->hang_up(session->context);
    go_down(session);
}

static void dial(struct session *session)
{
    session->state = STATE_DIALLING;
    session->due_ns = now_ns(session) + SESSION_DIAL_NS;
    session->world->dial(session->context);
}

static void send_hello(struct session *session)
{
    struct hello hello = {
        .instance = session->config.instance,
        .boot = session->config.boot,
        .lease_ms = (uint32_t)(session->config.phase.lease_ns / NS_PER_MS),
        .finishes_phase = session->config.phase.finish_on_lease_lost,
        .label_count = session->config.label_count,
        .work = session->phase.work,
        .state = session->phase.state,
        .first_unacknowledged = outbox_unacknowledged(&session->outbox),
    };

    memcpy(hello.name, session->config.name, sizeof(hello.name));
    memcpy(hello.labels, session->config.labels, sizeof(hello.labels));
    send(session, codec_hello(&hello));
}

/* ---- Samples and the end ------------------------------------------------ */

static void send_finished(struct session *session)
{
    session->telling = TELL_DONE;
    send(session, codec_finished(&session->phase.work, &session->phase.end));
}

/*
 * Sends what waits, as far as the connection takes it.  Finished goes before
 * the drain row: an acknowledgement of that row then tells that both came.
 */
static void pump(struct session *session)
{
    struct outbox *outbox = &session->outbox;
    const struct codec_bytes *part;

    if (session->state != STATE_UP)
        return;
    while (!outbox_is_sent(outbox) &&
           session->world->queued(session->context) < SESSION_QUEUE_MAX) {
        if (outbox_is_at_last(outbox) && session->telling == TELL_NOTHING)
            return; /* the crew is about to end */
        if (outbox_is_at_last(outbox) && session->telling == TELL_FINISHED)
            send_finished(session);
        part = outbox_next(outbox);
        session->world->send(session->context, part->data, part->length);
        session->sent_ns = now_ns(session);
    }
    if (session->telling == TELL_FINISHED && outbox_is_sent(outbox))
        send_finished(session);
}

static void send_refusal(struct session *session)
{
    struct refusal *refusal = &session->refusal;

    if (session->state != STATE_UP || !refusal->waits)
        return;
    refusal->waits = false;
    send(session,
         codec_refused(&refusal->work, refusal->target, refusal->reason));
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
    session->telling = TELL_NOTHING;
}

static void note_refusal(struct session *session,
                         const struct phase_effect *effect)
{
    struct refusal *refusal = &session->refusal;

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
        if (session->state == STATE_UP)
            send(session, codec_ready(&effect->work, effect->workers,
                                      effect->memory_bytes));
        break;
    case PHASE_SAY_ARMED:
        if (session->state == STATE_UP)
            send(session, codec_armed(&effect->work));
        break;
    case PHASE_SAY_REFUSED:
        note_refusal(session, effect);
        send_refusal(session);
        break;
    case PHASE_SAY_HOLDING:
        session->telling = TELL_FINISHED;
        break;
    case PHASE_SAY_IDLE:
        forget_samples(session);
        break;
    case PHASE_LOG:
        say(session, SESSION_LOG_INFO, "%s", effect->text);
        break;
    }
}

/* After every event: all that the phase decided, then what may be sent. */
static void settle(struct session *session)
{
    struct phase_effect effect;

    while (phase_take_effect(&session->phase, &effect))
        carry_out(session, &effect);
    pump(session);
}

/* ---- Orders ------------------------------------------------------------- */

/* An order that was not obeyed: a line, but not one each time. */
static void complain(struct session *session, const struct order *order,
                     const char *reason)
{
    uint32_t bit = 1u << order->kind;

    if ((session->complained & bit) != 0)
        return;
    session->complained |= bit;
    say(session, SESSION_LOG_WARNING, "%s not obeyed: %s",
        order_kind_name(order->kind), reason);
}

static void refuse(struct session *session, const struct order *order,
                   const char *reason)
{
    complain(session, order, reason);
    send(session, codec_refused(&order->work, "", reason));
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
    return session->waits_ns != 0 ? session->waits_ns : now_ns(session);
}

static void on_prepare(struct session *session, struct order *order)
{
    struct diag diag = {0};

    if (!is_of_epoch(session, order))
        return;
    if (is_same_work(session, order)) {
        phase_say_ready(&session->phase); /* asked again */
        if (session->telling == TELL_DONE)
            session->telling = TELL_FINISHED;
        return;
    }
    if (session->stopping[0] != '\0') {
        refuse(session, order, session->stopping);
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
    if (session->telling == TELL_DONE && outbox_is_empty(&session->outbox))
        phase_acknowledged(&session->phase);
}

static void on_inspect(struct session *session, struct order *order)
{
    if (session->inspects == SESSION_INSPECTS_MAX) {
        leave(session, "too many Inspects at once");
        return;
    }
    session->inspects++;
    session->world->inspect(session->context, &order->campaign,
                            TAKE(order->wishes), order->wish_count);
}

static void on_clock_probe(struct session *session, const struct order *order,
                           uint64_t received_ns)
{
    send(session,
         codec_clock_reply(order->number, received_ns, now_ns(session)));
}

static void on_reject(struct session *session, const struct order *order)
{
    say_trouble(session, "the controller ended the connection", order->reason);
    session->world->hang_up(session->context);
    session->redial_ns = SESSION_REDIAL_MAX_NS;
    go_down(session);
}

/* ---- Welcome ------------------------------------------------------------ */

/* Why this controller may not be served; false: it may. */
static bool is_wrong_master(const struct session *session,
                            const struct order_welcome *welcome,
                            char *ret_reason, size_t size)
{
    char ours[UUID_TEXT_SIZE], theirs[UUID_TEXT_SIZE];

    if (welcome->major != CODEC_MAJOR) {
        (void)snprintf(ret_reason, size,
                       "agent %s speaks protocol %u.%u, the controller %u.%u: "
                       "their first numbers must be equal",
                       session->config.name, CODEC_MAJOR, CODEC_MINOR,
                       welcome->major, welcome->minor);
        return true;
    }
    if (!is_bound(session))
        return false;
    if (!uuid_equal(&welcome->controller, &session->master.controller)) {
        (void)snprintf(ret_reason, size,
                       "agent %s holds work of controller %s, not of %s: end "
                       "that first, or start the agent anew",
                       session->config.name,
                       uuid_format(&session->master.controller, ours),
                       uuid_format(&welcome->controller, theirs));
        return true;
    }
    if (welcome->epoch < session->master.epoch) {
        (void)snprintf(ret_reason, size,
                       "agent %s holds work of epoch %" PRIu64
                       " of this controller, which now says %" PRIu64
                       ": its store is an older copy",
                       session->config.name, session->master.epoch,
                       welcome->epoch);
        return true;
    }
    return false;
}

static void on_welcome(struct session *session, const struct order *order)
{
    const struct order_welcome *welcome = &order->welcome;
    char reason[512];
    char controller[UUID_TEXT_SIZE];

    if (is_wrong_master(session, welcome, reason, sizeof(reason))) {
        say_trouble(session, "refused to serve", reason);
        session->redial_ns = SESSION_REDIAL_MAX_NS;
        leave(session, reason);
        return;
    }
    session->master = *welcome;
    session->state = STATE_UP;
    session->due_ns = UINT64_MAX;
    session->redial_ns = SESSION_REDIAL_MIN_NS;
    session->last_trouble[0] = '\0';
    session->complained = 0;
    say(session, SESSION_LOG_INFO,
        "connected: controller %s, version %s, epoch %" PRIu64,
        uuid_format(&welcome->controller, controller), welcome->version,
        welcome->epoch);
    phase_adopt(&session->phase, welcome->epoch);
    session->world->look(session->context);
    send_refusal(session);
}

/* ---- Frames ------------------------------------------------------------- */

static void obey(struct session *session, struct order *order,
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
    case ORDER_WELCOME:
        leave(session, "a second Welcome");
        break;
    case ORDER_REJECT:
    case ORDER_UNKNOWN:
    case ORDER_HEARTBEAT:
    case ORDER_KINDS:
        break;
    }
}

void session_frame(struct session *session, const uint8_t *body, size_t length,
                   uint64_t received_ns)
{
    struct order order;
    struct diag diag = {0};

    if (session->state != STATE_GREETING && session->state != STATE_UP)
        return;
    session->heard_ns = now_ns(session);
    if (codec_decode(body, length, &order, &diag) < 0) {
        say_trouble(session, "a frame from the controller is wrong", diag.text);
        leave(session, diag.text);
        return;
    }
    if (order.kind == ORDER_REJECT)
        on_reject(session, &order);
    else if (session->state == STATE_UP)
        obey(session, &order, received_ns);
    else if (order.kind == ORDER_WELCOME)
        on_welcome(session, &order);
    else if (order.kind != ORDER_HEARTBEAT && order.kind != ORDER_UNKNOWN)
        leave(session, "an order before the Welcome");
    order_done(&order);
    settle(session);
}

void session_connected(struct session *session)
{
    if (session->state != STATE_DIALLING)
        return;
    session->state = STATE_GREETING;
    session->due_ns = now_ns(session) + SESSION_GREETING_NS;
    session->heard_ns = now_ns(session);
    send_hello(session);
}

void session_disconnected(struct session *session, const char *reason)
{
    if (session->state == STATE_DOWN || session->state == STATE_OVER)
        return;
    say_trouble(session,
                session->state == STATE_UP ? "lost the controller"
                                           : "cannot reach the controller",
                reason);
    go_down(session);
    settle(session);
}

/* ---- Answers of the world ----------------------------------------------- */

void session_inventory(struct session *session,
                       const struct inventory *inventory,
                       const struct codec_engine *engine)
{
    if (session->state == STATE_UP)
        send(session, codec_inventory(inventory, engine));
}

void session_inspected(struct session *session, const struct uuid *campaign,
                       const struct interlock_facts *facts, uint32_t count)
{
    assert(session->inspects > 0);
    session->inspects--;
    if (session->state == STATE_UP)
        send(session, codec_inspected(campaign, facts, count));
}

void session_prepared(struct session *session, uint32_t workers,
                      uint64_t memory_bytes)
{
    phase_prepared(&session->phase, workers, memory_bytes);
    settle(session);
}

void session_refused(struct session *session, const char *target,
                     const char *reason)
{
    phase_refused(&session->phase, target, reason);
    settle(session);
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
    settle(session);
}

void session_ended(struct session *session, const struct phase_end *end)
{
    struct phase_end counted = *end;

    counted.intervals = session->drain_row;
    phase_ended(&session->phase, &counted);
    settle(session);
}

/* ---- Time --------------------------------------------------------------- */

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t session_due_ns(const struct session *session)
{
    uint64_t due = earlier(session->due_ns, phase_due_ns(&session->phase));

    if (session->state != STATE_UP)
        return due;
    due = earlier(due, session->sent_ns + SESSION_HEARTBEAT_NS);
    return earlier(due, session->heard_ns + SESSION_SILENCE_NS);
}

static void tick_up(struct session *session)
{
    uint64_t now = now_ns(session);

    /* Frames may be waiting where this process itself was the silent one. */
    if (now - session->ticked_ns > SESSION_SILENCE_NS / 2)
        session->heard_ns = now;
    if (now - session->heard_ns >= SESSION_SILENCE_NS) {
        say_trouble(session, "lost the controller",
                    "it is connected but has said nothing for 5 s");
        leave(session, "nothing heard for 5 s");
    } else if (now - session->sent_ns >= SESSION_HEARTBEAT_NS) {
        send(session, codec_heartbeat());
    }
}

static void tick_state(struct session *session)
{
    switch (session->state) {
    case STATE_DOWN:
        dial(session);
        break;
    case STATE_DIALLING:
        say_trouble(session, "cannot reach the controller",
                    "no connection within 30 s");
        session->world->hang_up(session->context);
        go_down(session);
        break;
    case STATE_GREETING:
        say_trouble(session, "cannot reach the controller",
                    "connected, but no Welcome within 5 s");
        session->world->hang_up(session->context);
        go_down(session);
        break;
    case STATE_UP:
    case STATE_OVER:
        break;
    }
}

void session_tick(struct session *session)
{
    phase_tick(&session->phase);
    settle(session);
    if (now_ns(session) >= session->due_ns)
        tick_state(session);
    if (session->state == STATE_UP)
        tick_up(session);
    settle(session);
    session->ticked_ns = now_ns(session);
}

void session_waits(struct session *session)
{
    session->waits_ns = now_ns(session);
}

/* ---- Life --------------------------------------------------------------- */

struct session *session_new(const struct session_config *config,
                            const struct clock *clock,
                            const struct session_world *world, void *context)
{
    struct session *session = calloc(1, sizeof(*session));
    uint64_t seed;

    if (session == NULL)
        return NULL;
    session->config = *config;
    if (session->config.unacknowledged_max == 0)
        session->config.unacknowledged_max = SESSION_UNACKNOWLEDGED;
    session->clock = clock;
    session->world = world;
    session->context = context;
    session->state = STATE_DOWN;
    session->due_ns = UINT64_MAX;
    session->redial_ns = SESSION_REDIAL_MIN_NS;
    session->ticked_ns = clock_now_ns(clock);
    memcpy(&seed, config->instance.bytes, sizeof(seed));
    prng_seed(&session->prng, seed);
    phase_init(&session->phase, &config->phase, clock);
    outbox_init(&session->outbox);
    return session;
}

struct session *session_free(struct session *session)
{
    if (session == NULL)
        return NULL;
    phase_done(&session->phase);
    settle(session);
    outbox_reset(&session->outbox);
    free(session);
    return NULL;
}

void session_start(struct session *session)
{
    assert(session->state == STATE_DOWN);
    dial(session);
}

void session_stop(struct session *session, const char *reason)
{
    if (session->stopping[0] == '\0')
        (void)snprintf(session->stopping, sizeof(session->stopping), "%s",
                       reason);
    phase_abort(&session->phase, PHASE_STOPPED, reason);
    settle(session);
}

bool session_is_over(const struct session *session)
{
    return session->phase.job == NULL &&
           (session->stopping[0] != '\0' || session->state == STATE_OVER);
}

const struct phase *session_phase(const struct session *session)
{
    return &session->phase;
}

uint64_t session_unacknowledged(const struct session *session)
{
    return outbox_bytes(&session->outbox);
}
