#include "common/frame.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY_FIRST (4u << 10)
#define CAPACITY_IDLE  (64u << 10) /* more is given back when empty */
#define CAPACITY_MAX   (FRAME_HEADER_SIZE + FRAME_BODY_MAX + FRAME_PIECE_MAX)

void frame_header(uint8_t header[FRAME_HEADER_SIZE], uint32_t length)
{
    assert(length > 0 && length <= FRAME_BODY_MAX);
    header[0] = (uint8_t)(length >> 24);
    header[1] = (uint8_t)(length >> 16);
    header[2] = (uint8_t)(length >> 8);
    header[3] = (uint8_t)length;
}

static uint32_t announced(const uint8_t *header)
{
    return (uint32_t)header[0] << 24 | (uint32_t)header[1] << 16 |
           (uint32_t)header[2] << 8 | (uint32_t)header[3];
}

void frame_buffer_init(struct frame_buffer *buffer)
{
    *buffer = (struct frame_buffer){0};
}

void frame_buffer_done(struct frame_buffer *buffer)
{
    free(buffer->data);
    frame_buffer_init(buffer);
}

/* Moves what is left to the front; gives back what an idle one need not keep.
 */
static void compact(struct frame_buffer *buffer)
{
    size_t held = buffer->end - buffer->begin;

    if (held == 0 && buffer->capacity > CAPACITY_IDLE)
        frame_buffer_done(buffer);
    if (buffer->begin > 0 && held > 0)
        memmove(buffer->data, buffer->data + buffer->begin, held);
    buffer->begin = 0;
    buffer->end = held;
}

static int reserve(struct frame_buffer *buffer, size_t need)
{
    size_t capacity = buffer->capacity == 0 ? CAPACITY_FIRST : buffer->capacity;
    uint8_t *data;

    if (need > CAPACITY_MAX)
        return -ENOBUFS;
    if (need <= buffer->capacity)
        return 0;
    while (capacity < need)
        capacity *= 2;
    if (capacity > CAPACITY_MAX)
        capacity = CAPACITY_MAX;
    data = realloc(buffer->data, capacity);
    if (data == NULL)
        return -ENOMEM;
    buffer->data = data;
    buffer->capacity = capacity;
    return 0;
}

int frame_buffer_add(struct frame_buffer *buffer, const uint8_t *piece,
                     size_t length)
{
    int r;

    assert(length <= FRAME_PIECE_MAX);
    if (length == 0)
        return 0;
    compact(buffer);
    r = reserve(buffer, buffer->end + length);
    if (r < 0)
        return r;
    memcpy(buffer->data + buffer->end, piece, length);
    buffer->end += length;
    return 0;
}

int frame_buffer_take(struct frame_buffer *buffer, const uint8_t **ret_body,
                      uint32_t *ret_length)
{
    size_t held = buffer->end - buffer->begin;
    uint32_t length;

    if (held < FRAME_HEADER_SIZE)
        return 0;
    length = announced(buffer->data + buffer->begin);
    if (length == 0 || length > FRAME_BODY_MAX)
        return -EMSGSIZE;
    if (held - FRAME_HEADER_SIZE < length)
        return 0;
    *ret_body = buffer->data + buffer->begin + FRAME_HEADER_SIZE;
    *ret_length = length;
    buffer->begin += FRAME_HEADER_SIZE + length;
    return 1;
}
