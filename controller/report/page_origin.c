/* page_origin.c - see page_inside.h. */
#include "controller/report/page_inside.h"

#include <string.h>

#include "common/units.h"
#include "controller/report/curve.h"

/* Of the drives' table; a campaign may have thousands. */
#define DRIVES_MAX 500u

/* A fact of the inventory where there is one, else the store's own. */
static const char *fact(const json_t *object, const char *key)
{
    char path[64];
    const char *text;

    (void)snprintf(path, sizeof(path), "facts.%s", key);
    text = read_text(object, path);
    return text[0] != '\0' ? text : read_text(object, key);
}

static void print_size_cell(FILE *out, double bytes)
{
    char text[UNITS_SIZE];

    page_text_cell(out, bytes > 0 ? units_print_capacity(text, (uint64_t)bytes)
                                  : "");
}

static void print_hosts(const struct page *page, FILE *out)
{
    const json_t *hosts = json_object_get(page->head, "hosts");

    fputs("<h3>Hosts</h3><div class=\"wide\"><table><thead><tr>"
          "<th class=\"t\">Host</th><th class=\"t\">Agent</th>"
          "<th class=\"t\">Address</th><th class=\"t\">Version</th>"
          "<th class=\"t\">System</th><th class=\"t\">Kernel</th>"
          "<th class=\"t\">Processor</th><th>CPUs</th>"
          "<th class=\"t\">Memory</th></tr></thead><tbody>\n",
          out);
    for (size_t i = 0; i < json_array_size(hosts); i++) {
        const json_t *host = json_array_get(hosts, i);

        fputs("<tr>", out);
        page_text_cell(out, read_text(host, "name"));
        page_text_cell(out, read_text(host, "agent"));
        page_text_cell(out, read_text(host, "address"));
        page_text_cell(out, read_text(host, "version"));
        page_text_cell(out, fact(host, "os"));
        page_text_cell(out, fact(host, "kernel"));
        page_text_cell(out, fact(host, "cpu_model"));
        page_figure_cell(out, host, "facts.cpus", PAGE_WHOLE);
        print_size_cell(out, read_or_zero(host, "facts.memory_bytes"));
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

static void print_drive(FILE *out, const json_t *drive)
{
    double device = read_or_zero(drive, "device_bytes");

    fputs("<tr>", out);
    page_text_cell(out, read_text(drive, "host"));
    page_text_cell(out, read_text(drive, "sd"));
    page_text_cell(out, read_text(drive, "lun"));
    page_text_cell(out, fact(drive, "model"));
    page_text_cell(out, fact(drive, "firmware"));
    page_text_cell(out, fact(drive, "serial"));
    page_text_cell(out, fact(drive, "wwn"));
    print_size_cell(out,
                    device > 0 ? device : read_or_zero(drive, "size_bytes"));
    print_size_cell(out, read_or_zero(drive, "size_bytes"));
    page_figure_cell(out, drive, "logical_block", PAGE_WHOLE);
    page_text_cell(out, json_is_true(json_object_get(drive, "written")) ? "yes"
                                                                        : "no");
    fputs("</tr>\n", out);
}

static void print_drives(const struct page *page, FILE *out)
{
    const json_t *drives = json_object_get(page->head, "drives");
    size_t count = json_array_size(drives);

    fputs("<h3>Drives</h3><div class=\"wide\"><table><thead><tr>"
          "<th class=\"t\">Host</th><th class=\"t\">sd</th>"
          "<th class=\"t\">lun</th><th class=\"t\">Model</th>"
          "<th class=\"t\">Firmware</th><th class=\"t\">Serial</th>"
          "<th class=\"t\">WWN</th><th class=\"t\">Capacity</th>"
          "<th class=\"t\">Used</th><th>Block</th>"
          "<th class=\"t\">Written</th></tr></thead><tbody>\n",
          out);
    for (size_t i = 0; i < count && i < DRIVES_MAX; i++)
        print_drive(out, json_array_get(drives, i));
    fputs("</tbody></table></div>\n", out);
    if (count > DRIVES_MAX)
        fprintf(out,
                "<p class=\"note\">%u of %zu are listed; all are in the JSON "
                "export.</p>\n",
                DRIVES_MAX, count);
}

static void print_files(const struct page *page, FILE *out)
{
    const json_t *texts = json_object_get(page->head, "texts");
    const json_t *variables = json_object_get(page->head, "variables");

    fputs("<h3>Parameter file</h3>\n", out);
    for (size_t i = 0; i < json_array_size(texts); i++) {
        const json_t *file = json_array_get(texts, i);

        fputs("<p><code>", out);
        page_text(out, read_text(file, "name"));
        fputs("</code></p>\n<pre>", out);
        page_text(out, read_file_text(file));
        fputs("</pre>\n", out);
    }
    if (json_array_size(variables) > 0)
        fputs("<p>With ", out);
    for (size_t i = 0; i < json_array_size(variables); i++) {
        const char *text = json_string_value(json_array_get(variables, i));

        fputs("<code>", out);
        page_text(out, text != NULL ? text : "");
        fputs("</code> ", out);
    }
    if (json_array_size(variables) > 0)
        fputs("</p>\n", out);
}

static void print_definitions(const struct page *page, FILE *out)
{
    fputs("<h2 id=\"method\">How to read it</h2>\n<dl>"
          "<dt>Rates</dt><dd>",
          out);
    page_text(out, read_text(page->head, "rates"));
    fputs(".</dd><dt>Service</dt><dd>From submission to completion. Curves, "
          "peaks and outliers use it.</dd>"
          "<dt>Response</dt><dd>From the intended start to completion: a stall "
          "that holds back later arrivals is in it. A closed loop has no "
          "intended start.</dd>"
          "<dt>Percentiles</dt><dd>Of merged histograms, never averaged; at "
          "most 0.8 % above the true value, and never below it. One with fewer "
          "than ten samples beyond it is not shown.</dd>"
          "<dt>In flight</dt><dd>The mean, by Little's law: the sum of service "
          "times over the window.</dd>"
          "<dt>Peak and pre-spike</dt><dd>",
          out);
    fputs(curve_rule, out);
    fputs("</dd><dt>Outliers</dt><dd>", out);
    fputs(outlier_rule, out);
    fputs("</dd></dl>\n", out);
}

void page_print_origin(const struct page *page, FILE *out)
{
    fputs("<h2 id=\"origin\">What it was run on</h2>\n", out);
    print_hosts(page, out);
    print_drives(page, out);
    print_files(page, out);
    print_definitions(page, out);
    fputs("<footer>Made by lockstep " LOCKSTEP_VERSION " from campaign ", out);
    page_text(out, read_text(page->head, "id"));
    fputs(".</footer>\n", out);
}
