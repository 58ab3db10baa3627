#include "controller/settings.h"

#include "common/channel.h"
#include "controller/http/http.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* Alphabetical.  A new key is one line here and one field in the struct. */
static const struct config_key keys[] = {
    {.name = "agent_fd",
     .offset = offsetof(struct settings, agent_fd),
     .parse = config_parse_fd,
     .argument = "N",
     .help = "a connected agent, as an inherited descriptor",
     .kind = CONFIG_HIDDEN},
    {.name = "command",
     .offset = offsetof(struct settings, command_texts),
     .parse = config_parse_list,
     .argument = "COMMAND",
     .help = "what campaigns may have run on this host: NAME [TIME] PROGRAM "
             "WORD...; without a shell, for at most TIME (60s); nothing else "
             "is ever run",
     .kind = CONFIG_REPEATS},
    {.name = "http",
     .offset = offsetof(struct settings, http),
     .parse = config_parse_text,
     .argument = "HOST:PORT",
     .help = "where the page and the API are (" HTTP_DEFAULT "); off: nowhere"},
    {.name = "keys",
     .offset = offsetof(struct settings, keys),
     .parse = config_parse_path,
     .argument = "FILE",
     .help = "this controller's bundle, as 'lockstep keys init' makes it"},
    {.name = "listen",
     .fallback = "127.0.0.1:7780",
     .offset = offsetof(struct settings, listen),
     .parse = config_parse_text,
     .argument = "HOST:PORT",
     .help = "where agents and shells connect; port 0 takes a free one"},
    {.name = "private",
     .offset = offsetof(struct settings, is_private),
     .parse = config_parse_bool,
     .help = "serve one agent and one shell, end with the shell",
     .kind = CONFIG_HIDDEN},
    {.name = "revoked",
     .offset = offsetof(struct settings, revoked),
     .parse = config_parse_path,
     .argument = "FILE",
     .help = "certificates that are not accepted any more, as 'lockstep keys "
             "revoke' lists them; by default revoked.pem beside the keys"},
    {.name = "retention",
     .fallback = "90d",
     .offset = offsetof(struct settings, retention_ns),
     .parse = config_parse_time,
     .argument = "TIME",
     .help =
         "when latency histograms of single drives' intervals go; 0: never"},
    {.name = "shell_fd",
     .offset = offsetof(struct settings, shell_fd),
     .parse = config_parse_fd,
     .argument = "N",
     .help = "a connected shell, as an inherited descriptor",
     .kind = CONFIG_HIDDEN},
    {.name = "start_tolerance",
     .fallback = "5ms",
     .offset = offsetof(struct settings, start_tolerance_ns),
     .parse = config_parse_time,
     .argument = "TIME",
     .help = "refuse to start a phase when a clock is less certain"},
    {.name = "store",
     .fallback = "/var/lib/lockstep/lockstep.db",
     .offset = offsetof(struct settings, store),
     .parse = config_parse_path,
     .argument = "PATH",
     .help = "the database of campaigns and results"},
};

const struct config_table settings_table = {
    .keys = keys,
    .count = ARRAY_LENGTH(keys),
};

static int read_file(const char *file, struct settings *settings,
                     struct diag *diag)
{
    int err = config_read(&settings_table, settings,
                          file != NULL ? file : SETTINGS_FILE, diag);

    return err == -ENOENT && file == NULL ? 0 : err;
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

void settings_done(struct settings *settings)
{
    config_list_done(&settings->command_texts);
}

int settings_read(const char *file, int argc, char *const *argv,
                  struct settings *ret_settings, struct diag *diag)
{
    struct settings settings = {.agent_fd = -1, .shell_fd = -1};
    int used = 0;
    int err;

    config_defaults(&settings_table, &settings);
    err = read_file(file, &settings, diag);
    if (err == 0)
        err = config_arguments(&settings_table, &settings, argc, argv, &used,
                               diag);
    if (err == 0 && used < argc)
        err = diag_set(diag, -EINVAL, "'%s' is no option; see lockstepd --help",
                       argv[used]);
    if (err == 0)
        err = take_commands(&settings, diag);
    if (err == 0)
        *ret_settings = settings;
    else
        settings_done(&settings);
    return err;
}

bool settings_has_http(const struct settings *settings)
{
    return !settings->is_private && strcmp(settings->http, "off") != 0;
}

const char *settings_http(const struct settings *settings)
{
    return settings->http[0] != '\0' ? settings->http : HTTP_DEFAULT;
}

static int check_listen(const struct settings *settings, struct diag *diag)
{
    char host[ADDRESS_SIZE];
    uint16_t port;

    if (address_split(settings->listen, 0, host, &port) != 0)
        return diag_set(diag, -EINVAL,
                        "listen=%s is no HOST:PORT, e.g. 127.0.0.1:7780",
                        settings->listen);
    if (settings->keys[0] == '\0' && !address_is_loopback(host))
        return diag_set(diag, -EINVAL,
                        "listen=%s is reachable from other machines and there "
                        "are no keys: make them with 'lockstep keys init' and "
                        "set keys=FILE, or listen on 127.0.0.1",
                        settings->listen);
    return 0;
}

int settings_check(const struct settings *settings, struct diag *diag)
{
    if (settings->start_tolerance_ns == 0)
        return diag_set(diag, -EINVAL,
                        "start_tolerance=0 refuses every start; no clock is "
                        "known so well");
    if (!settings->is_private) {
        int err = check_listen(settings, diag);

        return err != 0 || !settings_has_http(settings)
                   ? err
                   : http_check(settings_http(settings),
                                settings->keys[0] != '\0', diag);
    }
    if (settings->agent_fd < 0 || settings->shell_fd < 0)
        return diag_set(diag, -EINVAL,
                        "--private needs --agent-fd and --shell-fd; it is for "
                        "'lockstep run'");
    return 0;
}
