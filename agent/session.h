/*
 * session.h - the agent's side of its one connection to the controller.
 *
 * Pure: frames, news and time come in by function calls; what is to be done
 * about them goes out through `struct session_world`, a table of functions
 * that the owner gives.  The owner is the libuv loop (loop.c), or a test, or
 * the simulator.  No function of the world may call back into the session;
 * answers come later, as calls of their own.
 *
 * What it keeps: that there is a connection (dialling again after 50 ms, then
 * twice as long each time up to a second), hello and Welcome, the controller's
 * identity while work is held, heartbeats and the limit of silence, the one
 * phase at hand, the lease, and every sample until it is acknowledged.
 *
 * Orders about work must name the work at hand and the controller's epoch, and
 * come in a state that they belong to; others are not obeyed.  What is said of
 * work carries the epoch of its Prepare: a controller that was started again
 * may have ordered the phase anew, and knows by it which of the two is told of.
 *  A Prepare that
 * cannot be obeyed is answered with Refused, the others are logged, once.
 *
 * FINISHED is sent before the drain row, where there is one.  Holding ends with
 * a SampleAck that leaves no row unacknowledged and comes after Finished was
 * sent on the same connection; the controller answers every Finished with one,
 * also where no row was made.  Finished.intervals is the number of the drain
 * row, 0 without rows.
 *
 * COMMANDS that the host's own configuration names are run when told by name,
 * one at a time, and never while there is work of a phase; a Prepare that comes
 * while one runs is refused.
 *
 * Threads: one owner.
 *
 *     session = session_new(&config, clock, &world, context);
 *     session_start(session);
 *     loop: session_connected / session_frame / session_row / ...
 *           session_tick() at session_due_ns() at the latest
 *     session_free(session);
 */
#ifndef AGENT_SESSION_H
#define AGENT_SESSION_H

#include "agent/codec.h"
#include "agent/job.h"
#include "agent/phase.h"
#include "common/base.h"
#include "common/clock.h"

struct interlock_facts;
struct interlock_wish;
struct inventory;
struct row;

#define SESSION_REDIAL_MIN_NS  (50 * NS_PER_MS)
#define SESSION_REDIAL_MAX_NS  (1 * NS_PER_S)
#define SESSION_DIAL_NS        (30 * NS_PER_S)
#define SESSION_GREETING_NS    (5 * NS_PER_S) /* hello sent, no Welcome yet */
#define SESSION_HEARTBEAT_NS   (1 * NS_PER_S)
#define SESSION_SILENCE_NS     (5 * NS_PER_S)
#define SESSION_UNACKNOWLEDGED (UINT64_C(256) << 20)
#define SESSION_QUEUE_MAX      (4u << 20) /* bytes sent that still wait */
#define SESSION_INSPECTS_MAX   4u         /* at once */

enum session_log {
    SESSION_LOG_INFO,
    SESSION_LOG_WARNING,
};

/* What the session asks of the world.  All are set. */
struct session_world {
    /* Dial.  Answered by session_connected() or session_disconnected(). */
    void (*dial)(void *context);
    /* Sends one body; copies it.  Only while connected. */
    void (*send)(void *context, const uint8_t *body, size_t length);
    /* Bytes that were sent and still wait.  When it falls to 0 after it was
     * not, session_tick() is to be called: samples wait for room. */
    size_t (*queued)(void *context);
    /* Ends the connection or the attempt, after what was sent.  Not answered:
     * nothing of the old connection is told to the session any more. */
    void (*hang_up)(void *context);
    void (*log)(void *context, enum session_log level, const char *text);

    /* Answered by session_inventory(), which may also come by itself. */
    void (*look)(void *context);
    /* Answered by session_inspected().  Takes the wishes: free() them. */
    void (*inspect)(void *context, const struct uuid *campaign,
                    struct interlock_wish *wishes, uint32_t count);

    /* The phase at hand, see phase.h.  Answered by session_prepared() or
     * session_refused(), unless discard comes before: then by neither. */
    void (*prepare)(void *context, const struct job *job);
    /* 0, or negative with the reason.  Armed already, it moves the start. */
    int (*arm)(void *context, uint64_t start_ns, struct diag *diag);
    void (*go)(void *context);
    void (*stop_after)(void *context, uint64_t interval);
    void (*stop)(void *context);
    void (*lease)(void *context, uint64_t deadline_ns);
    /* Takes the job, to be freed once nothing looks at it any more. */
    void (*discard)(void *context, struct job *job);
    void (*release)(void *context, const struct uuid *campaign);

    /* Runs a command of this host's own configuration.  Answered by
     * session_ran(), unless end_run, which kills it, comes before. */
    void (*run)(void *context, const struct command *command,
                const struct uuid *campaign, uint32_t phase);
    void (*end_run)(void *context);
};

struct session_config {
    char name[NAME_SIZE];
    struct uuid instance;
    struct uuid boot;
    char labels[CODEC_LABELS_MAX][NAME_SIZE];
    uint32_t label_count;
    struct phase_config phase;       /* lease and what its end does */
    const struct commands *commands; /* that it runs; outlives it; or NULL */
    uint64_t unacknowledged_max;     /* bytes; 0: SESSION_UNACKNOWLEDGED */
    bool once; /* no second connection: its end is the end of the agent */
};

struct session;

/* NULL without memory.  `world` must outlive the session. */
struct session *session_new(const struct session_config *config,
                            const struct clock *clock,
                            const struct session_world *world, void *context);
/* NULL is fine.  Returns NULL.  Discards and releases through the world. */
struct session *session_free(struct session *session);

/* Dials for the first time. */
void session_start(struct session *session);

/*
 * The owner is about to wait.  What it brings next may have arrived at any time
 * from now on: leases run from here.  Where it is never called, leases run from
 * the moment that the frame is brought.
 */
void session_waits(struct session *session);

/* From the connection. */
void session_connected(struct session *session);
void session_disconnected(struct session *session, const char *reason);
/* One frame's body; `received_ns` was read beside the read of its bytes. */
void session_frame(struct session *session, const uint8_t *body, size_t length,
                   uint64_t received_ns);

/* Answers of the world. */
void session_inventory(struct session *session,
                       const struct inventory *inventory,
                       const struct codec_engine *engine);
void session_inspected(struct session *session, const struct uuid *campaign,
                       const struct interlock_facts *facts, uint32_t count);
void session_prepared(struct session *session, uint32_t workers,
                      uint64_t memory_bytes,
                      const struct phase_equipment *equipment);
/* `target`: the sd it is about, or "". */
void session_refused(struct session *session, const char *target,
                     const char *reason);

void session_ran(struct session *session, const struct errand_result *result);

/* From the crew: each closed row once, in order, the drain row included; then
 * the end. */
void session_row(struct session *session, const struct row *row);
void session_ended(struct session *session, const struct phase_end *end);

void session_tick(struct session *session);
uint64_t session_due_ns(const struct session *session);

/*
 * The agent is to end: stops I/O, drains, tells the controller, takes no new
 * work.  session_is_over() says when nothing is left to wait for; what is not
 * acknowledged then is the caller's to wait for or not.  May be called twice.
 */
void session_stop(struct session *session, const char *reason);
bool session_is_over(const struct session *session);

/* For the loop, tests and people. */
bool session_is_up(const struct session *session); /* Welcome has come */
const struct phase *session_phase(const struct session *session);
uint64_t session_unacknowledged(const struct session *session); /* bytes */

#endif
