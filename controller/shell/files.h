/*
 * files.h - the parameter files of a command line, read whole.
 *
 * Memory: parameter_files_done() frees all, includes too.
 */
#ifndef CONTROLLER_SHELL_FILES_H
#define CONTROLLER_SHELL_FILES_H

#include "common/base.h"
#include "common/diag.h"
#include "controller/language/language.h"
#include "controller/shell/options.h"

/* All files of a command line together; Submit's limit on the wire. */
#define PARAMETER_FILES_MAX (512u << 10)

/* Of -f, then those that they include, and that of pattern= as base64, which
 * are sent with them. */
struct parameter_files {
    struct language_file file[LANGUAGE_FILES_MAX];
    char *text[LANGUAGE_FILES_MAX];
    /* As text; of included ones as written; NULL for -l and -r. */
    char *name[LANGUAGE_FILES_MAX];
    uint32_t count; /* of -f, and what -l and -r stand for, before them */
    uint32_t included;
    const char *first; /* of -f: what a campaign is called */
    size_t total;
};

/*
 * Reads the files of -f and what they include; "-" is standard input.  An
 * include= that cannot be read is left to language_read(), which says so with
 * its line.  Returns 0, or a negative errno with a sentence that names the file
 * and the remedy.
 */
int parameter_files_read(const struct options *options,
                         struct parameter_files *ret_files,
                         struct diag *diag) MUST_CHECK;
void parameter_files_done(struct parameter_files *files);

/* The input of language_read() that a command line stands for. */
void parameter_files_input(struct parameter_files *files,
                           const struct options *options,
                           struct language_input *ret_input);

/* Reads one whole file of at most `limit` bytes, with a zero byte after it. */
int file_read(const char *path, size_t limit, char **ret_text,
              size_t *ret_length, struct diag *diag) MUST_CHECK;

#endif
