/* files.c - see files.h. */
#include "controller/shell/files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

int parameter_files_read(const struct options *options,
                         struct parameter_files *ret_files, struct diag *diag)
{
    struct parameter_files files = {0};

    if (options->files.count > LANGUAGE_FILES_MAX)
        return diag_set(diag, -EINVAL, "%zu parameter files, at most %u",
                        options->files.count, LANGUAGE_FILES_MAX);
    for (size_t i = 0; i < options->files.count; i++) {
        const char *path = options->files.word[i];
        size_t length = 0;
        int r = file_read(path, PARAMETER_FILES_MAX - files.total,
                          &files.text[i], &length, diag);

        if (r < 0) {
            parameter_files_done(&files);
            return r;
        }
        files.file[i].name = strcmp(path, "-") == 0 ? "standard input" : path;
        files.file[i].text = files.text[i];
        files.file[i].length = length;
        files.total += length;
        files.count++;
    }
    *ret_files = files;
    return 0;
}

void parameter_files_done(struct parameter_files *files)
{
    for (uint32_t i = 0; i < files->count; i++)
        free(files->text[i]);
    files->count = 0;
}

void parameter_files_input(const struct parameter_files *files,
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
    };
}
