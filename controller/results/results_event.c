/*
 * What watchers are told.  The text is made when somebody wants it.
 */
#include "controller/results/document.h"
#include "controller/results/inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct results_event {
    enum results_event_kind kind;
    struct object (*make)(struct results_event *event);
    struct live_campaign *campaign;
    struct live_phase *phase;
    const struct row *row;
    enum verdict verdict;
    const char *error;
    char *text;
    bool made;
};

enum results_event_kind results_event_kind(const struct results_event *event)
{
    return event->kind;
}

const char *results_event_text(struct results_event *event, size_t *ret_length)
{
    if (!event->made) {
        struct object object = event->make(event);

        event->text = object_text(&object);
        event->made = true;
    }
    *ret_length = event->text == NULL ? 0 : strlen(event->text);
    return event->text;
}

static void tell(struct results_event *event)
{
    struct results *results = event->campaign->results;

    results->handler->event(results->data, &event->campaign->id, event);
    free(event->text);
}

static struct document_phase facts_of(const struct live_phase *phase)
{
    const struct plan *plan = phase->campaign->plan;
    const struct plan_run *run = &plan->runs[phase->number];

    return (struct document_phase){
        .campaign = phase->campaign->number,
        .phase = phase->number,
        .phases = plan->run_count,
        .run = run->name,
        .kind = run->kind,
        .rate_kind = run->rate.kind,
        .rate_value = run->rate.value,
        .iorate = phase->asked.iorate,
        .for_text = run->for_text,
        .elapsed_ns = run->elapsed_ns,
        .warmup_ns = run->warmup_ns,
        .interval_ns = run->interval_ns,
        .pause_ns = run->pause_ns,
        .xfersize = run->xfersize_text,
        .threads = run->threads_text,
        .rdpct = run->rdpct_text,
        .seekpct = run->seekpct_text,
    };
}

/* ---- Phases ----------------------------------------------------------------
 */

/* Planned time of this run and those after it. */
static uint64_t remaining_ns(const struct live_phase *phase)
{
    const struct plan *plan = phase->campaign->plan;
    uint64_t ns = 0;

    for (uint32_t i = phase->number; i < plan->run_count; i++) {
        const struct plan_run *run = &plan->runs[i];

        ns += run->warmup_ns + run->elapsed_ns +
              (i == phase->number ? 0 : run->pause_ns);
    }
    return ns;
}

static struct object make_phase(struct results_event *event)
{
    struct live_phase *phase = event->phase;
    const struct plan *plan = phase->campaign->plan;
    const struct document_phase facts = facts_of(phase);

    return document_phase_event(&facts, phase->layout->takes_part_count,
                                plan->runs[phase->number].target_count,
                                remaining_ns(phase), phase->start_wall_ns);
}

void tell_phase(struct live_phase *phase)
{
    struct results_event event = {.kind = RESULTS_EVENT_PHASE,
                                  .make = make_phase,
                                  .campaign = phase->campaign,
                                  .phase = phase};

    tell(&event);
}

static const struct totals_item *cluster_of(const struct totals *totals)
{
    for (uint32_t i = 0; totals != NULL && i < totals->item_count; i++)
        if (totals->items[i].scope == RECORD_CLUSTER)
            return &totals->items[i];
    return NULL;
}

/* False when nothing was measured. */
static bool total_figures(const struct live_phase *phase,
                          struct figures *ret_figures)
{
    const struct totals_item *cluster = cluster_of(phase->totals);
    struct tally_pair pair = {0};
    bool known = cluster != NULL && phase->totals->intervals > 0 &&
                 packed_add_to(&cluster->sum, &pair) == 0;

    if (known)
        figures_of(&pair, totals_window_ns(phase->totals),
                   phase->asked.iorate > 0, &cluster->cpu,
                   phase->campaign->results->scratch, ret_figures);
    tally_pair_done(&pair);
    return known;
}

static bool rest_figures(const struct live_phase *phase,
                         struct figures *ret_figures)
{
    const struct totals *totals = phase->totals;

    if (totals == NULL || totals->rest.intervals == 0)
        return false;
    figures_of(&totals->rest.sum, totals->rest.window_ns,
               phase->asked.iorate > 0, &totals->rest.cpu,
               phase->campaign->results->scratch, ret_figures);
    return true;
}

static int64_t end_wall_ns(const struct live_phase *phase)
{
    const struct totals *totals = phase->totals;

    return totals == NULL || totals_window_ns(totals) == 0 ||
                   phase->start_wall_ns == 0
               ? wall_now(phase->campaign->results)
               : phase->start_wall_ns + totals->end_ns;
}

/* "host" or "host:sd". */
static void flag_name(const struct plan *plan, const struct trust_flag *flag,
                      char *name, size_t size)
{
    const struct plan_target *target;

    if (flag->scope == RECORD_HOST) {
        (void)snprintf(name, size, "%s", plan->hosts[flag->item].label);
        return;
    }
    target = &plan->targets[flag->item];
    (void)snprintf(name, size, "%s:%s", plan->hosts[target->host].label,
                   target->sd);
}

static json_t *flags_of(const struct live_phase *phase)
{
    json_t *array = json_array();
    struct object all = object_new();
    char name[2 * TEXT_SIZE];

    for (uint32_t i = 0;
         phase->totals != NULL && i < phase->totals->trust.count; i++) {
        const struct trust_flag *flag = &phase->totals->trust.flags[i];
        struct object o = object_new();

        flag_name(phase->campaign->plan, flag, name, sizeof(name));
        object_put_text(&o, "name", name);
        object_put_text(&o, "flag", flag->word);
        object_put_text(&o, "text", flag->text);
        object_append(&all, array, &o);
    }
    object_done(&all);
    return array;
}

static struct object make_phase_end(struct results_event *event)
{
    struct live_phase *phase = event->phase;
    const struct document_phase facts = facts_of(phase);
    const struct totals *totals = phase->totals;
    struct figures figures, rest;
    const struct document_end end = {
        .verdict = event->verdict,
        .error = event->error,
        .warmup_intervals = phase->asked.warmup_intervals,
        .intervals = totals == NULL ? 0 : totals->intervals,
        .wall_ns = end_wall_ns(phase),
        .spread_ns = totals == NULL ? -1 : totals->spread_ns,
        .uncertainty_ns = phase->uncertainty_ns,
        .total = total_figures(phase, &figures) ? &figures : NULL,
        .without_first = rest_figures(phase, &rest) ? &rest : NULL,
        .flags = flags_of(phase),
    };

    return document_phase_end_event(&facts, &end);
}

void tell_phase_end(struct live_phase *phase, enum verdict verdict,
                    const char *error)
{
    struct results_event event = {.kind = RESULTS_EVENT_PHASE_END,
                                  .make = make_phase_end,
                                  .campaign = phase->campaign,
                                  .phase = phase,
                                  .verdict = verdict,
                                  .error = error};

    tell(&event);
}

/* ---- Rows ------------------------------------------------------------------
 */

static const char *host_name(const void *names, uint32_t host)
{
    const struct live_phase *phase = names;

    return phase->campaign->plan->hosts[host].label;
}

static const char *workload_name(const void *names, uint32_t workload)
{
    const struct live_phase *phase = names;

    return phase->campaign->plan->runs[phase->number].workloads[workload].name;
}

static json_t *missing_names(const struct live_phase *phase,
                             const struct row *row)
{
    json_t *array = json_array();

    for (uint32_t i = 0; array != NULL && i < row->hosts_expected; i++)
        if (!row->hosts[i].delivered)
            (void)json_array_append_new(
                array, json_string(host_name(phase, row->hosts[i].host)));
    return array;
}

static struct object make_row(struct results_event *event)
{
    struct live_phase *phase = event->phase;
    const struct document_interval d = {
        .campaign = phase->campaign->number,
        .phase = phase->number,
        .run = phase->campaign->plan->runs[phase->number].name,
        .interval_ns = phase->interval_ns,
        .start_wall_ns = phase->start_wall_ns,
        .open_loop = phase->asked.iorate > 0,
        .row = event->row,
        .missing = missing_names(phase, event->row),
        .host_name = host_name,
        .workload_name = workload_name,
        .names = phase,
    };

    return document_interval_event(&d, phase->campaign->results->scratch);
}

void tell_row(struct live_phase *phase, const struct row *row)
{
    struct results_event event = {.kind = RESULTS_EVENT_INTERVAL,
                                  .make = make_row,
                                  .campaign = phase->campaign,
                                  .phase = phase,
                                  .row = row};

    tell(&event);
}

/* ---- The end ---------------------------------------------------------------
 */

static struct object make_end(struct results_event *event)
{
    return document_end_event(event->campaign->number, event->verdict,
                              event->error);
}

void tell_end(struct live_campaign *campaign, enum verdict verdict,
              const char *error)
{
    struct results_event event = {.kind = RESULTS_EVENT_END,
                                  .make = make_end,
                                  .campaign = campaign,
                                  .verdict = verdict,
                                  .error = error};

    tell(&event);
}
