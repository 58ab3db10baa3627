/*
 * live.h - a campaign's events as lines for people.
 *
 * The rows are vdbench's: people's eyes know them, and so do scripts.  A run
 * begins with vdbench's "Starting RD=" line and one that says phase i of n and
 * the time left; it ends with its avg row and the percentiles of service and
 * response.  On a terminal a row has p99 and remarks behind; elsewhere it has
 * vdbench's 15 words and nothing else, once an interval, and fills have none.
 *
 * Memory: by value.  Prints on `out`, flushed line by line.
 */
#ifndef CONTROLLER_SHELL_LIVE_H
#define CONTROLLER_SHELL_LIVE_H

#include <jansson.h>
#include <stdio.h>

#include "common/base.h"

struct live {
    FILE *out;
    bool terminal;       /* `out` is one */
    bool begun;          /* something was printed */
    bool filling;        /* the phase at hand is a fill */
    unsigned rows;       /* since the header was printed */
    long long phase;     /* the last one that was begun here */
    long long interval;  /* its last row */
    const char *verdict; /* of "end"; one of our own constants, or NULL */
    char error[REASON_SIZE];
};

void live_init(struct live *live, FILE *out);

/* Prints one event.  Returns true when it was the campaign's "end". */
bool live_event(struct live *live, const json_t *event);

/* What makes its figures doubtful, a line each. */
void live_flags(FILE *out, const json_t *phase);

/* The latencies of a run, service and response side by side. */
void live_latencies(FILE *out, const json_t *figures);

#endif
