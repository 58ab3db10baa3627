#include "agent/interlock_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "agent/inventory_sysfs.h"
#include "agent/patience.h"

#define MEMORY_BLOCK_MAX 4096u
#define TRANSFER_MAX     65536u /* the largest block a drive may have */

/* What the kernel wants of buffers: 512 at least, 4096 where it is silent. */
static uint32_t memory_block(int fd)
{
    struct statx st;

    if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &st) != 0 ||
        (st.stx_mask & STATX_DIOALIGN) == 0 || st.stx_dio_mem_align == 0 ||
        st.stx_dio_mem_align > MEMORY_BLOCK_MAX)
        return MEMORY_BLOCK_MAX;
    return st.stx_dio_mem_align < 512 ? 512 : st.stx_dio_mem_align;
}

/* A read that may hang: see patience.h. */
struct reading {
    int fd; /* its own */
    uint32_t block;
    int error;
    void *buffer;
};

/* 0, or the errno of reading the first `length` bytes. */
static int read_first(const struct reading *r, uint32_t length)
{
    ssize_t got;

    do
        got = pread(r->fd, r->buffer, length, 0);
    while (got < 0 && errno == EINTR);
    return got < 0 ? errno : 0;
}

/* The smallest transfer that works, from what was told on. */
static void settle(void *context)
{
    struct reading *r = context;
    uint32_t length = r->block < TRANSFER_MAX ? r->block : TRANSFER_MAX;

    r->error = read_first(r, length);
    while (r->error == EINVAL && length < MEMORY_BLOCK_MAX) {
        length *= 2;
        r->error = read_first(r, length);
        if (r->error == 0)
            r->block = length;
    }
}

static void reading_free(void *context)
{
    struct reading *r = context;

    if (r->fd >= 0)
        (void)close(r->fd);
    free(r->buffer);
    free(r);
}

static int settle_block(int fd, uint32_t *block)
{
    struct reading *r = calloc(1, sizeof(*r));
    int error;

    if (r == NULL)
        return ENOMEM;
    r->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    r->block = *block;
    r->buffer = aligned_alloc(MEMORY_BLOCK_MAX, TRANSFER_MAX);
    error = r->fd < 0 ? errno : r->buffer == NULL ? ENOMEM : 0;
    if (error == 0)
        error = -patience_run(settle, r, reading_free, PATIENCE_NS);
    if (error == ETIMEDOUT)
        return error;
    if (error == 0) {
        error = r->error;
        *block = r->block;
    }
    reading_free(r);
    return error;
}

static void find_name(const struct look *look, struct opened_target *opened)
{
    if (opened->kind == INTERLOCK_CHARACTER ||
        !sysfs_link_name(opened->name, sizeof(opened->name),
                         "%s/sys/dev/block/%u:%u", look->root,
                         major(opened->device_number),
                         minor(opened->device_number)))
        opened->name[0] = '\0';
}

int probe_transfer(const struct look *look, const char *path,
                   struct opened_target *opened, struct diag *diag)
{
    int error;

    if (opened->logical_block == 0)
        opened->logical_block = 1;
    opened->memory_block = opened->direct ? memory_block(opened->fd) : 1;
    find_name(look, opened);
    error = settle_block(opened->fd, &opened->logical_block);
    if (error == EINVAL && opened->direct)
        return diag_set(diag, -EINVAL,
                        "'%s' accepts O_DIRECT but refuses a direct read of "
                        "%u bytes at offset 0 from memory aligned to %u: its "
                        "file system does not support direct I/O; leave out "
                        "openflags=o_direct or use another file system",
                        path,
                        opened->logical_block > MEMORY_BLOCK_MAX
                            ? opened->logical_block
                            : MEMORY_BLOCK_MAX,
                        MEMORY_BLOCK_MAX);
    if (error == ETIMEDOUT)
        return diag_set(diag, -ETIMEDOUT,
                        "'%s' does not answer: reading its first block is not "
                        "done after %u s; see to the drive (dmesg tells what "
                        "the kernel knows)",
                        path, (unsigned)(PATIENCE_NS / NS_PER_S));
    if (error != 0)
        return diag_set(diag, -error, "cannot read the first block of '%s': %s",
                        path, strerror(error));
    return 0;
}
