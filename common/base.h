/*
 * base.h - the few words every file of ours may use.
 */
#ifndef COMMON_BASE_H
#define COMMON_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MUST_CHECK         __attribute__((warn_unused_result))
#define PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))

/* Runs `function(&variable)` when the variable goes out of scope. */
#define CLEANUP(function) __attribute__((cleanup(function)))

/* Moves a pointer out of its variable, which becomes NULL. */
#define TAKE(pointer)                                                          \
    __extension__({                                                            \
        __typeof__(pointer) taken_ = (pointer);                                \
        (pointer) = NULL;                                                      \
        taken_;                                                                \
    })

#define ARRAY_LENGTH(array) (sizeof(array) / sizeof((array)[0]))

__extension__ typedef unsigned __int128 u128;

#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S  UINT64_C(1000000000)

/* The bounds of lockstep.proto, plus one for the final zero. */
#define NAME_SIZE   65
#define PATH_SIZE   1025
#define REASON_SIZE 1025
#define TEXT_SIZE   257

struct uuid {
    uint8_t bytes[16];
};

#endif
