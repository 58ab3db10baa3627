/*
 * Feeds a fuzz target the files of directories, one after the other: what was
 * found once is an ordinary test for ever.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/fuzz/fuzz.h"

#define INPUT_MAX (4u << 20)
#define PATH_MAX_ 4096

/* In memory of exactly its length, so that a sanitizer sees a byte too far. */
static int replay_file(const char *path)
{
    static uint8_t data[INPUT_MAX];
    FILE *in = fopen(path, "rb");
    uint8_t *exact;
    size_t length;

    if (in == NULL) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return -1;
    }
    length = fread(data, 1, sizeof(data), in);
    (void)fclose(in);
    exact = malloc(length == 0 ? 1 : length);
    if (exact == NULL)
        return -1;
    memcpy(exact, data, length);
    fprintf(stderr, "%s (%zu bytes)\n", path, length);
    (void)LLVMFuzzerTestOneInput(exact, length);
    free(exact);
    return 0;
}

/* Returns how many files there were, or -1. */
static int replay_directory(const char *directory)
{
    struct dirent **entries;
    int count = scandir(directory, &entries, NULL, alphasort);
    int files = 0;

    if (count < 0) {
        fprintf(stderr, "%s: %s\n", directory, strerror(errno));
        return -1;
    }
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX_];
        struct stat st;

        (void)snprintf(path, sizeof(path), "%s/%s", directory,
                       entries[i]->d_name);
        free(entries[i]);
        if (files < 0 || stat(path, &st) < 0 || !S_ISREG(st.st_mode))
            continue;
        files = replay_file(path) < 0 ? -1 : files + 1;
    }
    free(entries);
    return files;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        int files = replay_directory(argv[i]);

        if (files <= 0) {
            fprintf(stderr, "%s: no corpus\n", argv[i]);
            return EXIT_FAILURE;
        }
        printf("%s: %d inputs\n", argv[i], files);
    }
    return argc > 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
