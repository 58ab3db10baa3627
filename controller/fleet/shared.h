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
 * Threads: one owner.
 */
#ifndef CONTROLLER_FLEET_SHARED_H
#define CONTROLLER_FLEET_SHARED_H

#include "common/base.h"

struct host;
struct plan_facts;
struct registry;

/*
 * Is the drive in use on another host than `own`?  Then who uses it, where,
 * is in `ret_reason` (of REASON_SIZE).
 */
bool shared_use(const struct registry *registry, const struct host *own,
                const struct plan_facts *facts, char *ret_reason);

#endif
