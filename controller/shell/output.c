/* output.c - see output.h. */
#include "controller/shell/output.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"

static const char *verdict_of(enum exit_status status)
{
    switch (status) {
    case EXIT_COMPLETE:
        return "complete";
    case EXIT_DEGRADED:
        return "degraded";
    case EXIT_INTERRUPTED:
        return "interrupted";
    default:
        return "failed";
    }
}

enum exit_status output_status(const json_t *document)
{
    const char *verdict =
        json_string_value(json_object_get(document, "verdict"));

    for (int status = EXIT_COMPLETE; status <= EXIT_INTERRUPTED; status++)
        if (verdict != NULL && status != EXIT_USAGE &&
            strcmp(verdict, verdict_of((enum exit_status)status)) == 0)
            return (enum exit_status)status;
    return EXIT_COMPLETE;
}

int output_document(json_t *document, enum exit_status status,
                    const char *error)
{
    if (json_object_get(document, "verdict") == NULL)
        (void)json_object_set_new(document, "verdict",
                                  json_string(verdict_of(status)));
    if (error != NULL && !json_is_string(json_object_get(document, "error")))
        (void)json_object_set_new(document, "error", json_string(error));
    (void)json_dumpf(document, stdout, OUTPUT_JSON);
    putchar('\n');
    json_decref(document);
    return status;
}

int output_error(bool json, enum exit_status status, const char *format, ...)
{
    char text[2048];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    text_make_plain(text, "\n"); /* it may quote a name of any bytes */
    if (json)
        return output_document(json_object(), status, text);
    fprintf(stderr, "lockstep: %s\n", text);
    return status;
}
