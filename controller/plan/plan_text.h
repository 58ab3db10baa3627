/*
 * plan_text.h - the plan as a document for people and programs.
 *
 * Three faces of the same plan: a table, tab-separated lines, and a walk that
 * lets the caller build any other format (the shell makes JSON of it).
 *
 * Memory: texts are the caller's, freed with free(); NULL means no memory.
 * Threads: none of its own.
 */
#ifndef CONTROLLER_PLAN_PLAN_TEXT_H
#define CONTROLLER_PLAN_PLAN_TEXT_H

#include "controller/plan/plan.h"

/* What `lockstep check` prints: runs, hosts, drives, regions, total time. */
char *plan_text_table(const struct plan *plan) MUST_CHECK;

/*
 * What `check --runs` prints: the header "run iorate elapsed_s warmup_s for"
 * and a line a run, separated by tabs.  iorate is max, curve, N% or a number;
 * "-" stands for no for-loops.  Points of a curve carry their rd's name.
 */
char *plan_text_runs(const struct plan *plan) MUST_CHECK;

/* iorate as both print it: "max", "curve", "50%", "1200". */
void plan_text_rate(const struct plan_rate *rate, char *text, size_t size);

/*
 * Called for every value in order.  `key` is NULL for elements of an array.
 * Members of `plan_visitor` must all be set.
 */
struct plan_visitor {
    void (*object_begin)(void *user, const char *key);
    void (*object_end)(void *user);
    void (*array_begin)(void *user, const char *key);
    void (*array_end)(void *user);
    void (*text)(void *user, const char *key, const char *value);
    void (*integer)(void *user, const char *key, uint64_t value);
    void (*number)(void *user, const char *key, double value);
    void (*boolean)(void *user, const char *key, bool value);
    void (*null)(void *user, const char *key);
};

/*
 * Walks one object without a key: {"runs": [...], "hosts": [...], "drives":
 * [...], "total_s": ...}.  What is not known (sizes before placement) is null.
 */
void plan_walk(const struct plan *plan, const struct plan_visitor *visitor,
               void *user);

#endif
