/*
 * complete.h - what could stand where the cursor is.
 *
 * One answer for the prompt and for other shells: `lockstep --complete WORD...`
 * prints a candidate a line; the last word is the one to be completed, however
 * short.  The decision is pure; only the names of campaigns, hosts and drives
 * are asked of the controller, which gets two seconds, and files are looked up.
 */
#ifndef CONTROLLER_SHELL_COMPLETE_H
#define CONTROLLER_SHELL_COMPLETE_H

#include "common/base.h"
#include "controller/shell/options.h"

enum completion_kind {
    COMPLETION_NOTHING,
    COMPLETION_COMMAND,
    COMPLETION_OPTION,
    COMPLETION_FILE,
    COMPLETION_CAMPAIGN,
    COMPLETION_HOST,
    COMPLETION_DRIVE, /* of `host` */
    COMPLETION_KEYS,  /* the words of `lockstep keys` */
};

struct completion {
    enum completion_kind kind;
    enum command_id command;
    const char *host;
};

/* `words` are those of the line, the program's name and the last word, which
 * is to be completed, excepted. */
struct completion complete_decide(const char *const *words, size_t count,
                                  const char *last);

/*
 * Prints what `words` could end in, sorted as people look for it.  Names of
 * folders end with '/'.  Returns 0, or 1 where it cannot be known now.
 */
int complete_print(const char *const *words, size_t count);

#endif
