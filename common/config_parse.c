/*
 * The parsers for common kinds of fields; config.h lists them.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/config.h"
#include "common/units.h"

int config_parse_list(const char *value, void *field, struct diag *diag)
{
    struct config_list *list = field;
    char **items;
    char *copy;

    if (value[0] == '\0')
        return diag_set(diag, -EINVAL, "must not be empty");
    if (list->count == CONFIG_VALUES_MAX)
        return diag_set(diag, -E2BIG, "is given more than %d times",
                        CONFIG_VALUES_MAX);
    copy = strdup(value);
    if (copy == NULL)
        return diag_set(diag, -ENOMEM, "%s", strerror(ENOMEM));
    items = realloc(list->items, (list->count + 1) * sizeof(*items));
    if (items == NULL) {
        free(copy);
        return diag_set(diag, -ENOMEM, "%s", strerror(ENOMEM));
    }
    items[list->count++] = copy;
    list->items = items;
    return 0;
}

void config_list_done(struct config_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
    *list = (struct config_list){0};
}

static int copy_text(const char *value, char *field, size_t size,
                     struct diag *diag)
{
    size_t length = strlen(value);

    if (length >= size)
        return diag_set(diag, -ENAMETOOLONG, "is longer than %zu bytes",
                        size - 1);
    memcpy(field, value, length + 1);
    return 0;
}

int config_parse_text(const char *value, void *field, struct diag *diag)
{
    return copy_text(value, field, TEXT_SIZE, diag);
}

int config_parse_path(const char *value, void *field, struct diag *diag)
{
    return copy_text(value, field, PATH_SIZE, diag);
}

int config_parse_name(const char *value, void *field, struct diag *diag)
{
    for (const char *at = value; *at != '\0'; at++)
        if (!isalnum((unsigned char)*at) && strchr(".-_", *at) == NULL)
            return diag_set(diag, -EINVAL,
                            "'%s' is no name: letters, digits, '.', '-' and "
                            "'_' make one",
                            value);
    return copy_text(value, field, NAME_SIZE, diag);
}

int config_parse_time(const char *value, void *field, struct diag *diag)
{
    int r = units_parse_time(value, NS_PER_S, field);

    if (r < 0)
        return diag_set(diag, r, "'%s' is no time, as 500ms, 30s or 2h is",
                        value);
    return 0;
}

int config_parse_size(const char *value, void *field, struct diag *diag)
{
    int r = units_parse_size(value, field);

    if (r < 0)
        return diag_set(diag, r, "'%s' is no size, as 4k, 10m or 2g is", value);
    return 0;
}

int config_parse_bool(const char *value, void *field, struct diag *diag)
{
    static const char *const words[][2] = {
        {"no", "yes"}, {"false", "true"}, {"off", "on"}, {"0", "1"}};

    for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
        for (int meaning = 0; meaning < 2; meaning++)
            if (strcmp(value, words[i][meaning]) == 0) {
                *(bool *)field = meaning != 0;
                return 0;
            }
    return diag_set(diag, -EINVAL, "'%s' is neither yes nor no", value);
}

/* A whole number of at most `max`, digits only. */
static int parse_whole(const char *value, unsigned long max,
                       unsigned long *ret_number, struct diag *diag)
{
    unsigned long number;
    char *end;

    errno = 0;
    number = strtoul(value, &end, 10);
    if (!isdigit((unsigned char)value[0]) || *end != '\0')
        return diag_set(diag, -EINVAL, "'%s' is no whole number", value);
    if (errno != 0 || number > max)
        return diag_set(diag, -ERANGE, "'%s' is more than %lu", value, max);
    *ret_number = number;
    return 0;
}

int config_parse_fd(const char *value, void *field, struct diag *diag)
{
    unsigned long number;
    int r = parse_whole(value, INT32_MAX, &number, diag);

    if (r == 0)
        *(int *)field = (int)number;
    return r;
}

int config_parse_count(const char *value, void *field, struct diag *diag)
{
    unsigned long number;
    int r = parse_whole(value, UINT32_MAX, &number, diag);

    if (r == 0)
        *(uint32_t *)field = (uint32_t)number;
    return r;
}
