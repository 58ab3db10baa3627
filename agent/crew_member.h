/*
 * crew_member.h - one thread of a crew: made, held at the barrier, let go.
 *
 * A member is held by its thread and by the crew together; who lets go last
 * frees it.  So a thread that waits for a stuck request keeps all that the
 * request may still touch, and nobody waits for the thread.
 *
 * Threads: as each function says; `crew` is the thread that made the crew.
 */
#ifndef AGENT_CREW_MEMBER_H
#define AGENT_CREW_MEMBER_H

#include "agent/crew.h"
#include "agent/engine_null.h"
#include "agent/placement.h"
#include "agent/worker.h"

#include <pthread.h>

/* Whether Go came before the start; settled once, for all workers. */
enum crew_gate {
    CREW_GATE_SHUT,
    CREW_GATE_OPEN,
    CREW_GATE_MISSED,
};

enum crew_stage {
    CREW_STAGE_OPENING,
    CREW_STAGE_READY,
    CREW_STAGE_FAILED,
    CREW_STAGE_BEGUN,
    CREW_STAGE_CLOSED, /* everything given back */
};

/* What all members and the crew hold together. */
struct crew_shared {
    struct worker_control control;
    _Atomic int gate;
    _Atomic uint32_t holders;
    const struct clock *clock;
    struct engine_kind kind;
    struct engine_null_text null_text;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    /* Under the mutex. */
    bool armed;
    bool quit;
    uint64_t start_ns;
};

struct crew_member {
    struct worker worker;
    struct crew_shared *shared;
    pthread_t thread;
    bool has_thread;
    _Atomic int stage;
    _Atomic uint32_t holders;
    struct diag diag;               /* FAILED: why */
    char features[ENGINE_FEATURES]; /* from READY on */
    uint32_t number;
    uint32_t cpu; /* to be pinned to; PLACEMENT_NOWHERE: where it likes */
    char cpus[PLACEMENT_CPUS_TEXT]; /* that it may use, from READY on */
    uint64_t memory_bytes;
    bool quarantined; /* under the mutex: it is counted, and */
    bool *silences;   /* which of its targets are told to be stuck */
    bool lost;        /* the crew's: blocked for good */
};

/* Crew.  NULL without memory; held once. */
struct crew_shared *crew_shared_new(const struct clock *clock,
                                    uint64_t lease_ns, uint32_t live_cells);

/* Any thread. */
void crew_shared_release(struct crew_shared *shared);

/* Crew.  Made and held by the crew alone; NULL without memory. */
struct crew_member *crew_member_new(struct crew_shared *shared,
                                    uint32_t number);

/* Crew.  0 or a negative errno. */
int crew_member_start(struct crew_member *member) MUST_CHECK;

/* Any thread. */
enum crew_stage crew_member_stage(const struct crew_member *member);

/* Crew: neither its thread nor its drive will do anything more that counts. */
bool crew_member_is_over(const struct crew_member *member);

/* Crew: lets go of it; joins the thread when that is done with all. */
void crew_member_leave(struct crew_member *member);

#endif
