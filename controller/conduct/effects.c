#include "controller/conduct/conductor.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Events may come faster than effects are taken: the ring grows. */
static void make_room(struct conductor *c)
{
    uint32_t room = 2 * c->effect_room;
    struct conduct_effect *effects = calloc(room, sizeof(*effects));

    assert(effects != NULL);
    for (uint32_t i = 0; i < c->effect_count; i++)
        effects[i] = c->effects[(c->effect_first + i) % c->effect_room];
    free(c->effects);
    c->effects = effects;
    c->effect_room = room;
    c->effect_first = 0;
}

struct conduct_effect *effect_add(struct conductor *c,
                                  enum conduct_effect_kind kind)
{
    if (c->effect_count == c->effect_room)
        make_room(c);

    uint32_t at = (c->effect_first + c->effect_count++) % c->effect_room;
    struct conduct_effect *effect = &c->effects[at];

    *effect = (struct conduct_effect){
        .kind = kind,
        .phase = c->phase.number,
        .reason = "",
    };
    return effect;
}

struct conduct_effect *effect_add_host(struct conductor *c,
                                       enum conduct_effect_kind kind,
                                       uint32_t host)
{
    struct conduct_effect *effect = effect_add(c, kind);

    assert(part_is_up(&c->parts[host]));
    effect->host = host;
    return effect;
}

const char *effect_text(struct conductor *c, const char *text)
{
    size_t length = strlen(text) + 1;

    if (c->text_length > 0 && strcmp(c->last_text, text) == 0)
        return c->last_text;
    if (length > sizeof(c->texts) - c->text_length)
        return "(more happened at once than can be told)";

    char *copy = c->texts + c->text_length;

    memcpy(copy, text, length);
    c->text_length += (uint32_t)length;
    c->last_text = copy;
    return copy;
}

void effect_notice(struct conductor *c, const char *format, ...)
{
    char text[REASON_SIZE];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    effect_add(c, CONDUCT_NOTICE)->reason = effect_text(c, text);
}

bool conductor_take_effect(struct conductor *c,
                           struct conduct_effect *ret_effect)
{
    c->drained = c->effect_count == 0;
    if (c->drained)
        return false;
    *ret_effect = c->effects[c->effect_first];
    c->effect_first = (c->effect_first + 1) % c->effect_room;
    c->effect_count--;
    return true;
}
