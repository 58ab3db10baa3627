#include "common/command.h"

#include "common/text.h"
#include "common/units.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static const char *skip_blanks(const char *at)
{
    while (is_blank(*at))
        at++;
    return at;
}

/* Copies the word that begins at `at`; NULL where it does not fit. */
static const char *take_word(const char *at, char *word, size_t size)
{
    size_t length = strcspn(at, " \t");

    if (length >= size)
        return NULL;
    memcpy(word, at, length);
    word[length] = '\0';
    return skip_blanks(at + length);
}

static int check_name(const char *name, struct diag *diag)
{
    if (name[0] != '\0' &&
        strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                     "0123456789.-_") == strlen(name))
        return 0;
    return diag_set(diag, -EINVAL,
                    "'%s' is no name: letters, digits, '.', '-' and '_', then "
                    "a time if need be, then the program and its words",
                    name);
}

/* A second word that is a time is the limit. */
static const char *take_limit(const char *at, uint64_t *ret_limit_ns)
{
    char word[32];
    const char *rest = take_word(at, word, sizeof(word));
    uint64_t limit_ns;

    *ret_limit_ns = COMMAND_LIMIT_NS;
    if (rest == NULL || word[0] < '0' || word[0] > '9' ||
        units_parse_time(word, 0, &limit_ns) < 0)
        return at;
    *ret_limit_ns = limit_ns;
    return rest;
}

static int read_line(const char *line, struct command *command,
                     struct diag *diag)
{
    struct command_words words;
    const char *at =
        take_word(skip_blanks(line), command->name, sizeof(command->name));
    size_t length;
    int err;

    if (at == NULL)
        return diag_set(diag, -EINVAL, "a name has %d bytes at most",
                        NAME_SIZE - 1);
    err = check_name(command->name, diag);
    if (err < 0)
        return err;
    at = take_limit(at, &command->limit_ns);
    if (command->limit_ns < COMMAND_LIMIT_MIN_NS ||
        command->limit_ns > COMMAND_LIMIT_MAX_NS)
        return diag_set(diag, -EINVAL, "%s: the time is outside 100ms .. 1h",
                        command->name);
    length = strlen(at);
    while (length > 0 && is_blank(at[length - 1]))
        length--;
    if (length >= sizeof(command->text))
        return diag_set(diag, -EINVAL,
                        "%s: a command has %d bytes at most; put it into a "
                        "script",
                        command->name, TEXT_SIZE - 1);
    memcpy(command->text, at, length);
    command->text[length] = '\0';
    if (!text_is_plain(command->text))
        return diag_set(diag, -EINVAL, "%s: it is not plain UTF-8 text",
                        command->name);
    err = command_split(command->text, &words, diag);
    if (err < 0)
        diag_prefix(diag, "%s", command->name);
    return err;
}

static const struct command *find_named(const struct commands *commands,
                                        const char *name)
{
    for (uint32_t i = 0; i < commands->count; i++)
        if (strcmp(commands->items[i].name, name) == 0)
            return &commands->items[i];
    return NULL;
}

int commands_add(struct commands *commands, const char *line, struct diag *diag)
{
    struct command command;
    int err = read_line(line, &command, diag);

    if (err < 0)
        return err;
    if (commands->count == COMMANDS_MAX)
        return diag_set(diag, -EINVAL, "more than %u commands", COMMANDS_MAX);
    if (find_named(commands, command.name) != NULL)
        return diag_set(diag, -EINVAL, "there is another command called '%s'",
                        command.name);
    commands->items[commands->count++] = command;
    return 0;
}

const struct command *commands_find(const struct commands *commands,
                                    const char *name_or_text)
{
    const struct command *found = find_named(commands, name_or_text);

    for (uint32_t i = 0; i < commands->count && found == NULL; i++)
        if (strcmp(commands->items[i].text, name_or_text) == 0)
            found = &commands->items[i];
    return found;
}

int command_split(const char *text, struct command_words *ret_words,
                  struct diag *diag)
{
    struct command_words *words = ret_words;
    const char *at = skip_blanks(text);
    char *to = words->buffer;
    bool quoted = false;

    if (strlen(text) >= sizeof(words->buffer))
        return diag_set(diag, -EINVAL, "a command has %d bytes at most",
                        TEXT_SIZE - 1);
    words->count = 0;
    while (*at != '\0') {
        if (words->count == COMMAND_WORDS_MAX)
            return diag_set(diag, -EINVAL, "more than %u words",
                            COMMAND_WORDS_MAX);
        words->word[words->count++] = to;
        for (; *at != '\0' && (quoted || !is_blank(*at)); at++)
            if (*at == '"')
                quoted = !quoted;
            else
                *to++ = *at;
        *to++ = '\0';
        at = skip_blanks(at);
    }
    words->word[words->count] = NULL;
    if (quoted)
        return diag_set(diag, -EINVAL, "a '\"' without its second");
    if (words->count == 0 || words->word[0][0] == '\0')
        return diag_set(diag, -EINVAL,
                        "there is no program: NAME [TIME] PROGRAM WORD...");
    return 0;
}
