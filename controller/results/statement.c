#include "controller/results/statement.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#define STATEMENTS_MAX 96 /* different ones in the program */

/* Prepared statements by the address of their text. */
struct statements {
    struct {
        const char *sql;
        sqlite3_stmt *prepared;
    } entry[STATEMENTS_MAX];
    uint32_t count;
};

struct statements *statements_new(void)
{
    return calloc(1, sizeof(struct statements));
}

struct statements *statements_free(struct statements *statements)
{
    for (uint32_t i = 0; statements != NULL && i < statements->count; i++)
        (void)sqlite3_finalize(statements->entry[i].prepared);
    free(statements);
    return NULL;
}

static sqlite3_stmt *prepare(struct store_access *access, const char *sql)
{
    struct statements *all = access->statements;
    sqlite3_stmt *prepared = NULL;

    for (uint32_t i = 0; i < all->count; i++)
        if (all->entry[i].sql == sql)
            return all->entry[i].prepared;
    assert(all->count < STATEMENTS_MAX);
    if (sqlite3_prepare_v3(access->db, sql, -1, SQLITE_PREPARE_PERSISTENT,
                           &prepared, NULL) != SQLITE_OK)
        return NULL;
    all->entry[all->count].sql = sql;
    all->entry[all->count].prepared = prepared;
    all->count++;
    return prepared;
}

void statement_begin(struct statement *s, struct store_access *access,
                     const char *sql)
{
    *s = (struct statement){access, prepare(access, sql), 0, 0};
    assert(s->prepared == NULL || !sqlite3_stmt_busy(s->prepared));
}

/* Binding fails for want of memory alone; a wrong number is our mistake. */
static void bound(const struct statement *s, int code)
{
    (void)s;
    assert(code != SQLITE_RANGE && code != SQLITE_MISUSE);
}

void statement_int(struct statement *s, int64_t value)
{
    if (s->prepared != NULL)
        bound(s, sqlite3_bind_int64(s->prepared, ++s->bind_at, value));
}

void statement_uint(struct statement *s, uint64_t value)
{
    statement_int(s, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

void statement_real(struct statement *s, double value)
{
    if (isnan(value))
        statement_null(s);
    else if (s->prepared != NULL)
        bound(s, sqlite3_bind_double(s->prepared, ++s->bind_at, value));
}

void statement_text(struct statement *s, const char *text)
{
    if (s->prepared != NULL)
        bound(s, sqlite3_bind_text(s->prepared, ++s->bind_at, text, -1,
                                   SQLITE_STATIC));
}

void statement_blob(struct statement *s, const void *data, size_t length)
{
    if (length == 0)
        statement_null(s);
    else if (s->prepared != NULL)
        bound(s, sqlite3_bind_blob64(s->prepared, ++s->bind_at, data, length,
                                     SQLITE_STATIC));
}

void statement_null(struct statement *s)
{
    if (s->prepared != NULL)
        bound(s, sqlite3_bind_null(s->prepared, ++s->bind_at));
}

int statement_step(struct statement *s, struct diag *diag)
{
    int code = s->prepared == NULL ? sqlite3_errcode(s->access->db)
                                   : sqlite3_step(s->prepared);

    s->column_at = 0;
    if (code == SQLITE_ROW)
        return 1;
    return code == SQLITE_DONE ? 0 : statement_explain(s->access, diag);
}

int statement_run(struct statement *s, struct diag *diag)
{
    int got;

    do {
        got = statement_step(s, diag);
    } while (got == 1);
    statement_end(s);
    return got;
}

int64_t statement_get_int(struct statement *s)
{
    return sqlite3_column_int64(s->prepared, s->column_at++);
}

uint64_t statement_get_uint(struct statement *s)
{
    int64_t value = statement_get_int(s);

    return value < 0 ? 0 : (uint64_t)value;
}

double statement_get_real(struct statement *s)
{
    bool is_null = statement_is_null(s);
    double value = sqlite3_column_double(s->prepared, s->column_at++);

    return is_null ? NAN : value;
}

const char *statement_get_text(struct statement *s)
{
    const unsigned char *text =
        sqlite3_column_text(s->prepared, s->column_at++);

    return text == NULL ? "" : (const char *)text;
}

const uint8_t *statement_get_blob(struct statement *s, size_t *ret_length)
{
    const void *data = sqlite3_column_blob(s->prepared, s->column_at);

    *ret_length = (size_t)sqlite3_column_bytes(s->prepared, s->column_at);
    s->column_at++;
    return data;
}

bool statement_is_null(const struct statement *s)
{
    return sqlite3_column_type(s->prepared, s->column_at) == SQLITE_NULL;
}

void statement_end(struct statement *s)
{
    if (s->prepared == NULL)
        return;
    (void)sqlite3_reset(s->prepared); /* tells the step's error once more */
    (void)sqlite3_clear_bindings(s->prepared);
}

int statement_script(struct store_access *access, const char *sql,
                     struct diag *diag)
{
    return sqlite3_exec(access->db, sql, NULL, NULL, NULL) == SQLITE_OK
               ? 0
               : statement_explain(access, diag);
}

void statement_roll_back(struct store_access *access)
{
    (void)sqlite3_exec(access->db, "ROLLBACK", NULL, NULL, NULL);
}

/* What SQLite's codes come to. */
static int errno_of(struct store_access *access)
{
    int system = sqlite3_system_errno(access->db);

    switch (sqlite3_errcode(access->db) & 0xff) {
    case SQLITE_FULL:
        return -ENOSPC;
    case SQLITE_READONLY:
        return -EROFS;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return -EBUSY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return -EUCLEAN;
    case SQLITE_NOMEM:
        return -ENOMEM;
    case SQLITE_IOERR:
        return system > 0 ? -system : -EIO;
    case SQLITE_CANTOPEN:
        return system > 0 ? -system : -ENOENT;
    default:
        return -EIO;
    }
}

const char *statement_remedy(int err)
{
    switch (err) {
    case -ENOSPC:
    case -EDQUOT:
        return "the disk is full; free some space, or put the store on "
               "another disk (store=)";
    case -EROFS:
    case -EACCES:
    case -EPERM:
        return "it cannot be written; give its directory to the controller's "
               "user, or put the store elsewhere (store=)";
    case -EBUSY:
        return "another program has locked it; end that program (fuser names "
               "it), then try again";
    case -EUCLEAN:
        return "it is damaged or no database; put back a copy, or move it "
               "away to begin with an empty one";
    case -ENOMEM:
        return "there is not enough memory; give the controller more, or run "
               "less beside it";
    case -ENOENT:
        return "its directory does not exist; make it, or put the store "
               "elsewhere (store=)";
    default:
        return "look at the disk that it is on, or put the store elsewhere "
               "(store=)";
    }
}

int statement_explain(struct store_access *access, struct diag *diag)
{
    int err = errno_of(access);

    return diag_set(diag, err, "store '%s': %s [%s]", access->path,
                    statement_remedy(err), sqlite3_errmsg(access->db));
}
