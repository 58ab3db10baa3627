#include "common/tls.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "common/diag.h"
#include "common/key_file.h"

#define ROLE_PREFIX "lockstep:"
#define CIPHERS                                                                \
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:"                           \
    "TLS_CHACHA20_POLY1305_SHA256"

static const struct {
    enum tls_role role;
    const char *name;
} roles[] = {
    {TLS_ROLE_AGENT, "agent"},
    {TLS_ROLE_OPERATOR, "operator"},
    {TLS_ROLE_CONTROLLER, "controller"},
    {TLS_ROLE_VIEWER, "viewer"},
};

const char *tls_role_name(enum tls_role role)
{
    for (size_t i = 0; i < ARRAY_LENGTH(roles); i++)
        if (roles[i].role == role)
            return roles[i].name;
    return "none";
}

/* ---- What a certificate says ------------------------------------------------
 */

static enum tls_role role_of_uri(const ASN1_IA5STRING *uri)
{
    const char *text = (const char *)ASN1_STRING_get0_data(uri);
    size_t length = (size_t)ASN1_STRING_length(uri);
    size_t prefix = strlen(ROLE_PREFIX);

    if (length < prefix || memcmp(text, ROLE_PREFIX, prefix) != 0)
        return TLS_ROLE_NONE;
    for (size_t i = 0; i < ARRAY_LENGTH(roles); i++)
        if (strlen(roles[i].name) == length - prefix &&
            memcmp(text + prefix, roles[i].name, length - prefix) == 0)
            return roles[i].role;
    return TLS_ROLE_NONE;
}

/* The first role among the URI alternative names. */
static enum tls_role certificate_role(const X509 *certificate)
{
    GENERAL_NAMES *names =
        X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
    enum tls_role role = TLS_ROLE_NONE;

    for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);

        if (name->type == GEN_URI && role == TLS_ROLE_NONE)
            role = role_of_uri(name->d.uniformResourceIdentifier);
    }
    GENERAL_NAMES_free(names);
    return role;
}

/* The common name; "" where there is none or it is not plain text. */
static void certificate_name(const X509 *certificate, char name[NAME_SIZE])
{
    int length = X509_NAME_get_text_by_NID(X509_get_subject_name(certificate),
                                           NID_commonName, name, NAME_SIZE);

    if (length < 0 || strlen(name) != (size_t)length)
        name[0] = '\0';
}

static int64_t certificate_expires_s(const X509 *certificate)
{
    struct tm tm;

    if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &tm) != 1)
        return 0;
    return timegm(&tm);
}

/* ---- Contexts ------------------------------------------------------------ */

struct tls_context {
    SSL_CTX *ssl;
    X509 *authority;
    X509_CRL *revoked; /* NULL: none */
    char name[NAME_SIZE];
    enum tls_role role;
    int64_t expires_s;
};

/* OpenSSL's own words for the first error of the last call. */
static const char *openssl_reason(void)
{
    unsigned long code = ERR_peek_error();
    const char *reason = code == 0 ? NULL : ERR_reason_error_string(code);

    return reason == NULL ? "unknown error" : reason;
}

static int filter_index(void);
static int check_peer(int ok, X509_STORE_CTX *store);

static SSL_CTX *make_ssl_context(void)
{
    SSL_CTX *ssl = SSL_CTX_new(TLS_method());

    if (ssl == NULL || filter_index() < 0) {
        SSL_CTX_free(ssl);
        return NULL;
    }
    SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(ssl, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                       check_peer);
    if (SSL_CTX_set_min_proto_version(ssl, TLS1_3_VERSION) == 1 &&
        SSL_CTX_set_max_proto_version(ssl, TLS1_3_VERSION) == 1 &&
        SSL_CTX_set_ciphersuites(ssl, CIPHERS) == 1 &&
        SSL_CTX_set_num_tickets(ssl, 0) == 1)
        return ssl;
    SSL_CTX_free(ssl);
    return NULL;
}

/* The three parts of a bundle, as they are read. */
struct bundle {
    EVP_PKEY *key;
    X509 *own;
    X509 *authority;
};

static void bundle_done(struct bundle *bundle)
{
    EVP_PKEY_free(bundle->key);
    X509_free(bundle->own);
    X509_free(bundle->authority);
}

/* Our files have no passphrase; never ask a terminal for one. */
static int no_passphrase(char *text, int size, int writing, void *user)
{
    (void)text, (void)size, (void)writing, (void)user;
    return -1;
}

static int read_bundle(const char *pem, size_t length, const char *label,
                       struct bundle *bundle, struct diag *diag)
{
    BIO *bio = BIO_new_mem_buf(pem, (int)length);
    const char *missing = NULL;

    if (bio == NULL)
        return diag_set(diag, -ENOMEM, "'%s': no memory to read it", label);
    bundle->key = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL);
    bundle->own = PEM_read_bio_X509(bio, NULL, no_passphrase, NULL);
    bundle->authority = PEM_read_bio_X509(bio, NULL, no_passphrase, NULL);
    BIO_free(bio);
    ERR_clear_error();
    if (bundle->key == NULL)
        missing = "a private key";
    else if (bundle->own == NULL)
        missing = "a certificate";
    else if (bundle->authority == NULL)
        missing = "the authority's certificate";
    if (missing != NULL)
        return diag_set(diag, -EINVAL,
                        "'%s' is no key bundle: it lacks %s; 'lockstep keys' "
                        "makes bundles",
                        label, missing);
    return 0;
}

/* X509_V_OK when the certificate is the authority's and within its dates, as a
 * peer of ours would find. */
static int verify(SSL_CTX *ssl, X509 *certificate)
{
    X509_STORE_CTX *check = X509_STORE_CTX_new();
    int error = X509_V_ERR_OUT_OF_MEM;

    if (check != NULL &&
        X509_STORE_CTX_init(check, SSL_CTX_get_cert_store(ssl), certificate,
                            NULL) == 1 &&
        X509_verify_cert(check) == 1)
        error = X509_V_OK;
    else if (check != NULL)
        error = X509_STORE_CTX_get_error(check);
    X509_STORE_CTX_free(check);
    ERR_clear_error();
    return error;
}

static int check_own(SSL_CTX *ssl, const struct bundle *bundle,
                     const char *label, struct diag *diag)
{
    int error = verify(ssl, bundle->own);

    if (error == X509_V_OK)
        return 0;
    return diag_set(diag, -EKEYREJECTED,
                    "the certificate in '%s' is of no use: %s%s", label,
                    X509_verify_cert_error_string(error),
                    error == X509_V_ERR_CERT_HAS_EXPIRED
                        ? "; 'lockstep keys renew' issues another"
                        : "");
}

static int use_bundle(struct tls_context *context, const struct bundle *bundle,
                      const char *label, struct diag *diag)
{
    X509_STORE *store = SSL_CTX_get_cert_store(context->ssl);

    ERR_clear_error();
    if (X509_STORE_add_cert(store, bundle->authority) != 1 ||
        SSL_CTX_add_client_CA(context->ssl, bundle->authority) != 1 ||
        SSL_CTX_use_certificate(context->ssl, bundle->own) != 1 ||
        SSL_CTX_use_PrivateKey(context->ssl, bundle->key) != 1 ||
        SSL_CTX_check_private_key(context->ssl) != 1) {
        diag_set(diag, -EKEYREJECTED, "cannot use the keys in '%s': %s", label,
                 openssl_reason());
        ERR_clear_error();
        return -EKEYREJECTED;
    }
    certificate_name(bundle->own, context->name);
    context->role = certificate_role(bundle->own);
    context->expires_s = certificate_expires_s(bundle->own);
    if (X509_up_ref(bundle->authority) == 1)
        context->authority = bundle->authority;
    if (context->role == TLS_ROLE_NONE || context->name[0] == '\0')
        return diag_set(diag, -EKEYREJECTED,
                        "the certificate in '%s' names no role of Lockstep; "
                        "issue one with 'lockstep keys'",
                        label);
    return check_own(context->ssl, bundle, label, diag);
}

int tls_context_parse(const char *pem, size_t length, const char *label,
                      struct tls_context **ret_context, struct diag *diag)
{
    struct tls_context *context = calloc(1, sizeof(*context));
    struct bundle bundle = {NULL, NULL, NULL};
    int r = 0;

    if (context != NULL)
        context->ssl = make_ssl_context();
    if (context == NULL || context->ssl == NULL)
        r = diag_set(diag, -ENOMEM, "cannot prepare TLS: %s", openssl_reason());
    if (r == 0)
        r = read_bundle(pem, length, label, &bundle, diag);
    if (r == 0)
        r = use_bundle(context, &bundle, label, diag);
    bundle_done(&bundle);
    if (r == 0)
        *ret_context = context;
    else
        tls_context_free(context);
    return r;
}

struct tls_context *tls_context_free(struct tls_context *context)
{
    if (context == NULL)
        return NULL;
    SSL_CTX_free(context->ssl);
    X509_free(context->authority);
    X509_CRL_free(context->revoked);
    free(context);
    return NULL;
}

const char *tls_context_name(const struct tls_context *context)
{
    return context->name;
}

enum tls_role tls_context_role(const struct tls_context *context)
{
    return context->role;
}

int64_t tls_context_expires_s(const struct tls_context *context)
{
    return context->expires_s;
}

static bool is_of_authority(const struct tls_context *context, X509_CRL *list)
{
    EVP_PKEY *key = X509_get0_pubkey(context->authority);
    bool good = key != NULL && X509_CRL_verify(list, key) == 1;

    ERR_clear_error();
    return good;
}

int tls_context_revoke(struct tls_context *context, const char *path,
                       struct diag *diag)
{
    FILE *file = fopen(path, "re");
    X509_CRL *list;

    if (file == NULL)
        return diag_set(diag, -errno,
                        "cannot read the revoked certificates '%s': %s", path,
                        strerror(errno));
    list = PEM_read_X509_CRL(file, NULL, no_passphrase, NULL);
    (void)fclose(file);
    ERR_clear_error();
    if (list == NULL || !is_of_authority(context, list)) {
        X509_CRL_free(list);
        return diag_set(diag, -EKEYREJECTED,
                        "'%s' is no list of this lab's revoked certificates; "
                        "'lockstep keys revoke' makes it",
                        path);
    }
    X509_CRL_free(context->revoked);
    context->revoked = list;
    return 0;
}

int tls_context_load(const char *path, struct tls_context **ret_context,
                     struct diag *diag)
{
    char pem[KEY_FILE_MAX];
    size_t length = 0;
    int r = key_file_read(path, pem, &length, diag);

    if (r == 0)
        r = tls_context_parse(pem, length, path, ret_context, diag);
    OPENSSL_cleanse(pem, sizeof(pem));
    return r;
}

/* ---- Filters ------------------------------------------------------------- */

struct tls_filter {
    SSL *ssl;
    BIO *in;  /* from the wire; the SSL's */
    BIO *out; /* to the wire; the SSL's */
    const struct tls_context *context;
    uint32_t peer_roles;
    bool open;
    int failed; /* errno of the first failure: it stays failed */
    char peer_name[NAME_SIZE];
    enum tls_role peer_role;
    ASN1_INTEGER *peer_serial; /* NULL until open */
    int64_t peer_expires_s;
};

static int filter_index(void)
{
    static int index = -1;

    /* Once, before any thread could: the first context is made in main. */
    if (index < 0)
        index = SSL_get_ex_new_index(0, NULL, NULL, NULL, NULL);
    return index;
}

static bool is_revoked(const struct tls_context *context,
                       const ASN1_INTEGER *serial)
{
    X509_REVOKED *found = NULL;

    return context->revoked != NULL && serial != NULL &&
           X509_CRL_get0_by_serial(context->revoked, &found, serial) == 1;
}

/* OpenSSL's question for each certificate of the peer's chain. */
static int check_peer(int ok, X509_STORE_CTX *store)
{
    const SSL *ssl =
        X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    const struct tls_filter *filter = SSL_get_ex_data(ssl, filter_index());
    const X509 *peer = X509_STORE_CTX_get_current_cert(store);
    enum tls_role role;

    if (ok != 1 || X509_STORE_CTX_get_error_depth(store) != 0)
        return ok;
    if (is_revoked(filter->context, X509_get0_serialNumber(peer))) {
        X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REVOKED);
        return 0;
    }
    role = certificate_role(peer);
    if ((role & filter->peer_roles) != 0)
        return 1;
    X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
    return 0;
}

static int attach_bios(struct tls_filter *filter)
{
    BIO *in = BIO_new(BIO_s_mem());
    BIO *out = BIO_new(BIO_s_mem());

    if (in == NULL || out == NULL) {
        BIO_free(in);
        BIO_free(out);
        return -ENOMEM;
    }
    /* An empty one means "later", not "end". */
    BIO_set_mem_eof_return(in, -1);
    BIO_set_mem_eof_return(out, -1);
    SSL_set_bio(filter->ssl, in, out);
    filter->in = in;
    filter->out = out;
    return 0;
}

struct tls_filter *tls_filter_new(struct tls_context *context,
                                  enum tls_side side, uint32_t peer_roles)
{
    struct tls_filter *filter = calloc(1, sizeof(*filter));

    if (filter == NULL)
        return NULL;
    filter->context = context;
    filter->peer_roles = peer_roles;
    filter->ssl = SSL_new(context->ssl);
    if (filter->ssl == NULL || attach_bios(filter) < 0 ||
        SSL_set_ex_data(filter->ssl, filter_index(), filter) != 1)
        return tls_filter_free(filter);
    if (side == TLS_DIALS)
        SSL_set_connect_state(filter->ssl);
    else
        SSL_set_accept_state(filter->ssl);
    return filter;
}

struct tls_filter *tls_filter_free(struct tls_filter *filter)
{
    if (filter == NULL)
        return NULL;
    SSL_free(filter->ssl);
    ASN1_INTEGER_free(filter->peer_serial);
    free(filter);
    return NULL;
}

/* Why the handshake failed, in words that say what to do. */
static const char *verify_remedy(long error)
{
    switch (error) {
    case X509_V_ERR_APPLICATION_VERIFICATION:
        return "its role is not the one wanted here";
    case X509_V_ERR_CERT_REVOKED:
        return "it was revoked";
    case X509_V_ERR_CERT_HAS_EXPIRED:
        return "it has expired; 'lockstep keys renew' issues another";
    case X509_V_ERR_CERT_NOT_YET_VALID:
        return "it is not valid yet; compare the clocks of both hosts";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
        return "it is not of this lab's authority; issue the bundle with the "
               "same 'lockstep keys' directory";
    default:
        return X509_verify_cert_error_string(error);
    }
}

int tls_context_vouch(struct tls_context *context, const uint8_t *der,
                      size_t length, uint32_t peer_roles, char *ret_name,
                      enum tls_role *ret_role, struct diag *diag)
{
    X509 *certificate = d2i_X509(NULL, &der, (long)length);
    int error = X509_V_ERR_UNSPECIFIED;

    if (certificate != NULL)
        error = verify(context->ssl, certificate);
    if (error == X509_V_OK &&
        is_revoked(context, X509_get0_serialNumber(certificate)))
        error = X509_V_ERR_CERT_REVOKED;
    if (error == X509_V_OK) {
        certificate_name(certificate, ret_name);
        *ret_role = certificate_role(certificate);
        if ((*ret_role & peer_roles) == 0)
            error = X509_V_ERR_APPLICATION_VERIFICATION;
    }
    X509_free(certificate);
    ERR_clear_error();
    if (error == X509_V_OK)
        return 0;
    return diag_set(diag, -EKEYREJECTED, "the certificate is refused: %s",
                    verify_remedy(error));
}

static int fail(struct tls_filter *filter, struct diag *diag)
{
    long verified = SSL_get_verify_result(filter->ssl);
    int reason = ERR_GET_REASON(ERR_peek_error());

    filter->failed = -EPROTO;
    if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED && verified != X509_V_OK) {
        filter->failed = -EKEYREJECTED;
        diag_set(diag, filter->failed, "the peer's certificate is refused: %s",
                 verify_remedy(verified));
    } else if (reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) {
        filter->failed = -EKEYREJECTED;
        diag_set(diag, filter->failed,
                 "the peer shows no certificate; give it a bundle of "
                 "'lockstep keys'");
    } else if (reason == SSL_R_WRONG_VERSION_NUMBER ||
               reason == SSL_R_HTTP_REQUEST) {
        diag_set(diag, filter->failed,
                 "the peer does not speak TLS; give both sides their keys");
    } else if (reason >= SSL_AD_REASON_OFFSET) {
        diag_set(diag, filter->failed, "the peer refuses us: TLS alert '%s'",
                 SSL_alert_desc_string_long(reason - SSL_AD_REASON_OFFSET));
    } else {
        diag_set(diag, filter->failed, "TLS: %s", openssl_reason());
    }
    ERR_clear_error();
    return filter->failed;
}

static void note_peer(struct tls_filter *filter)
{
    X509 *peer = SSL_get1_peer_certificate(filter->ssl);

    assert(peer != NULL); /* no handshake without one */
    certificate_name(peer, filter->peer_name);
    filter->peer_role = certificate_role(peer);
    filter->peer_expires_s = certificate_expires_s(peer);
    filter->peer_serial = ASN1_INTEGER_dup(X509_get0_serialNumber(peer));
    X509_free(peer);
    filter->open = true;
}

static int go_on(struct tls_filter *filter, struct diag *diag)
{
    int r;

    if (filter->open)
        return 0;
    ERR_clear_error();
    r = SSL_do_handshake(filter->ssl);
    if (r == 1) {
        note_peer(filter);
        return 0;
    }
    return SSL_get_error(filter->ssl, r) == SSL_ERROR_WANT_READ
               ? 0
               : fail(filter, diag);
}

int tls_filter_input(struct tls_filter *filter, const uint8_t *data,
                     size_t length, struct diag *diag)
{
    if (filter->failed < 0)
        return diag_set(diag, filter->failed, "TLS has failed before");
    assert(length <= INT32_MAX);
    if (length > 0 && BIO_write(filter->in, data, (int)length) != (int)length)
        return diag_set(diag, -ENOMEM, "TLS: no memory for what came");
    return go_on(filter, diag);
}

int tls_filter_read(struct tls_filter *filter, uint8_t *data, size_t size,
                    struct diag *diag)
{
    int n;

    if (filter->failed < 0)
        return diag_set(diag, filter->failed, "TLS has failed before");
    if (!filter->open)
        return 0;
    ERR_clear_error();
    n = SSL_read(filter->ssl, data, size > INT32_MAX ? INT32_MAX : (int)size);
    if (n > 0)
        return n;
    switch (SSL_get_error(filter->ssl, n)) {
    case SSL_ERROR_WANT_READ:
        return 0;
    case SSL_ERROR_ZERO_RETURN:
        return diag_set(diag, -EPIPE, "the peer ended the connection");
    default:
        return fail(filter, diag);
    }
}

int tls_filter_write(struct tls_filter *filter, const uint8_t *data,
                     size_t length, struct diag *diag)
{
    size_t written;

    assert(filter->open && length > 0);
    if (filter->failed < 0)
        return diag_set(diag, filter->failed, "TLS has failed before");
    ERR_clear_error();
    if (SSL_write_ex(filter->ssl, data, length, &written) != 1)
        return fail(filter, diag);
    assert(written == length); /* memory takes all, partial writes are off */
    return 0;
}

void tls_filter_end(struct tls_filter *filter)
{
    if (!filter->open || filter->failed < 0)
        return;
    ERR_clear_error();
    (void)SSL_shutdown(filter->ssl);
    ERR_clear_error();
}

size_t tls_filter_output(struct tls_filter *filter, const uint8_t **ret_data)
{
    char *data = NULL;
    long length = BIO_get_mem_data(filter->out, &data);

    *ret_data = (const uint8_t *)data;
    return length > 0 ? (size_t)length : 0;
}

void tls_filter_sent(struct tls_filter *filter, size_t length)
{
    const uint8_t *data;
    size_t held = tls_filter_output(filter, &data);
    uint8_t scrap[4096];

    assert(length <= held);
    if (length == held) {
        (void)BIO_reset(filter->out);
        return;
    }
    while (length > 0) {
        size_t part = length < sizeof(scrap) ? length : sizeof(scrap);
        int n = BIO_read(filter->out, scrap, (int)part);

        assert(n > 0);
        length -= (size_t)n;
    }
}

bool tls_filter_is_open(const struct tls_filter *filter)
{
    return filter->open;
}

const char *tls_filter_peer_name(const struct tls_filter *filter)
{
    return filter->peer_name;
}

enum tls_role tls_filter_peer_role(const struct tls_filter *filter)
{
    return filter->peer_role;
}

int64_t tls_filter_peer_expires_s(const struct tls_filter *filter)
{
    return filter->peer_expires_s;
}

const char *tls_filter_peer_refusal(const struct tls_filter *filter,
                                    int64_t now_s)
{
    if (!filter->open)
        return NULL;
    if (is_revoked(filter->context, filter->peer_serial))
        return "its certificate was revoked";
    if (filter->peer_expires_s < now_s)
        return "its certificate has expired; 'lockstep keys renew' issues "
               "another";
    return NULL;
}
