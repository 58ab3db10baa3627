/*
 * link.h - one connection, as the controller's logic sees it.
 *
 * Pure: what came is told by calls, what goes out leaves through `struct
 * link_world`, a table of functions that the loop (or a test, or the simulator)
 * gives.  No function of the world may call back; news come as calls of their
 * own.
 *
 *   state      waits for                      no longer than
 *   greeting   AgentHello or ShellHello       LINK_GREETING_NS
 *   agent      any frame                      LINK_SILENCE_NS
 *   shell      any frame                      LINK_SILENCE_NS
 *              (both without a limit where the context is patient, or the peer
 *              is within this process)
 *   ended      to be forgotten
 *
 * Memory: embedded by value in the fleet's list of links.
 * Threads: one owner.
 */
#ifndef CONTROLLER_FLEET_LINK_H
#define CONTROLLER_FLEET_LINK_H

#include "common/base.h"
#include "common/tls.h"
#include "controller/fleet/wire.h"

#define LINK_GREETING_NS  (5 * NS_PER_S)
#define LINK_HEARTBEAT_NS (1 * NS_PER_S)
#define LINK_SILENCE_NS   (5 * NS_PER_S)

#define LINK_ADDRESS_SIZE 281

struct arena;
struct clock;

/* What a link asks of the world.  `connection` is what the world gave. */
struct link_world {
    /* Sends one body; copies it. */
    void (*send)(void *connection, const uint8_t *body, size_t length);
    /* Bytes sent and not taken by the kernel yet. */
    size_t (*queued)(void *connection);
    /* Ends the connection after what was sent.  Nothing of it is told to the
     * link any more. */
    void (*end)(void *connection, const char *reason);
    /* Instead of send(), for a peer within this process, which takes messages
     * as they are (they live during the call).  NULL: it wants bytes. */
    void (*say)(void *connection, const struct wire_out *out);
};

/* What all links share. */
struct link_context {
    const struct link_world *world;
    const struct clock *clock;
    struct arena *scratch; /* of encoding */
    uint32_t *ended;       /* counts links that end; NULL: nobody asks */
    bool patient; /* silence ends no link: the peers are processes of this very
                     host, whose end is seen, and which may well be stopped (by
                     Ctrl-Z, by a terminal that takes no output) */
};

/* Who is at the other end, as far as the connection itself can tell. */
struct link_peer {
    const char *address;            /* "192.0.2.7:40312", or "local" */
    const char *name;               /* of the certificate; "" without TLS */
    enum tls_role role;             /* TLS_ROLE_NONE without TLS */
    const struct link_world *world; /* NULL: the fleet's */
};

enum link_state {
    LINK_INVALID, /* a hole in the table */
    LINK_GREETING,
    LINK_AGENT,
    LINK_SHELL,
    LINK_ENDED,
    LINK_STATES,
};

struct link {
    const struct link_context *context;
    const struct link_world *world;
    void *connection;
    void *owner; /* the session, once greeted */
    uint64_t id; /* never given twice */
    enum link_state state;
    enum link_state greeted_as; /* LINK_AGENT or LINK_SHELL; else INVALID */
    uint64_t opened_ns;
    uint64_t heard_ns;
    uint64_t said_ns;
    enum tls_role role;
    char name[NAME_SIZE]; /* of the certificate */
    char address[LINK_ADDRESS_SIZE];
    char end_reason[REASON_SIZE];
    struct link *next; /* the fleet's */
};

void link_init(struct link *link, const struct link_context *context,
               uint64_t id, void *connection, const struct link_peer *peer);

/* The one setter of the state. */
void link_enter(struct link *link, enum link_state state);

static inline bool link_is_open(const struct link *link)
{
    return link->state != LINK_ENDED;
}

/*
 * Sends a frame.  Returns 0; -EMSGSIZE when it would be longer than a frame
 * may be; -ENOTCONN when the link has ended, which it has on -ENOMEM, too.
 */
int link_say(struct link *link, const struct wire_out *out);

/* Something came. */
void link_heard(struct link *link, uint64_t now_ns);

/* Says why and ends.  The one way out from our side; twice is fine. */
void link_end(struct link *link, const char *format, ...) PRINTF(2, 3);

/* The connection is gone: the other way out. */
void link_lost(struct link *link, const char *reason);

/* Heartbeats, and the limits of the table above. */
void link_tick(struct link *link, uint64_t now_ns);

/* The address without its port, into LINK_ADDRESS_SIZE bytes. */
void link_host_address(const struct link *link, char *text);

#endif
