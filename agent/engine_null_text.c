/* engine_null_text.c - constructed latencies as a text; see engine_null.h. */
#include "agent/engine_null.h"

#include "common/units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD_SIZE 64
#define PREFIX    "null:"

static int parse_count(const char *text, uint64_t *ret_count)
{
    char *end;
    unsigned long long count;

    if (*text < '0' || *text > '9')
        return -EINVAL;
    errno = 0;
    count = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0')
        return -EINVAL;
    *ret_count = count;
    return 0;
}

/* Cuts `word` at the first `separator`; NULL when there is none. */
static char *cut(char *word, char separator)
{
    char *at = strchr(word, separator);

    if (at == NULL)
        return NULL;
    *at = '\0';
    return at + 1;
}

static int parse_step(char *word, struct engine_null_text *text)
{
    char *latency = cut(word, 'x');
    uint64_t count = 1;
    uint64_t ns;

    if (text->step_count == ENGINE_NULL_STEPS)
        return -E2BIG;
    if (latency != NULL && (parse_count(word, &count) < 0 || count == 0 ||
                            count > UINT64_MAX / 2 - text->total))
        return -EINVAL;
    if (units_parse_time(latency != NULL ? latency : word, 0, &ns) < 0)
        return -EINVAL;
    text->count[text->step_count] = count;
    text->latency_ns[text->step_count++] = ns;
    text->total += count;
    return 0;
}

static int parse_error(char *value, struct engine_null_text *text)
{
    char *every = cut(value, '/');
    uint64_t error;

    if (every == NULL || parse_count(value, &error) < 0 || error == 0 ||
        error > 4095 || parse_count(every, &text->error_every) < 0 ||
        text->error_every == 0)
        return -EINVAL;
    text->error = (int)error;
    return 0;
}

static int parse_stall(char *value, struct engine_null_text *text)
{
    char *length = cut(value, '+');

    if (length == NULL || units_parse_time(value, 0, &text->stall_ns) < 0 ||
        units_parse_time(length, 0, &text->stall_length_ns) < 0)
        return -EINVAL;
    return 0;
}

static int parse_word(char *word, struct engine_null_text *text)
{
    char *value = cut(word, '=');

    if (value == NULL)
        return parse_step(word, text);
    if (strcmp(word, "hang") == 0)
        return parse_count(value, &text->hang);
    if (strcmp(word, "error") == 0)
        return parse_error(value, text);
    if (strcmp(word, "stall") == 0)
        return parse_stall(value, text);
    return -EINVAL;
}

int engine_null_parse(const char *text, struct engine_null_text *ret_text,
                      struct diag *diag)
{
    struct engine_null_text parsed = {.hang = UINT64_MAX};
    const char *at = text;

    if (strncmp(at, PREFIX, strlen(PREFIX)) != 0)
        return diag_set(diag, -EINVAL,
                        "engine '%s' does not begin with null:", text);
    for (at += strlen(PREFIX); *at != '\0';) {
        size_t length = strcspn(at, ",");
        char word[WORD_SIZE];

        if (length >= sizeof(word))
            return diag_set(diag, -EINVAL, "engine '%s': a word is too long",
                            text);
        memcpy(word, at, length);
        word[length] = '\0';
        if (parse_word(word, &parsed) < 0)
            return diag_set(diag, -EINVAL,
                            "engine '%s': '%.*s' is none of COUNTxTIME, "
                            "TIME, hang=N, error=ERRNO/N, stall=TIME+TIME",
                            text, (int)length, at);
        at += length + (at[length] == ',');
    }
    if (parsed.step_count == 0)
        return diag_set(diag, -EINVAL, "engine '%s' has no latency", text);
    *ret_text = parsed;
    return 0;
}

/* Nothing completes within the stall. */
static uint64_t stalled(const struct engine_null_text *text, uint64_t since_ns,
                        uint64_t latency_ns)
{
    uint64_t done_ns = since_ns + latency_ns;
    uint64_t over_ns = text->stall_ns + text->stall_length_ns;

    if (text->stall_length_ns == 0 || done_ns < text->stall_ns ||
        done_ns >= over_ns)
        return latency_ns;
    return over_ns - since_ns;
}

void engine_null_decide(const struct engine_null_text *text, uint64_t number,
                        uint64_t since_ns, struct engine_null_fate *fate)
{
    uint64_t place = number % text->total;
    uint32_t step = 0;

    while (place >= text->count[step])
        place -= text->count[step++];
    fate->latency_ns = stalled(text, since_ns, text->latency_ns[step]);
    if (text->error_every > 0 && (number + 1) % text->error_every == 0)
        fate->result = -text->error;
    if (number == text->hang)
        fate->latency_ns = ENGINE_NULL_NEVER;
}
