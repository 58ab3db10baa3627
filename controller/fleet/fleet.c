#include "controller/fleet/fleet.h"

#include "common/arena.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/uuid.h"
#include "controller/conduct/queue.h"
#include "controller/fleet/agent_session.h"
#include "controller/fleet/codec.h"
#include "controller/fleet/documents.h"
#include "controller/fleet/state.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How often links are looked at: heartbeats and silences need no more. */
#define BEAT_NS (100 * NS_PER_MS)

/* A beat that comes so much later means that we were not there. */
#define STALL_NS (500 * NS_PER_MS)

/* ---- Finding ----------------------------------------------------------- */

struct link *fleet_link(struct fleet *fleet, uint64_t id)
{
    for (struct link *link = fleet->links; link != NULL; link = link->next)
        if (link->id == id)
            return link;
    return NULL;
}

struct shell_session *fleet_shell(struct fleet *fleet, uint64_t link_id)
{
    struct link *link = fleet_link(fleet, link_id);

    return link != NULL && link->state == LINK_SHELL ? link->owner : NULL;
}

struct campaign *fleet_campaign(struct fleet *fleet, const struct uuid *id)
{
    for (struct campaign *at = fleet->campaigns; at != NULL; at = at->next)
        if (uuid_equal(&at->id, id))
            return at;
    return NULL;
}

static bool is_called(const struct fleet *fleet,
                      const struct campaign *campaign, const char *name)
{
    char text[UUID_TEXT_SIZE];

    if (campaign->number == 0)
        return false;
    if (name[0] == '\0')
        return campaign->number == fleet->newest_campaign;
    (void)snprintf(text, sizeof(text), "%llu",
                   (unsigned long long)campaign->number);
    if (strcmp(text, name) == 0)
        return true;
    /* Short digits are a number; so results take them, too. */
    return strlen(name) >= 8 &&
           strncmp(uuid_format(&campaign->id, text), name, strlen(name)) == 0;
}

struct campaign *fleet_campaign_named(struct fleet *fleet, const char *name)
{
    for (struct campaign *at = fleet->campaigns; at != NULL; at = at->next)
        if (is_called(fleet, at, name))
            return at;
    return NULL;
}

/* ---- Telling shells ---------------------------------------------------- */

static void event_to_shell(struct shell_session *shell,
                           const struct uuid *campaign, enum shell_event kind,
                           const char *text, size_t length)
{
    for (size_t i = 0; i < ARRAY_LENGTH(shell->requests); i++)
        if (shell_request_watches(&shell->requests[i], campaign))
            shell_session_event(shell, shell->requests[i].id, kind, text,
                                length);
}

void fleet_event(struct fleet *fleet, const struct uuid *campaign,
                 enum shell_event kind, const char *text, size_t length)
{
    for (struct link *link = fleet->links; link != NULL; link = link->next)
        if (link->state == LINK_SHELL)
            event_to_shell(link->owner, campaign, kind, text, length);
    if (fleet->observe != NULL)
        fleet->observe(fleet->observe_data, campaign,
                       kind == SHELL_EVENT_INTERVAL, text, length);
}

/* ---- From results ------------------------------------------------------ */

static void on_stored(void *data, const struct uuid *id, uint32_t phase,
                      uint32_t host, uint64_t next_interval)
{
    struct campaign *campaign = fleet_campaign(data, id);

    if (campaign != NULL)
        campaign_stored(campaign, phase, host, next_interval);
}

static bool is_watched(const struct fleet *fleet, const struct uuid *campaign)
{
    if (fleet->observe != NULL)
        return true;
    for (const struct link *link = fleet->links; link != NULL;
         link = link->next) {
        const struct shell_session *shell = link->owner;

        if (link->state != LINK_SHELL)
            continue;
        for (size_t i = 0; i < ARRAY_LENGTH(shell->requests); i++)
            if (shell_request_watches(&shell->requests[i], campaign))
                return true;
    }
    return false;
}

static enum shell_event event_kind(const struct results_event *event)
{
    switch (results_event_kind(event)) {
    case RESULTS_EVENT_INTERVAL:
        return SHELL_EVENT_INTERVAL;
    case RESULTS_EVENT_END:
        return SHELL_EVENT_END;
    default:
        return SHELL_EVENT_KEPT;
    }
}

static void on_event(void *data, const struct uuid *id,
                     struct results_event *event)
{
    const char *text;
    size_t length;

    if (!is_watched(data, id))
        return; /* its text costs something */
    text = results_event_text(event, &length);
    if (text != NULL)
        fleet_event(data, id, event_kind(event), text, length);
}

static void on_phase_done(void *data, const struct uuid *id, uint32_t phase,
                          const struct results_total *total)
{
    struct campaign *campaign = fleet_campaign(data, id);

    if (campaign != NULL)
        campaign_totalled(campaign, phase, total);
}

static void on_remembered(void *data, const struct uuid *id,
                          const struct results_memory *memory, bool stored)
{
    struct campaign *campaign = fleet_campaign(data, id);

    if (campaign != NULL)
        campaign_remembered(campaign, memory, stored);
}

static void on_resumed(void *data, const struct uuid *id, uint32_t phase,
                       const struct results_past *past)
{
    struct campaign *campaign = fleet_campaign(data, id);

    if (campaign != NULL)
        campaign_resumed(campaign, phase, past);
}

static void on_campaign_done(void *data, const struct uuid *id)
{
    struct campaign *campaign = fleet_campaign(data, id);

    if (campaign != NULL && campaign->state == CAMPAIGN_ENDING)
        campaign_enter(campaign, CAMPAIGN_OVER);
}

static void on_failed(void *data, const struct uuid *id, const struct diag *why)
{
    struct campaign *campaign = fleet_campaign(data, id);

    log_error(NULL, "%s", why->text);
    if (campaign != NULL)
        campaign_store_failed(campaign, why->text);
}

static const struct results_handler handler = {
    .stored = on_stored,
    .event = on_event,
    .phase_done = on_phase_done,
    .remembered = on_remembered,
    .resumed = on_resumed,
    .campaign_done = on_campaign_done,
    .failed = on_failed,
};

/* On the store's threads; the two fields were set before these began. */
static void on_wake(void *data)
{
    const struct fleet *fleet = data;

    fleet->wake(fleet->wake_data);
}

/* ---- Opening and closing ----------------------------------------------- */

static int open_rest(struct fleet *fleet, const struct fleet_options *options,
                     struct diag *diag)
{
    const struct results_options results = {
        .path = options->store,
        .version = LOCKSTEP_VERSION,
        .clock = options->clock,
        .handler = &handler,
        .wake = options->wake == NULL ? NULL : on_wake,
        .data = fleet,
        .threadless = options->threadless,
        .retention_ns = options->retention_ns,
    };

    fleet->incoming = arena_new(WIRE_ARENA_BYTES);
    fleet->outgoing = arena_new(WIRE_ARENA_BYTES);
    fleet->registry = registry_new();
    fleet->queue = queue_new();
    if (fleet->incoming == NULL || fleet->outgoing == NULL ||
        fleet->registry == NULL || fleet->queue == NULL)
        return diag_set(diag, -ENOMEM, "out of memory");
    return results_open(&results, &fleet->results, diag);
}

int fleet_open(const struct fleet_options *options, struct fleet **ret_fleet,
               struct diag *diag)
{
    struct fleet *fleet = calloc(1, sizeof(*fleet));
    int err;

    if (fleet == NULL)
        return diag_set(diag, -ENOMEM, "out of memory");
    fleet->clock = options->clock;
    fleet->is_private = options->is_private;
    (void)snprintf(fleet->folder, sizeof(fleet->folder), "%s",
                   options->folder != NULL ? options->folder : "");
    fleet->new_uuid =
        options->new_uuid != NULL ? options->new_uuid : uuid_random;
    fleet->boot = options->boot;
    fleet->wake = options->wake;
    fleet->wake_data = options->wake_data;
    fleet->commands = options->commands;
    fleet->runner = options->runner;
    fleet->runner_data = options->runner_data;
    conduct_options_init(&fleet->conduct);
    fleet->conduct.start_tolerance_ns = options->start_tolerance_ns;
    fleet->conduct.no_return = options->is_private;
    err = open_rest(fleet, options, diag);
    if (err != 0) {
        fleet_close(fleet);
        return err;
    }
    fleet->context = (struct link_context){
        .world = options->world,
        .clock = options->clock,
        .scratch = fleet->outgoing,
        .ended = &fleet->ended_count,
        .patient = options->is_private,
    };
    *ret_fleet = fleet;
    restore_campaigns(fleet);
    return 0;
}

static void forget_link(struct fleet *fleet, struct link *link)
{
    struct link **at = &fleet->links;

    while (*at != link)
        at = &(*at)->next;
    *at = link->next;
    fleet->link_count--;
    fleet->ended_count--;
    free(link);
}

/* At the end of all: nobody is told about it. */
static void close_link(struct fleet *fleet, struct link *link)
{
    link_end(link, "the controller ends");
    if (link->greeted_as == LINK_AGENT)
        agent_session_free(link->owner);
    else if (link->greeted_as == LINK_SHELL)
        shell_session_free(link->owner);
    forget_link(fleet, link);
}

struct fleet *fleet_close(struct fleet *fleet)
{
    if (fleet == NULL)
        return NULL;
    while (fleet->links != NULL)
        close_link(fleet, fleet->links);
    results_close(fleet->results);
    while (fleet->campaigns != NULL) {
        struct campaign *campaign = fleet->campaigns;

        fleet->campaigns = campaign->next;
        campaign_free(campaign);
    }
    errand_forget_all(fleet);
    queue_free(fleet->queue);
    shared_forget(&fleet->shared);
    registry_free(fleet->registry);
    arena_free(fleet->incoming);
    arena_free(fleet->outgoing);
    free(fleet);
    return NULL;
}

const struct uuid *fleet_controller(const struct fleet *fleet)
{
    return results_controller(fleet->results);
}

uint64_t fleet_epoch(const struct fleet *fleet)
{
    return results_epoch(fleet->results);
}

/* ---- Links ------------------------------------------------------------- */

/* What was greeted leaves its session behind. */
static void let_go(struct fleet *fleet, struct link *link)
{
    if (link->greeted_as == LINK_AGENT)
        agents_gone(fleet, link);
    else if (link->greeted_as == LINK_SHELL)
        shells_gone(fleet, link);
    else
        log_warn(NULL, "connection from %s: %s, ignoring", link->address,
                 link->end_reason);
    forget_link(fleet, link);
}

/* Ending a link may end others, and campaigns. */
static void sweep_links(struct fleet *fleet)
{
    struct link *link = fleet->links;

    while (link != NULL && fleet->ended_count > 0) {
        if (link_is_open(link)) {
            link = link->next;
            continue;
        }
        let_go(fleet, link);
        link = fleet->links;
    }
}

static void sweep_campaigns(struct fleet *fleet)
{
    struct campaign **at = &fleet->campaigns;
    bool freed = false;

    while (*at != NULL) {
        struct campaign *campaign = *at;

        if (campaign->state != CAMPAIGN_OVER || campaign->carrying_out) {
            at = &campaign->next;
            continue;
        }
        *at = campaign->next;
        fleet->campaign_count--;
        campaign_free(campaign);
        freed = true;
    }
    if (freed)
        fleet_advance_queue(fleet);
}

/* After everything that came in: what has ended goes, what is free is given. */
static void sweep(struct fleet *fleet)
{
    sweep_links(fleet);
    sweep_campaigns(fleet);
}

static uint32_t greeting_count(const struct fleet *fleet,
                               struct link **ret_oldest)
{
    uint32_t count = 0;

    *ret_oldest = NULL;
    for (struct link *link = fleet->links; link != NULL; link = link->next) {
        if (link->state != LINK_GREETING)
            continue;
        count++;
        if (*ret_oldest == NULL || link->id < (*ret_oldest)->id)
            *ret_oldest = link;
    }
    return count;
}

struct link *fleet_connected(struct fleet *fleet, void *connection,
                             const struct link_peer *peer)
{
    struct link *oldest;
    struct link *link;

    if (fleet->link_count >= FLEET_LINKS_MAX)
        return NULL;
    if (greeting_count(fleet, &oldest) >= FLEET_GREETING_MAX)
        link_end(oldest, "too many connections without a hello");
    link = calloc(1, sizeof(*link));
    if (link == NULL)
        return NULL;
    link_init(link, &fleet->context, ++fleet->last_link, connection, peer);
    link->next = fleet->links;
    fleet->links = link;
    fleet->link_count++;
    return link;
}

/* Who was not let in yet, and says what nobody should. */
static void refuse(struct fleet *fleet, struct link *link, const char *reason)
{
    struct audit_actor actor;

    if (link->state == LINK_GREETING) {
        audit_actor_of(link, "", &actor);
        audit_stranger(fleet, &actor, reason);
    }
    link_end(link, "%s", reason);
}

static void greet(struct fleet *fleet, struct link *link,
                  const struct wire_in *in)
{
    char reason[REASON_SIZE];

    switch (in->kind) {
    case WIRE_IN_AGENT_HELLO:
        agents_hello(fleet, link, &in->agent_hello);
        break;
    case WIRE_IN_SHELL_HELLO:
        shells_hello(fleet, link, &in->shell_hello);
        break;
    case WIRE_IN_REJECT:
        link_end(link, "the peer ends: %s", in->reject);
        break;
    default:
        (void)snprintf(reason, sizeof(reason), "%s before a hello",
                       wire_in_name(in->kind));
        refuse(fleet, link, reason);
        break;
    }
}

static void handle(struct fleet *fleet, struct link *link, struct wire_in *in,
                   uint64_t read_ns)
{
    switch (link->state) {
    case LINK_GREETING:
        greet(fleet, link, in);
        break;
    case LINK_AGENT:
        agents_frame(fleet, link, in, read_ns);
        break;
    case LINK_SHELL:
        shells_frame(fleet, link, in);
        break;
    default:
        break;
    }
}

void fleet_frame(struct fleet *fleet, struct link *link, const uint8_t *body,
                 size_t length, uint64_t read_ns)
{
    struct wire_in in;
    struct diag diag = {0};

    if (!link_is_open(link))
        return;
    link_heard(link, fleet_now_ns(fleet));
    if (wire_decode(body, length, fleet->incoming, &in, &diag) != 0) {
        refuse(fleet, link, diag.text);
    } else {
        handle(fleet, link, &in, read_ns);
        if (in.kind == WIRE_IN_SAMPLE)
            sample_free(in.sample.sample); /* NULL where it was taken */
    }
    arena_reset(fleet->incoming);
    sweep(fleet);
}

void fleet_observe(struct fleet *fleet,
                   void (*observe)(void *data, const struct uuid *campaign,
                                   bool newest, const char *text,
                                   size_t length),
                   void *data)
{
    fleet->observe = observe;
    fleet->observe_data = data;
}

void fleet_tell(struct fleet *fleet, struct link *link, struct wire_in *in)
{
    if (!link_is_open(link))
        return;
    handle(fleet, link, in, fleet_now_ns(fleet));
    sweep(fleet);
}

void fleet_drained(struct fleet *fleet, struct link *link)
{
    if (link->state == LINK_SHELL)
        shell_session_drained(link->owner);
    sweep(fleet);
}

void fleet_disconnected(struct fleet *fleet, struct link *link,
                        const char *reason)
{
    link_lost(link, reason);
    sweep(fleet);
}

void fleet_turned_away(struct fleet *fleet, const char *address,
                       const char *reason)
{
    struct audit_actor actor = {.role = TLS_ROLE_NONE};

    (void)snprintf(actor.address, sizeof(actor.address), "%s", address);
    audit_stranger(fleet, &actor, reason);
}

/* ---- Time -------------------------------------------------------------- */

void fleet_advance_queue(struct fleet *fleet)
{
    struct uuid id;

    while (!fleet->stopping && queue_take(fleet->queue, &id)) {
        struct campaign *campaign = fleet_campaign(fleet, &id);

        assert(campaign != NULL && campaign->state == CAMPAIGN_WAITING);
        campaign_begin(campaign);
    }
}

/* What we did not listen to is not silence: after a long plan, or a time in
 * which this process was stopped, the peers get that time back. */
static void forgive(struct fleet *fleet, uint64_t now_ns)
{
    uint64_t late_ns = fleet->beat_ns == 0 ? 0 : now_ns - fleet->beat_ns;

    if (late_ns < STALL_NS)
        return;
    if (late_ns >= NS_PER_S)
        log_warn(NULL, "was not scheduled, or busy, for %.1f s",
                 (double)late_ns / 1e9);
    for (struct link *link = fleet->links; link != NULL; link = link->next)
        link_heard(link, link->heard_ns + late_ns);
}

static void beat(struct fleet *fleet, uint64_t now_ns)
{
    if (now_ns < fleet->beat_ns)
        return;
    forgive(fleet, now_ns);
    fleet->beat_ns = now_ns + BEAT_NS;
    for (struct link *link = fleet->links; link != NULL; link = link->next)
        link_tick(link, now_ns);
    agents_probe(fleet, now_ns);
}

void fleet_tick(struct fleet *fleet)
{
    uint64_t now_ns = fleet_now_ns(fleet);

    fleet->results_ns = results_poll(fleet->results);
    for (struct campaign *at = fleet->campaigns; at != NULL; at = at->next)
        campaign_tick(at, now_ns);
    probes_tick(&fleet->probes, now_ns);
    beat(fleet, now_ns);
    sweep(fleet);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t fleet_due_ns(const struct fleet *fleet)
{
    uint64_t due_ns = earlier(fleet->beat_ns, fleet->results_ns);

    due_ns = earlier(due_ns, probes_due_ns(&fleet->probes));

    for (const struct campaign *at = fleet->campaigns; at != NULL;
         at = at->next)
        due_ns = earlier(due_ns, campaign_due_ns(at));
    return due_ns;
}

/* ---- The end ----------------------------------------------------------- */

void fleet_stop(struct fleet *fleet, const char *reason)
{
    fleet->beat_ns = 0; /* a tick soon: what is over by now goes */
    if (fleet->stopping)
        return;
    fleet->stopping = true;
    log_notice(NULL, "ends: %s", reason);
    for (struct campaign *at = fleet->campaigns; at != NULL; at = at->next)
        if (at->state == CAMPAIGN_WAITING && !fleet->is_private)
            campaign_enter(at, CAMPAIGN_OVER); /* the store keeps its place */
        else
            campaign_stop(at, reason);
}

/* `lockstep run` makes its report of what its own controller answers. */
static bool is_needed(const struct fleet *fleet)
{
    const struct link *link = fleet->links;

    while (link != NULL && link->state != LINK_SHELL)
        link = link->next;
    return fleet->is_private && link != NULL;
}

bool fleet_is_over(const struct fleet *fleet)
{
    return fleet->stopping && fleet->campaigns == NULL && !is_needed(fleet);
}
