/*
 * engine_null.h - an engine that completes after constructed latencies.
 *
 * What it is for: tests of the workers with a clock that they move, and whole
 * agents that must show known latencies (--engine null:...).  No I/O is done.
 * A completion's time is the request's own stamp of submission plus its
 * latency, to the nanosecond, however late it is taken.
 *
 * With a manual clock, a wait moves the clock to the next completion, or by the
 * whole wait: a phase of an hour runs in a blink, the same each time.
 */
#ifndef AGENT_ENGINE_NULL_H
#define AGENT_ENGINE_NULL_H

#include "agent/engine.h"
#include "common/clock.h"

#define ENGINE_NULL_NEVER UINT64_MAX /* a latency: it hangs */
#define ENGINE_NULL_STEPS 16u

struct engine_null_fate {
    uint64_t latency_ns;
    int32_t result; /* as set by the caller: the whole length */
};

struct engine_null_script {
    /* Decides about request `number`, counted from 0, submitted at `now_ns`.
     * NULL: all at once, without error. */
    void (*fate)(void *context, const struct engine_io *io, uint64_t number,
                 uint64_t now_ns, struct engine_null_fate *fate);
    void *context;
    const struct clock *clock;
    struct clock_manual *manual; /* the same clock, or NULL: it runs itself */
};

/* An engine_kind.open; `context` is a struct engine_null_script. */
int engine_null_open(const void *context, const struct engine_setup *setup,
                     struct engine **ret_engine, struct diag *diag) MUST_CHECK;

/*
 * Latencies as a text, for --engine:
 *   null:100us                      all the same
 *   null:999000x100us,1000x50ms     so many each, over and over
 *   null:100us,hang=7               request 7 (from 0) never completes
 *   null:100us,error=5/1000         every 1000th fails with errno 5
 *   null:100us,stall=5s+2s          5 s after the first request nothing
 *                                   completes for 2 s
 * Each worker counts for itself.
 */
struct engine_null_text {
    uint64_t count[ENGINE_NULL_STEPS];
    uint64_t latency_ns[ENGINE_NULL_STEPS];
    uint32_t step_count;
    uint64_t total; /* of the counts */
    uint64_t hang;  /* UINT64_MAX: none */
    int error;
    uint64_t error_every; /* 0: never */
    uint64_t stall_ns;
    uint64_t stall_length_ns; /* 0: none */
};

/* 0, or -EINVAL with the reason. */
int engine_null_parse(const char *text, struct engine_null_text *ret_text,
                      struct diag *diag) MUST_CHECK;

/* What the text says about a request, `since_ns` after the first one. */
void engine_null_decide(const struct engine_null_text *text, uint64_t number,
                        uint64_t since_ns, struct engine_null_fate *fate);

/* An engine_kind.open; `context` is a struct engine_null_text.  Real time. */
int engine_null_open_text(const void *context, const struct engine_setup *setup,
                          struct engine **ret_engine,
                          struct diag *diag) MUST_CHECK;

#endif
