/*
 * codec.h - frames to structs and back, on the controller's side.
 *
 * Together with its parts (codec_*.c) the only place of the controller that
 * sees protobuf's types.  What wire_decode() accepts is true from then on:
 * see wire.h.  A body that it refuses ends the connection.
 *
 * Memory: decoding works in the caller's bounded arena, which is reset when
 * the frame has been handled; a frame that would need more is refused.
 * Encoding returns malloc'ed bytes.
 * Threads: none of its own.
 */
#ifndef CONTROLLER_FLEET_CODEC_H
#define CONTROLLER_FLEET_CODEC_H

#include "common/base.h"
#include "common/diag.h"
#include "controller/fleet/wire.h"

struct arena;

/* Enough for any sound frame: protobuf's structs take a few times the bytes
 * that they came from. */
#define WIRE_ARENA_BYTES (16u << 20)

/*
 * Decodes the body of one frame.  Returns 0, -EBADMSG for what the protocol
 * does not allow, or -ENOMEM; `diag` then names frame and field.
 * A sample that was decoded belongs to the caller (sample_free()).
 */
int wire_decode(const uint8_t *body, size_t length, struct arena *arena,
                struct wire_in *ret_in, struct diag *diag) MUST_CHECK;

/*
 * Makes the body of one frame, to be freed by the caller.  Returns 0, -EMSGSIZE
 * when it would exceed the limit of a frame, or -ENOMEM.  The arena is scratch.
 */
int wire_encode(const struct wire_out *out, struct arena *arena,
                uint8_t **ret_body, size_t *ret_length) MUST_CHECK;

/* The frame's name for messages: "AgentHello". */
const char *wire_in_name(enum wire_in_kind kind);

#endif
