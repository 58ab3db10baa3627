/* engine_probe.c - see engine_probe.h. */
#include "agent/engine_probe.h"

#include "agent/engine.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#define FIRST_VERSION 5001u /* 5.1 brought io_uring */

int engine_probe_judge(int err, const struct engine_obstacles *o,
                       struct diag *diag)
{
    bool filtered = o->seccomp == 2;

    if (err == -ENOSYS && o->version != 0 && o->version < FIRST_VERSION)
        return diag_set(diag, err,
                        "this kernel (%u.%u) has no io_uring; Linux 5.11 or "
                        "newer is needed",
                        o->version / 1000, o->version % 1000);
    if (err == -ENOSYS && filtered)
        return diag_set(diag, err,
                        "io_uring is hidden by a seccomp filter (a container's "
                        "profile); allow io_uring_setup, io_uring_enter and "
                        "io_uring_register in it");
    if (err == -ENOSYS)
        return diag_set(diag, err,
                        "this kernel was built without io_uring "
                        "(CONFIG_IO_URING)");
    if (err == -EPERM && o->disabled == 2)
        return diag_set(diag, err,
                        "io_uring is switched off for everyone; set "
                        "kernel.io_uring_disabled=0 by sysctl");
    if (err == -EPERM && o->disabled == 1 && !o->privileged)
        return diag_set(diag, err,
                        "io_uring is reserved to root and one group; set "
                        "kernel.io_uring_disabled=0 by sysctl, or make the "
                        "agent's group kernel.io_uring_group");
    if (err == -EPERM && filtered)
        return diag_set(diag, err,
                        "io_uring is forbidden by a seccomp filter (a "
                        "container's profile); allow io_uring_setup, "
                        "io_uring_enter and io_uring_register in it");
    if (err == -ENOMEM)
        return diag_set(diag, err,
                        "no memory for an io_uring; raise the limit of locked "
                        "memory (LimitMEMLOCK=infinity of the service)");
    if (err == -EMFILE || err == -ENFILE)
        return diag_set(diag, err,
                        "no descriptor left for an io_uring; raise the limit "
                        "of open files (LimitNOFILE= of the service)");
    return diag_set(diag, err, "cannot make an io_uring: %s", strerror(-err));
}

static int read_disabled(void)
{
    FILE *file = fopen("/proc/sys/kernel/io_uring_disabled", "re");
    int disabled = -1;

    if (file == NULL)
        return -1;
    if (fscanf(file, "%d", &disabled) != 1)
        disabled = -1;
    (void)fclose(file);
    return disabled;
}

static void read_status(struct engine_obstacles *o)
{
    FILE *file = fopen("/proc/self/status", "re");
    char line[256];
    uint64_t capabilities;

    if (file == NULL)
        return;
    while (fgets(line, sizeof(line), file) != NULL) {
        (void)sscanf(line, "Seccomp: %d", &o->seccomp);
        if (sscanf(line, "CapEff: %" SCNx64, &capabilities) == 1)
            o->privileged = (capabilities >> CAP_SYS_ADMIN & 1) != 0;
    }
    (void)fclose(file);
}

static unsigned read_version(void)
{
    struct utsname name;
    unsigned major, minor;

    if (uname(&name) != 0 ||
        sscanf(name.release, "%u.%u", &major, &minor) != 2 || minor > 999)
        return 0;
    return major * 1000 + minor;
}

int engine_probe_explain(int err, struct diag *diag)
{
    struct engine_obstacles obstacles = {
        .seccomp = -1,
        .disabled = read_disabled(),
        .version = read_version(),
    };

    read_status(&obstacles);
    return engine_probe_judge(err, &obstacles, diag);
}

void engine_probe(struct engine_facts *ret_facts)
{
    uint8_t memory[4096];
    const int none[1] = {-1};
    struct engine_region region = {memory, sizeof(memory)};
    struct engine_io io = {.memory = memory};
    struct engine_setup setup = {
        .fds = none,
        .fd_count = 1,
        .regions = &region,
        .region_count = 1,
        .io = &io,
        .io_stride = sizeof(io),
        .slot_count = 1,
    };
    struct engine *engine;
    struct diag diag = {0};

    *ret_facts = (struct engine_facts){.engine = "io_uring"};
    if (engine_uring_open(NULL, &setup, &engine, &diag) < 0) {
        (void)snprintf(ret_facts->engine, TEXT_SIZE, "%.*s", TEXT_SIZE - 1,
                       diag.text);
        return;
    }
    (void)snprintf(ret_facts->features, TEXT_SIZE, "%s", engine->features);
    (void)engine->ops->close(engine, 0);
}
