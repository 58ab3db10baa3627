/*
 * keys.h - the lab's authority and the bundles it issues.
 *
 * What it is for: `lockstep keys`.  A directory holds `authority.pem` (the key
 * that may issue; guard it) and `controller.pem`; every agent and operator gets
 * one bundle file, which is copied to its host.  A bundle is private key,
 * certificate and the authority's certificate in PEM, readable by its owner
 * only.  EC P-256; the authority lives ten years, all others two.
 *
 * Two public files beside them: `issued.pem` has every certificate that was
 * issued, `revoked.pem` is the authority's list (an X.509 CRL) of those that
 * are not accepted any more.
 *
 * A bundle that exists is overwritten by keys_renew() alone: -EEXIST.  What a
 * failed call began is removed.
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
 * Issues the bundle `<directory>/<role>-<name>.pem` of an agent, operator or
 * viewer and writes its path, which has PATH_SIZE bytes.
 */
int keys_issue(const char *directory, enum tls_role role, const char *name,
               char *ret_path, struct diag *diag) MUST_CHECK;

/* ---- What was issued ----------------------------------------------------- */

#define KEYS_SERIAL_SIZE    48
#define KEYS_EXPIRES_SOON_S (INT64_C(30) * 24 * 3600)

/* One certificate; times are seconds of the wall clock. */
struct keys_entry {
    char serial[KEYS_SERIAL_SIZE]; /* hexadecimal */
    char name[NAME_SIZE];
    enum tls_role role;
    int64_t issued_s;
    int64_t expires_s;
    int64_t revoked_s; /* 0: it is not */
};

/* All that were issued, oldest first; free() them. */
int keys_list(const char *directory, struct keys_entry **ret_entries,
              uint32_t *ret_count, struct diag *diag) MUST_CHECK;

/* Is `who`, a name, a bundle's ("agent-host1") or a serial, this one? */
bool keys_entry_is(const struct keys_entry *entry, const char *who);

/*
 * Issues the bundle of `who` anew, with a new key, in place of the file there
 * was.  The certificate before it stays good until it expires or is revoked.
 */
int keys_renew(const char *directory, const char *who, char *ret_path,
               struct diag *diag) MUST_CHECK;

/*
 * Puts all certificates of `who` on the list of revoked ones.  `ret_count`: how
 * many were not yet; `ret_path` (PATH_SIZE): the list.  -ENOENT: none was
 * issued here.
 */
int keys_revoke(const char *directory, const char *who, uint32_t *ret_count,
                char *ret_path, struct diag *diag) MUST_CHECK;

#endif
