/*
 * What storing results costs: CPU of the loop's thread and of the store's, the
 * database's growth, the time of totals and of `show`.
 *
 *     bench.results DIRECTORY [HOSTS [DRIVES [INTERVALS [WORD]...]]]
 *
 *     mixed   reads and writes        open    with response times
 *     runs=N  so many runs, curves of ten points; the store stays a large
 *             campaign that a page and a report can be made of
 *     ios=N   of a drive in an interval
 *
 * Samples come as fast as they are taken; figures are per interval, that is
 * per second of a campaign with interval=1.
 */
#include "controller/results/results.h"
#include "common/histogram.h"
#include "common/prng.h"
#include "common/uuid.h"
#include "controller/plan/plan.h"

#include <assert.h>
#include <math.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#define IOS      20000u /* a drive and interval; ios= */
#define SHAPES   16u    /* different histograms, to be drawn from */
#define BLOB_MAX 8192u

struct bench {
    struct plan plan;
    uint32_t drives;
    uint32_t runs;
    uint32_t ios;
    uint32_t phase; /* at hand */
    bool mixed;
    bool open;
    struct clock_manual clock;
    struct results *results;
    sem_t woken;
    struct uuid id;
    uint8_t blobs[SHAPES][BLOB_MAX];
    size_t lengths[SHAPES];
    uint64_t counts[SHAPES];
    uint32_t intervals; /* of all phases */
    uint32_t stored;
    uint32_t phases;
    uint32_t campaigns;
    uint32_t answers;
    size_t answer_bytes;
    double merging_s; /* CPU of the loop in results_sample() */
};

static double now_s(clockid_t clock)
{
    struct timespec time;

    (void)clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* 80 us, lognormal, with 1 % of a tail of 1 ms: as an NVMe drive has it. */
static uint64_t latency_ns(struct prng *prng)
{
    double normal = sqrt(-2 * log(prng_unit(prng))) *
                    cos(6.283185307179586 * prng_unit(prng));

    if (prng_below(prng, 100) == 0)
        return (uint64_t)(-1e6 * log(prng_unit(prng)));
    return (uint64_t)(80e3 * exp(0.25 * normal));
}

static void make_shapes(struct bench *b)
{
    static uint8_t blob[HISTOGRAM_BLOB_MAX];
    static struct histogram h;
    struct prng prng;

    prng_seed(&prng, 1);
    for (uint32_t i = 0; i < SHAPES; i++) {
        histogram_init(&h);
        for (uint32_t k = 0; k < b->ios; k++)
            histogram_record(&h, latency_ns(&prng));
        b->lengths[i] = histogram_encode(&h, blob);
        assert(b->lengths[i] <= BLOB_MAX);
        memcpy(b->blobs[i], blob, b->lengths[i]);
        b->counts[i] = h.count;
    }
}

static void make_plan(struct bench *b, uint32_t hosts)
{
    static struct plan_workload workload = {.name = "wd1"};
    uint32_t targets = hosts * b->drives;
    struct plan_run *run = calloc(b->runs, sizeof(*run));

    b->plan.hosts = calloc(hosts, sizeof(struct plan_host));
    b->plan.host_count = hosts;
    b->plan.targets = calloc(targets, sizeof(struct plan_target));
    b->plan.target_count = targets;
    b->plan.runs = run;
    b->plan.run_count = b->runs;
    run->name = "rd1";
    run->rate.kind = PLAN_RATE_MAX;
    run->for_text = run->xfersize_text = run->threads_text = "";
    run->rdpct_text = run->seekpct_text = "";
    run->interval_ns = NS_PER_S;
    run->workloads = &workload;
    run->workload_count = 1;
    run->targets = calloc(targets, sizeof(struct plan_run_target));
    run->target_count = targets;
    run->cells = calloc(targets, sizeof(struct plan_cell));
    run->cell_count = targets;
    for (uint32_t h = 0; h < hosts; h++) {
        char label[16];

        (void)snprintf(label, sizeof(label), "host%u", h);
        b->plan.hosts[h].label = strdup(label);
    }
    for (uint32_t t = 0; t < targets; t++) {
        char sd[16];

        (void)snprintf(sd, sizeof(sd), "sd%u", t % b->drives);
        b->plan.targets[t].host = t / b->drives;
        b->plan.targets[t].sd = strdup(sd);
        run->targets[t].target = t;
        run->cells[t].target = t;
    }
    for (uint32_t i = 1; i < b->runs; i++) { /* ten points of a curve each */
        char name[32];

        (void)snprintf(name, sizeof(name), "rd%u_(%u%%)", i / 10 + 1,
                       i % 10 * 10 + 10);
        run[i] = *run;
        run[i].name = strdup(name);
        run[i].rate.kind = PLAN_RATE_PERCENT;
        run[i].rate.value = i % 10 * 10 + 10;
    }
}

/* ---- The handler -----------------------------------------------------------
 */

static void on_stored(void *data, const struct uuid *campaign, uint32_t phase,
                      uint32_t host, uint64_t next)
{
    struct bench *b = data;

    (void)campaign;
    (void)phase;
    (void)host;
    (void)next;
    b->stored++;
}

static void on_event(void *data, const struct uuid *campaign,
                     struct results_event *event)
{
    (void)data;
    (void)campaign;
    (void)event; /* nobody watches */
}

static void on_phase_done(void *data, const struct uuid *campaign,
                          uint32_t phase, const struct results_total *total)
{
    struct bench *b = data;

    (void)campaign;
    (void)phase;
    (void)total;
    b->phases++;
}

static void on_campaign_done(void *data, const struct uuid *campaign)
{
    struct bench *b = data;

    (void)campaign;
    b->campaigns++;
}

static void on_failed(void *data, const struct uuid *campaign,
                      const struct diag *why)
{
    (void)data;
    (void)campaign;
    fprintf(stderr, "%s\n", why->text);
    abort();
}

static const struct results_handler handler = {
    .stored = on_stored,
    .event = on_event,
    .phase_done = on_phase_done,
    .campaign_done = on_campaign_done,
    .failed = on_failed,
};

static void on_wake(void *data)
{
    struct bench *b = data;

    (void)sem_post(&b->woken);
}

static void on_answered(void *data, const struct results_answer *answer)
{
    struct bench *b = data;

    b->answers++;
    b->answer_bytes = answer->length;
}

static void until(struct bench *b, const uint32_t *counter, uint32_t value)
{
    (void)results_poll(b->results);
    while (*counter < value) {
        while (sem_wait(&b->woken) != 0)
            ;
        (void)results_poll(b->results);
    }
}

/* ---- Samples ---------------------------------------------------------------
 */

static void put_cell(const struct bench *b, struct sample *s, uint32_t cell,
                     enum sample_op op, uint32_t shape)
{
    struct sample_cell *to = &s->cells[s->cell_count];
    uint8_t *at = (uint8_t *)s->memory + s->cell_count * 2 * BLOB_MAX;

    *to = (struct sample_cell){.cell = cell, .op = op};
    to->ios = b->counts[shape];
    to->bytes = to->ios * 4096;
    memcpy(at, b->blobs[shape], b->lengths[shape]);
    to->service = at;
    to->service_length = b->lengths[shape];
    if (b->open) {
        memcpy(at + BLOB_MAX, b->blobs[shape], b->lengths[shape]);
        to->response = at + BLOB_MAX;
        to->response_length = b->lengths[shape];
    }
    s->cell_count++;
}

static struct sample *make_sample(const struct bench *b, uint32_t host,
                                  uint64_t interval)
{
    uint32_t ops = b->mixed ? 2 : 1;
    struct sample *s = calloc(1, sizeof(*s));

    s->host = host;
    s->interval = interval;
    s->parts = 1;
    s->spans = 1;
    s->begin_ns = (int64_t)(interval * NS_PER_S);
    s->end_ns = s->begin_ns + (int64_t)NS_PER_S;
    s->has_host = true;
    s->host_sample.capacity_ns = NS_PER_S;
    s->cells = calloc((size_t)b->drives * ops, sizeof(*s->cells));
    s->memory = malloc((size_t)b->drives * ops * 2 * BLOB_MAX);
    for (uint32_t d = 0; d < b->drives; d++)
        for (uint32_t op = 0; op < ops; op++)
            put_cell(b, s, host * b->drives + d, (enum sample_op)op,
                     (host + d + (uint32_t)interval + op) % SHAPES);
    return s;
}

static void run_interval(struct bench *b, uint64_t interval)
{
    clock_manual_advance(&b->clock, NS_PER_S);
    for (uint32_t h = 0; h < b->plan.host_count; h++) {
        struct sample *s = make_sample(b, h, interval);
        double before = now_s(CLOCK_THREAD_CPUTIME_ID);
        struct diag diag;
        int err = results_sample(b->results, &b->id, b->phase, s, &diag);

        assert(err == 0);
        b->merging_s += now_s(CLOCK_THREAD_CPUTIME_ID) - before;
    }
    until(b, &b->stored, ++b->intervals * b->plan.host_count);
}

static double megabytes(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? (double)st.st_size / 1e6 : 0;
}

static void begin(struct bench *b, const char *path)
{
    const struct results_options options = {.path = path,
                                            .version = "bench",
                                            .clock = &b->clock.clock,
                                            .handler = &handler,
                                            .wake = on_wake,
                                            .data = b};
    const struct results_campaign campaign = {
        .id = uuid_random(), .name = "bench", .who = "bench"};
    uint64_t number;
    struct diag diag;
    int err = results_open(&options, &b->results, &diag);

    if (err == 0)
        err = results_campaign_add(b->results, &campaign, &number, &diag);
    b->id = campaign.id;
    if (err == 0)
        err = results_campaign_plan(b->results, &b->id, &b->plan, NULL, NULL,
                                    &diag);
    if (err < 0) {
        fprintf(stderr, "%s\n", diag.text);
        abort();
    }
}

static void begin_phase(struct bench *b)
{
    const struct results_phase asked = {b->open ? 1000 : 0, 0, 1000000};
    struct diag diag;
    int err = results_phase_begin(b->results, &b->id, b->phase, &asked, &diag);

    if (err == 0)
        err = results_phase_started(b->results, &b->id, b->phase,
                                    b->clock.now_ns, 0);
    if (err < 0) {
        fprintf(stderr, "%s\n", diag.text);
        abort();
    }
}

/* Its agents say that this was all. */
static void end_phase(struct bench *b, uint32_t intervals)
{
    for (uint32_t h = 0; h < b->plan.host_count; h++)
        (void)!results_host_finished(b->results, &b->id, b->phase, h, intervals,
                                     NULL, 0);
    (void)!results_phase_end(b->results, &b->id, b->phase, VERDICT_NONE, NULL);
    until(b, &b->phases, b->phase + 1);
    (void)!results_phase_verdict(b->results, &b->id, b->phase, VERDICT_COMPLETE,
                                 NULL);
}

static void finish(struct bench *b, uint32_t intervals)
{
    double start = now_s(CLOCK_PROCESS_CPUTIME_ID);

    end_phase(b, intervals);
    printf("totals: %.3f s of CPU\n", now_s(CLOCK_PROCESS_CPUTIME_ID) - start);
    (void)!results_campaign_end(b->results, &b->id, VERDICT_COMPLETE, NULL);
    until(b, &b->campaigns, 1);
    start = now_s(CLOCK_PROCESS_CPUTIME_ID);
    (void)!results_query(b->results, RESULTS_QUERY_SHOW, "", on_answered, b);
    until(b, &b->answers, 1);
    printf("show: %.3f s of CPU, %.2f MB\n",
           now_s(CLOCK_PROCESS_CPUTIME_ID) - start,
           (double)b->answer_bytes / 1e6);
}

static uint32_t argument(int argc, char **argv, int at, uint32_t fallback)
{
    return argc > at ? (uint32_t)strtoul(argv[at], NULL, 10) : fallback;
}

static void take_word(struct bench *b, const char *word)
{
    b->mixed |= strcmp(word, "mixed") == 0;
    b->open |= strcmp(word, "open") == 0;
    if (strncmp(word, "runs=", 5) == 0)
        b->runs = (uint32_t)strtoul(word + 5, NULL, 10);
    if (strncmp(word, "ios=", 4) == 0)
        b->ios = (uint32_t)strtoul(word + 4, NULL, 10);
}

/* All phases; the last of them is not ended yet. */
static void run(struct bench *b, uint32_t intervals)
{
    for (b->phase = 0;; b->phase++) {
        begin_phase(b);
        for (uint64_t k = 0; k < intervals; k++)
            run_interval(b, k);
        if (b->phase + 1 == b->runs)
            return;
        end_phase(b, intervals);
    }
}

static void measure(struct bench *b, const char *path, uint32_t intervals)
{
    double all_s = now_s(CLOCK_PROCESS_CPUTIME_ID);
    double whole_s = now_s(CLOCK_THREAD_CPUTIME_ID);
    struct rusage usage;

    run(b, intervals);
    all_s = now_s(CLOCK_PROCESS_CPUTIME_ID) - all_s;
    whole_s = now_s(CLOCK_THREAD_CPUTIME_ID) - whole_s;
    (void)getrusage(RUSAGE_SELF, &usage);
    printf("%u hosts x %u drives, %s, %s loop, %u runs of %u intervals\n",
           b->plan.host_count, b->drives, b->mixed ? "mixed" : "reads",
           b->open ? "open" : "closed", b->runs, intervals);
    printf("loop: %.2f ms an interval (merging and queueing)\n",
           b->merging_s * 1e3 / b->intervals);
    printf("store: %.2f ms an interval\n",
           (all_s - whole_s) * 1e3 / b->intervals);
    printf("database: %.3f MB an interval; memory at most %.0f MB\n",
           megabytes(path) / b->intervals, (double)usage.ru_maxrss / 1e3);
}

int main(int argc, char **argv)
{
    static struct bench b = {.runs = 1, .ios = IOS};
    uint32_t hosts = argument(argc, argv, 2, 200);
    uint32_t intervals = argument(argc, argv, 4, 60);
    char path[1024];

    if (argc < 2) {
        fputs("bench.results DIRECTORY [HOSTS [DRIVES [INTERVALS [mixed] "
              "[open] [runs=N] [ios=N]]]]\n",
              stderr);
        return 2;
    }
    b.drives = argument(argc, argv, 3, 8);
    for (int i = 5; i < argc; i++)
        take_word(&b, argv[i]);
    (void)snprintf(path, sizeof(path), "%s/bench-results.db", argv[1]);
    (void)sem_init(&b.woken, 0, 0);
    clock_manual_init(&b.clock, NS_PER_S);
    make_shapes(&b);
    make_plan(&b, hosts);
    begin(&b, path);
    measure(&b, path, intervals);
    finish(&b, intervals);
    b.results = results_close(b.results);
    return 0;
}
