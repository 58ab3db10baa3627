/*
 * apply_dedup.c - dedupratio= and its kin, of the general part and of sd=.
 */
#include "controller/language/apply.h"

#include "common/arena.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define HOT_SETS_MAX 1000000u

static int dedup_ratio(struct reading *reading, struct definition_dedup *dedup,
                       const struct parameter *parameter)
{
    struct number number;
    int err = value_number(reading, parameter, UNIT_COUNT, &number);

    if (err < 0)
        return err;
    if (number.is_percent || number.value < 1 || number.value > 1000)
        return value_error(reading, parameter, number.token,
                           "dedupratio=%s is not a ratio from 1 to 1000",
                           number.token->text);
    dedup->ratio = number.value;
    dedup->place = number.token->place;
    return 0;
}

static int dedup_unit(struct reading *reading, struct definition_dedup *dedup,
                      const struct parameter *parameter)
{
    uint64_t bytes;
    int err = apply_blocks(reading, parameter, 64u << 20, &bytes);

    if (err < 0)
        return err;
    if (bytes == 0)
        return value_error(reading, parameter, &parameter->values[0],
                           "dedupunit= is a size above 0");
    dedup->unit = (uint32_t)bytes;
    dedup->unit_place = parameter->place;
    return 0;
}

static int dedup_sets(struct reading *reading, struct definition_dedup *dedup,
                      const struct parameter *parameter)
{
    struct number number;
    int err = value_number(reading, parameter, UNIT_COUNT, &number);

    if (err < 0)
        return err;
    if (number.value <= 0 || (number.is_percent && number.value > 100) ||
        (!number.is_percent && number.value < 1) || number.value > 1e12)
        return value_error(reading, parameter, number.token,
                           "dedupsets=%s is neither a number from 1 on nor a "
                           "percentage",
                           number.token->text);
    if (!number.is_percent)
        value_whole(reading, parameter, &number);
    dedup->sets = number.value;
    dedup->sets_is_percent = number.is_percent;
    return 0;
}

/* deduphotsets=(10,2,20,5): ten sets of two, then twenty of five. */
static int dedup_hot(struct reading *reading, struct definition_dedup *dedup,
                     const struct parameter *parameter)
{
    struct number *numbers;
    uint32_t count;
    double units = 0;
    int err = value_numbers(reading, parameter, UNIT_COUNT, &numbers, &count);

    if (err < 0)
        return err;
    if (count % 2 != 0 || count / 2 > DEFINITION_HOT_MAX)
        return value_error(reading, parameter, NULL,
                           "deduphotsets= takes up to %u pairs of sets and "
                           "their duplicates, as in deduphotsets=(10,2,20,5)",
                           DEFINITION_HOT_MAX);
    for (uint32_t i = 0; i < count; i++) {
        if (numbers[i].is_percent || numbers[i].value < 1 ||
            numbers[i].value > HOT_SETS_MAX)
            return value_error(reading, parameter, numbers[i].token,
                               "deduphotsets=%s is not a number from 1 to %u",
                               numbers[i].token->text, HOT_SETS_MAX);
        value_whole(reading, parameter, &numbers[i]);
    }
    for (uint32_t i = 0; i < count / 2; i++) {
        dedup->hot[i] = (struct definition_hot){
            (uint32_t)numbers[2 * i].value, (uint32_t)numbers[2 * i + 1].value};
        units += numbers[2 * i].value * numbers[2 * i + 1].value;
    }
    if (units > HOT_SETS_MAX)
        return value_error(reading, parameter, NULL,
                           "deduphotsets= has %.0f duplicates, at most %u are "
                           "possible",
                           units, HOT_SETS_MAX);
    dedup->hot_count = count / 2;
    dedup->hot_place = parameter->place;
    return 0;
}

static int dedup_flip(struct reading *reading, struct definition_dedup *dedup,
                      const struct parameter *parameter)
{
    static const struct {
        const char *word;
        enum definition_flip flip;
    } words[] = {
        {"no", DEFINITION_FLIP_NO},   {"n", DEFINITION_FLIP_NO},
        {"yes", DEFINITION_FLIP_YES}, {"y", DEFINITION_FLIP_YES},
        {"hot", DEFINITION_FLIP_HOT}, {"hotsets", DEFINITION_FLIP_HOT},
    };
    const struct token *token;
    int err = value_word(reading, parameter, &token);
    size_t i = 0;

    if (err < 0)
        return err;
    while (i < ARRAY_LENGTH(words) &&
           strcasecmp(token->text, words[i].word) != 0)
        i++;
    if (i == ARRAY_LENGTH(words))
        return value_error(reading, parameter, token,
                           "expected yes, no or hot, not '%s'", token->text);
    dedup->flip = words[i].flip;
    dedup->flip_given = true;
    dedup->flip_place = token->place;
    return 0;
}

static int dedup_across(struct reading *reading, struct definition_dedup *dedup,
                        const struct parameter *parameter)
{
    bool across = true;
    int err = value_yes(reading, parameter, &across);

    dedup->places_alike = !across;
    dedup->across_given = true;
    return err;
}

/* ---- one function a parameter, for both sections ---- */

/* What an sd says itself, its duplicates are its own. */
static struct definition_dedup *own(struct reading *reading, void *definition)
{
    struct sd_building *building = definition;

    building->dedup.bucket = ++reading->dedup_buckets;
    return &building->dedup;
}

#define BOTH(name, function)                                                   \
    APPLY(apply_##name)                                                        \
    {                                                                          \
        struct definition_general *general = definition;                       \
                                                                               \
        return function(reading, &general->dedup, parameter);                  \
    }                                                                          \
    APPLY(apply_sd_##name)                                                     \
    {                                                                          \
        return function(reading, own(reading, definition), parameter);         \
    }

BOTH(dedupratio, dedup_ratio)
BOTH(dedupsets, dedup_sets)
BOTH(deduphotsets, dedup_hot)
BOTH(dedupflipflop, dedup_flip)

APPLY(apply_dedupacross)
{
    struct definition_general *general = definition;

    return dedup_across(reading, &general->dedup, parameter);
}

APPLY(apply_dedupunit)
{
    struct definition_general *general = definition;

    return dedup_unit(reading, &general->dedup, parameter);
}

APPLY(apply_sd_dedupunit)
{
    struct sd_building *building = definition;

    return dedup_unit(reading, &building->dedup, parameter);
}

/* ---- all in one ---- */

/* The parameter that a key of dedup=(ratio=2,unit=4k) stands for. */
static const struct parameter_kind *kind_of(struct reading *reading,
                                            const struct parameter *parameter,
                                            const struct token *token,
                                            const char *key)
{
    const struct parameter_kind *kind = NULL;
    char name[32];

    if (strlen(key) < sizeof(name) - sizeof("dedup") && key[0] != '\0') {
        (void)snprintf(name, sizeof(name), "dedup%s", key);
        kind = parameter_find(parameter->kind->section, name);
    }
    if (kind == NULL || strcmp(kind->name, name) != 0 || kind->apply == NULL) {
        (void)value_error(reading, parameter, token,
                          "'%s' is nothing that dedup= knows: ratio, unit, "
                          "sets, hotsets, flipflop, across",
                          key);
        return NULL;
    }
    return kind;
}

/* As if each key had been written as a parameter of its own. */
APPLY(apply_dedup)
{
    struct token *values =
        ARENA_ARRAY(reading->arena, parameter->count, struct token);
    const char *key = NULL;
    uint32_t i = 0;

    if (values == NULL)
        return -ENOMEM;
    while (i < parameter->count) {
        const struct token *first = &parameter->values[i];
        struct parameter one = {.place = first->place, .values = values};
        const char *before = NULL, *text;
        int err;

        do {
            err = value_keyed(reading, parameter, i, &key, &text);
            if (err < 0)
                return err;
            if (before != NULL && key != before)
                break;
            before = key;
            if (text != NULL) {
                values[one.count] = parameter->values[i];
                values[one.count++].text = text;
            }
        } while (++i < parameter->count);
        one.kind = kind_of(reading, parameter, first, before);
        if (one.kind == NULL)
            return -EINVAL;
        one.keyword = one.kind->name;
        one.is_list = one.count > 1;
        err = one.kind->apply(reading, definition, &one);
        if (err < 0)
            return err;
        key = before;
        values = ARENA_ARRAY(reading->arena, parameter->count, struct token);
        if (values == NULL)
            return -ENOMEM;
    }
    return 0;
}
