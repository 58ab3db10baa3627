/* The marks on files that Lockstep made. */
#include "agent/interlock_mark.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tests/support/suite.h"

static const struct mark sample = {.inode = UINT64_MAX,
                                   .birth_ns = INT64_MAX,
                                   .filled_bytes = UINT64_MAX,
                                   .open = true,
                                   .modified_ns = INT64_MIN};

START_TEST(what_is_printed_is_parsed)
{
    struct mark mark;
    char text[MARK_SIZE];

    mark_print(&sample, text);
    ck_assert_uint_lt(strlen(text), MARK_SIZE - 1);
    ck_assert_int_eq(mark_parse(text, &mark), 0);
    ck_assert_uint_eq(mark.inode, sample.inode);
    ck_assert_int_eq(mark.birth_ns, sample.birth_ns);
    ck_assert_uint_eq(mark.filled_bytes, sample.filled_bytes);
    ck_assert(mark.open);
    ck_assert_int_eq(mark.modified_ns, sample.modified_ns);
}
END_TEST

static const char *const nonsense[] = {
    "",
    "1",
    "2 inode=1 birth=2 filled=3 state=open modified=4",
    "1 inode=1 birth=2 filled=3 state=open",
    "1 inode=1 birth=2 filled=3 state=ajar modified=4",
    "1 inode=1 birth=2 filled=3 state=openopenopen modified=4",
    "1 inode=1 birth=2 filled=3 state=open modified=4 more",
    "1 inode=x birth=2 filled=3 state=open modified=4",
};

START_TEST(nonsense_is_no_mark)
{
    struct mark mark = {.inode = 77};

    ck_assert_int_eq(mark_parse(nonsense[_i], &mark), -EBADMSG);
    ck_assert_uint_eq(mark.inode, 77);
}
END_TEST

static const struct {
    struct file_identity now;
    bool open;
    bool fits;
    const char *why;
} table[] = {
    {{5, 100, 200}, false, true, ""},
    {{6, 100, 200}, false, false, "is a copy"},
    {{5, 101, 200}, false, false, "is a copy"},
    {{5, 0, 200}, false, false, "is a copy"},
    {{5, 100, 201}, false, false, "has been written to since"},
    {{5, 100, 201}, true, true, ""}, /* we have it, or had when we died */
    {{6, 100, 200}, true, false, "is a copy"},
};

START_TEST(a_mark_names_its_file)
{
    struct mark mark = {.inode = 5,
                        .birth_ns = 100,
                        .modified_ns = 200,
                        .open = table[_i].open};
    char why[TEXT_SIZE];

    ck_assert(mark_fits(&mark, &table[_i].now, why, sizeof(why)) ==
              table[_i].fits);
    ck_assert_int_eq(strncmp(why, table[_i].why, strlen(table[_i].why)), 0);
    ck_assert(table[_i].fits == (why[0] == '\0'));
}
END_TEST

static int make_file(const char *name, char *path, size_t size)
{
    int fd;

    (void)snprintf(path, size, "%s/%s", suite_directory(), name);
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    return fd;
}

static struct mark mark_of(int fd)
{
    struct file_identity identity;

    ck_assert_int_eq(file_identify(fd, &identity), 0);
    return (struct mark){.inode = identity.inode,
                         .birth_ns = identity.birth_ns,
                         .filled_bytes = 4096,
                         .modified_ns = identity.modified_ns};
}

/* Also through O_PATH, as the interlock looks. */
static void check_reads_back(const char *state, const char *path)
{
    int pin = open(path, O_PATH | O_CLOEXEC);
    struct file_identity identity;
    struct mark mark;
    char why[TEXT_SIZE];

    ck_assert_int_eq(mark_read(state, pin, &mark), 0);
    ck_assert_uint_eq(mark.filled_bytes, 4096);
    ck_assert_int_eq(file_identify(pin, &identity), 0);
    ck_assert(mark_fits(&mark, &identity, why, sizeof(why)));
    (void)close(pin);
}

START_TEST(a_file_carries_its_mark)
{
    char path[PATH_SIZE];
    int fd = make_file("f", path, sizeof(path));
    struct mark mark = mark_of(fd);
    struct mark none;

    ck_assert_int_eq(mark_read("", fd, &none), -ENODATA);
    if (mark_write("", fd, &mark) == -EOPNOTSUPP) {
        printf("SKIP mark.attribute: no extended attributes in %s\n", path);
        return;
    }
    check_reads_back("", path);
    (void)close(fd);
}
END_TEST

/* Until not one byte more fits; false when there is no end to it. */
static bool use_up_attributes(int fd)
{
    static const char value[4096];
    size_t size = sizeof(value);
    char name[32];

    for (int i = 0; size > 0 && i < 64;) {
        (void)snprintf(name, sizeof(name), "user.full%d", i);
        if (fsetxattr(fd, name, value, size, 0) == 0)
            i++;
        else
            size /= 2;
    }
    return size == 0;
}

/* Where there is no room for an attribute, the state directory remembers. */
START_TEST(the_state_directory_remembers)
{
    char path[PATH_SIZE];
    char state[PATH_SIZE];
    int fd = make_file("f", path, sizeof(path));
    struct mark mark = mark_of(fd);
    struct mark none;

    if (mark.birth_ns == 0 || !use_up_attributes(fd)) {
        printf("SKIP mark.record: %s has room for every attribute\n", path);
        return;
    }
    (void)snprintf(state, sizeof(state), "%s/state", suite_directory());
    ck_assert_int_eq(mark_write("", fd, &mark), -EOPNOTSUPP);
    ck_assert_int_eq(mark_read("", fd, &none), -ENODATA);
    ck_assert_int_eq(mark_write(state, fd, &mark), 0);
    check_reads_back(state, path);
    mark_forget(state, fd);
    ck_assert_int_eq(mark_read(state, fd, &none), -ENODATA);
    mark_forget(state, fd);
    (void)close(fd);
}
END_TEST

/* Rubbish in the attribute is no mark, whoever put it there. */
START_TEST(a_forged_mark_is_none)
{
    char path[PATH_SIZE];
    int fd = make_file("f", path, sizeof(path));
    struct mark mark = {.inode = 77};

    if (fsetxattr(fd, "user.lockstep", "1 inode=", 8, 0) != 0) {
        printf("SKIP mark.attribute: no extended attributes in %s\n", path);
        return;
    }
    ck_assert_int_eq(mark_read("", fd, &mark), -ENODATA);
    ck_assert_uint_eq(mark.inode, 77);
    (void)close(fd);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("interlock_mark");
    TCase *tests = tcase_create("all");

    tcase_add_test(tests, what_is_printed_is_parsed);
    tcase_add_loop_test(tests, nonsense_is_no_mark, 0, ARRAY_LENGTH(nonsense));
    tcase_add_loop_test(tests, a_mark_names_its_file, 0, ARRAY_LENGTH(table));
    tcase_add_test(tests, a_file_carries_its_mark);
    tcase_add_test(tests, the_state_directory_remembers);
    tcase_add_test(tests, a_forged_mark_is_none);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
