/* The door to files: which are made, which are written, what is left behind. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "agent/claim.h"
#include "agent/interlock.h"
#include "agent/interlock_mark.h"
#include "agent/offer.h"
#include "tests/support/drive.h"
#include "tests/support/suite.h"

#define KIB UINT64_C(1024)
#define MIB (KIB * 1024)

static struct offers offers;
static struct interlock_policy policy = {.root = "/", .offers = &offers};
static struct claims *claims;
static struct opened_target opened;
static struct diag diag;
static char folder[512];
static char path[PATH_SIZE];

static void claims_renew(void)
{
    static const struct uuid campaign = {{1}};

    ck_assert_int_eq(claims_new(&policy, &campaign, &claims, &diag), 0);
}

static void setup(void)
{
    char offer[600];

    (void)snprintf(folder, sizeof(folder), "%s/files", suite_directory());
    ck_assert_int_eq(mkdir(folder, 0755), 0);
    (void)snprintf(path, sizeof(path), "%s/f", folder);
    (void)snprintf(offer, sizeof(offer), "%s/", folder);
    ck_assert_int_eq(offers_add(&offers, offer, &diag), 0);
    opened.fd = -1;
    claims_renew();
}

static void teardown(void)
{
    interlock_close(&opened, 1);
    claims = claims_release(claims);
}

/* A phase over: its descriptors, then the whole campaign. */
static void campaign_over(void)
{
    interlock_close(&opened, 1);
    claims = claims_release(claims);
    claims_renew();
}

static int open_file(const char *name, uint64_t size, bool write, bool create)
{
    struct job_target target = {
        .size_bytes = size, .threads = 1, .write = write, .create = create};

    (void)snprintf(target.path, sizeof(target.path), "%s", name);
    return interlock_open(claims, &target, 1, &opened, NULL, &diag);
}

static void must_open(uint64_t size, bool write, bool create)
{
    ck_assert_msg(open_file(path, size, write, create) == 0, "%s", diag.text);
}

static void must_refuse(const char *name, uint64_t size, bool create, int error,
                        const char *words)
{
    int result = open_file(name, size, true, create);

    ck_assert_msg(result == error, "%d: %s", result, diag.text);
    ck_assert_msg(strstr(diag.text, words) != NULL, "%s", diag.text);
    ck_assert_uint_eq(claims_count(claims), 0);
}

/* What a fill does, in short. */
static void fill(void)
{
    char byte = 'x';

    for (uint64_t at = 0; at < opened.size_bytes; at += KIB)
        ck_assert_int_eq(pwrite(opened.fd, &byte, 1, (off_t)at), 1);
    ck_assert_int_eq(interlock_filled(claims, &opened, 1, &diag), 0);
}

static void make_filled(uint64_t size)
{
    must_open(size, true, true);
    fill();
    campaign_over();
}

static void inspect(const char *name, bool write, bool create, uint64_t size,
                    struct interlock_facts *ret_facts)
{
    struct interlock_wish wish = {
        .write = write, .create = create, .size_bytes = size};

    (void)snprintf(wish.path, sizeof(wish.path), "%s", name);
    ck_assert_int_eq(interlock_inspect(&policy, &wish, 1, ret_facts, &diag), 0);
}

static void write_foreign(const char *name, const char *text)
{
    FILE *file = fopen(name, "we");

    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

static uint64_t length_of(const char *name)
{
    struct stat st;

    return stat(name, &st) == 0 ? (uint64_t)st.st_size : UINT64_MAX;
}

/* ---- Making ---- */

START_TEST(a_new_file_is_made_filled_and_kept)
{
    struct interlock_facts facts;
    struct stat st;

    inspect(path, true, true, MIB, &facts);
    ck_assert_int_eq(facts.kind, INTERLOCK_MISSING);
    ck_assert_str_eq(facts.refusal, "");
    ck_assert_uint_gt(facts.free_bytes, 0);
    ck_assert_uint_eq(length_of(path), UINT64_MAX); /* looking makes nothing */

    must_open(MIB, true, true);
    ck_assert_int_eq(opened.kind, INTERLOCK_FILE);
    ck_assert(opened.written);
    ck_assert_uint_eq(opened.size_bytes, MIB);
    ck_assert_uint_eq(opened.logical_block, 1);
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_eq(st.st_size, MIB);
    ck_assert_uint_eq(st.st_ino, opened.inode);
    ck_assert_int_eq(st.st_mode & 07777, 0644);
    fill();
    campaign_over();

    inspect(path, true, true, MIB, &facts);
    ck_assert_str_eq(facts.refusal, "");
    ck_assert(facts.ours);
    ck_assert_uint_eq(facts.size_bytes, MIB);
    must_open(MIB, true, false);
}
END_TEST

/* Blocks are reserved at once, so that a fill does not end half-way. */
START_TEST(its_blocks_are_reserved)
{
    struct stat st;

    must_open(MIB, true, true);
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_ge(st.st_blocks * 512, MIB);
}
END_TEST

START_TEST(an_interrupted_fill_leaves_nothing)
{
    must_open(MIB, true, true);
    campaign_over();
    ck_assert_uint_eq(length_of(path), UINT64_MAX);
}
END_TEST

START_TEST(a_refused_prepare_leaves_nothing)
{
    struct job_target targets[2] = {
        {.size_bytes = MIB, .threads = 1, .write = true, .create = true},
        {.size_bytes = MIB, .threads = 1, .write = true, .create = true},
    };
    struct opened_target both[2];

    (void)snprintf(targets[0].path, PATH_SIZE, "%s", path);
    (void)snprintf(targets[1].path, PATH_SIZE, "%s/no/such", folder);
    ck_assert_int_eq(interlock_open(claims, targets, 2, both, NULL, &diag),
                     -ENOENT);
    ck_assert_ptr_nonnull(strstr(diag.text, "the directory of"));
    claims = claims_release(claims);
    ck_assert_uint_eq(length_of(path), UINT64_MAX);
}
END_TEST

/* The process dies in the middle: its mark tells, and it is filled again. */
START_TEST(a_crash_leaves_a_file_to_be_filled_again)
{
    struct interlock_facts facts;
    pid_t child = fork();
    int status;

    if (child == 0) {
        int result = open_file(path, MIB, true, true);

        _exit(result == 0 ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ck_assert_uint_eq(length_of(path), MIB);

    inspect(path, false, false, 0, &facts);
    ck_assert(facts.ours);
    ck_assert_uint_eq(facts.size_bytes, 0);
    ck_assert_uint_eq(facts.length_bytes, MIB);
    ck_assert_ptr_nonnull(strstr(facts.refusal, "is filled up to 0 B only"));
    must_refuse(path, MIB, false, -EPERM, "an earlier fill did not come");
    must_open(MIB, true, true);
    fill();
    campaign_over();
    inspect(path, false, false, MIB, &facts);
    ck_assert_str_eq(facts.refusal, "");
}
END_TEST

START_TEST(a_file_of_ours_is_made_longer)
{
    struct interlock_facts facts;

    make_filled(MIB);
    inspect(path, false, true, 2 * MIB, &facts);
    ck_assert_str_eq(facts.refusal, "");
    must_open(2 * MIB, true, true);
    campaign_over(); /* the fill did not come to its end */
    ck_assert_uint_eq(length_of(path), MIB);
    inspect(path, false, false, MIB, &facts);
    ck_assert_str_eq(facts.refusal, "");

    make_filled(2 * MIB);
    inspect(path, false, false, 2 * MIB, &facts);
    ck_assert_str_eq(facts.refusal, "");
}
END_TEST

/* The phases after the fill see what it has made. */
START_TEST(later_phases_of_the_campaign_use_it)
{
    must_open(MIB, true, true);
    fill();
    interlock_close(&opened, 1);
    must_open(MIB, true, false);
    interlock_close(&opened, 1);
    must_open(MIB, false, false);
    ck_assert(!opened.written);
    ck_assert_uint_eq(claims_count(claims), 1);
}
END_TEST

/* Something took the file's name meanwhile: it is not ours to remove. */
START_TEST(only_our_own_file_is_taken_back)
{
    char moved[PATH_SIZE];

    must_open(MIB, true, true);
    (void)snprintf(moved, sizeof(moved), "%s/moved", folder);
    ck_assert_int_eq(rename(path, moved), 0);
    write_foreign(path, "precious");
    campaign_over();
    ck_assert_uint_eq(length_of(path), 8);
}
END_TEST

/* ---- Whose is it? ---- */

START_TEST(a_foreign_file_is_read_not_written)
{
    struct interlock_facts facts;

    write_foreign(path, "precious");
    must_refuse(path, 8, false, -EPERM, "was not made by Lockstep");
    must_refuse(path, MIB, true, -EPERM, "was not made by Lockstep");
    ck_assert_uint_eq(length_of(path), 8);
    inspect(path, false, true, MIB, &facts);
    ck_assert_ptr_nonnull(strstr(facts.refusal, "(to make it long enough)"));
    inspect(path, false, true, 8, &facts);
    ck_assert_str_eq(facts.refusal, "");
    must_open(8, false, false);
}
END_TEST

START_TEST(a_copy_is_not_ours)
{
    char copy[PATH_SIZE];
    char mark[MARK_SIZE];
    ssize_t length;

    make_filled(MIB);
    (void)snprintf(copy, sizeof(copy), "%s/copy", folder);
    write_foreign(copy, "precious");
    length = getxattr(path, "user.lockstep", mark, sizeof(mark));
    if (length < 0) {
        printf("SKIP files.copy: no extended attributes in %s\n", folder);
        return;
    }
    ck_assert_int_eq(setxattr(copy, "user.lockstep", mark, (size_t)length, 0),
                     0);
    must_refuse(copy, 8, false, -EPERM, "is a copy of a file that Lockstep");
}
END_TEST

START_TEST(a_file_written_since_is_theirs)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1}};
    int fd;

    make_filled(MIB);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    ck_assert_int_eq(write(fd, "precious", 8), 8);
    ck_assert_int_eq(futimens(fd, times), 0); /* whatever the clock's grain */
    (void)close(fd);
    must_refuse(path, MIB, false, -EPERM, "has been written to since");
}
END_TEST

/* Our own writing is not somebody else's. */
START_TEST(a_file_written_by_us_stays_ours)
{
    make_filled(MIB);
    for (int campaign = 0; campaign < 3; campaign++) {
        must_open(MIB, true, false);
        ck_assert_int_eq(pwrite(opened.fd, "y", 1, campaign), 1);
        campaign_over();
    }
}
END_TEST

/* Lockstep made it, but somebody put a loop device on it. */
START_TEST(a_file_behind_a_loop_is_in_use)
{
    struct test_drive drive;

    if (drive_missing() != NULL) {
        printf("SKIP files.loop: %s\n", drive_missing());
        return;
    }
    make_filled(MIB);
    drive_make_on(&drive, path);
    must_refuse(path, MIB, false, -EPERM, "is in use: behind loop");
    drive_remove(&drive);
    must_open(MIB, true, false);
}
END_TEST

START_TEST(a_second_campaign_is_kept_out)
{
    static const struct uuid other = {{2}};
    struct interlock_facts facts;
    struct claims *first;

    make_filled(MIB);
    must_open(MIB, true, false);
    first = claims;
    ck_assert_int_eq(claims_new(&policy, &other, &claims, &diag), 0);
    inspect(path, true, false, MIB, &facts); /* it may wait for ours */
    ck_assert_str_eq(facts.refusal, "");
    ck_assert_int_eq(facts.claim, INTERLOCK_CLAIM_OURS);
    must_refuse(path, MIB, false, -EBUSY, "held exclusively by another user");
    interlock_close(&opened, 1);
    first = claims_release(first);
    must_open(MIB, true, false);
}
END_TEST

/* Another process has it: a second agent of this host. */
START_TEST(a_second_agent_is_kept_out)
{
    struct interlock_facts facts;
    pid_t child;
    int status;

    make_filled(MIB);
    must_open(MIB, true, false);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        inspect(path, true, false, MIB, &facts);
        _exit(strstr(facts.refusal, "its file lock is taken") != NULL ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
END_TEST

/* ---- Where? ---- */

START_TEST(only_below_offered_directories)
{
    char outside[PATH_SIZE];

    (void)snprintf(outside, sizeof(outside), "%s/outside", suite_directory());
    must_refuse(outside, MIB, true, -EPERM, "does not offer it");
    ck_assert_ptr_nonnull(strstr(diag.text, suite_directory()));
    ck_assert_uint_eq(length_of(outside), UINT64_MAX);
    policy.private_agent = true; /* `lockstep run`: where the user may */
    ck_assert_int_eq(open_file(outside, MIB, true, true), 0);
}
END_TEST

/* Nobody writes a file below /dev because a drive's name was mistyped. */
START_TEST(nothing_is_made_below_dev)
{
    char link[PATH_SIZE];

    policy.private_agent = true;
    must_refuse("/dev/nvme99n1", MIB, true, -ENOENT, "there is no");
    must_refuse("/dev/shm/lockstep-test", MIB, true, -ENOENT, "there is no");
    (void)snprintf(link, sizeof(link), "%s/link", folder);
    ck_assert_int_eq(symlink("/dev/shm", link), 0);
    (void)snprintf(link, sizeof(link), "%s/link/lockstep-test", folder);
    must_refuse(link, MIB, true, -ENOENT, "there is no");
    ck_assert_uint_eq(length_of("/dev/shm/lockstep-test"), UINT64_MAX);
}
END_TEST

START_TEST(a_link_to_nothing_makes_nothing)
{
    policy.private_agent = true;
    ck_assert_int_eq(symlink("/dev/nvme99n1", path), 0);
    must_refuse(path, MIB, true, -EPERM,
                "a symbolic link that leads to nothing");
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(symlink("/tmp/lockstep-nonesuch/f", path), 0);
    must_refuse(path, MIB, true, -EPERM,
                "a symbolic link that leads to nothing");
}
END_TEST

/* The offered directory counts by where a link really leads. */
START_TEST(a_link_out_of_the_directory_is_outside)
{
    char link[PATH_SIZE];

    (void)snprintf(link, sizeof(link), "%s/out", folder);
    ck_assert_int_eq(symlink(suite_directory(), link), 0);
    (void)snprintf(link, sizeof(link), "%s/out/f", folder);
    must_refuse(link, MIB, true, -EPERM, "does not offer it");
}
END_TEST

START_TEST(other_things_are_refused)
{
    char fifo[PATH_SIZE];

    (void)snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    must_refuse(fifo, MIB, true, -EPERM, "is a pipe"); /* and does not hang */
    must_refuse(folder, MIB, true, -EPERM, "is a directory");
    must_refuse("", MIB, true, -EPERM, "not the name of a file");
    must_refuse(path, 0, true, -ENOENT, "give its sd a size=");
    must_refuse(path, MIB, false, -ENOENT, "give its sd a size=");
    write_foreign(path, "");
    ck_assert_int_eq(open_file(path, 0, false, false), -EPERM);
    ck_assert_ptr_nonnull(strstr(diag.text, "is empty"));
}
END_TEST

START_TEST(too_long_for_any_file)
{
    must_refuse(path, UINT64_MAX, true, -ENOSPC, "and its file system has");
    ck_assert_uint_eq(length_of(path), UINT64_MAX);
}
END_TEST

/* ---- On file systems made here ---- */

static bool mount_own(const char *what, const char *type, const char *options)
{
    const char *missing = drive_missing();

    if (missing != NULL || unshare(CLONE_NEWNS) != 0 ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) {
        printf("SKIP files.mount: %s\n",
               missing != NULL ? missing : "no mount namespaces");
        return false;
    }
    ck_assert_msg(mount(what, folder, type, 0, options) == 0, "%s: %s", type,
                  strerror(errno));
    return true;
}

START_TEST(case_G06_a_full_file_system_is_said_before)
{
    struct interlock_facts facts;

    if (!mount_own("none", "tmpfs", "size=1m"))
        return;
    inspect(path, true, true, 4 * MIB, &facts);
    ck_assert_ptr_nonnull(strstr(facts.refusal, "needs 4 MiB (4194304 bytes) "
                                                "more, and its file system "
                                                "has 1 MiB"));
    must_refuse(path, 4 * MIB, true, -ENOSPC, "lower size= or make room");
    ck_assert_uint_eq(length_of(path), UINT64_MAX);
    must_open(512 * KIB, true, true);
    interlock_close(&opened, 1);
    claims = claims_release(claims);
    ck_assert_int_eq(umount(folder), 0);
}
END_TEST

/* Two files of one phase: the second does not fit any more. */
START_TEST(the_second_file_does_not_fit)
{
    char second[PATH_SIZE];

    if (!mount_own("none", "tmpfs", "size=1m"))
        return;
    must_open(768 * KIB, true, true);
    (void)snprintf(second, sizeof(second), "%s/second", folder);
    ck_assert_int_eq(open_file(second, 768 * KIB, true, true), -ENOSPC);
    ck_assert_uint_eq(length_of(second), UINT64_MAX);
}
END_TEST

START_TEST(a_read_only_file_system)
{
    if (!mount_own("none", "tmpfs", ""))
        return;
    make_filled(MIB);
    ck_assert_int_eq(mount("none", folder, NULL, MS_REMOUNT | MS_RDONLY, NULL),
                     0);
    must_refuse(path, MIB, false, -EPERM, "on a read-only file system");
    must_open(MIB, false, false);
}
END_TEST

/* A file system that can carry no mark: used now, but never again. */
START_TEST(without_marks_a_file_is_ours_for_one_campaign)
{
    if (!mount_own("none", "ramfs", ""))
        return;
    must_open(MIB, true, true);
    fill();
    interlock_close(&opened, 1);
    must_open(MIB, true, false);
    campaign_over();
    ck_assert_uint_eq(length_of(path), MIB);
    must_refuse(path, MIB, false, -EPERM, "was not made by Lockstep");
}
END_TEST

static void open_direct(int error, const char *words)
{
    struct job_target target = {.size_bytes = MIB,
                                .threads = 1,
                                .write = true,
                                .create = true,
                                .open_flags = JOB_OPEN_DIRECT};
    int result;

    (void)snprintf(target.path, PATH_SIZE, "%s", path);
    result = interlock_open(claims, &target, 1, &opened, NULL, &diag);
    ck_assert_msg(result == error, "%d: %s", result, diag.text);
    if (error < 0)
        ck_assert_msg(strstr(diag.text, words) != NULL, "%s", diag.text);
}

/* ramfs has no direct I/O at all: said at open, in words. */
START_TEST(case_G03_direct_io_not_supported)
{
    if (!mount_own("none", "ramfs", ""))
        return;
    open_direct(-EINVAL, "does not support direct I/O");
    ck_assert_ptr_nonnull(strstr(diag.text, "leave out openflags"));
    claims = claims_release(claims);
    ck_assert_uint_eq(length_of(path), UINT64_MAX);
}
END_TEST

/* Below ext4 is a drive of 4096-byte blocks: its grid is what counts. */
START_TEST(case_G03_the_grid_of_the_drive_below)
{
    struct test_drive drive;
    struct interlock_wish wish = {.open_flags = JOB_OPEN_DIRECT,
                                  .write = true,
                                  .create = true,
                                  .size_bytes = MIB};
    struct interlock_facts facts;

    if (drive_missing() != NULL) {
        printf("SKIP files.grid: %s\n", drive_missing());
        return;
    }
    drive_make(&drive, 64 * MIB, 4096);
    ck_assert(run_program(
        (const char *const[]){"mkfs.ext4", "-q", "-F", drive.path, NULL}));
    if (!mount_own(drive.path, "ext4", ""))
        return;
    (void)snprintf(wish.path, PATH_SIZE, "%s", path);
    ck_assert_int_eq(interlock_inspect(&policy, &wish, 1, &facts, &diag), 0);
    ck_assert_uint_eq(facts.logical_block, 4096); /* not made yet */
    open_direct(0, NULL);
    ck_assert_uint_eq(opened.logical_block, 4096);
    ck_assert_str_eq(opened.name, drive.name);
    ck_assert_int_eq(interlock_filled(claims, &opened, 1, &diag), 0);
    campaign_over();
    ck_assert_int_eq(interlock_inspect(&policy, &wish, 1, &facts, &diag), 0);
    ck_assert_uint_eq(facts.logical_block, 4096);
    ck_assert_int_eq(umount(folder), 0);
    drive_remove(&drive);
}
END_TEST

static void add_tests(TCase *tests)
{
    tcase_add_test(tests, a_new_file_is_made_filled_and_kept);
    tcase_add_test(tests, its_blocks_are_reserved);
    tcase_add_test(tests, an_interrupted_fill_leaves_nothing);
    tcase_add_test(tests, a_refused_prepare_leaves_nothing);
    tcase_add_test(tests, a_crash_leaves_a_file_to_be_filled_again);
    tcase_add_test(tests, a_file_of_ours_is_made_longer);
    tcase_add_test(tests, later_phases_of_the_campaign_use_it);
    tcase_add_test(tests, only_our_own_file_is_taken_back);
    tcase_add_test(tests, a_foreign_file_is_read_not_written);
    tcase_add_test(tests, a_copy_is_not_ours);
    tcase_add_test(tests, a_file_written_since_is_theirs);
    tcase_add_test(tests, a_file_written_by_us_stays_ours);
    tcase_add_test(tests, a_file_behind_a_loop_is_in_use);
    tcase_add_test(tests, a_second_campaign_is_kept_out);
    tcase_add_test(tests, a_second_agent_is_kept_out);
    tcase_add_test(tests, only_below_offered_directories);
    tcase_add_test(tests, nothing_is_made_below_dev);
    tcase_add_test(tests, a_link_to_nothing_makes_nothing);
    tcase_add_test(tests, a_link_out_of_the_directory_is_outside);
    tcase_add_test(tests, other_things_are_refused);
    tcase_add_test(tests, too_long_for_any_file);
    tcase_add_test(tests, case_G06_a_full_file_system_is_said_before);
    tcase_add_test(tests, the_second_file_does_not_fit);
    tcase_add_test(tests, a_read_only_file_system);
    tcase_add_test(tests, without_marks_a_file_is_ours_for_one_campaign);
    tcase_add_test(tests, case_G03_direct_io_not_supported);
    tcase_add_test(tests, case_G03_the_grid_of_the_drive_below);
}

int main(void)
{
    Suite *suite = suite_create("interlock_files");
    TCase *tests = tcase_create("all");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 30);
    add_tests(tests);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
