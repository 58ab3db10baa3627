/*
 * interlock_facts.h - gathering what the rules look at.
 *
 * A path is resolved once, into a pin: an O_PATH descriptor, which opens
 * nothing.  All else goes through it, so that no later change of the path leads
 * elsewhere.
 *
 * Threads: none of its own.  For the interlock and its claims alone.
 */
#ifndef AGENT_INTERLOCK_FACTS_H
#define AGENT_INTERLOCK_FACTS_H

#include <limits.h>

#include "agent/interlock.h"

/* What is asked of the host once for several targets. */
struct look {
    const struct interlock_policy *policy;
    const char *root;    /* "" for the real one */
    struct usage *usage; /* NULL: nothing is written, so nobody asked */
    int patience_ms;     /* left to wait for what may be over in a moment */
};

#define LOOK_PATIENCE_MS 500

int look_init(struct look *look, const struct interlock_policy *policy,
              bool writes, struct diag *diag) MUST_CHECK;
void look_done(struct look *look);

/* Waits a little; false when there is no patience left. */
bool look_wait(struct look *look);

/* Asks again who uses what, after a little; false when these uses will last. */
bool look_again(struct look *look, const struct interlock_facts *facts);

/* open(2) for reading and O_EXCL, patiently.  A descriptor, or -errno. */
struct pin;
int look_open_exclusively(struct look *look, const struct pin *pin);

/* Says in the facts who holds a BUSY device, as far as can be seen. */
void look_tell_holder(const struct look *look, struct interlock_facts *facts);

struct pin {
    int fd;                  /* O_PATH; of a file that is missing: its folder;
                                -1: neither is there */
    char name[NAME_MAX + 1]; /* of a missing file in that folder; else "" */
};

void pin_close(struct pin *pin);

/* "/proc/self/fd/<n>", by which a descriptor is opened again. */
#define PIN_PATH_SIZE 40u
void fd_path(int fd, char path[PIN_PATH_SIZE]);

/*
 * Resolves the wish's path and gathers everything that can be had without
 * opening it.  What cannot be had is a fact too; so this does not fail.
 */
void facts_gather(const struct look *look, const struct interlock_wish *wish,
                  struct pin *ret_pin, struct interlock_facts *ret_facts);

/*
 * Takes size, block size, disk sequence and read-only from a descriptor of the
 * block device itself.  -ESTALE: the device behind the name was replaced since
 * the facts were gathered.
 */
int facts_bind(int fd, struct interlock_facts *facts,
               struct diag *diag) MUST_CHECK;

/* The facts of a file, again, by an open descriptor of it. */
void facts_refresh_file(const struct look *look, int fd, bool direct,
                        struct interlock_facts *facts);

/* Whether the wish means writing: asked for, or needed to make the file. */
bool interlock_writes(const struct interlock_facts *facts,
                      const struct interlock_wish *wish);

#endif
