/* Which worker serves which drives, on which CPU. */
#include "agent/placement.h"

#include "tests/support/suite.h"
#include "tests/support/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two sockets of two cores of two threads; CPU 5 does not exist. */
static const char *const two_sockets[] = {
    "/sys/devices/system/node/node0/cpulist = 0-1,4",
    "/sys/devices/system/node/node1/cpulist = 2-3,6-7",
    "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list = 0,4",
    "/sys/devices/system/cpu/cpu1/topology/thread_siblings_list = 1",
    "/sys/devices/system/cpu/cpu2/topology/thread_siblings_list = 2,6",
    "/sys/devices/system/cpu/cpu3/topology/thread_siblings_list = 3,7",
    "/sys/devices/system/cpu/cpu4/topology/thread_siblings_list = 0,4",
    "/sys/devices/system/cpu/cpu6/topology/thread_siblings_list = 2,6",
    "/sys/devices/system/cpu/cpu7/topology/thread_siblings_list = 3,7",
    "/sys/devices/pci0000:80/0000:80:01.0/numa_node = 1",
    "/sys/devices/pci0000:80/0000:80:01.0/nvme/nvme0/nvme0n1/size = 1000",
    "/sys/devices/pci0000:80/0000:80:01.0/nvme/nvme0/nvme0n1/nvme0n1p1/size "
    "= 10",
    "/sys/devices/pci0000:00/0000:00:01.0/numa_node = -1",
    "/sys/devices/pci0000:00/0000:00:01.0/block/sda/size = 1000",
    "/sys/class/block/nvme0n1 -> "
    "../../devices/pci0000:80/0000:80:01.0/nvme/nvme0/nvme0n1",
    "/sys/class/block/nvme0n1p1 -> "
    "../../devices/pci0000:80/0000:80:01.0/nvme/nvme0/nvme0n1/nvme0n1p1",
    "/sys/class/block/sda -> ../../devices/pci0000:00/0000:00:01.0/block/sda",
};

static char *root;
static struct placement_host host;
static struct placement placed;

static void setup(const char *cpus)
{
    char path[PATH_SIZE];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/tree", suite_directory());
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    for (size_t i = 0; i < ARRAY_LENGTH(two_sockets); i++)
        fprintf(file, "%s\n", two_sockets[i]);
    ck_assert_int_eq(fclose(file), 0);
    root = tree_make(path);
    placement_host_of(root, cpus, &host);
}

static void teardown(void)
{
    free(root);
}

#define A (-1) /* a drive anywhere */
#define X 4294967295u

static const struct {
    const char *cpus;
    int32_t nodes[8];
    uint32_t targets;
    uint32_t max;
    uint32_t turn;
    uint32_t workers;
    uint32_t cpu[8];    /* of each worker */
    uint32_t worker[8]; /* of each target */
} table[] = {
    /* one drive, one worker, wherever it may be */
    {"0-4,6-7", {A}, 1, 0, 0, 1, {0}, {0}},
    {"0-4,6-7", {A}, 1, 0, 1, 1, {1}, {0}},
    {"3", {A}, 1, 0, 5, 1, {3}, {0}},
    /* cores before their second threads */
    {"0-4,6-7", {A, A, A, A, A}, 5, 0, 0, 5, {0, 1, 2, 3, 4}, {0, 1, 2, 3, 4}},
    {"0,4,1", {A, A, A}, 3, 0, 0, 3, {0, 1, 4}, {0, 1, 2}},
    /* near the drive */
    {"0-4,6-7", {1}, 1, 0, 0, 1, {2}, {0}},
    {"0-4,6-7", {1, 0, 1}, 3, 0, 0, 3, {2, 0, 3}, {0, 1, 2}},
    /* P01: only what is allowed; the drive's node has no CPU of ours */
    {"4,6", {A, A}, 2, 0, 0, 2, {4, 6}, {0, 1}},
    {"0-1", {1, 1}, 2, 0, 0, 2, {0, 1}, {0, 1}},
    {"0-1", {1, 0, A}, 3, 0, 0, 2, {0, 1}, {0, 1, 0}},
    /* P02: four drives, two CPUs that are not the first */
    {"2,4", {A, A, A, A}, 4, 0, 0, 2, {2, 4}, {0, 1, 0, 1}},
    /* fewer workers than drives: the node with more drives gets more */
    {"0-4,6-7", {1, 1, 1, 1, 0, 0}, 6, 3, 0, 3, {2, 0, 3}, {0, 2, 0, 2, 1, 1}},
    /* one worker for drives of two nodes */
    {"0-4,6-7", {0, 1, 1}, 3, 1, 0, 1, {2}, {0, 0, 0}},
    /* a limit beyond the drives changes nothing */
    {"0-4,6-7", {A, A}, 2, 100, 0, 2, {0, 1}, {0, 1}},
    /* the kernel does not tell */
    {"", {A, A}, 2, 0, 0, 1, {X}, {0, 0}},
};

START_TEST(workers_are_placed)
{
    setup(table[_i].cpus);
    placement_choose(&host, table[_i].nodes, table[_i].targets, table[_i].max,
                     table[_i].turn, &placed);
    ck_assert_uint_eq(placed.worker_count, table[_i].workers);
    for (uint32_t i = 0; i < table[_i].workers; i++)
        ck_assert_uint_eq(placed.workers[i].cpu, table[_i].cpu[i]);
    for (uint32_t i = 0; i < table[_i].targets; i++)
        ck_assert_uint_eq(placed.worker_of[i], table[_i].worker[i]);
    teardown();
}
END_TEST

/* Whatever the host and the drives: every target has a worker, no CPU two,
 * and the load is even within a node. */
START_TEST(any_host_has_a_placement)
{
    srand((unsigned)_i);
    host.cpu_count = 1 + (uint32_t)rand() % PLACEMENT_CPUS_MAX;
    for (uint32_t i = 0; i < host.cpu_count; i++)
        host.cpus[i] = (struct placement_cpu){
            i * 3, rand() % 9 - 1, (uint32_t)rand() % host.cpu_count};
    for (int round = 0; round < 20; round++) {
        uint32_t targets = 1 + (uint32_t)rand() % JOB_TARGETS_MAX;
        uint32_t max = (uint32_t)rand() % 300;
        int32_t nodes[JOB_TARGETS_MAX];
        uint32_t sum = 0;

        for (uint32_t i = 0; i < targets; i++)
            nodes[i] = rand() % 12 - 1;
        placement_choose(&host, nodes, targets, max, (uint32_t)rand(), &placed);
        ck_assert_uint_ge(placed.worker_count, 1);
        ck_assert_uint_le(placed.worker_count, host.cpu_count);
        ck_assert(max == 0 || placed.worker_count <= max);
        for (uint32_t i = 0; i < placed.worker_count; i++) {
            ck_assert_uint_ge(placed.workers[i].target_count, 1);
            sum += placed.workers[i].target_count;
            for (uint32_t j = 0; j < i; j++)
                ck_assert_uint_ne(placed.workers[i].cpu, placed.workers[j].cpu);
        }
        ck_assert_uint_eq(sum, targets);
    }
}
END_TEST

/* 0 and 2 are one sequence, 2 and 3 another, so all three belong together. */
START_TEST(a_sequence_has_one_worker)
{
    static const int32_t nodes[] = {A, A, A, A, A};
    struct job *job = job_new(5, 2, 5);

    ck_assert_ptr_nonnull(job);
    setup("0-4,6-7");
    job->cells[0].target = 3;
    job->cells[1].target = 2;
    job->cells[1].joins = 1;
    job->cells[2].target = 2;
    job->cells[3].target = 0;
    job->cells[3].joins = 3;
    job->cells[4].target = 1;
    placement_choose_job(&host, nodes, job, 0, 0, &placed);
    ck_assert_uint_eq(placed.worker_count, 3);
    ck_assert_uint_eq(placed.worker_of[0], placed.worker_of[2]);
    ck_assert_uint_eq(placed.worker_of[0], placed.worker_of[3]);
    ck_assert_uint_ne(placed.worker_of[0], placed.worker_of[1]);
    ck_assert_uint_ne(placed.worker_of[0], placed.worker_of[4]);
    ck_assert_uint_ne(placed.worker_of[1], placed.worker_of[4]);
    ck_assert_uint_eq(placed.workers[placed.worker_of[0]].target_count, 3);
    job = job_free(job);
    teardown();
}
END_TEST

START_TEST(the_node_is_that_of_the_device_above)
{
    setup("0");
    ck_assert_int_eq(placement_node_of(root, "nvme0n1"), 1);
    ck_assert_int_eq(placement_node_of(root, "nvme0n1p1"), 1);
    ck_assert_int_eq(placement_node_of(root, "sda"), PLACEMENT_NODE_UNKNOWN);
    ck_assert_int_eq(placement_node_of(root, "absent"), PLACEMENT_NODE_UNKNOWN);
    ck_assert_int_eq(placement_node_of(root, ""), PLACEMENT_NODE_UNKNOWN);
    teardown();
}
END_TEST

START_TEST(a_thread_is_where_it_was_pinned)
{
    char before[PLACEMENT_CPUS_TEXT], after[PLACEMENT_CPUS_TEXT];
    char number[16];

    placement_host("", &host);
    ck_assert_uint_ge(host.cpu_count, 1);
    placement_print_own(before);
    ck_assert_str_ne(before, "");
    for (uint32_t i = 0; i < host.cpu_count; i++) {
        ck_assert_int_eq(placement_pin(host.cpus[i].number), 0);
        placement_print_own(after);
        (void)snprintf(number, sizeof(number), "%u", host.cpus[i].number);
        ck_assert_str_eq(after, number);
    }
    ck_assert_int_lt(placement_pin(65535), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("placement");
    TCase *cases = tcase_create("placement");

    tcase_add_loop_test(cases, workers_are_placed, 0, ARRAY_LENGTH(table));
    tcase_add_loop_test(cases, any_host_has_a_placement, 0, 10);
    tcase_add_test(cases, a_sequence_has_one_worker);
    tcase_add_test(cases, the_node_is_that_of_the_device_above);
    tcase_add_test(cases, a_thread_is_where_it_was_pinned);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
