/*
 * place.h - where a campaign's results are: at a controller, or in a directory
 * that `lockstep run` left, which needs none.
 *
 * Memory: place_done() closes all; also after a failed place_open().
 */
#ifndef CONTROLLER_SHELL_PLACE_H
#define CONTROLLER_SHELL_PLACE_H

#include "controller/shell/client.h"
#include "controller/shell/options.h"
#include "controller/shell/private.h"

struct place {
    struct client *client;
    struct private_pair *pair; /* NULL: a controller's */
    const char *campaign;      /* its number there; "" the newest */
};

/* `word`: a campaign's number or UUID, or such a directory. */
int place_open(const struct options *options, const char *word,
               struct place *ret_place, struct diag *diag) MUST_CHECK;
void place_done(struct place *place);

/* The exit status that an error of place_open() or pieces_fetch() comes to. */
enum exit_status place_status(int err);

#endif
