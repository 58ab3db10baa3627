/*
 * check.h - `lockstep check`: what a file would run, without running it.
 */
#ifndef CONTROLLER_SHELL_CHECK_H
#define CONTROLLER_SHELL_CHECK_H

#include "controller/shell/options.h"

/* Prints the plan, or all that is wrong with the file; the exit status. */
int check_command(const struct options *options);

#endif
