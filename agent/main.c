/* main.c - lockstep-agent: settings in, loop on. */
#include <stdio.h>
#include <stdlib.h>

#include "agent/loop.h"
#include "agent/settings.h"
#include "common/fault.h"
#include "common/log.h"
#include "common/process.h"

/* Threads that open, claim and read: a few may hang in sick drives. */
#define THREADS "16"

static int serve(const struct settings *settings)
{
    const struct log_setup setup = {
        .program = "lockstep-agent",
        .level = settings->log_level,
        .bare = settings->controller_fd >= 0,
        .fd = 2,
    };
    struct diag diag = {0};

    log_open(&setup);
    if (loop_run(settings, &diag) == 0)
        return 0;
    log_error(NULL, "%s", diag.text);
    return 1;
}

int main(int argc, char **argv)
{
    struct settings *settings = calloc(1, sizeof(*settings));
    enum settings_wish wish;
    struct diag diag = {0};
    int status = 0;

    if (settings == NULL)
        return 1;
    if (process_init() < 0)
        return 1;
    (void)setenv("UV_THREADPOOL_SIZE", THREADS, 0);
#ifdef FAULTS
    if (getenv("LOCKSTEP_FAULTS") != NULL &&
        fault_arm_text(getenv("LOCKSTEP_FAULTS")) < 0)
        return 2;
#endif
    if (settings_read(argc, argv, settings, &wish, &diag) < 0) {
        (void)fprintf(stderr, "lockstep-agent: %s\n", diag.text);
        status = 2;
    } else if (wish == SETTINGS_HELP) {
        settings_print_help(stdout);
    } else if (wish == SETTINGS_VERSION) {
        (void)printf("lockstep-agent %s\n", LOCKSTEP_VERSION);
    } else {
        status = serve(settings);
    }
    settings_done(settings);
    free(settings);
    return status;
}
