/*
 * fleet.h - the controller's whole logic behind its connections.
 *
 * What it is for: ties sessions, registry, campaigns, conductors and results
 * together.  The loop tells what happens (a connection, a frame, time), the
 * fleet answers through the functions of `struct link_world`.  Apart from the
 * store, which results keeps on threads of its own, it does no I/O, and with
 * `threadless` not even that: the simulator runs it as it is.
 *
 *     fleet_open(&options, &fleet, &diag);   goes on with what is in the store
 *     on a connection:  link = fleet_connected(fleet, connection, &peer)
 *     on a frame:       fleet_frame(fleet, link, body, length, read_ns)
 *     on its end:       fleet_disconnected(fleet, link, reason)
 *     when woken, and at fleet_due_ns(): fleet_tick(fleet)
 *     fleet_stop(fleet, "..."); until fleet_is_over(fleet)
 *     fleet_close(fleet);
 *
 * Limits: FLEET_LINKS_MAX connections, of which FLEET_GREETING_MAX may not have
 * said hello yet: a newcomer above that sheds the oldest of them.
 *
 * Threads: the loop's, but for `wake`, which is called on the store's.
 * Memory: fleet_close() frees all.  A link is good until it was disconnected or
 * world.end() was called for it, and the call during which that happened has
 * returned.
 */
#ifndef CONTROLLER_FLEET_FLEET_H
#define CONTROLLER_FLEET_FLEET_H

#include "common/base.h"
#include "common/diag.h"
#include "controller/fleet/link.h"

#define FLEET_LINKS_MAX    8192u
#define FLEET_GREETING_MAX 1024u

struct clock;
struct command;
struct commands;
struct fleet;
struct runner_result;

/* What runs commands of the controller's own configuration. */
struct fleet_runner {
    /* Answered by fleet_ran() with the token, later.  0 or -ENOMEM. */
    int (*run)(void *data, uint64_t token, const struct command *command,
               const struct uuid *campaign, uint32_t phase);
    /* Kills it, and it is not answered. */
    void (*end)(void *data, uint64_t token);
};

struct fleet_options {
    const char *store; /* path of the database */
    uint64_t start_tolerance_ns;
    uint64_t retention_ns; /* see results_options */
    /* `lockstep run`: the shell's end is the end of all. */
    bool is_private;
    const char *folder;        /* of a private fleet: where relative lun= begin;
                                  NULL: they are refused */
    const struct clock *clock; /* outlives the fleet, as the next */
    const struct link_world *world;
    void (*wake)(void *data); /* makes fleet_tick() be called soon */
    void *wake_data;
    bool threadless;
    /* Commands that campaigns may have run on this host, and what runs them;
     * NULL: none.  They outlive the fleet. */
    const struct commands *commands;
    const struct fleet_runner *runner;
    void *runner_data;
    struct uuid (*new_uuid)(void); /* NULL: uuid_random() */
    struct uuid boot;              /* of this host: whose clock `clock` is */
};

/* Waits for the disk.  Fails as results_open() does. */
int fleet_open(const struct fleet_options *options, struct fleet **ret_fleet,
               struct diag *diag) MUST_CHECK;

/* Ends all connections, stores what is queued.  NULL is fine.  Returns NULL. */
struct fleet *fleet_close(struct fleet *fleet);

/* A connection is open (TLS agreed on).  NULL: refused, world.end() was not
 * called. */
struct link *fleet_connected(struct fleet *fleet, void *connection,
                             const struct link_peer *peer);

/* One body; `read_ns` was stamped beside the read. */
void fleet_frame(struct fleet *fleet, struct link *link, const uint8_t *body,
                 size_t length, uint64_t read_ns);

/* The same message without bytes, from a peer within this process; what it
 * points to is needed during the call only. */
struct wire_in;
void fleet_tell(struct fleet *fleet, struct link *link, struct wire_in *in);

/*
 * From now on `observe` sees what watchers of all campaigns would see; NULL:
 * nobody looks any more.  `newest`: an interval, made needless by the next one
 * of its campaign.  It must not call back.
 */
struct uuid;
void fleet_observe(struct fleet *fleet,
                   void (*observe)(void *data, const struct uuid *campaign,
                                   bool newest, const char *text,
                                   size_t length),
                   void *data);

/* What was sent has been taken by the kernel. */
void fleet_drained(struct fleet *fleet, struct link *link);

/* The connection is gone, without world.end(). */
void fleet_disconnected(struct fleet *fleet, struct link *link,
                        const char *reason);

/* A connection that never opened: what was wrong with it, for the audit log. */
void fleet_turned_away(struct fleet *fleet, const char *address,
                       const char *reason);

/* A command that was given to the runner has ended. */
void fleet_ran(struct fleet *fleet, uint64_t token,
               const struct runner_result *result);

/* Does what is due, and what the store has done.  Any time. */
void fleet_tick(struct fleet *fleet);

/* When the next fleet_tick() is wanted. */
uint64_t fleet_due_ns(const struct fleet *fleet);

/* The controller is to end: takes no campaign any more, stops those that run.
 * Those that wait keep their place, for its next start.  Twice is fine. */
void fleet_stop(struct fleet *fleet, const char *reason);

/* After fleet_stop() (which in a private fleet the shell's end is, too): no
 * load runs and all verdicts are stored.  A private fleet also waits for its
 * shell to leave with the result. */
bool fleet_is_over(const struct fleet *fleet);

const struct uuid *fleet_controller(const struct fleet *fleet);
uint64_t fleet_epoch(const struct fleet *fleet);

#endif
