/*
 * loop_runner.h - runs commands of the controller's own configuration on its
 * loop, each with a runner of its own.
 *
 * Threads: the loop's.
 */
#ifndef CONTROLLER_LOOP_RUNNER_H
#define CONTROLLER_LOOP_RUNNER_H

#include "controller/fleet/fleet.h"

struct runners;
struct uv_loop_s;

/* NULL without memory. */
struct runners *runners_new(struct uv_loop_s *loop);

/* Whom to tell; NULL: nobody any more, and what runs is killed. */
void runners_serve(struct runners *runners, struct fleet *fleet);

/* For fleet_options; the data is a struct runners. */
extern const struct fleet_runner runners_world;

/* NULL is fine.  Returns NULL.  Once the loop has nothing left to do. */
struct runners *runners_free(struct runners *runners);

#endif
