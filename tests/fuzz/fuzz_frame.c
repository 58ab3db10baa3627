/*
 * A stream cut into pieces: whatever the cuts are, the frames are the same.
 * The first byte chooses the cuts.
 */
#include <assert.h>
#include <string.h>

#include "common/frame.h"
#include "tests/fuzz/fuzz.h"

/* Adds up to what the frames of a stream were; how it ended. */
static uint64_t digest(const uint8_t *data, size_t size, size_t piece)
{
    struct frame_buffer buffer;
    const uint8_t *body;
    uint32_t length;
    uint64_t sum = 17;
    int r = 0;

    frame_buffer_init(&buffer);
    for (size_t at = 0; at < size && r == 0; at += piece) {
        size_t left = size - at;

        r = frame_buffer_add(&buffer, data + at, left < piece ? left : piece);
        assert(r == 0);
        while ((r = frame_buffer_take(&buffer, &body, &length)) > 0) {
            assert(length > 0 && length <= FRAME_BODY_MAX);
            for (uint32_t i = 0; i < length; i++)
                sum = sum * 31 + body[i];
            sum = sum * 31 + length;
        }
        assert(buffer.end - buffer.begin <= FRAME_HEADER_SIZE + FRAME_BODY_MAX);
    }
    frame_buffer_done(&buffer);
    return sum * 31 + (uint64_t)(int64_t)r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    assert(digest(data + 1, size - 1, 1u + data[0]) ==
           digest(data + 1, size - 1, FRAME_PIECE_MAX));
    return 0;
}
