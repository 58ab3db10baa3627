/*
 * inside.h - what the files behind results.h share.
 *
 * A *task* is a job of the store with what it is about.  It keeps its campaign
 * and phase alive; task_over() frees it, and what nobody needs any more.
 *
 *     results.c           opening, closing, polling
 *     results_campaign.c  campaigns
 *     results_phase.c     phases until their rows are closed
 *     results_resume.c    phases that go on after a restart
 *     results_end.c       totals, verdicts, the end
 *     results_query.c     questions
 *     results_audit.c     the audit log
 *     results_keep.c      how long what is kept
 *     results_event.c     what watchers are told
 *     task.c              tasks
 */
#ifndef CONTROLLER_RESULTS_INSIDE_H
#define CONTROLLER_RESULTS_INSIDE_H

#include "common/arena.h"
#include "controller/results/merge.h"
#include "controller/results/record.h"
#include "controller/results/results.h"
#include "controller/results/retention.h"
#include "controller/results/store.h"
#include "controller/results/totals.h"

enum live_phase_state {
    LIVE_LOADING,   /* what the store has of it is being read */
    LIVE_MEASURING, /* samples come */
    LIVE_ENDING,    /* rows are closed, totals are being made */
    LIVE_TOTALLED,  /* the verdict is to come, or on its way to the store */
    LIVE_OVER,      /* to be freed with its last task */
};

struct live_phase {
    struct live_campaign *campaign;
    struct live_phase *next;
    uint32_t number;
    uint64_t id; /* in the store */
    enum live_phase_state state;
    struct layout *layout;
    struct merge *merge;
    struct results_phase asked;
    uint64_t interval_ns;
    int64_t start_wall_ns;  /* 0: not started */
    int64_t uncertainty_ns; /* -1: not started */
    uint64_t *stored_next;  /* by host: all below is in the store */
    bool *again;            /* by host: it asks for an acknowledgement */
    bool broken;            /* something of it did not reach the store */
    bool totalling;
    bool told; /* phase_done was called */
    bool verdict_stored;
    enum verdict verdict;
    char *error;
    struct totals *totals; /* NULL before LIVE_TOTALLED, and without any */
    uint32_t tasks;
};

struct live_campaign {
    struct results *results;
    struct live_campaign *next;
    struct uuid id;
    uint64_t number;
    char *name;
    const struct plan *plan; /* the caller's; NULL before it is known */
    uint64_t first_phase;    /* number in the store of its first */
    uint32_t phases_there;   /* in the store, of one that was taken over */
    uint64_t layout;         /* number of the last one stored; 0: none */
    uint8_t *layout_bytes;
    size_t layout_length;
    struct live_phase *phases;
    bool failed_told;
    bool ending;
    bool end_queued;
    bool over;
    enum verdict verdict;
    char *error;
    uint32_t tasks;
};

struct results {
    struct store *store;
    const struct clock *clock;
    const struct results_handler *handler;
    void *data;
    void (*wake)(void *data);
    bool threadless;
    char *version;
    bool closing;
    uint32_t loading; /* phases that are */
    uint64_t next_campaign;
    uint64_t next_phase;
    uint64_t next_layout;
    struct live_campaign *campaigns;
    struct unfinished *unfinished; /* NULL once abandoned */
    struct retention retention;
    uint64_t retention_ns;
    uint64_t retention_due_ns; /* monotonic; UINT64_MAX: at work, or never */
    struct histogram *scratch;
};

static inline int64_t wall_now(const struct results *results)
{
    return results->clock->wall_ns(results->clock);
}

/* ---- task.c ----------------------------------------------------------------
 */

typedef int task_run_fn(struct store_job *job, struct store_access *access);
typedef void task_done_fn(struct store_job *job);

struct task {
    struct store_job job; /* first: a task is a job */
    struct results *results;
    struct live_campaign *campaign; /* NULL: about none */
    struct live_phase *phase;       /* NULL: about none */
    struct arena *arena;            /* for copies; NULL: none needed */
};

/* `size` of the struct that begins with a task.  NULL without memory. */
void *task_new(size_t size, struct results *results,
               struct live_campaign *campaign, struct live_phase *phase,
               task_run_fn *run, task_done_fn *done);

/* The same with an arena of that many bytes at most. */
void *task_new_copying(size_t size, size_t arena_max, struct results *results,
                       struct live_campaign *campaign, struct live_phase *phase,
                       task_run_fn *run, task_done_fn *done);

/* Hands it to the writer.  It is freed on failure, by task_over(). */
int task_submit(struct task *task) MUST_CHECK;

/* The end of a task: frees it. */
void task_over(struct task *task);

/* A `done` for those that only may fail: tells, then task_over(). */
void task_done(struct store_job *job);

/* Tells handler.failed if the task failed, once a campaign; else notes that
 * storing works.  Returns whether it succeeded. */
bool task_succeeded(struct task *task);

/* Something of a campaign did not reach the store. */
void tell_failed(struct live_campaign *campaign, const struct diag *why);

/* ---- results_campaign.c ----------------------------------------------------
 */

struct live_campaign *find_campaign(struct results *results,
                                    const struct uuid *id);
struct live_campaign *live_campaign_new(struct results *results,
                                        const struct uuid *id, uint64_t number,
                                        const char *name);
/* Ends it if its phases are over. */
void campaign_advance(struct live_campaign *campaign);
/* Frees what is over. */
void campaign_sweep(struct live_campaign *campaign);
void live_campaign_free(struct live_campaign *campaign);

static inline bool phase_is_open(const struct live_phase *phase)
{
    return phase->state == LIVE_LOADING || phase->state == LIVE_MEASURING;
}

/* ---- results_phase.c -------------------------------------------------------
 */

struct live_phase *find_phase(struct results *results, const struct uuid *id,
                              uint32_t phase);
void live_phase_free(struct live_phase *phase);
/* Hands all rows that close by now to the store. */
void phase_pump(struct live_phase *phase);
/* Tells about samples that came again.  Returns when to look again. */
uint64_t phase_poll(struct live_phase *phase);
/* A phase with nothing in it, not in its campaign's list. */
int live_phase_new(struct live_campaign *campaign, uint32_t number,
                   const struct results_phase *asked,
                   struct live_phase **ret_phase) MUST_CHECK;
/* What was taken may not be in the store. */
void phase_break(struct live_phase *phase);

/* ---- results_end.c ---------------------------------------------------------
 */

/* Closes the rows and makes the totals, for a first time or once more. */
void phase_total(struct live_phase *phase);
/* Of the unfinished that nobody took over. */
int end_abandoned(struct results *results, uint64_t campaign,
                  const uint64_t *phases, uint32_t phase_count,
                  const char *reason) MUST_CHECK;

/* ---- unfinished.c ----------------------------------------------------------
 */

/* What was not over when the store was opened. */
struct unfinished {
    struct arena *arena;
    struct results_unfinished *list;
    uint32_t count;
    struct unfinished_phases {
        uint64_t *running; /* numbers in the store */
        uint32_t count;
        uint64_t first; /* number of its first phase; 0: it has no plan */
        uint32_t there; /* of all its phases */
        bool taken;
    } * phases;
};

int unfinished_load(struct store_access *access,
                    struct unfinished **ret_unfinished,
                    struct diag *diag) MUST_CHECK;
struct unfinished *unfinished_free(struct unfinished *unfinished);

/* ---- results_event.c -------------------------------------------------------
 */

void tell_phase(struct live_phase *phase);
void tell_row(struct live_phase *phase, const struct row *row);
void tell_phase_end(struct live_phase *phase, enum verdict verdict,
                    const char *error);
void tell_end(struct live_campaign *campaign, enum verdict verdict,
              const char *error);

/* ---- results_keep.c --------------------------------------------------------
 */

/* Thins old campaigns, a step at a time; results->retention_due_ns says when it
 * wants to be called again. */
void keep_poll(struct results *results);

#endif
