/* render.c - see render.h. */
#include "controller/shell/render.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "controller/report/csv.h"
#include "controller/report/page.h"
#include "controller/report/whole.h"
#include "controller/shell/pieces.h"
#include "controller/shell/place.h"

/* ---- Files -----------------------------------------------------------------
 */

/* A file that appears whole or not at all; "-" is standard output. */
struct target {
    FILE *out;
    char path[PATH_SIZE];
    char part[PATH_SIZE + 8];
};

static int target_open(struct target *t, const char *path, struct diag *diag)
{
    *t = (struct target){.out = stdout};
    if (path == NULL || strcmp(path, "-") == 0)
        return 0;
    if (snprintf(t->path, PATH_SIZE, "%s", path) >= PATH_SIZE)
        return diag_set(diag, -ENAMETOOLONG, "'%s' is too long", path);
    (void)snprintf(t->part, sizeof(t->part), "%s.part", path);
    t->out = fopen(t->part, "we");
    if (t->out == NULL)
        return diag_set(diag, -errno, "cannot write '%s': %s", path,
                        strerror(errno));
    return 0;
}

/* Gives the file its name, or takes it away after a failure. */
static int target_close(struct target *t, int err, struct diag *diag)
{
    bool bad = fflush(t->out) != 0 || ferror(t->out) != 0;

    if (t->out != stdout)
        bad = fclose(t->out) != 0 || bad;
    if (bad && err == 0)
        err = diag_set(diag, -EIO, "cannot write '%s': %s",
                       t->path[0] != '\0' ? t->path : "standard output",
                       strerror(errno));
    if (t->path[0] == '\0')
        return err;
    if (err < 0)
        (void)unlink(t->part);
    else if (rename(t->part, t->path) < 0)
        err = diag_set(diag, -errno, "cannot write '%s': %s", t->path,
                       strerror(errno));
    return err;
}

/* ---- One rendering ---------------------------------------------------------
 */

/* What every rendering needs: the campaign, and where errors go. */
struct source {
    struct client *client;
    const char *campaign;
    enum exit_status status; /* the campaign's, once fetched */
    struct diag diag;
};

static int fetch(struct source *s, struct sink sink)
{
    return pieces_fetch(s->client, s->campaign, &sink, 1, &s->status, &s->diag);
}

static int render_page(struct source *s, const char *path)
{
    struct page *page = page_new();
    struct target t;
    int r = page == NULL ? diag_set(&s->diag, -ENOMEM, "no memory")
                         : fetch(s, page_sink(page));

    if (r == 0)
        r = target_open(&t, path, &s->diag);
    if (r == 0)
        r = target_close(&t, page_write(page, t.out, &s->diag), &s->diag);
    (void)page_free(page);
    return r;
}

static int render_csv(struct source *s, const char *path, enum csv_rows rows)
{
    struct target t;
    struct csv csv;
    int r = target_open(&t, path, &s->diag);

    if (r < 0)
        return r;
    r = fetch(s, csv_sink(&csv, t.out, rows));
    csv_done(&csv);
    return target_close(&t, r, &s->diag);
}

static int render_json(struct source *s, const char *path, bool rows)
{
    struct whole whole;
    struct target t;
    int r = target_open(&t, path, &s->diag);

    if (r < 0)
        return r;
    r = fetch(s, whole_sink(&whole, t.out, rows));
    whole_end(&whole, r < 0 ? s->diag.text : NULL);
    return target_close(&t, r, &s->diag);
}

static int render_vdbench(struct source *s, const char *directory, bool again)
{
    struct vdbench *folder = NULL;
    int r = vdbench_open(directory, again, &folder, &s->diag);

    if (r == 0)
        r = fetch(s, vdbench_sink(folder));
    if (r == 0)
        return vdbench_close(folder, &s->diag);
    (void)vdbench_close(folder, NULL);
    return r;
}

static int make_folder(const char *directory, struct diag *diag)
{
    if (mkdir(directory, 0777) == 0)
        return 0;
    if (errno == EEXIST)
        return diag_set(diag, -EEXIST,
                        "'%s' is there already and results are never "
                        "overwritten: give another --vdbench",
                        directory);
    return diag_set(diag, -errno, "cannot make the directory '%s': %s",
                    directory, strerror(errno));
}

/* ---- Commands --------------------------------------------------------------
 */

static int export_as_asked(struct source *s, const struct options *options)
{
    bool all = options->totals == options->intervals;
    enum csv_rows rows = all               ? CSV_ALL
                         : options->totals ? CSV_TOTALS
                                           : CSV_INTERVALS;
    int r;

    if (options->vdbench != NULL) {
        r = make_folder(options->vdbench, &s->diag);
        return r < 0 ? r : render_vdbench(s, options->vdbench, false);
    }
    if (options->json)
        return render_json(s, options->directory, all || options->intervals);
    return render_csv(s, options->directory, rows);
}

static int with_campaign(const struct options *options,
                         int (*render)(struct source *s,
                                       const struct options *options))
{
    struct source s = {.status = EXIT_COMPLETE};
    struct place place;
    enum exit_status status;
    int r = place_open(options, options->arguments.word[0], &place, &s.diag);

    if (r == 0) {
        s.client = place.client;
        s.campaign = place.campaign;
        r = render(&s, options);
    }
    status = r == 0         ? EXIT_COMPLETE
             : r == -EEXIST ? EXIT_USAGE
                            : place_status(r);
    /* With a document on stdout already, the rest is for stderr. */
    if (r < 0)
        (void)output_error(options->json && s.client == NULL, status, "%s",
                           s.diag.text);
    place_done(&place);
    return (int)status;
}

int export_command(const struct options *options)
{
    return with_campaign(options, export_as_asked);
}

static int report_as_asked(struct source *s, const struct options *options)
{
    return render_page(s, options->directory);
}

int report_command(const struct options *options)
{
    return with_campaign(options, report_as_asked);
}

/* ---- The end of a run ------------------------------------------------------
 */

static void complain(int r, const struct source *s)
{
    if (r < 0)
        fprintf(stderr, "lockstep: %s\n", s->diag.text);
}

/* What is known at the end only: the parameter text, and histograms. */
static int put_parmfile(void *self, const json_t *head, struct diag *diag)
{
    (void)diag;
    vdbench_parmfile(self, head);
    return 0;
}

static int put_histogram(void *self, const json_t *phase, struct diag *diag)
{
    (void)diag;
    vdbench_histogram(self, phase);
    return 0;
}

static int close_folder(struct source *s, struct vdbench *folder,
                        const char *directory)
{
    bool stale = vdbench_is_stale(folder);
    const struct sink rest = {
        .self = folder, .head = put_parmfile, .phase = put_histogram};
    int r = stale ? 0 : fetch(s, rest);
    int closed = vdbench_close(folder, &s->diag);

    if (r == 0)
        r = closed;
    return r == 0 && stale ? render_vdbench(s, directory, true) : r;
}

void render_run(struct client *client, const char *campaign,
                const char *directory, struct vdbench *folder)
{
    struct source s = {.client = client, .campaign = campaign};
    char path[PATH_SIZE + 16];

    complain(close_folder(&s, folder, directory), &s);
    (void)snprintf(path, sizeof(path), "%s/results.csv", directory);
    complain(render_csv(&s, path, CSV_ALL), &s);
    (void)snprintf(path, sizeof(path), "%s/report.html", directory);
    complain(render_page(&s, path), &s);
}
