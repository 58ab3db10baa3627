/* placement_host.c - the CPUs that there are, and where. */
#include "agent/placement.h"

#include "agent/inventory_sysfs.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MASK_CPUS_MAX 65536u /* no kernel has more */
#define LIST_SIZE     8192u

/* A set of CPUs that is as large as the kernel's; NULL when it does not say. */
static cpu_set_t *own_mask(size_t *ret_size)
{
    /* The kernel refuses a mask that is too small for its own. */
    for (size_t cpus = CPU_SETSIZE; cpus <= MASK_CPUS_MAX; cpus *= 2) {
        size_t size = CPU_ALLOC_SIZE(cpus);
        cpu_set_t *set = CPU_ALLOC(cpus);

        if (set == NULL)
            return NULL;
        CPU_ZERO_S(size, set);
        if (sched_getaffinity(0, size, set) == 0) {
            *ret_size = size;
            return set;
        }
        CPU_FREE(set);
        if (errno != EINVAL)
            return NULL;
    }
    return NULL;
}

/* Calls back for each number of "0-3,8". */
static void each_of(const char *list, void (*call)(void *user, uint32_t number),
                    void *user)
{
    while (*list != '\0') {
        char *end;
        unsigned long first = strtoul(list, &end, 10);
        unsigned long last = first;

        if (end == list)
            return;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        for (unsigned long i = first; i <= last && i < MASK_CPUS_MAX; i++)
            call(user, (uint32_t)i);
        list = *end == ',' ? end + 1 : end;
        if (*end != ',' && *end != '\0')
            return;
    }
}

static void add_cpu(void *user, uint32_t number)
{
    struct placement_host *host = user;

    if (host->cpu_count < PLACEMENT_CPUS_MAX)
        host->cpus[host->cpu_count++] = (struct placement_cpu){
            .number = number,
            .node = PLACEMENT_NODE_UNKNOWN,
            .core = number,
        };
}

/* Marks the CPUs of one node. */
struct marking {
    struct placement_host *host;
    int32_t node;
};

static void mark_cpu(void *user, uint32_t number)
{
    const struct marking *m = user;

    for (uint32_t i = 0; i < m->host->cpu_count; i++)
        if (m->host->cpus[i].number == number)
            m->host->cpus[i].node = m->node;
}

static void find_nodes(const char *root, struct placement_host *host)
{
    char list[LIST_SIZE];

    for (int32_t node = 0; node < (int32_t)PLACEMENT_NODES_MAX; node++) {
        struct marking m = {host, node};

        if (sysfs_text(list, sizeof(list),
                       "%s/sys/devices/system/node/node%d/cpulist", root, node))
            each_of(list, mark_cpu, &m);
    }
}

/* A core is known by its first thread. */
static void find_cores(const char *root, struct placement_host *host)
{
    char list[LIST_SIZE];

    for (uint32_t i = 0; i < host->cpu_count; i++)
        if (sysfs_text(list, sizeof(list),
                       "%s/sys/devices/system/cpu/cpu%u/topology/"
                       "thread_siblings_list",
                       root, host->cpus[i].number))
            host->cpus[i].core = (uint32_t)strtoul(list, NULL, 10);
}

void placement_host_of(const char *root, const char *cpus,
                       struct placement_host *ret_host)
{
    ret_host->cpu_count = 0;
    each_of(cpus, add_cpu, ret_host);
    if (ret_host->cpu_count == 0)
        add_cpu(ret_host, PLACEMENT_NOWHERE);
    find_nodes(root, ret_host);
    find_cores(root, ret_host);
}

/* As the kernel prints sets of CPUs; cut where it is too long. */
static void print_set(const cpu_set_t *set, size_t bytes, char *text,
                      size_t size)
{
    uint32_t cpus = (uint32_t)(bytes * 8);
    size_t used = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < cpus && used < size; i++) {
        uint32_t last = i;

        if (!CPU_ISSET_S(i, bytes, set))
            continue;
        while (last + 1 < cpus && CPU_ISSET_S(last + 1, bytes, set))
            last++;
        used += (size_t)snprintf(text + used, size - used,
                                 last > i ? "%s%u-%u" : "%s%u",
                                 used > 0 ? "," : "", i, last);
        i = last;
    }
}

static void print_own(char *text, size_t size)
{
    size_t bytes;
    cpu_set_t *set = own_mask(&bytes);

    text[0] = '\0';
    if (set == NULL)
        return;
    print_set(set, bytes, text, size);
    CPU_FREE(set);
}

void placement_host(const char *root, struct placement_host *ret_host)
{
    char list[LIST_SIZE];

    print_own(list, sizeof(list));
    placement_host_of(root, list, ret_host);
}

/* The first device above the drive that tells. */
int32_t placement_node_of(const char *root, const char *drive)
{
    char path[SYSFS_PATH_SIZE];
    uint64_t node;
    char *end;

    if (drive[0] == '\0' ||
        !sysfs_real(path, sizeof(path), "%s/sys/class/block/%s", root, drive))
        return PLACEMENT_NODE_UNKNOWN;
    for (; (end = strrchr(path, '/')) != NULL && end > path; *end = '\0') {
        /* -1, no node, is no number to sysfs_number(). */
        node = sysfs_number(UINT32_MAX, "%s/numa_node", path);
        if (node < PLACEMENT_NODES_MAX)
            return (int32_t)node;
    }
    return PLACEMENT_NODE_UNKNOWN;
}

int placement_pin(uint32_t cpu)
{
    size_t size = CPU_ALLOC_SIZE(cpu + 1);
    cpu_set_t *set = CPU_ALLOC(cpu + 1);
    int r;

    if (set == NULL)
        return -ENOMEM;
    CPU_ZERO_S(size, set);
    CPU_SET_S(cpu, size, set);
    r = sched_setaffinity(0, size, set) < 0 ? -errno : 0;
    CPU_FREE(set);
    return r;
}

void placement_print_own(char text[PLACEMENT_CPUS_TEXT])
{
    print_own(text, PLACEMENT_CPUS_TEXT);
}
