/*
 * internal.h - what the steps of planning share; for this room only.
 *
 * expand.c (definitions to runs) uses hosts.c (which machine a host is),
 * targets.c (sds on hosts) and rate.c; place.c (facts to sizes and regions)
 * uses regions.c and fill.c.
 */
#ifndef CONTROLLER_PLAN_INTERNAL_H
#define CONTROLLER_PLAN_INTERNAL_H

#include "controller/language/definitions.h"
#include "controller/plan/plan.h"

/* What an agent takes in one phase; the limits of lockstep.proto. */
#define HOST_TARGETS_MAX  256u
#define RUN_WORKLOADS_MAX 64u
#define HOST_CELLS_MAX    4096u
#define PLAN_MEMORY_MAX   ((size_t)4 << 30)
#define FILL_RUN_NAME     "SD_format"
#define FILL_TRANSFER_MAX (128u << 10)
#define FILL_THREADS      2u

/* ---- hosts ---- */

struct hosts {
    struct plan *plan;
    const struct definitions *definitions;
    const struct plan_fleet *fleet; /* NULL: no agents are looked for */
    struct language_report *report;
    uint32_t *index; /* by hd: its plan host + 1; 0: not used yet */
    bool *failed;    /* by hd: no agent, and said so */
    uint32_t *order; /* all hd, by their labels */
    uint32_t *found; /* of hosts_find() */
    uint32_t capacity;
};

int hosts_init(struct hosts *hosts) MUST_CHECK;

/*
 * The plan's host of definitions->hosts[hd] (hd 0 where there are none),
 * matched to its agent when it is first used.  -ENOENT with an error in the
 * report where no agent is meant; -ENOMEM.
 */
int hosts_use(struct hosts *hosts, uint32_t hd, uint32_t *ret_host) MUST_CHECK;

/* Hosts of the file, the implied localhost included. */
uint32_t hosts_defined(const struct hosts *hosts);
const char *hosts_label(const struct hosts *hosts, uint32_t hd);

/* The hosts that `names` mean (none: all), in the order of the file; good until
 * the next call. */
const uint32_t *hosts_find(struct hosts *hosts,
                           const struct definition_names *names,
                           uint32_t *ret_count);

/* Whether one of `names` means the host; none means all. */
bool hosts_selected(const struct hosts *hosts, uint32_t hd,
                    const struct definition_names *names);

/* ---- drives ---- */

/*
 * Definitions in which each sd with drive= is replaced by one for each drive
 * that it selects on its hosts (NAME_1, NAME_2, ...), in the plan's arena.
 * Without a fleet they stand for drives that are not known yet.  -EINVAL: the
 * report says why not; -ENOMEM.
 */
int drives_select(struct hosts *hosts, const struct definitions *definitions,
                  struct definitions *ret_definitions) MUST_CHECK;

/* ---- targets ---- */

/* Where one sd lies: a (host, path) each, hosts that are one machine merged. */
struct sd_site {
    uint32_t hd;
    uint32_t host;   /* in the plan */
    uint32_t target; /* in the plan, + 1; 0: not used by any run yet */
    const struct definition_path *path;
};

struct sd_sites {
    bool resolved;
    struct sd_site *sites;
    uint32_t count;
    uint32_t xfer_max; /* largest transfer of any run on it */
    uint32_t parts;    /* while its targets in a base are counted; else 0 */
};

struct targets {
    struct hosts *hosts;
    struct sd_sites *sds;   /* by sd of the definitions */
    uint32_t *host_targets; /* by plan host: how many */
    uint32_t host_capacity;
    uint32_t capacity;
};

int targets_init(struct targets *targets, struct hosts *hosts) MUST_CHECK;

/* Settles where an sd lies, once.  -ENOENT: the report says why not. */
int targets_resolve(struct targets *targets, uint32_t sd) MUST_CHECK;

/* The plan's target of a site, added when a run first uses it. */
int targets_use(struct targets *targets, uint32_t sd, struct sd_site *site,
                uint32_t *ret_target) MUST_CHECK;

/* ---- rates ---- */

/* A value as vdbench writes it: 512, 4k, 1.500m. */
void format_size(double value, char *text, size_t size);

/* ---- placing ---- */

struct placing {
    struct plan *plan;
    struct language_report *report;
    bool *failed; /* by target: an error was said, no more is */
};

/* An error about a target, once; hosts are named where there are several. */
void placing_fail(struct placing *placing, uint32_t target, const char *format,
                  ...) PRINTF(3, 4);

/* Low and high of every cell of every run. */
void regions_place(struct placing *placing);

/* Shares of duplicates, for the drives of each bucket together. */
int duplicates_place(struct placing *placing) MUST_CHECK;

/* The fill run, where some file is missing or short. */
int fill_place(struct placing *placing) MUST_CHECK;

/* Whether the fill run has to write a target. */
bool fill_needs(const struct plan *plan, const struct plan_target *target);

/* Room for one more at the end of an array in the plan's arena. */
int plan_grow(struct plan *plan, void *array, uint32_t count,
              uint32_t *capacity, size_t size) MUST_CHECK;

/* Copies a place with its strings. */
int plan_copy_place(struct plan *plan, const struct language_place *from,
                    struct language_place *ret_place) MUST_CHECK;

/* Copies startcmd= and the like; `keyword` is a literal. */
int plan_copy_commands(struct plan *plan,
                       const struct definition_commands *from,
                       const char *keyword,
                       struct plan_commands *ret_commands) MUST_CHECK;

#endif
