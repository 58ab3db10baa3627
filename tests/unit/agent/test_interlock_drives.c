/* The door to block devices, on loop devices and zram made here. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/claim.h"
#include "agent/interlock.h"
#include "agent/offer.h"
#include "tests/support/drive.h"
#include "tests/support/suite.h"
#include "tests/support/tree.h"

#define MIB (UINT64_C(1) << 20)

static struct offers offers;
static struct interlock_policy policy = {.root = "/", .offers = &offers};
static struct claims *claims;
static struct test_drive drive;
static struct opened_target opened;
static struct diag diag;

static void setup(void)
{
    static const struct uuid campaign = {{1}};

    drive_make(&drive, 32 * MIB, 512);
    ck_assert_int_eq(offers_add(&offers, drive.path, &diag), 0);
    ck_assert_int_eq(claims_new(&policy, &campaign, &claims, &diag), 0);
    opened.fd = -1;
}

static void teardown(void)
{
    interlock_close(&opened, 1);
    claims = claims_release(claims);
    drive_remove(&drive);
}

static struct job_target target_of(const char *path, bool write)
{
    struct job_target target = {
        .open_flags = JOB_OPEN_DIRECT, .threads = 1, .write = write};

    (void)snprintf(target.sd, sizeof(target.sd), "sd1");
    (void)snprintf(target.path, sizeof(target.path), "%s", path);
    return target;
}

static int open_path(const char *path, bool write)
{
    struct job_target target = target_of(path, write);
    uint32_t index = 99;
    int result = interlock_open(claims, &target, 1, &opened, &index, &diag);

    ck_assert_uint_eq(index, result < 0 ? 0 : 99);
    return result;
}

static void must_open(const char *path, bool write)
{
    ck_assert_msg(open_path(path, write) == 0, "%s", diag.text);
}

/* Refused with these words, and nothing is held or open afterwards. */
static void must_refuse(const char *path, int error, const char *words)
{
    uint32_t before = claims_count(claims);
    int result = open_path(path, true);

    ck_assert_msg(result == error, "%d: %s", result, diag.text);
    ck_assert_msg(strstr(diag.text, words) != NULL, "%s", diag.text);
    ck_assert_int_eq(opened.fd, -1);
    ck_assert_uint_eq(claims_count(claims), before);
}

static void inspect(const char *path, bool write,
                    struct interlock_facts *ret_facts)
{
    struct interlock_wish wish = {.open_flags = JOB_OPEN_DIRECT,
                                  .write = write};

    (void)snprintf(wish.path, sizeof(wish.path), "%s", path);
    ck_assert_int_eq(interlock_inspect(&policy, &wish, 1, ret_facts, &diag), 0);
}

/* ---- A process that does something with a drive until it is ended ---- */

struct helper {
    pid_t pid;
    int end; /* closing it ends the process */
};

/* `act` returns 0 when done; then the process waits. */
static struct helper helper_start(int (*act)(const char *path),
                                  const char *path)
{
    struct helper helper;
    int ready[2];
    int end[2];
    int result = -1;

    ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
    ck_assert_int_eq(pipe2(end, O_CLOEXEC), 0);
    helper.pid = fork();
    ck_assert_int_ge(helper.pid, 0);
    if (helper.pid == 0) {
        char byte;

        (void)close(end[1]);
        result = act(path);
        (void)!write(ready[1], &result, sizeof(result));
        (void)!read(end[0], &byte, 1);
        _exit(0);
    }
    (void)close(ready[1]);
    (void)close(end[0]);
    ck_assert_int_eq(read(ready[0], &result, sizeof(result)), sizeof(result));
    (void)close(ready[0]);
    ck_assert_msg(result == 0, "the helper failed: %s", strerror(result));
    helper.end = end[1];
    return helper;
}

static void helper_end(struct helper *helper)
{
    int status;

    (void)close(helper->end);
    ck_assert_int_eq(waitpid(helper->pid, &status, 0), helper->pid);
}

static int open_exclusively(const char *path)
{
    return open(path, O_RDONLY | O_EXCL) >= 0 ? 0 : errno;
}

static int open_for_writing(const char *path)
{
    return open(path, O_RDWR) >= 0 ? 0 : errno;
}

static int open_for_reading(const char *path)
{
    return open(path, O_RDONLY) >= 0 ? 0 : errno;
}

static int mount_privately(const char *path)
{
    if (unshare(CLONE_NEWNS) != 0 ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount(path, "/mnt", "ext4", 0, NULL) != 0)
        return errno;
    return 0;
}

/* ---- What may be done ---- */

START_TEST(an_offered_empty_drive_is_opened)
{
    struct stat st;

    must_open(drive.path, true);
    ck_assert_int_eq(opened.kind, INTERLOCK_BLOCK);
    ck_assert(opened.direct && opened.written);
    ck_assert_uint_eq(opened.size_bytes, 32 * MIB);
    ck_assert_uint_eq(opened.logical_block, 512);
    ck_assert_uint_ge(opened.memory_block, 512);
    ck_assert_str_eq(opened.name, drive.name);
    ck_assert_int_eq(fstat(opened.fd, &st), 0);
    ck_assert(S_ISBLK(st.st_mode));
    ck_assert_int_eq(fcntl(opened.fd, F_GETFL) & (O_ACCMODE | O_DIRECT),
                     O_RDWR | O_DIRECT);
    ck_assert_uint_eq(claims_count(claims), 1);
}
END_TEST

START_TEST(reading_needs_no_offer_and_no_claim)
{
    struct helper helper = helper_start(open_exclusively, drive.path);

    offers.count = 0;
    drive_set_read_only(&drive);
    must_open(drive.path, false);
    ck_assert(!opened.written);
    ck_assert_int_eq(fcntl(opened.fd, F_GETFL) & O_ACCMODE, O_RDONLY);
    ck_assert_uint_eq(claims_count(claims), 0);
    helper_end(&helper);
}
END_TEST

/* While the campaign has it, nobody mounts or claims it, its partitions too. */
START_TEST(the_claim_keeps_others_out)
{
    int fd;

    must_open(drive.path, true);
    interlock_close(&opened, 1); /* between two phases */
    ck_assert_int_eq(open(drive.path, O_RDONLY | O_EXCL), -1);
    ck_assert_int_eq(errno, EBUSY);
    ck_assert_int_eq(mount(drive.path, "/mnt", "ext4", 0, NULL), -1);
    ck_assert_int_eq(errno, EBUSY);
    fd = open(drive.path, O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq(flock(fd, LOCK_SH | LOCK_NB), -1);
    (void)close(fd);

    claims = claims_release(claims);
    fd = open(drive.path, O_RDONLY | O_EXCL | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(flock(fd, LOCK_EX | LOCK_NB), 0);
    (void)close(fd);
}
END_TEST

START_TEST(phases_of_one_campaign_open_it_again)
{
    static const char luks[] = "LUKS\xba\xbe\0\1";

    must_open(drive.path, true);
    interlock_close(&opened, 1);
    /* Random data of the first phase may look like anything. */
    drive_put(&drive, 0, luks, sizeof(luks));
    must_open(drive.path, true);
    ck_assert_uint_eq(claims_count(claims), 1);
    interlock_close(&opened, 1);
    must_open(drive.path, false);
}
END_TEST

/* Two sds on one drive, one of them by a link, are one claim. */
START_TEST(one_drive_named_twice_is_one_claim)
{
    struct job_target targets[2] = {target_of(drive.path, true)};
    struct opened_target both[2];
    char link[PATH_SIZE];

    (void)snprintf(link, sizeof(link), "%s/link", suite_directory());
    ck_assert_int_eq(symlink(drive.path, link), 0);
    targets[1] = target_of(link, true);
    ck_assert_int_eq(interlock_open(claims, targets, 2, both, NULL, &diag), 0);
    ck_assert_uint_eq(claims_count(claims), 1);
    ck_assert_uint_eq(both[0].device_number, both[1].device_number);
    interlock_close(both, 2);
}
END_TEST

/* All or nothing: what was opened before the refusal is closed again. */
START_TEST(one_refusal_opens_nothing)
{
    struct job_target targets[2] = {target_of(drive.path, true),
                                    target_of("/dev/nonesuch", true)};
    struct opened_target both[2];
    uint32_t index = 99;

    ck_assert_int_eq(interlock_open(claims, targets, 2, both, &index, &diag),
                     -ENOENT);
    ck_assert_uint_eq(index, 1);
    ck_assert_int_eq(both[0].fd, -1);
    ck_assert_ptr_nonnull(strstr(diag.text, "/dev/nonesuch"));
}
END_TEST

START_TEST(buffered_io_has_no_grid)
{
    struct job_target target = target_of(drive.path, true);

    target.open_flags = JOB_OPEN_DSYNC;
    ck_assert_int_eq(interlock_open(claims, &target, 1, &opened, NULL, &diag),
                     0);
    ck_assert(!opened.direct);
    ck_assert_uint_eq(opened.logical_block, 1);
    ck_assert_int_eq(fcntl(opened.fd, F_GETFL) & (O_DIRECT | O_DSYNC), O_DSYNC);
}
END_TEST

START_TEST(case_G03_a_block_of_4096_is_told)
{
    struct test_drive large;
    struct interlock_facts facts;

    drive_make(&large, 16 * MIB, 4096);
    ck_assert_int_eq(offers_add(&offers, large.path, &diag), 0);
    inspect(large.path, true, &facts);
    ck_assert_str_eq(facts.refusal, "");
    ck_assert_uint_eq(facts.logical_block, 4096);
    must_open(large.path, true);
    ck_assert_uint_eq(opened.logical_block, 4096);
    interlock_close(&opened, 1);
    claims = claims_release(claims);
    drive_remove(&large);
}
END_TEST

/* ---- What may not ---- */

START_TEST(case_F06_nothing_is_offered_by_default)
{
    offers.count = 0;
    must_refuse(drive.path, -EPERM, "does not offer it");
    ck_assert_ptr_nonnull(strstr(diag.text, drive.path));
    policy.private_agent = true;
    must_refuse(drive.path, -EPERM, "add --offer '/dev/loop");
}
END_TEST

START_TEST(a_read_only_drive_is_refused)
{
    drive_set_read_only(&drive);
    must_refuse(drive.path, -EPERM, "is read-only");
}
END_TEST

START_TEST(too_small_a_drive_is_refused)
{
    struct job_target target = target_of(drive.path, true);

    target.size_bytes = 33 * MIB;
    ck_assert_int_eq(interlock_open(claims, &target, 1, &opened, NULL, &diag),
                     -EPERM);
    ck_assert_ptr_nonnull(strstr(diag.text, "it has 32 MiB"));
    target.size_bytes = 32 * MIB;
    ck_assert_int_eq(interlock_open(claims, &target, 1, &opened, NULL, &diag),
                     0);
}
END_TEST

static void make_ext4(const char *path)
{
    ck_assert_msg(run_program((const char *const[]){
                      "mkfs.ext4", "-q", "-F", "-L", "precious", path, NULL}),
                  "mkfs.ext4 belongs to every Debian");
}

START_TEST(case_F06_a_file_system_is_refused)
{
    struct interlock_facts facts;

    make_ext4(drive.path);
    must_refuse(drive.path, -EPERM, "it has ext4 file system \"precious\" (");
    inspect(drive.path, true, &facts);
    ck_assert_ptr_nonnull(strstr(facts.refusal, "ext4"));
    ck_assert_ptr_nonnull(
        strstr(facts.content_text, "ext4 file system \"precious\" ("));
    must_open(drive.path, false); /* reading it is fine */
}
END_TEST

/* The exact node is free; a partition of it is not. */
START_TEST(case_F01_a_mounted_partition_protects_its_drive)
{
    char partition[80];
    char words[200];
    struct interlock_facts facts;

    drive_partition(&drive, 1, MIB, 16 * MIB);
    (void)snprintf(partition, sizeof(partition), "%sp1", drive.path);
    make_ext4(partition);
    ck_assert_int_eq(unshare(CLONE_NEWNS), 0);
    ck_assert_int_eq(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
    ck_assert_int_eq(mount(partition, "/mnt", "ext4", 0, NULL), 0);

    (void)snprintf(words, sizeof(words), "partition %sp1: mounted on /mnt",
                   drive.name);
    must_refuse(drive.path, -EPERM, words);
    must_refuse(partition, -EPERM, "in use: mounted on /mnt");
    inspect(drive.path, true, &facts);
    ck_assert_ptr_nonnull(strstr(facts.refusal, words));
    ck_assert_int_eq(umount("/mnt"), 0);
    must_refuse(partition, -EPERM, "ext4 file system");
}
END_TEST

START_TEST(case_F01_a_mount_in_another_namespace_counts)
{
    struct helper helper;

    make_ext4(drive.path);
    helper = helper_start(mount_privately, drive.path);
    must_refuse(drive.path, -EPERM,
                "mounted on /mnt in the mount namespace of ");
    helper_end(&helper);
}
END_TEST

START_TEST(case_F01_swap_is_in_use)
{
    char partition[80];
    char words[80];

    drive_partition(&drive, 1, MIB, 16 * MIB);
    (void)snprintf(partition, sizeof(partition), "%sp1", drive.path);
    if (!run_program((const char *const[]){"mkswap", partition, NULL}) ||
        swapon(partition, 0) != 0) {
        printf("SKIP interlock.swap: no swap on a loop device here: %s\n",
               strerror(errno));
        return;
    }
    (void)snprintf(words, sizeof(words), "partition %sp1: swap", drive.name);
    must_refuse(drive.path, -EPERM, words);
    must_refuse(partition, -EPERM, "in use: swap");
    ck_assert_int_eq(swapoff(partition), 0);
    must_refuse(partition, -EPERM, "swap signature");
}
END_TEST

START_TEST(case_F01_an_exclusive_opener_is_named)
{
    struct helper helper = helper_start(open_exclusively, drive.path);
    struct interlock_facts facts;
    char words[64];

    (void)snprintf(words, sizeof(words), "(pid %d)", (int)helper.pid);
    must_refuse(drive.path, -EBUSY, words);
    inspect(drive.path, true, &facts);
    ck_assert_ptr_nonnull(strstr(facts.refusal, words));
    ck_assert_int_eq(facts.claim, INTERLOCK_CLAIM_BUSY);
    helper_end(&helper);
    must_open(drive.path, true);
}
END_TEST

/* A virtual machine on a raw drive holds it open and nothing more. */
START_TEST(a_plain_writer_is_in_use_a_reader_is_not)
{
    struct helper helper = helper_start(open_for_writing, drive.path);

    must_refuse(drive.path, -EPERM, "open for writing in ");
    helper_end(&helper);
    helper = helper_start(open_for_reading, drive.path);
    must_open(drive.path, true);
    helper_end(&helper);
}
END_TEST

START_TEST(a_loop_on_top_is_in_use)
{
    struct test_drive top;
    char words[64];

    drive_make_on(&top, drive.path);
    (void)close(top.memory); /* the kernel keeps its own */
    top.memory = -1;
    (void)snprintf(words, sizeof(words), "behind %s", top.name);
    must_refuse(drive.path, -EPERM, words);
    drive_remove(&top);
    must_open(drive.path, true);
}
END_TEST

/* A second agent of this host, on a host without O_EXCL in its way. */
START_TEST(a_second_campaign_is_kept_out)
{
    static const struct uuid other = {{2}};
    struct job_target target = target_of(drive.path, true);
    struct opened_target more;
    struct claims *second;

    must_open(drive.path, true);
    ck_assert_int_eq(claims_new(&policy, &other, &second, &diag), 0);
    ck_assert_int_eq(interlock_open(second, &target, 1, &more, NULL, &diag),
                     -EBUSY);
    ck_assert_ptr_nonnull(strstr(diag.text, "held exclusively"));
    ck_assert_uint_eq(claims_count(second), 0);
    interlock_close(&opened, 1);
    claims = claims_release(claims);
    ck_assert_int_eq(interlock_open(second, &target, 1, &more, NULL, &diag), 0);
    interlock_close(&more, 1);
    second = claims_release(second);
}
END_TEST

/* A campaign that comes next waits for ours instead of being turned away. */
START_TEST(a_drive_that_we_hold_is_told_so)
{
    struct interlock_facts facts;

    must_open(drive.path, true);
    inspect(drive.path, true, &facts);
    ck_assert_str_eq(facts.refusal, "");
    ck_assert_int_eq(facts.claim, INTERLOCK_CLAIM_OURS);
    interlock_close(&opened, 1);
    claims = claims_release(claims);
    inspect(drive.path, true, &facts);
    ck_assert_int_eq(facts.claim, INTERLOCK_CLAIM_HELD);
    ck_assert_int_eq(facts.content, INTERLOCK_CONTENT_NONE);
}
END_TEST

static int open_for_a_moment(const char *path)
{
    int fd = open(path, O_RDWR | O_EXCL | O_CLOEXEC);

    if (fd < 0)
        return errno;
    if (fork() == 0) {
        struct timeval moment = {.tv_usec = 60000};

        (void)select(0, NULL, NULL, NULL, &moment);
        _exit(0);
    }
    (void)close(fd);
    return 0;
}

/* A monitor looks at every drive now and then: no campaign fails of that. */
START_TEST(a_moment_of_use_is_no_use)
{
    struct helper helper = helper_start(open_for_a_moment, drive.path);
    struct interlock_facts facts;

    inspect(drive.path, true, &facts);
    ck_assert_str_eq(facts.refusal, "");
    helper_end(&helper);
    helper = helper_start(open_for_a_moment, drive.path);
    must_open(drive.path, true);
    helper_end(&helper);
}
END_TEST

/* ---- Identity ---- */

/* Swap the two drives behind their names: the plan's must not be mistaken. */
START_TEST(case_F03_a_drive_that_moved_is_not_written)
{
    struct job_target target = target_of(drive.path, true);
    struct interlock_facts facts;

    inspect(drive.path, true, &facts);
    ck_assert_str_eq(facts.refusal, "");
    ck_assert_uint_ne(facts.disk_sequence, 0);
    target.device_size_bytes = facts.size_bytes;
    target.disk_sequence = facts.disk_sequence;
    ck_assert_int_eq(interlock_open(claims, &target, 1, &opened, NULL, &diag),
                     0);
    interlock_close(&opened, 1);
    claims = claims_release(claims);

    /* Another medium behind the same name, of the same size. */
    drive_remove(&drive);
    setup();
    target = target_of(drive.path, true);
    target.device_size_bytes = facts.size_bytes;
    target.disk_sequence = facts.disk_sequence;
    ck_assert_int_eq(interlock_open(claims, &target, 1, &opened, NULL, &diag),
                     -EPERM);
    ck_assert_ptr_nonnull(strstr(diag.text, "its disk sequence was "));
    ck_assert_uint_eq(claims_count(claims), 0);
}
END_TEST

/* At every phase, on the descriptor: the medium changed between two. */
START_TEST(case_F03_a_drive_that_changed_its_size_is_not_written)
{
    struct job_target target = target_of(drive.path, true);

    target.device_size_bytes = 32 * MIB;
    ck_assert_int_eq(interlock_open(claims, &target, 1, &opened, NULL, &diag),
                     0);
    interlock_close(&opened, 1);
    ck_assert_int_eq(ftruncate(drive.memory, 48 * MIB), 0);
    ck_assert(
        run_program((const char *const[]){"losetup", "-c", drive.path, NULL}));
    ck_assert_int_eq(interlock_open(claims, &target, 1, &opened, NULL, &diag),
                     -EPERM);
    ck_assert_ptr_nonnull(
        strstr(diag.text, "its size was 33554432 and is 50331648"));
}
END_TEST

/* ---- Content ---- */

static const struct {
    const char *name;
    uint64_t offset;
    const char *bytes;
    size_t length;
} signatures[] = {
    {"crypto_LUKS encrypted volume", 0, "LUKS\xba\xbe\0\1", 8},
    {"btrfs file system", 65536 + 64, "_BHRfS_M", 8},
    {"dos partition table", 446,
     "\x00\x00\x00\x00\x83\x00\x00\x00\x00\x08\x00\x00\x00\x08\x00\x00"
     "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
     "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x55\xaa",
     66},
};

START_TEST(case_F06_signatures_are_content)
{
    drive_put(&drive, signatures[_i].offset, signatures[_i].bytes,
              signatures[_i].length);
    must_refuse(drive.path, -EPERM, signatures[_i].name);
}
END_TEST

START_TEST(case_F06_swap_that_is_off_is_content)
{
    ck_assert(run_program((const char *const[]){"mkswap", drive.path, NULL}));
    must_refuse(drive.path, -EPERM, "swap signature");
}
END_TEST

/* ---- Other kinds of paths ---- */

START_TEST(only_the_harmless_character_devices)
{
    struct job_target target = target_of("/dev/null", true);

    target.size_bytes = MIB;
    ck_assert_int_eq(interlock_open(claims, &target, 1, &opened, NULL, &diag),
                     0);
    ck_assert_int_eq(opened.kind, INTERLOCK_CHARACTER);
    ck_assert(!opened.direct);
    ck_assert_uint_eq(opened.size_bytes, MIB);
    interlock_close(&opened, 1);
    must_refuse("/dev/null", -EPERM, "has no size of its own");
    must_refuse("/dev/kmsg", -EPERM, "is a character device");
    must_refuse("/dev", -EPERM, "is a directory");
    must_refuse("/dev/nonesuch", -ENOENT, "'lockstep drives' lists");
}
END_TEST

/* A node that someone made elsewhere is judged as the device it is. */
START_TEST(a_node_elsewhere_is_the_same_device)
{
    char node[PATH_SIZE];
    struct stat st;
    struct interlock_facts facts;

    (void)snprintf(node, sizeof(node), "%s/node", suite_directory());
    ck_assert_int_eq(stat(drive.path, &st), 0);
    ck_assert_int_eq(mknod(node, S_IFBLK | 0600, st.st_rdev), 0);
    inspect(node, true, &facts);
    if (facts.access_error != 0 || facts.refusal[0] != '\0') {
        /* mounted nodev: refused too, and said so */
        ck_assert_str_ne(facts.refusal, "");
        return;
    }
    ck_assert_str_eq(facts.device, drive.path);
    must_open(node, true);
    ck_assert_str_eq(opened.name, drive.name);
}
END_TEST

/* The machine's own disk is never ours to write, and says why. */
START_TEST(the_root_disk_is_refused)
{
    char path[PATH_SIZE] = "/dev/";
    char link[PATH_SIZE];
    char real[PATH_MAX];
    struct stat st;

    ck_assert_int_eq(stat("/", &st), 0);
    (void)snprintf(link, sizeof(link), "/sys/dev/block/%u:%u",
                   (unsigned)(st.st_dev >> 8 & 0xfff),
                   (unsigned)(st.st_dev & 0xff));
    if (realpath(link, real) == NULL)
        return; /* the root is no drive here */
    (void)snprintf(path + 5, sizeof(path) - 5, "%.900s",
                   strrchr(real, '/') + 1);
    ck_assert_int_eq(offers_add(&offers, "/dev/*", &diag), 0);
    must_refuse(path, -EPERM, "in use: ");
}
END_TEST

/* ---- On hosts we do not have ---- */

/*
 * A device file with the number of another host's drive.  It is never opened:
 * what is asked is refused by the facts of the tree, or only read about.
 */
static void inspect_there(const char *tree, unsigned major, unsigned minor,
                          bool write, struct interlock_facts *ret_facts)
{
    char file[4096];
    char node[PATH_SIZE];
    char *root;

    (void)snprintf(file, sizeof(file), "%.*s/sysfs/%s",
                   (int)(strrchr(__FILE__, '/') - __FILE__), __FILE__, tree);
    root = tree_make(file);
    (void)snprintf(node, sizeof(node), "%s/node-%u-%u", suite_directory(),
                   major, minor);
    ck_assert_int_eq(mknod(node, S_IFBLK | 0600, makedev(major, minor)), 0);
    policy.root = root;
    inspect(node, write, ret_facts);
    policy.root = "/";
    free(root);
}

static const struct {
    const char *tree;
    unsigned major;
    unsigned minor;
    const char *use;
} uses[] = {
    {"p4510.tree", 8, 0, "partition sda2: mounted on /; partition sda3: swap"},
    {"p4510.tree", 8, 2, "mounted on /"},
    {"p4510.tree", 259, 2, "partition nvme1n1p1: held by dm-0 (vg0-data)"},
    {"p4510.tree", 259, 3, "held by dm-0 (vg0-data)"},
    {"p4510.tree", 253, 0, "in the mount namespace of 4711 (postgres)"},
    {"pm1725b.tree", 259, 0, "member of the mounted btrfs"},
    {"pm1725b.tree", 259, 9, "open for writing in qemu-system-x86 (pid 812)"},
    /* Nothing uses this path to the drive, but the other one is mounted. */
    {"pm1725b.tree", 8, 32, "sdb is the same drive: mounted on /srv"},
    {"virtual.tree", 251, 3, "swap"},
};

START_TEST(case_F01_uses_of_every_kind)
{
    struct interlock_facts facts;

    inspect_there(uses[_i].tree, uses[_i].major, uses[_i].minor, true, &facts);
    ck_assert_msg(strstr(facts.refusal, "is in use: ") != NULL &&
                      strstr(facts.refusal, uses[_i].use) != NULL,
                  "%s", facts.refusal);
    ck_assert_int_eq(facts.claim, INTERLOCK_CLAIM_UNTRIED);
}
END_TEST

/* A partition is told by the serial and WWN of its drive, and its own size. */
START_TEST(case_F03_a_partition_has_its_drives_identity)
{
    struct interlock_facts facts;

    inspect_there("p4510.tree", 8, 1, false, &facts);
    ck_assert_str_eq(facts.refusal, "");
    ck_assert_str_eq(facts.device, "/dev/sda1");
    ck_assert_str_eq(facts.drive, "/dev/sda");
    ck_assert_str_eq(facts.serial, "S2UJNX0J402155");
    ck_assert_str_eq(facts.wwn, "naa.5002538c40a1b2c3");
    ck_assert_uint_eq(facts.disk_sequence, 3);
    ck_assert_uint_eq(facts.size_bytes, MIB);
    ck_assert_str_eq(facts.offer_hint, "serial=S2UJNX0J402155");
}
END_TEST

/* ---- zram ---- */

/* Adds one of our own, so that nobody's is touched; -1: not here. */
static int add_zram(void)
{
    FILE *add = fopen("/sys/class/zram-control/hot_add", "re");
    char path[64];
    FILE *size;
    int number = -1;

    if (add == NULL)
        return -1;
    ck_assert_int_eq(fscanf(add, "%d", &number), 1);
    (void)fclose(add);
    (void)snprintf(path, sizeof(path), "/sys/block/zram%d/disksize", number);
    size = fopen(path, "we");
    ck_assert_ptr_nonnull(size);
    (void)fprintf(size, "%llu", (unsigned long long)(16 * MIB));
    ck_assert_int_eq(fclose(size), 0);
    return number;
}

static void remove_zram(int number)
{
    FILE *remove = fopen("/sys/class/zram-control/hot_remove", "we");

    ck_assert_ptr_nonnull(remove);
    (void)fprintf(remove, "%d", number);
    ck_assert_int_eq(fclose(remove), 0);
}

START_TEST(zram_is_a_drive)
{
    struct inventory *inventory;
    char path[64];
    char name[32];
    int number = add_zram();

    if (number < 0) {
        printf("SKIP interlock.zram: this kernel has no zram\n");
        return;
    }
    (void)snprintf(name, sizeof(name), "zram%d", number);
    (void)snprintf(path, sizeof(path), "/dev/%s", name);
    ck_assert_int_eq(offers_add(&offers, path, &diag), 0);
    ck_assert_int_eq(inventory_read("/", &offers, &inventory, &diag), 0);
    ck_assert_ptr_nonnull(inventory_find(inventory, name));
    ck_assert(inventory_find(inventory, name)->offered);
    inventory = inventory_free(inventory);
    must_open(path, true);
    ck_assert_uint_eq(opened.logical_block, 4096);
    interlock_close(&opened, 1);
    claims = claims_release(claims);
    remove_zram(number);
}
END_TEST

/* The inventory sees the same uses as the interlock, and changes of them. */
START_TEST(the_inventory_notices)
{
    struct inventory *inventory;
    struct test_drive more;
    uint64_t before = inventory_fingerprint("/");
    const struct drive *found;

    drive_make(&more, 8 * MIB, 4096);
    ck_assert_uint_ne(inventory_fingerprint("/"), before);
    ck_assert_int_eq(inventory_read("/", NULL, &inventory, &diag), 0);
    found = inventory_find(inventory, more.name);
    ck_assert_ptr_nonnull(found);
    ck_assert_uint_eq(found->size_bytes, 8 * MIB);
    ck_assert_uint_eq(found->logical_block, 4096);
    ck_assert_uint_ne(found->disk_sequence, 0);
    ck_assert_uint_eq(found->used_by_count, 0);
    inventory = inventory_free(inventory);
    drive_remove(&more);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("interlock_drives");
    TCase *tests = tcase_create("all");
    const char *missing = drive_missing();

    if (missing != NULL) {
        printf("SKIP interlock.drives: %s\n", missing);
        return 77;
    }
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 30);
    tcase_add_test(tests, an_offered_empty_drive_is_opened);
    tcase_add_test(tests, reading_needs_no_offer_and_no_claim);
    tcase_add_test(tests, the_claim_keeps_others_out);
    tcase_add_test(tests, phases_of_one_campaign_open_it_again);
    tcase_add_test(tests, one_drive_named_twice_is_one_claim);
    tcase_add_test(tests, one_refusal_opens_nothing);
    tcase_add_test(tests, buffered_io_has_no_grid);
    tcase_add_test(tests, case_G03_a_block_of_4096_is_told);
    tcase_add_test(tests, case_F06_nothing_is_offered_by_default);
    tcase_add_test(tests, a_read_only_drive_is_refused);
    tcase_add_test(tests, too_small_a_drive_is_refused);
    tcase_add_test(tests, case_F06_a_file_system_is_refused);
    tcase_add_test(tests, case_F01_a_mounted_partition_protects_its_drive);
    tcase_add_test(tests, case_F01_a_mount_in_another_namespace_counts);
    tcase_add_test(tests, case_F01_swap_is_in_use);
    tcase_add_test(tests, case_F01_an_exclusive_opener_is_named);
    tcase_add_test(tests, a_plain_writer_is_in_use_a_reader_is_not);
    tcase_add_test(tests, a_loop_on_top_is_in_use);
    tcase_add_test(tests, a_second_campaign_is_kept_out);
    tcase_add_test(tests, a_drive_that_we_hold_is_told_so);
    tcase_add_test(tests, a_moment_of_use_is_no_use);
    tcase_add_test(tests, case_F03_a_drive_that_moved_is_not_written);
    tcase_add_test(tests,
                   case_F03_a_drive_that_changed_its_size_is_not_written);
    tcase_add_loop_test(tests, case_F06_signatures_are_content, 0,
                        ARRAY_LENGTH(signatures));
    tcase_add_test(tests, case_F06_swap_that_is_off_is_content);
    tcase_add_test(tests, only_the_harmless_character_devices);
    tcase_add_test(tests, a_node_elsewhere_is_the_same_device);
    tcase_add_test(tests, the_root_disk_is_refused);
    tcase_add_loop_test(tests, case_F01_uses_of_every_kind, 0,
                        ARRAY_LENGTH(uses));
    tcase_add_test(tests, case_F03_a_partition_has_its_drives_identity);
    tcase_add_test(tests, zram_is_a_drive);
    tcase_add_test(tests, the_inventory_notices);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
