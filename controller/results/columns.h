/*
 * columns.h - the columns that several tables share: CPU times and tallies.
 *
 * In the order of schema.c: COLUMNS_CPU, then COLUMNS_TALLY.
 *
 * Threads: those of the statement.
 */
#ifndef CONTROLLER_RESULTS_COLUMNS_H
#define CONTROLLER_RESULTS_COLUMNS_H

#include "controller/results/row.h"
#include "controller/results/statement.h"

#define COLUMNS_CPU_OF(table)                                                  \
    table "host_cpu_ns, " table "host_system_ns, " table "capacity_ns, " table \
          "agent_cpu_ns, " table "worker_cpu_ns, " table "holds, " table       \
          "held_ns, " table "refused"
#define COLUMNS_CPU COLUMNS_CPU_OF("")

/* One after the other in time. */
#define COLUMNS_CPU_SUMS                                                       \
    "sum(host_cpu_ns), sum(host_system_ns), sum(capacity_ns), "                \
    "sum(agent_cpu_ns), sum(worker_cpu_ns), sum(holds), sum(held_ns), "        \
    "sum(refused)"

/* Of what has no CPUs. */
#define COLUMNS_CPU_NONE "0, 0, 0, 0, 0, 0, 0, 0"

#define COLUMNS_OP_(op)                                                        \
    op "_ios, " op "_bytes, " op "_errors, " op "_in_flight, " op              \
       "_oldest_ns, " op "_unissued, " op "_unissued_oldest_ns, " op           \
       "_issued, " op "_late_ns, " op "_late_max_ns, " op "_service, " op      \
       "_response"
#define COLUMNS_TALLY COLUMNS_OP_("read") ", " COLUMNS_OP_("write")

/* The same of one table among several: "p.". */
#define COLUMNS_TALLY_OF(table)                                                \
    COLUMNS_OP_OF_(table "read") ", " COLUMNS_OP_OF_(table "write")
#define COLUMNS_OP_OF_(op) COLUMNS_OP_(op)

/* As many parameters as they have columns. */
#define COLUMNS_CPU_VALUES "?, ?, ?, ?, ?, ?, ?, ?"
#define COLUMNS_TALLY_VALUES                                                   \
    "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "                                     \
    "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?"

void columns_bind_cpu(struct statement *s, const struct cpu_tally *cpu);
void columns_bind_tally(struct statement *s, const struct packed *packed);

struct cpu_tally columns_get_cpu(struct statement *s);

/* Adds what the row has to `into`; gauges too.  -EUCLEAN with `diag` for a
 * damaged blob, -ENOMEM. */
int columns_add_tally(struct statement *s, struct tally_pair *into,
                      struct diag *diag) MUST_CHECK;

#endif
