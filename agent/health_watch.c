/*
 * health_watch.c - the thread that asks the drives.
 *
 * It holds the watch together with who made it; who lets go last frees it.  The
 * mutex is held to copy, never while a drive is asked.
 */
#include "agent/health.h"

#include "agent/interlock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A drive that answers holds back what else it was asked: not often. */
#define EVERY_NS (10 * NS_PER_S)

struct watched {
    char name[NAME_SIZE];
    struct row_health health; /* under the mutex */
};

struct health_watch {
    char root[PATH_SIZE];
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool quit;         /* under the mutex, as the next */
    uint64_t asked;    /* looks that were asked for */
    uint64_t answered; /* of them */
    _Atomic uint32_t holders;
    struct watched *drives;
    uint32_t count;
};

static void release(struct health_watch *w)
{
    if (atomic_fetch_sub(&w->holders, 1) > 1)
        return;
    (void)pthread_mutex_destroy(&w->mutex);
    (void)pthread_cond_destroy(&w->changed);
    free(w->drives);
    free(w);
}

static void look(struct health_watch *w)
{
    for (uint32_t i = 0; i < w->count; i++) {
        struct row_health health;

        if (w->drives[i].name[0] == '\0')
            continue;
        health_read(w->root, w->drives[i].name, &health);
        (void)pthread_mutex_lock(&w->mutex);
        w->drives[i].health = health;
        (void)pthread_mutex_unlock(&w->mutex);
    }
}

/* Until a look is due; false when there shall be none.  With the mutex. */
static bool await(struct health_watch *w)
{
    struct timespec until;
    int r = 0;

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)(EVERY_NS / NS_PER_S);
    while (!w->quit && w->asked == w->answered && r == 0)
        r = pthread_cond_timedwait(&w->changed, &w->mutex, &until);
    return !w->quit;
}

static void *watch(void *data)
{
    struct health_watch *w = data;
    uint64_t asked;

    (void)pthread_setname_np(pthread_self(), "health");
    (void)pthread_mutex_lock(&w->mutex);
    do {
        asked = w->asked;
        (void)pthread_mutex_unlock(&w->mutex);
        look(w);
        (void)pthread_mutex_lock(&w->mutex);
        w->answered = asked;
    } while (await(w));
    (void)pthread_mutex_unlock(&w->mutex);
    release(w);
    return NULL;
}

static bool start(struct health_watch *w)
{
    pthread_t thread;

    atomic_store(&w->holders, 2);
    if (pthread_create(&thread, NULL, watch, w) == 0)
        return pthread_detach(thread) == 0;
    atomic_store(&w->holders, 1);
    return false;
}

static bool note_drives(struct health_watch *w,
                        const struct opened_target *targets, uint32_t count)
{
    bool any = false;

    w->drives = calloc(count + 1u, sizeof(*w->drives));
    for (uint32_t i = 0; w->drives != NULL && i < count; i++) {
        memcpy(w->drives[i].name, targets[i].name, NAME_SIZE);
        w->drives[i].health.temperature_mc = ROW_NO_TEMPERATURE;
        any |= targets[i].name[0] != '\0';
        w->count++;
    }
    return any;
}

struct health_watch *health_watch_new(const char *root,
                                      const struct opened_target *targets,
                                      uint32_t count)
{
    struct health_watch *w = calloc(1, sizeof(*w));
    pthread_condattr_t monotonic;

    if (w == NULL)
        return NULL;
    atomic_init(&w->holders, 1);
    (void)snprintf(w->root, sizeof(w->root), "%s", root);
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&w->mutex, NULL);
    (void)pthread_cond_init(&w->changed, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    w->asked = 1;
    if (!note_drives(w, targets, count) || !start(w)) {
        release(w);
        return NULL;
    }
    return w;
}

void health_watch_take(struct health_watch *w, struct row_drive *drives)
{
    (void)pthread_mutex_lock(&w->mutex);
    for (uint32_t i = 0; i < w->count; i++)
        drives[i].health = w->drives[i].health;
    (void)pthread_mutex_unlock(&w->mutex);
}

void health_watch_ask(struct health_watch *w)
{
    (void)pthread_mutex_lock(&w->mutex);
    w->asked++;
    (void)pthread_cond_signal(&w->changed);
    (void)pthread_mutex_unlock(&w->mutex);
}

bool health_watch_asked(struct health_watch *w)
{
    bool asked;

    (void)pthread_mutex_lock(&w->mutex);
    asked = w->asked != w->answered;
    (void)pthread_mutex_unlock(&w->mutex);
    return asked;
}

struct health_watch *health_watch_free(struct health_watch *w)
{
    if (w == NULL)
        return NULL;
    (void)pthread_mutex_lock(&w->mutex);
    w->quit = true;
    (void)pthread_cond_signal(&w->changed);
    (void)pthread_mutex_unlock(&w->mutex);
    release(w);
    return NULL;
}
