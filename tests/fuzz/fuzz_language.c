/*
 * A parameter file: read, expanded, matched to agents, placed and printed.
 *
 * Whatever the bytes, there is a plan whose promises hold, or a message.
 */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "controller/language/language.h"
#include "controller/plan/plan_text.h"
#include "tests/fuzz/fuzz.h"

#define INCLUDED "sd=inc,lun=/inc,size=1m\n"

static int include(void *user, const char *name, const char *from,
                   char **ret_text, size_t *ret_length)
{
    const char *text = INCLUDED;

    (void)user, (void)from;
    if (strncmp(name, LANGUAGE_PATTERN, strlen(LANGUAGE_PATTERN)) == 0)
        text = name + strlen(LANGUAGE_PATTERN); /* any text, to be decoded */
    else if (strcmp(name, "inc") != 0)
        return -ENOENT;
    *ret_text = strdup(text);
    *ret_length = strlen(text);
    return *ret_text != NULL ? 0 : -ENOMEM;
}

static void check_run(const struct plan *plan, const struct plan_run *run)
{
    double share = 0, skew = 0;
    bool shared = false; /* some have no rate of their own */

    assert(run->workload_count > 0 && run->cell_count > 0);
    for (uint32_t i = 0; i < run->workload_count; i++) {
        const struct plan_workload *workload = &run->workloads[i];
        double percent = 0;

        assert(workload->read_percent >= 0 && workload->read_percent <= 100);
        assert(workload->seek_percent >= 0 && workload->seek_percent <= 100);
        for (uint32_t k = 0; k < workload->size_count; k++) {
            assert(workload->sizes[k].bytes % 512 == 0);
            assert(workload->sizes[k].bytes > 0);
            percent += workload->sizes[k].percent;
        }
        assert(fabs(percent - 100) < 1e-6);
        skew += workload->skew;
        shared |= workload->rate == 0;
        assert(workload->rate == 0 || workload->priority > 0);
        assert(workload->stride_min <= workload->stride_max);
    }
    for (uint32_t i = 0; i < run->target_count; i++) {
        assert(run->targets[i].target < plan->target_count);
        assert(run->targets[i].threads >= 1);
    }
    for (uint32_t i = 0; i < run->cell_count; i++) {
        assert(run->cells[i].workload < run->workload_count);
        assert(run->cells[i].target < run->target_count);
        assert(run->cells[i].share > 0);
        assert(run->cells[i].slice < run->cells[i].slices);
        if (run->workloads[run->cells[i].workload].rate == 0)
            share += run->cells[i].share;
    }
    assert(!shared || (fabs(share - 1) < 1e-3 && fabs(skew - 100) < 1e-2));
    if (run->kind == PLAN_RUN_MEASURE)
        assert(run->elapsed_ns / run->interval_ns >= 2 &&
               run->elapsed_ns % run->interval_ns == 0 &&
               run->warmup_ns % run->interval_ns == 0);
}

static void check_regions(const struct plan *plan, const struct plan_run *run)
{
    for (uint32_t i = 0; i < run->cell_count; i++) {
        const struct plan_cell *cell = &run->cells[i];
        const struct plan_target *target =
            &plan->targets[run->targets[cell->target].target];

        const struct plan_workload *workload = &run->workloads[cell->workload];
        bool hits =
            workload->read_hit_percent > 0 || workload->write_hit_percent > 0;
        uint64_t length = cell->high - cell->low;

        if (cell->idle)
            continue;
        assert(cell->low < cell->high && cell->high <= target->size_bytes);
        assert(cell->wrap_high <= cell->low);
        assert(cell->wrap_low <= cell->wrap_high);
        assert(run->kind == PLAN_RUN_FILL || !hits ||
               length >= cell->hit_area + target->xfer_max);
        assert(workload->streams <= 1 ||
               length / workload->streams >= target->xfer_max);
        assert(cell->band_low >= 0 && cell->band_low <= 1 &&
               cell->band_high <= 1);
        assert(!target->facts.is_block || cell->low > 0);
    }
}

static void place(struct plan *plan, struct language_report *report)
{
    for (uint32_t i = 0; i < plan->target_count; i++) {
        struct plan_facts facts = {
            .is_block = strncmp(plan->targets[i].path, "/dev/", 5) == 0,
            .missing = strstr(plan->targets[i].path, "new") != NULL,
            .size_bytes = (uint64_t)1 << 30,
            .logical_block = 512,
            .device = plan->targets[i].path,
        };

        if (plan_set_facts(plan, i, &facts) < 0)
            return;
    }
    if (plan_place(plan, report) == 0) {
        for (uint32_t i = 0; i < plan->run_count; i++)
            check_regions(plan, &plan->runs[i]);
    } else {
        assert(language_report_failed(report));
    }
}

static void print(const struct plan *plan, const struct language_report *report)
{
    char first[256];

    free(language_report_text(report));
    language_report_first(report, first, sizeof(first));
    if (plan == NULL || plan->run_count > 2000)
        return;
    free(plan_text_runs(plan));
    free(plan_text_table(plan));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const used[] = {"mounted on /"};
    static const struct plan_drive drives[] = {
        {"sda", "/dev/sda", "", "M1", "S1", "F", "", 1u << 30, used, 1},
        {"sdb", "/dev/sdb", "", "M2", "S2", "F", "w2", 1u << 30, NULL, 0},
        {"sdc", "/dev/sdc", "", "M2", "", "F", "", 1u << 30, NULL, 0},
    };
    static const struct plan_agent agents[] = {
        {"h1", "h1", NULL, 0, NULL, 0, drives, ARRAY_LENGTH(drives)},
        {"h2", "h2", NULL, 0, NULL, 0, drives, 2},
    };
    static const struct plan_fleet fleet = {.agents = agents, .agent_count = 2};
    static const char *const variables[] = {"v=/new1", "v1=h2"};
    struct language_file file = {"fuzz", (const char *)data, size};
    bool with_fleet = size > 0 && data[size - 1] % 2 == 0;
    struct language_input input = {
        .files = &file,
        .file_count = 1,
        .variables = variables,
        .variable_count = size > 1 && data[size - 2] % 2 == 0 ? 2 : 0,
        .include = include,
        .keep_unsupported = true,
    };
    struct language_report report;
    struct definitions *definitions = NULL;
    struct plan *plan = NULL;
    int err;

    language_report_init(&report);
    err = language_read(&input, &report, &definitions);
    if (err == 0)
        err = plan_expand(definitions, with_fleet ? &fleet : NULL, &report,
                          &plan);
    assert((err == 0) == (plan != NULL));
    assert(err == 0 || err == -ENOMEM || language_report_failed(&report));
    for (uint32_t i = 0; plan != NULL && i < plan->run_count; i++)
        check_run(plan, &plan->runs[i]);
    if (plan != NULL)
        place(plan, &report);
    print(plan, &report);
    plan_free(plan);
    definitions_free(definitions);
    language_report_done(&report);
    return 0;
}
