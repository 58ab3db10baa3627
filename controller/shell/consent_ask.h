/*
 * consent_ask.h - asking whether what is on drives may be destroyed.
 *
 * The controller refuses a campaign that would, with the list of these drives
 * and its hash.  A person at a terminal is shown the list and asked; a script
 * gets the command that says yes to exactly this list.
 */
#ifndef CONTROLLER_SHELL_CONSENT_ASK_H
#define CONTROLLER_SHELL_CONSENT_ASK_H

#include <jansson.h>

#include "common/base.h"
#include "controller/shell/options.h"

/* The hash that a refusal asks for, or NULL when it is another refusal. */
const char *consent_hash(const json_t *document);

/*
 * Shows the list on stderr.  On a terminal asks, and returns true for yes;
 * else tells the command to repeat, and returns false.
 */
bool consent_ask(const struct options *options, const json_t *document);

#endif
