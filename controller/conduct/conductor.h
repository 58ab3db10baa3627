/*
 * conductor.h - what the files of this room share.  Not for other rooms.
 *
 * A conductor has one phase at hand and one `struct part` for every host of the
 * plan: that host's part in the phase, and what outlives the phase (the
 * connection, the clock, the lease).  Two state machines, each an enum, a table
 * and one setter: the phase's in course.c, a part's in part.c.
 *
 * Every event does its own little thing and then calls course_step(), which
 * looks whether the phase can go on.
 */
#ifndef CONTROLLER_CONDUCT_CONDUCTOR_H
#define CONTROLLER_CONDUCT_CONDUCTOR_H

#include "controller/conduct/conduct.h"

#define CONDUCT_NEVER UINT64_MAX

/* Probes of each clock before a start: at least, and where the uncertainty is
 * still too large, at most. */
#define CONDUCT_PROBES_MIN 16u
#define CONDUCT_PROBES_MAX 64u

/* ---- A host's part ------------------------------------------------------- */

enum part_link {
    PART_LINK_DOWN,
    PART_LINK_UP,
};

enum part_state {
    PART_INVALID,   /* a hole in the table; never a state */
    PART_OUT,       /* the run has nothing for this host */
    PART_IDLE,      /* will take part; nothing was sent */
    PART_PREPARING, /* Prepare sent */
    PART_READY,     /* and answered */
    PART_STARTING,  /* Start sent */
    PART_ARMED,     /* and answered */
    PART_RUNNING,   /* Go sent */
    PART_STOPPING,  /* told to stop, or would be if it were connected */
    PART_FINISHED,  /* Finished came; some of its rows are not stored */
    PART_COLLECTED, /* all of them are */
    PART_REFUSED,   /* it said no, and has nothing */
    PART_GONE,      /* given up */
    PART_STATES,
};

enum part_event {
    PART_EV_PREPARE,
    PART_EV_READY,
    PART_EV_START,
    PART_EV_ARMED,
    PART_EV_GO,
    PART_EV_FINISHED,
    PART_EV_STORED,
    PART_EV_REFUSED,
    PART_EV_GIVE_UP,
    PART_EV_ABORT,
    PART_EV_BACK, /* given up, and has come back with its rows */
    PART_EVENTS,
};

enum probe_state {
    PROBE_IDLE,
    PROBE_OUT, /* sent, not answered */
};

enum part_errand {
    PART_ERRAND_NONE,
    PART_ERRAND_HELD, /* back, and to be told once it has let go of its work */
    PART_ERRAND_OUT,  /* told to run a command, not answered */
};

/* Of the phase before, for a host that tells of it late. */
struct part_late {
    uint32_t phase;  /* PLAN_NOWHERE: none */
    uint64_t stored; /* rows below are committed */
    uint64_t rows;   /* how many to wait for, once Finished came again */
    uint64_t due_ns; /* until then; CONDUCT_NEVER: Finished did not come */
};

/* The phase at hand, as it was ordered before a restart. */
#define PART_HOLDS_BEFORE (PLAN_NOWHERE - 1)

struct part {
    /* For the phase at hand. */
    enum part_state state;
    uint32_t probes;              /* answered since arming began */
    uint64_t agent_start_ns;      /* of the last Start */
    struct offset_estimate start; /* with which it was told the start */
    struct conduct_finish finish; /* its reason is `reason` */
    uint64_t stored;              /* rows below are committed */
    uint64_t opened_first_ns;     /* on the controller's clock; 0: not told */
    uint64_t opened_last_ns;
    uint64_t opened_uncertainty_ns;
    char reason[TEXT_SIZE]; /* why it refused, ended or was given up */

    /* For the whole campaign. */
    enum part_link link;
    char link_reason[TEXT_SIZE]; /* why it is down */
    struct conduct_hello hello;  /* of the last session; lease 0: none yet */
    struct offset offset;
    enum probe_state probe;
    uint64_t probe_due_ns; /* next one, or the answer's limit */
    uint32_t holds;        /* the phase it has work of; PLAN_NOWHERE: none;
                              PART_HOLDS_BEFORE */
    bool suspect;          /* it may have something of the phase's first try */
    uint32_t leased_phase; /* last prepared; PLAN_NOWHERE: none */
    uint64_t renewed_ns;   /* when its lease was last extended */
    struct part_late late;
    enum part_errand errand;
    uint64_t errand_due_ns; /* of its return; CONDUCT_NEVER: it is there */
};

/* Moves the part on.  False, and nothing changed, for a hole in the table. */
bool part_handle(struct part *part, enum part_event event);

/* Its connection is there. */
static inline bool part_is_up(const struct part *part)
{
    return part->link == PART_LINK_UP;
}

/* It may have something of this phase in its hands, unless its word or the end
 * of its lease says otherwise. */
bool part_is_busy(const struct part *part);

/* It takes part and has not failed before the start. */
bool part_is_starter(const struct part *part);

/* It takes part in the phase at all. */
bool part_takes_part(const struct part *part);

/* Rows that Finished promised. */
uint64_t part_rows(const struct part *part);

/* How it ended.  Where it was told to stop, the reason for that is kept. */
void part_note_finish(struct part *part, const struct conduct_finish *finish);

void part_set_reason(struct part *part, const char *format, ...) PRINTF(2, 3);

/* ---- The conductor ------------------------------------------------------- */

enum campaign_state {
    CAMPAIGN_NEW,
    CAMPAIGN_OPENING, /* commands before the first phase */
    CAMPAIGN_GOING,
    CAMPAIGN_STOPPING, /* the phase at hand is the last */
    CAMPAIGN_CLOSING,  /* commands after the last phase */
    CAMPAIGN_ENDED,
};

/* The commands at hand, one after another. */
struct errands {
    enum conduct_when when; /* CONDUCT_NEVER_RUN: there are none */
    const struct plan_commands *commands;
    uint32_t at;
    uint32_t number; /* of the one at hand */
    uint64_t due_ns; /* the latest that it may be answered */
    enum part_errand controller;
    char failure[REASON_SIZE]; /* the first one */
};

enum barrier_state {
    BARRIER_PROBING,
    BARRIER_STARTING,
};

struct barrier {
    enum barrier_state state;
    uint32_t tries;     /* Starts to all so far */
    uint64_t limit_ns;  /* of probing */
    uint64_t margin_ns; /* before the start: Armed is due, Go is sent */
};

enum tally_state {
    TALLY_WAITING, /* for hosts and their rows */
    TALLY_ASKED,   /* CONDUCT_DO_TOTAL */
    TALLY_TOLD,
};

#define EFFECT_TEXTS 32768u /* bytes of texts that an event may make */

struct conductor {
    const struct plan *plan;
    struct conduct_options options;
    uint64_t now_ns;
    enum campaign_state state;
    struct part *parts; /* plan->host_count */

    /* The phase at hand. */
    struct conduct_phase phase;
    uint64_t planned_ns;   /* when it may begin: after the pause */
    uint32_t commanded;    /* the last phase whose startcmd= was begun, + 1 */
    uint32_t waiting_told; /* number of the phase, from 1, of which people know
                              that it waits for hosts; 0: of none */
    uint64_t suspect_ns; /* after a restart: until then, parts may be suspect */
    enum conduct_ending ending;
    enum conduct_verdict ending_verdict; /* at least */
    char why[REASON_SIZE];
    uint64_t stop_after; /* with CONDUCT_ENDING_EARLY: the last interval */
    struct barrier barrier;
    enum tally_state tally;
    struct conduct_total total;

    /* The campaign so far. */
    struct errands errands;
    uint32_t errand_count; /* commands so far */
    struct curve curve;
    enum conduct_verdict verdict;
    char reason[REASON_SIZE];
    char who[TEXT_SIZE]; /* stopped it */
    uint32_t changes;    /* grows when something may let the phase go on */

    /* Effects not yet taken. */
    struct conduct_effect *effects;
    uint32_t effect_room;
    uint32_t effect_first;
    uint32_t effect_count;
    char texts[EFFECT_TEXTS];
    uint32_t text_length;
    const char *last_text; /* often the same for many hosts */
    bool drained;          /* all effects were taken, and what they told of */
};

/* Loops over the hosts: `part` is each in turn, `host` its index. */
#define FOR_EACH_PART(conductor, host, part)                                   \
    for (uint32_t host = 0; host < (conductor)->plan->host_count &&            \
                            ((part) = &(conductor)->parts[host], true);        \
         host++)

/* ---- effects.c ----------------------------------------------------------- */

/* A new effect for the current phase, for the caller to complete. */
struct conduct_effect *effect_add(struct conductor *c,
                                  enum conduct_effect_kind kind);
struct conduct_effect *effect_add_host(struct conductor *c,
                                       enum conduct_effect_kind kind,
                                       uint32_t host);
/* A copy that lives as long as the effects do. */
const char *effect_text(struct conductor *c, const char *text);
void effect_notice(struct conductor *c, const char *format, ...) PRINTF(2, 3);

/* ---- course.c ------------------------------------------------------------ */

/* Plans runs[number], or ends the campaign where there is none. */
void course_plan(struct conductor *c, uint32_t number);

/* Goes on as far as it can. */
void course_step(struct conductor *c);

/* The phase cannot go on: whoever has work is told to stop.  The first reason
 * wins. */
void course_break(struct conductor *c, enum conduct_ending ending,
                  const char *format, ...) PRINTF(3, 4);

/* When the state's limit ends. */
uint64_t course_due_ns(const struct conductor *c);

/* The campaign's verdict gets worse, never better. */
void course_note_verdict(struct conductor *c, enum conduct_verdict verdict,
                         const char *reason);

/* The same, of no phase. */
void course_note_campaign(struct conductor *c, enum conduct_verdict verdict,
                          const char *reason);

/* With its commands, if it has any and has begun. */
void course_end_campaign(struct conductor *c);

/* No other phase comes after the one at hand. */
bool course_is_last(const struct conductor *c);

/* Some host may still do something of the first try of the phase. */
bool course_has_suspects(const struct conductor *c);

/* Of the phase at hand, with what has come of it: where its ending is known. */
void course_note_ending(struct conductor *c);

/* Rows of hosts that were given up are still welcome. */
bool course_is_open(const struct conductor *c);

/* How many hosts must take part for a start. */
uint32_t course_required(const struct conductor *c);

/* To a state of before a restart. */
void course_resume(struct conductor *c, enum conduct_state state);

/* planning.c: the longest that a run may take from its start on. */
uint64_t planning_limit_ns(const struct conductor *c,
                           const struct plan_run *run);

/* ---- errand.c ------------------------------------------------------------ */

/* Runs them; with none, they are done at once. */
void errands_begin(struct conductor *c, enum conduct_when when,
                   const struct plan_commands *commands);
bool errands_are_done(const struct conductor *c);
void errands_step(struct conductor *c);
uint64_t errands_due_ns(const struct conductor *c);
/* What the commands that are done failed with; false: nothing. */
bool errands_take_failure(struct conductor *c, char ret_text[REASON_SIZE]);
/* Kills what runs and forgets the rest. */
void errands_abandon(struct conductor *c);
void errands_answer(struct conductor *c, uint32_t host, uint32_t number,
                    const char *failure);
void errands_host_up(struct conductor *c, uint32_t host);
void errands_host_down(struct conductor *c, uint32_t host);
const struct plan_command *errand_command(const struct conductor *c);

/* ---- part.c: what needs the conductor ------------------------------------ */

const char *part_label(const struct conductor *c, uint32_t host);

/* Parts that `picks` picks. */
uint32_t part_count(const struct conductor *c,
                    bool (*picks)(const struct part *part));

void part_give_up(struct conductor *c, uint32_t host, const char *format, ...)
    PRINTF(3, 4);

/* Acknowledges what is stored, and where that is all, the part is collected. */
void part_collect(struct conductor *c, uint32_t host);

/* By when a host that is not heard of, or not renewed, has surely stopped. */
uint64_t part_quiet_ns(const struct conductor *c, const struct part *part);

/* Whether its lease is to be extended: not for one that is to stop. */
bool part_renews(const struct conductor *c, const struct part *part);

/* Renewals and probes that are due; the end of a lease. */
void part_tick(struct conductor *c, uint32_t host);
uint64_t part_due_ns(const struct conductor *c, const struct part *part);

/* ---- back.c -------------------------------------------------------------- */

/* A host has come (back); part->hello says what it has. */
void back_reconcile(struct conductor *c, uint32_t host);

/* Finished and stored rows of a phase that is not at hand any more. */
void back_finished(struct conductor *c, uint32_t host, uint32_t phase,
                   uint64_t rows);
/* Nothing of the first try of the phase is there any more. */
void back_left(struct conductor *c, uint32_t host, uint32_t phase,
               uint64_t rows);
void back_stored(struct conductor *c, uint32_t host, uint32_t phase,
                 uint64_t next_interval);
void back_tick(struct conductor *c, uint32_t host);

/* ---- orders.c: to one host ----------------------------------------------- */

void order_prepare(struct conductor *c, uint32_t host);
void order_start(struct conductor *c, uint32_t host);
void order_go(struct conductor *c, uint32_t host);
/* Of the phase at hand; without a connection it is given when there is one. */
void order_abort(struct conductor *c, uint32_t host, const char *reason);
void order_stop_after(struct conductor *c, uint32_t host);
void order_acknowledge(struct conductor *c, uint32_t host, uint32_t phase,
                       uint64_t next_interval);
void order_renew(struct conductor *c, uint32_t host);
void order_probe(struct conductor *c, uint32_t host);

/* ---- barrier.c ----------------------------------------------------------- */

/* A start is never further ahead of the Start that names it. */
#define BARRIER_AHEAD_MAX_NS (60 * NS_PER_S)

void barrier_begin(struct conductor *c);
/* When the next probe of a part is due, now that one was answered. */
uint64_t barrier_probe_due_ns(const struct conductor *c,
                              const struct part *part);
/* All are armed, and there is time for Go. */
bool barrier_is_armed(const struct conductor *c);
void barrier_step(struct conductor *c);
/* Longest lately, of those that take part. */
uint64_t barrier_round_trip_ns(const struct conductor *c);
uint64_t barrier_due_ns(const struct conductor *c);

/* ---- verdict.c ----------------------------------------------------------- */

/* "host2, host5" of the parts that `picks` picks; at most a dozen. */
void verdict_names(const struct conductor *c,
                   bool (*picks)(const struct part *part),
                   char text[TEXT_SIZE]);

/* How the phase at hand ended. */
enum conduct_verdict verdict_of_phase(const struct conductor *c,
                                      char reason[REASON_SIZE]);

/* Start spread and uncertainty over the hosts that told when they opened. */
void verdict_spread(const struct conductor *c, uint64_t *ret_spread_ns,
                    uint64_t *ret_uncertainty_ns);

#endif
