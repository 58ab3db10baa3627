#include "tests/support/plans.h"

#include <assert.h>
#include <string.h>

static const char *const labels[PLANS_HOSTS] = {
    "host0",  "host1",  "host2",  "host3",  "host4",  "host5",
    "host6",  "host7",  "host8",  "host9",  "host10", "host11",
    "host12", "host13", "host14", "host15",
};

static const char *const names[PLANS_RUNS] = {
    "rd0", "rd1", "rd2", "rd3", "rd4", "rd5", "rd6", "rd7",
};

static void place_host(struct plans *plans, uint32_t i, uint32_t hosts)
{
    plans->hosts[i] = (struct plan_host){
        .label = labels[i],
        .system = labels[i],
        .aliases = "",
        .agent = i,
    };
    plans->targets[i] = (struct plan_target){
        .host = i,
        .sd = "sd1",
        .path = "/dev/drive",
        .size_bytes = 64u << 20,
        .xfer_max = 4096,
    };
    plans->run_targets[i] = (struct plan_run_target){
        .target = i,
        .threads = 8,
    };
    plans->cells[i] = (struct plan_cell){
        .target = i,
        .share = 1.0 / hosts,
        .slices = 1,
        .low = 4096,
        .high = 64u << 20,
    };
}

void plans_init(struct plans *plans, uint32_t hosts, uint32_t runs)
{
    assert(hosts <= PLANS_HOSTS && runs <= PLANS_RUNS);
    memset(plans, 0, sizeof(*plans));
    plans->size = (struct plan_size_share){.bytes = 4096, .percent = 100};
    plans->workload = (struct plan_workload){
        .name = "wd1",
        .read_percent = 100,
        .seek_percent = 100,
        .sizes = &plans->size,
        .size_count = 1,
        .skew = 100,
    };
    for (uint32_t i = 0; i < hosts; i++)
        place_host(plans, i, hosts);
    for (uint32_t i = 0; i < runs; i++)
        plans->runs[i] = (struct plan_run){
            .rd = names[i],
            .name = names[i],
            .rate = {.kind = PLAN_RATE_MAX},
            .for_text = "",
            .elapsed_ns = 10 * NS_PER_S,
            .interval_ns = NS_PER_S,
            .workloads = &plans->workload,
            .workload_count = 1,
            .targets = plans->run_targets,
            .target_count = hosts,
            .cells = plans->cells,
            .cell_count = hosts,
            .xfersize_text = "4k",
            .threads_text = "8",
            .rdpct_text = "100",
            .seekpct_text = "100",
        };
    plans->plan = (struct plan){
        .hosts = plans->hosts,
        .host_count = hosts,
        .targets = plans->targets,
        .target_count = hosts,
        .runs = plans->runs,
        .run_count = runs,
    };
}
