/* plan_json.c - see plan_json.h. */
#include "controller/plan/plan_json.h"

#include "common/json.h"
#include "controller/plan/plan_text.h"

#define DEPTH_MAX 16
#define DECIMALS  6 /* seconds to the microsecond, per cents and rates */

/* The containers that are open, outermost first. */
struct builder {
    json_t *open[DEPTH_MAX];
    size_t depth;
    json_t *whole;
};

/* Puts a value, whose reference it takes, where the walk is. */
static void put(struct builder *b, const char *key, json_t *value)
{
    json_t *into = b->depth > 0 ? b->open[b->depth - 1] : NULL;

    if (into == NULL)
        b->whole = value;
    else if (key != NULL)
        (void)json_object_set_new(into, key, value);
    else
        (void)json_array_append_new(into, value);
}

static void begin(struct builder *b, const char *key, json_t *container)
{
    put(b, key, container);
    if (b->depth < DEPTH_MAX)
        b->open[b->depth++] = container;
}

static void object_begin(void *user, const char *key)
{
    begin(user, key, json_object());
}

static void array_begin(void *user, const char *key)
{
    begin(user, key, json_array());
}

static void end(void *user)
{
    struct builder *b = user;

    b->depth--;
}

static void put_text(void *user, const char *key, const char *value)
{
    put(user, key, json_string(value));
}

static void put_integer(void *user, const char *key, uint64_t value)
{
    put(user, key, json_integer((json_int_t)value));
}

static void put_number(void *user, const char *key, double value)
{
    put(user, key, json_fixed(value, DECIMALS));
}

static void put_boolean(void *user, const char *key, bool value)
{
    put(user, key, json_boolean(value));
}

static void put_null(void *user, const char *key)
{
    put(user, key, json_null());
}

json_t *plan_json(const struct plan *plan)
{
    static const struct plan_visitor visitor = {
        .object_begin = object_begin,
        .object_end = end,
        .array_begin = array_begin,
        .array_end = end,
        .text = put_text,
        .integer = put_integer,
        .number = put_number,
        .boolean = put_boolean,
        .null = put_null,
    };
    struct builder b = {0};

    plan_walk(plan, &visitor, &b);
    return b.whole;
}
