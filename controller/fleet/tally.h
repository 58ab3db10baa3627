/*
 * tally.h - what a phase has come to so far, from the samples as they come:
 * for the limits that end a phase early (maxdata=, data_errors=) and for the
 * shares that workloads had at a curve's maximum.
 *
 * The figures that people see come from results/; this only decides.
 *
 * Threads: the loop's.  Memory: by value.
 */
#ifndef CONTROLLER_FLEET_TALLY_H
#define CONTROLLER_FLEET_TALLY_H

#include "controller/plan/plan.h"
#include "controller/results/sample.h"

#define TALLY_WORKLOADS_MAX 64u

struct tally {
    uint32_t phase;
    uint64_t bytes[SAMPLE_OPS]; /* of measured intervals */
    uint64_t workload_ios[TALLY_WORKLOADS_MAX];
    uint64_t errors;
    uint64_t span; /* which span of data_errors=(n,seconds), from the start */
    uint64_t span_errors;
    uint64_t *drive_ios; /* of measured intervals, by target of the plan; the
                            campaign's, NULL: nobody wants to know */
    uint32_t drive_count;
};

/* What of a host's samples is counted already: they may come again. */
struct tally_mark {
    uint32_t phase;
    uint64_t next; /* interval, and part below it */
};

/* Forgets all, for a phase that begins; drive_ios stays where it is. */
void tally_begin(struct tally *tally, uint32_t phase);

/* All below the interval is counted by other means. */
void tally_skip(struct tally_mark *mark, uint32_t phase,
                uint64_t next_interval);

/* Counts a sample whose cells are the run's; once. */
void tally_add(struct tally *tally, struct tally_mark *mark,
               const struct plan *plan, uint32_t phase,
               const struct sample *sample);

/*
 * Whether a limit was passed, with the sentence that says so.  `ret_failed`:
 * the campaign fails with it.
 */
bool tally_is_over(const struct tally *tally, const struct plan *plan,
                   bool *ret_failed, char *reason, size_t size) MUST_CHECK;

/*
 * Whether some workload's share of all requests is off by more than `limit`
 * from what was asked, both in per cent, with the sentence that names the one
 * that is off most.  False where there are no requests.
 */
bool tally_skew_is_off(const struct tally *tally, const struct plan_run *run,
                       const double *asked, double limit, char *reason,
                       size_t size) MUST_CHECK;

/* The workloads' shares in per cent of all I/Os; false where there are none. */
bool tally_shares(const struct tally *tally, const struct plan_run *run,
                  double *ret_shares) MUST_CHECK;

#endif
