#include "common/keys.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "common/diag.h"
#include "common/key_file.h"
#include "common/keys_private.h"
#include "common/uuid.h"

#define DAY_S          86400L
#define AUTHORITY_DAYS 3653L
#define BUNDLE_DAYS    731L
#define SERIAL_BITS    127

void identity_done(struct identity *identity)
{
    EVP_PKEY_free(identity->key);
    X509_free(identity->certificate);
    *identity = (struct identity){NULL, NULL};
}

int keys_openssl_failed(struct diag *diag, const char *what)
{
    unsigned long code = ERR_peek_error();
    const char *reason = code == 0 ? NULL : ERR_reason_error_string(code);

    ERR_clear_error();
    return diag_set(diag, -EIO, "cannot %s: %s", what,
                    reason == NULL ? "unknown error" : reason);
}

/* ---- Certificates -------------------------------------------------------- */

static int set_serial(X509 *x)
{
    BIGNUM *number = BN_new();
    int ok =
        number != NULL &&
        BN_rand(number, SERIAL_BITS, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) &&
        BN_to_ASN1_INTEGER(number, X509_get_serialNumber(x)) != NULL;

    BN_free(number);
    return ok;
}

/* Valid from a day ago: clocks of test hosts are what they are. */
static int set_dates(X509 *x, long days)
{
    return X509_gmtime_adj(X509_getm_notBefore(x), -DAY_S) != NULL &&
           X509_gmtime_adj(X509_getm_notAfter(x), days * DAY_S) != NULL;
}

static int set_subject(X509 *x, const char *name)
{
    return X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN",
                                      MBSTRING_ASC, (const unsigned char *)name,
                                      -1, -1, 0);
}

static int add_extension(X509 *x, X509V3_CTX *context, int nid,
                         const char *value)
{
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, context, nid, value);
    int ok = extension != NULL && X509_add_ext(x, extension, -1);

    X509_EXTENSION_free(extension);
    return ok;
}

/* Made and given its subject, dates and key; neither issuer nor signature. */
static int begin(struct identity *identity, const char *name, long days)
{
    ERR_clear_error();
    identity->key = EVP_EC_gen("P-256");
    identity->certificate = X509_new();
    return identity->key != NULL && identity->certificate != NULL &&
           X509_set_version(identity->certificate, X509_VERSION_3) &&
           set_serial(identity->certificate) &&
           set_dates(identity->certificate, days) &&
           set_subject(identity->certificate, name) &&
           X509_set_pubkey(identity->certificate, identity->key);
}

static int sign(X509 *x, EVP_PKEY *key)
{
    return X509_sign(x, key, EVP_sha256()) > 0;
}

/* An authority of its own name: two labs' are told apart in messages. */
static int make_authority(struct identity *authority, struct diag *diag)
{
    struct uuid uuid = uuid_random();
    char text[UUID_TEXT_SIZE], name[NAME_SIZE];
    X509V3_CTX context;
    X509 *x;

    (void)snprintf(name, sizeof(name), "Lockstep lab %.8s",
                   uuid_format(&uuid, text));
    if (!begin(authority, name, AUTHORITY_DAYS))
        return keys_openssl_failed(diag, "make the authority");
    x = authority->certificate;
    X509V3_set_ctx(&context, x, x, NULL, NULL, 0);
    if (!X509_set_issuer_name(x, X509_get_subject_name(x)) ||
        !add_extension(x, &context, NID_basic_constraints,
                       "critical,CA:TRUE,pathlen:0") ||
        !add_extension(x, &context, NID_key_usage,
                       "critical,keyCertSign,cRLSign") ||
        !add_extension(x, &context, NID_subject_key_identifier, "hash") ||
        !sign(x, authority->key))
        return keys_openssl_failed(diag, "make the authority");
    return 0;
}

static int make_member(const struct identity *authority, enum tls_role role,
                       const char *name, struct identity *member,
                       struct diag *diag)
{
    const char *usage =
        role == TLS_ROLE_CONTROLLER ? "serverAuth" : "clientAuth";
    char names[2 * NAME_SIZE + 64];
    X509V3_CTX context;
    X509 *x;

    (void)snprintf(names, sizeof(names), "DNS:%s,URI:lockstep:%s", name,
                   tls_role_name(role));
    if (!begin(member, name, BUNDLE_DAYS))
        return keys_openssl_failed(diag, "make a certificate");
    x = member->certificate;
    X509V3_set_ctx(&context, authority->certificate, x, NULL, NULL, 0);
    if (!X509_set_issuer_name(x,
                              X509_get_subject_name(authority->certificate)) ||
        !add_extension(x, &context, NID_basic_constraints,
                       "critical,CA:FALSE") ||
        !add_extension(x, &context, NID_key_usage,
                       "critical,digitalSignature") ||
        !add_extension(x, &context, NID_ext_key_usage, usage) ||
        !add_extension(x, &context, NID_subject_alt_name, names) ||
        !add_extension(x, &context, NID_authority_key_identifier,
                       "keyid:always") ||
        !sign(x, authority->key))
        return keys_openssl_failed(diag, "make a certificate");
    return 0;
}

/* ---- Files --------------------------------------------------------------- */

int keys_join(const char *directory, const char *file, char path[PATH_SIZE],
              struct diag *diag)
{
    int length = snprintf(path, PATH_SIZE, "%s/%s", directory, file);

    if (length < 0 || length >= PATH_SIZE)
        return diag_set(diag, -ENAMETOOLONG, "the path '%s' is too long",
                        directory);
    return 0;
}

/* Key, certificate and, unless NULL, the authority's certificate. */
static int write_identity(const char *path, const struct identity *identity,
                          X509 *authority, struct diag *diag)
{
    BIO *bio = BIO_new(BIO_s_secmem());
    char *data = NULL;
    long length;
    int r;

    if (bio == NULL ||
        !PEM_write_bio_PKCS8PrivateKey(bio, identity->key, NULL, NULL, 0, NULL,
                                       NULL) ||
        !PEM_write_bio_X509(bio, identity->certificate) ||
        (authority != NULL && !PEM_write_bio_X509(bio, authority))) {
        BIO_free(bio);
        return keys_openssl_failed(diag, "put a bundle together");
    }
    length = BIO_get_mem_data(bio, &data);
    r = key_file_write(path, data, (size_t)length, diag);
    BIO_free(bio);
    return r;
}

int keys_read_authority(const char *directory, struct identity *authority,
                        struct diag *diag)
{
    char path[PATH_SIZE], pem[KEY_FILE_MAX];
    size_t length = 0;
    BIO *bio = NULL;
    int r = keys_join(directory, KEYS_AUTHORITY_FILE, path, diag);

    if (r == 0)
        r = key_file_read(path, pem, &length, diag);
    if (r == -ENOENT)
        diag_set(diag, r,
                 "there is no authority '%s' yet; 'lockstep keys init' makes "
                 "one",
                 path);
    if (r == 0)
        bio = BIO_new_mem_buf(pem, (int)length);
    if (bio == NULL)
        return r < 0 ? r : keys_openssl_failed(diag, "read the authority");
    authority->key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
    authority->certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    BIO_free(bio);
    OPENSSL_cleanse(pem, sizeof(pem));
    ERR_clear_error();
    if (authority->key == NULL || authority->certificate == NULL ||
        X509_check_private_key(authority->certificate, authority->key) != 1) {
        ERR_clear_error();
        return diag_set(diag, -EINVAL,
                        "'%s' is no authority: expected its key and its "
                        "certificate",
                        path);
    }
    return 0;
}

/* ---- What `lockstep keys` does ------------------------------------------- */

static int check_name(const char *name, struct diag *diag)
{
    size_t length = strlen(name);
    bool good = length > 0 && length <= KEYS_NAME_MAX && name[0] != '.' &&
                name[0] != '-';

    for (size_t i = 0; i < length && good; i++)
        good =
            isalnum((unsigned char)name[i]) || strchr(".-_", name[i]) != NULL;
    if (good)
        return 0;
    return diag_set(diag, -EINVAL,
                    "'%.80s' is no name for a key: up to %d letters, digits, "
                    "'.', '-' and '_', and not '.' or '-' first",
                    name, KEYS_NAME_MAX);
}

static int make_directory(const char *directory, struct diag *diag)
{
    if (mkdir(directory, 0700) == 0 || errno == EEXIST)
        return 0;
    return diag_set(diag, -errno, "cannot make the directory '%s': %s",
                    directory, strerror(errno));
}

static int write_lab(const char *directory, const struct identity *authority,
                     const struct identity *controller, struct diag *diag)
{
    char authority_path[PATH_SIZE], controller_path[PATH_SIZE];
    int r = keys_join(directory, KEYS_AUTHORITY_FILE, authority_path, diag);

    if (r == 0)
        r = keys_join(directory, "controller.pem", controller_path, diag);
    if (r == 0)
        r = make_directory(directory, diag);
    if (r == 0)
        r = write_identity(authority_path, authority, NULL, diag);
    if (r < 0)
        return r;
    r = write_identity(controller_path, controller, authority->certificate,
                       diag);
    if (r == 0)
        r = keys_register(directory, controller->certificate, diag);
    if (r < 0)
        (void)unlink(authority_path);
    return r;
}

int keys_init(const char *directory, struct diag *diag)
{
    struct identity authority = {NULL, NULL};
    struct identity controller = {NULL, NULL};
    int r = make_authority(&authority, diag);

    if (r == 0)
        r = make_member(&authority, TLS_ROLE_CONTROLLER, "controller",
                        &controller, diag);
    if (r == 0)
        r = write_lab(directory, &authority, &controller, diag);
    identity_done(&controller);
    identity_done(&authority);
    return r;
}

static int issue_into(const char *path, const char *directory,
                      enum tls_role role, const char *name, struct diag *diag)
{
    struct identity authority = {NULL, NULL};
    struct identity member = {NULL, NULL};
    int r = keys_read_authority(directory, &authority, diag);

    if (r == 0)
        r = make_member(&authority, role, name, &member, diag);
    if (r == 0)
        r = write_identity(path, &member, authority.certificate, diag);
    if (r == 0)
        r = keys_register(directory, member.certificate, diag);
    if (r < 0 && member.certificate != NULL && r != -EEXIST)
        (void)unlink(path);
    identity_done(&member);
    identity_done(&authority);
    return r;
}

static int bundle_path(const char *directory, enum tls_role role,
                       const char *name, char path[PATH_SIZE],
                       struct diag *diag)
{
    char file[NAME_SIZE + 32];

    if (role == TLS_ROLE_CONTROLLER)
        (void)snprintf(file, sizeof(file), "controller.pem");
    else
        (void)snprintf(file, sizeof(file), "%s-%s.pem", tls_role_name(role),
                       name);
    return keys_join(directory, file, path, diag);
}

int keys_issue(const char *directory, enum tls_role role, const char *name,
               char *ret_path, struct diag *diag)
{
    char path[PATH_SIZE];
    int r = check_name(name, diag);

    if (r == 0 && (role == TLS_ROLE_NONE || role == TLS_ROLE_CONTROLLER))
        r = diag_set(diag, -EINVAL, "no bundles are issued for role '%s'",
                     tls_role_name(role));
    if (r == 0)
        r = bundle_path(directory, role, name, path, diag);
    if (r == 0)
        r = issue_into(path, directory, role, name, diag);
    if (r == 0)
        memcpy(ret_path, path, strlen(path) + 1);
    return r;
}

/* Beside the bundle first: at no time is there none. */
static int replace(const char *path, const char *directory, enum tls_role role,
                   const char *name, struct diag *diag)
{
    char fresh[PATH_SIZE];
    int length = snprintf(fresh, sizeof(fresh), "%s.new", path);
    int r;

    if (length < 0 || length >= PATH_SIZE)
        return diag_set(diag, -ENAMETOOLONG, "the path '%s' is too long", path);
    (void)unlink(fresh); /* of a call that was cut short */
    r = issue_into(fresh, directory, role, name, diag);
    if (r == 0 && rename(fresh, path) < 0)
        r = diag_set(diag, -errno, "cannot put '%s' in its place: %s", path,
                     strerror(errno));
    return r;
}

int keys_renew(const char *directory, const char *who, char *ret_path,
               struct diag *diag)
{
    struct keys_entry *entries = NULL;
    const struct keys_entry *last = NULL;
    char path[PATH_SIZE];
    uint32_t count = 0;
    int r = keys_list(directory, &entries, &count, diag);

    for (uint32_t i = 0; r == 0 && i < count; i++) {
        if (!keys_entry_is(&entries[i], who))
            continue;
        if (last != NULL && last->role != entries[i].role)
            r = diag_set(diag, -EINVAL,
                         "'%s' is %s and %s: name the bundle, as in %s-%s", who,
                         tls_role_name(last->role),
                         tls_role_name(entries[i].role),
                         tls_role_name(entries[i].role), who);
        last = &entries[i];
    }
    if (r == 0 && last == NULL)
        r = diag_set(diag, -ENOENT,
                     "no certificate of '%s' was issued here; 'lockstep keys "
                     "list' shows them",
                     who);
    if (r == 0)
        r = bundle_path(directory, last->role, last->name, path, diag);
    if (r == 0)
        r = replace(path, directory, last->role, last->name, diag);
    if (r == 0)
        memcpy(ret_path, path, strlen(path) + 1);
    free(entries);
    return r;
}
