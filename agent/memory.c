/* memory.c - see memory.h. */
#include "agent/memory.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE  ((size_t)4096)
#define ALIGN ((size_t)2 << 20)

static size_t whole_pages(size_t length)
{
    return (length + PAGE - 1) & ~(PAGE - 1);
}

/* A mapping aligned to 2 MiB, so that it can consist of huge pages. */
static void *map_aligned(size_t length)
{
    uint8_t *at = mmap(NULL, length + ALIGN, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    uint8_t *aligned;
    size_t head;

    if (at == MAP_FAILED)
        return NULL;
    aligned = (uint8_t *)(((uintptr_t)at + ALIGN - 1) & ~(ALIGN - 1));
    head = (size_t)(aligned - at);
    if (head > 0)
        (void)munmap(at, head);
    if (ALIGN > head)
        (void)munmap(aligned + length, ALIGN - head);
    return aligned;
}

/* Kernels before 5.14 have no MADV_POPULATE_WRITE. */
static int touch(void *memory, size_t length)
{
    if (madvise(memory, length, MADV_POPULATE_WRITE) == 0)
        return 0;
    if (errno != EINVAL)
        return -errno;
    memset(memory, 0, length);
    return 0;
}

void *memory_map(size_t length)
{
    void *memory;

    length = whole_pages(length == 0 ? 1 : length);
    memory = map_aligned(length);
    if (memory == NULL)
        return NULL;
    (void)madvise(memory, length, MADV_HUGEPAGE); /* a help, no more */
    if (touch(memory, length) == 0)
        return memory;
    (void)munmap(memory, length);
    return NULL;
}

void *memory_unmap(void *memory, size_t length)
{
    if (memory != NULL) {
        int r = munmap(memory, whole_pages(length == 0 ? 1 : length));

        assert(r == 0);
    }
    return NULL;
}

/* A file with one number; UINT64_MAX for "max" and for no such file. */
static uint64_t read_number(const char *path)
{
    FILE *file = fopen(path, "re");
    uint64_t number = UINT64_MAX;

    if (file == NULL)
        return UINT64_MAX;
    if (fscanf(file, "%" SCNu64, &number) != 1)
        number = UINT64_MAX;
    (void)fclose(file);
    return number;
}

static uint64_t system_available(void)
{
    FILE *file = fopen("/proc/meminfo", "re");
    char line[128];
    uint64_t kib = UINT64_MAX;

    if (file == NULL)
        return UINT64_MAX;
    while (fgets(line, sizeof(line), file) != NULL)
        if (sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1)
            break;
    (void)fclose(file);
    return kib > UINT64_MAX / 1024 ? UINT64_MAX : kib * 1024;
}

/* Inside a container the group's own root shows its limit (cgroup v2). */
static uint64_t group_available(void)
{
    uint64_t limit = read_number("/sys/fs/cgroup/memory.max");
    uint64_t used = read_number("/sys/fs/cgroup/memory.current");

    if (limit == UINT64_MAX || used == UINT64_MAX)
        return UINT64_MAX;
    return used < limit ? limit - used : 0;
}

uint64_t memory_available(void)
{
    uint64_t system = system_available();
    uint64_t group = group_available();

    return system < group ? system : group;
}
