/* follow.c - see follow.h. */
#include "controller/shell/follow.h"

#include "controller/shell/monitor.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How long a key may wait, and a terminal that changed its size; after how
 * many turns the drives are asked for. */
#define SCREEN_TURN_MS     100
#define SCREEN_DRIVE_TURNS 10

void follow_init(struct follow *follow, enum follow_interrupt interrupt,
                 bool json)
{
    *follow = (struct follow){.interrupt = interrupt, .json = json};
    live_init(&follow->live, stdout);
    follow->early = json_array();
}

void follow_on_screen(struct follow *follow)
{
    follow->screen = screen_open();
    if (follow->screen != NULL)
        follow->after = json_array();
}

/* Gives the terminal back and prints what is to stay on it. */
static void leave_screen(struct follow *f)
{
    screen_close(f->screen);
    f->screen = NULL;
    for (size_t i = 0; i < json_array_size(f->after); i++)
        (void)live_event(&f->live, json_array_get(f->after, i));
    json_decref(f->after);
    f->after = NULL;
}

void follow_done(struct follow *follow)
{
    if (follow->screen != NULL)
        leave_screen(follow);
    json_decref(follow->early);
    json_decref(follow->submitted);
    follow->early = follow->submitted = NULL;
}

static void post_stop_of(struct follow *f, bool run_only)
{
    struct body body;

    if (f->campaign[0] != '\0' && codec_stop(client_next_id(f->client),
                                             f->campaign, run_only, &body) == 0)
        client_post(f->client, &body);
}

static void post_stop(struct follow *f)
{
    post_stop_of(f, false);
}

/* After every interval, as in vdbench. */
static void look_at_monitor(struct follow *f, const char *kind)
{
    enum monitor_wish wish;

    if (f->monitor == NULL || strcmp(kind, "interval") != 0)
        return;
    wish = monitor_look(f->monitor);
    if (wish != MONITOR_NOTHING)
        fprintf(stderr, "lockstep: %s says so: ending %s\n", f->monitor,
                wish == MONITOR_END_RUN ? "the run that goes on"
                                        : "the campaign");
    if (wish != MONITOR_NOTHING)
        post_stop_of(f, wish == MONITOR_END_RUN);
}

static void begin_monitor(struct follow *f)
{
    struct diag diag = {0};

    f->monitor = json_string_value(json_object_get(f->submitted, "monitor"));
    if (f->monitor == NULL || monitor_begin(f->monitor, &diag) == 0)
        return;
    fprintf(stderr, "lockstep: %s, ignoring\n", diag.text);
    f->monitor = NULL;
}

/* Whether whoever read the output is gone, as `head` is after ten lines. */
static bool is_reader_gone(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO};

    return poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0;
}

/* Output that nobody reads ends what it shows, as Ctrl-C does. */
static void leave_without_reader(struct follow *f)
{
    if (f->unread || !is_reader_gone())
        return;
    f->unread = true;
    if (f->interrupt == FOLLOW_STOP) {
        fputs("lockstep: nobody reads the output any more: stopping the load\n",
              stderr);
        post_stop(f);
        return;
    }
    f->left = true;
    client_leave(f->client);
}

static void show_on_screen(struct follow *f, const json_t *event,
                           const char *kind)
{
    screen_text_event(screen_text_of(f->screen), event);
    if (strcmp(kind, "interval") != 0)
        (void)json_array_append_new(f->after, json_deep_copy(event));
    if (strcmp(kind, "end") == 0) {
        f->ended = true;
        client_leave(f->client);
    }
}

static void show_event(struct follow *f, const json_t *event)
{
    leave_without_reader(f);
    const char *kind = json_string_value(json_object_get(event, "event"));

    look_at_monitor(f, kind);
    if (f->folder != NULL)
        vdbench_event(f->folder, event);
    if (f->json && strcmp(kind, "end") != 0)
        return; /* the result document tells all of it */
    if (f->screen != NULL) {
        show_on_screen(f, event, kind);
        return;
    }
    if (live_event(&f->live, event)) {
        f->ended = true;
        client_leave(f->client);
    }
}

static void on_event(void *user, const json_t *event)
{
    struct follow *f = user;

    if (!json_is_string(json_object_get(event, "event")))
        return;
    if (f->early != NULL)
        (void)json_array_append_new(f->early, json_deep_copy(event));
    else
        show_event(f, event);
}

static void on_interrupt(void *user, unsigned count)
{
    struct follow *f = user;

    if (f->client == NULL)
        return;
    if (f->interrupt == FOLLOW_STOP && count == 1) {
        fputs("lockstep: stopping the load; once more to give up waiting\n",
              stderr);
        post_stop(f);
        return;
    }
    f->left = true;
    client_leave(f->client);
}

void follow_submitted(struct follow *follow)
{
    if (follow->interrupt == FOLLOW_STOP &&
        client_interrupts(follow->client) > 0)
        post_stop(follow);
}

struct client_handlers follow_handlers(struct follow *follow)
{
    return (struct client_handlers){
        .on_event = on_event,
        .on_interrupt = on_interrupt,
        .user = follow,
    };
}

/* The answer to Watch: where the campaign is, and the rows so far. */
static void show_past(struct follow *f, const json_t *status)
{
    const json_t *phase = json_object_get(status, "phase_event");
    const json_t *rows = json_object_get(status, "rows");
    const char *verdict = json_string_value(json_object_get(status, "verdict"));

    if (json_is_object(phase))
        show_event(f, phase);
    for (size_t i = 0; i < json_array_size(rows); i++)
        show_event(f, json_array_get(rows, i));
    if (verdict != NULL) {
        json_t *end =
            json_pack("{s:s, s:s, s:O?}", "event", "end", "verdict", verdict,
                      "error", json_object_get(status, "error"));

        show_event(f, end);
        json_decref(end);
    }
}

static void show_early(struct follow *f)
{
    json_t *early = f->early;

    f->early = NULL;
    for (size_t i = 0; i < json_array_size(early) && !f->ended; i++)
        show_event(f, json_array_get(early, i));
    json_decref(early);
}

/* Which campaign "the newest" was. */
static void note_number(struct follow *f, const json_t *status)
{
    const json_t *number = json_object_get(status, "number");

    if (json_is_integer(number))
        (void)snprintf(f->campaign, sizeof(f->campaign),
                       "%" JSON_INTEGER_FORMAT, json_integer_value(number));
}

static void show_start(struct follow *f, const json_t *status)
{
    note_number(f, status);
    if (f->screen != NULL)
        screen_text_status(screen_text_of(f->screen), status);
    show_past(f, status);
    show_early(f);
}

/* A controller that has nothing to tell leaves the list as it is. */
static int ask_drives(struct follow *f, struct diag *diag)
{
    uint32_t id = client_next_id(f->client);
    struct answer answer;
    struct body body;
    int r = codec_query(id, SHELL_QUERY_LIVE, f->campaign, &body);

    if (r < 0)
        return diag_set(diag, r, "no memory");
    r = client_request(f->client, id, &body, &answer, diag);
    if (r < 0)
        return r;
    if (answer.status == EXIT_COMPLETE)
        screen_text_drives(screen_text_of(f->screen), answer.document);
    json_decref(answer.document);
    return 0;
}

/* One turn of the screen: events for a moment, then keys. */
static int turn(struct follow *f, struct diag *diag)
{
    int r = client_pause(f->client, SCREEN_TURN_MS, diag);

    if (r == 0 && !f->ended && f->turns++ % SCREEN_DRIVE_TURNS == 0)
        r = ask_drives(f, diag);
    if (r == 0 && screen_turn(f->screen))
        f->left = true;
    return r;
}

static int follow_events(struct follow *f, struct diag *diag)
{
    uint32_t id = client_next_id(f->client);
    struct answer answer;
    struct body body;
    int r = codec_watch(id, f->campaign, &body);

    if (r < 0)
        return diag_set(diag, r, "no memory");
    if (f->early == NULL)
        f->early = json_array(); /* it is followed once more */
    r = client_request(f->client, id, &body, &answer, diag);
    if (r < 0)
        return r;
    if (answer.status == EXIT_USAGE) {
        const char *error =
            json_string_value(json_object_get(answer.document, "error"));

        r = diag_set(diag, -ENOENT, "%s", error != NULL ? error : "refused");
    } else {
        show_start(f, answer.document);
    }
    json_decref(answer.document);
    while (r == 0 && !f->ended && !f->left)
        r = f->screen != NULL ? turn(f, diag) : client_follow(f->client, diag);
    return r;
}

int follow_campaign(struct follow *follow, struct diag *diag)
{
    int r;

    if (follow->monitor == NULL)
        begin_monitor(follow);
    r = follow_events(follow, diag);

    if (follow->screen != NULL)
        leave_screen(follow);
    return r;
}

static enum exit_status status_of(const char *verdict)
{
    if (verdict == NULL)
        return EXIT_INTERRUPTED;
    if (strcmp(verdict, "complete") == 0)
        return EXIT_COMPLETE;
    if (strcmp(verdict, "degraded") == 0)
        return EXIT_DEGRADED;
    return strcmp(verdict, "interrupted") == 0 ? EXIT_INTERRUPTED : EXIT_FAILED;
}

/* The campaign's document; NULL where it cannot be had any more. */
static json_t *fetch_result(struct follow *f)
{
    uint32_t id = client_next_id(f->client);
    struct answer answer;
    struct body body;

    if (codec_query(id, SHELL_QUERY_SHOW, f->campaign, &body) < 0 ||
        client_request(f->client, id, &body, &answer, NULL) < 0)
        return NULL;
    return answer.document;
}

static int print_left(const struct follow *f)
{
    if (f->interrupt == FOLLOW_STOP)
        return output_error(f->json, EXIT_INTERRUPTED,
                            "gave up waiting: the load ends with this "
                            "program, the result is not whole");
    if (f->json)
        return output_document(json_pack("{s:s, s:b, s:s}", "campaign",
                                         f->campaign, "detached", 1, "verdict",
                                         "interrupted"),
                               EXIT_INTERRUPTED, NULL);
    printf("\ncampaign %s goes on; 'lockstep stop %s' stops it, 'lockstep "
           "watch %s' comes back\n",
           f->campaign, f->campaign, f->campaign);
    return EXIT_INTERRUPTED;
}

/* False when the result could not be kept, which is no success. */
static bool keep_result(const json_t *document, const char *path)
{
    if (document == NULL || path == NULL ||
        json_dump_file(document, path, OUTPUT_JSON) == 0)
        return true;
    fprintf(stderr, "lockstep: cannot write '%s': %s\n", path, strerror(errno));
    return false;
}

int follow_finish(struct follow *follow, const char *keep)
{
    enum exit_status status = status_of(follow->live.verdict);
    json_t *document;

    if (!follow->ended)
        return print_left(follow);
    document = follow->json || keep != NULL ? fetch_result(follow) : NULL;
    if (!keep_result(document, keep) && status == EXIT_COMPLETE)
        status = EXIT_FAILED;
    if (follow->json)
        return output_document(
            document != NULL ? document : json_object(), status,
            follow->live.error[0] != '\0' ? follow->live.error : NULL);
    json_decref(document);
    if (follow->live.error[0] != '\0')
        fprintf(stderr, "lockstep: %s: %s\n", follow->live.verdict,
                follow->live.error);
    return status;
}
