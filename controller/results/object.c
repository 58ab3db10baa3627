#include "controller/results/object.h"

#include "common/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DUMP_FLAGS (JSON_COMPACT | JSON_FORM)

struct object object_new(void)
{
    json_t *json = json_object();

    return (struct object){json, json == NULL};
}

void object_done(struct object *object)
{
    json_decref(object->json);
    object->json = NULL;
}

void object_put(struct object *object, const char *key, json_t *value)
{
    if (value == NULL || json_object_set_new(object->json, key, value) < 0)
        object->failed = true;
}

static json_t *cleaned(const char *text)
{
    char *copy = strdup(text);
    json_t *json;

    if (copy == NULL)
        return NULL;
    for (char *c = copy; *c != '\0'; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    json = json_string(copy);
    free(copy);
    return json;
}

static json_t *text_json(const char *text)
{
    json_t *json = json_string(text);

    return json != NULL ? json : cleaned(text);
}

void object_put_text(struct object *object, const char *key, const char *text)
{
    object_put(object, key, text == NULL ? json_null() : text_json(text));
}

void object_put_word(struct object *object, const char *key, const char *text)
{
    object_put_text(object, key, text == NULL || text[0] == '\0' ? NULL : text);
}

void object_put_count(struct object *object, const char *key, uint64_t count)
{
    object_put(object, key,
               json_integer(count > INT64_MAX ? INT64_MAX : (json_int_t)count));
}

void object_put_bool(struct object *object, const char *key, bool value)
{
    object_put(object, key, json_boolean(value));
}

void object_put_real(struct object *object, const char *key, double value,
                     int decimals)
{
    object_put(object, key, json_fixed(value, decimals));
}

void object_put_us(struct object *object, const char *key, double us)
{
    object_put_real(object, key, us, 3);
}

void object_put_seconds(struct object *object, const char *key, uint64_t ns)
{
    object_put_real(object, key, (double)ns / (double)NS_PER_S, 6);
}

void object_put_time(struct object *object, const char *key, int64_t wall_ns)
{
    time_t seconds = (time_t)(wall_ns / (int64_t)NS_PER_S);
    char date[32], text[48];
    struct tm tm;

    if (wall_ns <= 0 || gmtime_r(&seconds, &tm) == NULL) {
        object_put(object, key, json_null());
        return;
    }
    (void)strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
    (void)snprintf(text, sizeof(text), "%s.%03dZ", date,
                   (int)(wall_ns / 1000000 % 1000));
    object_put_text(object, key, text);
}

void object_put_object(struct object *object, const char *key,
                       struct object *value)
{
    object->failed |= value->failed;
    object_put(object, key, value->json);
    value->json = NULL;
}

void object_append(struct object *object, json_t *array, struct object *value)
{
    object->failed |= value->failed;
    if (value->json == NULL || json_array_append_new(array, value->json) < 0)
        object->failed = true;
    value->json = NULL;
}

void object_put_parsed(struct object *object, const char *key, const char *text)
{
    json_t *json = text == NULL || text[0] == '\0'
                       ? NULL
                       : json_loads(text, JSON_REJECT_DUPLICATES, NULL);

    object_put(object, key, json == NULL ? json_null() : json);
}

char *object_text(struct object *object)
{
    char *text = object->failed ? NULL : json_dumps(object->json, DUMP_FLAGS);

    object_done(object);
    return text;
}

void object_write(struct object *object, bool open, struct bytes *into)
{
    char *text = object_text(object);

    if (text == NULL)
        into->failed = true;
    else
        bytes_put(into, text, strlen(text) - (open ? 1 : 0));
    free(text);
}
