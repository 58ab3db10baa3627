/*
 * keys_private.h - what the files of keys.h share.
 */
#ifndef COMMON_KEYS_PRIVATE_H
#define COMMON_KEYS_PRIVATE_H

#include <openssl/x509.h>

#include "common/keys.h"

#define KEYS_AUTHORITY_FILE "authority.pem"
#define KEYS_ISSUED_FILE    "issued.pem"
#define KEYS_REVOKED_FILE   "revoked.pem"

/* A key and its certificate. */
struct identity {
    EVP_PKEY *key;
    X509 *certificate;
};

void identity_done(struct identity *identity);

/* -EIO, with OpenSSL's own reason. */
int keys_openssl_failed(struct diag *diag, const char *what);

/* "<directory>/<file>". */
int keys_join(const char *directory, const char *file, char path[PATH_SIZE],
              struct diag *diag) MUST_CHECK;

int keys_read_authority(const char *directory, struct identity *authority,
                        struct diag *diag) MUST_CHECK;

/* Adds a certificate to those that were issued. */
int keys_register(const char *directory, X509 *certificate,
                  struct diag *diag) MUST_CHECK;

#endif
