/*
 * engine_probe.h - what io_uring of this host can do, and why there is none.
 *
 * Threads: any.  Blocks for a moment (reads /proc).
 */
#ifndef AGENT_ENGINE_PROBE_H
#define AGENT_ENGINE_PROBE_H

#include "common/base.h"
#include "common/diag.h"

/* What io_uring_setup() failing can be due to, as the host tells. */
struct engine_obstacles {
    int seccomp;  /* the mode of /proc/self/status; -1 unknown */
    int disabled; /* kernel.io_uring_disabled; -1: there is no such setting */
    bool privileged;  /* CAP_SYS_ADMIN */
    unsigned version; /* of the kernel: major x 1000 + minor; 0 unknown */
};

struct engine_facts {
    char engine[TEXT_SIZE];   /* "io_uring", or why there is none */
    char features[TEXT_SIZE]; /* words with blanks between; "" without */
};

/* For HostFacts.engine and engine_features. */
void engine_probe(struct engine_facts *ret_facts);

/* Puts cause and remedy of `err` into `diag`; returns `err`. */
int engine_probe_explain(int err, struct diag *diag);

/* The same from known obstacles.  Pure. */
int engine_probe_judge(int err, const struct engine_obstacles *obstacles,
                       struct diag *diag);

#endif
