/*
 * trust.h - when the figures of a phase say more about the generator, or about
 * a drive that was not itself, than about the drives.
 *
 * Rules on the sums of a phase; they never change its verdict.  A flag has a
 * word, what it is about (a host or a drive), and a text with the figures.
 *
 *   worker_busy     a host's busiest worker used 95 % of a CPU: a closed loop
 *                   is as fast as the generator, an open one near its end.
 *   host_busy       all CPUs of a host were busy for 95 % of their time.
 *   late            arrivals were issued late: more than 1 ms in the mean, or
 *                   more than 100 us and a fifth of the mean response.
 *   held            the kernel kept a host's workers back for 1 % of the window
 *                   of each, or put off one submission in a thousand I/Os.
 *   device_differs  a block device that nobody else may use transferred not
 *                   what the workers did: 1 % of the bytes and 1 MiB apart, in
 *                   one direction.  Others used it, or a cache answered.
 *   throttled       a drive slowed down for its temperature, or warned of it.
 *   media_errors    a drive counted media errors during the phase.
 *
 * Threads: none of its own.  Pure.
 */
#ifndef CONTROLLER_RESULTS_TRUST_H
#define CONTROLLER_RESULTS_TRUST_H

#include "controller/results/device.h"
#include "controller/results/figures.h"
#include "controller/results/record.h"

#define TRUST_TEXT 200

struct trust_flag {
    enum record_scope scope; /* RECORD_HOST or RECORD_DRIVE */
    uint32_t item;           /* host or target */
    const char *word;        /* a literal */
    char text[TRUST_TEXT];
};

/* All zero is an empty list. */
struct trust {
    struct trust_flag *flags;
    uint32_t count;
    bool failed; /* no memory: some are lacking */
};

void trust_done(struct trust *trust);

/* The figures of a host over the common window. */
void trust_judge_host(struct trust *trust, uint32_t host,
                      const struct figures *figures, uint64_t window_ns);

void trust_judge_drive(struct trust *trust, const struct device *device);

#endif
