/*
 * pieces.h - a campaign fetched piece by piece, for those who render all of it.
 *
 * Neither side ever holds more than one phase, and of its rows one page.
 */
#ifndef CONTROLLER_SHELL_PIECES_H
#define CONTROLLER_SHELL_PIECES_H

#include "controller/report/sink.h"
#include "controller/shell/client.h"

/*
 * Hands every piece to each of the sinks.  0 with the campaign's own exit
 * status by its verdict, -ENOENT with the controller's sentence where there is
 * no such campaign, or what a sink or the connection failed with.
 */
int pieces_fetch(struct client *client, const char *campaign,
                 const struct sink *sinks, size_t sink_count,
                 enum exit_status *ret_status, struct diag *diag) MUST_CHECK;

#endif
