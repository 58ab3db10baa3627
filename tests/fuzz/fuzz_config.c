/*
 * A configuration file: settings that keep their bounds, or one error that
 * names the file and a line.
 */
#include <assert.h>
#include <string.h>

#include "common/config.h"
#include "tests/fuzz/fuzz.h"

struct settings {
    char name[NAME_SIZE];
    char text[TEXT_SIZE];
    char keys[PATH_SIZE];
    uint64_t lease_ns;
    uint64_t memory;
    struct config_list offers;
    bool private;
    uint32_t most;
};

#define FIELD(name) offsetof(struct settings, name)

static const struct config_key rows[] = {
    {"keys", NULL, FIELD(keys), config_parse_path, "FILE", "", CONFIG_ONCE},
    {"lease", "30s", FIELD(lease_ns), config_parse_time, "TIME", "",
     CONFIG_ONCE},
    {"memory", "1g", FIELD(memory), config_parse_size, "SIZE", "", CONFIG_ONCE},
    {"most", "7", FIELD(most), config_parse_count, "N", "", CONFIG_ONCE},
    {"name", "host", FIELD(name), config_parse_name, "NAME", "", CONFIG_ONCE},
    {"offer", NULL, FIELD(offers), config_parse_list, "PATTERN", "",
     CONFIG_REPEATS},
    {"private", "no", FIELD(private), config_parse_bool, NULL, "", CONFIG_ONCE},
    {"text", "", FIELD(text), config_parse_text, "TEXT", "", CONFIG_ONCE},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct config_table table = {rows, ARRAY_LENGTH(rows)};
    struct settings settings;
    struct diag diag;
    int r;

    memset(&settings, 0, sizeof(settings));
    memset(&diag, 0, sizeof(diag));
    config_defaults(&table, &settings);
    r = config_read_text(&table, &settings, (const char *)data, size, "fuzz",
                         &diag);
    assert(r <= 0);
    if (r < 0)
        assert(diag.err == r && strncmp(diag.text, "fuzz: line ", 11) == 0);
    assert(strlen(settings.name) < NAME_SIZE);
    assert(strlen(settings.text) < TEXT_SIZE);
    assert(settings.lease_ns >> 63 == 0 && settings.memory >> 63 == 0);
    assert(settings.offers.count <= CONFIG_VALUES_MAX);
    config_list_done(&settings.offers);
    return 0;
}
