#include "controller/results/device.h"

#include <errno.h>
#include <math.h>

#define DEVICE_VERSION 1

enum {
    FLAG_COUNTED = 1,
    FLAG_SHARED = 2,
    FLAG_TEMPERATURE = 4,
    FLAG_HEALTH = 8,
    FLAG_HOT = 16,
    FLAGS_MAX = 31,
};

/* ---- The byte string -------------------------------------------------------
 */

static uint32_t flags_of(const struct sample_drive *drive)
{
    return (drive->counted ? FLAG_COUNTED : 0u) |
           (drive->shared ? FLAG_SHARED : 0u) |
           (drive->has_temperature ? FLAG_TEMPERATURE : 0u) |
           (drive->health.known ? FLAG_HEALTH : 0u) |
           (drive->health.hot ? FLAG_HOT : 0u);
}

static void put_counters(struct bytes *into, const struct sample_drive *drive)
{
    bytes_put_number(into, drive->reads);
    bytes_put_number(into, drive->reads_merged);
    bytes_put_number(into, drive->read_bytes);
    bytes_put_number(into, drive->writes);
    bytes_put_number(into, drive->writes_merged);
    bytes_put_number(into, drive->write_bytes);
    bytes_put_number(into, drive->in_flight);
}

static void put_health(struct bytes *into, const struct sample_health *health)
{
    bytes_put_number(into, health->used_percent);
    bytes_put_number(into, health->media_errors);
    bytes_put_number(into, health->written_bytes);
    bytes_put_number(into, health->throttles);
    bytes_put_number(into, health->throttled_s);
}

static void put_drive(struct bytes *into, const struct sample_drive *drive)
{
    int64_t mc = drive->temperature_mc;

    bytes_put_number(into, drive->target);
    bytes_put_number(into, flags_of(drive));
    if (drive->counted)
        put_counters(into, drive);
    if (drive->has_temperature)
        bytes_put_number(into, (uint64_t)(mc < 0 ? -2 * mc - 1 : 2 * mc));
    if (drive->health.known)
        put_health(into, &drive->health);
}

void device_encode(struct bytes *into, const struct sample_drive *drives,
                   uint32_t count)
{
    const uint8_t version = DEVICE_VERSION;

    bytes_put(into, &version, 1);
    for (uint32_t i = 0; i < count; i++)
        put_drive(into, &drives[i]);
}

int device_open(struct byte_reader *reader, const uint8_t *data, size_t length)
{
    *reader = (struct byte_reader){data, data + length, false};
    if (length == 0 || *reader->at != DEVICE_VERSION)
        return -EBADMSG;
    reader->at++;
    return 0;
}

static void take_counters(struct byte_reader *reader, struct sample_drive *to)
{
    to->reads = byte_reader_number(reader);
    to->reads_merged = byte_reader_number(reader);
    to->read_bytes = byte_reader_number(reader);
    to->writes = byte_reader_number(reader);
    to->writes_merged = byte_reader_number(reader);
    to->write_bytes = byte_reader_number(reader);
    to->in_flight = byte_reader_below(reader, UINT32_MAX);
}

static void take_health(struct byte_reader *reader, struct sample_health *to)
{
    to->used_percent = byte_reader_below(reader, UINT32_MAX);
    to->media_errors = byte_reader_number(reader);
    to->written_bytes = byte_reader_number(reader);
    to->throttles = byte_reader_number(reader);
    to->throttled_s = byte_reader_number(reader);
}

int device_next(struct byte_reader *reader, struct sample_drive *ret_drive)
{
    struct sample_drive drive = {0};
    uint32_t flags, mc;

    if (reader->at == reader->end)
        return reader->bad ? -EBADMSG : 0;
    drive.target = byte_reader_below(reader, UINT32_MAX);
    flags = byte_reader_below(reader, FLAGS_MAX);
    drive.counted = (flags & FLAG_COUNTED) != 0;
    drive.shared = (flags & FLAG_SHARED) != 0;
    drive.has_temperature = (flags & FLAG_TEMPERATURE) != 0;
    drive.health.known = (flags & FLAG_HEALTH) != 0;
    drive.health.hot = (flags & FLAG_HOT) != 0;
    if (drive.counted)
        take_counters(reader, &drive);
    if (drive.has_temperature) {
        mc = byte_reader_below(reader, UINT32_MAX);
        drive.temperature_mc =
            mc % 2 == 0 ? (int32_t)(mc / 2) : -(int32_t)(mc / 2) - 1;
    }
    if (drive.health.known)
        take_health(reader, &drive.health);
    if (reader->bad)
        return -EBADMSG;
    *ret_drive = drive;
    return 1;
}

/* ---- A phase ---------------------------------------------------------------
 */

static void add_counters(struct sample_drive *sum,
                         const struct sample_drive *row)
{
    sum->counted = true;
    sum->shared |= row->shared;
    sum->reads += row->reads;
    sum->reads_merged += row->reads_merged;
    sum->read_bytes += row->read_bytes;
    sum->writes += row->writes;
    sum->writes_merged += row->writes_merged;
    sum->write_bytes += row->write_bytes;
    sum->in_flight = row->in_flight;
}

void device_add(struct device *device, const struct sample_drive *row)
{
    struct sample_drive *sum = &device->sum;

    sum->target = row->target;
    if (row->counted)
        add_counters(sum, row);
    if (row->has_temperature) {
        if (!sum->has_temperature || row->temperature_mc > device->hottest_mc)
            device->hottest_mc = row->temperature_mc;
        sum->has_temperature = true;
        sum->temperature_mc = row->temperature_mc;
    }
    if (!row->health.known)
        return;
    sum->health.hot |= row->health.hot;
    if (!device->before.known)
        device->before = row->health;
    device->after = row->health;
}

/* ---- The document ----------------------------------------------------------
 */

static void put_op(struct object *into, const char *key, uint64_t ios,
                   uint64_t merged, uint64_t bytes)
{
    struct object o = object_new();

    object_put_count(&o, "completed", ios);
    object_put_count(&o, "merged", merged);
    object_put_count(&o, "bytes", bytes);
    object_put_object(into, key, &o);
}

static void put_state(struct object *into, const char *key,
                      const struct sample_health *health)
{
    struct object o = object_new();

    object_put_count(&o, "used_pct", health->used_percent);
    object_put_count(&o, "media_errors", health->media_errors);
    object_put_count(&o, "host_written_bytes", health->written_bytes);
    object_put_count(&o, "throttles", health->throttles);
    object_put_count(&o, "throttled_s", health->throttled_s);
    object_put_object(into, key, &o);
}

struct object device_object(const struct device *device)
{
    const struct sample_drive *sum = &device->sum;
    struct object o = object_new();

    if (sum->counted) {
        put_op(&o, "reads", sum->reads, sum->reads_merged, sum->read_bytes);
        put_op(&o, "writes", sum->writes, sum->writes_merged, sum->write_bytes);
        object_put_bool(&o, "shared", sum->shared);
        object_put_count(&o, "in_flight", sum->in_flight);
    }
    object_put_real(&o, "temperature_c",
                    sum->has_temperature ? sum->temperature_mc / 1000.0 : NAN,
                    1);
    object_put_real(&o, "temperature_max_c",
                    sum->has_temperature ? device->hottest_mc / 1000.0 : NAN,
                    1);
    if (device->before.known) {
        put_state(&o, "before", &device->before);
        put_state(&o, "after", &device->after);
    }
    return o;
}
