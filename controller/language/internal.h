/*
 * internal.h - what the steps of reading hand to each other; for this room
 * only.
 *
 * The steps, each pure and one file: source.c (texts to lines: comments,
 * include=, $variables), lexer.c (lines to tokens), parser.c (tokens to
 * stanzas of known parameters), apply_*.c (stanzas to definitions, by the one
 * table in parameters.c), check.c (definitions against each other).
 *
 * Every step goes on after an error, so that all are found at once.  Running
 * out of memory ends a step: it returns -ENOMEM.
 */
#ifndef CONTROLLER_LANGUAGE_INTERNAL_H
#define CONTROLLER_LANGUAGE_INTERNAL_H

#include "controller/language/definitions.h"
#include "controller/language/language.h"

/* Most memory that reading may take, whatever the files ask for. */
#define READING_MEMORY_MAX ((size_t)512 << 20)

/* One line that is not a comment. */
struct line {
    struct language_place place; /* column 1 */
    const char *text;            /* variables replaced, blanks in front gone */
    uint32_t length;
    uint32_t indent;         /* bytes of blanks in front */
    const uint32_t *columns; /* column of each byte of `text` where variables
                                were replaced; NULL: indent + index + 1 */
};

enum token_kind {
    TOKEN_KEYWORD, /* the word before '=', in lower case */
    TOKEN_OPEN,
    TOKEN_VALUE,
    TOKEN_CLOSE,
};

struct token {
    enum token_kind kind;
    bool quoted; /* some of it stood in double quotes */
    const char *text;
    struct language_place place;
};

enum section {
    SECTION_GENERAL,
    SECTION_HD,
    SECTION_SD,
    SECTION_WD,
    SECTION_RD,
    SECTIONS,
};

/* keyword=value or keyword=(value,...), of a known keyword. */
struct parameter {
    const struct parameter_kind *kind;
    const char *keyword; /* as written, but lower case */
    struct language_place place;
    const struct token *values;
    uint32_t count;
    bool is_list; /* in parentheses */
};

/* What one hd=, sd=, wd= or rd= opens; or the general parameters. */
struct stanza {
    enum section section;
    const struct token *names; /* values of the opening keyword */
    uint32_t name_count;
    struct language_place place;
    struct parameter *parameters;
    uint32_t count;
    uint32_t capacity;
};

struct reading {
    const struct language_input *input;
    struct language_report *report;
    struct arena *arena;
    struct definitions *definitions;

    struct line *lines;
    uint32_t line_count;
    uint32_t line_capacity;

    struct token *tokens;
    uint32_t token_count;
    uint32_t token_capacity;

    struct stanza *stanzas;
    uint32_t stanza_count;
    uint32_t stanza_capacity;

    uint32_t dedup_buckets; /* of duplicates, that sds do not share with all */
    bool file_system;       /* fsd= or fwd= was met: nothing after it is read */
    bool unknown_variable;  /* a value was a variable that is not given */
    bool incomplete; /* something that defines names could not be read: what
                        is missing may be there */
};

/* The steps. */
int source_read(struct reading *reading) MUST_CHECK;
int lexer_run(struct reading *reading) MUST_CHECK;
int parser_run(struct reading *reading) MUST_CHECK;
int apply_run(struct reading *reading) MUST_CHECK;
int pattern_read(struct reading *reading) MUST_CHECK;
void check_definitions(struct reading *reading);
void check_effects(struct reading *reading); /* a part of the one before */

/*
 * Room for one more element at the end of an array in the arena: gives its
 * index, or -ENOMEM.  `array` is a pointer to the array's pointer.
 */
int reading_grow(struct reading *reading, void *array, uint32_t count,
                 uint32_t *capacity, size_t size) MUST_CHECK;

/* Where byte `index` of a line stands, `width` bytes of it. */
struct language_place line_place(const struct line *line, uint32_t index,
                                 uint32_t width);

/* ---- the one table ---- */

enum parameter_support {
    PARAMETER_WORKS,
    PARAMETER_NO_EFFECT, /* accepted; said once */
    PARAMETER_NOT_YET,   /* an error that says so */
};

/* What stands behind '=', for parameters that nothing else looks at. */
enum parameter_shape {
    SHAPE_NUMBERS,
    SHAPE_WORDS,
    SHAPE_KEYS, /* (key=value,...) */
};

struct parameter_kind {
    enum section section;
    const char *name;
    bool whole; /* may not be abbreviated */
    enum parameter_support support;
    enum parameter_shape shape;
    /* Stores it in its definition, or only looks at it where it has no effect.
       NULL: nothing is stored. */
    int (*apply)(struct reading *reading, void *definition,
                 const struct parameter *parameter);
    const char *help; /* one line, for the manual */
};

/* All parameters, section by section, in vdbench's order: an abbreviation is
 * the first that begins with it. */
extern const struct parameter_kind parameter_table[];
extern const uint32_t parameter_table_length;

/* Exact, or an abbreviation of two letters or more.  NULL: unknown. */
const struct parameter_kind *parameter_find(enum section section,
                                            const char *keyword);

/* hd, sd, wd, rd; "general". */
const char *section_name(enum section section);

/* ---- values ---- */

enum unit {
    UNIT_COUNT,   /* k, m, g, t are powers of 1024 */
    UNIT_BYTES,   /* the same */
    UNIT_SECONDS, /* m and h are minutes and hours; also s, ms, us */
};

struct number {
    double value;
    bool is_percent; /* 50% */
    bool is_exact;   /* seconds: given with s, ms or us, so fractions count */
    const struct token *token;
};

/*
 * Reads "4k", "1.5", "50%", "10m".  Returns 0 or -EINVAL; `ret_number`'s token
 * is left alone.
 */
int number_parse(const char *text, enum unit unit, struct number *ret_number);

/*
 * All numbers of a parameter, ranges and doublings written out.  Returns 0;
 * -EINVAL with an error in the report; -ENOMEM.
 */
int value_numbers(struct reading *reading, const struct parameter *parameter,
                  enum unit unit, struct number **ret_numbers,
                  uint32_t *ret_count) MUST_CHECK;

/* The one number of a parameter; more are an error. */
int value_number(struct reading *reading, const struct parameter *parameter,
                 enum unit unit, struct number *ret_number) MUST_CHECK;

/* All names of a parameter, ranges as in (sd1-sd8) written out. */
int value_names(struct reading *reading, const struct parameter *parameter,
                struct definition_names *ret_names) MUST_CHECK;

/* The one word of a parameter; more are an error. */
int value_word(struct reading *reading, const struct parameter *parameter,
               const struct token **ret_token) MUST_CHECK;

/*
 * Value `index` of a list of key=value.  One without a key belongs to the one
 * before, whose key is in `key`: serial=(a,b) and serial=a,b are the same.
 * `ret_text` NULL: only a key, its values follow.  Returns 0; -EINVAL with an
 * error in the report; -ENOMEM.
 */
int value_keyed(struct reading *reading, const struct parameter *parameter,
                uint32_t index, const char **key,
                const char **ret_text) MUST_CHECK;

/* yes or no, or the beginning of it. */
int value_yes(struct reading *reading, const struct parameter *parameter,
              bool *ret_yes) MUST_CHECK;

/* Says so where a number ends in a letter that counts for nothing: 10d is 10.
 */
void value_warn_letter(struct reading *reading, const struct token *token,
                       const struct number *number);

/* Drops the fraction of a number that vdbench takes as a whole one, and says
 * so. */
void value_whole(struct reading *reading, const struct parameter *parameter,
                 struct number *number);

/* An error at a value, with what was expected; gives -EINVAL. */
int value_error(struct reading *reading, const struct parameter *parameter,
                const struct token *token, const char *format, ...)
    PRINTF(4, 5);

/* Says that a parameter, or this value of it, is not supported yet.  Gives 0:
 * reading goes on. */
int value_not_yet(struct reading *reading, const struct parameter *parameter,
                  const char *what);

/* ---- near misses ---- */

/* Of `count` texts the one nearest to `word`, or NULL when none is near. */
const char *suggest(const char *word, const char *const *texts, uint32_t count);

#endif
