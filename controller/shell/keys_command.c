/* keys_command.c - see keys_command.h. */
#include "controller/shell/keys_command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/keys.h"
#include "controller/shell/output.h"
#include "controller/shell/table.h"

#define KEYS_DIRECTORY "lockstep-keys"

static int print(const struct options *options, const char *path,
                 const char *next)
{
    if (options->json)
        return output_document(json_pack("{s:s}", "file", path), EXIT_COMPLETE,
                               NULL);
    printf("%s\n%s\n", path, next);
    return EXIT_COMPLETE;
}

static int init(const struct options *options, const char *directory)
{
    char path[PATH_SIZE];
    struct diag diag;
    int r;

    r = keys_init(directory, &diag);
    if (r == -EEXIST)
        return output_error(
            options->json, EXIT_FAILED,
            "%s: this folder has a lab's keys already; 'lockstep"
            " keys list' shows them, --dir DIR makes another "
            "lab's",
            diag.text);
    if (r < 0)
        return output_error(options->json, EXIT_FAILED, "%s", diag.text);
    (void)snprintf(path, sizeof(path), "%s/controller.pem", directory);
    return print(options, path,
                 "Give it to the controller: lockstepd --keys FILE --listen "
                 "HOST:PORT.\nKeep authority.pem beside it safe: who has it "
                 "can make keys of this lab.");
}

static int issue(const struct options *options, const char *directory,
                 enum tls_role role, const char *name)
{
    char path[PATH_SIZE];
    struct diag diag;
    int r;

    r = keys_issue(directory, role, name, path, &diag);
    if (r == -EEXIST)
        return output_error(options->json, EXIT_FAILED,
                            "%s; 'lockstep keys renew %s-%s' issues it anew",
                            diag.text, tls_role_name(role), name);
    if (r < 0)
        return output_error(options->json, EXIT_FAILED, "%s", diag.text);
    return print(options, path,
                 role == TLS_ROLE_AGENT
                     ? "Copy it to that host: lockstep-agent --keys FILE "
                       "--controller HOST:PORT."
                     : "Give it to that person: lockstep COMMAND -c HOST:PORT "
                       "--keys FILE, or LOCKSTEP_KEYS=FILE.");
}

static int renew(const struct options *options, const char *directory,
                 const char *who)
{
    char path[PATH_SIZE];
    struct diag diag;

    if (keys_renew(directory, who, path, &diag) < 0)
        return output_error(options->json, EXIT_FAILED, "%s", diag.text);
    return print(
        options, path,
        "Copy it over the old one and start what uses it anew.  An old "
        "certificate that was not\nrevoked stays good until it "
        "expires; 'lockstep keys revoke SERIAL' ends it at once.");
}

static int revoke(const struct options *options, const char *directory,
                  const char *who)
{
    char path[PATH_SIZE];
    uint32_t count = 0;
    struct diag diag;

    if (keys_revoke(directory, who, &count, path, &diag) < 0)
        return output_error(options->json, EXIT_FAILED, "%s", diag.text);
    if (options->json)
        return output_document(
            json_pack("{s:s, s:i}", "file", path, "revoked", (int)count),
            EXIT_COMPLETE, NULL);
    printf("%s\n%u certificate%s revoked.  A controller whose keys are in this "
           "folder ends their\nconnections within seconds; copy the list to "
           "any other: lockstepd --revoked FILE.\n",
           path, count, count == 1 ? "" : "s");
    return EXIT_COMPLETE;
}

/* ---- list ---------------------------------------------------------------- */

static const char *state_of(const struct keys_entry *entry, int64_t now_s)
{
    if (entry->revoked_s != 0)
        return "revoked";
    if (entry->expires_s < now_s)
        return "expired";
    if (entry->expires_s - now_s < KEYS_EXPIRES_SOON_S)
        return "expires soon";
    return "good";
}

static json_t *day(int64_t seconds)
{
    time_t when = (time_t)seconds;
    char text[16];
    struct tm tm;

    if (seconds == 0 || gmtime_r(&when, &tm) == NULL ||
        strftime(text, sizeof(text), "%Y-%m-%d", &tm) == 0)
        return json_null();
    return json_string(text);
}

static json_t *entry_json(const struct keys_entry *entry, int64_t now_s)
{
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:s}", "role",
                     tls_role_name(entry->role), "name", entry->name, "state",
                     state_of(entry, now_s), "issued", day(entry->issued_s),
                     "expires", day(entry->expires_s), "revoked",
                     day(entry->revoked_s), "serial", entry->serial);
}

static int list(const struct options *options, const char *directory)
{
    static const struct table_column columns[] = {
        {"role", "role", TABLE_TEXT, 0, NULL},
        {"name", "name", TABLE_TEXT, 0, NULL},
        {"state", "state", TABLE_TEXT, 0, NULL},
        {"issued", "issued", TABLE_TEXT, 0, NULL},
        {"expires", "expires", TABLE_TEXT, 0, NULL},
        {"revoked", "revoked", TABLE_TEXT, 0, "-"},
        {"serial", "serial", TABLE_TEXT, 0, NULL},
    };
    struct keys_entry *entries = NULL;
    uint32_t count = 0;
    json_t *rows = json_array();
    struct diag diag;

    if (keys_list(directory, &entries, &count, &diag) < 0) {
        json_decref(rows);
        return output_error(options->json, EXIT_FAILED, "%s", diag.text);
    }
    for (uint32_t i = 0; i < count; i++)
        (void)json_array_append_new(rows, entry_json(&entries[i], time(NULL)));
    free(entries);
    if (options->json)
        return output_document(json_pack("{s:o}", "keys", rows), EXIT_COMPLETE,
                               NULL);
    table_print(stdout, rows, columns, ARRAY_LENGTH(columns));
    json_decref(rows);
    return EXIT_COMPLETE;
}

static const struct {
    const char *word;
    enum tls_role role;
} issues[] = {
    {"agent", TLS_ROLE_AGENT},
    {"operator", TLS_ROLE_OPERATOR},
    {"viewer", TLS_ROLE_VIEWER},
};

static int with_name(const struct options *options, const char *directory,
                     const char *word, const char *name)
{
    for (size_t i = 0; i < ARRAY_LENGTH(issues); i++)
        if (strcmp(word, issues[i].word) == 0)
            return issue(options, directory, issues[i].role, name);
    if (strcmp(word, "renew") == 0)
        return renew(options, directory, name);
    if (strcmp(word, "revoke") == 0)
        return revoke(options, directory, name);
    return -1;
}

int keys_command(const struct options *options)
{
    const struct word_list *words = &options->arguments;
    const char *directory =
        options->directory != NULL ? options->directory : KEYS_DIRECTORY;
    int status = -1;

    if (words->count == 1 && strcmp(words->word[0], "init") == 0)
        status = init(options, directory);
    else if (words->count == 1 && strcmp(words->word[0], "list") == 0)
        status = list(options, directory);
    else if (words->count == 2)
        status = with_name(options, directory, words->word[0], words->word[1]);
    if (status >= 0)
        return status;
    return output_error(options->json, EXIT_USAGE,
                        "the form is: lockstep keys init | list | agent NAME | "
                        "operator NAME | viewer NAME | renew NAME | revoke "
                        "NAME [--dir DIR]");
}
