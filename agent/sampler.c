/* sampler.c - see sampler.h. */
#include "agent/sampler.h"

#include "agent/bank.h"
#include "agent/device.h"
#include "agent/health.h"
#include "agent/memory.h"
#include "agent/worker.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LATE_LEAST_NS NS_PER_S

/* The drain row waits for the drives' last word, but not for a sick one's. */
#define HEALTH_WAIT_NS (3 * NS_PER_S)

/* Which histograms a row needs: those that some worker fills. */
static uint64_t count_histograms(struct worker *const *workers, uint32_t count)
{
    uint64_t number = 0;

    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < workers[i]->cell_count; j++) {
            const struct worker_cell *cell = &workers[i]->cells[j];
            uint64_t ops = (uint64_t)access_does(&cell->access, ENGINE_READ) +
                           access_does(&cell->access, ENGINE_WRITE);

            number += cell->open ? 2 * ops : ops;
        }
    return number;
}

uint64_t sampler_memory(struct worker *const *workers, uint32_t worker_count,
                        uint32_t cell_count)
{
    return count_histograms(workers, worker_count) * sizeof(struct histogram) +
           (uint64_t)cell_count * JOB_OPS * sizeof(struct row_cell);
}

static const struct histogram *place(struct histogram **at)
{
    histogram_init(*at);
    return (*at)++;
}

static void lay_cell(struct sampler *s, const struct worker_cell *cell,
                     struct histogram **at)
{
    for (uint32_t op = 0; op < JOB_OPS; op++) {
        struct row_cell *to = &s->row.cells[cell->cell * JOB_OPS + op];

        if (!access_does(&cell->access, (enum engine_op)op) ||
            to->service != NULL)
            continue;
        to->service = place(at);
        if (cell->open)
            to->response = place(at);
    }
}

int sampler_init(struct sampler *s, struct worker *const *workers,
                 uint32_t worker_count, uint32_t cell_count,
                 struct host_cpu *host)
{
    uint64_t histograms = count_histograms(workers, worker_count);
    struct histogram *at;

    memset(s, 0, sizeof(*s));
    s->memory_length = sampler_memory(workers, worker_count, cell_count);
    s->memory = memory_map(s->memory_length);
    s->workers = calloc(worker_count, sizeof(*s->workers));
    if (s->memory == NULL || s->workers == NULL) {
        sampler_done(s);
        return -ENOMEM;
    }
    at = s->memory;
    s->row.cells = (struct row_cell *)(at + histograms);
    s->row.cell_count = cell_count;
    s->row.failures = s->failures;
    s->worker_count = worker_count;
    s->host = host;
    for (uint32_t i = 0; i < worker_count; i++) {
        s->workers[i].worker = workers[i];
        for (uint32_t j = 0; j < workers[i]->cell_count; j++)
            lay_cell(s, &workers[i]->cells[j], &at);
    }
    s->interval_ns = workers[0]->interval_ns;
    s->warmup_intervals = workers[0]->warmup_intervals;
    s->intervals_max = workers[0]->intervals_max;
    return 0;
}

void sampler_done(struct sampler *s)
{
    s->memory = memory_unmap(s->memory, s->memory_length);
    free(s->workers);
    s->workers = NULL;
}

/* Begins the row of interval `first`. */
static void begin_row(struct sampler *s, uint64_t first)
{
    struct row *row = &s->row;

    row->interval = first;
    row->begin_ns = s->start_ns + first * s->interval_ns;
    row->end_ns = 0;
    row->late_workers = 0;
    row->holds = (struct row_holds){0};
    row->failure_count = 0;
    s->end = first + 1;
    s->merged = 0;
    s->given = false;
}

static void clear_row(struct sampler *s)
{
    for (uint32_t i = 0; i < s->row.cell_count * JOB_OPS; i++) {
        struct row_cell *cell = &s->row.cells[i];
        struct row_cell clear = {.service = cell->service,
                                 .response = cell->response};

        if (cell->service != NULL && cell->service->count > 0)
            histogram_init((struct histogram *)(uintptr_t)cell->service);
        if (cell->response != NULL && cell->response->count > 0)
            histogram_init((struct histogram *)(uintptr_t)cell->response);
        *cell = clear;
    }
}

void sampler_begin(struct sampler *s, uint64_t start_ns)
{
    s->start_ns = start_ns;
    s->looked_ns = start_ns;
    if (s->host != NULL)
        host_cpu_init(s->host, start_ns);
    begin_row(s, 0);
}

static void merge_errors(struct row_cell *to, const struct tally *from)
{
    to->errors += from->errors;
    for (uint32_t i = 0; i < ROW_ERRORS; i++)
        for (uint32_t j = 0; from->by_errno[i].count > 0 && j < ROW_ERRORS;
             j++) {
            if (to->by_errno[j].count > 0 &&
                to->by_errno[j].err != from->by_errno[i].err)
                continue;
            to->by_errno[j].err = from->by_errno[i].err;
            to->by_errno[j].count += from->by_errno[i].count;
            break;
        }
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void merge_state(struct row_cell *to, const struct tally *from)
{
    to->in_flight += from->in_flight;
    to->oldest_ns = larger(to->oldest_ns, from->oldest_ns);
    to->unissued += from->unissued;
    to->unissued_oldest_ns =
        larger(to->unissued_oldest_ns, from->unissued_oldest_ns);
}

static void merge_tally(struct row_cell *to, const struct tally *from)
{
    if (from->service == NULL)
        return;
    histogram_merge((struct histogram *)(uintptr_t)to->service, from->service);
    if (from->response != NULL)
        histogram_merge((struct histogram *)(uintptr_t)to->response,
                        from->response);
    to->ios = to->service->count;
    to->bytes += from->bytes;
    to->issued += from->issued;
    to->late_ns += from->late_ns;
    to->late_max_ns = larger(to->late_max_ns, from->late_max_ns);
    merge_errors(to, from);
    merge_state(to, from);
}

static void forget_state(struct row_cell *cell)
{
    cell->in_flight = 0;
    cell->oldest_ns = 0;
    cell->unissued = 0;
    cell->unissued_oldest_ns = 0;
}

static void merge_failures(struct sampler *s, const struct bank *bank)
{
    for (uint32_t i = 0;
         i < bank->failure_count && s->row.failure_count < ROW_FAILURES; i++)
        s->failures[s->row.failure_count++] = bank->failures[i];
}

/* A cell belongs to one worker, so a later bank of the same worker in the same
 * row replaces what the earlier one said about its edge. */
static void merge_bank(struct sampler *s, struct sampler_worker *sw,
                       const struct bank *bank)
{
    const struct worker *w = sw->worker;

    sw->in_flight = 0;
    for (uint32_t i = 0; i < w->cell_count; i++)
        for (uint32_t op = 0; op < JOB_OPS; op++) {
            const struct tally *from = &bank->tallies[w->cells[i].tally + op];
            struct row_cell *to =
                &s->row.cells[w->cells[i].cell * JOB_OPS + op];

            forget_state(to);
            merge_tally(to, from);
            sw->in_flight += from->in_flight;
        }
    s->row.holds.count += bank->holds.count;
    s->row.holds.ns += bank->holds.ns;
    s->row.holds.refused += bank->holds.refused;
    merge_failures(s, bank);
    s->row.end_ns = larger(s->row.end_ns, bank->end_ns);
    s->merged++;
}

/* Merges what a worker has closed of the row; true if it was anything. */
static bool merge_worker(struct sampler *s, struct sampler_worker *sw)
{
    bool any = false;
    struct bank *bank;

    while (!sw->lost && (bank = bank_closed(&sw->worker->banks)) != NULL &&
           bank->interval < s->end) {
        merge_bank(s, sw, bank);
        sw->covered = bank->interval + bank->spans;
        s->end = larger(s->end, sw->covered);
        bank_release(&sw->worker->banks);
        any = true;
    }
    return any;
}

static void merge_all(struct sampler *s)
{
    for (bool any = true; any;) {
        any = false;
        for (uint32_t i = 0; i < s->worker_count; i++)
            any |= merge_worker(s, &s->workers[i]);
    }
}

/* Nothing more will come from it before its drain row. */
static bool is_through(const struct sampler_worker *sw)
{
    /* Acquire: first that it stopped, then that no bank is left. */
    return sw->lost ||
           (atomic_load_explicit(&sw->worker->stopped, memory_order_acquire) &&
            bank_closed(&sw->worker->banks) == NULL);
}

/* Workers that the row still waits for; all that are through in
 * `ret_through`. */
static uint32_t count_missing(const struct sampler *s, uint32_t *ret_through)
{
    uint32_t missing = 0;

    *ret_through = 0;
    for (uint32_t i = 0; i < s->worker_count; i++) {
        if (is_through(&s->workers[i]))
            ++*ret_through;
        else if (s->workers[i].covered < s->end)
            missing++;
    }
    return missing;
}

static void note_openings(struct sampler *s)
{
    struct row *row = &s->row;

    row->opened_first_ns = UINT64_MAX;
    row->opened_last_ns = 0;
    for (uint32_t i = 0; i < s->worker_count; i++) {
        const struct sampler_worker *sw = &s->workers[i];

        /* A worker whose bank was never seen has not told yet. */
        if (sw->covered == 0 || sw->lost)
            continue;
        if (sw->worker->opened_ns < row->opened_first_ns)
            row->opened_first_ns = sw->worker->opened_ns;
        row->opened_last_ns =
            larger(row->opened_last_ns, sw->worker->opened_ns);
    }
    if (row->opened_last_ns == 0)
        row->opened_first_ns = 0;
}

/* What a worker's thread has used, in all; one that has ended says itself what
 * it was, since its thread may be gone.  False where neither can be had. */
static bool read_cpu(const struct worker *worker, uint64_t *ret_ns)
{
    struct timespec time = {0};
    bool told = clock_gettime(worker->cpu_clock, &time) == 0;

    *ret_ns = (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
    /* Acquire: what it noted at its end is there. */
    if (atomic_load_explicit(&worker->ended, memory_order_acquire)) {
        *ret_ns = worker->cpu_end_ns;
        told = true;
    }
    return told;
}

/* The most that one worker's thread used since the last look. */
static uint64_t busiest_ns(struct sampler *s)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < s->worker_count; i++) {
        struct sampler_worker *sw = &s->workers[i];
        uint64_t cpu_ns;

        /* Its clock is known once it has closed a bank. */
        if (sw->lost || sw->covered == 0 || !read_cpu(sw->worker, &cpu_ns))
            continue;
        if (sw->cpu_ns == 0) /* not what preparing took */
            sw->cpu_ns = sw->worker->cpu_begin_ns;
        most = larger(most, cpu_ns - sw->cpu_ns);
        sw->cpu_ns = cpu_ns;
    }
    return most;
}

static void look_at_drives(struct sampler *s)
{
    if (s->devices == NULL)
        return;
    devices_since(s->devices, s->row.drives);
    if (s->health != NULL)
        health_watch_take(s->health, s->row.drives);
}

static const struct row *give(struct sampler *s, enum row_kind kind,
                              uint64_t now_ns)
{
    struct row *row = &s->row;

    row->kind = kind;
    row->spans = (uint32_t)(s->end - row->interval);
    note_openings(s);
    if (s->host != NULL) {
        host_cpu_since(s->host, now_ns, &row->host);
        row->host.worker_cpu_ns = busiest_ns(s);
    }
    look_at_drives(s);
    s->given = true;
    return row;
}

static const struct row *give_interval(struct sampler *s, uint64_t now_ns)
{
    return give(
        s, s->row.interval < s->warmup_intervals ? ROW_WARMUP : ROW_MEASURED,
        now_ns);
}

static uint64_t patience_ns(const struct sampler *s)
{
    return larger(2 * s->interval_ns, LATE_LEAST_NS);
}

/* Workers are given the same time again when it was us who came late: they may
 * have had no free bank, or have been stopped together with us. */
static void note_look(struct sampler *s, uint64_t now_ns)
{
    if (now_ns > s->looked_ns + patience_ns(s))
        s->patient_from_ns = now_ns;
    s->looked_ns = now_ns;
}

/* Whether workers are missing for so long that the row goes without them. */
static bool is_overdue(const struct sampler *s, uint64_t now_ns)
{
    uint64_t edge_ns = s->start_ns + s->end * s->interval_ns;

    return now_ns >= larger(edge_ns, s->patient_from_ns) + patience_ns(s);
}

/* A row without the missing ones, up to where the clock has come. */
static const struct row *give_late(struct sampler *s, uint32_t missing,
                                   uint64_t now_ns)
{
    uint64_t reached = (now_ns - patience_ns(s) - s->start_ns) / s->interval_ns;

    if (s->merged == 0 && reached > s->end)
        s->end = reached < s->intervals_max ? reached : s->intervals_max;
    s->row.late_workers = missing;
    s->row.end_ns =
        larger(s->row.end_ns, s->start_ns + s->end * s->interval_ns);
    return give_interval(s, now_ns);
}

static bool all_ended(const struct sampler *s)
{
    for (uint32_t i = 0; i < s->worker_count; i++)
        /* Acquire: the drain bank is complete. */
        if (!s->workers[i].lost &&
            !atomic_load_explicit(&s->workers[i].worker->ended,
                                  memory_order_acquire))
            return false;
    return true;
}

/* Stopped between Go and the start: there is nothing to tell. */
static bool none_opened(const struct sampler *s)
{
    for (uint32_t i = 0; i < s->worker_count; i++)
        if (s->workers[i].lost || s->workers[i].worker->opened_ns != 0)
            return false;
    return true;
}

/* Whether the drives may still say how they are after the phase. */
static bool await_health(struct sampler *s, uint64_t now_ns)
{
    if (s->health == NULL)
        return false;
    if (s->health_asked_ns == 0) {
        health_watch_ask(s->health);
        s->health_asked_ns = now_ns;
    }
    return now_ns < s->health_asked_ns + HEALTH_WAIT_NS &&
           health_watch_asked(s->health);
}

/* The last row, once all have ended. */
static const struct row *give_drain(struct sampler *s, uint64_t now_ns)
{
    if (!all_ended(s))
        return NULL;
    if (none_opened(s)) {
        s->drained = true;
        return NULL;
    }
    if (await_health(s, now_ns))
        return NULL;
    s->row.begin_ns = UINT64_MAX;
    for (uint32_t i = 0; i < s->worker_count; i++) {
        struct sampler_worker *sw = &s->workers[i];
        uint64_t stopped_ns;

        if (sw->lost) {
            s->row.late_workers++;
            continue;
        }
        stopped_ns = sw->worker->stopped_ns;
        if (stopped_ns < s->row.begin_ns)
            s->row.begin_ns = stopped_ns;
        merge_bank(s, sw, &sw->worker->banks.drain);
    }
    if (s->row.begin_ns == UINT64_MAX)
        s->row.begin_ns = s->row.end_ns = now_ns;
    s->drained = true;
    return give(s, ROW_DRAIN, now_ns);
}

const struct row *sampler_take(struct sampler *s, uint64_t now_ns)
{
    uint32_t missing;
    uint32_t through;

    if (s->given) {
        clear_row(s);
        begin_row(s, s->end);
    }
    if (s->drained)
        return NULL;
    note_look(s, now_ns);
    merge_all(s);
    missing = count_missing(s, &through);
    /* What comes after the rows of all intervals went without it belongs to the
     * drain row: the phase has no interval more. */
    if (through == s->worker_count &&
        (s->merged == 0 || s->row.interval >= s->intervals_max))
        return give_drain(s, now_ns);
    if (s->row.interval >= s->intervals_max)
        return NULL;
    if (missing == 0)
        return give_interval(s, now_ns);
    if (is_overdue(s, now_ns))
        return give_late(s, missing, now_ns);
    return NULL;
}

void sampler_watch(struct sampler *s, struct devices *devices,
                   struct health_watch *health, struct row_drive *drives)
{
    s->devices = devices;
    s->health = health;
    s->row.drives = drives;
    s->row.drive_count = devices->count;
}

uint64_t sampler_edge_ns(const struct sampler *s)
{
    return s->start_ns + (s->given ? s->end + 1 : s->end) * s->interval_ns;
}

void sampler_lose(struct sampler *s, uint32_t worker)
{
    s->workers[worker].lost = true;
}
