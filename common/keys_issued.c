/*
 * keys_issued.c - the certificates that were issued, and those revoked.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "common/diag.h"
#include "common/keys_private.h"

#define DAY_S        86400L
#define REVOKED_DAYS 3653L /* as long as the authority lives */
#define ROLE_PREFIX  "lockstep:"

static int file_failed(struct diag *diag, const char *what, const char *path)
{
    return diag_set(diag, -errno, "cannot %s '%s': %s", what, path,
                    strerror(errno));
}

/* ---- issued.pem ---------------------------------------------------------- */

int keys_register(const char *directory, X509 *certificate, struct diag *diag)
{
    char path[PATH_SIZE];
    FILE *file = NULL;
    int r = keys_join(directory, KEYS_ISSUED_FILE, path, diag);
    bool written;

    if (r < 0)
        return r;
    file = fopen(path, "ae");
    if (file == NULL)
        return file_failed(diag, "open", path);
    written = PEM_write_X509(file, certificate) == 1 && fflush(file) == 0 &&
              fsync(fileno(file)) == 0;
    if (fclose(file) != 0 || !written)
        return file_failed(diag, "write", path);
    return 0;
}

static int64_t seconds_of(const ASN1_TIME *time)
{
    struct tm tm;

    return ASN1_TIME_to_tm(time, &tm) == 1 ? timegm(&tm) : 0;
}

static void print_serial(const ASN1_INTEGER *serial,
                         char text[KEYS_SERIAL_SIZE])
{
    BIGNUM *number = ASN1_INTEGER_to_BN(serial, NULL);
    char *hex = number == NULL ? NULL : BN_bn2hex(number);

    (void)snprintf(text, KEYS_SERIAL_SIZE, "%s", hex != NULL ? hex : "");
    for (char *c = text; *c != '\0'; c++)
        if (*c >= 'A' && *c <= 'F')
            *c = (char)(*c - 'A' + 'a');
    OPENSSL_free(hex);
    BN_free(number);
}

static enum tls_role role_of(const X509 *certificate)
{
    static const enum tls_role all[] = {TLS_ROLE_AGENT, TLS_ROLE_OPERATOR,
                                        TLS_ROLE_VIEWER, TLS_ROLE_CONTROLLER};
    GENERAL_NAMES *names =
        X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    enum tls_role role = TLS_ROLE_NONE;
    char wanted[32];

    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
        const ASN1_STRING *uri = name->d.uniformResourceIdentifier;

        for (size_t k = 0; name->type == GEN_URI && k < ARRAY_LENGTH(all);
             k++) {
            (void)snprintf(wanted, sizeof(wanted), ROLE_PREFIX "%s",
                           tls_role_name(all[k]));
            if (strlen(wanted) == (size_t)ASN1_STRING_length(uri) &&
                memcmp(wanted, ASN1_STRING_get0_data(uri), strlen(wanted)) == 0)
                role = all[k];
        }
    }
    GENERAL_NAMES_free(names);
    return role;
}

static void read_entry(const X509 *certificate, X509_CRL *revoked,
                       struct keys_entry *entry)
{
    const ASN1_INTEGER *serial = X509_get0_serialNumber(certificate);
    X509_REVOKED *found = NULL;

    *entry = (struct keys_entry){
        .role = role_of(certificate),
        .issued_s = seconds_of(X509_get0_notBefore(certificate)) + DAY_S,
        .expires_s = seconds_of(X509_get0_notAfter(certificate)),
    };
    print_serial(serial, entry->serial);
    (void)X509_NAME_get_text_by_NID(X509_get_subject_name(certificate),
                                    NID_commonName, entry->name,
                                    sizeof(entry->name));
    if (revoked != NULL &&
        X509_CRL_get0_by_serial(revoked, &found, serial) == 1)
        entry->revoked_s = seconds_of(X509_REVOKED_get0_revocationDate(found));
}

/* NULL where there is none yet; that is fine. */
static int read_revoked(const char *directory, X509_CRL **ret_list,
                        struct diag *diag)
{
    char path[PATH_SIZE];
    FILE *file;
    int r = keys_join(directory, KEYS_REVOKED_FILE, path, diag);

    *ret_list = NULL;
    if (r < 0)
        return r;
    file = fopen(path, "re");
    if (file == NULL)
        return errno == ENOENT ? 0 : file_failed(diag, "read", path);
    *ret_list = PEM_read_X509_CRL(file, NULL, NULL, NULL);
    (void)fclose(file);
    ERR_clear_error();
    if (*ret_list == NULL)
        return diag_set(diag, -EINVAL,
                        "'%s' is no list of revoked certificates", path);
    return 0;
}

static int add_entry(struct keys_entry **entries, uint32_t *count,
                     const X509 *certificate, X509_CRL *revoked)
{
    struct keys_entry *grown =
        reallocarray(*entries, *count + 1, sizeof(*grown));

    if (grown == NULL)
        return -ENOMEM;
    *entries = grown;
    read_entry(certificate, revoked, &grown[(*count)++]);
    return 0;
}

int keys_list(const char *directory, struct keys_entry **ret_entries,
              uint32_t *ret_count, struct diag *diag)
{
    struct keys_entry *entries = NULL;
    X509_CRL *revoked = NULL;
    X509 *certificate;
    char path[PATH_SIZE];
    uint32_t count = 0;
    FILE *file;
    int r = keys_join(directory, KEYS_ISSUED_FILE, path, diag);

    if (r == 0)
        r = read_revoked(directory, &revoked, diag);
    if (r < 0)
        return r;
    file = fopen(path, "re");
    if (file == NULL) {
        r = diag_set(diag, -errno,
                     "cannot read '%s': %s; 'lockstep keys init' makes a lab's "
                     "keys",
                     path, strerror(errno));
        X509_CRL_free(revoked);
        return r;
    }
    while (r == 0 &&
           (certificate = PEM_read_X509(file, NULL, NULL, NULL)) != NULL) {
        r = add_entry(&entries, &count, certificate, revoked);
        X509_free(certificate);
    }
    ERR_clear_error(); /* the end of the file is one */
    (void)fclose(file);
    X509_CRL_free(revoked);
    if (r < 0) {
        free(entries);
        return diag_set(diag, r, "no memory for the list of keys");
    }
    *ret_entries = entries;
    *ret_count = count;
    return 0;
}

bool keys_entry_is(const struct keys_entry *entry, const char *who)
{
    char bundle[NAME_SIZE + 32];

    (void)snprintf(bundle, sizeof(bundle), "%s-%s", tls_role_name(entry->role),
                   entry->name);
    return strcmp(entry->name, who) == 0 || strcmp(bundle, who) == 0 ||
           strcmp(entry->serial, who) == 0;
}

/* ---- revoked.pem --------------------------------------------------------- */

static bool add_revoked(X509_CRL *list, const char *serial)
{
    X509_REVOKED *entry = X509_REVOKED_new();
    ASN1_TIME *now = X509_gmtime_adj(NULL, 0);
    ASN1_INTEGER *number = NULL;
    BIGNUM *big = NULL;
    bool done = entry != NULL && now != NULL && BN_hex2bn(&big, serial) > 0;

    if (done)
        number = BN_to_ASN1_INTEGER(big, NULL);
    done = number != NULL &&
           X509_REVOKED_set_serialNumber(entry, number) == 1 &&
           X509_REVOKED_set_revocationDate(entry, now) == 1 &&
           X509_CRL_add0_revoked(list, entry) == 1;
    if (!done)
        X509_REVOKED_free(entry);
    ASN1_INTEGER_free(number);
    ASN1_TIME_free(now);
    BN_free(big);
    return done;
}

static bool sign_list(X509_CRL *list, const struct identity *authority)
{
    ASN1_TIME *now = X509_gmtime_adj(NULL, -DAY_S);
    ASN1_TIME *next = X509_gmtime_adj(NULL, REVOKED_DAYS * DAY_S);
    bool done =
        now != NULL && next != NULL && X509_CRL_set_version(list, 1) == 1 &&
        X509_CRL_set_issuer_name(
            list, X509_get_subject_name(authority->certificate)) == 1 &&
        X509_CRL_set1_lastUpdate(list, now) == 1 &&
        X509_CRL_set1_nextUpdate(list, next) == 1 && X509_CRL_sort(list) == 1 &&
        X509_CRL_sign(list, authority->key, EVP_sha256()) > 0;

    ASN1_TIME_free(now);
    ASN1_TIME_free(next);
    return done;
}

/* In the place of the old one at once: a controller may read it any time. */
static int write_list(const char *path, X509_CRL *list, struct diag *diag)
{
    char fresh[PATH_SIZE];
    int length = snprintf(fresh, sizeof(fresh), "%s.new", path);
    FILE *file;
    bool written;

    if (length < 0 || length >= PATH_SIZE)
        return diag_set(diag, -ENAMETOOLONG, "the path '%s' is too long", path);
    file = fopen(fresh, "we");
    if (file == NULL)
        return file_failed(diag, "make", fresh);
    (void)fchmod(fileno(file), 0644); /* it is no secret */
    written = PEM_write_X509_CRL(file, list) == 1 && fflush(file) == 0 &&
              fsync(fileno(file)) == 0;
    if (fclose(file) != 0 || !written || rename(fresh, path) != 0)
        return file_failed(diag, "write", path);
    return 0;
}

/* Adds the entries of `who` to the list. */
static int revoke_entries(X509_CRL *list, const struct keys_entry *entries,
                          uint32_t count, const char *who, uint32_t *ret_count,
                          struct diag *diag)
{
    uint32_t found = 0;

    *ret_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!keys_entry_is(&entries[i], who))
            continue;
        found++;
        if (entries[i].revoked_s != 0)
            continue;
        if (!add_revoked(list, entries[i].serial))
            return keys_openssl_failed(diag, "add to the revoked ones");
        ++*ret_count;
    }
    if (found > 0)
        return 0;
    return diag_set(diag, -ENOENT,
                    "no certificate of '%s' was issued here; 'lockstep keys "
                    "list' shows them",
                    who);
}

int keys_revoke(const char *directory, const char *who, uint32_t *ret_count,
                char *ret_path, struct diag *diag)
{
    struct identity authority = {NULL, NULL};
    struct keys_entry *entries = NULL;
    X509_CRL *list = NULL;
    char path[PATH_SIZE];
    uint32_t count = 0;
    int r = keys_join(directory, KEYS_REVOKED_FILE, path, diag);

    if (r == 0)
        r = keys_read_authority(directory, &authority, diag);
    if (r == 0)
        r = keys_list(directory, &entries, &count, diag);
    if (r == 0)
        r = read_revoked(directory, &list, diag);
    if (r == 0 && list == NULL)
        list = X509_CRL_new();
    if (r == 0 && list == NULL)
        r = diag_set(diag, -ENOMEM, "no memory for the revoked ones");
    if (r == 0)
        r = revoke_entries(list, entries, count, who, ret_count, diag);
    if (r == 0 && !sign_list(list, &authority))
        r = keys_openssl_failed(diag, "sign the revoked ones");
    if (r == 0)
        r = write_list(path, list, diag);
    if (r == 0)
        memcpy(ret_path, path, strlen(path) + 1);
    X509_CRL_free(list);
    free(entries);
    identity_done(&authority);
    return r;
}
