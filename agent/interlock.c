#include "agent/interlock.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/claim_set.h"
#include "agent/interlock_content.h"
#include "agent/interlock_facts.h"
#include "agent/interlock_probe.h"

/* One target on its way through the door. */
struct passage {
    struct look *look;
    struct claims *claims;
    struct interlock_wish wish;
    struct interlock_facts facts;
    struct pin pin;
    struct claim *claim; /* NULL: only read */
    bool fresh;          /* claimed just now */
};

static void wish_of(const struct job_target *target,
                    struct interlock_wish *ret_wish)
{
    *ret_wish = (struct interlock_wish){
        .open_flags = target->open_flags,
        .write = target->write,
        /* What is made is filled by the same phase, or it would be read as it
           never was written. */
        .create = target->create && target->write,
        .size_bytes = target->size_bytes,
        .device_size_bytes = target->device_size_bytes,
        .disk_sequence = target->disk_sequence,
        .overwrite = target->overwrite,
    };
    memcpy(ret_wish->consent, target->consent, sizeof(ret_wish->consent));
    memcpy(ret_wish->path, target->path, sizeof(ret_wish->path));
    memcpy(ret_wish->serial, target->serial, sizeof(ret_wish->serial));
    memcpy(ret_wish->wwn, target->wwn, sizeof(ret_wish->wwn));
}

static int error_of(enum interlock_verdict verdict)
{
    switch (verdict) {
    case INTERLOCK_ALLOWED:
        return 0;
    case INTERLOCK_NOT_THERE:
        return -ENOENT;
    case INTERLOCK_NO_SPACE:
        return -ENOSPC;
    case INTERLOCK_BUSY:
        return -EBUSY;
    default:
        return -EPERM;
    }
}

static int judge(const struct passage *p, struct diag *diag)
{
    char reason[REASON_SIZE];
    enum interlock_verdict verdict =
        interlock_judge(&p->facts, &p->wish, reason);

    return verdict == INTERLOCK_ALLOWED
               ? 0
               : diag_set(diag, error_of(verdict), "%s", reason);
}

/* What an earlier phase of this campaign claimed is ours, whatever it has. */
static void apply_claim(struct passage *p)
{
    p->claim = claims_find(p->claims, &p->facts);
    if (p->claim == NULL)
        return;
    p->facts.claim = INTERLOCK_CLAIM_HELD;
    if (p->claim->kind == INTERLOCK_BLOCK) {
        p->facts.content = INTERLOCK_CONTENT_CLAIMED;
        return;
    }
    p->facts.ours = true;
    p->facts.size_bytes = p->claim->mark.filled_bytes;
}

/* A claim that could not be had is a refusal in the words of the rules. */
static int claim_failed(struct passage *p, int result, struct diag *diag)
{
    int refused = 0;

    p->wish.final = true; /* it was looked at as well as it can be */
    look_tell_holder(p->look, &p->facts);
    if (result == -EBUSY || (result == -EPERM && !p->facts.ours))
        refused = judge(p, diag);
    return refused < 0 ? refused : result;
}

static int take_device(struct passage *p, struct diag *diag)
{
    int result =
        claim_device(p->claims, p->look, &p->pin, &p->facts, &p->claim, diag);

    if (result < 0)
        return claim_failed(p, result, diag);
    p->fresh = true;
    content_look(p->look, p->claim->fd, &p->claims->campaign, &p->facts);
    return 0;
}

static int take_file(struct passage *p, struct diag *diag)
{
    int result =
        p->facts.kind == INTERLOCK_MISSING
            ? claim_new_file(p->claims, &p->pin, &p->facts, &p->claim, diag)
            : claim_file(p->claims, &p->pin,
                         p->wish.overwrite ? p->wish.consent : NULL, &p->facts,
                         &p->claim, diag);
    bool direct = (p->wish.open_flags & JOB_OPEN_DIRECT) != 0;

    if (result < 0)
        return claim_failed(p, result, diag);
    p->fresh = true;
    facts_refresh_file(p->look, p->claim->fd, direct, &p->facts);
    p->facts.ours = true;
    p->facts.size_bytes = p->claim->mark.filled_bytes;
    return 0;
}

static int take(struct passage *p, struct diag *diag)
{
    if (p->facts.kind == INTERLOCK_CHARACTER || p->claim != NULL)
        return 0;
    return p->facts.kind == INTERLOCK_BLOCK ? take_device(p, diag)
                                            : take_file(p, diag);
}

/* Makes a file as long as it is to be; it is filled by the phase. */
static int lengthen(struct passage *p, struct diag *diag)
{
    int result;

    if (p->facts.kind != INTERLOCK_FILE || !p->wish.create ||
        p->facts.size_bytes >= p->wish.size_bytes)
        return 0;
    result = claim_extend(p->claim, p->wish.size_bytes, p->wish.path, diag);
    if (result == 0)
        p->facts.size_bytes = p->wish.size_bytes;
    return result;
}

static int flags_of(const struct passage *p, bool writes)
{
    uint32_t asked = p->wish.open_flags;
    int flags = O_CLOEXEC | (writes ? O_RDWR : O_RDONLY);

    if ((asked & JOB_OPEN_DIRECT) != 0 && p->facts.kind != INTERLOCK_CHARACTER)
        flags |= O_DIRECT;
    if ((asked & JOB_OPEN_DSYNC) != 0)
        flags |= O_DSYNC;
    if ((asked & JOB_OPEN_SYNC) != 0)
        flags |= O_SYNC;
    return flags;
}

/* Opens for I/O through what is held, never through the path. */
static int open_for_io(const struct passage *p, bool writes, int *ret_fd,
                       struct diag *diag)
{
    char path[PIN_PATH_SIZE];
    int flags = flags_of(p, writes);
    int fd;

    fd_path(p->claim != NULL ? p->claim->fd : p->pin.fd, path);
    fd = open(path, flags);
    if (fd < 0 && errno == EINVAL && (flags & O_DIRECT) != 0)
        return diag_set(diag, -EINVAL,
                        "'%s' does not support direct I/O (its file system "
                        "refuses O_DIRECT); leave out openflags=o_direct or "
                        "use another file system",
                        p->wish.path);
    if (fd < 0)
        return diag_set(diag, -errno, "cannot open '%s' for %s: %s%s",
                        p->wish.path, writes ? "writing" : "reading",
                        strerror(errno),
                        errno == EACCES || errno == EPERM
                            ? "; run the agent as root, or in the group of "
                              "the drive"
                            : "");
    *ret_fd = fd;
    return 0;
}

/* The descriptor must be of what was judged, not of what has come since. */
static int compare(const struct passage *p, int fd, struct diag *diag)
{
    bool device = p->facts.kind == INTERLOCK_BLOCK ||
                  p->facts.kind == INTERLOCK_CHARACTER;
    struct stat st;

    if (fstat(fd, &st) != 0)
        return diag_set(diag, -errno, "cannot look at '%s': %s", p->wish.path,
                        strerror(errno));
    if (device ? st.st_rdev == p->facts.device_number
               : st.st_dev == p->facts.device_number &&
                     st.st_ino == p->facts.inode)
        return 0;
    return diag_set(diag, -ESTALE,
                    "'%s' was replaced while it was opened; try again",
                    p->wish.path);
}

static int check_open(struct passage *p, int fd, struct diag *diag)
{
    int result = compare(p, fd, diag);

    if (result == 0 && p->facts.kind == INTERLOCK_BLOCK)
        result = facts_bind(fd, &p->facts, diag);
    if (result == 0)
        result = judge(p, diag); /* with what the descriptor says */
    return result;
}

static int pass_through(struct passage *p, bool writes,
                        struct opened_target *ret_opened, struct diag *diag)
{
    struct opened_target opened = {.fd = -1};
    int result = open_for_io(p, writes, &opened.fd, diag);

    if (result < 0)
        return result;
    result = check_open(p, opened.fd, diag);
    if (p->claim != NULL && writes && (flags_of(p, writes) & O_DIRECT) == 0)
        p->claim->buffered = true;
    opened.kind = p->facts.kind;
    opened.written = writes;
    opened.direct = (flags_of(p, writes) & O_DIRECT) != 0;
    opened.size_bytes =
        p->wish.size_bytes != 0 ? p->wish.size_bytes : p->facts.size_bytes;
    opened.logical_block = p->facts.logical_block;
    opened.device_number = p->facts.device_number;
    opened.inode = p->facts.inode;
    if (result == 0)
        result = probe_transfer(p->look, p->wish.path, &opened, diag);
    if (result < 0) {
        (void)close(opened.fd);
        return result;
    }
    *ret_opened = opened;
    return 0;
}

/* By what can be seen without opening anything. */
static int first_judgement(struct passage *p, struct diag *diag)
{
    char reason[REASON_SIZE];
    enum interlock_verdict verdict;

    do {
        pin_close(&p->pin);
        facts_gather(p->look, &p->wish, &p->pin, &p->facts);
        apply_claim(p);
        verdict = interlock_judge(&p->facts, &p->wish, reason);
    } while (verdict == INTERLOCK_IN_USE && look_again(p->look, &p->facts));
    return verdict == INTERLOCK_ALLOWED
               ? 0
               : diag_set(diag, error_of(verdict), "%s", reason);
}

static int open_one(struct passage *p, struct opened_target *ret_opened,
                    struct diag *diag)
{
    bool writes;
    int result;

    result = first_judgement(p, diag);
    if (result < 0)
        return result;
    writes = interlock_writes(&p->facts, &p->wish);
    if (writes)
        result = take(p, diag);
    if (result == 0) {
        p->wish.final = true;
        result = judge(p, diag);
    }
    if (result == 0 && p->fresh)
        claim_begin(p->claims, p->claim);
    if (result == 0)
        result = lengthen(p, diag);
    if (result == 0)
        result = pass_through(p, writes, ret_opened, diag);
    return result;
}

static int open_target(struct look *look, struct claims *claims,
                       const struct job_target *target,
                       struct opened_target *ret_opened, struct diag *diag)
{
    struct passage *p = calloc(1, sizeof(*p));
    int result;

    if (p == NULL)
        return diag_set(diag, -ENOMEM, "no memory to open '%s'", target->path);
    p->look = look;
    p->claims = claims;
    p->pin.fd = -1;
    wish_of(target, &p->wish);
    result = open_one(p, ret_opened, diag);
    if (result < 0 && p->fresh)
        claim_drop(claims, p->claim);
    pin_close(&p->pin);
    free(p);
    return result;
}

int interlock_open(struct claims *claims, const struct job_target *targets,
                   uint32_t count, struct opened_target *ret_opened,
                   uint32_t *reterr_index, struct diag *diag)
{
    struct look look;
    bool writes = false;
    uint32_t at = 0;
    int result;

    assert(count <= INTERLOCK_TARGETS_MAX);
    for (uint32_t i = 0; i < count; i++)
        writes |= targets[i].write;
    result = look_init(&look, claims->policy, writes, diag);
    if (result < 0) {
        if (reterr_index != NULL)
            *reterr_index = count;
        return result;
    }
    for (at = 0; at < count && result == 0; at++)
        result =
            open_target(&look, claims, &targets[at], &ret_opened[at], diag);
    look_done(&look);
    if (result == 0)
        return 0;
    interlock_close(ret_opened, at - 1);
    if (reterr_index != NULL)
        *reterr_index = at - 1;
    return result;
}

int interlock_filled(struct claims *claims, const struct opened_target *opened,
                     uint32_t count, struct diag *diag)
{
    int result = 0;

    for (uint32_t i = 0; i < count && result == 0; i++) {
        struct interlock_facts facts = {
            .kind = opened[i].kind,
            .device_number = opened[i].device_number,
            .inode = opened[i].inode,
        };
        struct claim *claim = claims_find(claims, &facts);

        if (claim != NULL)
            result = claim_filled(claims, claim, diag);
    }
    return result;
}

void interlock_close(struct opened_target *opened, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (opened[i].fd >= 0)
            (void)close(opened[i].fd);
        opened[i].fd = -1;
    }
}
