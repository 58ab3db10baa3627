/*
 * health.h - what a drive says of itself: temperature, wear, errors, slowing
 * down.
 *
 * Of NVMe drives from the log page "SMART / Health Information" (one admin
 * command, which needs the privilege), of others the temperature that hwmon
 * tells (drivetemp, and nvme where the log cannot be had).  What is not told is
 * not known; nothing is guessed.
 *
 * Reading asks the drive: it may take as long as a sick drive does.  So a
 * thread of its own reads, every ten seconds and when asked, and others take
 * what it has.  It never is waited for: it goes when the drive lets it.
 *
 * Threads: health_read() any; health_watch_*() the one that made the watch.
 */
#ifndef AGENT_HEALTH_H
#define AGENT_HEALTH_H

#include "agent/row.h"
#include "common/base.h"

#define HEALTH_LOG_BYTES 512u

struct opened_target;
struct health_watch;

/* The log page.  A drive whose page is all zero has none: -ENODATA. */
int health_parse(const uint8_t log[HEALTH_LOG_BYTES],
                 struct row_health *ret_health) MUST_CHECK;

/* What the drive `name` (of the kernel) of a host says, below `root` ("" or "/"
 * is /).  Blocks. */
void health_read(const char *root, const char *name,
                 struct row_health *ret_health);

/* NULL: no memory, no thread, or none of the targets has a drive. */
struct health_watch *health_watch_new(const char *root,
                                      const struct opened_target *targets,
                                      uint32_t count);

/* The latest of each target into its drive; what is not known stays so. */
void health_watch_take(struct health_watch *watch, struct row_drive *drives);

/* Asks for a look now; health_watch_asked() is true until it is answered. */
void health_watch_ask(struct health_watch *watch);
bool health_watch_asked(struct health_watch *watch);

/* NULL is fine.  Returns NULL. */
struct health_watch *health_watch_free(struct health_watch *watch);

#endif
