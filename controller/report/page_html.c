/* page_html.c - see page_inside.h. */
#include "controller/report/page_inside.h"

#include <math.h>
#include <string.h>

#include "controller/report/svg.h"

#define DASH "\342\200\223"

void page_text(FILE *out, const char *text)
{
    svg_print_text(out, text);
}

static int decimals_of(double value, enum page_form form)
{
    double size = fabs(value);

    if (form == PAGE_WHOLE || value == 0)
        return 0;
    if (form == PAGE_PERCENT)
        return 1;
    return size >= 100 ? 0 : size >= 10 ? 1 : 2;
}

void page_number(FILE *out, double value, enum page_form form)
{
    char text[READ_DIGITS_SIZE];
    size_t whole;

    (void)snprintf(text, sizeof(text), "%.*f", decimals_of(value, form), value);
    whole = strcspn(text, ".");
    for (size_t i = 0; text[i] != '\0'; i++) {
        if (i > 0 && i < whole && (whole - i) % 3 == 0 && text[i - 1] != '-')
            fputc(',', out);
        fputc(text[i], out);
    }
}

void page_figure(FILE *out, const json_t *object, const char *path,
                 enum page_form form)
{
    const json_t *value = read_path(object, path);
    char text[READ_DIGITS_SIZE];

    if (!json_is_number(value)) {
        fputs(DASH, out);
        return;
    }
    fprintf(out, "<data value=\"%s\">", read_digits(value, text));
    page_number(out, json_number_value(value), form);
    fputs("</data>", out);
}

void page_figure_cell(FILE *out, const json_t *object, const char *path,
                      enum page_form form)
{
    fputs("<td>", out);
    page_figure(out, object, path, form);
    fputs("</td>", out);
}

void page_text_cell(FILE *out, const char *text)
{
    fputs("<td class=\"t\">", out);
    page_text(out, text[0] != '\0' ? text : DASH);
    fputs("</td>", out);
}

void page_badge(FILE *out, const char *verdict)
{
    const char *word = verdict[0] != '\0' ? verdict : "not over";

    fprintf(out, "<span class=\"badge %s\">",
            verdict[0] != '\0' ? verdict : "none");
    page_text(out, word);
    fputs("</span>", out);
}

void page_run_link(FILE *out, const json_t *phase)
{
    const char *loops = read_text(phase, "for");

    fprintf(out, "<a href=\"#run%lld\">",
            (long long)read_count(phase, "phase"));
    page_text(out, read_text(phase, "run"));
    fputs("</a>", out);
    if (loops[0] == '\0')
        return;
    fputs(" <small>", out);
    page_text(out, loops);
    fputs("</small>", out);
}

void page_key(FILE *out, const char *style, const char *text)
{
    fprintf(out, "<span class=\"key %s\">", style);
    page_text(out, text);
    fputs("</span> ", out);
}

FILE *page_finding(struct page *page, const json_t *phase)
{
    page->finding_count++;
    fputs("<li>", page->findings);
    page_run_link(page->findings, phase);
    fputs(": ", page->findings);
    return page->findings;
}

size_t page_base_length(const char *run)
{
    const char *end = strstr(run, "_(");

    return end != NULL ? (size_t)(end - run) : strlen(run);
}

void page_choices(FILE *out, unsigned figure, const char *const *names,
                  size_t count)
{
    for (size_t i = 0; i < count; i++)
        fprintf(out,
                "<input type=\"radio\" name=\"y%u\" id=\"y%u-%zu\"%s>"
                "<label for=\"y%u-%zu\">%s</label>\n",
                figure, figure, i, i == 0 ? " checked" : "", figure, i,
                names[i]);
}

void page_choice(FILE *out)
{
    fputs("<div class=\"choice\">", out);
}
