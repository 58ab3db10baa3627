/*
 * pattern.c - how fast bytes to write are made: GB a second of one core.
 *
 * `fill` is what a phase does once, before its start; `stamp` is what a write
 * of so many bytes does in the loop.
 */
#include "agent/pattern.h"
#include "common/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES   (64u << 20)
#define REPEATS 5

static uint8_t *memory;
static struct pattern pattern;

static void fill(uint32_t length)
{
    pattern_fill(memory, BYTES, length);
}

static void fill_compressed(uint32_t length)
{
    pattern_fill(memory, BYTES, length);
    pattern_compress(memory, BYTES, 2);
}

static void stamp(uint32_t length)
{
    for (uint32_t at = 0; at < BYTES; at += length)
        pattern_stamp(&pattern, memory + at, length);
}

static int by_value(const void *a, const void *b)
{
    double difference = *(const double *)a - *(const double *)b;

    return difference < 0 ? -1 : difference > 0;
}

static void measure(const char *name, void (*run)(uint32_t), uint32_t length)
{
    double rates[REPEATS];

    run(length); /* warm */
    for (int i = 0; i < REPEATS; i++) {
        uint64_t begin_ns = clock_now_ns(clock_os());

        run(length);
        rates[i] =
            (double)BYTES / (double)(clock_now_ns(clock_os()) - begin_ns);
    }
    qsort(rates, REPEATS, sizeof(*rates), by_value);
    printf("%-24s %8u %9.2f\n", name, length, rates[REPEATS / 2]);
}

int main(void)
{
    memory = malloc(BYTES);
    if (memory == NULL)
        return 1;
    memset(memory, 1, BYTES);
    pattern_init(&pattern, 7);
    printf("%-24s %8s %9s\n", "", "bytes", "GB/s");
    measure("fill", fill, 0);
    measure("fill, compratio=2", fill_compressed, 0);
    for (uint32_t length = 4096; length <= 1u << 20; length *= 16)
        measure("stamp", stamp, length);
    free(memory);
    return 0;
}
