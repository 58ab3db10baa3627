#include "controller/fleet/campaign.h"

#include "common/arena.h"
#include "common/clock.h"
#include "common/histogram.h"
#include "common/log.h"
#include "controller/conduct/queue.h"
#include "controller/fleet/agent_session.h"
#include "controller/fleet/documents.h"
#include "controller/fleet/slice.h"
#include "controller/fleet/state.h"
#include "controller/language/language.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const state_names[CAMPAIGN_STATES] = {
    [CAMPAIGN_INVALID] = "invalid", [CAMPAIGN_INSPECTING] = "inspecting",
    [CAMPAIGN_STORING] = "storing", [CAMPAIGN_WAITING] = "waiting",
    [CAMPAIGN_RUNNING] = "running", [CAMPAIGN_ENDING] = "ending",
    [CAMPAIGN_OVER] = "over",
};

static const bool may_enter[CAMPAIGN_STATES][CAMPAIGN_STATES] = {
    [CAMPAIGN_INSPECTING] = {[CAMPAIGN_STORING] = true, [CAMPAIGN_OVER] = true},
    [CAMPAIGN_STORING] = {[CAMPAIGN_WAITING] = true, [CAMPAIGN_ENDING] = true},
    [CAMPAIGN_WAITING] = {[CAMPAIGN_RUNNING] = true,
                          [CAMPAIGN_ENDING] = true,
                          [CAMPAIGN_OVER] = true},
    [CAMPAIGN_RUNNING] = {[CAMPAIGN_ENDING] = true},
    [CAMPAIGN_ENDING] = {[CAMPAIGN_OVER] = true},
};

const char *campaign_state_name(enum campaign_state state)
{
    assert(state < CAMPAIGN_STATES);
    return state_names[state];
}

void campaign_enter(struct campaign *campaign, enum campaign_state state)
{
    assert(may_enter[campaign->state][state]);
    campaign->state = state;
}

/* "campaign 7", for the log; good until the next call. */
static const char *subject(const struct campaign *campaign, char text[32])
{
    (void)snprintf(text, 32, "campaign %llu",
                   (unsigned long long)campaign->number);
    return text;
}

/* ---- Who has what ------------------------------------------------------ */

static void forget_slices(struct campaign *campaign)
{
    for (uint32_t i = 0; i < campaign->host_count; i++)
        campaign->hosts[i].slice = slice_free(campaign->hosts[i].slice);
}

struct campaign *campaign_free(struct campaign *campaign)
{
    if (campaign == NULL)
        return NULL;
    campaign_forget_user(campaign);
    forget_slices(campaign);
    conductor_free(campaign->conductor);
    for (uint32_t i = 0; i < campaign->host_count; i++)
        if (campaign->hosts[i].host != NULL)
            registry_let_go(campaign->hosts[i].host);
    free(campaign->hosts);
    language_report_done(&campaign->report);
    definitions_free(campaign->definitions);
    plan_free(campaign->plan);
    arena_free(campaign->arena);
    free(campaign);
    return NULL;
}

uint32_t campaign_host_index(const struct campaign *campaign,
                             const struct host *host)
{
    for (uint32_t i = 0; i < campaign->host_count; i++)
        if (campaign->hosts[i].host == host)
            return i;
    return UINT32_MAX;
}

/* ---- Telling people -------------------------------------------------------
 */

void campaign_notice(struct campaign *campaign, const char *text)
{
    char *document = document_notice(campaign->number, text);
    char who[32];

    log_notice(subject(campaign, who), "%s", text);
    if (document != NULL)
        fleet_event(campaign->fleet, &campaign->id, SHELL_EVENT_KEPT, document,
                    strlen(document));
    free(document);
}

/* ---- Orders to agents ------------------------------------------------------
 */

static struct wire_work work_of(const struct campaign *campaign, uint32_t phase)
{
    return (struct wire_work){
        .campaign = campaign->id,
        .phase = phase,
        .epoch = results_epoch(campaign->fleet->results),
    };
}

static struct agent_session *session_of(const struct campaign *campaign,
                                        uint32_t host)
{
    assert(host < campaign->host_count);
    return campaign->hosts[host].host->session;
}

static int order(struct campaign *campaign, uint32_t host,
                 const struct wire_out *out)
{
    struct agent_session *session = session_of(campaign, host);

    return session == NULL ? -ENOTCONN : link_say(session->link, out);
}

/* Another one for every phase and host, the same for the same. */
static uint64_t seed_of(const struct campaign *campaign, uint32_t phase,
                        uint32_t host)
{
    uint64_t seed = UINT64_C(0xcbf29ce484222325) ^ phase;

    seed = (seed ^ (uint64_t)host << 32) * UINT64_C(0x100000001b3);
    for (size_t i = 0; i < sizeof(campaign->id.bytes); i++)
        seed = (seed ^ campaign->id.bytes[i]) * UINT64_C(0x100000001b3);
    return seed;
}

int campaign_slice(struct campaign *campaign, uint32_t phase, uint32_t host)
{
    struct slice **slice = &campaign->hosts[host].slice;

    if (campaign->slices_phase != phase) {
        forget_slices(campaign);
        campaign->slices_phase = phase;
        tally_begin(&campaign->tally, phase);
    }
    if (*slice != NULL)
        return 0;
    return slice_new(campaign->plan, phase, host, slice);
}

static int say_prepare(struct campaign *campaign, uint32_t phase, uint32_t host)
{
    const struct conduct_phase *at_hand = conductor_phase(campaign->conductor);
    int err = campaign_slice(campaign, phase, host);
    const struct wire_out out = {
        .kind = WIRE_OUT_PREPARE,
        .prepare =
            {
                .work = work_of(campaign, phase),
                .plan = campaign->plan,
                .slice = campaign->hosts[host].slice,
                .rate = at_hand->iops,
                .shares = campaign_shares(campaign, phase),
                .cell_rates =
                    campaign_cell_rates(campaign, phase, at_hand->iops),
                .seed = seed_of(campaign, phase, host),
                .drain_limit_ns = at_hand->drain_limit_ns,
                .time_limit_ns = at_hand->time_limit_ns,
            },
    };

    return err != 0 ? err : order(campaign, host, &out);
}

/* What we cannot order, the agent has not got: as if it had refused. */
static void prepare(struct campaign *campaign, uint32_t phase, uint32_t host)
{
    if (campaign_refuse_used(campaign, phase, host))
        return;

    int err = say_prepare(campaign, phase, host);
    const char *reason = err == -EMSGSIZE
                             ? "the phase has more targets and workloads than "
                               "one message holds; use fewer of them, or a "
                               "shorter pattern="
                         : err == -ENOMEM ? "the controller is out of memory"
                                          : "the host has no part in the run";

    if (err != 0 && err != -ENOTCONN)
        conductor_refused(campaign->conductor, fleet_now_ns(campaign->fleet),
                          host, phase, "", reason);
}

static void carry_order(struct campaign *campaign,
                        const struct conduct_effect *effect)
{
    struct wire_work work = work_of(campaign, effect->phase);
    struct wire_mark mark = {.work = work, .interval = effect->interval};
    struct wire_out out = {0};

    switch (effect->kind) {
    case CONDUCT_DO_START:
        out.kind = WIRE_OUT_START;
        out.start = (struct wire_start){
            .work = work,
            .agent_start_ns = effect->agent_start_ns,
        };
        break;
    case CONDUCT_DO_GO:
        out.kind = WIRE_OUT_GO;
        out.go = work;
        break;
    case CONDUCT_DO_STOP_AFTER:
        out.kind = WIRE_OUT_STOP_AFTER;
        out.stop_after = mark;
        break;
    case CONDUCT_DO_ABORT:
        out.kind = WIRE_OUT_ABORT;
        out.abort = (struct wire_abort){.work = work, .reason = effect->reason};
        break;
    case CONDUCT_DO_RENEW:
        out.kind = WIRE_OUT_RENEW;
        out.renew = work;
        break;
    case CONDUCT_DO_ACK:
        out.kind = WIRE_OUT_SAMPLE_ACK;
        out.sample_ack = mark;
        break;
    default:
        assert(effect->kind == CONDUCT_DO_RELEASE);
        out.kind = WIRE_OUT_RELEASE;
        out.release = campaign->id;
        break;
    }
    (void)order(campaign, effect->host, &out);
}

/* ---- To the results --------------------------------------------------------
 */

static const enum verdict verdicts[CONDUCT_VERDICTS] = {
    [CONDUCT_COMPLETE] = VERDICT_COMPLETE,
    [CONDUCT_DEGRADED] = VERDICT_DEGRADED,
    [CONDUCT_FAILED] = VERDICT_FAILED,
    [CONDUCT_INTERRUPTED] = VERDICT_INTERRUPTED,
};

/* What the store does not take at once, it will not take: the campaign fails.
 * (Its queue is bounded, and long.) */
void campaign_note_store(struct campaign *campaign, int err, const char *what)
{
    char reason[REASON_SIZE];

    if (err == 0)
        return;
    (void)snprintf(reason, sizeof(reason), "cannot store %s: %s", what,
                   strerror(-err));
    conductor_store_failed(campaign->conductor, fleet_now_ns(campaign->fleet),
                           reason);
}

static void begin_phase(struct campaign *campaign,
                        const struct conduct_effect *effect)
{
    const struct conduct_phase *phase = conductor_phase(campaign->conductor);
    const struct results_phase asked = {
        .iorate = effect->iops,
        .warmup_intervals = (uint32_t)phase->warmup_intervals,
        .measured_intervals = phase->measured_intervals,
    };
    struct diag diag = {0};
    char who[32];

    campaign->try_epoch = results_epoch(campaign->fleet->results);
    log_notice(subject(campaign, who), "phase %u of %u: %s", effect->phase + 1,
               campaign->plan->run_count,
               campaign->plan->runs[effect->phase].name);
    campaign_note_store(campaign,
                        results_phase_begin(campaign->fleet->results,
                                            &campaign->id, effect->phase,
                                            &asked, &diag),
                        "the beginning of a phase");
}

static void end_phase(struct campaign *campaign,
                      const struct conduct_effect *effect)
{
    char who[32];

    campaign_keep_shares(campaign, effect->phase);
    campaign_remember_carry(campaign, effect->phase);
    if (effect->verdict != CONDUCT_COMPLETE)
        log_warn(subject(campaign, who), "phase %u is %s: %s",
                 effect->phase + 1, conduct_verdict_name(effect->verdict),
                 effect->reason);
    campaign_note_store(campaign,
                        results_phase_verdict(campaign->fleet->results,
                                              &campaign->id, effect->phase,
                                              verdicts[effect->verdict],
                                              effect->reason),
                        "the verdict of a phase");
}

static void skip_phases(struct campaign *campaign,
                        const struct conduct_effect *effect)
{
    for (uint64_t i = 0; i < effect->count; i++)
        campaign_note_store(
            campaign,
            results_phase_skipped(campaign->fleet->results, &campaign->id,
                                  effect->phase + (uint32_t)i, effect->reason),
            "why a phase was skipped");
}

static void carry_result(struct campaign *campaign,
                         const struct conduct_effect *effect)
{
    struct results *results = campaign->fleet->results;

    switch (effect->kind) {
    case CONDUCT_PHASE_BEGAN:
        begin_phase(campaign, effect);
        break;
    case CONDUCT_PHASE_STARTED:
        campaign_remember_starts(campaign, effect->phase);
        campaign_note_store(campaign,
                            results_phase_started(results, &campaign->id,
                                                  effect->phase, effect->at_ns,
                                                  effect->uncertainty_ns),
                            "the start of a phase");
        break;
    case CONDUCT_PHASE_ENDING:
        campaign_remember_ending(campaign, effect);
        break;
    case CONDUCT_DO_TOTAL:
        campaign_note_store(campaign,
                            results_phase_end(results, &campaign->id,
                                              effect->phase, VERDICT_NONE,
                                              NULL),
                            "the totals of a phase");
        break;
    case CONDUCT_PHASE_ENDED:
        end_phase(campaign, effect);
        break;
    case CONDUCT_PHASE_SKIPPED:
        skip_phases(campaign, effect);
        break;
    default:
        assert(effect->kind == CONDUCT_CAMPAIGN_ENDED);
        campaign_end(campaign, verdicts[effect->verdict], effect->reason);
        break;
    }
}

static void carry_out(struct campaign *campaign,
                      const struct conduct_effect *effect)
{
    switch (effect->kind) {
    case CONDUCT_DO_PREPARE:
        prepare(campaign, effect->phase, effect->host);
        break;
    case CONDUCT_DO_PROBE:
        if (session_of(campaign, effect->host) != NULL)
            probes_want(&campaign->fleet->probes,
                        session_of(campaign, effect->host));
        break;
    case CONDUCT_DO_START:
    case CONDUCT_DO_GO:
    case CONDUCT_DO_STOP_AFTER:
    case CONDUCT_DO_ABORT:
    case CONDUCT_DO_RENEW:
    case CONDUCT_DO_ACK:
    case CONDUCT_DO_RELEASE:
        carry_order(campaign, effect);
        break;
    case CONDUCT_DO_COMMAND:
        errand_give(campaign, effect);
        break;
    case CONDUCT_NOTICE:
        campaign_notice(campaign, effect->reason);
        break;
    case CONDUCT_HOST_GIVEN_UP:
        errand_host_lost(campaign);
        break;
    default:
        carry_result(campaign, effect);
        break;
    }
}

/* Carrying out may bring events of its own; their effects come after. */
void campaign_step(struct campaign *campaign)
{
    struct conduct_effect effect;

    if (campaign->carrying_out)
        return;
    campaign->carrying_out = true;
    while (conductor_take_effect(campaign->conductor, &effect))
        carry_out(campaign, &effect);
    campaign->carrying_out = false;
}

/* ---- Beginning and ending ---------------------------------------------------
 */

bool campaign_is_before(const struct campaign *campaign,
                        const struct wire_work *work)
{
    return conductor_phase(campaign->conductor)->number == work->phase &&
           work->epoch != campaign->try_epoch;
}

static void tell_host_up(struct campaign *campaign, uint32_t index)
{
    const struct agent_session *session = session_of(campaign, index);
    struct conduct_hello hello = {
        .instance = session->instance,
        .boot = session->boot,
        .lease_ns = session->lease_ns,
        .finishes = session->finishes_phase,
    };

    if (session->holds &&
        wire_uuid_equal(&session->held.campaign, &campaign->id)) {
        hello.held = (enum conduct_held)session->held_state;
        hello.held_phase = session->held.phase;
        hello.held_before = campaign_is_before(campaign, &session->held);
    }
    conductor_host_up(campaign->conductor, fleet_now_ns(campaign->fleet), index,
                      &hello);
    campaign_remember_quiet(campaign, index);
}

static void tell_state(struct campaign *campaign, enum results_state state,
                       const char *note)
{
    char who[32];
    int err = results_campaign_state(campaign->fleet->results, &campaign->id,
                                     state, note);

    if (err != 0)
        log_warn(subject(campaign, who), "cannot store its state: %s, ignoring",
                 strerror(-err));
}

void campaign_begin(struct campaign *campaign)
{
    struct fleet *fleet = campaign->fleet;
    struct conduct_options options;
    char who[32];

    campaign->conductor =
        conductor_new(campaign->plan, campaign_options(campaign, &options),
                      fleet_now_ns(fleet));
    if (campaign->conductor == NULL || campaign_keep_room(campaign) != 0) {
        campaign_end(campaign, VERDICT_FAILED,
                     "the controller is out of memory");
        return;
    }
    campaign_enter(campaign, CAMPAIGN_RUNNING);
    campaign_note_user(campaign);
    log_notice(subject(campaign, who), "begins: '%s' of %s",
               campaign->given.name, campaign->given.who);
    tell_state(campaign, RESULTS_RUNNING, NULL);
    for (uint32_t i = 0; i < campaign->host_count; i++)
        if (session_of(campaign, i) != NULL)
            tell_host_up(campaign, i);
    conductor_begin(campaign->conductor, fleet_now_ns(fleet));
    campaign_step(campaign);
}

/* Who watches is not to wait for a disk that may stay full; the store is
 * asked again until it takes the verdict, or the controller ends. */
static void end_without_store(struct campaign *campaign)
{
    char *document = document_end(
        campaign->number, verdict_name(campaign->verdict), campaign->reason);

    if (document != NULL)
        fleet_event(campaign->fleet, &campaign->id, SHELL_EVENT_END, document,
                    strlen(document));
    free(document);
    campaign->retry_ns = fleet_now_ns(campaign->fleet) + CAMPAIGN_RETRY_NS;
    if (campaign->fleet->stopping)
        campaign_enter(campaign, CAMPAIGN_OVER);
}

static void store_end(struct campaign *campaign)
{
    int err = results_campaign_end(
        campaign->fleet->results, &campaign->id, campaign->verdict,
        campaign->verdict == VERDICT_COMPLETE ? NULL : campaign->reason);
    char who[32];

    campaign->retry_ns = 0;
    if (err == 0)
        return;
    log_error(subject(campaign, who), "cannot store its verdict: %s",
              strerror(-err));
    end_without_store(campaign);
}

void campaign_end(struct campaign *campaign, enum verdict verdict,
                  const char *reason)
{
    char who[32];

    campaign_enter(campaign, CAMPAIGN_ENDING);
    campaign->verdict = verdict;
    (void)snprintf(campaign->reason, sizeof(campaign->reason), "%s",
                   reason == NULL ? "" : reason);
    log_notice(subject(campaign, who), "%s%s%s", verdict_name(verdict),
               campaign->reason[0] == '\0' ? "" : ": ", campaign->reason);
    queue_remove(campaign->fleet->queue, &campaign->id);
    campaign_forget_user(campaign);
    store_end(campaign);
}

void campaign_stop(struct campaign *campaign, const char *who)
{
    char by[REASON_SIZE - 16];
    char reason[REASON_SIZE];

    (void)snprintf(by, sizeof(by), "by %.900s", who);
    (void)snprintf(reason, sizeof(reason), "stopped %s", by);
    switch (campaign->state) {
    case CAMPAIGN_INSPECTING:
        submit_refuse(campaign, reason);
        break;
    case CAMPAIGN_STORING:
        submit_answer(campaign, STATUS_FAILED, document_error(reason));
        campaign_end(campaign, VERDICT_INTERRUPTED, reason);
        break;
    case CAMPAIGN_WAITING:
        campaign_end(campaign, VERDICT_INTERRUPTED, reason);
        break;
    case CAMPAIGN_RUNNING:
        campaign_remember_stop(campaign, by);
        conductor_stop(campaign->conductor, fleet_now_ns(campaign->fleet), by);
        campaign_step(campaign);
        break;
    default:
        break;
    }
}

void campaign_end_run(struct campaign *campaign, const char *who)
{
    char text[REASON_SIZE];

    if (campaign->state != CAMPAIGN_RUNNING)
        return;
    (void)snprintf(text, sizeof(text),
                   "the run that goes on is ended by %.900s", who);
    campaign_notice(campaign, text);
    conductor_end_phase(campaign->conductor, fleet_now_ns(campaign->fleet),
                        CONDUCT_COMPLETE, text);
    campaign_step(campaign);
}

/* ---- Events ------------------------------------------------------------ */

static bool runs(const struct campaign *campaign)
{
    return campaign->state == CAMPAIGN_RUNNING;
}

void campaign_tick(struct campaign *campaign, uint64_t now_ns)
{
    if (campaign->state == CAMPAIGN_INSPECTING &&
        now_ns >= campaign->inspect_due_ns)
        submit_refuse(campaign, NULL);
    if (campaign->state == CAMPAIGN_ENDING && campaign->retry_ns != 0 &&
        now_ns >= campaign->retry_ns)
        store_end(campaign);
    if (!runs(campaign) || conductor_due_ns(campaign->conductor) > now_ns)
        return;
    conductor_tick(campaign->conductor, now_ns);
    campaign_step(campaign);
}

uint64_t campaign_due_ns(const struct campaign *campaign)
{
    switch (campaign->state) {
    case CAMPAIGN_INSPECTING:
        return campaign->inspect_due_ns;
    case CAMPAIGN_RUNNING:
        return conductor_due_ns(campaign->conductor);
    case CAMPAIGN_ENDING:
        return campaign->retry_ns != 0 ? campaign->retry_ns : UINT64_MAX;
    default:
        return UINT64_MAX;
    }
}

/* A host that has no part in the phase makes no rows to wait for. */
static bool takes_part(const struct campaign *campaign, uint32_t host)
{
    return conductor_phase(campaign->conductor)->state > CONDUCT_COMMANDS &&
           conductor_host_takes_part(campaign->conductor, host);
}

void campaign_host_up(struct campaign *campaign, uint32_t host)
{
    if (!runs(campaign))
        return;
    if (takes_part(campaign, host))
        (void)!results_host_back(campaign->fleet->results, &campaign->id,
                                 conductor_phase(campaign->conductor)->number,
                                 host);
    tell_host_up(campaign, host);
    campaign_step(campaign);
}

void campaign_host_down(struct campaign *campaign, uint32_t host,
                        const char *reason)
{
    char text[REASON_SIZE];

    if (campaign->state == CAMPAIGN_INSPECTING) {
        (void)snprintf(text, sizeof(text),
                       "host '%s' went away while it was asked about its "
                       "drives: %.700s",
                       campaign->hosts[host].host->name, reason);
        submit_refuse(campaign, text);
        return;
    }
    if (!runs(campaign))
        return;
    if (takes_part(campaign, host))
        (void)!results_host_lost(campaign->fleet->results, &campaign->id,
                                 conductor_phase(campaign->conductor)->number,
                                 host, reason);
    conductor_host_down(campaign->conductor, fleet_now_ns(campaign->fleet),
                        host, reason);
    campaign_step(campaign);
}

void campaign_probed(struct campaign *campaign, uint32_t host,
                     const struct offset_probe *probe)
{
    if (!runs(campaign))
        return;
    conductor_probed(campaign->conductor, fleet_now_ns(campaign->fleet), host,
                     probe);
    campaign_step(campaign);
}

void campaign_ready(struct campaign *campaign, uint32_t host,
                    const struct wire_ready *ready)
{
    if (!runs(campaign) || campaign_is_before(campaign, &ready->work))
        return;
    (void)!results_host_ready(campaign->fleet->results, &campaign->id,
                              ready->work.phase, host, ready->engine,
                              ready->placement);
    conductor_ready(campaign->conductor, fleet_now_ns(campaign->fleet), host,
                    ready->work.phase);
    campaign_step(campaign);
}

void campaign_armed(struct campaign *campaign, uint32_t host,
                    const struct wire_start *armed)
{
    if (!runs(campaign) || campaign_is_before(campaign, &armed->work))
        return;
    conductor_armed(campaign->conductor, fleet_now_ns(campaign->fleet), host,
                    armed->work.phase, armed->agent_start_ns);
    campaign_step(campaign);
}

void campaign_refused(struct campaign *campaign, uint32_t host,
                      const struct wire_refused *refused)
{
    uint64_t now_ns = fleet_now_ns(campaign->fleet);

    if (!runs(campaign))
        return;
    if (campaign_is_before(campaign, &refused->work))
        conductor_left(campaign->conductor, now_ns, host, refused->work.phase,
                       0);
    else
        conductor_refused(campaign->conductor, now_ns, host,
                          refused->work.phase, refused->target,
                          refused->reason);
    campaign_step(campaign);
}

void campaign_commanded(struct campaign *campaign, uint32_t host,
                        uint32_t number, const char *failure)
{
    if (!runs(campaign))
        return;
    conductor_commanded(campaign->conductor, fleet_now_ns(campaign->fleet),
                        host, number, failure);
    campaign_step(campaign);
}

/* ---- Samples ----------------------------------------------------------- */

/* The agent's times become instants of our clock, relative to the start. */
static int translate_times(const struct conductor *conductor, uint32_t host,
                           const struct wire_sample *from, struct diag *diag)
{
    struct sample *to = from->sample;
    int64_t skew_ns;
    bool placed = conductor_place(conductor, host, from->agent_begin_ns,
                                  &to->begin_ns, &skew_ns) &&
                  conductor_place(conductor, host, from->agent_end_ns,
                                  &to->end_ns, &to->edge_skew_ns) &&
                  conductor_place(conductor, host, from->agent_opened_first_ns,
                                  &to->opened_first_ns, &skew_ns) &&
                  conductor_place(conductor, host, from->agent_opened_last_ns,
                                  &to->opened_last_ns, &skew_ns);

    for (uint32_t i = 0; i < to->failure_count && placed; i++)
        placed =
            conductor_place(conductor, host, (uint64_t)to->failures[i].at_ns,
                            &to->failures[i].at_ns, &skew_ns);
    if (!placed)
        return diag_set(diag, -EPROTO, "a sample of a phase without a start");
    return 0;
}

void campaign_check_limits(struct campaign *campaign)
{
    char reason[TEXT_SIZE];
    bool failed;

    if (!tally_is_over(&campaign->tally, campaign->plan, &failed, reason,
                       sizeof(reason)))
        return;
    conductor_end_phase(campaign->conductor, fleet_now_ns(campaign->fleet),
                        failed ? CONDUCT_FAILED : CONDUCT_COMPLETE, reason);
    campaign_step(campaign);
}

/* What comes again of a phase that is over is stored already or given up; its
 * Finished is answered. */
static bool is_at_hand(const struct campaign *campaign,
                       const struct wire_work *work)
{
    return runs(campaign) &&
           conductor_phase(campaign->conductor)->number == work->phase &&
           conductor_phase(campaign->conductor)->state > CONDUCT_COMMANDS &&
           !campaign_is_before(campaign, work);
}

int campaign_sample(struct campaign *campaign, uint32_t host,
                    struct wire_sample *from, struct diag *diag)
{
    uint32_t phase = from->work.phase;
    const struct slice *slice = campaign->hosts[host].slice;
    int err;

    if (!is_at_hand(campaign, &from->work) || slice == NULL ||
        campaign->slices_phase != phase)
        return -ENOENT;
    struct sample *sample = from->sample;

    sample->host = host;
    err = slice_translate(campaign->plan, slice, from->sample, diag);
    if (err == 0)
        err = translate_times(campaign->conductor, host, from, diag);
    if (err == 0) {
        tally_add(&campaign->tally, &campaign->hosts[host].counted,
                  campaign->plan, phase, sample);
        err = results_sample(campaign->fleet->results, &campaign->id, phase,
                             sample, diag);
    }
    if (err != 0)
        return err;
    from->sample = NULL; /* taken */
    conductor_opened(campaign->conductor, host, phase,
                     from->agent_opened_first_ns, from->agent_opened_last_ns);
    campaign_check_limits(campaign);
    return 0;
}

/* ---- From results ------------------------------------------------------ */

void campaign_stored(struct campaign *campaign, uint32_t phase, uint32_t host,
                     uint64_t next_interval)
{
    if (!runs(campaign))
        return;
    conductor_stored(campaign->conductor, fleet_now_ns(campaign->fleet), host,
                     phase, next_interval);
    campaign_step(campaign);
}

void campaign_totalled(struct campaign *campaign, uint32_t phase,
                       const struct results_total *from)
{
    struct conduct_total total = {
        .iops = from->iops >= 0 ? from->iops : 0, /* NAN: nothing was */
        .failures = from->failures,
        .service_mean_ns =
            from->service != NULL ? histogram_mean(from->service) : 0,
        .response_find_ns = campaign_response_ns(campaign, phase, from),
    };

    if (!runs(campaign))
        return;
    (void)snprintf(total.first_failure, sizeof(total.first_failure), "%s",
                   from->first_failure);
    (void)campaign_skew_is_off(campaign, phase, total.broken,
                               sizeof(total.broken));
    campaign_keep_drives(campaign, phase, total.iops);
    conductor_totalled(campaign->conductor, fleet_now_ns(campaign->fleet),
                       phase, &total);
    campaign_step(campaign);
}

void campaign_store_failed(struct campaign *campaign, const char *why)
{
    switch (campaign->state) {
    case CAMPAIGN_STORING:
        submit_answer(campaign, STATUS_FAILED, document_error(why));
        campaign_end(campaign, VERDICT_FAILED, why);
        break;
    case CAMPAIGN_WAITING:
        campaign_end(campaign, VERDICT_FAILED, why);
        break;
    case CAMPAIGN_RUNNING:
        campaign_notice(campaign, why);
        conductor_store_failed(campaign->conductor,
                               fleet_now_ns(campaign->fleet), why);
        campaign_flush_finished(campaign);
        campaign_step(campaign);
        break;
    case CAMPAIGN_ENDING:
        end_without_store(campaign);
        break;
    default:
        break;
    }
}
