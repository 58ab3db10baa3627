/*
 * pattern_ratio.h - how well bytes compress, measured.
 *
 * What it is for: the result says beside the asked ratio what a drive really
 * gets.  Measured with zlib's fastest level on pieces of 4 KiB, the smallest
 * that drives compress; larger pieces and better compressors come closer to
 * what was asked.
 *
 * Threads: any; no state.
 */
#ifndef AGENT_PATTERN_RATIO_H
#define AGENT_PATTERN_RATIO_H

#include "common/base.h"

#define PATTERN_RATIO_BYTES (1u << 20) /* of a longer memory */

/* Bytes before by bytes after; a piece that grows counts as stored.  0: too
 * short, or no memory. */
double pattern_ratio(const void *memory, size_t length);

/* The same in pieces of `piece` bytes. */
double pattern_ratio_of(const void *memory, size_t length, size_t piece);

#endif
