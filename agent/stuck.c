/* stuck.c - see stuck.h. */
#include "agent/stuck.h"

#include <pthread.h>

struct entry {
    struct stuck_drive drive;
    uint64_t since_ns;
    uint32_t workers; /* 0: free */
};

static struct entry entries[STUCK_DRIVES_MAX];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* The drive's, or a free one; NULL when all are taken. */
static struct entry *entry_of(const struct stuck_drive *drive)
{
    struct entry *found = NULL;

    for (uint32_t i = 0; i < STUCK_DRIVES_MAX; i++) {
        struct entry *e = &entries[i];

        if (e->workers > 0 && e->drive.device_number == drive->device_number &&
            e->drive.inode == drive->inode)
            return e;
        if (e->workers == 0 && found == NULL)
            found = e;
    }
    return found;
}

void stuck_add(const struct stuck_drive *drive, uint64_t now_ns)
{
    struct entry *e;

    (void)pthread_mutex_lock(&mutex);
    e = entry_of(drive);
    if (e != NULL && e->workers++ == 0) {
        e->drive = *drive;
        e->since_ns = now_ns;
    }
    (void)pthread_mutex_unlock(&mutex);
}

void stuck_remove(const struct stuck_drive *drive)
{
    struct entry *e;

    (void)pthread_mutex_lock(&mutex);
    e = entry_of(drive);
    if (e != NULL && e->workers > 0)
        e->workers--;
    (void)pthread_mutex_unlock(&mutex);
}

bool stuck_since(const struct stuck_drive *drive, uint64_t *ret_since_ns)
{
    const struct entry *e;
    bool stuck;

    (void)pthread_mutex_lock(&mutex);
    e = entry_of(drive);
    stuck = e != NULL && e->workers > 0;
    if (stuck)
        *ret_since_ns = e->since_ns;
    (void)pthread_mutex_unlock(&mutex);
    return stuck;
}
