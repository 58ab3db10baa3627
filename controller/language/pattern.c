/*
 * pattern.c - pattern=: a file whose bytes are written.
 *
 * They come by the function that finds included files, as text: base64, which a
 * submission, a store and a JSON document hold like any other file.
 */
#include "controller/language/apply.h"

#include "common/arena.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *language_pattern_text(const uint8_t *bytes, size_t length)
{
    char *text = malloc((length + 2) / 3 * 4 + 1);
    char *to = text;

    if (text == NULL)
        return NULL;
    for (size_t i = 0; i < length; i += 3) {
        size_t left = length - i;
        uint32_t group = (uint32_t)bytes[i] << 16 |
                         (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (left > 2 ? bytes[i + 2] : 0);

        *to++ = digits[group >> 18];
        *to++ = digits[group >> 12 & 63];
        *to++ = left > 1 ? digits[group >> 6 & 63] : '=';
        *to++ = left > 2 ? digits[group & 63] : '=';
    }
    *to = '\0';
    return text;
}

/* Four digits to a group of 24 bits; false: one of them is none. */
static bool read_group(const char *text, uint32_t *ret_group)
{
    uint32_t group = 0;

    for (int i = 0; i < 4; i++) {
        const char *digit =
            memchr(digits, text[i] == '=' ? 'A' : text[i], sizeof(digits) - 1);

        if (digit == NULL)
            return false;
        group = group << 6 | (uint32_t)(digit - digits);
    }
    *ret_group = group;
    return true;
}

/* The bytes of a text, as many as there is room for in `to`; -EBADMSG for one
 * that is no base64, -EFBIG for one that is longer. */
static int read_bytes(const char *text, size_t length, uint8_t *to, size_t size,
                      uint32_t *ret_length)
{
    size_t padding = 0;
    size_t done = 0;

    while (padding < 2 && padding < length && text[length - 1 - padding] == '=')
        padding++;
    if (length % 4 != 0 || memchr(text, '=', length - padding) != NULL)
        return -EBADMSG;
    if (length / 4 * 3 - padding > size)
        return -EFBIG;
    for (size_t i = 0; i < length; i += 4) {
        uint32_t group;

        if (!read_group(text + i, &group))
            return -EBADMSG;
        for (int shift = 16; shift >= 0 && done < length / 4 * 3 - padding;
             shift -= 8)
            to[done++] = (uint8_t)(group >> shift);
    }
    *ret_length = (uint32_t)done;
    return 0;
}

APPLY(apply_pattern)
{
    struct definition_general *general = definition;
    const struct token *token;
    int err = value_word(reading, parameter, &token);

    if (err < 0)
        return err;
    if (token->text[0] == '\0')
        return value_error(reading, parameter, token,
                           "pattern= is the name of a file");
    general->pattern.text = token->text;
    general->pattern.place = token->place;
    return 0;
}

static void say_unreadable(struct reading *reading,
                           const struct definition_name *name, int err)
{
    static const char hint[] =
        "it must be a regular file that whoever submits the campaign may read; "
        "a bare name is looked for as that of an include=";

    if (err == -EFBIG)
        language_report_add(reading->report, LANGUAGE_ERROR, &name->place,
                            "only what is repeated is needed",
                            "pattern file '%s' is longer than %u KiB",
                            name->text, LANGUAGE_PATTERN_MAX >> 10);
    else if (err == -EBADMSG)
        language_report_add(reading->report, LANGUAGE_ERROR, &name->place, NULL,
                            "pattern file '%s' was submitted as a text that is "
                            "no base64",
                            name->text);
    else
        language_report_add(reading->report, LANGUAGE_ERROR, &name->place, hint,
                            "cannot read pattern file '%s'%s%s", name->text,
                            err == -ENOENT ? "" : ": ",
                            err == -ENOENT ? "" : strerror(-err));
}

static int take_bytes(struct reading *reading,
                      struct definition_general *general, const char *text,
                      size_t length)
{
    uint8_t *bytes = arena_alloc(reading->arena, LANGUAGE_PATTERN_MAX);
    int err;

    if (bytes == NULL)
        return -ENOMEM;
    err = read_bytes(text, length, bytes, LANGUAGE_PATTERN_MAX,
                     &general->pattern_length);
    general->pattern_bytes = bytes;
    if (err < 0)
        say_unreadable(reading, &general->pattern, err);
    else if (general->pattern_length == 0)
        language_report_add(
            reading->report, LANGUAGE_ERROR, &general->pattern.place, NULL,
            "pattern file '%s' is empty", general->pattern.text);
    return 0;
}

static void say_both(struct reading *reading, const char *other)
{
    language_report_add(
        reading->report, LANGUAGE_ERROR,
        &reading->definitions->general.pattern.place, "give one of them",
        "pattern= and %s both say which bytes are written", other);
}

static void check_others(struct reading *reading)
{
    const struct definitions *d = reading->definitions;
    bool compresses = d->general.compression > 1;
    bool repeats = false;

    for (uint32_t i = 0; i < d->rd_count; i++)
        for (uint32_t k = 0; k < d->rds[i].loop_count; k++)
            compresses |= d->rds[i].loops[k].kind == LOOP_COMPRATIO;
    for (uint32_t i = 0; i < d->sd_count; i++)
        repeats |= d->sds[i].dedup.ratio > 1;
    if (compresses)
        say_both(reading, "compratio=");
    if (repeats)
        say_both(reading, "dedupratio=");
}

int pattern_read(struct reading *reading)
{
    struct definition_general *general = &reading->definitions->general;
    const struct language_input *input = reading->input;
    char *text = NULL;
    size_t length = 0;
    char *name;
    int err;

    if (general->pattern.text == NULL)
        return 0;
    check_others(reading);
    name = arena_printf(reading->arena, "%s%s", LANGUAGE_PATTERN,
                        general->pattern.text);
    if (name == NULL)
        return -ENOMEM;
    err = input->include == NULL
              ? -ENOENT
              : input->include(input->include_user, name,
                               general->pattern.place.file, &text, &length);
    if (err == 0)
        err = take_bytes(reading, general, text, length);
    else if (err != -ENOMEM) {
        say_unreadable(reading, &general->pattern, err);
        err = 0;
    }
    free(text);
    return err;
}
