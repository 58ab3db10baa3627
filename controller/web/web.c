#include "controller/web/web.h"

#include <string.h>

/* Each file from its place in the tree, between two symbols. */
#define EMBED(name, path)                                                      \
    extern const char web_##name[], web_##name##_end[];                        \
    __asm__(".pushsection .rodata\n"                                           \
            ".global web_" #name "\n"                                          \
            "web_" #name ":\n"                                                 \
            ".incbin \"" path "\"\n"                                           \
            ".global web_" #name "_end\n"                                      \
            "web_" #name "_end:\n"                                             \
            ".byte 0\n"                                                        \
            ".popsection\n")

EMBED(index, WEB_DIR "/index.html");
EMBED(style, WEB_DIR "/page.css");
EMBED(icon, WEB_DIR "/icon.svg");
EMBED(tools, WEB_DIR "/tools.js");
EMBED(charts, WEB_DIR "/charts.js");
EMBED(fleet, WEB_DIR "/fleet.js");
EMBED(live, WEB_DIR "/live.js");
EMBED(result, WEB_DIR "/result.js");
EMBED(campaigns, WEB_DIR "/campaigns.js");
EMBED(main, WEB_DIR "/main.js");
EMBED(uplot_script, WEB_UPLOT_JS);
EMBED(uplot_style, WEB_UPLOT_CSS);
EMBED(openapi, WEB_OPENAPI);

#define HTML   "text/html; charset=utf-8"
#define CSS    "text/css; charset=utf-8"
#define SCRIPT "text/javascript; charset=utf-8"

static const struct {
    const char *path;
    const char *type;
    const char *data;
    const char *end;
} files[] = {
    {"/", HTML, web_index, web_index_end},
    {"/page.css", CSS, web_style, web_style_end},
    {"/icon.svg", "image/svg+xml", web_icon, web_icon_end},
    {"/tools.js", SCRIPT, web_tools, web_tools_end},
    {"/charts.js", SCRIPT, web_charts, web_charts_end},
    {"/fleet.js", SCRIPT, web_fleet, web_fleet_end},
    {"/live.js", SCRIPT, web_live, web_live_end},
    {"/result.js", SCRIPT, web_result, web_result_end},
    {"/campaigns.js", SCRIPT, web_campaigns, web_campaigns_end},
    {"/main.js", SCRIPT, web_main, web_main_end},
    {"/uplot.js", SCRIPT, web_uplot_script, web_uplot_script_end},
    {"/uplot.css", CSS, web_uplot_style, web_uplot_style_end},
    {"/api/v1/openapi.json", "application/json", web_openapi, web_openapi_end},
};

bool web_find(const char *path, struct web_file *ret_file)
{
    for (size_t i = 0; i < ARRAY_LENGTH(files); i++) {
        if (strcmp(files[i].path, path) != 0)
            continue;
        *ret_file = (struct web_file){
            .type = files[i].type,
            .data = files[i].data,
            .length = (size_t)(files[i].end - files[i].data),
        };
        return true;
    }
    return false;
}
