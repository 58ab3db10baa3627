/*
 * measure.h - made-up fleets and what they measure, for tests of results.
 *
 * A *field* is a plan of hosts with drives, every drive with a cell for each
 * workload.  Samples are made of latencies that the test also counts by itself.
 */
#ifndef TESTS_UNIT_RESULTS_MEASURE_H
#define TESTS_UNIT_RESULTS_MEASURE_H

#include "common/histogram.h"
#include "common/prng.h"
#include "controller/plan/plan.h"
#include "controller/results/sample.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INTERVAL_NS NS_PER_S

struct field {
    struct plan plan;
    uint32_t drives; /* a host */
    uint32_t workloads;
    char (*names)[16];
};

static inline char *field_name(struct field *f, uint32_t at, const char *prefix,
                               uint32_t number)
{
    (void)snprintf(f->names[at], sizeof(f->names[at]), "%s%u", prefix, number);
    return f->names[at];
}

static inline void field_run(struct field *f, struct plan_run *run,
                             const char *name)
{
    uint32_t cells = f->plan.target_count * f->workloads;

    *run = (struct plan_run){
        .rd = name,
        .name = name,
        .kind = PLAN_RUN_MEASURE,
        .rate = {PLAN_RATE_MAX, 0},
        .for_text = "",
        .interval_ns = INTERVAL_NS,
        .elapsed_ns = 10 * INTERVAL_NS,
        .xfersize_text = "4k",
        .threads_text = "8",
        .rdpct_text = "50",
        .seekpct_text = "100",
        .workloads = calloc(f->workloads, sizeof(struct plan_workload)),
        .workload_count = f->workloads,
        .targets = calloc(f->plan.target_count, sizeof(struct plan_run_target)),
        .target_count = f->plan.target_count,
        .cells = calloc(cells, sizeof(struct plan_cell)),
        .cell_count = cells,
    };
    for (uint32_t w = 0; w < f->workloads; w++)
        run->workloads[w].name =
            f->names[f->plan.host_count + f->plan.target_count + w];
    for (uint32_t t = 0; t < f->plan.target_count; t++)
        run->targets[t] = (struct plan_run_target){.target = t, .threads = 1};
    for (uint32_t c = 0; c < cells; c++)
        run->cells[c] = (struct plan_cell){.target = c / f->workloads,
                                           .workload = c % f->workloads};
}

static inline void field_init(struct field *f, uint32_t hosts, uint32_t drives,
                              uint32_t workloads, uint32_t runs)
{
    uint32_t targets = hosts * drives;

    *f = (struct field){.drives = drives, .workloads = workloads};
    f->names = calloc(hosts + targets + workloads + runs, sizeof(f->names[0]));
    f->plan.hosts = calloc(hosts, sizeof(struct plan_host));
    f->plan.host_count = hosts;
    f->plan.targets = calloc(targets, sizeof(struct plan_target));
    f->plan.target_count = targets;
    f->plan.runs = calloc(runs, sizeof(struct plan_run));
    f->plan.run_count = runs;
    for (uint32_t h = 0; h < hosts; h++)
        f->plan.hosts[h] = (struct plan_host){
            .label = field_name(f, h, "h", h), .system = "x", .aliases = ""};
    for (uint32_t t = 0; t < targets; t++)
        f->plan.targets[t] = (struct plan_target){
            .host = t / drives,
            .sd = field_name(f, hosts + t, "sd", t % drives),
            .path = "/dev/shared", /* the same everywhere: no key */
            .facts = {.device = "/dev/shared", .serial = "S1"}};
    for (uint32_t w = 0; w < workloads; w++)
        (void)field_name(f, hosts + targets + w, "wd", w);
    for (uint32_t r = 0; r < runs; r++)
        field_run(f, &f->plan.runs[r],
                  field_name(f, hosts + targets + workloads + r, "rd", r));
}

static inline void field_done(struct field *f)
{
    for (uint32_t r = 0; r < f->plan.run_count; r++) {
        free(f->plan.runs[r].workloads);
        free(f->plan.runs[r].targets);
        free(f->plan.runs[r].cells);
    }
    free(f->plan.runs);
    free(f->plan.targets);
    free(f->plan.hosts);
    free(f->names);
}

static inline uint32_t field_cell(const struct field *f, uint32_t host,
                                  uint32_t drive, uint32_t workload)
{
    return (host * f->drives + drive) * f->workloads + workload;
}

/* ---- Samples ---------------------------------------------------------------
 */

static inline struct sample *sample_of(uint32_t host, uint64_t interval,
                                       uint32_t max_cells)
{
    struct sample *s = calloc(1, sizeof(*s));

    s->host = host;
    s->interval = interval;
    s->parts = 1;
    s->spans = 1;
    s->begin_ns = (int64_t)(interval * INTERVAL_NS);
    s->end_ns = s->begin_ns + (int64_t)INTERVAL_NS;
    s->has_host = true;
    s->host_sample = (struct sample_host){
        .host_cpu_ns = NS_PER_S,
        .host_system_ns = NS_PER_S / 4,
        .capacity_ns = 4 * NS_PER_S,
        .agent_cpu_ns = NS_PER_S / 10,
    };
    s->cells = calloc(max_cells + 1, sizeof(*s->cells));
    s->memory = calloc(1, (size_t)max_cells * 8192 + 1);
    return s;
}

/* Where the next blob goes. */
static inline uint8_t *sample_room(struct sample *s)
{
    uint8_t *at = s->memory;

    for (uint32_t i = 0; i < s->cell_count; i++)
        at += s->cells[i].service_length + s->cells[i].response_length;
    return at;
}

/* Adds a cell of these service times; they are the response times plus 1 us
 * where `open_loop`. */
static inline struct sample_cell *sample_add(struct sample *s, uint32_t cell,
                                             enum sample_op op,
                                             const struct histogram *service,
                                             const struct histogram *response)
{
    uint8_t blob[HISTOGRAM_BLOB_MAX];
    uint8_t *at = sample_room(s);
    struct sample_cell *c = &s->cells[s->cell_count];

    c->cell = cell;
    c->op = op;
    c->ios = service->count;
    c->bytes = service->count * 4096;
    c->service_length = histogram_encode(service, blob);
    assert(c->service_length < 4096);
    memcpy(at, blob, c->service_length);
    c->service = c->service_length == 0 ? NULL : at;
    if (response != NULL) {
        c->response_length = histogram_encode(response, blob);
        assert(c->response_length < 4096);
        memcpy(at + c->service_length, blob, c->response_length);
        c->response = c->response_length == 0 ? NULL : at + c->service_length;
    }
    s->cell_count++;
    return c;
}

/* The same of one latency, many times. */
static inline struct sample_cell *
sample_add_many(struct sample *s, uint32_t cell, enum sample_op op,
                uint64_t latency_ns, uint64_t count)
{
    static struct histogram h;

    histogram_init(&h);
    histogram_record_many(&h, latency_ns, count);
    return sample_add(s, cell, op, &h, NULL);
}

#endif
