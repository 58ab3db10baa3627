/*
 * interlock.h - the only door to a target.
 *
 * Nothing in the agent opens a path of a campaign but this.  Facts are gathered
 * first, a pure function judges them against what is wished, and only then is
 * anything opened: invariant 6.
 *
 * READING needs no offer.  It takes block devices, regular files, and of
 * character devices /dev/null and /dev/zero alone (to measure ourselves).
 *
 * WRITING A BLOCK DEVICE needs, all at once: an offer of this agent's own
 * configuration (offer.h); not read-only; not in use: not mounted in any mount
 * namespace that can be seen, no swap, no holder (device mapper, md, bcache),
 * no partition of it in use, not open for writing in another process; the
 * exclusive claim, held for the whole campaign (claim.h); nothing on it that
 * somebody may miss, looked for through that descriptor (interlock_content.h):
 * a signature of a file system, partition table, RAID, LVM, LUKS, ..., or any
 * data that no campaign of this agent left. The serial, WWN, size and disk
 * sequence that the campaign was planned with must be those of the open
 * descriptor, at every phase.
 *
 * CONSENT.  What is on a drive may be overwritten where the campaign says
 * overwrite=yes and brings the operator's consent to lose exactly that: the
 * text that an inspection told (`content_text`), compared with what is found
 * when the drive is claimed.  Consent opens no other door: a drive in use, not
 * offered or held stays closed.  So it is with files that others made.
 *
 * WRITING A FILE needs a file that Lockstep made (interlock_mark.h says how
 * that is known), or one that does not exist yet, in an offered directory; a
 * private agent (`lockstep run`) makes files wherever the user may, outside
 * /dev.  No symbolic link leads a new file into /dev.
 *
 * What the rules see for a moment only (a monitor that looks at a drive,
 * another inspection) is looked at again, for half a second a call, before it
 * is refused.
 *
 * There is no force.  Every refusal says what, who uses it, what to do.
 *
 * THE COURSE of a campaign on an agent:
 *
 *     interlock_inspect(&policy, wishes, count, facts, &diag)  any number of
 * times claims_new(&policy, &campaign, &claims, &diag)           first Prepare
 *     interlock_open(claims, targets, count, opened, ...)      every Prepare
 *     ... the phase runs ...
 *     interlock_filled(claims, opened, count, &diag)    a fill that came to its
 * end interlock_close(opened, count)                           phase over
 *     claims_release(claims)                                   Release, lease
 * lost
 *
 * Threads: none of its own.  The functions block (they read from drives and
 * scan /proc), so call them beside the loop, and those of one claim set one at
 * a time.  Opened targets may be used by any thread.
 */
#ifndef AGENT_INTERLOCK_H
#define AGENT_INTERLOCK_H

#include "agent/inventory.h"
#include "agent/job.h"
#include "common/base.h"
#include "common/diag.h"

struct claims;
struct offers;

#define INTERLOCK_TARGETS_MAX JOB_TARGETS_MAX

/* What the agent's own configuration says.  Outlives every claim set. */
struct interlock_policy {
    const char *root; /* "/"; where sysfs and /proc are, see inventory.h */
    const struct offers *offers;
    bool private_agent; /* started by `lockstep run` */
    /* Where files we made are remembered when their file system cannot carry
       our mark.  "": nowhere; then only marked files are known as ours. */
    char state_directory[PATH_SIZE];
};

/* The values of TargetKind on the wire. */
enum interlock_kind {
    INTERLOCK_MISSING,
    INTERLOCK_BLOCK,
    INTERLOCK_FILE,
    INTERLOCK_CHARACTER,
    INTERLOCK_OTHER,
};

/* What is asked for: of InspectTarget, or of a phase's Target. */
struct interlock_wish {
    char path[PATH_SIZE];
    uint32_t open_flags; /* enum job_open_flag */
    bool write;
    bool create; /* a file that is missing or too small is made so long */
    uint64_t size_bytes; /* I/O stays below it; 0: all there is */
    /* Who it must be; "" and 0 are not compared. */
    char serial[TEXT_SIZE];
    char wwn[TEXT_SIZE];
    uint64_t device_size_bytes;
    uint64_t disk_sequence;
    bool overwrite;          /* what is on it may be lost: overwrite=yes ... */
    char consent[TEXT_SIZE]; /* ... if it is this, see `content_text` */
    /* The last judgement before a descriptor for writing is opened: what was
       not looked at then counts as refused. */
    bool final;
};

enum interlock_claim {
    INTERLOCK_CLAIM_UNTRIED,
    INTERLOCK_CLAIM_HELD, /* by this claim set, or it could be had (inspect) */
    INTERLOCK_CLAIM_OURS, /* by another campaign of this agent: to be had when
                             that is over (inspect) */
    INTERLOCK_CLAIM_BUSY, /* someone else holds it exclusively */
};

enum interlock_content {
    INTERLOCK_CONTENT_UNKNOWN, /* not looked at, or it could not be read */
    INTERLOCK_CONTENT_NONE,    /* blank, see interlock_content.h */
    INTERLOCK_CONTENT_LEFT,    /* data that an earlier campaign left, and that
                                  nobody wrote to since */
    INTERLOCK_CONTENT_FOUND,   /* somebody may miss it */
    INTERLOCK_CONTENT_CLAIMED, /* claimed since an earlier phase: what is there
                                  now, this campaign wrote */
};

/* All that the rules look at.  Gathered by interlock_inspect() and _open(). */
struct interlock_facts {
    enum interlock_kind kind;
    char what[TEXT_SIZE];   /* kind OTHER: "a directory"; else "" */
    char device[PATH_SIZE]; /* canonical path of the device or file */
    char drive[PATH_SIZE];  /* of a partition: its drive; else "" */
    uint64_t device_number; /* st_rdev; st_dev for files */
    uint64_t inode;         /* of files */
    uint64_t silent_ns;     /* requests of a past phase are stuck for so long;
                               0: none are */
    uint64_t size_bytes;    /* of a file of ours: as far as it was filled */
    uint64_t length_bytes;  /* of a file: its length */
    uint32_t logical_block; /* transfers and offsets are multiples of it; 1
                               when buffered.  Of a file as told or, for one
                               to come, as likely: the open one tells */
    char serial[TEXT_SIZE]; /* of a partition: its drive's, as wwn, model */
    char wwn[TEXT_SIZE];
    char model[TEXT_SIZE];
    uint64_t disk_sequence;
    bool harmless;              /* CHARACTER: it is /dev/null or /dev/zero */
    bool read_only;             /* the device, or the file's file system */
    bool offered;               /* by an offer; for files, their directory */
    bool private_agent;         /* as the policy says */
    char offer_hint[TEXT_SIZE]; /* the offer line that would do */
    char used_by[INVENTORY_USES_MAX][TEXT_SIZE]; /* when to be written */
    uint32_t used_by_count;
    enum interlock_claim claim;
    char claim_text[TEXT_SIZE]; /* BUSY: who, as far as can be seen */
    enum interlock_content content;
    char content_text[TEXT_SIZE]; /* FOUND: what, as exactly as it can be told:
                                     "ext4 file system \"data\" (3f1c...)";
                                     UNKNOWN: why */
    bool ours;                    /* an existing file that Lockstep made */
    char not_ours[TEXT_SIZE];     /* why it is not, when there was a mark */
    bool below_dev;               /* FILE or MISSING: it lies below /dev */
    bool parent_missing;          /* MISSING: and its directory too */
    uint64_t free_bytes;          /* of the file system, to us; UINT64_MAX: it
                                     does not tell */
    uint64_t allocated_bytes;     /* of the file, already */
    int access_error;             /* errno of looking at it (EACCES); 0 */
    /* After interlock_inspect(): why it would not be opened so; "" it would. */
    char refusal[REASON_SIZE];
};

/* Which rule refused.  The order is that in which they are asked. */
enum interlock_verdict {
    INTERLOCK_ALLOWED,
    INTERLOCK_NO_ACCESS,
    INTERLOCK_SILENT, /* requests of an earlier phase never came back */
    INTERLOCK_NOT_THERE,
    INTERLOCK_WRONG_KIND,
    INTERLOCK_ANOTHER_DRIVE, /* identity differs */
    INTERLOCK_TOO_SMALL,
    INTERLOCK_READ_ONLY,
    INTERLOCK_IN_USE,
    INTERLOCK_BELOW_DEV,
    INTERLOCK_NOT_OURS,
    INTERLOCK_NOT_OFFERED,
    INTERLOCK_NO_SPACE,
    INTERLOCK_BUSY,
    INTERLOCK_HAS_CONTENT,
};

/*
 * May it be opened so?  Pure.  Anything but INTERLOCK_ALLOWED comes with the
 * sentence for people in `ret_reason` (of REASON_SIZE).
 */
enum interlock_verdict interlock_judge(const struct interlock_facts *facts,
                                       const struct interlock_wish *wish,
                                       char *ret_reason);

/*
 * Facts and refusals for `count` wishes, at most INTERLOCK_TARGETS_MAX.  Opens
 * nothing for writing and keeps nothing; where a drive is to be written, it is
 * held exclusively for the moment of the look.  Fails only for want of memory
 * or of /proc and sysfs.
 */
int interlock_inspect(const struct interlock_policy *policy,
                      const struct interlock_wish *wishes, uint32_t count,
                      struct interlock_facts *ret_facts,
                      struct diag *diag) MUST_CHECK;

/* A target that passed the door. */
struct opened_target {
    int fd; /* for I/O; O_DIRECT as asked; -1: not open */
    enum interlock_kind kind;
    bool direct; /* false for /dev/null and /dev/zero, always */
    bool written;
    uint64_t size_bytes;    /* I/O stays below it */
    uint32_t logical_block; /* offsets and lengths are multiples of it; 1 when
                               buffered */
    uint32_t memory_block;  /* buffers are aligned to it; at most 4096 */
    char name[NAME_SIZE];   /* kernel name of the drive, for its counters in
                               /sys/block; of a file: that below its file
                               system where there is one; else "" */
    uint64_t device_number; /* st_rdev; of a file: st_dev */
    uint64_t inode;         /* of a file */
};

/*
 * Opens all `count` targets of a phase, or none: claims what is written,
 * judges, makes or extends files (`create`), opens, compares once more on the
 * descriptor, and reads one aligned block to see that the asked kind of I/O
 * works at all.  On failure `diag` has the reason and `reterr_index` (may be
 * NULL) which target; `count` when it is about none.  What was claimed by then
 * stays claimed until claims_release().  Errors: -EPERM the interlock refuses,
 * -EBUSY claimed by another agent, -ENOSPC, or what the kernel said.
 */
int interlock_open(struct claims *claims, const struct job_target *targets,
                   uint32_t count, struct opened_target *ret_opened,
                   uint32_t *reterr_index, struct diag *diag) MUST_CHECK;

/*
 * A fill came to its end: flushes its files and marks them complete.  Only then
 * do later campaigns take their content for written.
 */
int interlock_filled(struct claims *claims, const struct opened_target *opened,
                     uint32_t count, struct diag *diag) MUST_CHECK;

/* Closes what is open among them.  The claims stay. */
void interlock_close(struct opened_target *opened, uint32_t count);

#endif
