/*
 * screen.h - a campaign on the whole terminal: screen_text.h put up by curses.
 *
 * Between screen_open() and screen_close() the terminal is curses': print
 * nothing.  Ctrl-C stays a signal.
 *
 * Memory: screen_close() gives the terminal back and frees all.
 */
#ifndef CONTROLLER_SHELL_SCREEN_H
#define CONTROLLER_SHELL_SCREEN_H

#include "controller/shell/screen_text.h"

struct screen;

/* NULL where this is no terminal that can move its cursor. */
struct screen *screen_open(void);
void screen_close(struct screen *screen);

/* What it shows; draw with screen_turn(). */
struct screen_text *screen_text_of(struct screen *screen);

/* Takes the keys that were pressed, draws; true: leave. */
bool screen_turn(struct screen *screen);

#endif
