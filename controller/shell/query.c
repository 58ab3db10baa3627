/* query.c - see query.h. */
#include "controller/shell/query.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/units.h"
#include "controller/shell/client.h"
#include "controller/shell/live.h"
#include "controller/shell/table.h"

static const struct table_column host_columns[] = {
    {"host", "name", TABLE_TEXT, 0, NULL},
    {"state", "state", TABLE_TEXT, 0, NULL},
    {"address", "address", TABLE_TEXT, 0, NULL},
    {"labels", "labels", TABLE_TEXT, 0, "-"},
    {"drives", "drives", TABLE_NUMBER, 0, NULL},
    {"cpus", "cpus", TABLE_NUMBER, 0, NULL},
    {"memory", "memory_bytes", TABLE_SIZE, 0, NULL},
    {"clock +-us", "clock_uncertainty_us", TABLE_NUMBER, 0, NULL},
    {"campaign", "campaign", TABLE_NUMBER, 0, "-"},
    {"engine", "engine", TABLE_TEXT, 0, NULL},
    {"version", "version", TABLE_TEXT, 0, NULL},
    {"kernel", "kernel", TABLE_TEXT, 0, NULL},
};

static const struct table_column drive_columns[] = {
    {"host", "host", TABLE_TEXT, 0, NULL},
    {"drive", "name", TABLE_TEXT, 0, NULL},
    {"model", "model", TABLE_TEXT, 0, NULL},
    {"serial", "serial", TABLE_TEXT, 0, NULL},
    {"firmware", "firmware", TABLE_TEXT, 0, NULL},
    {"size", "size_bytes", TABLE_SIZE, 0, NULL},
    {"block", "logical_block", TABLE_NUMBER, 0, NULL},
    {"pci", "pci_address", TABLE_TEXT, 0, NULL},
    {"slot", "slot", TABLE_TEXT, 0, NULL},
    {"link", "link_speed", TABLE_TEXT, 0, NULL},
    {"lanes", "link_width", TABLE_NUMBER, 0, NULL},
    {"may write", "offered", TABLE_TEXT, 0, NULL},
    {"used by", "used_by", TABLE_TEXT, 0, "-"},
};

static const struct table_column campaign_columns[] = {
    {"campaign", "number", TABLE_NUMBER, 0, NULL},
    {"name", "name", TABLE_TEXT, 0, NULL},
    {"state", "state", TABLE_TEXT, 0, NULL},
    {"verdict", "verdict", TABLE_TEXT, 0, "-"},
    {"done", "phases_done", TABLE_NUMBER, 0, NULL},
    {"of", "phases", TABLE_NUMBER, 0, NULL},
    {"pinned", "pinned", TABLE_TEXT, 0, NULL},
    {"submitted", "submitted", TABLE_TEXT, 0, NULL},
    {"by", "who", TABLE_TEXT, 0, NULL},
};

static const struct table_column audit_columns[] = {
    {"at", "at", TABLE_TEXT, 0, NULL},
    {"who", "who", TABLE_TEXT, 0, NULL},
    {"role", "role", TABLE_TEXT, 0, "-"},
    {"from", "from", TABLE_TEXT, 0, NULL},
    {"what", "action", TABLE_TEXT, 0, NULL},
    {"of", "subject", TABLE_TEXT, 0, "-"},
    {"campaign", "campaign", TABLE_NUMBER, 0, "-"},
    {"outcome", "outcome", TABLE_TEXT, 0, NULL},
    {"detail", "detail", TABLE_TEXT, 0, "-"},
};

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text != NULL ? text : "";
}

/* `lockstep drives HOST [DRIVE]`: only those; NULL: any. */
static void keep_drives(json_t *document, const char *host, const char *drive)
{
    json_t *drives = json_object_get(document, "drives");

    for (size_t i = json_array_size(drives); i-- > 0;) {
        const json_t *row = json_array_get(drives, i);

        if (strcmp(text_of(row, "host"), host) != 0 ||
            (drive != NULL && strcmp(text_of(row, "name"), drive) != 0))
            (void)json_array_remove(drives, i);
    }
}

static void print_list(const json_t *document, const char *key,
                       const struct table_column *columns, size_t count,
                       const char *none)
{
    const json_t *rows = json_object_get(document, key);

    if (json_array_size(rows) == 0)
        puts(none);
    else
        table_print(stdout, rows, columns, count);
}

/* All that is known of one drive, a fact a line. */
static void print_drive(const json_t *drive)
{
    const char *key;
    json_t *value;

    json_object_foreach((json_t *)drive, key, value)
    {
        struct table_column column = {key, key, TABLE_TEXT, 0, NULL};
        char text[256];

        table_cell(drive, &column, text, sizeof(text));
        printf("%-16s %s\n", key, text);
    }
}

static void print_drives(const struct options *options, const json_t *document)
{
    const json_t *drives = json_object_get(document, "drives");

    if (options->arguments.count > 1 && json_array_size(drives) > 0)
        print_drive(json_array_get(drives, 0));
    else
        print_list(document, "drives", drive_columns,
                   ARRAY_LENGTH(drive_columns), "no drives");
}

static void print_status(const json_t *s)
{
    printf("campaign %lld '%s': %s",
           (long long)json_integer_value(json_object_get(s, "number")),
           text_of(s, "name"), text_of(s, "state"));
    if (json_is_integer(json_object_get(s, "phase")))
        printf(", phase %lld of %lld (%s)",
               (long long)json_integer_value(json_object_get(s, "phase")),
               (long long)json_integer_value(json_object_get(s, "phases")),
               text_of(s, "run"));
    if (json_is_number(json_object_get(s, "remaining_s")))
        printf(", %.0f s %s",
               ceil(json_number_value(json_object_get(s, "remaining_s"))),
               strcmp(text_of(s, "state"), "queued") == 0 ? "long" : "left");
    if (text_of(s, "verdict")[0] != '\0')
        printf(", %s", text_of(s, "verdict"));
    if (text_of(s, "error")[0] != '\0')
        printf(": %s", text_of(s, "error"));
    if (text_of(s, "note")[0] != '\0')
        printf(" (%s)", text_of(s, "note"));
    putchar('\n');
}

#define TOTAL_COLUMNS(first)                                                   \
    {first, "name", TABLE_TEXT, 0, NULL},                                      \
        {"iops", "iops", TABLE_NUMBER, 1, "-"},                                \
        {"MiB/s", "mib_s", TABLE_NUMBER, 2, "-"},                              \
        {"read %", "read_pct", TABLE_NUMBER, 1, "-"},                          \
        {"mean ms", "service_us.mean", TABLE_MS, 3, "-"},                      \
        {"p99 ms", "service_us.p99", TABLE_MS, 3, "-"},                        \
        {"max ms", "service_us.max", TABLE_MS, 3, "-"},                        \
    {                                                                          \
        "errors", "errors", TABLE_NUMBER, 0, "-"                               \
    }

static const struct table_column host_totals[] = {TOTAL_COLUMNS("host")};
static const struct table_column drive_totals[] = {TOTAL_COLUMNS("drive")};
static const struct table_column workload_totals[] = {
    TOTAL_COLUMNS("workload")};

static void print_scope(const json_t *phase, const char *key,
                        const struct table_column *columns)
{
    const json_t *rows = json_object_get(phase, key);

    if (json_array_size(rows) > 1) {
        putchar('\n');
        table_print(stdout, rows, columns, ARRAY_LENGTH(host_totals));
    }
}

/* How often what failed where, and the first as it was. */
static void print_failures(const json_t *phase)
{
    const json_t *failures = json_object_get(phase, "failures");
    const json_t *kinds = json_object_get(failures, "kinds");
    const json_t *first = json_array_get(json_object_get(failures, "first"), 0);

    for (size_t i = 0; i < json_array_size(kinds); i++) {
        const json_t *kind = json_array_get(kinds, i);

        printf("  failed: %lld %ss on %s: %s, %s\n",
               (long long)json_integer_value(json_object_get(kind, "count")),
               text_of(kind, "op"), text_of(kind, "name"),
               text_of(kind, "code"), text_of(kind, "error"));
    }
    if (first != NULL)
        printf("  the first: a %s of %lld bytes at %lld on %s, %.6f s after "
               "the start\n",
               text_of(first, "op"),
               (long long)json_integer_value(json_object_get(first, "length")),
               (long long)json_integer_value(json_object_get(first, "offset")),
               text_of(first, "name"),
               json_number_value(json_object_get(first, "at_s")));
}

static void print_stuck(const json_t *phase)
{
    const json_t *stuck = json_object_get(phase, "stuck");

    for (size_t i = 0; i < json_array_size(stuck); i++) {
        const json_t *one = json_array_get(stuck, i);

        printf("  never came back: a %s of %lld bytes at %lld on %s, %.1f s "
               "old at the end\n",
               text_of(one, "op"),
               (long long)json_integer_value(json_object_get(one, "length")),
               (long long)json_integer_value(json_object_get(one, "offset")),
               text_of(one, "name"),
               json_number_value(json_object_get(one, "age_us")) / 1e6);
    }
}

static void print_phase(const json_t *phase)
{
    const json_t *total = json_object_get(phase, "total");
    char errors[UNITS_SIZE];

    printf("\n%s", text_of(phase, "run"));
    if (text_of(phase, "for")[0] != '\0')
        printf(" (%s)", text_of(phase, "for"));
    printf(": %s", text_of(phase, "verdict")[0] != '\0'
                       ? text_of(phase, "verdict")
                       : text_of(phase, "state"));
    if (text_of(phase, "error")[0] != '\0')
        printf(": %s", text_of(phase, "error"));
    if (json_is_number(json_object_get(total, "iops")))
        printf("\n  %.1f IOPS, %.2f MiB/s, %.1f %% reads, queue depth %.1f, "
               "%s",
               json_number_value(json_object_get(total, "iops")),
               json_number_value(json_object_get(total, "mib_s")),
               json_number_value(json_object_get(total, "read_pct")),
               json_number_value(json_object_get(total, "queue_depth")),
               units_print_count(errors,
                                 (uint64_t)json_integer_value(
                                     json_object_get(total, "errors")),
                                 "error"));
    putchar('\n');
    print_failures(phase);
    print_stuck(phase);
    if (json_is_object(total))
        live_latencies(stdout, total);
    live_flags(stdout, phase);
    print_scope(phase, "hosts", host_totals);
    print_scope(phase, "drives", drive_totals);
    print_scope(phase, "workloads", workload_totals);
}

/* "startcmd=drop on nas1 before phase 2: 0.3 s" and what it wrote. */
static void print_command(const json_t *command)
{
    const json_t *phase = json_object_get(command, "phase");
    const char *host = text_of(command, "host");

    printf("\n%s=%s on %s", text_of(command, "keyword"),
           text_of(command, "command"),
           host[0] != '\0' ? host : "the controller's host");
    if (json_is_integer(phase))
        printf(", phase %lld", (long long)json_integer_value(phase));
    printf(": %s%.1f s\n", text_of(command, "error")[0] == '\0' ? "" : "after ",
           json_number_value(json_object_get(command, "duration_s")));
    if (text_of(command, "error")[0] != '\0')
        printf("  failed: %s\n", text_of(command, "error"));
    for (const char *line = text_of(command, "output"); *line != '\0';) {
        int length = (int)strcspn(line, "\n");

        printf("  | %.*s\n", length, line);
        line += length + (line[length] == '\n');
    }
}

static void print_commands(const json_t *document)
{
    const json_t *commands = json_object_get(document, "commands");

    for (size_t i = 0; i < json_array_size(commands); i++)
        print_command(json_array_get(commands, i));
}

static void print_show(const json_t *document)
{
    const json_t *phases = json_object_get(document, "phases");

    printf("campaign %lld '%s': %s",
           (long long)json_integer_value(json_object_get(document, "number")),
           text_of(document, "name"),
           text_of(document, "verdict")[0] != '\0'
               ? text_of(document, "verdict")
               : text_of(document, "state"));
    if (text_of(document, "error")[0] != '\0')
        printf(": %s", text_of(document, "error"));
    putchar('\n');
    print_commands(document);
    for (size_t i = 0; i < json_array_size(phases); i++)
        print_phase(json_array_get(phases, i));
}

static void print_document(const struct options *options,
                           const json_t *document)
{
    switch (options->command) {
    case COMMAND_HOSTS:
        print_list(document, "hosts", host_columns, ARRAY_LENGTH(host_columns),
                   "no agent has connected yet");
        break;
    case COMMAND_DRIVES:
        print_drives(options, document);
        break;
    case COMMAND_CAMPAIGNS:
        print_list(document, "campaigns", campaign_columns,
                   ARRAY_LENGTH(campaign_columns), "no campaigns yet");
        break;
    case COMMAND_AUDIT:
        print_list(document, "audit", audit_columns,
                   ARRAY_LENGTH(audit_columns), "nothing yet");
        break;
    case COMMAND_SHOW:
        print_show(document);
        break;
    case COMMAND_PIN:
        printf("campaign %lld is %s\n",
               (long long)json_integer_value(
                   json_object_get(document, "campaign")),
               options->off ? "not pinned any more"
                            : "pinned: retention passes it by");
        break;
    case COMMAND_STOP:
        printf(strcmp(text_of(document, "state"), "done") == 0
                   ? "campaign %lld has ended already: nothing to stop\n"
                   : "campaign %lld is being stopped\n",
               (long long)json_integer_value(
                   json_object_get(document, "campaign")));
        break;
    default:
        print_status(document);
        break;
    }
}

static int encode(const struct options *options, uint32_t id,
                  struct body *ret_body)
{
    const char *campaign =
        options->arguments.count > 0 ? options->arguments.word[0] : "";

    switch (options->command) {
    case COMMAND_HOSTS:
        return codec_query(id, SHELL_QUERY_HOSTS, "", ret_body);
    case COMMAND_DRIVES:
        return codec_query(id, SHELL_QUERY_DRIVES, "", ret_body);
    case COMMAND_CAMPAIGNS:
        return codec_query(id, SHELL_QUERY_CAMPAIGNS, "", ret_body);
    case COMMAND_AUDIT:
        return codec_query(id, SHELL_QUERY_AUDIT, "", ret_body);
    case COMMAND_SHOW:
        return codec_query(id, SHELL_QUERY_SHOW, campaign, ret_body);
    case COMMAND_PIN:
        return codec_pin(id, campaign, !options->off, ret_body);
    case COMMAND_STOP:
        return codec_stop(id, campaign, false, ret_body);
    default:
        return codec_query(id, SHELL_QUERY_STATUS, campaign, ret_body);
    }
}

/* Whether the answer is a reason and nothing else.  The status of a campaign's
 * document may be its verdict's. */
static bool is_refusal(const struct options *options,
                       const struct answer *answer)
{
    bool of_campaign =
        options->command == COMMAND_SHOW || options->command == COMMAND_STATUS;

    if (answer->status == EXIT_COMPLETE)
        return false;
    return answer->status == EXIT_USAGE || !of_campaign ||
           json_object_get(answer->document, "campaign") == NULL;
}

/* Drives were asked for by name, and there are none. */
static bool finds_none(const struct options *options, const json_t *document)
{
    const json_t *drives = json_object_get(document, "drives");

    return options->command == COMMAND_DRIVES && options->arguments.count > 0 &&
           json_is_array(drives) && json_array_size(drives) == 0;
}

static int print_answer(const struct options *options, struct answer *answer)
{
    const char *error =
        json_string_value(json_object_get(answer->document, "error"));
    bool refused = is_refusal(options, answer);
    int status = answer->status;

    if (options->command == COMMAND_SHOW && !refused)
        status = output_status(answer->document);

    if (options->command == COMMAND_DRIVES && options->arguments.count > 0)
        keep_drives(answer->document, options->arguments.word[0],
                    options->arguments.count > 1 ? options->arguments.word[1]
                                                 : NULL);
    if (finds_none(options, answer->document)) {
        json_decref(answer->document);
        return output_error(options->json, EXIT_USAGE,
                            "no such drives; 'lockstep hosts' and 'lockstep "
                            "drives' list the names");
    }
    if (options->json)
        return output_document(answer->document, (enum exit_status)status,
                               NULL);
    if (refused)
        status = output_error(false, answer->status, "%s",
                              error != NULL ? error : "refused");
    else
        print_document(options, answer->document);
    json_decref(answer->document);
    return status;
}

int query_command(const struct options *options)
{
    struct client *client = NULL;
    struct answer answer;
    struct diag diag;
    struct body body;
    int r = client_connect(options->controller, options->keys, NULL, &client,
                           &diag);

    if (r == 0) {
        uint32_t id = client_next_id(client);

        r = encode(options, id, &body);
        if (r == 0)
            r = client_request(client, id, &body, &answer, &diag);
    }
    client_close(client);
    if (r == -EINTR)
        return output_error(options->json, EXIT_INTERRUPTED, "interrupted");
    if (r < 0)
        return output_error(options->json, client_status(r), "%s", diag.text);
    return print_answer(options, &answer);
}
