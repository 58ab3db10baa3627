/* svg.c - see svg.h. */
#include "controller/report/svg.h"

#include <math.h>
#include <string.h>

#define WIDTH     560.0
#define HEIGHT    216.0
#define LEFT      62.0
#define RIGHT     16.0
#define TOP       14.0
#define BOTTOM    40.0
#define TICKS     5
#define TICKS_MAX 40

/* An axis with its range, and where it is on the paper. */
struct scale {
    double min;
    double max;
    bool log;
    double from; /* pixels of min and max */
    double to;
};

void svg_print_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        case '\'':
            fputs("&#39;", out);
            break;
        default:
            fputc(*text, out);
        }
    }
}

/* ---- Ticks -----------------------------------------------------------------
 */

static void scaled(double value, const char *unit, char text[SVG_TICK_SIZE])
{
    (void)snprintf(text, SVG_TICK_SIZE, "%.4g%s", value, unit);
}

char *svg_tick(double value, enum svg_unit unit, char text[SVG_TICK_SIZE])
{
    double size = fabs(value);

    if (unit == SVG_PERCENT)
        scaled(value, " %", text);
    else if (unit == SVG_SECONDS)
        scaled(value, " s", text);
    else if (unit == SVG_US && size >= 1e6)
        scaled(value / 1e6, " s", text);
    else if (unit == SVG_US && size >= 1000)
        scaled(value / 1000, " ms", text);
    else if (unit == SVG_US)
        scaled(value, value == 0 ? "" : " \302\265s", text);
    else if (size >= 1e6)
        scaled(value / 1e6, "M", text);
    else if (size >= 1000)
        scaled(value / 1000, "k", text);
    else
        scaled(value, "", text);
    return text;
}

/* 1, 2 or 5 times a power of ten: so many steps fill the range, or fewer. */
static double nice_step(double range, int steps)
{
    double raw = range / steps;
    double power = pow(10, floor(log10(raw)));
    double lead = raw / power;

    return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

static size_t linear_ticks(const struct scale *s, double ticks[TICKS_MAX])
{
    double step = nice_step(s->max - s->min, TICKS);
    double first = ceil(s->min / step);
    size_t count = 0;

    for (double k = first; k * step <= s->max * 1.0000001; k++)
        if (count < TICKS_MAX)
            ticks[count++] = k * step;
    return count;
}

static size_t log_ticks(const struct scale *s, double ticks[TICKS_MAX])
{
    double decades = log10(s->max / s->min);
    size_t count = 0;

    for (double d = floor(log10(s->min)); d <= log10(s->max); d++) {
        static const double leads[] = {1, 2, 5};

        for (size_t i = 0; i < (decades > 3 ? 1 : ARRAY_LENGTH(leads)); i++) {
            double tick = leads[i] * pow(10, d);

            if (tick >= s->min * 0.999 && tick <= s->max * 1.001 &&
                count < TICKS_MAX)
                ticks[count++] = tick;
        }
    }
    return count;
}

/* ---- Scales ----------------------------------------------------------------
 */

static double place(const struct scale *s, double value)
{
    double part = s->log ? log(value / s->min) / log(s->max / s->min)
                         : (value - s->min) / (s->max - s->min);

    return s->from + (s->to - s->from) * fmin(fmax(part, 0), 1);
}

static void widen(struct scale *s, double value)
{
    if (!isfinite(value))
        return;
    s->min = fmin(s->min, value);
    s->max = fmax(s->max, value);
}

static struct scale scale_of(const struct svg_chart *chart, bool is_y)
{
    const struct svg_axis *axis = is_y ? &chart->y : &chart->x;
    struct scale s = {.min = INFINITY, .max = -INFINITY};

    for (size_t i = 0; i < chart->series_count; i++)
        for (size_t k = 0; k < chart->series[i].count; k++)
            widen(&s, is_y ? chart->series[i].y[k] : chart->series[i].x[k]);
    for (size_t i = 0; i < chart->mark_count; i++)
        widen(&s, is_y ? chart->marks[i].y : chart->marks[i].x);
    if (!(s.min <= s.max)) {
        s.min = 0;
        s.max = 1;
    }
    s.log = axis->log && s.min > 0 && s.max / s.min >= 8;
    if (axis->zero && !s.log)
        s.min = fmin(s.min, 0);
    s.from = is_y ? HEIGHT - BOTTOM : LEFT;
    s.to = is_y ? TOP : WIDTH - RIGHT;
    return s;
}

/* Room around the values, up to the next tick. */
static void round_out(struct scale *s)
{
    double step;

    if (s->log) {
        s->min /= 1.1;
        s->max *= 1.1;
        return;
    }
    if (s->max <= s->min)
        s->max = s->min + (s->min == 0 ? 1 : fabs(s->min) * 0.1);
    step = nice_step(s->max - s->min, TICKS);
    s->min = floor(s->min / step + 1e-9) * step;
    s->max = ceil(s->max / step - 1e-9) * step;
}

/* ---- Drawing ---------------------------------------------------------------
 */

static void print_y_axis(FILE *out, const struct svg_axis *axis,
                         const struct scale *s)
{
    double ticks[TICKS_MAX];
    size_t count = s->log ? log_ticks(s, ticks) : linear_ticks(s, ticks);
    char text[SVG_TICK_SIZE];

    for (size_t i = 0; i < count; i++) {
        double y = place(s, ticks[i]);

        fprintf(out,
                "<path class=\"grid\" d=\"M%.0f %.1fH%.0f\"/>"
                "<text class=\"y\" x=\"%.0f\" y=\"%.1f\">%s</text>",
                LEFT, y, WIDTH - RIGHT, LEFT - 6, y + 4,
                svg_tick(ticks[i], axis->unit, text));
    }
}

static void print_x_axis(FILE *out, const struct svg_axis *axis,
                         const struct scale *s)
{
    double ticks[TICKS_MAX];
    size_t count = s->log ? log_ticks(s, ticks) : linear_ticks(s, ticks);
    char text[SVG_TICK_SIZE];

    for (size_t i = 0; i < count; i++)
        fprintf(out, "<text class=\"x\" x=\"%.1f\" y=\"%.0f\">%s</text>",
                place(s, ticks[i]), HEIGHT - BOTTOM + 16,
                svg_tick(ticks[i], axis->unit, text));
    fprintf(out, "<path class=\"axis\" d=\"M%.0f %.0fH%.0f\"/>", LEFT,
            HEIGHT - BOTTOM, WIDTH - RIGHT);
    fprintf(out, "<text class=\"x label\" x=\"%.0f\" y=\"%.0f\">",
            (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6);
    svg_print_text(out, axis->label);
    fputs("</text>", out);
}

static bool is_point(const struct svg_series *series, size_t i)
{
    return isfinite(series->x[i]) && isfinite(series->y[i]);
}

static void print_line(FILE *out, const struct svg_series *series,
                       const struct scale *x, const struct scale *y)
{
    bool pen = false;

    fprintf(out, "<path class=\"line %s\" d=\"", series->style);
    for (size_t i = 0; i < series->count; i++) {
        if (is_point(series, i))
            fprintf(out, "%c%.1f %.1f", pen ? 'L' : 'M', place(x, series->x[i]),
                    place(y, series->y[i]));
        pen = is_point(series, i);
    }
    fputs("\"/>", out);
}

/* All in one path, of lines without length and round ends. */
static void print_points(FILE *out, const struct svg_series *series,
                         const struct scale *x, const struct scale *y)
{
    fprintf(out, "<path class=\"dots %s\" d=\"", series->style);
    for (size_t i = 0; i < series->count; i++)
        if (is_point(series, i))
            fprintf(out, "M%.1f %.1fh0", place(x, series->x[i]),
                    place(y, series->y[i]));
    fputs("\"/>", out);
}

static void print_steps(FILE *out, const struct svg_series *series,
                        const struct scale *x, const struct scale *y)
{
    double base = y->from;

    fprintf(out, "<path class=\"area %s\" d=\"", series->style);
    for (size_t i = 1; i < series->count; i++)
        if (is_point(series, i) && series->y[i] > 0)
            fprintf(out, "M%.1f %.1fV%.1fH%.1fV%.1fz",
                    place(x, series->x[i - 1]), base, place(y, series->y[i]),
                    place(x, series->x[i]), base);
    fputs("\"/>", out);
}

static void print_series(FILE *out, const struct svg_series *series,
                         const struct scale *x, const struct scale *y)
{
    if (series->form == SVG_STEPS)
        print_steps(out, series, x, y);
    if (series->form == SVG_LINE || series->form == SVG_LINE_POINTS)
        print_line(out, series, x, y);
    if (series->form == SVG_POINTS || series->form == SVG_LINE_POINTS)
        print_points(out, series, x, y);
}

/* The word stands on the side that has room. */
static void print_mark(FILE *out, const struct svg_mark *mark,
                       const struct scale *x, const struct scale *y)
{
    double at_x = place(x, mark->x);
    double at_y = place(y, mark->y);
    bool left = at_x > WIDTH * 0.7;
    bool below = at_y < TOP + 14;

    fprintf(out,
            "<circle class=\"mark\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/>"
            "<text class=\"mark\" x=\"%.1f\" y=\"%.1f\" "
            "text-anchor=\"%s\">",
            at_x, at_y, at_x + (left ? -9 : 9), at_y + (below ? 16 : -7),
            left ? "end" : "start");
    svg_print_text(out, mark->text);
    fputs("</text>", out);
}

void svg_print(FILE *out, const struct svg_chart *chart)
{
    struct scale x = scale_of(chart, false);
    struct scale y = scale_of(chart, true);

    if (chart->shade_to > 0)
        widen(&x, 0);
    round_out(&y);
    if (x.log || x.max <= x.min || chart->x.unit != SVG_SECONDS)
        round_out(&x);
    fprintf(out, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"",
            WIDTH, HEIGHT);
    svg_print_text(out, chart->title);
    fputs("\">", out);
    if (chart->shade_to > 0)
        fprintf(out,
                "<rect class=\"shade\" x=\"%.0f\" y=\"%.0f\" width=\"%.1f\" "
                "height=\"%.0f\"/>",
                LEFT, TOP, place(&x, chart->shade_to) - LEFT,
                HEIGHT - BOTTOM - TOP);
    print_y_axis(out, &chart->y, &y);
    print_x_axis(out, &chart->x, &x);
    for (size_t i = 0; i < chart->series_count; i++)
        print_series(out, &chart->series[i], &x, &y);
    for (size_t i = 0; i < chart->mark_count; i++)
        print_mark(out, &chart->marks[i], &x, &y);
    fputs("</svg>", out);
}
