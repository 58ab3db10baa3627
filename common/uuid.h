/*
 * uuid.h - names that nobody else gives: campaigns, controllers, processes.
 */
#ifndef COMMON_UUID_H
#define COMMON_UUID_H

#include "common/base.h"

#define UUID_TEXT_SIZE 37 /* 8-4-4-4-12 and the final zero */

/* A random one (version 4) from the kernel.  Cannot fail once the kernel's
 * pool is ready, which every boot that reaches us has seen. */
struct uuid uuid_random(void);

/* Of this run of the kernel; nil where it does not say. */
struct uuid uuid_boot(void);

/* Writes the lower-case text and returns `text`. */
char *uuid_format(const struct uuid *uuid, char text[UUID_TEXT_SIZE]);

/* Accepts exactly the form that uuid_format() writes, in either case.
 * Returns 0 or -EINVAL. */
int uuid_parse(const char *text, struct uuid *ret_uuid) MUST_CHECK;

bool uuid_equal(const struct uuid *a, const struct uuid *b);

/* All zeros: no UUID. */
bool uuid_is_nil(const struct uuid *uuid);

#endif
