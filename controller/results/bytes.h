/*
 * bytes.h - byte strings for the store: written in a buffer that grows, read
 * front to back without ever leaving it.
 *
 * Numbers are varints: seven bits a byte, lowest first.
 *
 * Threads: one owner.  Errors are sticky: write or read on, ask once at the
 * end.
 */
#ifndef CONTROLLER_RESULTS_BYTES_H
#define CONTROLLER_RESULTS_BYTES_H

#include "common/base.h"

/* More than any row of the store may hold. */
#define BYTES_MAX (512u << 20)

/* All zero is an empty buffer. */
struct bytes {
    uint8_t *data;
    size_t length;
    size_t capacity;
    bool failed; /* no memory, or beyond BYTES_MAX: `data` is not whole */
};

void bytes_done(struct bytes *bytes);
void bytes_put(struct bytes *bytes, const void *data, size_t length);
void bytes_put_number(struct bytes *bytes, uint64_t number);

/* All zero is at the end of nothing. */
struct byte_reader {
    const uint8_t *at;
    const uint8_t *end;
    bool bad; /* ended too early, or a number was none */
};

uint64_t byte_reader_number(struct byte_reader *reader);

/* The next `length` bytes, where they are; NULL, and bad, if there are fewer.
 */
const uint8_t *byte_reader_take(struct byte_reader *reader, uint64_t length);

/* A number from 0 to `max`, else bad. */
uint32_t byte_reader_below(struct byte_reader *reader, uint32_t max);

#endif
