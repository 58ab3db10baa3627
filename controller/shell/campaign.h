/*
 * campaign.h - the commands that run or follow a campaign: run, submit, watch.
 */
#ifndef CONTROLLER_SHELL_CAMPAIGN_H
#define CONTROLLER_SHELL_CAMPAIGN_H

#include "controller/shell/options.h"

/* Each prints what there is to see and returns the exit status. */
int run_command(const struct options *options);
int submit_command(const struct options *options);
int watch_command(const struct options *options);

#endif
