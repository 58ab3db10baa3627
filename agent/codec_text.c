/* codec_text.c - texts as the protocol wants them. */
#include "agent/codec.h"

#include "common/text.h"

bool codec_is_clean(const char *text)
{
    return text_is_plain(text);
}

void codec_clean(char *text)
{
    text_make_plain(text, "");
}
