/*
 * conduct.h - one campaign from its first phase to its verdict.
 *
 * What it is for: a conductor takes a placed plan through its phases.  It says
 * who must prepare, when all start, what a curve's next rate is, whom to wait
 * for and how long, and how each phase and the campaign ended.  It decides and
 * does no I/O: events and the time come in by function calls, what is to be
 * done comes out as effects.
 *
 *     conductor = conductor_new(plan, &options, now);
 *     for each connected agent of the plan: conductor_host_up(...);
 *     conductor_begin(conductor, now);
 *     loop:
 *         an event                 -> conductor_ready(...) and the like
 *         conductor_due_ns() <= now -> conductor_tick(conductor, now)
 *         after each of them:
 *         while (conductor_take_effect(conductor, &effect)) carry_out(&effect);
 *     until CONDUCT_CAMPAIGN_ENDED came; conductor_free()
 *
 * A phase goes through the states below; `phase` in events and effects is the
 * number of the run in the plan, which is the number on the wire.
 *
 *     state      leaves when                             no longer than
 *     planned    pause over, all hosts there             host_wait
 *     commands   startcmd= has run on all hosts          a command's own, each
 *     preparing  every host is ready                     prepare limit
 *     arming     clocks known, all hosts armed           probe limit, 2 starts
 *     armed      the instant of the start comes
 *     running    last edge, or all have finished         elapsed; fill's limit
 *     draining   every host has finished or is lost      drain limit, lease
 *     collected  all rows are stored and added up        collect limit, twice
 *     over       endcmd= has run on all hosts            a command's own, each
 *
 * ONE START.  Ready of all, at least sixteen probes of each clock, Start to all
 * with an instant far enough away (by the round trips and the number of hosts),
 * Armed of all, Go to all.  Where Armed is missing near the instant there is
 * one more try with more room, then the phase fails with their names.  Nobody
 * gets Go unless all have armed for that very instant.
 *
 * A RESTARTED CONTROLLER has what it stored: conductor_memory() after every
 * phase, conductor_start_of() of every host when a phase starts, what was told
 * of an early end, and Finished.  With that, conductor_resume() instead of
 * conductor_begin() goes on.  A phase that had started is running, and its
 * hosts are without a connection.  One that was begun and may not have started
 * begins anew, once nobody can have anything of the first try any more.
 *
 * LOST HOSTS.  A host without a connection is not lost yet: it may come back
 * with all its samples while its lease lasts, and nothing is missing then.  A
 * phase does not end, and so neither does the campaign, before a host that is
 * gone has surely stopped: by its own word or by the end of its lease.
 *
 * COMMANDS (startcmd=, endcmd=) run before and after a phase, on each of its
 * hosts or on the controller's; those of the campaign before its first phase
 * and after its last one, however it ended.  None runs while a host has work of
 * a phase.  One that fails before a phase fails it, and the campaign ends; one
 * that fails afterwards fails the campaign at its end: what was measured stays,
 * and the phases to come are run.
 *
 * Times are the controller's monotonic clock in nanoseconds; those of agents
 * are named agent_*.  Hosts are indices into plan.hosts.  Events about hosts
 * that have no part in what they speak of are ignored, so the fleet need not
 * know who is waited for.
 *
 * Memory: the plan is the caller's and outlives the conductor.  Texts handed in
 * are copied; texts in effects live until conductor_take_effect() has returned
 * false and an event comes after that.
 * Threads: one owner.
 */
#ifndef CONTROLLER_CONDUCT_CONDUCT_H
#define CONTROLLER_CONDUCT_CONDUCT_H

#include "common/diag.h"
#include "controller/conduct/curve.h"
#include "controller/conduct/offset.h"
#include "controller/plan/plan.h"

enum conduct_verdict {
    CONDUCT_COMPLETE,
    CONDUCT_DEGRADED,    /* n of m hosts: which, from when */
    CONDUCT_FAILED,      /* why */
    CONDUCT_INTERRUPTED, /* by whom */
    CONDUCT_VERDICTS,
};

/* "complete", "degraded", ... */
const char *conduct_verdict_name(enum conduct_verdict verdict);

enum conduct_state {
    CONDUCT_INVALID, /* a hole in the table; never a state */
    CONDUCT_PLANNED,
    CONDUCT_COMMANDS, /* before it */
    CONDUCT_PREPARING,
    CONDUCT_ARMING,
    CONDUCT_ARMED,
    CONDUCT_RUNNING,
    CONDUCT_DRAINING,
    CONDUCT_COLLECTED,
    CONDUCT_OVER,
    CONDUCT_STATES,
};

const char *conduct_state_name(enum conduct_state state);

/* How many of a phase's hosts must take part for it to be started. */
enum conduct_require_kind {
    CONDUCT_REQUIRE_ALL,
    CONDUCT_REQUIRE_COUNT,
    CONDUCT_REQUIRE_PERCENT,
};

struct conduct_options {
    uint64_t start_tolerance_ns; /* most uncertainty of an offset at a start */
    uint64_t host_wait_ns;       /* for hosts that are not connected */
    uint64_t prepare_ns;         /* limit, and more for every target */
    uint64_t prepare_target_ns;  /* of the host with the most */
    uint64_t probe_ns;         /* limit of probing the clocks before a start */
    uint64_t probe_every_ns;   /* while a phase runs */
    uint64_t drain_ns;         /* Phase.drain_limit_ns */
    uint64_t grace_ns;         /* for what should have come by then */
    uint64_t lag_ns;           /* longest a Renew is on its way, or a request */
    uint64_t collect_ns;       /* limit of collecting samples */
    uint64_t fill_bytes_per_s; /* slowest a drive may be when filled */
    enum conduct_require_kind require;
    double require_value;
    bool no_return; /* who goes does not come back: nobody waits for it */
};

/* The defaults: 5 ms, 5 min, 60 s + 2 s, 30 s, 1 s, 30 s, 10 s, 5 s, 2 min,
 * 1 MiB/s, all. */
void conduct_options_init(struct conduct_options *options);

struct conductor;

/* NULL without memory. */
struct conductor *conductor_new(const struct plan *plan,
                                const struct conduct_options *options,
                                uint64_t now_ns);

/* NULL is fine.  Returns NULL. */
struct conductor *conductor_free(struct conductor *conductor);

/* ---- Events -------------------------------------------------------------- */

/* Begins with the plan's first run.  Once. */
void conductor_begin(struct conductor *conductor, uint64_t now_ns);

/* To be called at conductor_due_ns() or later; earlier does no harm. */
void conductor_tick(struct conductor *conductor, uint64_t now_ns);

/* When the conductor wants its next tick; UINT64_MAX: it does not. */
uint64_t conductor_due_ns(const struct conductor *conductor);

/* What an agent says it holds of this campaign; values of the wire. */
enum conduct_held {
    CONDUCT_HELD_NOTHING,
    CONDUCT_HELD_PREPARING,
    CONDUCT_HELD_READY,
    CONDUCT_HELD_ARMED,
    CONDUCT_HELD_RUNNING,
    CONDUCT_HELD_DRAINING,
    CONDUCT_HELD_HOLDING,
};

struct conduct_hello {
    bool held_before;     /* the phase at hand as it was ordered before the
                             controller was restarted, and has begun anew */
    struct uuid instance; /* of the agent's process */
    struct uuid boot;     /* of its kernel: another one, another clock */
    uint64_t lease_ns;
    bool finishes; /* when its lease ends it goes on to the end of the phase */
    enum conduct_held held; /* NOTHING also for another campaign's work */
    uint32_t held_phase;
};

/* A session with the host was made: the Welcome is on its way. */
void conductor_host_up(struct conductor *conductor, uint64_t now_ns,
                       uint32_t host, const struct conduct_hello *hello);

/* The session ended.  `reason` for people: "connection reset". */
void conductor_host_down(struct conductor *conductor, uint64_t now_ns,
                         uint32_t host, const char *reason);

/* The answer to a probe. */
void conductor_probed(struct conductor *conductor, uint64_t now_ns,
                      uint32_t host, const struct offset_probe *probe);

/* Frames of the host's agent about its work in a phase. */
void conductor_ready(struct conductor *conductor, uint64_t now_ns,
                     uint32_t host, uint32_t phase);
void conductor_armed(struct conductor *conductor, uint64_t now_ns,
                     uint32_t host, uint32_t phase, uint64_t agent_start_ns);
/* `target`: the sd it is about, or "". */
void conductor_refused(struct conductor *conductor, uint64_t now_ns,
                       uint32_t host, uint32_t phase, const char *target,
                       const char *reason);

/* The values of Outcome on the wire. */
enum conduct_outcome {
    CONDUCT_OUTCOME_COMPLETE,
    CONDUCT_OUTCOME_STOPPED,
    CONDUCT_OUTCOME_LEASE_LOST,
    CONDUCT_OUTCOME_NO_GO,
    CONDUCT_OUTCOME_FAILED,
    CONDUCT_OUTCOME_TIME_LIMIT,
};

struct conduct_finish {
    enum conduct_outcome outcome;
    const char *reason;
    uint64_t intervals;       /* as on the wire: the number of the drain row */
    uint64_t stuck;           /* requests that did not come back, */
    char stuck_on[NAME_SIZE]; /* the first on this sd; "": not known */
};

void conductor_finished(struct conductor *conductor, uint64_t now_ns,
                        uint32_t host, uint32_t phase,
                        const struct conduct_finish *finish);

/* Finished, or Refused (rows 0), of what hello.held_before is about: nobody
 * wants its rows. */
void conductor_left(struct conductor *conductor, uint64_t now_ns, uint32_t host,
                    uint32_t phase, uint64_t rows);

/* From a sample of the host: when its workers opened their schedules. */
void conductor_opened(struct conductor *conductor, uint32_t host,
                      uint32_t phase, uint64_t agent_first_ns,
                      uint64_t agent_last_ns);

/* When commands run. */
enum conduct_when {
    CONDUCT_NEVER_RUN, /* none is at hand */
    CONDUCT_BEFORE_ALL,
    CONDUCT_BEFORE_PHASE,
    CONDUCT_AFTER_PHASE,
    CONDUCT_AFTER_ALL,
};

/* In place of a host: the controller's own. */
#define CONDUCT_CONTROLLER UINT32_MAX

/* The longest that a command may take, its answer included. */
#define CONDUCT_COMMAND_NS (3700 * NS_PER_S)

/* A command has ended.  `failure`: why it did not do what it should; NULL: it
 * did. */
void conductor_commanded(struct conductor *conductor, uint64_t now_ns,
                         uint32_t host, uint32_t number, const char *failure);

/* Whether the answer of a host to that number is still to come. */
bool conductor_waits_for(const struct conductor *conductor, uint32_t host,
                         uint32_t number);

/* The command at hand; NULL: none. */
const struct plan_command *conductor_errand(const struct conductor *conductor,
                                            enum conduct_when *ret_when);

/* Every row of the host below `next_interval` is committed.  Answered with
 * CONDUCT_DO_ACK. */
void conductor_stored(struct conductor *conductor, uint64_t now_ns,
                      uint32_t host, uint32_t phase, uint64_t next_interval);

struct conduct_total {
    double iops;       /* of the measured intervals, all hosts together */
    uint64_t failures; /* requests that failed, whenever in the phase */
    char first_failure[REASON_SIZE / 2]; /* in words; "": not known */
    double service_mean_ns;              /* 0: unknown */
    double response_find_ns; /* the run's find_quantile of response times;
                                0: unknown */
    char broken[TEXT_SIZE];  /* what the campaign is to end for; "": nothing */
};

/* The answer to CONDUCT_DO_TOTAL. */
void conductor_totalled(struct conductor *conductor, uint64_t now_ns,
                        uint32_t phase, const struct conduct_total *total);

/* The store cannot keep what comes: the campaign fails. */
void conductor_store_failed(struct conductor *conductor, uint64_t now_ns,
                            const char *reason);

/* An operator stops the campaign.  `who`: "by ann from shell 10.0.0.7". */
void conductor_stop(struct conductor *conductor, uint64_t now_ns,
                    const char *who);

/* The running phase has what it wanted (maxdata, steady state) or had enough
 * (errors): it ends with an interval to come, with this verdict or a worse
 * one.  Ignored unless it runs. */
void conductor_end_phase(struct conductor *conductor, uint64_t now_ns,
                         enum conduct_verdict verdict, const char *reason);

/* ---- Going on after a restart -------------------------------------------- */

/* Why a phase ends other than by itself. */
enum conduct_ending {
    CONDUCT_ENDING_NONE,
    CONDUCT_ENDING_EARLY,       /* it had what it wanted: StopAfter */
    CONDUCT_ENDING_FAILED,      /* Abort */
    CONDUCT_ENDING_INTERRUPTED, /* Abort, by an operator */
    CONDUCT_ENDINGS,
};

/* What outlives a phase. */
struct conduct_memory {
    struct curve curve;
    enum conduct_verdict verdict; /* of the campaign so far */
    char reason[REASON_SIZE];
    bool over; /* no other phase follows */
};

/* A host that got Go. */
struct conduct_start {
    uint32_t host;
    struct conduct_hello hello; /* what it holds does not matter */
    uint64_t agent_start_ns;
    struct offset_estimate offset; /* at the start */
};

struct conduct_finished {
    uint32_t host;
    struct conduct_finish finish;
};

/* What is known of the phase at hand, and what came before. */
struct conduct_past {
    uint32_t phase; /* the first that is not over; all are: their number */
    bool begun;     /* some phase was: the hosts may hold leases */
    struct conduct_memory memory; /* of the phase before */
    /* From now on, hosts without a word from us have surely stopped after: */
    uint64_t quiet_ns;
    /* How it was to end; `reason` lives as long as the call. */
    enum conduct_ending ending;
    enum conduct_verdict ending_verdict;
    uint64_t stop_after;
    const char *reason;
    /* Had it started?  0: no.  An instant of the clock as it is now. */
    uint64_t start_ns;
    bool clock_is_new; /* another boot: what was known of offsets is void */
    double iops;
    const struct conduct_start *starts;
    uint32_t start_count;
    const struct conduct_finished *finished; /* committed */
    uint32_t finished_count;
};

/* Instead of conductor_begin(): with no host connected. */
void conductor_resume(struct conductor *conductor, uint64_t now_ns,
                      const struct conduct_past *past);

/* For the store, with CONDUCT_PHASE_ENDED. */
void conductor_memory(const struct conductor *conductor,
                      struct conduct_memory *ret_memory);

/* For the store, with CONDUCT_PHASE_STARTED.  False: the host got no Go. */
bool conductor_start_of(const struct conductor *conductor, uint32_t host,
                        struct conduct_start *ret_start) MUST_CHECK;

/* How long after the last word of ours the host may do something for a phase of
 * the plan, at the most.  0: it was never there. */
uint64_t conductor_quiet_ns(const struct conductor *conductor, uint32_t host);

/* ---- Effects ------------------------------------------------------------- */

enum conduct_effect_kind {
    /* A frame to the agent of `host`, which is connected. */
    CONDUCT_DO_PREPARE, /* phase; conductor_phase() has what goes with it */
    CONDUCT_DO_PROBE,
    CONDUCT_DO_START,      /* phase, agent_start_ns */
    CONDUCT_DO_GO,         /* phase */
    CONDUCT_DO_STOP_AFTER, /* phase, interval */
    CONDUCT_DO_ABORT,      /* phase (not always the current one), reason */
    CONDUCT_DO_RENEW,      /* phase */
    CONDUCT_DO_ACK,        /* phase, interval: next_interval */
    CONDUCT_DO_RELEASE,
    /* To the host's agent, or CONDUCT_CONTROLLER: number; command, NULL: end
     * the one of that number, without an answer. */
    CONDUCT_DO_COMMAND,
    /* To the results.  Every phase that was begun has its BEGAN, DO_TOTAL and
     * ENDED, in this order, whether it started or not. */
    CONDUCT_PHASE_BEGAN,    /* phase, iops: asked, 0 at full speed */
    CONDUCT_PHASE_STARTED,  /* phase, at_ns: the start; uncertainty_ns */
    CONDUCT_PHASE_ENDING,   /* phase, ending, verdict, interval, reason: to be
                               known after a restart */
    CONDUCT_DO_TOTAL,       /* phase: all is stored, conductor_totalled() */
    CONDUCT_PHASE_ENDED,    /* phase, verdict, reason, spread_ns (UINT64_MAX: no
                               host told), uncertainty_ns */
    CONDUCT_PHASE_SKIPPED,  /* phase, count: so many from it on; reason */
    CONDUCT_CAMPAIGN_ENDED, /* verdict, reason; the last effect of all */
    /* To people: the log and whoever watches. */
    CONDUCT_NOTICE,        /* reason */
    CONDUCT_HOST_GIVEN_UP, /* host, reason */
};

struct conduct_effect {
    enum conduct_effect_kind kind;
    uint32_t host;
    uint32_t phase;
    uint32_t count;
    enum conduct_verdict verdict;
    enum conduct_ending ending;
    uint64_t agent_start_ns;
    uint64_t interval;
    uint64_t at_ns;
    uint64_t uncertainty_ns;
    uint64_t spread_ns;
    double iops;
    uint32_t number; /* of a command */
    const struct plan_command *command;
    const char *reason; /* see Memory above; "" without one */
};

/* The oldest effect not yet taken; false when there is none.  Take all after
 * every event.  Carrying one out may bring events of its own: their effects
 * come after those that wait. */
bool conductor_take_effect(struct conductor *conductor,
                           struct conduct_effect *ret_effect) MUST_CHECK;

/* ---- What is going on ---------------------------------------------------- */

struct conduct_phase {
    uint32_t number; /* index into plan.runs, and Work.phase */
    enum conduct_state state;
    uint64_t since_ns; /* in this state */
    double iops;       /* asked of all cells together; 0: closed loop */
    uint64_t start_ns; /* 0 before it is settled */
    uint64_t end_ns;   /* last edge; 0 for a fill */
    uint64_t interval_ns;
    uint64_t warmup_intervals;
    uint64_t measured_intervals; /* 0 for a fill */
    uint64_t drain_limit_ns;     /* for Phase, as the next */
    uint64_t time_limit_ns;
    uint32_t host_count; /* with a part in the run */
};

/* The phase at hand, or the last one.  Valid until conductor_free(). */
const struct conduct_phase *conductor_phase(const struct conductor *conductor);

/* "running", "lost: connection reset" ... of a host in the phase at hand. */
const char *conductor_host_state(const struct conductor *conductor,
                                 uint32_t host);

/* Whether the host has a part in the phase at hand. */
bool conductor_host_takes_part(const struct conductor *conductor,
                               uint32_t host);

/*
 * An agent's stamp as an instant of the controller's clock relative to the
 * start of the phase at hand, and how far the agent's clock has drifted since
 * (sample.edge_skew_ns).  False while there is no start.
 */
bool conductor_place(const struct conductor *conductor, uint32_t host,
                     uint64_t agent_ns, int64_t *ret_relative_ns,
                     int64_t *ret_skew_ns) MUST_CHECK;

#endif
