/* crew_member.c - see crew_member.h. */
#include "agent/crew_member.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#define START_SPIN_NS (300 * NS_PER_US) /* a sleep may end so much too late */

/* Of the whole process: requests outlive the crews they were made for. */
static _Atomic uint64_t quarantined_bytes;

uint64_t crew_quarantined(void)
{
    return atomic_load(&quarantined_bytes);
}

static void *aligned_zeroed(size_t size)
{
    size_t whole = (size + 63) & ~(size_t)63;
    void *memory = aligned_alloc(64, whole);

    return memory == NULL ? NULL : memset(memory, 0, whole);
}

struct crew_shared *crew_shared_new(const struct clock *clock,
                                    uint64_t lease_ns, uint32_t live_cells)
{
    struct crew_shared *s = aligned_zeroed(sizeof(*s));
    pthread_condattr_t monotonic;

    if (s == NULL)
        return NULL;
    atomic_init(&s->control.lease_ns, lease_ns);
    atomic_init(&s->control.stop_after, UINT64_MAX);
    atomic_init(&s->control.stop, WORKER_RUN);
    atomic_init(&s->control.live_cells, live_cells);
    atomic_init(&s->gate, CREW_GATE_SHUT);
    atomic_init(&s->holders, 1);
    s->clock = clock;
    s->kind = (struct engine_kind){engine_uring_open, NULL};
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&s->mutex, NULL);
    (void)pthread_cond_init(&s->changed, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    return s;
}

void crew_shared_release(struct crew_shared *s)
{
    if (atomic_fetch_sub(&s->holders, 1) > 1)
        return;
    (void)pthread_mutex_destroy(&s->mutex);
    (void)pthread_cond_destroy(&s->changed);
    free(s);
}

static void release(struct crew_member *m)
{
    if (atomic_fetch_sub(&m->holders, 1) > 1)
        return;
    worker_done(&m->worker);
    free(m->silences);
    crew_shared_release(m->shared);
    free(m);
}

enum crew_stage crew_member_stage(const struct crew_member *m)
{
    /* Acquire: what the thread did before is seen. */
    return (enum crew_stage)atomic_load_explicit(&m->stage,
                                                 memory_order_acquire);
}

/* Under the mutex.  Which drive a blocked thread waits for is not known: all of
 * its own are taken for silent. */
static void tell_silent(struct crew_member *m)
{
    const struct worker *w = &m->worker;
    /* Acquire: before that its counts are the thread's own. */
    bool ended = atomic_load_explicit(&w->ended, memory_order_acquire);

    m->silences = calloc(w->target_count, sizeof(*m->silences));
    for (uint32_t i = 0; m->silences != NULL && i < w->target_count; i++) {
        m->silences[i] = m->lost || (ended && w->targets[i].stuck > 0);
        if (m->silences[i])
            stuck_add(&w->targets[i].drive, clock_now_ns(m->shared->clock));
    }
}

static void tell_answering(struct crew_member *m)
{
    for (uint32_t i = 0; m->silences != NULL && i < m->worker.target_count; i++)
        if (m->silences[i])
            stuck_remove(&m->worker.targets[i].drive);
}

static void enter_stage(struct crew_member *m, enum crew_stage stage)
{
    struct crew_shared *s = m->shared;

    (void)pthread_mutex_lock(&s->mutex);
    atomic_store_explicit(&m->stage, (int)stage, memory_order_release);
    if (stage == CREW_STAGE_CLOSED && m->quarantined) {
        atomic_fetch_sub(&quarantined_bytes, m->memory_bytes);
        tell_answering(m);
    }
    (void)pthread_cond_broadcast(&s->changed);
    (void)pthread_mutex_unlock(&s->mutex);
}

static bool is_stopped(struct crew_shared *s)
{
    return atomic_load_explicit(&s->control.stop, memory_order_relaxed) !=
           WORKER_RUN;
}

static void wait_until(struct crew_shared *s, uint64_t ns)
{
    struct timespec time = {.tv_sec = (time_t)(ns / NS_PER_S),
                            .tv_nsec = (long)(ns % NS_PER_S)};

    (void)pthread_cond_timedwait(&s->changed, &s->mutex, &time);
}

/* Until shortly before the start; false when it shall not begin at all. */
static bool sleep_until_armed(struct crew_shared *s, uint64_t *ret_start_ns)
{
    bool goes_on;

    (void)pthread_mutex_lock(&s->mutex);
    while (!s->quit && !is_stopped(s)) {
        if (!s->armed)
            (void)pthread_cond_wait(&s->changed, &s->mutex);
        else if (clock_now_ns(s->clock) + START_SPIN_NS < s->start_ns)
            wait_until(s, s->start_ns - START_SPIN_NS);
        else
            break;
    }
    goes_on = !s->quit && !is_stopped(s);
    *ret_start_ns = s->start_ns;
    (void)pthread_mutex_unlock(&s->mutex);
    return goes_on;
}

/* The first worker to come here settles for all whether Go was in time. */
static bool pass_gate(struct crew_shared *s)
{
    int gate = CREW_GATE_SHUT;

    if (!atomic_compare_exchange_strong(&s->gate, &gate, CREW_GATE_MISSED))
        return gate == CREW_GATE_OPEN;
    worker_control_stop(&s->control, CREW_NO_GO);
    return false;
}

static bool await_start(struct crew_member *m, uint64_t *ret_start_ns)
{
    if (!sleep_until_armed(m->shared, ret_start_ns))
        return false;
    while (clock_now_ns(m->shared->clock) < *ret_start_ns)
        if (is_stopped(m->shared))
            return false;
    return pass_gate(m->shared);
}

static void run(struct crew_member *m)
{
    uint64_t start_ns;

    if (!await_start(m, &start_ns)) {
        worker_skip(&m->worker);
        return;
    }
    worker_begin(&m->worker, start_ns);
    enter_stage(m, CREW_STAGE_BEGUN);
    while (worker_turn(&m->worker))
        ;
}

/* Before anything is allocated: memory is taken from the node of its CPU. */
static bool take_place(struct crew_member *m)
{
    int err = m->cpu == PLACEMENT_NOWHERE ? 0 : placement_pin(m->cpu);

    placement_print_own(m->cpus);
    if (err == 0)
        return true;
    (void)diag_set(&m->diag, err,
                   "cannot pin worker %u to CPU %u: %s (it may use %s); set "
                   "pin=no in the agent's configuration",
                   m->number, m->cpu, strerror(-err), m->cpus);
    return false;
}

static bool open_worker(struct crew_member *m)
{
    if (worker_open(&m->worker, &m->shared->kind, &m->diag) < 0)
        return false;
    (void)snprintf(m->features, sizeof(m->features), "%s",
                   m->worker.engine->features);
    return true;
}

static void *member_main(void *argument)
{
    struct crew_member *m = argument;
    bool opened;
    char name[16];

    (void)snprintf(name, sizeof(name), "worker-%u", m->number % 10000);
    (void)pthread_setname_np(pthread_self(), name);
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    opened = take_place(m) && open_worker(m);
    enter_stage(m, opened ? CREW_STAGE_READY : CREW_STAGE_FAILED);
    if (opened)
        run(m);
    while (!worker_close(&m->worker))
        worker_linger(&m->worker);
    if (opened)
        enter_stage(m, CREW_STAGE_CLOSED);
    release(m);
    return NULL;
}

struct crew_member *crew_member_new(struct crew_shared *shared, uint32_t number)
{
    struct crew_member *m = aligned_zeroed(sizeof(*m));

    if (m == NULL)
        return NULL;
    atomic_fetch_add(&shared->holders, 1);
    atomic_init(&m->stage, CREW_STAGE_OPENING);
    atomic_init(&m->holders, 1);
    m->shared = shared;
    m->number = number;
    m->cpu = PLACEMENT_NOWHERE;
    return m;
}

/* With all signals blocked: those are for the loop's thread. */
int crew_member_start(struct crew_member *m)
{
    sigset_t all, before;
    int r;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    atomic_fetch_add(&m->holders, 1);
    r = pthread_create(&m->thread, NULL, member_main, m);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    m->has_thread = r == 0;
    if (r != 0)
        atomic_fetch_sub(&m->holders, 1);
    return -r;
}

bool crew_member_is_over(const struct crew_member *m)
{
    enum crew_stage stage = crew_member_stage(m);

    if (!m->has_thread || m->lost || stage == CREW_STAGE_CLOSED ||
        stage == CREW_STAGE_FAILED)
        return true;
    /* Acquire: the count of stuck requests is there. */
    return atomic_load_explicit(&m->worker.ended, memory_order_acquire) &&
           m->worker.stuck_total > 0;
}

static bool is_done(const struct crew_member *m)
{
    enum crew_stage stage = crew_member_stage(m);

    return stage == CREW_STAGE_CLOSED || stage == CREW_STAGE_FAILED;
}

void crew_member_leave(struct crew_member *m)
{
    struct crew_shared *s = m->shared;
    bool done;

    if (!m->has_thread) {
        (void)worker_close(&m->worker);
        release(m);
        return;
    }
    (void)pthread_mutex_lock(&s->mutex);
    done = is_done(m);
    m->quarantined = !done;
    if (!done) {
        atomic_fetch_add(&quarantined_bytes, m->memory_bytes);
        tell_silent(m);
    }
    (void)pthread_mutex_unlock(&s->mutex);
    if (done)
        (void)pthread_join(m->thread, NULL);
    else
        (void)pthread_detach(m->thread);
    release(m);
}
