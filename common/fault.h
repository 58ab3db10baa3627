/*
 * fault.h - named places where a test may make a call fail.
 *
 * What it is for: what no input can reach (a commit that fails, memory that is
 * not there, a thread that hangs).  Without FAULTS a place is the constant 0
 * and costs nothing.  With it, tests arm a place by fault_arm() or, for a
 * program, by LOCKSTEP_FAULTS="store.commit=ENOSPC,crew.open=EIO:3": fail with
 * this errno, after letting three calls pass.
 *
 *     int r = FAULT("store.commit");
 *     if (r < 0)
 *         return r;
 *
 * Threads: FAULT() in any; arm before the threads start.
 */
#ifndef COMMON_FAULT_H
#define COMMON_FAULT_H

#include "common/base.h"

#ifdef FAULTS
int fault_check(const char *point); /* 0, or a negative errno a test chose */
#define FAULT(point) fault_check(point)
#else
#define FAULT(point) 0
#endif

#ifdef FAULTS
/* Lets `pass` calls pass, then fails every one with `err` (negative). */
void fault_arm(const char *point, int err, uint32_t pass);

/* From the text of LOCKSTEP_FAULTS.  0 or -EINVAL. */
int fault_arm_text(const char *text) MUST_CHECK;

void fault_disarm_all(void);
#endif

#endif
