#include "tests/support/lab.h"

#include <stdio.h>
#include <string.h>

#include "common/diag.h"
#include "common/keys.h"
#include "tests/support/suite.h"

#define LABS_MAX 8

const char *lab_new(void)
{
    static char paths[LABS_MAX][128];
    static int count;
    struct diag diag = {0};
    char *path = paths[count];

    ck_assert_int_lt(count, LABS_MAX);
    (void)snprintf(path, sizeof(paths[0]), "%s/lab%d", suite_directory(),
                   count++);
    ck_assert_msg(keys_init(path, &diag) == 0, "%s", diag.text);
    return path;
}

static struct tls_context *load(const char *path)
{
    struct tls_context *context = NULL;
    struct diag diag = {0};

    ck_assert_msg(tls_context_load(path, &context, &diag) == 0, "%s",
                  diag.text);
    return context;
}

struct tls_context *lab_controller(const char *lab)
{
    char path[PATH_SIZE];

    (void)snprintf(path, sizeof(path), "%s/controller.pem", lab);
    return load(path);
}

struct tls_context *lab_issue(const char *lab, enum tls_role role,
                              const char *name)
{
    struct diag diag = {0};
    char path[PATH_SIZE];

    ck_assert_msg(keys_issue(lab, role, name, path, &diag) == 0, "%s",
                  diag.text);
    return load(path);
}
