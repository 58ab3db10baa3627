/*
 * source.c - texts to lines: comments, eof, include= and variables.
 */
#include "controller/language/internal.h"

#include "common/arena.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* So much of a line is shown that is not read. */
#define SHOWN_MAX 60u

struct variable {
    const char *name;
    size_t name_length;
    const char *value;
    bool used;
};

/* One run of this step. */
struct source {
    struct reading *reading;
    struct variable variables[LANGUAGE_VARIABLES_MAX];
    uint32_t variable_count;
    size_t text_total; /* bytes of all files so far */
    uint32_t includes;
    bool joins; /* the line before ended in a comma */
};

int reading_grow(struct reading *reading, void *array, uint32_t count,
                 uint32_t *capacity, size_t size)
{
    void **data = array;

    if (count < *capacity)
        return 0;
    if (*capacity > UINT32_MAX / 2)
        return -ENOMEM;

    uint32_t wanted = *capacity == 0 ? 16 : *capacity * 2;
    void *grown = arena_array(reading->arena, wanted, size);

    if (grown == NULL)
        return -ENOMEM;
    if (count > 0)
        memcpy(grown, *data, count * size);
    *data = grown;
    *capacity = wanted;
    return 0;
}

struct language_place line_place(const struct line *line, uint32_t index,
                                 uint32_t width)
{
    struct language_place place = line->place;

    place.width = width > 0 ? width : 1;
    if (line->columns == NULL)
        place.column = line->indent + index + 1;
    else if (index < line->length)
        place.column = line->columns[index];
    else
        place.column = (uint32_t)strlen(place.source) + 1;
    return place;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/* ---- variables ---- */

static int add_variable(struct source *source, const char *text)
{
    struct language_report *report = source->reading->report;
    const char *equals = strchr(text, '=');
    struct variable *variable;

    if (equals == NULL || equals == text) {
        language_report_add(report, LANGUAGE_ERROR, NULL, NULL,
                            "variable '%s' is not NAME=VALUE", text);
        return 0;
    }
    if (source->variable_count == LANGUAGE_VARIABLES_MAX) {
        language_report_add(report, LANGUAGE_ERROR, NULL, NULL,
                            "more than %u variables", LANGUAGE_VARIABLES_MAX);
        return 0;
    }
    for (uint32_t i = 0; i < source->variable_count; i++) {
        variable = &source->variables[i];
        if (variable->name_length == (size_t)(equals - text) &&
            strncmp(variable->name, text, variable->name_length) == 0)
            language_report_add(report, LANGUAGE_ERROR, NULL, NULL,
                                "variable '%.*s' is given twice",
                                (int)variable->name_length, text);
    }
    variable = &source->variables[source->variable_count++];
    *variable = (struct variable){
        .name = text,
        .name_length = (size_t)(equals - text),
        .value = equals + 1,
    };
    return 0;
}

/* The longest name that stands behind the '$' or '!' of `text`. */
static struct variable *find_variable(struct source *source, const char *text,
                                      size_t length)
{
    struct variable *best = NULL;

    for (uint32_t i = 0; i < source->variable_count; i++) {
        struct variable *variable = &source->variables[i];

        if (variable->name_length <= length &&
            memcmp(variable->name, text, variable->name_length) == 0 &&
            (best == NULL || variable->name_length > best->name_length))
            best = variable;
    }
    return best;
}

struct expansion {
    char *text;
    uint32_t *columns;
    uint32_t length;
};

/* Appends `length` bytes; all have column `column`, or `column` upwards. */
static bool expansion_add(struct expansion *expansion, const char *text,
                          size_t length, uint32_t column, bool counts)
{
    if (length > LANGUAGE_LINE_MAX - expansion->length)
        return false;
    memcpy(expansion->text + expansion->length, text, length);
    for (size_t i = 0; i < length; i++)
        expansion->columns[expansion->length + i] =
            counts ? column + (uint32_t)i : column;
    expansion->length += (uint32_t)length;
    return true;
}

/* Replaces every variable of a line.  False: the line becomes too long. */
static bool replace_variables(struct source *source, struct line *line,
                              struct expansion *expansion)
{
    uint32_t i = 0;

    while (i < line->length) {
        const char *at = line->text + i;
        uint32_t column = line->indent + i + 1;
        struct variable *variable = NULL;

        if (*at == '$' || *at == '!')
            variable = find_variable(source, at + 1, line->length - i - 1);
        if (variable == NULL) {
            if (!expansion_add(expansion, at, 1, column, true))
                return false;
            i++;
            continue;
        }
        variable->used = true;
        if (!expansion_add(expansion, variable->value, strlen(variable->value),
                           column, false))
            return false;
        i += 1 + (uint32_t)variable->name_length;
    }
    return true;
}

static bool has_variable(struct source *source, const struct line *line)
{
    for (uint32_t i = 0; i + 1 < line->length; i++)
        if ((line->text[i] == '$' || line->text[i] == '!') &&
            find_variable(source, line->text + i + 1, line->length - i - 1) !=
                NULL)
            return true;
    return false;
}

/* A value may bring blanks of its own. */
static void trim(struct line *line)
{
    while (line->length > 0 && is_blank(line->text[line->length - 1]))
        line->length--;
    while (line->length > 0 && is_blank(*line->text)) {
        line->text++;
        line->columns++;
        line->length--;
    }
}

static int substitute(struct source *source, struct line *line)
{
    struct reading *reading = source->reading;
    struct expansion expansion = {0};
    char *text = NULL;
    int err = -ENOMEM;

    if (!has_variable(source, line))
        return 0;
    text = malloc(LANGUAGE_LINE_MAX);
    expansion.text = text;
    expansion.columns = malloc(LANGUAGE_LINE_MAX * sizeof(uint32_t));
    if (text == NULL || expansion.columns == NULL)
        goto out;
    if (!replace_variables(source, line, &expansion)) {
        language_report_add(reading->report, LANGUAGE_ERROR, &line->place, NULL,
                            "with its variables the line is longer than "
                            "%u bytes",
                            LANGUAGE_LINE_MAX);
        line->length = 0;
        err = 0;
        goto out;
    }
    line->text =
        arena_strndup(reading->arena, expansion.text, expansion.length);
    line->columns = arena_memdup(reading->arena, expansion.columns,
                                 expansion.length * sizeof(uint32_t));
    line->length = expansion.length;
    if (line->text == NULL || line->columns == NULL)
        goto out;
    trim(line);
    err = 0;
out:
    free(text);
    free(expansion.columns);
    return err;
}

static void report_unused(struct source *source)
{
    for (uint32_t i = 0; i < source->variable_count; i++) {
        const struct variable *variable = &source->variables[i];

        if (!variable->used)
            language_report_add(source->reading->report, LANGUAGE_ERROR, NULL,
                                NULL,
                                "variable '%.*s' is given, but no file has "
                                "$%.*s",
                                (int)variable->name_length, variable->name,
                                (int)variable->name_length, variable->name);
    }
}

/* ---- lines ---- */

/* vdbench's comments: '*', '#' and '/' in front. */
static bool is_comment(const char *text, uint32_t length)
{
    return length == 0 || *text == '*' || *text == '#' || *text == '/';
}

/* A list broken so that a path begins a line loses the path. */
static void warn_lost_path(struct source *source, const struct line *line)
{
    if (!source->joins || line->length < 2 || line->text[0] != '/' ||
        !isalnum((unsigned char)line->text[1]))
        return;

    struct language_place place = line_place(line, 0, line->length);

    language_report_add(source->reading->report, LANGUAGE_WARNING, &place,
                        "put the path at the end of the line before it",
                        "a line that begins with '/' is a comment, but the "
                        "line before it ends in a comma");
}

static bool is_eof(const struct line *line)
{
    return line->length >= 3 && memcmp(line->text, "eof", 3) == 0 &&
           (line->length == 3 || is_blank(line->text[3]));
}

/* Whether the part of a line that counts ends in a comma. */
static bool ends_in_comma(const struct line *line)
{
    bool quoted = false;
    uint32_t end = 0;

    while (end < line->length && (quoted || !is_blank(line->text[end])))
        if (line->text[end++] == '"')
            quoted = !quoted;
    return end > 0 && line->text[end - 1] == ',';
}

static int keep_line(struct source *source, const struct line *line)
{
    struct reading *reading = source->reading;
    int err = reading_grow(reading, &reading->lines, reading->line_count,
                           &reading->line_capacity, sizeof(*line));

    if (err < 0)
        return err;
    reading->lines[reading->line_count++] = *line;
    source->joins = ends_in_comma(line);
    return 0;
}

static int read_text(struct source *source, const char *name, const char *text,
                     size_t length, bool included);

/* The name behind include=, up to the first blank. */
static char *include_name(struct source *source, const struct line *line)
{
    const char *begin = line->text + strlen("include=");
    uint32_t length = line->length - (uint32_t)strlen("include=");
    uint32_t end = 0;

    if (length > 1 && *begin == '"') {
        begin++;
        length--;
        while (end < length && begin[end] != '"')
            end++;
    } else {
        while (end < length && !is_blank(begin[end]))
            end++;
    }
    return arena_strndup(source->reading->arena, begin, end);
}

static int read_include(struct source *source, const struct line *line)
{
    struct reading *reading = source->reading;
    const struct language_input *input = reading->input;
    struct language_place place = line_place(line, 0, line->length);
    char *name = include_name(source, line);
    char *text = NULL;
    size_t length = 0;
    int err;

    if (name == NULL)
        return -ENOMEM;
    if (input->include == NULL || source->includes == LANGUAGE_INCLUDES_MAX) {
        language_report_add(reading->report, LANGUAGE_ERROR, &place, NULL,
                            input->include == NULL
                                ? "include= cannot be followed here"
                                : "more than 64 files are included");
        return 0;
    }
    source->includes++;
    err = input->include(input->include_user, name, line->place.file, &text,
                         &length);
    if (err == -ENOMEM)
        return err;
    if (err < 0) {
        reading->incomplete = true;
        language_report_add(reading->report, LANGUAGE_ERROR, &place,
                            strchr(name, '/') != NULL
                                ? "a name with a / is taken as it is, from the "
                                  "current directory"
                                : "it is looked for beside this file, in the "
                                  "current directory, and in the parent of "
                                  "this file's",
                            "cannot read include file '%s': %s", name,
                            strerror(-err));
        return 0;
    }
    err = read_text(source, name, text, length, true);
    free(text);
    return err;
}

static int read_line(struct source *source, struct line *line, bool included,
                     bool *ret_eof)
{
    static const char include[] = "include=";

    if (is_comment(line->text, line->length)) {
        warn_lost_path(source, line);
        return 0;
    }

    int err = substitute(source, line);

    if (err < 0)
        return err;
    if (is_comment(line->text, line->length))
        return 0;
    if (is_eof(line)) {
        *ret_eof = true;
        return 0;
    }
    if (line->length < strlen(include) ||
        memcmp(line->text, include, strlen(include)) != 0)
        return keep_line(source, line);
    if (!included)
        return read_include(source, line);

    struct language_place place = line_place(line, 0, line->length);

    language_report_add(source->reading->report, LANGUAGE_ERROR, &place,
                        "include both files from the first one",
                        "an included file cannot include another");
    return 0;
}

/* Cuts `text` at line ends.  Sets `ret_line`; gives the bytes used. */
static size_t cut_line(const char *text, size_t length, struct line *ret_line)
{
    const char *newline = memchr(text, '\n', length);
    size_t used = newline != NULL ? (size_t)(newline - text) + 1 : length;
    size_t end = newline != NULL ? used - 1 : used;
    size_t begin = 0;

    while (begin < end && is_blank(text[begin]))
        begin++;
    while (end > begin && is_blank(text[end - 1]))
        end--;
    *ret_line = (struct line){
        .text = text + begin,
        .length = (uint32_t)(end - begin),
        .indent = (uint32_t)begin,
    };
    return used;
}

/* The line as it is shown in messages. */
static int keep_source(struct source *source, struct line *line,
                       const char *file, uint32_t number)
{
    struct reading *reading = source->reading;
    char *copy = arena_strndup(reading->arena, line->text - line->indent,
                               line->indent + line->length);

    if (copy == NULL)
        return -ENOMEM;
    line->place = (struct language_place){
        .file = file,
        .source = copy,
        .line = number,
        .column = line->indent + 1,
        .width = line->length > 0 ? line->length : 1,
    };
    line->text = copy + line->indent;
    return 0;
}

/* A place in a text that is not read any further, shown by as much of its line
 * as there is before it. */
static int place_in_text(struct source *source, const char *file,
                         const char *text, size_t at,
                         struct language_place *ret_place)
{
    uint32_t number = 1;
    size_t begin = 0;
    size_t shown;

    for (size_t i = 0; i < at; i++)
        if (text[i] == '\n') {
            number++;
            begin = i + 1;
        }
    shown = at - begin < SHOWN_MAX ? at - begin : SHOWN_MAX;
    *ret_place = (struct language_place){
        .file = file,
        .source = arena_strndup(source->reading->arena, text + begin, shown),
        .line = number,
        .column = (uint32_t)shown + 1,
        .width = 1,
    };
    return ret_place->source != NULL ? 0 : -ENOMEM;
}

/*
 * Whether a text can be read at all.  Zero bytes would end texts early; they
 * are not text anyway.
 */
static int check_text(struct source *source, const char *file, const char *text,
                      size_t length, bool *ret_fits)
{
    struct language_report *report = source->reading->report;
    size_t room = LANGUAGE_TEXT_MAX - source->text_total;
    const char *zero = length > 0 ? memchr(text, '\0', length) : NULL;
    struct language_place place;
    int err = 0;

    *ret_fits = length <= room && zero == NULL;
    source->text_total += *ret_fits ? length : 0;
    if (*ret_fits)
        return 0;
    err = place_in_text(source, file, text,
                        length > room ? room : (size_t)(zero - text), &place);
    if (err < 0)
        return err;
    if (length > room)
        language_report_add(report, LANGUAGE_ERROR, &place, NULL,
                            "from here on all files together are longer than "
                            "%u MiB",
                            LANGUAGE_TEXT_MAX >> 20);
    else
        language_report_add(report, LANGUAGE_ERROR, &place,
                            "a text in UTF-16 has many; save it as UTF-8",
                            "a zero byte: this is not a text file");
    return 0;
}

/* Too many lines, or a line too long: the rest of the file is not read. */
static int check_line(struct source *source, const char *file,
                      const struct line *line, uint32_t number, bool *ret_fits)
{
    struct language_place place;
    uint32_t indent = line->indent < SHOWN_MAX ? line->indent : SHOWN_MAX;
    int err;

    *ret_fits = number <= LANGUAGE_LINES_MAX &&
                line->length <= LANGUAGE_LINE_MAX &&
                line->indent <= LANGUAGE_LINE_MAX;
    if (*ret_fits)
        return 0;
    err = place_in_text(source, file, line->text - indent,
                        number > LANGUAGE_LINES_MAX ? 0 : indent + SHOWN_MAX,
                        &place);
    if (err < 0)
        return err;
    place.line = number;
    if (number > LANGUAGE_LINES_MAX)
        language_report_add(source->reading->report, LANGUAGE_ERROR, &place,
                            NULL, "the file has more than %u lines",
                            LANGUAGE_LINES_MAX);
    else
        language_report_add(source->reading->report, LANGUAGE_ERROR, &place,
                            "a comma at its end goes on with the next line",
                            "the line is longer than %u bytes",
                            LANGUAGE_LINE_MAX);
    return 0;
}

static int read_text(struct source *source, const char *name, const char *text,
                     size_t length, bool included)
{
    struct reading *reading = source->reading;
    static const char mark[] = "\xef\xbb\xbf"; /* some editors put it first */
    const char *file = arena_strdup(reading->arena, name);
    uint32_t number = 0;
    bool eof = false;
    bool fits = false;
    int err = 0;

    if (file == NULL)
        return -ENOMEM;
    err = check_text(source, file, text, length, &fits);
    if (err < 0 || !fits)
        return err;
    if (length >= 3 && memcmp(text, mark, 3) == 0) {
        text += 3;
        length -= 3;
    }
    while (length > 0 && !eof) {
        struct line line;
        size_t used = cut_line(text, length, &line);

        text += used;
        length -= used;
        err = check_line(source, file, &line, ++number, &fits);
        if (err < 0 || !fits)
            return err;
        if (line.length == 0)
            continue;
        err = keep_source(source, &line, file, number);
        if (err == 0)
            err = read_line(source, &line, included, &eof);
        if (err < 0)
            return err;
    }
    return 0;
}

int source_read(struct reading *reading)
{
    const struct language_input *input = reading->input;
    struct source *source = arena_alloc(reading->arena, sizeof(*source));
    int err = 0;

    if (source == NULL)
        return -ENOMEM;
    source->reading = reading;
    for (uint32_t i = 0; i < input->variable_count && err == 0; i++)
        err = add_variable(source, input->variables[i]);
    if (input->file_count == 0 || input->file_count > LANGUAGE_FILES_MAX)
        language_report_add(reading->report, LANGUAGE_ERROR, NULL, NULL,
                            "%u parameter files: 1 to %u are read",
                            input->file_count, LANGUAGE_FILES_MAX);
    for (uint32_t i = 0; i < input->file_count && err == 0; i++)
        if (i < LANGUAGE_FILES_MAX)
            err = read_text(source, input->files[i].name, input->files[i].text,
                            input->files[i].length, false);
    if (err == 0)
        report_unused(source);
    return err;
}
