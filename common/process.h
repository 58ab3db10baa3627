/*
 * process.h - what a program sees to before anything else.
 */
#ifndef COMMON_PROCESS_H
#define COMMON_PROCESS_H

#include "common/base.h"

/*
 * Gives descriptors 0, 1 and 2 that the starter left closed to /dev/null, so
 * that no socket, drive or store ever takes their numbers and is written to as
 * output; and turns a reader that is gone into EPIPE.  First thing in main().
 * Returns 0 or a negative errno.
 */
int process_init(void) MUST_CHECK;

/* Whether the starter wants the signal ignored, as nohup(1) does SIGHUP. */
bool process_ignores(int number) MUST_CHECK;

#endif
