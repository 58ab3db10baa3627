/*
 * record.h - what is written to the store: one function for each thing that
 * happens, all within the transaction of the writer's group.
 *
 * Campaigns and phases are named by the numbers of their rows here.  `wall_ns`
 * is for people.  `diag` says why when a negative errno comes back; then the
 * whole group is rolled back.
 *
 * Threads: the store's writer.
 */
#ifndef CONTROLLER_RESULTS_RECORD_H
#define CONTROLLER_RESULTS_RECORD_H

#include "controller/results/layout.h"
#include "controller/results/results.h"
#include "controller/results/row.h"
#include "controller/results/store.h"

/* The numbers in the tables' columns; never changed once shipped. */
enum record_scope {
    RECORD_CLUSTER = 0,
    RECORD_HOST = 1,
    RECORD_DRIVE = 2,
    RECORD_WORKLOAD = 3,
};

enum record_phase_state {
    RECORD_PHASE_PLANNED = 0,
    RECORD_PHASE_RUNNING = 1,
    RECORD_PHASE_DONE = 2,
    RECORD_PHASE_SKIPPED = 3,
};

/* record_campaign.c */

struct record_origin {
    uint64_t campaign;
    const char *version; /* of the program */
    uint64_t epoch;
    int64_t wall_ns;
};

int record_campaign(struct store_access *access,
                    const struct record_origin *origin,
                    const struct results_campaign *campaign,
                    struct diag *diag) MUST_CHECK;

/* The phases get the numbers from `first_phase` on. */
int record_plan(struct store_access *access, uint64_t campaign,
                uint64_t first_phase, const struct plan *plan,
                const struct results_host *hosts,
                const struct results_drive *drives,
                struct diag *diag) MUST_CHECK;

/* See results_remember(). */
int record_memory(struct store_access *access, uint64_t campaign,
                  const struct results_memory *memory,
                  struct diag *diag) MUST_CHECK;

int record_campaign_state(struct store_access *access, uint64_t campaign,
                          enum results_state state, const char *note,
                          int64_t wall_ns, struct diag *diag) MUST_CHECK;

int record_command(struct store_access *access, uint64_t campaign,
                   const struct results_command *command, int64_t wall_ns,
                   struct diag *diag) MUST_CHECK;

/* COMPLETE becomes degraded where a phase was not complete; `ret_verdict` and
 * `ret_error` (NULL: none; a literal or `error`) are what is stored.  Phases
 * that are not over end with it. */
int record_campaign_end(struct store_access *access, uint64_t campaign,
                        enum verdict verdict, const char *error,
                        int64_t wall_ns, enum verdict *ret_verdict,
                        const char **ret_error, struct diag *diag) MUST_CHECK;

/* record_phase.c */

struct record_begin {
    uint64_t phase;
    uint64_t campaign;
    const struct results_phase *asked;
    uint64_t layout; /* its number; known already when `cells` is NULL */
    const uint8_t *cells;
    size_t cells_length;
    const char *workloads; /* JSON: their names */
    int64_t wall_ns;
};

int record_phase_begin(struct store_access *access,
                       const struct record_begin *begin,
                       struct diag *diag) MUST_CHECK;
int record_phase_started(struct store_access *access, uint64_t phase,
                         uint64_t start_ns, uint64_t uncertainty_ns,
                         int64_t wall_ns, struct diag *diag) MUST_CHECK;
int record_host_ready(struct store_access *access, uint64_t phase,
                      uint32_t host, const char *engine, const char *placement,
                      struct diag *diag) MUST_CHECK;
int record_host_finished(struct store_access *access, uint64_t phase,
                         uint32_t host, uint64_t intervals,
                         const struct results_stuck *stuck,
                         uint32_t stuck_count, struct diag *diag) MUST_CHECK;
/* `reason` NULL: it is back. */
int record_host_lost(struct store_access *access, uint64_t phase, uint32_t host,
                     uint64_t interval, const char *reason,
                     struct diag *diag) MUST_CHECK;
int record_phase_verdict(struct store_access *access, uint64_t phase,
                         enum record_phase_state state, enum verdict verdict,
                         const char *error, int64_t wall_ns,
                         struct diag *diag) MUST_CHECK;

/* record_row.c */

/* `ret_fresh`: false when the store had it already. */
int record_host_row(struct store_access *access, uint64_t phase,
                    const struct host_row *row, bool *ret_fresh,
                    struct diag *diag) MUST_CHECK;

/* record_failure.c: what failed in a row that is fresh. */
int record_failures(struct store_access *access, uint64_t phase,
                    const struct layout *layout, const struct host_row *row,
                    struct diag *diag) MUST_CHECK;

int record_row(struct store_access *access, uint64_t phase,
               const struct row *row, struct diag *diag) MUST_CHECK;

/* rebuild.c */

/*
 * Makes the cluster's rows that a host's row belongs to, from all host rows in
 * the store, as their next revision.  `ret_row` is the one that holds it; NULL
 * where the phase's beginning was never stored.
 */
int record_rebuild(struct store_access *access, uint64_t phase,
                   const struct host_row *late, struct row **ret_row,
                   struct diag *diag) MUST_CHECK;

/* After a group that could not be written: rows may have in them what the store
 * has not.  All are made anew by record_rebuild_missing(). */
int record_forget_rows(struct store_access *access, uint64_t phase,
                       struct diag *diag) MUST_CHECK;

/* Makes the rows that host rows of the store lack, e.g. after a crash.  A phase
 * that never began has none. */
int record_rebuild_missing(struct store_access *access, uint64_t phase,
                           struct diag *diag) MUST_CHECK;

#endif
