/*
 * parser.c - tokens to stanzas of known parameters.
 *
 * Sections come in order: general parameters, hd, sd, wd, rd.  A word opens
 * the next section only where it is not a parameter of the current one: behind
 * wd=, sd= says where the workload runs; behind rd=, so do sd= and wd=.
 */
#include "controller/language/internal.h"

#include "common/arena.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PARAMETERS_MAX 100000u /* in all files */

struct parser {
    struct reading *reading;
    enum section section;
    struct stanza *stanza; /* the open one */
    uint32_t parameters;
    struct language_place opened; /* where the section began */
    bool replay;
};

static const char *const section_names[] = {
    [SECTION_GENERAL] = "general", [SECTION_HD] = "hd", [SECTION_SD] = "sd",
    [SECTION_WD] = "wd",           [SECTION_RD] = "rd",
};

const char *section_name(enum section section)
{
    return section_names[section];
}

/* The section that a word opens where the current one is `section`. */
static bool opens_section(enum section section, const char *word,
                          enum section *ret_section)
{
    static const struct {
        const char *word;
        enum section opens;
        enum section last; /* the last section in which it does so */
    } words[] = {
        {"hd", SECTION_HD, SECTION_HD}, {"host", SECTION_HD, SECTION_HD},
        {"sd", SECTION_SD, SECTION_SD}, {"wd", SECTION_WD, SECTION_WD},
        {"rd", SECTION_RD, SECTION_RD},
    };

    for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
        if (strcmp(word, words[i].word) == 0 && section <= words[i].last) {
            *ret_section = words[i].opens;
            return true;
        }
    return false;
}

static int open_stanza(struct parser *parser, enum section section,
                       const struct language_place *place)
{
    struct reading *reading = parser->reading;
    int err = reading_grow(reading, &reading->stanzas, reading->stanza_count,
                           &reading->stanza_capacity, sizeof(struct stanza));

    if (err < 0)
        return err;
    if (section != parser->section)
        parser->opened = *place;
    parser->section = section;
    parser->stanza = &reading->stanzas[reading->stanza_count++];
    *parser->stanza = (struct stanza){.section = section, .place = *place};
    return 0;
}

static int add_parameter(struct parser *parser,
                         const struct parameter *parameter)
{
    struct stanza *stanza = parser->stanza;
    int err = reading_grow(parser->reading, &stanza->parameters, stanza->count,
                           &stanza->capacity, sizeof(*parameter));

    if (err < 0)
        return err;
    stanza->parameters[stanza->count++] = *parameter;
    return 0;
}

/* ---- unknown words ---- */

static const char *suggest_keyword(enum section section, const char *keyword)
{
    const char *names[256];
    uint32_t count = 0;

    for (uint32_t i = 0; i < parameter_table_length; i++)
        if (parameter_table[i].section == section &&
            count < ARRAY_LENGTH(names))
            names[count++] = parameter_table[i].name;
    return suggest(keyword, names, count);
}

/* A known word in the wrong place: after a later section has begun, mostly. */
static bool report_misplaced(struct parser *parser,
                             const struct parameter *parameter)
{
    static const enum section order[] = {SECTION_RD, SECTION_WD, SECTION_SD,
                                         SECTION_HD, SECTION_GENERAL};
    struct language_report *report = parser->reading->report;
    const struct parameter_kind *kind = NULL;
    enum section now = parser->section;

    for (size_t i = 0; i < ARRAY_LENGTH(order) && kind == NULL; i++)
        if (order[i] != now)
            kind = parameter_find(order[i], parameter->keyword);
    if (kind == NULL)
        return false;
    if (kind->section < now && kind->section != SECTION_GENERAL)
        language_report_add(
            report, LANGUAGE_ERROR, &parameter->place,
            "entries come in the order hd, sd, wd, rd",
            "%s= belongs to %s=, but the %s entries began in line %u",
            kind->name, section_name(kind->section), section_name(now),
            parser->opened.line);
    else if (kind->section == SECTION_GENERAL)
        language_report_add(report, LANGUAGE_ERROR, &parameter->place,
                            "move it above the first hd=, sd=, wd= and rd=",
                            "%s= is a general parameter; those come first, but "
                            "the %s entries began in line %u",
                            kind->name, section_name(now), parser->opened.line);
    else
        language_report_add(report, LANGUAGE_ERROR, &parameter->place, NULL,
                            "%s= belongs to %s=, not to %s%s", kind->name,
                            section_name(kind->section),
                            now == SECTION_GENERAL ? "the general parameters"
                                                   : section_name(now),
                            now == SECTION_GENERAL ? "" : "=");
    return true;
}

static void report_unknown(struct parser *parser,
                           const struct parameter *parameter)
{
    const char *near = suggest_keyword(parser->section, parameter->keyword);
    char hint[96];

    if (near == NULL && report_misplaced(parser, parameter))
        return;
    if (near != NULL && parameter_find(parser->section, near) != NULL) {
        bool elsewhere = false;

        for (int i = 0; i < SECTIONS && !elsewhere; i++) {
            const struct parameter_kind *kind =
                parameter_find((enum section)i, parameter->keyword);

            elsewhere =
                kind != NULL && strcmp(kind->name, parameter->keyword) == 0;
        }
        if (elsewhere && report_misplaced(parser, parameter))
            return;
    }
    if (near != NULL)
        (void)snprintf(hint, sizeof(hint), "did you mean %s=?", near);
    language_report_add(parser->reading->report, LANGUAGE_ERROR,
                        &parameter->place, near != NULL ? hint : NULL,
                        "'%s' is no parameter of %s%s", parameter->keyword,
                        parser->section == SECTION_GENERAL
                            ? "the general part"
                            : section_name(parser->section),
                        parser->section == SECTION_GENERAL ? "" : "=");
}

/* ---- stanzas ---- */

/* fsd=, fwd= and rg= open sections of which nothing is read yet. */
static bool report_other_kind(struct parser *parser,
                              const struct parameter *parameter)
{
    const char *word = parameter->keyword;
    bool files = strcmp(word, "fsd") == 0 || strcmp(word, "fwd") == 0;

    if (!files && (strcmp(word, "rg") != 0 || parser->section > SECTION_SD))
        return false;
    language_report_add(
        parser->reading->report, LANGUAGE_UNSUPPORTED, &parameter->place, NULL,
        files ? "file system workloads (%s=)" : "replay of recorded I/O (%s=)",
        word);
    parser->reading->file_system = true;
    return true;
}

static int take_parameter(struct parser *parser, struct parameter *parameter)
{
    enum section section;
    int err;

    if (report_other_kind(parser, parameter))
        return 0;
    if (opens_section(parser->section, parameter->keyword, &section)) {
        err = open_stanza(parser, section, &parameter->place);
        if (err == 0) {
            parser->stanza->names = parameter->values;
            parser->stanza->name_count = parameter->count;
        }
        return err;
    }
    parameter->kind = parameter_find(parser->section, parameter->keyword);
    if (parameter->kind == NULL) {
        report_unknown(parser, parameter);
        return 0;
    }
    if (parser->stanza == NULL) {
        err = open_stanza(parser, SECTION_GENERAL, &parameter->place);
        if (err < 0)
            return err;
    }
    return add_parameter(parser, parameter);
}

/* Gathers a keyword and the values behind it. */
static uint32_t gather(const struct token *tokens, uint32_t count,
                       struct parameter *ret_parameter)
{
    uint32_t used = 1;
    uint32_t first;

    *ret_parameter = (struct parameter){
        .keyword = tokens[0].text,
        .place = tokens[0].place,
    };
    if (used < count && tokens[used].kind == TOKEN_OPEN) {
        ret_parameter->is_list = true;
        used++;
    }
    first = used;
    while (used < count && tokens[used].kind == TOKEN_VALUE)
        used++;
    ret_parameter->values = &tokens[first];
    ret_parameter->count = used - first;
    if (used < count && tokens[used].kind == TOKEN_CLOSE)
        used++;
    return used;
}

int parser_run(struct reading *reading)
{
    struct parser parser = {.reading = reading, .section = SECTION_GENERAL};
    uint32_t i = 0;
    int err = 0;

    while (i < reading->token_count && err == 0 && !reading->file_system) {
        struct parameter parameter;

        if (reading->tokens[i].kind != TOKEN_KEYWORD) {
            i++; /* behind an error of the lexer */
            continue;
        }
        i += gather(&reading->tokens[i], reading->token_count - i, &parameter);
        if (++parser.parameters > PARAMETERS_MAX) {
            language_report_add(reading->report, LANGUAGE_ERROR,
                                &parameter.place, NULL,
                                "more than %u parameters", PARAMETERS_MAX);
            return 0;
        }
        if (parameter.count == 0) {
            if (parameter.is_list)
                language_report_add(reading->report, LANGUAGE_ERROR,
                                    &parameter.place, NULL,
                                    "%s= has an empty list", parameter.keyword);
            continue;
        }
        err = take_parameter(&parser, &parameter);
    }
    return err;
}
