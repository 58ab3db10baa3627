/* whole.c - see whole.h. */
#include "controller/report/whole.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const row_keys[] = {"intervals", "host_intervals",
                                       "workload_intervals"};

/* An object without its last brace. */
static int dump_open(FILE *out, const json_t *object)
{
    char *text = json_dumps(object, WHOLE_JSON);

    if (text == NULL)
        return -ENOMEM;
    (void)fwrite(text, 1, strlen(text) - 1, out);
    free(text);
    return 0;
}

static int take_head(void *self, const json_t *head, struct diag *diag)
{
    struct whole *whole = self;
    json_t *copy = json_deep_copy(head);
    int err;

    (void)json_object_del(copy, "phases");
    err = copy == NULL ? -ENOMEM : dump_open(whole->out, copy);
    json_decref(copy);
    if (err < 0)
        return diag_set(diag, err, "no memory");
    fputs(",\"phases\": [\n", whole->out);
    whole->phases = true;
    return 0;
}

static int take_phase(void *self, const json_t *phase, struct diag *diag)
{
    struct whole *whole = self;

    if (json_integer_value(json_object_get(phase, "phase")) > 1)
        fputs(",\n", whole->out);
    whole->phase_ = json_copy((json_t *)(uintptr_t)phase);
    if (whole->phase_ == NULL)
        return diag_set(diag, -ENOMEM, "no memory");
    (void)json_object_del(whole->phase_, "next_interval");
    for (size_t i = 0; i < ARRAY_LENGTH(row_keys); i++)
        (void)json_object_del(whole->phase_, row_keys[i]);
    return 0;
}

static int take_rows(void *self, const json_t *phase, const json_t *page,
                     struct diag *diag)
{
    struct whole *whole = self;

    (void)phase;
    for (size_t i = 0; i < ARRAY_LENGTH(row_keys); i++) {
        json_t *from = json_object_get(page, row_keys[i]);
        json_t *into = json_object_get(whole->phase_, row_keys[i]);
        int failed = into == NULL
                         ? json_object_set_new(whole->phase_, row_keys[i],
                                               json_copy(from))
                         : json_array_extend(into, from);

        if (from != NULL && failed != 0)
            return diag_set(diag, -ENOMEM, "no memory");
    }
    return 0;
}

static int take_phase_end(void *self, const json_t *phase, struct diag *diag)
{
    struct whole *whole = self;

    (void)phase;
    (void)diag;
    (void)json_dumpf(whole->phase_, whole->out, WHOLE_JSON);
    json_decref(whole->phase_);
    whole->phase_ = NULL;
    return 0;
}

struct sink whole_sink(struct whole *whole, FILE *out, bool rows)
{
    *whole = (struct whole){.out = out, .rows = rows};
    return (struct sink){
        .self = whole,
        .head = take_head,
        .phase = take_phase,
        .rows = take_rows,
        .phase_end = take_phase_end,
        .want_rows = rows,
    };
}

/* Before anything was written. */
static void print_error(FILE *out, const char *error)
{
    json_t *document = json_pack("{s:s, s:s, s:[]}", "verdict", "failed",
                                 "error", error, "phases");

    (void)json_dumpf(document, out, WHOLE_JSON);
    fputc('\n', out);
    json_decref(document);
}

void whole_end(struct whole *whole, const char *error)
{
    json_t *text = error == NULL ? NULL : json_string(error);

    if (!whole->phases) {
        print_error(whole->out, error != NULL ? error : "nothing came");
    } else {
        /* A phase that broke off is not half in it. */
        fputs(whole->phase_ != NULL ? "null]" : "]", whole->out);
        if (text != NULL) {
            fputs(",\"export_error\": ", whole->out);
            (void)json_dumpf(text, whole->out, JSON_ENCODE_ANY);
        }
        fputs("}\n", whole->out);
    }
    json_decref(whole->phase_);
    whole->phase_ = NULL;
    json_decref(text);
}
