/*
 * inventory_sysfs.h - small text files of the kernel, below a root.
 *
 * Paths are printf formats.  What is absent, unreadable or empty reads as "" or
 * as the fallback: to the inventory both are "unknown".  Texts are cut to their
 * buffer, trimmed, and clean (valid UTF-8, no control characters), so that they
 * may go on the wire and into JSON as they are.
 *
 * Threads: none of its own.  Memory: the caller's.
 */
#ifndef AGENT_INVENTORY_SYSFS_H
#define AGENT_INVENTORY_SYSFS_H

#include <stdio.h>
#include <sys/types.h>

#include "common/base.h"

#define SYSFS_PATH_SIZE 4096u
#define SYSFS_NAMES_MAX 65536u

/* Formats into a buffer; false (and "") when it does not fit. */
bool text_format(char *text, size_t size, const char *format, ...) PRINTF(3, 4);

/* Trims, and replaces what is no text by `?`. */
void text_clean(char *text);

/* The first line, at most `size` - 1 bytes.  False and "" when there is none.
 */
bool sysfs_text(char *text, size_t size, const char *format, ...) PRINTF(3, 4);

/* A decimal number, or `fallback`. */
uint64_t sysfs_number(uint64_t fallback, const char *format, ...) PRINTF(2, 3);

/* Raw bytes; how many, 0 when there are none. */
size_t sysfs_bytes(uint8_t *bytes, size_t size, const char *format, ...)
    PRINTF(3, 4);

bool sysfs_exists(const char *format, ...) PRINTF(1, 2);

/* Opens for reading line by line, or NULL.  The caller calls fclose(). */
FILE *sysfs_open(const char *format, ...) PRINTF(1, 2);

/* The last component of what a symbolic link says. */
bool sysfs_link_name(char *text, size_t size, const char *format, ...)
    PRINTF(3, 4);

/* The real path behind all links. */
bool sysfs_real(char *text, size_t size, const char *format, ...) PRINTF(3, 4);

/* The entries of a folder, sorted, numbers in their order. */
struct sysfs_names {
    char **names;
    size_t count;
};

/* An absent folder has no entries. */
void sysfs_list(struct sysfs_names *ret_names, const char *format, ...)
    PRINTF(2, 3);
void sysfs_names_done(struct sysfs_names *names);

#endif
