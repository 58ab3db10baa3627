/* compare_command.c - see compare_command.h. */
#include "controller/shell/compare_command.h"

#include <errno.h>
#include <string.h>

#include "controller/report/compare.h"
#include "controller/report/read.h"
#include "controller/shell/pieces.h"
#include "controller/shell/place.h"
#include "controller/shell/table.h"

/* Lines of a ranking that a terminal gets. */
#define RANKS_MAX 10u

static const struct table_column change_columns[] = {
    {"figure", "figure", TABLE_TEXT, 0, NULL},
    {"base", "base.mean", TABLE_NUMBER, 2, "-"},
    {"runs", "base.runs", TABLE_NUMBER, 0, NULL},
    {"other", "other.mean", TABLE_NUMBER, 2, "-"},
    {"runs", "other.runs", TABLE_NUMBER, 0, NULL},
    {"change %", "change_pct", TABLE_NUMBER, 2, "-"},
    {"p", "p_value", TABLE_NUMBER, 4, "-"},
    {"verdict", "verdict", TABLE_TEXT, 0, NULL},
};

static const struct table_column rank_columns[] = {
    {"rank", "rank", TABLE_NUMBER, 0, NULL},
    {"side", "side", TABLE_TEXT, 0, NULL},
    {"drive", "name", TABLE_TEXT, 0, NULL},
    {"model", "model", TABLE_TEXT, 0, NULL},
    {"iops", "iops", TABLE_NUMBER, 1, "-"},
    {"mean us", "mean_us", TABLE_NUMBER, 1, "-"},
    {"p99 us", "p99_us", TABLE_NUMBER, 1, "-"},
};

/* ---- Collecting ------------------------------------------------------------
 */

static int collect_campaign(const struct options *options, const char *word,
                            struct compare *compare, struct diag *diag)
{
    struct sink sink = compare_sink(compare);
    enum exit_status status;
    struct place place;
    int r = place_open(options, word, &place, diag);

    if (r == 0)
        r = pieces_fetch(place.client, place.campaign, &sink, 1, &status, diag);
    place_done(&place);
    return r;
}

/* A side is one campaign or several, joined by commas. */
static int collect_side(const struct options *options, const char *side,
                        struct compare *compare, struct diag *diag)
{
    char word[PATH_SIZE];
    int r = compare_begin_side(compare, side, diag);

    while (r == 0) {
        size_t length = strcspn(side, ",");

        if (length == 0 || length >= sizeof(word))
            return diag_set(diag, -ENOENT, "'%s' names no campaign", side);
        (void)snprintf(word, sizeof(word), "%.*s", (int)length, side);
        r = collect_campaign(options, word, compare, diag);
        if (side[length] == '\0')
            break;
        side += length + 1;
    }
    return r;
}

/* ---- Printing --------------------------------------------------------------
 */

static void print_run(const json_t *o)
{
    printf("%s", read_text(o, "run"));
    if (read_text(o, "for")[0] != '\0')
        printf(" (%s)", read_text(o, "for"));
    printf(" iorate=%s", read_text(o, "iorate_text"));
}

static void print_match(const json_t *match)
{
    json_t *changes = json_object_get(match, "changes");
    double from = read_number(match, "base_iorate");
    double to = read_number(match, "other_iorate");

    putchar('\n');
    print_run(match);
    printf(": %s against %s", read_text(match, "other"),
           read_text(match, "base"));
    if (json_is_true(json_object_get(match, "degraded")))
        fputs("  (degraded runs among them)", stdout);
    putchar('\n');
    if (from > to || from < to)
        printf("  the loads asked for differ: %.1f and %.1f IOPS\n", from, to);
    table_print(stdout, changes, change_columns, ARRAY_LENGTH(change_columns));
}

static void print_all(const json_t *document, const char *key,
                      void (*print)(const json_t *item))
{
    const json_t *items = json_object_get(document, key);

    for (size_t i = 0; i < json_array_size(items); i++)
        print(json_array_get(items, i));
}

static void print_unmatched(const json_t *o)
{
    printf("only in %s: ", read_text(o, "side"));
    print_run(o);
    putchar('\n');
}

static void print_left_out(const json_t *o)
{
    const char *verdict = read_text(o, "verdict");

    printf("left out: %s of campaign %lld: %s%s%s\n", read_text(o, "run"),
           (long long)read_count(o, "campaign"),
           verdict[0] != '\0' ? verdict : "it did not run",
           read_text(o, "error")[0] != '\0' ? ": " : "", read_text(o, "error"));
}

static void print_ranking(const json_t *ranking)
{
    json_t *drives = json_copy(json_object_get(ranking, "drives"));
    size_t count = json_array_size(drives);

    if (count > 1) {
        fputs("\nranking of drives, ", stdout);
        print_run(ranking);
        putchar('\n');
        while (json_array_size(drives) > RANKS_MAX)
            (void)json_array_remove(drives, RANKS_MAX);
        table_print(stdout, drives, rank_columns, ARRAY_LENGTH(rank_columns));
        if (count > RANKS_MAX)
            printf("... of %zu; --json has all\n", count);
    }
    json_decref(drives);
}

static void print_broken(const json_t *o)
{
    fputs("  ", stdout);
    print_run(o);
    printf(", %s: %.6g against %.6g", read_text(o, "other"),
           read_or_zero(o, "other_value"), read_or_zero(o, "base_value"));
    if (json_is_number(json_object_get(o, "change_pct")))
        printf(", %+.2f %%", read_or_zero(o, "change_pct"));
    putchar('\n');
}

static void print_unknown(const json_t *o)
{
    fputs("  ", stdout);
    print_run(o);
    printf(", %s: not known in every repeat; a percentile needs ten I/Os "
           "beyond it\n",
           read_text(o, "other"));
}

static void print_bound(const json_t *bound)
{
    long long matches = (long long)read_count(bound, "matches");

    printf("\nbound \"%s\": %s in %lld matched %s\n", read_text(bound, "bound"),
           read_text(bound, "outcome"), matches, matches == 1 ? "run" : "runs");
    print_all(bound, "broken", print_broken);
    print_all(bound, "unknown", print_unknown);
}

static void print_document(const json_t *document)
{
    print_all(document, "matches", print_match);
    print_all(document, "unmatched", print_unmatched);
    print_all(document, "left_out", print_left_out);
    print_all(document, "rankings", print_ranking);
    print_all(document, "bounds", print_bound);
    printf("\nLatencies are in us.  %s\n", read_text(document, "method"));
}

/* ---- The command -----------------------------------------------------------
 */

/* A bound that could not be looked at is no bound that was kept. */
static enum exit_status status_of(enum compare_outcome outcome, size_t matches)
{
    if (outcome == COMPARE_BROKEN)
        return EXIT_BOUND;
    return outcome == COMPARE_UNKNOWN || matches == 0 ? EXIT_FAILED
                                                      : EXIT_COMPLETE;
}

static int finish(const struct options *options, const struct compare *compare,
                  const struct bound *bounds)
{
    enum compare_outcome outcome;
    json_t *document =
        compare_document(compare, bounds, options->bounds.count, &outcome);
    size_t matches = json_array_size(json_object_get(document, "matches"));
    enum exit_status status = status_of(outcome, matches);
    const char *error = matches == 0
                            ? "no run of one side matches one of another, by "
                              "name and values"
                        : outcome == COMPARE_UNKNOWN
                            ? "a bound could not be looked at in every run"
                        : outcome == COMPARE_BROKEN ? "a bound is broken"
                                                    : NULL;

    if (document == NULL)
        return output_error(options->json, EXIT_FAILED, "no memory");
    if (options->json)
        return output_document(document, status, error);
    print_document(document);
    json_decref(document);
    if (error != NULL)
        fprintf(stderr, "lockstep: %s\n", error);
    return (int)status;
}

int compare_command(const struct options *options)
{
    struct bound bounds[OPTIONS_WORDS_MAX];
    struct compare *compare;
    struct diag diag;
    int status = 0, r = 0;

    for (size_t i = 0; i < options->bounds.count; i++)
        if (bound_parse(options->bounds.word[i], &bounds[i], &diag) < 0)
            return output_error(options->json, EXIT_USAGE, "--fail-if %s",
                                diag.text);
    compare = compare_new();
    if (compare == NULL)
        r = diag_set(&diag, -ENOMEM, "no memory");
    for (size_t i = 0; i < options->arguments.count && r == 0; i++)
        r = collect_side(options, options->arguments.word[i], compare, &diag);
    status = r < 0
                 ? output_error(options->json, place_status(r), "%s", diag.text)
                 : finish(options, compare, bounds);
    (void)compare_free(compare);
    return status;
}
