/* telemetry.c - the fields of a record, in the order they are written in. */
#include "render/profiler/telemetry.h"

#include <stddef.h>

#include "profiler/names.h"
#include "render/write/csv.h"
#include "render/write/human.h"
#include "render/write/json.h"
#include "vramscope/profiler.h"
#include "vramscope/tracker.h"

enum {
    SCHEMA_VERSION = 2,
    NS_PER_US = 1000,
    METADATA_BYTES_MAX = 1 << 20,
    PATH_NAMES_MAX = 64 /* of phases inside phases; outer ones are left out */
};

struct value {
    const char *key;
    enum { NUMBER, TEXT, JSON } kind;
    int64_t number;
    str text;     /* ptr NULL: null */
    bool unknown; /* null, or left out where the field may be missing */
    bool optional;
};

enum { VALUES = 22 };

static struct value number(const char *key, int64_t n)
{
    return (struct value){ .key = key, .kind = NUMBER, .number = n };
}

/* Of bytes that may be null. */
static struct value bytes(const char *key, uint64_t n)
{
    return (struct value){
        .key = key, .kind = NUMBER, .number = (int64_t)n, .unknown = n == VRS_UNKNOWN
    };
}

static struct value text(const char *key, str s)
{
    return (struct value){ .key = key, .kind = TEXT, .text = s, .unknown = s.ptr == NULL };
}

static struct value part_of_job(const char *key, const struct telemetry *t, int64_t n)
{
    bool told = t->rank >= 0 && t->rank < t->world_size && n >= 0;
    return (struct value){
        .key = key, .kind = NUMBER, .number = n, .unknown = !told, .optional = true
    };
}

/* The phase, its names from outside in. */
static void put_phase(struct json *j, struct names *names, uint32_t path)
{
    uint32_t name[PATH_NAMES_MAX], count = 0;
    for (; path != NAME_NONE && count < PATH_NAMES_MAX; count++) {
        struct path parts = names_path_at(names, path);
        name[count] = parts.name;
        path = parts.parent;
    }
    json_line_array(j, "phase");
    while (count > 0)
        json_str(j, NULL, names_text(names, name[--count]));
    json_close(j);
}

static void put_alert(struct json *j, const struct vrs_event *e)
{
    if (e->alert == VRS_ALERT_USAGE)
        json_fixed(j, "usage_percent", e->value, 4);
    else if (e->alert == VRS_ALERT_GROWTH)
        json_bool(j, "large_allocation", true);
    else if (e->alert == VRS_ALERT_FRAGMENTATION)
        json_fixed(j, "fragmentation", e->value, 6);
}

/* The members of a JSON object in front of others: "{ … }" becomes "{ …, others }". */
static void put_members(struct buf *to, str object)
{
    if (object.len <= sizeof "{}" - 1 || object.ptr[0] != '{' || object.ptr[object.len - 1] != '}')
        return;
    bool alone = to->len > 0 && to->at[to->len - 1] == '{';
    buf_text(to, alone ? "" : ", ");
    buf_bytes(to, object.ptr + 1, object.len - 2);
}

static void put_metadata(const struct telemetry *t, const struct vrs_event *e, struct buf *to)
{
    struct json j;
    json_start(&j, to);
    json_line_object(&j, NULL);
    if (t->backend.ptr != NULL)
        json_str(&j, "backend", t->backend);
    if (t->source.ptr != NULL)
        json_str(&j, "sampling_source", t->source);
    put_alert(&j, e);
    if (e->phase != NAME_NONE)
        put_phase(&j, t->names, e->phase);
    if (e->now[VRS_ALLOCATED] == VRS_UNKNOWN || e->now[VRS_RESERVED] == VRS_UNKNOWN) {
        json_line_array(&j, "unknown");
        if (e->now[VRS_ALLOCATED] == VRS_UNKNOWN)
            json_text(&j, NULL, "allocator_allocated_bytes");
        if (e->now[VRS_RESERVED] == VRS_UNKNOWN)
            json_text(&j, NULL, "allocator_reserved_bytes");
        json_close(&j);
    }
    if (e->metadata != NAME_NONE)
        put_members(to, names_text(t->names, e->metadata));
    json_close(&j);
}

static int64_t known(uint64_t bytes)
{
    return bytes == VRS_UNKNOWN ? 0 : (int64_t)bytes;
}

static void fields(const struct telemetry *t, const struct vrs_event *e, str context, str metadata,
                   struct value ret[VALUES])
{
    uint64_t used = e->device_used, total = e->device_total, unused = VRS_UNKNOWN;
    bool told = e->now[VRS_ALLOCATED] != VRS_UNKNOWN && e->now[VRS_RESERVED] != VRS_UNKNOWN;
    if (!told || (total != VRS_UNKNOWN && used != VRS_UNKNOWN && used > total))
        used = VRS_UNKNOWN;
    if (total != VRS_UNKNOWN && used != VRS_UNKNOWN)
        unused = total - used;
    const struct value value[VALUES] = {
        number("schema_version", SCHEMA_VERSION),
        number("timestamp_ns", (int64_t)(e->unix_us * NS_PER_US)),
        text("event_type", str_from(vrs_event_kind_name(e->kind))),
        text("collector", t->collector),
        number("sampling_interval_ms", (int64_t)t->interval_ms),
        number("pid", t->pid),
        text("host", t->host),
        text("job_id", t->job),
        part_of_job("rank", t, t->rank),
        part_of_job("local_rank", t, t->local_rank),
        part_of_job("world_size", t, t->world_size),
        number("device_id", t->process ? -1 : (int64_t)e->device),
        number("allocator_allocated_bytes", known(e->now[VRS_ALLOCATED])),
        number("allocator_reserved_bytes", known(e->now[VRS_RESERVED])),
        bytes("allocator_active_bytes", e->now[VRS_ACTIVE]),
        bytes("allocator_inactive_bytes", e->inactive_split),
        number("allocator_change_bytes", e->change == INT64_MIN ? 0 : e->change),
        bytes("device_used_bytes", used),
        bytes("device_free_bytes", unused),
        bytes("device_total_bytes", total),
        text("context", context),
        { .key = "metadata", .kind = JSON, .text = metadata },
    };
    for (uint32_t i = 0; i < VALUES; i++)
        ret[i] = value[i];
}

void telemetry_text(struct names *names, const struct vrs_event *e, struct buf *to)
{
    if (e->text != NAME_NONE) {
        buf_str(to, names_text(names, e->text));
        return;
    }
    switch (e->kind) {
    case VRS_EVENT_START:
        buf_text(to, "Tracking began");
        break;
    case VRS_EVENT_STOP:
        buf_text(to, "Tracking ended");
        break;
    case VRS_EVENT_PEAK:
        buf_text(to, "New peak: ");
        human_known_bytes(to, e->peak);
        break;
    case VRS_EVENT_ALLOCATION:
    case VRS_EVENT_DEALLOCATION:
        human_bytes(to, e->change < 0 ? -e->change : e->change);
        buf_text(to, e->change < 0 ? " less allocated" : " more allocated");
        break;
    case VRS_EVENT_WARNING:
    case VRS_EVENT_CRITICAL:
        if (e->alert == VRS_ALERT_GROWTH) {
            buf_text(to, "Large allocation detected: ");
            human_bytes(to, (int64_t)e->value);
            break;
        }
        if (e->alert == VRS_ALERT_USAGE) {
            buf_text(to, e->kind == VRS_EVENT_CRITICAL ? "CRITICAL" : "WARNING");
            buf_text(to, ": Memory usage at ");
            buf_fixed(to, e->value, 1);
        } else {
            buf_text(to, "High fragmentation: ");
            buf_fixed(to, e->value * 100, 1);
        }
        buf_char(to, '%');
        break;
    case VRS_EVENT_PHASE_ENTER:
    case VRS_EVENT_PHASE_EXIT:
        buf_text(to, e->kind == VRS_EVENT_PHASE_ENTER ? "Entered " : "Left ");
        buf_str(to, names_text(names, names_path_at(names, e->phase).name));
        break;
    case VRS_EVENT_DEGRADED:
        buf_text(to, "The device's counters cannot be read");
        break;
    case VRS_EVENT_RECOVERED:
        buf_text(to, "The device's counters can be read again");
        break;
    case VRS_EVENT_ERROR:
    case VRS_EVENT_CLEANUP:
    case VRS_EVENT_SAMPLE:
        break;
    }
}

void telemetry_line(const struct vrs_tracker_stats *s, struct buf *to)
{
    human_known_bytes(to, s->last.now[VRS_ALLOCATED]);
    if (s->last.device_total != VRS_UNKNOWN) {
        buf_text(to, " of ");
        human_known_bytes(to, s->last.device_total);
    }
    buf_text(to, " allocated, peak ");
    human_known_bytes(to, s->peak);
    if (s->alerts > 0) {
        buf_text(to, ", ");
        human_counted(to, s->alerts, "alert", true);
    }
}

/* The texts that a record is made of; freed by texts_end. */
struct texts {
    struct buf context, metadata;
};

static void texts_make(const struct telemetry *t, const struct vrs_event *e, struct texts *ret)
{
    buf_init(&ret->context, METADATA_BYTES_MAX);
    buf_init(&ret->metadata, METADATA_BYTES_MAX);
    telemetry_text(t->names, e, &ret->context);
    put_metadata(t, e, &ret->metadata);
}

static void texts_end(struct texts *x, struct buf *to)
{
    buf_end(&x->context, to);
    buf_end(&x->metadata, to);
}

static str context_of(const struct texts *x)
{
    return x->context.len > 0 ? buf_slice(&x->context) : (str){ NULL, 0 };
}

void telemetry_json(const struct telemetry *t, const struct vrs_event *event, struct buf *to)
{
    struct texts x;
    struct value value[VALUES];
    struct json j;
    texts_make(t, event, &x);
    fields(t, event, context_of(&x), buf_slice(&x.metadata), value);
    json_start(&j, to);
    json_line_object(&j, NULL);
    for (uint32_t i = 0; i < VALUES; i++) {
        const struct value *v = &value[i];
        if (v->unknown && v->optional)
            continue;
        if (v->unknown)
            json_null(&j, v->key);
        else if (v->kind == NUMBER)
            json_i64(&j, v->key, v->number);
        else if (v->kind == TEXT)
            json_str(&j, v->key, v->text);
        else
            json_raw(&j, v->key, v->text);
    }
    json_close(&j);
    texts_end(&x, to);
}

static void csv_line(const struct value *value, bool head, struct buf *to)
{
    for (uint32_t i = 0; i < VALUES; i++) {
        if (i > 0)
            buf_char(to, ',');
        if (head)
            buf_text(to, value[i].key);
        else if (value[i].unknown)
            continue;
        else if (value[i].kind == NUMBER)
            buf_format(to, "%lld", (long long)value[i].number);
        else
            csv_text(to, value[i].text);
    }
    buf_text(to, CSV_LINE_END);
}

void telemetry_csv_head(struct buf *to)
{
    static const struct telemetry nobody = { .rank = -1, .local_rank = -1, .world_size = -1 };
    static const struct vrs_event nothing = { .kind = VRS_EVENT_SAMPLE };
    struct value value[VALUES];
    fields(&nobody, &nothing, (str){ NULL, 0 }, (str){ NULL, 0 }, value);
    csv_line(value, true, to);
}

void telemetry_csv(const struct telemetry *t, const struct vrs_event *event, struct buf *to)
{
    struct texts x;
    struct value value[VALUES];
    texts_make(t, event, &x);
    fields(t, event, context_of(&x), buf_slice(&x.metadata), value);
    csv_line(value, false, to);
    texts_end(&x, to);
}
