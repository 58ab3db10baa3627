/* interlock_inspect.c - looking at targets, without opening them. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "agent/interlock_content.h"
#include "agent/interlock_facts.h"
#include "agent/inventory_sysfs.h"

/*
 * Does a campaign of this very process hold it?  Its claims lock what they
 * hold.
 *
 *     1: FLOCK  ADVISORY  WRITE 4711 08:01:1048589 0 EOF
 */
static bool is_ours(const struct look *look, const struct pin *pin)
{
    FILE *file = sysfs_open("%s/proc/locks", look->root);
    char line[256];
    struct stat st;
    bool found = false;

    if (file == NULL)
        return false;
    while (fstat(pin->fd, &st) == 0 && !found &&
           fgets(line, sizeof(line), file) != NULL) {
        unsigned device[2];
        uint64_t inode;
        int pid;

        found = sscanf(line, "%*s FLOCK %*s %*s %d %x:%x:%" SCNu64, &pid,
                       &device[0], &device[1], &inode) == 4 &&
                pid == (int)getpid() && inode == st.st_ino &&
                makedev(device[0], device[1]) == st.st_dev;
    }
    (void)fclose(file);
    return found;
}

/* Beside the campaign that has it: what one could agree to lose. */
static void peek(const struct pin *pin, struct interlock_facts *facts)
{
    char path[PIN_PATH_SIZE];
    int fd;

    fd_path(pin->fd, path);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    content_peek(fd, facts);
    (void)close(fd);
}

/* Could it be claimed, and what is on it?  Held for this moment only. */
static void try_device(struct look *look, const struct pin *pin,
                       const struct interlock_wish *wish,
                       struct interlock_facts *facts)
{
    int fd;

    if (is_ours(look, pin)) {
        facts->claim = INTERLOCK_CLAIM_OURS;
        if (wish->overwrite)
            peek(pin, facts);
        return;
    }
    fd = look_open_exclusively(look, pin);
    if (fd == -EBUSY) {
        facts->claim = INTERLOCK_CLAIM_BUSY;
        look_tell_holder(look, facts);
        return;
    }
    if (fd < 0) {
        facts->access_error = -fd;
        return;
    }
    facts->claim = INTERLOCK_CLAIM_HELD;
    content_look(look, fd, NULL, facts);
    (void)close(fd);
}

/* Does another agent of this host have it? */
static void try_file(const struct look *look, const struct pin *pin,
                     struct interlock_facts *facts)
{
    char path[PIN_PATH_SIZE];
    int fd;

    if (is_ours(look, pin)) {
        facts->claim = INTERLOCK_CLAIM_OURS;
        return;
    }
    fd_path(pin->fd, path);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        facts->access_error = errno;
        return;
    }
    facts->claim = INTERLOCK_CLAIM_HELD;
    if (flock(fd, LOCK_SH | LOCK_NB) != 0) {
        facts->claim = INTERLOCK_CLAIM_BUSY;
        (void)snprintf(facts->claim_text, sizeof(facts->claim_text),
                       "its file lock is taken, as another campaign would");
    }
    (void)close(fd);
}

static void inspect_one(struct look *look, const struct interlock_wish *wish,
                        struct interlock_facts *facts)
{
    struct pin pin = {.fd = -1};
    enum interlock_verdict verdict;

    do {
        pin_close(&pin);
        facts_gather(look, wish, &pin, facts);
        verdict = interlock_judge(facts, wish, facts->refusal);
    } while (verdict == INTERLOCK_IN_USE && look_again(look, facts));

    if (verdict == INTERLOCK_ALLOWED && interlock_writes(facts, wish)) {
        if (facts->kind == INTERLOCK_BLOCK)
            try_device(look, &pin, wish, facts);
        else if (facts->kind == INTERLOCK_FILE)
            try_file(look, &pin, facts);
        (void)interlock_judge(facts, wish, facts->refusal);
    }
    pin_close(&pin);
}

int interlock_inspect(const struct interlock_policy *policy,
                      const struct interlock_wish *wishes, uint32_t count,
                      struct interlock_facts *ret_facts, struct diag *diag)
{
    struct look look;
    bool writes = false;
    int result;

    assert(count <= INTERLOCK_TARGETS_MAX);
    for (uint32_t i = 0; i < count; i++)
        writes |= wishes[i].write || wishes[i].create;
    result = look_init(&look, policy, writes, diag);
    if (result < 0)
        return result;
    for (uint32_t i = 0; i < count; i++)
        inspect_one(&look, &wishes[i], &ret_facts[i]);
    look_done(&look);
    return 0;
}
