#include "common/key_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/diag.h"

/* A private key is its owner's alone. */
static int check_file(int fd, const char *path, struct diag *diag)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return diag_set(diag, -errno, "cannot look at '%s': %s", path,
                        strerror(errno));
    if (!S_ISREG(st.st_mode))
        return diag_set(diag, -EINVAL, "'%s' is no regular file", path);
    if (st.st_size > (off_t)KEY_FILE_MAX)
        return diag_set(diag, -EFBIG, "'%s' is too long for a file of keys",
                        path);
    if ((st.st_mode & 077) != 0)
        return diag_set(diag, -EPERM,
                        "'%s' holds a private key but others may use it (mode "
                        "%04o): chmod 600 it",
                        path, (unsigned)(st.st_mode & 07777));
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return diag_set(diag, -EPERM,
                        "'%s' holds a private key and belongs to another user "
                        "(%u): chown it",
                        path, (unsigned)st.st_uid);
    return 0;
}

int key_file_read(const char *path, char *data, size_t *ret_length,
                  struct diag *diag)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    size_t length = 0;
    ssize_t n = 0;
    int r;

    if (fd < 0)
        return diag_set(diag, -errno, "cannot open the keys '%s': %s", path,
                        strerror(errno));
    r = check_file(fd, path, diag);
    while (r == 0 && length < KEY_FILE_MAX &&
           (n = read(fd, data + length, KEY_FILE_MAX - length)) > 0)
        length += (size_t)n;
    if (r == 0 && n < 0)
        r = diag_set(diag, -errno, "cannot read the keys '%s': %s", path,
                     strerror(errno));
    (void)close(fd);
    if (r == 0)
        *ret_length = length;
    return r;
}

static int write_all(int fd, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t n = write(fd, data, length);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        data += n;
        length -= (size_t)n;
    }
    return fsync(fd) < 0 ? -errno : 0;
}

int key_file_write(const char *path, const char *data, size_t length,
                   struct diag *diag)
{
    int fd =
        open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    int r;

    if (fd < 0 && errno == EEXIST)
        return diag_set(diag, -EEXIST, "'%s' exists and is kept as it is",
                        path);
    if (fd < 0)
        return diag_set(diag, -errno, "cannot make '%s': %s", path,
                        strerror(errno));
    r = write_all(fd, data, length);
    if (close(fd) < 0 && r == 0)
        r = -errno;
    if (r < 0) {
        (void)unlink(path);
        return diag_set(diag, r, "cannot write '%s': %s", path, strerror(-r));
    }
    return 0;
}
