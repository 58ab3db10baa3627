/*
 * interlock_content.h - what is on a drive or in a file that somebody may miss.
 *
 * On a drive that is, in this order:
 *
 *   1. a signature that libblkid knows (file system, partition table, RAID,
 * LVM, LUKS, ZFS, bcache, ...), told with its label and UUID;
 *   2. nothing, if a campaign of this agent wrote there last
 * (interlock_left.h);
 *   3. any data: where one of the sampled blocks (64 KiB at both ends, 16 of
 *      4 KiB between) holds anything but zeros or ones.  It is told with a
 *      checksum of the samples.  A drive whose data avoid all samples is taken
 *      for blank.
 *
 * The text names what was found as exactly as it can be told: consent to
 * lose it (interlock.h) is given to the text, and is void once it differs.
 *
 * Threads: none of its own.  For the interlock alone.
 */
#ifndef AGENT_INTERLOCK_CONTENT_H
#define AGENT_INTERLOCK_CONTENT_H

#include <sys/stat.h>

#include "agent/interlock.h"

struct look;

/*
 * Sets the facts' content and content_text from an open descriptor of the
 * drive.  `campaign`: for whom; NULL: nobody's in particular (inspection).
 */
void content_look(const struct look *look, int fd, const struct uuid *campaign,
                  struct interlock_facts *facts);

/* The same while a campaign of this agent writes there: what it leaves is
 * ours, only a signature counts. */
void content_peek(int fd, struct interlock_facts *facts);

/* What a file that Lockstep did not make is, into TEXT_SIZE bytes. */
void content_of_file(const struct stat *st, char *text);

#endif
