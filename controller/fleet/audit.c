#include "controller/fleet/audit.h"

#include "common/clock.h"
#include "common/log.h"
#include "controller/fleet/state.h"
#include "controller/results/results.h"

#include <stdio.h>
#include <string.h>

void audit_actor_of(const struct link *link, const char *name,
                    struct audit_actor *ret_actor)
{
    const char *known = link->name[0] != '\0' ? link->name : name;

    *ret_actor = (struct audit_actor){.role = link->role};
    (void)snprintf(ret_actor->name, sizeof(ret_actor->name), "%s", known);
    memcpy(ret_actor->address, link->address, sizeof(ret_actor->address));
}

void audit_request(struct fleet *fleet, const struct audit_actor *actor,
                   const char *action, const char *subject, uint64_t campaign,
                   bool refused, const char *detail)
{
    const struct results_audit entry = {
        .who = actor->name,
        .role = actor->role == TLS_ROLE_NONE ? "" : tls_role_name(actor->role),
        .address = actor->address,
        .action = action,
        .subject = subject,
        .campaign = campaign,
        .refused = refused,
        .detail = detail,
    };

    if (results_audit(fleet->results, &entry) != 0)
        log_error(NULL, "not in the audit log: %s '%s' by %s from %s: %s",
                  action, subject, actor->name, actor->address, detail);
}

static bool may_tell(struct audit_strangers *s, uint64_t now_ns)
{
    uint64_t more = (now_ns - s->refilled_ns) / AUDIT_STRANGER_NS;

    if (s->refilled_ns == 0 || more >= AUDIT_STRANGERS_MAX) {
        s->tokens = AUDIT_STRANGERS_MAX;
        s->refilled_ns = now_ns;
    } else if (more > 0) {
        s->tokens += (uint32_t)more;
        if (s->tokens > AUDIT_STRANGERS_MAX)
            s->tokens = AUDIT_STRANGERS_MAX;
        s->refilled_ns += more * AUDIT_STRANGER_NS;
    }
    if (s->tokens == 0) {
        s->untold++;
        return false;
    }
    s->tokens--;
    return true;
}

void audit_stranger(struct fleet *fleet, const struct audit_actor *actor,
                    const char *reason)
{
    struct audit_strangers *strangers = &fleet->strangers;
    char detail[REASON_SIZE];

    if (!may_tell(strangers, fleet_now_ns(fleet)))
        return;
    if (strangers->untold > 0)
        (void)snprintf(detail, sizeof(detail), "%.900s (and %u more before it)",
                       reason, strangers->untold);
    else
        (void)snprintf(detail, sizeof(detail), "%s", reason);
    strangers->untold = 0;
    audit_request(fleet, actor, "connect", "", 0, true, detail);
}
