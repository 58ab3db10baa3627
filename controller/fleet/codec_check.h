/*
 * codec_check.h - the checks that the parts of the codec share.
 *
 * A checker remembers the first thing that was wrong; the takers after it go
 * on harmlessly, so that decoding reads as a list of fields.  Only for
 * codec*.c.
 */
#ifndef CONTROLLER_FLEET_CODEC_CHECK_H
#define CONTROLLER_FLEET_CODEC_CHECK_H

#include "common/diag.h"
#include "controller/fleet/wire.h"
#include "proto/lockstep.pb-c.h"

struct arena;

struct check {
    const char *frame; /* name of the frame, for messages */
    struct diag *diag; /* may be NULL */
    struct arena *arena;
    int err;
};

/* Counters above it do not fit the store's and JSON's integers. */
#define CHECK_COUNT_MAX ((uint64_t)INT64_MAX)

/* Notes that something is wrong; the first one wins. */
void check_fail(struct check *check, const char *format, ...) PRINTF(2, 3);

/* UTF-8 without control characters, at most `max` bytes. */
const char *check_text(struct check *check, const char *field, const char *text,
                       size_t max);

/* 1 to 64 letters, digits, dots, dashes and underscores. */
const char *check_name(struct check *check, const char *field,
                       const char *text);

/* A list of texts, each of at most `max` bytes and not empty. */
const char **check_texts(struct check *check, const char *field, char **texts,
                         size_t count, uint32_t limit, size_t max,
                         uint32_t *ret_count);

struct uuid check_uuid(struct check *check, const char *field,
                       const ProtobufCBinaryData *bytes);

struct wire_work check_work(struct check *check, const Lockstep__Work *work);

/* An enum's value as 0 .. count - 1. */
uint32_t check_enum(struct check *check, const char *field, int value,
                    uint32_t count);

uint64_t check_range(struct check *check, const char *field, uint64_t value,
                     uint64_t low, uint64_t high);

/* Zeroed memory for `count` things; NULL after a failure. */
void *check_alloc(struct check *check, size_t count, size_t size);

/* The parts of the codec, one per file. */
void wire_decode_sample(struct check *check, const Lockstep__Sample *from,
                        struct wire_sample *to);
void wire_decode_shell_hello(struct check *check,
                             const Lockstep__ShellHello *from,
                             struct wire_shell_hello *to);
void wire_decode_request(struct check *check, const Lockstep__Request *from,
                         struct wire_request *to);

#endif
