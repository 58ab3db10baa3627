/* compare_rank.c - drives of all sides in one run, the best first. */
#include "controller/report/compare_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "controller/report/read.h"

#define RANKED_MAX 4096u

struct ranked {
    const char *side;
    const char *name;
    const char *model;
    size_t runs;
    double iops;
    double mean_us;
    double p99_us;
};

struct ranking {
    struct ranked *drive;
    size_t count;
};

/* The means over repeats, of the drive at that place of the list. */
static struct ranked rank_of(const struct compare_side *side,
                             const json_t *repeats, size_t at)
{
    const json_t *first = json_array_get(
        json_object_get(json_array_get(repeats, 0), "drives"), at);
    const char *name = read_text(first, "name");
    struct ranked r = {
        .side = side->name,
        .name = name,
        .model = json_string_value(json_object_get(side->models, name)),
    };

    for (size_t i = 0; i < json_array_size(repeats); i++) {
        const json_t *drive = json_array_get(
            json_object_get(json_array_get(repeats, i), "drives"), at);

        if (!read_is(drive, "name", name))
            continue;
        r.runs++;
        r.iops += read_number(drive, "iops");
        r.mean_us += read_number(drive, "service_us.mean");
        r.p99_us += read_number(drive, "service_us.p99");
    }
    r.iops /= (double)r.runs;
    r.mean_us /= (double)r.runs;
    r.p99_us /= (double)r.runs;
    return r;
}

static void add_side(struct ranking *ranking, const struct compare_side *side,
                     const char *key)
{
    const json_t *repeats = json_object_get(side->runs, key);
    size_t drives =
        json_array_size(json_object_get(json_array_get(repeats, 0), "drives"));

    for (size_t i = 0; i < drives && ranking->count < RANKED_MAX; i++)
        ranking->drive[ranking->count++] = rank_of(side, repeats, i);
}

/* NAN is the last in either order. */
static double or_last(double value)
{
    return isfinite(value) ? value : INFINITY;
}

static int by_iops(const void *a, const void *b)
{
    double x = or_last(-((const struct ranked *)a)->iops);
    double y = or_last(-((const struct ranked *)b)->iops);

    return (x > y) - (x < y);
}

static int by_mean(const void *a, const void *b)
{
    double x = or_last(((const struct ranked *)a)->mean_us);
    double y = or_last(((const struct ranked *)b)->mean_us);

    return (x > y) - (x < y);
}

static json_t *document_of(const struct ranking *ranking)
{
    json_t *array = json_array();

    for (size_t i = 0; i < ranking->count; i++) {
        const struct ranked *r = &ranking->drive[i];

        (void)json_array_append_new(
            array,
            json_pack("{s:I, s:s, s:s, s:s?, s:I, s:o, s:o, s:o}", "rank",
                      (json_int_t)i + 1, "side", r->side, "name", r->name,
                      "model", r->model, "runs", (json_int_t)r->runs, "iops",
                      json_fixed(r->iops, 3), "mean_us",
                      json_fixed(r->mean_us, 3), "p99_us",
                      json_fixed(r->p99_us, 3)));
    }
    return array;
}

json_t *compare_ranking(const struct compare *compare, const char *key)
{
    struct ranking ranking = {.drive =
                                  calloc(RANKED_MAX, sizeof(*ranking.drive))};
    const json_t *first =
        json_array_get(json_object_get(compare->side[0].runs, key), 0);
    bool closed = read_is(first, "iorate_text", "max") ||
                  read_is(first, "iorate_text", "curve");
    json_t *array;

    if (ranking.drive == NULL)
        return json_array();
    for (size_t s = 0; s < compare->side_count; s++)
        add_side(&ranking, &compare->side[s], key);
    qsort(ranking.drive, ranking.count, sizeof(*ranking.drive),
          closed ? by_iops : by_mean);
    array = document_of(&ranking);
    free(ranking.drive);
    return array;
}
