/* check_ask.c - see check_ask.h. */
#include "controller/shell/check_ask.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controller/shell/campaign.h"

#define END_MS 5000 /* children that have nothing to do end at once */

/* "plan" of the answer is a text; or the object, which is the document. */
static int print_plan(bool json, const struct answer *answer)
{
    json_t *plan = json_object_get(answer->document, "plan");
    const char *said =
        json_string_value(json_object_get(answer->document, "text"));

    if (json) {
        (void)json_object_set(plan, "messages",
                              json_object_get(answer->document, "messages"));
        return output_document(json_incref(plan), EXIT_COMPLETE, NULL);
    }
    if (said != NULL)
        fputs(said, stderr);
    if (!json_is_string(plan))
        return output_error(false, EXIT_FAILED,
                            "the controller is older than this program: it "
                            "cannot show a plan");
    fputs(json_string_value(plan), stdout);
    return EXIT_COMPLETE;
}

/* A controller that knows no PlanForm has queued the campaign. */
static int print_answer(const struct options *options,
                        const struct answer *answer)
{
    json_t *queued = json_object_get(answer->document, "campaign");

    if (answer->status != EXIT_COMPLETE)
        return campaign_refused(options->json, answer);
    if (json_is_integer(queued))
        return output_error(options->json, EXIT_FAILED,
                            "the controller is older than this program and "
                            "has queued the file as campaign "
                            "%" JSON_INTEGER_FORMAT ": 'lockstep stop "
                            "%" JSON_INTEGER_FORMAT "' ends it",
                            json_integer_value(queued),
                            json_integer_value(queued));
    return print_plan(options->json, answer);
}

static int ask(struct client *client, const struct options *options,
               const struct parameter_files *files,
               const struct private_pair *pair)
{
    struct answer answer;
    struct diag diag = {0};
    int status;
    int r = pair != NULL ? campaign_await_agent(client, &diag) : 0;

    if (r == 0)
        r = campaign_send(client, options, files, &answer, &diag);
    if (r < 0)
        return campaign_connection_failed(options, pair, r, &diag);
    status = print_answer(options, &answer);
    json_decref(answer.document);
    return status;
}

static int ask_fleet(const struct options *options,
                     const struct parameter_files *files)
{
    struct client *client = NULL;
    struct diag diag;
    int status = client_connect(options->controller, options->keys, NULL,
                                &client, &diag);

    if (status < 0)
        return output_error(options->json, client_status(status), "%s",
                            diag.text);
    status = ask(client, options, files, NULL);
    client_close(client);
    return status;
}

/* A controller and an agent of our own, as run has them; what they leave is
 * thrown away. */
static int ask_here(const struct options *options,
                    const struct parameter_files *files)
{
    const char *base = getenv("TMPDIR");
    struct private_pair *pair = NULL;
    struct client *client = NULL;
    char directory[PATH_SIZE];
    struct diag diag = {0};
    int status;
    int fd = -1;
    int r;

    (void)snprintf(directory, sizeof(directory), "%s/lockstep-check-XXXXXX",
                   base != NULL && base[0] != '\0' ? base : "/tmp");
    if (mkdtemp(directory) == NULL)
        return output_error(options->json, EXIT_FAILED,
                            "cannot make the directory '%s': %s", directory,
                            strerror(errno));
    r = private_start(directory, options, &pair, &fd, &diag);
    if (r == 0)
        r = client_adopt(fd, NULL, &client, &diag);
    status = r < 0 ? campaign_connection_failed(options, pair, r, &diag)
                   : ask(client, options, files, pair);
    client_close(client);
    private_end(pair, END_MS);
    private_discard(directory);
    return status;
}

int check_ask(const struct options *options,
              const struct parameter_files *files)
{
    return options->fleet ? ask_fleet(options, files)
                          : ask_here(options, files);
}
