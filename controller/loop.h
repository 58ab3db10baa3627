/*
 * loop.h - the controller's edge: libuv on one side, the fleet on the other.
 *
 * Carries bytes between connections and the fleet, wakes it in time, and ends
 * in order on SIGTERM and SIGINT; the second of them gives up waiting.
 *
 * Threads: runs on the caller's.
 */
#ifndef CONTROLLER_LOOP_H
#define CONTROLLER_LOOP_H

#include "common/base.h"
#include "common/diag.h"

struct settings;

/*
 * Runs the controller until it has ended.  Returns 0 after an orderly end, or
 * a negative errno with the sentence for people: an address in use, keys or a
 * store that cannot be read.
 */
int loop_run(const struct settings *settings, struct diag *diag) MUST_CHECK;

#endif
