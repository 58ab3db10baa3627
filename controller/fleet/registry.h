/*
 * registry.h - every host that was seen, and what it has.
 *
 * A host is its agent's name.  It stays known after its agent went away, with
 * what it last told, so that people see what is missing.
 *
 * Limits: REGISTRY_HOSTS_MAX hosts; at the limit the one longest gone is
 * forgotten, if no campaign holds it.
 *
 * Memory: the registry owns its hosts; a host's pointer is good while it has a
 * session or is held (registry_hold).
 * Threads: one owner.
 */
#ifndef CONTROLLER_FLEET_REGISTRY_H
#define CONTROLLER_FLEET_REGISTRY_H

#include "common/base.h"
#include "common/command.h"
#include "controller/fleet/link.h"
#include "controller/fleet/wire.h"

#define REGISTRY_HOSTS_MAX 4096u

struct agent_session;
struct inventory;
struct plan_fleet;

struct host {
    char name[NAME_SIZE];
    struct agent_session *session;   /* NULL: not connected */
    struct inventory *inventory;     /* NULL: told nothing yet */
    char address[LINK_ADDRESS_SIZE]; /* of its last connection */
    char version[TEXT_SIZE];
    char labels[WIRE_LABELS_MAX][NAME_SIZE];
    uint32_t label_count;
    struct commands *commands; /* that campaigns may have run; NULL: none */
    struct uuid instance;
    struct uuid boot;
    uint64_t lease_ns;
    int64_t since_wall_ns; /* connected, or gone */
    char gone_reason[REASON_SIZE];
    uint32_t holds; /* campaigns that point to it */
    uint64_t user;  /* number of the campaign that has it; 0: none */
    /* Paths of the drives that the campaign has; in the plan's memory. */
    const char **user_paths;
    uint32_t user_path_count;
};

/* What a host told, kept.  Strings and arrays belong to it. */
struct inventory {
    struct wire_inventory facts;
    struct arena *arena;
};

struct registry;

/* NULL without memory. */
struct registry *registry_new(void);
/* NULL is fine.  Returns NULL. */
struct registry *registry_free(struct registry *registry);

/* NULL: nobody of that name was seen. */
struct host *registry_find(const struct registry *registry, const char *name);

/* In the order of their names. */
uint32_t registry_count(const struct registry *registry);
struct host *registry_at(const struct registry *registry, uint32_t index);

/*
 * Gives the host of a hello, which may be a new one, and notes what it says.
 * NULL without memory, or at the limit with nobody to forget.
 */
struct host *registry_hello(struct registry *registry,
                            const struct wire_agent_hello *hello,
                            const struct link *link, int64_t wall_ns);

/* The host of a campaign that is older than we are: it will come.  NULL as
 * registry_hello(). */
struct host *registry_expect(struct registry *registry, const char *name);

/* Its session is over. */
void registry_gone(struct host *host, const char *reason, int64_t wall_ns);

/* Replaces the inventory.  0 or -ENOMEM (the old one stays). */
int registry_inventory(struct host *host,
                       const struct wire_inventory *inventory) MUST_CHECK;

/* The drive behind a path: its own, its by-id link, or its kernel name's. */
const struct wire_drive *registry_drive(const struct host *host,
                                        const char *path);

/* The campaign that has the drive; 0: none. */
uint64_t registry_drive_user(const struct host *host,
                             const struct wire_drive *drive);

static inline void registry_hold(struct host *host)
{
    host->holds++;
}
void registry_let_go(struct host *host);

/*
 * The connected hosts as plan_expand() wants them, in one allocation to be
 * freed with free(); `ret_hosts`, part of it, has the host of each.  NULL
 * without memory.  Valid until the next hello.
 */
struct plan_fleet *registry_fleet(const struct registry *registry,
                                  struct host ***ret_hosts);

#endif
