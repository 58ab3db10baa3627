/*
 * loop.h - the agent on its libuv loop: what carries out what session.c says.
 *
 * loop.c has the connection, time and signals; loop_stage.c the drives and the
 * crew of the phase at hand; loop_look.c inventory and inspection.  What may
 * block (opening, claiming, reading sysfs, fsync) runs on libuv's threads.
 */
#ifndef AGENT_LOOP_H
#define AGENT_LOOP_H

#include "agent/settings.h"
#include "common/base.h"
#include "common/diag.h"

/* How long the end waits for the controller to take the last samples, and for
 * what hangs in a drive. */
#define LOOP_FAREWELL_NS (5 * NS_PER_S)
#define LOOP_DRAIN_NS    (60 * NS_PER_S)

/*
 * Serves until a signal ends it, or the connection it was given.  0, or
 * negative with the reason why it could not begin.
 */
int loop_run(const struct settings *settings, struct diag *diag) MUST_CHECK;

#endif
