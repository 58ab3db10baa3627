/*
 * options.h - the words of a command line, taken apart and checked.
 *
 * One table of options says which commands take which; `lockstep COMMAND
 * --help` is printed from it.  Nothing here touches the world except the
 * environment variables LOCKSTEP_CONTROLLER and LOCKSTEP_KEYS.
 *
 * Memory: by value; texts point into argv or the environment.
 */
#ifndef CONTROLLER_SHELL_OPTIONS_H
#define CONTROLLER_SHELL_OPTIONS_H

#include "common/base.h"
#include "common/diag.h"

#define OPTIONS_WORDS_MAX 256

struct word_list {
    const char *word[OPTIONS_WORDS_MAX];
    size_t count;
};

/* Which commands take an option: bits of option_row.commands. */
enum command_id {
    COMMAND_RUN,
    COMMAND_CHECK,
    COMMAND_SUBMIT,
    COMMAND_HOSTS,
    COMMAND_DRIVES,
    COMMAND_CAMPAIGNS,
    COMMAND_STATUS,
    COMMAND_WATCH,
    COMMAND_SHOW,
    COMMAND_STOP,
    COMMAND_PIN,
    COMMAND_REPORT,
    COMMAND_COMPARE,
    COMMAND_EXPORT,
    COMMAND_KEYS,
    COMMAND_AUDIT,
    COMMAND_COUNT,
};

struct options {
    enum command_id command;
    const char *controller; /* HOST:PORT */
    const char *keys;       /* bundle file; NULL: none */
    struct word_list files;
    struct word_list variables; /* NAME=VALUE */
    struct word_list offers;
    struct word_list commands; /* --command */
    struct word_list arguments; /* what is left: an id, or keys' words */
    struct word_list bounds;    /* --fail-if */
    const char *directory;      /* -o, or keys' --dir */
    const char *vdbench;        /* a folder; NULL: none */
    uint64_t elapsed_ns;        /* 0: as the file says */
    uint64_t interval_ns;
    uint64_t warmup_ns;
    bool warmup_given;
    const char *name;
    const char *yes;      /* --yes: a hash */
    const char *engine;   /* of run's private agent; for tests */
    const char *loop;     /* -l: as loop= takes it */
    const char *first_rd; /* -r */
    bool json;
    bool csv;
    bool totals;
    bool intervals;
    bool runs;
    bool fleet; /* of check: a controller's hosts and drives count */
    bool here;  /* of check: this host's drives count */
    bool wait;
    bool off;
    bool lines;
    bool help;
    int argc; /* the words as they were given, for what is to be repeated */
    char **argv;
};

/* The usual address of a controller on this machine. */
#define OPTIONS_CONTROLLER "127.0.0.1:7780"

/*
 * Takes argv apart.  Returns 0, or -EINVAL with a sentence in `diag` that
 * names the wrong word and the way to learn more.
 */
int options_parse(int argc, char **argv, struct options *ret_options,
                  struct diag *diag) MUST_CHECK;

/* Empty, but for where the environment says the controller and keys are. */
void options_init(struct options *options);

/* True where the line asks for --json, however wrong the rest of it is. */
bool options_want_json(int argc, char **argv);

/* Names for completion, by number from 0; NULL past the last one. */
const char *options_command_name(size_t number);
/* The words behind it, as the help has them: "init | agent NAME". */
const char *options_command_arguments(enum command_id command);
/* `ret_value`: what its value is called in the help; NULL: it has none. */
const char *options_option_name(enum command_id command, size_t number,
                                const char **ret_value);
/* The command of that name; COMMAND_COUNT: none. */
enum command_id options_command(const char *name);

/* Prints the help of the program, or of one command. */
void options_help(void);
void options_help_command(enum command_id command);

#endif
