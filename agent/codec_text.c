/* codec_text.c - texts as the protocol wants them. */
#include "agent/codec.h"

#include <string.h>

/* The bytes of a character at `at`; 0 where it is none, or a control. */
static size_t character(const uint8_t *at)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length;
    uint32_t code;

    if (at[0] < 0x80)
        return at[0] >= 0x20 && at[0] != 0x7f;
    if (at[0] >= 0xf8 || at[0] < 0xc0)
        return 0;
    length = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    code = at[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0; /* the final zero as well */
        code = code << 6 | (at[i] & 0x3fu);
    }
    if (code < least[length] || code < 0xa0 || code > 0x10ffff ||
        (code >= 0xd800 && code <= 0xdfff))
        return 0;
    return length;
}

bool codec_is_clean(const char *text)
{
    for (const uint8_t *at = (const uint8_t *)text; *at != 0;) {
        size_t length = character(at);

        if (length == 0)
            return false;
        at += length;
    }
    return true;
}

void codec_clean(char *text)
{
    for (uint8_t *at = (uint8_t *)text; *at != 0;) {
        size_t length = character(at);

        if (length == 0)
            *at = '?';
        at += length == 0 ? 1 : length;
    }
}
