/*
 * agent_session.h - a connected agent.
 *
 * Made when its hello was accepted; gone with its link.  It keeps what the
 * hello said and the clock probes that are on their way.
 *
 * Memory: agent_session_free().  Threads: one owner.
 */
#ifndef CONTROLLER_FLEET_AGENT_SESSION_H
#define CONTROLLER_FLEET_AGENT_SESSION_H

#include "common/base.h"
#include "controller/conduct/offset.h"
#include "controller/fleet/link.h"

struct host;

#define AGENT_SESSION_PROBES                                                   \
    64u /* on their way at once; older are forgotten                           \
         */

struct agent_session_probe {
    uint64_t sequence; /* 0: none */
    uint64_t sent_ns;
};

struct agent_session {
    struct link *link;
    struct host *host;
    struct uuid instance;
    struct uuid boot;
    uint64_t lease_ns;
    bool finishes_phase;
    bool holds; /* the work below, as its hello said */
    struct wire_work held;
    enum wire_agent_state held_state;
    struct offset clock;    /* for people; a conductor keeps its own */
    uint64_t probe_ns;      /* when it is probed next, if only for people */
    uint64_t probe_sent_ns; /* the last one */
    bool probe_waits;       /* in probes.h's list */
    struct agent_session *probe_next; /* there */
    uint64_t probes_sent;
    struct agent_session_probe probes[AGENT_SESSION_PROBES];
};

/* Takes over a link that is greeting.  NULL without memory. */
struct agent_session *agent_session_new(struct link *link,
                                        const struct wire_agent_hello *hello);

/* NULL is fine.  Returns NULL. */
struct agent_session *agent_session_free(struct agent_session *session);

/* Sends a probe, stamped beside the write. */
void agent_session_probe(struct agent_session *session);

/*
 * The answer to a probe, read at `read_ns`.  False for one that was not asked
 * for, or was answered before.
 */
bool agent_session_probed(struct agent_session *session,
                          const struct wire_clock_reply *reply,
                          uint64_t read_ns,
                          struct offset_probe *ret_probe) MUST_CHECK;

#endif
