/*
 * language.c - the steps of reading, one after the other.
 */
#include "controller/language/internal.h"

#include "common/arena.h"

#include <errno.h>

struct definitions *definitions_free(struct definitions *definitions)
{
    if (definitions != NULL)
        arena_free(definitions->arena);
    return NULL;
}

static int run_steps(struct reading *reading)
{
    int err = source_read(reading);

    if (err == 0)
        err = lexer_run(reading);
    if (err == 0)
        err = parser_run(reading);
    if (err == 0)
        err = apply_run(reading);
    if (err == 0)
        err = pattern_read(reading);
    if (err == 0)
        check_definitions(reading);
    return err;
}

/* What the report makes of it. */
static int verdict(const struct reading *reading)
{
    const struct language_report *report = reading->report;

    if (report->out_of_memory)
        return -ENOMEM;
    if (report->errors > 0)
        return -EINVAL;
    if (report->unsupported > 0 &&
        (reading->file_system || !reading->input->keep_unsupported))
        return -ENOTSUP;
    return 0;
}

int language_read(const struct language_input *input,
                  struct language_report *report,
                  struct definitions **ret_definitions)
{
    struct reading reading = {.input = input, .report = report};
    int err = -ENOMEM;

    reading.arena = arena_new(READING_MEMORY_MAX);
    if (reading.arena == NULL)
        return -ENOMEM;
    reading.definitions = ARENA_NEW(reading.arena, struct definitions);
    if (reading.definitions != NULL) {
        reading.definitions->arena = reading.arena;
        err = run_steps(&reading);
    }
    language_report_sort(report);
    if (err == 0)
        err = verdict(&reading);
    if (err == 0)
        *ret_definitions = reading.definitions;
    else
        arena_free(reading.arena);
    return err;
}
