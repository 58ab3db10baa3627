/*
 * private.h - a controller and an agent of one's own, for `lockstep run`.
 *
 * Both are children in process groups of their own (a terminal's Ctrl-C does
 * not reach them) and are tied to this program by inherited socket pairs: when
 * it ends, however it ends, the load ends.  Their logs and the store go into
 * the results' directory.
 *
 * Memory: private_end() waits for both and frees all.
 */
#ifndef CONTROLLER_SHELL_PRIVATE_H
#define CONTROLLER_SHELL_PRIVATE_H

#include "common/base.h"
#include "common/diag.h"
#include "controller/shell/options.h"

struct private_pair;

/*
 * Starts both.  `ret_fd` is the shell's connection to the controller; whoever
 * takes it over closes it.
 */
int private_start(const char *directory, const struct options *options,
                  struct private_pair **ret_pair, int *ret_fd,
                  struct diag *diag) MUST_CHECK;

/* The controller alone, over what a run left in the directory. */
int private_open(const char *directory, struct private_pair **ret_pair,
                 int *ret_fd, struct diag *diag) MUST_CHECK;

/* Removes the directory with what children that began nothing left in it; one
 * that holds anything else stays. */
void private_discard(const char *directory);

/* Why a child ended, from its log's last line; "" where none did.  Gives a
 * controller whose connection has just ended a second to end, too. */
void private_reason(const struct private_pair *pair, char *text, size_t size);

/*
 * Waits until both have ended, `limit_ms` at most, then ends them by their
 * process ids.  Close the connection first.  NULL is fine.  Returns NULL.
 */
struct private_pair *private_end(struct private_pair *pair, int limit_ms);

#endif
