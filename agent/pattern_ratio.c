/* pattern_ratio.c - see pattern_ratio.h. */
#include "agent/pattern_ratio.h"

#include "agent/pattern.h"

#include <stdlib.h>
#include <zlib.h>

double pattern_ratio_of(const void *memory, size_t length, size_t piece)
{
    const uint8_t *at = memory;
    uLong bound = compressBound((uLong)piece);
    uint8_t *out = malloc(bound);
    uint64_t before = 0, after = 0;

    for (size_t left = length; out != NULL && left >= piece; left -= piece) {
        uLongf size = bound;

        if (compress2(out, &size, at, (uLong)piece, Z_BEST_SPEED) != Z_OK)
            break;
        before += piece;
        after += size < piece ? size : piece;
        at += piece;
    }
    free(out);
    return after == 0 ? 0 : (double)before / (double)after;
}

double pattern_ratio(const void *memory, size_t length)
{
    if (length > PATTERN_RATIO_BYTES)
        length = PATTERN_RATIO_BYTES;
    return pattern_ratio_of(memory, length, PATTERN_BLOCK);
}
