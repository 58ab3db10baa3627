/*
 * render.h - a report, an export or a comparison, made of the campaigns'
 * pieces as they come.
 *
 *     render = render_new(RENDER_REPORT); render_add(render, "7")
 *     while (render_wants(render, &piece))
 *         fetch the piece; render_take(render, text, length);
 *     what has come so far: render_output(render, &length)
 *
 * The same rooms that serve the shell's report, export and compare write it
 * (controller/report), so all say the same.  Nothing here waits or does I/O;
 * parsing and printing take their time, so a thread of a pool does
 * render_take().
 *
 * Threads: one at a time.  Memory: render_free().
 */
#ifndef CONTROLLER_HTTP_RENDER_H
#define CONTROLLER_HTTP_RENDER_H

#include "common/base.h"
#include "common/diag.h"

#define RENDER_SIDES_MAX  32u
#define RENDER_BOUNDS_MAX 32u

enum render_kind {
    RENDER_REPORT,
    RENDER_CSV,
    RENDER_JSON,
    RENDER_COMPARE,
};

struct render;

/* A piece of EXPORT. */
struct render_piece {
    const char *campaign;
    uint32_t phase; /* 0: the head */
    uint64_t interval;
    bool brief; /* nobody prints rows of hosts and workloads */
};

/* NULL without memory. */
struct render *render_new(enum render_kind kind);

/* NULL is fine.  Returns NULL. */
struct render *render_free(struct render *render);

/* A side of a comparison, "7" or "7,8"; the one campaign of the others.
 * -EINVAL. */
int render_add(struct render *render, const char *side,
               struct diag *diag) MUST_CHECK;

/* A bound of a comparison, see bound.h. */
int render_add_bound(struct render *render, const char *bound,
                     struct diag *diag) MUST_CHECK;

/* False when there is nothing more to fetch. */
bool render_wants(const struct render *render, struct render_piece *ret_piece);

/*
 * The piece that it wants.  At the last one, all that is left is printed.
 * After an error nothing more is wanted.
 */
int render_take(struct render *render, const char *text, size_t length,
                struct diag *diag) MUST_CHECK;

/* It cannot be had.  Ends the output so that a reader sees it where the form
 * allows. */
void render_break(struct render *render, const char *error);

/* What was printed and not taken yet; render_taken() when it was. */
const char *render_output(const struct render *render, size_t *ret_length);
void render_taken(struct render *render);

#endif
