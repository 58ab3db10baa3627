/*
 * check.c - definitions against each other: names that are defined, defined
 * once and known; times that fit together; what is missing.
 */
#include "controller/language/internal.h"

#include "common/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INTERVAL_MIN_NS (100 * NS_PER_MS)
#define SUGGESTIONS_MAX 50u

bool definitions_match(const char *pattern, const char *name)
{
    size_t length = strlen(pattern);

    if (length > 0 && pattern[length - 1] == '*')
        return strncmp(pattern, name, length - 1) == 0;
    return strcmp(pattern, name) == 0;
}

bool definitions_match_sd(const char *pattern, const struct definition_sd *sd)
{
    return definitions_match(pattern, sd->name) ||
           (sd->family != NULL && definitions_match(pattern, sd->family));
}

/* ---- names ---- */

/* Everything of one kind that has a name. */
struct named {
    const char *kind; /* "sd" */
    const char **names;
    const struct language_place **places;
    uint32_t *order; /* indices, sorted by name, then as defined */
    uint32_t count;
    bool *families; /* sd= with drive=: its members are called name_1 ... */
};

static int by_name(const void *a, const void *b, void *names)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const char *const *texts = names;
    int order = strcmp(texts[x], texts[y]);

    return order != 0 ? order : (x > y) - (x < y);
}

static void named_sort(struct named *named)
{
    for (uint32_t i = 0; i < named->count; i++)
        named->order[i] = i;
    qsort_r(named->order, named->count, sizeof(*named->order), by_name,
            named->names);
}

static void say_twice(struct reading *reading, const char *kind,
                      const char *name, const struct language_place *first,
                      const struct language_place *second)
{
    bool elsewhere = first->file != NULL && second->file != NULL &&
                     strcmp(first->file, second->file) != 0;

    language_report_add(reading->report, LANGUAGE_ERROR, second, NULL,
                        "%s=%s is defined twice, first in line %u%s%s", kind,
                        name, first->line, elsewhere ? " of " : "",
                        elsewhere ? first->file : "");
}

static void check_twice(struct reading *reading, const struct named *named)
{
    for (uint32_t i = 1; i < named->count; i++) {
        uint32_t first = named->order[i - 1], second = named->order[i];

        if (strcmp(named->names[first], named->names[second]) == 0)
            say_twice(reading, named->kind, named->names[second],
                      named->places[first], named->places[second]);
    }
}

/* Whether a name is `pattern`, or begins as it does before its '*'. */
static bool any_match(const struct named *named, const char *pattern)
{
    size_t length = strlen(pattern);
    bool wild = length > 0 && pattern[length - 1] == '*';
    size_t compared = wild ? length - 1 : length + 1;
    uint32_t low = 0, high = named->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const char *name = named->names[named->order[middle]];
        int order = strncmp(name, pattern, compared);

        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* sd1_3 where sd1 has drive=: whether there is a third, the fleet tells. */
static bool is_member(const struct named *named, const char *name)
{
    const char *line = strrchr(name, '_');
    size_t length = line != NULL ? (size_t)(line - name) : 0;

    if (named->families == NULL || length == 0 || line[1] == '\0' ||
        strspn(line + 1, "0123456789") != strlen(line + 1))
        return false;
    for (uint32_t i = 0; i < named->count; i++)
        if (named->families[i] && strlen(named->names[i]) == length &&
            strncmp(named->names[i], name, length) == 0)
            return true;
    return false;
}

/* A name that is nothing of its kind. */
struct unknown {
    const struct named *named;
    const struct definition_name *name;
    const char *of; /* why there is no such thing */
    uint32_t met;   /* number, in the order they were met */
};

struct all_names {
    struct named hosts;
    struct named sds;
    struct named wds;
    struct named rds;
    struct unknown *unknown;
    uint32_t unknown_count;
    uint32_t unknown_capacity;
};

/* Each of `names` must be, or match, something of its kind. */
static void check_known(struct reading *reading, struct all_names *all,
                        const struct named *named,
                        const struct definition_names *names, const char *of)
{
    for (uint32_t i = 0; i < names->count; i++) {
        const struct definition_name *name = &names->items[i];

        if (any_match(named, name->text) || is_member(named, name->text))
            continue;
        if (reading_grow(reading, &all->unknown, all->unknown_count,
                         &all->unknown_capacity, sizeof(*all->unknown)) < 0) {
            reading->report->out_of_memory = true;
            return;
        }
        all->unknown[all->unknown_count] =
            (struct unknown){named, name, of, all->unknown_count};
        all->unknown_count++;
    }
}

static bool is_same_unknown(const struct unknown *a, const struct unknown *b)
{
    return a->named == b->named && strcmp(a->name->text, b->name->text) == 0;
}

static int by_unknown(const void *a, const void *b)
{
    const struct unknown *x = a, *y = b;
    int order = strcmp(x->named->kind, y->named->kind);

    if (order == 0)
        order = strcmp(x->name->text, y->name->text);
    return order != 0 ? order : (x->met > y->met) - (x->met < y->met);
}

/* One name that is missing is one error, however many places have it. */
static void report_unknown(struct reading *reading,
                           const struct unknown *unknown, uint32_t places)
{
    const struct definition_name *name = unknown->name;
    const struct named *named = unknown->named;
    const char *near = NULL;
    bool wild = strchr(name->text, '*') != NULL;
    char hint[128], more[64] = "";

    if (!wild && reading->report->errors < SUGGESTIONS_MAX)
        near = suggest(name->text, named->names, named->count);
    if (near != NULL)
        (void)snprintf(hint, sizeof(hint), "did you mean %s?", near);
    if (places > 1)
        (void)snprintf(more, sizeof(more), "; %u more place%s it", places - 1,
                       places == 2 ? " has" : "s have");
    language_report_add(reading->report, LANGUAGE_ERROR, &name->place,
                        near != NULL ? hint : NULL,
                        wild ? "no %s= matches '%s'%s%s"
                             : "%s=%s is not defined%s%s",
                        named->kind, name->text, unknown->of, more);
}

/* Where something could not be read, what seems missing may be in it. */
static void report_all_unknown(struct reading *reading, struct all_names *all)
{
    uint32_t places = 1;

    if (reading->incomplete || all->unknown_count == 0)
        return;
    qsort(all->unknown, all->unknown_count, sizeof(*all->unknown), by_unknown);
    for (uint32_t i = 0; i < all->unknown_count; i += places) {
        places = 1;
        while (i + places < all->unknown_count &&
               is_same_unknown(&all->unknown[i], &all->unknown[i + places]))
            places++;
        report_unknown(reading, &all->unknown[i], places);
    }
}

static bool named_init(struct reading *reading, struct named *named,
                       const char *kind, uint32_t count)
{
    named->kind = kind;
    named->count = count;
    named->names = ARENA_ARRAY(reading->arena, count, const char *);
    named->places =
        ARENA_ARRAY(reading->arena, count, const struct language_place *);
    named->order = ARENA_ARRAY(reading->arena, count, uint32_t);
    if (named->names != NULL && named->places != NULL && named->order != NULL)
        return true;
    reading->report->out_of_memory = true;
    return false;
}

static bool collect(struct reading *reading, struct all_names *all)
{
    const struct definitions *d = reading->definitions;

    if (!named_init(reading, &all->hosts, "hd", d->host_count) ||
        !named_init(reading, &all->sds, "sd", d->sd_count) ||
        !named_init(reading, &all->wds, "wd", d->wd_count) ||
        !named_init(reading, &all->rds, "rd", d->rd_count))
        return false;
    for (uint32_t i = 0; i < d->host_count; i++) {
        all->hosts.names[i] = d->hosts[i].label;
        all->hosts.places[i] = &d->hosts[i].place;
    }
    all->sds.families = ARENA_ARRAY(reading->arena, d->sd_count, bool);
    if (all->sds.families == NULL) {
        reading->report->out_of_memory = true;
        return false;
    }
    for (uint32_t i = 0; i < d->sd_count; i++) {
        all->sds.names[i] = d->sds[i].name;
        all->sds.places[i] = &d->sds[i].place;
        all->sds.families[i] = d->sds[i].select.given;
    }
    for (uint32_t i = 0; i < d->wd_count; i++) {
        all->wds.names[i] = d->wds[i].name;
        all->wds.places[i] = &d->wds[i].place;
    }
    for (uint32_t i = 0; i < d->rd_count; i++) {
        all->rds.names[i] = d->rds[i].name;
        all->rds.places[i] = &d->rds[i].place;
    }
    named_sort(&all->hosts);
    named_sort(&all->sds);
    named_sort(&all->wds);
    named_sort(&all->rds);
    return true;
}

/* Without hd=, the one host is called localhost. */
static void check_hosts(struct reading *reading, struct all_names *all,
                        const struct definition_names *names)
{
    static const char *local[] = {"localhost"};
    static uint32_t order[] = {0};
    static const struct named implicit = {
        .kind = "hd", .names = local, .order = order, .count = 1};

    check_known(
        reading, all, all->hosts.count > 0 ? &all->hosts : &implicit, names,
        all->hosts.count > 0 ? ""
                             : ": the file defines no hosts, so there is only "
                               "localhost");
}

static void check_references(struct reading *reading, struct all_names *all)
{
    const struct definitions *d = reading->definitions;

    for (uint32_t i = 0; i < d->sd_count; i++)
        for (uint32_t k = 0; k < d->sds[i].path_count; k++)
            check_hosts(reading, all, &d->sds[i].paths[k].hosts);
    for (uint32_t i = 0; i < d->wd_count; i++) {
        check_known(reading, all, &all->sds, &d->wds[i].sds, "");
        check_hosts(reading, all, &d->wds[i].hosts);
    }
    for (uint32_t i = 0; i < d->rd_count; i++) {
        check_known(reading, all, &all->wds, &d->rds[i].wds, "");
        if (d->rds[i].spread == SPREAD_NAMES)
            check_known(reading, all, &all->sds, &d->rds[i].sds, "");
    }
    report_all_unknown(reading, all);
}

/* ---- times ---- */

static void override_times(const struct language_input *input,
                           struct definition_rd *rd)
{
    if (input->elapsed_ns > 0)
        rd->elapsed_ns = input->elapsed_ns;
    if (input->interval_ns > 0)
        rd->interval_ns = input->interval_ns;
    if (input->warmup_given)
        rd->warmup_ns = input->warmup_ns;
}

/* interval=0: half of elapsed=, a minute at most. */
static void default_interval(struct definition_rd *rd)
{
    uint64_t half = rd->elapsed_ns / NS_PER_S / 2 * NS_PER_S;

    if (rd->interval_ns == 0)
        rd->interval_ns = half < 60 * NS_PER_S ? half : 60 * NS_PER_S;
}

/* The most telling place: the value itself where the file has it. */
static const struct language_place *
time_place(const struct language_place *place, const struct definition_rd *rd)
{
    return place->file != NULL ? place : &rd->place;
}

static void check_elapsed(struct reading *reading, struct definition_rd *rd)
{
    const struct language_place *place = time_place(&rd->elapsed_place, rd);
    uint64_t over = rd->elapsed_ns % rd->interval_ns;

    if (rd->elapsed_ns / rd->interval_ns < 2) {
        language_report_add(reading->report, LANGUAGE_ERROR, place, NULL,
                            "rd=%s: elapsed=%g is less than two intervals of "
                            "%g seconds",
                            rd->name, (double)rd->elapsed_ns / 1e9,
                            (double)rd->interval_ns / 1e9);
        return;
    }
    if (over == 0)
        return;
    rd->elapsed_ns += rd->interval_ns - over;
    language_report_add(reading->report, LANGUAGE_WARNING, place, NULL,
                        "rd=%s: elapsed= is rounded up to %g seconds, a "
                        "multiple of interval=%g",
                        rd->name, (double)rd->elapsed_ns / 1e9,
                        (double)rd->interval_ns / 1e9);
}

static void check_times(struct reading *reading, struct definition_rd *rd)
{
    override_times(reading->input, rd);
    default_interval(rd);
    if (rd->interval_ns < INTERVAL_MIN_NS) {
        language_report_add(reading->report, LANGUAGE_ERROR,
                            time_place(&rd->interval_place, rd), NULL,
                            "rd=%s: an interval is 100 ms or longer", rd->name);
        return;
    }
    check_elapsed(reading, rd);
    if (rd->warmup_ns % rd->interval_ns != 0)
        language_report_add(reading->report, LANGUAGE_ERROR,
                            time_place(&rd->warmup_place, rd), NULL,
                            "rd=%s: warmup=%g is not a multiple of "
                            "interval=%g",
                            rd->name, (double)rd->warmup_ns / 1e9,
                            (double)rd->interval_ns / 1e9);
}

static void check_run(struct reading *reading, struct definition_rd *rd)
{
    check_times(reading, rd);
    if (rd->rate_count == 0 && rd->rate_place.file == NULL)
        language_report_add(reading->report, LANGUAGE_ERROR, &rd->place, NULL,
                            "rd=%s has no iorate=", rd->name);
    if (rd->wds.count == 0 && rd->sds.count == 0)
        language_report_add(reading->report, LANGUAGE_ERROR, &rd->place, NULL,
                            "rd=%s has neither wd= nor sd=: there is nothing "
                            "to do",
                            rd->name);
    bool finds =
        rd->rate_count > 0 && rd->rates[0].kind == DEFINITION_RATE_FIND;

    if (finds && rd->find_quantile == 0)
        language_report_add(reading->report, LANGUAGE_ERROR, &rd->rate_place,
                            NULL,
                            "rd=%s: iorate=find needs what to keep, as in "
                            "find=(p99,2ms)",
                            rd->name);
}

/* ---- workloads ---- */

/* (min,max,align): places and lengths step alike (vdbench). */
static void check_steps(struct reading *reading, const struct definition_wd *wd)
{
    const struct definitions *d = reading->definitions;

    for (uint32_t i = 0; i < wd->sds.count && wd->size_step > 0; i++)
        for (uint32_t k = 0; k < d->sd_count; k++) {
            const struct definition_sd *sd = &d->sds[k];

            if (!definitions_match(wd->sds.items[i].text, sd->name) ||
                sd->align == 0 || sd->align == wd->size_step)
                continue;
            language_report_add(reading->report, LANGUAGE_ERROR,
                                &wd->size_place, NULL,
                                "wd=%s: xfersize=(min,max,align) steps by %u, "
                                "but sd=%s has align=%u",
                                wd->name, wd->size_step, sd->name, sd->align);
            return;
        }
}

static void check_workload(struct reading *reading,
                           const struct definition_wd *wd)
{
    check_steps(reading, wd);
    if (wd->threads > 0 && !reading->definitions->general.concatenate)
        language_report_add(reading->report, LANGUAGE_ERROR, &wd->place,
                            "threads= belongs to sd=, or to rd=",
                            "wd=%s: threads= goes with concatenatesds=yes only",
                            wd->name);
}

/* ---- concatenatesds= ---- */

static bool loops_threads(const struct definition_rd *rd)
{
    for (uint32_t i = 0; i < rd->loop_count; i++)
        if (rd->loops[i].kind == LOOP_THREADS)
            return true;
    return false;
}

/* Whether a workload is sequential, at least between its seeks, in some run. */
static bool walks(const struct definitions *d, const struct definition_wd *wd)
{
    if (wd->seek_percent < 100)
        return true;
    for (uint32_t i = 0; i < d->rd_count; i++)
        for (uint32_t k = 0; k < d->rds[i].loop_count; k++) {
            const struct definition_loop *loop = &d->rds[i].loops[k];

            for (uint32_t n = 0; loop->kind == LOOP_SEEKPCT && n < loop->count;
                 n++)
                if (loop->values[n] < 100)
                    return true;
        }
    return false;
}

/* One sequence over all drives has one rate. */
static void check_drive_curves(struct reading *reading,
                               const struct definition_wd *wd)
{
    const struct definitions *d = reading->definitions;

    for (uint32_t i = 0; i < d->rd_count && walks(d, wd); i++)
        if (d->rds[i].curve_per_drive)
            language_report_add(reading->report, LANGUAGE_ERROR,
                                &d->rds[i].place, NULL,
                                "rd=%s: curve_scope=drive does not go with "
                                "concatenatesds=yes and sequential work "
                                "(wd=%s)",
                                d->rds[i].name, wd->name);
}

static void check_concatenated(struct reading *reading)
{
    const struct definitions *d = reading->definitions;

    for (uint32_t i = 0; i < d->sd_count; i++)
        if (d->sds[i].offset > 0 || d->sds[i].align > 0 ||
            d->sds[i].range.given)
            language_report_add(reading->report, LANGUAGE_ERROR,
                                &d->sds[i].place, NULL,
                                "sd=%s: offset=, align= and range= do not go "
                                "with concatenatesds=yes",
                                d->sds[i].name);
    for (uint32_t i = 0; i < d->wd_count; i++) {
        const struct definition_wd *wd = &d->wds[i];

        if (wd->read_hit_percent > 0 || wd->write_hit_percent > 0)
            language_report_add(reading->report, LANGUAGE_ERROR, &wd->place,
                                NULL,
                                "wd=%s: rhpct= and whpct= do not go with "
                                "concatenatesds=yes",
                                wd->name);
        if (walks(d, wd) && wd->range.given && wd->range.high_is_percent &&
            wd->range.high > 100)
            language_report_add(reading->report, LANGUAGE_UNSUPPORTED,
                                &wd->place, "let the range end at 100",
                                "wd=%s: range= beyond the end, with "
                                "concatenatesds=yes and sequential work",
                                wd->name);
        check_drive_curves(reading, wd);
    }
    for (uint32_t i = 0; i < d->rd_count; i++)
        for (uint32_t k = 0; k < d->wd_count; k++)
            if (!loops_threads(&d->rds[i]) && d->wds[k].threads == 0) {
                language_report_add(reading->report, LANGUAGE_ERROR,
                                    &d->wds[k].place, NULL,
                                    "with concatenatesds=yes, wd=%s or its rd= "
                                    "must have threads=",
                                    d->wds[k].name);
                return;
            }
}

/* Behind all there is. */
static void report_no_run(struct reading *reading)
{
    const struct language_input *input = reading->input;
    struct language_place place = {
        .file = input->file_count > 0 ? input->files[0].name : NULL,
        .source = "",
        .line = 1,
        .column = 1,
        .width = 1,
    };

    if (reading->line_count > 0) {
        const struct line *last = &reading->lines[reading->line_count - 1];

        place = line_place(last, last->length, 1);
    }
    language_report_add(reading->report, LANGUAGE_ERROR, &place, NULL,
                        "no rd= in the file%s: there is nothing to run",
                        input->file_count > 1 ? "s" : "");
}

void check_definitions(struct reading *reading)
{
    struct definitions *d = reading->definitions;
    struct all_names all = {0};

    if (!collect(reading, &all))
        return;
    check_twice(reading, &all.sds);
    check_twice(reading, &all.wds);
    check_twice(reading, &all.rds);
    check_references(reading, &all);
    for (uint32_t i = 0; i < d->wd_count; i++)
        check_workload(reading, &d->wds[i]);
    if (d->general.concatenate)
        check_concatenated(reading);
    for (uint32_t i = 0; i < d->rd_count; i++)
        check_run(reading, (struct definition_rd *)&d->rds[i]);
    check_effects(reading);
    if (d->rd_count == 0 && reading->report->errors == 0 &&
        !reading->file_system)
        report_no_run(reading);
}
