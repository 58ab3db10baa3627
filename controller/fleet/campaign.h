/*
 * campaign.h - one campaign that is not over, from its submission on.
 *
 *   state       leaves when                          to
 *   inspecting  every agent told about its targets   storing, or refused
 *   storing     it is in the store, and answered     waiting, or ending
 *   waiting     all its drives and hosts are free    running, or ending (stop)
 *   running     the conductor says its last word     ending
 *   ending      the verdict is stored                over
 *   over        to be forgotten
 *
 * submit.c brings it as far as waiting, campaign.c takes it from there: it
 * carries out what the conductor decides and tells it what happened.  One that
 * an earlier controller left in the store begins with waiting, or, by
 * restore.c, where it was.  Only for fleet/.
 *
 * Threads: the loop's.
 */
#ifndef CONTROLLER_FLEET_CAMPAIGN_H
#define CONTROLLER_FLEET_CAMPAIGN_H

#include "common/base.h"
#include "controller/conduct/conduct.h"
#include "controller/fleet/audit.h"
#include "controller/fleet/tally.h"
#include "controller/fleet/wire.h"
#include "controller/language/report.h"
#include "controller/results/results.h"

#define CAMPAIGNS_MAX       1024u /* not over, at once */
#define CAMPAIGN_INSPECT_NS (30 * NS_PER_S)
#define CAMPAIGN_RETRY_NS   (5 * NS_PER_S) /* of storing a verdict */

struct arena;
struct definitions;
struct fleet;
struct host;
struct plan;
struct sample;
struct slice;

enum campaign_state {
    CAMPAIGN_INVALID, /* a hole in the table */
    CAMPAIGN_INSPECTING,
    CAMPAIGN_STORING,
    CAMPAIGN_WAITING,
    CAMPAIGN_RUNNING,
    CAMPAIGN_ENDING,
    CAMPAIGN_OVER,
    CAMPAIGN_STATES,
};

/* What the campaign knows of a host of its plan. */
struct campaign_host {
    struct host *host;
    uint32_t *targets; /* of the plan: those that are here */
    uint32_t target_count;
    bool inspected;
    struct slice *slice; /* of the phase at hand; NULL before its Prepare */
    struct tally_mark counted;
    /* Its Finished, on the way to the store. */
    struct campaign_finish {
        bool waits;
        uint32_t phase;
        struct conduct_finish finish; /* its reason is `reason` */
        char reason[REASON_SIZE];
    } finish;
};

struct campaign {
    struct fleet *fleet;
    struct campaign *next;
    struct uuid id;
    uint64_t number; /* 0 before it is stored */
    enum campaign_state state;
    struct results_campaign given; /* as submitted; lies in the arena */
    struct audit_actor by;         /* who submitted it */
    struct arena *arena;
    struct plan *plan;
    struct campaign_host *hosts; /* [plan->host_count] */
    uint32_t host_count;

    /* While inspecting: whom to answer, what to say, until when. */
    uint64_t shell; /* link id */
    uint32_t request;
    struct language_report report;
    uint64_t inspect_due_ns;
    bool *included; /* [given.file_count]: read only by an include= */
    enum wire_plan_form
        show;        /* not NONE: the plan is the answer, that is all */
    const char *yes; /* hash of what may be destroyed, see consent.h; "" */
    struct plan_agent *agents;       /* [host_count], as they were matched */
    struct definitions *definitions; /* until hosts are matched */

    /* While running. */
    struct conductor *conductor;
    bool carrying_out;
    uint32_t slices_phase;
    uint32_t unawaited; /* commands so far that nobody waited for */
    /* Of the Prepares of the phase at hand: what agents say of it under another
     * one is about a first try, before a restart.  0: it has not begun. */
    uint64_t try_epoch;
    uint64_t quiet_ns;  /* how long hosts may act without us; stored */
    struct tally tally; /* of the phase at hand */
    /* What the workloads' shares were at a curve's maximum. */
    double shares[TALLY_WORKLOADS_MAX];
    bool shares_known;
    /* With curve_scope=drive: what each drive did at its maximum, and the rates
     * of the cells of a point; NULL: no curve of the plan asks for it. */
    double *drive_maximum; /* [plan->target_count] */
    double *cell_rates;    /* of `rates_phase` */
    double *drive_weights; /* scratch */
    uint32_t rates_phase;

    /* The last word. */
    enum verdict verdict;
    char reason[REASON_SIZE];
    uint64_t retry_ns; /* of storing it; 0: it is on its way */
};

/* "inspecting", ... */
const char *campaign_state_name(enum campaign_state state);

void campaign_enter(struct campaign *campaign, enum campaign_state state);

/* Frees all but results' memory of it. */
struct campaign *campaign_free(struct campaign *campaign);

/* Its drives and hosts are its own now: begins. */
void campaign_begin(struct campaign *campaign);

/* Takes what the conductor decides and carries it out, after every event. */
void campaign_step(struct campaign *campaign);

/* What falls to a host in a phase.  0, -ENOENT: nothing, or -ENOMEM. */
int campaign_slice(struct campaign *campaign, uint32_t phase,
                   uint32_t host) MUST_CHECK;

/* Whether work is of the phase at hand as it was ordered before a restart. */
bool campaign_is_before(const struct campaign *campaign,
                        const struct wire_work *work);

/* maxdata= and data_errors=: the phase ends with an edge to come. */
void campaign_check_limits(struct campaign *campaign);

/* Ends it from outside: `who` for people. */
void campaign_stop(struct campaign *campaign, const char *who);

/* Ends the run that goes on, if any, with the interval that goes on. */
void campaign_end_run(struct campaign *campaign, const char *who);

/* Does what is due. */
void campaign_tick(struct campaign *campaign, uint64_t now_ns);
uint64_t campaign_due_ns(const struct campaign *campaign);

/* The host's index in the plan; UINT32_MAX when it has no part. */
uint32_t campaign_host_index(const struct campaign *campaign,
                             const struct host *host);

/* A session with an agent of the plan was made, or ended. */
void campaign_host_up(struct campaign *campaign, uint32_t host);
void campaign_host_down(struct campaign *campaign, uint32_t host,
                        const char *reason);

void campaign_probed(struct campaign *campaign, uint32_t host,
                     const struct offset_probe *probe);
void campaign_ready(struct campaign *campaign, uint32_t host,
                    const struct wire_ready *ready);
void campaign_armed(struct campaign *campaign, uint32_t host,
                    const struct wire_start *armed);
void campaign_refused(struct campaign *campaign, uint32_t host,
                      const struct wire_refused *refused);
void campaign_finished(struct campaign *campaign, uint32_t host,
                       const struct wire_finished *finished);

/* A command before or after a phase has ended; `failure` NULL: as it should. */
void campaign_commanded(struct campaign *campaign, uint32_t host,
                        uint32_t number, const char *failure);

/*
 * Takes the sample.  Returns 0; -ENOENT when the phase is not open (any more);
 * -EAGAIN when the store is behind; -EPROTO with `diag` when it cannot be true.
 */
int campaign_sample(struct campaign *campaign, uint32_t host,
                    struct wire_sample *sample, struct diag *diag) MUST_CHECK;

/* campaign_memory.c: for a controller that is started again. */
void campaign_remember_origin(struct campaign *campaign);
void campaign_remember_quiet(struct campaign *campaign, uint32_t host);
void campaign_remember_stop(struct campaign *campaign, const char *who);
void campaign_remember_starts(struct campaign *campaign, uint32_t phase);
void campaign_remember_ending(struct campaign *campaign,
                              const struct conduct_effect *effect);
void campaign_remember_carry(struct campaign *campaign, uint32_t phase);
/* Finished that the store will not take is told all the same. */
void campaign_flush_finished(struct campaign *campaign);

/* From results. */
void campaign_remembered(struct campaign *campaign,
                         const struct results_memory *memory, bool stored);
void campaign_resumed(struct campaign *campaign, uint32_t phase,
                      const struct results_past *past);
void campaign_stored(struct campaign *campaign, uint32_t phase, uint32_t host,
                     uint64_t next_interval);
void campaign_totalled(struct campaign *campaign, uint32_t phase,
                       const struct results_total *total);
void campaign_store_failed(struct campaign *campaign, const char *why);

/* campaign_asks.c: the shares of workloads in a phase; NULL: as planned. */
const double *campaign_shares(const struct campaign *campaign, uint32_t phase);

/* campaign_asks.c: abort_failed_skew=; false: the shares are as asked. */
bool campaign_skew_is_off(const struct campaign *campaign, uint32_t phase,
                          char *reason, size_t size);

/* campaign_asks.c: remembers them at the end of a curve's maximum. */
void campaign_keep_shares(struct campaign *campaign, uint32_t phase);

/* campaign_asks.c: room for what curve_scope=drive has to remember, where a run
 * asks for it.  0 or -ENOMEM. */
int campaign_keep_room(struct campaign *campaign) MUST_CHECK;

/* campaign_asks.c: remembers what each drive did, at the end of a curve's
 * maximum of so many I/Os a second. */
void campaign_keep_drives(struct campaign *campaign, uint32_t phase,
                          double iops);

/* campaign_asks.c: the rates of the cells of a phase that asks for `iops` in
 * all; NULL: as planned. */
const double *campaign_cell_rates(struct campaign *campaign, uint32_t phase,
                                  double iops);

/* campaign_asks.c: the controller's options, and what the campaign asks. */
const struct conduct_options *campaign_options(const struct campaign *campaign,
                                               struct conduct_options *options);

/* campaign_asks.c: what iorate=find looks at; 0: nothing was measured. */
double campaign_response_ns(const struct campaign *campaign, uint32_t phase,
                            const struct results_total *total);

/* campaign_asks.c: a drive that the phase writes on this host is in use on
 * another one: it is as if the agent had refused.  False: there is none. */
bool campaign_refuse_used(struct campaign *campaign, uint32_t phase,
                          uint32_t host);

/* campaign_asks.c: the same for the phase at hand, whichever host; what has
 * come into use meanwhile stops the campaign. */
void campaign_stop_used(struct campaign *campaign);

/* campaign_user.c: its hosts are its own, in the listings; or no longer. */
void campaign_note_user(struct campaign *campaign);
void campaign_forget_user(struct campaign *campaign);

/* Says its last word to the store and to whoever watches. */
void campaign_end(struct campaign *campaign, enum verdict verdict,
                  const char *reason);

/* Something could not be handed to the store: the campaign fails. */
void campaign_note_store(struct campaign *campaign, int err, const char *what);

/* Tells whoever watches, and the log. */
void campaign_notice(struct campaign *campaign, const char *text);

#endif
