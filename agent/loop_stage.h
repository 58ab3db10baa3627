/*
 * loop_stage.h - the drives and the crew of the phase at hand.
 *
 * The loop's side of phase.h's effects.  Claims, opening, marking and closing
 * block, so they run on a thread of libuv, one after the other and in the order
 * in which they were asked for; all else happens on the loop.  A preparation
 * that hangs in a drive holds up those behind it, never the loop.
 *
 * Threads: every call is for the loop's.
 */
#ifndef AGENT_LOOP_STAGE_H
#define AGENT_LOOP_STAGE_H

#include "agent/crew.h"
#include "agent/interlock.h"
#include "agent/job.h"
#include "agent/session.h"
#include "common/base.h"

struct stages;
struct uv_loop_s;

struct stages_setup {
    struct uv_loop_s *loop;
    const struct interlock_policy *policy; /* outlives it, as the next two */
    const struct clock *clock;
    struct crew_options options;
};

/* NULL without memory. */
struct stages *stages_new(const struct stages_setup *setup);
/* The session that is told; may be NULL: nobody is told any more. */
void stages_serve(struct stages *stages, struct session *session);

/* As in struct session_world. */
void stages_prepare(struct stages *stages, const struct job *job);
int stages_arm(struct stages *stages, uint64_t start_ns, struct diag *diag);
void stages_go(struct stages *stages);
void stages_stop_after(struct stages *stages, uint64_t interval);
void stages_stop(struct stages *stages);
void stages_lease(struct stages *stages, uint64_t deadline_ns);
void stages_discard(struct stages *stages, struct job *job);
void stages_release(struct stages *stages, const struct uuid *campaign);

/* Looks at the crew; to be called at stages_due_ns() at the latest. */
void stages_poll(struct stages *stages);
uint64_t stages_due_ns(struct stages *stages);

/* Nothing runs on the threads any more. */
bool stages_are_idle(const struct stages *stages);

/* Once idle.  NULL is fine.  Returns NULL. */
struct stages *stages_free(struct stages *stages);

#endif
