/*
 * failure.h - requests that failed, in words: which errno, where.
 *
 * Pure.  Threads: any.
 */
#ifndef CONTROLLER_RESULTS_FAILURE_H
#define CONTROLLER_RESULTS_FAILURE_H

#include "common/base.h"

#define FAILURE_ERRNO_MAX 4095u /* of Linux: what a system call can return */

/* "EIO"; "SHORT" for 0, a short transfer; "E4000" for one without a name.
 * Returns `text`. */
const char *failure_code(uint32_t err, char text[NAME_SIZE]);

/* "Input/output error"; for 0 "transferred less than asked for".  Returns
 * `text`. */
const char *failure_words(uint32_t err, char text[TEXT_SIZE]);

/* "read", "write", ... of a sample's operation. */
const char *failure_op(uint32_t op);

/* "read of 4096 bytes at 8192 on h1:sd1: EIO, Input/output error" */
void failure_sentence(const char *drive, uint32_t op, uint64_t offset,
                      uint32_t length, uint32_t err, char *text, size_t size);

#endif
