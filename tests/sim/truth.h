/*
 * truth.h - what really happened in the fake world, kept by nobody in it: who
 * did I/O when, on the true time.
 */
#ifndef TESTS_SIM_TRUTH_H
#define TESTS_SIM_TRUTH_H

#include "tests/sim/world.h"

#define TRUTH_HOSTS  16u
#define TRUTH_PHASES 8u

struct truth_part {
    uint64_t epoch;     /* of the Prepare: a phase may be begun anew */
    uint64_t opened_ns; /* 0: its I/O never began */
    uint64_t stopped_ns;
    uint64_t rows;         /* made, the drain row included */
    uint64_t ios;          /* of all of them */
    uint64_t measured_ios; /* of those that are neither warm-up nor drain */
    bool late;             /* by its own clock: it was stopped at the instant */
    bool complete;         /* it did all that was asked, and nothing stuck */
};

struct truth {
    struct world *world;
    struct truth_part parts[TRUTH_PHASES][TRUTH_HOSTS];
    uint32_t hosts;
    uint32_t writing;       /* a bit for each host that does I/O */
    uint32_t writing_phase; /* while any does, as the next */
    uint64_t writing_epoch;
    bool ended; /* the campaign: nobody may write any more */
};

void truth_init(struct truth *truth, struct world *world, uint32_t hosts);

/* I/O begins and has ended, in flight included.  Two phases never overlap, nor
 * do two tries of one. */
void truth_opens(struct truth *truth, uint32_t host, uint32_t phase,
                 uint64_t epoch);
void truth_stops(struct truth *truth, uint32_t host, uint32_t phase);

/* The process is stopped, and goes on. */
void truth_pauses(struct truth *truth, uint32_t host);
void truth_resumes(struct truth *truth, uint32_t host, uint32_t phase);

#endif
