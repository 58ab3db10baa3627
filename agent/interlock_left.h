/*
 * interlock_left.h - which drives hold nothing but what campaigns left there.
 *
 * A drive that a campaign wrote to is full of data that nobody misses, and
 * looks like one that somebody does.  So the agent writes down, in its state
 * directory, that it has a drive, and when it lets go of it how much had been
 * written to it by then, as the kernel counts.  As long as that count stands,
 * nobody has written since: what is there is ours.
 *
 *   - A record holds for one boot and one disk sequence: a drive that was away,
 *     or a host that started anew, is not known any more.
 *   - While a campaign has the drive the record is open.  After a crash only
 *     that campaign takes the drive for its own.
 *   - Where the kernel does not count (queue/iostats is 0) or tells no disk
 *     sequence (before Linux 5.15) nothing is remembered.
 *
 * What another host writes to a shared drive is not counted here: such a drive
 * is protected by signatures, leases and the fleet's view of who uses it.
 *
 * Threads: none of its own.  For the interlock and its claims alone.
 */
#ifndef AGENT_INTERLOCK_LEFT_H
#define AGENT_INTERLOCK_LEFT_H

#include "agent/interlock.h"

/* The campaign has it from now on.  0, or why it cannot be written down. */
int left_begin(const struct interlock_policy *policy, uint64_t device,
               const struct uuid *campaign);

/* The campaign lets go of it; all it wrote has reached the drive. */
void left_end(const struct interlock_policy *policy, uint64_t device,
              const struct uuid *campaign);

/* Did campaigns write there last?  `campaign` may go on with an open record;
 * NULL: nobody may. */
bool left_is_ours(const struct interlock_policy *policy, uint64_t device,
                  const struct uuid *campaign);

#endif
