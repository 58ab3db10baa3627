/* device.c - see device.h. */
#include "agent/device.h"

#include "agent/interlock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECTOR    512u
#define STAT_SIZE 512u

int device_parse(const char *text, struct row_counters *ret_counters)
{
    struct row_counters c = {0};
    uint64_t sectors_read, sectors_written;
    uint64_t in_flight;

    if (sscanf(text,
               "%" SCNu64 " %" SCNu64 " %" SCNu64 " %*u %" SCNu64 " %" SCNu64
               " %" SCNu64 " %*u %" SCNu64,
               &c.reads, &c.reads_merged, &sectors_read, &c.writes,
               &c.writes_merged, &sectors_written, &in_flight) != 7)
        return -EBADMSG;
    c.read_bytes = sectors_read * SECTOR;
    c.write_bytes = sectors_written * SECTOR;
    c.in_flight = in_flight > UINT32_MAX ? UINT32_MAX : (uint32_t)in_flight;
    *ret_counters = c;
    return 0;
}

static bool look(const struct device *device, struct row_counters *ret_counters)
{
    char text[STAT_SIZE];
    ssize_t length;

    if (device->fd < 0)
        return false;
    length = pread(device->fd, text, sizeof(text) - 1, 0);
    if (length <= 0)
        return false;
    text[length] = '\0';
    return device_parse(text, ret_counters) == 0;
}

static int open_stat(const char *root, const char *name)
{
    char path[PATH_SIZE];
    int length = snprintf(path, sizeof(path), "%s/sys/class/block/%s/stat",
                          strcmp(root, "/") == 0 ? "" : root, name);

    if (name[0] == '\0' || length < 0 || (size_t)length >= sizeof(path))
        return -1;
    return open(path, O_RDONLY | O_CLOEXEC);
}

static bool is_shared(const struct opened_target *targets, uint32_t count,
                      uint32_t index)
{
    const struct opened_target *target = &targets[index];

    if (target->kind != INTERLOCK_BLOCK)
        return true;
    for (uint32_t i = 0; i < count; i++)
        if (i != index && strcmp(targets[i].name, target->name) == 0)
            return true;
    return false;
}

int devices_open(struct devices *devices, const char *root,
                 const struct opened_target *targets, uint32_t count)
{
    devices->device = calloc(count + 1u, sizeof(*devices->device));
    devices->count = 0;
    if (devices->device == NULL)
        return -ENOMEM;
    for (; devices->count < count; devices->count++) {
        struct device *device = &devices->device[devices->count];

        device->fd = open_stat(root, targets[devices->count].name);
        device->shared = is_shared(targets, count, devices->count);
    }
    return 0;
}

void devices_close(struct devices *devices)
{
    for (uint32_t i = 0; i < devices->count; i++)
        if (devices->device[i].fd >= 0)
            (void)close(devices->device[i].fd);
    free(devices->device);
    *devices = (struct devices){0};
}

void devices_begin(struct devices *devices)
{
    for (uint32_t i = 0; i < devices->count; i++) {
        struct device *device = &devices->device[i];

        if (device->fd < 0 || look(device, &device->seen))
            continue;
        (void)close(device->fd);
        device->fd = -1;
    }
}

/* A counter that went back is another drive's. */
static uint64_t since(uint64_t now, uint64_t before)
{
    return now >= before ? now - before : 0;
}

void devices_since(struct devices *devices, struct row_drive *drives)
{
    for (uint32_t i = 0; i < devices->count; i++) {
        struct device *device = &devices->device[i];
        struct row_counters now;
        const struct row_counters *seen = &device->seen;

        drives[i].counted = look(device, &now);
        drives[i].shared = device->shared;
        if (!drives[i].counted)
            continue;
        drives[i].counters = (struct row_counters){
            .reads = since(now.reads, seen->reads),
            .reads_merged = since(now.reads_merged, seen->reads_merged),
            .read_bytes = since(now.read_bytes, seen->read_bytes),
            .writes = since(now.writes, seen->writes),
            .writes_merged = since(now.writes_merged, seen->writes_merged),
            .write_bytes = since(now.write_bytes, seen->write_bytes),
            .in_flight = now.in_flight,
        };
        device->seen = now;
    }
}
