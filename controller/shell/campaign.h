/*
 * campaign.h - the commands that run or follow a campaign: run, submit, watch.
 */
#ifndef CONTROLLER_SHELL_CAMPAIGN_H
#define CONTROLLER_SHELL_CAMPAIGN_H

#include "controller/shell/client.h"
#include "controller/shell/files.h"
#include "controller/shell/options.h"
#include "controller/shell/private.h"

/* Each prints what there is to see and returns the exit status. */
int run_command(const struct options *options);
int submit_command(const struct options *options);
int watch_command(const struct options *options);

/* Sends the files; the answer is the controller's, whatever it says. */
int campaign_send(struct client *client, const struct options *options,
                  const struct parameter_files *files,
                  struct answer *ret_answer, struct diag *diag) MUST_CHECK;

/* Waits until the private agent has told what its host has. */
int campaign_await_agent(struct client *client, struct diag *diag) MUST_CHECK;

/* The exit status of a connection that failed, with its message. */
int campaign_connection_failed(const struct options *options,
                               const struct private_pair *pair, int err,
                               const struct diag *diag);

/* Prints what a controller that refuses the files has to say. */
int campaign_refused(bool json, const struct answer *answer);

#endif
