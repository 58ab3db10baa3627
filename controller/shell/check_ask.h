/*
 * check_ask.h - check against hosts that are there: a controller's (--fleet),
 * or this one (--here).
 */
#ifndef CONTROLLER_SHELL_CHECK_ASK_H
#define CONTROLLER_SHELL_CHECK_ASK_H

#include "controller/shell/files.h"
#include "controller/shell/options.h"

/* Prints the plan as the controller makes it; gives the exit status.  Nothing
 * is queued, nothing is opened for writing. */
int check_ask(const struct options *options,
              const struct parameter_files *files);

#endif
