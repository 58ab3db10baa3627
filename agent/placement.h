/*
 * placement.h - which worker serves which drives, on which CPU.
 *
 * What it is for: a worker stays on one CPU, near its drives, so that a figure
 * does not depend on where the scheduler happened to put it.  Only CPUs that
 * the process may use are ever chosen (affinity, cpuset, what is online), and
 * one thread of a core before its siblings.  Drives whose NUMA node is known
 * get workers on CPUs of that node, where there are any.
 *
 *     placement_host(root, &host)         what this host has
 *     placement_choose(&host, ...)        pure
 *
 * Threads: none of its own; no state.
 */
#ifndef AGENT_PLACEMENT_H
#define AGENT_PLACEMENT_H

#include "agent/job.h"
#include "common/base.h"

#define PLACEMENT_CPUS_MAX     1024u /* that are chosen from */
#define PLACEMENT_NOWHERE      UINT32_MAX
#define PLACEMENT_CPUS_TEXT    32u
#define PLACEMENT_NODES_MAX    64u
#define PLACEMENT_NODE_UNKNOWN (-1)

struct placement_cpu {
    uint32_t number;
    int32_t node;  /* or PLACEMENT_NODE_UNKNOWN */
    uint32_t core; /* the same for the threads of a core */
};

struct placement_host {
    struct placement_cpu cpus[PLACEMENT_CPUS_MAX]; /* allowed, by number */
    uint32_t cpu_count;                            /* 1 or more */
};

struct placement_worker {
    uint32_t cpu; /* its number */
    int32_t node; /* of that CPU */
    uint32_t target_count;
};

struct placement {
    struct placement_worker workers[JOB_TARGETS_MAX];
    uint32_t worker_count;
    uint32_t worker_of[JOB_TARGETS_MAX]; /* by target */
};

/*
 * The CPUs that this process may use, with nodes and cores from sysfs below
 * `root`.  Where the kernel does not tell, one unnamed CPU.
 */
void placement_host(const char *root, struct placement_host *ret_host);

/* The same of a list of CPUs, as the kernel prints it: "0-3,8". */
void placement_host_of(const char *root, const char *cpus,
                       struct placement_host *ret_host);

/* The NUMA node of a drive by its kernel name, or PLACEMENT_NODE_UNKNOWN. */
int32_t placement_node_of(const char *root, const char *drive);

/*
 * Pure.  `nodes` are those of the targets, at most `workers_max` workers (0: as
 * many as CPUs).  `turn` rotates the choice among equals, so that agents that
 * share a host do not meet on one CPU.
 */
void placement_choose(const struct placement_host *host, const int32_t *nodes,
                      uint32_t target_count, uint32_t workers_max,
                      uint32_t turn, struct placement *ret_placement);

/*
 * Pure.  The same for a job: targets that one sequence goes over (cells that
 * join) have one worker.
 */
void placement_choose_job(const struct placement_host *host,
                          const int32_t *nodes, const struct job *job,
                          uint32_t workers_max, uint32_t turn,
                          struct placement *ret_placement);

/* Pins the calling thread.  0 or a negative errno. */
int placement_pin(uint32_t cpu) MUST_CHECK;

/* The CPUs that the kernel lets the calling thread use: "3", "0-3,8". */
void placement_print_own(char text[PLACEMENT_CPUS_TEXT]);

#endif
