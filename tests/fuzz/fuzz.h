/*
 * fuzz.h - what every fuzz target defines.
 *
 * A target takes any bytes, calls one parser or codec, and asserts what must be
 * true of whatever came out.  It returns 0, keeps no state, leaks nothing.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
