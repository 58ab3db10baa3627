/*
 * prompt.h - `lockstep` alone: a prompt that takes the same commands.
 *
 * Each command runs in a child, as a shell would run it: Ctrl-C reaches it and
 * not the prompt, and whatever happens to it, the prompt is there afterwards.
 * Lines are kept in $XDG_STATE_HOME/lockstep/history (~/.local/state).  Ctrl-C
 * at the prompt drops the line; Ctrl-D, exit and quit leave.
 */
#ifndef CONTROLLER_SHELL_PROMPT_H
#define CONTROLLER_SHELL_PROMPT_H

/* Runs one command line (argv[0] is the program) and returns its status. */
typedef int prompt_dispatch(int argc, char **argv);

/* Returns the exit status of the last command. */
int prompt_run(char *program, prompt_dispatch *dispatch);

#endif
