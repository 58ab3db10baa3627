/*
 * limits.h - does this process have what a phase takes: descriptors, threads,
 * memory that may be locked?
 *
 * Seen before a phase instead of in the middle of its preparation: the message
 * has the need, the limit and the setting to change.
 *
 * Threads: none of its own; no state.
 */
#ifndef AGENT_LIMITS_H
#define AGENT_LIMITS_H

#include "common/base.h"
#include "common/diag.h"

#define LIMITS_NONE UINT64_MAX

/* What there is.  LIMITS_NONE: no limit, or not known. */
struct limits {
    uint64_t files_used;
    uint64_t files_max;    /* RLIMIT_NOFILE */
    uint64_t tasks_used;   /* of the control group */
    uint64_t tasks_max;    /* pids.max of it */
    uint64_t threads_used; /* of the user; */
    uint64_t threads_max;  /* RLIMIT_NPROC, which root does not have */
    uint64_t locked_max;   /* RLIMIT_MEMLOCK, unless it does not count for us */
};

/* What a phase takes beyond what is in use. */
struct limits_need {
    uint64_t files;
    uint64_t threads;
    uint64_t locked; /* bytes of buffers to register */
};

/* Of this process.  Raises the soft limits to the hard ones first. */
void limits_read(struct limits *ret_limits);

/* 0, or -EMFILE or -EAGAIN with need, limit and setting.  Pure. */
int limits_judge(const struct limits *have, const struct limits_need *need,
                 struct diag *diag) MUST_CHECK;

/* Why buffers will not be registered, for the list of features; "" when they
 * will.  The phase goes on without.  Pure. */
void limits_tell_locked(const struct limits *have,
                        const struct limits_need *need, char text[TEXT_SIZE]);

#endif
