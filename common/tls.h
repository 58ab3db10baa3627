/*
 * tls.h - TLS 1.3 as a filter: bytes in, bytes out, no I/O.
 *
 * What it is for: both sides of a connection show a certificate of the same
 * lab authority (keys.h makes them).  A certificate carries a name (CN, and as
 * DNS alternative name) and a role (URI alternative name "lockstep:agent",
 * "lockstep:operator", "lockstep:viewer" or "lockstep:controller").  A peer
 * without a certificate, of another authority, out of its dates, revoked, or of
 * a role that was not asked for fails the handshake.
 *
 * Threads: a context is made once and then only read, but for
 * tls_context_revoke(); it and its filters have one owner.
 */
#ifndef COMMON_TLS_H
#define COMMON_TLS_H

#include "common/base.h"

struct diag;

enum tls_role {
    TLS_ROLE_NONE = 0,
    TLS_ROLE_AGENT = 1, /* bits: a set of them says who is accepted */
    TLS_ROLE_OPERATOR = 2,
    TLS_ROLE_CONTROLLER = 4,
    TLS_ROLE_VIEWER = 8, /* watches and reads, orders nothing */
};

/* "agent", "operator", "controller", "viewer" or "none". */
const char *tls_role_name(enum tls_role role);

/* ---- Contexts: one's own key and certificate, and the authority's -------- */

struct tls_context;

/*
 * Loads a bundle: one PEM file with private key, certificate and authority.
 * Refuses one that others may read, that is not a regular file, whose key does
 * not belong to its certificate, whose certificate is not the authority's, or
 * is out of its dates; the text says what to do.
 */
int tls_context_load(const char *path, struct tls_context **ret_context,
                     struct diag *diag) MUST_CHECK;

/* The same from memory; `label` stands for the path in texts. */
int tls_context_parse(const char *pem, size_t length, const char *label,
                      struct tls_context **ret_context,
                      struct diag *diag) MUST_CHECK;

/* NULL is fine.  Returns NULL.  Filters must have gone before. */
struct tls_context *tls_context_free(struct tls_context *context);

/* Of its own certificate; the time is of the wall clock. */
const char *tls_context_name(const struct tls_context *context);
enum tls_role tls_context_role(const struct tls_context *context);
int64_t tls_context_expires_s(const struct tls_context *context);

/*
 * Loads the list of revoked certificates (keys.h), in place of the one there
 * was: from now on handshakes with these fail.  -ENOENT: there is no such file.
 * On failure the list is as before.
 */
int tls_context_revoke(struct tls_context *context, const char *path,
                       struct diag *diag) MUST_CHECK;

/*
 * Who shows this certificate (DER), to somebody else's TLS: as a filter checks
 * its peers.  `ret_name` has NAME_SIZE bytes.  -EKEYREJECTED with `diag`.
 */
int tls_context_vouch(struct tls_context *context, const uint8_t *der,
                      size_t length, uint32_t peer_roles, char *ret_name,
                      enum tls_role *ret_role, struct diag *diag) MUST_CHECK;

/* ---- Filters: one connection --------------------------------------------- */

struct tls_filter;

enum tls_side {
    TLS_DIALS,
    TLS_ACCEPTS,
};

/* `peer_roles`: which roles the peer may have.  NULL without memory. */
struct tls_filter *tls_filter_new(struct tls_context *context,
                                  enum tls_side side,
                                  uint32_t peer_roles) MUST_CHECK;

/* NULL is fine.  Returns NULL. */
struct tls_filter *tls_filter_free(struct tls_filter *filter);

/*
 * Begins (length 0) or goes on: takes bytes that came from the wire.  Returns 0
 * or a negative errno with `diag`; then, too, tls_filter_output() may hold an
 * alert that is worth sending before the end.
 */
int tls_filter_input(struct tls_filter *filter, const uint8_t *data,
                     size_t length, struct diag *diag) MUST_CHECK;

/*
 * Takes decrypted bytes: how many (> 0), 0 when there are no more now, -EPIPE
 * after the peer's orderly end, other errors with `diag`.
 */
int tls_filter_read(struct tls_filter *filter, uint8_t *data, size_t size,
                    struct diag *diag) MUST_CHECK;

/* Encrypts all of it; only once open. */
int tls_filter_write(struct tls_filter *filter, const uint8_t *data,
                     size_t length, struct diag *diag) MUST_CHECK;

/* Says the orderly end to the peer. */
void tls_filter_end(struct tls_filter *filter);

/*
 * Bytes for the wire: `ret_data` is valid until the next call on the filter.
 * Ask after every other call, after failed ones too, then
 * tls_filter_sent(how many).
 */
size_t tls_filter_output(struct tls_filter *filter, const uint8_t **ret_data);
void tls_filter_sent(struct tls_filter *filter, size_t length);

/* The handshake is done on this side; the peer was checked. */
bool tls_filter_is_open(const struct tls_filter *filter);

/* Of the peer's certificate, once open. */
const char *tls_filter_peer_name(const struct tls_filter *filter);
enum tls_role tls_filter_peer_role(const struct tls_filter *filter);
int64_t tls_filter_peer_expires_s(const struct tls_filter *filter);

/* Why the peer's certificate, which was good once, is not any more (revoked,
 * expired); NULL: it is good. */
const char *tls_filter_peer_refusal(const struct tls_filter *filter,
                                    int64_t now_s);

#endif
