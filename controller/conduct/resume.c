/*
 * Going on after a restart: from what was stored back to the state that the
 * campaign was in.
 */
#include "controller/conduct/conductor.h"

#include <assert.h>
#include <stdio.h>

void conductor_memory(const struct conductor *c,
                      struct conduct_memory *ret_memory)
{
    *ret_memory = (struct conduct_memory){
        .curve = c->curve,
        .verdict = c->verdict,
        .over = c->state == CAMPAIGN_CLOSING || c->state == CAMPAIGN_ENDED ||
                (c->phase.state == CONDUCT_OVER && course_is_last(c)),
    };
    (void)snprintf(ret_memory->reason, sizeof(ret_memory->reason), "%s",
                   c->reason);
}

bool conductor_start_of(const struct conductor *c, uint32_t host,
                        struct conduct_start *ret_start)
{
    const struct part *part = &c->parts[host];

    if (part->agent_start_ns == 0 || part->state < PART_RUNNING ||
        part->state > PART_COLLECTED)
        return false;
    *ret_start = (struct conduct_start){
        .host = host,
        .hello = part->hello,
        .agent_start_ns = part->agent_start_ns,
        .offset = part->start,
    };
    return true;
}

/* ---- How long something may go on without us ----------------------------- */

static uint64_t longest_run_ns(const struct conductor *c)
{
    uint64_t longest = 0;

    for (uint32_t i = 0; i < c->plan->run_count; i++) {
        uint64_t mine = planning_limit_ns(c, &c->plan->runs[i]);

        if (mine > longest)
            longest = mine;
    }
    return longest;
}

uint64_t conductor_quiet_ns(const struct conductor *c, uint32_t host)
{
    const struct conduct_hello *hello = &c->parts[host].hello;
    uint64_t quiet = hello->lease_ns + c->options.lag_ns;

    if (hello->lease_ns == 0)
        return 0;
    return hello->finishes ? quiet + BARRIER_AHEAD_MAX_NS + longest_run_ns(c)
                           : quiet;
}

/* ---- Back to where it was ------------------------------------------------ */

static void resume_start(struct conductor *c, const struct conduct_past *past,
                         const struct conduct_start *start)
{
    struct part *part = &c->parts[start->host];

    if (!part_takes_part(part))
        return;
    part->state = PART_RUNNING;
    part->agent_start_ns = start->agent_start_ns;
    part->start = start->offset;
    part->hello = start->hello;
    part->hello.held = CONDUCT_HELD_NOTHING;
    if (!past->clock_is_new)
        offset_seed(&part->offset, past->start_ns, &start->offset);
}

static void resume_finished(struct conductor *c,
                            const struct conduct_finished *finished)
{
    struct part *part = &c->parts[finished->host];

    if (!part_handle(part, PART_EV_FINISHED))
        return;
    part_note_finish(part, &finished->finish);
    part_collect(c, finished->host);
}

static void resume_parts(struct conductor *c, const struct conduct_past *past)
{
    struct part *part;

    FOR_EACH_PART(c, host, part)
    {
        if (!part_takes_part(part))
            continue;
        part->state = PART_GONE;
        part_set_reason(part, "it had not started when the controller was "
                              "restarted");
    }
    for (uint32_t i = 0; i < past->start_count; i++)
        resume_start(c, past, &past->starts[i]);
    for (uint32_t i = 0; i < past->finished_count; i++)
        resume_finished(c, &past->finished[i]);
    FOR_EACH_PART(c, host, part)
    {
        if (part->state == PART_RUNNING)
            part->reason[0] = '\0';
    }
}

static void resume_ending(struct conductor *c, const struct conduct_past *past)
{
    struct conduct_phase *phase = &c->phase;
    uint64_t end_ns =
        phase->start_ns + (past->stop_after + 1) * phase->interval_ns;
    struct part *part;

    if (past->ending == CONDUCT_ENDING_NONE)
        return;
    c->ending = past->ending;
    c->ending_verdict = past->ending_verdict;
    c->stop_after = past->stop_after;
    (void)snprintf(c->why, sizeof(c->why), "%s", past->reason);
    if (past->start_ns == 0)
        return;
    if (past->ending == CONDUCT_ENDING_EARLY) {
        if (phase->end_ns == 0 || end_ns < phase->end_ns)
            phase->end_ns = end_ns;
        return;
    }
    FOR_EACH_PART(c, host, part)
    {
        (void)part_handle(part, PART_EV_ABORT);
    }
    course_resume(c, CONDUCT_DRAINING);
}

static void resume_running(struct conductor *c, const struct conduct_past *past)
{
    struct conduct_phase *phase = &c->phase;
    uint64_t intervals = phase->warmup_intervals + phase->measured_intervals;

    c->commanded = phase->number + 1; /* its endcmd= is to come */
    phase->iops = past->iops;
    phase->start_ns = past->start_ns;
    if (phase->measured_intervals > 0)
        phase->end_ns = phase->start_ns + intervals * phase->interval_ns;
    course_resume(c, c->now_ns < phase->start_ns ? CONDUCT_ARMED
                                                 : CONDUCT_RUNNING);
    resume_parts(c, past);
}

static void suspect_all(struct conductor *c, const struct conduct_past *past)
{
    struct part *part;

    c->suspect_ns = c->now_ns + past->quiet_ns;
    FOR_EACH_PART(c, host, part)
    {
        part->suspect = true;
    }
}

static void resume_leases(struct conductor *c, const struct conduct_past *past)
{
    struct part *part;

    FOR_EACH_PART(c, host, part)
    {
        (void)snprintf(part->link_reason, sizeof(part->link_reason),
                       "not connected since the controller was restarted");
        part->renewed_ns = c->now_ns; /* not later, by who was before us */
        if (past->begun)
            part->leased_phase = past->phase;
    }
}

void conductor_resume(struct conductor *c, uint64_t now_ns,
                      const struct conduct_past *past)
{
    assert(c->state == CAMPAIGN_NEW && !c->drained);
    c->now_ns = now_ns;
    c->curve = past->memory.curve;
    c->verdict = past->memory.verdict;
    (void)snprintf(c->reason, sizeof(c->reason), "%s", past->memory.reason);
    c->state = CAMPAIGN_OPENING;
    resume_leases(c, past);
    if (past->memory.over) {
        course_end_campaign(c);
        course_step(c);
        return;
    }
    if (!past->begun) {
        suspect_all(c, past);
        errands_begin(c, CONDUCT_BEFORE_ALL, &c->plan->start);
        course_step(c);
        return;
    }
    course_plan(c, past->phase);
    if (c->state == CAMPAIGN_OPENING)
        c->state = CAMPAIGN_GOING;
    if (c->state != CAMPAIGN_GOING || c->phase.number != past->phase) {
        course_step(c);
        return;
    }
    if (past->start_ns != 0)
        resume_running(c, past);
    else
        suspect_all(c, past);
    resume_ending(c, past);
    course_step(c);
}
