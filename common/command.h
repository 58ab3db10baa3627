/*
 * command.h - commands that the owner of a host lets campaigns run there.
 *
 * Each is a line of the host's own configuration, never a text that came over
 * the wire:
 *
 *     command = drop-caches 10s /usr/local/sbin/drop-caches --all
 *     command = say-so logger -t lockstep "a run begins"
 *
 * a name; how long it may take, if not COMMAND_LIMIT_NS; a program and its
 * words.  Double quotes keep blanks together, and that is all: there is no
 * shell.  A campaign says which one by its name, or by the same text that
 * stands behind name and time.
 *
 * Threads: none of its own.  Memory: by value.
 */
#ifndef COMMON_COMMAND_H
#define COMMON_COMMAND_H

#include "common/base.h"
#include "common/diag.h"

#define COMMANDS_MAX         32u
#define COMMAND_WORDS_MAX    64u
#define COMMAND_LIMIT_NS     (60 * NS_PER_S)
#define COMMAND_LIMIT_MIN_NS (100 * NS_PER_MS)
#define COMMAND_LIMIT_MAX_NS (3600 * NS_PER_S)

struct command {
    char name[NAME_SIZE];
    char text[TEXT_SIZE]; /* program and words, as written */
    uint64_t limit_ns;
};

struct commands {
    struct command items[COMMANDS_MAX];
    uint32_t count;
};

/* A line of the configuration.  0 or -EINVAL with what is wrong in it. */
int commands_add(struct commands *commands, const char *line,
                 struct diag *diag) MUST_CHECK;

/* By name, else by text; NULL: there is none. */
const struct command *commands_find(const struct commands *commands,
                                    const char *name_or_text);

/* The words of a text. */
struct command_words {
    char buffer[TEXT_SIZE];
    char *word[COMMAND_WORDS_MAX + 1]; /* ended by NULL, as argv is */
    uint32_t count;
};

/* 0, or -EINVAL: no word, too many, or a quote without its end. */
int command_split(const char *text, struct command_words *ret_words,
                  struct diag *diag) MUST_CHECK;

#endif
