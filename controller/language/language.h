/*
 * language.h - parameter files in, definitions out.
 *
 * The language is vdbench's, for raw I/O, with additions of our own; README.md
 * in this folder has the grammar.  Reading is pure: texts and variables come
 * as arguments, nothing is opened (include= asks the caller's function), and
 * equal inputs give equal definitions.  All errors are found in one go.
 *
 *     struct language_report report;
 *     struct definitions *definitions;
 *
 *     language_report_init(&report);
 *     err = language_read(&input, &report, &definitions);
 *     if (err == 0)
 *         err = plan_expand(definitions, NULL, &report, &plan);
 *
 * Threads: none of its own.
 */
#ifndef CONTROLLER_LANGUAGE_LANGUAGE_H
#define CONTROLLER_LANGUAGE_LANGUAGE_H

#include "controller/language/report.h"

/* Limits of what files may ask for; more is an error with a place. */
#define LANGUAGE_FILES_MAX     64u
#define LANGUAGE_TEXT_MAX      (8u << 20) /* bytes, all files and includes */
#define LANGUAGE_LINES_MAX     65536u     /* in a file */
#define LANGUAGE_LINE_MAX      65536u     /* bytes, after substitution */
#define LANGUAGE_INCLUDES_MAX  64u
#define LANGUAGE_VARIABLES_MAX 256u
#define LANGUAGE_LIST_MAX      10240u /* values of one list or range */

/* Bytes of the file of pattern=, which come as a text of base64: that of
 * LANGUAGE_PATTERN and the name, as in "pattern=zeros.bin". */
#define LANGUAGE_PATTERN_MAX (256u << 10)
#define LANGUAGE_PATTERN     "pattern="

/* The name of a file that options of a command line stand for; what it says
 * wins over the other files. */
#define LANGUAGE_COMMAND_LINE "the command line"

struct language_file {
    const char *name; /* as messages call it */
    const char *text; /* need not end in a zero byte */
    size_t length;
};

struct language_input {
    const struct language_file *files; /* read as one, in order */
    uint32_t file_count;
    const char *const *variables; /* "NAME=VALUE" each */
    uint32_t variable_count;

    /* -e, -i, -w: override every rd; 0: not given. */
    uint64_t elapsed_ns;
    uint64_t interval_ns;
    uint64_t warmup_ns; /* counts when warmup_given */
    bool warmup_given;

    /*
     * Fetches the text of `include=NAME`, met in the file called `from`.
     * `ret_text` is freed with free().  Returns 0 or a negative errno.  To be
     * compatible, a bare name is looked for beside `from`, then in the current
     * directory, then in the parent of `from`'s.  NULL: include= is an error.
     * The file of pattern= is asked for in the same way; its name then begins
     * with LANGUAGE_PATTERN, and the text is language_pattern_text()'s.
     */
    int (*include)(void *user, const char *name, const char *from,
                   char **ret_text, size_t *ret_length);
    void *include_user;

    /*
     * Definitions are given back even where something is not supported yet,
     * for those who only want to see the expansion.  The report says what it
     * is, and language_report_failed() stays true.
     */
    bool keep_unsupported;
};

struct definitions;

/*
 * Reads all files.  Returns 0 with `ret_definitions` set; -EINVAL when the
 * report holds errors; -ENOTSUP when it holds none but something that is not
 * supported yet (see keep_unsupported); -ENOMEM.  Warnings may be in the
 * report in every case.
 */
int language_read(const struct language_input *input,
                  struct language_report *report,
                  struct definitions **ret_definitions) MUST_CHECK;

/* The text that stands for the bytes of a pattern= file, to be freed with
 * free().  NULL: no memory. */
char *language_pattern_text(const uint8_t *bytes, size_t length) MUST_CHECK;

/* The manual page lockstep-campaign(5), from the one table of parameters; to be
 * freed with free().  NULL: no memory. */
char *language_manual(void) MUST_CHECK;

/* NULL is fine.  Returns NULL. */
struct definitions *definitions_free(struct definitions *definitions);

#endif
