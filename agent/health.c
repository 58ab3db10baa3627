/* health.c - see health.h; the thread is in health_watch.c. */
#include "agent/health.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "agent/inventory_sysfs.h"

#define GET_LOG_OPCODE  0x02
#define HEALTH_PAGE     0x02u
#define ALL_NAMESPACES  UINT32_MAX
#define LOG_TIMEOUT_MS  2000
#define KELVIN_MC       273150
#define DATA_UNIT_BYTES 512000u /* what hosts wrote is told in such */
#define HOT_BIT         0x02u   /* of the critical warning */
#define NO_MC           UINT64_MAX

/* Places in the page, by the NVMe base specification. */
enum {
    PLACE_WARNING = 0,
    PLACE_TEMPERATURE = 1, /* 2 bytes, kelvin */
    PLACE_USED = 5,        /* per cent, up to 255 */
    PLACE_WRITTEN = 48,    /* 16 bytes, as the next */
    PLACE_MEDIA_ERRORS = 160,
    PLACE_THROTTLES_1 = 216, /* 4 bytes, as the next: light, heavy */
    PLACE_THROTTLES_2 = 220,
    PLACE_THROTTLED_1 = 224, /* seconds */
    PLACE_THROTTLED_2 = 228,
};

static uint64_t number(const uint8_t *at, unsigned bytes)
{
    uint64_t value = 0;

    while (bytes-- > 0)
        value = value << 8 | at[bytes];
    return value;
}

/* Of 16 bytes, as much as a counter on the wire may be. */
static uint64_t large(const uint8_t *at)
{
    uint64_t value = number(at, 8);

    return number(at + 8, 8) > 0 || value > INT64_MAX ? INT64_MAX : value;
}

static uint64_t units_to_bytes(uint64_t units)
{
    return units > INT64_MAX / DATA_UNIT_BYTES ? INT64_MAX
                                               : units * DATA_UNIT_BYTES;
}

int health_parse(const uint8_t log[HEALTH_LOG_BYTES],
                 struct row_health *ret_health)
{
    static const uint8_t nothing[HEALTH_LOG_BYTES];
    uint64_t kelvin = number(log + PLACE_TEMPERATURE, 2);

    if (memcmp(log, nothing, sizeof(nothing)) == 0)
        return -ENODATA;
    *ret_health = (struct row_health){
        .known = true,
        .temperature_mc = kelvin == 0 ? ROW_NO_TEMPERATURE
                                      : (int32_t)kelvin * 1000 - KELVIN_MC,
        .hot = (log[PLACE_WARNING] & HOT_BIT) != 0,
        .used_percent = log[PLACE_USED],
        .media_errors = large(log + PLACE_MEDIA_ERRORS),
        .written_bytes = units_to_bytes(large(log + PLACE_WRITTEN)),
        .throttles = number(log + PLACE_THROTTLES_1, 4) +
                     number(log + PLACE_THROTTLES_2, 4),
        .throttled_s = number(log + PLACE_THROTTLED_1, 4) +
                       number(log + PLACE_THROTTLED_2, 4),
    };
    return 0;
}

static bool get_log(const char *path, uint8_t log[HEALTH_LOG_BYTES])
{
    struct nvme_admin_cmd command = {
        .opcode = GET_LOG_OPCODE,
        .nsid = ALL_NAMESPACES,
        .addr = (uint64_t)(uintptr_t)log,
        .data_len = HEALTH_LOG_BYTES,
        .cdw10 = (HEALTH_LOG_BYTES / 4 - 1) << 16 | HEALTH_PAGE,
        .timeout_ms = LOG_TIMEOUT_MS,
    };
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    int result;

    if (fd < 0)
        return false;
    result = ioctl(fd, NVME_IOCTL_ADMIN_CMD, &command);
    (void)close(fd);
    return result == 0;
}

/* Of a sensor's folder: "hwmon/hwmon3" of most, "hwmon3" of older NVMe. */
static bool read_sensor(const char *device, const char *folder,
                        const char *name, int32_t *ret_mc)
{
    uint64_t mc;

    if (strncmp(name, "hwmon", 5) != 0)
        return false;
    mc = sysfs_number(NO_MC, "%s/%s%s/temp1_input", device, folder, name);
    if (mc > INT32_MAX)
        return false;
    *ret_mc = (int32_t)mc;
    return true;
}

static bool read_folder(const char *device, const char *folder, int32_t *ret_mc)
{
    struct sysfs_names names;
    bool found = false;

    sysfs_list(&names, "%s/%s", device, folder);
    for (size_t i = 0; i < names.count && !found; i++)
        found = read_sensor(device, folder, names.names[i], ret_mc);
    sysfs_names_done(&names);
    return found;
}

static void read_temperature(const char *root, const char *name,
                             int32_t *ret_mc)
{
    char device[SYSFS_PATH_SIZE];

    if (sysfs_real(device, sizeof(device), "%s/sys/class/block/%s/device", root,
                   name) &&
        !read_folder(device, "hwmon/", ret_mc))
        (void)read_folder(device, "", ret_mc);
}

void health_read(const char *root, const char *name,
                 struct row_health *ret_health)
{
    const char *below = strcmp(root, "/") == 0 ? "" : root;
    uint8_t log[HEALTH_LOG_BYTES] = {0};
    char path[SYSFS_PATH_SIZE];

    *ret_health = (struct row_health){.temperature_mc = ROW_NO_TEMPERATURE};
    if (name[0] == '\0')
        return;
    if (strncmp(name, "nvme", 4) == 0 &&
        text_format(path, sizeof(path), "%s/dev/%s", below, name) &&
        get_log(path, log) && health_parse(log, ret_health) == 0)
        return;
    read_temperature(below, name, &ret_health->temperature_mc);
}
