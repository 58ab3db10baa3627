/*
 * screen_text.h - a campaign as it runs, on one screen: what stands on which
 * line.  Pure: events go in, lines of text come out; screen.c puts them up.
 *
 * From top to bottom: the campaign and its phase; the rate and its neighbours;
 * service and response latencies of the last interval; the last minutes as two
 * rows of bars; drives, slowest first, or hosts; what was said last.
 *
 * Latencies are milliseconds, sizes MiB, as in the rows.
 *
 * Memory: screen_text_done() frees what it holds.  Lines are UTF-8.
 */
#ifndef CONTROLLER_SHELL_SCREEN_TEXT_H
#define CONTROLLER_SHELL_SCREEN_TEXT_H

#include <jansson.h>

#include "common/base.h"

/* Intervals that the bars remember: as many as the widest screen shows. */
#define SCREEN_PAST        300
#define SCREEN_COLUMNS_MAX 300
/* A line: every column may be a character of four bytes. */
#define SCREEN_LINE_SIZE (SCREEN_COLUMNS_MAX * 4 + 1)
#define SCREEN_SAID      3

enum screen_list {
    SCREEN_DRIVES,
    SCREEN_HOSTS,
    SCREEN_WORKLOADS,
};

struct screen_text {
    json_t *status;   /* the answer to Watch: number, name */
    json_t *phase;    /* event "phase"; NULL before the first */
    json_t *interval; /* the newest row */
    json_t *drives;   /* the newest list of drives, slowest first */
    double rates[SCREEN_PAST];
    double p99s[SCREEN_PAST]; /* ms; below 0: not known */
    size_t past;              /* how many of them, newest last */
    char said[SCREEN_SAID][REASON_SIZE];
    enum screen_list list;
};

void screen_text_init(struct screen_text *screen);
void screen_text_done(struct screen_text *screen);

void screen_text_status(struct screen_text *screen, const json_t *status);
void screen_text_event(struct screen_text *screen, const json_t *event);
/* {"drives": [...]}, each with a name, a lun and figures. */
void screen_text_drives(struct screen_text *screen, const json_t *document);

struct screen_size {
    size_t rows;
    size_t columns;
};

/*
 * Writes line `number` of a screen of that size, cut to its width; "" for an
 * empty one.
 */
void screen_text_line(const struct screen_text *screen, struct screen_size size,
                      size_t number, char line[SCREEN_LINE_SIZE]);

#endif
