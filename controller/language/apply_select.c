/*
 * apply_select.c - drive= of sd=: drives by what they are.
 */
#include "controller/language/apply.h"

#include "common/arena.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DRIVES_MAX 256u /* what an agent takes in one phase */

static const char *const key_names[SELECT_KEYS + 2] = {
    [SELECT_MODEL] = "model",   [SELECT_SERIAL] = "serial",
    [SELECT_WWN] = "wwn",       [SELECT_FIRMWARE] = "firmware",
    [SELECT_BY_ID] = "by_id",   [SELECT_NAME] = "name",
    [SELECT_SIZE] = "size",     [SELECT_KEYS] = "count",
    [SELECT_KEYS + 1] = "used",
};

/* Index into key_names, or -EINVAL with an error. */
static int find_key(struct reading *reading, const struct token *token,
                    const char *key)
{
    const char *near;
    char hint[64];

    for (int i = 0; i < (int)ARRAY_LENGTH(key_names); i++)
        if (strcmp(key, key_names[i]) == 0)
            return i;
    near = suggest(key, key_names, ARRAY_LENGTH(key_names));
    if (near != NULL)
        (void)snprintf(hint, sizeof(hint), "did you mean %s?", near);
    language_report_add(reading->report, LANGUAGE_ERROR, &token->place,
                        near != NULL ? hint : NULL,
                        "'%s' is nothing that drive= knows of a drive: model, "
                        "serial, wwn, firmware, by_id, name, size, count, used",
                        key);
    return -EINVAL;
}

/* ---- size= ---- */

/* Drives are sold in powers of 1000, this language counts in powers of 1024. */
static int read_size(struct reading *reading, const struct parameter *parameter,
                     const struct token *token, const char *text,
                     double *ret_binary, double *ret_decimal)
{
    static const char letters[] = "kmgt";
    struct number number = {0};
    const char *letter;
    size_t digits = strspn(text, "0123456789.");

    if (number_parse(text, UNIT_BYTES, &number) < 0 || number.is_percent ||
        number.value < 512 || number.value > 0x1p62)
        return value_error(reading, parameter, token,
                           "size=%s is not a size such as 3.84t, nor a range "
                           "such as 1t-4t",
                           text);
    *ret_binary = *ret_decimal = number.value;
    letter = text[digits] == '\0'
                 ? NULL
                 : strchr(letters, tolower((unsigned char)text[digits]));
    if (letter != NULL)
        *ret_decimal *= pow(1000.0 / 1024, (double)(letter - letters + 1));
    return 0;
}

static int take_size(struct reading *reading, const struct parameter *parameter,
                     const struct token *token, const char *text,
                     struct definition_pattern *pattern)
{
    const char *dash = strchr(text, '-');
    double binary[2], decimal[2];
    char *from;
    int err;

    if (dash == NULL) {
        err = read_size(reading, parameter, token, text, binary, decimal);
        pattern->low[0] = (uint64_t)(binary[0] * 0.99);
        pattern->high[0] = (uint64_t)(binary[0] * 1.01);
        pattern->low[1] = (uint64_t)(decimal[0] * 0.99);
        pattern->high[1] = (uint64_t)(decimal[0] * 1.01);
        return err;
    }
    from = arena_strndup(reading->arena, text, (size_t)(dash - text));
    if (from == NULL)
        return -ENOMEM;
    err = read_size(reading, parameter, token, from, &binary[0], &decimal[0]);
    if (err == 0)
        err = read_size(reading, parameter, token, dash + 1, &binary[1],
                        &decimal[1]);
    if (err == 0 && binary[0] > binary[1])
        err = value_error(reading, parameter, token,
                          "the range '%s' runs backwards", text);
    if (err < 0)
        return err;
    pattern->low[0] = pattern->low[1] = (uint64_t)decimal[0];
    pattern->high[0] = pattern->high[1] = (uint64_t)binary[1];
    return 0;
}

/* ---- the others ---- */

static int take_count(struct reading *reading,
                      const struct parameter *parameter,
                      const struct token *token, const char *text,
                      struct definition_select *select)
{
    struct number number = {0};

    if (number_parse(text, UNIT_COUNT, &number) < 0 || number.is_percent ||
        number.value < 1 || number.value > DRIVES_MAX ||
        number.value != trunc(number.value))
        return value_error(reading, parameter, token,
                           "count=%s is not a number of drives from 1 to %u",
                           text, DRIVES_MAX);
    select->count = (uint32_t)number.value;
    return 0;
}

static int take_used(struct reading *reading, const struct parameter *parameter,
                     const struct token *token, const char *text,
                     struct definition_select *select)
{
    int c = tolower((unsigned char)text[0]);

    if (c != 'y' && c != 'n')
        return value_error(reading, parameter, token,
                           "expected yes or no, not '%s'", text);
    select->used = c == 'y';
    return 0;
}

/* As written, between the parentheses; serial=(a,b) becomes serial=a,b. */
static char *join(struct reading *reading, const struct parameter *parameter)
{
    char *joined = NULL;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (out == NULL)
        return NULL;
    for (uint32_t i = 0; i < parameter->count; i++) {
        const char *value = parameter->values[i].text;
        size_t length = strlen(value);

        fputs(value, out);
        if (i + 1 < parameter->count && length > 0 && value[length - 1] != '=')
            fputc(',', out);
    }
    if (fclose(out) == 0)
        joined = arena_strdup(reading->arena, text);
    free(text);
    return joined;
}

/* One value; into `patterns` where it is one. */
static int take_value(struct reading *reading,
                      const struct parameter *parameter, uint32_t index,
                      const char **key, struct definition_pattern *patterns,
                      struct definition_select *select)
{
    const struct token *token = &parameter->values[index];
    struct definition_pattern *pattern = &patterns[select->pattern_count];
    const char *text;
    int err = value_keyed(reading, parameter, index, key, &text);
    int known;

    if (err < 0)
        return err;
    known = find_key(reading, token, *key);
    if (known < 0 || text == NULL)
        return known < 0 ? known : 0;
    if (known == SELECT_KEYS)
        return take_count(reading, parameter, token, text, select);
    if (known == SELECT_KEYS + 1)
        return take_used(reading, parameter, token, text, select);
    pattern->key = (enum definition_select_key)known;
    pattern->text = text;
    select->pattern_count++;
    return known == SELECT_SIZE
               ? take_size(reading, parameter, token, text, pattern)
               : 0;
}

APPLY(apply_sd_drive)
{
    struct sd_building *building = definition;
    struct definition_pattern *patterns = ARENA_ARRAY(
        reading->arena, parameter->count, struct definition_pattern);
    struct definition_select select = {
        .given = true,
        .patterns = patterns,
        .text = join(reading, parameter),
        .place = parameter->place,
    };
    const char *key = NULL;
    int err = 0;

    if (patterns == NULL || select.text == NULL)
        return -ENOMEM;
    if (building->is_default)
        return value_error(reading, parameter, NULL,
                           "sd=default cannot have a drive=");
    for (uint32_t i = 0; i < parameter->count && err == 0; i++)
        err = take_value(reading, parameter, i, &key, patterns, &select);
    building->sd.select = select; /* also when wrong: it was given */
    return err;
}
