/* check.c - see check.h. */
#include "controller/shell/check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "controller/plan/plan_json.h"
#include "controller/plan/plan_text.h"
#include "controller/shell/check_ask.h"
#include "controller/shell/files.h"
#include "controller/shell/output.h"

/* File texts to a plan; everything there is to say is in the report. */
static int make_plan(const struct options *options,
                     struct parameter_files *files,
                     struct language_report *report, struct plan **ret_plan)
{
    struct language_input input;
    struct definitions *definitions = NULL;

    parameter_files_input(files, options, &input);
    input.keep_unsupported = true;

    int r = language_read(&input, report, &definitions);

    if (definitions != NULL && report->errors == 0)
        r = plan_expand(definitions, NULL, report, ret_plan);
    definitions_free(definitions);
    return language_report_failed(report) && r == 0 ? -EINVAL : r;
}

static const char *severity_name(enum language_severity severity)
{
    switch (severity) {
    case LANGUAGE_ERROR:
        return "error";
    case LANGUAGE_UNSUPPORTED:
        return "unsupported";
    case LANGUAGE_WARNING:
        return "warning";
    case LANGUAGE_NOTE:
        return "note";
    }
    return "error";
}

/* The messages of a report, a list of objects; a new reference. */
static json_t *report_json(const struct language_report *report)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < report->count; i++) {
        const struct language_message *m = &report->messages[i];

        (void)json_array_append_new(
            list,
            json_pack("{s:s, s:s?, s:i, s:i, s:s?, s:s?}", "severity",
                      severity_name(m->severity), "file", m->place.file, "line",
                      (int)m->place.line, "column", (int)m->place.column,
                      "text", m->text, "hint", m->hint));
    }
    return list;
}

static int print_json(const struct plan *plan,
                      const struct language_report *report, int err)
{
    json_t *document = plan != NULL ? plan_json(plan) : json_object();
    char first[REASON_SIZE] = "";

    (void)json_object_set_new(document, "messages", report_json(report));
    if (err < 0)
        language_report_first(report, first, sizeof(first));
    return output_document(document, err < 0 ? EXIT_USAGE : EXIT_COMPLETE,
                           err < 0 ? first : NULL);
}

static int print_text(const struct options *options, const struct plan *plan,
                      const struct language_report *report, int err)
{
    char *said = language_report_text(report);

    if (said != NULL)
        fputs(said, stderr);
    free(said);
    if (plan != NULL) {
        char *text =
            options->runs ? plan_text_runs(plan) : plan_text_table(plan);

        if (text == NULL)
            return output_error(false, EXIT_FAILED, "no memory for the plan");
        fputs(text, stdout);
        free(text);
    }
    return err < 0 ? EXIT_USAGE : EXIT_COMPLETE;
}

/* Without a fleet: what the files alone say. */
static int check_alone(const struct options *options,
                       struct parameter_files *files)
{
    struct language_report report;
    struct plan *plan = NULL;
    int status;
    int r;

    language_report_init(&report);
    r = make_plan(options, files, &report, &plan);
    if (r == -ENOMEM)
        status = output_error(options->json, EXIT_FAILED, "no memory");
    else if (options->json)
        status = print_json(plan, &report, r);
    else
        status = print_text(options, plan, &report, r);
    plan_free(plan);
    language_report_done(&report);
    return status;
}

int check_command(const struct options *options)
{
    struct parameter_files files;
    struct diag diag;
    int status;

    if (parameter_files_read(options, &files, &diag) < 0)
        return output_error(options->json, EXIT_USAGE, "%s", diag.text);
    status = options->fleet || options->here ? check_ask(options, &files)
                                             : check_alone(options, &files);
    parameter_files_done(&files);
    return status;
}
