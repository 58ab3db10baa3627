/*
 * device.h - what the kernel itself counts of the drives of a phase.
 *
 * What it is for: a second witness beside the workers.  /sys/block/NAME/stat
 * has what the block layer completed; its difference from look to look goes
 * with each row.  Reading it never touches a drive, so it may be read on the
 * loop.  The looks come 10 ms after each edge and later on a busy host: over a
 * whole phase, with the drain, they are exact.
 *
 * A target that is a file has the counters of the drive below it, and so has
 * one of two targets on the same drive: then they are `shared`, as others may
 * use the drive as well.  A target without a drive (/dev/null, a file on
 * tmpfs) has none.
 *
 * Threads: one owner.  Memory: the devices' own; no allocation after open.
 */
#ifndef AGENT_DEVICE_H
#define AGENT_DEVICE_H

#include "agent/row.h"
#include "common/base.h"

struct opened_target;

struct device {
    int fd; /* of its stat; -1: it has none */
    bool shared;
    struct row_counters seen;
};

struct devices {
    struct device *device; /* by target */
    uint32_t count;
};

/* Below `root` ("" is /).  A drive whose counters cannot be read has none.  0
 * or -ENOMEM. */
int devices_open(struct devices *devices, const char *root,
                 const struct opened_target *targets,
                 uint32_t count) MUST_CHECK;
void devices_close(struct devices *devices);

/* The first look: before anything is issued, so that nothing is missed. */
void devices_begin(struct devices *devices);

/* What was counted since the last look; `drives` has an entry for each
 * target. */
void devices_since(struct devices *devices, struct row_drive *drives);

/*
 * The text of a stat file: reads, reads merged, sectors read, ms; the same of
 * writes; requests in flight; ...  0 or -EBADMSG.
 */
int device_parse(const char *text,
                 struct row_counters *ret_counters) MUST_CHECK;

#endif
