/*
 * table.h - a JSON array of objects as an aligned table.
 *
 * Columns are as wide as their widest value; what is null or absent is shown
 * as "unknown"; a list is joined with commas.  Widths count characters of
 * UTF-8, not bytes.
 */
#ifndef CONTROLLER_SHELL_TABLE_H
#define CONTROLLER_SHELL_TABLE_H

#include <jansson.h>
#include <stdio.h>

#include "common/base.h"

enum table_form {
    TABLE_TEXT,
    TABLE_NUMBER, /* as the document has it, with `digits` decimals */
    TABLE_SIZE,   /* bytes, as 960.2 GB */
    TABLE_MS,     /* microseconds, shown as milliseconds */
};

struct table_column {
    const char *title;
    const char *key; /* of the object; "a.b" goes one deeper */
    enum table_form form;
    int digits;
    const char *none; /* shown where there is no value; NULL: "unknown" */
};

void table_print(FILE *out, const json_t *rows,
                 const struct table_column *columns, size_t column_count);

/* Writes one value as a cell shows it. */
void table_cell(const json_t *row, const struct table_column *column,
                char *text, size_t size);

#endif
