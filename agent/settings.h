/*
 * settings.h - how this agent was configured: file, then command line.
 *
 * Threads: read once, before any other.  Memory: settings_done().
 */
#ifndef AGENT_SETTINGS_H
#define AGENT_SETTINGS_H

#include <stdio.h>

#include "agent/codec.h"
#include "agent/offer.h"
#include "common/base.h"
#include "common/channel.h"
#include "common/command.h"
#include "common/config.h"
#include "common/diag.h"
#include "common/log.h"

#define SETTINGS_FILE "/etc/lockstep/agent.conf"

enum settings_lease_lost {
    SETTINGS_STOP,   /* at once */
    SETTINGS_FINISH, /* when the phase that runs has come to its end */
};

struct settings {
    char name[NAME_SIZE];
    char controller[ADDRESS_SIZE];
    char keys[PATH_SIZE];
    struct config_list offer_texts;
    struct config_list label_texts;
    struct config_list command_texts;
    uint64_t lease_ns;
    enum settings_lease_lost lease_lost;
    char state_directory[PATH_SIZE];
    uint32_t workers_max; /* 0: as many as CPUs */
    bool pin;             /* each worker stays on its CPU */
    enum log_level log_level;
    /* For `lockstep run` and tests. */
    int controller_fd;      /* -1: it dials */
    char engine[TEXT_SIZE]; /* "": io_uring */
    uint64_t unacknowledged_max;
    /* Made of the texts above. */
    struct offers offers;
    struct commands commands;
    char labels[CODEC_LABELS_MAX][NAME_SIZE];
    uint32_t label_count;
};

enum settings_wish {
    SETTINGS_RUN,
    SETTINGS_HELP,
    SETTINGS_VERSION,
};

/*
 * Reads the file that --config names (or SETTINGS_FILE, where it exists) and
 * then the arguments; argv[0] is not looked at.  0, or -EINVAL and others with
 * the file, line and reason in `diag`.  `settings` is to be done in any case.
 */
int settings_read(int argc, char **argv, struct settings *settings,
                  enum settings_wish *ret_wish, struct diag *diag) MUST_CHECK;
void settings_done(struct settings *settings);

/* What uname tells, with '-' for what names of agents may not have. */
void settings_host_name(char name[NAME_SIZE]);

void settings_print_help(FILE *out);

#endif
