/*
 * merge_inside.h - what the files of merge share, and nobody else sees.
 */
#ifndef CONTROLLER_RESULTS_MERGE_INSIDE_H
#define CONTROLLER_RESULTS_MERGE_INSIDE_H

#include "controller/results/merge.h"

enum merge_host_state {
    HOST_EXPECTED,
    HOST_FINISHED,
    HOST_LOST,
};

/* A sample of which some parts are missing. */
struct pending {
    struct sample **parts; /* NULL: free */
    uint32_t part_count;
    uint32_t seen;
    uint64_t interval;
    enum sample_kind kind;
};

struct merge_host {
    enum merge_host_state state;
    uint64_t finished; /* its number of intervals */
    uint64_t next;     /* all below were delivered */
    bool drained;
    struct pending pending[MERGE_PENDING_MAX];
};

struct merge {
    const struct layout *layout;
    struct merge_timing timing;
    uint64_t start_ns;
    bool started;
    bool ended;
    bool forgotten;           /* see merge_forget() */
    struct merge_host *hosts; /* layout->host_count */
    /* The rows of the intervals from `closed` on, one after the other without
       a gap. */
    struct row *open[MERGE_OPEN_MAX];
    uint32_t open_count;
    uint32_t open_max;
    uint64_t closed;
    uint64_t forced; /* rows that begin below close at once */
    struct row *drain;
    bool drain_closed;
    /* One sample's sum, by workload and all together. */
    struct tally_pair *workloads;
    struct tally_pair sum;
    struct histogram both;
};

static inline uint64_t merge_first_of(const struct sample *sample)
{
    return sample->interval + 1 - sample->spans;
}

/* merge_parts.c: could the sample be true?  0 or -EPROTO. */
int merge_check(const struct merge *merge, const struct sample *sample,
                struct diag *diag) MUST_CHECK;

/*
 * merge_parts.c: puts the part to the others.  1 with the sample whole, 0 while
 * parts are missing, -EALREADY for a part that is there, -EPROTO, -ENOMEM.
 */
int merge_collect(struct merge *merge, struct sample *sample,
                  struct pending **ret_pending, struct diag *diag) MUST_CHECK;

/* Forgets the parts; those that are still in it are freed. */
void merge_pending_done(struct pending *pending);

/*
 * merge_rows.c: adds a host's row, whose sum is in merge's scratch, to the
 * cluster's, or finds that it is too late for it and marks it so.
 */
void merge_place(struct merge *merge, struct host_row *row);

#endif
