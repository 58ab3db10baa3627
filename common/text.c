/* text.c - see text.h. */
#include "common/text.h"

#include <string.h>

#define FIRST_BEYOND_C1 0xa0u
#define LAST_CHARACTER  0x10ffffu

static bool is_surrogate(uint32_t code)
{
    return code >= 0xd800 && code <= 0xdfff;
}

static size_t sequence_length(uint8_t first)
{
    if (first < 0xc0 || first >= 0xf8)
        return 0;
    return first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
}

size_t text_character(const char *at)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const uint8_t *byte = (const uint8_t *)at;
    size_t length = sequence_length(byte[0]);
    uint32_t code;

    if (byte[0] < 0x80)
        return byte[0] >= ' ' && byte[0] != 0x7f;
    if (length == 0)
        return 0;
    code = byte[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((byte[i] & 0xc0) != 0x80)
            return 0; /* the final zero as well */
        code = code << 6 | (byte[i] & 0x3fu);
    }
    if (code < least[length] || code < FIRST_BEYOND_C1 ||
        code > LAST_CHARACTER || is_surrogate(code))
        return 0;
    return length;
}

bool text_is_plain(const char *text)
{
    while (*text != '\0') {
        size_t length = text_character(text);

        if (length == 0)
            return false;
        text += length;
    }
    return true;
}

void text_make_plain(char *text, const char *keep)
{
    while (*text != '\0') {
        size_t length = text_character(text);

        if (length == 0 && strchr(keep, *text) == NULL)
            *text = '?';
        text += length == 0 ? 1 : length;
    }
}
