/*
 * offset.h - how far an agent's monotonic clock is from the controller's.
 *
 * What it is for: the start of a phase is one instant of the controller's
 * clock; each agent is told the reading of its own clock at that instant.  And
 * back: an agent's stamps become instants of the controller's clock.
 *
 * The promise: the true offset is never further from the estimate than the
 * uncertainty stated with it, whatever part of a round trip each direction
 * took, as long as the two clocks drift apart by no more than 200 ppm.
 *
 * How: a probe leaves at `sent` and is back at `arrived` on the controller's
 * clock; in between, the agent read `received` and `returned` on its own.  The
 * message cannot have arrived before it was sent, so the offset lies between
 * returned - arrived and received - sent: a window half as wide as the round
 * trip on either side of its middle.  With age the window widens by 200 ppm.
 * Of the last OFFSET_PROBES probes the one with the narrowest window at the
 * instant asked for is used.
 *
 * offset = agent's clock - controller's clock.  All times in nanoseconds.
 *
 * Threads: one owner.  Memory: by value, 2 KiB, no allocation.
 */
#ifndef CONTROLLER_CONDUCT_OFFSET_H
#define CONTROLLER_CONDUCT_OFFSET_H

#include "common/base.h"

#define OFFSET_PROBES    64u
#define OFFSET_DRIFT_PPM 200u

struct offset_probe {
    uint64_t sent;     /* controller's clock, beside the write */
    uint64_t received; /* agent's clock, beside the read */
    uint64_t returned; /* agent's clock, beside the write */
    uint64_t arrived;  /* controller's clock, beside the read */
};

struct offset_estimate {
    int64_t offset_ns;
    uint64_t uncertainty_ns;
};

/* What a probe told. */
struct offset_window {
    uint64_t sent;
    uint64_t arrived;
    int64_t offset_ns;
    uint64_t half_ns;
};

/* Read the fields if you like; write them only through the functions. */
struct offset {
    struct offset_window windows[OFFSET_PROBES];
    uint32_t count;  /* windows in use */
    uint32_t next;   /* where the next one goes */
    uint64_t probes; /* taken since init or the last break */
    uint32_t breaks; /* how often the clock was found to have jumped */
};

void offset_init(struct offset *offset);

/*
 * Takes a probe's answer.  Returns 0; 1 when it contradicts what earlier probes
 * proved (the agent's clock jumped, or stood still, as in a suspended guest),
 * upon which those are forgotten; -EBADMSG for stamps that cannot be: backwards
 * or longer between than the round trip took.
 */
int offset_take(struct offset *offset,
                const struct offset_probe *probe) MUST_CHECK;

/* What was known at an instant, by probes that are not told any more.  It
 * counts as none. */
void offset_seed(struct offset *offset, uint64_t controller_ns,
                 const struct offset_estimate *estimate);

/*
 * The offset at an instant of the controller's clock, before or after now.
 * Returns false while there is no probe.
 */
bool offset_at(const struct offset *offset, uint64_t controller_ns,
               struct offset_estimate *ret_estimate) MUST_CHECK;

/* The agent's reading at an instant of the controller's clock. */
bool offset_to_agent(const struct offset *offset, uint64_t controller_ns,
                     uint64_t *ret_agent_ns,
                     struct offset_estimate *ret_estimate) MUST_CHECK;

/* The controller's instant of an agent's reading. */
bool offset_to_controller(const struct offset *offset, uint64_t agent_ns,
                          uint64_t *ret_controller_ns,
                          struct offset_estimate *ret_estimate) MUST_CHECK;

/* Longest round trip of the last OFFSET_PROBES probes; 0 without any. */
uint64_t offset_round_trip_max_ns(const struct offset *offset);

#endif
