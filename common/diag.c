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
    char text[sizeof(diag->text)];
    va_list args;
    size_t length;

    if (diag == NULL)
        return;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    length = strlen(text);
    (void)snprintf(text + length, sizeof(text) - length, ": %s", diag->text);
    memcpy(diag->text, text, sizeof(text));
}
