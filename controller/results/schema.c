#include "controller/results/schema.h"

#include "controller/results/statement.h"

#include <errno.h>
#include <stdio.h>

/* clang-format off */
#define COUNTS(op)                                                             \
    op "_ios INTEGER NOT NULL, " op "_bytes INTEGER NOT NULL, "                \
    op "_errors INTEGER NOT NULL, " op "_in_flight INTEGER NOT NULL, "         \
    op "_oldest_ns INTEGER NOT NULL, " op "_unissued INTEGER NOT NULL, "       \
    op "_unissued_oldest_ns INTEGER NOT NULL, "                                \
    op "_service BLOB, " op "_response BLOB, "
#define TALLY COUNTS("read") COUNTS("write")
#define CPU                                                                    \
    "host_cpu_ns INTEGER NOT NULL, host_system_ns INTEGER NOT NULL, "          \
    "capacity_ns INTEGER NOT NULL, agent_cpu_ns INTEGER NOT NULL, "

static const char version_1[] =
    "CREATE TABLE meta("
    " name TEXT PRIMARY KEY, value ANY) STRICT;"

    "CREATE TABLE campaign("
    " id INTEGER PRIMARY KEY,"
    " uuid BLOB NOT NULL UNIQUE,"
    " name TEXT NOT NULL,"
    " who TEXT NOT NULL,"
    " state INTEGER NOT NULL,"
    " verdict INTEGER NOT NULL,"
    " error TEXT,"
    " note TEXT,"
    " submitted_ns INTEGER NOT NULL,"
    " started_ns INTEGER,"
    " ended_ns INTEGER,"
    " elapsed_ns INTEGER NOT NULL,"
    " interval_ns INTEGER NOT NULL,"
    " warmup_ns INTEGER,"
    " version TEXT NOT NULL,"
    " epoch INTEGER NOT NULL,"
    " pinned INTEGER NOT NULL DEFAULT 0) STRICT;"

    "CREATE TABLE file("
    " campaign INTEGER NOT NULL, position INTEGER NOT NULL,"
    " name TEXT NOT NULL, text TEXT NOT NULL,"
    " PRIMARY KEY(campaign, position)) STRICT;"

    "CREATE TABLE variable("
    " campaign INTEGER NOT NULL, position INTEGER NOT NULL,"
    " text TEXT NOT NULL,"
    " PRIMARY KEY(campaign, position)) STRICT;"

    "CREATE TABLE host("
    " campaign INTEGER NOT NULL, host INTEGER NOT NULL,"
    " label TEXT NOT NULL, system TEXT NOT NULL, aliases TEXT NOT NULL,"
    " agent TEXT NOT NULL, address TEXT NOT NULL, version TEXT NOT NULL,"
    " instance BLOB, facts TEXT,"
    " PRIMARY KEY(campaign, host)) STRICT;"

    "CREATE TABLE target("
    " campaign INTEGER NOT NULL, target INTEGER NOT NULL,"
    " host INTEGER NOT NULL,"
    " sd TEXT NOT NULL, path TEXT NOT NULL, device TEXT NOT NULL,"
    " size_bytes INTEGER NOT NULL, device_bytes INTEGER NOT NULL,"
    " logical_block INTEGER NOT NULL, written INTEGER NOT NULL,"
    " serial TEXT NOT NULL, wwn TEXT NOT NULL, model TEXT NOT NULL,"
    " facts TEXT,"
    " PRIMARY KEY(campaign, target)) STRICT;"

    "CREATE TABLE layout("
    " id INTEGER PRIMARY KEY, campaign INTEGER NOT NULL,"
    " cells BLOB NOT NULL, workloads TEXT NOT NULL) STRICT;"

    "CREATE TABLE phase("
    " id INTEGER PRIMARY KEY,"
    " campaign INTEGER NOT NULL, phase INTEGER NOT NULL,"
    " run TEXT NOT NULL, kind INTEGER NOT NULL,"
    " rate_kind INTEGER NOT NULL, rate_value REAL NOT NULL,"
    " for_text TEXT NOT NULL,"
    " elapsed_ns INTEGER NOT NULL, warmup_ns INTEGER NOT NULL,"
    " interval_ns INTEGER NOT NULL, pause_ns INTEGER NOT NULL,"
    " xfersize TEXT NOT NULL, threads TEXT NOT NULL,"
    " rdpct TEXT NOT NULL, seekpct TEXT NOT NULL,"
    " iorate REAL,"
    " warmup_intervals INTEGER, measured_intervals INTEGER,"
    " layout INTEGER,"
    " state INTEGER NOT NULL, verdict INTEGER NOT NULL, error TEXT,"
    " started_ns INTEGER, ended_ns INTEGER, uncertainty_ns INTEGER,"
    " start_ns INTEGER,"
    " spread_ns INTEGER, begin_ns INTEGER, end_ns INTEGER,"
    " overlap_ns INTEGER, intervals INTEGER,"
    " UNIQUE(campaign, phase)) STRICT;"

    "CREATE TABLE phase_host("
    " phase INTEGER NOT NULL, host INTEGER NOT NULL,"
    " lost_at_interval INTEGER, reason TEXT, intervals INTEGER,"
    " PRIMARY KEY(phase, host)) STRICT;"

    "CREATE TABLE stuck("
    " phase INTEGER NOT NULL, host INTEGER NOT NULL,"
    " position INTEGER NOT NULL, target INTEGER NOT NULL,"
    " write INTEGER NOT NULL, offset INTEGER NOT NULL,"
    " length INTEGER NOT NULL, age_ns INTEGER NOT NULL,"
    " PRIMARY KEY(phase, host, position)) STRICT;"

    "CREATE TABLE sample("
    " phase INTEGER NOT NULL, interval INTEGER NOT NULL,"
    " drain INTEGER NOT NULL, host INTEGER NOT NULL,"
    " kind INTEGER NOT NULL, cells BLOB NOT NULL,"
    " PRIMARY KEY(phase, interval, drain, host)) STRICT;"

    "CREATE TABLE host_interval("
    " phase INTEGER NOT NULL, interval INTEGER NOT NULL,"
    " drain INTEGER NOT NULL, host INTEGER NOT NULL,"
    " kind INTEGER NOT NULL, spans INTEGER NOT NULL,"
    " begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,"
    " skew_ns INTEGER NOT NULL,"
    " opened_first_ns INTEGER NOT NULL, opened_last_ns INTEGER NOT NULL,"
    CPU TALLY
    " PRIMARY KEY(phase, interval, drain, host)) STRICT;"

    "CREATE TABLE cluster_interval("
    " phase INTEGER NOT NULL, interval INTEGER NOT NULL,"
    " drain INTEGER NOT NULL, revision INTEGER NOT NULL,"
    " kind INTEGER NOT NULL, spans INTEGER NOT NULL,"
    " begin_ns INTEGER, end_ns INTEGER, skew_ns INTEGER NOT NULL,"
    " hosts_expected INTEGER NOT NULL, hosts_delivered INTEGER NOT NULL,"
    " missing TEXT,"
    CPU TALLY
    " PRIMARY KEY(phase, interval, drain)) STRICT;"

    "CREATE TABLE workload_interval("
    " phase INTEGER NOT NULL, interval INTEGER NOT NULL,"
    " drain INTEGER NOT NULL, workload INTEGER NOT NULL,"
    TALLY
    " PRIMARY KEY(phase, interval, drain, workload)) STRICT;"

    "CREATE TABLE total("
    " phase INTEGER NOT NULL, scope INTEGER NOT NULL,"
    " item INTEGER NOT NULL,"
    CPU TALLY
    " PRIMARY KEY(phase, scope, item)) STRICT;";

/* How late arrivals were issued, and what kept the workers from going on. */
#define ADD(table, column)                                                     \
    "ALTER TABLE " table " ADD COLUMN " column " INTEGER NOT NULL DEFAULT 0;"
#define ADD_LATENESS(table)                                                    \
    ADD(table, "read_issued") ADD(table, "read_late_ns")                       \
    ADD(table, "read_late_max_ns") ADD(table, "write_issued")                  \
    ADD(table, "write_late_ns") ADD(table, "write_late_max_ns")
#define ADD_HOLDS(table)                                                       \
    ADD(table, "worker_cpu_ns") ADD(table, "holds") ADD(table, "held_ns")      \
    ADD(table, "refused")

static const char version_2[] =
    ADD_LATENESS("host_interval") ADD_HOLDS("host_interval")
    ADD_LATENESS("cluster_interval") ADD_HOLDS("cluster_interval")
    ADD_LATENESS("workload_interval")
    ADD_LATENESS("total") ADD_HOLDS("total");

/* Who did what; and what was on a target that a campaign overwrites. */
static const char version_3[] =
    "CREATE TABLE audit("
    " id INTEGER PRIMARY KEY, at_ns INTEGER NOT NULL,"
    " who TEXT NOT NULL, role TEXT NOT NULL, address TEXT NOT NULL,"
    " action TEXT NOT NULL, subject TEXT NOT NULL, campaign INTEGER,"
    " refused INTEGER NOT NULL, detail TEXT NOT NULL) STRICT;"
    "ALTER TABLE target ADD COLUMN content TEXT NOT NULL DEFAULT '';";

/* What startcmd=, endcmd= and heartbeat_error= ran. */
static const char version_4[] =
    "CREATE TABLE command("
    " campaign INTEGER NOT NULL, number INTEGER NOT NULL,"
    " host TEXT NOT NULL, phase INTEGER,"
    " keyword TEXT NOT NULL, command TEXT NOT NULL,"
    " duration_ns INTEGER NOT NULL, error TEXT, output TEXT NOT NULL,"
    " wall_ns INTEGER NOT NULL,"
    " PRIMARY KEY(campaign, number, host)) STRICT;";

/* Whether retention is through with a phase. */
static const char version_5[] = ADD("phase", "thinned");

/* What the kernel and the drives told, and what that says of the figures. */
static const char version_6[] =
    "ALTER TABLE sample ADD COLUMN drives BLOB;"

    "CREATE TABLE device("
    " phase INTEGER NOT NULL, target INTEGER NOT NULL,"
    " facts TEXT NOT NULL,"
    " PRIMARY KEY(phase, target)) STRICT;"

    "CREATE TABLE flag("
    " phase INTEGER NOT NULL, position INTEGER NOT NULL,"
    " scope INTEGER NOT NULL, item INTEGER NOT NULL,"
    " word TEXT NOT NULL, text TEXT NOT NULL,"
    " PRIMARY KEY(phase, position)) STRICT;";

/* What a restarted controller must know to go on, in the fleet's own words. */
static const char version_7[] =
    "CREATE TABLE memory("
    " campaign INTEGER NOT NULL, phase INTEGER NOT NULL,"
    " name TEXT NOT NULL, item INTEGER NOT NULL, text TEXT NOT NULL,"
    " PRIMARY KEY(campaign, phase, name, item)) STRICT;";

/* What failed, and where the workers were. */
static const char version_8[] =
    "ALTER TABLE phase_host ADD COLUMN engine TEXT;"
    "ALTER TABLE phase_host ADD COLUMN placement TEXT;"

    "CREATE TABLE failure_count("
    " phase INTEGER NOT NULL, interval INTEGER NOT NULL,"
    " drain INTEGER NOT NULL, host INTEGER NOT NULL,"
    " target INTEGER NOT NULL, op INTEGER NOT NULL, err INTEGER NOT NULL,"
    " count INTEGER NOT NULL,"
    " PRIMARY KEY(phase, interval, drain, host, target, op, err)) STRICT;"

    "CREATE TABLE failure("
    " phase INTEGER NOT NULL, interval INTEGER NOT NULL,"
    " drain INTEGER NOT NULL, host INTEGER NOT NULL,"
    " position INTEGER NOT NULL, target INTEGER NOT NULL,"
    " op INTEGER NOT NULL, offset INTEGER NOT NULL,"
    " length INTEGER NOT NULL, err INTEGER NOT NULL,"
    " transferred INTEGER NOT NULL, at_ns INTEGER NOT NULL,"
    " PRIMARY KEY(phase, interval, drain, host, position)) STRICT;";

/* histogram=, as the plan has it. */
static const char version_9[] =
    "ALTER TABLE campaign ADD COLUMN histogram TEXT;";
/* clang-format on */

static const char *const steps[] = {version_1, version_2, version_3,
                                    version_4, version_5, version_6,
                                    version_7, version_8, version_9};

uint32_t schema_version(void)
{
    return ARRAY_LENGTH(steps);
}

static int number_of(struct store_access *access, const char *sql,
                     int64_t *ret_number, struct diag *diag)
{
    struct statement s;
    int got;

    statement_begin(&s, access, sql);
    got = statement_step(&s, diag);
    if (got == 1)
        *ret_number = statement_get_int(&s);
    statement_end(&s);
    return got < 0 ? got : 0;
}

static int is_ours(struct store_access *access, int64_t version,
                   struct diag *diag)
{
    int64_t id = 0, tables = 0;
    int err = number_of(access, "PRAGMA application_id", &id, diag);

    if (err == 0)
        err = number_of(access, "SELECT count(*) FROM sqlite_schema", &tables,
                        diag);
    if (err < 0)
        return err;
    if (id == SCHEMA_APPLICATION_ID || (id == 0 && version == 0 && tables == 0))
        return 0;
    return diag_set(diag, -EMEDIUMTYPE,
                    "store '%s': this is another program's database; name "
                    "another file (store=)",
                    access->path);
}

static int set_version(struct store_access *access, uint32_t version,
                       struct diag *diag)
{
    char sql[96];

    (void)snprintf(sql, sizeof(sql),
                   "PRAGMA application_id = %d; PRAGMA user_version = %u",
                   SCHEMA_APPLICATION_ID, version);
    return statement_script(access, sql, diag);
}

int schema_migrate_steps(struct store_access *access,
                         const char *const *all_steps, uint32_t step_count,
                         uint32_t *ret_version, struct diag *diag)
{
    int64_t found = 0;
    int err = number_of(access, "PRAGMA user_version", &found, diag);

    if (err == 0)
        err = is_ours(access, found, diag);
    if (err < 0)
        return err;
    if (found < 0 || found > step_count)
        return diag_set(diag, -EPROTONOSUPPORT,
                        "store '%s' has version %lld, made by a newer "
                        "lockstepd; this one knows up to %u: use the newer "
                        "program, or another file (store=)",
                        access->path, (long long)found, step_count);
    for (uint32_t i = (uint32_t)found; i < step_count && err == 0; i++)
        err = statement_script(access, all_steps[i], diag);
    if (err == 0 && found < step_count)
        err = set_version(access, step_count, diag);
    if (err == 0)
        *ret_version = (uint32_t)found;
    return err;
}

int schema_migrate(struct store_access *access, uint32_t *ret_version,
                   struct diag *diag)
{
    return schema_migrate_steps(access, steps, ARRAY_LENGTH(steps), ret_version,
                                diag);
}
