#include "agent/interlock_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "agent/inventory_sysfs.h"

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

/* 0, or the errno of reading the first `length` bytes. */
static int read_first(int fd, void *buffer, uint32_t length)
{
    ssize_t got;

    do
        got = pread(fd, buffer, length, 0);
    while (got < 0 && errno == EINTR);
    return got < 0 ? errno : 0;
}

/* The smallest transfer that works, from what was told on. */
static int settle_block(int fd, uint32_t *block)
{
    void *buffer = aligned_alloc(MEMORY_BLOCK_MAX, TRANSFER_MAX);
    uint32_t length = *block < TRANSFER_MAX ? *block : TRANSFER_MAX;
    int error;

    if (buffer == NULL)
        return ENOMEM;
    error = read_first(fd, buffer, length);
    while (error == EINVAL && length < MEMORY_BLOCK_MAX) {
        length *= 2;
        error = read_first(fd, buffer, length);
        if (error == 0)
            *block = length;
    }
    free(buffer);
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
    if (error != 0)
        return diag_set(diag, -error, "cannot read the first block of '%s': %s",
                        path, strerror(error));
    return 0;
}
