#include "agent/interlock_mark.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "agent/inventory_sysfs.h"
#include "common/clock.h"

#define ATTRIBUTE "user.lockstep"

static int64_t nanoseconds(const struct statx_timestamp *time)
{
    return time->tv_sec * (int64_t)NS_PER_S + time->tv_nsec;
}

int file_identify(int fd, struct file_identity *ret_identity)
{
    struct statx st;

    if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC,
              STATX_INO | STATX_MTIME | STATX_BTIME, &st) != 0)
        return -errno;
    *ret_identity = (struct file_identity){
        .inode = st.stx_ino,
        .birth_ns =
            (st.stx_mask & STATX_BTIME) != 0 ? nanoseconds(&st.stx_btime) : 0,
        .modified_ns = nanoseconds(&st.stx_mtime),
    };
    return 0;
}

void mark_print(const struct mark *mark, char text[MARK_SIZE])
{
    (void)snprintf(text, MARK_SIZE,
                   "1 inode=%" PRIu64 " birth=%" PRId64 " filled=%" PRIu64
                   " state=%s modified=%" PRId64,
                   mark->inode, mark->birth_ns, mark->filled_bytes,
                   mark->open ? "open" : "closed", mark->modified_ns);
}

int mark_parse(const char *text, struct mark *ret_mark)
{
    struct mark mark = {0};
    char state[8];
    int end = -1;

    if (sscanf(text,
               "1 inode=%" SCNu64 " birth=%" SCNd64 " filled=%" SCNu64
               " state=%7[a-z] modified=%" SCNd64 "%n",
               &mark.inode, &mark.birth_ns, &mark.filled_bytes, state,
               &mark.modified_ns, &end) != 5 ||
        end < 0 || text[end] != '\0')
        return -EBADMSG;
    if (strcmp(state, "open") != 0 && strcmp(state, "closed") != 0)
        return -EBADMSG;
    mark.open = strcmp(state, "open") == 0;
    *ret_mark = mark;
    return 0;
}

bool mark_fits(const struct mark *mark, const struct file_identity *identity,
               char *why, size_t why_size)
{
    why[0] = '\0';
    if (mark->inode != identity->inode || mark->birth_ns != identity->birth_ns)
        (void)snprintf(why, why_size, "is a copy of a file that Lockstep made");
    else if (!mark->open && mark->modified_ns != identity->modified_ns)
        (void)snprintf(why, why_size,
                       "has been written to since Lockstep made it");
    return why[0] == '\0';
}

static int read_attribute(int fd, char text[MARK_SIZE])
{
    char path[64];
    ssize_t length;

    /* By the descriptor's own link, for O_PATH has no attributes itself. */
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    length = getxattr(path, ATTRIBUTE, text, MARK_SIZE - 1);
    if (length < 0)
        return -errno;
    text[length] = '\0';
    return 0;
}

/* Where the state directory remembers the file. */
static int record_path(const char *state_directory, int fd, char *path,
                       size_t size)
{
    struct file_identity identity;
    struct statfs fs;
    uint32_t id[2];
    int result = file_identify(fd, &identity);

    if (result < 0)
        return result;
    if (state_directory[0] == '\0' || identity.birth_ns == 0)
        return -EOPNOTSUPP;
    if (fstatfs(fd, &fs) != 0)
        return -errno;
    _Static_assert(sizeof(fs.f_fsid) == sizeof(id), "two numbers");
    memcpy(id, &fs.f_fsid, sizeof(id));
    return text_format(path, size, "%s/files/%08x%08x-%" PRIu64,
                       state_directory, id[0], id[1], identity.inode)
               ? 0
               : -ENAMETOOLONG;
}

static int read_record(const char *state_directory, int fd,
                       char text[MARK_SIZE])
{
    char path[SYSFS_PATH_SIZE];
    int result = record_path(state_directory, fd, path, sizeof(path));

    if (result < 0)
        return result;
    return sysfs_text(text, MARK_SIZE, "%s", path) ? 0 : -ENODATA;
}

int mark_read(const char *state_directory, int fd, struct mark *ret_mark)
{
    char text[MARK_SIZE];

    if (read_attribute(fd, text) < 0 &&
        read_record(state_directory, fd, text) < 0)
        return -ENODATA;
    return mark_parse(text, ret_mark) < 0 ? -ENODATA : 0;
}

static int write_file(const char *path, const char *text)
{
    int fd =
        open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    size_t length = strlen(text);
    int result = 0;

    if (fd < 0)
        return -errno;
    if (write(fd, text, length) != (ssize_t)length || fsync(fd) != 0)
        result = errno != 0 ? -errno : -EIO;
    (void)close(fd);
    return result;
}

static int write_record(const char *state_directory, int fd, const char *text)
{
    char path[SYSFS_PATH_SIZE];
    char fresh[SYSFS_PATH_SIZE];
    int result = record_path(state_directory, fd, path, sizeof(path));

    if (result < 0)
        return result;
    if (!text_format(fresh, sizeof(fresh), "%s/files", state_directory))
        return -ENAMETOOLONG;
    if ((mkdir(state_directory, 0700) != 0 && errno != EEXIST) ||
        (mkdir(fresh, 0700) != 0 && errno != EEXIST))
        return -errno;
    if (!text_format(fresh, sizeof(fresh), "%s.new", path))
        return -ENAMETOOLONG;
    result = write_file(fresh, text);
    if (result == 0 && rename(fresh, path) != 0)
        result = -errno;
    return result;
}

int mark_write(const char *state_directory, int fd, const struct mark *mark)
{
    char text[MARK_SIZE];

    mark_print(mark, text);
    if (fsetxattr(fd, ATTRIBUTE, text, strlen(text), 0) == 0)
        return 0;
    return write_record(state_directory, fd, text) < 0 ? -EOPNOTSUPP : 0;
}

void mark_forget(const char *state_directory, int fd)
{
    char path[SYSFS_PATH_SIZE];

    if (record_path(state_directory, fd, path, sizeof(path)) == 0)
        (void)unlink(path);
}
