/*
 * The course of a phase: its states, what entering each one does, what each
 * waits for, and how long.
 */
#include "controller/conduct/conductor.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* So long a phase waits for a host without a word. */
#define WAITING_TOLD_NS (2 * NS_PER_S)

enum course_event {
    COURSE_EV_BEGIN,
    COURSE_EV_COMMANDED,
    COURSE_EV_ALL_READY,
    COURSE_EV_ALL_ARMED,
    COURSE_EV_START_DUE,
    COURSE_EV_END_DUE,
    COURSE_EV_ALL_STOPPED,
    COURSE_EV_ALL_TOLD,
    COURSE_EV_BREAK,
    COURSE_EVENTS,
};

/* A hole (CONDUCT_INVALID) is a mistake of ours. */
static const enum conduct_state next_state[CONDUCT_STATES][COURSE_EVENTS] = {
    [CONDUCT_PLANNED] =
        {
            [COURSE_EV_BEGIN] = CONDUCT_COMMANDS,
            [COURSE_EV_BREAK] = CONDUCT_COLLECTED, /* nobody has anything */
        },
    [CONDUCT_COMMANDS] =
        {
            [COURSE_EV_COMMANDED] = CONDUCT_PREPARING,
            [COURSE_EV_BREAK] = CONDUCT_COLLECTED,
        },
    [CONDUCT_PREPARING] =
        {
            [COURSE_EV_ALL_READY] = CONDUCT_ARMING,
            [COURSE_EV_BREAK] = CONDUCT_DRAINING,
        },
    [CONDUCT_ARMING] =
        {
            [COURSE_EV_ALL_ARMED] = CONDUCT_ARMED,
            [COURSE_EV_BREAK] = CONDUCT_DRAINING,
        },
    [CONDUCT_ARMED] =
        {
            [COURSE_EV_START_DUE] = CONDUCT_RUNNING,
            [COURSE_EV_BREAK] = CONDUCT_DRAINING,
        },
    [CONDUCT_RUNNING] =
        {
            [COURSE_EV_END_DUE] = CONDUCT_DRAINING,
            [COURSE_EV_BREAK] = CONDUCT_DRAINING,
        },
    [CONDUCT_DRAINING] =
        {
            [COURSE_EV_ALL_STOPPED] = CONDUCT_COLLECTED,
            [COURSE_EV_BREAK] = CONDUCT_DRAINING,
        },
    [CONDUCT_COLLECTED] =
        {
            [COURSE_EV_ALL_TOLD] = CONDUCT_OVER,
        },
};

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void enter(struct conductor *c, enum conduct_state state);

static void handle(struct conductor *c, enum course_event event)
{
    enum conduct_state next = next_state[c->phase.state][event];

    assert(next != CONDUCT_INVALID);
    enter(c, next);
}

/* ---- Planned ------------------------------------------------------------- */

static bool is_there(const struct part *part)
{
    return part->state == PART_IDLE && part_is_up(part) &&
           part->holds == PLAN_NOWHERE;
}

static bool is_missing(const struct part *part)
{
    return part->state == PART_IDLE && !is_there(part);
}

static bool is_not_connected(const struct part *part)
{
    return part->state == PART_IDLE && !part_is_up(part);
}

/* Whether a host that is missing may still come in time. */
static bool may_still_come(const struct conductor *c)
{
    if (c->options.no_return && part_count(c, is_not_connected) > 0)
        return false;
    return c->now_ns < c->planned_ns + c->options.host_wait_ns;
}

static bool is_waiting_told(const struct conductor *c)
{
    return c->waiting_told == c->phase.number + 1;
}

/* Who looks on should not wonder why nothing begins.  A host that only has to
 * let go of the phase before is not worth a word. */
static void tell_waiting(struct conductor *c)
{
    uint64_t end_ns = c->planned_ns + c->options.host_wait_ns;
    char names[TEXT_SIZE];

    if (is_waiting_told(c) || c->now_ns < c->planned_ns + WAITING_TOLD_NS)
        return;
    c->waiting_told = c->phase.number + 1;
    verdict_names(c, is_missing, names);
    effect_notice(c,
                  "phase %u waits for %s, for %llu s more at most (host_wait=)",
                  c->phase.number + 1, names,
                  (unsigned long long)((end_ns - c->now_ns) / NS_PER_S));
}

static bool is_suspect(const struct part *part)
{
    return part_takes_part(part) && part->suspect;
}

bool course_has_suspects(const struct conductor *c)
{
    return c->phase.state == CONDUCT_PLANNED && c->now_ns < c->suspect_ns &&
           part_count(c, is_suspect) > 0;
}

/* What had been settled before a restart, while the phase had not started. */
static bool is_settled(struct conductor *c)
{
    enum conduct_ending ending = c->ending;
    char why[REASON_SIZE];

    if (c->state == CAMPAIGN_STOPPING) {
        course_note_verdict(c, CONDUCT_INTERRUPTED, c->who);
        course_end_campaign(c);
        return true;
    }
    if (ending == CONDUCT_ENDING_NONE)
        return false;
    memcpy(why, c->why, sizeof(why));
    c->ending = CONDUCT_ENDING_NONE;
    course_break(c, ending, "%s", why);
    return true;
}

static void step_planned(struct conductor *c)
{
    uint32_t there = part_count(c, is_there);

    if (course_has_suspects(c) || is_settled(c))
        return;
    if (c->now_ns < c->planned_ns)
        return;
    if (there < c->phase.host_count && may_still_come(c)) {
        tell_waiting(c);
        return;
    }
    if (there >= course_required(c)) {
        handle(c, COURSE_EV_BEGIN);
        return;
    }

    char names[TEXT_SIZE];

    verdict_names(c, is_missing, names);
    course_break(c, CONDUCT_ENDING_FAILED,
                 "%u of %u hosts are there; missing after %llu s: %s", there,
                 c->phase.host_count,
                 (unsigned long long)((c->now_ns - c->planned_ns) / NS_PER_S),
                 names);
}

static void enter_commands(struct conductor *c)
{
    c->commanded = c->phase.number + 1;
    errands_begin(c, CONDUCT_BEFORE_PHASE,
                  &c->plan->runs[c->phase.number].start);
}

static void step_commands(struct conductor *c)
{
    char failure[REASON_SIZE];

    if (!errands_are_done(c))
        return;
    if (errands_take_failure(c, failure))
        course_break(c, CONDUCT_ENDING_FAILED, "%s", failure);
    else
        handle(c, COURSE_EV_COMMANDED);
}

/* ---- Preparing and arming ------------------------------------------------ */

static void enter_preparing(struct conductor *c)
{
    struct part *part;

    effect_add(c, CONDUCT_PHASE_BEGAN)->iops = c->phase.iops;
    FOR_EACH_PART(c, host, part)
    {
        if (is_there(part))
            order_prepare(c, host);
        else if (part->state == PART_IDLE && part_is_up(part))
            part_give_up(c, host, "it still had work of an earlier phase");
        else if (part->state == PART_IDLE)
            part_give_up(c, host, "not connected");
    }
}

static bool has_failed(const struct part *part)
{
    return part->state == PART_REFUSED || part->state == PART_FINISHED ||
           part->state == PART_COLLECTED;
}

static bool is_gone(const struct part *part)
{
    return part->state == PART_GONE;
}

static bool is_not_ready(const struct part *part)
{
    return part_is_starter(part) &&
           (!part_is_up(part) || part->state != PART_READY);
}

/* Before the start, a host that says no breaks the phase, as do too few. */
static bool break_if_short(struct conductor *c)
{
    struct part *part;

    FOR_EACH_PART(c, host, part)
    {
        if (!has_failed(part))
            continue;
        course_break(c, CONDUCT_ENDING_FAILED, "%s: %s", part_label(c, host),
                     part->reason);
        return true;
    }
    if (part_count(c, part_is_starter) >= course_required(c))
        return false;

    char names[TEXT_SIZE];

    verdict_names(c, is_gone, names);
    course_break(c, CONDUCT_ENDING_FAILED, "too few hosts are left: without %s",
                 names);
    return true;
}

static uint64_t prepare_limit_ns(const struct conductor *c)
{
    const struct plan_run *run = &c->plan->runs[c->phase.number];

    return c->phase.since_ns + c->options.prepare_ns +
           run->target_count * c->options.prepare_target_ns;
}

static void step_preparing(struct conductor *c)
{
    uint32_t starters = part_count(c, part_is_starter);
    uint32_t waiting = part_count(c, is_not_ready);
    char names[TEXT_SIZE];
    struct part *part;

    if (break_if_short(c))
        return;
    if (waiting == 0) {
        handle(c, COURSE_EV_ALL_READY);
        return;
    }
    if (c->now_ns < prepare_limit_ns(c))
        return;
    verdict_names(c, is_not_ready, names);
    if (starters - waiting < course_required(c)) {
        course_break(
            c, CONDUCT_ENDING_FAILED,
            "%u of %u hosts are ready; not after %llu s: %s",
            starters - waiting, c->phase.host_count,
            (unsigned long long)((c->now_ns - c->phase.since_ns) / NS_PER_S),
            names);
        return;
    }
    FOR_EACH_PART(c, host, part)
    {
        if (!is_not_ready(part))
            continue;
        order_abort(c, host, "the phase starts without this host");
        part_give_up(c, host, "not ready in time");
    }
}

static void step_arming(struct conductor *c)
{
    if (break_if_short(c))
        return;
    if (barrier_is_armed(c))
        handle(c, COURSE_EV_ALL_ARMED);
    else
        barrier_step(c);
}

static void enter_armed(struct conductor *c)
{
    struct conduct_phase *phase = &c->phase;
    uint64_t intervals = phase->warmup_intervals + phase->measured_intervals;
    struct conduct_effect *effect;
    uint64_t uncertainty = 0;
    struct part *part;

    FOR_EACH_PART(c, host, part)
    {
        if (!part_is_starter(part))
            continue;
        order_go(c, host);
        if (part->start.uncertainty_ns > uncertainty)
            uncertainty = part->start.uncertainty_ns;
    }
    if (phase->measured_intervals > 0)
        phase->end_ns = phase->start_ns + intervals * phase->interval_ns;
    effect = effect_add(c, CONDUCT_PHASE_STARTED);
    effect->at_ns = phase->start_ns;
    effect->uncertainty_ns = uncertainty;
}

static void step_armed(struct conductor *c)
{
    if (c->now_ns >= c->phase.start_ns)
        handle(c, COURSE_EV_START_DUE);
}

/* ---- Running and draining ------------------------------------------------ */

static void step_running(struct conductor *c)
{
    const struct conduct_phase *phase = &c->phase;

    if (part_count(c, part_is_busy) == 0 ||
        (phase->end_ns != 0 && c->now_ns >= phase->end_ns))
        handle(c, COURSE_EV_END_DUE);
    else if (c->now_ns >= phase->start_ns + phase->time_limit_ns)
        course_break(c, CONDUCT_ENDING_FAILED, "not done after %llu s",
                     (unsigned long long)(phase->time_limit_ns / NS_PER_S));
}

static void abort_all(struct conductor *c, const char *reason)
{
    struct part *part;

    FOR_EACH_PART(c, host, part)
    {
        if (part_is_busy(part) && part->state != PART_STOPPING)
            order_abort(c, host, reason);
    }
}

static void enter_draining(struct conductor *c)
{
    if (c->ending == CONDUCT_ENDING_FAILED ||
        c->ending == CONDUCT_ENDING_INTERRUPTED)
        abort_all(c, c->why);
}

static uint64_t drain_limit_ns(const struct conductor *c)
{
    return c->phase.since_ns + c->options.drain_ns + c->options.grace_ns;
}

static void step_draining(struct conductor *c)
{
    if (part_count(c, part_is_busy) == 0)
        handle(c, COURSE_EV_ALL_STOPPED);
    else if (c->now_ns >= drain_limit_ns(c))
        abort_all(c, "the phase is over and its drain limit has passed");
}

/* ---- Collecting ---------------------------------------------------------- */

static bool is_owing(const struct part *part)
{
    return part->state == PART_FINISHED || part_is_busy(part);
}

static void give_up_rows(struct conductor *c)
{
    struct part *part;

    FOR_EACH_PART(c, host, part)
    {
        if (part->state != PART_FINISHED)
            continue;
        part_give_up(c, host, "its rows from interval %llu on did not come",
                     (unsigned long long)part->stored);
        order_acknowledge(c, host, c->phase.number, part_rows(part));
        if (part_is_up(part))
            part->holds = PLAN_NOWHERE;
    }
}

static void step_collecting(struct conductor *c)
{
    if (part_count(c, is_owing) == 0) {
        c->tally = TALLY_ASKED;
        effect_add(c, CONDUCT_DO_TOTAL);
    } else if (c->now_ns >= c->phase.since_ns + c->options.collect_ns) {
        give_up_rows(c);
    }
}

static uint64_t tally_limit_ns(const struct conductor *c)
{
    return c->phase.since_ns + 2 * c->options.collect_ns;
}

static void step_collected(struct conductor *c)
{
    switch (c->tally) {
    case TALLY_WAITING:
        step_collecting(c);
        break;
    case TALLY_ASKED:
        if (c->now_ns < tally_limit_ns(c))
            break;
        course_break(c, CONDUCT_ENDING_FAILED,
                     "the store did not add the phase up");
        break;
    case TALLY_TOLD:
        if (part_count(c, part_is_busy) == 0)
            handle(c, COURSE_EV_ALL_TOLD);
        break;
    }
}

/* ---- Over ---------------------------------------------------------------- */

/* How far a search has come. */
static void tell_search(struct conductor *c, const struct plan_run *run)
{
    char text[TEXT_SIZE];

    (void)snprintf(text, sizeof(text),
                   "%s: %.0f a second keep the limit, %.0f do not (%.4g%% of "
                   "response times within %.4g ms are asked for)",
                   run->rd, c->curve.kept_iops, c->curve.broke_iops,
                   run->find_quantile * 100, (double)run->find_limit_ns / 1e6);
    effect_add(c, CONDUCT_NOTICE)->reason = effect_text(c, text);
}

static void enter_over(struct conductor *c)
{
    const struct plan_run *run = &c->plan->runs[c->phase.number];
    char reason[REASON_SIZE];
    enum conduct_verdict verdict = verdict_of_phase(c, reason);
    struct conduct_effect *effect = effect_add(c, CONDUCT_PHASE_ENDED);

    effect->verdict = verdict;
    effect->reason = effect_text(c, reason);
    verdict_spread(c, &effect->spread_ns, &effect->uncertainty_ns);
    course_note_verdict(c, verdict, reason);
    if (c->commanded == c->phase.number + 1)
        errands_begin(c, CONDUCT_AFTER_PHASE, &run->end);
    if (run->kind != PLAN_RUN_MEASURE)
        return;
    curve_note(&c->curve, &run->rate, c->total.iops,
               verdict == CONDUCT_COMPLETE);
    curve_note_times(&c->curve, run, &c->total);
    if (run->rate.kind == PLAN_RATE_FIND)
        tell_search(c, run);
}

bool course_is_last(const struct conductor *c)
{
    return c->state == CAMPAIGN_STOPPING ||
           c->ending == CONDUCT_ENDING_FAILED ||
           (c->ending == CONDUCT_ENDING_EARLY &&
            c->ending_verdict >= CONDUCT_FAILED);
}

static void step_over(struct conductor *c)
{
    uint32_t next = c->phase.number + 1;
    char failure[REASON_SIZE];

    if (!errands_are_done(c))
        return;
    if (errands_take_failure(c, failure))
        course_note_verdict(c, CONDUCT_FAILED, failure);
    if (c->state == CAMPAIGN_STOPPING && next < c->plan->run_count)
        course_note_verdict(c, CONDUCT_INTERRUPTED, c->who);
    if (course_is_last(c))
        course_end_campaign(c);
    else
        course_plan(c, next);
}

/* ---- The machine --------------------------------------------------------- */

static void enter(struct conductor *c, enum conduct_state state)
{
    static void (*const entering[CONDUCT_STATES])(struct conductor * c) = {
        [CONDUCT_COMMANDS] = enter_commands,
        [CONDUCT_PREPARING] = enter_preparing,
        [CONDUCT_ARMING] = barrier_begin,
        [CONDUCT_ARMED] = enter_armed,
        [CONDUCT_DRAINING] = enter_draining,
        [CONDUCT_OVER] = enter_over,
    };

    c->changes++;
    c->phase.state = state;
    c->phase.since_ns = c->now_ns;
    if (entering[state] != NULL)
        entering[state](c);
}

/* Commands before the first phase. */
static void step_opening(struct conductor *c)
{
    char failure[REASON_SIZE];

    if (!errands_are_done(c))
        return;
    if (errands_take_failure(c, failure)) {
        course_note_campaign(c, CONDUCT_FAILED, failure);
        course_end_campaign(c);
        return;
    }
    course_plan(c, 0);
    if (c->state == CAMPAIGN_OPENING)
        c->state = CAMPAIGN_GOING;
}

/* Commands after the last one. */
static void step_closing(struct conductor *c)
{
    char failure[REASON_SIZE];

    if (!errands_are_done(c))
        return;
    if (errands_take_failure(c, failure))
        course_note_campaign(c, CONDUCT_FAILED, failure);
    course_end_campaign(c);
}

static void step_once(struct conductor *c,
                      void (*step_phase)(struct conductor *c))
{
    switch (c->state) {
    case CAMPAIGN_NEW:
    case CAMPAIGN_ENDED:
        break;
    case CAMPAIGN_OPENING:
        errands_step(c);
        step_opening(c);
        break;
    case CAMPAIGN_CLOSING:
        errands_step(c);
        step_closing(c);
        break;
    case CAMPAIGN_GOING:
    case CAMPAIGN_STOPPING:
        errands_step(c);
        step_phase(c);
        break;
    }
}

void course_resume(struct conductor *c, enum conduct_state state)
{
    c->changes++;
    c->phase.state = state;
    c->phase.since_ns = c->now_ns;
}

void course_step(struct conductor *c)
{
    static void (*const steps[CONDUCT_STATES])(struct conductor * c) = {
        [CONDUCT_PLANNED] = step_planned,
        [CONDUCT_COMMANDS] = step_commands,
        [CONDUCT_PREPARING] = step_preparing,
        [CONDUCT_ARMING] = step_arming,
        [CONDUCT_ARMED] = step_armed,
        [CONDUCT_RUNNING] = step_running,
        [CONDUCT_DRAINING] = step_draining,
        [CONDUCT_COLLECTED] = step_collected,
        [CONDUCT_OVER] = step_over,
    };
    uint32_t before;

    do {
        before = c->changes;
        step_once(c, steps[c->phase.state]);
    } while (before != c->changes);
}

void course_break(struct conductor *c, enum conduct_ending ending,
                  const char *format, ...)
{
    va_list args;

    if (c->phase.state == CONDUCT_COLLECTED) {
        c->tally = TALLY_TOLD; /* no longer waited for */
        c->changes++;
    }
    if (c->ending == CONDUCT_ENDING_FAILED ||
        c->ending == CONDUCT_ENDING_INTERRUPTED)
        return;
    c->ending = ending;
    va_start(args, format);
    (void)vsnprintf(c->why, sizeof(c->why), format, args);
    va_end(args);
    if (c->phase.state == CONDUCT_COLLECTED)
        return;
    if (c->phase.state <= CONDUCT_COMMANDS)
        effect_add(c, CONDUCT_PHASE_BEGAN)->iops = c->phase.iops;
    else
        course_note_ending(c);
    handle(c, COURSE_EV_BREAK);
}

void course_note_ending(struct conductor *c)
{
    struct conduct_effect *effect = effect_add(c, CONDUCT_PHASE_ENDING);

    effect->ending = c->ending;
    effect->verdict = c->ending_verdict;
    effect->interval = c->stop_after;
    effect->reason = effect_text(c, c->why);
}

static bool is_to_be_aborted(const struct part *part)
{
    return part_is_busy(part) && part->state != PART_STOPPING;
}

static uint64_t planned_due_ns(const struct conductor *c)
{
    uint64_t end_ns = c->planned_ns + c->options.host_wait_ns;

    if (course_has_suspects(c))
        return c->suspect_ns;
    if (c->now_ns < c->planned_ns)
        return c->planned_ns;
    return is_waiting_told(c)
               ? end_ns
               : earlier(end_ns, c->planned_ns + WAITING_TOLD_NS);
}

uint64_t course_due_ns(const struct conductor *c)
{
    const struct conduct_phase *phase = &c->phase;
    uint64_t limit = phase->start_ns + phase->time_limit_ns;

    switch (phase->state) {
    case CONDUCT_PLANNED:
        return planned_due_ns(c);
    case CONDUCT_PREPARING:
        return prepare_limit_ns(c);
    case CONDUCT_ARMING:
        return barrier_due_ns(c);
    case CONDUCT_ARMED:
        return phase->start_ns;
    case CONDUCT_RUNNING:
        return phase->end_ns != 0 ? earlier(phase->end_ns, limit) : limit;
    case CONDUCT_DRAINING:
        return part_count(c, is_to_be_aborted) > 0 ? drain_limit_ns(c)
                                                   : CONDUCT_NEVER;
    case CONDUCT_COLLECTED:
        if (c->tally == TALLY_ASKED)
            return tally_limit_ns(c);
        return course_is_open(c) ? phase->since_ns + c->options.collect_ns
                                 : CONDUCT_NEVER;
    case CONDUCT_COMMANDS:
    case CONDUCT_OVER:
    case CONDUCT_INVALID:
    case CONDUCT_STATES:
        break;
    }
    return CONDUCT_NEVER;
}
