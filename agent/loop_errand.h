/*
 * loop_errand.h - runs what session_errand.c says on the agent's loop.
 *
 * Threads: the loop's.
 */
#ifndef AGENT_LOOP_ERRAND_H
#define AGENT_LOOP_ERRAND_H

#include "agent/session.h"
#include "common/base.h"
#include "common/command.h"

struct errands;
struct uv_loop_s;

/* NULL without memory. */
struct errands *errands_new(struct uv_loop_s *loop);

/* Whom to tell; NULL: nobody any more, and what runs is killed. */
void errands_serve(struct errands *errands, struct session *session);

/* session_world.run and end_run. */
void errands_run(struct errands *errands, const struct command *command,
                 const struct uuid *campaign, uint32_t phase);
void errands_end(struct errands *errands);

bool errands_are_idle(const struct errands *errands);

/* NULL is fine.  Returns NULL.  Only when idle. */
struct errands *errands_free(struct errands *errands);

#endif
