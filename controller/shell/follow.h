/*
 * follow.h - following one campaign to its end over a client.
 *
 * What an interrupt does is the difference between running and watching: who
 * runs, stops the load with the first and gives up waiting with the second;
 * who watches, leaves, and the campaign goes on.
 *
 * Memory: by value; follow_done() frees what it holds.
 */
#ifndef CONTROLLER_SHELL_FOLLOW_H
#define CONTROLLER_SHELL_FOLLOW_H

#include "controller/report/vdbench.h"
#include "controller/shell/client.h"
#include "controller/shell/live.h"
#include "controller/shell/screen.h"

enum follow_interrupt {
    FOLLOW_DETACH,
    FOLLOW_STOP,
};

struct follow {
    struct client *client;
    struct live live;
    enum follow_interrupt interrupt;
    bool json;              /* show nothing while it runs */
    struct screen *screen;  /* shows it instead of rows; NULL: none */
    unsigned turns;         /* of the screen */
    json_t *after;          /* events to be shown when the screen is gone */
    struct vdbench *folder; /* gets every event too; NULL: none */
    char campaign[24];      /* its number, "" before it has one */
    json_t *submitted;      /* the answer to Submit; NULL: none */
    const char *monitor;    /* monitor=, in it; NULL: none */
    json_t *early;          /* events that came before the answer to Watch */
    bool refused;           /* the campaign never came to be */
    bool ended;             /* the campaign's end was seen */
    bool unread;            /* nobody reads the output any more */
    bool left;              /* detached, or gave up waiting */
};

void follow_init(struct follow *follow, enum follow_interrupt interrupt,
                 bool json);
void follow_done(struct follow *follow);

/* Shows the campaign on the whole terminal, where that can be; what is told of
 * phases that ended is printed afterwards, as rows. */
void follow_on_screen(struct follow *follow);

/* For client_connect() or client_adopt(); then set follow->client. */
struct client_handlers follow_handlers(struct follow *follow);

/* follow->campaign is known now: an interrupt that came before holds for it. */
void follow_submitted(struct follow *follow);

/* Runs until the campaign ended or was left.  Errors are of the connection;
 * with another one it may be called again: no row is shown twice.  Looks at the
 * monitor= of what was submitted. */
int follow_campaign(struct follow *follow, struct diag *diag) MUST_CHECK;

/*
 * Ends the command: prints the result document with --json, else the last
 * lines, and returns the exit status.  With `keep`, the document is also
 * written to that file.
 */
int follow_finish(struct follow *follow, const char *keep);

#endif
