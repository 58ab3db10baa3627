/*
 * object.h - JSON objects, put together with fixed rounding.
 *
 * All numbers of all documents pass here: microseconds with three decimals,
 * rates with three, percentages with two, so that the same figure is the same
 * digits everywhere.  NAN is null.  Counts are exact integers; above 2^53 a
 * reader that keeps numbers as doubles loses their last digits.
 *
 * Errors (no memory) are sticky: put on, ask at the end.
 * Threads: one owner.
 */
#ifndef CONTROLLER_RESULTS_OBJECT_H
#define CONTROLLER_RESULTS_OBJECT_H

#include <jansson.h>

#include "common/base.h"
#include "controller/results/bytes.h"

struct object {
    json_t *json;
    bool failed;
};

struct object object_new(void);
void object_done(struct object *object);

/* Takes `value`; NULL is a failure. */
void object_put(struct object *object, const char *key, json_t *value);
/* NULL is null.  What is no UTF-8 gets '?' in its place. */
void object_put_text(struct object *object, const char *key, const char *text);
/* The same, with "" as null. */
void object_put_word(struct object *object, const char *key, const char *text);
void object_put_count(struct object *object, const char *key, uint64_t count);
void object_put_bool(struct object *object, const char *key, bool value);
void object_put_real(struct object *object, const char *key, double value,
                     int decimals);
void object_put_us(struct object *object, const char *key, double us);
void object_put_seconds(struct object *object, const char *key, uint64_t ns);
/* "2026-01-31T12:00:00.123Z" of nanoseconds since 1970; 0 is null. */
void object_put_time(struct object *object, const char *key, int64_t wall_ns);
/* Takes the object. */
void object_put_object(struct object *object, const char *key,
                       struct object *value);
/* Takes the object; `array` is a JSON array of `object`'s. */
void object_append(struct object *object, json_t *array, struct object *value);
/* A JSON text that somebody else made; null when it is none. */
void object_put_parsed(struct object *object, const char *key,
                       const char *text);

/* Takes the object; free() the text.  NULL when something failed. */
char *object_text(struct object *object);

/* The same into a buffer, without the last brace where `open`. */
void object_write(struct object *object, bool open, struct bytes *into);

#endif
