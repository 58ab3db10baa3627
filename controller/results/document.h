/*
 * document.h - what is told of campaigns, phases and rows, as JSON.  Pure: from
 * plain facts, which come from the plan while it runs, or from the store.
 *
 * README.md lists the documents with their keys.
 *
 * Threads: none of its own.
 */
#ifndef CONTROLLER_RESULTS_DOCUMENT_H
#define CONTROLLER_RESULTS_DOCUMENT_H

#include "controller/plan/plan.h"
#include "controller/results/figures.h"
#include "controller/results/object.h"
#include "controller/results/results.h"
#include "controller/results/row.h"

/* The figures' keys, into an object that has others already. */
void document_figures(struct object *into, const struct figures *figures);

/* Of both operations together, without CPUs: what a live view needs. */
void document_brief(struct object *into, const struct figures *figures);

/* Of one operation. */
void document_op(struct object *into, const struct op_figures *figures,
                 bool open_loop);

/* What a phase is, as asked. */
struct document_phase {
    uint64_t campaign; /* number */
    uint32_t phase;    /* from 0 */
    uint32_t phases;
    const char *run;
    enum plan_run_kind kind;
    enum plan_rate_kind rate_kind;
    double rate_value;
    double iorate; /* asked; 0: closed loop; NAN: not known yet */
    const char *for_text;
    uint64_t elapsed_ns;
    uint64_t warmup_ns;
    uint64_t interval_ns;
    uint64_t pause_ns;
    const char *xfersize;
    const char *threads;
    const char *rdpct;
    const char *seekpct;
};

/* Its keys: phase, phases, run, kind, iorate, iorate_text, ... */
void document_asked(struct object *into, const struct document_phase *phase);

/* The event "phase"; 0 for `remaining_ns`: not known. */
struct object document_phase_event(const struct document_phase *phase,
                                   uint32_t hosts, uint32_t drives,
                                   uint64_t remaining_ns, int64_t wall_ns);

struct document_interval {
    uint64_t campaign;
    uint32_t phase;
    const char *run;
    uint64_t interval_ns;
    int64_t start_wall_ns; /* of the phase; 0: not known */
    bool open_loop;
    const struct row *row; /* hosts may be NULL: then none is told about */
    json_t *missing;       /* an array of names; taken */
    /* Names by number; NULL where hosts or workloads are not told about. */
    const char *(*host_name)(const void *names, uint32_t host);
    const char *(*workload_name)(const void *names, uint32_t workload);
    const void *names;
};

/* The event "interval".  `scratch` as for figures_of(). */
struct object document_interval_event(const struct document_interval *interval,
                                      struct histogram *scratch);

/* How a phase ended. */
struct document_end {
    enum verdict verdict;
    const char *error;
    uint64_t warmup_intervals;
    uint64_t intervals; /* measured */
    int64_t wall_ns;
    int64_t spread_ns; /* -1: not known, as the next */
    int64_t uncertainty_ns;
    const struct figures *total;         /* NULL: nothing was measured */
    const struct figures *without_first; /* NULL: see rest.h */
    json_t *flags;                       /* taken; NULL is null */
};

/* The key "without_first": the total as vdbench takes it; NULL is null. */
void document_without_first(struct object *into, const struct figures *figures);

struct object document_phase_end_event(const struct document_phase *phase,
                                       const struct document_end *end);

struct object document_end_event(uint64_t campaign, enum verdict verdict,
                                 const char *error);

#endif
