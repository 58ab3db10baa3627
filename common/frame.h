/*
 * frame.h - bytes to messages: four bytes of length, most significant first,
 * then the body.  No I/O.
 *
 * What it is for: the stream between two programs comes in pieces of any size;
 * a frame buffer takes the pieces and gives the bodies.
 *
 * Limits: a body has 1 byte to 1 MiB; another length ends the stream.  A
 * buffer grows with the bytes that came, never with the length that was
 * announced, to one frame and one piece at most.
 *
 * Threads: one owner at a time.
 *
 *     r = frame_buffer_add(&buffer, piece, piece_length);
 *     while (r == 0 && (r = frame_buffer_take(&buffer, &body, &length)) > 0)
 *         handle(body, length);
 */
#ifndef COMMON_FRAME_H
#define COMMON_FRAME_H

#include "common/base.h"

#define FRAME_HEADER_SIZE 4u
#define FRAME_BODY_MAX    (1u << 20)
#define FRAME_PIECE_MAX   (256u << 10) /* most bytes added at once */

/* Writes the header of a body of `length` bytes, 1 .. FRAME_BODY_MAX. */
void frame_header(uint8_t header[FRAME_HEADER_SIZE], uint32_t length);

struct frame_buffer {
    uint8_t *data;
    size_t capacity;
    size_t begin; /* of what was not taken yet */
    size_t end;
};

void frame_buffer_init(struct frame_buffer *buffer);
void frame_buffer_done(struct frame_buffer *buffer);

/*
 * Adds a piece of at most FRAME_PIECE_MAX bytes.  Take all frames before the
 * next one: -ENOBUFS where that was not done, -ENOMEM.  The bodies taken
 * before are gone.
 */
int frame_buffer_add(struct frame_buffer *buffer, const uint8_t *piece,
                     size_t length) MUST_CHECK;

/*
 * Takes the next frame.  Returns 1 with `ret_body` (valid until the next add)
 * and `ret_length`; 0 when more bytes are needed; -EMSGSIZE for a length that
 * is 0 or too large, and ever after: the stream is of no more use.
 */
int frame_buffer_take(struct frame_buffer *buffer, const uint8_t **ret_body,
                      uint32_t *ret_length) MUST_CHECK;

#endif
