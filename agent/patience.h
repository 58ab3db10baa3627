/*
 * patience.h - a call that a drive may never answer, with an end to the wait.
 *
 * A read of a drive that hangs cannot be interrupted: the thread that makes it
 * is lost until the drive answers.  So it is made by a thread of its own.
 *
 * Threads: any may call.
 */
#ifndef AGENT_PATIENCE_H
#define AGENT_PATIENCE_H

#include "common/base.h"

/* For the first bytes of a drive; one that sleeps needs some seconds to spin
 * up. */
#define PATIENCE_NS (15 * NS_PER_S)

/*
 * Runs call(context) on another thread.  0: it is done, and `context` is the
 * caller's.  -ETIMEDOUT: it is not done within `limit_ns`; `context` belongs to
 * the thread, which gives it to `release` whenever the call returns.  Another
 * negative errno: no thread could be made, nothing was called.
 */
int patience_run(void (*call)(void *context), void *context,
                 void (*release)(void *context), uint64_t limit_ns) MUST_CHECK;

#endif
