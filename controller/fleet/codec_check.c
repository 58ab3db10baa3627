#include "controller/fleet/codec_check.h"

#include "common/arena.h"
#include "common/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void check_fail(struct check *check, const char *format, ...)
{
    char text[256];
    va_list args;

    if (check->err != 0)
        return;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    check->err = diag_set(check->diag, -EBADMSG, "%s: %s", check->frame, text);
}

const char *check_text(struct check *check, const char *field, const char *text,
                       size_t max)
{
    size_t length = strnlen(text, max + 1);

    if (length > max)
        check_fail(check, "%s is longer than %zu bytes", field, max);
    else if (!text_is_plain(text))
        check_fail(check, "%s is not plain UTF-8 text", field);
    return text;
}

static bool is_name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

const char *check_name(struct check *check, const char *field, const char *text)
{
    size_t length = strnlen(text, NAME_SIZE);

    if (length == 0)
        check_fail(check, "%s is empty", field);
    if (length == NAME_SIZE)
        check_fail(check, "%s is longer than %d bytes", field, NAME_SIZE - 1);
    for (size_t i = 0; i < length && i < NAME_SIZE; i++)
        if (!is_name_character(text[i]))
            check_fail(check,
                       "%s may have letters, digits, '.', '-' and '_' only",
                       field);
    return text;
}

const char **check_texts(struct check *check, const char *field, char **texts,
                         size_t count, uint32_t limit, size_t max,
                         uint32_t *ret_count)
{
    *ret_count = 0;
    if (count > limit) {
        check_fail(check, "%zu of %s, at most %u are allowed", count, field,
                   limit);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        (void)check_text(check, field, texts[i], max);
        if (texts[i][0] == '\0')
            check_fail(check, "%s has an empty text", field);
    }
    *ret_count = (uint32_t)count;
    return (const char **)texts;
}

struct uuid check_uuid(struct check *check, const char *field,
                       const ProtobufCBinaryData *bytes)
{
    struct uuid uuid = {{0}};

    if (bytes->len != sizeof(uuid.bytes))
        check_fail(check, "%s has %zu bytes, a UUID has %zu", field, bytes->len,
                   sizeof(uuid.bytes));
    else
        memcpy(uuid.bytes, bytes->data, sizeof(uuid.bytes));
    return uuid;
}

struct wire_work check_work(struct check *check, const Lockstep__Work *work)
{
    struct wire_work none = {0};

    if (work == NULL) {
        check_fail(check, "work is missing");
        return none;
    }
    return (struct wire_work){
        .campaign = check_uuid(check, "campaign", &work->campaign),
        .phase = work->phase,
        .epoch = work->epoch,
    };
}

uint32_t check_enum(struct check *check, const char *field, int value,
                    uint32_t count)
{
    if (value < 0 || (uint32_t)value >= count) {
        check_fail(check, "%s has the unknown value %d", field, value);
        return 0;
    }
    return (uint32_t)value;
}

uint64_t check_range(struct check *check, const char *field, uint64_t value,
                     uint64_t low, uint64_t high)
{
    if (value < low || value > high)
        check_fail(check, "%s is %llu, outside %llu .. %llu", field,
                   (unsigned long long)value, (unsigned long long)low,
                   (unsigned long long)high);
    return value;
}

void *check_alloc(struct check *check, size_t count, size_t size)
{
    void *memory;

    if (check->err != 0)
        return NULL;
    memory = arena_array(check->arena, count, size);
    if (memory == NULL)
        check_fail(check, "needs more memory than a frame may");
    return memory;
}
