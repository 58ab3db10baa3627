/* read.c - see read.h. */
#include "controller/report/read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Documents round to six decimals at most. */
#define DECIMALS_MAX 6

const json_t *read_path(const json_t *object, const char *path)
{
    const char *dot;

    while ((dot = strchr(path, '.')) != NULL) {
        char key[64];

        (void)snprintf(key, sizeof(key), "%.*s", (int)(dot - path), path);
        object = json_object_get(object, key);
        path = dot + 1;
    }
    return json_object_get(object, path);
}

const char *read_text(const json_t *object, const char *path)
{
    const char *text = json_string_value(read_path(object, path));

    return text != NULL ? text : "";
}

const char *read_file_text(const json_t *file)
{
    return strncmp(read_text(file, "name"), "pattern=", 8) == 0
               ? "* bytes that were written; the JSON export has them as base64"
               : read_text(file, "text");
}

double read_number(const json_t *object, const char *path)
{
    const json_t *value = read_path(object, path);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

double read_or_zero(const json_t *object, const char *path)
{
    return json_number_value(read_path(object, path));
}

json_int_t read_count(const json_t *object, const char *path)
{
    return json_integer_value(read_path(object, path));
}

bool read_is(const json_t *object, const char *path, const char *text)
{
    return strcmp(read_text(object, path), text) == 0;
}

char *read_digits_of(double value, int decimals, char text[READ_DIGITS_SIZE])
{
    char *end;

    text[0] = '\0';
    if (!isfinite(value))
        return text;
    (void)snprintf(text, READ_DIGITS_SIZE, "%.*f", decimals, value);
    if (strchr(text, '.') == NULL)
        return text;
    end = text + strlen(text);
    while (end[-1] == '0')
        *--end = '\0';
    if (end[-1] == '.')
        *--end = '\0';
    return text;
}

char *read_digits(const json_t *value, char text[READ_DIGITS_SIZE])
{
    text[0] = '\0';
    if (json_is_integer(value))
        (void)snprintf(text, READ_DIGITS_SIZE, "%" JSON_INTEGER_FORMAT,
                       json_integer_value(value));
    else if (json_is_real(value))
        (void)read_digits_of(json_real_value(value), DECIMALS_MAX, text);
    return text;
}

bool read_time(const char *text, int64_t *ret_seconds, int *ret_ms)
{
    struct tm tm = {0};
    const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
    int ms = 0;

    if (rest == NULL)
        return false;
    if (rest[0] == '.')
        for (int i = 1; i <= 3; i++)
            ms = ms * 10 +
                 (rest[i] >= '0' && rest[i] <= '9' ? rest[i] - '0' : 0);
    *ret_seconds = timegm(&tm);
    *ret_ms = ms;
    return true;
}
