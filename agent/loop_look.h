/*
 * loop_look.h - looking at this host's drives beside the loop.
 *
 * Inventory when asked, and again when what the kernel tells has changed (seen
 * within LOOK_EVERY_NS); inspection of a campaign's targets.  All on libuv's
 * threads; answers go to the session from the loop.
 *
 * Threads: every call is for the loop's.
 */
#ifndef AGENT_LOOP_LOOK_H
#define AGENT_LOOP_LOOK_H

#include "agent/codec.h"
#include "agent/interlock.h"
#include "agent/session.h"
#include "common/base.h"

#define LOOK_EVERY_NS (5 * NS_PER_S)

struct looks;
struct uv_loop_s;

/* NULL without memory.  `policy` outlives it.  Probes the engine, which takes
 * a moment. */
struct looks *looks_new(struct uv_loop_s *loop,
                        const struct interlock_policy *policy);
/* NULL: nobody is told any more. */
void looks_serve(struct looks *looks, struct session *session);

/* As in struct session_world. */
void looks_look(struct looks *looks);
void looks_inspect(struct looks *looks, const struct uuid *campaign,
                   struct interlock_wish *wishes, uint32_t count);

/* Compares; to be called every LOOK_EVERY_NS. */
void looks_compare(struct looks *looks);

const struct codec_engine *looks_engine(const struct looks *looks);

bool looks_are_idle(const struct looks *looks);

/* Once idle.  NULL is fine.  Returns NULL. */
struct looks *looks_free(struct looks *looks);

#endif
