#include "agent/interlock_facts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "agent/interlock_content.h"
#include "agent/interlock_mark.h"
#include "agent/inventory_drive.h"
#include "agent/inventory_sysfs.h"
#include "agent/inventory_usage.h"
#include "agent/stuck.h"
#include "common/clock.h"

#ifndef BLKGETDISKSEQ /* Linux 5.15 */
#define BLKGETDISKSEQ _IOR(0x12, 128, uint64_t)
#endif

#define DIRECT_BLOCK_LIKELY 4096u
#define WAIT_STEP_MS        50

int look_init(struct look *look, const struct interlock_policy *policy,
              bool writes, struct diag *diag)
{
    int result;

    *look = (struct look){
        .policy = policy,
        .root = strcmp(policy->root, "/") == 0 ? "" : policy->root,
        .patience_ms = LOOK_PATIENCE_MS,
    };
    if (!writes)
        return 0;
    result = usage_read(policy->root, &look->usage);
    if (result < 0)
        return diag_set(diag, result,
                        "cannot tell what uses the drives of this host: %s",
                        strerror(-result));
    return 0;
}

void look_done(struct look *look)
{
    look->usage = usage_free(look->usage);
}

bool look_wait(struct look *look)
{
    if (look->patience_ms <= 0)
        return false;
    look->patience_ms -= WAIT_STEP_MS;
    (void)poll(NULL, 0, WAIT_STEP_MS); /* there is no event for this */
    return true;
}

static bool may_be_brief(const struct interlock_facts *facts)
{
    for (uint32_t i = 0; i < facts->used_by_count; i++)
        if (strstr(facts->used_by[i], USAGE_WRITER) == NULL)
            return false;
    return true;
}

bool look_again(struct look *look, const struct interlock_facts *facts)
{
    struct usage *usage;

    if (look->usage == NULL || !may_be_brief(facts) || !look_wait(look) ||
        usage_read(look->policy->root, &usage) < 0)
        return false;
    (void)usage_free(look->usage);
    look->usage = usage;
    return true;
}

int look_open_exclusively(struct look *look, const struct pin *pin)
{
    char path[PIN_PATH_SIZE];
    int fd;

    fd_path(pin->fd, path);
    do
        fd = open(path, O_RDONLY | O_EXCL | O_CLOEXEC);
    while (fd < 0 && errno == EBUSY && look_wait(look));
    return fd < 0 ? -errno : fd;
}

void look_tell_holder(const struct look *look, struct interlock_facts *facts)
{
    const char *name = strrchr(facts->device, '/');
    char text[TEXT_SIZE] = "";

    if (facts->claim != INTERLOCK_CLAIM_BUSY || facts->claim_text[0] != '\0')
        return;
    if (look->usage != NULL && name != NULL)
        usage_openers(look->usage, name + 1, text, sizeof(text));
    if (text[0] != '\0')
        (void)snprintf(facts->claim_text, sizeof(facts->claim_text),
                       "open in %.240s", text);
    else
        (void)snprintf(facts->claim_text, sizeof(facts->claim_text),
                       "no process that can be seen has it open; it may be "
                       "the kernel itself (ZFS, DRBD, a LIO target)");
}

void pin_close(struct pin *pin)
{
    if (pin->fd >= 0)
        (void)close(pin->fd);
    pin->fd = -1;
}

void fd_path(int fd, char path[PIN_PATH_SIZE])
{
    (void)snprintf(path, PIN_PATH_SIZE, "/proc/self/fd/%d", fd);
}

/* Where a descriptor really is, all links resolved. */
static void canonical_path(int fd, char *path, size_t size)
{
    char link[PIN_PATH_SIZE];
    ssize_t length;

    fd_path(fd, link);
    length = readlink(link, path, size - 1);
    path[length > 0 ? length : 0] = '\0';
}

static bool is_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);

    return strncmp(path, folder, length) == 0 && path[length] == '/';
}

/* By name, or because the same devtmpfs is mounted elsewhere too. */
static bool is_below_dev(const char *path, dev_t device)
{
    struct stat dev;

    return is_below(path, "/dev") ||
           (stat("/dev", &dev) == 0 && dev.st_dev == device);
}

static void set_other(struct interlock_facts *facts, const char *what)
{
    facts->kind = INTERLOCK_OTHER;
    (void)snprintf(facts->what, sizeof(facts->what), "%s", what);
}

static void gather_file_system(int fd, struct interlock_facts *facts)
{
    struct statvfs fs;

    if (fstatvfs(fd, &fs) != 0)
        return; /* 0 bytes free: nothing will be made there */
    facts->free_bytes = fs.f_blocks == 0 /* it does not tell */
                            ? UINT64_MAX
                            : (uint64_t)fs.f_bavail * fs.f_frsize;
    facts->read_only = (fs.f_flag & ST_RDONLY) != 0;
}

static void gather_file_offer(const struct look *look,
                              struct interlock_facts *facts)
{
    struct offer_subject subject = {.is_file = true};
    const char *slash = strrchr(facts->device, '/');

    (void)text_format(subject.path, sizeof(subject.path), "%s", facts->device);
    facts->offered = offers_match(look->policy->offers, &subject) != NULL;
    (void)snprintf(facts->offer_hint, sizeof(facts->offer_hint), "%.*s/",
                   slash != NULL ? (int)(slash - facts->device) : 0,
                   facts->device);
}

/* The block of the drive below a file system, where there is one. */
static uint32_t block_below(const struct look *look, dev_t device)
{
    char real[SYSFS_PATH_SIZE];
    uint64_t block;

    if (!sysfs_real(real, sizeof(real), "%s/sys/dev/block/%u:%u", look->root,
                    major(device), minor(device)))
        return DIRECT_BLOCK_LIKELY;
    block = sysfs_number(0, "%s/queue/logical_block_size", real);
    if (block == 0) /* a partition */
        block = sysfs_number(0, "%s/../queue/logical_block_size", real);
    return block > 0 ? (uint32_t)block : DIRECT_BLOCK_LIKELY;
}

/* What the kernel answers for direct I/O on this file, else what is likely. */
static uint32_t direct_block(const struct look *look, int fd)
{
    struct statx st;

    if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN | STATX_INO, &st) != 0)
        return DIRECT_BLOCK_LIKELY;
    if ((st.stx_mask & STATX_DIOALIGN) != 0 && st.stx_dio_offset_align > 0)
        return st.stx_dio_offset_align;
    return block_below(look, makedev(st.stx_dev_major, st.stx_dev_minor));
}

static void gather_mark(const struct look *look, int fd,
                        struct interlock_facts *facts)
{
    struct file_identity identity;
    struct mark mark;

    facts->ours = false;
    facts->not_ours[0] = '\0';
    if (file_identify(fd, &identity) < 0 ||
        mark_read(look->policy->state_directory, fd, &mark) < 0)
        return;
    facts->ours =
        mark_fits(&mark, &identity, facts->not_ours, sizeof(facts->not_ours));
    if (facts->ours && mark.filled_bytes < facts->size_bytes)
        facts->size_bytes = mark.filled_bytes;
}

void facts_refresh_file(const struct look *look, int fd, bool direct,
                        struct interlock_facts *facts)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return;
    facts->kind = INTERLOCK_FILE;
    facts->device_number = st.st_dev;
    facts->inode = st.st_ino;
    facts->length_bytes = (uint64_t)st.st_size;
    facts->size_bytes = facts->length_bytes;
    facts->allocated_bytes = (uint64_t)st.st_blocks * 512;
    facts->logical_block = direct ? direct_block(look, fd) : 1;
    canonical_path(fd, facts->device, sizeof(facts->device));
    facts->below_dev = is_below_dev(facts->device, st.st_dev);
    gather_file_system(fd, facts);
    gather_file_offer(look, facts);
    gather_mark(look, fd, facts);
    if (!facts->ours) {
        facts->content = INTERLOCK_CONTENT_FOUND;
        content_of_file(&st, facts->content_text);
    }
    if (look->usage != NULL)
        facts->used_by_count = usage_list_file(
            look->usage, facts->device, facts->used_by, INVENTORY_USES_MAX);
}

/* Uses of other drives of this host that are the same one: two paths to it. */
static void gather_twins(const struct look *look, const struct drive *drive,
                         struct interlock_facts *facts)
{
    struct sysfs_names names;

    if (drive->wwn[0] == '\0')
        return;
    sysfs_list(&names, "%s/sys/block", look->root);
    for (size_t i = 0; i < names.count; i++) {
        char texts[INVENTORY_USES_MAX][TEXT_SIZE];
        char wwn[TEXT_SIZE];
        uint32_t count;

        if (strcmp(names.names[i], drive->name) == 0 ||
            (!sysfs_text(wwn, sizeof(wwn), "%s/sys/block/%s/wwid", look->root,
                         names.names[i]) &&
             !sysfs_text(wwn, sizeof(wwn), "%s/sys/block/%s/device/wwid",
                         look->root, names.names[i])) ||
            strcmp(wwn, drive->wwn) != 0)
            continue;
        count =
            usage_list(look->usage, names.names[i], texts, INVENTORY_USES_MAX);
        for (uint32_t k = 0;
             k < count && facts->used_by_count < INVENTORY_USES_MAX; k++) {
            (void)snprintf(facts->used_by[facts->used_by_count], TEXT_SIZE,
                           "%.40s is the same drive: %.190s", names.names[i],
                           texts[k]);
            text_clean(facts->used_by[facts->used_by_count++]);
        }
    }
    sysfs_names_done(&names);
}

static void gather_uses(const struct look *look, const struct drive *drive,
                        const char *name, struct interlock_facts *facts)
{
    if (look->usage == NULL)
        return;
    facts->used_by_count =
        usage_list(look->usage, name, facts->used_by, INVENTORY_USES_MAX);
    if (strcmp(drive->name, name) != 0)
        facts->used_by_count += usage_list_alone(
            look->usage, drive->name, facts->used_by + facts->used_by_count,
            INVENTORY_USES_MAX - facts->used_by_count);
    gather_twins(look, drive, facts);
}

static void gather_drive_offer(const struct look *look,
                               const struct drive *drive, const char *name,
                               struct interlock_facts *facts)
{
    struct offer_subject subject;
    const char *id = strrchr(drive->by_id, '/');

    drive_subject(look->root, drive, name, &subject);
    (void)text_format(facts->device, sizeof(facts->device), "%s", subject.path);
    (void)text_format(facts->drive, sizeof(facts->drive), "%s", subject.drive);
    facts->offered = offers_match(look->policy->offers, &subject) != NULL;
    if (look->policy->private_agent)
        (void)snprintf(facts->offer_hint, sizeof(facts->offer_hint), "%.250s",
                       subject.path);
    else if (drive->serial[0] != '\0')
        (void)snprintf(facts->offer_hint, sizeof(facts->offer_hint),
                       "serial=%.240s", drive->serial);
    else if (id != NULL)
        (void)snprintf(facts->offer_hint, sizeof(facts->offer_hint),
                       "id=%.240s", id + 1);
    else
        (void)snprintf(facts->offer_hint, sizeof(facts->offer_hint), "%.250s",
                       subject.path);
}

/* The kernel's name of a block device and of the drive that it is part of. */
static bool block_names(const struct look *look, dev_t number,
                        char name[NAME_SIZE], char whole[NAME_SIZE])
{
    char real[SYSFS_PATH_SIZE];
    char *slash;

    if (!sysfs_real(real, sizeof(real), "%s/sys/dev/block/%u:%u", look->root,
                    major(number), minor(number)))
        return false;
    slash = strrchr(real, '/');
    if (slash == NULL || !text_format(name, NAME_SIZE, "%s", slash + 1))
        return false;
    if (!sysfs_exists("%s/partition", real))
        return text_format(whole, NAME_SIZE, "%s", name);
    *slash = '\0';
    slash = strrchr(real, '/');
    return slash != NULL && text_format(whole, NAME_SIZE, "%s", slash + 1);
}

static void gather_block(const struct look *look, dev_t number, bool direct,
                         struct interlock_facts *facts)
{
    struct drive drive;
    char name[NAME_SIZE];
    char whole[NAME_SIZE];

    if (!block_names(look, number, name, whole)) {
        set_other(facts, "a device file without a device");
        return;
    }
    drive_read(look->root, whole, &drive);
    facts->kind = INTERLOCK_BLOCK;
    facts->device_number = number;
    facts->size_bytes =
        sysfs_number(0, "%s/sys/class/block/%s/size", look->root, name) * 512;
    facts->read_only =
        drive.read_only ||
        sysfs_number(0, "%s/sys/class/block/%s/ro", look->root, name) != 0;
    facts->logical_block = direct ? drive.logical_block : 1;
    facts->disk_sequence = drive.disk_sequence;
    memcpy(facts->serial, drive.serial, sizeof(facts->serial));
    memcpy(facts->wwn, drive.wwn, sizeof(facts->wwn));
    memcpy(facts->model, drive.model, sizeof(facts->model));
    gather_uses(look, &drive, name, facts);
    gather_drive_offer(look, &drive, name, facts);
}

static void gather_character(dev_t number, struct interlock_facts *facts)
{
    facts->kind = INTERLOCK_CHARACTER;
    facts->device_number = number;
    facts->logical_block = 1;
    facts->harmless = number == makedev(1, 3) || number == makedev(1, 5);
}

static void gather_found(const struct look *look, const struct pin *pin,
                         bool direct, struct interlock_facts *facts)
{
    struct stat st;

    if (fstat(pin->fd, &st) != 0) {
        facts->access_error = errno;
        return;
    }
    canonical_path(pin->fd, facts->device, sizeof(facts->device));
    if (S_ISREG(st.st_mode))
        facts_refresh_file(look, pin->fd, direct, facts);
    else if (S_ISBLK(st.st_mode))
        gather_block(look, st.st_rdev, direct, facts);
    else if (S_ISCHR(st.st_mode))
        gather_character(st.st_rdev, facts);
    else
        set_other(facts, S_ISDIR(st.st_mode)    ? "a directory"
                         : S_ISFIFO(st.st_mode) ? "a pipe"
                                                : "a socket");
}

/* Splits off the last component; false when there is none to make. */
static bool split_path(const char *path, char *folder, size_t size,
                       char name[NAME_MAX + 1])
{
    const char *slash = strrchr(path, '/');
    const char *last = slash != NULL ? slash + 1 : path;

    if (last[0] == '\0' || strcmp(last, ".") == 0 || strcmp(last, "..") == 0 ||
        !text_format(name, NAME_MAX + 1, "%s", last))
        return false;
    if (slash == NULL)
        return text_format(folder, size, ".");
    return text_format(folder, size, "%.*s", (int)(slash - path) + 1, path);
}

static void gather_missing(const struct look *look, const char *path,
                           bool direct, struct pin *pin,
                           struct interlock_facts *facts)
{
    char folder[PATH_SIZE];
    struct stat st;
    size_t length;

    facts->kind = INTERLOCK_MISSING;
    if (lstat(path, &st) == 0) {
        set_other(facts, "a symbolic link that leads to nothing");
        return;
    }
    facts->below_dev = is_below(path, "/dev");
    if (!split_path(path, folder, sizeof(folder), pin->name)) {
        set_other(facts, "not the name of a file");
        return;
    }
    pin->fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (pin->fd < 0 || fstat(pin->fd, &st) != 0) {
        facts->parent_missing = true;
        return;
    }
    canonical_path(pin->fd, facts->device, sizeof(facts->device));
    length = strlen(facts->device);
    if (!text_format(facts->device + length, sizeof(facts->device) - length,
                     "%s%s", strcmp(facts->device, "/") == 0 ? "" : "/",
                     pin->name)) {
        set_other(facts, "too long a path");
        return;
    }
    facts->below_dev |= is_below_dev(facts->device, st.st_dev);
    facts->device_number = st.st_dev;
    facts->logical_block = direct ? block_below(look, st.st_dev) : 1;
    gather_file_system(pin->fd, facts);
    gather_file_offer(look, facts);
}

/* Before anything is opened: a drive that hangs would keep us. */
static void gather_silence(struct interlock_facts *facts)
{
    const struct stuck_drive drive = {
        .device_number = facts->device_number,
        .inode = facts->kind == INTERLOCK_FILE ? facts->inode : 0,
    };
    uint64_t now_ns = clock_now_ns(clock_os());
    uint64_t since_ns;

    if (facts->device_number != 0 && stuck_since(&drive, &since_ns))
        facts->silent_ns = now_ns > since_ns ? now_ns - since_ns : 1;
}

void facts_gather(const struct look *look, const struct interlock_wish *wish,
                  struct pin *ret_pin, struct interlock_facts *ret_facts)
{
    bool direct = (wish->open_flags & JOB_OPEN_DIRECT) != 0;

    *ret_facts = (struct interlock_facts){
        .private_agent = look->policy->private_agent,
    };
    *ret_pin = (struct pin){.fd = open(wish->path, O_PATH | O_CLOEXEC)};
    if (ret_pin->fd >= 0)
        gather_found(look, ret_pin, direct, ret_facts);
    else if (errno == ENOENT || errno == ENOTDIR)
        gather_missing(look, wish->path, direct, ret_pin, ret_facts);
    else
        ret_facts->access_error = errno;
    gather_silence(ret_facts);
}

int facts_bind(int fd, struct interlock_facts *facts, struct diag *diag)
{
    uint64_t size = 0;
    uint64_t sequence = 0;
    int read_only = 0;
    int block = 0;

    if (ioctl(fd, BLKGETSIZE64, &size) != 0 ||
        ioctl(fd, BLKSSZGET, &block) != 0 ||
        ioctl(fd, BLKROGET, &read_only) != 0)
        return diag_set(diag, -errno, "cannot ask '%s' for its size: %s",
                        facts->device, strerror(errno));
    if (ioctl(fd, BLKGETDISKSEQ, &sequence) == 0 && facts->disk_sequence != 0 &&
        sequence != facts->disk_sequence)
        return diag_set(diag, -ESTALE,
                        "the drive behind '%s' was replaced while it was "
                        "looked at; try again",
                        facts->device);
    facts->size_bytes = size;
    facts->read_only |= read_only != 0;
    if (facts->logical_block != 1)
        facts->logical_block = (uint32_t)block;
    if (sequence != 0)
        facts->disk_sequence = sequence;
    return 0;
}
