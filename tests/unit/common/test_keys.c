/* What a lab issued, renewed and revoked, and who is believed after that. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "common/diag.h"
#include "common/keys.h"
#include "common/tls.h"
#include "tests/support/suite.h"

#define ALL_CLIENTS (TLS_ROLE_AGENT | TLS_ROLE_OPERATOR | TLS_ROLE_VIEWER)

static char lab[PATH_SIZE];
static char path[PATH_SIZE];
static struct diag diag;
static struct tls_context *controller;

static struct tls_context *load(const char *bundle)
{
    struct tls_context *context = NULL;

    ck_assert_msg(tls_context_load(bundle, &context, &diag) == 0, "%s",
                  diag.text);
    return context;
}

static void setup(void)
{
    char bundle[PATH_SIZE + 32];

    (void)snprintf(lab, sizeof(lab), "%s/lab", suite_directory());
    ck_assert_int_eq(keys_init(lab, &diag), 0);
    (void)snprintf(bundle, sizeof(bundle), "%s/controller.pem", lab);
    controller = load(bundle);
}

static void teardown(void)
{
    controller = tls_context_free(controller);
}

static struct tls_context *issue(enum tls_role role, const char *name)
{
    ck_assert_msg(keys_issue(lab, role, name, path, &diag) == 0, "%s",
                  diag.text);
    return load(path);
}

/* How a handshake ends for the accepting side; the filter is the caller's. */
static int greet(struct tls_context *client, struct tls_filter **ret_accepting)
{
    struct tls_filter *dialling =
        tls_filter_new(client, TLS_DIALS, TLS_ROLE_CONTROLLER);
    struct tls_filter *accepting =
        tls_filter_new(controller, TLS_ACCEPTS, ALL_CLIENTS);
    struct tls_filter *ends[2] = {dialling, accepting};
    int result = tls_filter_input(dialling, NULL, 0, &diag);

    for (int turn = 0; turn < 8 && result == 0; turn++) {
        struct tls_filter *from = ends[turn % 2], *to = ends[(turn + 1) % 2];
        const uint8_t *data;
        size_t length = tls_filter_output(from, &data);

        if (length == 0)
            continue;
        result = tls_filter_input(to, data, length, &diag);
        tls_filter_sent(from, length);
        if (to == dialling)
            result = 0; /* its own opinion is another test's */
    }
    tls_filter_free(dialling);
    *ret_accepting = accepting;
    return result;
}

static struct keys_entry *list(uint32_t *ret_count)
{
    struct keys_entry *entries = NULL;

    ck_assert_msg(keys_list(lab, &entries, ret_count, &diag) == 0, "%s",
                  diag.text);
    return entries;
}

static void revoke(const char *who, uint32_t expected)
{
    uint32_t count = 99;

    ck_assert_msg(keys_revoke(lab, who, &count, path, &diag) == 0, "%s",
                  diag.text);
    ck_assert_uint_eq(count, expected);
    ck_assert_msg(tls_context_revoke(controller, path, &diag) == 0, "%s",
                  diag.text);
}

START_TEST(all_that_was_issued_is_listed)
{
    struct tls_context *ann = issue(TLS_ROLE_VIEWER, "ann");
    struct tls_context *host = issue(TLS_ROLE_AGENT, "host7");
    struct keys_entry *entries;
    uint32_t count = 0;

    entries = list(&count);
    ck_assert_uint_eq(count, 3);
    ck_assert_str_eq(entries[0].name, "controller");
    ck_assert_int_eq(entries[0].role, TLS_ROLE_CONTROLLER);
    ck_assert_str_eq(entries[1].name, "ann");
    ck_assert_int_eq(entries[1].role, TLS_ROLE_VIEWER);
    ck_assert_int_eq(entries[2].role, TLS_ROLE_AGENT);
    ck_assert_int_eq(entries[2].revoked_s, 0);
    ck_assert_int_le(llabs(entries[2].issued_s - time(NULL)), 60);
    ck_assert_int_eq(entries[2].expires_s, tls_context_expires_s(host));
    ck_assert_str_ne(entries[1].serial, entries[2].serial);
    free(entries);
    tls_context_free(ann);
    tls_context_free(host);
}
END_TEST

START_TEST(a_viewer_is_one_by_its_certificate)
{
    struct tls_context *ann = issue(TLS_ROLE_VIEWER, "ann");
    struct tls_filter *filter;

    ck_assert_int_eq(greet(ann, &filter), 0);
    ck_assert_int_eq(tls_filter_peer_role(filter), TLS_ROLE_VIEWER);
    ck_assert_str_eq(tls_filter_peer_name(filter), "ann");
    tls_filter_free(filter);
    tls_context_free(ann);
}
END_TEST

START_TEST(who_is_revoked_is_refused)
{
    struct tls_context *ann = issue(TLS_ROLE_OPERATOR, "ann");
    struct tls_context *bob = issue(TLS_ROLE_OPERATOR, "bob");
    struct tls_filter *before, *after;

    ck_assert_int_eq(greet(ann, &before), 0);
    ck_assert_ptr_null(tls_filter_peer_refusal(before, time(NULL)));
    revoke("ann", 1);
    ck_assert_str_eq(tls_filter_peer_refusal(before, time(NULL)),
                     "its certificate was revoked");
    ck_assert_int_eq(greet(ann, &after), -EKEYREJECTED);
    ck_assert_ptr_nonnull(strstr(diag.text, "it was revoked"));
    tls_filter_free(after);
    ck_assert_int_eq(greet(bob, &after), 0);
    ck_assert_ptr_null(tls_filter_peer_refusal(after, time(NULL)));
    tls_filter_free(after);
    tls_filter_free(before);

    revoke("ann", 0); /* again is fine */
    revoke("operator-bob", 1);
    ck_assert_int_eq(greet(bob, &after), -EKEYREJECTED);
    tls_filter_free(after);
    ck_assert_int_eq(greet(ann, &after), -EKEYREJECTED); /* still */
    tls_filter_free(after);
    tls_context_free(ann);
    tls_context_free(bob);
}
END_TEST

START_TEST(what_expires_while_connected_is_refused)
{
    struct tls_context *ann = issue(TLS_ROLE_OPERATOR, "ann");
    struct tls_filter *filter;
    int64_t end_s = tls_context_expires_s(ann);

    ck_assert_int_ge(end_s, time(NULL) + INT64_C(700) * 86400);
    ck_assert_int_eq(greet(ann, &filter), 0);
    ck_assert_int_eq(tls_filter_peer_expires_s(filter), end_s);
    ck_assert_ptr_null(tls_filter_peer_refusal(filter, end_s));
    ck_assert_ptr_nonnull(
        strstr(tls_filter_peer_refusal(filter, end_s + 1), "has expired"));
    tls_filter_free(filter);
    tls_context_free(ann);
}
END_TEST

START_TEST(renewing_replaces_the_bundle_and_keeps_the_old_good)
{
    struct tls_context *old = issue(TLS_ROLE_AGENT, "host7");
    struct tls_context *renewed;
    struct keys_entry *entries;
    struct tls_filter *filter;
    char serial[KEYS_SERIAL_SIZE];
    uint32_t count = 0;
    struct stat st;

    ck_assert_msg(keys_renew(lab, "host7", path, &diag) == 0, "%s", diag.text);
    ck_assert_ptr_nonnull(strstr(path, "/agent-host7.pem"));
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_uint_eq(st.st_mode & 0777, 0600);
    renewed = load(path);
    ck_assert_str_eq(tls_context_name(renewed), "host7");
    ck_assert_int_eq(tls_context_role(renewed), TLS_ROLE_AGENT);
    entries = list(&count);
    ck_assert_uint_eq(count, 3);
    memcpy(serial, entries[1].serial, sizeof(serial));
    free(entries);
    ck_assert_int_eq(greet(old, &filter), 0);
    tls_filter_free(filter);

    revoke(serial, 1); /* the old one alone */
    ck_assert_int_eq(greet(old, &filter), -EKEYREJECTED);
    tls_filter_free(filter);
    ck_assert_int_eq(greet(renewed, &filter), 0);
    tls_filter_free(filter);
    entries = list(&count);
    ck_assert_int_ne(entries[1].revoked_s, 0);
    ck_assert_int_eq(entries[2].revoked_s, 0);
    free(entries);
    tls_context_free(old);
    tls_context_free(renewed);
}
END_TEST

START_TEST(nobody_of_that_name)
{
    uint32_t count;

    ck_assert_int_eq(keys_renew(lab, "nobody", path, &diag), -ENOENT);
    ck_assert_ptr_nonnull(strstr(diag.text, "lockstep keys list"));
    ck_assert_int_eq(keys_revoke(lab, "nobody", &count, path, &diag), -ENOENT);
    ck_assert_int_eq(tls_context_revoke(controller, "/nonexistent", &diag),
                     -ENOENT);
}
END_TEST

/* One name, two roles: which bundle is not guessed. */
START_TEST(a_name_of_two_roles_is_not_guessed)
{
    tls_context_free(issue(TLS_ROLE_AGENT, "x"));
    tls_context_free(issue(TLS_ROLE_VIEWER, "x"));
    ck_assert_int_eq(keys_renew(lab, "x", path, &diag), -EINVAL);
    ck_assert_int_eq(keys_renew(lab, "viewer-x", path, &diag), 0);
    revoke("x", 3);
}
END_TEST

/* The list of another lab, or one that somebody made, revokes nobody. */
START_TEST(only_the_authoritys_list_counts)
{
    struct tls_context *ann = issue(TLS_ROLE_OPERATOR, "ann");
    char other[PATH_SIZE], list_path[PATH_SIZE];
    struct tls_filter *filter;
    uint32_t count;
    FILE *file;

    (void)snprintf(other, sizeof(other), "%s/other", suite_directory());
    ck_assert_int_eq(keys_init(other, &diag), 0);
    ck_assert_int_eq(keys_revoke(other, "controller", &count, list_path, &diag),
                     0);
    ck_assert_int_eq(tls_context_revoke(controller, list_path, &diag),
                     -EKEYREJECTED);
    revoke("ann", 1);
    file = fopen(path, "w");
    (void)fputs("-----BEGIN X509 CRL-----\nnonsense\n", file);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(tls_context_revoke(controller, path, &diag),
                     -EKEYREJECTED);
    ck_assert_int_eq(greet(ann, &filter), -EKEYREJECTED); /* as before */
    tls_filter_free(filter);
    tls_context_free(ann);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("keys");
    TCase *tc = tcase_create("keys");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 30);
    tcase_add_test(tc, all_that_was_issued_is_listed);
    tcase_add_test(tc, a_viewer_is_one_by_its_certificate);
    tcase_add_test(tc, who_is_revoked_is_refused);
    tcase_add_test(tc, what_expires_while_connected_is_refused);
    tcase_add_test(tc, renewing_replaces_the_bundle_and_keeps_the_old_good);
    tcase_add_test(tc, nobody_of_that_name);
    tcase_add_test(tc, a_name_of_two_roles_is_not_guessed);
    tcase_add_test(tc, only_the_authoritys_list_counts);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
