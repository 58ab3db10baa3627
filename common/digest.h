/*
 * digest.h - SHA-256 of a list, for people to read and repeat.
 *
 * Threads: one owner.  Memory: digest_end_short() frees it, in any case.
 */
#ifndef COMMON_DIGEST_H
#define COMMON_DIGEST_H

#include "common/base.h"

struct digest;

/* 16 hexadecimal digits: 64 bits, with their final zero. */
#define DIGEST_SHORT_SIZE 17u

/* NULL without memory. */
struct digest *digest_new(void);

void digest_add(struct digest *digest, const void *bytes, size_t length);

/* Its first 64 bits.  0, or -ENOMEM when something of it failed. */
int digest_end_short(struct digest *digest,
                     char ret_text[DIGEST_SHORT_SIZE]) MUST_CHECK;

#endif
