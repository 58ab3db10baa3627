/*
 * memory.h - what a campaign leaves in the store for a controller that is
 * started again: texts for results_remember(), and back.
 *
 *   name        of        written                     holds
 *   origin      campaign  before the submit is        what the plan was made of
 *                         answered                    beside the files
 *   quiet       campaign  as hosts come               how long they may act
 *                                                     without us
 *   stopped     campaign  at an operator's word       whose it was
 *   starts      phase     with the start              who got Go, and when
 *   ending      phase     when it is settled          how the phase is to end
 *   finished    host      before it is acknowledged   how a host's phase ended
 *   carry       phase     before its verdict          what later phases need
 *
 * Whatever a campaign must know in a later phase belongs into `carry`.
 *
 * Pure.  Texts to be written are the caller's, freed with free(); NULL without
 * memory.  What is read lives in the arena.  Reading gives 0, -EBADMSG for what
 * this program did not write, or -ENOMEM.
 * Threads: none of its own.
 */
#ifndef CONTROLLER_FLEET_MEMORY_H
#define CONTROLLER_FLEET_MEMORY_H

#include "controller/conduct/conduct.h"
#include "controller/fleet/tally.h"
#include "controller/plan/plan.h"

#define MEMORY_ORIGIN   "origin"
#define MEMORY_QUIET    "quiet"
#define MEMORY_STOPPED  "stopped"
#define MEMORY_STARTS   "starts"
#define MEMORY_ENDING   "ending"
#define MEMORY_FINISHED "finished"
#define MEMORY_CARRY    "carry"

struct arena;

struct memory_origin {
    bool *included; /* of each file: only where an include= names it */
    uint32_t file_count;
    struct plan_agent *agents; /* of each host; drives, where drive= chose */
    uint32_t agent_count;
    struct plan_facts *facts; /* of each target */
    uint32_t fact_count;
    uint64_t fingerprint; /* of the plan that came of it */
};

char *memory_origin_text(const struct memory_origin *origin) MUST_CHECK;
int memory_origin_read(const char *text, struct arena *arena,
                       struct memory_origin *ret_origin) MUST_CHECK;

struct memory_starts {
    struct uuid boot; /* of the controller's host: whose clock it was */
    uint64_t epoch;   /* of the Prepares */
    struct conduct_start *hosts;
    uint32_t host_count;
};

char *memory_starts_text(const struct memory_starts *starts) MUST_CHECK;
int memory_starts_read(const char *text, struct arena *arena,
                       struct memory_starts *ret_starts) MUST_CHECK;

struct memory_ending {
    enum conduct_ending ending;
    enum conduct_verdict verdict;
    uint64_t stop_after;
    const char *reason;
};

char *memory_ending_text(const struct memory_ending *ending) MUST_CHECK;
int memory_ending_read(const char *text, struct arena *arena,
                       struct memory_ending *ret_ending) MUST_CHECK;

char *memory_finish_text(const struct conduct_finish *finish) MUST_CHECK;
int memory_finish_read(const char *text, struct arena *arena,
                       struct conduct_finish *ret_finish) MUST_CHECK;

struct memory_carry {
    struct conduct_memory conduct;
    bool shares_known; /* of workloads at a curve's maximum */
    double shares[TALLY_WORKLOADS_MAX];
    double *drives; /* what each did at a curve's maximum; none: not asked */
    uint32_t drive_count;
};

char *memory_carry_text(const struct memory_carry *carry) MUST_CHECK;
int memory_carry_read(const char *text, struct arena *arena,
                      struct memory_carry *ret_carry) MUST_CHECK;

/* The same plan gives the same; another hardly ever does. */
uint64_t memory_fingerprint(const struct plan *plan);

#endif
