/* What the owner of a host lets be written. */
#include "agent/offer.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/suite.h"

static struct offers offers;
static struct offer_subject subject;

static void setup(void)
{
    offers = (struct offers){0};
    subject = (struct offer_subject){
        .path = "/dev/nvme3n1",
        .serial = "PHLJ913201AB1P0FGN",
        .model = "INTEL SSDPE2KX010T8",
        .links = {"/dev/disk/by-id/nvme-INTEL_SSDPE2KX010T8_PHLJ913201AB1P0FGN",
                  "/dev/disk/by-path/pci-0000:5e:00.0-nvme-1"},
        .link_count = 2,
    };
}

static const struct {
    const char *offer;
    enum offer_kind kind;
    bool covers;
} table[] = {
    {"/dev/nvme3n1", OFFER_PATH, true},
    {"/dev/nvme*n1", OFFER_PATH, true},
    {"/dev/nvme[0-4]n1", OFFER_PATH, true},
    {"/dev/nvme?n1", OFFER_PATH, true},
    {"/dev/nvme*n2", OFFER_PATH, false},
    {"/dev/nvme3", OFFER_PATH, false},
    {"/*/nvme3n1", OFFER_PATH, true},
    {"/*3n1", OFFER_PATH, false}, /* `*` stops at a slash */
    {"/dev/sd*", OFFER_PATH, false},
    {"serial=PHLJ913201AB1P0FGN", OFFER_SERIAL, true},
    {"serial=PHLJ*", OFFER_SERIAL, false}, /* a serial is exact */
    {"serial=phlj913201ab1p0fgn", OFFER_SERIAL, false},
    {"model=INTEL*", OFFER_MODEL, true},
    {"model=*", OFFER_MODEL, true},
    {"model=SSDPE2KX010T8", OFFER_MODEL, false},
    {"id=nvme-INTEL_*", OFFER_ID, true},
    {"id=pci-*", OFFER_ID, false}, /* by-path is not by-id */
    {"id=/dev/disk/by-id/nvme*", OFFER_ID, false},
    {"/dev/disk/by-id/nvme-INTEL_*", OFFER_LINK, true},
    {"/dev/disk/by-path/pci-0000:5e:00.0-*", OFFER_LINK, true},
    {"/dev/disk/by-path/pci-0000:5f:00.0-*", OFFER_LINK, false},
    {"/dev/disk/by-id/ata-*", OFFER_LINK, false},
    {"/srv/", OFFER_DIRECTORY, false},
};

START_TEST(what_an_offer_covers)
{
    struct diag diag;
    const struct offer *found;

    ck_assert_msg(offers_add(&offers, table[_i].offer, &diag) == 0, "%s",
                  diag.text);
    ck_assert_int_eq(offers.items[0].kind, table[_i].kind);
    found = offers_match(&offers, &subject);
    ck_assert_msg((found == &offers.items[0]) == table[_i].covers, "%s",
                  table[_i].offer);
}
END_TEST

static const char *const nonsense[] = {
    "",      "nvme0n1",   "dev/nvme0n1", "serial=", "model=",
    "id=",   "size=3",    "Serial=x",    "/",       "//",
    "/dev/", "/dev/shm/", "/proc/",      "/sys/x/",
};

START_TEST(nonsense_is_refused)
{
    struct diag diag = {0};

    ck_assert_int_eq(offers_add(&offers, nonsense[_i], &diag), -EINVAL);
    ck_assert_uint_eq(offers.count, 0);
    ck_assert_ptr_nonnull(strstr(diag.text, nonsense[_i]));
}
END_TEST

/* A drive that does not tell its serial is not the one that is offered. */
START_TEST(case_F06_unknown_matches_nothing)
{
    struct diag diag;

    subject.serial[0] = '\0';
    subject.model[0] = '\0';
    subject.link_count = 0;
    ck_assert_int_eq(offers_add(&offers, "model=*", &diag), 0);
    ck_assert_int_eq(offers_add(&offers, "id=*", &diag), 0);
    ck_assert_int_eq(offers_add(&offers, "/dev/disk/by-id/*", &diag), 0);
    ck_assert_ptr_null(offers_match(&offers, &subject));
}
END_TEST

START_TEST(no_offer_covers_nothing)
{
    ck_assert_ptr_null(offers_match(&offers, &subject));
}
END_TEST

START_TEST(a_drive_covers_its_partitions_not_the_reverse)
{
    struct diag diag;

    (void)snprintf(subject.drive, sizeof(subject.drive), "/dev/nvme3n1");
    (void)snprintf(subject.path, sizeof(subject.path), "/dev/nvme3n1p2");
    ck_assert_int_eq(offers_add(&offers, "/dev/nvme3n1", &diag), 0);
    ck_assert_ptr_nonnull(offers_match(&offers, &subject));

    setup();
    ck_assert_int_eq(offers_add(&offers, "/dev/nvme3n1p2", &diag), 0);
    ck_assert_ptr_null(offers_match(&offers, &subject));
}
END_TEST

static void check_file(const char *path, bool covered)
{
    subject = (struct offer_subject){.is_file = true};
    (void)snprintf(subject.path, sizeof(subject.path), "%s", path);
    ck_assert_msg((offers_match(&offers, &subject) != NULL) == covered, "%s",
                  path);
}

START_TEST(a_directory_covers_files_below_it)
{
    char folder[] = "/tmp/lockstep-offer-XXXXXX";
    char link[64];
    char text[128];
    struct diag diag;

    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(link, sizeof(link), "%s-link", folder);
    ck_assert_int_eq(symlink(folder, link), 0);

    (void)snprintf(text, sizeof(text), "%s/", link); /* real paths count */
    ck_assert_int_eq(offers_add(&offers, text, &diag), 0);
    (void)snprintf(text, sizeof(text), "%s/a", folder);
    check_file(text, true);
    (void)snprintf(text, sizeof(text), "%s/b/c/d", folder);
    check_file(text, true);
    (void)snprintf(text, sizeof(text), "%sx/a", folder);
    check_file(text, false);
    check_file(folder, false);
    check_file("/tmp/a", false);
    ck_assert_int_eq(unlink(link), 0);
    ck_assert_int_eq(rmdir(folder), 0);
    (void)snprintf(text, sizeof(text), "%s/a", folder);
    check_file(text, false); /* it is gone: nothing is below it */
}
END_TEST

START_TEST(a_file_may_be_offered_by_its_path)
{
    struct diag diag;

    ck_assert_int_eq(offers_add(&offers, "/srv/test/*.bin", &diag), 0);
    check_file("/srv/test/a.bin", true);
    check_file("/srv/test/b/a.bin", false);
}
END_TEST

START_TEST(bounds_hold)
{
    char text[PATH_SIZE + 64];
    struct diag diag;

    memset(text, 'x', sizeof(text));
    text[0] = '/';
    text[PATH_SIZE] = '\0';
    ck_assert_int_eq(offers_add(&offers, text, &diag), -E2BIG);
    text[PATH_SIZE - 1] = '\0';
    for (uint32_t i = 0; i < OFFERS_MAX; i++)
        ck_assert_int_eq(offers_add(&offers, text, &diag), 0);
    ck_assert_int_eq(offers_add(&offers, text, &diag), -E2BIG);
    ck_assert_uint_eq(offers.count, OFFERS_MAX);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("offer");
    TCase *tests = tcase_create("all");

    tcase_add_checked_fixture(tests, setup, NULL);
    tcase_add_loop_test(tests, what_an_offer_covers, 0, ARRAY_LENGTH(table));
    tcase_add_loop_test(tests, nonsense_is_refused, 0, ARRAY_LENGTH(nonsense));
    tcase_add_test(tests, case_F06_unknown_matches_nothing);
    tcase_add_test(tests, no_offer_covers_nothing);
    tcase_add_test(tests, a_drive_covers_its_partitions_not_the_reverse);
    tcase_add_test(tests, a_directory_covers_files_below_it);
    tcase_add_test(tests, a_file_may_be_offered_by_its_path);
    tcase_add_test(tests, bounds_hold);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
