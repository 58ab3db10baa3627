#include "controller/http/submission.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"

#define LONGEST_S (366.0 * 24 * 3600)

static int wrong(struct diag *diag, const char *what)
{
    return diag_set(diag, -EINVAL, "the submission's %s", what);
}

/* A misspelt 'check' must not start what was only to be checked. */
static int take_keys(json_t *json, struct diag *diag)
{
    static const char *const keys[] = {
        "files",      "variables", "name", "elapsed_s",
        "interval_s", "warmup_s",  "yes",  "check",
    };
    const char *key;
    json_t *value;

    json_object_foreach(json, key, value)
    {
        size_t i = 0;

        while (i < ARRAY_LENGTH(keys) && strcmp(keys[i], key) != 0)
            i++;
        if (i == ARRAY_LENGTH(keys))
            return diag_set(diag, -EINVAL,
                            "the submission has the key '%s', which means "
                            "nothing; /api/v1/openapi.json has them all",
                            strlen(key) <= 40 && text_is_plain(key) ? key
                                                                    : "...");
    }
    return 0;
}

/* Yes, no, or not said. */
static int take_flag(const json_t *json, const char *key, bool *ret_flag,
                     struct diag *diag)
{
    const json_t *value = json_object_get(json, key);

    if (value != NULL && !json_is_boolean(value) && !json_is_null(value))
        return diag_set(diag, -EINVAL,
                        "the submission's '%s' is neither true nor false", key);
    *ret_flag = json_is_true(value);
    return 0;
}

/* A plain text of at most `max` bytes; NULL with `diag`. */
static const char *take_text(const json_t *json, size_t max, const char *what,
                             struct diag *diag)
{
    const char *text = json_string_value(json);

    if (text == NULL || strlen(text) > max || !text_is_plain(text)) {
        (void)diag_set(diag, -EINVAL,
                       "the submission's %s is no plain text of at most %zu "
                       "bytes",
                       what, max);
        return NULL;
    }
    return text;
}

static int take_files(const json_t *json, struct wire_submit *into,
                      struct diag *diag)
{
    const json_t *files = json_object_get(json, "files");
    size_t count = json_array_size(files);
    size_t total = 0;

    if (count == 0 || count > WIRE_FILES_MAX)
        return wrong(diag, "'files' is no list of 1 to 64 files");
    into->files = calloc(count, sizeof(*into->files));
    if (into->files == NULL)
        return diag_set(diag, -ENOMEM, "the controller is out of memory");
    for (size_t i = 0; i < count; i++) {
        const json_t *file = json_array_get(files, i);
        bool included;
        const char *text = json_string_value(json_object_get(file, "text"));
        const char *name = take_text(json_object_get(file, "name"),
                                     PATH_SIZE - 1, "file 'name'", diag);

        if (name == NULL)
            return -EINVAL;
        if (text == NULL)
            return wrong(diag, "files need a 'text' each");
        if (take_flag(file, "included", &included, diag) < 0)
            return -EINVAL;
        total += strlen(text);
        into->files[into->file_count++] = (struct wire_file){
            .name = name,
            .text = text,
            .included = included,
        };
    }
    return total > WIRE_FILES_BYTES
               ? wrong(diag, "files are longer than 512 KiB together")
               : 0;
}

static int take_variables(const json_t *json, struct wire_submit *into,
                          struct diag *diag)
{
    const json_t *variables = json_object_get(json, "variables");
    size_t count = json_array_size(variables);

    if (variables != NULL && !json_is_array(variables) &&
        !json_is_null(variables))
        return wrong(diag, "'variables' is no list of texts");
    if (count > WIRE_VARIABLES_MAX)
        return wrong(diag, "'variables' has more than 256 texts");
    into->variables = calloc(count + 1, sizeof(*into->variables));
    if (into->variables == NULL)
        return diag_set(diag, -ENOMEM, "the controller is out of memory");
    for (size_t i = 0; i < count; i++) {
        const char *text = take_text(json_array_get(variables, i),
                                     PATH_SIZE - 1, "variable", diag);

        if (text == NULL)
            return -EINVAL;
        if (text[0] == '\0')
            return wrong(diag, "'variables' has an empty text");
        into->variables[into->variable_count++] = text;
    }
    return 0;
}

static int take_seconds(const json_t *json, const char *key, uint64_t *ret_ns,
                        struct diag *diag)
{
    const json_t *value = json_object_get(json, key);
    double seconds = json_number_value(value);

    if (value == NULL || json_is_null(value))
        return 0;
    if (!json_is_number(value) || !(seconds >= 0) || seconds > LONGEST_S)
        return diag_set(diag, -EINVAL,
                        "the submission's '%s' is no number of seconds, up to "
                        "366 days",
                        key);
    *ret_ns = (uint64_t)llround(seconds * 1e9);
    return 0;
}

static int take_all(json_t *json, struct wire_submit *into, struct diag *diag)
{
    const json_t *name = json_object_get(json, "name");
    const json_t *yes = json_object_get(json, "yes");
    const json_t *warmup = json_object_get(json, "warmup_s");
    bool check;
    int err;

    if (!json_is_object(json))
        return diag_set(diag, -EINVAL, "the submission is no JSON object");
    if (take_keys(json, diag) < 0 || take_flag(json, "check", &check, diag) < 0)
        return -EINVAL;
    into->name =
        name == NULL ? "" : take_text(name, TEXT_SIZE - 1, "'name'", diag);
    into->yes = yes == NULL ? "" : take_text(yes, NAME_SIZE - 1, "'yes'", diag);
    if (into->name == NULL || into->yes == NULL)
        return -EINVAL;
    into->plan = check ? WIRE_PLAN_TABLE : WIRE_PLAN_NONE;
    into->warmup_given = warmup != NULL && !json_is_null(warmup);
    err = take_files(json, into, diag);
    if (err == 0)
        err = take_variables(json, into, diag);
    if (err == 0)
        err = take_seconds(json, "elapsed_s", &into->elapsed_ns, diag);
    if (err == 0)
        err = take_seconds(json, "interval_s", &into->interval_ns, diag);
    if (err == 0)
        err = take_seconds(json, "warmup_s", &into->warmup_ns, diag);
    return err;
}

int submission_parse(const char *text, size_t length,
                     struct submission *ret_submission, struct diag *diag)
{
    struct submission s = {
        .json_ = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL),
    };
    int err = take_all(s.json_, &s.submit, diag);

    if (err < 0)
        submission_done(&s);
    else
        *ret_submission = s;
    return err;
}

void submission_done(struct submission *submission)
{
    free(submission->submit.files);
    free(submission->submit.variables);
    json_decref(submission->json_);
    *submission = (struct submission){0};
}
