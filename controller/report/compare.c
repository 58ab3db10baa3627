/* compare.c - see compare.h. */
#include "controller/report/compare_inside.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "controller/report/read.h"
#include "controller/report/statistics.h"

#define REPEATS_MAX 256u
#define KEY_SIZE    512u
#define ALPHA       0.05

static const char method[] =
    "Runs are matched by name and values. The unit is the run: each side's "
    "figure is the mean of its repeats. With three repeats a side or more, "
    "Welch's t-test, two-sided, of the logarithms says whether they differ "
    "(p < 0.05, not adjusted for the number of comparisons); with fewer the "
    "difference is printed and not tested.";

static const char ranking_rule[] =
    "Drives of all sides, means of repeats: by IOPS, the highest first, where "
    "the run was at its maximum; else by mean service time, the lowest first.";

/* What is compared of a run. */
static const struct {
    const char *name;
    const char *path;
} compared[] = {
    {"iops", "total.iops"},
    {"mib_s", "total.mib_s"},
    {"mean", "total.service_us.mean"},
    {"p50", "total.service_us.p50"},
    {"p99", "total.service_us.p99"},
    {"p99.9", "total.service_us.p999"},
    {"max", "total.service_us.max"},
    {"response.mean", "total.response_us.mean"},
    {"response.p99", "total.response_us.p99"},
    {"errors", "total.errors"},
};

/* ---- Collecting ------------------------------------------------------------
 */

struct compare *compare_new(void)
{
    struct compare *c = calloc(1, sizeof(*c));

    if (c == NULL)
        return NULL;
    c->left_out = json_array();
    return c->left_out == NULL ? compare_free(c) : c;
}

struct compare *compare_free(struct compare *c)
{
    if (c == NULL)
        return NULL;
    for (size_t i = 0; i < c->side_count; i++) {
        free(c->side[i].name);
        json_decref(c->side[i].campaigns);
        json_decref(c->side[i].runs);
        json_decref(c->side[i].models);
    }
    json_decref(c->left_out);
    json_decref(c->head_);
    free(c);
    return NULL;
}

int compare_begin_side(struct compare *c, const char *name, struct diag *diag)
{
    struct compare_side *side = &c->side[c->side_count];

    if (c->side_count == COMPARE_SIDES_MAX)
        return diag_set(diag, -E2BIG, "more than %u sides, at '%s'",
                        COMPARE_SIDES_MAX, name);
    c->side_count++;
    side->name = strdup(name);
    side->campaigns = json_array();
    side->runs = json_object();
    side->models = json_object();
    if (side->name == NULL || side->campaigns == NULL || side->runs == NULL ||
        side->models == NULL)
        return diag_set(diag, -ENOMEM, "no memory");
    return 0;
}

static struct compare_side *this_side(struct compare *c)
{
    return &c->side[c->side_count - 1];
}

static void keep_models(struct compare_side *side, const json_t *drives)
{
    for (size_t i = 0; i < json_array_size(drives); i++) {
        const json_t *drive = json_array_get(drives, i);
        char name[512];

        (void)snprintf(name, sizeof(name), "%s:%s", read_text(drive, "host"),
                       read_text(drive, "sd"));
        (void)json_object_set_new(side->models, name,
                                  json_string(read_text(drive, "model")));
    }
}

static int take_head(void *self, const json_t *head, struct diag *diag)
{
    struct compare *c = self;
    struct compare_side *side = this_side(c);
    json_t *campaign = json_pack(
        "{s:O, s:O, s:O?, s:O?}", "number", json_object_get(head, "number"),
        "name", json_object_get(head, "name"), "verdict",
        json_object_get(head, "verdict"), "id", json_object_get(head, "id"));

    json_decref(c->head_);
    c->head_ = json_deep_copy(campaign);
    keep_models(side, json_object_get(head, "drives"));
    if (c->head_ == NULL ||
        json_array_append_new(side->campaigns, campaign) < 0)
        return diag_set(diag, -ENOMEM, "no memory");
    return 0;
}

static void key_of(const json_t *phase, char key[KEY_SIZE])
{
    static const char *const values[] = {"iorate_text", "xfersize", "threads",
                                         "rdpct", "seekpct"};
    size_t used =
        (size_t)snprintf(key, KEY_SIZE, "%s|%s", read_text(phase, "run"),
                         read_text(phase, "for"));

    for (size_t i = 0; i < ARRAY_LENGTH(values) && used < KEY_SIZE; i++)
        used += (size_t)snprintf(key + used, KEY_SIZE - used, "|%s",
                                 read_text(phase, values[i]));
}

static bool counts(const json_t *phase)
{
    return read_is(phase, "verdict", "complete") ||
           read_is(phase, "verdict", "degraded");
}

static void leave_out(struct compare *c, const json_t *phase)
{
    (void)json_array_append_new(
        c->left_out,
        json_pack("{s:s, s:O?, s:O?, s:O?, s:O?}", "side", this_side(c)->name,
                  "campaign", json_object_get(c->head_, "number"), "run",
                  json_object_get(phase, "run"), "verdict",
                  json_object_get(phase, "verdict"), "error",
                  json_object_get(phase, "error")));
}

static int take_phase(void *self, const json_t *phase, struct diag *diag)
{
    static const char *const heavy[] = {"intervals",          "host_intervals",
                                        "workload_intervals", "distribution",
                                        "histogram",          "workloads"};
    struct compare *c = self;
    char key[KEY_SIZE];
    json_t *run, *runs;

    if (!read_is(phase, "kind", "measure"))
        return 0;
    if (!counts(phase) || !json_is_object(json_object_get(phase, "total"))) {
        leave_out(c, phase);
        return 0;
    }
    key_of(phase, key);
    runs = json_object_get(this_side(c)->runs, key);
    if (runs == NULL) {
        runs = json_array();
        (void)json_object_set_new(this_side(c)->runs, key, runs);
    }
    run = json_copy((json_t *)(uintptr_t)phase);
    for (size_t i = 0; run != NULL && i < ARRAY_LENGTH(heavy); i++)
        (void)json_object_del(run, heavy[i]);
    if (run == NULL || json_array_append_new(runs, run) < 0)
        return diag_set(diag, -ENOMEM, "no memory");
    return 0;
}

struct sink compare_sink(struct compare *compare)
{
    return (struct sink){
        .self = compare, .head = take_head, .phase = take_phase};
}

/* ---- One figure ------------------------------------------------------------
 */

static size_t values_of(const json_t *repeats, const char *path,
                        double values[REPEATS_MAX])
{
    size_t count = 0;

    for (size_t i = 0; i < json_array_size(repeats) && count < REPEATS_MAX; i++)
        values[count++] = read_number(json_array_get(repeats, i), path);
    return count;
}

double compare_mean(const json_t *repeats, const char *path)
{
    double values[REPEATS_MAX];
    size_t count = values_of(repeats, path, values);

    return sample_summary_of(values, count).mean;
}

static json_t *summary(const double *values, size_t count)
{
    struct sample_summary s = sample_summary_of(values, count);

    return json_pack("{s:I, s:o, s:o, s:o, s:o}", "runs", (json_int_t)s.count,
                     "mean", json_fixed(s.mean, 3), "stddev",
                     json_fixed(s.stddev, 3), "min", json_fixed(s.min, 3),
                     "max", json_fixed(s.max, 3));
}

static const char *verdict_of(double p, double base, double other)
{
    if (!isfinite(p))
        return base == other ? "equal" : "not tested";
    if (p >= ALPHA)
        return "no difference shown";
    return other > base ? "higher" : "lower";
}

static json_t *change_of(const char *name, const char *path,
                         const json_t *base_runs, const json_t *other_runs)
{
    double base[REPEATS_MAX], other[REPEATS_MAX];
    size_t base_count = values_of(base_runs, path, base);
    size_t other_count = values_of(other_runs, path, other);
    double from = sample_summary_of(base, base_count).mean;
    double to = sample_summary_of(other, other_count).mean;
    double p = statistics_p_value(base, base_count, other, other_count);

    if (!isfinite(from) && !isfinite(to))
        return NULL;
    return json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:s}", "figure", name, "base",
        summary(base, base_count), "other", summary(other, other_count),
        "change_pct", json_fixed(from == 0 ? NAN : (to / from - 1) * 100, 2),
        "p_value", json_fixed(p, 6), "verdict", verdict_of(p, from, to));
}

/* ---- Matches ---------------------------------------------------------------
 */

static json_t *describe(const json_t *run)
{
    static const char *const keys[] = {
        "run", "for", "iorate_text", "xfersize", "threads", "rdpct", "seekpct"};
    json_t *o = json_object();

    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++)
        (void)json_object_set(o, keys[i], json_object_get(run, keys[i]));
    return o;
}

static bool has_degraded(const json_t *repeats)
{
    for (size_t i = 0; i < json_array_size(repeats); i++)
        if (read_is(json_array_get(repeats, i), "verdict", "degraded"))
            return true;
    return false;
}

static json_t *match_of(const struct compare *c, size_t side,
                        const json_t *base, const json_t *other)
{
    json_t *match = describe(json_array_get(base, 0));
    json_t *changes = json_array();

    (void)json_object_set_new(match, "base", json_string(c->side[0].name));
    (void)json_object_set_new(match, "other", json_string(c->side[side].name));
    (void)json_object_set_new(match, "base_iorate",
                              json_fixed(compare_mean(base, "iorate"), 3));
    (void)json_object_set_new(match, "other_iorate",
                              json_fixed(compare_mean(other, "iorate"), 3));
    (void)json_object_set_new(
        match, "degraded",
        json_boolean(has_degraded(base) || has_degraded(other)));
    for (size_t i = 0; i < ARRAY_LENGTH(compared); i++) {
        json_t *change =
            change_of(compared[i].name, compared[i].path, base, other);

        if (change != NULL)
            (void)json_array_append_new(changes, change);
    }
    (void)json_object_set_new(match, "changes", changes);
    return match;
}

static void put_unmatched(json_t *array, const char *side, const json_t *runs)
{
    json_t *o = describe(json_array_get(runs, 0));

    (void)json_object_set_new(o, "side", json_string(side));
    (void)json_array_append_new(array, o);
}

/* Of each other side, what it has in common with the first, and what not. */
static void put_matches(const struct compare *c, json_t *document)
{
    json_t *matches = json_array();
    json_t *unmatched = json_array();
    const char *key;
    json_t *runs;

    for (size_t s = 1; s < c->side_count; s++) {
        json_object_foreach(c->side[0].runs, key, runs)
        {
            const json_t *other = json_object_get(c->side[s].runs, key);

            if (other != NULL)
                (void)json_array_append_new(matches,
                                            match_of(c, s, runs, other));
            else
                put_unmatched(unmatched, c->side[0].name, runs);
        }
        json_object_foreach(c->side[s].runs, key, runs)
        {
            if (json_object_get(c->side[0].runs, key) == NULL)
                put_unmatched(unmatched, c->side[s].name, runs);
        }
    }
    (void)json_object_set_new(document, "matches", matches);
    (void)json_object_set_new(document, "unmatched", unmatched);
}

static void put_rankings(const struct compare *c, json_t *document)
{
    json_t *rankings = json_array();
    const char *key;
    json_t *runs;

    json_object_foreach(c->side[0].runs, key, runs)
    {
        json_t *ranking = describe(json_array_get(runs, 0));

        (void)json_object_set_new(ranking, "drives", compare_ranking(c, key));
        (void)json_array_append_new(rankings, ranking);
    }
    (void)json_object_set_new(document, "ranking_rule",
                              json_string(ranking_rule));
    (void)json_object_set_new(document, "rankings", rankings);
}

/* ---- Bounds ----------------------------------------------------------------
 */

/* NAN where one repeat lacks the figure: the rest would not stand for all. */
static double mean_of_all(const json_t *repeats, const char *path)
{
    double values[REPEATS_MAX];
    size_t count = values_of(repeats, path, values);
    struct sample_summary s = sample_summary_of(values, count);

    return s.count == count ? s.mean : NAN;
}

/* A closed loop has no response: a bound on it says nothing about that run. */
static bool applies(const struct bound *bound, const json_t *repeats)
{
    return strstr(bound->path, "response_us") == NULL ||
           json_is_number(
               json_object_get(json_array_get(repeats, 0), "iorate"));
}

static json_t *look_at(const struct compare *c, const struct bound *bound,
                       size_t side, const json_t *base, const json_t *other,
                       enum compare_outcome *ret_outcome)
{
    char path[NAME_SIZE + 8];
    double from, to, figure;
    json_t *o = describe(json_array_get(base, 0));

    (void)snprintf(path, sizeof(path), "total.%s", bound->path);
    from = mean_of_all(base, path);
    to = mean_of_all(other, path);
    figure = bound_figure(bound, from, to);
    *ret_outcome = !isfinite(figure)                ? COMPARE_UNKNOWN
                   : bound_is_broken(bound, figure) ? COMPARE_BROKEN
                                                    : COMPARE_KEPT;
    (void)json_object_set_new(o, "other", json_string(c->side[side].name));
    (void)json_object_set_new(o, "base_value", json_fixed(from, 3));
    (void)json_object_set_new(o, "other_value", json_fixed(to, 3));
    (void)json_object_set_new(o, bound->change ? "change_pct" : "value",
                              json_fixed(figure, 3));
    return o;
}

static enum compare_outcome worse(enum compare_outcome a,
                                  enum compare_outcome b)
{
    if (a == COMPARE_BROKEN || b == COMPARE_BROKEN)
        return COMPARE_BROKEN;
    return a == COMPARE_UNKNOWN || b == COMPARE_UNKNOWN ? COMPARE_UNKNOWN
                                                        : COMPARE_KEPT;
}

static enum compare_outcome put_bound(const struct compare *c,
                                      const struct bound *bound, json_t *array)
{
    json_t *broken = json_array(), *unknown = json_array();
    enum compare_outcome all = COMPARE_KEPT;
    size_t looked = 0;
    const char *key;
    json_t *runs;

    for (size_t s = 1; s < c->side_count; s++)
        json_object_foreach(c->side[0].runs, key, runs)
        {
            const json_t *other = json_object_get(c->side[s].runs, key);
            enum compare_outcome outcome;
            json_t *o;

            if (other == NULL || !applies(bound, runs))
                continue;
            o = look_at(c, bound, s, runs, other, &outcome);
            looked++;
            all = worse(all, outcome);
            if (outcome == COMPARE_KEPT)
                json_decref(o);
            else
                (void)json_array_append_new(
                    outcome == COMPARE_BROKEN ? broken : unknown, o);
        }
    if (looked == 0)
        all = COMPARE_UNKNOWN;
    (void)json_array_append_new(
        array,
        json_pack("{s:s, s:s, s:I, s:o, s:o}", "bound", bound->text, "outcome",
                  all == COMPARE_BROKEN    ? "broken"
                  : all == COMPARE_UNKNOWN ? "unknown"
                                           : "kept",
                  "matches", (json_int_t)looked, "broken", broken, "unknown",
                  unknown));
    return all;
}

/* ---- The document ----------------------------------------------------------
 */

static json_t *sides_of(const struct compare *c)
{
    json_t *array = json_array();

    for (size_t s = 0; s < c->side_count; s++)
        (void)json_array_append_new(
            array, json_pack("{s:s, s:O}", "name", c->side[s].name, "campaigns",
                             c->side[s].campaigns));
    return array;
}

json_t *compare_document(const struct compare *c, const struct bound *bounds,
                         size_t bound_count, enum compare_outcome *ret_outcome)
{
    json_t *document = json_object();
    json_t *array = json_array();

    *ret_outcome = COMPARE_KEPT;
    if (document == NULL || array == NULL) {
        json_decref(document);
        json_decref(array);
        return NULL;
    }
    (void)json_object_set_new(document, "method", json_string(method));
    (void)json_object_set_new(document, "sides", sides_of(c));
    put_matches(c, document);
    (void)json_object_set(document, "left_out", c->left_out);
    put_rankings(c, document);
    for (size_t i = 0; i < bound_count; i++)
        *ret_outcome = worse(*ret_outcome, put_bound(c, &bounds[i], array));
    (void)json_object_set_new(document, "bounds", array);
    return document;
}
