/*
 * results.h - what was measured: merged live, stored for good, told as JSON.
 *
 * The face of this room towards the controller's loop.  The loop hands over
 * campaigns, phases and samples; results merges them into rows, stores all in
 * SQLite on threads of its own, and calls back, always from results_poll():
 * which samples are stored (acknowledge them), what watchers want to see, what
 * a phase came to, and that storing failed.
 *
 *     results_open(&options, &results, &diag);
 *     results_campaign_add(results, &campaign, &number, &diag);
 *     results_campaign_plan(results, &id, plan, hosts, drives, &diag);
 *     for each phase:
 *         results_phase_begin(...)      before Prepare is sent
 *         results_phase_started(...)    when Go is sent: the instant is known
 *         results_sample(...)           as they come
 *         results_host_finished / results_host_lost
 *         results_phase_end(...)        handler.phase_done follows
 *     results_campaign_end(...)         handler.campaign_done follows
 *     results_close(results);
 *
 * Names: a campaign is its UUID, a phase its number in it (the index into
 * plan.runs), a host its index into plan.hosts.  Intervals count from 0 here
 * and on the wire, from 1 in documents, where people read them.
 *
 * Threads: every function here is for the loop's thread and never waits for
 * the disk (results_open and results_close do).  `wake` alone is called on
 * other threads; it must do no more than make results_poll() be called soon.
 *
 * Memory: what is passed in is copied, unless it says "taken".  Calls of the
 * handler may call back into results, but for results_close().
 *
 * Errors: 0 or a negative errno.  -EAGAIN: the queue to the disk is full; try
 * again when results_busy() is false.  A store that cannot be written (disk
 * full, read-only, damaged) fails what was queued, as a whole: see
 * results_handler.failed.
 */
#ifndef CONTROLLER_RESULTS_RESULTS_H
#define CONTROLLER_RESULTS_RESULTS_H

#include "common/base.h"
#include "common/clock.h"
#include "common/diag.h"
#include "controller/plan/plan.h"
#include "controller/results/sample.h"

struct histogram;
struct results;
struct results_event;

enum verdict {
    VERDICT_NONE, /* not over */
    VERDICT_COMPLETE,
    VERDICT_DEGRADED,
    VERDICT_INTERRUPTED,
    VERDICT_FAILED,
};

/* "complete", ...; NULL for VERDICT_NONE. */
const char *verdict_name(enum verdict verdict);

/* The exit status of a command that waited for it, see design: 0, 1, 3, 4.
 * VERDICT_NONE gives 0. */
int verdict_exit_status(enum verdict verdict);

enum results_state {
    RESULTS_QUEUED, /* added; or waiting, with the holder as the note */
    RESULTS_RUNNING,
    RESULTS_DONE,
};

/*
 * Something that the caller wants to know after a restart, in words of its own:
 * one text for each campaign, phase, name and item, the last one counts.
 */
struct results_memory {
    uint32_t phase; /* PLAN_NOWHERE: of the campaign as a whole */
    const char *name;
    uint32_t item;
    const char *text;
};

/*
 * All that is stored of one cell in one kind of intervals of a phase.  But for
 * a curve's maximum, whose drives may be asked for, the cells of a workload are
 * one sum, that of its first.
 */
struct results_sum {
    uint32_t cell; /* index into plan_run.cells */
    enum sample_kind kind;
    struct {
        uint64_t ios;
        uint64_t bytes;
        uint64_t errors;
    } op[SAMPLE_OPS];
};

/* What the store has of a phase that goes on. */
struct results_past {
    const uint64_t *next; /* by host: every row below is stored */
    uint32_t host_count;
    const struct results_sum *sums;
    uint32_t sum_count;
};

/* What a phase came to, from the store.  Rates are NAN where nothing was. */
struct results_total {
    uint64_t ios;
    uint64_t failures; /* requests that failed, in warm-up and drain as well */
    const char *first_failure; /* in words; "" without any */
    double iops;               /* a curve's maximum, not rounded */
    double mib_s;
    /* Both operations together, during the call; NULL: there are none. */
    const struct histogram *service;
    const struct histogram *response;
    int64_t start_spread_ns; /* -1: no host said when it started */
    enum verdict verdict;    /* VERDICT_FAILED: it could not be stored; else as
                                given to results_phase_end() */
    uint32_t hosts_planned;
    uint32_t hosts_measured; /* delivered every measured interval */
};

struct results_handler {
    /* Every interval of this host below `next_interval` is in the store, for
     * good: send SampleAck.  Comes again for samples that come again. */
    void (*stored)(void *data, const struct uuid *campaign, uint32_t phase,
                   uint32_t host, uint64_t next_interval);

    /* For those who watch the campaign: see results_event_text(). */
    void (*event)(void *data, const struct uuid *campaign,
                  struct results_event *event);

    /* The phase's totals are computed and stored. */
    void (*phase_done)(void *data, const struct uuid *campaign, uint32_t phase,
                       const struct results_total *total);

    /* The answer to results_remember().  `stored`: it is in the store for good,
     * and so is all that was handed over before it. */
    void (*remembered)(void *data, const struct uuid *campaign,
                       const struct results_memory *memory, bool stored);

    /* The phase of results_phase_resume() can go on; `stored` follows for the
     * hosts that have rows. */
    void (*resumed)(void *data, const struct uuid *campaign, uint32_t phase,
                    const struct results_past *past);

    /* The campaign's verdict is stored; the event "end" came before. */
    void (*campaign_done)(void *data, const struct uuid *campaign);

    /*
     * Something could not be stored: the sentence names the file and the
     * remedy.  Nothing of it is half written.  The samples among it are not
     * acknowledged, so the agents keep them.  End what runs, verdict failed.
     * `campaign` is the one concerned.  Comes once for each campaign concerned
     * until storing works again.
     */
    void (*failed)(void *data, const struct uuid *campaign,
                   const struct diag *why);
};

struct results_options {
    const char *path;          /* of the database; made when missing */
    const char *version;       /* of the program, into the store */
    const struct clock *clock; /* outlives results */
    const struct results_handler *handler; /* outlives results */
    void (*wake)(void *data);              /* NULL when `threadless` */
    void *data;                            /* for wake and handler */
    uint64_t retention_ns; /* retention.h; 0: everything is kept */
    bool threadless; /* results_poll() itself does the disk's work: simulator */
};

/*
 * Opens or makes the store, moves an older one to this version, raises the
 * epoch.  Waits for the disk.  Fails with a clear diag for: no such directory,
 * no permission, read-only, disk full, in use by another controller, locked,
 * damaged, not ours, newer than this program (both versions named).
 */
int results_open(const struct results_options *options,
                 struct results **ret_results, struct diag *diag) MUST_CHECK;

/* Waits until all that was queued is stored; no handler is called any more.
 * NULL is fine.  Returns NULL. */
struct results *results_close(struct results *results);

/* Which controller this is: made with the store, stays with it. */
const struct uuid *results_controller(const struct results *results);
uint64_t results_epoch(const struct results *results);

/*
 * Calls the handlers for all that is done, closes the rows that are due.
 * Returns the monotonic time at which it wants to be called again though
 * nobody woke it, or UINT64_MAX.
 */
uint64_t results_poll(struct results *results);

/* Waits for the disk until all that was queued to be written is, and calls the
 * handlers.  For the time before the loop runs. */
void results_wait(struct results *results);

/* The queue to the disk is more than half full: stop reading from agents until
 * it is not (results_poll() is woken as it empties). */
bool results_busy(struct results *results);

/* ---- Campaigns ----------------------------------------------------------- */

struct results_file {
    const char *name;
    const char *text;
    size_t length;
};

struct results_campaign {
    struct uuid id;
    const char *name;
    const char *who; /* who submitted it, and from where */
    const struct results_file *files;
    uint32_t file_count;
    const char *const *variables; /* NAME=VALUE */
    uint32_t variable_count;
    uint64_t elapsed_ns; /* overrides, as in Submit */
    uint64_t interval_ns;
    uint64_t warmup_ns;
    bool warmup_given;
};

/* What is asked of a phase. */
struct results_phase {
    double iorate; /* asked, I/Os a second of all cells; 0: closed loop */
    uint32_t warmup_intervals;
    uint64_t measured_intervals; /* 0: a fill, until all is written */
};

/* A campaign found unfinished when the store was opened, oldest first. */
struct results_unfinished {
    struct results_campaign campaign;
    uint64_t number;
    enum results_state state;
    uint32_t next_phase; /* the first that is not done; all are: their number */
    uint32_t phase_count;    /* 0: its plan was never stored */
    int64_t started_wall_ns; /* of the phase that runs; 0: it had not started */
    const struct results_memory *memories; /* by phase, the campaign's first */
    uint32_t memory_count;
    /* That one was running: what was asked of it, and when it started, on the
       clock of that boot (0: it had not). */
    bool phase_runs;
    struct results_phase asked;
    uint64_t start_ns;
};

/*
 * What the controller was doing when it ended.  Valid until
 * results_abandon_unfinished(), which marks those that nobody took over with
 * results_take_over() as failed, "controller was restarted", with totals of
 * what their phases had measured.  Call it once, before adding campaigns.
 *
 * results_abandon() does so for one of them and says why.
 *
 * One that is taken over gets its plan by results_campaign_plan(), made again
 * from its files (-ESTALE where it has not as many runs as it had); what was
 * stored of hosts and drives stays.  Its running phase goes on with
 * results_phase_resume(), or once more from its beginning with
 * results_phase_begin().
 */
const struct results_unfinished *
results_unfinished(const struct results *results, uint32_t *ret_count);
int results_take_over(struct results *results,
                      const struct uuid *campaign) MUST_CHECK;
int results_abandon(struct results *results, const struct uuid *campaign,
                    const char *reason) MUST_CHECK;
void results_abandon_unfinished(struct results *results);

/* Keeps it until the campaign's verdict is stored; handler.remembered follows.
 */
int results_remember(struct results *results, const struct uuid *campaign,
                     const struct results_memory *memory) MUST_CHECK;

/* Queues it.  `ret_number` is what people call it: 1, 2, ... in this store. */
int results_campaign_add(struct results *results,
                         const struct results_campaign *campaign,
                         uint64_t *ret_number, struct diag *diag) MUST_CHECK;

/* The agent that serves a host of the plan. */
struct results_host {
    const char *agent; /* its name; "" when none was found */
    const char *address;
    const char *version;
    struct uuid instance;
    const char *facts; /* a JSON object: kernel, CPUs, ...; NULL: none */
};

/* What the inventory said of a target; NULL: nothing. */
struct results_drive {
    const char *facts; /* a JSON object: model, firmware, ...; NULL: none */
};

/*
 * Stores the expansion after placement: hosts, drives with identity, and every
 * run with its effective values.  `hosts` has plan->host_count entries, or is
 * NULL; `drives` plan->target_count, or is NULL.  The plan must stay as it is
 * until results_campaign_end().
 */
int results_campaign_plan(struct results *results, const struct uuid *campaign,
                          const struct plan *plan,
                          const struct results_host *hosts,
                          const struct results_drive *drives,
                          struct diag *diag) MUST_CHECK;

/* `note` is for people, e.g. which campaign holds the drives; NULL: none. */
int results_campaign_state(struct results *results, const struct uuid *campaign,
                           enum results_state state,
                           const char *note) MUST_CHECK;

/* A command that ran before or after a phase, or all of them. */
struct results_command {
    uint32_t number;  /* of the campaign's commands; with the host, its name */
    const char *host; /* its label; NULL: the controller's own */
    uint32_t phase;   /* UINT32_MAX: of the campaign as a whole */
    const char *keyword; /* "startcmd", ... */
    const char *command; /* as the campaign names it */
    uint64_t duration_ns;
    const char *error;  /* why it failed; NULL: it did not */
    const char *output; /* the last lines of it; "" */
};

int results_command(struct results *results, const struct uuid *campaign,
                    const struct results_command *command) MUST_CHECK;

/* Its last word.  `error` is NULL for VERDICT_COMPLETE.  What phases are not
 * over end with it. */
int results_campaign_end(struct results *results, const struct uuid *campaign,
                         enum verdict verdict, const char *error) MUST_CHECK;

/* ---- Phases -------------------------------------------------------------- */

/* plan->runs[phase] is about to be prepared.  All its hosts are expected. */
int results_phase_begin(struct results *results, const struct uuid *campaign,
                        uint32_t phase, const struct results_phase *asked,
                        struct diag *diag) MUST_CHECK;

/*
 * Goes on with a phase that had begun before the controller was restarted.
 * `asked` and `start_ns` as they were.  What is in the store is read; until
 * then results_sample() says -EAGAIN, and results_busy() is true.
 */
int results_phase_resume(struct results *results, const struct uuid *campaign,
                         uint32_t phase, const struct results_phase *asked,
                         uint64_t start_ns, struct diag *diag) MUST_CHECK;

/* The instant of the start, on the controller's monotonic clock.
 * `uncertainty_ns`: the largest of any host's clock offset. */
int results_phase_started(struct results *results, const struct uuid *campaign,
                          uint32_t phase, uint64_t start_ns,
                          uint64_t uncertainty_ns) MUST_CHECK;

/*
 * One part of a sample.  Taken on 0, duplicates too.  Not taken otherwise:
 * -EAGAIN  the queue is full; keep it and stop reading
 * -ENOENT  no such phase is open here
 * -EPROTO  it cannot be true (diag says why): end the connection
 */
int results_sample(struct results *results, const struct uuid *campaign,
                   uint32_t phase, struct sample *sample,
                   struct diag *diag) MUST_CHECK;

#define RESULTS_PLACEMENT_MAX 4096u /* bytes */

/* What the host runs the phase with, in words: the engine and its features, and
 * which worker is where. */
int results_host_ready(struct results *results, const struct uuid *campaign,
                       uint32_t phase, uint32_t host, const char *engine,
                       const char *placement) MUST_CHECK;

/* A request that did not come back. */
struct results_stuck {
    uint32_t target; /* index into plan.targets */
    bool write;
    uint64_t offset;
    uint32_t length;
    uint64_t age_ns;
};

/* This host made `intervals` rows and a drain row, and no more will come.
 * Coming again is fine. */
int results_host_finished(struct results *results, const struct uuid *campaign,
                          uint32_t phase, uint32_t host, uint64_t intervals,
                          const struct results_stuck *stuck,
                          uint32_t stuck_count) MUST_CHECK;

/* No row waits for this host any more.  What still comes from it is stored and
 * reissues the rows it belongs to.  It is waited for again from
 * results_host_back() on.  `reason` is for people. */
int results_host_lost(struct results *results, const struct uuid *campaign,
                      uint32_t phase, uint32_t host,
                      const char *reason) MUST_CHECK;
int results_host_back(struct results *results, const struct uuid *campaign,
                      uint32_t phase, uint32_t host) MUST_CHECK;

/*
 * Closes the rows that are open and computes the totals from the store:
 * handler.phase_done follows, always.  With VERDICT_NONE the verdict is still
 * to come, by results_phase_verdict(); else it is stored at once.  `error`
 * NULL: nothing to say.
 */
int results_phase_end(struct results *results, const struct uuid *campaign,
                      uint32_t phase, enum verdict verdict,
                      const char *error) MUST_CHECK;

/*
 * The verdict of a phase that results_phase_end() was called for.  The event
 * "phase_end" follows.  VERDICT_COMPLETE becomes degraded, with the reason,
 * where a host lacks measured intervals; and so does the campaign's then.
 */
int results_phase_verdict(struct results *results, const struct uuid *campaign,
                          uint32_t phase, enum verdict verdict,
                          const char *error) MUST_CHECK;

/* A phase that is not run at all. */
int results_phase_skipped(struct results *results, const struct uuid *campaign,
                          uint32_t phase, const char *reason) MUST_CHECK;

/* ---- Who did what -------------------------------------------------------- */

#define RESULTS_AUDIT_MAX 100000u /* the newest are kept */

/* An entry of the audit log.  Texts are for people; "" is unknown. */
struct results_audit {
    const char *who;
    const char *role;    /* of the certificate */
    const char *address; /* where from */
    const char *action;  /* "submit", "stop", "connect" */
    const char *subject; /* what of: a file, a campaign */
    uint64_t campaign;   /* its number; 0: none */
    bool refused;
    const char *detail; /* why refused, or what came of it */
};

int results_audit(struct results *results,
                  const struct results_audit *entry) MUST_CHECK;

/* ---- Documents ----------------------------------------------------------- */

enum results_event_kind {
    RESULTS_EVENT_PHASE,     /* "phase": one starts */
    RESULTS_EVENT_INTERVAL,  /* "interval": a row of the cluster */
    RESULTS_EVENT_PHASE_END, /* "phase_end": its verdict and totals */
    RESULTS_EVENT_END,       /* "end": the campaign's verdict */
    RESULTS_EVENT_NOTICE,    /* "notice": a sentence */
};

enum results_event_kind results_event_kind(const struct results_event *event);

/* The event as a JSON document, made when first asked for.  Valid during the
 * handler's call.  NULL when memory ran out. */
const char *results_event_text(struct results_event *event, size_t *ret_length);

/* {"event": "notice", "text": ...} for what fleet has to say; free() it. */
char *results_notice(const char *text);

enum results_query {
    RESULTS_QUERY_CAMPAIGNS, /* all; the id is not looked at */
    RESULTS_QUERY_STATUS,    /* state, phase i of n, time left, last row */
    RESULTS_QUERY_SHOW,      /* everything, with the totals of all phases */
    RESULTS_QUERY_WATCH,     /* STATUS, and the phase's rows so far */
    RESULTS_QUERY_EXPORT,    /* one piece of everything, rows included */
    RESULTS_QUERY_RUNS,      /* SHOW with the cluster's totals only */
    RESULTS_QUERY_LIVE,      /* the newest interval, drive by drive */
    RESULTS_QUERY_AUDIT,     /* the audit log's newest 1000; no id either */
};

struct results_answer {
    int err; /* 0, -ENOENT, -EINVAL (ambiguous), or what failed */
    struct uuid campaign;
    uint64_t number;
    enum results_state state;
    enum verdict verdict;
    const char *text; /* the JSON document; with `err`, one that holds
                         "error".  Valid during the call */
    size_t length;
};

/*
 * `campaign` is a number, a unique beginning of a UUID, or "" for the newest.
 * `answered` is called from a later results_poll(), exactly once, also when
 * results is closed before (err -ECANCELED, text "").
 * -EAGAIN when 64 queries wait already.
 */
int results_query(struct results *results, enum results_query query,
                  const char *campaign,
                  void (*answered)(void *data,
                                   const struct results_answer *answer),
                  void *data) MUST_CHECK;

/*
 * The same for RESULTS_QUERY_EXPORT.  `phase` 0 asks for the head: SHOW without
 * figures, with the texts of the files.  From 1 on it asks for one phase as in
 * SHOW, with `distribution` and the rows from `interval` (from 1) on: as many
 * as fit into a page.  `next_interval` of the answer is where the next page
 * begins, or null; pages but the first have nothing but rows.  Without `parts`
 * there are rows of the cluster only, which is less work.
 */
int results_export(struct results *results, const char *campaign,
                   uint32_t phase, uint64_t interval, bool parts,
                   void (*answered)(void *data,
                                    const struct results_answer *answer),
                   void *data) MUST_CHECK;

/* Writes whether retention passes the campaign by; the answer says it:
 * {"campaign": 7, "pinned": true}. */
int results_pin(struct results *results, const char *campaign, bool pinned,
                void (*answered)(void *data,
                                 const struct results_answer *answer),
                void *data) MUST_CHECK;

/* The same for RESULTS_QUERY_LIVE; `cells`: with each drive's workloads and
 * operations by themselves. */
int results_live(struct results *results, const char *campaign, bool cells,
                 void (*answered)(void *data,
                                  const struct results_answer *answer),
                 void *data) MUST_CHECK;

#endif
