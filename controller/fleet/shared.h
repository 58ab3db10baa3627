/*
 * shared.h - one drive that several hosts see.
 *
 * A dual-port drive, or one on a fabric, that is mounted on one host is
 * nobody's to write on any other.  What uses a drive is known from the
 * inventories, which agents renew within seconds of a change; one of a host
 * that is gone is what it told last.
 *
 * Drives are the same by WWN, or by serial number, model and size, where they
 * tell these.  A drive without an identity is its host's alone.
 *
 * Cost: the drives in use are sorted once after a change; then a question is a
 * search among them.
 *
 * Threads: one owner.  Memory: shared_forget() frees it.
 */
#ifndef CONTROLLER_FLEET_SHARED_H
#define CONTROLLER_FLEET_SHARED_H

#include "common/base.h"

struct plan_facts;
struct registry;
struct shared_use;

/* All drives in use that have an identity; zeroed: not known yet. */
struct shared {
    struct shared_use *uses;
    uint32_t count;
    bool known;
};

/* An inventory has come, or a host has gone: to be asked for anew. */
void shared_forget(struct shared *shared);

/*
 * Is the drive in use on another host than `own`?  Then who uses it, where,
 * is in `ret_reason` (of REASON_SIZE).  Without memory to tell, it is.
 */
bool shared_in_use(struct shared *shared, const struct registry *registry,
                   const char *own, const struct plan_facts *facts,
                   char *ret_reason);

#endif
