#include "tests/support/tree.h"

#include <check.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/suite.h"

static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        ck_assert_msg(mkdir(path, 0755) == 0 || errno == EEXIST,
                      "cannot make %s: %s", path, strerror(errno));
        *slash = '/';
    }
}

/* Decodes \xHH in place; returns the length. */
static size_t decode(char *text)
{
    char *to = text;

    for (const char *from = text; *from != '\0'; from++) {
        unsigned byte;

        if (sscanf(from, "\\x%2x", &byte) == 1) {
            *to++ = (char)byte;
            from += 3;
        } else {
            *to++ = *from;
        }
    }
    return (size_t)(to - text);
}

static void add_file(const char *path, char *value)
{
    FILE *file;
    size_t length;
    char *cut = strstr(value, "\\c");

    if (cut != NULL)
        *cut = '\0';
    length = decode(value);
    (void)unlink(path);
    file = fopen(path, "we");
    ck_assert_msg(file != NULL, "cannot make %s: %s", path, strerror(errno));
    ck_assert_uint_eq(fwrite(value, 1, length, file), length);
    if (cut == NULL)
        ck_assert_int_eq(fputc('\n', file), '\n');
    ck_assert_int_eq(fclose(file), 0);
}

void tree_add(const char *root, const char *line)
{
    char copy[4096];
    char path[PATH_MAX];
    char *value;
    char *target;

    ck_assert_uint_lt(strlen(line), sizeof(copy));
    (void)snprintf(copy, sizeof(copy), "%s", line);
    value = strstr(copy, " = ");
    target = value == NULL ? strstr(copy, " -> ") : NULL;
    if (value != NULL)
        *value = '\0';
    if (target != NULL)
        *target = '\0';
    (void)snprintf(path, sizeof(path), "%s%s", root, copy);
    make_folders(path);
    if (value != NULL) {
        add_file(path, value + 3);
    } else if (target != NULL) {
        (void)unlink(path);
        ck_assert_msg(symlink(target + 4, path) == 0, "cannot make %s: %s",
                      path, strerror(errno));
    }
}

char *tree_make(const char *file)
{
    static unsigned trees;
    char *root;
    FILE *in = fopen(file, "re");
    char line[4096];

    ck_assert_msg(in != NULL, "cannot open %s: %s", file, strerror(errno));
    ck_assert_int_gt(
        asprintf(&root, "%s/tree%u", suite_memory_directory(), trees++), 0);
    ck_assert_int_eq(mkdir(root, 0755), 0);
    while (fgets(line, sizeof(line), in) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '/')
            tree_add(root, line);
        else
            ck_assert_msg(line[0] == '#' || line[0] == '\0', "%s: '%s'?", file,
                          line);
    }
    (void)fclose(in);
    return root;
}
