/* vdbench_parm.c - see vdbench_parm.h. */
#include "controller/report/vdbench_parm.h"

#include <string.h>

/* ---- Variables -------------------------------------------------------------
 */

/* The value whose name stands at `text`: the longest of them.  NULL: none. */
static const char *value_at(const json_t *variables, const char *text,
                            size_t *ret_length)
{
    const char *found = NULL;

    *ret_length = 0;
    for (size_t i = 0; i < json_array_size(variables); i++) {
        const char *word = json_string_value(json_array_get(variables, i));
        const char *equals = word == NULL ? NULL : strchr(word, '=');
        size_t length = equals == NULL ? 0 : (size_t)(equals - word);

        if (length > *ret_length && strncmp(word, text, length) == 0) {
            *ret_length = length;
            found = equals + 1;
        }
    }
    return found;
}

static void print_replaced(FILE *out, const json_t *variables, const char *text,
                           size_t length)
{
    for (size_t i = 0; i < length; i++) {
        size_t name = 0;
        const char *value = text[i] == '$' || text[i] == '!'
                                ? value_at(variables, text + i + 1, &name)
                                : NULL;

        if (value == NULL || i + name >= length) {
            fputc(text[i], out);
            continue;
        }
        fputs(value, out);
        i += name;
    }
}

/* ---- Lines -----------------------------------------------------------------
 */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Where the parameters of a line end: at a blank that is within no brackets
 * and no quotes, and behind no comma. */
static size_t parameters_end(const char *line, size_t length)
{
    int depth = 0;
    bool quoted = false;
    size_t begin = 0;

    while (begin < length && is_blank(line[begin]))
        begin++;
    for (size_t i = begin; i < length; i++) {
        if (line[i] == '"')
            quoted = !quoted;
        else if (line[i] == '(')
            depth++;
        else if (line[i] == ')')
            depth--;
        else if (is_blank(line[i]) && depth <= 0 && !quoted &&
                 line[i - 1] != ',' && !is_blank(line[i - 1]))
            return i;
    }
    return length;
}

static bool is_comment(const char *line, size_t length)
{
    while (length > 0 && is_blank(*line)) {
        line++;
        length--;
    }
    return length == 0 || *line == '*' || *line == '#' || *line == '/';
}

static void print_line(FILE *out, const json_t *variables, const char *line,
                       size_t length)
{
    size_t end = parameters_end(line, length);
    size_t rest = end;

    if (is_comment(line, length)) {
        fprintf(out, "%.*s\n", (int)length, line);
        return;
    }
    while (rest < length && is_blank(line[rest]))
        rest++;
    if (rest < length)
        fprintf(out, "* %.*s\n", (int)(length - rest), line + rest);
    print_replaced(out, variables, line, end);
    fputc('\n', out);
}

static void print_text(FILE *out, const json_t *variables, const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");

        print_line(out, variables, text, length);
        text += length + (text[length] == '\n' ? 1 : 0);
    }
}

/* ---- The whole -------------------------------------------------------------
 */

static void print_effective(FILE *out, const json_t *phase)
{
    static const char *const keys[] = {"xfersize", "rdpct", "seekpct",
                                       "threads"};

    fprintf(out, "* rd=%s", read_text(phase, "run"));
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++)
        if (read_text(phase, keys[i])[0] != '\0')
            fprintf(out, ",%s=%s", keys[i], read_text(phase, keys[i]));
    fprintf(out, ",iorate=%s\n", read_text(phase, "iorate_text"));
}

void vdbench_print_parm(FILE *out, const json_t *head)
{
    const json_t *variables = json_object_get(head, "variables");
    const json_t *texts = json_object_get(head, "texts");
    const json_t *phases = json_object_get(head, "phases");

    fputs("<title>Lockstep parmfile.html</title><pre>\n", out);
    for (size_t i = 0; i < json_array_size(texts); i++) {
        const json_t *file = json_array_get(texts, i);

        fprintf(out, "* file: %s\n", read_text(file, "name"));
        print_text(out, variables, read_file_text(file));
    }
    fputs("\n* The values of each run, defaults included:\n", out);
    for (size_t i = 0; i < json_array_size(phases); i++)
        if (read_is(json_array_get(phases, i), "kind", "measure"))
            print_effective(out, json_array_get(phases, i));
}
