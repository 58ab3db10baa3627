/* limits.c - see limits.h. */
#include "agent/limits.h"

#include "agent/inventory_sysfs.h"
#include "common/units.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Ours and the loop's own, for what is opened for a moment. */
#define FILES_SPARE 16u

static uint64_t read_limit(int which)
{
    struct rlimit limit;

    if (getrlimit((__rlimit_resource_t)which, &limit) < 0)
        return LIMITS_NONE;
    if (limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit((__rlimit_resource_t)which, &limit);
        (void)getrlimit((__rlimit_resource_t)which, &limit);
    }
    return limit.rlim_cur == RLIM_INFINITY ? LIMITS_NONE : limit.rlim_cur;
}

static uint64_t count_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    uint64_t count = 0;

    if (folder == NULL)
        return 0;
    while (readdir(folder) != NULL)
        count++;
    (void)closedir(folder);
    return count < 3 ? 0 : count - 3; /* ".", ".." and the folder itself */
}

static bool has_capability(unsigned capability)
{
    FILE *file = sysfs_open("/proc/self/status");
    uint64_t capabilities = 0;
    char line[256];

    if (file == NULL)
        return false;
    while (fgets(line, sizeof(line), file) != NULL)
        if (sscanf(line, "CapEff: %" SCNx64, &capabilities) == 1)
            break;
    (void)fclose(file);
    return (capabilities >> capability & 1) != 0;
}

void limits_read(struct limits *ret_limits)
{
    uint64_t locked = read_limit(RLIMIT_MEMLOCK);

    *ret_limits = (struct limits){
        .files_used = count_files(),
        .files_max = read_limit(RLIMIT_NOFILE),
        .tasks_used = sysfs_number(0, "/sys/fs/cgroup/pids.current"),
        .tasks_max = sysfs_number(LIMITS_NONE, "/sys/fs/cgroup/pids.max"),
        .threads_max = has_capability(CAP_SYS_RESOURCE)
                           ? LIMITS_NONE
                           : read_limit(RLIMIT_NPROC),
        .locked_max = has_capability(CAP_IPC_LOCK) ? LIMITS_NONE : locked,
    };
}

static bool exceeds(uint64_t used, uint64_t need, uint64_t max)
{
    return max != LIMITS_NONE && (used > max || need > max - used);
}

int limits_judge(const struct limits *have, const struct limits_need *need,
                 struct diag *diag)
{
    if (exceeds(have->files_used, need->files + FILES_SPARE, have->files_max))
        return diag_set(diag, -EMFILE,
                        "%" PRIu64 " files are to be open and %" PRIu64
                        " are allowed; raise the limit of open files "
                        "(LimitNOFILE= of the service, ulimit -n)",
                        have->files_used + need->files + FILES_SPARE,
                        have->files_max);
    if (exceeds(have->tasks_used, need->threads, have->tasks_max))
        return diag_set(diag, -EAGAIN,
                        "%" PRIu64 " threads are needed beside %" PRIu64
                        " there are, and the control group allows %" PRIu64
                        "; raise pids.max (TasksMax= of the service), or lower "
                        "workers=",
                        need->threads, have->tasks_used, have->tasks_max);
    if (exceeds(have->threads_used, need->threads, have->threads_max))
        return diag_set(diag, -EAGAIN,
                        "%" PRIu64 " threads are needed and the user may have "
                        "%" PRIu64 "; raise the limit of processes "
                        "(LimitNPROC= of the service, ulimit -u), or lower "
                        "workers=",
                        need->threads, have->threads_max);
    return 0;
}

void limits_tell_locked(const struct limits *have,
                        const struct limits_need *need, char text[TEXT_SIZE])
{
    char needs[UNITS_SIZE], allowed[UNITS_SIZE];

    text[0] = '\0';
    if (!exceeds(0, need->locked, have->locked_max))
        return;
    (void)snprintf(text, TEXT_SIZE,
                   "no fixed_buffers: %s to lock, %s allowed; raise the limit "
                   "of locked memory (LimitMEMLOCK= of the service, ulimit -l)",
                   units_print_size(needs, need->locked),
                   units_print_size(allowed, have->locked_max));
}
