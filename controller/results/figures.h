/*
 * figures.h - what is counted, and every figure that is made of it.
 *
 * A *tally* is what is counted of one operation (reads, or writes) in one
 * scope (a cell, drive, host, workload, or the cluster) over some time.  A
 * *pair* is both operations.  Tallies add up, exactly: figures never do.  So
 * figures are made last, from the sum, and nowhere else: table, JSON, CSV and
 * page all print what figures_of() says.
 *
 * The definitions, used for an interval as for a run:
 *   window     from the earliest begin to the latest end among all hosts that
 *              are in the sum, on the controller's clock.  One window for all
 *              scopes of a row: host rates add up to the cluster's rate.
 *   iops       ios / window.  Only I/Os that ended without error count.
 *   mib_s      bytes / 2^20 / window.
 *   read_pct   reads / ios x 100.
 *   bytes_per_io  bytes / ios.
 *   service    submission to completion.  Of merged histograms, always.
 *   response   intended start to completion; a closed loop has none.
 *   mean, stddev, min, max  exact, from sums kept in 128 bits (stddev of the
 *              population).
 *   percentile the upper edge of its bucket, at most 1/128 above the true
 *              value, within [min, max]; nothing where fewer than ten values
 *              lie beyond it.
 *   queue_depth  mean requests in flight, by Little's law: sum of service times
 *              / window.  What did not complete in the window is not in it.
 *   agent_cpu  CPU time of the agents / window: 100 % is one CPU.
 *   busiest_worker  CPU time of the worker's thread that used most, interval
 *              by interval / window: at 100 % the generator is the limit.
 *   late       open loop: from the instant at which an arrival was due and a
 *              thread free, to its submission; mean over the arrivals issued.
 *   holds, held  how often and for how long in all the kernel kept a worker
 *              more than a millisecond beyond what it had asked to wait.
 *   host_cpu   busy time of the hosts' CPUs / all the time they had.
 *   response is a lower bound when arrivals that were due have not been issued
 *              (`unissued`): their waiting is in no histogram.
 *
 * NAN: there is nothing to say, here and in every double of this room;
 * documents print null.
 *
 * Threads: none of its own.  Memory: tallies allocate histograms as needed
 * (40 KiB each); tally_done() frees them.
 */
#ifndef CONTROLLER_RESULTS_FIGURES_H
#define CONTROLLER_RESULTS_FIGURES_H

#include "common/histogram.h"
#include "controller/results/sample.h"

/* Sums and gauges of one operation. */
struct counts {
    uint64_t ios;
    uint64_t bytes;
    uint64_t errors;
    /* At the edge of the interval; of a run, at its last edge. */
    uint64_t in_flight;
    uint64_t oldest_ns; /* the largest */
    uint64_t unissued;
    uint64_t unissued_oldest_ns;
    uint64_t issued; /* arrivals of an open loop */
    uint64_t late_ns;
    uint64_t late_max_ns; /* the largest */
};

struct tally {
    struct counts n;
    struct histogram *service; /* NULL: none yet */
    struct histogram *response;
};

struct tally_pair {
    struct tally op[SAMPLE_OPS];
};

/* CPU time of one host, or of several together, and what kept the workers from
 * going on. */
struct cpu_tally {
    uint64_t host_ns;
    uint64_t system_ns;
    uint64_t capacity_ns;
    uint64_t agent_ns;
    uint64_t worker_ns; /* the busiest worker; of several hosts, of all */
    uint64_t holds;
    uint64_t held_ns;
    uint64_t refused;
};

struct counts counts_of(const struct sample_cell *cell);
struct cpu_tally cpu_tally_of(const struct sample_host *host);

/* All of `from` is added: counters saturate, the oldest is the oldest. */
void counts_add(struct counts *into, const struct counts *from);

/* The same one after the other in time: gauges become those of `from`. */
void counts_follow(struct counts *into, const struct counts *from);

/* What was in flight or waited at an edge is no more. */
void counts_clear_gauges(struct counts *counts);

/* All zero is an empty tally.  Frees the histograms and makes it empty. */
void tally_done(struct tally *tally);
void tally_pair_done(struct tally_pair *pair);

/* Empty again, with the histograms kept for the next use. */
void tally_pair_reset(struct tally_pair *pair);

/*
 * Adds all of `from`.  0; -ENOMEM; -EOVERFLOW where a histogram would come to
 * 2^62 values, which no drive does but a hostile agent may say.  `into` may
 * have some of it then: give it up.
 */
int tally_pair_add(struct tally_pair *into,
                   const struct tally_pair *from) MUST_CHECK;

/* Adds the values of a blob to a histogram that is made when it is needed.
 * 0, -ENOMEM, -EOVERFLOW, -EBADMSG (no histogram, or not `count` values). */
int tally_add_blob(struct histogram **into, const uint8_t *blob, size_t length,
                   uint64_t count) MUST_CHECK;

/* The same for the response times of a sum, in which some workloads may be
 * closed loops without any: up to `count` values, or no blob at all. */
int tally_add_responses(struct histogram **into, const uint8_t *blob,
                        size_t length, uint64_t count) MUST_CHECK;

/* Of another host, at the same time. */
void cpu_tally_add(struct cpu_tally *into, const struct cpu_tally *from);

/* Of the same hosts, later. */
void cpu_tally_follow(struct cpu_tally *into, const struct cpu_tally *from);

struct latency_figures {
    uint64_t count;
    uint64_t overflow; /* longer than 19.5 hours: in max and mean alone */
    double mean_us;
    double min_us;
    double p50_us;
    double p90_us;
    double p99_us;
    double p999_us;
    double p9999_us;
    double max_us;
    double stddev_us;
};

struct op_figures {
    uint64_t ios;
    uint64_t bytes;
    uint64_t errors;
    double iops;
    double mib_s;
    struct latency_figures service;
    struct latency_figures response;
};

struct figures {
    struct op_figures all;
    struct op_figures read;
    struct op_figures write;
    bool open_loop; /* response means something */
    bool response_lower_bound;
    double read_pct;
    double bytes_per_io;
    double queue_depth;
    uint64_t in_flight;
    double oldest_us; /* NAN while nothing is in flight */
    uint64_t unissued;
    double unissued_oldest_us;
    double late_mean_us;
    double late_max_us;
    uint64_t holds; /* these three: only where the CPU figures are */
    double held_us;
    uint64_t refused;
    bool has_cpu;
    double busiest_worker_pct;
    double agent_cpu_pct;
    double host_cpu_pct;
    double host_system_pct;
};

/* Per second; NAN without a window. */
double rate_of(uint64_t count, uint64_t window_ns);

/* part / whole x 100; NAN where the whole is 0. */
double share_pct(uint64_t part, uint64_t whole);

/* Of nothing (NULL, or no values): all NAN, count 0. */
void latency_figures_of(const struct histogram *h,
                        struct latency_figures *ret_figures);

/*
 * `window_ns` 0: no rates.  `cpu` NULL: no CPU figures.  `scratch` is a
 * histogram of the caller's, in use or initialised, for the sum of both
 * operations.
 */
void figures_of(const struct tally_pair *pair, uint64_t window_ns,
                bool open_loop, const struct cpu_tally *cpu,
                struct histogram *scratch, struct figures *ret_figures);

#endif
