/*
 * loop.h - a libuv loop that runs until a fact holds.
 */
#ifndef TESTS_SUPPORT_LOOP_H
#define TESTS_SUPPORT_LOOP_H

#include <stdbool.h>
#include <uv.h>

/*
 * Runs the loop until `holds(data)` is true; false when `limit_ms` pass before.
 */
bool loop_until(uv_loop_t *loop, bool (*holds)(void *data), void *data,
                unsigned limit_ms);

/* Runs what is left to its end and closes; fails the test if a handle stays. */
void loop_finish(uv_loop_t *loop);

#endif
