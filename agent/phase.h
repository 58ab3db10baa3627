/*
 * phase.h - one phase on this host: prepare, arm, run, drain, hold.
 *
 * A pure state machine.  Events are function calls: orders from the
 * controller, news from the crew, and time by phase_tick().  What has to be
 * done about them comes out as effects, one at a time and in order, by
 * phase_take_effect(); the caller carries out all of them before it brings the
 * next event.
 *
 *   state      waits for                  and no longer than        then
 *   idle       Prepare                    -
 *   preparing  the world to have opened   PHASE_PREPARE_LIMIT_NS    Refused,
 *              and allocated              and more by target        idle
 *   ready      Start                      PHASE_READY_LIMIT_NS      holding
 *   armed      Go                         the instant of the start  holding
 *   cleared    the instant of the start   that instant              running
 *   running    the last interval's edge   that, or the time limit   draining
 *   draining   nothing in flight          the job's drain limit     holding
 *                                         and PHASE_DRAIN_GRACE_NS
 *   holding    every sample acknowledged  PHASE_HOLD_LIMIT_NS       idle
 *
 * THE LEASE lives here too.  Prepare grants it, Renew extends it from the
 * moment it arrived (`arrived_ns`: no later than that), and it covers every
 * state and the pauses between the phases of a campaign.  When it ends, work
 * stops (or, where so configured, the phase that runs is let run to its end)
 * and the claims on the drives are given back as soon as no job is open any
 * more.
 *
 * Threads: one owner.  Memory: embedded by value; the job is the phase's from
 * phase_prepare() until it leaves with PHASE_DO_DISCARD.
 */
#ifndef AGENT_PHASE_H
#define AGENT_PHASE_H

#include "agent/job.h"
#include "common/base.h"
#include "common/clock.h"
#include "common/diag.h"

#define PHASE_PREPARE_LIMIT_NS  (60 * NS_PER_S)
#define PHASE_PREPARE_TARGET_NS (2 * NS_PER_S) /* more for each target */
#define PHASE_READY_LIMIT_NS    (600 * NS_PER_S)
#define PHASE_START_AHEAD_NS    (60 * NS_PER_S) /* from Start to the start */
#define PHASE_DRAIN_GRACE_NS    (10 * NS_PER_S)
#define PHASE_HOLD_LIMIT_NS     (24 * 3600 * NS_PER_S)

enum phase_state {
    PHASE_INVALID, /* a hole in the table */
    PHASE_IDLE,
    PHASE_PREPARING,
    PHASE_READY,
    PHASE_ARMED,
    PHASE_CLEARED, /* Go has come, the instant of the start has not */
    PHASE_RUNNING,
    PHASE_DRAINING,
    PHASE_HOLDING,
    PHASE_STATES,
};

/* The values of Outcome on the wire. */
enum phase_outcome {
    PHASE_COMPLETE,
    PHASE_STOPPED,
    PHASE_LEASE_LOST,
    PHASE_NO_GO,
    PHASE_FAILED,
    PHASE_TIME_LIMIT,
    PHASE_OUTCOMES,
};

enum phase_effect_kind {
    /* To the world. */
    PHASE_DO_PREPARE, /* open and allocate `job`; answered by
                         phase_prepared() or phase_refused() */
    PHASE_DO_ARM,     /* at_ns: the start on this host's clock */
    PHASE_DO_GO,
    PHASE_DO_STOP_AFTER, /* interval */
    PHASE_DO_STOP,       /* no new I/O; answered by phase_ended() */
    PHASE_DO_LEASE,      /* at_ns: the deadline that the workers check */
    PHASE_DO_DISCARD,    /* the end of `job`, in whatever state it is: disarm,
                            close, free it.  Not answered; no answer to its
                            preparation either */
    PHASE_DO_RELEASE,    /* give back the claims of `campaign` */
    /* To the controller. */
    PHASE_SAY_READY,   /* workers, memory_bytes */
    PHASE_SAY_ARMED,   /* at_ns: for which instant */
    PHASE_SAY_REFUSED, /* target, text */
    PHASE_SAY_HOLDING, /* over and drained: Finished, once all is sent */
    PHASE_SAY_IDLE,    /* holding has ended: drop what samples are left */
    /* To the operator. */
    PHASE_LOG, /* text */
};

struct phase_effect {
    enum phase_effect_kind kind;
    struct work work; /* of all about work; campaign of DO_RELEASE */
    struct job *job;  /* of DO_PREPARE, the phase's; of DO_DISCARD, the
                         taker's */
    uint64_t at_ns;
    uint64_t interval;
    uint32_t workers;
    uint64_t memory_bytes;
    char target[NAME_SIZE];
    char text[REASON_SIZE];
};

#define PHASE_PLACEMENT_SIZE 4097u

/* What a phase runs with, in words: of Ready. */
struct phase_equipment {
    char engine[REASON_SIZE];             /* and its features, as in use */
    char placement[PHASE_PLACEMENT_SIZE]; /* worker by worker */
};

/* At most so many wait at once; one event makes fewer. */
#define PHASE_EFFECTS 16u

struct phase_config {
    uint64_t lease_ns;
    bool finish_on_lease_lost; /* on_lease_lost = finish */
};

/* Whether the campaign's claims are held. */
enum phase_lease {
    PHASE_LEASE_NONE,
    PHASE_LEASE_HELD,
    PHASE_LEASE_ENDED,    /* to be given back once no job is open */
    PHASE_LEASE_RELEASED, /* that, and nobody wants the samples any more */
};

/* A request that did not come back. */
struct phase_stuck {
    char sd[NAME_SIZE];
    bool write;
    uint64_t offset;
    uint32_t length;
    uint64_t age_ns;
};

#define PHASE_STUCK_MAX 64u

/* What the crew tells when no worker of it will do I/O any more and every row
 * has been handed over. */
struct phase_end {
    enum phase_outcome outcome; /* COMPLETE, also when it was told to stop */
    char reason[REASON_SIZE];   /* of any other outcome */
    uint64_t intervals;         /* rows made, the drain row not counted */
    struct phase_stuck stuck[PHASE_STUCK_MAX];
    uint32_t stuck_count;
    uint64_t stuck_total;
};

/* Read the fields if you like; write them only through the functions. */
struct phase {
    const struct clock *clock;
    struct phase_config config;
    enum phase_state state;
    uint64_t limit_ns; /* when the state has lasted too long; UINT64_MAX: no */
    struct job *job;   /* NULL when idle, and in holding */
    struct work work;  /* while not idle */
    uint64_t start_ns; /* from armed on */
    uint64_t stop_after; /* last interval; UINT64_MAX while not ordered */
    /* How it ended: PHASE_COMPLETE with an empty reason until something else
     * happened; the first cause stays. */
    enum phase_outcome outcome;
    char reason[REASON_SIZE];
    struct phase_end end;   /* in holding */
    enum phase_lease lease; /* outlives the work */
    struct uuid leased_campaign;
    uint64_t lease_deadline_ns;
    uint32_t workers;
    uint64_t memory_bytes;
    struct phase_equipment equipment; /* from ready on */
    struct phase_effect effect[PHASE_EFFECTS];
    uint32_t effect_first;
    uint32_t effect_count;
};

void phase_init(struct phase *phase, const struct phase_config *config,
                const struct clock *clock);

/* What is left goes by the last effects, which are to be taken. */
void phase_done(struct phase *phase);

/*
 * Orders.  0: obeyed, or the same as before and answered again.  -EPROTO: not
 * in this state, -ESTALE: too late or for other work; `diag` says why, and
 * nothing was done.  phase_prepare() takes the job whatever it returns; when
 * it fails the order is to be answered with Refused.
 */
int phase_prepare(struct phase *phase, struct job *job, uint64_t arrived_ns,
                  struct diag *diag) MUST_CHECK;
int phase_start(struct phase *phase, uint64_t agent_start_ns,
                struct diag *diag) MUST_CHECK;
int phase_go(struct phase *phase, struct diag *diag) MUST_CHECK;
int phase_stop_after(struct phase *phase, uint64_t interval,
                     struct diag *diag) MUST_CHECK;
/* Ready once more, to a Prepare of the work that is ready. */
void phase_say_ready(struct phase *phase);
/* For the campaign, whichever phase of it: between phases there is none.  A
 * lease that has ended stays ended, and none is ever made shorter. */
int phase_renew(struct phase *phase, const struct uuid *campaign,
                uint64_t arrived_ns, struct diag *diag) MUST_CHECK;
/* The campaign is over: what runs is stopped, what is not acknowledged is
 * dropped, the drives are given back. */
void phase_release(struct phase *phase, const struct uuid *campaign);

/* Ends work in any state; `outcome` and `reason` are why.  Idle and holding:
 * nothing to do.  Also for what this host ends by itself. */
void phase_abort(struct phase *phase, enum phase_outcome outcome,
                 const char *reason);

/* News from the world.  `equipment` NULL: nothing is told of it. */
void phase_prepared(struct phase *phase, uint32_t workers,
                    uint64_t memory_bytes,
                    const struct phase_equipment *equipment);
void phase_armed(struct phase *phase);
/* Preparing or arming did not work; target: its sd, or "". */
void phase_refused(struct phase *phase, const char *target, const char *reason);
void phase_ended(struct phase *phase, const struct phase_end *end);

/* Every row is stored by the controller, and it has heard of the end. */
void phase_acknowledged(struct phase *phase);

/* To be called at phase_due_ns() or later; earlier does no harm. */
void phase_tick(struct phase *phase);

/* When the next limit ends, lease included; UINT64_MAX: nothing to wait for. */
uint64_t phase_due_ns(const struct phase *phase);

/* The oldest effect not yet taken; false when there is none. */
bool phase_take_effect(struct phase *phase, struct phase_effect *ret_effect);

/* Whether there is work, told in hello as Held. */
static inline bool phase_has_work(const struct phase *phase)
{
    return phase->state != PHASE_IDLE;
}

/* "preparing", "lease lost": for people. */
const char *phase_state_name(enum phase_state state);
const char *phase_outcome_name(enum phase_outcome outcome);

#endif
