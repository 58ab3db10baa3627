#include "controller/results/store_open.h"

#include "common/uuid.h"
#include "controller/results/schema.h"
#include "controller/results/statement.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCKED_MS 2000 /* how long another program may hold the database */

static int lock_error(int err, const char *path, struct diag *diag)
{
    if (err == EWOULDBLOCK)
        return diag_set(diag, -EBUSY,
                        "store '%s' is in use by another controller; stop that "
                        "one, or name another file (store=)",
                        path);
    return diag_set(diag, -err, "store '%s': cannot make its lock file: %s; %s",
                    path, strerror(err), statement_remedy(-err));
}

/* The one name of the file behind links; the caller frees it.  A file that is
 * not there yet is made, so that a link to it leads somewhere; what stands
 * against that is told by the steps that follow. */
static int find_name(const char *path, char **ret_name, struct diag *diag)
{
    struct stat st;
    char *name;

    if (stat(path, &st) < 0 && errno == ENOENT) {
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);

        if (fd >= 0)
            (void)close(fd);
    }
    name = realpath(path, NULL);
    if (name == NULL)
        name = strdup(path);
    if (name == NULL)
        return diag_set(diag, -ENOMEM, "store '%s': out of memory", path);
    *ret_name = name;
    if (stat(name, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink > 1)
        return diag_set(diag, -EMLINK,
                        "store '%s': the file has %ju names (hard links), "
                        "under each of which a controller could take it; "
                        "remove the others, or copy the file (store=)",
                        path, (uintmax_t)st.st_nlink);
    return 0;
}

/*
 * SQLite's own locks tell programs that write at the same time.  Two
 * controllers would take turns and both believe that the store is theirs.
 */
static int lock_named(struct store_file *file, const char *path,
                      const char *real, struct diag *diag)
{
    char name[PATH_SIZE + 8];

    if (snprintf(name, sizeof(name), "%s.lock", real) >= (int)sizeof(name))
        return diag_set(diag, -ENAMETOOLONG, "store '%s': the name is too long",
                        path);
    file->lock = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
    if (file->lock < 0 || flock(file->lock, LOCK_EX | LOCK_NB) < 0)
        return lock_error(errno, path, diag);
    return 0;
}

static int take_lock(struct store_file *file, const char *path,
                     struct diag *diag)
{
    char *real = NULL;
    int err = find_name(path, &real, diag);

    if (err == 0)
        err = lock_named(file, path, real, diag);
    free(real);
    return err;
}

static int connect_to(struct store_access *access, const char *path, int flags,
                      struct diag *diag)
{
    int code;

    access->path = path;
    code = sqlite3_open_v2(path, &access->db,
                           flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                           NULL);
    if (access->db == NULL)
        return diag_set(diag, -ENOMEM, "store '%s': out of memory", path);
    if (code != SQLITE_OK)
        return statement_explain(access, diag);
    (void)sqlite3_busy_timeout(access->db, LOCKED_MS);
    access->statements = statements_new();
    if (access->statements == NULL)
        return diag_set(diag, -ENOMEM, "store '%s': out of memory", path);
    return 0;
}

static void disconnect(struct store_access *access)
{
    access->statements = statements_free(access->statements);
    (void)sqlite3_close(access->db);
    access->db = NULL;
}

/* Commits are on the disk when they return; readers never wait. */
static int set_up(struct store_access *access, struct diag *diag)
{
    return statement_script(access,
                            "PRAGMA journal_mode = WAL;"
                            "PRAGMA synchronous = FULL;"
                            "PRAGMA wal_autocheckpoint = 4000;"
                            "PRAGMA journal_size_limit = 67108864;"
                            "PRAGMA temp_store = MEMORY;",
                            diag);
}

static int put_meta(struct store_access *access, const char *name,
                    const void *blob, size_t length, int64_t number,
                    struct diag *diag)
{
    struct statement s;

    statement_begin(&s, access,
                    "INSERT OR REPLACE INTO meta VALUES (?1, "
                    "coalesce(?2, ?3))");
    statement_text(&s, name);
    statement_blob(&s, blob, length);
    statement_int(&s, number);
    return statement_run(&s, diag);
}

static int get_controller(struct store_file *file, struct diag *diag)
{
    struct statement s;
    const uint8_t *blob;
    size_t length = 0;
    int got;

    statement_begin(&s, &file->writer,
                    "SELECT value FROM meta WHERE name = 'controller'");
    got = statement_step(&s, diag);
    blob = got == 1 ? statement_get_blob(&s, &length) : NULL;
    if (length == sizeof(file->controller.bytes))
        memcpy(file->controller.bytes, blob, length);
    statement_end(&s);
    if (got != 0)
        return got < 0 ? got : 0;
    file->controller = uuid_random();
    return put_meta(&file->writer, "controller", file->controller.bytes,
                    sizeof(file->controller.bytes), 0, diag);
}

static int raise_epoch(struct store_file *file, struct diag *diag)
{
    struct statement s;
    int got;

    statement_begin(&s, &file->writer,
                    "SELECT value FROM meta WHERE name = 'epoch'");
    got = statement_step(&s, diag);
    file->epoch = (got == 1 ? statement_get_uint(&s) : 0) + 1;
    statement_end(&s);
    return got < 0 ? got
                   : put_meta(&file->writer, "epoch", NULL, 0,
                              (int64_t)file->epoch, diag);
}

static int make_ours(struct store_file *file, const char *version,
                     int64_t wall_ns, struct diag *diag)
{
    struct store_access *access = &file->writer;
    uint32_t found;
    int err = schema_migrate(access, &found, diag);

    if (err == 0)
        err = get_controller(file, diag);
    if (err == 0)
        err = raise_epoch(file, diag);
    if (err == 0)
        err = put_meta(access, "opened_by", version, strlen(version), 0, diag);
    if (err == 0)
        err = put_meta(access, "opened_ns", NULL, 0, wall_ns, diag);
    return err;
}

static int open_all(struct store_file *file, const char *path,
                    const char *version, int64_t wall_ns, struct diag *diag)
{
    int err = take_lock(file, path, diag);

    if (err == 0)
        err = connect_to(&file->writer, path,
                         SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, diag);
    if (err == 0)
        err = set_up(&file->writer, diag);
    if (err == 0)
        err = statement_script(&file->writer, "BEGIN IMMEDIATE", diag);
    if (err == 0)
        err = make_ours(file, version, wall_ns, diag);
    if (err == 0)
        err = statement_script(&file->writer, "COMMIT", diag);
    if (err == 0)
        err = connect_to(&file->reader, path, SQLITE_OPEN_READONLY, diag);
    return err;
}

int store_file_open(struct store_file *file, const char *path,
                    const char *version, int64_t wall_ns, struct diag *diag)
{
    int err;

    memset(file, 0, sizeof(*file));
    file->lock = -1;
    err = open_all(file, path, version, wall_ns, diag);
    if (err < 0)
        store_file_close(file);
    return err;
}

void store_file_close(struct store_file *file)
{
    disconnect(&file->reader);
    disconnect(&file->writer); /* an open transaction rolls back */
    if (file->lock >= 0)
        (void)close(file->lock);
    file->lock = -1;
}
