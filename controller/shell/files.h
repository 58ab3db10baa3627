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

struct parameter_files {
    struct language_file file[LANGUAGE_FILES_MAX];
    char *text[LANGUAGE_FILES_MAX];
    uint32_t count;
    size_t total;
};

/*
 * Reads the files of -f; "-" is standard input.  Returns 0, or a negative
 * errno with a sentence that names the file and the remedy.
 */
int parameter_files_read(const struct options *options,
                         struct parameter_files *ret_files, struct diag *diag)
    MUST_CHECK;
void parameter_files_done(struct parameter_files *files);

/* The input of language_read() that a command line stands for. */
void parameter_files_input(const struct parameter_files *files,
                           const struct options *options,
                           struct language_input *ret_input);

/* Reads one whole file of at most `limit` bytes, with a zero byte after it. */
int file_read(const char *path, size_t limit, char **ret_text,
              size_t *ret_length, struct diag *diag) MUST_CHECK;

#endif
