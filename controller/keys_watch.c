#include "controller/keys_watch.h"

#include "common/tls.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void keys_watch_init(struct keys_watch *watch, const char *keys,
                     const char *revoked)
{
    const char *slash = strrchr(keys, '/');
    int folder = slash == NULL ? 0 : (int)(slash - keys) + 1;
    int length;

    *watch = (struct keys_watch){.named = revoked[0] != '\0'};
    if (watch->named)
        length = snprintf(watch->path, sizeof(watch->path), "%s", revoked);
    else
        length = snprintf(watch->path, sizeof(watch->path), "%.*srevoked.pem",
                          folder, keys);
    if (length >= (int)sizeof(watch->path))
        watch->path[0] = '\0';
}

static bool is_same(const struct keys_watch *watch, const struct stat *st)
{
    return watch->inode == st->st_ino && watch->size == (uint64_t)st->st_size &&
           watch->modified.tv_sec == st->st_mtim.tv_sec &&
           watch->modified.tv_nsec == st->st_mtim.tv_nsec;
}

int keys_watch_look(struct keys_watch *watch, struct tls_context *context,
                    struct diag *diag)
{
    bool first = watch->inode == 0;
    struct stat st;

    if (stat(watch->path, &st) != 0) {
        if (errno == ENOENT && (!watch->named || !first))
            return 0;
        return diag_set(diag, -errno,
                        "cannot read the revoked certificates '%s': %s",
                        watch->path, strerror(errno));
    }
    if (is_same(watch, &st))
        return 0;
    watch->inode = st.st_ino;
    watch->size = (uint64_t)st.st_size;
    watch->modified = st.st_mtim;
    return tls_context_revoke(context, watch->path, diag);
}
