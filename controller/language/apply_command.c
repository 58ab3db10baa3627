/*
 * apply_command.c - startcmd=, endcmd= and heartbeat_error=: commands that run
 * before and after runs, where the configuration of a host names them.
 */
#include "controller/language/apply.h"

#include "common/arena.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#define COMMANDS_LIST_MAX 16u

/* "cons", or a longer beginning of the word. */
static bool is_short_for(const char *text, const char *word)
{
    size_t length = strlen(text);

    return length >= 3 && strncasecmp(text, word, length) == 0;
}

/* What is no command: where its output goes, and where it runs. */
static bool is_option(struct definition_commands *commands,
                      const struct token *token)
{
    const char *text = token->text;

    if (is_short_for(text, "console") || is_short_for(text, "summary"))
        commands->shown = true;
    else if (is_short_for(text, "logfile"))
        commands->shown = false;
    else if (strcasecmp(text, "master") == 0)
        commands->on_master = true;
    else if (strcasecmp(text, "slave") == 0)
        commands->on_master = false;
    else
        return false;
    return true;
}

static int add_command(struct reading *reading,
                       const struct parameter *parameter,
                       struct definition_commands *commands,
                       const struct token *token)
{
    struct definition_command *items;

    if (token->text[0] == '\0' || strlen(token->text) >= TEXT_SIZE)
        return value_error(reading, parameter, token,
                           "a command has 1 to %d bytes", TEXT_SIZE - 1);
    if (commands->count == COMMANDS_LIST_MAX)
        return value_error(reading, parameter, token,
                           "more than %u commands in a row", COMMANDS_LIST_MAX);
    /* A copy: those of rd=default are shared by all that begin with them. */
    items = ARENA_ARRAY(reading->arena, commands->count + 1,
                        struct definition_command);
    if (items == NULL)
        return -ENOMEM;
    if (commands->count > 0)
        memcpy(items, commands->items, commands->count * sizeof(*items));
    items[commands->count++] = (struct definition_command){
        .text = token->text,
        .place = token->place,
    };
    commands->items = items;
    return 0;
}

/* The same parameter again adds to what there is, as in vdbench. */
static int take(struct reading *reading, const struct parameter *parameter,
                struct definition_commands *commands)
{
    uint32_t before = commands->count;
    int err = 0;

    for (uint32_t i = 0; i < parameter->count && err == 0; i++)
        if (!is_option(commands, &parameter->values[i]))
            err = add_command(reading, parameter, commands,
                              &parameter->values[i]);
    if (err == 0 && commands->count == before)
        err = value_error(reading, parameter, NULL, "%s= names no command",
                          parameter->kind->name);
    return err;
}

/* Those of the whole campaign run on the controller's host, whatever is said
 * (vdbench). */
static int take_general(struct reading *reading,
                        const struct parameter *parameter,
                        struct definition_commands *commands)
{
    int err = take(reading, parameter, commands);

    for (uint32_t i = 0; i < parameter->count && err == 0; i++)
        if (strcasecmp(parameter->values[i].text, "slave") == 0)
            language_report_add(
                reading->report, LANGUAGE_WARNING, &parameter->values[i].place,
                "give it on rd= to run it on the hosts",
                "a general %s= runs on the controller's host, as in vdbench",
                parameter->kind->name);
    commands->on_master = true;
    return err;
}

static bool is_start(const struct parameter *parameter)
{
    return strncmp(parameter->kind->name, "start", 5) == 0;
}

APPLY(apply_commands)
{
    struct definition_general *general = definition;

    return take_general(reading, parameter,
                        is_start(parameter) ? &general->start : &general->end);
}

APPLY(apply_heartbeat_error)
{
    struct definition_general *general = definition;

    return take_general(reading, parameter, &general->host_lost);
}

APPLY(apply_rd_commands)
{
    struct definition_rd *rd = &((struct rd_building *)definition)->rd;

    return take(reading, parameter,
                is_start(parameter) ? &rd->start : &rd->end);
}
