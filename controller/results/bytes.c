#include "controller/results/bytes.h"

#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX 10u /* bytes of the longest varint */

void bytes_done(struct bytes *bytes)
{
    free(bytes->data);
    memset(bytes, 0, sizeof(*bytes));
}

static bool reserve(struct bytes *bytes, size_t more)
{
    size_t needed = bytes->length + more;
    size_t capacity = bytes->capacity == 0 ? 256 : bytes->capacity;
    uint8_t *data;

    if (bytes->failed || more > BYTES_MAX || needed > BYTES_MAX) {
        bytes->failed = true;
        return false;
    }
    if (needed <= bytes->capacity)
        return true;
    while (capacity < needed)
        capacity *= 2;
    data = realloc(bytes->data, capacity);
    if (data == NULL) {
        bytes->failed = true;
        return false;
    }
    bytes->data = data;
    bytes->capacity = capacity;
    return true;
}

void bytes_put(struct bytes *bytes, const void *data, size_t length)
{
    if (length == 0 || !reserve(bytes, length))
        return;
    memcpy(bytes->data + bytes->length, data, length);
    bytes->length += length;
}

void bytes_put_number(struct bytes *bytes, uint64_t number)
{
    uint8_t *at;

    if (!reserve(bytes, NUMBER_MAX))
        return;
    at = bytes->data + bytes->length;
    while (number >= 0x80) {
        *at++ = (uint8_t)(number | 0x80);
        number >>= 7;
    }
    *at++ = (uint8_t)number;
    bytes->length = (size_t)(at - bytes->data);
}

static uint64_t fail(struct byte_reader *reader)
{
    reader->bad = true;
    reader->at = reader->end;
    return 0;
}

uint64_t byte_reader_number(struct byte_reader *reader)
{
    uint64_t number = 0;

    for (uint32_t shift = 0; reader->at < reader->end; shift += 7) {
        uint8_t byte = *reader->at++;

        if (shift == 63 && byte > 1)
            return fail(reader);
        number |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0)
            return number;
    }
    return fail(reader);
}

const uint8_t *byte_reader_take(struct byte_reader *reader, uint64_t length)
{
    const uint8_t *at = reader->at;

    if (length > (uint64_t)(reader->end - reader->at)) {
        (void)fail(reader);
        return NULL;
    }
    reader->at += length;
    return at;
}

uint32_t byte_reader_below(struct byte_reader *reader, uint32_t max)
{
    uint64_t number = byte_reader_number(reader);

    return number > max ? (uint32_t)fail(reader) : (uint32_t)number;
}
