#include "common/config.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX (1u << 20)

static void *field_of(const struct config_key *key, void *settings)
{
    return (char *)settings + key->offset;
}

/* Equal, with `-` as good as `_`. */
static bool is_named(const char *name, const char *word, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (name[i] != (word[i] == '-' ? '_' : word[i]) || name[i] == '\0')
            return false;
    return name[length] == '\0';
}

static const struct config_key *find_key(const struct config_table *table,
                                         const char *word, size_t length)
{
    assert(table->count <= CONFIG_KEYS_MAX);
    for (size_t i = 0; i < table->count; i++)
        if (is_named(table->keys[i].name, word, length))
            return &table->keys[i];
    return NULL;
}

void config_defaults(const struct config_table *table, void *settings)
{
    struct diag diag;

    for (size_t i = 0; i < table->count; i++) {
        const struct config_key *key = &table->keys[i];
        int r = 0;

        if (key->fallback != NULL)
            r = key->parse(key->fallback, field_of(key, settings), &diag);
        assert(r == 0);
    }
}

/* ---- The file --------------------------------------------------------------
 */

/* A reading of a file, as libinih's reader and handler share it. */
struct reading {
    const struct config_table *table;
    void *settings;
    const char *label;
    const char *at;
    const char *end;
    int line;   /* 1-based, of the line read last */
    int result; /* of the first line that was wrong; what follows is skipped */
    struct diag *diag;
    bool seen[CONFIG_KEYS_MAX];
};

static int PRINTF(3, 4)
    fail_line(struct reading *r, int err, const char *format, ...)
{
    char text[REASON_SIZE];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    r->result =
        diag_set(r->diag, err, "%s: line %d: %s", r->label, r->line, text);
    return 0;
}

/*
 * Gives libinih one line, like fgets().  Blanks before it are left out, since
 * libinih would take the line for a part of the one before.
 */
static char *read_line(char *line, int size, void *stream)
{
    struct reading *r = stream;
    const char *newline;
    size_t length;

    if (r->at == r->end || r->result < 0)
        return NULL;
    r->line++;
    newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
    length = (size_t)((newline == NULL ? r->end : newline + 1) - r->at);
    if (length > CONFIG_LINE_MAX || length >= (size_t)size)
        fail_line(r, -EMSGSIZE, "longer than %d bytes", CONFIG_LINE_MAX);
    else if (memchr(r->at, '\0', length) != NULL)
        fail_line(r, -EINVAL, "holds a zero byte: this is no text file");
    if (r->result < 0)
        return NULL;
    while (length > 0 && (*r->at == ' ' || *r->at == '\t')) {
        r->at++;
        length--;
    }
    memcpy(line, r->at, length);
    line[length] = '\0';
    r->at += length;
    return line;
}

/* Cuts a comment that `#` begins; libinih cuts those of `;`. */
static void cut_comment(const char *value, char *ret_text, size_t size)
{
    size_t length = 0;

    for (; value[length] != '\0' && length + 1 < size; length++)
        if (value[length] == '#' && (length == 0 || value[length - 1] == ' ' ||
                                     value[length - 1] == '\t'))
            break;
    while (length > 0 &&
           (value[length - 1] == ' ' || value[length - 1] == '\t'))
        length--;
    memcpy(ret_text, value, length);
    ret_text[length] = '\0';
}

static int set_from_line(struct reading *r, const char *name, const char *value)
{
    const struct config_key *key = find_key(r->table, name, strlen(name));
    struct diag why = {0};
    char text[CONFIG_LINE_MAX + 2];
    size_t at;
    int err;

    if (key == NULL || key->kind == CONFIG_HIDDEN)
        return fail_line(r, -EINVAL, "unknown key '%s'", name);
    at = (size_t)(key - r->table->keys);
    if (r->seen[at] && key->kind != CONFIG_REPEATS)
        return fail_line(r, -EINVAL, "'%s' was given before", name);
    r->seen[at] = true;
    cut_comment(value, text, sizeof(text));
    err = key->parse(text, field_of(key, r->settings), &why);
    if (err < 0)
        return fail_line(r, err, "%s: %s", name, why.text);
    return 1;
}

/* libinih's: 1 is good, 0 is an error. */
static int on_pair(void *user, const char *section, const char *name,
                   const char *value)
{
    struct reading *r = user;

    if (r->result < 0)
        return 0;
    if (section[0] != '\0')
        return fail_line(r, -EINVAL,
                         "'%s' stands in section [%s]: there are no sections",
                         name, section);
    return set_from_line(r, name, value);
}

int config_read_text(const struct config_table *table, void *settings,
                     const char *text, size_t length, const char *label,
                     struct diag *diag)
{
    struct reading reading = {
        .table = table,
        .settings = settings,
        .label = label,
        .at = text,
        .end = text + length,
        .diag = diag,
    };
    int bad_line;

    /* The handler notes what is wrong with a pair; this is the first line
     * that is no pair at all. */
    bad_line = ini_parse_stream(read_line, &reading, on_pair, &reading);
    if (reading.result == 0 && bad_line < 0)
        return diag_set(diag, -ENOMEM, "%s: no memory to read it", label);
    if (reading.result == 0 && bad_line > 0)
        return diag_set(diag, -EINVAL, "%s: line %d: expected 'key = value'",
                        label, bad_line);
    return reading.result;
}

/* Reads the whole of an open file of at most FILE_MAX bytes. */
static int read_all(int fd, char **ret_text, size_t *ret_length)
{
    char *text = malloc(FILE_MAX + 1);
    size_t length = 0;
    ssize_t n;

    if (text == NULL)
        return -ENOMEM;
    while ((n = read(fd, text + length, FILE_MAX + 1 - length)) > 0)
        length += (size_t)n;
    if (n < 0 || length > FILE_MAX) {
        int err = n < 0 ? -errno : -EFBIG;

        free(text);
        return err;
    }
    *ret_text = text;
    *ret_length = length;
    return 0;
}

int config_read(const struct config_table *table, void *settings,
                const char *path, struct diag *diag)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    char *text = NULL;
    int r;

    if (fd < 0)
        return diag_set(diag, -errno, "cannot read configuration '%s': %s",
                        path, strerror(errno));
    r = read_all(fd, &text, &length);
    (void)close(fd);
    if (r < 0)
        return diag_set(diag, r, "cannot read configuration '%s': %s", path,
                        strerror(-r));
    r = config_read_text(table, settings, text, length, path, diag);
    free(text);
    return r;
}

/* ---- The command line ------------------------------------------------------
 */

/* One option; `next` is the word after it or NULL.  Words used, or negative. */
static int set_option(const struct config_table *table, void *settings,
                      const char *word, const char *next, struct diag *diag)
{
    size_t length = strcspn(word + 2, "=");
    const struct config_key *key = find_key(table, word + 2, length);
    const char *value = word[2 + length] == '=' ? word + 3 + length : NULL;
    int used = 1;
    int r;

    if (key == NULL)
        return diag_set(diag, -EINVAL,
                        "unknown option '%s'; --help lists what there is",
                        word);
    if (value == NULL && key->argument == NULL) {
        value = "yes";
    } else if (value == NULL) {
        value = next;
        used = 2;
    }
    if (value == NULL)
        return diag_set(diag, -EINVAL, "%s needs a value: %s=%s", word, word,
                        key->argument);
    r = key->parse(value, field_of(key, settings), diag);
    if (r < 0)
        diag_prefix(diag, "--%s", key->name);
    return r < 0 ? r : used;
}

int config_arguments(const struct config_table *table, void *settings, int argc,
                     char *const *argv, int *ret_used, struct diag *diag)
{
    int at = 0;

    while (at < argc && strncmp(argv[at], "--", 2) == 0) {
        const char *next = at + 1 < argc ? argv[at + 1] : NULL;
        int used;

        if (strcmp(argv[at], "--") == 0) {
            at++;
            break;
        }
        used = set_option(table, settings, argv[at], next, diag);
        if (used < 0)
            return used;
        at += used;
    }
    *ret_used = at;
    return 0;
}

static void take_out(int *argc, char **argv, int at, int count)
{
    for (int i = at; i + count <= *argc; i++)
        argv[i] = argv[i + count]; /* the final NULL too */
    *argc -= count;
}

const char *config_find_option(int *argc, char **argv, const char *name,
                               bool has_value)
{
    size_t length = strlen(name);

    for (int i = 1; i < *argc && strcmp(argv[i], "--") != 0; i++) {
        const char *word = argv[i];
        const char *value = "";

        if (strncmp(word, "--", 2) != 0 || strncmp(word + 2, name, length) != 0)
            continue;
        if (has_value && word[2 + length] == '=') {
            value = word + 3 + length;
            take_out(argc, argv, i, 1);
        } else if (word[2 + length] != '\0') {
            continue;
        } else if (has_value) {
            if (i + 1 == *argc)
                continue; /* without its value it is left, and is unknown */
            value = argv[i + 1];
            take_out(argc, argv, i, 2);
        } else {
            take_out(argc, argv, i, 1);
        }
        return value;
    }
    return NULL;
}

/* ---- Help ---------------------------------------------------------------- */

#define HELP_COLUMN 26
#define HELP_WIDTH  78

/* The text in lines that fit beside the option's column. */
static void print_wrapped(const char *text, FILE *out)
{
    int column = HELP_COLUMN;

    while (*text != '\0') {
        int length = (int)strcspn(text, " ");

        if (column > HELP_COLUMN && column + 1 + length > HELP_WIDTH) {
            fprintf(out, "\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
        }
        column += fprintf(out, "%s%.*s", column > HELP_COLUMN ? " " : "",
                          length, text);
        text += length;
        text += strspn(text, " ");
    }
}

static void print_key(const struct config_key *key, FILE *out)
{
    char name[NAME_SIZE];
    size_t i = 0;
    int column;

    for (; key->name[i] != '\0' && i + 1 < sizeof(name); i++)
        name[i] = key->name[i] == '_' ? '-' : key->name[i];
    name[i] = '\0';
    column = fprintf(out, "  --%s%s%s", name, key->argument == NULL ? "" : "=",
                     key->argument == NULL ? "" : key->argument);
    if (column > HELP_COLUMN - 2) {
        fputc('\n', out);
        column = 0;
    }
    fprintf(out, "%*s", HELP_COLUMN - column, "");
    print_wrapped(key->help, out);
    if (key->kind == CONFIG_REPEATS)
        fputs(" (may be repeated)", out);
    if (key->fallback != NULL && key->fallback[0] != '\0' &&
        key->argument != NULL)
        fprintf(out, " [%s]", key->fallback);
    fputc('\n', out);
}

void config_print_help(const struct config_table *table, FILE *out)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->keys[i].kind != CONFIG_HIDDEN)
            print_key(&table->keys[i], out);
}
