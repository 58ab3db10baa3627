/*
 * greeting.h - who may come in.
 *
 * Pure decisions about the first frame of a connection: versions, roles, names,
 * and one instance per name.  The sentences name both sides, so that either
 * log tells the whole story.
 *
 * Threads: none of its own.
 */
#ifndef CONTROLLER_FLEET_GREETING_H
#define CONTROLLER_FLEET_GREETING_H

#include "common/diag.h"
#include "controller/fleet/link.h"

struct host;

/*
 * May this agent come in?  `host` is what the registry knows by that name, or
 * NULL.  Returns 0 when it may (where the host has a session of the same
 * instance, this one replaces it); -EPROTONOSUPPORT for another major version;
 * -EACCES for a certificate of another name or role; -EADDRINUSE where another
 * instance of that name is connected.  `diag` has the sentence.
 */
int greeting_agent(const struct link *link,
                   const struct wire_agent_hello *hello,
                   const struct host *host, struct diag *diag) MUST_CHECK;

/* May this shell?  -EPROTONOSUPPORT or -EACCES. */
int greeting_shell(const struct link *link,
                   const struct wire_shell_hello *hello,
                   struct diag *diag) MUST_CHECK;

#endif
