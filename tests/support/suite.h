/*
 * suite.h - what every unit test's main does.
 *
 * TEST_SEED=N repeats the random choices of a failed run.
 */
#ifndef TESTS_SUPPORT_SUITE_H
#define TESTS_SUPPORT_SUITE_H

#include <check.h>
#include <stdint.h>

/* Runs the suite and frees it; the exit status of main(). */
int suite_run(Suite *suite);

/* Of TEST_SEED, else from the time.  Put it into what a failure prints. */
uint64_t suite_seed(void);

/* A fresh directory, removed with all it holds when the process (of the test:
 * suites run forked) exits.  Not freed. */
const char *suite_directory(void);

/* The same in memory, for many small files; below /dev/shm where there is one.
 */
const char *suite_memory_directory(void);

#endif
