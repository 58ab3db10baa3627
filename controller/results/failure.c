#include "controller/results/failure.h"

#include "controller/results/sample.h"

#include <stdio.h>
#include <string.h>

const char *failure_code(uint32_t err, char text[NAME_SIZE])
{
    const char *name =
        err <= FAILURE_ERRNO_MAX ? strerrorname_np((int)err) : NULL;

    if (err == 0)
        name = "SHORT";
    if (name != NULL)
        (void)snprintf(text, NAME_SIZE, "%s", name);
    else
        (void)snprintf(text, NAME_SIZE, "E%u", err);
    return text;
}

const char *failure_words(uint32_t err, char text[TEXT_SIZE])
{
    const char *words =
        err <= FAILURE_ERRNO_MAX ? strerrordesc_np((int)err) : NULL;

    if (err == 0)
        words = "transferred less than asked for";
    (void)snprintf(text, TEXT_SIZE, "%s",
                   words == NULL ? "an error without a name" : words);
    return text;
}

const char *failure_op(uint32_t op)
{
    static const char *const names[SAMPLE_OPS] = {
        [SAMPLE_READ] = "read",
        [SAMPLE_WRITE] = "write",
    };

    return op < SAMPLE_OPS ? names[op] : "?";
}

void failure_sentence(const char *drive, uint32_t op, uint64_t offset,
                      uint32_t length, uint32_t err, char *text, size_t size)
{
    char code[NAME_SIZE], words[TEXT_SIZE];

    (void)snprintf(text, size, "%s of %u bytes at %llu on %s: %s, %s",
                   failure_op(op), length, (unsigned long long)offset, drive,
                   failure_code(err, code), failure_words(err, words));
}
