/*
 * inventory_usage.h - who uses which block device of this host.
 *
 * One pass over the kernel's lists: mounts in every mount namespace that can be
 * seen, swap, members of mounted btrfs, drives exported by nvmet, loop devices
 * on top of a drive, other processes that hold one open for writing.  Holders
 * (device mapper, md, bcache) are read when asked.  In-kernel users that appear
 * in no list (ZFS, DRBD, LIO) are seen by the exclusive open alone (claim.h).
 *
 * The table is a snapshot; make a new one for every decision.
 *
 * Memory: allocated; usage_free().  Threads: none of its own.
 */
#ifndef AGENT_INVENTORY_USAGE_H
#define AGENT_INVENTORY_USAGE_H

#include "common/base.h"

struct usage;

#define USAGE_ENTRIES_MAX 16384u

/* How the one use begins that may be over in a moment (behind a partition's
   name, where it is one's). */
#define USAGE_WRITER "open for writing in "

/* 0, -ENOMEM, or -E2BIG when there is more than can be told. */
int usage_read(const char *root, struct usage **ret_usage) MUST_CHECK;

/* NULL is fine.  Returns NULL. */
struct usage *usage_free(struct usage *usage);

/*
 * Why `name` (nvme0n1, sda2) is in use, at most `max` sentences, how many.  A
 * drive is in use when one of its partitions is; a partition is not when only
 * its neighbour is.
 */
uint32_t usage_list(const struct usage *usage, const char *name,
                    char (*texts)[TEXT_SIZE], uint32_t max);

/* The same for the device alone, without its partitions. */
uint32_t usage_list_alone(const struct usage *usage, const char *name,
                          char (*texts)[TEXT_SIZE], uint32_t max);

/* The same for a regular file, by its canonical path: swap, or behind a loop.
 */
uint32_t usage_list_file(const struct usage *usage, const char *path,
                         char (*texts)[TEXT_SIZE], uint32_t max);

/* Which processes hold `name` open at all, this one included; "" none seen. */
void usage_openers(const struct usage *usage, const char *name, char *text,
                   size_t size);

#endif
