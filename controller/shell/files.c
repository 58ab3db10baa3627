/* files.c - see files.h. */
#include "controller/shell/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/text.h"

static int read_stream(FILE *stream, const char *path, size_t limit,
                       char **ret_text, size_t *ret_length, struct diag *diag)
{
    char *text = malloc(limit + 2);

    if (text == NULL)
        return diag_set(diag, -ENOMEM, "no memory to read '%s'", path);

    size_t length = fread(text, 1, limit + 1, stream);

    if (ferror(stream)) {
        free(text);
        return diag_set(diag, -EIO, "cannot read '%s': %s", path,
                        strerror(errno));
    }
    if (length > limit) {
        free(text);
        return diag_set(diag, -EFBIG,
                        "'%s' is longer than %zu kB: is it a parameter file?",
                        path, limit >> 10);
    }
    text[length] = '\0';
    *ret_text = text;
    *ret_length = length;
    return 0;
}

static int open_file(const char *path, FILE **ret_stream, struct diag *diag)
{
    struct stat stat_buffer;
    FILE *stream = fopen(path, "re");

    if (stream == NULL)
        return diag_set(diag, -errno, "cannot read '%s': %s", path,
                        strerror(errno));
    if (fstat(fileno(stream), &stat_buffer) == 0 &&
        S_ISDIR(stat_buffer.st_mode)) {
        (void)fclose(stream);
        return diag_set(diag, -EISDIR,
                        "cannot read '%s': it is a directory; give a "
                        "parameter file",
                        path);
    }
    *ret_stream = stream;
    return 0;
}

int file_read(const char *path, size_t limit, char **ret_text,
              size_t *ret_length, struct diag *diag)
{
    FILE *stream = stdin;
    int r = 0;

    if (strcmp(path, "-") != 0)
        r = open_file(path, &stream, diag);
    if (r < 0)
        return r;
    r = read_stream(stream, path, limit, ret_text, ret_length, diag);
    if (stream != stdin)
        (void)fclose(stream);
    return r;
}

/* A zero byte would end the text early, wherever it goes. */
static int check_text(const char *name, const char *text, size_t length,
                      struct diag *diag)
{
    size_t at = strlen(text);
    size_t line = 1, begin = 0;

    if (at == length)
        return 0;
    for (size_t i = 0; i < at; i++)
        if (text[i] == '\n') {
            line++;
            begin = i + 1;
        }
    return diag_set(diag, -EINVAL,
                    "%s:%zu:%zu: a zero byte: this is not a text file; one in "
                    "UTF-16 has many, save it as UTF-8",
                    name, line, at - begin + 1);
}

/* ---- include= ------------------------------------------------------------ */

static bool has_folder(const char *name)
{
    return strchr(name, '/') != NULL;
}

/* The folder of a file, with the slash; "" where it has none. */
static int folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? 0 : (int)(slash - path) + 1;
}

/*
 * Where a bare name is looked for: beside the file that includes it, in the
 * current directory, in the parent of the file's.  A name with a folder is
 * taken as it is.
 */
static bool find_include(const char *name, const char *from,
                         char path[PATH_SIZE])
{
    int length = folder_length(from);

    (void)snprintf(path, PATH_SIZE, "%s", name);
    if (has_folder(name))
        return access(path, R_OK) == 0;
    if (snprintf(path, PATH_SIZE, "%.*s%s", length, from, name) <
            (int)PATH_SIZE &&
        access(path, R_OK) == 0)
        return true;
    (void)snprintf(path, PATH_SIZE, "%s", name);
    if (access(path, R_OK) == 0)
        return true;
    return snprintf(path, PATH_SIZE, "%.*s../%s", length, from, name) <
               (int)PATH_SIZE &&
           access(path, R_OK) == 0;
}

static int copy_text(const struct parameter_files *files, uint32_t index,
                     char **ret_text, size_t *ret_length)
{
    const struct language_file *file = &files->file[index];
    char *text = malloc(file->length + 1);

    if (text == NULL)
        return -ENOMEM;
    memcpy(text, file->text, file->length + 1);
    *ret_text = text;
    *ret_length = file->length;
    return 0;
}

static int keep_include(struct parameter_files *files, const char *name,
                        const char *path)
{
    uint32_t at = files->count + files->included;
    struct diag diag = {0};
    size_t length = 0;
    int r;

    if (at == LANGUAGE_FILES_MAX)
        return -E2BIG;
    r = file_read(path, PARAMETER_FILES_MAX - files->total, &files->text[at],
                  &length, &diag);
    if (r < 0)
        return r;
    r = check_text(name, files->text[at], length, &diag);
    if (r < 0) {
        free(files->text[at]);
        files->text[at] = NULL;
        return r;
    }
    files->name[at] = strdup(name);
    files->file[at] =
        (struct language_file){files->name[at], files->text[at], length};
    files->total += length;
    files->included++;
    return files->name[at] != NULL ? 0 : -ENOMEM;
}

/* ---- pattern= ------------------------------------------------------------ */

/* A byte more than there may be is enough to be refused for it.  Devices and
 * pipes may have no end, or never begin. */
static int read_pattern(const char *path, uint8_t **ret_bytes,
                        size_t *ret_length)
{
    struct stat stat_buffer;
    uint8_t *bytes;
    FILE *stream;
    int err = 0;

    if (stat(path, &stat_buffer) < 0)
        return -errno;
    if (!S_ISREG(stat_buffer.st_mode))
        return -ENOENT;
    stream = fopen(path, "re");
    if (stream == NULL)
        return -errno;
    bytes = malloc(LANGUAGE_PATTERN_MAX + 1);
    if (bytes == NULL)
        err = -ENOMEM;
    else
        *ret_length = fread(bytes, 1, LANGUAGE_PATTERN_MAX + 1, stream);
    if (err == 0 && ferror(stream))
        err = -EIO;
    (void)fclose(stream);
    if (err < 0)
        free(bytes);
    else
        *ret_bytes = bytes;
    return err;
}

/* As the text that it is sent as; `name` with LANGUAGE_PATTERN before it. */
static int keep_pattern(struct parameter_files *files, const char *name,
                        const char *path)
{
    uint32_t at = files->count + files->included;
    uint8_t *bytes = NULL;
    size_t length = 0;
    int r;

    if (at == LANGUAGE_FILES_MAX)
        return -E2BIG;
    if (strlen(name) >= PATH_SIZE)
        return -ENAMETOOLONG;
    r = read_pattern(path, &bytes, &length);
    if (r < 0)
        return r;
    files->text[at] = language_pattern_text(bytes, length);
    files->name[at] = strdup(name);
    free(bytes);
    if (files->text[at] == NULL || files->name[at] == NULL)
        return -ENOMEM;
    length = strlen(files->text[at]);
    files->file[at] =
        (struct language_file){files->name[at], files->text[at], length};
    files->total += length;
    files->included++;
    return 0;
}

static bool is_pattern(const char *name)
{
    return strncmp(name, LANGUAGE_PATTERN, strlen(LANGUAGE_PATTERN)) == 0;
}

/* One text a name, wherever it is included. */
static int include(void *user, const char *name, const char *from,
                   char **ret_text, size_t *ret_length)
{
    const char *file = name + (is_pattern(name) ? strlen(LANGUAGE_PATTERN) : 0);
    struct parameter_files *files = user;
    char path[PATH_SIZE];
    int r = 0;

    for (uint32_t i = 0; i < files->included; i++)
        if (strcmp(files->name[files->count + i], name) == 0)
            return copy_text(files, files->count + i, ret_text, ret_length);
    if (!find_include(file, from, path))
        return -ENOENT;
    r = is_pattern(name) ? keep_pattern(files, name, path)
                         : keep_include(files, name, path);
    return r < 0 ? r
                 : copy_text(files, files->count + files->included - 1,
                             ret_text, ret_length);
}

/* Reads once, only to learn what is included; what is wrong is said later. */
static int collect_includes(struct parameter_files *files,
                            const struct options *options, struct diag *diag)
{
    struct language_report report;
    struct language_input input;
    struct definitions *definitions = NULL;
    int r;

    parameter_files_input(files, options, &input);
    language_report_init(&report);
    r = language_read(&input, &report, &definitions);
    definitions_free(definitions);
    language_report_done(&report);
    if (r == -ENOMEM)
        return diag_set(diag, r, "no memory to read the files");
    if (files->total > PARAMETER_FILES_MAX)
        return diag_set(
            diag, -EFBIG,
            "the parameter files and their pattern= are sent in "
            "%zu kB, at most %u kB are allowed; shorten the pattern",
            files->total >> 10, PARAMETER_FILES_MAX >> 10);
    return 0;
}

/* ---- the files of -f ----------------------------------------------------- */

/* What options say in the language itself stands before all files. */
static int add_command_line(struct parameter_files *files,
                            const struct options *options, struct diag *diag)
{
    char text[256];

    if (options->loop == NULL && options->first_rd == NULL)
        return 0;
    (void)snprintf(text, sizeof(text), "%s%s%s%s%s%s",
                   options->loop != NULL ? "loop=" : "",
                   options->loop != NULL ? options->loop : "",
                   options->loop != NULL ? "\n" : "",
                   options->first_rd != NULL ? "first_rd=" : "",
                   options->first_rd != NULL ? options->first_rd : "",
                   options->first_rd != NULL ? "\n" : "");
    files->text[0] = strdup(text);
    if (files->text[0] == NULL)
        return diag_set(diag, -ENOMEM, "no memory to read the files");
    files->file[0] = (struct language_file){LANGUAGE_COMMAND_LINE,
                                            files->text[0], strlen(text)};
    files->count = 1;
    return 0;
}

/* How a file of -f is called from here on: as text, which a path need not be.
 */
static int take_name(struct parameter_files *files, uint32_t at,
                     const char *path, struct diag *diag)
{
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;

    if (strlen(name) >= PATH_SIZE)
        return diag_set(diag, -ENAMETOOLONG,
                        "the name of a parameter file has %d bytes at most: "
                        "%.100s...",
                        PATH_SIZE - 1, name);
    files->name[at] = strdup(name);
    if (files->name[at] == NULL)
        return diag_set(diag, -ENOMEM, "no memory to read '%s'", path);
    text_make_plain(files->name[at], "");
    return 0;
}

static int add_file(struct parameter_files *files, const char *path,
                    struct diag *diag)
{
    uint32_t at = files->count;
    size_t length = 0;
    int r = file_read(path, PARAMETER_FILES_MAX - files->total,
                      &files->text[at], &length, diag);

    if (r < 0)
        return r;
    r = take_name(files, at, path, diag);
    if (r == 0)
        r = check_text(files->name[at], files->text[at], length, diag);
    if (r < 0)
        return r;
    files->file[at] =
        (struct language_file){files->name[at], files->text[at], length};
    files->total += length;
    files->count++;
    if (files->first == NULL)
        files->first = files->file[at].name;
    return 0;
}

int parameter_files_read(const struct options *options,
                         struct parameter_files *ret_files, struct diag *diag)
{
    struct parameter_files files = {0};
    int r;

    if (options->files.count >= LANGUAGE_FILES_MAX)
        return diag_set(diag, -EINVAL, "%zu parameter files, at most %u",
                        options->files.count, LANGUAGE_FILES_MAX - 1);
    r = add_command_line(&files, options, diag);
    for (size_t i = 0; i < options->files.count && r == 0; i++)
        r = add_file(&files, options->files.word[i], diag);
    if (r == 0)
        r = collect_includes(&files, options, diag);
    if (r < 0) {
        parameter_files_done(&files);
        return r;
    }
    *ret_files = files;
    return 0;
}

void parameter_files_done(struct parameter_files *files)
{
    for (uint32_t i = 0; i < LANGUAGE_FILES_MAX; i++) {
        free(files->text[i]);
        free(files->name[i]);
        files->text[i] = files->name[i] = NULL;
    }
    files->count = files->included = 0;
}

void parameter_files_input(struct parameter_files *files,
                           const struct options *options,
                           struct language_input *ret_input)
{
    *ret_input = (struct language_input){
        .files = files->file,
        .file_count = files->count,
        .variables = options->variables.word,
        .variable_count = (uint32_t)options->variables.count,
        .elapsed_ns = options->elapsed_ns,
        .interval_ns = options->interval_ns,
        .warmup_ns = options->warmup_ns,
        .warmup_given = options->warmup_given,
        .include = include,
        .include_user = files,
    };
}
