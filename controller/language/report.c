#include "controller/language/report.h"

#include "common/fault.h"
#include "common/text.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A longer line is shown in part, around its column. */
#define SHOWN_WIDTH  160u
#define SHOWN_BEFORE 60u

static const char *const severity_names[] = {
    [LANGUAGE_ERROR] = "error",
    [LANGUAGE_UNSUPPORTED] = "not supported yet",
    [LANGUAGE_WARNING] = "warning",
    [LANGUAGE_NOTE] = "note",
};

void language_report_init(struct language_report *report)
{
    *report = (struct language_report){0};
}

static void message_done(struct language_message *message)
{
    free(message->text);
    free(message->hint);
    free((char *)message->place.file);
    free((char *)message->place.source);
}

void language_report_done(struct language_report *report)
{
    for (uint32_t i = 0; i < report->count; i++)
        message_done(&report->messages[i]);
    free(report->messages);
    language_report_init(report);
}

static void count_message(struct language_report *report,
                          enum language_severity severity)
{
    switch (severity) {
    case LANGUAGE_ERROR:
        report->errors++;
        break;
    case LANGUAGE_UNSUPPORTED:
        report->unsupported++;
        break;
    case LANGUAGE_WARNING:
        report->warnings++;
        break;
    case LANGUAGE_NOTE:
        break;
    }
}

/* Warnings never push out an error that comes later. */
static bool has_room(struct language_report *report,
                     enum language_severity severity)
{
    uint32_t limit = severity == LANGUAGE_ERROR ? LANGUAGE_MESSAGES_MAX
                                                : LANGUAGE_MESSAGES_MAX / 2;

    if (report->count >= limit)
        return false;
    if (report->count < report->capacity_)
        return true;

    uint32_t capacity = report->capacity_ == 0 ? 16 : report->capacity_ * 2;
    struct language_message *grown =
        realloc(report->messages, capacity * sizeof(*grown));

    if (grown == NULL) {
        report->out_of_memory = true;
        return false;
    }
    report->messages = grown;
    report->capacity_ = capacity;
    return true;
}

/* Defaults and loops meet the same text again; it is said once. */
static bool is_said(const struct language_report *report,
                    const struct language_message *message)
{
    for (uint32_t i = 0; i < report->count; i++) {
        const struct language_message *said = &report->messages[i];

        if (said->place.line == message->place.line &&
            said->place.column == message->place.column &&
            strcmp(said->text, message->text) == 0 &&
            strcmp(said->place.file != NULL ? said->place.file : "",
                   message->place.file != NULL ? message->place.file : "") == 0)
            return true;
    }
    return false;
}

static bool fill_message(struct language_message *message,
                         const struct language_place *place, const char *hint,
                         const char *format, va_list args)
{
    if (FAULT("report.add") < 0)
        return false;
    if (vasprintf(&message->text, format, args) < 0) {
        message->text = NULL;
        return false;
    }
    /* Texts quote files: what a file holds must not steer a terminal. */
    text_make_plain(message->text, "");
    if (hint != NULL && (message->hint = strdup(hint)) == NULL)
        return false;
    if (place == NULL || place->file == NULL)
        return true;

    char *file = strdup(place->file);
    char *source = strdup(place->source);

    message->place = *place;
    message->place.file = file;
    message->place.source = source;
    if (file == NULL || source == NULL)
        return false;
    text_make_plain(file, "");
    text_make_plain(source, "\t"); /* columns stay: bytes become bytes */
    return true;
}

void language_report_add(struct language_report *report,
                         enum language_severity severity,
                         const struct language_place *place, const char *hint,
                         const char *format, ...)
{
    struct language_message message = {.severity = severity};
    va_list args;
    bool filled;

    va_start(args, format);
    filled = fill_message(&message, place, hint, format, args);
    va_end(args);
    if (!filled)
        report->out_of_memory = true;
    if (!filled || is_said(report, &message)) {
        message_done(&message);
        return;
    }
    count_message(report, severity);
    if (has_room(report, severity))
        report->messages[report->count++] = message;
    else
        message_done(&message);
}

/* The first message about the same file stands for it. */
static uint32_t file_rank(const struct language_report *report,
                          const struct language_message *message)
{
    if (message->place.file == NULL)
        return UINT32_MAX;
    for (uint32_t i = 0; i < report->count; i++) {
        const char *file = report->messages[i].place.file;

        if (file != NULL && strcmp(file, message->place.file) == 0)
            return i;
    }
    return UINT32_MAX;
}

static bool is_before(const struct language_message *a, uint32_t a_rank,
                      const struct language_message *b, uint32_t b_rank)
{
    if (a_rank != b_rank)
        return a_rank < b_rank;
    if (a->place.line != b->place.line)
        return a->place.line < b->place.line;
    return a->place.column < b->place.column;
}

void language_report_sort(struct language_report *report)
{
    uint32_t rank[LANGUAGE_MESSAGES_MAX];

    for (uint32_t i = 0; i < report->count; i++)
        rank[i] = file_rank(report, &report->messages[i]);
    for (uint32_t i = 1; i < report->count; i++) {
        struct language_message moved = report->messages[i];
        uint32_t moved_rank = rank[i];
        uint32_t k = i;

        for (; k > 0 && is_before(&moved, moved_rank, &report->messages[k - 1],
                                  rank[k - 1]);
             k--) {
            report->messages[k] = report->messages[k - 1];
            rank[k] = rank[k - 1];
        }
        report->messages[k] = moved;
        rank[k] = moved_rank;
    }
}

/* Whether a byte starts a character: the others have no column of their own. */
static bool starts_character(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

/* The part of a line that is shown, and how far in the caret goes. */
static void write_source(FILE *out, const struct language_place *place)
{
    const char *source = place->source;
    size_t length = strlen(source);
    size_t caret = place->column > 0 ? place->column - 1 : 0;
    size_t begin = 0;

    if (caret > length)
        caret = length;
    if (length > SHOWN_WIDTH && caret > SHOWN_BEFORE)
        begin = caret - SHOWN_BEFORE;
    while (begin > 0 && !starts_character(source[begin]))
        begin--;

    size_t end = length - begin > SHOWN_WIDTH ? begin + SHOWN_WIDTH : length;

    while (end > begin && end < length && !starts_character(source[end]))
        end--;

    fprintf(out, "    %s", begin > 0 ? "..." : "");
    for (size_t i = begin; i < end; i++)
        fputc(source[i], out);
    fprintf(out, "%s\n    %s", end < length ? "..." : "",
            begin > 0 ? "   " : "");
    for (size_t i = begin; i < caret; i++)
        if (source[i] == '\t')
            fputc('\t', out);
        else if (starts_character(source[i]))
            fputc(' ', out);
    fputc('^', out);
    for (size_t i = caret + 1; i < caret + place->width && i < end; i++)
        if (starts_character(source[i]))
            fputc('~', out);
    fputc('\n', out);
}

static void write_message(FILE *out, const struct language_message *message)
{
    if (message->place.file != NULL)
        fprintf(out, "%s:%u:%u: ", message->place.file, message->place.line,
                message->place.column);
    fprintf(out, "%s: %s\n", severity_names[message->severity], message->text);
    if (message->place.file != NULL)
        write_source(out, &message->place);
    if (message->hint != NULL)
        fprintf(out, "    %s\n", message->hint);
}

char *language_report_text(const struct language_report *report)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    uint32_t said = report->errors + report->unsupported + report->warnings;
    uint32_t kept = 0;

    if (out == NULL)
        return NULL;
    for (uint32_t i = 0; i < report->count; i++) {
        write_message(out, &report->messages[i]);
        kept += report->messages[i].severity != LANGUAGE_NOTE;
    }
    if (said > kept)
        fprintf(out, "and %u more like these\n", said - kept);
    if (report->out_of_memory)
        fprintf(out, "error: not enough memory for all messages\n");
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

static const struct language_message *
first_of(const struct language_report *report, enum language_severity severity)
{
    for (uint32_t i = 0; i < report->count; i++)
        if (report->messages[i].severity == severity)
            return &report->messages[i];
    return NULL;
}

void language_report_first(const struct language_report *report, char *text,
                           size_t size)
{
    const struct language_message *first = first_of(report, LANGUAGE_ERROR);
    const char *what = "";

    assert(size > 0);
    text[0] = '\0';
    if (first == NULL) {
        first = first_of(report, LANGUAGE_UNSUPPORTED);
        what = "not supported yet: ";
    }
    if (first == NULL)
        (void)snprintf(text, size, "%s",
                       report->out_of_memory ? strerror(ENOMEM) : "");
    else if (first->place.file == NULL)
        (void)snprintf(text, size, "%s%s", what, first->text);
    else
        (void)snprintf(text, size, "%s:%u:%u: %s%s", first->place.file,
                       first->place.line, first->place.column, what,
                       first->text);
}
