/* settings.c - the table of the agent's keys. */
#include "agent/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "agent/engine_null.h"

#define LEASE_MIN_NS (1 * NS_PER_S)
#define LEASE_MAX_NS (24 * 3600 * NS_PER_S)

#define CONTROLLER_PORT 7780

static int parse_address(const char *value, void *field, struct diag *diag)
{
    char host[ADDRESS_SIZE];
    uint16_t port;

    if (strlen(value) >= ADDRESS_SIZE ||
        address_split(value, CONTROLLER_PORT, host, &port) < 0)
        return diag_set(diag, -EINVAL,
                        "'%s' is not HOST:PORT, HOST or [IPV6]:PORT", value);
    if (strchr(host, ':') != NULL)
        (void)snprintf(field, ADDRESS_SIZE, "[%.256s]:%u", host, port);
    else
        (void)snprintf(field, ADDRESS_SIZE, "%.256s:%u", host, port);
    return 0;
}

static int parse_lease(const char *value, void *field, struct diag *diag)
{
    uint64_t lease_ns;
    int err = config_parse_time(value, &lease_ns, diag);

    if (err < 0)
        return err;
    if (lease_ns < LEASE_MIN_NS || lease_ns > LEASE_MAX_NS)
        return diag_set(diag, -EINVAL,
                        "a lease of %s is not 1s .. 24h: load may run that "
                        "long without its controller",
                        value);
    memcpy(field, &lease_ns, sizeof(lease_ns));
    return 0;
}

static int parse_lease_lost(const char *value, void *field, struct diag *diag)
{
    enum settings_lease_lost what;

    if (strcmp(value, "stop") == 0)
        what = SETTINGS_STOP;
    else if (strcmp(value, "finish") == 0)
        what = SETTINGS_FINISH;
    else
        return diag_set(diag, -EINVAL, "'%s' is neither stop nor finish",
                        value);
    memcpy(field, &what, sizeof(what));
    return 0;
}

static int parse_pin(const char *value, void *field, struct diag *diag)
{
    bool pin = strcmp(value, "yes") == 0;

    if (!pin && strcmp(value, "no") != 0)
        return diag_set(diag, -EINVAL, "'%s' is neither yes nor no", value);
    memcpy(field, &pin, sizeof(pin));
    return 0;
}

static int parse_level(const char *value, void *field, struct diag *diag)
{
    enum log_level level;

    if (log_level_parse(value, &level) < 0)
        return diag_set(diag, -EINVAL,
                        "'%s' is none of error, warning, notice, debug", value);
    memcpy(field, &level, sizeof(level));
    return 0;
}

static int parse_engine(const char *value, void *field, struct diag *diag)
{
    struct engine_null_text text;

    if (strlen(value) >= TEXT_SIZE)
        return diag_set(diag, -EINVAL, "longer than %d bytes", TEXT_SIZE - 1);
    if (strcmp(value, "io_uring") == 0)
        value = "";
    else if (strncmp(value, "null:", 5) != 0)
        return diag_set(diag, -EINVAL,
                        "'%s' is neither io_uring nor null:LATENCIES", value);
    else if (engine_null_parse(value, &text, diag) < 0)
        return -EINVAL;
    memcpy(field, value, strlen(value) + 1);
    return 0;
}

/* Alphabetical. */
static const struct config_key keys[] = {
    {"command", NULL, offsetof(struct settings, command_texts),
     config_parse_list, "COMMAND",
     "what campaigns may have run here: NAME [TIME] PROGRAM WORD...; without a "
     "shell, for at most TIME (60s); nothing else is ever run",
     CONFIG_REPEATS},
    {"controller", "127.0.0.1:7780", offsetof(struct settings, controller),
     parse_address, "HOST:PORT", "whom to serve", CONFIG_ONCE},
    {"controller_fd", NULL, offsetof(struct settings, controller_fd),
     config_parse_fd, "N", "an inherited connection instead", CONFIG_HIDDEN},
    {"engine", NULL, offsetof(struct settings, engine), parse_engine, "ENGINE",
     "io_uring, or null:LATENCIES for tests of the lab", CONFIG_HIDDEN},
    {"keys", NULL, offsetof(struct settings, keys), config_parse_path, "FILE",
     "this agent's bundle, made by 'lockstep keys agent NAME'; needed unless "
     "the controller is on this host",
     CONFIG_ONCE},
    {"label", NULL, offsetof(struct settings, label_texts), config_parse_list,
     "TEXT", "by which campaigns may name this host, e.g. rack=b7",
     CONFIG_REPEATS},
    {"lease", "30s", offsetof(struct settings, lease_ns), parse_lease, "TIME",
     "how long load may run without the controller's renewal", CONFIG_ONCE},
    {"log_level", "notice", offsetof(struct settings, log_level), parse_level,
     "LEVEL", "error, warning, notice or debug", CONFIG_ONCE},
    {"name", NULL, offsetof(struct settings, name), config_parse_name, "NAME",
     "of this agent; by default that of the keys, or the host's", CONFIG_ONCE},
    {"offer", NULL, offsetof(struct settings, offer_texts), config_parse_list,
     "PATTERN",
     "what may be written: /dev/nvme*n1, serial=S5XANA0R, model=..., id=..., "
     "/a/directory/; nothing else is ever written",
     CONFIG_REPEATS},
    {"on_lease_lost", "stop", offsetof(struct settings, lease_lost),
     parse_lease_lost, "WHAT",
     "stop the load at once, or let the phase that runs finish", CONFIG_ONCE},
    {"pin", "yes", offsetof(struct settings, pin), parse_pin, "yes|no",
     "each thread that does I/O stays on one CPU, near its drives",
     CONFIG_ONCE},
    {"state_directory", "/var/lib/lockstep",
     offsetof(struct settings, state_directory), config_parse_path, "DIRECTORY",
     "remembers files we made where their file system cannot", CONFIG_ONCE},
    {"unacknowledged", "256m", offsetof(struct settings, unacknowledged_max),
     config_parse_size, "BYTES", "of samples, before the load stops",
     CONFIG_HIDDEN},
    {"workers", "0", offsetof(struct settings, workers_max), config_parse_count,
     "N", "most threads that do I/O; 0: one for each CPU", CONFIG_ONCE},
};

static const struct config_table table = {keys, ARRAY_LENGTH(keys)};

void settings_print_help(FILE *out)
{
    (void)fprintf(
        out,
        "Usage: lockstep-agent [--config=FILE] [OPTION]...\n"
        "Serves a lockstepd: does the I/O of its campaigns on this host.\n\n"
        "  --config=FILE           instead of " SETTINGS_FILE "\n");
    config_print_help(&table, out);
    (void)fprintf(out, "  --help, --version\n\n"
                       "In the file the same keys are written as 'key = "
                       "value', e.g. 'offer = /dev/nvme*n1'.\n");
}

void settings_host_name(char name[NAME_SIZE])
{
    struct utsname host;

    if (uname(&host) < 0 || host.nodename[0] == '\0') {
        memcpy(name, "localhost", sizeof("localhost"));
        return;
    }
    (void)snprintf(name, NAME_SIZE, "%.*s", NAME_SIZE - 1, host.nodename);
    for (char *c = name; *c != '\0'; c++)
        if (strspn(c, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                      "0123456789.-_") == 0)
            *c = '-';
}

static int take_offers(struct settings *settings, struct diag *diag)
{
    for (size_t i = 0; i < settings->offer_texts.count; i++) {
        const char *text = settings->offer_texts.items[i];

        if (offers_add(&settings->offers, text, diag) < 0) {
            diag_prefix(diag, "offer '%s'", text);
            return -EINVAL;
        }
    }
    return 0;
}

static int take_commands(struct settings *settings, struct diag *diag)
{
    for (size_t i = 0; i < settings->command_texts.count; i++) {
        const char *text = settings->command_texts.items[i];

        if (commands_add(&settings->commands, text, diag) < 0) {
            diag_prefix(diag, "command '%s'", text);
            return -EINVAL;
        }
    }
    return 0;
}

static int take_labels(struct settings *settings, struct diag *diag)
{
    const struct config_list *list = &settings->label_texts;

    if (list->count > CODEC_LABELS_MAX)
        return diag_set(diag, -EINVAL, "%zu labels, at most %u", list->count,
                        CODEC_LABELS_MAX);
    for (size_t i = 0; i < list->count; i++) {
        size_t length = strlen(list->items[i]);

        if (length == 0 || length >= NAME_SIZE ||
            !codec_is_clean(list->items[i]))
            return diag_set(diag, -EINVAL,
                            "label '%s' is not 1 to %d bytes of text",
                            list->items[i], NAME_SIZE - 1);
        memcpy(settings->labels[i], list->items[i], length + 1);
    }
    settings->label_count = (uint32_t)list->count;
    return 0;
}

static int read_file(const char *path, struct settings *settings,
                     struct diag *diag)
{
    int err = config_read(&table, settings, path != NULL ? path : SETTINGS_FILE,
                          diag);

    return err == -ENOENT && path == NULL ? 0 : err;
}

static int read_arguments(int argc, char **argv, struct settings *settings,
                          struct diag *diag)
{
    int used;
    int err = config_arguments(&table, settings, argc, argv, &used, diag);

    if (err < 0)
        return err;
    if (used < argc)
        return diag_set(diag, -EINVAL, "'%s' is no option; --help shows them",
                        argv[used]);
    return 0;
}

int settings_read(int argc, char **argv, struct settings *settings,
                  enum settings_wish *ret_wish, struct diag *diag)
{
    const char *path;
    int err;

    memset(settings, 0, sizeof(*settings));
    settings->controller_fd = -1;
    config_defaults(&table, settings);
    *ret_wish = SETTINGS_RUN;
    if (config_find_option(&argc, argv, "help", false) != NULL)
        *ret_wish = SETTINGS_HELP;
    else if (config_find_option(&argc, argv, "version", false) != NULL)
        *ret_wish = SETTINGS_VERSION;
    if (*ret_wish != SETTINGS_RUN)
        return 0;
    path = config_find_option(&argc, argv, "config", true);
    err = read_file(path, settings, diag);
    if (err == 0)
        err = read_arguments(argc - 1, argv + 1, settings, diag);
    if (err == 0)
        err = take_offers(settings, diag);
    if (err == 0)
        err = take_labels(settings, diag);
    if (err == 0)
        err = take_commands(settings, diag);
    return err;
}

void settings_done(struct settings *settings)
{
    config_list_done(&settings->offer_texts);
    config_list_done(&settings->label_texts);
    config_list_done(&settings->command_texts);
}
