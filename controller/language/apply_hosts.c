/*
 * apply_hosts.c - stanzas that name $host: one for each host.
 *
 * $host and !host become the host's label, #host its number from 0, #hosts the
 * number of hosts.
 */
#include "controller/language/apply.h"

#include "common/arena.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COPIES_MAX 65536u /* of one stanza */

struct replacement {
    const char *label;
    uint32_t number;
    uint32_t hosts;
};

/* What stands at `text`; gives the bytes it takes, 0 for nothing of ours. */
static size_t replaced_length(const char *text)
{
    if (strncmp(text, "#hosts", 6) == 0)
        return 6;
    if (strncmp(text, "$host", 5) == 0 || strncmp(text, "!host", 5) == 0 ||
        strncmp(text, "#host", 5) == 0)
        return 5;
    return 0;
}

static bool names_host(const char *text)
{
    for (; *text != '\0'; text++)
        if (replaced_length(text) > 0)
            return true;
    return false;
}

/* Whether it has to be repeated: #hosts alone is the same for all. */
static bool names_one_host(const char *text)
{
    for (; *text != '\0'; text++)
        if (replaced_length(text) == 5)
            return true;
    return false;
}

static void write_replaced(FILE *out, const char *text,
                           const struct replacement *by)
{
    while (*text != '\0') {
        size_t length = replaced_length(text);

        if (length == 0)
            fputc(*text++, out);
        else if (length == 6)
            fprintf(out, "%u", by->hosts);
        else if (*text == '#')
            fprintf(out, "%u", by->number);
        else
            fputs(by->label, out);
        text += length;
    }
}

static int replace_token(struct reading *reading, struct token *token,
                         const struct replacement *by)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out;

    if (!names_host(token->text))
        return 0;
    out = open_memstream(&text, &size);
    if (out == NULL)
        return -ENOMEM;
    write_replaced(out, token->text, by);
    if (fclose(out) != 0) {
        free(text);
        return -ENOMEM;
    }
    token->text = arena_strdup(reading->arena, text);
    free(text);
    return token->text != NULL ? 0 : -ENOMEM;
}

static int replace_tokens(struct reading *reading, const struct token **tokens,
                          uint32_t count, const struct replacement *by)
{
    struct token *copy;
    int err = 0;

    copy = arena_memdup(reading->arena, *tokens, count * sizeof(*copy));
    if (copy == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < count && err == 0; i++)
        err = replace_token(reading, &copy[i], by);
    *tokens = copy;
    return err;
}

static int replace_stanza(struct reading *reading, const struct stanza *stanza,
                          const struct replacement *by, struct stanza *ret_copy)
{
    struct stanza copy = *stanza;
    int err = replace_tokens(reading, &copy.names, copy.name_count, by);

    if (err < 0)
        return err;
    copy.parameters = arena_memdup(reading->arena, stanza->parameters,
                                   stanza->count * sizeof(*copy.parameters));
    if (copy.parameters == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < copy.count && err == 0; i++)
        err = replace_tokens(reading, &copy.parameters[i].values,
                             copy.parameters[i].count, by);
    *ret_copy = copy;
    return err;
}

static bool any_token(const struct stanza *stanza, bool (*is)(const char *))
{
    for (uint32_t i = 0; i < stanza->name_count; i++)
        if (is(stanza->names[i].text))
            return true;
    for (uint32_t i = 0; i < stanza->count; i++)
        for (uint32_t k = 0; k < stanza->parameters[i].count; k++)
            if (is(stanza->parameters[i].values[k].text))
                return true;
    return false;
}

int hosts_expand(struct building *building, const struct stanza *stanza,
                 int (*apply)(struct building *, const struct stanza *))
{
    static const struct definition_host local = {.label = "localhost"};
    const struct definition_host *hosts = building->hosts;
    uint32_t count = building->host_count;
    bool repeated = any_token(stanza, names_one_host);
    int err = 0;

    if (!any_token(stanza, names_host))
        return apply(building, stanza);
    if (count == 0) {
        hosts = &local;
        count = 1;
    }
    if (repeated && building->sd_count + count > COPIES_MAX) {
        language_report_add(building->reading->report, LANGUAGE_ERROR,
                            &stanza->place, NULL,
                            "more than %u entries for all hosts", COPIES_MAX);
        return 0;
    }
    for (uint32_t i = 0; i < (repeated ? count : 1) && err == 0; i++) {
        struct replacement by = {hosts[i].label, i, count};
        struct stanza copy;

        err = replace_stanza(building->reading, stanza, &by, &copy);
        if (err == 0)
            err = apply(building, &copy);
    }
    return err;
}
