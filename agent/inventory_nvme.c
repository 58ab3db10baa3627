/*
 * The formats of an NVMe namespace: one Identify command through the kernel,
 * which answers for a plain open for reading, given the privilege.
 */
#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "agent/inventory_drive.h"
#include "agent/inventory_sysfs.h"

#define IDENTIFY_OPCODE     0x06
#define IDENTIFY_TIMEOUT_MS 2000

/* Places in the answer, by the NVMe base specification. */
enum {
    IDENTIFY_FORMAT_LAST = 25, /* formats, less one */
    IDENTIFY_FORMAT_USED = 26, /* bits 0-3, and 5-6 above them */
    IDENTIFY_FORMATS = 128,    /* 4 bytes each: metadata (2), log2 of data */
    IDENTIFY_FORMATS_MAX = 64,
};

void drive_formats(const uint8_t identify[NVME_IDENTIFY_BYTES], char *text,
                   size_t size)
{
    uint32_t count = (uint32_t)identify[IDENTIFY_FORMAT_LAST] + 1;
    uint32_t used = identify[IDENTIFY_FORMAT_USED] & 15u;
    size_t length = 0;

    if (count > 16) /* only then do the upper bits count */
        used |= (identify[IDENTIFY_FORMAT_USED] >> 5 & 3u) << 4;
    text[0] = '\0';
    for (uint32_t i = 0; i < count && i < IDENTIFY_FORMATS_MAX; i++) {
        const uint8_t *format = identify + IDENTIFY_FORMATS + i * 4;
        uint32_t metadata = (uint32_t)format[1] << 8 | format[0];
        char extra[16] = "";
        int more;

        if (format[2] < 9 || format[2] > 31) /* 0: not available */
            continue;
        if (metadata > 0)
            (void)snprintf(extra, sizeof(extra), "+%u", metadata);
        more = snprintf(text + length, size - length, "%s%s%u%s",
                        length > 0 ? " " : "", i == used ? "*" : "",
                        1u << format[2], extra);
        if (more < 0 || (size_t)more >= size - length) {
            text[length] = '\0';
            return;
        }
        length += (size_t)more;
    }
}

static bool identify_namespace(const char *path,
                               uint8_t identify[NVME_IDENTIFY_BYTES])
{
    struct nvme_admin_cmd command = {
        .opcode = IDENTIFY_OPCODE,
        .addr = (uint64_t)(uintptr_t)identify,
        .data_len = NVME_IDENTIFY_BYTES,
        .timeout_ms = IDENTIFY_TIMEOUT_MS,
    };
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    int id;
    int result = -1;

    if (fd < 0)
        return false;
    id = ioctl(fd, NVME_IOCTL_ID);
    if (id > 0) {
        command.nsid = (uint32_t)id;
        result = ioctl(fd, NVME_IOCTL_ADMIN_CMD, &command);
    }
    (void)close(fd);
    return result == 0;
}

void drive_read_formats(const char *root, struct drive *drive)
{
    uint8_t identify[NVME_IDENTIFY_BYTES] = {0};
    char path[SYSFS_PATH_SIZE];

    if (strncmp(drive->name, "nvme", 4) != 0 ||
        !text_format(path, sizeof(path), "%s%s",
                     strcmp(root, "/") == 0 ? "" : root, drive->path))
        return;
    if (identify_namespace(path, identify))
        drive_formats(identify, drive->formats, sizeof(drive->formats));
}
