#include "agent/interlock_left.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "agent/inventory_sysfs.h"
#include "common/uuid.h"

#define RECORD_SIZE 256u
#define STAT_SIZE   512u
#define WORD_SIZE   64u

/* A drive or partition, as sysfs has it. */
struct subject {
    char drive[SYSFS_PATH_SIZE]; /* folder of the whole drive */
    char file[SYSFS_PATH_SIZE];  /* its record */
    char boot[WORD_SIZE];
};

struct counts {
    uint64_t written; /* sectors */
    uint64_t discarded;
};

static bool find(const struct interlock_policy *policy, uint64_t device,
                 struct subject *s)
{
    const char *root = strcmp(policy->root, "/") == 0 ? "" : policy->root;
    uint64_t partition, sequence;
    char *slash;

    if (policy->state_directory[0] == '\0' ||
        !sysfs_text(s->boot, sizeof(s->boot),
                    "%s/proc/sys/kernel/random/boot_id", root) ||
        !sysfs_real(s->drive, sizeof(s->drive), "%s/sys/dev/block/%u:%u", root,
                    major(device), minor(device)))
        return false;
    partition = sysfs_number(0, "%s/partition", s->drive);
    slash = strrchr(s->drive, '/');
    if (partition != 0 && slash != NULL)
        *slash = '\0';
    sequence = sysfs_number(0, "%s/diskseq", s->drive);
    return sequence != 0 &&
           text_format(s->file, sizeof(s->file),
                       "%s/drives/%" PRIu64 "-%" PRIu64,
                       policy->state_directory, sequence, partition);
}

/* The counts of the whole drive: its partitions are part of it. */
static bool count(const struct subject *s, struct counts *ret)
{
    char text[STAT_SIZE];
    char *rest = text;

    if (sysfs_number(0, "%s/queue/iostats", s->drive) == 0 ||
        !sysfs_text(text, sizeof(text), "%s/stat", s->drive))
        return false;
    for (unsigned field = 0; field < 15; field++) {
        char *end;
        uint64_t value = strtoull(rest, &end, 10);

        if (end == rest)
            return false;
        if (field == 6)
            ret->written = value;
        if (field == 13)
            ret->discarded = value;
        rest = end;
    }
    return true;
}

static int write_all(const char *path, const char *text)
{
    char fresh[SYSFS_PATH_SIZE];
    size_t length = strlen(text);
    int result = 0;
    int fd;

    if (!text_format(fresh, sizeof(fresh), "%s.new", path))
        return -ENAMETOOLONG;
    fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
              0600);
    if (fd < 0)
        return -errno;
    if (write(fd, text, length) != (ssize_t)length)
        result = -EIO;
    (void)close(fd);
    if (result == 0 && rename(fresh, path) != 0)
        result = -errno;
    return result;
}

/* Nothing is flushed to the disk: a record is of no use after a new start. */
static int write_record(const struct interlock_policy *policy,
                        const struct subject *s, const char *state,
                        const struct uuid *campaign, const struct counts *now)
{
    char folder[SYSFS_PATH_SIZE];
    char id[UUID_TEXT_SIZE];
    char text[RECORD_SIZE];

    if (!text_format(folder, sizeof(folder), "%s/drives",
                     policy->state_directory))
        return -ENAMETOOLONG;
    if ((mkdir(policy->state_directory, 0700) != 0 && errno != EEXIST) ||
        (mkdir(folder, 0700) != 0 && errno != EEXIST))
        return -errno;
    (void)snprintf(text, sizeof(text), "%s %s %s %" PRIu64 " %" PRIu64 "\n",
                   s->boot, state, uuid_format(campaign, id), now->written,
                   now->discarded);
    return write_all(s->file, text);
}

int left_begin(const struct interlock_policy *policy, uint64_t device,
               const struct uuid *campaign)
{
    const struct counts none = {0};
    struct subject s;

    if (!find(policy, device, &s))
        return -EOPNOTSUPP;
    return write_record(policy, &s, "open", campaign, &none);
}

void left_end(const struct interlock_policy *policy, uint64_t device,
              const struct uuid *campaign)
{
    struct counts now;
    struct subject s;

    if (!find(policy, device, &s))
        return;
    if (!count(&s, &now) ||
        write_record(policy, &s, "closed", campaign, &now) < 0)
        (void)unlink(s.file);
}

bool left_is_ours(const struct interlock_policy *policy, uint64_t device,
                  const struct uuid *campaign)
{
    char boot[WORD_SIZE], state[WORD_SIZE], id[WORD_SIZE];
    char own[UUID_TEXT_SIZE] = "";
    struct counts then, now;
    char text[RECORD_SIZE];
    struct subject s;

    if (!find(policy, device, &s) ||
        !sysfs_text(text, sizeof(text), "%s", s.file) ||
        sscanf(text, "%63s %63s %63s %" SCNu64 " %" SCNu64, boot, state, id,
               &then.written, &then.discarded) != 5 ||
        strcmp(boot, s.boot) != 0)
        return false;
    if (strcmp(state, "open") == 0)
        return campaign != NULL && strcmp(uuid_format(campaign, own), id) == 0;
    return strcmp(state, "closed") == 0 && count(&s, &now) &&
           now.written == then.written && now.discarded == then.discarded;
}
