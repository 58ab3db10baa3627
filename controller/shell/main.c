/* main.c - lockstep, the controller shell: picks the command. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/process.h"
#include "controller/shell/campaign.h"
#include "controller/shell/check.h"
#include "controller/shell/compare_command.h"
#include "controller/shell/complete.h"
#include "controller/shell/keys_command.h"
#include "controller/shell/options.h"
#include "controller/shell/output.h"
#include "controller/shell/prompt.h"
#include "controller/shell/query.h"
#include "controller/shell/render.h"

static int run(const struct options *options)
{
    if (options->help) {
        options_help_command(options->command);
        return EXIT_COMPLETE;
    }
    switch (options->command) {
    case COMMAND_RUN:
        return run_command(options);
    case COMMAND_CHECK:
        return check_command(options);
    case COMMAND_SUBMIT:
        return submit_command(options);
    case COMMAND_WATCH:
        return watch_command(options);
    case COMMAND_REPORT:
        return report_command(options);
    case COMMAND_EXPORT:
        return export_command(options);
    case COMMAND_COMPARE:
        return compare_command(options);
    case COMMAND_KEYS:
        return keys_command(options);
    default:
        return query_command(options);
    }
}

static bool is_word(int argc, char **argv, const char *word)
{
    return argc == 2 && strcmp(argv[1], word) == 0;
}

static int dispatch(int argc, char **argv)
{
    static struct options options;
    struct diag diag;

    if (is_word(argc, argv, "--help") || is_word(argc, argv, "help")) {
        options_help();
        return EXIT_COMPLETE;
    }
    if (is_word(argc, argv, "--version")) {
        puts("lockstep " LOCKSTEP_VERSION);
        return EXIT_COMPLETE;
    }
    if (options_parse(argc, argv, &options, &diag) < 0)
        return output_error(options_want_json(argc, argv), EXIT_USAGE, "%s",
                            diag.text);
    return run(&options);
}

/* `lockstep` alone, by a person. */
static bool is_prompt(int argc)
{
    return argc == 1 && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

static int start(int argc, char **argv)
{
    if (is_prompt(argc))
        return prompt_run(argv[0], dispatch);
    if (argc > 1 && strcmp(argv[1], "--complete") == 0)
        return complete_print((const char *const *)&argv[2], (size_t)argc - 2);
    return dispatch(argc, argv);
}

/* Output that nobody got is no success. */
static int finish(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    if (errno != EPIPE)
        fprintf(stderr, "lockstep: cannot write the output: %s\n",
                strerror(errno));
    return status == EXIT_COMPLETE ? EXIT_FAILED : status;
}

int main(int argc, char **argv)
{
    if (process_init() < 0)
        return EXIT_FAILED;
    return finish(start(argc, argv));
}
