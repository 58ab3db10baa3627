/*
 * text.h - texts that may go anywhere: into messages, documents, the store, a
 * terminal.
 *
 * What is plain is UTF-8 without control characters (those of Unicode's C1
 * block and DEL among them), without surrogates and overlong forms.  Every door
 * by which a text comes in uses this one measure, so that what one program
 * accepts no other refuses.
 *
 * Threads: any; no state.
 */
#ifndef COMMON_TEXT_H
#define COMMON_TEXT_H

#include "common/base.h"

/* Bytes of the plain character at `at`, which ends with a zero somewhere; 0
 * where there is none, the zero itself included. */
size_t text_character(const char *at) MUST_CHECK;

bool text_is_plain(const char *text) MUST_CHECK;

/* Puts '?' in the place of every byte that is not part of a plain character,
 * but leaves the bytes in `keep` ("\n\t", or ""). */
void text_make_plain(char *text, const char *keep);

#endif
