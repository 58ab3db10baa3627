/* session.c - the connection: whom it serves, and whether it lives. */
#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/session_private.h"
#include "common/uuid.h"

uint64_t session_now_ns(const struct session *session)
{
    return clock_now_ns(session->clock);
}

void session_say(struct session *session, enum session_log level,
                 const char *format, ...)
{
    char text[REASON_SIZE + 256];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    session->world->log(session->context, level, text);
}

void session_say_trouble(struct session *session, const char *what,
                         const char *reason)
{
    char text[REASON_SIZE];

    (void)snprintf(text, sizeof(text), "%s: %s", what, reason);
    if (strcmp(text, session->last_trouble) == 0)
        return;
    memcpy(session->last_trouble, text, sizeof(text));
    session_say(session, SESSION_LOG_WARNING, "%s%s", text,
                session->config.once ? "" : "; trying again");
}

void session_send(struct session *session, struct codec_bytes bytes)
{
    session->world->send(session->context, bytes.data, bytes.length);
    session->sent_ns = session_now_ns(session);
    codec_bytes_done(&bytes);
}

bool session_is_up(const struct session *session)
{
    return session->state == SESSION_UP;
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

    session->state = session->config.once ? SESSION_OVER : SESSION_DOWN;
    if (session->telling == SESSION_TELL_DONE)
        session->telling = SESSION_TELL_FINISHED;
    outbox_rewind(&session->outbox);
    if (session->state == SESSION_OVER) {
        session->due_ns = UINT64_MAX;
        session_end_errand(session);
        phase_abort(&session->phase, PHASE_STOPPED,
                    "the controller that started this agent is gone");
        return;
    }
    wait -= prng_below(&session->prng, wait / 4);
    session->due_ns = session_now_ns(session) + wait;
    session->redial_ns = session->redial_ns * 2 > SESSION_REDIAL_MAX_NS
                             ? SESSION_REDIAL_MAX_NS
                             : session->redial_ns * 2;
}

void session_leave(struct session *session, const char *reason)
{
    session_send(session, codec_reject(reason));
    session->world->hang_up(session->context);
    go_down(session);
}

static void dial(struct session *session)
{
    session->state = SESSION_DIALLING;
    session->due_ns = session_now_ns(session) + SESSION_DIAL_NS;
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
        .commands = session->config.commands,
        .work = session->phase.work,
        .state = session->phase.state,
        .first_unacknowledged = outbox_unacknowledged(&session->outbox),
    };

    memcpy(hello.name, session->config.name, sizeof(hello.name));
    memcpy(hello.labels, session->config.labels, sizeof(hello.labels));
    session_send(session, codec_hello(&hello));
}

static void on_reject(struct session *session, const struct order *order)
{
    session_say_trouble(session, "the controller ended the connection",
                        order->reason);
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
        session_say_trouble(session, "refused to serve", reason);
        session->redial_ns = SESSION_REDIAL_MAX_NS;
        session_leave(session, reason);
        return;
    }
    session->master = *welcome;
    session->state = SESSION_UP;
    session->due_ns = UINT64_MAX;
    session->redial_ns = SESSION_REDIAL_MIN_NS;
    session->last_trouble[0] = '\0';
    session->complained = 0;
    session_say(session, SESSION_LOG_INFO,
                "connected: controller %s, version %s, epoch %" PRIu64,
                uuid_format(&welcome->controller, controller), welcome->version,
                welcome->epoch);
    session->world->look(session->context);
    session_send_refusal(session);
}

/* ---- Frames ------------------------------------------------------------- */

void session_frame(struct session *session, const uint8_t *body, size_t length,
                   uint64_t received_ns)
{
    struct order order;
    struct diag diag = {0};

    if (session->state != SESSION_GREETING && session->state != SESSION_UP)
        return;
    session->heard_ns = session_now_ns(session);
    if (codec_decode(body, length, &order, &diag) < 0) {
        session_say_trouble(session, "a frame from the controller is wrong",
                            diag.text);
        session_leave(session, diag.text);
        return;
    }
    if (order.kind == ORDER_REJECT)
        on_reject(session, &order);
    else if (session->state == SESSION_UP)
        session_obey(session, &order, received_ns);
    else if (order.kind == ORDER_WELCOME)
        on_welcome(session, &order);
    else if (order.kind != ORDER_HEARTBEAT && order.kind != ORDER_UNKNOWN)
        session_leave(session, "an order before the Welcome");
    order_done(&order);
    session_settle(session);
}

void session_connected(struct session *session)
{
    if (session->state != SESSION_DIALLING)
        return;
    session->state = SESSION_GREETING;
    session->due_ns = session_now_ns(session) + SESSION_GREETING_NS;
    session->heard_ns = session_now_ns(session);
    send_hello(session);
}

void session_disconnected(struct session *session, const char *reason)
{
    if (session->state == SESSION_DOWN || session->state == SESSION_OVER)
        return;
    session_say_trouble(session,
                        session->state == SESSION_UP
                            ? "lost the controller"
                            : "cannot reach the controller",
                        reason);
    go_down(session);
    session_settle(session);
}

/* ---- Time --------------------------------------------------------------- */

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t session_due_ns(const struct session *session)
{
    uint64_t due = earlier(session->due_ns, phase_due_ns(&session->phase));

    if (session->state != SESSION_UP)
        return due;
    due = earlier(due, session->sent_ns + SESSION_HEARTBEAT_NS);
    if (session->config.once)
        return due;
    return earlier(due, session->heard_ns + SESSION_SILENCE_NS);
}

static void tick_up(struct session *session)
{
    uint64_t now = session_now_ns(session);

    /* Frames may be waiting where this process itself was the silent one. */
    if (now - session->ticked_ns > SESSION_SILENCE_NS / 2)
        session->heard_ns = now;
    /* Without a second connection the lease alone ends the load. */
    if (!session->config.once &&
        now - session->heard_ns >= SESSION_SILENCE_NS) {
        session_say_trouble(session, "lost the controller",
                            "it is connected but has said nothing for 5 s");
        session_leave(session, "nothing heard for 5 s");
    } else if (now - session->sent_ns >= SESSION_HEARTBEAT_NS) {
        session_send(session, codec_heartbeat());
    }
}

static void tick_state(struct session *session)
{
    switch (session->state) {
    case SESSION_DOWN:
        dial(session);
        break;
    case SESSION_DIALLING:
        session_say_trouble(session, "cannot reach the controller",
                            "no connection within 30 s");
        session->world->hang_up(session->context);
        go_down(session);
        break;
    case SESSION_GREETING:
        session_say_trouble(session, "cannot reach the controller",
                            "connected, but no Welcome within 5 s");
        session->world->hang_up(session->context);
        go_down(session);
        break;
    case SESSION_UP:
    case SESSION_OVER:
        break;
    }
}

void session_tick(struct session *session)
{
    phase_tick(&session->phase);
    session_settle(session);
    if (session_now_ns(session) >= session->due_ns)
        tick_state(session);
    if (session->state == SESSION_UP)
        tick_up(session);
    session_settle(session);
    session->ticked_ns = session_now_ns(session);
}

void session_waits(struct session *session)
{
    session->waits_ns = session_now_ns(session);
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
    session->state = SESSION_DOWN;
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
    session_end_errand(session);
    phase_done(&session->phase);
    session_settle(session);
    outbox_reset(&session->outbox);
    free(session);
    return NULL;
}

void session_start(struct session *session)
{
    assert(session->state == SESSION_DOWN);
    dial(session);
}

void session_stop(struct session *session, const char *reason)
{
    if (session->stopping[0] == '\0')
        (void)snprintf(session->stopping, sizeof(session->stopping), "%s",
                       reason);
    session_end_errand(session);
    phase_abort(&session->phase, PHASE_STOPPED, reason);
    session_settle(session);
}

bool session_is_over(const struct session *session)
{
    return session->phase.job == NULL &&
           (session->stopping[0] != '\0' || session->state == SESSION_OVER);
}

const struct phase *session_phase(const struct session *session)
{
    return &session->phase;
}

uint64_t session_unacknowledged(const struct session *session)
{
    return outbox_bytes(&session->outbox);
}
