/*
 * faultdrive.c - a drive that fails on command: FUSE over a file.
 *
 *     faultdrive MOUNTPOINT BACKING
 *
 * mounts two files: `drive`, as long as BACKING and with its bytes, and
 * `control`, to which commands are written, one a write:
 *
 *     fail OP ERRNO FROM TO   requests of OP (read, write, trim, sync, any)
 *                             that touch bytes FROM to TO - 1 end with ERRNO
 *                             (a name, as EIO)
 *     short FROM TO BYTES     reads there give no more than BYTES
 *     gone                    everything ends with ENODEV
 *     hang FROM TO            requests there are not answered
 *     clear                   all of that is over; what hung is answered
 *
 * All requests are taken by one thread and answered at once, or kept without an
 * answer: nothing here blocks.  It runs in the foreground and ends, unmounted,
 * with SIGTERM; what hangs then is answered with ENODEV by the kernel.
 */
#define FUSE_USE_VERSION 35

#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RULES_MAX 64
#define HELD_MAX  4096
#define WAIT_S    3600.0 /* the kernel may keep names and sizes so long */

enum inode { ROOT = FUSE_ROOT_ID, DRIVE, CONTROL };

enum op { OP_READ, OP_WRITE, OP_TRIM, OP_SYNC, OP_ANY };

static const char *const op_names[] = {"read", "write", "trim", "sync", "any"};

enum action { ACTION_FAIL, ACTION_SHORT, ACTION_HANG };

struct rule {
    enum action action;
    enum op op;
    off_t from;
    off_t to;
    int err;
    size_t bytes;
};

/* A request that waits for `clear`; data of a write is copied. */
struct held {
    fuse_req_t req;
    enum op op;
    off_t offset;
    size_t length;
    char *data;
};

static int backing;
static off_t backing_size;
static struct rule rules[RULES_MAX];
static int rule_count;
static bool gone;
static struct held held[HELD_MAX];
static int held_count;

/* ---- Commands ----------------------------------------------------------- */

static int errno_named(const char *name)
{
    for (int err = 1; err < 256; err++)
        if (strerrorname_np(err) != NULL &&
            strcmp(strerrorname_np(err), name) == 0)
            return err;
    return -1;
}

static int op_named(const char *name)
{
    for (int op = OP_READ; op <= OP_ANY; op++)
        if (strcmp(op_names[op], name) == 0)
            return op;
    return -1;
}

static void answer(const struct held *request);

static void clear_all(void)
{
    int count = held_count;

    rule_count = 0;
    gone = false;
    held_count = 0;
    for (int i = 0; i < count; i++) {
        struct held one = held[i];

        answer(&one);
        free(one.data);
    }
}

/* 0 or the errno of the write to `control`. */
static int obey(const char *text)
{
    struct rule rule = {.op = OP_ANY};
    char op[16], name[32];
    long long from, to;
    size_t bytes;

    if (strncmp(text, "clear", 5) == 0) {
        clear_all();
        return 0;
    }
    if (strncmp(text, "gone", 4) == 0) {
        gone = true;
        return 0;
    }
    if (rule_count == RULES_MAX)
        return ENOSPC;
    if (sscanf(text, "fail %15s %31s %lld %lld", op, name, &from, &to) == 4) {
        if (op_named(op) < 0 || errno_named(name) < 0)
            return EINVAL;
        rule.op = (enum op)op_named(op);
        rule.err = errno_named(name);
    } else if (sscanf(text, "short %lld %lld %zu", &from, &to, &bytes) == 3) {
        rule.action = ACTION_SHORT;
        rule.op = OP_READ;
        rule.bytes = bytes;
    } else if (sscanf(text, "hang %lld %lld", &from, &to) == 2) {
        rule.action = ACTION_HANG;
    } else {
        return EINVAL;
    }
    rule.from = from;
    rule.to = to;
    rules[rule_count++] = rule;
    return 0;
}

/* ---- Requests ----------------------------------------------------------- */

static const struct rule *rule_for(enum op op, off_t offset, size_t length)
{
    for (int i = 0; i < rule_count; i++)
        if ((rules[i].op == op || rules[i].op == OP_ANY) &&
            offset < rules[i].to && offset + (off_t)length > rules[i].from)
            return &rules[i];
    return NULL;
}

static void answer_read(fuse_req_t req, off_t offset, size_t length)
{
    char *data = malloc(length == 0 ? 1 : length);
    ssize_t got = data == NULL ? -1 : pread(backing, data, length, offset);

    if (got < 0)
        (void)fuse_reply_err(req, EIO);
    else
        (void)fuse_reply_buf(req, data, (size_t)got);
    free(data);
}

/* Does it, as if there were no rules. */
static void answer(const struct held *r)
{
    ssize_t done;

    switch (r->op) {
    case OP_READ:
        answer_read(r->req, r->offset, r->length);
        break;
    case OP_WRITE:
        done = pwrite(backing, r->data, r->length, r->offset);
        if (done < 0)
            (void)fuse_reply_err(r->req, errno);
        else
            (void)fuse_reply_write(r->req, (size_t)done);
        break;
    case OP_TRIM:
        (void)fuse_reply_err(
            r->req,
            fallocate(backing, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                      r->offset, (off_t)r->length) < 0
                ? errno
                : 0);
        break;
    default:
        (void)fuse_reply_err(r->req, fdatasync(backing) < 0 ? errno : 0);
        break;
    }
}

static void hold(const struct held *r)
{
    struct held kept = *r;

    if (held_count == HELD_MAX) {
        (void)fuse_reply_err(r->req, EBUSY);
        return;
    }
    if (r->op == OP_WRITE) {
        kept.data = malloc(r->length);
        if (kept.data != NULL)
            memcpy(kept.data, r->data, r->length);
    }
    held[held_count++] = kept;
}

static void take(const struct held *r)
{
    const struct rule *rule = rule_for(r->op, r->offset, r->length);

    if (gone)
        (void)fuse_reply_err(r->req, ENODEV);
    else if (rule == NULL)
        answer(r);
    else if (rule->action == ACTION_HANG)
        hold(r);
    else if (rule->action == ACTION_FAIL)
        (void)fuse_reply_err(r->req, rule->err);
    else
        answer_read(r->req, r->offset,
                    r->length < rule->bytes ? r->length : rule->bytes);
}

static void on_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
                    struct fuse_file_info *info)
{
    const struct held r = {req, OP_READ, offset, size, NULL};

    (void)info;
    if (ino == DRIVE)
        take(&r);
    else
        (void)fuse_reply_buf(req, NULL, 0);
}

static void on_write(fuse_req_t req, fuse_ino_t ino, const char *data,
                     size_t size, off_t offset, struct fuse_file_info *info)
{
    struct held r = {req, OP_WRITE, offset, size, (char *)(uintptr_t)data};
    char text[128];
    int err;

    (void)info;
    if (ino == DRIVE) {
        take(&r);
        return;
    }
    (void)snprintf(text, sizeof(text), "%.*s", (int)size, data);
    err = obey(text);
    if (err != 0)
        (void)fuse_reply_err(req, err);
    else
        (void)fuse_reply_write(req, size);
}

static void on_fsync(fuse_req_t req, fuse_ino_t ino, int data_only,
                     struct fuse_file_info *info)
{
    const struct held r = {req, OP_SYNC, 0, (size_t)backing_size, NULL};

    (void)data_only;
    (void)info;
    if (ino == DRIVE)
        take(&r);
    else
        (void)fuse_reply_err(req, 0);
}

static void on_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t offset,
                         off_t length, struct fuse_file_info *info)
{
    const struct held r = {req, OP_TRIM, offset, (size_t)length, NULL};

    (void)info;
    if (ino == DRIVE && (mode & FALLOC_FL_PUNCH_HOLE) != 0)
        take(&r);
    else
        (void)fuse_reply_err(req, EOPNOTSUPP);
}

/* ---- Two files ---------------------------------------------------------- */

static struct stat stat_of(fuse_ino_t ino)
{
    struct stat st = {.st_ino = ino, .st_nlink = 1, .st_blksize = 4096};

    if (ino == ROOT) {
        st.st_mode = S_IFDIR | 0755;
        st.st_nlink = 2;
    } else {
        st.st_mode = S_IFREG | 0600;
        st.st_size = ino == DRIVE ? backing_size : 0;
    }
    return st;
}

static void on_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
    struct fuse_entry_param entry = {.attr_timeout = WAIT_S,
                                     .entry_timeout = WAIT_S};

    (void)parent;
    if (strcmp(name, "drive") == 0)
        entry.ino = DRIVE;
    else if (strcmp(name, "control") == 0)
        entry.ino = CONTROL;
    if (entry.ino == 0) {
        (void)fuse_reply_err(req, ENOENT);
        return;
    }
    entry.attr = stat_of(entry.ino);
    (void)fuse_reply_entry(req, &entry);
}

static void on_getattr(fuse_req_t req, fuse_ino_t ino,
                       struct fuse_file_info *info)
{
    struct stat st = stat_of(ino);

    (void)info;
    (void)fuse_reply_attr(req, &st, WAIT_S);
}

/* `control` is opened for writing with O_TRUNC. */
static void on_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *st,
                       int to_set, struct fuse_file_info *info)
{
    (void)st;
    (void)to_set;
    on_getattr(req, ino, info);
}

static void on_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *info)
{
    (void)ino;
    info->direct_io = 1;
    (void)fuse_reply_open(req, info);
}

static const struct fuse_lowlevel_ops ops = {
    .lookup = on_lookup,
    .getattr = on_getattr,
    .setattr = on_setattr,
    .open = on_open,
    .read = on_read,
    .write = on_write,
    .fsync = on_fsync,
    .fallocate = on_fallocate,
};

static int serve(const char *mountpoint)
{
    static char name[] = "faultdrive";
    char *words[] = {name, NULL};
    struct fuse_args args = FUSE_ARGS_INIT(1, words);
    struct fuse_session *session =
        fuse_session_new(&args, &ops, sizeof(ops), NULL);
    int status = 1;

    fuse_opt_free_args(&args);
    if (session == NULL)
        return 1;
    if (fuse_set_signal_handlers(session) == 0 &&
        fuse_session_mount(session, mountpoint) == 0) {
        puts("mounted");
        (void)fflush(stdout);
        status = fuse_session_loop(session) < 0;
        fuse_session_unmount(session);
    }
    fuse_remove_signal_handlers(session);
    fuse_session_destroy(session);
    return status;
}

int main(int argc, char **argv)
{
    struct stat st;

    if (argc != 3) {
        fputs("usage: faultdrive MOUNTPOINT BACKING\n", stderr);
        return 2;
    }
    backing = open(argv[2], O_RDWR | O_CLOEXEC);
    if (backing < 0 || fstat(backing, &st) < 0) {
        perror(argv[2]);
        return 1;
    }
    backing_size = st.st_size;
    return serve(argv[1]);
}
