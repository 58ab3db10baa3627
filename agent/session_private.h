/*
 * session_private.h - the session's own, shared by its four files: session.c
 * (the connection, time, life), session_orders.c (what the controller says
 * once connected), session_phase.c (the phase, its samples, their end) and
 * session_errand.c (commands).
 */
#ifndef AGENT_SESSION_PRIVATE_H
#define AGENT_SESSION_PRIVATE_H

#include "agent/codec.h"
#include "agent/outbox.h"
#include "agent/phase.h"
#include "agent/session.h"
#include "common/prng.h"

enum session_state {
    SESSION_DOWN, /* until `due_ns`, then it dials */
    SESSION_DIALLING,
    SESSION_GREETING, /* hello sent */
    SESSION_UP,
    SESSION_OVER, /* config.once, and it has been */
};

/* Whether the controller has been told that the phase is over. */
enum session_telling {
    SESSION_TELL_NOTHING,
    SESSION_TELL_FINISHED, /* as soon as all samples are sent */
    SESSION_TELL_DONE,     /* on this connection */
};

struct session_refusal {
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

    enum session_state state;
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
    enum session_telling telling;
    struct session_refusal refusal;
    uint32_t inspects;
    struct errand errand;
    struct errand_result refused_errand; /* while it is told */

    char stopping[REASON_SIZE];     /* why the agent is to end; "" */
    char last_trouble[REASON_SIZE]; /* logged already */
    uint32_t complained;            /* bits of enum order_kind */
};

uint64_t session_now_ns(const struct session *session);

void session_say(struct session *session, enum session_log level,
                 const char *format, ...) PRINTF(3, 4);
/* The same trouble is told once, however often it is met in redialling. */
void session_say_trouble(struct session *session, const char *what,
                         const char *reason);

/* Takes the bytes. */
void session_send(struct session *session, struct codec_bytes bytes);

/* Ends the connection from this side.  The peer hears `reason` as a Reject. */
void session_leave(struct session *session, const char *reason);

/* After every event: all that the phase decided, then what may be sent. */
void session_settle(struct session *session);

/* Tells of a refusal that waits for a connection. */
void session_send_refusal(struct session *session);

/* A Command. */
void session_command(struct session *session, const struct order *order);
void session_end_errand(struct session *session);
bool session_runs_errand(const struct session *session);

/* An order, once connected. */
void session_obey(struct session *session, struct order *order,
                  uint64_t received_ns);

#endif
