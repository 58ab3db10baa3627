/*
 * key_file.h - files that hold a private key.
 */
#ifndef COMMON_KEY_FILE_H
#define COMMON_KEY_FILE_H

#include "common/base.h"

struct diag;

#define KEY_FILE_MAX (64u << 10)

/*
 * Reads a whole file into `data`, which has KEY_FILE_MAX bytes; wipe it after
 * use.  Refuses one that is no regular file, that any but its owner may use,
 * or that is neither ours nor root's.
 */
int key_file_read(const char *path, char *data, size_t *ret_length,
                  struct diag *diag) MUST_CHECK;

/* Makes a new one, mode 0600; -EEXIST where there is one.  All of it is on the
 * disk, or there is no file. */
int key_file_write(const char *path, const char *data, size_t length,
                   struct diag *diag) MUST_CHECK;

#endif
