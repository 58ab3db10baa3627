/* consent_ask.c - see consent_ask.h. */
#include "controller/shell/consent_ask.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "controller/shell/table.h"

static const struct table_column columns[] = {
    {"host", "host", TABLE_TEXT, 0, ""},
    {"drive", "path", TABLE_TEXT, 0, ""},
    {"id", "id", TABLE_TEXT, 0, NULL},
    {"size", "size_bytes", TABLE_SIZE, 0, NULL},
    {"model", "model", TABLE_TEXT, 0, NULL},
    {"what is on it now", "content", TABLE_TEXT, 0, NULL},
};

const char *consent_hash(const json_t *document)
{
    return json_string_value(
        json_object_get(json_object_get(document, "consent"), "hash"));
}

/* A word as a shell takes it back. */
static void print_word(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "@%+=:,./_-";

    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        fputs(word, stderr);
        return;
    }
    fputc('\'', stderr);
    for (; *word != '\0'; word++) {
        if (*word == '\'')
            fputs("'\\''", stderr);
        else
            fputc(*word, stderr);
    }
    fputc('\'', stderr);
}

/* The command line again, with this hash and without an older one. */
static void print_command(const struct options *options, const char *hash)
{
    fputs("  lockstep", stderr);
    for (int i = 1; i < options->argc; i++) {
        if (strcmp(options->argv[i], "--yes") == 0) {
            i++;
            continue;
        }
        fputc(' ', stderr);
        print_word(options->argv[i]);
    }
    fprintf(stderr, " --yes %s\n", hash);
}

static bool is_yes(void)
{
    char line[16];

    fputs("Destroy all of that? Type yes: ", stderr);
    (void)fflush(stderr);
    if (fgets(line, sizeof(line), stdin) == NULL)
        return false;
    line[strcspn(line, "\n")] = '\0';
    return strcmp(line, "yes") == 0;
}

bool consent_ask(const struct options *options, const json_t *document)
{
    const json_t *drives =
        json_object_get(json_object_get(document, "consent"), "drives");

    fputs("This campaign overwrites drives that are not empty:\n", stderr);
    table_print(stderr, drives, columns, ARRAY_LENGTH(columns));
    if (isatty(STDIN_FILENO) && isatty(STDERR_FILENO))
        return is_yes();
    fputs("Nothing has begun.  If all of that may be destroyed, repeat:\n",
          stderr);
    print_command(options, consent_hash(document));
    return false;
}
