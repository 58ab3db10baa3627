/*
 * Goal: what is done is on the disk, what fails leaves nothing behind, and the
 * sentence names the file and the remedy.
 */
#include "controller/results/schema.h"
#include "controller/results/statement.h"
#include "controller/results/store.h"
#include "tests/support/suite.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct store *store;
static struct diag diag;
static char path[512];
static sem_t woken;
static uint32_t done_count;
static int32_t last_result;
static struct diag last_diag;

static void on_wake(void *data)
{
    (void)data;
    (void)sem_post(&woken);
}

static int try_open(void)
{
    const struct store_options options = {
        .path = path,
        .version = "1.2.3",
        .wall_ns = 1,
        .wake = on_wake,
    };

    diag = (struct diag){0};
    return store_open(&options, &store, &diag);
}

static void use(const char *directory)
{
    (void)snprintf(path, sizeof(path), "%s/store.db", directory);
    (void)sem_init(&woken, 0, 0);
    store = NULL;
    done_count = 0;
}

static void open_store(void)
{
    ck_assert_msg(try_open() == 0, "%s", diag.text);
}

/* A failure's sentence names the file and says what to do. */
static void check_refused(int err, const char *remedy)
{
    ck_assert_int_eq(try_open(), err);
    ck_assert_int_eq(diag.err, err);
    ck_assert_ptr_nonnull(strstr(diag.text, path));
    ck_assert_msg(strstr(diag.text, remedy) != NULL, "%s", diag.text);
}

/* ---- Jobs ------------------------------------------------------------------
 */

struct job {
    struct store_job job;
    int64_t value;
    int fail;
    size_t padding;
};

static int run_insert(struct store_job *base, struct store_access *access)
{
    struct job *job = (struct job *)base;
    struct statement s;
    int err;

    statement_begin(&s, access, "INSERT INTO meta VALUES (?1, zeroblob(?2))");
    {
        char name[32];

        (void)snprintf(name, sizeof(name), "test%lld", (long long)job->value);
        statement_text(&s, name);
        statement_uint(&s, job->padding);
        err = statement_run(&s, &base->diag);
    }
    return err == 0 && job->fail < 0
               ? diag_set(&base->diag, job->fail, "as asked")
               : err;
}

static int run_count(struct store_job *base, struct store_access *access)
{
    struct job *job = (struct job *)base;
    struct statement s;
    int got;

    statement_begin(&s, access,
                    "SELECT count(*) FROM meta WHERE name LIKE 'test%'");
    got = statement_step(&s, &base->diag);
    if (got == 1)
        job->value = statement_get_int(&s);
    statement_end(&s);
    return got < 0 ? got : 0;
}

static int64_t counted = -1;

static void on_done(struct store_job *base)
{
    struct job *job = (struct job *)base;

    done_count++;
    last_result = base->result;
    last_diag = base->diag;
    if (base->run == run_count) {
        ck_assert_msg(base->result == 0, "%s", base->diag.text);
        counted = job->value;
    }
    free(job);
}

static struct job *job_new(int64_t value)
{
    struct job *job = calloc(1, sizeof(*job));

    job->job.run = run_insert;
    job->job.done = on_done;
    job->job.bytes = 100;
    job->value = value;
    return job;
}

static void write_one(int64_t value)
{
    ck_assert_int_eq(store_write(store, &job_new(value)->job), 0);
}

static void until(uint32_t count)
{
    store_poll(store);
    while (done_count < count) {
        while (sem_wait(&woken) != 0)
            ;
        store_poll(store);
    }
}

static int64_t count_rows(void)
{
    struct job *job = job_new(0);

    counted = -1;
    job->job.run = run_count;
    ck_assert_int_eq(store_read(store, &job->job), 0);
    while (counted < 0)
        until(done_count + 1);
    return counted;
}

START_TEST(what_is_done_is_stored)
{
    use(suite_memory_directory());
    open_store();
    for (int i = 0; i < 1000; i++)
        write_one(i);
    until(1000);
    ck_assert_int_eq(last_result, 0);
    ck_assert_int_eq(count_rows(), 1000);
    store = store_close(store);
    open_store();
    ck_assert_int_eq(count_rows(), 1000);
    store = store_close(store);
}
END_TEST

/* No waiting in between: a question is asked of what was queued before it. */
START_TEST(a_query_sees_all_that_was_submitted_before_it)
{
    use(suite_memory_directory());
    open_store();
    for (int i = 0; i < 200; i++) {
        write_one(i);
        ck_assert_int_eq(count_rows(), i + 1);
    }
    store = store_close(store);
}
END_TEST

START_TEST(closing_writes_what_waits)
{
    use(suite_memory_directory());
    open_store();
    for (int i = 0; i < 300; i++)
        write_one(i);
    store = store_close(store);
    ck_assert_uint_eq(done_count, 300);
    open_store();
    ck_assert_int_eq(count_rows(), 300);
    store = store_close(store);
}
END_TEST

START_TEST(the_uuid_stays_and_the_epoch_grows)
{
    struct uuid first;

    use(suite_memory_directory());
    open_store();
    first = *store_controller(store);
    ck_assert_uint_eq(store_epoch(store), 1);
    store = store_close(store);
    open_store();
    ck_assert_mem_eq(&first, store_controller(store), sizeof(first));
    ck_assert_uint_eq(store_epoch(store), 2);
    store = store_close(store);
}
END_TEST

/* One bad job takes its group with it, wholly, and not the next group. */
START_TEST(a_group_is_stored_whole_or_not_at_all)
{
    struct job *bad;

    use(suite_memory_directory());
    open_store();
    write_one(1);
    until(1);
    bad = job_new(2);
    bad->fail = -EIO;
    ck_assert_int_eq(store_write(store, &bad->job), 0);
    until(2);
    ck_assert_int_eq(last_result, -EIO);
    ck_assert_str_eq(last_diag.text, "as asked");
    ck_assert_int_eq(count_rows(), 1);
    write_one(3);
    until(4);
    ck_assert_int_eq(last_result, 0);
    ck_assert_int_eq(count_rows(), 2);
    store = store_close(store);
}
END_TEST

/* Nothing takes jobs off while this thread adds them: threadless. */
START_TEST(the_queue_is_bounded)
{
    const struct store_options options = {
        .path = path, .version = "1", .threadless = true};
    struct job *job;

    use(suite_memory_directory());
    ck_assert_int_eq(store_open(&options, &store, &diag), 0);
    for (uint32_t i = 0; i < STORE_JOBS_MAX; i++) {
        if (i == STORE_JOBS_MAX / 2)
            ck_assert(!store_busy(store));
        write_one(i);
    }
    ck_assert(store_busy(store));
    job = job_new(-1);
    ck_assert_int_eq(store_write(store, &job->job), -EAGAIN);
    for (uint32_t i = 0; i < STORE_QUERIES_MAX; i++) {
        struct job *query = job_new(0);

        query->job.run = run_count;
        ck_assert_int_eq(store_read(store, &query->job), 0);
    }
    ck_assert_int_eq(store_read(store, &job->job), -EAGAIN);
    free(job);
    store_poll(store);
    ck_assert_uint_eq(done_count, STORE_JOBS_MAX + STORE_QUERIES_MAX);
    ck_assert(!store_busy(store));
    store = store_close(store);
}
END_TEST

START_TEST(bytes_are_bounded_too)
{
    const struct store_options options = {
        .path = path, .version = "1", .threadless = true};
    struct job *job;

    use(suite_memory_directory());
    ck_assert_int_eq(store_open(&options, &store, &diag), 0);
    job = job_new(1);
    job->job.bytes = STORE_BYTES_MAX;
    ck_assert_int_eq(store_write(store, &job->job), 0);
    ck_assert(store_busy(store));
    job = job_new(2);
    ck_assert_int_eq(store_write(store, &job->job), 0);
    job = job_new(3);
    ck_assert_int_eq(store_write(store, &job->job), -EAGAIN);
    free(job);
    store = store_close(store);
}
END_TEST

/* ---- What can be wrong with the file ---------------------------------------
 */

START_TEST(a_missing_directory_is_named)
{
    use("/nonexistent/directory");
    check_refused(-ENOENT, "does not exist; make it");
}
END_TEST

START_TEST(a_second_controller_is_refused)
{
    struct store *first;

    use(suite_memory_directory());
    open_store();
    first = store;
    check_refused(-EBUSY, "in use by another controller");
    store = store_close(first);
    open_store();
    store = store_close(store);
}
END_TEST

/* Whatever the other one calls the file, it is the same. */
START_TEST(a_second_name_is_the_same_store)
{
    static char link_path[sizeof(path)];
    char own[sizeof(path)];
    struct store *first;

    use(suite_memory_directory());
    (void)snprintf(own, sizeof(own), "%s", path);
    (void)snprintf(link_path, sizeof(link_path), "%.480s.link", path);
    (void)unlink(link_path);
    ck_assert_int_eq(symlink(own, link_path), 0);
    (void)snprintf(path, sizeof(path), "%s", link_path);
    open_store(); /* makes what the link leads to */
    first = store;
    (void)snprintf(path, sizeof(path), "%s", own);
    check_refused(-EBUSY, "in use by another controller");
    store = store_close(first);
    open_store();
    first = store;
    (void)snprintf(path, sizeof(path), "%s", link_path);
    check_refused(-EBUSY, "in use by another controller");
    store = store_close(first);
    (void)unlink(link_path);

    ck_assert_int_eq(link(own, link_path), 0);
    check_refused(-EMLINK, "hard links");
    (void)unlink(link_path);
    (void)snprintf(path, sizeof(path), "%s", own);
    open_store();
    store = store_close(store);
}
END_TEST

static void sql(const char *text)
{
    sqlite3 *db = NULL;

    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
}

START_TEST(a_newer_store_is_refused_with_both_versions)
{
    char versions[64];

    use(suite_memory_directory());
    open_store();
    store = store_close(store);
    sql("PRAGMA user_version = 977");
    (void)snprintf(versions, sizeof(versions), "knows up to %u",
                   schema_version());
    check_refused(-EPROTONOSUPPORT, versions);
    ck_assert_ptr_nonnull(strstr(diag.text, "version 977"));
    /* Refusing it changed nothing. */
    (void)snprintf(versions, sizeof(versions), "PRAGMA user_version = %u",
                   schema_version());
    sql(versions);
    open_store();
    ck_assert_uint_eq(store_epoch(store), 2);
    store = store_close(store);
}
END_TEST

START_TEST(another_programs_database_is_refused)
{
    use(suite_memory_directory());
    sql("CREATE TABLE theirs(x)");
    check_refused(-EMEDIUMTYPE, "another program's database");
}
END_TEST

START_TEST(what_is_no_database_is_refused)
{
    FILE *file;

    use(suite_memory_directory());
    file = fopen(path, "w");
    for (int i = 0; i < 1000; i++)
        fputs("this is a text and no database\n", file);
    (void)fclose(file);
    check_refused(-EUCLEAN, "move it away");
}
END_TEST

START_TEST(a_damaged_store_is_refused)
{
    char garbage[4096];
    int fd;

    use(suite_memory_directory());
    open_store();
    store = store_close(store);
    memset(garbage, 0xa5, sizeof(garbage));
    fd = open(path, O_WRONLY);
    /* The tables' own page is whole; all others are not. */
    for (int page = 1; page < 40; page++)
        ck_assert_int_eq(pwrite(fd, garbage, sizeof(garbage), page * 4096L),
                         sizeof(garbage));
    (void)close(fd);
    check_refused(-EUCLEAN, "damaged");
}
END_TEST

START_TEST(a_locked_store_is_refused)
{
    sqlite3 *db = NULL;

    use(suite_memory_directory());
    open_store();
    store = store_close(store);
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL),
                     SQLITE_OK);
    check_refused(-EBUSY, "another program has locked it");
    (void)sqlite3_close(db);
    open_store();
    store = store_close(store);
}
END_TEST

/* ---- Older ones ------------------------------------------------------------
 */

START_TEST(an_older_store_is_moved_step_by_step)
{
    static const char *const two[] = {"CREATE TABLE t(a)",
                                      "ALTER TABLE t ADD COLUMN b DEFAULT 7"};
    struct store_access access = {.path = path};
    uint32_t found = 99;

    use(suite_memory_directory());
    ck_assert_int_eq(sqlite3_open(path, &access.db), SQLITE_OK);
    access.statements = statements_new();
    ck_assert_int_eq(schema_migrate_steps(&access, two, 1, &found, &diag), 0);
    ck_assert_uint_eq(found, 0);
    ck_assert_int_eq(
        statement_script(&access, "INSERT INTO t VALUES (1)", &diag), 0);
    ck_assert_int_eq(schema_migrate_steps(&access, two, 2, &found, &diag), 0);
    ck_assert_uint_eq(found, 1);
    ck_assert_int_eq(
        statement_script(&access, "UPDATE t SET a = b WHERE a = 1", &diag), 0);
    ck_assert_int_eq(schema_migrate_steps(&access, two, 2, &found, &diag), 0);
    ck_assert_uint_eq(found, 2);
    ck_assert_int_eq(schema_migrate_steps(&access, two, 1, &found, &diag),
                     -EPROTONOSUPPORT);
    access.statements = statements_free(access.statements);
    (void)sqlite3_close(access.db);
}
END_TEST

/* ---- Full, and read-only ---------------------------------------------------
 */

/* A file system of its own, of a size; skips where we may not mount one. */
static const char *mount_small(const char *options)
{
    static char directory[300];

    (void)snprintf(directory, sizeof(directory), "%s/mnt", suite_directory());
    (void)mkdir(directory, 0755);
    return mount("tmpfs", directory, "tmpfs", 0, options) == 0 ? directory
                                                               : NULL;
}

static bool may_mount(void)
{
    char directory[] = "/tmp/lockstep-mount-XXXXXX";
    bool may;

    if (mkdtemp(directory) == NULL)
        return false;
    may = mount("tmpfs", directory, "tmpfs", 0, "size=64k") == 0;
    if (may)
        (void)umount2(directory, MNT_DETACH);
    (void)rmdir(directory);
    return may;
}

START_TEST(a_full_disk_fails_the_group_and_no_more)
{
    const char *directory = mount_small("size=2m");
    int64_t before;
    char sentence[600];

    ck_assert_ptr_nonnull(directory);
    use(directory);
    open_store();
    last_result = 0;
    for (int i = 0; last_result == 0; i++) {
        struct job *job = job_new(i);

        ck_assert_int_lt(i, 1000);
        job->padding = 16384;
        ck_assert_int_eq(store_write(store, &job->job), 0);
        until((uint32_t)i + 1);
    }
    ck_assert_int_eq(last_result, -ENOSPC);
    (void)snprintf(sentence, sizeof(sentence), "store '%s'", path);
    ck_assert_ptr_nonnull(strstr(last_diag.text, sentence));
    ck_assert_ptr_nonnull(strstr(last_diag.text, "the disk is full"));
    before = count_rows();
    ck_assert_int_eq(before, done_count - 2);
    /* With room again, writing goes on by itself. */
    ck_assert_int_eq(mount("tmpfs", directory, "tmpfs", MS_REMOUNT, "size=8m"),
                     0);
    write_one(100000);
    until(done_count + 1);
    ck_assert_int_eq(last_result, 0);
    ck_assert_int_eq(count_rows(), before + 1);
    store = store_close(store);
    (void)umount2(directory, MNT_DETACH);
}
END_TEST

START_TEST(a_full_disk_refuses_a_new_store)
{
    const char *directory = mount_small("size=8k");

    ck_assert_ptr_nonnull(directory);
    use(directory);
    check_refused(-ENOSPC, "the disk is full");
    (void)umount2(directory, MNT_DETACH);
}
END_TEST

START_TEST(a_read_only_file_system_is_named)
{
    const char *directory = mount_small("size=8m");

    ck_assert_ptr_nonnull(directory);
    use(directory);
    open_store();
    store = store_close(store);
    ck_assert_int_eq(
        mount("tmpfs", directory, "tmpfs", MS_REMOUNT | MS_RDONLY, "size=8m"),
        0);
    check_refused(-EROFS, "cannot be written");
    (void)umount2(directory, MNT_DETACH);
}
END_TEST

/* ---- Killed ----------------------------------------------------------------
 */

static int reported;

static void on_child_done(struct store_job *base)
{
    struct job *job = (struct job *)base;
    int64_t value = job->value;

    if (base->result == 0)
        (void)!write(reported, &value, sizeof(value));
    done_count++;
    free(job);
}

/* Writes on and on, and says what is stored, until it is killed. */
static void child(void)
{
    open_store();
    for (int64_t i = 0;; i++) {
        struct job *job = job_new(i);

        job->job.done = on_child_done;
        if (store_write(store, &job->job) < 0) {
            free(job);
            i--;
        }
        store_poll(store);
    }
}

/* kill -9 at any moment: what was said to be stored is stored. */
START_TEST(killed_between_commits_it_keeps_what_it_said)
{
    int64_t value, last = -1;
    int pipes[2], status;
    pid_t pid;

    use(suite_directory());
    ck_assert_int_eq(pipe(pipes), 0);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        reported = pipes[1];
        child();
        _exit(1);
    }
    (void)close(pipes[1]);
    for (int i = 0; i < 200 + 50 * _i; i++) {
        ck_assert_int_eq(read(pipes[0], &value, sizeof(value)), sizeof(value));
        last = value;
    }
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    while (read(pipes[0], &value, sizeof(value)) == sizeof(value))
        last = value;
    (void)close(pipes[0]);
    open_store();
    ck_assert_int_ge(count_rows(), last + 1);
    store = store_close(store);
}
END_TEST

static void add_disks(Suite *suite)
{
    TCase *tests = tcase_create("disks");

    tcase_add_test(tests, a_full_disk_fails_the_group_and_no_more);
    tcase_add_test(tests, a_full_disk_refuses_a_new_store);
    tcase_add_test(tests, a_read_only_file_system_is_named);
    suite_add_tcase(suite, tests);
}

int main(void)
{
    Suite *suite = suite_create("store");
    TCase *tests = tcase_create("store");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, what_is_done_is_stored);
    tcase_add_test(tests, a_query_sees_all_that_was_submitted_before_it);
    tcase_add_test(tests, closing_writes_what_waits);
    tcase_add_test(tests, the_uuid_stays_and_the_epoch_grows);
    tcase_add_test(tests, a_group_is_stored_whole_or_not_at_all);
    tcase_add_test(tests, the_queue_is_bounded);
    tcase_add_test(tests, bytes_are_bounded_too);
    tcase_add_test(tests, a_missing_directory_is_named);
    tcase_add_test(tests, a_second_controller_is_refused);
    tcase_add_test(tests, a_second_name_is_the_same_store);
    tcase_add_test(tests, a_newer_store_is_refused_with_both_versions);
    tcase_add_test(tests, another_programs_database_is_refused);
    tcase_add_test(tests, what_is_no_database_is_refused);
    tcase_add_test(tests, a_damaged_store_is_refused);
    tcase_add_test(tests, a_locked_store_is_refused);
    tcase_add_test(tests, an_older_store_is_moved_step_by_step);
    tcase_add_loop_test(tests, killed_between_commits_it_keeps_what_it_said, 0,
                        3);
    suite_add_tcase(suite, tests);
    if (may_mount())
        add_disks(suite);
    else
        puts("SKIP store.disks: no right to mount a tmpfs");
    return suite_run(suite);
}
