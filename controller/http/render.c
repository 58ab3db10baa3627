#include "controller/http/render.h"

#include "controller/report/compare.h"
#include "controller/report/csv.h"
#include "controller/report/page.h"
#include "controller/report/whole.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where the next piece belongs. */
enum render_state {
    RENDER_HEAD,
    RENDER_PHASE,
    RENDER_PAGE, /* more rows of the phase */
    RENDER_OVER,
};

struct output {
    char *data;
    size_t length;
    size_t capacity;
};

struct render {
    enum render_kind kind;
    enum render_state state;
    char *sides[RENDER_SIDES_MAX];
    size_t side_count;
    size_t side; /* at hand */
    size_t at;   /* where in its text the campaign begins */
    char campaign[NAME_SIZE];
    size_t phases; /* of the campaign */
    uint32_t phase;
    uint64_t interval;
    json_t *phase_json; /* while its pages come */
    struct bound bounds[RENDER_BOUNDS_MAX];
    char *bound_texts[RENDER_BOUNDS_MAX];
    size_t bound_count;
    struct sink sink;
    struct page *page;
    struct csv csv;
    struct whole whole;
    struct compare *compare;
    FILE *out;
    struct output output;
};

/* ---- Where it is printed ---------------------------------------------------
 */

static ssize_t on_write(void *cookie, const char *data, size_t size)
{
    struct output *o = cookie;

    if (o->length + size > o->capacity) {
        size_t capacity = 2 * (o->length + size);
        char *more = realloc(o->data, capacity);

        if (more == NULL)
            return 0;
        o->data = more;
        o->capacity = capacity;
    }
    memcpy(o->data + o->length, data, size);
    o->length += size;
    return (ssize_t)size;
}

const char *render_output(const struct render *render, size_t *ret_length)
{
    *ret_length = render->output.length;
    return render->output.data;
}

void render_taken(struct render *render)
{
    render->output.length = 0;
}

/* ---- Making and freeing ----------------------------------------------------
 */

static bool open_sink(struct render *r)
{
    switch (r->kind) {
    case RENDER_REPORT:
        r->page = page_new();
        if (r->page == NULL)
            return false;
        r->sink = page_sink(r->page);
        return true;
    case RENDER_CSV:
        r->sink = csv_sink(&r->csv, r->out, CSV_ALL);
        return true;
    case RENDER_JSON:
        r->sink = whole_sink(&r->whole, r->out, true);
        return true;
    case RENDER_COMPARE:
        r->compare = compare_new();
        if (r->compare == NULL)
            return false;
        r->sink = compare_sink(r->compare);
        return true;
    }
    return false;
}

struct render *render_new(enum render_kind kind)
{
    static const cookie_io_functions_t functions = {.write = on_write};
    struct render *r = calloc(1, sizeof(*r));

    if (r == NULL)
        return NULL;
    r->kind = kind;
    r->out = fopencookie(&r->output, "w", functions);
    if (r->out == NULL || !open_sink(r))
        return render_free(r);
    return r;
}

struct render *render_free(struct render *r)
{
    if (r == NULL)
        return NULL;
    if (r->kind == RENDER_CSV)
        csv_done(&r->csv);
    (void)page_free(r->page);
    (void)compare_free(r->compare);
    json_decref(r->whole.phase_);
    json_decref(r->phase_json);
    if (r->out != NULL)
        (void)fclose(r->out);
    free(r->output.data);
    for (size_t i = 0; i < r->side_count; i++)
        free(r->sides[i]);
    for (size_t i = 0; i < r->bound_count; i++)
        free(r->bound_texts[i]);
    free(r);
    return NULL;
}

/* ---- Which campaigns -------------------------------------------------------
 */

static int no_memory(struct diag *diag)
{
    return diag_set(diag, -ENOMEM, "the controller is out of memory");
}

/* The campaign at hand out of its side's text. */
static void pick(struct render *r)
{
    const char *text = r->sides[r->side] + r->at;
    size_t length = strcspn(text, ",");

    memcpy(r->campaign, text, length);
    r->campaign[length] = '\0';
    r->state = RENDER_HEAD;
    r->phase = 0;
    r->interval = 0;
}

static int check_side(const char *side, struct diag *diag)
{
    for (const char *at = side;; at++) {
        size_t length = strcspn(at, ",");

        if (length == 0 || length >= NAME_SIZE)
            return diag_set(diag, -EINVAL,
                            "side=%s: campaigns, divided by commas", side);
        at += length;
        if (*at == '\0')
            return 0;
    }
}

int render_add(struct render *r, const char *side, struct diag *diag)
{
    int err = side[0] == '\0' && r->kind != RENDER_COMPARE
                  ? 0 /* the newest */
                  : check_side(side, diag);

    if (err < 0)
        return err;
    if (r->side_count == RENDER_SIDES_MAX)
        return diag_set(diag, -EINVAL, "%u sides at most", RENDER_SIDES_MAX);
    r->sides[r->side_count] = strdup(side);
    if (r->sides[r->side_count] == NULL)
        return no_memory(diag);
    r->side_count++;
    if (r->side_count > 1)
        return 0;
    pick(r);
    return r->kind == RENDER_COMPARE
               ? compare_begin_side(r->compare, side, diag)
               : 0;
}

int render_add_bound(struct render *r, const char *bound, struct diag *diag)
{
    size_t i = r->bound_count;

    if (i == RENDER_BOUNDS_MAX)
        return diag_set(diag, -EINVAL, "%u bounds at most", RENDER_BOUNDS_MAX);
    r->bound_texts[i] = strdup(bound);
    if (r->bound_texts[i] == NULL)
        return no_memory(diag);
    r->bound_count++;
    return bound_parse(r->bound_texts[i], &r->bounds[i], diag);
}

bool render_wants(const struct render *r, struct render_piece *ret_piece)
{
    if (r->state == RENDER_OVER)
        return false;
    *ret_piece = (struct render_piece){
        .campaign = r->campaign,
        .phase = r->phase,
        .interval = r->interval,
        .brief = r->kind == RENDER_REPORT || r->kind == RENDER_COMPARE,
    };
    return true;
}

/* ---- Pieces ----------------------------------------------------------------
 */

static int print_comparison(struct render *r, struct diag *diag)
{
    static const char *const outcomes[] = {
        [COMPARE_KEPT] = "kept",
        [COMPARE_BROKEN] = "broken",
        [COMPARE_UNKNOWN] = "unknown",
    };
    enum compare_outcome outcome = COMPARE_KEPT;
    json_t *document =
        compare_document(r->compare, r->bounds, r->bound_count, &outcome);
    int err = document == NULL ? no_memory(diag) : 0;

    if (err == 0 && (json_object_set_new(document, "outcome",
                                         json_string(outcomes[outcome])) != 0 ||
                     json_dumpf(document, r->out, WHOLE_JSON) != 0))
        err = no_memory(diag);
    json_decref(document);
    return err;
}

static int finish(struct render *r, struct diag *diag)
{
    int err = 0;

    r->state = RENDER_OVER;
    switch (r->kind) {
    case RENDER_REPORT:
        err = page_write(r->page, r->out, diag);
        break;
    case RENDER_JSON:
        whole_end(&r->whole, NULL);
        break;
    case RENDER_COMPARE:
        err = print_comparison(r, diag);
        break;
    case RENDER_CSV:
        break;
    }
    return err;
}

/* The campaign is whole: the side's next one, the next side, or the end. */
static int next_campaign(struct render *r, struct diag *diag)
{
    const char *side = r->sides[r->side];
    int err = 0;

    r->at += strlen(r->campaign);
    if (side[r->at] == ',') {
        r->at++;
        pick(r);
        return 0;
    }
    if (r->side + 1 == r->side_count)
        return finish(r, diag);
    r->side++;
    r->at = 0;
    pick(r);
    if (r->kind == RENDER_COMPARE)
        err = compare_begin_side(r->compare, r->sides[r->side], diag);
    return err;
}

static int next_phase(struct render *r, struct diag *diag)
{
    json_decref(r->phase_json);
    r->phase_json = NULL;
    r->interval = 0;
    r->state = RENDER_PHASE;
    if (r->phase >= r->phases)
        return next_campaign(r, diag);
    r->phase++;
    return 0;
}

static uint64_t next_of(const json_t *page)
{
    json_int_t next =
        json_integer_value(json_object_get(page, "next_interval"));

    return next > 0 ? (uint64_t)next : 0;
}

static int take_rows(struct render *r, const json_t *page, struct diag *diag)
{
    uint64_t next = next_of(page);
    int err = 0;

    if (r->sink.rows != NULL && r->sink.want_rows) {
        err = r->sink.rows(r->sink.self, r->phase_json, page, diag);
        if (err == 0 && next > r->interval) {
            r->interval = next;
            r->state = RENDER_PAGE;
            return 0;
        }
    }
    if (err == 0 && r->sink.phase_end != NULL)
        err = r->sink.phase_end(r->sink.self, r->phase_json, diag);
    return err == 0 ? next_phase(r, diag) : err;
}

static int take(struct render *r, json_t *json, struct diag *diag)
{
    int err = 0;

    switch (r->state) {
    case RENDER_HEAD:
        r->phases = json_array_size(json_object_get(json, "phases"));
        if (r->sink.head != NULL)
            err = r->sink.head(r->sink.self, json, diag);
        return err == 0 ? next_phase(r, diag) : err;
    case RENDER_PHASE:
        r->phase_json = json_incref(json);
        if (r->sink.phase != NULL)
            err = r->sink.phase(r->sink.self, json, diag);
        return err == 0 ? take_rows(r, json, diag) : err;
    case RENDER_PAGE:
        return take_rows(r, json, diag);
    case RENDER_OVER:
        break;
    }
    return 0;
}

int render_take(struct render *r, const char *text, size_t length,
                struct diag *diag)
{
    json_t *json = json_loadb(text, length, 0, NULL);
    int err = json == NULL ? no_memory(diag) : take(r, json, diag);

    json_decref(json);
    if (fflush(r->out) != 0 && err == 0)
        err = no_memory(diag);
    if (err < 0)
        r->state = RENDER_OVER;
    return err;
}

void render_break(struct render *r, const char *error)
{
    r->state = RENDER_OVER;
    if (r->kind == RENDER_JSON)
        whole_end(&r->whole, error);
    else if (r->kind == RENDER_CSV)
        fprintf(r->out, "# incomplete: %s\r\n", error);
    (void)fflush(r->out);
}
