/*
 * errand.h - a command of this host's configuration that a campaign has it
 * run: the one at hand, or the last one, kept so that it can be answered again.
 *
 * Threads: the session's owner.  Memory: by value.
 */
#ifndef AGENT_ERRAND_H
#define AGENT_ERRAND_H

#include "agent/phase.h"
#include "common/base.h"
#include "common/command.h"

#define ERRAND_LINES_MAX 64u

/* The values of CommandEnd on the wire. */
enum errand_end {
    ERRAND_EXITED,
    ERRAND_KILLED,
    ERRAND_TIMED_OUT,
    ERRAND_NO_START,
    ERRAND_REFUSED, /* never started; `reason` */
};

struct errand_result {
    enum errand_end end;
    uint32_t status; /* exit status, signal or errno */
    uint64_t duration_ns;
    char lines[ERRAND_LINES_MAX][TEXT_SIZE]; /* plain text, none empty */
    uint32_t line_count;
    char reason[REASON_SIZE];
};

enum errand_state {
    ERRAND_NONE,
    ERRAND_RUNS,
    ERRAND_DONE, /* `result` is its answer */
};

struct errand {
    enum errand_state state;
    struct work work;
    uint32_t number;
    struct errand_result result;
};

#endif
