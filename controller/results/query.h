/*
 * query.h - documents from the store alone.
 *
 * Threads: the store's reader; each call sees one state of the store.
 */
#ifndef CONTROLLER_RESULTS_QUERY_H
#define CONTROLLER_RESULTS_QUERY_H

#include "controller/results/columns.h"
#include "controller/results/document.h"
#include "controller/results/statement.h"

/* Rows of a phase that WATCH tells: the last so many. */
#define QUERY_ROWS_MAX 1000u

struct query_found {
    uint64_t number;
    struct uuid id;
    enum results_state state;
    enum verdict verdict;
};

/*
 * Which campaign `text` is: a number, a unique beginning of a UUID (with or
 * without its dashes), "" the newest.  -ENOENT, -EINVAL (several begin so).
 */
int query_find(struct store_access *access, const char *text,
               struct query_found *ret_found, struct diag *diag) MUST_CHECK;

/* Each appends one document. */
int query_audit(struct store_access *access, struct bytes *into,
                struct diag *diag) MUST_CHECK;
int query_campaigns(struct store_access *access, struct bytes *into,
                    struct diag *diag) MUST_CHECK;
int query_status(struct store_access *access, const struct query_found *found,
                 int64_t now_wall_ns, struct bytes *into,
                 struct diag *diag) MUST_CHECK;
int query_watch(struct store_access *access, const struct query_found *found,
                int64_t now_wall_ns, struct bytes *into,
                struct diag *diag) MUST_CHECK;
int query_show(struct store_access *access, const struct query_found *found,
               struct bytes *into, struct diag *diag) MUST_CHECK;

/* SHOW, of which phases have the cluster's total and no other figures. */
int query_runs(struct store_access *access, const struct query_found *found,
               struct bytes *into, struct diag *diag) MUST_CHECK;

/* The newest interval that somebody delivered, drive by drive. */
int query_live(struct store_access *access, const struct query_found *found,
               bool cells, struct bytes *into, struct diag *diag) MUST_CHECK;

/* Which piece of a campaign. */
struct query_export {
    uint32_t phase; /* from 1; 0: the head */
    uint64_t from;  /* first interval of the page, from 0 */
    bool parts;     /* rows of hosts and workloads, too */
};

int query_export(struct store_access *access, const struct query_found *found,
                 const struct query_export *asked, struct bytes *into,
                 struct diag *diag) MUST_CHECK;

/* ---- For the files of query ------------------------------------------------
 */

/* A phase's row in the store.  Texts live until the next step. */
struct query_phase {
    struct document_phase asked;
    uint64_t id;
    uint32_t state;
    enum verdict verdict;
    const char *error;
    int64_t started_ns;
    int64_t ended_ns;
    int64_t uncertainty_ns; /* -1: not known, as the next */
    int64_t spread_ns;
    int64_t begin_ns; /* of the window; begin above end: none */
    int64_t end_ns;
    int64_t overlap_ns;
    uint64_t warmup_intervals;
    uint64_t measured_intervals;
    uint64_t intervals;
    uint64_t layout; /* 0: it never began */
};

/* The columns that query_get_phase() reads, with the table named p. */
extern const char query_phase_by_campaign[]; /* ?1 campaign */
extern const char query_phase_at_hand[];     /* ?1 campaign */
extern const char query_phase_by_number[];   /* ?1 campaign, ?2 from 0 */

void query_get_phase(struct statement *s, const struct query_found *found,
                     uint32_t phases, struct query_phase *ret_phase);

/* The layout of a phase and the names of its workloads (a JSON array; decref
 * it).  1 with both, 0 for a phase that never began. */
struct layout;
int query_layout(struct store_access *access, uint64_t layout,
                 struct layout **ret_layout, json_t **ret_workloads,
                 struct diag *diag) MUST_CHECK;

/* How many drives of the campaign have a cell in it. */
uint32_t query_count_drives(const struct layout *layout);

int query_count_phases(struct store_access *access, uint64_t campaign,
                       uint32_t *ret_phases, uint32_t *ret_done,
                       struct diag *diag) MUST_CHECK;

/* Keys of a campaign; of its state, too. */
int query_put_head(struct store_access *access, uint64_t campaign,
                   struct object *o, struct diag *diag) MUST_CHECK;
int query_put_status(struct store_access *access,
                     const struct query_found *found, int64_t now_wall_ns,
                     struct object *o, struct diag *diag) MUST_CHECK;

/* Planned time of the runs that have not begun; what is left of one. */
int query_planned_ns(struct store_access *access, uint64_t campaign,
                     uint64_t *ret_ns, struct diag *diag) MUST_CHECK;
uint64_t query_left_ns(const struct query_phase *phase, int64_t now_wall_ns);

/* Names of a campaign's hosts and drives, by number. */
struct query_names {
    char **hosts;
    uint32_t host_count;
    struct query_drive {
        uint32_t host;
        char *sd;
        char *path;
    } * drives;
    uint32_t drive_count;
};

int query_names_load(struct store_access *access, uint64_t campaign,
                     struct query_names *ret_names,
                     struct diag *diag) MUST_CHECK;
void query_names_done(struct query_names *names);
const char *query_host_name(const struct query_names *names, uint32_t host);

/* The columns that query_get_row() reads: a row of the cluster without its
 * hosts.  `ret_missing` lives until the next step; row.sum is to be done. */
#define QUERY_ROW_COLUMNS                                                      \
    "interval, revision, kind, spans, coalesce(begin_ns, 1), "                 \
    "coalesce(end_ns, 0), skew_ns, hosts_delivered, hosts_expected, "          \
    "missing, " COLUMNS_CPU ", " COLUMNS_TALLY

int query_get_row(struct statement *s, struct row *ret_row,
                  const char **ret_missing, struct diag *diag) MUST_CHECK;

/* "3 17" as an array of names. */
json_t *query_missing(const struct query_names *names, const char *numbers);

#endif
