/*
 * claim_set.h - the inside of claim.h, for the interlock alone.
 */
#ifndef AGENT_CLAIM_SET_H
#define AGENT_CLAIM_SET_H

#include <limits.h>

#include "agent/claim.h"
#include "agent/interlock_facts.h"
#include "agent/interlock_mark.h"

/* One target that is held. */
struct claim {
    enum interlock_kind kind; /* BLOCK or FILE */
    uint64_t device;          /* st_rdev; of a file: st_dev */
    uint64_t inode;           /* of a file */
    int fd;        /* BLOCK: O_RDONLY | O_EXCL; FILE: O_RDWR; locked, both */
    bool buffered; /* also written through the cache */

    /* Of block devices. */
    bool begun; /* written down as ours, see interlock_left.h */

    /* Of files. */
    struct mark mark;
    bool filling;            /* made or made longer, and not yet filled */
    bool made;               /* by this set */
    uint64_t length_before;  /* before it was made longer */
    int folder;              /* O_PATH, -1: not made by this set */
    char name[NAME_MAX + 1]; /* in it */
};

struct claims {
    const struct interlock_policy *policy;
    struct uuid campaign;
    struct claim **items; /* their addresses last as long as they do */
    uint32_t count;
};

/* The claim of what the facts are about, or NULL. */
struct claim *claims_find(const struct claims *claims,
                          const struct interlock_facts *facts);

/*
 * Holds the block device behind `pin` and sets the facts' claim: HELD with 0,
 * BUSY with -EBUSY.  `ret_claim` is part of the set.
 */
int claim_device(struct claims *claims, struct look *look,
                 const struct pin *pin, struct interlock_facts *facts,
                 struct claim **ret_claim, struct diag *diag) MUST_CHECK;

/*
 * The same for an existing file, opened for writing and locked.  One that
 * Lockstep did not make becomes ours where `consent` is what it is
 * (content_of_file()); NULL: nobody agreed to that.
 */
int claim_file(struct claims *claims, const struct pin *pin,
               const char *consent, struct interlock_facts *facts,
               struct claim **ret_claim, struct diag *diag) MUST_CHECK;

/* All rules allow it to be written: from now on what is on it is ours. */
void claim_begin(struct claims *claims, struct claim *claim);

/* Makes the missing file of `pin`, empty and marked; takes over pin->fd. */
int claim_new_file(struct claims *claims, struct pin *pin,
                   struct interlock_facts *facts, struct claim **ret_claim,
                   struct diag *diag) MUST_CHECK;

/*
 * Makes a held file `size` bytes long, with its blocks reserved where the file
 * system can.  Until claim_filled() it counts as filled up to where it was.
 */
int claim_extend(struct claim *claim, uint64_t size, const char *path,
                 struct diag *diag) MUST_CHECK;

/* All of it is written: flushed and marked. */
int claim_filled(struct claims *claims, struct claim *claim,
                 struct diag *diag) MUST_CHECK;

/* Gives one back. */
void claim_drop(struct claims *claims, struct claim *claim);

#endif
