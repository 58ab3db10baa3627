/*
 * row.h - one interval: what one host measured in it, and what all did.
 *
 * Intervals count from 0.  A row's number is the last interval it covers;
 * `spans` is how many it covers, itself and those before.  Exactly one cluster
 * row exists for each interval: where a host's sample spans several, the row of
 * the last has all of it and those before are there with `spans` 0, empty.
 *
 * Threads: one owner at a time; made on the loop, written on the store's.
 */
#ifndef CONTROLLER_RESULTS_ROW_H
#define CONTROLLER_RESULTS_ROW_H

#include "controller/results/figures.h"
#include "controller/results/sample.h"

/* A tally pair as the store keeps it: counters, and histograms as blobs. */
struct blob {
    uint8_t *data; /* NULL: empty */
    size_t length;
};

struct packed {
    struct counts n[SAMPLE_OPS];
    struct blob service[SAMPLE_OPS];
    struct blob response[SAMPLE_OPS];
};

/* 0 or -ENOMEM. */
int packed_of(const struct tally_pair *pair,
              struct packed *ret_packed) MUST_CHECK;
void packed_done(struct packed *packed);

/* Adds all of it, as tally_pair_add() does.  -EBADMSG for a damaged blob. */
int packed_add_to(const struct packed *packed,
                  struct tally_pair *into) MUST_CHECK;

/* What one host delivered for one interval, with all its parts. */
struct host_row {
    uint32_t host;
    uint64_t interval;
    uint32_t spans;
    enum sample_kind kind;
    int64_t begin_ns; /* relative to the start, on the controller's clock */
    int64_t end_ns;
    int64_t skew_ns; /* how far its first edge is off, at most */
    int64_t opened_first_ns;
    int64_t opened_last_ns;
    struct cpu_tally cpu;
    struct packed sum;
    struct sample **parts;
    uint32_t part_count;
    /* The cluster's row was closed without it: rebuild that in the store. */
    bool late;
};

/* NULL is fine.  Returns NULL. */
struct host_row *host_row_free(struct host_row *row);

/* One host's part in a cluster row, without its histograms. */
struct row_host {
    uint32_t host;
    bool delivered;
    uint32_t intervals_; /* merge's: how many of the row's it has told about */
    uint32_t samples_;
    struct counts n[SAMPLE_OPS];
    struct cpu_tally cpu;
    /* Service of both operations; NAN where there is nothing, and the
       percentile also where the row has several samples of the host. */
    double mean_us;
    double p99_us;
    double max_us;
};

struct row {
    uint64_t interval;
    uint32_t spans;
    uint32_t revision; /* 0, then 1, 2, ... when late samples reissue it */
    enum sample_kind kind;
    int64_t begin_ns; /* earliest and latest edge of those who delivered; */
    int64_t end_ns;   /* begin above end while nobody did */
    int64_t skew_ns;
    uint32_t hosts_expected; /* all that take part in the phase */
    uint32_t hosts_delivered;
    struct cpu_tally cpu;
    struct tally_pair sum;
    struct tally_pair *workloads;
    uint32_t workload_count;
    struct row_host *hosts; /* hosts_expected of them, by number */
};

struct layout;

/* An empty one of an interval, with all hosts that take part.  NULL without
 * memory. */
struct row *row_new(const struct layout *layout, uint64_t interval,
                    enum sample_kind kind);

/*
 * Adds a host's row, whose sum, also by workload, comes with it; `intervals`
 * of the row's it tells about.  What was in flight at an edge within the row is
 * left out, and taken out of `sum` and `workloads`.  -ENOMEM, -EOVERFLOW: the
 * row is then not what it should be.
 */
int row_add(struct row *row, const struct host_row *from,
            struct tally_pair *sum, struct tally_pair *workloads,
            uint32_t intervals, struct histogram *scratch) MUST_CHECK;

/* `later` takes the row of the intervals right before into itself.  Errors as
 * row_add(). */
int row_join(struct row *later, struct row *earlier) MUST_CHECK;

/* The host's part; the host must take part. */
struct row_host *row_host_of(struct row *row, uint32_t host);

/* Says who has delivered all of it.  Returns the row. */
struct row *row_finish(struct row *row);

/* NULL is fine.  Returns NULL. */
struct row *row_free(struct row *row);

static inline void row_freep(struct row **row)
{
    (void)row_free(*row);
}

/* The common window, see figures.h; 0 while nobody delivered. */
uint64_t row_window_ns(const struct row *row);

/* Its edges are off by more than 5 % of an interval. */
bool row_is_skewed(const struct row *row, uint64_t interval_ns);

/* It is shorter than 95 % of what it covers: left out of the least and the
 * most of a run. */
bool row_is_partial(const struct row *row, uint64_t interval_ns);

#endif
