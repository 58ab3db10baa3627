/* What is on a drive that somebody may miss, and what one agrees to lose. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/claim.h"
#include "agent/interlock.h"
#include "agent/interlock_content.h"
#include "agent/offer.h"
#include "tests/support/drive.h"
#include "tests/support/suite.h"

#define MIB (UINT64_C(1) << 20)

static const struct uuid first = {{1}};
static const struct uuid second = {{2}};

static struct offers offers;
static struct interlock_policy policy = {.root = "/", .offers = &offers};
static struct claims *claims;
static struct test_drive drive;
static struct opened_target opened;
static struct diag diag;

static void setup(void)
{
    (void)snprintf(policy.state_directory, sizeof(policy.state_directory),
                   "%s/state", suite_directory());
    drive_make(&drive, 32 * MIB, 512);
    ck_assert_int_eq(offers_add(&offers, drive.path, &diag), 0);
    ck_assert_int_eq(claims_new(&policy, &first, &claims, &diag), 0);
    opened.fd = -1;
}

static void teardown(void)
{
    interlock_close(&opened, 1);
    claims = claims_release(claims);
    drive_remove(&drive);
}

/* The campaign is over; another one comes. */
static void next_campaign(void)
{
    interlock_close(&opened, 1);
    claims = claims_release(claims);
    ck_assert_int_eq(claims_new(&policy, &second, &claims, &diag), 0);
}

/* `consent` NULL: without overwrite=yes. */
static int open_drive(const char *consent)
{
    struct job_target target = {.open_flags = JOB_OPEN_DIRECT,
                                .threads = 1,
                                .write = true,
                                .overwrite = consent != NULL};

    (void)snprintf(target.path, sizeof(target.path), "%s", drive.path);
    if (consent != NULL)
        (void)snprintf(target.consent, sizeof(target.consent), "%s", consent);
    return interlock_open(claims, &target, 1, &opened, NULL, &diag);
}

static void must_open(const char *consent)
{
    ck_assert_msg(open_drive(consent) == 0, "%s", diag.text);
}

static void must_refuse(const char *consent, const char *words)
{
    int result = open_drive(consent);

    ck_assert_msg(result == -EPERM, "%d: %s", result, diag.text);
    ck_assert_msg(strstr(diag.text, words) != NULL, "%s", diag.text);
    ck_assert_int_eq(opened.fd, -1);
    ck_assert_uint_eq(claims_count(claims), 0);
}

static void inspect(bool overwrite, struct interlock_facts *ret_facts)
{
    struct interlock_wish wish = {
        .open_flags = JOB_OPEN_DIRECT, .write = true, .overwrite = overwrite};

    (void)snprintf(wish.path, sizeof(wish.path), "%s", drive.path);
    ck_assert_int_eq(interlock_inspect(&policy, &wish, 1, ret_facts, &diag), 0);
}

static void make_ext4(void)
{
    ck_assert(run_program((const char *const[]){"mkfs.ext4", "-q", "-F", "-L",
                                                "precious", drive.path, NULL}));
}

/* Through the drive, as anybody would. */
static void write_to(int fd, uint64_t offset, int byte)
{
    void *block = aligned_alloc(4096, 65536);

    ck_assert_ptr_nonnull(block);
    memset(block, byte, 65536);
    ((char *)block)[7] = 'x';
    ck_assert_int_eq(pwrite(fd, block, 65536, (off_t)offset), 65536);
    free(block);
}

static void somebody_writes(uint64_t offset, int byte)
{
    int fd = open(drive.path, O_WRONLY | O_DIRECT | O_CLOEXEC);

    ck_assert_int_ge(fd, 0);
    write_to(fd, offset, byte);
    (void)close(fd);
}

/* ---- What counts as content ---- */

/* Blocks that are looked at: the ends, and 16 between. */
#define STEP (32 * MIB / 17 / 4096 * 4096)
static const uint64_t sampled[] = {0, 4096, STEP, 16 * STEP, 32 * MIB - 512};

START_TEST(case_F06_data_without_a_signature_is_content)
{
    static const char data[] = "a table of a database on a raw drive";
    uint64_t at = sampled[_i] / 4096 * 4096;
    struct interlock_facts facts;

    drive_put(&drive, at, data, sizeof(data));
    must_refuse(NULL, "data of no known kind (checksum ");
    inspect(false, &facts);
    ck_assert_ptr_nonnull(strstr(facts.refusal, "data of no known kind"));
    ck_assert_int_eq(facts.content, INTERLOCK_CONTENT_FOUND);
}
END_TEST

/* Members of what is put together from several drives. */

static void put_lvm(void)
{
    static const char label[] = "LABELONE\1\0\0\0\0\0\0\0"
                                "\0\0\0\0\x20\0\0\0LVM2 001";

    drive_put(&drive, 512, label, sizeof(label) - 1);
}

static void put_md(void)
{
    uint8_t superblock[256] = {0xfc, 0x4e, 0x2b, 0xa9, 1};

    superblock[144] = 8; /* where it is, in sectors */
    drive_put(&drive, 4096, superblock, sizeof(superblock));
}

static void put_bcache(void)
{
    static const uint8_t magic[] = {0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a,
                                    0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f,
                                    0x48, 0xba, 0x6d, 0x81};
    uint8_t superblock[256] = {[8] = 8};

    memcpy(superblock + 24, magic, sizeof(magic));
    drive_put(&drive, 4096, superblock, sizeof(superblock));
}

static const struct {
    void (*put)(void);
    const char *says;
} members[] = {
    {put_lvm, "LVM2_member RAID or volume member"},
    {put_md, "linux_raid_member RAID or volume member"},
    {put_bcache, "bcache"},
};

START_TEST(case_F06_members_of_arrays_are_content)
{
    members[_i].put();
    must_refuse(NULL, members[_i].says);
}
END_TEST

/* An erased flash may read as ones. */
START_TEST(zeros_and_ones_are_blank)
{
    char *ones = malloc(32 * MIB);

    must_open(NULL);
    next_campaign();
    ck_assert_ptr_nonnull(ones);
    memset(ones, 0xff, 32 * MIB);
    drive_put(&drive, 0, ones, 32 * MIB);
    must_open(NULL);
    free(ones);
}
END_TEST

/* What libblkid finds comes with its UUID: two file systems are two texts. */
START_TEST(a_new_file_system_is_another_content)
{
    char text[TEXT_SIZE];
    struct interlock_facts facts;

    make_ext4();
    inspect(true, &facts);
    memcpy(text, facts.content_text, sizeof(text));
    make_ext4();
    inspect(true, &facts);
    ck_assert_str_ne(facts.content_text, text);
    must_refuse(text, "is not what was agreed to be lost");
    must_open(facts.content_text);
}
END_TEST

/* ---- Consent ---- */

START_TEST(case_F06_consent_is_to_what_is_there)
{
    struct interlock_facts facts;

    make_ext4();
    must_refuse(NULL, "overwrite=yes");
    must_refuse("", "nobody agreed to lose that");
    inspect(false, &facts);
    ck_assert_ptr_nonnull(strstr(facts.refusal, "overwrite=yes"));
    inspect(true, &facts);
    ck_assert_str_eq(facts.refusal, "");
    must_open(facts.content_text);
    write_to(opened.fd, MIB, 'w');
}
END_TEST

START_TEST(case_F02_a_changed_drive_needs_a_new_answer)
{
    struct interlock_facts facts;

    somebody_writes(0, 'a');
    inspect(true, &facts);
    somebody_writes(0, 'b');
    must_refuse(facts.content_text, "now it is data of no known kind");
}
END_TEST

START_TEST(consent_opens_no_other_door)
{
    struct interlock_facts facts;
    char text[TEXT_SIZE];

    make_ext4();
    inspect(true, &facts);
    memcpy(text, facts.content_text, sizeof(text));
    ck_assert_int_eq(unshare(CLONE_NEWNS), 0);
    ck_assert_int_eq(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
    ck_assert_int_eq(mount(drive.path, "/mnt", "ext4", MS_RDONLY, NULL), 0);
    must_refuse(text, "mounted on /mnt");
    inspect(true, &facts);
    ck_assert_ptr_nonnull(strstr(facts.refusal, "mounted on /mnt"));
    ck_assert_int_eq(umount("/mnt"), 0);
    offers.count = 0;
    must_refuse(text, "does not offer it");
}
END_TEST

/* ---- What campaigns leave ---- */

START_TEST(what_a_campaign_left_is_written_again)
{
    struct interlock_facts facts;

    must_open(NULL);
    write_to(opened.fd, 0, 'w');
    next_campaign();
    inspect(false, &facts);
    ck_assert_str_eq(facts.refusal, "");
    ck_assert_int_eq(facts.content, INTERLOCK_CONTENT_LEFT);
    must_open(NULL);
    next_campaign();
    somebody_writes(20 * MIB, 'x'); /* a block that no sample would see */
    must_refuse(NULL, "data of no known kind");
}
END_TEST

/* Data in the cache are on their way to the drive, and counted there. */
START_TEST(buffered_writes_are_ours_too)
{
    struct job_target target = {.threads = 1, .write = true};

    (void)snprintf(target.path, sizeof(target.path), "%s", drive.path);
    ck_assert_int_eq(interlock_open(claims, &target, 1, &opened, NULL, &diag),
                     0);
    write_to(opened.fd, 0, 'w');
    next_campaign();
    must_open(NULL);
}
END_TEST

START_TEST(without_a_place_to_remember_all_data_count)
{
    policy.state_directory[0] = '\0';
    must_open(NULL);
    write_to(opened.fd, 0, 'w');
    next_campaign();
    must_refuse(NULL, "data of no known kind");
}
END_TEST

/* A signature that random data happen to form is told, and stays. */
START_TEST(a_signature_that_a_campaign_wrote_is_reported)
{
    char block[4096] = "LUKS\xba\xbe\0\1";
    struct interlock_facts facts;

    must_open(NULL);
    drive_put(&drive, 0, block, sizeof(block));
    next_campaign();
    inspect(true, &facts);
    ck_assert_ptr_nonnull(strstr(facts.content_text, "crypto_LUKS"));
    must_refuse(NULL, "crypto_LUKS");
    ck_assert_int_eq(pread(drive.memory, block, sizeof(block), 0),
                     sizeof(block));
    ck_assert_int_eq(memcmp(block, "LUKS\xba\xbe", 6), 0);
}
END_TEST

/* The process that wrote is gone without a word. */
static void write_and_crash(void)
{
    pid_t pid = fork();
    int status;

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        if (open_drive(NULL) != 0)
            _exit(1);
        write_to(opened.fd, 0, 'w');
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}

START_TEST(after_a_crash_only_its_campaign_goes_on)
{
    write_and_crash();
    must_open(NULL); /* the same campaign, as after a restart of the agent */
    interlock_close(&opened, 1);
    claims = claims_release(claims);

    ck_assert_int_eq(claims_new(&policy, &first, &claims, &diag), 0);
    write_and_crash();
    next_campaign();
    must_refuse(NULL, "data of no known kind");
}
END_TEST

/* A campaign that waits for the drive can agree to what is on it now. */
START_TEST(a_drive_at_work_tells_its_signatures)
{
    struct interlock_facts facts;
    char text[TEXT_SIZE];

    make_ext4();
    inspect(true, &facts);
    memcpy(text, facts.content_text, sizeof(text));
    must_open(text);
    inspect(true, &facts);
    ck_assert_int_eq(facts.claim, INTERLOCK_CLAIM_OURS);
    ck_assert_str_eq(facts.refusal, "");
    ck_assert_str_eq(facts.content_text, text);
    next_campaign();
    must_open(text);
}
END_TEST

/* ---- Files ---- */

static int open_file(const char *path, const char *consent)
{
    struct job_target target = {
        .threads = 1, .write = true, .overwrite = consent != NULL};

    (void)snprintf(target.path, sizeof(target.path), "%s", path);
    (void)snprintf(target.consent, sizeof(target.consent), "%s",
                   consent != NULL ? consent : "");
    return interlock_open(claims, &target, 1, &opened, NULL, &diag);
}

START_TEST(a_file_of_others_needs_the_same)
{
    char path[PATH_SIZE];
    char text[TEXT_SIZE];
    char offer[PATH_SIZE];
    struct stat st;
    int fd;

    (void)snprintf(offer, sizeof(offer), "%s/", suite_directory());
    (void)snprintf(path, sizeof(path), "%s/theirs", suite_directory());
    ck_assert_int_eq(offers_add(&offers, offer, &diag), 0);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ck_assert_int_eq(pwrite(fd, "precious", 8, 0), 8);
    ck_assert_int_eq(fstat(fd, &st), 0);
    content_of_file(&st, text);

    ck_assert_int_eq(open_file(path, NULL), -EPERM);
    ck_assert_int_eq(open_file(path, ""), -EPERM);
    ck_assert_int_eq(pwrite(fd, "precious!", 9, 0), 9);
    ck_assert_int_eq(open_file(path, text), -EPERM);
    ck_assert_ptr_nonnull(strstr(diag.text, "8 bytes"));
    ck_assert_uint_eq(claims_count(claims), 0);

    ck_assert_int_eq(fstat(fd, &st), 0);
    content_of_file(&st, text);
    ck_assert_msg(open_file(path, text) == 0, "%s", diag.text);
    next_campaign();
    ck_assert_msg(open_file(path, NULL) == 0, "now it is ours: %s", diag.text);
    (void)close(fd);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("interlock_content");
    TCase *tests = tcase_create("all");
    const char *missing = drive_missing();

    if (missing != NULL) {
        printf("SKIP interlock.content: %s\n", missing);
        return 77;
    }
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 30);
    tcase_add_loop_test(tests, case_F06_data_without_a_signature_is_content, 0,
                        ARRAY_LENGTH(sampled));
    tcase_add_loop_test(tests, case_F06_members_of_arrays_are_content, 0,
                        ARRAY_LENGTH(members));
    tcase_add_test(tests, zeros_and_ones_are_blank);
    tcase_add_test(tests, a_new_file_system_is_another_content);
    tcase_add_test(tests, case_F06_consent_is_to_what_is_there);
    tcase_add_test(tests, case_F02_a_changed_drive_needs_a_new_answer);
    tcase_add_test(tests, consent_opens_no_other_door);
    tcase_add_test(tests, what_a_campaign_left_is_written_again);
    tcase_add_test(tests, buffered_writes_are_ours_too);
    tcase_add_test(tests, without_a_place_to_remember_all_data_count);
    tcase_add_test(tests, a_signature_that_a_campaign_wrote_is_reported);
    tcase_add_test(tests, after_a_crash_only_its_campaign_goes_on);
    tcase_add_test(tests, a_drive_at_work_tells_its_signatures);
    tcase_add_test(tests, a_file_of_others_needs_the_same);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
