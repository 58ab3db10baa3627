/*
 * report.h - everything that reading, expanding and placing a campaign has to
 * say to a person: all errors at once, each with its place in the file.
 *
 * As text, a message looks like this:
 *
 *     night.parm:3:15: error: rdpct=101 is not a percentage from 0 to 100
 *         wd=wd1,sd=sd1,rdpct=101
 *                             ^~~
 *
 * Memory: the report owns copies of all it shows; language_report_done() frees
 * them.  Threads: none of its own.
 */
#ifndef CONTROLLER_LANGUAGE_REPORT_H
#define CONTROLLER_LANGUAGE_REPORT_H

#include "common/base.h"

/* More messages than this are counted, not kept. */
#define LANGUAGE_MESSAGES_MAX 200u

/* Where something stands.  The strings belong to whoever made the place. */
struct language_place {
    const char *file;   /* NULL: nowhere in a file */
    const char *source; /* the line as written, without its end */
    uint32_t line;      /* from 1 */
    uint32_t column;    /* from 1, in bytes */
    uint32_t width;     /* bytes that the caret underlines; 1 or more */
};

enum language_severity {
    LANGUAGE_ERROR,       /* the campaign cannot be run */
    LANGUAGE_UNSUPPORTED, /* right, but Lockstep cannot do it yet: not run */
    LANGUAGE_WARNING,     /* it runs, but may not mean what was meant */
    LANGUAGE_NOTE,        /* e.g. parameters without effect here */
};

struct language_message {
    enum language_severity severity;
    struct language_place place;
    char *text; /* what is wrong and what was expected */
    char *hint; /* what to do; NULL: the text says all */
};

struct language_report {
    struct language_message *messages; /* in the order they were found */
    uint32_t count;
    uint32_t errors;
    uint32_t unsupported;
    uint32_t warnings;
    bool out_of_memory; /* some message could not be kept */
    uint32_t capacity_;
};

void language_report_init(struct language_report *report);
void language_report_done(struct language_report *report);

/*
 * Adds a message.  `place` NULL: about no line of a file (a host, the command
 * line).  `hint` NULL: none.
 */
void language_report_add(struct language_report *report,
                         enum language_severity severity,
                         const struct language_place *place, const char *hint,
                         const char *format, ...) PRINTF(5, 6);

/* Puts the messages in the order of files and lines; those about no file come
 * last.  Steps find them in another. */
void language_report_sort(struct language_report *report);

/* Whether the campaign may not be run. */
static inline bool language_report_failed(const struct language_report *report)
{
    return report->errors > 0 || report->unsupported > 0 ||
           report->out_of_memory;
}

/*
 * All messages as text for a terminal, each with its line and caret, to be
 * freed with free().  NULL: no memory.  An empty report gives "".
 */
char *language_report_text(const struct language_report *report) MUST_CHECK;

/*
 * The first error in one line, "night.parm:3:15: rdpct=101 is not ...", for a
 * verdict's reason or a log.  "" where there is none.  Never fails: cut to
 * `size`.
 */
void language_report_first(const struct language_report *report, char *text,
                           size_t size);

#endif
