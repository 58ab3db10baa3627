/* recall.c - see recall.h. */
#include "controller/shell/recall.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define RECALL_LINES 1000

/* Makes the folders above the file that are not there. */
static void make_folders(const char *path)
{
    char folder[PATH_SIZE];

    for (const char *slash = strchr(path + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        (void)snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path),
                       path);
        (void)mkdir(folder, 0700);
    }
}

static void find_path(char path[PATH_SIZE])
{
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    int length = 0;

    if (state != NULL && state[0] == '/')
        length = snprintf(path, PATH_SIZE, "%s/lockstep/history", state);
    else if (home != NULL && home[0] == '/')
        length =
            snprintf(path, PATH_SIZE, "%s/.local/state/lockstep/history", home);
    if (length <= 0 || length >= PATH_SIZE)
        path[0] = '\0';
    else
        make_folders(path);
}

void recall_open(struct recall *recall)
{
    HistEvent event;

    find_path(recall->path);
    recall->lines = history_init();
    if (recall->lines == NULL)
        return;
    (void)history(recall->lines, &event, H_SETSIZE, RECALL_LINES);
    (void)history(recall->lines, &event, H_SETUNIQUE, 1);
    if (recall->path[0] != '\0')
        (void)history(recall->lines, &event, H_LOAD, recall->path);
}

void recall_add(struct recall *recall, const char *line)
{
    HistEvent event;

    if (recall->lines != NULL && line[strspn(line, " \t\n")] != '\0')
        (void)history(recall->lines, &event, H_ENTER, line);
}

void recall_close(struct recall *recall)
{
    HistEvent event;

    if (recall->lines == NULL)
        return;
    if (recall->path[0] != '\0')
        (void)history(recall->lines, &event, H_SAVE, recall->path);
    history_end(recall->lines);
    recall->lines = NULL;
}
