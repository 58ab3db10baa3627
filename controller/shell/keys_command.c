/* keys_command.c - see keys_command.h. */
#include "controller/shell/keys_command.h"

#include <stdio.h>
#include <string.h>

#include "common/keys.h"
#include "controller/shell/output.h"

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

    if (keys_init(directory, &diag) < 0)
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

    if (keys_issue(directory, role, name, path, &diag) < 0)
        return output_error(options->json, EXIT_FAILED, "%s", diag.text);
    return print(options, path,
                 role == TLS_ROLE_AGENT
                     ? "Copy it to that host: lockstep-agent --keys FILE "
                       "--controller HOST:PORT."
                     : "Give it to the operator: lockstep COMMAND -c HOST:PORT "
                       "--keys FILE, or LOCKSTEP_KEYS=FILE.");
}

int keys_command(const struct options *options)
{
    const struct word_list *words = &options->arguments;
    const char *directory =
        options->directory != NULL ? options->directory : KEYS_DIRECTORY;

    if (words->count == 1 && strcmp(words->word[0], "init") == 0)
        return init(options, directory);
    if (words->count == 2 && strcmp(words->word[0], "agent") == 0)
        return issue(options, directory, TLS_ROLE_AGENT, words->word[1]);
    if (words->count == 2 && strcmp(words->word[0], "operator") == 0)
        return issue(options, directory, TLS_ROLE_OPERATOR, words->word[1]);
    return output_error(options->json, EXIT_USAGE,
                        "the form is: lockstep keys init | agent NAME | "
                        "operator NAME [--dir DIR]");
}
