#include "controller/fleet/agent_session.h"

#include "common/clock.h"

#include <stdlib.h>

struct agent_session *agent_session_new(struct link *link,
                                        const struct wire_agent_hello *hello)
{
    struct agent_session *session = calloc(1, sizeof(*session));

    if (session == NULL)
        return NULL;
    session->link = link;
    offset_init(&session->clock);
    session->instance = hello->instance;
    session->boot = hello->boot;
    session->lease_ns = hello->lease_ms * NS_PER_MS;
    session->finishes_phase = hello->finishes_phase;
    session->holds = hello->holds;
    session->held = hello->held;
    session->held_state = hello->held_state;
    link_enter(link, LINK_AGENT);
    link->owner = session;
    return session;
}

struct agent_session *agent_session_free(struct agent_session *session)
{
    free(session);
    return NULL;
}

void agent_session_probe(struct agent_session *session)
{
    const struct wire_out probe = {
        .kind = WIRE_OUT_CLOCK_PROBE,
        .clock_probe = ++session->probes_sent,
    };
    struct agent_session_probe *slot =
        &session->probes[session->probes_sent % AGENT_SESSION_PROBES];

    *slot = (struct agent_session_probe){
        .sequence = session->probes_sent,
        .sent_ns = clock_now_ns(session->link->context->clock),
    };
    if (link_say(session->link, &probe) == 0)
        slot->sent_ns = session->link->said_ns; /* nearer to the write */
    session->probe_sent_ns = slot->sent_ns;
}

bool agent_session_probed(struct agent_session *session,
                          const struct wire_clock_reply *reply,
                          uint64_t read_ns, struct offset_probe *ret_probe)
{
    struct agent_session_probe *slot =
        &session->probes[reply->sequence % AGENT_SESSION_PROBES];

    if (reply->sequence == 0 || slot->sequence != reply->sequence)
        return false;
    *ret_probe = (struct offset_probe){
        .sent = slot->sent_ns,
        .received = reply->agent_received_ns,
        .returned = reply->agent_sent_ns,
        .arrived = read_ns,
    };
    slot->sequence = 0;
    return offset_take(&session->clock, ret_probe) >= 0;
}
