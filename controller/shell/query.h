/*
 * query.h - the commands that ask the controller one thing: hosts, drives,
 * campaigns, status, show, stop, pin.
 */
#ifndef CONTROLLER_SHELL_QUERY_H
#define CONTROLLER_SHELL_QUERY_H

#include "controller/shell/options.h"

/* Asks, prints a table or with --json the document; the exit status. */
int query_command(const struct options *options);

#endif
