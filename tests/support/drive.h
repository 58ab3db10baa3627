/*
 * drive.h - block devices that a test makes for itself, and takes away.
 *
 * Loop devices over memory: nothing is left behind, not even after a crash, for
 * the kernel detaches them when the last descriptor of the test is closed.  No
 * other device is ever written by a test.
 *
 * Anything that goes wrong fails the test; what is not there at all is asked
 * with drive_missing() first.
 */
#ifndef TESTS_SUPPORT_DRIVE_H
#define TESTS_SUPPORT_DRIVE_H

#include <stdbool.h>
#include <stdint.h>

struct test_drive {
    int number;
    char name[32]; /* loop3 */
    char path[64]; /* /dev/loop3 */
    int fd;        /* keeps it alive; O_RDONLY */
    int memory;    /* what is behind it: read or write it as a file */
};

/* Why there can be no drives here (no root, no loop driver), or NULL. */
const char *drive_missing(void);

/* A loop device of `size` zeros, with logical blocks of `block` bytes. */
void drive_make(struct test_drive *ret_drive, uint64_t size, uint32_t block);

/* One on top of a file or another device. */
void drive_make_on(struct test_drive *ret_drive, const char *path);

/* Detaches it. */
void drive_remove(struct test_drive *drive);

/* Adds partition `number`; its path is <drive>p<number>. */
void drive_partition(const struct test_drive *drive, int number, uint64_t start,
                     uint64_t length);

/* Changes bytes below the device and drops what it has cached of them. */
void drive_put(const struct test_drive *drive, uint64_t offset,
               const void *bytes, uint64_t length);

/* Marks it read-only. */
void drive_set_read_only(const struct test_drive *drive);

/*
 * Runs a program (searched in PATH and sbin) with its output thrown away; false
 * when there is no such program.  A failing one fails the test.
 */
bool run_program(const char *const *arguments);

#endif
