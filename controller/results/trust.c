#include "controller/results/trust.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUSY_PCT      95.0
#define LATE_US       1000.0
#define LATE_LEAST_US 100.0
#define LATE_PART     0.2
#define HELD_PART     0.01
#define PUT_OFF_PART  0.001
#define DIFFERS_PART  0.01
#define DIFFERS_LEAST 1048576.0
#define MIB           1048576.0

void trust_done(struct trust *trust)
{
    free(trust->flags);
    *trust = (struct trust){0};
}

static void raise_flag(struct trust *trust, enum record_scope scope,
                       uint32_t item, const char *word, const char *format, ...)
    PRINTF(5, 6);

static void raise_flag(struct trust *trust, enum record_scope scope,
                       uint32_t item, const char *word, const char *format, ...)
{
    struct trust_flag *more =
        realloc(trust->flags, (trust->count + 1) * sizeof(*more));
    struct trust_flag *flag;
    va_list arguments;

    if (more == NULL) {
        trust->failed = true;
        return;
    }
    trust->flags = more;
    flag = &more[trust->count++];
    flag->scope = scope;
    flag->item = item;
    flag->word = word;
    va_start(arguments, format);
    (void)vsnprintf(flag->text, sizeof(flag->text), format, arguments);
    va_end(arguments);
}

/* NAN is above nothing. */
static void judge_cpu(struct trust *trust, uint32_t host,
                      const struct figures *f)
{
    if (f->busiest_worker_pct >= BUSY_PCT)
        raise_flag(trust, RECORD_HOST, host, "worker_busy",
                   "a worker used %.0f %% of a CPU: the generator may be the "
                   "limit; more workers need more drives or CPUs",
                   f->busiest_worker_pct);
    if (f->host_cpu_pct >= BUSY_PCT)
        raise_flag(trust, RECORD_HOST, host, "host_busy",
                   "all CPUs of the host were %.0f %% busy, the agent had "
                   "%.0f %% of one: the host may be the limit",
                   f->host_cpu_pct, f->agent_cpu_pct);
}

static void judge_lateness(struct trust *trust, uint32_t host,
                           const struct figures *f)
{
    double late_us = f->late_mean_us;
    double response_us = f->all.response.mean_us;

    if (late_us > LATE_US ||
        (late_us > LATE_LEAST_US && late_us > LATE_PART * response_us))
        raise_flag(trust, RECORD_HOST, host, "late",
                   "arrivals were issued %.0f us late in the mean, %.0f at "
                   "most, of a mean response of %.0f us",
                   late_us, f->late_max_us, response_us);
}

static void judge_holds(struct trust *trust, uint32_t host,
                        const struct figures *f, uint64_t window_ns)
{
    double window_us = (double)window_ns / 1e3;
    char put_off[64] = "";

    if (!(f->held_us > HELD_PART * window_us) &&
        !((double)f->refused > PUT_OFF_PART * (double)f->all.ios))
        return; /* nothing is known of a host whose figures are no numbers */
    if (f->refused > 0)
        (void)snprintf(
            put_off, sizeof(put_off), ", and put off %llu submission%s",
            (unsigned long long)f->refused, f->refused == 1 ? "" : "s");
    raise_flag(trust, RECORD_HOST, host, "held",
               "the kernel kept workers back %llu time%s, %.0f ms in all%s",
               (unsigned long long)f->holds, f->holds == 1 ? "" : "s",
               f->held_us / 1e3, put_off);
}

void trust_judge_host(struct trust *trust, uint32_t host,
                      const struct figures *f, uint64_t window_ns)
{
    judge_cpu(trust, host, f);
    judge_lateness(trust, host, f);
    judge_holds(trust, host, f, window_ns);
}

static bool differs(uint64_t a, uint64_t b)
{
    double apart = fabs((double)a - (double)b);

    return apart > DIFFERS_LEAST &&
           apart > DIFFERS_PART * fmax((double)a, (double)b);
}

static void judge_counters(struct trust *trust, const struct device *device)
{
    const struct sample_drive *sum = &device->sum;
    const uint64_t *bytes = device->bytes;

    if (!sum->counted || sum->shared)
        return;
    if (differs(sum->read_bytes, bytes[SAMPLE_READ]) ||
        differs(sum->write_bytes, bytes[SAMPLE_WRITE]))
        raise_flag(trust, RECORD_DRIVE, sum->target, "device_differs",
                   "the device read %.1f MiB and wrote %.1f, the workers %.1f "
                   "and %.1f: others used it, or a cache answered",
                   (double)sum->read_bytes / MIB,
                   (double)sum->write_bytes / MIB,
                   (double)bytes[SAMPLE_READ] / MIB,
                   (double)bytes[SAMPLE_WRITE] / MIB);
}

/* Counters of a drive that was reset may go back. */
static uint64_t grown(uint64_t before, uint64_t after)
{
    return after > before ? after - before : 0;
}

static void judge_health(struct trust *trust, const struct device *device)
{
    const struct sample_health *before = &device->before;
    const struct sample_health *after = &device->after;
    uint64_t times = grown(before->throttles, after->throttles);
    uint64_t seconds = grown(before->throttled_s, after->throttled_s);
    uint64_t errors = grown(before->media_errors, after->media_errors);

    if (times > 0 || seconds > 0 || device->sum.health.hot)
        raise_flag(trust, RECORD_DRIVE, device->sum.target, "throttled",
                   "the drive slowed down %llu times for its temperature, for "
                   "%llu s; %.0f degrees Celsius at most",
                   (unsigned long long)times, (unsigned long long)seconds,
                   device->hottest_mc / 1000.0);
    if (errors > 0)
        raise_flag(trust, RECORD_DRIVE, device->sum.target, "media_errors",
                   "the drive counted %llu media errors more",
                   (unsigned long long)errors);
}

void trust_judge_drive(struct trust *trust, const struct device *device)
{
    judge_counters(trust, device);
    judge_health(trust, device);
}
