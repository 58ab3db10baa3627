/* complete.c - see complete.h. */
#include "controller/shell/complete.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "controller/report/read.h"
#include "controller/shell/client.h"

/* A Tab that takes longer is worse than none. */
#define COMPLETE_LIMIT_S 2

#define COMPLETE_PATTERN_MAX 4096

/* ---- what is wanted ------------------------------------------------------ */

/* What the value of an option is called; NULL: it has none, or there is no
 * such option. */
static const char *value_of(enum command_id command, const char *option)
{
    const char *value;
    const char *name;

    for (size_t i = 0; (name = options_option_name(command, i, &value)) != NULL;
         i++)
        if (strcmp(name, option) == 0)
            return value;
    return NULL;
}

static enum completion_kind kind_of_value(const char *value)
{
    bool path = strcmp(value, "FILE") == 0 || strcmp(value, "DIR") == 0 ||
                strcmp(value, "PATTERN") == 0;

    return path ? COMPLETION_FILE : COMPLETION_NOTHING;
}

static enum completion_kind kind_of_argument(enum command_id command, size_t at)
{
    switch (command) {
    case COMMAND_STATUS:
    case COMMAND_WATCH:
    case COMMAND_SHOW:
    case COMMAND_STOP:
    case COMMAND_PIN:
    case COMMAND_REPORT:
    case COMMAND_EXPORT:
        return at == 0 ? COMPLETION_CAMPAIGN : COMPLETION_NOTHING;
    case COMMAND_COMPARE:
        return COMPLETION_CAMPAIGN;
    case COMMAND_DRIVES:
        if (at > 1)
            return COMPLETION_NOTHING;
        return at == 0 ? COMPLETION_HOST : COMPLETION_DRIVE;
    case COMMAND_KEYS:
        return at == 0 ? COMPLETION_KEYS : COMPLETION_NOTHING;
    default:
        return COMPLETION_NOTHING;
    }
}

struct completion complete_decide(const char *const *words, size_t count,
                                  const char *last)
{
    struct completion c = {.kind = COMPLETION_COMMAND,
                           .command = COMMAND_COUNT};
    const char *value = NULL;
    size_t arguments = 0;

    if (count == 0)
        return c;
    c.kind = COMPLETION_NOTHING;
    c.command = options_command(words[0]);
    if (c.command == COMMAND_COUNT)
        return c;
    for (size_t i = 1; i < count; i++) {
        if (value != NULL) {
            value = NULL;
        } else if (words[i][0] == '-') {
            value = value_of(c.command, words[i]);
        } else {
            if (arguments++ == 0)
                c.host = words[i];
        }
    }
    if (value != NULL)
        c.kind = kind_of_value(value);
    else if (last[0] == '-')
        c.kind = COMPLETION_OPTION;
    else
        c.kind = kind_of_argument(c.command, arguments);
    return c;
}

/* ---- what there is ------------------------------------------------------- */

static void offer(const char *candidate, const char *last)
{
    if (candidate != NULL && strncmp(candidate, last, strlen(last)) == 0)
        puts(candidate);
}

static void offer_commands(const char *last)
{
    const char *name;

    for (size_t i = 0; (name = options_command_name(i)) != NULL; i++)
        offer(name, last);
}

static void offer_options(enum command_id command, const char *last)
{
    const char *value;
    const char *name;

    for (size_t i = 0; (name = options_option_name(command, i, &value)) != NULL;
         i++)
        offer(name, last);
}

static void offer_keys(const char *last)
{
    const char *rest = options_command_arguments(COMMAND_KEYS);

    /* "init | agent NAME | ...": the small words. */
    while (*rest != '\0') {
        size_t length = strcspn(rest, " ");
        char word[32];

        (void)snprintf(word, sizeof(word), "%.*s", (int)length, rest);
        if (word[0] >= 'a' && word[0] <= 'z')
            offer(word, last);
        rest += length + strspn(rest + length, " ");
    }
}

/* Writes `last` as a pattern that stands for itself and what goes on. */
static void quote_pattern(const char *last, char pattern[COMPLETE_PATTERN_MAX])
{
    size_t used = 0;

    for (; *last != '\0' && used + 4 < COMPLETE_PATTERN_MAX; last++) {
        if (strchr("*?[]\\", *last) != NULL)
            pattern[used++] = '\\';
        pattern[used++] = *last;
    }
    pattern[used++] = '*';
    pattern[used] = '\0';
}

static void offer_files(const char *last)
{
    char pattern[COMPLETE_PATTERN_MAX];
    glob_t found;

    quote_pattern(last, pattern);
    if (glob(pattern, GLOB_MARK, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            puts(found.gl_pathv[i]);
        globfree(&found);
    }
}

/* The controller's list; NULL where it does not answer. */
static json_t *fetch(enum query_kind kind)
{
    struct client *client = NULL;
    struct answer answer = {0};
    struct options options;
    struct body body;
    struct diag diag;

    options_init(&options);
    if (client_connect(options.controller, options.keys, NULL, &client, &diag) <
        0)
        return NULL;

    uint32_t id = client_next_id(client);

    if (codec_query(id, kind, "", &body) < 0 ||
        client_request(client, id, &body, &answer, &diag) < 0)
        answer.document = NULL;
    client_close(client);
    return answer.document;
}

static void offer_row(const struct completion *c, const json_t *row,
                      const char *last)
{
    char number[24];

    if (c->kind == COMPLETION_CAMPAIGN) {
        (void)snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT,
                       json_integer_value(json_object_get(row, "number")));
        offer(number, last);
    } else if (c->kind == COMPLETION_HOST ||
               strcmp(read_text(row, "host"), c->host) == 0) {
        offer(read_text(row, "name"), last);
    }
}

/* Campaigns, hosts or drives. */
static int offer_rows(const struct completion *c, const char *last)
{
    static const struct {
        enum query_kind query;
        const char *key;
    } lists[] = {
        [COMPLETION_CAMPAIGN] = {SHELL_QUERY_CAMPAIGNS, "campaigns"},
        [COMPLETION_HOST] = {SHELL_QUERY_HOSTS, "hosts"},
        [COMPLETION_DRIVE] = {SHELL_QUERY_DRIVES, "drives"},
    };
    json_t *document = fetch(lists[c->kind].query);
    const json_t *rows = json_object_get(document, lists[c->kind].key);

    for (size_t i = 0; i < json_array_size(rows); i++)
        offer_row(c, json_array_get(rows, i), last);
    json_decref(document);
    return document == NULL;
}

int complete_print(const char *const *words, size_t count)
{
    const char *last = count > 0 ? words[count - 1] : "";
    struct completion c =
        complete_decide(words, count > 0 ? count - 1 : 0, last);

    (void)alarm(COMPLETE_LIMIT_S);
    switch (c.kind) {
    case COMPLETION_COMMAND:
        offer_commands(last);
        return 0;
    case COMPLETION_OPTION:
        offer_options(c.command, last);
        return 0;
    case COMPLETION_FILE:
        offer_files(last);
        return 0;
    case COMPLETION_KEYS:
        offer_keys(last);
        return 0;
    case COMPLETION_NOTHING:
        return 0;
    default:
        return offer_rows(&c, last);
    }
}
