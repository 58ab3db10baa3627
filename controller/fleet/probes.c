#include "controller/fleet/probes.h"

#include "controller/fleet/agent_session.h"

static struct agent_session **free_slot(struct probes *probes)
{
    for (uint32_t i = 0; i < PROBES_OUT; i++)
        if (probes->away[i] == NULL)
            return &probes->away[i];
    return NULL;
}

static void pump(struct probes *probes)
{
    struct agent_session **slot;

    while (probes->first != NULL && (slot = free_slot(probes)) != NULL) {
        struct agent_session *session = probes->first;

        probes->first = session->probe_next;
        if (probes->first == NULL)
            probes->last = NULL;
        session->probe_next = NULL;
        session->probe_waits = false;
        *slot = session;
        agent_session_probe(session);
    }
}

void probes_want(struct probes *probes, struct agent_session *session)
{
    if (session->probe_waits)
        return;
    session->probe_waits = true;
    if (probes->last == NULL)
        probes->first = session;
    else
        probes->last->probe_next = session;
    probes->last = session;
    pump(probes);
}

static void free_slots(struct probes *probes,
                       const struct agent_session *session)
{
    for (uint32_t i = 0; i < PROBES_OUT; i++)
        if (probes->away[i] == session)
            probes->away[i] = NULL;
}

void probes_answered(struct probes *probes, struct agent_session *session)
{
    free_slots(probes, session);
    pump(probes);
}

void probes_forget(struct probes *probes, struct agent_session *session)
{
    struct agent_session *before = NULL;

    free_slots(probes, session);
    for (struct agent_session *at = probes->first; at != NULL;
         before = at, at = at->probe_next) {
        if (at != session)
            continue;
        if (before == NULL)
            probes->first = at->probe_next;
        else
            before->probe_next = at->probe_next;
        if (probes->last == at)
            probes->last = before;
        break;
    }
    pump(probes);
}

static uint64_t away_until(const struct agent_session *session)
{
    return session->probe_sent_ns + PROBES_AWAY_NS;
}

void probes_tick(struct probes *probes, uint64_t now_ns)
{
    if (probes->first == NULL)
        return; /* nobody wants a slot */
    for (uint32_t i = 0; i < PROBES_OUT; i++)
        if (probes->away[i] != NULL && now_ns >= away_until(probes->away[i]))
            probes->away[i] = NULL;
    pump(probes);
}

uint64_t probes_due_ns(const struct probes *probes)
{
    uint64_t due_ns = UINT64_MAX;

    if (probes->first == NULL)
        return due_ns;
    for (uint32_t i = 0; i < PROBES_OUT; i++)
        if (probes->away[i] != NULL && away_until(probes->away[i]) < due_ns)
            due_ns = away_until(probes->away[i]);
    return due_ns;
}
