/*
 * state.h - what the parts of the fleet share.  Only for fleet/.
 *
 *   fleet.c    links, time, the store's callbacks
 *   agents.c   frames of agents
 *   shells.c   requests of shells
 *   audit.c    what of it the audit log is told
 *   submit.c   from a file to a plan; then inspect.c: the facts of its
 *              targets; then accept.c: into store and queue
 *   campaign.c from waiting to the verdict; campaign_memory.c: what it leaves
 *              in the store on the way
 *   restore.c  goes on with that after a restart
 *   errands.c  commands before and after runs
 */
#ifndef CONTROLLER_FLEET_STATE_H
#define CONTROLLER_FLEET_STATE_H

#include "controller/fleet/audit.h"
#include "controller/fleet/campaign.h"
#include "controller/fleet/fleet.h"
#include "controller/fleet/link.h"
#include "controller/fleet/probes.h"
#include "controller/fleet/registry.h"
#include "controller/fleet/shared.h"
#include "controller/fleet/shell_session.h"

struct queue;
struct results;

/* Exit statuses of the commands, see design. */
#define STATUS_FAILED 1u
#define STATUS_USAGE  2u

/* A command that runs on the controller's host. */
struct fleet_errand {
    struct fleet_errand *next;
    uint64_t token;
    struct uuid campaign;
    uint32_t phase;
    uint32_t number;
    struct plan_command command; /* its texts live as long as the campaign */
};

struct fleet {
    const struct clock *clock;
    struct link_context context;
    struct arena *incoming; /* of decoding, reset with every frame */
    struct arena *outgoing;
    struct results *results;
    struct registry *registry;
    struct queue *queue;
    struct probes probes;
    struct audit_strangers strangers;
    struct shared shared; /* who uses what, of the inventories */
    struct link *links;
    uint32_t link_count;
    uint32_t ended_count; /* links that have ended and are still there */
    uint64_t last_link;
    struct campaign *campaigns;
    uint32_t campaign_count;
    uint64_t newest_campaign; /* number; 0: none since the start */
    struct conduct_options conduct;
    const struct commands *commands; /* of our own configuration */
    const struct fleet_runner *runner;
    void *runner_data;
    struct fleet_errand *errands; /* that run */
    uint64_t last_errand;
    void (*wake)(void *data);
    void *wake_data;
    void (*observe)(void *data, const struct uuid *campaign, bool newest,
                    const char *text, size_t length);
    void *observe_data;
    struct uuid (*new_uuid)(void);
    struct uuid boot; /* of this host */
    bool is_private;
    char folder[PATH_SIZE]; /* "": relative lun= are refused */
    bool stopping;
    uint64_t beat_ns;    /* when links are looked at next */
    uint64_t results_ns; /* when results wants to be polled next */
};

static inline uint64_t fleet_now_ns(const struct fleet *fleet)
{
    return clock_now_ns(fleet->clock);
}

/* ---- fleet.c --------------------------------------------------------------
 */

struct link *fleet_link(struct fleet *fleet, uint64_t id);

/* The shell of a link that may have gone; NULL then. */
struct shell_session *fleet_shell(struct fleet *fleet, uint64_t link_id);

struct campaign *fleet_campaign(struct fleet *fleet, const struct uuid *id);

/* By number, unique beginning of the UUID, or "" for the newest; NULL: not
 * among those that are not over. */
struct campaign *fleet_campaign_named(struct fleet *fleet, const char *name);

/* To all shells that watch the campaign. */
void fleet_event(struct fleet *fleet, const struct uuid *campaign,
                 enum shell_event kind, const char *text, size_t length);

/* Gives free drives and hosts to campaigns that wait for them. */
void fleet_advance_queue(struct fleet *fleet);

/* ---- agents.c -------------------------------------------------------------
 */

void agents_hello(struct fleet *fleet, struct link *link,
                  const struct wire_agent_hello *hello);
void agents_frame(struct fleet *fleet, struct link *link, struct wire_in *in,
                  uint64_t read_ns);
/* The link of an agent has ended. */
void agents_gone(struct fleet *fleet, struct link *link);
/* Clocks of agents that are connected, now and then. */
void agents_probe(struct fleet *fleet, uint64_t now_ns);

/* ---- errands.c ------------------------------------------------------------
 */

/* Reports commands that a host does not let campaigns run. */
void errand_check(struct campaign *campaign);
/* Carries out CONDUCT_DO_COMMAND. */
void errand_give(struct campaign *campaign,
                 const struct conduct_effect *effect);
/* An agent's answer. */
void errand_answered(struct campaign *campaign, uint32_t host,
                     const struct wire_command_done *done);
/* A host of the campaign was given up: heartbeat_error=. */
void errand_host_lost(struct campaign *campaign);
void errand_forget_all(struct fleet *fleet);

/* ---- shells.c -------------------------------------------------------------
 */

void shells_hello(struct fleet *fleet, struct link *link,
                  const struct wire_shell_hello *hello);
void shells_frame(struct fleet *fleet, struct link *link,
                  const struct wire_in *in);
void shells_gone(struct fleet *fleet, struct link *link);

/* ---- submit.c, inspect.c, accept.c: until it waits or is refused ------- */

void submit_begin(struct fleet *fleet, struct shell_session *shell,
                  uint32_t request, const struct wire_submit *submit);
/* Goes on with what came before the first agent; of a private fleet. */
void submit_agent_came(struct fleet *fleet);
void submit_inspected(struct campaign *campaign, uint32_t host,
                      const struct wire_inspected *inspected);
/* Gives up: an agent went away, the controller ends.  NULL: time passed. */
void submit_refuse(struct campaign *campaign, const char *reason);

/* restore.c: takes up what an earlier start of this controller left. */
void restore_campaigns(struct fleet *fleet);

/* For restore.c: a campaign with nothing in it; its own copy of what was
 * submitted; definitions of that; a plan on these agents. */
struct campaign *submit_new_campaign(struct fleet *fleet,
                                     const struct uuid *id);
int submit_copy_given(struct campaign *campaign,
                      const struct results_campaign *from,
                      const bool *included) MUST_CHECK;
int submit_read_files(struct campaign *campaign) MUST_CHECK;
int submit_expand(struct campaign *campaign, const struct plan_fleet *view,
                  struct host **known) MUST_CHECK;
int submit_enqueue(struct campaign *campaign, struct diag *diag) MUST_CHECK;

/* It is in the store: answers, and queues it. */
void submit_stored(struct campaign *campaign);

/* Among the three: */
void submit_refuse_report(struct campaign *campaign, uint32_t status);
/* Takes the document; NULL means that memory ran out. */
void submit_answer(struct campaign *campaign, uint32_t status, char *document);
void submit_progress(struct campaign *campaign, const char *text);
void submit_audit(struct campaign *campaign, bool refused, const char *detail);
void submit_check_targets(struct campaign *campaign);
void submit_inspect(struct campaign *campaign);
void submit_accept(struct campaign *campaign);
/* What would run is the answer; nothing is queued. */
void submit_show(struct campaign *campaign);

#endif
