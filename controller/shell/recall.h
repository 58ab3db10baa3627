/*
 * recall.h - the lines typed at the prompt, kept in a file from one day to the
 * next: $XDG_STATE_HOME/lockstep/history, by default in ~/.local/state.
 *
 * A home that cannot be written to costs what was typed, not the prompt.
 */
#ifndef CONTROLLER_SHELL_RECALL_H
#define CONTROLLER_SHELL_RECALL_H

#include <histedit.h>

#include "common/base.h"

struct recall {
    History *lines;       /* for EL_HIST; NULL without memory */
    char path[PATH_SIZE]; /* "": nowhere to keep them */
};

void recall_open(struct recall *recall);

/* A line that repeats the one before is kept once. */
void recall_add(struct recall *recall, const char *line);

/* Saves, for this user's eyes alone, and frees. */
void recall_close(struct recall *recall);

#endif
