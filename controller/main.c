/* main.c - lockstepd: settings in, loop on. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "controller/loop.h"
#include "controller/settings.h"

static void print_help(void)
{
    (void)fputs("lockstepd - the Lockstep controller\n\n"
                "usage: lockstepd [--config FILE] [--KEY=VALUE]...\n\n"
                "Keys, here and in " SETTINGS_FILE ":\n",
                stdout);
    config_print_help(&settings_table, stdout);
}

/* `--config FILE` and `--config=FILE`, taken out of the arguments. */
static const char *take_config(int *argc, char **argv)
{
    static const char option[] = "--config";
    size_t length = strlen(option);

    for (int i = 1; i < *argc; i++) {
        int words = 1;
        const char *file = NULL;

        if (strcmp(argv[i], option) == 0 && i + 1 < *argc) {
            file = argv[i + 1];
            words = 2;
        } else if (strncmp(argv[i], option, length) == 0 &&
                   argv[i][length] == '=') {
            file = argv[i] + length + 1;
        }
        if (file == NULL)
            continue;
        memmove(&argv[i], &argv[i + words],
                (size_t)(*argc - i - words) * sizeof(argv[0]));
        *argc -= words;
        return file;
    }
    return NULL;
}

static int serve(const struct settings *settings)
{
    const struct log_setup setup = {
        .program = "lockstepd",
        .level = LOG_LEVEL_NOTICE,
        .bare = settings->is_private,
        .fd = 2,
    };
    struct diag diag = {0};

    log_open(&setup);
    if (loop_run(settings, &diag) == 0)
        return 0;
    log_error(NULL, "%s", diag.text);
    return 1;
}

int main(int argc, char **argv)
{
    struct settings settings;
    struct diag diag = {0};

    (void)signal(SIGPIPE, SIG_IGN);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            print_help();
            return 0;
        }
        if (strcmp(argv[i], "--version") == 0) {
            (void)puts("lockstepd " LOCKSTEP_VERSION);
            return 0;
        }
    }

    const char *file = take_config(&argc, argv);

    if (settings_read(file, argc - 1, argv + 1, &settings, &diag) < 0 ||
        settings_check(&settings, &diag) < 0) {
        (void)fprintf(stderr, "lockstepd: %s\n", diag.text);
        return 2;
    }
    return serve(&settings);
}
