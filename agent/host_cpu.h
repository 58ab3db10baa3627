/*
 * host_cpu.h - how busy this host and this agent were between two looks.
 *
 * Threads: one owner.  Blocks for a moment (reads /proc/stat).
 */
#ifndef AGENT_HOST_CPU_H
#define AGENT_HOST_CPU_H

#include "agent/row.h"
#include "common/base.h"

struct host_cpu {
    uint64_t at_ns;
    uint64_t busy_ns;
    uint64_t system_ns;
    uint64_t agent_ns;
    uint64_t cpus; /* that are online */
};

/* The first look. */
void host_cpu_init(struct host_cpu *cpu, uint64_t now_ns);

/* What was used since the last look. */
void host_cpu_since(struct host_cpu *cpu, uint64_t now_ns,
                    struct row_host *ret_host);

/*
 * Busy and system time of all CPUs, from the text of /proc/stat whose clock
 * ticks are 1/`ticks` of a second.  0, or -EBADMSG.
 */
int host_cpu_parse(const char *text, uint64_t ticks, struct host_cpu *ret_cpu);

#endif
