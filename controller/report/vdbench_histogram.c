/* vdbench_histogram.c - see vdbench_histogram.h. */
#include "controller/report/vdbench_histogram.h"

/* A character of a bar is so many per cent. */
#define BAR_PCT 2.0

static json_int_t sum_of(const json_t *counts)
{
    json_int_t sum = 0;

    for (size_t i = 0; i < json_array_size(counts); i++)
        sum += json_integer_value(json_array_get(counts, i));
    return sum;
}

json_int_t vdbench_histogram_count(const json_t *phase)
{
    return sum_of(read_path(phase, "histogram.all"));
}

/* The share of this range as '+', that of those before it as '-'. */
static void print_bar(FILE *out, double own, double before)
{
    int plus = (int)(own / BAR_PCT + 0.5);
    int both = (int)((own + before) / BAR_PCT + 0.5);

    for (int i = 0; i < both; i++)
        fputc(i < plus ? '+' : '-', out);
}

static void print_range(FILE *out, const json_t *edges, size_t at,
                        json_int_t count, double own, double before)
{
    double from =
        at == 0 ? 0 : json_number_value(json_array_get(edges, at - 1));

    fprintf(out, "%12.3f <", from / 1000);
    if (at < json_array_size(edges))
        fprintf(out, " %12.3f",
                json_number_value(json_array_get(edges, at)) / 1000);
    else
        fprintf(out, " %12s", "max");
    fprintf(out, " %14" JSON_INTEGER_FORMAT " %8.4f %8.4f", count, own,
            own + before);
    if (count > 0 || before > 0)
        fputs("  ", out);
    print_bar(out, own, before);
    fputc('\n', out);
}

static void print_table(FILE *out, const json_t *histogram, const char *key,
                        const char *title)
{
    const json_t *counts = json_object_get(histogram, key);
    const json_t *edges = json_object_get(histogram, "edges_us");
    bool suppress = json_is_true(json_object_get(histogram, "suppress"));
    double whole = (double)sum_of(counts);
    double before = 0;

    fprintf(out, "\n%s: %" JSON_INTEGER_FORMAT "\n\n", title, sum_of(counts));
    fputs("     min(ms) <      max(ms)          count       %%     cum%%  "
          "'+': own, '-': before; 2 % each\n",
          out);
    for (size_t i = 0; i < json_array_size(counts); i++) {
        json_int_t count = json_integer_value(json_array_get(counts, i));
        double share = whole > 0 ? 100.0 * (double)count / whole : 0;

        if (count > 0 || !suppress)
            print_range(out, edges, i, count, share, before);
        before += share;
    }
}

void vdbench_print_histogram(FILE *out, const json_t *phase)
{
    const json_t *histogram = json_object_get(phase, "histogram");
    bool reads = sum_of(json_object_get(histogram, "read")) > 0;
    bool writes = sum_of(json_object_get(histogram, "write")) > 0;

    print_table(out, histogram, "all",
                !writes  ? "Reads"
                : !reads ? "Writes"
                         : "Reads and writes");
    if (!reads || !writes)
        return;
    print_table(out, histogram, "read", "Reads");
    print_table(out, histogram, "write", "Writes");
}
