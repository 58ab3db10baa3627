/*
 * keys_command.h - `lockstep keys`: the lab's authority and its bundles.
 */
#ifndef CONTROLLER_SHELL_KEYS_COMMAND_H
#define CONTROLLER_SHELL_KEYS_COMMAND_H

#include "controller/shell/options.h"

/* Makes what was asked and says where it goes; the exit status. */
int keys_command(const struct options *options);

#endif
