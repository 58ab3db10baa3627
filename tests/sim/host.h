/*
 * host.h - a host in the fake world: the agent's real session and phase, with
 * a clock of its own, and workers and drives that are not there.
 *
 * The workers are as agent/crew.h promises: they start at their instant if Go
 * has come, close interval after interval by their own clock, stop when told,
 * at the end, or when the lease is over whatever the session does, drain, and
 * tell the session.  A stopped process (SIGSTOP) does nothing at all, and goes
 * on where it was.
 */
#ifndef TESTS_SIM_HOST_H
#define TESTS_SIM_HOST_H

#include "agent/row.h"
#include "agent/session.h"
#include "tests/sim/cable.h"
#include "tests/sim/truth.h"

#define HOST_FRAMES 512u

enum crew {
    CREW_GONE, /* no job */
    CREW_OPENING,
    CREW_WAITING, /* prepared; armed when start_ns is set */
    CREW_GOING,
    CREW_DRAINING,
    CREW_ENDED,
};

struct host_frame {
    uint8_t *body;
    size_t length;
};

struct host_inspect {
    struct uuid campaign;
    uint32_t count; /* 0: none is asked */
};

struct host {
    struct clock clock; /* first: it is its own clock */
    struct world *world;
    struct truth *truth;
    struct cable cable;
    uint32_t index;

    /* Its nature. */
    int64_t clock_base_ns;
    double clock_rate;
    uint64_t lease_ns;
    bool finishes;
    uint64_t prepare_ns;
    double refuses; /* chances, at each phase */
    double sticks;
    double lags; /* its sampler is late by two edges */

    /* Its life. */
    uint8_t instance;
    uint8_t boot;
    uint64_t life;           /* tokens of another life are void */
    struct session *session; /* NULL: the process is dead */
    bool connected;
    uint64_t connection;
    uint64_t tick_ns; /* true time of the next tick put down */
    uint64_t thaw_ns; /* stopped until then */
    struct host_frame inbox[HOST_FRAMES];
    uint32_t inbox_count;
    struct host_inspect inspect;

    /* Its workers. */
    enum crew crew;
    uint64_t work; /* tokens of other work are void */
    const struct job *job;
    uint64_t start_ns; /* its clock; 0: not armed */
    bool may_go;
    uint64_t stop_after;
    uint64_t deadline_ns; /* its clock */
    uint64_t rows;        /* intervals of the rows made */
    uint32_t lag;         /* edges that the sampler will miss */
    uint32_t missed;      /* has missed: its next row spans them */
    struct phase_end end;

    /* Its command. */
    uint64_t errand; /* token; 0: none runs */
    uint64_t errands;
};

void host_init(struct host *host, struct world *world, struct truth *truth,
               uint32_t index);
void host_done(struct host *host);

uint64_t host_clock_ns(const struct host *host, uint64_t true_ns);

/* Starts the process, which dials. */
void host_start(struct host *host);

/* Misfortunes. */
void host_die(struct host *host, bool power, uint64_t notice_ns);
void host_freeze(struct host *host, uint64_t for_ns);

#endif
