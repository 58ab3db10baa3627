/* vdbench.c - see vdbench.h. */
#include "controller/report/vdbench.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "controller/report/vdbench_histogram.h"
#include "controller/report/vdbench_lines.h"
#include "controller/report/vdbench_parm.h"

/* vdbench repeats its column names so often. */
#define HEADER_ROWS 30

enum vdbench_file {
    FILE_FLAT,
    FILE_SUMMARY,
    FILE_TOTALS,
    FILE_LOG,
    FILE_PARM,
    FILE_HISTOGRAM,
    FILE_COUNT,
};

static const char *const file_names[FILE_COUNT] = {
    [FILE_FLAT] = "flatfile", [FILE_SUMMARY] = "summary",
    [FILE_TOTALS] = "totals", [FILE_LOG] = "logfile",
    [FILE_PARM] = "parmfile", [FILE_HISTOGRAM] = "histogram",
};

struct vdbench {
    FILE *file[FILE_COUNT];
    char path[FILE_COUNT][PATH_SIZE];
    json_t *phase;     /* of the rows to come; NULL: not one of vdbench's */
    json_int_t number; /* of the last phase that began */
    json_t *verdict;
    json_t *error;
    unsigned rows; /* of this run */
    unsigned runs; /* with a Starting line so far */
    unsigned histograms;
    bool flat_header;
    bool stale;
};

/* ---- The files -------------------------------------------------------------
 */

static void print_preamble(FILE *out, const char *name)
{
    fprintf(out,
            "<title>Lockstep %s.html</title><pre>\n"
            "Made by lockstep " LOCKSTEP_VERSION
            " in the layout of vdbench 5.04.07; resp is service time\n",
            name);
    vdbench_print_distribution(out);
    fputc('\n', out);
}

static void print_flat_preamble(FILE *out)
{
    fputs("* Made by lockstep " LOCKSTEP_VERSION
          " in the layout of vdbench 5.04.07.\n"
          "* Times are in ms, MB are 2^20 bytes, resp is service time.\n"
          "* A rate of 9999988 asks for the maximum, 9999977 for a curve's.\n",
          out);
}

static void begin_files(struct vdbench *v)
{
    print_flat_preamble(v->file[FILE_FLAT]);
    print_preamble(v->file[FILE_SUMMARY], "summary");
    print_preamble(v->file[FILE_TOTALS], "totals");
    print_preamble(v->file[FILE_LOG], "logfile");
    print_preamble(v->file[FILE_HISTOGRAM], "histogram");
    fputs("Of the measured intervals of each run; warm-up is left out. A range "
          "holds min <= resp < max.\nStored are buckets of 0.8 %: up to so "
          "much below an edge may count above it, nothing the other way.\n",
          v->file[FILE_HISTOGRAM]);
    for (int i = 0; i < FILE_COUNT; i++)
        (void)fflush(v->file[i]);
}

int vdbench_open(const char *directory, bool again, struct vdbench **ret_folder,
                 struct diag *diag)
{
    struct vdbench *v = calloc(1, sizeof(*v));
    int err = 0;

    if (v == NULL)
        return diag_set(diag, -ENOMEM, "no memory");
    for (int i = 0; i < FILE_COUNT && err == 0; i++) {
        if (snprintf(v->path[i], PATH_SIZE, "%s/%s.html", directory,
                     file_names[i]) >= PATH_SIZE)
            err = diag_set(diag, -ENAMETOOLONG, "'%s' is too long", directory);
        else if ((v->file[i] = fopen(v->path[i], again ? "we" : "wxe")) == NULL)
            err = diag_set(diag, -errno, "cannot make '%s': %s", v->path[i],
                           strerror(errno));
    }
    if (err < 0) {
        (void)vdbench_close(v, NULL);
        return err;
    }
    begin_files(v);
    *ret_folder = v;
    return 0;
}

/* Behind the rows of the log; the other files end with their last row. */
static void print_verdict(const struct vdbench *v)
{
    const char *error = json_string_value(v->error);

    if (json_is_string(v->verdict))
        fprintf(v->file[FILE_LOG], "\nLockstep: %s%s%s\n",
                json_string_value(v->verdict), error != NULL ? ": " : "",
                error != NULL ? error : "");
}

int vdbench_close(struct vdbench *v, struct diag *diag)
{
    int err = 0;

    if (v == NULL)
        return 0;
    if (v->file[FILE_LOG] != NULL)
        print_verdict(v);
    for (int i = 0; i < FILE_COUNT; i++) {
        bool bad = v->file[i] != NULL && ferror(v->file[i]) != 0;

        errno = EIO;
        if (v->file[i] != NULL && (fclose(v->file[i]) != 0 || bad) && err == 0)
            err = diag_set(diag, -errno, "cannot write '%s': %s", v->path[i],
                           strerror(errno));
    }
    json_decref(v->phase);
    json_decref(v->verdict);
    json_decref(v->error);
    free(v);
    return err;
}

bool vdbench_is_stale(const struct vdbench *folder)
{
    return folder->stale;
}

/* ---- Events ----------------------------------------------------------------
 */

static void print_anchor(FILE *out, unsigned number, const json_t *phase)
{
    fprintf(out, "\n<a name=\"_%u\"></a><i><b>", number);
    vdbench_print_start(out, phase, read_text(phase, "wall"));
    fputs("</b></i>\n", out);
}

static void on_phase(struct vdbench *v, const json_t *event)
{
    if (read_count(event, "phase") == v->number)
        return; /* told twice */
    v->number = read_count(event, "phase");
    json_decref(v->phase);
    v->phase = NULL;
    if (!read_is(event, "kind", "measure"))
        return;
    v->phase = json_deep_copy(event);
    v->rows = 0;
}

/* Before the first row of a run: one without rows is not told about. */
static void begin_run(struct vdbench *v)
{
    v->runs++;
    print_anchor(v->file[FILE_SUMMARY], v->runs, v->phase);
    fputc('\n', v->file[FILE_LOG]);
    vdbench_print_start(v->file[FILE_LOG], v->phase,
                        read_text(v->phase, "wall"));
    fputc('\n', v->file[FILE_LOG]);
}

static void print_row(FILE *out, const char *wall, const char *label,
                      const json_t *figures)
{
    vdbench_print_row(out, wall, label, figures);
    fputc('\n', out);
    (void)fflush(out);
}

static void print_flat(struct vdbench *v, const char *wall, const char *label,
                       const json_t *figures)
{
    if (!v->flat_header)
        vdbench_print_flat_header(v->file[FILE_FLAT]);
    v->flat_header = true;
    vdbench_print_flat_row(v->file[FILE_FLAT], v->phase, wall, label, figures);
    (void)fflush(v->file[FILE_FLAT]);
}

static void on_interval(struct vdbench *v, const json_t *event)
{
    const json_t *figures = json_object_get(event, "figures");
    const char *wall = read_text(event, "wall");
    char label[VDBENCH_LABEL_SIZE];

    if (v->phase == NULL || read_is(event, "kind", "drain"))
        return;
    if (read_count(event, "interval") <= (json_int_t)v->rows) {
        /* Told about already: the same, or what came late. */
        v->stale |= read_count(event, "revision") > 1;
        return;
    }
    if (v->rows == 0)
        begin_run(v);
    if (v->rows % HEADER_ROWS == 0) {
        vdbench_print_header(v->file[FILE_SUMMARY], wall, "", "");
        vdbench_print_header(v->file[FILE_LOG], wall, "", "");
    }
    v->rows = (unsigned)read_count(event, "interval");
    vdbench_label(event, label);
    print_row(v->file[FILE_SUMMARY], wall, label, figures);
    print_row(v->file[FILE_LOG], wall, label, figures);
    print_flat(v, wall, label, figures);
}

/* The end of a run: its average, the last row of each file. */
static void on_phase_end(struct vdbench *v, const json_t *event)
{
    const char *wall = read_text(event, "wall");
    FILE *totals = v->file[FILE_TOTALS];
    char label[VDBENCH_LABEL_SIZE];
    const json_t *total = vdbench_average(event, label);

    if (v->phase == NULL || v->rows == 0 || total == NULL)
        return;
    print_anchor(totals, v->runs, v->phase);
    vdbench_print_header(totals, wall, "", "");
    print_row(totals, wall, label, total);
    print_row(v->file[FILE_SUMMARY], wall, label, total);
    print_row(v->file[FILE_LOG], wall, label, total);
    print_flat(v, wall, label, total);
    json_decref(v->phase);
    v->phase = NULL;
}

/* Of the event "end", or of EXPORT's head. */
static void keep_verdict(struct vdbench *v, const json_t *document)
{
    json_decref(v->verdict);
    json_decref(v->error);
    v->verdict = json_incref(json_object_get(document, "verdict"));
    v->error = json_incref(json_object_get(document, "error"));
}

void vdbench_event(struct vdbench *folder, const json_t *event)
{
    if (read_is(event, "event", "phase"))
        on_phase(folder, event);
    else if (read_is(event, "event", "interval"))
        on_interval(folder, event);
    else if (read_is(event, "event", "phase_end"))
        on_phase_end(folder, event);
    else if (read_is(event, "event", "end"))
        keep_verdict(folder, event);
}

void vdbench_parmfile(struct vdbench *folder, const json_t *head)
{
    rewind(folder->file[FILE_PARM]);
    vdbench_print_parm(folder->file[FILE_PARM], head);
    (void)fflush(folder->file[FILE_PARM]);
}

void vdbench_histogram(struct vdbench *folder, const json_t *phase)
{
    FILE *out = folder->file[FILE_HISTOGRAM];

    if (!read_is(phase, "kind", "measure") ||
        vdbench_histogram_count(phase) == 0)
        return;
    fprintf(out, "\n<a name=\"_%u\"></a><i><b>", ++folder->histograms);
    vdbench_print_start(out, phase, read_text(phase, "started"));
    fputs("</b></i>\n", out);
    vdbench_print_histogram(out, phase);
    (void)fflush(out);
}

/* ---- From the store --------------------------------------------------------
 */

static int take_head(void *self, const json_t *head, struct diag *diag)
{
    struct vdbench *v = self;

    (void)diag;
    keep_verdict(v, head);
    vdbench_parmfile(v, head);
    return 0;
}

/* A phase's document as the event that began it. */
static int take_phase(void *self, const json_t *phase, struct diag *diag)
{
    json_t *event = json_copy((json_t *)(uintptr_t)phase);

    if (event == NULL)
        return diag_set(diag, -ENOMEM, "no memory");
    (void)json_object_set(event, "wall", json_object_get(phase, "started"));
    (void)json_object_del(event, "intervals");
    (void)json_object_del(event, "host_intervals");
    (void)json_object_del(event, "workload_intervals");
    (void)json_object_del(event, "drives");
    on_phase(self, event);
    vdbench_histogram(self, phase);
    json_decref(event);
    return 0;
}

static int take_rows(void *self, const json_t *phase, const json_t *page,
                     struct diag *diag)
{
    const json_t *rows = json_object_get(page, "intervals");

    (void)phase;
    (void)diag;
    for (size_t i = 0; i < json_array_size(rows); i++)
        on_interval(self, json_array_get(rows, i));
    return 0;
}

static int take_phase_end(void *self, const json_t *phase, struct diag *diag)
{
    json_int_t warmup = read_count(phase, "warmup_intervals");
    json_int_t measured = read_count(phase, "measured_intervals");
    json_t *event =
        json_pack("{s:s, s:I, s:I, s:O?, s:O?, s:O?}", "event", "phase_end",
                  "first_interval", warmup + 1, "last_interval",
                  measured == 0 ? 0 : warmup + measured, "wall",
                  json_object_get(phase, "window_end"), "total",
                  json_object_get(phase, "total"), "without_first",
                  json_object_get(phase, "without_first"));

    if (event == NULL)
        return diag_set(diag, -ENOMEM, "no memory");
    on_phase_end(self, event);
    json_decref(event);
    return 0;
}

struct sink vdbench_sink(struct vdbench *folder)
{
    return (struct sink){
        .self = folder,
        .head = take_head,
        .phase = take_phase,
        .rows = take_rows,
        .phase_end = take_phase_end,
        .want_rows = true,
    };
}
