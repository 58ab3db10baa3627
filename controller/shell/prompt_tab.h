/*
 * prompt_tab.h - the Tab key of the prompt.
 *
 * What could stand at the cursor is found by the same code as for other shells
 * (complete.h), in a child: a controller that does not answer costs two
 * seconds, not the prompt.
 */
#ifndef CONTROLLER_SHELL_PROMPT_TAB_H
#define CONTROLLER_SHELL_PROMPT_TAB_H

#include <histedit.h>

void prompt_tab_bind(EditLine *line);

#endif
