/*
 * apply_report.c - parameters about what is reported: histogram= and report=.
 */
#include "controller/language/apply.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define EDGE_MAX_S 10000.0

/* "20u", "1.5m", "2s": whole microseconds, above 0.  0: it is none. */
static uint64_t edge_us(const char *text)
{
    size_t length = strlen(text);
    struct number number = {0};
    char digits[32];
    double scale;

    if (length < 2 || length >= sizeof(digits))
        return 0;
    switch (text[length - 1]) {
    case 'u':
    case 'U':
        scale = 1;
        break;
    case 'm':
    case 'M':
        scale = 1e3;
        break;
    case 's':
    case 'S':
        scale = 1e6;
        break;
    default:
        return 0;
    }
    memcpy(digits, text, length - 1);
    digits[length - 1] = '\0';
    if (strspn(digits, "0123456789.") != length - 1 ||
        number_parse(digits, UNIT_COUNT, &number) < 0)
        return 0;

    double us = round(number.value * scale);

    if (us < 1 || us > EDGE_MAX_S * 1e6 ||
        fabs(us - number.value * scale) > 1e-6)
        return 0;
    return (uint64_t)us;
}

static int add_edge(struct reading *reading, const struct parameter *parameter,
                    struct definition_histogram *histogram,
                    const struct token *token)
{
    uint64_t us = edge_us(token->text);

    if (us == 0)
        return value_error(reading, parameter, token,
                           "expected a time of whole microseconds with u, m or "
                           "s, up to %gs, such as 20u, 1m or 2s, not '%s'",
                           EDGE_MAX_S, token->text);
    if (histogram->count > 0 && us <= histogram->edges_us[histogram->count - 1])
        return value_error(reading, parameter, token,
                           "the times of histogram= rise: '%s' is not above "
                           "the one before",
                           token->text);
    if (histogram->count == DEFINITION_EDGES_MAX)
        return value_error(reading, parameter, token,
                           "histogram= has more than %u times",
                           DEFINITION_EDGES_MAX);
    histogram->edges_us[histogram->count++] = us;
    return 0;
}

/* (default,20u,40u,...[,suppress]) */
APPLY(apply_histogram)
{
    struct definition_general *general = definition;
    struct definition_histogram histogram = {0};
    const struct token *last = &parameter->values[parameter->count - 1];
    uint32_t end = parameter->count;
    int err = 0;

    if (strcasecmp(parameter->values[0].text, "default") != 0)
        return value_error(reading, parameter, &parameter->values[0],
                           "histogram= begins with the word default: "
                           "histogram=(default,20u,40u,1m)");
    if (end > 1 && strcasecmp(last->text, "suppress") == 0) {
        histogram.suppress = true;
        end--;
    }
    for (uint32_t i = 1; i < end && err == 0; i++)
        err = add_edge(reading, parameter, &histogram, &parameter->values[i]);
    if (err == 0 && histogram.count == 0)
        err = value_error(reading, parameter, &parameter->values[0],
                          "histogram= names no times: "
                          "histogram=(default,20u,40u,1m)");
    if (err == 0)
        general->histogram = histogram;
    return err;
}

static const char *const reports[] = {"host_detail", "slave_detail",
                                      "no_sd_detail", "no_fsd_detail"};

/* Pages that there are none of here; a word that means nothing is an error. */
APPLY(apply_report_words)
{
    (void)definition;
    for (uint32_t i = 0; i < parameter->count; i++) {
        const struct token *token = &parameter->values[i];
        const char *near;
        bool known = false;

        for (uint32_t k = 0; k < ARRAY_LENGTH(reports); k++)
            known = known || strcasecmp(token->text, reports[k]) == 0;
        if (known)
            continue;
        near = suggest(token->text, reports, ARRAY_LENGTH(reports));
        return value_error(reading, parameter, token,
                           "expected host_detail, slave_detail, no_sd_detail "
                           "or no_fsd_detail, not '%s'%s%s%s",
                           token->text, near != NULL ? "; did you mean " : "",
                           near != NULL ? near : "", near != NULL ? "?" : "");
    }
    return 0;
}
