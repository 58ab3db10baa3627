/*
 * stuck.h - which drives keep requests of past phases.
 *
 * A request that never comes back keeps its drive out of later phases: opening
 * it would read from it, and wait as long.  Of the whole process, since
 * requests outlive the crews they were made for.
 *
 * Threads: any.
 */
#ifndef AGENT_STUCK_H
#define AGENT_STUCK_H

#include "common/base.h"

#define STUCK_DRIVES_MAX 256u /* that are told apart */

/* As in struct opened_target: a file is known by its inode as well. */
struct stuck_drive {
    uint64_t device_number;
    uint64_t inode; /* 0: a device */
};

/* One worker has requests on it that are given up. */
void stuck_add(const struct stuck_drive *drive, uint64_t now_ns);

/* All of one worker's have come back. */
void stuck_remove(const struct stuck_drive *drive);

/* Whether any worker has, and since when by the clock of stuck_add(). */
bool stuck_since(const struct stuck_drive *drive, uint64_t *ret_since_ns);

#endif
