/*
 * What the kernel and the drives told about a phase, and its flags.
 */
#include "controller/results/query_show.h"

#include <stdio.h>

/* Parsed once a phase; drives come in order of their numbers anyway. */
int show_load_devices(struct show *show)
{
    struct object devices = object_new();
    struct statement s;
    char key[16];
    int got;

    statement_begin(&s, show->access,
                    "SELECT target, facts FROM device WHERE phase = ?");
    statement_uint(&s, show->phase.id);
    while ((got = statement_step(&s, show->diag)) == 1) {
        (void)snprintf(key, sizeof(key), "%u",
                       (uint32_t)statement_get_uint(&s));
        object_put_parsed(&devices, key, statement_get_text(&s));
    }
    statement_end(&s);
    show->devices = json_incref(devices.json);
    object_done(&devices);
    return got;
}

void show_put_device(struct show *show, struct object *o, uint32_t target)
{
    char key[16];
    json_t *device;

    (void)snprintf(key, sizeof(key), "%u", target);
    device = json_object_get(show->devices, key);
    object_put(o, "device", device == NULL ? json_null() : json_incref(device));
}

int show_put_flags(struct show *show)
{
    json_t *array = json_array();
    struct statement s;
    int got;

    statement_begin(&s, show->access,
                    "SELECT scope, item, word, text FROM flag WHERE phase = ? "
                    "ORDER BY position");
    statement_uint(&s, show->phase.id);
    while ((got = statement_step(&s, show->diag)) == 1) {
        struct object o = object_new();
        enum record_scope scope = (enum record_scope)statement_get_int(&s);

        show_put_name(show, &o, scope, (uint32_t)statement_get_uint(&s));
        object_put_text(&o, "flag", statement_get_text(&s));
        object_put_text(&o, "text", statement_get_text(&s));
        object_append(&show->o, array, &o);
    }
    statement_end(&s);
    object_put(&show->o, "flags", array);
    return got;
}
