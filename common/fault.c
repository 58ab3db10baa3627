#include "common/fault.h"

#ifdef FAULTS

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POINT_SIZE 48
#define POINTS_MAX 16

struct point {
    char name[POINT_SIZE];
    int err;
    atomic_uint pass;
};

static struct {
    struct point points[POINTS_MAX];
    atomic_uint count;
    atomic_bool read; /* LOCKSTEP_FAULTS */
} state;

void fault_arm(const char *point, int err, uint32_t pass)
{
    unsigned at = atomic_load(&state.count);
    struct point *p = &state.points[at];

    assert(err < 0 && at < POINTS_MAX && strlen(point) < POINT_SIZE);
    (void)snprintf(p->name, sizeof(p->name), "%s", point);
    p->err = err;
    atomic_store(&p->pass, pass);
    atomic_store(&state.count, at + 1);
}

void fault_disarm_all(void)
{
    atomic_store(&state.read, true);
    atomic_store(&state.count, 0);
}

static int errno_of(const char *name)
{
    static const struct {
        const char *name;
        int err;
    } known[] = {
        {"EIO", EIO},       {"ENOSPC", ENOSPC},       {"ENOMEM", ENOMEM},
        {"EACCES", EACCES}, {"ENODEV", ENODEV},       {"EAGAIN", EAGAIN},
        {"ENOSYS", ENOSYS}, {"ETIMEDOUT", ETIMEDOUT}, {"EPERM", EPERM},
    };

    for (size_t i = 0; i < ARRAY_LENGTH(known); i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].err;
    return 0;
}

/* "store.commit=ENOSPC:3" */
static int arm_one(char *text)
{
    char *value = strchr(text, '=');
    char *count = value == NULL ? NULL : strchr(value, ':');
    unsigned pass = 0;

    if (value == NULL)
        return -EINVAL;
    *value++ = '\0';
    if (count != NULL) {
        *count++ = '\0';
        if (sscanf(count, "%u", &pass) != 1)
            return -EINVAL;
    }
    if (errno_of(value) == 0 || strlen(text) >= POINT_SIZE ||
        atomic_load(&state.count) == POINTS_MAX)
        return -EINVAL;
    fault_arm(text, -errno_of(value), pass);
    return 0;
}

int fault_arm_text(const char *text)
{
    char *copy = strdup(text);
    char *rest = copy;
    char *word;
    int r = copy == NULL ? -ENOMEM : 0;

    while (r == 0 && (word = strsep(&rest, ",")) != NULL)
        r = arm_one(word);
    free(copy);
    return r;
}

static void read_environment(void)
{
    const char *text = getenv("LOCKSTEP_FAULTS");

    if (atomic_exchange(&state.read, true) || text == NULL)
        return;
    if (fault_arm_text(text) < 0) {
        fprintf(stderr, "LOCKSTEP_FAULTS is not understood: %s\n", text);
        abort();
    }
}

int fault_check(const char *point)
{
    unsigned count;

    read_environment();
    count = atomic_load(&state.count);
    for (unsigned i = 0; i < count; i++) {
        struct point *p = &state.points[i];
        unsigned pass = atomic_load(&p->pass);

        if (strcmp(p->name, point) != 0)
            continue;
        while (pass > 0)
            if (atomic_compare_exchange_weak(&p->pass, &pass, pass - 1))
                return 0;
        return p->err;
    }
    return 0;
}

#else

/* A file without a declaration is not C. */
extern const char fault_points_are_compiled_out;
const char fault_points_are_compiled_out = 0;

#endif
