/* patience.c - see patience.h. */
#include "agent/patience.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

enum turn {
    TURN_WAITING, /* somebody waits for the call */
    TURN_DONE,
    TURN_LEFT, /* nobody waits any more */
};

/* Freed by whoever comes last. */
struct errand {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    enum turn turn;
    void (*call)(void *context);
    void (*release)(void *context);
    void *context;
};

static struct errand *errand_new(void)
{
    struct errand *e = calloc(1, sizeof(*e));
    pthread_condattr_t monotonic;

    if (e == NULL)
        return NULL;
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&e->mutex, NULL);
    (void)pthread_cond_init(&e->changed, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    return e;
}

static void errand_free(struct errand *e)
{
    (void)pthread_mutex_destroy(&e->mutex);
    (void)pthread_cond_destroy(&e->changed);
    free(e);
}

static void *errand_main(void *argument)
{
    struct errand *e = argument;
    bool left;

    e->call(e->context);
    (void)pthread_mutex_lock(&e->mutex);
    left = e->turn == TURN_LEFT;
    e->turn = TURN_DONE;
    (void)pthread_cond_signal(&e->changed);
    (void)pthread_mutex_unlock(&e->mutex);
    if (left) {
        e->release(e->context);
        errand_free(e);
    }
    return NULL;
}

static struct timespec in_future(uint64_t ns)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    ns += (uint64_t)time.tv_nsec;
    time.tv_sec += (time_t)(ns / NS_PER_S);
    time.tv_nsec = (long)(ns % NS_PER_S);
    return time;
}

/* With all signals blocked: those are for the loop's thread. */
static int start(struct errand *e, pthread_t *ret_thread)
{
    sigset_t all, before;
    int r;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    r = pthread_create(ret_thread, NULL, errand_main, e);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -r;
}

/* False when the time is up. */
static bool await(struct errand *e, uint64_t limit_ns)
{
    struct timespec until = in_future(limit_ns);
    int r = 0;

    (void)pthread_mutex_lock(&e->mutex);
    while (e->turn == TURN_WAITING && r != ETIMEDOUT)
        r = pthread_cond_timedwait(&e->changed, &e->mutex, &until);
    if (e->turn == TURN_WAITING)
        e->turn = TURN_LEFT;
    r = e->turn == TURN_DONE;
    (void)pthread_mutex_unlock(&e->mutex);
    return r;
}

int patience_run(void (*call)(void *context), void *context,
                 void (*release)(void *context), uint64_t limit_ns)
{
    struct errand *e = errand_new();
    pthread_t thread;
    int err;

    if (e == NULL)
        return -ENOMEM;
    e->call = call;
    e->context = context;
    e->release = release;
    err = start(e, &thread);
    if (err < 0) {
        errand_free(e);
        return err;
    }
    if (!await(e, limit_ns)) {
        (void)pthread_detach(thread);
        return -ETIMEDOUT;
    }
    (void)pthread_join(thread, NULL);
    errand_free(e);
    return 0;
}
