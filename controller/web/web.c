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

EMBED(openapi, WEB_OPENAPI);

static const struct {
    const char *path;
    const char *type;
    const char *data;
    const char *end;
} files[] = {
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
