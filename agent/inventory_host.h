/*
 * inventory_host.h - facts of the host itself; inventory.h for what they mean.
 */
#ifndef AGENT_INVENTORY_HOST_H
#define AGENT_INVENTORY_HOST_H

#include "agent/inventory.h"

/* `root` is "" for the real one. */
void host_facts_read(const char *root, struct host_facts *ret_host);

#endif
