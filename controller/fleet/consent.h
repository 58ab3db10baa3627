/*
 * consent.h - what a campaign will destroy, as a list to agree to.
 *
 * A campaign whose sds say overwrite=yes may write over file systems and
 * other data.  It is taken only from an operator who was shown each of these
 * drives (host, path, identity, size, model, and what is on it now) and who
 * answers with the hash of exactly that list.  When anything on it changes,
 * the hash does, and a new answer is needed.  The agents compare once more
 * when they claim the drives.
 *
 * Memory: consent_done().  Threads: one owner.
 */
#ifndef CONTROLLER_FLEET_CONSENT_H
#define CONTROLLER_FLEET_CONSENT_H

#include "common/base.h"
#include "common/digest.h"

struct campaign;

/* One drive or file.  The texts are the plan's, `id` excepted. */
struct consent_item {
    const char *host;
    const char *sd;
    const char *path;
    const char *model;
    const char *content;
    char id[TEXT_SIZE + 16]; /* WWN, serial, or what else tells it apart */
    uint64_t size_bytes;
};

struct consent {
    struct consent_item *items;
    uint32_t count;
    char hash[DIGEST_SHORT_SIZE]; /* "" for none */
};

/* Of a placed campaign.  0 or -ENOMEM; then, too, consent_done() is fine. */
int consent_of(const struct campaign *campaign, struct consent *ret_consent);

void consent_done(struct consent *consent);

#endif
