/*
 * parm.h - a parameter file in a string, read and expanded.
 */
#ifndef TESTS_SUPPORT_PARM_H
#define TESTS_SUPPORT_PARM_H

#include "controller/language/language.h"
#include "controller/plan/plan.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Appends to a text of `size` bytes. */
PRINTF(3, 4)
static inline void parm_append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(text + used, size - used, format, args);
    va_end(args);
    ck_assert(n >= 0 && (size_t)n < size - used);
}

struct parm {
    struct language_report report;
    struct definitions *definitions;
    struct plan *plan;
    int err;        /* of the first step that failed */
    char *messages; /* the report as text */
};

static inline void parm_read_input(struct parm *parm,
                                   const struct language_input *input)
{
    memset(parm, 0, sizeof(*parm));
    language_report_init(&parm->report);
    parm->err = language_read(input, &parm->report, &parm->definitions);
    parm->messages = language_report_text(&parm->report);
    ck_assert_ptr_nonnull(parm->messages);
}

/* Reads `text` as the file "t.parm", with up to `count` variables. */
static inline void parm_read_with(struct parm *parm, const char *text,
                                  const char *const *variables, uint32_t count)
{
    struct language_file file = {"t.parm", text, strlen(text)};
    struct language_input input = {
        .files = &file,
        .file_count = 1,
        .variables = variables,
        .variable_count = count,
    };

    parm_read_input(parm, &input);
}

/* The same with a function that finds what include= names. */
static inline void parm_read_including(struct parm *parm, const char *text,
                                       int (*include)(void *, const char *,
                                                      const char *, char **,
                                                      size_t *))
{
    struct language_file file = {"t.parm", text, strlen(text)};
    struct language_input input = {
        .files = &file, .file_count = 1, .include = include};

    parm_read_input(parm, &input);
}

static inline void parm_read(struct parm *parm, const char *text)
{
    parm_read_with(parm, text, NULL, 0);
}

/* Reads and expands; `fleet` NULL: without agents. */
static inline void parm_expand_including(
    struct parm *parm, const char *text, const struct plan_fleet *fleet,
    int (*include)(void *, const char *, const char *, char **, size_t *))
{
    parm_read_including(parm, text, include);
    if (parm->err == 0)
        parm->err =
            plan_expand(parm->definitions, fleet, &parm->report, &parm->plan);
    free(parm->messages);
    parm->messages = language_report_text(&parm->report);
    ck_assert_ptr_nonnull(parm->messages);
}

static inline void parm_expand(struct parm *parm, const char *text,
                               const struct plan_fleet *fleet)
{
    parm_expand_including(parm, text, fleet, NULL);
}

static inline void parm_done(struct parm *parm)
{
    plan_free(parm->plan);
    definitions_free(parm->definitions);
    language_report_done(&parm->report);
    free(parm->messages);
}

/* The file must be refused, and say so with all of `text`. */
static inline void parm_assert_says(const struct parm *parm, const char *text)
{
    ck_assert_msg(strstr(parm->messages, text) != NULL,
                  "expected \"%s\" in:\n%s", text, parm->messages);
}

/* Nothing may be wrong. */
static inline void parm_assert_ok(const struct parm *parm)
{
    ck_assert_msg(parm->err == 0, "refused (%d):\n%s", parm->err,
                  parm->messages);
}

#endif
