#include "agent/inventory_usage.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/inventory_sysfs.h"

#define NAMESPACES_MAX 4096u

enum use_kind {
    USE_MOUNT,
    USE_OTHER,
    USE_WRITER, /* another process holds it open for writing */
    USE_OPENER, /* a process holds it open; no use, but who it may be */
};

struct use {
    enum use_kind kind;
    char name[NAME_SIZE]; /* of the device in the kernel */
    char text[TEXT_SIZE];
};

struct usage {
    char root[PATH_SIZE];
    struct use *uses;
    uint32_t count;
    uint32_t room;
    int error; /* the first; what is missing must not look unused */
    uint64_t namespaces[NAMESPACES_MAX];
    uint32_t namespace_count;
};

static struct use *add(struct usage *usage, enum use_kind kind,
                       const char *name)
{
    struct use *use;

    if (usage->count == usage->room) {
        uint32_t room = usage->room == 0 ? 64 : usage->room * 2;
        struct use *grown = NULL;

        if (room <= USAGE_ENTRIES_MAX)
            grown = reallocarray(usage->uses, room, sizeof(*grown));
        if (grown == NULL) {
            usage->error = room > USAGE_ENTRIES_MAX ? -E2BIG : -ENOMEM;
            return NULL;
        }
        usage->uses = grown;
        usage->room = room;
    }
    use = &usage->uses[usage->count++];
    *use = (struct use){.kind = kind};
    (void)text_format(use->name, sizeof(use->name), "%s", name);
    return use;
}

static bool is_mounted(const struct usage *usage, const char *name)
{
    for (uint32_t i = 0; i < usage->count; i++)
        if (usage->uses[i].kind == USE_MOUNT &&
            strcmp(usage->uses[i].name, name) == 0)
            return true;
    return false;
}

/* Kernel tables write blanks in paths as \040 and the like. */
static void unescape(char *text)
{
    char *to = text;

    for (const char *from = text; *from != '\0'; from++) {
        if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' &&
            from[2] >= '0' && from[2] <= '7' && from[3] >= '0' &&
            from[3] <= '7') {
            *to++ = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 |
                           (from[3] - '0'));
            from += 3;
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
}

/*
 * /dev/mapper/data -> dm-3, /dev/cciss/c0d0 -> cciss!c0d0.  False when it is no
 * path of a device.
 */
static bool device_name(const struct usage *usage, const char *path, char *name,
                        size_t size)
{
    char real[SYSFS_PATH_SIZE];
    size_t root = strlen(usage->root);

    if (strncmp(path, "/dev/", 5) != 0)
        return false;
    if (!sysfs_real(real, sizeof(real), "%s%s", usage->root, path))
        root = 0;
    path = root + 5 < strlen(real) ? real + root : path;
    if (strncmp(path, "/dev/", 5) != 0 ||
        !text_format(name, size, "%s", path + 5))
        return false;
    for (char *slash = strchr(name, '/'); slash != NULL;
         slash = strchr(slash, '/'))
        *slash = '!';
    return true;
}

/* A line of mountinfo, as proc(5) has it. */
struct mount {
    char number[32]; /* major:minor */
    char point[PATH_SIZE];
    char source[PATH_SIZE];
};

static bool parse_mount(char *line, struct mount *ret_mount)
{
    char *tail = strstr(line, " - ");
    char root[PATH_SIZE];
    char type[64];

    if (tail == NULL)
        return false;
    *tail = '\0';
    if (sscanf(line, "%*s %*s %31s %1024s %1024s", ret_mount->number, root,
               ret_mount->point) != 3 ||
        sscanf(tail + 3, "%63s %1024s", type, ret_mount->source) != 2)
        return false;
    unescape(ret_mount->point);
    unescape(ret_mount->source);
    text_clean(ret_mount->point);
    return true;
}

/*
 * Some file systems (btrfs) mount under a number that is no device's; those
 * without any device (major 0, no path) are the most on hosts of containers.
 */
static bool mounted_device(const struct usage *usage, const struct mount *m,
                           char *name, size_t size)
{
    return (strncmp(m->number, "0:", 2) != 0 &&
            sysfs_link_name(name, size, "%s/sys/dev/block/%s", usage->root,
                            m->number)) ||
           device_name(usage, m->source, name, size);
}

static void read_mounts(struct usage *usage, const char *pid, const char *where)
{
    FILE *file = sysfs_open("%s/proc/%s/mountinfo", usage->root, pid);
    char *line = NULL;
    size_t room = 0;

    if (file == NULL)
        return;
    while (getline(&line, &room, file) > 0) {
        struct mount mount;
        char name[NAME_SIZE];
        struct use *use;

        if (!parse_mount(line, &mount) ||
            !mounted_device(usage, &mount, name, sizeof(name)) ||
            is_mounted(usage, name))
            continue;
        use = add(usage, USE_MOUNT, name);
        if (use != NULL)
            (void)snprintf(use->text, sizeof(use->text), "mounted on %.160s%s",
                           mount.point, where);
    }
    free(line);
    (void)fclose(file);
}

static void read_swaps(struct usage *usage)
{
    FILE *file = sysfs_open("%s/proc/swaps", usage->root);
    char *line = NULL;
    size_t room = 0;

    if (file == NULL)
        return;
    while (getline(&line, &room, file) > 0) {
        char name[NAME_SIZE];
        struct use *use;

        line[strcspn(line, " \t\n")] = '\0';
        unescape(line);
        if (!device_name(usage, line, name, sizeof(name)))
            continue;
        use = add(usage, USE_OTHER, name);
        if (use != NULL)
            (void)snprintf(use->text, sizeof(use->text), "swap");
    }
    free(line);
    (void)fclose(file);
}

static void read_btrfs(struct usage *usage)
{
    struct sysfs_names systems;

    sysfs_list(&systems, "%s/sys/fs/btrfs", usage->root);
    for (size_t i = 0; i < systems.count; i++) {
        struct sysfs_names devices;

        sysfs_list(&devices, "%s/sys/fs/btrfs/%s/devices", usage->root,
                   systems.names[i]);
        for (size_t k = 0; k < devices.count; k++) {
            struct use *use;

            if (is_mounted(usage, devices.names[k]))
                continue;
            use = add(usage, USE_OTHER, devices.names[k]);
            if (use != NULL)
                (void)snprintf(use->text, sizeof(use->text),
                               "member of the mounted btrfs %.64s",
                               systems.names[i]);
        }
        sysfs_names_done(&devices);
    }
    sysfs_names_done(&systems);
}

/* nvmet opens what it exports without holding it exclusively. */
static void read_nvmet_subsystem(struct usage *usage, const char *subsystem)
{
    struct sysfs_names spaces;

    sysfs_list(&spaces, "%s/sys/kernel/config/nvmet/subsystems/%s/namespaces",
               usage->root, subsystem);
    for (size_t i = 0; i < spaces.count; i++) {
        char path[PATH_SIZE];
        char name[NAME_SIZE];
        struct use *use;

        (void)sysfs_text(
            path, sizeof(path),
            "%s/sys/kernel/config/nvmet/subsystems/%s/namespaces/%s/"
            "device_path",
            usage->root, subsystem, spaces.names[i]);
        if (!device_name(usage, path, name, sizeof(name)) ||
            sysfs_number(
                0,
                "%s/sys/kernel/config/nvmet/subsystems/%s/namespaces/%s/enable",
                usage->root, subsystem, spaces.names[i]) == 0)
            continue;
        use = add(usage, USE_OTHER, name);
        if (use != NULL)
            (void)snprintf(use->text, sizeof(use->text),
                           "exported by nvmet as %.200s", subsystem);
    }
    sysfs_names_done(&spaces);
}

static void read_nvmet(struct usage *usage)
{
    struct sysfs_names subsystems;

    sysfs_list(&subsystems, "%s/sys/kernel/config/nvmet/subsystems",
               usage->root);
    for (size_t i = 0; i < subsystems.count; i++)
        read_nvmet_subsystem(usage, subsystems.names[i]);
    sysfs_names_done(&subsystems);
}

/* A loop device on top of a drive does not hold it either. */
static void read_loops(struct usage *usage)
{
    struct sysfs_names blocks;

    sysfs_list(&blocks, "%s/sys/block", usage->root);
    for (size_t i = 0; i < blocks.count; i++) {
        char path[PATH_SIZE];
        char name[NAME_SIZE];
        struct use *use;

        if (!sysfs_text(path, sizeof(path), "%s/sys/block/%s/loop/backing_file",
                        usage->root, blocks.names[i]) ||
            !device_name(usage, path, name, sizeof(name)))
            continue;
        use = add(usage, USE_OTHER, name);
        if (use != NULL)
            (void)snprintf(use->text, sizeof(use->text), "behind %.64s",
                           blocks.names[i]);
    }
    sysfs_names_done(&blocks);
}

/* Bit 0 or 1 of the open flags: O_WRONLY, O_RDWR. */
static bool is_writer(const struct usage *usage, const char *pid,
                      const char *fd)
{
    FILE *file = sysfs_open("%s/proc/%s/fdinfo/%s", usage->root, pid, fd);
    char line[128];
    unsigned flags = 0;

    if (file == NULL)
        return false;
    while (fgets(line, sizeof(line), file) != NULL)
        if (sscanf(line, "flags: %o", &flags) == 1)
            break;
    (void)fclose(file);
    return (flags & 3u) != 0;
}

static void add_opener(struct usage *usage, const char *pid, const char *fd,
                       const char *name)
{
    bool writer = is_writer(usage, pid, fd);
    char command[64];
    char self[32];
    struct use *use;

    (void)snprintf(self, sizeof(self), "%d", (int)getpid());
    (void)sysfs_text(command, sizeof(command), "%s/proc/%s/comm", usage->root,
                     pid);
    use = add(usage, USE_OPENER, name);
    if (use != NULL)
        (void)snprintf(use->text, sizeof(use->text), "%s (pid %.20s)", command,
                       pid);
    if (!writer || strcmp(pid, self) == 0)
        return;
    use = add(usage, USE_WRITER, name);
    if (use != NULL)
        (void)snprintf(use->text, sizeof(use->text),
                       USAGE_WRITER "%s (pid %.20s)", command, pid);
}

static void read_openers(struct usage *usage, const char *pid)
{
    char path[SYSFS_PATH_SIZE];
    DIR *dir;

    if (!text_format(path, sizeof(path), "%s/proc/%s/fd", usage->root, pid))
        return;
    dir = opendir(path);
    if (dir == NULL)
        return; /* not ours to see, or gone */
    for (const struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
        char link[PATH_SIZE];
        char name[NAME_SIZE];
        ssize_t length =
            readlinkat(dirfd(dir), e->d_name, link, sizeof(link) - 1);

        if (length <= 5)
            continue;
        link[length] = '\0';
        if (device_name(usage, link, name, sizeof(name)) &&
            sysfs_exists("%s/sys/class/block/%s", usage->root, name))
            add_opener(usage, pid, e->d_name, name);
    }
    (void)closedir(dir);
}

/* True the first time that the mount namespace of `pid` is seen. */
static bool is_new_namespace(struct usage *usage, const char *pid)
{
    char text[64];
    uint64_t number;

    if (!sysfs_link_name(text, sizeof(text), "%s/proc/%s/ns/mnt", usage->root,
                         pid) ||
        sscanf(text, "mnt:[%" SCNu64 "]", &number) != 1)
        return false;
    for (uint32_t i = 0; i < usage->namespace_count; i++)
        if (usage->namespaces[i] == number)
            return false;
    if (usage->namespace_count == NAMESPACES_MAX) {
        usage->error = -E2BIG;
        return false;
    }
    usage->namespaces[usage->namespace_count++] = number;
    return true;
}

static void read_process(struct usage *usage, const char *pid)
{
    char command[64];
    char where[TEXT_SIZE];

    read_openers(usage, pid);
    if (!is_new_namespace(usage, pid))
        return;
    (void)sysfs_text(command, sizeof(command), "%s/proc/%s/comm", usage->root,
                     pid);
    (void)snprintf(where, sizeof(where),
                   " in the mount namespace of %.20s (%s)", pid, command);
    read_mounts(usage, pid, where);
}

static void read_processes(struct usage *usage)
{
    char path[SYSFS_PATH_SIZE];
    DIR *dir;

    if (!text_format(path, sizeof(path), "%s/proc", usage->root))
        return;
    dir = opendir(path);
    if (dir == NULL)
        return;
    for (const struct dirent *e = readdir(dir); e != NULL; e = readdir(dir))
        if (isdigit((unsigned char)e->d_name[0]))
            read_process(usage, e->d_name);
    (void)closedir(dir);
}

int usage_read(const char *root, struct usage **ret_usage)
{
    struct usage *usage = calloc(1, sizeof(*usage));
    int error;

    if (usage == NULL)
        return -ENOMEM;
    if (!text_format(usage->root, sizeof(usage->root), "%s",
                     strcmp(root, "/") == 0 ? "" : root))
        usage->error = -ENAMETOOLONG;
    (void)is_new_namespace(usage, "self");
    read_mounts(usage, "self", "");
    read_swaps(usage);
    read_btrfs(usage);
    read_nvmet(usage);
    read_loops(usage);
    read_processes(usage);

    error = usage->error;
    if (error != 0) {
        (void)usage_free(usage);
        return error;
    }
    *ret_usage = usage;
    return 0;
}

struct usage *usage_free(struct usage *usage)
{
    if (usage != NULL)
        free(usage->uses);
    free(usage);
    return NULL;
}

struct list {
    char (*texts)[TEXT_SIZE];
    uint32_t max;
    uint32_t count;
};

static void list_add(struct list *list, const char *prefix, const char *text)
{
    if (list->count == list->max)
        return;
    (void)snprintf(list->texts[list->count], TEXT_SIZE, "%.70s%.186s", prefix,
                   text);
    text_clean(list->texts[list->count++]); /* a cut may split a character */
}

static void list_holders(const struct usage *usage, const char *name,
                         const char *prefix, struct list *list)
{
    struct sysfs_names holders;

    sysfs_list(&holders, "%s/sys/class/block/%s/holders", usage->root, name);
    for (size_t i = 0; i < holders.count; i++) {
        char text[TEXT_SIZE];
        char alias[64] = "";

        (void)sysfs_text(alias, sizeof(alias), "%s/sys/class/block/%s/dm/name",
                         usage->root, holders.names[i]);
        (void)snprintf(text, sizeof(text), "held by %.64s%s%s%s",
                       holders.names[i], alias[0] != '\0' ? " (" : "", alias,
                       alias[0] != '\0' ? ")" : "");
        list_add(list, prefix, text);
    }
    sysfs_names_done(&holders);
    if (sysfs_exists("%s/sys/class/block/%s/bcache", usage->root, name))
        list_add(list, prefix, "held by bcache");
}

static void list_device(const struct usage *usage, const char *name,
                        const char *prefix, struct list *list)
{
    for (uint32_t i = 0; i < usage->count; i++)
        if (usage->uses[i].kind != USE_OPENER &&
            strcmp(usage->uses[i].name, name) == 0)
            list_add(list, prefix, usage->uses[i].text);
    list_holders(usage, name, prefix, list);
}

static void list_partitions(const struct usage *usage, const char *name,
                            struct list *list)
{
    struct sysfs_names entries;

    sysfs_list(&entries, "%s/sys/class/block/%s", usage->root, name);
    for (size_t i = 0; i < entries.count; i++) {
        char prefix[TEXT_SIZE];

        if (!sysfs_exists("%s/sys/class/block/%s/%s/partition", usage->root,
                          name, entries.names[i]))
            continue;
        (void)snprintf(prefix, sizeof(prefix),
                       "partition %.50s: ", entries.names[i]);
        list_device(usage, entries.names[i], prefix, list);
    }
    sysfs_names_done(&entries);
}

uint32_t usage_list(const struct usage *usage, const char *name,
                    char (*texts)[TEXT_SIZE], uint32_t max)
{
    struct list list = {.texts = texts, .max = max};

    list_device(usage, name, "", &list);
    list_partitions(usage, name, &list);
    return list.count;
}

uint32_t usage_list_alone(const struct usage *usage, const char *name,
                          char (*texts)[TEXT_SIZE], uint32_t max)
{
    struct list list = {.texts = texts, .max = max};

    list_device(usage, name, "", &list);
    return list.count;
}

static bool is_swap_file(const struct usage *usage, const char *path)
{
    FILE *file = sysfs_open("%s/proc/swaps", usage->root);
    char *line = NULL;
    size_t room = 0;
    bool found = false;

    while (!found && file != NULL && getline(&line, &room, file) > 0) {
        line[strcspn(line, " \t\n")] = '\0';
        unescape(line);
        found = strcmp(line, path) == 0;
    }
    free(line);
    if (file != NULL)
        (void)fclose(file);
    return found;
}

uint32_t usage_list_file(const struct usage *usage, const char *path,
                         char (*texts)[TEXT_SIZE], uint32_t max)
{
    struct list list = {.texts = texts, .max = max};
    struct sysfs_names blocks;

    if (is_swap_file(usage, path))
        list_add(&list, "", "swap");
    sysfs_list(&blocks, "%s/sys/block", usage->root);
    for (size_t i = 0; i < blocks.count; i++) {
        char backing[PATH_SIZE];

        if (sysfs_text(backing, sizeof(backing),
                       "%s/sys/block/%s/loop/backing_file", usage->root,
                       blocks.names[i]) &&
            strcmp(backing, path) == 0)
            list_add(&list, "behind ", blocks.names[i]);
    }
    sysfs_names_done(&blocks);
    return list.count;
}

void usage_openers(const struct usage *usage, const char *name, char *text,
                   size_t size)
{
    size_t length = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < usage->count; i++) {
        const struct use *use = &usage->uses[i];
        int more;

        if (use->kind != USE_OPENER || strcmp(use->name, name) != 0 ||
            strstr(text, use->text) != NULL)
            continue;
        more = snprintf(text + length, size - length, "%s%s",
                        length > 0 ? ", " : "", use->text);
        if (more < 0 || (size_t)more >= size - length) {
            text[length] = '\0';
            return;
        }
        length += (size_t)more;
    }
}
