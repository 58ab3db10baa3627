/* loop_stage.c - one phase's targets and crew, and the claims of a campaign. */
#include "agent/loop_stage.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "agent/claim.h"
#include "common/uuid.h"

enum stage_state {
    STAGE_OPENING,  /* on the thread */
    STAGE_BUILDING, /* the crew allocates and registers */
    STAGE_SERVING,  /* ready, or further */
    STAGE_MARKING,  /* a fill that came to its end, on the thread */
    STAGE_OVER,     /* told to the session: refused, or ended */
};

/* One phase's resources, from prepare until what it opened is closed. */
struct stage {
    enum stage_state state;
    const struct job *job; /* the phase's, or `own` */
    struct job *own;       /* after discard */
    struct opened_target *opened;
    struct crew *crew;
};

enum task_kind {
    TASK_OPEN,
    TASK_MARK,
    TASK_CLOSE,
    TASK_RELEASE,
};

/* One thing for the thread.  `result` and what follows are its answer. */
struct task {
    enum task_kind kind;
    struct stages *stages;
    struct stage *stage;
    struct uuid campaign;
    int result;
    uint32_t target;
    struct diag diag;
    struct task *next;
};

struct stages {
    struct stages_setup setup;
    struct session *session;
    struct stage *stage; /* the one at hand, NULL after discard */
    uint64_t lease_ns;
    uv_work_t work;
    struct task *first; /* runs, or is about to */
    struct task *last;
    /* The thread's, and nobody else's while a task runs. */
    struct claims *claims;
    struct uuid claims_of;
    struct phase_equipment equipment; /* of the stage at hand */
};

/* ---- On the thread ------------------------------------------------------ */

static int claim_for(struct stages *stages, const struct uuid *campaign,
                     struct diag *diag)
{
    int err;

    if (stages->claims != NULL && uuid_equal(&stages->claims_of, campaign))
        return 0;
    stages->claims = claims_release(stages->claims);
    err = claims_new(stages->setup.policy, campaign, &stages->claims, diag);
    if (err == 0)
        stages->claims_of = *campaign;
    return err;
}

/* Only a fill writes block 0 of a drive, whatever a plan says. */
static int check_regions(const struct job *job,
                         const struct opened_target *opened,
                         uint32_t *ret_target, struct diag *diag)
{
    for (uint32_t i = 0; i < job->cell_count; i++) {
        const struct job_cell *cell = &job->cells[i];
        const struct opened_target *target = &opened[cell->target];

        if (job->kind == JOB_FILL || target->kind != INTERLOCK_BLOCK ||
            job->workloads[cell->workload].read_percent >= 100 ||
            cell->low >= target->logical_block)
            continue;
        *ret_target = cell->target;
        return diag_set(diag, -EPERM,
                        "the region of wd=%s begins at byte %" PRIu64
                        ": block 0 of a drive is not written",
                        job->workloads[cell->workload].name, cell->low);
    }
    return 0;
}

static void run_open(struct task *task)
{
    const struct job *job = task->stage->job;
    int err;

    task->target = job->target_count;
    err = claim_for(task->stages, &job->work.campaign, &task->diag);
    if (err == 0)
        err = interlock_open(task->stages->claims, job->targets,
                             job->target_count, task->stage->opened,
                             &task->target, &task->diag);
    if (err == 0) {
        err =
            check_regions(job, task->stage->opened, &task->target, &task->diag);
        if (err < 0)
            interlock_close(task->stage->opened, job->target_count);
    }
    task->result = err;
}

static void on_work(uv_work_t *work)
{
    struct stages *stages = work->data;
    struct task *task = stages->first;

    switch (task->kind) {
    case TASK_OPEN:
        run_open(task);
        break;
    case TASK_MARK:
        task->result =
            interlock_filled(stages->claims, task->stage->opened,
                             task->stage->job->target_count, &task->diag);
        break;
    case TASK_CLOSE:
        interlock_close(task->stage->opened, task->stage->job->target_count);
        break;
    case TASK_RELEASE:
        if (stages->claims != NULL &&
            uuid_equal(&stages->claims_of, &task->campaign))
            stages->claims = claims_release(stages->claims);
        break;
    }
}

/* ---- Tasks -------------------------------------------------------------- */

static void on_worked(uv_work_t *work, int status);

static void run_first(struct stages *stages)
{
    stages->work.data = stages;
    /* Fails only without a callback. */
    (void)uv_queue_work(stages->setup.loop, &stages->work, on_work, on_worked);
}

static void add_task(struct stages *stages, enum task_kind kind,
                     struct stage *stage, const struct uuid *campaign)
{
    struct task *task = calloc(1, sizeof(*task));

    assert(task != NULL); /* a kilobyte: without it nothing can be undone */
    task->kind = kind;
    task->stages = stages;
    task->stage = stage;
    if (campaign != NULL)
        task->campaign = *campaign;
    if (stages->first == NULL)
        stages->first = task;
    else
        stages->last->next = task;
    stages->last = task;
    if (stages->first == task)
        run_first(stages);
}

bool stages_are_idle(const struct stages *stages)
{
    return stages->first == NULL;
}

static struct stage *stage_free(struct stage *stage)
{
    if (stage == NULL)
        return NULL;
    assert(stage->crew == NULL);
    (void)job_free(stage->own);
    free(stage->opened);
    free(stage);
    return NULL;
}

/* ---- Telling the session ------------------------------------------------ */

/* Nothing may be done with the stage after one of these: the session may have
 * discarded it. */

static void tell_refused(struct stages *stages, struct stage *stage,
                         uint32_t target, const struct diag *diag)
{
    const char *sd =
        target < stage->job->target_count ? stage->job->targets[target].sd : "";

    stage->state = STAGE_OVER;
    if (stages->session != NULL)
        session_refused(stages->session, sd, diag->text);
}

static enum phase_outcome outcome_of(enum crew_end end)
{
    static const enum phase_outcome outcomes[] = {
        [CREW_COMPLETE] = PHASE_COMPLETE,
        [CREW_STOPPED] = PHASE_STOPPED,
        [CREW_LEASE_LOST] = PHASE_LEASE_LOST,
        [CREW_NO_GO] = PHASE_NO_GO,
        [CREW_ERROR] = PHASE_FAILED,
        [CREW_TIME_LIMIT] = PHASE_TIME_LIMIT,
    };

    return outcomes[end];
}

static void fill_stuck(const struct stage *stage, struct phase_end *end)
{
    uint32_t count;
    const struct crew_stuck *stuck = crew_stuck(stage->crew, &count);

    for (uint32_t i = 0; i < count && i < PHASE_STUCK_MAX; i++) {
        struct phase_stuck *to = &end->stuck[end->stuck_count++];

        memcpy(to->sd, stage->job->targets[stuck[i].target].sd, sizeof(to->sd));
        to->write = stuck[i].op == JOB_WRITE;
        to->offset = stuck[i].offset;
        to->length = stuck[i].length;
        to->age_ns = stuck[i].age_ns;
    }
}

/* `trouble`: what came after the crew was through; NULL: nothing. */
static void tell_ended(struct stages *stages, struct stage *stage,
                       const struct diag *trouble)
{
    const struct crew_outcome *outcome = crew_outcome(stage->crew);
    struct phase_end end = {
        .outcome = outcome_of(outcome->end),
        .intervals = outcome->intervals,
        .stuck_total = outcome->stuck_total,
    };

    (void)snprintf(end.reason, sizeof(end.reason), "%s", outcome->reason.text);
    fill_stuck(stage, &end);
    if (trouble != NULL && end.outcome == PHASE_COMPLETE) {
        end.outcome = PHASE_FAILED;
        (void)snprintf(end.reason, sizeof(end.reason), "%s", trouble->text);
    }
    stage->state = STAGE_OVER;
    if (stages->session != NULL)
        session_ended(stages->session, &end);
}

/* ---- From the thread ---------------------------------------------------- */

static void opened(struct stages *stages, const struct task *task)
{
    struct stage *stage = task->stage;
    struct diag diag = task->diag;
    uint32_t target = task->target;
    int err = task->result;

    if (stage->own != NULL) { /* discarded meanwhile */
        if (err < 0)
            (void)stage_free(stage);
        else
            add_task(stages, TASK_CLOSE, stage, NULL);
        return;
    }
    if (err == 0) {
        err = crew_new(stage->job, stage->opened, &stages->setup.options,
                       stages->setup.clock, stages->lease_ns, &stage->crew,
                       &target, &diag);
        stage->state = STAGE_BUILDING; /* from here on there is to close */
    }
    if (err < 0)
        tell_refused(stages, stage, target, &diag);
}

static void marked(struct stages *stages, const struct task *task)
{
    struct stage *stage = task->stage;

    if (stage->own != NULL)
        add_task(stages, TASK_CLOSE, stage, NULL);
    else
        tell_ended(stages, stage, task->result < 0 ? &task->diag : NULL);
}

static void on_worked(uv_work_t *work, int status)
{
    struct stages *stages = work->data;
    struct task *task = stages->first;

    (void)status;
    stages->first = task->next;
    if (stages->first != NULL)
        run_first(stages);
    if (task->kind == TASK_OPEN)
        opened(stages, task);
    else if (task->kind == TASK_MARK)
        marked(stages, task);
    else if (task->kind == TASK_CLOSE)
        (void)stage_free(task->stage);
    free(task);
}

/* ---- Orders ------------------------------------------------------------- */

void stages_prepare(struct stages *stages, const struct job *job)
{
    struct stage *stage = calloc(1, sizeof(*stage));

    assert(stages->stage == NULL);
    assert(stage != NULL);
    stage->job = job;
    stage->opened = calloc(job->target_count, sizeof(*stage->opened));
    assert(stage->opened != NULL);
    for (uint32_t i = 0; i < job->target_count; i++)
        stage->opened[i].fd = -1;
    stages->stage = stage;
    add_task(stages, TASK_OPEN, stage, NULL);
}

static struct crew *crew_of(const struct stages *stages)
{
    return stages->stage != NULL ? stages->stage->crew : NULL;
}

int stages_arm(struct stages *stages, uint64_t start_ns, struct diag *diag)
{
    struct crew *crew = crew_of(stages);
    int err = crew != NULL ? crew_arm(crew, start_ns) : -EINVAL;

    if (err < 0)
        return diag_set(diag, err, "the workers cannot be armed for that: %s",
                        strerror(-err));
    return 0;
}

void stages_go(struct stages *stages)
{
    /* Too late for the workers: then they end, and that is what is told. */
    if (crew_of(stages) != NULL && crew_go(crew_of(stages)) < 0)
        crew_abort(crew_of(stages), CREW_NO_GO);
}

void stages_stop_after(struct stages *stages, uint64_t interval)
{
    /* Too late: the edge has been, and the end is wanted. */
    if (crew_of(stages) != NULL &&
        crew_stop_after(crew_of(stages), interval) < 0)
        crew_abort(crew_of(stages), CREW_STOPPED);
}

void stages_stop(struct stages *stages)
{
    if (crew_of(stages) != NULL)
        crew_abort(crew_of(stages), CREW_STOPPED);
}

void stages_lease(struct stages *stages, uint64_t deadline_ns)
{
    stages->lease_ns = deadline_ns;
    if (crew_of(stages) != NULL)
        crew_lease(crew_of(stages), deadline_ns);
}

void stages_discard(struct stages *stages, struct job *job)
{
    struct stage *stage = TAKE(stages->stage);

    assert(stage != NULL && stage->job == job);
    stage->own = job;
    stage->crew = crew_free(stage->crew);
    if (stage->state == STAGE_OPENING || stage->state == STAGE_MARKING)
        return; /* the thread has it, and gives it back to be closed */
    add_task(stages, TASK_CLOSE, stage, NULL);
}

void stages_release(struct stages *stages, const struct uuid *campaign)
{
    add_task(stages, TASK_RELEASE, NULL, campaign);
}

/* ---- The crew ----------------------------------------------------------- */

static PRINTF(3, 4) void append(char *text, size_t size, const char *format,
                                ...)
{
    size_t length = strlen(text);
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text + length, size - length, format, args);
    va_end(args);
}

static void describe(const struct stages *stages, const struct stage *stage,
                     const struct crew_facts *facts,
                     struct phase_equipment *ret_equipment)
{
    const char *engine = stages->setup.options.engine;

    (void)snprintf(ret_equipment->engine, sizeof(ret_equipment->engine),
                   "%.256s %.256s%s%.256s",
                   engine == NULL ? "io_uring" : engine, facts->features,
                   facts->unlocked[0] != '\0' ? ", " : "", facts->unlocked);
    if (facts->compressible > 0 && stage->job->pattern_length > 0)
        append(ret_equipment->engine, sizeof(ret_equipment->engine),
               "; a pattern of %u bytes is written, which compresses %.2f : 1 "
               "in pieces of 4 KiB",
               stage->job->pattern_length, facts->compressible);
    else if (facts->compressible > 0)
        append(ret_equipment->engine, sizeof(ret_equipment->engine),
               "; what is written compresses %.2f : 1 in pieces of 4 KiB, "
               "%.2f : 1 is asked",
               facts->compressible,
               stage->job->compression > 1 ? stage->job->compression : 1.0);
    crew_print_placement(stage->crew, stage->job, ret_equipment->placement,
                         sizeof(ret_equipment->placement));
}

static void poll_building(struct stages *stages, struct stage *stage)
{
    enum crew_state state = crew_state(stage->crew);
    const struct crew_outcome *outcome;
    struct crew_facts facts;

    if (state == CREW_FAILED) {
        outcome = crew_outcome(stage->crew);
        tell_refused(stages, stage, outcome->target, &outcome->reason);
    } else if (state != CREW_PREPARING) {
        facts = crew_facts(stage->crew);
        stage->state = STAGE_SERVING;
        describe(stages, stage, &facts, &stages->equipment);
        session_prepared(stages->session, facts.workers, facts.memory_bytes,
                         &stages->equipment);
    }
}

static void poll_serving(struct stages *stages, struct stage *stage)
{
    const struct row *row;

    while (stages->stage == stage && (row = crew_take_row(stage->crew)) != NULL)
        session_row(stages->session, row);
    if (stages->stage != stage || !crew_finished(stage->crew))
        return;
    if (stage->job->kind == JOB_FILL &&
        crew_outcome(stage->crew)->end == CREW_COMPLETE) {
        stage->state = STAGE_MARKING;
        add_task(stages, TASK_MARK, stage, NULL);
    } else {
        tell_ended(stages, stage, NULL);
    }
}

void stages_poll(struct stages *stages)
{
    struct stage *stage = stages->stage;

    if (stage == NULL || stages->session == NULL)
        return;
    if (stage->state == STAGE_BUILDING)
        poll_building(stages, stage);
    else if (stage->state == STAGE_SERVING)
        poll_serving(stages, stage);
}

uint64_t stages_due_ns(struct stages *stages)
{
    const struct stage *stage = stages->stage;

    if (stage == NULL ||
        (stage->state != STAGE_BUILDING && stage->state != STAGE_SERVING))
        return UINT64_MAX;
    return crew_next_poll_ns(stage->crew);
}

/* ---- Life --------------------------------------------------------------- */

struct stages *stages_new(const struct stages_setup *setup)
{
    struct stages *stages = calloc(1, sizeof(*stages));

    if (stages != NULL)
        stages->setup = *setup;
    return stages;
}

void stages_serve(struct stages *stages, struct session *session)
{
    stages->session = session;
}

struct stages *stages_free(struct stages *stages)
{
    if (stages == NULL)
        return NULL;
    assert(stages->first == NULL && stages->stage == NULL);
    stages->claims = claims_release(stages->claims);
    free(stages);
    return NULL;
}
