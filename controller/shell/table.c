/* table.c - see table.h. */
#include "controller/shell/table.h"

#include <string.h>

#define CELL_SIZE   256
#define COLUMNS_MAX 32

static const json_t *find(const json_t *object, const char *key)
{
    const char *dot = strchr(key, '.');
    char first[64];

    if (dot == NULL)
        return json_object_get(object, key);
    (void)snprintf(first, sizeof(first), "%.*s", (int)(dot - key), key);
    return find(json_object_get(object, first), dot + 1);
}

static void print_size(double bytes, char *text, size_t size)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    size_t unit = 0;

    while (bytes >= 999.5 && unit + 1 < ARRAY_LENGTH(units)) {
        bytes /= 1000;
        unit++;
    }
    (void)snprintf(text, size, unit == 0 ? "%.0f %s" : "%.1f %s", bytes,
                   units[unit]);
}

static void print_list(const json_t *list, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < json_array_size(list) && used < size; i++) {
        const char *word = json_string_value(json_array_get(list, i));

        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 i > 0 ? ", " : "", word ? word : "?");
    }
}

static void print_number(const json_t *value, const struct table_column *column,
                         char *text, size_t size)
{
    if (column->form == TABLE_SIZE)
        print_size(json_number_value(value), text, size);
    else if (column->form == TABLE_MS)
        (void)snprintf(text, size, "%.*f", column->digits,
                       json_number_value(value) / 1000);
    else if (json_is_integer(value) && column->digits == 0)
        (void)snprintf(text, size, "%" JSON_INTEGER_FORMAT,
                       json_integer_value(value));
    else
        (void)snprintf(text, size, "%.*f", column->digits,
                       json_number_value(value));
}

void table_cell(const json_t *row, const struct table_column *column,
                char *text, size_t size)
{
    const json_t *value = find(row, column->key);

    if (json_is_string(value))
        (void)snprintf(text, size, "%s", json_string_value(value));
    else if (json_is_number(value))
        print_number(value, column, text, size);
    else if (json_is_boolean(value))
        (void)snprintf(text, size, "%s", json_is_true(value) ? "yes" : "no");
    else if (json_is_array(value))
        print_list(value, text, size);
    else
        text[0] = '\0';
    if (text[0] == '\0')
        (void)snprintf(text, size, "%s",
                       column->none != NULL ? column->none : "unknown");
}

/* Characters, not bytes: bytes that continue a character do not count. */
static int width_of(const char *text)
{
    int width = 0;

    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

static void print_padded(FILE *out, const char *text, int width, bool right,
                         bool last)
{
    int pad = width - width_of(text);

    if (right)
        fprintf(out, "%*s%s", pad, "", text);
    else
        fprintf(out, "%s%*s", text, last ? 0 : pad, "");
    fputs(last ? "\n" : "  ", out);
}

void table_print(FILE *out, const json_t *rows,
                 const struct table_column *columns, size_t column_count)
{
    int width[COLUMNS_MAX];
    char text[CELL_SIZE];

    if (column_count > COLUMNS_MAX)
        column_count = COLUMNS_MAX;
    for (size_t c = 0; c < column_count; c++) {
        width[c] = width_of(columns[c].title);
        for (size_t r = 0; r < json_array_size(rows); r++) {
            table_cell(json_array_get(rows, r), &columns[c], text,
                       sizeof(text));
            if (width_of(text) > width[c])
                width[c] = width_of(text);
        }
    }
    for (size_t c = 0; c < column_count; c++)
        print_padded(out, columns[c].title, width[c],
                     columns[c].form != TABLE_TEXT, c + 1 == column_count);
    for (size_t r = 0; r < json_array_size(rows); r++) {
        for (size_t c = 0; c < column_count; c++) {
            table_cell(json_array_get(rows, r), &columns[c], text,
                       sizeof(text));
            print_padded(out, text, width[c], columns[c].form != TABLE_TEXT,
                         c + 1 == column_count);
        }
    }
}
