/*
 * offer.h - what the owner of this host lets be written.
 *
 * An offer is one line of the agent's configuration, `offer = TEXT` (or one
 * --offer=TEXT).  Without any, nothing is written.  The text is one of
 *
 *     /dev/nvme*n1            path: a glob of the canonical path; `*` and `?`
 *                             do not match a slash
 *     /dev/disk/by-id/ata-*   a glob of one of the drive's own links, for
 *                             patterns below /dev/disk/ and /dev/mapper/
 *     /mnt/test/              directory (it ends with a slash): files below it,
 *                             at any depth, and new ones
 *     serial=S4YNNE0M800123   the drive of exactly this serial number, with
 *                             all its namespaces
 *     model=SAMSUNG MZWLL*    a glob of the model
 *     id=nvme-INTEL_*         a glob of the link's name in /dev/disk/by-id
 *
 * Offers add up; their order has no meaning and none takes away.  The offer of
 * a drive covers its partitions; the offer of a partition does not cover the
 * drive.  A symbolic link never offers what it leads to: apart from the links
 * named above only the canonical path counts.  What a drive does not tell
 * (serial, model) matches no pattern, not even `*`.  An offer allows; the rest
 * of the interlock (in use, content, identity) holds all the same.
 *
 * Memory: by value, about 270 kB; no allocation.  Threads: read-only once
 * filled, then from any.
 */
#ifndef AGENT_OFFER_H
#define AGENT_OFFER_H

#include "common/base.h"
#include "common/diag.h"

#define OFFERS_MAX      256u
#define OFFER_LINKS_MAX 32u

enum offer_kind {
    OFFER_PATH,
    OFFER_LINK, /* a path pattern below /dev/disk/ or /dev/mapper/ */
    OFFER_DIRECTORY,
    OFFER_SERIAL,
    OFFER_MODEL,
    OFFER_ID,
};

struct offer {
    enum offer_kind kind;
    char pattern[PATH_SIZE]; /* without its "serial=" and the like */
};

struct offers {
    struct offer items[OFFERS_MAX];
    uint32_t count;
};

/* What is asked about: a drive, one of its partitions, or a file. */
struct offer_subject {
    char path[PATH_SIZE];  /* canonical */
    char drive[PATH_SIZE]; /* of a partition: the drive's canonical path; "" */
    char serial[TEXT_SIZE];
    char model[TEXT_SIZE];
    char links[OFFER_LINKS_MAX][PATH_SIZE]; /* below /dev/disk, /dev/mapper */
    uint32_t link_count;
    bool is_file;
};

/*
 * Adds one.  -EINVAL: not an offer, -E2BIG: too many or too long, with the
 * reason in `diag`; `offers` is as before.
 */
int offers_add(struct offers *offers, const char *text,
               struct diag *diag) MUST_CHECK;

/* The first offer that covers `subject`, or NULL. */
const struct offer *offers_match(const struct offers *offers,
                                 const struct offer_subject *subject);

#endif
