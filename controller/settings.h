/*
 * settings.h - what lockstepd can be told, and whether it makes sense.
 *
 * One table yields the configuration file's keys, the options and the help.
 *
 * Threads: none of its own.  Memory: by value.
 */
#ifndef CONTROLLER_SETTINGS_H
#define CONTROLLER_SETTINGS_H

#include "common/command.h"
#include "common/config.h"

#define SETTINGS_FILE "/etc/lockstep/controller.conf"

struct settings {
    char listen[TEXT_SIZE];
    char http[TEXT_SIZE];    /* "": the usual address, if it is free */
    char keys[PATH_SIZE];    /* "": none */
    char revoked[PATH_SIZE]; /* list of revoked certificates; "": that beside
                                the keys, where there is one */
    char store[PATH_SIZE];
    struct config_list command_texts;
    struct commands commands; /* made of the texts */
    uint64_t start_tolerance_ns;
    uint64_t retention_ns; /* 0: everything is kept */
    bool is_private; /* the controller of `lockstep run` */
    int agent_fd;    /* inherited connections; -1: none */
    int shell_fd;
};

extern const struct config_table settings_table;

/*
 * Fallbacks, then the file, then the arguments (argv[0] left out).  `file`
 * NULL: the usual one, if it is there.  0, or -EINVAL and the like with the
 * sentence for people.
 */
int settings_read(const char *file, int argc, char *const *argv,
                  struct settings *ret_settings, struct diag *diag) MUST_CHECK;
void settings_done(struct settings *settings);

/* Whether the page is served, and where. */
bool settings_has_http(const struct settings *settings);
const char *settings_http(const struct settings *settings);

/*
 * What does not fit together: an address that other machines reach needs keys,
 * a private controller its two connections.  0 or -EINVAL with the remedy.
 */
int settings_check(const struct settings *settings,
                   struct diag *diag) MUST_CHECK;

#endif
