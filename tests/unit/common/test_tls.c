/*
 * Two filters, each other's wire, in memory; the keys that they show.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "common/diag.h"
#include "common/keys.h"
#include "tests/support/lab.h"
#include "tests/support/suite.h"

#define ANY_CLIENT (TLS_ROLE_AGENT | TLS_ROLE_OPERATOR)

static const char *lab;
static struct tls_context *controller, *agent;

/* One end: its filter, how it failed, what it read. */
struct end {
    struct tls_filter *filter;
    int result;
    struct diag diag;
    uint8_t plain[1 << 16];
    size_t length;
};

static struct end dialling, accepting;

static void setup(void)
{
    lab = lab_new();
    controller = lab_controller(lab);
    agent = lab_issue(lab, TLS_ROLE_AGENT, "host7");
}

static void teardown(void)
{
    dialling.filter = tls_filter_free(dialling.filter);
    accepting.filter = tls_filter_free(accepting.filter);
    controller = tls_context_free(controller);
    agent = tls_context_free(agent);
}

static void make_ends(struct tls_context *client, uint32_t server_roles,
                      struct tls_context *server, uint32_t client_roles)
{
    memset(&dialling, 0, sizeof(dialling));
    memset(&accepting, 0, sizeof(accepting));
    dialling.filter = tls_filter_new(client, TLS_DIALS, server_roles);
    accepting.filter = tls_filter_new(server, TLS_ACCEPTS, client_roles);
    ck_assert_ptr_nonnull(dialling.filter);
    ck_assert_ptr_nonnull(accepting.filter);
}

static void read_plain(struct end *end)
{
    int n;

    while (end->result == 0 &&
           (n = tls_filter_read(end->filter, end->plain + end->length,
                                sizeof(end->plain) - end->length,
                                &end->diag)) != 0)
        if (n < 0)
            end->result = n;
        else
            end->length += (size_t)n;
}

/* Moves at most `piece` bytes at a time from one to the other. */
static bool move(struct end *from, struct end *to, size_t piece)
{
    const uint8_t *data;
    uint8_t copy[4096];
    size_t length = tls_filter_output(from->filter, &data);

    if (length == 0)
        return false;
    length = length < piece ? length : piece;
    memcpy(copy, data, length);
    tls_filter_sent(from->filter, length);
    if (to->result == 0)
        to->result = tls_filter_input(to->filter, copy, length, &to->diag);
    read_plain(to);
    return true;
}

/* Until both are silent. */
static void talk(size_t piece)
{
    dialling.result =
        tls_filter_input(dialling.filter, NULL, 0, &dialling.diag);
    while (move(&dialling, &accepting, piece) |
           move(&accepting, &dialling, piece))
        ;
}

START_TEST(both_know_each_other)
{
    make_ends(agent, TLS_ROLE_CONTROLLER, controller, ANY_CLIENT);
    talk(4096);
    ck_assert_msg(dialling.result == 0, "%s", dialling.diag.text);
    ck_assert_msg(accepting.result == 0, "%s", accepting.diag.text);
    ck_assert(tls_filter_is_open(dialling.filter));
    ck_assert(tls_filter_is_open(accepting.filter));
    ck_assert_str_eq(tls_filter_peer_name(accepting.filter), "host7");
    ck_assert_int_eq(tls_filter_peer_role(accepting.filter), TLS_ROLE_AGENT);
    ck_assert_str_eq(tls_filter_peer_name(dialling.filter), "controller");
    ck_assert_int_eq(tls_filter_peer_role(dialling.filter),
                     TLS_ROLE_CONTROLLER);
    ck_assert_str_eq(tls_context_name(agent), "host7");
    ck_assert_int_eq(tls_context_role(controller), TLS_ROLE_CONTROLLER);
}
END_TEST

START_TEST(text_goes_both_ways_in_pieces)
{
    static const size_t pieces[] = {1, 7, 1000, 4096};
    uint8_t text[40000];
    size_t piece = pieces[_i];

    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (uint8_t)(i * 31);
    make_ends(agent, TLS_ROLE_CONTROLLER, controller, ANY_CLIENT);
    talk(piece);
    ck_assert_int_eq(
        tls_filter_write(dialling.filter, text, sizeof(text), NULL), 0);
    ck_assert_int_eq(tls_filter_write(accepting.filter, text, 10, NULL), 0);
    while (move(&dialling, &accepting, piece) |
           move(&accepting, &dialling, piece))
        ;
    ck_assert_uint_eq(accepting.length, sizeof(text));
    ck_assert_mem_eq(accepting.plain, text, sizeof(text));
    ck_assert_uint_eq(dialling.length, 10);
    ck_assert_mem_eq(dialling.plain, text, 10);
    tls_filter_end(dialling.filter);
    while (move(&dialling, &accepting, piece))
        ;
    ck_assert_int_eq(accepting.result, -EPIPE);
}
END_TEST

START_TEST(case_O03_another_labs_agent)
{
    struct tls_context *stranger =
        lab_issue(lab_new(), TLS_ROLE_AGENT, "host7");

    make_ends(stranger, TLS_ROLE_CONTROLLER, controller, ANY_CLIENT);
    talk(4096);
    /* The dialling side checks first and refuses our controller ... */
    ck_assert_int_eq(dialling.result, -EKEYREJECTED);
    ck_assert_ptr_nonnull(strstr(dialling.diag.text, "this lab's authority"));
    /* ... which hears of it, and never opens. */
    ck_assert_int_lt(accepting.result, 0);
    ck_assert_ptr_nonnull(strstr(accepting.diag.text, "refuses us"));
    ck_assert(!tls_filter_is_open(accepting.filter));
    teardown();
    tls_context_free(stranger);
}
END_TEST

/* An operator's bundle does not make an agent, and no client a controller. */
START_TEST(case_O03_wrong_roles)
{
    struct tls_context *person = lab_issue(lab, TLS_ROLE_OPERATOR, "ann");

    make_ends(person, TLS_ROLE_CONTROLLER, controller, TLS_ROLE_AGENT);
    talk(4096);
    ck_assert_int_eq(accepting.result, -EKEYREJECTED);
    ck_assert_ptr_nonnull(strstr(accepting.diag.text, "role"));
    ck_assert(!tls_filter_is_open(accepting.filter));
    /* TLS 1.3: the dialling side was open, and learns by an alert. */
    ck_assert_int_lt(dialling.result, 0);
    ck_assert_ptr_nonnull(strstr(dialling.diag.text, "refuses us"));

    tls_filter_free(dialling.filter);
    tls_filter_free(accepting.filter);
    make_ends(agent, TLS_ROLE_CONTROLLER, person, ANY_CLIENT);
    talk(4096);
    ck_assert_int_eq(dialling.result, -EKEYREJECTED);
    ck_assert(!tls_filter_is_open(dialling.filter));
    ck_assert(!tls_filter_is_open(accepting.filter));
    teardown();
    tls_context_free(person);
}
END_TEST

START_TEST(a_client_role_cannot_serve)
{
    /* Even one who accepts every role does not take a client's certificate
     * for a server's. */
    struct tls_context *other = lab_issue(lab, TLS_ROLE_AGENT, "host8");

    make_ends(agent, TLS_ROLE_CONTROLLER | ANY_CLIENT, other, ANY_CLIENT);
    talk(4096);
    ck_assert_int_eq(dialling.result, -EKEYREJECTED);
    ck_assert(!tls_filter_is_open(dialling.filter));
    teardown();
    tls_context_free(other);
}
END_TEST

/* Bytes that are no TLS; the filter stays failed. */
START_TEST(plain_text_is_refused)
{
    static const uint8_t hello[] = "\0\0\0\5hello, this is no TLS";

    make_ends(agent, TLS_ROLE_CONTROLLER, controller, ANY_CLIENT);
    accepting.result = tls_filter_input(accepting.filter, hello, sizeof(hello),
                                        &accepting.diag);
    ck_assert_int_eq(accepting.result, -EPROTO);
    ck_assert_ptr_nonnull(strstr(accepting.diag.text, "speak TLS"));
    ck_assert_int_lt(tls_filter_input(accepting.filter, hello, 1, NULL), 0);
}
END_TEST

/* A byte changed on the way ends the connection. */
START_TEST(tampering_is_seen)
{
    const uint8_t *data;
    uint8_t copy[512];
    size_t length;

    make_ends(agent, TLS_ROLE_CONTROLLER, controller, ANY_CLIENT);
    talk(4096);
    ck_assert_int_eq(
        tls_filter_write(dialling.filter, (const uint8_t *)"start", 5, NULL),
        0);
    length = tls_filter_output(dialling.filter, &data);
    ck_assert_uint_le(length, sizeof(copy));
    memcpy(copy, data, length);
    copy[length - 3] ^= 1;
    ck_assert_int_eq(tls_filter_input(accepting.filter, copy, length, NULL), 0);
    read_plain(&accepting);
    ck_assert_int_lt(accepting.result, 0);
    ck_assert_uint_eq(accepting.length, 0);
}
END_TEST

/* ---- Attackers, who do not use our filter -------------------------------- */

/* A client of OpenSSL's that trusts everybody; `bundle` may be NULL. */
static SSL *make_attacker(const char *bundle, int version)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL *ssl;

    ck_assert_ptr_nonnull(context);
    SSL_CTX_set_verify(context, SSL_VERIFY_NONE, NULL);
    SSL_CTX_set_max_proto_version(context, version);
    if (bundle != NULL) {
        ck_assert_int_eq(
            SSL_CTX_use_PrivateKey_file(context, bundle, SSL_FILETYPE_PEM), 1);
        ck_assert_int_eq(
            SSL_CTX_use_certificate_file(context, bundle, SSL_FILETYPE_PEM), 1);
    }
    ssl = SSL_new(context);
    SSL_CTX_free(context);
    SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    BIO_set_mem_eof_return(SSL_get_rbio(ssl), -1);
    SSL_set_connect_state(ssl);
    return ssl;
}

/* Until the attacker has nothing to say; then he sends a message as well. */
static void attack(SSL *ssl)
{
    accepting.result =
        tls_filter_input(accepting.filter, NULL, 0, &accepting.diag);
    for (int turn = 0; turn < 6; turn++) {
        const uint8_t *answer;
        char data[8192];
        size_t length;
        int n;

        if (SSL_do_handshake(ssl) == 1)
            (void)SSL_write(ssl, "attack", 6);
        n = BIO_read(SSL_get_wbio(ssl), data, sizeof(data));
        if (n > 0 && accepting.result == 0)
            accepting.result =
                tls_filter_input(accepting.filter, (const uint8_t *)data,
                                 (size_t)n, &accepting.diag);
        read_plain(&accepting);
        length = tls_filter_output(accepting.filter, &answer);
        if (length > 0)
            (void)BIO_write(SSL_get_rbio(ssl), answer, (int)length);
        tls_filter_sent(accepting.filter, length);
    }
    SSL_free(ssl);
    ck_assert(!tls_filter_is_open(accepting.filter));
    ck_assert_uint_eq(accepting.length, 0);
}

START_TEST(case_O03_no_certificate)
{
    make_ends(agent, TLS_ROLE_CONTROLLER, controller, ANY_CLIENT);
    attack(make_attacker(NULL, TLS1_3_VERSION));
    ck_assert_int_eq(accepting.result, -EKEYREJECTED);
    ck_assert_ptr_nonnull(strstr(accepting.diag.text, "no certificate"));
}
END_TEST

START_TEST(case_O03_certificate_of_another_lab)
{
    const char *other = lab_new();
    char bundle[PATH_SIZE];

    (void)snprintf(bundle, sizeof(bundle), "%s/agent-host7.pem", other);
    tls_context_free(lab_issue(other, TLS_ROLE_AGENT, "host7"));
    make_ends(agent, TLS_ROLE_CONTROLLER, controller, ANY_CLIENT);
    attack(make_attacker(bundle, TLS1_3_VERSION));
    ck_assert_int_eq(accepting.result, -EKEYREJECTED);
    ck_assert_ptr_nonnull(strstr(accepting.diag.text, "authority"));
}
END_TEST

START_TEST(older_tls_is_refused)
{
    char bundle[PATH_SIZE];

    (void)snprintf(bundle, sizeof(bundle), "%s/agent-host7.pem", lab);
    make_ends(agent, TLS_ROLE_CONTROLLER, controller, ANY_CLIENT);
    attack(make_attacker(bundle, TLS1_2_VERSION));
    ck_assert_int_eq(accepting.result, -EPROTO);
}
END_TEST

/* The attacker of these tests gets in with a right bundle: else they would
 * prove nothing. */
START_TEST(the_attacker_can_speak)
{
    char bundle[PATH_SIZE];
    SSL *ssl;

    (void)snprintf(bundle, sizeof(bundle), "%s/agent-host7.pem", lab);
    make_ends(agent, TLS_ROLE_CONTROLLER, controller, ANY_CLIENT);
    ssl = make_attacker(bundle, TLS1_3_VERSION);
    for (int turn = 0; turn < 4; turn++) {
        const uint8_t *answer;
        char data[8192];
        size_t length;
        int n;

        (void)SSL_do_handshake(ssl);
        n = BIO_read(SSL_get_wbio(ssl), data, sizeof(data));
        if (n > 0)
            ck_assert_int_eq(tls_filter_input(accepting.filter,
                                              (const uint8_t *)data, (size_t)n,
                                              NULL),
                             0);
        length = tls_filter_output(accepting.filter, &answer);
        (void)BIO_write(SSL_get_rbio(ssl), answer, (int)length);
        tls_filter_sent(accepting.filter, length);
    }
    SSL_free(ssl);
    ck_assert(tls_filter_is_open(accepting.filter));
}
END_TEST

/* ---- Bundles ---------------------------------------------------------------
 */

static char *in_lab(const char *file)
{
    static char path[PATH_SIZE];

    (void)snprintf(path, sizeof(path), "%s/%s", lab, file);
    return path;
}

static char *read_file(const char *path)
{
    static char text[1 << 14];
    FILE *in = fopen(path, "r");
    size_t length;

    ck_assert_ptr_nonnull(in);
    length = fread(text, 1, sizeof(text) - 1, in);
    text[length] = '\0';
    ck_assert_int_eq(fclose(in), 0);
    return text;
}

START_TEST(bundles_are_their_owners_alone)
{
    static const char *const files[] = {"authority.pem", "controller.pem",
                                        "agent-host7.pem"};
    struct tls_context *context = NULL;
    struct diag diag = {0};
    struct stat st;

    ck_assert_int_eq(stat(lab, &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0700);
    for (size_t i = 0; i < ARRAY_LENGTH(files); i++) {
        ck_assert_int_eq(stat(in_lab(files[i]), &st), 0);
        ck_assert_uint_eq(st.st_mode & 07777, 0600);
    }
    ck_assert_int_eq(chmod(in_lab("agent-host7.pem"), 0640), 0);
    ck_assert_int_eq(
        tls_context_load(in_lab("agent-host7.pem"), &context, &diag), -EPERM);
    ck_assert_ptr_nonnull(strstr(diag.text, "chmod 600"));
    ck_assert_ptr_null(context);
    ck_assert_int_eq(chmod(in_lab("agent-host7.pem"), 0400), 0);
    ck_assert_int_eq(
        tls_context_load(in_lab("agent-host7.pem"), &context, &diag), 0);
    tls_context_free(context);
}
END_TEST

START_TEST(nothing_is_overwritten)
{
    char path[PATH_SIZE] = "untouched";
    struct diag diag = {0};
    char before[1 << 14];

    (void)snprintf(before, sizeof(before), "%s",
                   read_file(in_lab("authority.pem")));
    ck_assert_int_eq(keys_init(lab, &diag), -EEXIST);
    ck_assert_ptr_nonnull(strstr(diag.text, "authority.pem"));
    ck_assert_str_eq(read_file(in_lab("authority.pem")), before);
    ck_assert_int_eq(keys_issue(lab, TLS_ROLE_AGENT, "host7", path, &diag),
                     -EEXIST);
    ck_assert_str_eq(path, "untouched");
}
END_TEST

/* Where the second file cannot be made, the first does not stay alone. */
START_TEST(a_failed_init_leaves_nothing)
{
    struct diag diag = {0};

    ck_assert_int_eq(unlink(in_lab("authority.pem")), 0);
    ck_assert_int_eq(keys_init(lab, &diag), -EEXIST); /* controller.pem */
    ck_assert_int_lt(access(in_lab("authority.pem"), F_OK), 0);
    ck_assert_int_eq(unlink(in_lab("controller.pem")), 0);
    ck_assert_msg(keys_init(lab, &diag) == 0, "%s", diag.text);
}
END_TEST

static const char *const bad_names[] = {
    "",
    ".x",
    "-x",
    "a/b",
    "a b",
    "../x",
    "\xc3\xa9",
    "a,URI:lockstep:x",
    "1234567890123456789012345678901234567890123456789012345678901234x"};

START_TEST(names_are_checked)
{
    struct diag diag = {0};
    char path[PATH_SIZE];

    ck_assert_int_eq(
        keys_issue(lab, TLS_ROLE_AGENT, bad_names[_i], path, &diag), -EINVAL);
    ck_assert_int_eq(keys_issue(lab, TLS_ROLE_CONTROLLER, "x", path, &diag),
                     -EINVAL);
}
END_TEST

START_TEST(no_authority_no_bundles)
{
    struct diag diag = {0};
    char path[PATH_SIZE];

    ck_assert_int_eq(
        keys_issue(suite_directory(), TLS_ROLE_AGENT, "x", path, &diag),
        -ENOENT);
    ck_assert_ptr_nonnull(strstr(diag.text, "keys init"));
    ck_assert_int_eq(chmod(in_lab("authority.pem"), 0644), 0);
    ck_assert_int_eq(keys_issue(lab, TLS_ROLE_AGENT, "x", path, &diag), -EPERM);
    ck_assert_int_eq(chmod(in_lab("authority.pem"), 0600), 0);
}
END_TEST

static int parse(const char *text)
{
    struct tls_context *context = NULL;
    struct diag diag = {0};
    int r = tls_context_parse(text, strlen(text), "x.pem", &context, &diag);

    ck_assert((r < 0) == (context == NULL));
    ck_assert(r == 0 || strstr(diag.text, "x.pem") != NULL);
    tls_context_free(context);
    return r;
}

/* A bundle cut anywhere is refused; so is one of mixed parts. */
START_TEST(broken_bundles)
{
    char own[1 << 14], mixed[1 << 15];
    const char *other_key_end;
    size_t length;

    (void)snprintf(own, sizeof(own), "%s",
                   read_file(in_lab("agent-host7.pem")));
    length = strlen(own);
    ck_assert_int_eq(parse(own), 0);
    for (size_t cut = 0; cut + 2 < length; cut += 13) {
        char kept = own[cut];

        own[cut] = '\0';
        if (parse(own) == 0)
            ck_abort_msg("accepted when cut at %zu", cut);
        own[cut] = kept;
    }
    /* The controller's key before the agent's certificate. */
    (void)snprintf(mixed, sizeof(mixed), "%s",
                   read_file(in_lab("controller.pem")));
    other_key_end = strstr(mixed, "-----BEGIN CERTIFICATE");
    ck_assert_ptr_nonnull(other_key_end);
    (void)snprintf(mixed + (other_key_end - mixed),
                   sizeof(mixed) - (size_t)(other_key_end - mixed), "%s",
                   strstr(own, "-----BEGIN CERTIFICATE"));
    ck_assert_int_eq(parse(mixed), -EKEYREJECTED);
    ck_assert_int_eq(parse(read_file(in_lab("authority.pem"))), -EINVAL);
}
END_TEST

/* The agent's bundle with other dates, signed by the lab's own authority. */
static void write_redated(const char *path, long from_s, long until_s)
{
    FILE *in = fopen(in_lab("authority.pem"), "r");
    EVP_PKEY *authority = PEM_read_PrivateKey(in, NULL, NULL, NULL);
    X509 *authority_certificate = PEM_read_X509(in, NULL, NULL, NULL);
    EVP_PKEY *key;
    X509 *own;
    FILE *out;

    ck_assert_int_eq(fclose(in), 0);
    in = fopen(in_lab("agent-host7.pem"), "r");
    key = PEM_read_PrivateKey(in, NULL, NULL, NULL);
    own = PEM_read_X509(in, NULL, NULL, NULL);
    ck_assert_int_eq(fclose(in), 0);
    X509_gmtime_adj(X509_getm_notBefore(own), from_s);
    X509_gmtime_adj(X509_getm_notAfter(own), until_s);
    ck_assert_int_gt(X509_sign(own, authority, EVP_sha256()), 0);
    out = fopen(path, "w");
    ck_assert_int_eq(chmod(path, 0600), 0);
    PEM_write_PKCS8PrivateKey(out, key, NULL, NULL, 0, NULL, NULL);
    PEM_write_X509(out, own);
    PEM_write_X509(out, authority_certificate);
    ck_assert_int_eq(fclose(out), 0);
    EVP_PKEY_free(authority);
    X509_free(authority_certificate);
    EVP_PKEY_free(key);
    X509_free(own);
}

START_TEST(dates_are_checked)
{
    static const struct {
        long from_s, until_s;
        const char *says; /* NULL: accepted */
    } dates[] = {
        {-7200, -3600, "has expired; 'lockstep keys renew'"},
        {3600, 7200, "not yet valid"},
        {-3600, 3600, NULL},
    };
    struct tls_context *context = NULL;
    struct diag diag = {0};
    char path[PATH_SIZE];
    int r;

    (void)snprintf(path, sizeof(path), "%s/redated.pem", lab);
    write_redated(path, dates[_i].from_s, dates[_i].until_s);
    r = tls_context_load(path, &context, &diag);
    ck_assert_int_eq(r, dates[_i].says == NULL ? 0 : -EKEYREJECTED);
    ck_assert(dates[_i].says == NULL ||
              strstr(diag.text, dates[_i].says) != NULL);
    tls_context_free(context);
    /* And where a peer shows it. */
    make_ends(agent, TLS_ROLE_CONTROLLER, controller, ANY_CLIENT);
    if (dates[_i].says != NULL) {
        attack(make_attacker(path, TLS1_3_VERSION));
        ck_assert_int_eq(accepting.result, -EKEYREJECTED);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tls");
    TCase *tc = tcase_create("tls");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 30);
    tcase_add_test(tc, both_know_each_other);
    tcase_add_loop_test(tc, text_goes_both_ways_in_pieces, 0, 4);
    tcase_add_test(tc, case_O03_another_labs_agent);
    tcase_add_test(tc, case_O03_wrong_roles);
    tcase_add_test(tc, a_client_role_cannot_serve);
    tcase_add_test(tc, plain_text_is_refused);
    tcase_add_test(tc, tampering_is_seen);
    tcase_add_test(tc, case_O03_no_certificate);
    tcase_add_test(tc, case_O03_certificate_of_another_lab);
    tcase_add_test(tc, older_tls_is_refused);
    tcase_add_test(tc, the_attacker_can_speak);
    tcase_add_loop_test(tc, dates_are_checked, 0, 3);
    tcase_add_test(tc, bundles_are_their_owners_alone);
    tcase_add_test(tc, nothing_is_overwritten);
    tcase_add_test(tc, a_failed_init_leaves_nothing);
    tcase_add_loop_test(tc, names_are_checked, 0, (int)ARRAY_LENGTH(bad_names));
    tcase_add_test(tc, no_authority_no_bundles);
    tcase_add_test(tc, broken_bundles);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
