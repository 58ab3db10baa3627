/*
 * probes.h - few clock probes at a time.
 *
 * A thousand agents that are probed at once answer at once, and then each
 * answer waits for the others: what is measured is our own queue.  So at most
 * PROBES_OUT are on their way; the next goes when one has come back, or has
 * been away for PROBES_AWAY_NS, lest a few distant agents hold up all.
 *
 * Threads: the loop's.
 */
#ifndef CONTROLLER_FLEET_PROBES_H
#define CONTROLLER_FLEET_PROBES_H

#include "common/base.h"

#define PROBES_OUT     16u
#define PROBES_AWAY_NS (10 * NS_PER_MS)

struct agent_session;

struct probes {
    struct agent_session *first; /* who waits, in order */
    struct agent_session *last;
    struct agent_session *away[PROBES_OUT]; /* NULL: free */
};

/* Probes the agent soon; once if it is asked for twice. */
void probes_want(struct probes *probes, struct agent_session *session);

/* The agent has answered. */
void probes_answered(struct probes *probes, struct agent_session *session);

/* The agent has gone. */
void probes_forget(struct probes *probes, struct agent_session *session);

/* Does what is due; when to come again, UINT64_MAX: never. */
void probes_tick(struct probes *probes, uint64_t now_ns);
uint64_t probes_due_ns(const struct probes *probes);

#endif
