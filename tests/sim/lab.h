/*
 * lab.h - the controller of the fake world, whole: the real fleet with its
 * sessions, conductor, results and store (SQLite, without threads), hosts with
 * real agents' sessions, and a shell that submits a campaign and watches it.
 */
#ifndef TESTS_SIM_LAB_H
#define TESTS_SIM_LAB_H

#include "controller/fleet/fleet.h"
#include "tests/sim/host.h"

#define LAB_HOSTS 6u
#define LAB_RUNS  3u

enum lab_mood {
    LAB_CALM,    /* nothing goes wrong */
    LAB_GENTLE,  /* short cuts while phases run */
    LAB_STALLED, /* frames are slow around the start */
    LAB_STOPPED, /* the operator stops it */
    LAB_CRASHED, /* the controller is killed and started again, in time */
    LAB_FELLED,  /* the same, beyond the leases */
    LAB_ROUGH,   /* everything */
};

/* One connection at the controller; kept until the end. */
struct lab_port {
    struct lab *lab;
    uint32_t host; /* LAB_HOSTS: the shell */
    uint64_t connection;
    struct link *link; /* NULL: over */
    struct lab_port *next;
};

enum lab_verdict {
    LAB_NONE,
    LAB_COMPLETE,
    LAB_DEGRADED,
    LAB_FAILED,
    LAB_INTERRUPTED,
    LAB_VERDICTS,
};

struct lab_run {
    uint64_t warmup_s;
    uint64_t elapsed_s;
};

struct lab {
    struct world world;
    struct truth truth;
    enum lab_mood mood;
    struct fleet *fleet; /* NULL: the controller is down */
    char store[PATH_SIZE];
    uint64_t tick_ns;
    uint64_t store_ns; /* how late the store's work is done */
    struct host hosts[LAB_HOSTS];
    uint32_t host_count;
    struct lab_run runs[LAB_RUNS];
    uint32_t run_count;
    struct lab_port *ports;
    struct lab_port *shell;
    uint64_t shells; /* so many times it has connected */
    struct lab_news *news;
    bool submitted;
    bool stopped;
    uint64_t stopped_ns;
    uint32_t crashes_left; /* of the menu */
    int crash_at;          /* at the next frame of this kind; 0: none */
    uint32_t crash_after;  /* so many of them later */
    bool dying;            /* nothing goes out any more */
    bool over;             /* the event "end" came */
    bool checked;          /* and what is stored is what happened */
    enum lab_verdict verdict;
    uint32_t phases_ended;
    uint64_t lease_ns;
};

/* A store, a controller and hosts that are off.  `directory` is for the store,
 * which is new. */
void lab_init(struct lab *lab, uint64_t seed, enum lab_mood mood,
              const char *directory);
void lab_done(struct lab *lab);

/* Asks for what is stored; lab->checked when it was found to be true. */
void lab_check(struct lab *lab);

/* The shell's words. */
void lab_submit(struct lab *lab);
void lab_stop_campaign(struct lab *lab);

/* kill -9: what the store has not committed is gone with all else.  It is
 * started again after `dark_ns`. */
void lab_crash(struct lab *lab, uint64_t dark_ns);

/* How long it stays away, as the mood has it. */
uint64_t lab_dark_ns(struct lab *lab);

/* The controller dies while it handles, or is about to send, the frame: of
 * those to send the rest is lost.  Returns whether it does. */
bool lab_crash_point(struct lab *lab, int frame_kind);

/* Whether the host's agent has been welcomed. */
bool lab_is_up(const struct lab *lab, uint32_t host);

/* What the controller would close after its limit of silence. */
void lab_tick_soon(struct lab *lab);

#endif
