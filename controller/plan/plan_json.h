/*
 * plan_json.h - a plan as the JSON document of `check --json`.
 */
#ifndef CONTROLLER_PLAN_PLAN_JSON_H
#define CONTROLLER_PLAN_PLAN_JSON_H

#include <jansson.h>

#include "controller/plan/plan.h"

/* A new reference; NULL: no memory. */
json_t *plan_json(const struct plan *plan) MUST_CHECK;

#endif
