#include "controller/conduct/conductor.h"

void order_prepare(struct conductor *c, uint32_t host)
{
    struct part *part = &c->parts[host];

    effect_add_host(c, CONDUCT_DO_PREPARE, host);
    (void)part_handle(part, PART_EV_PREPARE);
    part->holds = c->phase.number;
    part->leased_phase = c->phase.number;
    part->renewed_ns = c->now_ns;
}

void order_start(struct conductor *c, uint32_t host)
{
    struct part *part = &c->parts[host];

    (void)part_handle(part, PART_EV_START);
    if (!part_is_up(part))
        return; /* back_reconcile() gives it, if it comes back in time */
    effect_add_host(c, CONDUCT_DO_START, host)->agent_start_ns =
        part->agent_start_ns;
}

void order_go(struct conductor *c, uint32_t host)
{
    effect_add_host(c, CONDUCT_DO_GO, host);
    (void)part_handle(&c->parts[host], PART_EV_GO);
}

void order_abort(struct conductor *c, uint32_t host, const char *reason)
{
    struct part *part = &c->parts[host];

    (void)part_handle(part, PART_EV_ABORT);
    if (part_is_up(part))
        effect_add_host(c, CONDUCT_DO_ABORT, host)->reason =
            effect_text(c, reason);
}

void order_stop_after(struct conductor *c, uint32_t host)
{
    effect_add_host(c, CONDUCT_DO_STOP_AFTER, host)->interval = c->stop_after;
}

void order_acknowledge(struct conductor *c, uint32_t host, uint32_t phase,
                       uint64_t next_interval)
{
    if (!part_is_up(&c->parts[host]))
        return;

    struct conduct_effect *effect = effect_add_host(c, CONDUCT_DO_ACK, host);

    effect->phase = phase;
    effect->interval = next_interval;
}

void order_renew(struct conductor *c, uint32_t host)
{
    struct part *part = &c->parts[host];

    effect_add_host(c, CONDUCT_DO_RENEW, host)->phase = part->leased_phase;
    part->renewed_ns = c->now_ns;
}

void order_probe(struct conductor *c, uint32_t host)
{
    struct part *part = &c->parts[host];

    effect_add_host(c, CONDUCT_DO_PROBE, host);
    part->probe = PROBE_OUT;
    part->probe_due_ns = c->now_ns + NS_PER_S;
}
