/*
 * What must be true of every expansion: random files, made of parts whose
 * meaning is simple, expanded and held against it.
 */
#include "common/prng.h"
#include "controller/language/definitions.h"
#include "tests/support/parm.h"
#include "tests/support/suite.h"

#include <math.h>

#define ROUNDS 100

struct made {
    char text[8192];
    uint32_t hosts;
    uint32_t sds;
    uint32_t wds;
    uint64_t runs; /* that the rds must become */
};

static uint32_t below(struct prng *prng, uint32_t bound)
{
    return (uint32_t)prng_below(prng, bound);
}

/* A list or a range of so many values, 1 at least; gives how many. */
static uint32_t add_list(struct prng *prng, struct made *made, const char *name,
                         uint32_t unit)
{
    uint32_t count = 1 + below(prng, 4);
    uint32_t first = 1 + below(prng, 5);

    if (below(prng, 2) == 0) {
        parm_append(made->text, sizeof(made->text), ",%s=(%u-%u,%u)", name,
                    first * unit, (first + count - 1) * unit, unit);
        return count;
    }
    parm_append(made->text, sizeof(made->text), ",%s=(", name);
    for (uint32_t i = 0; i < count; i++)
        parm_append(made->text, sizeof(made->text), "%s%u", i > 0 ? "," : "",
                    (first + i) * unit);
    parm_append(made->text, sizeof(made->text), ")");
    return count;
}

static void add_run(struct prng *prng, struct made *made, uint32_t index)
{
    uint64_t runs = 1;

    parm_append(made->text, sizeof(made->text), "rd=r%u,wd=*", index);
    if (below(prng, 2) == 0)
        runs *= add_list(prng, made, "forthreads", 1);
    if (below(prng, 2) == 0)
        runs *= add_list(prng, made, "xfersize", 4096);
    if (below(prng, 2) == 0)
        runs *= add_list(prng, made, "forrdpct", 12);
    if (below(prng, 3) == 0)
        runs *= add_list(prng, made, "seekpct", 12);
    switch (below(prng, 3)) {
    case 0:
        parm_append(made->text, sizeof(made->text), ",iorate=max");
        break;
    case 1:
        runs *= add_list(prng, made, "iorate", 100);
        break;
    case 2:
        parm_append(made->text, sizeof(made->text), ",iorate=curve");
        runs *= add_list(prng, made, "curve", 10) + 1;
        break;
    }
    parm_append(made->text, sizeof(made->text), "\n");
    made->runs += runs;
}

static void make(struct prng *prng, struct made *made)
{
    uint32_t rds = 1 + below(prng, 4);

    memset(made, 0, sizeof(*made));
    made->hosts = 1 + below(prng, 4);
    made->sds = 1 + below(prng, 6);
    made->wds = 1 + below(prng, 4);
    for (uint32_t i = 0; i < made->hosts; i++)
        parm_append(made->text, sizeof(made->text), "hd=h%u\n", i);
    for (uint32_t i = 0; i < made->sds; i++)
        parm_append(made->text, sizeof(made->text),
                    "sd=s%u,lun=/dev/d%u,threads=%u\n", i, i,
                    1 + below(prng, 40));
    for (uint32_t i = 0; i < made->wds; i++)
        parm_append(made->text, sizeof(made->text),
                    "wd=w%u,sd=*,rdpct=%u,seekpct=%u%s\n", i, below(prng, 101),
                    below(prng, 2) * 100,
                    i > 0 && below(prng, 2) == 0 ? ",skew=10" : "");
    for (uint32_t i = 0; i < rds; i++)
        add_run(prng, made, i);
}

/* Shares add up, threads are all there, hosts have equal parts. */
static void check_run(const struct made *made, const struct plan_run *run)
{
    double share = 0;

    ck_assert_uint_eq(run->workload_count, made->wds);
    ck_assert_uint_eq(run->target_count, made->hosts * made->sds);
    ck_assert_uint_eq(run->cell_count, run->target_count * made->wds);
    for (uint32_t i = 0; i < run->cell_count; i++) {
        const struct plan_cell *cell = &run->cells[i];
        const struct plan_workload *workload = &run->workloads[cell->workload];
        bool cut = workload->seek_percent == 0 && made->hosts > 1;

        share += cell->share;
        ck_assert_double_eq_tol(
            cell->share, workload->skew / 100 / run->target_count, 1e-12);
        ck_assert_uint_eq(cell->slices, cut ? made->hosts : 1);
        if (workload->read_percent < 100)
            ck_assert(run->targets[cell->target].write);
    }
    ck_assert_double_eq_tol(share, 1, 1e-9);
}

/* threads= of an sd, over its hosts: not less, and more only to give one each.
 */
static void check_threads(const struct made *made, const struct parm *parm,
                          const struct plan_run *run)
{
    for (uint32_t sd = 0; sd < made->sds; sd++) {
        const char *name = parm->definitions->sds[sd].name;
        uint32_t asked = parm->definitions->sds[sd].threads;
        uint32_t sum = 0;

        if (strstr(run->for_text, "threads=") != NULL)
            sscanf(strstr(run->for_text, "threads="), "threads=%u", &asked);
        for (uint32_t i = 0; i < run->target_count; i++)
            if (strcmp(parm->plan->targets[run->targets[i].target].sd, name) ==
                0)
                sum += run->targets[i].threads;
        ck_assert_uint_eq(sum, asked > made->hosts ? asked : made->hosts);
    }
}

/* A point of a curve follows its maximum, or another of its points. */
static void check_order(const struct plan *plan)
{
    for (uint32_t i = 0; i < plan->run_count; i++) {
        const struct plan_run *run = &plan->runs[i];
        const struct plan_run *before = i > 0 ? run - 1 : NULL;

        if (run->rate.kind != PLAN_RATE_PERCENT)
            continue;
        ck_assert_ptr_nonnull(before);
        ck_assert(before->rate.kind == PLAN_RATE_CURVE ||
                  before->rate.kind == PLAN_RATE_PERCENT);
        ck_assert_str_eq(run->rd, before->rd);
        ck_assert_str_eq(run->for_text, before->for_text);
    }
}

/* No two cells of one sequential workload and sd share a byte. */
static void check_regions(const struct plan *plan, const struct plan_run *run)
{
    for (uint32_t i = 0; i < run->cell_count; i++) {
        const struct plan_cell *a = &run->cells[i];
        uint32_t target = run->targets[a->target].target;

        ck_assert_uint_lt(a->low, a->high);
        ck_assert_uint_ge(a->low, plan->targets[target].xfer_max);
        ck_assert_uint_le(a->high, plan->targets[target].size_bytes);
        for (uint32_t k = i + 1; k < run->cell_count && a->slices > 1; k++) {
            const struct plan_cell *b = &run->cells[k];
            uint32_t other = run->targets[b->target].target;

            if (a->workload == b->workload &&
                strcmp(plan->targets[target].sd, plan->targets[other].sd) == 0)
                ck_assert(a->high <= b->low || b->high <= a->low);
        }
    }
}

START_TEST(test_expansions)
{
    uint64_t seed = suite_seed();
    struct plan_facts facts = {
        .is_block = true, .size_bytes = 100u << 20, .logical_block = 512};
    struct prng prng;

    prng_seed(&prng, seed);
    for (int round = 0; round < ROUNDS; round++) {
        struct made made;
        struct parm parm;

        make(&prng, &made);
        parm_expand(&parm, made.text, NULL);
        ck_assert_msg(parm.err == 0, "TEST_SEED=%llu: %s\n%s",
                      (unsigned long long)seed, parm.messages, made.text);
        ck_assert_msg(parm.plan->run_count == made.runs,
                      "TEST_SEED=%llu: %u runs, expected %llu\n%s",
                      (unsigned long long)seed, parm.plan->run_count,
                      (unsigned long long)made.runs, made.text);
        for (uint32_t i = 0; i < parm.plan->run_count; i++) {
            check_run(&made, &parm.plan->runs[i]);
            check_threads(&made, &parm, &parm.plan->runs[i]);
        }
        check_order(parm.plan);
        for (uint32_t i = 0; i < parm.plan->target_count; i++)
            ck_assert_int_eq(plan_set_facts(parm.plan, i, &facts), 0);
        ck_assert_int_eq(plan_place(parm.plan, &parm.report), 0);
        for (uint32_t i = 0; i < parm.plan->run_count; i++)
            check_regions(parm.plan, &parm.plan->runs[i]);
        parm_done(&parm);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("properties");
    TCase *tests = tcase_create("properties");

    tcase_set_timeout(tests, 100);
    tcase_add_test(tests, test_expansions);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
