/*
 * stage.h - the controller of the fake world: the real conductor, and what in
 * the real controller stands around it (sessions, the store, totals) made
 * small.  It carries out effects, brings events, and checks after each that
 * what is decided fits what is true.
 */
#ifndef TESTS_SIM_STAGE_H
#define TESTS_SIM_STAGE_H

#include "controller/conduct/conduct.h"
#include "tests/sim/model.h"
#include "tests/support/plans.h"

#define STAGE_HOSTS 8u
#define STAGE_ROWS  MODEL_ROWS

enum mood {
    MOOD_CALM,    /* nothing goes wrong */
    MOOD_GENTLE,  /* short cuts, in running phases only */
    MOOD_STALLED, /* Starts and their answers are slow */
    MOOD_STOPPED, /* the operator stops it, and Abort gets lost */
    MOOD_ROUGH,   /* everything, at any time */
};

/* Whose connection a message came by. */
struct port {
    struct stage *stage;
    uint32_t host;
};

struct session {
    bool up;
    uint64_t connection;
    uint64_t probe_sent;
    uint64_t started_for; /* the instant that it was last told */
    uint64_t armed_for;   /* and the one it last answered for */
};

struct rows {
    bool stored[STAGE_ROWS];
    uint64_t ios[STAGE_ROWS];
    uint64_t next;
    bool finished; /* Finished came */
    uint64_t drain_row;
    bool complete;
    bool stuck;
};

struct stage {
    struct world world;
    struct truth truth;
    struct plans plans;
    struct conduct_options options;
    struct conductor *conductor;
    struct model models[STAGE_HOSTS];
    struct session sessions[STAGE_HOSTS];
    struct rows rows[PLANS_RUNS][STAGE_HOSTS];
    uint32_t hosts;
    enum mood mood;
    uint64_t lease_ns;
    uint64_t store_ns; /* how long a commit takes */
    uint64_t tick_ns;  /* the next one put down */
    bool stopped;
    uint64_t stopped_ns;
    uint64_t stop_after; /* UINT64_MAX: the phase was not ended early */
    bool failing_total;
    bool over;
    uint32_t phases_ended;
    enum conduct_verdict verdict;
    uint64_t start_ns; /* of the phase at hand */
    uint64_t uncertainty_ns;
    struct port ports[STAGE_HOSTS];
};

/* Takes and carries out the conductor's effects; after every event. */
void stage_carry_out(struct stage *stage);

/* Connects the ports to the models' cables. */
void stage_listen(struct stage *stage);

/* The controller closes on a host that has been silent, if it still has that
 * connection. */
void stage_hang_up(struct stage *stage, uint32_t host, uint64_t connection);

#endif
