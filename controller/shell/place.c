/* place.c - see place.h. */
#include "controller/shell/place.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define END_MS 5000

static bool is_directory(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int open_directory(const char *directory, struct place *place,
                          struct diag *diag)
{
    char store[PATH_SIZE + 16];
    char reason[REASON_SIZE];
    int fd, r;

    (void)snprintf(store, sizeof(store), "%s/lockstep.db", directory);
    if (access(store, R_OK | W_OK) < 0)
        return diag_set(diag, -ENOENT,
                        "'%s' holds no results of 'lockstep run' that can be "
                        "opened: %s",
                        directory, strerror(errno));
    r = private_open(directory, &place->pair, &fd, diag);
    if (r == 0)
        r = client_adopt(fd, NULL, &place->client, diag);
    if (r < 0 && place->pair != NULL) {
        private_reason(place->pair, reason, sizeof(reason));
        if (reason[0] != '\0')
            (void)diag_set(diag, r, "%s", reason);
    }
    return r;
}

int place_open(const struct options *options, const char *word,
               struct place *ret_place, struct diag *diag)
{
    *ret_place = (struct place){.campaign = word};
    if (!is_directory(word))
        return client_connect(options->controller, options->keys, NULL,
                              &ret_place->client, diag);
    ret_place->campaign = "";
    return open_directory(word, ret_place, diag);
}

void place_done(struct place *place)
{
    client_close(place->client);
    (void)private_end(place->pair, END_MS);
    *place = (struct place){0};
}

enum exit_status place_status(int err)
{
    switch (err) {
    case -EINTR:
        return EXIT_INTERRUPTED;
    case -ENOENT:
    case -EINVAL:
        return EXIT_USAGE;
    case -ENOTCONN:
    case -ECONNREFUSED:
    case -ETIMEDOUT:
        return EXIT_NO_CONTROLLER;
    default:
        return EXIT_FAILED;
    }
}
