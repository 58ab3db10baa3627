/*
 * compare_command.h - lockstep compare: campaigns side by side.
 */
#ifndef CONTROLLER_SHELL_COMPARE_COMMAND_H
#define CONTROLLER_SHELL_COMPARE_COMMAND_H

#include "controller/shell/options.h"

int compare_command(const struct options *options);

#endif
