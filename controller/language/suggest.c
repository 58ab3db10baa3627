/*
 * suggest.c - which known word somebody may have meant.
 */
#include "controller/language/internal.h"

#include <ctype.h>
#include <string.h>

#define WORD_MAX 32u

static uint32_t least(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* Inserted, lost, changed and swapped letters, case aside. */
static uint32_t edit_distance(const char *a, size_t a_length, const char *b,
                              size_t b_length)
{
    uint32_t rows[3][WORD_MAX + 1];

    for (uint32_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (uint32_t i = 1; i <= a_length; i++) {
        uint32_t *now = rows[i % 3];
        const uint32_t *one = rows[(i + 2) % 3];
        const uint32_t *two = rows[(i + 1) % 3];

        now[0] = i;
        for (uint32_t j = 1; j <= b_length; j++) {
            int x = tolower((unsigned char)a[i - 1]);
            int y = tolower((unsigned char)b[j - 1]);

            now[j] = least(one[j] + 1, now[j - 1] + 1, one[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
                y == tolower((unsigned char)a[i - 2]) &&
                two[j - 2] + 1 < now[j])
                now[j] = two[j - 2] + 1;
        }
    }
    return rows[a_length % 3][b_length];
}

const char *suggest(const char *word, const char *const *texts, uint32_t count)
{
    size_t length = strlen(word);
    const char *best = NULL;
    uint32_t best_distance = length < 4 ? 2 : length < 8 ? 3 : 4;

    if (length == 0 || length > WORD_MAX)
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        size_t other = strlen(texts[i]);

        if (other == 0 || other > WORD_MAX)
            continue;

        uint32_t distance = edit_distance(word, length, texts[i], other);

        if (distance < best_distance) {
            best = texts[i];
            best_distance = distance;
        }
    }
    return best;
}
