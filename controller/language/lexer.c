/*
 * lexer.c - lines to tokens.
 *
 * keyword=value,keyword=(value,value): what stands behind the first blank of a
 * line, outside double quotes, is a comment; a comma at the end of a line goes
 * on with the next line; without one, everything ends with the line.
 */
#include "controller/language/internal.h"

#include "common/arena.h"
#include "common/text.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <string.h>

enum lexer_state {
    LEXER_KEYWORD, /* in or before a keyword */
    LEXER_VALUE,   /* behind '=' */
    LEXER_LIST,    /* in parentheses */
    LEXER_AFTER,   /* behind a list */
    LEXER_SKIP,    /* behind an error: up to the next comma */
};

struct lexer {
    struct reading *reading;
    enum lexer_state state;
    const struct line *line;
    uint32_t at;  /* next byte of the line */
    uint32_t end; /* of what counts in the line */

    /* The word that is being read. */
    char *word;
    uint32_t length;
    struct language_place place; /* where it begins */
    bool quoted;
    uint32_t parens;       /* open ones within a single value */
    uint32_t depth;        /* open ones of a list */
    bool list_wants_value; /* behind '(' or ',' */
    bool keyed;            /* its values are key=value */
    struct language_place list_place;
    struct language_place comma_place;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* ---- what stands behind the first blank ---- */

static bool is_name_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Whether "word=" with a known word begins in `text`. */
static bool looks_like_parameter(const char *text, uint32_t length)
{
    char word[32];

    for (uint32_t i = 1; i < length; i++) {
        uint32_t begin = i;

        if (text[i] != '=')
            continue;
        while (begin > 0 && is_name_byte(text[begin - 1]))
            begin--;
        if (i - begin < 2 || i - begin >= sizeof(word))
            continue;
        for (uint32_t k = begin; k < i; k++)
            word[k - begin] = (char)tolower((unsigned char)text[k]);
        word[i - begin] = '\0';
        for (int section = 0; section < SECTIONS; section++)
            if (parameter_find((enum section)section, word) != NULL)
                return true;
    }
    return false;
}

/* Case E11: a blank too many must not drop parameters unnoticed. */
static void warn_swallowed(struct lexer *lexer)
{
    const struct line *line = lexer->line;
    uint32_t begin = lexer->end;

    while (begin < line->length && is_blank(line->text[begin]))
        begin++;

    uint32_t length = line->length - begin;
    const char *text = line->text + begin;

    if (length == 0 || strchr("*#/;", *text) != NULL ||
        (length > 1 && text[0] == '-' && text[1] == '-') ||
        !looks_like_parameter(text, length))
        return;

    struct language_place place = line_place(line, begin, length);

    language_report_add(lexer->reading->report, LANGUAGE_WARNING, &place,
                        "take the blank out, or put a # in front",
                        "ignored, as all behind the first blank of a line");
}

/* ---- tokens ---- */

static int emit(struct lexer *lexer, enum token_kind kind, const char *text,
                struct language_place place)
{
    struct reading *reading = lexer->reading;
    int err = reading_grow(reading, &reading->tokens, reading->token_count,
                           &reading->token_capacity, sizeof(struct token));

    if (err < 0)
        return err;
    reading->tokens[reading->token_count++] = (struct token){
        .kind = kind,
        .quoted = lexer->quoted,
        .text = text,
        .place = place,
    };
    return 0;
}

static void word_begin(struct lexer *lexer)
{
    lexer->length = 0;
    lexer->quoted = false;
    lexer->parens = 0;
    lexer->place = line_place(lexer->line, lexer->at, 1);
}

static void word_add(struct lexer *lexer, char c)
{
    assert(lexer->length < LANGUAGE_LINE_MAX);
    lexer->word[lexer->length++] = c;
}

/* $name or !name, but not $host and its kind, which stand for themselves. */
static bool is_variable(const char *text)
{
    return (text[0] == '$' || text[0] == '!') &&
           (isalpha((unsigned char)text[1]) || text[1] == '_') &&
           strncmp(text + 1, "host", 4) != 0;
}

/* A variable that is still there was not given.  False: it is all there is. */
static bool check_variables(struct lexer *lexer, const char *text)
{
    for (const char *p = text; *p != '\0' && !lexer->quoted; p++) {
        int length = 1;

        if (p[0] == '$' && p[1] == '{')
            language_report_add(lexer->reading->report, LANGUAGE_WARNING,
                                &lexer->place,
                                "a variable is written $name, without braces",
                                "'${' stands for itself, as in vdbench");
        if (!is_variable(p))
            continue;
        while (is_name_byte(p[length]))
            length++;
        language_report_add(lexer->reading->report,
                            p == text ? LANGUAGE_ERROR : LANGUAGE_WARNING,
                            &lexer->place, "give it as NAME=VALUE",
                            "variable %.*s is not given", length, p);
    }
    if (lexer->quoted || !is_variable(text))
        return true;
    lexer->reading->unknown_variable = true;
    return false;
}

static int word_emit(struct lexer *lexer, enum token_kind kind)
{
    char *text =
        arena_strndup(lexer->reading->arena, lexer->word, lexer->length);
    struct language_place end = line_place(lexer->line, lexer->at, 1);

    if (text == NULL)
        return -ENOMEM;
    if (end.source == lexer->place.source && end.column > lexer->place.column)
        lexer->place.width = end.column - lexer->place.column;
    if (kind == TOKEN_VALUE && !check_variables(lexer, text))
        return 0;
    if (kind == TOKEN_KEYWORD)
        for (char *c = text; *c != '\0'; c++)
            *c = (char)tolower((unsigned char)*c);
    return emit(lexer, kind, text, lexer->place);
}

static void fail(struct lexer *lexer, uint32_t at, uint32_t width,
                 const char *hint, const char *text)
{
    struct language_place place = line_place(lexer->line, at, width);

    language_report_add(lexer->reading->report, LANGUAGE_ERROR, &place, hint,
                        "%s", text);
    lexer->state = LEXER_SKIP;
}

static int next_keyword(struct lexer *lexer)
{
    lexer->state = LEXER_KEYWORD;
    lexer->at++;
    word_begin(lexer);
    return 0;
}

/* Whether the values of the keyword just read, in whatever section, have keys.
 */
static bool is_keyed(const struct reading *reading)
{
    const char *keyword = reading->tokens[reading->token_count - 1].text;

    for (uint32_t i = 0; i < parameter_table_length; i++)
        if (parameter_table[i].shape == SHAPE_KEYS &&
            strcmp(parameter_table[i].name, keyword) == 0)
            return true;
    return false;
}

/* ---- states ---- */

static int in_keyword(struct lexer *lexer, char c)
{
    int err;

    switch (c) {
    case '=':
        if (lexer->length < 2) {
            fail(lexer, lexer->at, 1, NULL,
                 "expected a parameter of two letters or more before '='");
            lexer->at++;
            return 0;
        }
        err = word_emit(lexer, TOKEN_KEYWORD);
        lexer->keyed = err == 0 && is_keyed(lexer->reading);
        lexer->at++;
        word_begin(lexer);
        lexer->state = LEXER_VALUE;
        return err;
    case ',':
        if (lexer->length == 1 && lexer->word[0] == '?')
            return next_keyword(lexer);
        if (lexer->length == 0) {
            fail(lexer, lexer->at, 1, NULL, "expected a parameter before ','");
        } else {
            lexer->place.width = lexer->length;
            language_report_add(lexer->reading->report, LANGUAGE_ERROR,
                                &lexer->place, NULL,
                                "expected '=' and a value after '%.*s'",
                                (int)lexer->length, lexer->word);
        }
        return next_keyword(lexer);
    case '(':
    case ')':
        fail(lexer, lexer->at, 1, NULL,
             c == '(' ? "expected 'parameter=' before '('"
                      : "this ')' closes nothing");
        lexer->at++;
        return 0;
    default:
        word_add(lexer, c);
        lexer->at++;
        return 0;
    }
}

static int in_value(struct lexer *lexer, char c)
{
    int err;

    if (c == '(' && lexer->length == 0 && !lexer->quoted) {
        lexer->list_place = line_place(lexer->line, lexer->at, 1);
        err = emit(lexer, TOKEN_OPEN, "(", lexer->list_place);
        lexer->state = LEXER_LIST;
        lexer->depth = 1;
        lexer->list_wants_value = true;
        lexer->at++;
        word_begin(lexer);
        return err;
    }
    if (c == ')' && lexer->parens == 0) {
        fail(lexer, lexer->at, 1, NULL, "this ')' closes nothing");
        return 0;
    }
    if (c == '=' && lexer->length == 0 && !lexer->quoted) {
        fail(lexer, lexer->at, 1, "quote a value that begins so",
             "expected a value after '=', not one more '='");
        return 0;
    }
    if (c != ',' || lexer->parens > 0) {
        lexer->parens += c == '(';
        lexer->parens -= c == ')';
        word_add(lexer, c);
        lexer->at++;
        return 0;
    }
    if (lexer->length == 0 && !lexer->quoted) {
        fail(lexer, lexer->at, 1, NULL, "expected a value before ','");
        return 0;
    }
    err = word_emit(lexer, TOKEN_VALUE);
    return err < 0 ? err : next_keyword(lexer);
}

static int element_end(struct lexer *lexer)
{
    int err = 0;

    if (lexer->length > 0 || lexer->quoted)
        err = word_emit(lexer, TOKEN_VALUE);
    else if (lexer->list_wants_value)
        language_report_add(lexer->reading->report, LANGUAGE_WARNING,
                            &lexer->place, NULL,
                            "an empty value of the list is left out");
    return err;
}

/* '=' in a list of plain values: the list was to end before. */
static int unclosed_list(struct lexer *lexer)
{
    int err;

    language_report_add(
        lexer->reading->report, LANGUAGE_ERROR, &lexer->list_place,
        "all behind the first blank of a line is a comment, and a comma "
        "at its end goes on with the next line",
        "this list is not closed before '%.*s='", (int)lexer->length,
        lexer->word);
    lexer->quoted = false;
    err = emit(lexer, TOKEN_CLOSE, ")", lexer->place);
    lexer->state = LEXER_KEYWORD;
    return err;
}

static int close_list(struct lexer *lexer)
{
    int err = element_end(lexer);

    lexer->list_wants_value = false;
    if (err == 0 && --lexer->depth == 0) {
        err = emit(lexer, TOKEN_CLOSE, ")",
                   line_place(lexer->line, lexer->at, 1));
        lexer->state = LEXER_AFTER;
    }
    return err;
}

static int in_list(struct lexer *lexer, char c)
{
    int err = 0;

    switch (c) {
    case '(':
        lexer->depth++;
        if (lexer->keyed && lexer->length > 0) /* key=(value,value) */
            err = word_emit(lexer, TOKEN_VALUE);
        break;
    case ')':
        err = close_list(lexer);
        break;
    case ',':
        err = element_end(lexer);
        lexer->list_wants_value = true;
        break;
    case '=':
        if (!lexer->keyed)
            return unclosed_list(lexer);
        /* fall through */
    default:
        if (lexer->length == 0)
            lexer->place = line_place(lexer->line, lexer->at, 1);
        word_add(lexer, c);
        lexer->at++;
        return 0;
    }
    lexer->at++;
    word_begin(lexer);
    return err;
}

static int after_list(struct lexer *lexer, char c)
{
    if (c == ',')
        return next_keyword(lexer);
    fail(lexer, lexer->at, 1, NULL, "expected ',' or the end of the line");
    return 0;
}

/* The end of a line that does not end in a comma. */
static int end_of_line(struct lexer *lexer)
{
    struct language_report *report = lexer->reading->report;
    enum lexer_state state = lexer->state;
    int err = 0;

    lexer->state = LEXER_KEYWORD;
    switch (state) {
    case LEXER_KEYWORD:
        if (lexer->length == 0 || (lexer->length == 1 && lexer->word[0] == '?'))
            return 0;
        lexer->place.width = lexer->length;
        language_report_add(
            report, LANGUAGE_ERROR, &lexer->place,
            lexer->end < lexer->line->length
                ? "all behind the first blank of a line is a comment; a "
                  "comment of its own begins with #, * or /"
                : NULL,
            "expected '=' and a value after '%.*s'", (int)lexer->length,
            lexer->word);
        return 0;
    case LEXER_VALUE:
        if (lexer->length > 0 || lexer->quoted)
            return word_emit(lexer, TOKEN_VALUE);
        fail(lexer, lexer->at, 1,
             lexer->end < lexer->line->length
                 ? "all behind the first blank of a line is a comment"
                 : NULL,
             "expected a value after '='");
        lexer->state = LEXER_KEYWORD;
        return 0;
    case LEXER_LIST:
        err = element_end(lexer);
        language_report_add(report, LANGUAGE_WARNING, &lexer->list_place, NULL,
                            "this list is not closed; it is taken to end with "
                            "its line");
        lexer->quoted = false;
        return err < 0 ? err : emit(lexer, TOKEN_CLOSE, ")", lexer->place);
    case LEXER_AFTER:
    case LEXER_SKIP:
        return 0;
    }
    return err;
}

/* Takes what stands in double quotes as it is. */
static void take_quoted(struct lexer *lexer)
{
    const struct line *line = lexer->line;
    uint32_t open = lexer->at++;

    if (lexer->length == 0 && !lexer->quoted)
        lexer->place = line_place(line, open, 1);
    lexer->quoted = true;
    while (lexer->at < lexer->end && line->text[lexer->at] != '"')
        word_add(lexer, line->text[lexer->at++]);
    if (lexer->at < lexer->end) {
        lexer->at++;
        return;
    }

    struct language_place place = line_place(line, open, lexer->end - open);

    language_report_add(lexer->reading->report, LANGUAGE_ERROR, &place, NULL,
                        "the closing '\"' is missing");
}

static int take_byte(struct lexer *lexer)
{
    char c = lexer->line->text[lexer->at];

    if (c == '"' && lexer->state != LEXER_SKIP && lexer->state != LEXER_AFTER) {
        take_quoted(lexer);
        return 0;
    }
    switch (lexer->state) {
    case LEXER_KEYWORD:
        return in_keyword(lexer, c);
    case LEXER_VALUE:
        return in_value(lexer, c);
    case LEXER_LIST:
        return in_list(lexer, c);
    case LEXER_AFTER:
        return after_list(lexer, c);
    case LEXER_SKIP:
        if (c == ',')
            return next_keyword(lexer);
        lexer->at++;
        return 0;
    }
    return 0;
}

/* Up to the first blank outside quotes; a quote left open reaches the end. */
static uint32_t content_end(const struct line *line)
{
    bool quoted = false;
    uint32_t end = 0;

    while (end < line->length && (quoted || !is_blank(line->text[end])))
        if (line->text[end++] == '"')
            quoted = !quoted;
    return end;
}

/* Names and paths are shown, stored and sent as text: they must be text. */
static void check_bytes(struct lexer *lexer)
{
    const char *text = lexer->line->text;
    size_t length;

    for (uint32_t i = 0; i < lexer->end; i += (uint32_t)length) {
        length = text_character(text + i);
        if (length > 0)
            continue;

        struct language_place place = line_place(lexer->line, i, 1);
        unsigned byte = (unsigned char)text[i];

        language_report_add(lexer->reading->report, LANGUAGE_ERROR, &place,
                            NULL,
                            byte < ' ' || byte == 0x7f
                                ? "a control character (code %u)"
                                : "byte %u is no UTF-8 text, or a control "
                                  "character",
                            byte);
        return;
    }
}

static int lex_line(struct lexer *lexer, const struct line *line)
{
    int err = 0;

    lexer->line = line;
    lexer->at = 0;
    lexer->end = content_end(line);
    if (lexer->length == 0)
        word_begin(lexer);
    check_bytes(lexer);
    while (lexer->at < lexer->end && err == 0)
        err = take_byte(lexer);
    if (err == 0)
        warn_swallowed(lexer);
    if (err == 0 && line->text[lexer->end - 1] != ',') {
        err = end_of_line(lexer);
        word_begin(lexer);
    }
    return err;
}

int lexer_run(struct reading *reading)
{
    struct lexer lexer = {.reading = reading};
    int err = 0;

    lexer.word = arena_alloc(reading->arena, LANGUAGE_LINE_MAX);
    if (lexer.word == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < reading->line_count && err == 0; i++)
        err = lex_line(&lexer, &reading->lines[i]);
    if (err == 0 && lexer.line != NULL)
        err = end_of_line(&lexer);
    return err;
}
