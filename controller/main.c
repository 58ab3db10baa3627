/*
 * lockstepd - the controller.  Arguments, settings, the loop; no logic.
 */
#include "common/config.h"
#include "common/diag.h"
#include "common/log.h"
#include "common/process.h"
#include "controller/loop.h"
#include "controller/settings.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STATUS_FAILED 1
#define STATUS_USAGE  2

static void print_help(void)
{
    (void)puts("Usage: lockstepd [--config FILE] [OPTION]...\n"
               "The controller of Lockstep: keeps the agents of a lab, runs "
               "campaigns on them,\nstores what they measure.\n"
               "\n"
               "  --config=FILE           instead of " SETTINGS_FILE "\n"
               "  --help, --version\n"
               "\n"
               "Options, in the file as 'name = value':");
    config_print_help(&settings_table, stdout);
}

/* A daemon's lines have the time; those of a child of `lockstep run`, and what
 * is wrong with the arguments, do not. */
static void open_log(bool bare)
{
    const struct log_setup setup = {
        .program = "lockstepd",
        .level = LOG_LEVEL_NOTICE,
        .bare = bare,
        .fd = STDERR_FILENO,
    };

    log_open(&setup);
}

static int fail(int status, const struct diag *diag)
{
    log_error(NULL, "%s", diag->text);
    return status;
}

static int serve(const struct settings *settings)
{
    struct diag diag = {0};

    if (settings_check(settings, &diag) != 0)
        return fail(STATUS_USAGE, &diag);
    open_log(settings->is_private);
    if (loop_run(settings, &diag) != 0)
        return fail(STATUS_FAILED, &diag);
    return 0;
}

static int run(int argc, char **argv)
{
    const char *file = config_find_option(&argc, argv, "config", true);
    struct settings settings;
    struct diag diag = {0};
    int status;

    open_log(true);
    if (settings_read(file, argc - 1, argv + 1, &settings, &diag) != 0)
        return fail(STATUS_USAGE, &diag);
    status = serve(&settings);
    settings_done(&settings);
    return status;
}

int main(int argc, char **argv)
{
    if (process_init() < 0)
        return STATUS_FAILED;
    if (config_find_option(&argc, argv, "help", false) != NULL) {
        print_help();
        return 0;
    }
    if (config_find_option(&argc, argv, "version", false) != NULL) {
        (void)puts("lockstepd " LOCKSTEP_VERSION);
        return 0;
    }
    return run(argc, argv);
}
