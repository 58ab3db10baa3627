#include "agent/claim.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/claim_set.h"
#include "agent/interlock_content.h"
#include "agent/interlock_left.h"

/* udev holds a shared lock on a drive while it looks at it: moments. */
#define LOCK_PATIENCE_MS 2000
#define LOCK_STEP_MS     20

int claims_new(const struct interlock_policy *policy,
               const struct uuid *campaign, struct claims **ret_claims,
               struct diag *diag)
{
    struct claims *claims = calloc(1, sizeof(*claims));

    if (claims == NULL)
        return diag_set(diag, -ENOMEM, "no memory for claims");
    claims->policy = policy;
    claims->campaign = *campaign;
    *ret_claims = claims;
    return 0;
}

uint32_t claims_count(const struct claims *claims)
{
    return claims->count;
}

struct claim *claims_find(const struct claims *claims,
                          const struct interlock_facts *facts)
{
    for (uint32_t i = 0; i < claims->count; i++) {
        struct claim *c = claims->items[i];

        if (c->kind == facts->kind && c->device == facts->device_number &&
            (c->kind == INTERLOCK_BLOCK || c->inode == facts->inode))
            return c;
    }
    return NULL;
}

static struct claim *claim_add(struct claims *claims, enum interlock_kind kind,
                               int fd)
{
    struct claim **grown;
    struct claim *claim;

    if (claims->count == CLAIMS_MAX)
        return NULL;
    grown = reallocarray(claims->items, claims->count + 1, sizeof(*grown));
    if (grown == NULL)
        return NULL;
    claims->items = grown;
    claim = calloc(1, sizeof(*claim));
    if (claim == NULL)
        return NULL;
    claim->kind = kind;
    claim->fd = fd;
    claim->folder = -1;
    claims->items[claims->count++] = claim;
    return claim;
}

static int no_room(const struct claims *claims, struct diag *diag)
{
    if (claims->count == CLAIMS_MAX)
        return diag_set(diag, -E2BIG,
                        "a campaign writes at most %u targets on a host",
                        CLAIMS_MAX);
    return diag_set(diag, -ENOMEM, "no memory for claims");
}

/* 0, -EBUSY when another process keeps it, or what the kernel said. */
static int lock(int fd)
{
    for (int waited = 0;; waited += LOCK_STEP_MS) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return 0;
        if (errno != EWOULDBLOCK)
            return -errno;
        if (waited >= LOCK_PATIENCE_MS)
            return -EBUSY;
        (void)poll(NULL, 0, LOCK_STEP_MS); /* there is no event for this */
    }
}

static int lock_or_tell(int fd, struct interlock_facts *facts,
                        struct diag *diag)
{
    int result = lock(fd);

    if (result == -EBUSY) {
        facts->claim = INTERLOCK_CLAIM_BUSY;
        (void)snprintf(facts->claim_text, sizeof(facts->claim_text),
                       "its file lock is taken, as another campaign would");
    } else if (result < 0) {
        return diag_set(diag, result, "cannot lock '%s': %s", facts->device,
                        strerror(-result));
    }
    return result;
}

int claim_device(struct claims *claims, struct look *look,
                 const struct pin *pin, struct interlock_facts *facts,
                 struct claim **ret_claim, struct diag *diag)
{
    int fd = look_open_exclusively(look, pin);
    struct claim *claim;
    struct stat st;
    int result;

    if (fd == -EBUSY)
        facts->claim = INTERLOCK_CLAIM_BUSY;
    if (fd < 0)
        return diag_set(diag, fd, "cannot open '%s' exclusively: %s",
                        facts->device, strerror(-fd));
    result = fstat(fd, &st) != 0 ? -errno : lock_or_tell(fd, facts, diag);
    claim = result == 0 ? claim_add(claims, INTERLOCK_BLOCK, fd) : NULL;
    if (claim == NULL) {
        (void)close(fd);
        return result < 0 ? result : no_room(claims, diag);
    }
    claim->device = st.st_rdev;
    facts->claim = INTERLOCK_CLAIM_HELD;
    *ret_claim = claim;
    return 0;
}

/* While we hold it, the mark says that only we know what is in it. */
static int mark_open(struct claims *claims, struct claim *claim)
{
    struct file_identity identity;
    int result = file_identify(claim->fd, &identity);

    if (result < 0)
        return result;
    claim->mark.inode = identity.inode;
    claim->mark.birth_ns = identity.birth_ns;
    claim->mark.open = true;
    claim->mark.modified_ns = identity.modified_ns;
    return mark_write(claims->policy->state_directory, claim->fd, &claim->mark);
}

void claim_begin(struct claims *claims, struct claim *claim)
{
    if (claim->kind == INTERLOCK_BLOCK)
        claim->begun =
            left_begin(claims->policy, claim->device, &claims->campaign) == 0;
}

/* A file of others that may be overwritten, if it is still what was told. */
static bool adopt(int fd, const char *consent, struct mark *ret_mark)
{
    char text[TEXT_SIZE];
    struct stat st;

    if (consent == NULL || fstat(fd, &st) != 0)
        return false;
    content_of_file(&st, text);
    if (strcmp(text, consent) != 0)
        return false;
    *ret_mark = (struct mark){.filled_bytes = (uint64_t)st.st_size};
    return true;
}

int claim_file(struct claims *claims, const struct pin *pin,
               const char *consent, struct interlock_facts *facts,
               struct claim **ret_claim, struct diag *diag)
{
    char path[PIN_PATH_SIZE];
    struct file_identity identity;
    struct claim *claim;
    struct mark mark;
    int result;
    int fd;

    fd_path(pin->fd, path);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return diag_set(diag, -errno, "cannot open '%s' for writing: %s",
                        facts->device, strerror(errno));
    result = lock_or_tell(fd, facts, diag);
    /* Only now nobody else of us can change the mark: read it again. */
    if (result == 0 &&
        (mark_read(claims->policy->state_directory, fd, &mark) < 0 ||
         file_identify(fd, &identity) < 0 ||
         !mark_fits(&mark, &identity, facts->not_ours,
                    sizeof(facts->not_ours))) &&
        !adopt(fd, consent, &mark)) {
        facts->ours = false;
        result = -EPERM;
    }
    claim = result == 0 ? claim_add(claims, INTERLOCK_FILE, fd) : NULL;
    if (claim == NULL) {
        (void)close(fd);
        return result < 0 ? result : no_room(claims, diag);
    }
    claim->device = facts->device_number;
    claim->inode = facts->inode;
    claim->mark = mark;
    facts->claim = INTERLOCK_CLAIM_HELD;
    result = mark_open(claims, claim);
    if (result < 0) {
        claim_drop(claims, claim);
        return diag_set(diag, result, "cannot mark '%s': %s", facts->device,
                        strerror(-result));
    }
    *ret_claim = claim;
    return 0;
}

int claim_new_file(struct claims *claims, struct pin *pin,
                   struct interlock_facts *facts, struct claim **ret_claim,
                   struct diag *diag)
{
    struct claim *claim;
    struct stat st;
    int result;
    int fd = openat(pin->fd, pin->name,
                    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);

    if (fd < 0)
        return diag_set(diag, -errno, "cannot make '%s': %s", facts->device,
                        strerror(errno));
    result = fstat(fd, &st) != 0 ? -errno : lock_or_tell(fd, facts, diag);
    claim = result == 0 ? claim_add(claims, INTERLOCK_FILE, fd) : NULL;
    if (claim == NULL) {
        (void)unlinkat(pin->fd, pin->name, 0);
        (void)close(fd);
        return result < 0 ? result : no_room(claims, diag);
    }
    claim->device = st.st_dev;
    claim->inode = st.st_ino;
    claim->made = true;
    claim->filling = true;
    claim->folder = pin->fd;
    pin->fd = -1;
    memcpy(claim->name, pin->name, sizeof(claim->name));
    /* Where it can carry no mark, only this campaign knows it for ours. */
    (void)mark_open(claims, claim);
    facts->claim = INTERLOCK_CLAIM_HELD;
    *ret_claim = claim;
    return 0;
}

/* Reserves the blocks, where the file system can; else only the length. */
static int reserve(int fd, uint64_t size)
{
    int result;

    do
        result = fallocate(fd, 0, 0, (off_t)size);
    while (result != 0 && errno == EINTR);
    if (result != 0 && (errno == EOPNOTSUPP || errno == ENOSYS))
        result = ftruncate(fd, (off_t)size);
    return result == 0 ? 0 : -errno;
}

int claim_extend(struct claim *claim, uint64_t size, const char *path,
                 struct diag *diag)
{
    struct stat st;
    int result;

    assert(claim->kind == INTERLOCK_FILE);
    if (size > INT64_MAX)
        return diag_set(diag, -EFBIG, "'%s': no file is that long", path);
    if (fstat(claim->fd, &st) != 0)
        return diag_set(diag, -errno, "cannot look at '%s': %s", path,
                        strerror(errno));
    if (!claim->filling)
        claim->length_before = claim->mark.filled_bytes;
    claim->filling = true;
    result = reserve(claim->fd, size);
    if (result < 0) {
        (void)ftruncate(claim->fd, st.st_size);
        return diag_set(diag, result, "cannot make '%s' %llu bytes long: %s",
                        path, (unsigned long long)size, strerror(-result));
    }
    return 0;
}

int claim_filled(struct claims *claims, struct claim *claim, struct diag *diag)
{
    struct stat st;
    int result;

    if (claim->kind != INTERLOCK_FILE || !claim->filling)
        return 0;
    if (fdatasync(claim->fd) != 0 || fstat(claim->fd, &st) != 0)
        return diag_set(diag, -errno, "cannot flush a filled file: %s",
                        strerror(errno));
    claim->filling = false;
    claim->mark.filled_bytes = (uint64_t)st.st_size;
    result =
        mark_write(claims->policy->state_directory, claim->fd, &claim->mark);
    if (result == -EOPNOTSUPP && claim->made)
        return 0; /* see interlock_mark.h */
    if (result < 0)
        return diag_set(diag, result, "cannot mark a filled file: %s",
                        strerror(-result));
    return 0;
}

/* Is the name still that of the file that we hold? */
static bool is_still_there(const struct claim *claim)
{
    struct stat named;
    struct stat held;

    return fstatat(claim->folder, claim->name, &named, AT_SYMLINK_NOFOLLOW) ==
               0 &&
           fstat(claim->fd, &held) == 0 && named.st_dev == held.st_dev &&
           named.st_ino == held.st_ino;
}

/* A file that is not filled is taken back; see claim.h. */
static void undo_file(struct claims *claims, struct claim *claim)
{
    if (claim->made && is_still_there(claim)) {
        mark_forget(claims->policy->state_directory, claim->fd);
        (void)unlinkat(claim->folder, claim->name, 0);
    } else if (!claim->made) {
        (void)ftruncate(claim->fd, (off_t)claim->length_before);
    }
}

static void close_file(struct claims *claims, struct claim *claim)
{
    struct file_identity identity;

    if (claim->filling)
        undo_file(claims, claim);
    if (file_identify(claim->fd, &identity) < 0)
        return; /* the mark stays open: as after a crash */
    claim->mark.open = false;
    claim->mark.modified_ns = identity.modified_ns;
    (void)mark_write(claims->policy->state_directory, claim->fd, &claim->mark);
}

/* What was written through the cache is counted when it is written back. */
static void close_device(struct claims *claims, struct claim *claim)
{
    if (claim->buffered && fdatasync(claim->fd) != 0)
        return; /* the record stays open: as after a crash */
    left_end(claims->policy, claim->device, &claims->campaign);
}

static void claim_close(struct claims *claims, struct claim *claim)
{
    if (claim->kind == INTERLOCK_FILE)
        close_file(claims, claim);
    else if (claim->begun)
        close_device(claims, claim);
    (void)close(claim->fd);
    if (claim->folder >= 0)
        (void)close(claim->folder);
    free(claim);
}

void claim_drop(struct claims *claims, struct claim *claim)
{
    uint32_t i = 0;

    while (i < claims->count && claims->items[i] != claim)
        i++;
    assert(i < claims->count);
    claims->items[i] = claims->items[--claims->count];
    claim_close(claims, claim);
}

struct claims *claims_release(struct claims *claims)
{
    if (claims == NULL)
        return NULL;
    while (claims->count > 0)
        claim_drop(claims, claims->items[claims->count - 1]);
    free(claims->items);
    free(claims);
    return NULL;
}
