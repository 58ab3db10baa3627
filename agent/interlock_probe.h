/*
 * interlock_probe.h - does the asked kind of I/O work on an open target?
 *
 * Some file systems accept O_DIRECT at open and refuse the first transfer,
 * others want more alignment than the drive below them; better seen now than by
 * the first request of a phase.
 */
#ifndef AGENT_INTERLOCK_PROBE_H
#define AGENT_INTERLOCK_PROBE_H

#include "agent/interlock_facts.h"

/*
 * Reads one aligned block, settles logical_block and memory_block, and finds
 * the drive's name.  -EINVAL: direct I/O does not work there; else what the
 * read said.
 */
int probe_transfer(const struct look *look, const char *path,
                   struct opened_target *opened, struct diag *diag) MUST_CHECK;

#endif
