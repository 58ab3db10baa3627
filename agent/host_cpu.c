/* host_cpu.c - see host_cpu.h. */
#include "agent/host_cpu.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint64_t count_cpus(const char *text)
{
    uint64_t count = 0;

    for (const char *at = text; at != NULL; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, "cpu", 3) == 0 && at[3] >= '0' && at[3] <= '9')
            count++;
    }
    return count;
}

int host_cpu_parse(const char *text, uint64_t ticks, struct host_cpu *ret_cpu)
{
    uint64_t user, nice, system, idle, iowait, irq, softirq;
    uint64_t tick_ns = NS_PER_S / ticks;

    if (sscanf(text,
               "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
               " %" SCNu64 " %" SCNu64,
               &user, &nice, &system, &idle, &iowait, &irq, &softirq) != 7)
        return -EBADMSG;
    ret_cpu->system_ns = (system + irq + softirq) * tick_ns;
    ret_cpu->busy_ns = (user + nice) * tick_ns + ret_cpu->system_ns;
    ret_cpu->cpus = count_cpus(text);
    return 0;
}

/* All threads of the process, those of io_uring in the kernel included. */
static uint64_t agent_cpu_ns(void)
{
    struct timespec time;

    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) != 0)
        return 0;
    return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

static void look(struct host_cpu *cpu, uint64_t now_ns)
{
    char text[16384]; /* the first lines are those of the CPUs */
    FILE *file = fopen("/proc/stat", "re");
    size_t length = 0;

    cpu->at_ns = now_ns;
    cpu->agent_ns = agent_cpu_ns();
    if (file == NULL)
        return;
    length = fread(text, 1, sizeof(text) - 1, file);
    text[length] = '\0';
    (void)fclose(file);
    (void)host_cpu_parse(text, (uint64_t)sysconf(_SC_CLK_TCK), cpu);
}

static uint64_t since(uint64_t now, uint64_t before)
{
    return now > before ? now - before : 0;
}

void host_cpu_init(struct host_cpu *cpu, uint64_t now_ns)
{
    memset(cpu, 0, sizeof(*cpu));
    look(cpu, now_ns);
}

void host_cpu_since(struct host_cpu *cpu, uint64_t now_ns,
                    struct row_host *ret_host)
{
    struct host_cpu before = *cpu;

    look(cpu, now_ns);
    ret_host->host_cpu_ns = since(cpu->busy_ns, before.busy_ns);
    ret_host->host_system_ns = since(cpu->system_ns, before.system_ns);
    ret_host->agent_cpu_ns = since(cpu->agent_ns, before.agent_ns);
    ret_host->capacity_ns = cpu->cpus * since(now_ns, before.at_ns);
}
