/*
 * query_show.h - the parts of "everything about a campaign", for SHOW, which
 * tells all of it at once, and EXPORT, which tells it phase by phase.
 *
 * Threads: the store's reader.
 */
#ifndef CONTROLLER_RESULTS_QUERY_SHOW_H
#define CONTROLLER_RESULTS_QUERY_SHOW_H

#include "controller/results/query.h"
#include "controller/results/record.h"

struct show {
    struct store_access *access;
    const struct query_found *found;
    struct query_names names;
    struct histogram *scratch;
    struct bytes *into;
    struct diag *diag;
    bool brief; /* of a phase's figures only the cluster's total */
    /* Of the phase at hand. */
    struct query_phase phase;
    struct object o;
    json_t *workloads; /* names */
    json_t *idle;      /* drives that did nothing */
    json_t *devices;   /* what was told of drives, by number of the target */
};

/* Loads the names; show_done() also after a failure. */
int show_init(struct show *show, struct store_access *access,
              const struct query_found *found, struct bytes *into,
              struct diag *diag) MUST_CHECK;
void show_done(struct show *show);

/* What was run and on what, without phases. */
int show_put_head(struct show *show, struct object *o) MUST_CHECK;

/* How a phase was asked for and how it ended, without figures. */
void show_put_outcome(struct object *o, const struct query_phase *phase);

/* All of show->phase into show->o, and show->workloads; show_phase_done()
 * also after a failure. */
int show_phase(struct show *show) MUST_CHECK;
int show_load_workloads(struct show *show) MUST_CHECK;
void show_phase_done(struct show *show);

/* name, host, sd and lun of a drive: an index into plan.targets. */
void show_put_drive_name(struct show *show, struct object *o, uint32_t target);

/* query_histogram.c: "histogram" of show->phase, of these service times; NULL:
 * there are none. */
int show_put_histogram(struct show *show, const struct histogram *read,
                       const struct histogram *write) MUST_CHECK;

/* query_failures.c: "failures" of show->phase. */
int show_put_failures(struct show *show) MUST_CHECK;

/* Who a total or a flag is about. */
void show_put_name(struct show *show, struct object *o, enum record_scope scope,
                   uint32_t item);

/* query_trust.c: show->devices; "device" of a drive; "flags" of the phase. */
int show_load_devices(struct show *show) MUST_CHECK;
void show_put_device(struct show *show, struct object *o, uint32_t target);
int show_put_flags(struct show *show) MUST_CHECK;

/* Reads the CPU and tally columns of a row. */
int show_get_figures(struct show *show, struct statement *s, uint64_t window_ns,
                     struct figures *ret_figures) MUST_CHECK;

#endif
