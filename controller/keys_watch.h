/*
 * keys_watch.h - the list of revoked certificates, read again when it changes.
 *
 * Threads: one owner.  Memory: by value.
 */
#ifndef CONTROLLER_KEYS_WATCH_H
#define CONTROLLER_KEYS_WATCH_H

#include <time.h>

#include "common/base.h"
#include "common/diag.h"

struct tls_context;

struct keys_watch {
    char path[PATH_SIZE];
    bool named; /* by the settings: then it must be there */
    /* Of the file as it was read; 0 for none. */
    struct timespec modified;
    uint64_t inode;
    uint64_t size;
};

/* `revoked` "": revoked.pem in the folder of `keys`, where there is one. */
void keys_watch_init(struct keys_watch *watch, const char *keys,
                     const char *revoked);

/*
 * Gives the context the list, if it is another than before.  A file that has
 * gone changes nothing.  0, or a negative errno: it could not be read, or is
 * not this lab's; said once for each version of the file.
 */
int keys_watch_look(struct keys_watch *watch, struct tls_context *context,
                    struct diag *diag) MUST_CHECK;

#endif
