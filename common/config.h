/*
 * config.h - configuration as a table: one row yields the parser, the default,
 * the line of --help and of the man page.
 *
 * What it is for: a daemon's settings are a struct of its own and a table of
 * keys.  Values come, each overriding the one before, from the row's fallback,
 * the configuration file (`key = value`, comments from `#` or `;` that begin a
 * line or follow a blank, no sections) and
 * the command line (`--key=value` or `--key value`; in keys `-` is as good as
 * `_`).  Repeatable keys do not override, they add up.  A row without an
 * argument is a switch: `--private`, in a file `private = yes`.
 *
 * An unknown key, a key given twice in a file and a value that does not parse
 * are errors with file and line, or the command line's word.
 *
 *     static const struct config_key keys[] = {
 *         {"lease", "30s", offsetof(struct settings, lease_ns),
 *          config_parse_time, "TIME", "how long load lives without ...",
 *          CONFIG_ONCE},
 *         {"offer", NULL, offsetof(struct settings, offers),
 *          config_parse_list, "PATTERN", "drives that ...", CONFIG_REPEATS},
 *     };
 */
#ifndef COMMON_CONFIG_H
#define COMMON_CONFIG_H

#include <stdio.h>

#include "common/base.h"
#include "common/diag.h"

/* Writes the value's meaning to `field`.  0, or negative with the reason. */
typedef int config_parse(const char *value, void *field, struct diag *diag);

enum config_kind {
    CONFIG_ONCE,
    CONFIG_REPEATS, /* may be repeated */
    CONFIG_HIDDEN,  /* on the command line only, and not in --help: our own */
};

struct config_key {
    const char *name;
    const char *fallback; /* parsed as if written; NULL: the field stays */
    size_t offset;        /* of the field in the settings */
    config_parse *parse;
    const char *argument; /* "HOST:PORT" in the help; NULL: a switch */
    const char *help;
    enum config_kind kind;
};

struct config_table {
    const struct config_key *keys;
    size_t count; /* at most CONFIG_KEYS_MAX */
};

#define CONFIG_KEYS_MAX   64
#define CONFIG_LINE_MAX   190 /* what Debian's libinih reads in one piece */
#define CONFIG_VALUES_MAX 256 /* of one repeatable key */

/* Step 1: the fallbacks.  They must parse. */
void config_defaults(const struct config_table *table, void *settings);

/*
 * Step 2: a file.  -ENOENT (with `diag`) where it is missing: fatal or not is
 * the caller's choice.  Lines are at most CONFIG_LINE_MAX bytes.
 */
int config_read(const struct config_table *table, void *settings,
                const char *path, struct diag *diag) MUST_CHECK;

/* The same from memory; `label` stands for the path in texts. */
int config_read_text(const struct config_table *table, void *settings,
                     const char *text, size_t length, const char *label,
                     struct diag *diag) MUST_CHECK;

/*
 * Step 3: the command line, argv[0] left out.  Stops at the first word that is
 * no option, or after "--"; `ret_used` says how many were consumed.  --help,
 * --version and --config are not ours: look for them with config_find_option().
 */
int config_arguments(const struct config_table *table, void *settings, int argc,
                     char *const *argv, int *ret_used,
                     struct diag *diag) MUST_CHECK;

/*
 * Looks for --<name>, --<name>=value or --<name> value before "--" and takes
 * it out of argv (argc shrinks).  Returns the value, "" for a bare one where
 * `has_value` is false, NULL when it is not there.
 */
const char *config_find_option(int *argc, char **argv, const char *name,
                               bool has_value);

/* The table as the options part of --help. */
void config_print_help(const struct config_table *table, FILE *out);

/* ---- Parsers for common kinds of fields ---------------------------------- */

/* A list of strings: struct config_list. */
struct config_list {
    char **items;
    size_t count;
};

config_parse config_parse_list;
void config_list_done(struct config_list *list);

config_parse config_parse_text;  /* char[TEXT_SIZE] */
config_parse config_parse_name;  /* char[NAME_SIZE]: letters, digits, . - _ */
config_parse config_parse_path;  /* char[PATH_SIZE] */
config_parse config_parse_time;  /* uint64_t, ns; a bare number is seconds */
config_parse config_parse_size;  /* uint64_t, bytes */
config_parse config_parse_bool;  /* bool: yes, no, true, false, on, off, 1, 0 */
config_parse config_parse_fd;    /* int, 0 or more */
config_parse config_parse_count; /* uint32_t */

#endif
