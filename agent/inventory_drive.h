/*
 * inventory_drive.h - the facts of one drive; inventory.h for what they mean.
 *
 * Threads: none of its own.  Memory: the caller's.
 */
#ifndef AGENT_INVENTORY_DRIVE_H
#define AGENT_INVENTORY_DRIVE_H

#include "agent/inventory.h"
#include "agent/offer.h"
#include "common/base.h"

#define NVME_IDENTIFY_BYTES 4096u

/*
 * Fills all of `ret_drive` that the kernel's files tell of the whole block
 * device `name`: not its formats, its uses and whether it is offered.
 */
void drive_read(const char *root, const char *name, struct drive *ret_drive);

/* Asks an NVMe namespace for its formats; may block for 2 s. */
void drive_read_formats(const char *root, struct drive *drive);

/* The formats in the answer to Identify Namespace (CNS 0). */
void drive_formats(const uint8_t identify[NVME_IDENTIFY_BYTES], char *text,
                   size_t size);

/*
 * What the offers look at: `name` is the drive itself or a partition of it.
 */
void drive_subject(const char *root, const struct drive *drive,
                   const char *name, struct offer_subject *ret_subject);

#endif
