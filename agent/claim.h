/*
 * claim.h - what one campaign holds on this host, from its first Prepare to its
 * end.
 *
 * Every block device that is written is held by one descriptor opened with
 * O_EXCL and O_RDONLY: the kernel then refuses mounts, swapon, md, device
 * mapper and other exclusive openers, also of its partitions.  I/O descriptors
 * are opened beside it without O_EXCL, through it, so that the path is not
 * asked again.  Every written target, device or file, also carries an exclusive
 * flock(2), which stops a second agent of this host where O_EXCL does not
 * reach. Targets that are only read are not claimed.
 *
 * One target named twice (two sds, two links) is one claim.
 *
 * Files made for this campaign whose fill did not come to its end are removed
 * when the claims are released; files that were extended get their old length
 * back.  So nothing half-filled stays behind to be taken for whole; after a
 * crash its mark tells that it is not.
 *
 * Threads: as interlock.h.
 */
#ifndef AGENT_CLAIM_H
#define AGENT_CLAIM_H

#include "agent/interlock.h"
#include "common/base.h"
#include "common/diag.h"

#define CLAIMS_MAX 4096u

/* An empty set.  `policy` must outlive it.  -ENOMEM. */
int claims_new(const struct interlock_policy *policy,
               const struct uuid *campaign, struct claims **ret_claims,
               struct diag *diag) MUST_CHECK;

/*
 * Gives everything back.  Close the I/O descriptors first.  NULL is fine.
 * Returns NULL.
 */
struct claims *claims_release(struct claims *claims);

/* How many targets are held. */
uint32_t claims_count(const struct claims *claims);

#endif
