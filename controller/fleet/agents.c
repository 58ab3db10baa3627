/*
 * What agents say: to the registry what they are and have, to the campaigns
 * what they do.
 */
#include "common/clock.h"
#include "common/log.h"
#include "controller/fleet/agent_session.h"
#include "controller/fleet/codec.h"
#include "controller/fleet/greeting.h"
#include "controller/fleet/state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Clocks are looked at so often while nothing runs, for people to see. */
#define PROBE_EVERY_NS (5 * NS_PER_S)

/* "agent host7", for the log. */
static const char *subject(const struct host *host, char text[NAME_SIZE + 8])
{
    (void)snprintf(text, NAME_SIZE + 8, "agent %s", host->name);
    return text;
}

/* ---- Coming and going -------------------------------------------------------
 */

static void welcome(struct fleet *fleet, struct link *link)
{
    const struct wire_out out = {
        .kind = WIRE_OUT_WELCOME,
        .welcome =
            {
                .controller = *fleet_controller(fleet),
                .epoch = fleet_epoch(fleet),
            },
    };

    (void)link_say(link, &out);
}

/* The old connection of the same process: half open, most likely. */
static void replace(struct fleet *fleet, struct agent_session *old,
                    const struct link *by)
{
    struct link *link = old->link;

    link_end(link, "replaced by a newer connection of this agent, from %s",
             by->address);
    agents_gone(fleet, link);
}

static struct wire_work with_epoch(const struct fleet *fleet,
                                   const struct wire_work *work)
{
    return (struct wire_work){
        .campaign = work->campaign,
        .phase = work->phase,
        .epoch = fleet_epoch(fleet),
    };
}

/* Work of a campaign that is over, or of an earlier start of this controller:
 * it ends.  Its Finished is answered by forget_work(). */
static void end_orphan(struct fleet *fleet, struct agent_session *session)
{
    const struct wire_out out = {
        .kind = WIRE_OUT_ABORT,
        .abort =
            {
                .work = with_epoch(fleet, &session->held),
                .reason = "this campaign is over at the controller",
            },
    };
    char who[NAME_SIZE + 8];

    if (!session->holds || session->held_state == WIRE_AGENT_IDLE ||
        fleet_campaign(fleet, &session->held.campaign) != NULL)
        return;
    log_warn(subject(session->host, who),
             "holds phase %u of a campaign that is over; it is told to stop",
             session->held.phase + 1);
    if (session->held_state != WIRE_AGENT_HOLDING)
        (void)link_say(session->link, &out);
}

static void tell_campaigns_up(struct fleet *fleet, const struct host *host)
{
    for (struct campaign *at = fleet->campaigns; at != NULL; at = at->next) {
        uint32_t index = campaign_host_index(at, host);

        if (index != UINT32_MAX)
            campaign_host_up(at, index);
    }
}

static void tell_campaigns_down(struct fleet *fleet, const struct host *host,
                                const char *reason)
{
    for (struct campaign *at = fleet->campaigns; at != NULL; at = at->next) {
        uint32_t index = campaign_host_index(at, host);

        if (index != UINT32_MAX)
            campaign_host_down(at, index, reason);
    }
}

static void accept_agent(struct fleet *fleet, struct link *link,
                         const struct wire_agent_hello *hello)
{
    struct host *host = registry_hello(fleet->registry, hello, link,
                                       fleet->clock->wall_ns(fleet->clock));
    struct agent_session *session =
        host == NULL ? NULL : agent_session_new(link, hello);
    char who[NAME_SIZE + 8];

    if (session == NULL) {
        link_end(link, host == NULL
                           ? "the controller knows too many agents already"
                           : "the controller is out of memory");
        return;
    }
    session->host = host;
    host->session = session;
    log_notice(subject(host, who), "connected from %s", link->address);
    welcome(fleet, link);
    end_orphan(fleet, session);
    tell_campaigns_up(fleet, host);
    probes_want(&fleet->probes, session);
    submit_agent_came(fleet);
}

void agents_hello(struct fleet *fleet, struct link *link,
                  const struct wire_agent_hello *hello)
{
    const struct host *host = registry_find(fleet->registry, hello->name);
    struct diag diag = {0};

    if (greeting_agent(link, hello, host, &diag) != 0) {
        struct audit_actor actor;

        audit_actor_of(link, hello->name, &actor);
        audit_stranger(fleet, &actor, diag.text);
        link_end(link, "%s", diag.text);
        return;
    }
    if (host != NULL && host->session != NULL)
        replace(fleet, host->session, link);
    accept_agent(fleet, link, hello);
}

void agents_gone(struct fleet *fleet, struct link *link)
{
    struct agent_session *session = link->owner;
    struct host *host;
    char who[NAME_SIZE + 8];

    if (session == NULL)
        return; /* it was replaced */
    host = session->host;
    link->owner = NULL;
    registry_gone(host, link->end_reason, fleet->clock->wall_ns(fleet->clock));
    probes_forget(&fleet->probes, session);
    agent_session_free(session);
    log_notice(subject(host, who), "lost: %s", link->end_reason);
    tell_campaigns_down(fleet, host, link->end_reason);
}

void agents_probe(struct fleet *fleet, uint64_t now_ns)
{
    for (struct link *link = fleet->links; link != NULL; link = link->next) {
        struct agent_session *session = link->owner;

        if (link->state != LINK_AGENT || now_ns < session->probe_ns)
            continue;
        session->probe_ns = now_ns + PROBE_EVERY_NS;
        probes_want(&fleet->probes, session);
    }
}

/* ---- Work -------------------------------------------------------------- */

/* Lets go of work that nobody waits for any more. */
static void forget_work(struct fleet *fleet, struct link *link,
                        const struct wire_finished *finished)
{
    const struct wire_out ack = {
        .kind = WIRE_OUT_SAMPLE_ACK,
        .sample_ack =
            {
                .work = with_epoch(fleet, &finished->work),
                .interval = finished->intervals + 1,
            },
    };
    const struct wire_out release = {
        .kind = WIRE_OUT_RELEASE,
        .release = finished->work.campaign,
    };

    (void)link_say(link, &ack);
    if (fleet_campaign(fleet, &finished->work.campaign) == NULL)
        (void)link_say(link, &release);
}

static struct campaign *campaign_of(struct fleet *fleet,
                                    const struct link *link,
                                    const struct wire_work *work,
                                    uint32_t *ret_host)
{
    const struct agent_session *session = link->owner;
    struct campaign *campaign = fleet_campaign(fleet, &work->campaign);

    if (campaign == NULL || campaign->state != CAMPAIGN_RUNNING)
        return NULL;
    *ret_host = campaign_host_index(campaign, session->host);
    return *ret_host == UINT32_MAX ? NULL : campaign;
}

static void on_finished(struct fleet *fleet, struct link *link,
                        const struct wire_finished *finished)
{
    uint32_t host;
    struct campaign *campaign =
        campaign_of(fleet, link, &finished->work, &host);

    if (campaign == NULL)
        forget_work(fleet, link, finished);
    else
        campaign_finished(campaign, host, finished);
}

static void on_sample(struct fleet *fleet, struct link *link,
                      struct wire_sample *sample)
{
    uint32_t host;
    struct campaign *campaign = campaign_of(fleet, link, &sample->work, &host);
    struct diag diag = {0};
    int err;

    if (campaign == NULL)
        return; /* what it belongs to is over; its Finished is answered */
    err = campaign_sample(campaign, host, sample, &diag);
    if (err == -EAGAIN)
        link_end(link, "the store is behind; come again, nothing is lost");
    else if (err != 0 && err != -ENOENT)
        link_end(link, "Sample: %s",
                 diag.text[0] != '\0' ? diag.text : strerror(-err));
}

static void on_command_done(struct fleet *fleet, struct link *link,
                            const struct wire_command_done *done)
{
    uint32_t host;
    struct campaign *campaign = campaign_of(fleet, link, &done->work, &host);

    if (campaign != NULL)
        errand_answered(campaign, host, done);
}

static void on_refused(struct fleet *fleet, struct link *link,
                       const struct wire_refused *refused)
{
    uint32_t host;
    struct campaign *campaign = campaign_of(fleet, link, &refused->work, &host);

    if (campaign != NULL)
        campaign_refused(campaign, host, refused);
}

static void on_ready(struct fleet *fleet, struct link *link,
                     const struct wire_ready *ready)
{
    uint32_t host;
    struct campaign *campaign = campaign_of(fleet, link, &ready->work, &host);

    if (campaign != NULL)
        campaign_ready(campaign, host, ready);
}

static void on_armed(struct fleet *fleet, struct link *link,
                     const struct wire_start *armed)
{
    uint32_t host;
    struct campaign *campaign = campaign_of(fleet, link, &armed->work, &host);

    if (campaign != NULL)
        campaign_armed(campaign, host, armed);
}

static void on_clock_reply(struct fleet *fleet, struct link *link,
                           const struct wire_clock_reply *reply,
                           uint64_t read_ns)
{
    struct agent_session *session = link->owner;
    struct offset_probe probe;

    if (!agent_session_probed(session, reply, read_ns, &probe))
        return;
    probes_answered(&fleet->probes, session);
    for (struct campaign *at = fleet->campaigns; at != NULL; at = at->next) {
        uint32_t host = campaign_host_index(at, session->host);

        if (host != UINT32_MAX)
            campaign_probed(at, host, &probe);
    }
}

static void on_inspected(struct fleet *fleet, struct link *link,
                         const struct wire_inspected *inspected)
{
    const struct agent_session *session = link->owner;
    struct campaign *campaign = fleet_campaign(fleet, &inspected->campaign);
    uint32_t host;

    if (campaign == NULL || campaign->state != CAMPAIGN_INSPECTING)
        return; /* it was given up */
    host = campaign_host_index(campaign, session->host);
    if (host != UINT32_MAX)
        submit_inspected(campaign, host, inspected);
}

static void on_inventory(struct fleet *fleet, struct link *link,
                         const struct wire_inventory *inventory)
{
    struct agent_session *session = link->owner;

    shared_forget(&fleet->shared);
    if (registry_inventory(session->host, inventory) != 0) {
        link_end(link, "the controller is out of memory");
        return;
    }
    for (struct campaign *at = fleet->campaigns; at != NULL; at = at->next)
        campaign_stop_used(at);
}

void agents_frame(struct fleet *fleet, struct link *link, struct wire_in *in,
                  uint64_t read_ns)
{
    switch (in->kind) {
    case WIRE_IN_IGNORED:
    case WIRE_IN_HEARTBEAT:
        break;
    case WIRE_IN_REJECT:
        link_end(link, "the agent ends: %s", in->reject);
        break;
    case WIRE_IN_INVENTORY:
        on_inventory(fleet, link, &in->inventory);
        break;
    case WIRE_IN_CLOCK_REPLY:
        on_clock_reply(fleet, link, &in->clock_reply, read_ns);
        break;
    case WIRE_IN_INSPECTED:
        on_inspected(fleet, link, &in->inspected);
        break;
    case WIRE_IN_READY:
        on_ready(fleet, link, &in->ready);
        break;
    case WIRE_IN_ARMED:
        on_armed(fleet, link, &in->armed);
        break;
    case WIRE_IN_REFUSED:
        on_refused(fleet, link, &in->refused);
        break;
    case WIRE_IN_SAMPLE:
        on_sample(fleet, link, &in->sample);
        break;
    case WIRE_IN_FINISHED:
        on_finished(fleet, link, &in->finished);
        break;
    case WIRE_IN_COMMAND_DONE:
        on_command_done(fleet, link, &in->command_done);
        break;
    default:
        link_end(link, "%s from an agent", wire_in_name(in->kind));
        break;
    }
}
