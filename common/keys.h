/*
 * keys.h - the lab's authority and the bundles it issues.
 *
 * What it is for: `lockstep keys`.  A directory holds `authority.pem` (the key
 * that may issue; guard it) and `controller.pem`; every agent and operator gets
 * one bundle file, which is copied to its host.  A bundle is private key,
 * certificate and the authority's certificate in PEM, readable by its owner
 * only.  EC P-256; the authority lives ten years, all others two.
 *
 * Nothing that exists is ever overwritten: -EEXIST.  What a failed call began
 * is removed.
 */
#ifndef COMMON_KEYS_H
#define COMMON_KEYS_H

#include "common/base.h"
#include "common/tls.h"

struct diag;

#define KEYS_NAME_MAX 64 /* letters, digits, '.', '-', '_' */

/* Makes `directory` (0700) where needed, the authority, and the controller's
 * bundle. */
int keys_init(const char *directory, struct diag *diag) MUST_CHECK;

/*
 * Issues the bundle `<directory>/<role>-<name>.pem` of an agent or operator
 * and writes its path, which has PATH_SIZE bytes.
 */
int keys_issue(const char *directory, enum tls_role role, const char *name,
               char *ret_path, struct diag *diag) MUST_CHECK;

#endif
