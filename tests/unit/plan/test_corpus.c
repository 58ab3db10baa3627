/*
 * Public parameter files, expanded run by run as vdbench's own simulation
 * printed them.  The folder is named by LOCKSTEP_CORPUS: it holds files/,
 * index.tsv and runs.tsv.
 *
 * Every file that vdbench accepts must be accepted here and give the same
 * runs.  Files that use parameters which are not supported yet are expanded
 * all the same, and listed.
 */
#include "controller/language/language.h"
#include "controller/plan/plan_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SKIPPED 77

static char *read_file(const char *path, size_t *ret_length)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t length = 0;

    if (file == NULL)
        return NULL;
    for (size_t n = 1; n > 0; length += n) {
        char *grown = realloc(text, length + 65536);

        if (grown == NULL)
            abort();
        text = grown;
        n = fread(text + length, 1, 65535, file);
    }
    text[length] = '\0';
    fclose(file);
    *ret_length = length;
    return text;
}

static char *read_in(const char *folder, const char *name, size_t *ret_length)
{
    char path[4096];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return read_file(path, ret_length);
}

/* The files of the corpus have no includes left; one that does fails. */
static int no_include(void *user, const char *name, const char *from,
                      char **ret_text, size_t *ret_length)
{
    (void)user, (void)name, (void)from, (void)ret_text, (void)ret_length;
    return -ENOENT;
}

struct expansion {
    char *runs;     /* as plan_text_runs() gives them; NULL: refused */
    char *messages; /* the report */
    bool not_yet;
};

static void expand(const char *name, const char *text, size_t length,
                   char *variables, struct expansion *ret)
{
    struct language_file file = {name, text, length};
    const char *list[16];
    struct language_input input = {
        .files = &file,
        .file_count = 1,
        .variables = list,
        .include = no_include,
        .keep_unsupported = true,
    };
    struct language_report report;
    struct definitions *definitions = NULL;
    struct plan *plan = NULL;

    if (strcmp(variables, "-") != 0)
        for (char *save, *word = strtok_r(variables, " ", &save); word != NULL;
             word = strtok_r(NULL, " ", &save))
            list[input.variable_count++] = word;
    language_report_init(&report);
    if (language_read(&input, &report, &definitions) == 0 &&
        plan_expand(definitions, NULL, &report, &plan) == 0)
        ret->runs = plan_text_runs(plan);
    ret->messages = language_report_text(&report);
    ret->not_yet = report.unsupported > 0;
    plan_free(plan);
    definitions_free(definitions);
    language_report_done(&report);
}

/* The lines of runs.tsv for one file, without their first column. */
static char *expected_runs(const char *runs, const char *name)
{
    size_t length = strlen(name);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    fputs("run\tiorate\telapsed_s\twarmup_s\tfor\n", out);
    for (const char *line = runs; *line != '\0';) {
        const char *end = strchrnul(line, '\n');

        if (strncmp(line, name, length) == 0 && line[length] == '\t')
            fprintf(out, "%.*s\n", (int)(end - line - (long)length - 1),
                    line + length + 1);
        line = *end == '\n' ? end + 1 : end;
    }
    fclose(out);
    return text;
}

/* Prints the first line in which two texts differ. */
static void print_difference(const char *name, const char *expected,
                             const char *found)
{
    while (*expected != '\0' && *expected == *found &&
           strcspn(expected, "\n") == strcspn(found, "\n") &&
           strncmp(expected, found, strcspn(expected, "\n")) == 0) {
        expected += strcspn(expected, "\n") + 1;
        found += strcspn(found, "\n") + 1;
    }
    printf("%s: expected \"%.*s\", found \"%.*s\"\n", name,
           (int)strcspn(expected, "\n"), expected, (int)strcspn(found, "\n"),
           found);
}

struct score {
    unsigned accepted; /* by vdbench */
    unsigned matching;
    unsigned matching_now; /* without anything that is not supported yet */
    unsigned rejected;     /* by vdbench */
    unsigned rejected_too;
    unsigned failures;
};

/* What vdbench rejects for reasons of its own may be accepted here. */
static bool may_accept(const char *reason)
{
    return strstr(reason, "swat=") != NULL;
}

static void judge_file(const char *folder, char *line, const char *runs,
                       struct score *score)
{
    char *name = strsep(&line, "\t");
    char *vdbench = strsep(&line, "\t");
    (void)strsep(&line, "\t");
    char *variables = strsep(&line, "\t");
    (void)strsep(&line, "\t");
    (void)strsep(&line, "\t");
    const char *reason = line != NULL ? line : "";
    bool accepted = vdbench != NULL && strcmp(vdbench, "accepts") == 0;
    struct expansion found = {0};
    char path[4096];
    size_t length;
    char *text;

    (void)snprintf(path, sizeof(path), "files/%s", name);
    text = read_in(folder, path, &length);
    if (text == NULL || variables == NULL) {
        printf("%s: cannot be read\n", name);
        score->failures++;
        free(text);
        return;
    }
    expand(name, text, length, variables, &found);
    if (!accepted) {
        score->rejected++;
        score->rejected_too += found.runs == NULL;
        if (found.runs != NULL && !may_accept(reason)) {
            printf("%s: vdbench rejects it: %s\n", name, reason);
            score->failures++;
        }
    } else {
        char *expected = expected_runs(runs, name);

        score->accepted++;
        if (found.runs == NULL) {
            printf("%s: refused:\n%s", name, found.messages);
            score->failures++;
        } else if (strcmp(expected, found.runs) != 0) {
            print_difference(name, expected, found.runs);
            score->failures++;
        } else {
            score->matching++;
            score->matching_now += !found.not_yet;
        }
        if (found.not_yet)
            printf("%s: expands, but is not all supported yet\n", name);
        free(expected);
    }
    if (getenv("LOCKSTEP_CORPUS_MESSAGES") != NULL)
        printf("== %s\n%s", name, found.messages);
    free(found.runs);
    free(found.messages);
    free(text);
}

int main(void)
{
    const char *folder = getenv("LOCKSTEP_CORPUS");
    struct score score = {0};
    size_t length;
    char *index, *runs;

    if (folder == NULL || folder[0] == '\0') {
        printf("SKIP unit.plan.corpus: LOCKSTEP_CORPUS is not set, so there "
               "are no public files to compare with\n");
        return SKIPPED;
    }
    index = read_in(folder, "index.tsv", &length);
    runs = read_in(folder, "runs.tsv", &length);
    if (index == NULL || runs == NULL) {
        printf("%s: no index.tsv or runs.tsv\n", folder);
        return 1;
    }

    char *rest = index;

    (void)strsep(&rest, "\n"); /* the header */
    for (char *line = strsep(&rest, "\n"); line != NULL;
         line = strsep(&rest, "\n"))
        if (*line != '\0')
            judge_file(folder, line, runs, &score);
    printf("%u of %u files that vdbench accepts give the same runs, %u of them "
           "with nothing left to support; %u of %u that it rejects are "
           "rejected\n",
           score.matching, score.accepted, score.matching_now,
           score.rejected_too, score.rejected);
    free(index);
    free(runs);
    return score.failures == 0 && score.accepted > 0 ? 0 : 1;
}
