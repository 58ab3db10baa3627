/* crew.c - see crew.h; the threads are in crew_member.c. */
#include "agent/crew.h"

#include "agent/crew_check.h"
#include "agent/crew_member.h"
#include "agent/device.h"
#include "agent/health.h"
#include "agent/interlock.h"
#include "agent/limits.h"
#include "agent/sampler.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define POLL_NS        (10 * NS_PER_MS)
#define START_LEAST_NS NS_PER_MS
#define GIVE_UP_NS     (5 * NS_PER_S) /* after the drain limit */
#define FREE_WAIT_NS   (300 * NS_PER_MS)

struct crew {
    struct crew_shared *shared;
    struct crew_member **members;
    uint32_t member_count;
    enum crew_state state;
    struct sampler sampler;
    struct host_cpu host;
    struct devices devices;
    struct health_watch *health;
    struct row_drive *drives;
    bool sampling;     /* the sampler is made */
    bool begun;        /* the sampler knows the start */
    uint64_t start_ns; /* from ARMED on */
    uint64_t interval_ns;
    uint64_t intervals_max;
    uint64_t time_limit_ns;
    uint64_t drain_limit_ns;
    uint64_t ending_ns; /* when it was first seen to be due to end; 0: not */
    uint64_t memory_bytes;
    struct placement placement;
    char unlocked[TEXT_SIZE]; /* why buffers cannot be registered */
    struct crew_outcome outcome;
    struct crew_stuck stuck[CREW_STUCK_MAX];
    uint32_t stuck_count;
};

static uint64_t now_of(const struct crew *crew)
{
    return clock_now_ns(crew->shared->clock);
}

static int choose_engine(struct crew_shared *s, const char *engine,
                         struct diag *diag)
{
    int r;

    if (engine == NULL)
        return 0;
    r = engine_null_parse(engine, &s->null_text, diag);
    if (r == 0)
        s->kind = (struct engine_kind){engine_null_open_text, &s->null_text};
    return r;
}

/* The agent's own limit stands above what a campaign asks for. */
static uint32_t workers_max(const struct job *job,
                            const struct crew_options *options)
{
    uint32_t max = options->workers_max;

    return job->workers > 0 && (max == 0 || job->workers < max) ? job->workers
                                                                : max;
}

/* Which worker serves which targets, and where. */
static void place_workers(struct crew *crew, const struct job *job,
                          const struct opened_target *opened,
                          const struct crew_options *options)
{
    const char *root = options->root == NULL ? "" : options->root;
    struct placement_host host;
    int32_t nodes[JOB_TARGETS_MAX];

    placement_host(root, &host);
    for (uint32_t i = 0; i < job->target_count; i++)
        nodes[i] = placement_node_of(root, opened[i].name);
    placement_choose_job(&host, nodes, job, workers_max(job, options),
                         options->turn, &crew->placement);
}

static int add_member(struct crew *crew, const struct job *job,
                      const struct opened_target *opened, bool pin,
                      struct diag *diag)
{
    struct crew_member *m = crew_member_new(crew->shared, crew->member_count);
    uint32_t targets[JOB_TARGETS_MAX];
    uint32_t count = 0;
    int r;

    if (m == NULL)
        return diag_set(diag, -ENOMEM, "no memory for a worker");
    crew->members[crew->member_count++] = m;
    if (pin)
        m->cpu = crew->placement.workers[m->number].cpu;
    for (uint32_t i = 0; i < job->target_count; i++)
        if (crew->placement.worker_of[i] == m->number)
            targets[count++] = i;
    r = worker_init(&m->worker, job, opened, targets, count,
                    crew->shared->clock, &crew->shared->control, diag);
    if (r < 0)
        return r;
    m->memory_bytes = worker_memory(&m->worker);
    crew->memory_bytes += m->memory_bytes;
    return 0;
}

static int add_members(struct crew *crew, const struct job *job,
                       const struct opened_target *opened, bool pin,
                       struct diag *diag)
{
    uint32_t count = crew->placement.worker_count;

    crew->members = calloc(count, sizeof(struct crew_member *));
    if (crew->members == NULL)
        return diag_set(diag, -ENOMEM, "no memory for %u workers", count);
    for (uint32_t i = 0; i < count; i++) {
        int r = add_member(crew, job, opened, pin, diag);

        if (r < 0)
            return r;
    }
    return 0;
}

/* Each target is duplicated, each worker has a ring and registers its buffers.
 */
static int check_limits(struct crew *crew, const struct job *job,
                        struct diag *diag)
{
    struct limits_need need = {
        .files = (uint64_t)job->target_count + crew->placement.worker_count,
        .threads = crew->placement.worker_count,
    };
    struct limits have;

    for (uint32_t i = 0; i < crew->member_count; i++)
        need.locked += worker_buffers(&crew->members[i]->worker);
    limits_read(&have);
    limits_tell_locked(&have, &need, crew->unlocked);
    /* What the members made so far have duplicated is in use already. */
    need.files -= crew->member_count > 0 ? job->target_count : 0;
    return limits_judge(&have, &need, diag);
}

static int make_sampler(struct crew *crew, const struct job *job,
                        struct diag *diag)
{
    struct worker *workers[JOB_TARGETS_MAX];
    int r;

    for (uint32_t i = 0; i < crew->member_count; i++)
        workers[i] = &crew->members[i]->worker;
    crew->memory_bytes +=
        sampler_memory(workers, crew->member_count, job->cell_count);
    r = crew_check_memory(crew->memory_bytes, diag);
    if (r < 0)
        return r;
    r = sampler_init(&crew->sampler, workers, crew->member_count,
                     job->cell_count, &crew->host);
    if (r < 0)
        return diag_set(diag, r, "no memory for %u cells", job->cell_count);
    crew->sampling = true;
    return 0;
}

/* A constructed engine does nothing to drives: there is nothing to witness. */
static int watch_drives(struct crew *crew, const struct opened_target *opened,
                        uint32_t count, const struct crew_options *options,
                        struct diag *diag)
{
    const char *root = options->root == NULL ? "/" : options->root;

    if (options->engine != NULL)
        return 0;
    crew->drives = calloc(count, sizeof(*crew->drives));
    if (crew->drives == NULL ||
        devices_open(&crew->devices, root, opened, count) < 0)
        return diag_set(diag, -ENOMEM,
                        "no memory for the counters of %u drives", count);
    crew->health = health_watch_new(root, opened, count);
    for (uint32_t i = 0; i < count; i++)
        crew->drives[i].health.temperature_mc = ROW_NO_TEMPERATURE;
    sampler_watch(&crew->sampler, &crew->devices, crew->health, crew->drives);
    return 0;
}

static int start_members(struct crew *crew, struct diag *diag)
{
    for (uint32_t i = 0; i < crew->member_count; i++) {
        int r = crew_member_start(crew->members[i]);

        if (r < 0)
            return diag_set(diag, r,
                            "cannot start worker %u of %u: %s; raise the limit "
                            "of threads (TasksMax= of the service)",
                            i + 1, crew->member_count, strerror(-r));
    }
    return 0;
}

static int build(struct crew *crew, const struct job *job,
                 const struct opened_target *opened,
                 const struct crew_options *options, struct diag *diag)
{
    int r = choose_engine(crew->shared, options->engine, diag);

    place_workers(crew, job, opened, options);
    if (r == 0)
        r = check_limits(crew, job, diag);
    if (r == 0)
        r = add_members(crew, job, opened, options->pin, diag);
    if (r == 0)
        r = check_limits(crew, job, diag);
    if (r == 0)
        r = make_sampler(crew, job, diag);
    if (r == 0)
        r = watch_drives(crew, opened, job->target_count, options, diag);
    if (r == 0)
        r = start_members(crew, diag);
    return r;
}

int crew_new(const struct job *job, const struct opened_target *targets,
             const struct crew_options *options, const struct clock *clock,
             uint64_t lease_ns, struct crew **ret_crew, uint32_t *ret_target,
             struct diag *diag)
{
    static const struct crew_options none;
    struct crew *crew;
    int r;

    *ret_target = UINT32_MAX;
    r = crew_check_targets(job, targets, ret_target, diag);
    if (r < 0)
        return r;
    crew = calloc(1, sizeof(*crew));
    if (crew != NULL)
        crew->shared = crew_shared_new(clock, lease_ns, job->cell_count);
    if (crew == NULL || crew->shared == NULL) {
        free(crew);
        return diag_set(diag, -ENOMEM, "no memory for a crew");
    }
    crew->interval_ns = job->interval_ns;
    crew->time_limit_ns = job->time_limit_ns;
    crew->drain_limit_ns = job->drain_limit_ns;
    crew->intervals_max = job->measured_intervals == 0
                              ? UINT64_MAX
                              : job->warmup_intervals + job->measured_intervals;
    r = build(crew, job, targets, options == NULL ? &none : options, diag);
    if (r < 0) {
        (void)crew_free(crew);
        return r;
    }
    *ret_crew = crew;
    return 0;
}

static uint32_t count_stage(const struct crew *crew, enum crew_stage stage)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < crew->member_count; i++)
        count += crew_member_stage(crew->members[i]) == stage;
    return count;
}

static bool any_stopped(const struct crew *crew)
{
    for (uint32_t i = 0; i < crew->member_count; i++)
        if (atomic_load_explicit(&crew->members[i]->worker.stopped,
                                 memory_order_acquire))
            return true;
    return false;
}

static bool all_over(const struct crew *crew)
{
    for (uint32_t i = 0; i < crew->member_count; i++)
        if (!crew_member_is_over(crew->members[i]))
            return false;
    return true;
}

static void order(struct crew *crew, bool quit)
{
    struct crew_shared *s = crew->shared;

    (void)pthread_mutex_lock(&s->mutex);
    s->quit |= quit;
    (void)pthread_cond_broadcast(&s->changed);
    (void)pthread_mutex_unlock(&s->mutex);
}

static void fail(struct crew *crew)
{
    for (uint32_t i = 0; i < crew->member_count; i++) {
        struct crew_member *m = crew->members[i];

        if (crew_member_stage(m) != CREW_STAGE_FAILED)
            continue;
        crew->outcome.end = CREW_ERROR;
        crew->outcome.target = UINT32_MAX;
        crew->outcome.reason = m->diag;
        break;
    }
    order(crew, true);
    crew->state = CREW_FAILED;
}

static const char *const end_texts[] = {
    [CREW_COMPLETE] = "",
    [CREW_STOPPED] = "stopped by order",
    [CREW_LEASE_LOST] = "the lease has ended: no word from the controller",
    [CREW_NO_GO] = "no Go came before the instant of the start",
    [CREW_ERROR] = "the engine failed",
    [CREW_TIME_LIMIT] = "the time limit of the phase has passed",
};

/* The first worker that has something to say gives the reason. */
static void tell_reason(struct crew *crew)
{
    struct crew_outcome *o = &crew->outcome;

    o->target = UINT32_MAX;
    for (uint32_t i = 0; i < crew->member_count; i++) {
        const struct worker *w = &crew->members[i]->worker;

        if (crew->members[i]->lost || w->reason.err == 0)
            continue;
        if (o->end == CREW_COMPLETE)
            o->end = CREW_ERROR;
        if (o->end != CREW_ERROR)
            continue;
        o->reason = w->reason;
        o->target = w->reason_target;
        return;
    }
    if (o->end != CREW_COMPLETE)
        (void)diag_set(&o->reason, -ECANCELED, "%s", end_texts[o->end]);
}

static void add_stuck(struct crew *crew, const struct crew_stuck *stuck)
{
    if (crew->stuck_count < CREW_STUCK_MAX)
        crew->stuck[crew->stuck_count++] = *stuck;
}

/* A thread that is blocked itself: all that is known is how much it had in
 * flight when it was last heard of. */
static void count_lost(struct crew *crew, uint32_t number)
{
    uint32_t in_flight = crew->sampler.workers[number].in_flight;
    struct crew_stuck stuck = {
        .target = crew->members[number]->worker.targets[0].target,
        .op = JOB_READ,
        .age_ns = now_of(crew) - crew->start_ns,
    };

    crew->outcome.stuck_total += in_flight > 0 ? in_flight : 1;
    add_stuck(crew, &stuck);
}

static void count_results(struct crew *crew, const struct worker *w)
{
    struct crew_outcome *o = &crew->outcome;

    o->errors += w->errors;
    o->stuck_total += w->stuck_total;
    if (w->intervals > o->intervals)
        o->intervals = w->intervals;
    for (uint64_t i = 0; i < w->stuck_total && i < CREW_STUCK_MAX; i++)
        add_stuck(crew, &w->stuck[i]);
}

static void finish(struct crew *crew)
{
    int32_t stop = atomic_load(&crew->shared->control.stop);

    crew->outcome.end =
        stop == WORKER_RUN ? CREW_COMPLETE : (enum crew_end)stop;
    for (uint32_t i = 0; i < crew->member_count; i++)
        if (crew->members[i]->lost)
            count_lost(crew, i);
        else
            count_results(crew, &crew->members[i]->worker);
    tell_reason(crew);
    crew->state = CREW_FINISHED;
}

/* When every worker should have stopped by itself. */
static uint64_t over_ns(const struct crew *crew)
{
    const struct worker_control *c = &crew->shared->control;
    uint64_t last = atomic_load(&c->stop_after);
    uint64_t over = crew->start_ns + crew->time_limit_ns;
    uint64_t lease_ns = atomic_load(&c->lease_ns);
    uint64_t count = crew->intervals_max;

    if (last < count)
        count = last + 1;
    if (count <= crew->time_limit_ns / crew->interval_ns)
        over = crew->start_ns + count * crew->interval_ns;
    return lease_ns < over ? lease_ns : over;
}

/* Threads that do not even come back from the kernel are given up. */
static void give_up_lost(struct crew *crew, uint64_t now_ns)
{
    bool ending = atomic_load(&crew->shared->control.stop) != WORKER_RUN ||
                  now_ns >= over_ns(crew);

    if (!ending)
        crew->ending_ns = 0;
    else if (crew->ending_ns == 0)
        crew->ending_ns = now_ns;
    if (!ending || now_ns < crew->ending_ns + crew->drain_limit_ns + GIVE_UP_NS)
        return;
    for (uint32_t i = 0; i < crew->member_count; i++) {
        if (crew_member_is_over(crew->members[i]))
            continue;
        crew->members[i]->lost = true;
        sampler_lose(&crew->sampler, i);
    }
}

static void look_at_running(struct crew *crew)
{
    if (crew->state == CREW_RUNNING && any_stopped(crew))
        crew->state = CREW_DRAINING;
    give_up_lost(crew, now_of(crew));
    if (all_over(crew))
        finish(crew);
}

static void look_at_waiting(struct crew *crew)
{
    if (count_stage(crew, CREW_STAGE_CLOSED) == crew->member_count)
        finish(crew);
    else if (crew->state == CREW_ARMED &&
             count_stage(crew, CREW_STAGE_BEGUN) > 0)
        crew->state = CREW_RUNNING;
}

static void look_at_preparing(struct crew *crew)
{
    if (count_stage(crew, CREW_STAGE_OPENING) > 0)
        return;
    if (count_stage(crew, CREW_STAGE_FAILED) > 0)
        fail(crew);
    else
        crew->state = CREW_READY;
}

enum crew_state crew_state(struct crew *crew)
{
    if (crew->state == CREW_PREPARING)
        look_at_preparing(crew);
    if (crew->state == CREW_READY || crew->state == CREW_ARMED)
        look_at_waiting(crew);
    if (crew->state == CREW_RUNNING || crew->state == CREW_DRAINING)
        look_at_running(crew);
    return crew->state;
}

/* Of the first worker that writes: all write by the same rule. */
static double compressible(const struct crew *crew)
{
    for (uint32_t i = 0; crew->state >= CREW_READY &&
                         crew->state != CREW_FAILED && i < crew->member_count;
         i++)
        if (crew->members[i]->worker.compressible > 0)
            return crew->members[i]->worker.compressible;
    return 0;
}

struct crew_facts crew_facts(const struct crew *crew)
{
    return (struct crew_facts){
        .workers = crew->member_count,
        .memory_bytes = crew->memory_bytes,
        .features = crew->state == CREW_PREPARING || crew->state == CREW_FAILED
                        ? ""
                        : crew->members[0]->features,
        .compressible = compressible(crew),
        .unlocked = crew->unlocked,
    };
}

void crew_print_placement(const struct crew *crew, const struct job *job,
                          char *text, size_t size)
{
    const struct placement *p = &crew->placement;
    size_t used = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < p->worker_count && used < size; i++) {
        used +=
            (size_t)snprintf(text + used, size - used, "%sworker %u on CPU %s",
                             i > 0 ? "; " : "", i, crew->members[i]->cpus);
        if (p->workers[i].node >= 0 && used < size)
            used += (size_t)snprintf(text + used, size - used, ", node %d",
                                     p->workers[i].node);
        if (used < size)
            used += (size_t)snprintf(text + used, size - used, ":");
        for (uint32_t t = 0; t < job->target_count && used < size; t++)
            if (p->worker_of[t] == i)
                used += (size_t)snprintf(text + used, size - used, " %s",
                                         job->targets[t].sd);
    }
}

uint64_t crew_next_poll_ns(struct crew *crew)
{
    uint64_t now_ns = now_of(crew);
    uint64_t edge_ns;

    if (crew_finished(crew))
        return UINT64_MAX;
    if (crew->state != CREW_RUNNING || !crew->begun)
        return now_ns + POLL_NS;
    edge_ns = sampler_edge_ns(&crew->sampler);
    return (edge_ns > now_ns ? edge_ns : now_ns) + POLL_NS;
}

/* Workers that are not armed yet, or still asleep and without Go. */
static int check_arming(struct crew *crew, uint64_t start_ns)
{
    enum crew_state state = crew_state(crew);

    if (state != CREW_READY && state != CREW_ARMED)
        return -EINVAL;
    if (state == CREW_ARMED &&
        atomic_load(&crew->shared->gate) == CREW_GATE_OPEN)
        return -EINVAL;
    return start_ns < now_of(crew) + START_LEAST_NS ? -ETIME : 0;
}

int crew_arm(struct crew *crew, uint64_t start_ns)
{
    struct crew_shared *s = crew->shared;
    int r = check_arming(crew, start_ns);

    if (r < 0)
        return r;
    devices_begin(&crew->devices); /* before anything is issued */
    (void)pthread_mutex_lock(&s->mutex);
    /* A worker that has left its sleep for the instant of before goes on to
     * that one; none has while there is more than its spin to go. */
    if (s->armed && now_of(crew) + START_LEAST_NS >= s->start_ns) {
        r = -ETIME;
    } else {
        s->start_ns = start_ns;
        s->armed = true;
        (void)pthread_cond_broadcast(&s->changed);
    }
    (void)pthread_mutex_unlock(&s->mutex);
    if (r == 0) {
        crew->start_ns = start_ns;
        crew->state = CREW_ARMED;
    }
    return r;
}

int crew_go(struct crew *crew)
{
    int gate = CREW_GATE_SHUT;

    if (crew->state < CREW_ARMED || crew->state == CREW_FAILED)
        return -EINVAL;
    if (atomic_compare_exchange_strong(&crew->shared->gate, &gate,
                                       CREW_GATE_OPEN))
        return 0;
    return gate == CREW_GATE_OPEN ? 0 : -ETIME;
}

void crew_lease(struct crew *crew, uint64_t deadline_ns)
{
    atomic_store_explicit(&crew->shared->control.lease_ns, deadline_ns,
                          memory_order_relaxed);
}

int crew_stop_after(struct crew *crew, uint64_t interval)
{
    if (crew->state >= CREW_ARMED &&
        now_of(crew) >= crew->start_ns + (interval + 1) * crew->interval_ns)
        return -ETIME;
    atomic_store_explicit(&crew->shared->control.stop_after, interval,
                          memory_order_relaxed);
    return 0;
}

void crew_abort(struct crew *crew, enum crew_end end)
{
    assert(end != CREW_COMPLETE);
    worker_control_stop(&crew->shared->control, end);
    order(crew, false);
}

const struct row *crew_take_row(struct crew *crew)
{
    enum crew_state state = crew_state(crew);

    if (state < CREW_RUNNING || state == CREW_FAILED || crew->start_ns == 0)
        return NULL;
    if (!crew->begun && atomic_load(&crew->shared->gate) != CREW_GATE_OPEN)
        return NULL;
    if (!crew->begun) {
        sampler_begin(&crew->sampler, crew->start_ns);
        crew->begun = true;
    }
    return sampler_take(&crew->sampler, now_of(crew));
}

/* Whether rows can come at all: not when the start never was. */
static bool has_begun(struct crew *crew)
{
    return crew->start_ns != 0 &&
           atomic_load(&crew->shared->gate) == CREW_GATE_OPEN;
}

bool crew_finished(struct crew *crew)
{
    enum crew_state state = crew_state(crew);

    if (state == CREW_FAILED)
        return true;
    return state == CREW_FINISHED &&
           (!has_begun(crew) || crew->sampler.drained);
}

const struct crew_outcome *crew_outcome(const struct crew *crew)
{
    assert(crew->state == CREW_FINISHED || crew->state == CREW_FAILED);
    return &crew->outcome;
}

const struct crew_stuck *crew_stuck(const struct crew *crew,
                                    uint32_t *ret_count)
{
    assert(crew->state == CREW_FINISHED);
    *ret_count = crew->stuck_count;
    return crew->stuck;
}

/* Until all threads are over, or for so long as they need to see an order. */
static void await_members(struct crew *crew)
{
    struct crew_shared *s = crew->shared;
    uint64_t now_ns = now_of(crew);
    uint64_t until_ns = now_ns + FREE_WAIT_NS;

    (void)pthread_mutex_lock(&s->mutex);
    while (!all_over(crew) && now_ns < until_ns) {
        struct timespec time = {
            .tv_sec = (time_t)((now_ns + POLL_NS) / NS_PER_S),
            .tv_nsec = (long)((now_ns + POLL_NS) % NS_PER_S),
        };

        (void)pthread_cond_timedwait(&s->changed, &s->mutex, &time);
        now_ns = now_of(crew);
    }
    (void)pthread_mutex_unlock(&s->mutex);
}

struct crew *crew_free(struct crew *crew)
{
    if (crew == NULL)
        return NULL;
    worker_control_stop(&crew->shared->control, CREW_STOPPED);
    order(crew, true);
    await_members(crew);
    if (crew->sampling)
        sampler_done(&crew->sampler);
    devices_close(&crew->devices);
    crew->health = health_watch_free(crew->health);
    free(crew->drives);
    for (uint32_t i = 0; i < crew->member_count; i++)
        crew_member_leave(crew->members[i]);
    free(crew->members);
    crew_shared_release(crew->shared);
    free(crew);
    return NULL;
}
