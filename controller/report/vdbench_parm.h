/*
 * vdbench_parm.h - a campaign's parameter text as parmfile.html has it.
 *
 * $variables are replaced, and comments behind parameters stand on a line of
 * their own, so that every value ends with a comma or at the end of its line.
 * Below it, as comments, the effective values of each run: defaults included.
 *
 * Threads: none of its own.  Pure.
 */
#ifndef CONTROLLER_REPORT_VDBENCH_PARM_H
#define CONTROLLER_REPORT_VDBENCH_PARM_H

#include "controller/report/read.h"

/* `head`: EXPORT's. */
void vdbench_print_parm(FILE *out, const json_t *head);

#endif
