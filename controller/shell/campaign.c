/* campaign.c - see campaign.h. */
#include "controller/shell/campaign.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "controller/shell/consent_ask.h"
#include "controller/shell/files.h"
#include "controller/shell/follow.h"
#include "controller/shell/private.h"
#include "controller/shell/render.h"
#include "controller/shell/table.h"

/* How long the private agent may take until it is there. */
#define PRIVATE_LIMIT_S 10
#define PRIVATE_POLL_MS 20

/* How long a controller that is gone is looked for: as long as a phase waits
 * for hosts. */
#define RETURN_S 300

/* Results of one second in one folder. */
#define NUMBERED_MAX 1000

/* How long children may take to drain and end. */
#define PRIVATE_END_MS 20000

/* What went wrong in the file, as the controller saw it. */
int campaign_refused(bool json, const struct answer *answer)
{
    const char *error =
        json_string_value(json_object_get(answer->document, "error"));
    const char *text =
        json_string_value(json_object_get(answer->document, "text"));

    if (json)
        return output_document(json_incref(answer->document), answer->status,
                               error != NULL ? error : "refused");
    if (text != NULL && text[0] != '\0')
        fputs(text, stderr);
    else
        return output_error(false, answer->status, "%s",
                            error != NULL ? error : "refused");
    return answer->status;
}

/* The drives that drive= has selected. */
static void print_drives(bool json, const json_t *document)
{
    static const struct table_column columns[] = {
        {"drive", "sd", TABLE_TEXT, 0, NULL},
        {"host", "host", TABLE_TEXT, 0, NULL},
        {"size", "size_bytes", TABLE_SIZE, 0, NULL},
        {"model", "model", TABLE_TEXT, 0, NULL},
        {"serial", "serial", TABLE_TEXT, 0, NULL},
        {"path", "path", TABLE_TEXT, 0, NULL},
    };
    const json_t *drives = json_object_get(document, "drives");

    if (json || json_array_size(drives) == 0)
        return;
    table_print(stdout, drives, columns, ARRAY_LENGTH(columns));
    putchar('\n');
}

/* What a run of the file would warn about goes to stderr before it starts. */
static void print_warnings(bool json, const json_t *document)
{
    const char *text = json_string_value(json_object_get(document, "text"));

    if (!json && text != NULL && text[0] != '\0')
        fputs(text, stderr);
}

/* What check asks for; everything else is to be run. */
static enum plan_form plan_form(const struct options *options)
{
    if (options->command != COMMAND_CHECK)
        return PLAN_NONE;
    if (options->json)
        return PLAN_JSON;
    return options->runs ? PLAN_RUNS : PLAN_TABLE;
}

static int send_submit(struct client *client, const struct options *options,
                       const struct parameter_files *files, const char *yes,
                       struct answer *ret_answer, struct diag *diag)
{
    struct submit_file list[LANGUAGE_FILES_MAX];
    struct submit submit = {
        .files = list,
        .file_count = files->count + files->included,
        .variables = options->variables.word,
        .variable_count = options->variables.count,
        .elapsed_ns = options->elapsed_ns,
        .interval_ns = options->interval_ns,
        .warmup_ns = options->warmup_ns,
        .warmup_given = options->warmup_given,
        .name = options->name != NULL ? options->name : files->first,
        .plan = plan_form(options),
        .yes = yes,
    };
    uint32_t id = client_next_id(client);
    struct body body;

    for (uint32_t i = 0; i < submit.file_count; i++)
        list[i] = (struct submit_file){
            .name = files->file[i].name,
            .text = files->text[i],
            .included = i >= files->count,
        };

    int r = codec_submit(id, &submit, &body);

    if (r < 0)
        return diag_set(diag, r, "the parameter files are too long to send");
    return client_request(client, id, &body, ret_answer, diag);
}

int campaign_send(struct client *client, const struct options *options,
                  const struct parameter_files *files,
                  struct answer *ret_answer, struct diag *diag)
{
    return send_submit(client, options, files, options->yes, ret_answer, diag);
}

/* Once more with the answer of a person who was asked. */
static int send_and_ask(struct client *client, const struct options *options,
                        const struct parameter_files *files,
                        struct answer *ret_answer, struct diag *diag)
{
    struct answer first;
    int r = send_submit(client, options, files, options->yes, &first, diag);
    const char *hash = r < 0 ? NULL : consent_hash(first.document);

    if (hash == NULL || options->json ||
        !consent_ask(options, first.document)) {
        if (r == 0)
            *ret_answer = first;
        return r;
    }
    r = send_submit(client, options, files, hash, ret_answer, diag);
    json_decref(first.document);
    return r;
}

/*
 * Submits the files.  Returns 0 with the campaign's number in `follow`, else
 * what is printed already has its exit status in `ret_status`.
 */
static int submit(struct follow *follow, const struct options *options,
                  const struct parameter_files *files, int *ret_status)
{
    struct answer answer;
    struct diag diag;
    int r = send_and_ask(follow->client, options, files, &answer, &diag);

    if (r < 0) {
        *ret_status = output_error(
            options->json, r == -EINTR ? EXIT_INTERRUPTED : EXIT_NO_CONTROLLER,
            "%s%s", diag.text,
            r == -ENOTCONN ? "; 'lockstep campaigns' tells whether it had "
                             "taken this one"
                           : "");
        return r;
    }
    if (answer.status != EXIT_COMPLETE) {
        follow->refused = true;
        *ret_status = campaign_refused(options->json, &answer);
        json_decref(answer.document);
        return -EINVAL;
    }
    print_warnings(options->json, answer.document);
    print_drives(options->json, answer.document);
    (void)snprintf(
        follow->campaign, sizeof(follow->campaign), "%" JSON_INTEGER_FORMAT,
        json_integer_value(json_object_get(answer.document, "campaign")));
    follow->submitted = answer.document;
    follow_submitted(follow);
    return 0;
}

/* ---- run ----------------------------------------------------------------- */

/* Makes `path`, or where that is there already `path`-2, `path`-3 ... */
static int make_numbered(char path[PATH_SIZE], struct diag *diag)
{
    size_t length = strlen(path);

    for (unsigned n = 2; mkdir(path, 0777) < 0; n++) {
        if (errno != EEXIST || n > NUMBERED_MAX)
            return diag_set(diag, -errno, "cannot make the directory '%s': %s",
                            path, strerror(errno));
        (void)snprintf(path + length, PATH_SIZE - length, "-%u", n);
    }
    return 0;
}

/* The results' directory: made now, never one that is there. */
static int make_directory(const struct options *options, char path[PATH_SIZE],
                          struct diag *diag)
{
    time_t now = time(NULL);
    struct tm tm;

    if (options->directory != NULL) {
        if (snprintf(path, PATH_SIZE, "%s", options->directory) >= PATH_SIZE)
            return diag_set(diag, -ENAMETOOLONG, "-o is too long");
    } else {
        (void)localtime_r(&now, &tm);
        (void)strftime(path, PATH_SIZE, "lockstep-%Y%m%d-%H%M%S", &tm);
        return make_numbered(path, diag);
    }
    if (mkdir(path, 0777) == 0)
        return 0;
    if (errno == EEXIST)
        return diag_set(diag, -EEXIST,
                        "'%s' is there already and results are never "
                        "overwritten: give another -o",
                        path);
    return diag_set(diag, -errno, "cannot make the directory '%s': %s", path,
                    strerror(errno));
}

/* True once the agent has told what its host is and what drives it has: both
 * go into the results. */
static bool host_is_known(const struct answer *answer)
{
    const json_t *host =
        json_array_get(json_object_get(answer->document, "hosts"), 0);

    return json_is_integer(json_object_get(host, "drives"));
}

/* Asks until the private agent has said hello. */
int campaign_await_agent(struct client *client, struct diag *diag)
{
    time_t limit = time(NULL) + PRIVATE_LIMIT_S;

    for (;;) {
        struct answer answer;
        struct body body;
        uint32_t id = client_next_id(client);
        int r = codec_query(id, SHELL_QUERY_HOSTS, NULL, &body);
        bool known;

        if (r == 0)
            r = client_request(client, id, &body, &answer, diag);
        if (r < 0)
            return r;
        known = host_is_known(&answer);
        json_decref(answer.document);
        if (client_interrupts(client) > 0)
            return diag_set(diag, -EINTR, "interrupted");
        if (known)
            return 0;
        if (time(NULL) > limit)
            return diag_set(diag, -ETIMEDOUT,
                            "the private agent did not come up within %d s",
                            PRIVATE_LIMIT_S);
        r = client_pause(client, PRIVATE_POLL_MS, diag);
        if (r < 0)
            return r;
    }
}

int campaign_connection_failed(const struct options *options,
                               const struct private_pair *pair, int err,
                               const struct diag *diag)
{
    char reason[REASON_SIZE] = "";

    if (pair != NULL)
        private_reason(pair, reason, sizeof(reason));
    if (err == -EINTR)
        return output_error(options->json, EXIT_INTERRUPTED, "interrupted");
    return output_error(options->json,
                        pair != NULL ? EXIT_FAILED : EXIT_NO_CONTROLLER, "%s",
                        reason[0] != '\0' ? reason : diag->text);
}

/* With the children up: submit, follow, finish; the exit status. */
static int run_campaign(struct follow *follow, const struct options *options,
                        const struct parameter_files *files,
                        const char *directory, const struct private_pair *pair)
{
    char keep[PATH_SIZE + 16];
    struct diag diag = {0};
    int status = EXIT_FAILED;
    int r = campaign_await_agent(follow->client, &diag);

    if (r == 0) {
        if (submit(follow, options, files, &status) < 0)
            return status;
        r = follow_campaign(follow, &diag);
    }
    if (r < 0) {
        status = campaign_connection_failed(options, pair, r, &diag);
        if (r != -EINTR && follow->campaign[0] != '\0')
            fprintf(stderr,
                    "lockstep: 'lockstep report %s' tells what was stored\n",
                    directory);
        return status;
    }
    (void)snprintf(keep, sizeof(keep), "%s/result.json", directory);
    if (follow->ended && follow->folder != NULL) {
        render_run(follow->client, follow->campaign, directory, follow->folder);
        follow->folder = NULL;
    }
    status = follow_finish(follow, keep);
    if (!options->json)
        printf("\nresults are in %s\n", directory);
    return status;
}

static int run_here(const struct options *options,
                    const struct parameter_files *files)
{
    struct private_pair *pair = NULL;
    struct vdbench *folder = NULL;
    struct follow follow;
    char directory[PATH_SIZE];
    struct diag diag;
    int fd = -1;
    int status;
    int r = make_directory(options, directory, &diag);

    if (r == 0)
        r = vdbench_open(directory, false, &folder, &diag);
    if (r == 0)
        r = private_start(directory, options, &pair, &fd, &diag);
    if (r < 0) {
        (void)vdbench_close(folder, NULL);
        return output_error(options->json,
                            r == -EEXIST ? EXIT_USAGE : EXIT_FAILED, "%s",
                            diag.text);
    }
    follow_init(&follow, FOLLOW_STOP, options->json);
    follow.folder = folder;

    struct client_handlers handlers = follow_handlers(&follow);

    r = client_adopt(fd, &handlers, &follow.client, &diag);
    if (r < 0)
        status = campaign_connection_failed(options, pair, r, &diag);
    else
        status = run_campaign(&follow, options, files, directory, pair);
    client_close(follow.client);
    private_end(pair, follow.left ? 0 : PRIVATE_END_MS);
    (void)vdbench_close(follow.folder, NULL);
    if (follow.refused)
        private_discard(directory); /* so that a mended file finds -o free */
    follow_done(&follow);
    return status;
}

int run_command(const struct options *options)
{
    struct parameter_files files;
    struct diag diag;
    int status;

    if (parameter_files_read(options, &files, &diag) < 0)
        return output_error(options->json, EXIT_USAGE, "%s", diag.text);
    status = run_here(options, &files);
    parameter_files_done(&files);
    return status;
}

/* ---- submit, watch ------------------------------------------------------- */

/* A controller that is started again goes on with the campaign: so does who
 * watches it. */
static int look_again(struct follow *follow, const struct options *options,
                      struct diag *diag)
{
    char gone[REASON_SIZE];
    int r;

    fprintf(stderr,
            "lockstep: %s; looking for it for %d s, the campaign does not "
            "wait for this\n",
            diag->text, RETURN_S);
    r = client_reconnect(follow->client, options->controller, RETURN_S, diag);
    if (r == 0)
        fputs("lockstep: the controller is back\n", stderr);
    if (r != -ENOTCONN)
        return r;
    (void)snprintf(gone, sizeof(gone), "%.600s", diag->text);
    return diag_set(diag, -EHOSTDOWN,
                    "%s; when it is back, 'lockstep watch %s' goes on with "
                    "this",
                    gone, follow->campaign);
}

static int follow_to_end(struct follow *follow, const struct options *options)
{
    struct diag diag;
    int r = follow_campaign(follow, &diag);

    while (r == -ENOTCONN && follow->campaign[0] != '\0') {
        r = look_again(follow, options, &diag);
        if (r == 0)
            r = follow_campaign(follow, &diag);
    }
    if (r == -EINTR)
        return follow_finish(follow, NULL); /* left: says how to come back */
    if (r == -ENOENT)
        return output_error(options->json, EXIT_USAGE, "%s", diag.text);
    if (r < 0)
        return campaign_connection_failed(options, NULL, r, &diag);
    return follow_finish(follow, NULL);
}

static int print_queued(const struct follow *follow,
                        const struct options *options)
{
    const char *monitor =
        json_string_value(json_object_get(follow->submitted, "monitor"));

    if (monitor != NULL)
        fprintf(stderr,
                "lockstep: monitor=%s is read by 'run' and 'submit --wait' "
                "only, ignoring\n",
                monitor);
    if (options->json)
        return output_document(
            json_pack("{s:O?, s:O?, s:s}", "campaign",
                      json_object_get(follow->submitted, "campaign"), "drives",
                      json_object_get(follow->submitted, "drives"), "verdict",
                      "queued"),
            EXIT_COMPLETE, NULL);
    printf("campaign %s is queued; 'lockstep watch %s' shows it\n",
           follow->campaign, follow->campaign);
    return EXIT_COMPLETE;
}

static int submit_there(struct follow *follow, const struct options *options,
                        const struct parameter_files *files)
{
    int status = EXIT_FAILED;

    if (submit(follow, options, files, &status) < 0)
        return status;
    if (!options->wait)
        return print_queued(follow, options);
    if (!options->json)
        printf("campaign %s; 'lockstep stop %s' stops it everywhere, "
               "'lockstep show %s' has its results\n",
               follow->campaign, follow->campaign, follow->campaign);
    return follow_to_end(follow, options);
}

/* Connects and does one of the two. */
static int with_controller(const struct options *options,
                           const struct parameter_files *files)
{
    struct follow follow;
    struct diag diag;
    int status, r;

    follow_init(&follow, FOLLOW_DETACH, options->json);

    struct client_handlers handlers = follow_handlers(&follow);

    r = client_connect(options->controller, options->keys, &handlers,
                       &follow.client, &diag);
    if (r < 0)
        status = output_error(options->json, client_status(r), "%s", diag.text);
    else if (files != NULL)
        status = submit_there(&follow, options, files);
    else {
        (void)snprintf(follow.campaign, sizeof(follow.campaign), "%s",
                       options->arguments.count > 0 ? options->arguments.word[0]
                                                    : "");
        if (!options->json && !options->lines)
            follow_on_screen(&follow);
        status = follow_to_end(&follow, options);
    }
    client_close(follow.client);
    follow_done(&follow);
    return status;
}

int submit_command(const struct options *options)
{
    struct parameter_files files;
    struct diag diag;
    int status;

    if (parameter_files_read(options, &files, &diag) < 0)
        return output_error(options->json, EXIT_USAGE, "%s", diag.text);
    status = with_controller(options, &files);
    parameter_files_done(&files);
    return status;
}

int watch_command(const struct options *options)
{
    return with_controller(options, NULL);
}
