/* placement.c - see placement.h; what the host has is in placement_host.c. */
#include "agent/placement.h"

#include <assert.h>
#include <string.h>

/* Where targets want to be: a node, or anywhere.  Numbered from 0 on. */
#define WISHES        (PLACEMENT_NODES_MAX + 1)
#define ANYWHERE      0u
#define WISH_OF(node) ((uint32_t)((node) + 1))

/* A choice in the making. */
struct choosing {
    const struct placement_host *host;
    uint32_t turn;
    uint32_t free[WISHES];    /* CPUs */
    uint32_t targets[WISHES]; /* that wish so */
    uint32_t workers[WISHES]; /* that serve them */
    bool taken[PLACEMENT_CPUS_MAX];
    uint32_t crowd[PLACEMENT_CPUS_MAX]; /* workers on the core, by CPU */
    uint32_t wish_of[JOB_TARGETS_MAX];  /* by worker */
    struct placement *into;
};

static bool is_node(int32_t node)
{
    return node >= 0 && node < (int32_t)PLACEMENT_NODES_MAX;
}

static void count_cpus(struct choosing *c)
{
    for (uint32_t i = 0; i < c->host->cpu_count; i++) {
        int32_t node = c->host->cpus[i].node;

        c->free[ANYWHERE]++;
        if (is_node(node))
            c->free[WISH_OF(node)]++;
    }
}

/* A node of which we may use no CPU is as good as none. */
static uint32_t wish_for(const struct placement_host *host, int32_t node)
{
    for (uint32_t i = 0; is_node(node) && i < host->cpu_count; i++)
        if (host->cpus[i].node == node)
            return WISH_OF(node);
    return ANYWHERE;
}

/* A free CPU, on the least crowded core; there is one. */
static uint32_t free_cpu(const struct choosing *c, uint32_t wish)
{
    uint32_t count = c->host->cpu_count;
    uint32_t best = 0, least = UINT32_MAX;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = (i + c->turn) % count;

        if (c->taken[at] || c->crowd[at] >= least ||
            (wish != ANYWHERE && !is_node(c->host->cpus[at].node)) ||
            (wish != ANYWHERE && WISH_OF(c->host->cpus[at].node) != wish))
            continue;
        least = c->crowd[at];
        best = at;
    }
    assert(least < UINT32_MAX);
    return best;
}

/* Whose targets share a worker with the most others and can have one more;
 * WISHES when nobody's can. */
static uint32_t neediest(const struct choosing *c)
{
    uint32_t best = WISHES;
    double most = 0;

    for (uint32_t wish = 0; wish < WISHES; wish++) {
        double need = (double)c->targets[wish] / (c->workers[wish] + 0.5);

        if (c->workers[wish] >= c->targets[wish] || c->free[wish] == 0 ||
            need <= most)
            continue;
        most = need;
        best = wish;
    }
    return best;
}

static void add_worker(struct choosing *c, uint32_t wish)
{
    const struct placement_cpu *cpus = c->host->cpus;
    uint32_t at = free_cpu(c, wish);
    struct placement *p = c->into;

    c->taken[at] = true;
    c->free[ANYWHERE]--;
    if (is_node(cpus[at].node))
        c->free[WISH_OF(cpus[at].node)]--;
    for (uint32_t i = 0; i < c->host->cpu_count; i++)
        c->crowd[i] += cpus[i].core == cpus[at].core;
    c->workers[wish]++;
    c->wish_of[p->worker_count] = wish;
    p->workers[p->worker_count++] = (struct placement_worker){
        .cpu = cpus[at].number,
        .node = cpus[at].node,
    };
}

/* The worker with the fewest targets among those of the wish; among all where
 * it has none. */
static uint32_t idlest(const struct choosing *c, uint32_t wish)
{
    const struct placement *p = c->into;
    uint32_t best = 0, least = UINT32_MAX;

    for (uint32_t i = 0; i < p->worker_count; i++) {
        bool fits = c->workers[wish] == 0 || c->wish_of[i] == wish;

        if (fits && p->workers[i].target_count < least) {
            least = p->workers[i].target_count;
            best = i;
        }
    }
    return best;
}

void placement_choose(const struct placement_host *host, const int32_t *nodes,
                      uint32_t target_count, uint32_t workers_max,
                      uint32_t turn, struct placement *ret_placement)
{
    struct choosing c = {.host = host, .turn = turn, .into = ret_placement};
    uint32_t wish;

    assert(target_count <= JOB_TARGETS_MAX && host->cpu_count > 0);
    memset(ret_placement, 0, sizeof(*ret_placement));
    count_cpus(&c);
    for (uint32_t i = 0; i < target_count; i++)
        c.targets[wish_for(host, nodes[i])]++;
    while ((workers_max == 0 || ret_placement->worker_count < workers_max) &&
           (wish = neediest(&c)) < WISHES)
        add_worker(&c, wish);
    for (uint32_t i = 0; i < target_count; i++) {
        uint32_t worker = idlest(&c, wish_for(host, nodes[i]));

        ret_placement->worker_of[i] = worker;
        ret_placement->workers[worker].target_count++;
    }
}

/* ---- targets that belong together ---- */

/* The first of those that a target belongs with. */
static uint32_t head_of(const uint32_t *heads, uint32_t target)
{
    while (heads[target] != target)
        target = heads[target];
    return target;
}

static void join_targets(const struct job *job, uint32_t *heads)
{
    for (uint32_t i = 0; i < job->target_count; i++)
        heads[i] = i;
    for (uint32_t i = 0; i < job->cell_count; i++) {
        const struct job_cell *cell = &job->cells[i];
        uint32_t a, b;

        if (cell->joins == 0)
            continue;
        a = head_of(heads, job->cells[cell->joins - 1].target);
        b = head_of(heads, cell->target);
        heads[a > b ? a : b] = a > b ? b : a;
    }
}

void placement_choose_job(const struct placement_host *host,
                          const int32_t *nodes, const struct job *job,
                          uint32_t workers_max, uint32_t turn,
                          struct placement *ret_placement)
{
    uint32_t heads[JOB_TARGETS_MAX], number[JOB_TARGETS_MAX];
    uint32_t worker_of[JOB_TARGETS_MAX];
    int32_t group_nodes[JOB_TARGETS_MAX];
    uint32_t groups = 0;

    join_targets(job, heads);
    for (uint32_t i = 0; i < job->target_count; i++)
        if (heads[i] == i) {
            group_nodes[groups] = nodes[i];
            number[i] = groups++;
        }
    placement_choose(host, group_nodes, groups, workers_max, turn,
                     ret_placement);
    memcpy(worker_of, ret_placement->worker_of, sizeof(worker_of));
    for (uint32_t i = 0; i < job->target_count; i++) {
        uint32_t head = head_of(heads, i);
        uint32_t worker = worker_of[number[head]];

        ret_placement->worker_of[i] = worker;
        ret_placement->workers[worker].target_count += head != i;
    }
}
