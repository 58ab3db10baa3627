#include "controller/results/store.h"

#include "common/fault.h"
#include "controller/results/statement.h"
#include "controller/results/store_open.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct queue {
    struct store_job *first;
    struct store_job *last;
    uint32_t count; /* those at work and not yet polled included */
    size_t bytes;
    uint64_t submitted; /* ever */
    uint64_t finished;  /* ever */
};

struct store {
    char path[PATH_SIZE];
    struct store_file file;
    void (*wake)(void *data);
    void *data;
    bool threadless;
    pthread_t writer;
    pthread_t reader;
    uint32_t threads;
    /* Below: under the lock. */
    pthread_mutex_t lock;
    pthread_cond_t work;
    bool closing;
    struct queue writes;
    struct queue reads;
    struct store_job *done_first;
    struct store_job *done_last;
};

static void append(struct store_job **first, struct store_job **last,
                   struct store_job *job)
{
    job->next_ = NULL;
    if (*last == NULL)
        *first = job;
    else
        (*last)->next_ = job;
    *last = job;
}

/* ---- On the store's threads ------------------------------------------------
 */

static void fail_all(struct store_job *job, int err, const struct diag *diag)
{
    for (; job != NULL; job = job->next_) {
        job->result = err;
        job->diag = *diag;
    }
}

static int run_all(struct store_job *group, struct store_access *access,
                   struct diag *diag)
{
    int err = statement_script(access, "BEGIN IMMEDIATE", diag);

    for (struct store_job *job = group; job != NULL && err == 0;
         job = job->next_) {
        err = job->run(job, access);
        job->result = err;
        if (err < 0)
            *diag = job->diag;
    }
    if (err == 0)
        err = FAULT("store.commit");
    if (err < 0 && diag->err == 0)
        (void)diag_set(diag, err, "store '%s': %s", access->path,
                       strerror(-err));
    return err < 0 ? err : statement_script(access, "COMMIT", diag);
}

/* One transaction: all of the group, or nothing of it. */
static void run_group(struct store *store, struct store_job *group)
{
    struct store_access *access = &store->file.writer;
    struct diag diag = {0};
    int err = run_all(group, access, &diag);

    if (err == 0)
        return;
    statement_roll_back(access);
    fail_all(group, err, &diag);
}

static void run_query(struct store *store, struct store_job *job)
{
    struct store_access *access = &store->file.reader;

    job->result = statement_script(access, "BEGIN", &job->diag);
    if (job->result < 0)
        return;
    job->result = job->run(job, access);
    statement_roll_back(access); /* nothing to undo: it ends */
}

/* A read waits for the writes that were submitted before it. */
static bool may_take(const struct store *store, const struct store_job *job)
{
    return job != NULL && job->after_ <= store->writes.finished;
}

/* Takes up to `max` jobs off the queue; they stay in its count. */
static struct store_job *take(const struct store *store, struct queue *queue,
                              uint32_t max)
{
    struct store_job *first = queue->first, *last = queue->first;

    if (!may_take(store, first))
        return NULL;
    for (uint32_t i = 1; i < max && last->next_ != NULL; i++)
        last = last->next_;
    queue->first = last->next_;
    if (queue->first == NULL)
        queue->last = NULL;
    last->next_ = NULL;
    return first;
}

/* With the lock. */
static void finish(struct store *store, struct queue *queue,
                   struct store_job *job)
{
    while (job != NULL) {
        struct store_job *next = job->next_;

        queue->count--;
        queue->finished++;
        queue->bytes -= job->bytes;
        append(&store->done_first, &store->done_last, job);
        job = next;
    }
}

/* Runs jobs until the store closes; a queue of writes is emptied before. */
static void work(struct store *store, struct queue *queue, uint32_t max,
                 void (*run)(struct store *store, struct store_job *jobs))
{
    pthread_mutex_lock(&store->lock);
    for (;;) {
        struct store_job *jobs = take(store, queue, max);

        if (jobs == NULL && store->closing)
            break;
        if (jobs == NULL) {
            pthread_cond_wait(&store->work, &store->lock);
            continue;
        }
        pthread_mutex_unlock(&store->lock);
        run(store, jobs);
        pthread_mutex_lock(&store->lock);
        finish(store, queue, jobs);
        pthread_cond_broadcast(&store->work);
        pthread_mutex_unlock(&store->lock);
        store->wake(store->data);
        pthread_mutex_lock(&store->lock);
    }
    pthread_mutex_unlock(&store->lock);
}

static void *writer_main(void *data)
{
    struct store *store = data;

    work(store, &store->writes, STORE_GROUP_MAX, run_group);
    return NULL;
}

static void *reader_main(void *data)
{
    struct store *store = data;

    work(store, &store->reads, 1, run_query);
    return NULL;
}

/* ---- Opening and closing ---------------------------------------------------
 */

/* Signals are for the loop: the store's threads take none. */
static int start_threads(struct store *store)
{
    sigset_t all, before;
    int err;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    err = pthread_create(&store->writer, NULL, writer_main, store);
    store->threads = err == 0 ? 1 : 0;
    if (err == 0) {
        err = pthread_create(&store->reader, NULL, reader_main, store);
        store->threads += err == 0 ? 1 : 0;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -err;
}

static void stop_threads(struct store *store)
{
    pthread_mutex_lock(&store->lock);
    store->closing = true;
    pthread_cond_broadcast(&store->work);
    pthread_mutex_unlock(&store->lock);
    if (store->threads > 0)
        (void)pthread_join(store->writer, NULL);
    if (store->threads > 1)
        (void)pthread_join(store->reader, NULL);
    store->threads = 0;
}

static void destroy(struct store *store)
{
    (void)pthread_cond_destroy(&store->work);
    (void)pthread_mutex_destroy(&store->lock);
    free(store);
}

int store_open(const struct store_options *options, struct store **ret_store,
               struct diag *diag)
{
    struct store *store = calloc(1, sizeof(*store));
    int err;

    if (store == NULL)
        return diag_set(diag, -ENOMEM, "out of memory");
    store->wake = options->wake;
    store->data = options->data;
    store->threadless = options->threadless;
    (void)pthread_mutex_init(&store->lock, NULL);
    (void)pthread_cond_init(&store->work, NULL);
    if (strlen(options->path) >= sizeof(store->path)) {
        destroy(store);
        return diag_set(diag, -ENAMETOOLONG, "the store's path is too long");
    }
    memcpy(store->path, options->path, strlen(options->path) + 1);
    err = store_file_open(&store->file, store->path, options->version,
                          options->wall_ns, diag);
    if (err < 0) {
        destroy(store);
        return err;
    }
    if (options->opened != NULL)
        err = options->opened(&store->file.writer, options->data, diag);
    if (err == 0 && !store->threadless) {
        err = start_threads(store);
        if (err < 0)
            (void)diag_set(diag, err, "cannot start the store's threads: %s",
                           strerror(-err));
    }
    if (err < 0) {
        (void)store_close(store);
        return err;
    }
    *ret_store = store;
    return 0;
}

/* Reads that did not run are called off; with the lock. */
static void cancel_reads(struct store *store)
{
    struct store_job *jobs = store->reads.first;
    struct diag diag = {0};

    store->reads.first = NULL;
    store->reads.last = NULL;
    (void)diag_set(&diag, -ECANCELED, "the controller ends");
    fail_all(jobs, -ECANCELED, &diag);
    finish(store, &store->reads, jobs);
}

/* Runs what waits here and now; false when nothing did. */
static bool run_here(struct store *store)
{
    struct store_job *jobs = take(store, &store->writes, STORE_GROUP_MAX);
    struct queue *queue = &store->writes;

    if (jobs != NULL) {
        run_group(store, jobs);
    } else {
        queue = &store->reads;
        jobs = take(store, queue, 1);
        if (jobs != NULL)
            run_query(store, jobs);
    }
    finish(store, queue, jobs);
    return jobs != NULL;
}

struct store *store_close(struct store *store)
{
    if (store == NULL)
        return NULL;
    pthread_mutex_lock(&store->lock);
    cancel_reads(store);
    pthread_mutex_unlock(&store->lock);
    stop_threads(store);
    while (run_here(store))
        ;
    store_poll(store);
    store_file_close(&store->file);
    destroy(store);
    return NULL;
}

const struct uuid *store_controller(const struct store *store)
{
    return &store->file.controller;
}

uint64_t store_epoch(const struct store *store)
{
    return store->file.epoch;
}

const char *store_path(const struct store *store)
{
    return store->path;
}

/* ---- The loop's side -------------------------------------------------------
 */

static int submit(struct store *store, struct queue *queue,
                  struct store_job *job, uint32_t jobs_max)
{
    int err = 0;

    job->result = 0;
    job->diag.err = 0;
    job->diag.text[0] = '\0';
    pthread_mutex_lock(&store->lock);
    assert(!store->closing);
    if (queue->count >= jobs_max || queue->bytes > STORE_BYTES_MAX) {
        err = -EAGAIN;
    } else {
        job->after_ = queue == &store->reads ? store->writes.submitted : 0;
        append(&queue->first, &queue->last, job);
        queue->submitted++;
        queue->count++;
        queue->bytes += job->bytes;
        pthread_cond_broadcast(&store->work);
    }
    pthread_mutex_unlock(&store->lock);
    return err;
}

int store_write(struct store *store, struct store_job *job)
{
    return submit(store, &store->writes, job, STORE_JOBS_MAX);
}

int store_read(struct store *store, struct store_job *job)
{
    return submit(store, &store->reads, job, STORE_QUERIES_MAX);
}

/* The whole list is taken, then called: `done` may submit the next job. */
static struct store_job *take_done(struct store *store)
{
    struct store_job *jobs;

    pthread_mutex_lock(&store->lock);
    jobs = store->done_first;
    store->done_first = NULL;
    store->done_last = NULL;
    pthread_mutex_unlock(&store->lock);
    return jobs;
}

static bool call_done(struct store *store)
{
    struct store_job *first = take_done(store);

    for (struct store_job *job = first, *next; job != NULL; job = next) {
        next = job->next_;
        job->done(job);
    }
    return first != NULL;
}

void store_poll(struct store *store)
{
    if (!store->threadless) {
        (void)call_done(store);
        return;
    }
    do {
        while (run_here(store))
            ;
    } while (call_done(store));
}

void store_wait(struct store *store)
{
    if (store->threadless)
        return; /* polling does the work */
    pthread_mutex_lock(&store->lock);
    while (store->writes.count > 0)
        pthread_cond_wait(&store->work, &store->lock);
    pthread_mutex_unlock(&store->lock);
}

bool store_busy(struct store *store)
{
    bool busy;

    pthread_mutex_lock(&store->lock);
    busy = store->writes.count > STORE_JOBS_MAX / 2 ||
           store->writes.bytes > STORE_BYTES_MAX / 2;
    pthread_mutex_unlock(&store->lock);
    return busy;
}
