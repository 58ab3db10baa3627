/*
 * audit.h - who submitted, stopped, or was refused: for the audit log.
 *
 * All goes to the store, and refusals of strangers to no more than a bounded
 * number a minute: who knocks on the door a thousand times is told of once.
 *
 * Threads: one owner.
 */
#ifndef CONTROLLER_FLEET_AUDIT_H
#define CONTROLLER_FLEET_AUDIT_H

#include "common/base.h"
#include "controller/fleet/link.h"

#define AUDIT_STRANGERS_MAX 100u              /* at once, and */
#define AUDIT_STRANGER_NS   (600 * NS_PER_MS) /* then one each so long */

struct fleet;

/* Who does something, kept beyond the connection's end. */
struct audit_actor {
    char name[NAME_SIZE];
    enum tls_role role;
    char address[LINK_ADDRESS_SIZE];
};

/* What is left of the patience with strangers. */
struct audit_strangers {
    uint64_t refilled_ns;
    uint32_t tokens;
    uint32_t untold;
};

/* `name`: as the peer calls itself, where it has no certificate. */
void audit_actor_of(const struct link *link, const char *name,
                    struct audit_actor *ret_actor);

/* Something that an operator or viewer asked for. */
void audit_request(struct fleet *fleet, const struct audit_actor *actor,
                   const char *action, const char *subject, uint64_t campaign,
                   bool refused, const char *detail);

/* A connection that was turned away. */
void audit_stranger(struct fleet *fleet, const struct audit_actor *actor,
                    const char *reason);

#endif
