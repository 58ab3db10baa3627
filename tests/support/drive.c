#include "tests/support/drive.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/blkpg.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define ATTEMPTS 100 /* another test may take the free device before us */

const char *drive_missing(void)
{
    int fd;

    if (geteuid() != 0)
        return "making loop devices needs root";
    fd = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return "this kernel has no loop devices (/dev/loop-control)";
    (void)close(fd);
    return NULL;
}

/* A descriptor open for writing, or the kernel makes it read-only. */
static bool attach(struct test_drive *drive, int control, uint32_t block)
{
    struct loop_config config = {
        .fd = (uint32_t)drive->memory,
        .block_size = block,
        .info.lo_flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_PARTSCAN,
    };
    int no = 0;
    int fd;
    int result;

    drive->number = ioctl(control, LOOP_CTL_GET_FREE);
    ck_assert_int_ge(drive->number, 0);
    (void)snprintf(drive->name, sizeof(drive->name), "loop%d", drive->number);
    (void)snprintf(drive->path, sizeof(drive->path), "/dev/%s", drive->name);
    fd = open(drive->path, O_RDWR | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    result = ioctl(fd, LOOP_CONFIGURE, &config);
    if (result == 0) /* who had it before may have left it read-only */
        ck_assert_int_eq(ioctl(fd, BLKROSET, &no), 0);
    if (result != 0)
        ck_assert_int_eq(errno, EBUSY);
    drive->fd = result == 0 ? open(drive->path, O_RDONLY | O_CLOEXEC) : -1;
    ck_assert(result != 0 || drive->fd >= 0);
    (void)close(fd);
    return result == 0;
}

static void attach_free_one(struct test_drive *drive, uint32_t block)
{
    int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
    int attempt = 0;

    ck_assert_int_ge(control, 0);
    while (!attach(drive, control, block))
        ck_assert_int_lt(++attempt, ATTEMPTS);
    (void)close(control);
}

void drive_make(struct test_drive *ret_drive, uint64_t size, uint32_t block)
{
    ret_drive->memory = memfd_create("lockstep-test", MFD_CLOEXEC);
    ck_assert_int_ge(ret_drive->memory, 0);
    ck_assert_int_eq(ftruncate(ret_drive->memory, (off_t)size), 0);
    attach_free_one(ret_drive, block);
}

void drive_make_on(struct test_drive *ret_drive, const char *path)
{
    ret_drive->memory = open(path, O_RDWR | O_CLOEXEC);
    ck_assert_int_ge(ret_drive->memory, 0);
    attach_free_one(ret_drive, 512);
}

void drive_remove(struct test_drive *drive)
{
    int no = 0;

    (void)ioctl(drive->fd, BLKROSET, &no); /* it would outlast the drive */
    (void)ioctl(drive->fd, LOOP_CLR_FD);
    (void)close(drive->fd);
    (void)close(drive->memory);
}

void drive_partition(const struct test_drive *drive, int number, uint64_t start,
                     uint64_t length)
{
    struct blkpg_partition partition = {
        .start = (long long)start,
        .length = (long long)length,
        .pno = number,
    };
    struct blkpg_ioctl_arg argument = {
        .op = BLKPG_ADD_PARTITION,
        .datalen = sizeof(partition),
        .data = &partition,
    };

    ck_assert_msg(ioctl(drive->fd, BLKPG, &argument) == 0,
                  "cannot add a partition to %s: %s", drive->path,
                  strerror(errno));
}

void drive_put(const struct test_drive *drive, uint64_t offset,
               const void *bytes, uint64_t length)
{
    ck_assert_int_eq(pwrite(drive->memory, bytes, length, (off_t)offset),
                     (ssize_t)length);
    ck_assert_int_eq(ioctl(drive->fd, BLKFLSBUF, 0), 0);
}

void drive_set_read_only(const struct test_drive *drive)
{
    int yes = 1;

    ck_assert_int_eq(ioctl(drive->fd, BLKROSET, &yes), 0);
}

static void run_quietly(const char *const *arguments)
{
    int null = open("/dev/null", O_RDWR);

    (void)dup2(null, 0);
    (void)dup2(null, 1);
    (void)dup2(null, 2);
    (void)setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
    (void)execvp(arguments[0], (char *const *)(uintptr_t)arguments);
    _exit(127);
}

bool run_program(const char *const *arguments)
{
    pid_t child = fork();
    int status;

    ck_assert_int_ge(child, 0);
    if (child == 0)
        run_quietly(arguments);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    if (WEXITSTATUS(status) == 127)
        return false;
    ck_assert_msg(WEXITSTATUS(status) == 0, "%s failed", arguments[0]);
    return true;
}
