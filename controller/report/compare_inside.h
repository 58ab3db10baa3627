/*
 * compare_inside.h - what compare.c and compare_rank.c share.
 */
#ifndef CONTROLLER_REPORT_COMPARE_INSIDE_H
#define CONTROLLER_REPORT_COMPARE_INSIDE_H

#include "controller/report/compare.h"

struct compare_side {
    char *name;
    json_t *campaigns; /* numbers, names, verdicts */
    json_t *runs;      /* key: array of runs, each a phase's document without
                          rows, with "campaign" */
    json_t *models;    /* "host:sd": model */
};

struct compare {
    struct compare_side side[COMPARE_SIDES_MAX];
    size_t side_count;
    json_t *left_out;
    json_t *head_; /* of the campaign at hand */
};

/* Mean over a side's repeats of a figure of a run; NAN where none has it. */
double compare_mean(const json_t *repeats, const char *path);

/* The drives of all sides in one run, the best first. */
json_t *compare_ranking(const struct compare *compare, const char *key);

#endif
