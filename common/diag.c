#include "common/diag.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int diag_set(struct diag *diag, int err, const char *format, ...)
{
    va_list args;

    assert(err < 0);
    if (diag == NULL)
        return err;
    diag->err = err;
    va_start(args, format);
    (void)vsnprintf(diag->text, sizeof(diag->text), format, args);
    va_end(args);
    return err;
}

void diag_prefix(struct diag *diag, const char *format, ...)
{
    char rest[sizeof(diag->text)];
    size_t length, room;
    va_list args;

    if (diag == NULL)
        return;
    memcpy(rest, diag->text, sizeof(rest));
    va_start(args, format);
    (void)vsnprintf(diag->text, sizeof(diag->text), format, args);
    va_end(args);
    length = strlen(diag->text);
    room = sizeof(diag->text) - 1 - length;
    if (room < 2)
        return;
    memcpy(diag->text + length, ": ", 2);
    length += 2;
    room = strnlen(rest, room - 2);
    memcpy(diag->text + length, rest, room);
    diag->text[length + room] = '\0';
}
