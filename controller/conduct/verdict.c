#include "controller/conduct/conductor.h"

#include "common/units.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NAMES_MAX 8u

static PRINTF(3, 4) void append(char *text, size_t size, const char *format,
                                ...)
{
    size_t length = strlen(text);
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text + length, size - length, format, args);
    va_end(args);
}

void verdict_names(const struct conductor *c,
                   bool (*picks)(const struct part *part), char text[TEXT_SIZE])
{
    const struct part *part;
    uint32_t named = 0, count = part_count(c, picks);

    text[0] = '\0';
    FOR_EACH_PART(c, host, part)
    {
        if (!picks(part) || named == NAMES_MAX)
            continue;
        append(text, TEXT_SIZE, "%s%s", named == 0 ? "" : ", ",
               part_label(c, host));
        named++;
    }
    if (count > named)
        append(text, TEXT_SIZE, " and %u more", count - named);
}

/* It has all rows of the phase as it was to be. */
static bool is_whole(const struct conductor *c, const struct part *part)
{
    if (part->state != PART_COLLECTED || part->finish.stuck > 0)
        return false;
    if (part->finish.outcome == CONDUCT_OUTCOME_COMPLETE)
        return true;
    /* One that went on into the next interval has all of the last. */
    return c->ending == CONDUCT_ENDING_EARLY &&
           part->finish.intervals > c->stop_after + 1;
}

/* "host2 from interval 17 (its lease ended)" */
static void describe_part(const struct conductor *c, uint32_t host, char *text,
                          size_t size)
{
    const struct part *part = &c->parts[host];
    char count[UNITS_SIZE];

    append(text, size, "%s", part_label(c, host));
    if (part->state == PART_COLLECTED && part->finish.intervals > 0 &&
        part->finish.outcome != CONDUCT_OUTCOME_COMPLETE)
        append(text, size, " from interval %llu",
               (unsigned long long)part->finish.intervals);
    else if (part->state == PART_GONE && part->stored > 0)
        append(text, size, " from interval %llu",
               (unsigned long long)part->stored);
    if (part->finish.stuck > 0)
        append(text, size, " (%s did not come back%s%s)",
               units_print_count(count, part->finish.stuck, "request"),
               part->finish.stuck_on[0] != '\0' ? " from " : "",
               part->finish.stuck_on);
    else if (part->reason[0] != '\0')
        append(text, size, " (%s)", part->reason);
}

static enum conduct_verdict verdict_by_hosts(const struct conductor *c,
                                             char reason[REASON_SIZE])
{
    const struct part *part;
    uint32_t whole = 0, named = 0;

    reason[0] = '\0';
    FOR_EACH_PART(c, host, part)
    whole += part_takes_part(part) && is_whole(c, part);
    if (whole == c->phase.host_count)
        return CONDUCT_COMPLETE;

    append(reason, REASON_SIZE, "%u of %u hosts", whole, c->phase.host_count);
    FOR_EACH_PART(c, host, part)
    {
        if (!part_takes_part(part) || is_whole(c, part))
            continue;
        if (named++ == NAMES_MAX)
            break;
        append(reason, REASON_SIZE, named == 1 ? "; without " : ", ");
        describe_part(c, host, reason, REASON_SIZE);
    }
    if (c->phase.host_count - whole > NAMES_MAX)
        append(reason, REASON_SIZE, " and %u more",
               c->phase.host_count - whole - NAMES_MAX);
    return whole > 0 ? CONDUCT_DEGRADED : CONDUCT_FAILED;
}

enum conduct_verdict verdict_of_phase(const struct conductor *c,
                                      char reason[REASON_SIZE])
{
    enum conduct_verdict verdict;

    if (c->ending == CONDUCT_ENDING_FAILED ||
        c->ending == CONDUCT_ENDING_INTERRUPTED) {
        memcpy(reason, c->why, REASON_SIZE);
        return c->ending == CONDUCT_ENDING_FAILED ? CONDUCT_FAILED
                                                  : CONDUCT_INTERRUPTED;
    }
    verdict = verdict_by_hosts(c, reason);
    if (c->ending == CONDUCT_ENDING_EARLY && c->ending_verdict > verdict) {
        verdict = c->ending_verdict;
        memcpy(reason, c->why, REASON_SIZE);
    }
    if (c->total.failures > 0 && verdict < CONDUCT_FAILED) {
        verdict = CONDUCT_FAILED;
        (void)snprintf(reason, REASON_SIZE, "%llu requests failed",
                       (unsigned long long)c->total.failures);
    }
    if (c->total.first_failure[0] != '\0' && verdict == CONDUCT_FAILED)
        append(reason, REASON_SIZE, "; the first: %s", c->total.first_failure);
    return verdict;
}

void verdict_spread(const struct conductor *c, uint64_t *ret_spread_ns,
                    uint64_t *ret_uncertainty_ns)
{
    const struct part *part;
    uint64_t first = UINT64_MAX, last = 0, uncertainty = 0;

    FOR_EACH_PART(c, host, part)
    {
        if (part->opened_first_ns == 0)
            continue;
        if (part->opened_first_ns < first)
            first = part->opened_first_ns;
        if (part->opened_last_ns > last)
            last = part->opened_last_ns;
        if (part->opened_uncertainty_ns > uncertainty)
            uncertainty = part->opened_uncertainty_ns;
    }
    *ret_spread_ns = last >= first ? last - first : UINT64_MAX;
    *ret_uncertainty_ns = uncertainty;
}

const char *conduct_verdict_name(enum conduct_verdict verdict)
{
    static const char *const names[CONDUCT_VERDICTS] = {
        [CONDUCT_COMPLETE] = "complete",
        [CONDUCT_DEGRADED] = "degraded",
        [CONDUCT_FAILED] = "failed",
        [CONDUCT_INTERRUPTED] = "interrupted",
    };

    return names[verdict];
}
