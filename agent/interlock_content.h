/*
 * interlock_content.h - is there a signature on a block device?
 *
 * Asks libblkid's low-level probe, on an open descriptor, for super blocks of
 * file systems, RAID, LVM, encryption and the like (also damaged ones) and for
 * partition tables.  Data without a signature is not seen.
 */
#ifndef AGENT_INTERLOCK_CONTENT_H
#define AGENT_INTERLOCK_CONTENT_H

#include "agent/interlock.h"

/*
 * FOUND with "ext4 file system "data", gpt partition table"; NONE with ""; or
 * UNKNOWN with why.  `text` has TEXT_SIZE bytes.
 */
enum interlock_content content_probe(int fd, char *text);

#endif
