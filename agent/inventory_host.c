/*
 * Facts of the host itself.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/inventory_host.h"
#include "agent/inventory_sysfs.h"

#define CPUS_MAX 8192u

/* "0-31,64" into a set of bits; what is no list sets nothing. */
static void parse_cpus(const char *text, uint8_t cpus[CPUS_MAX / 8])
{
    while (*text != '\0') {
        char *end;
        unsigned long first = strtoul(text, &end, 10);
        unsigned long last = first;

        if (end == text)
            return;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        for (unsigned long i = first; i <= last && i < CPUS_MAX; i++)
            cpus[i / 8] |= (uint8_t)(1u << i % 8);
        text = *end == ',' ? end + 1 : "";
    }
}

/* The rest of the first line that starts with `key`; false when none does. */
static bool find_line(FILE *file, const char *key, char *text, size_t size)
{
    char *line = NULL;
    size_t room = 0;
    bool found = false;

    text[0] = '\0';
    while (!found && file != NULL && getline(&line, &room, file) > 0) {
        if (strncmp(line, key, strlen(key)) != 0)
            continue;
        (void)snprintf(text, size, "%s", line + strlen(key));
        found = true;
    }
    free(line);
    if (file != NULL)
        (void)fclose(file);
    text_clean(text);
    return found;
}

static uint32_t count_cpus(const char *root)
{
    char online[SYSFS_PATH_SIZE];
    char allowed[SYSFS_PATH_SIZE];
    uint8_t bits[2][CPUS_MAX / 8] = {{0}};
    uint32_t count = 0;

    if (!sysfs_text(online, sizeof(online), "%s/sys/devices/system/cpu/online",
                    root))
        return 0;
    parse_cpus(online, bits[0]);
    if (find_line(sysfs_open("%s/proc/self/status", root),
                  "Cpus_allowed_list:", allowed, sizeof(allowed)))
        parse_cpus(allowed, bits[1]);
    else
        memcpy(bits[1], bits[0], sizeof(bits[0]));
    for (uint32_t i = 0; i < CPUS_MAX; i++)
        count += (uint32_t)(bits[0][i / 8] & bits[1][i / 8]) >> i % 8 & 1u;
    return count;
}

static uint64_t read_memory(const char *root)
{
    char text[64];
    uint64_t kilobytes = 0;

    if (find_line(sysfs_open("%s/proc/meminfo", root), "MemTotal:", text,
                  sizeof(text)))
        kilobytes = strtoull(text, NULL, 10);
    return kilobytes * 1024;
}

/* model name\t: Intel(R) Xeon(R) Gold 6248 CPU @ 2.50GHz */
static void read_cpu_model(const char *root, char *model, size_t size)
{
    char text[TEXT_SIZE];

    if (!find_line(sysfs_open("%s/proc/cpuinfo", root), "model name", text,
                   sizeof(text)))
        return;
    (void)text_format(model, size, "%s", text[0] == ':' ? text + 1 : text);
    text_clean(model);
}

/* PRETTY_NAME="Debian GNU/Linux 12 (bookworm)" */
static void read_os(const char *root, char *os, size_t size)
{
    char text[TEXT_SIZE];
    size_t length;

    if (!find_line(sysfs_open("%s/etc/os-release", root), "PRETTY_NAME=", text,
                   sizeof(text)))
        return;
    length = strlen(text);
    if (length >= 2 && (text[0] == '"' || text[0] == '\'') &&
        text[length - 1] == text[0]) {
        text[length - 1] = '\0';
        memmove(text, text + 1, length - 1);
    }
    (void)text_format(os, size, "%s", text);
}

void host_facts_read(const char *root, struct host_facts *ret_host)
{
    *ret_host = (struct host_facts){0};
    (void)sysfs_text(ret_host->hostname, sizeof(ret_host->hostname),
                     "%s/proc/sys/kernel/hostname", root);
    (void)sysfs_text(ret_host->kernel, sizeof(ret_host->kernel),
                     "%s/proc/sys/kernel/osrelease", root);
    ret_host->cpus = count_cpus(root);
    ret_host->memory_bytes = read_memory(root);
    read_cpu_model(root, ret_host->cpu_model, sizeof(ret_host->cpu_model));
    read_os(root, ret_host->os, sizeof(ret_host->os));
}
