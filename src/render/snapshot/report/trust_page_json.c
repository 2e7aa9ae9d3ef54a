/* trust_page_json.c - the checks and facts of a device as JSON. */
#include "render/snapshot/report/trust_page.h"

static void put_check(struct json *j, const struct trust_row *row)
{
    json_line_object(j, NULL);
    json_text(j, "check", row->check);
    json_text(j, "id", row->id);
    if (row->outcome == TRUST_NOT_RUN) {
        json_null(j, "ok");
        json_null(j, "count");
        json_null(j, "worst_bytes");
        json_null(j, "first_event");
    } else {
        bool any = row->found.count != 0 || row->outcome == TRUST_FAILS;
        json_bool(j, "ok", row->outcome == TRUST_HOLDS);
        json_u64(j, "count", row->found.count);
        json_known(j, "worst_bytes", any && row->has_bytes ? row->found.worst_bytes : UNKNOWN_U64);
        if (any && row->found.first_event >= 0)
            json_i64(j, "first_event", row->found.first_event);
        else
            json_null(j, "first_event");
    }
    json_close(j);
}

static void put_counts(struct json *j, const char *key, const struct name_count *at, uint32_t count)
{
    json_object(j, key);
    for (uint32_t i = 0; i < count; i++) {
        json_name(j, at[i].name);
        json_u64(j, NULL, at[i].count);
    }
    json_close(j);
}

static void put_settings(struct json *j, const struct trust_page *o)
{
    json_object(j, "settings");
    for (uint32_t i = 0; i < o->settings; i++) {
        const struct setting *setting = &o->setting[i];
        json_name(j, setting->name);
        switch (setting->type) {
        case SETTING_INT:
            json_i64(j, NULL, setting->integer);
            break;
        case SETTING_FLOAT:
            json_fixed(j, NULL, setting->real, 6);
            break;
        case SETTING_BOOL:
            json_bool(j, NULL, setting->integer != 0);
            break;
        case SETTING_TEXT:
            json_str(j, NULL, setting->text);
            break;
        }
    }
    json_close(j);
}

void trust_page_json(struct json *j, const struct report_device *device)
{
    const struct trust_page *o = device->overview;
    json_object(j, "overview");
    json_str(j, "producer", o->producer);
    json_array(j, "checks");
    for (uint32_t i = 0; i < TRUST_ROWS; i++)
        put_check(j, &o->check[i]);
    json_close(j);
    put_counts(j, "actions", o->action, o->actions);
    json_u64(j, "span_events", device->events);
    json_known(j, "span_us", o->span_us);
    json_i64(j, "baseline_forward_bytes", o->baseline_forward_bytes);
    if (o->baselines_known) {
        json_i64(j, "baseline_backward_bytes", o->baseline_backward_bytes);
        json_i64(j, "reserved_baseline_bytes", o->reserved_baseline_bytes);
    } else {
        json_null(j, "baseline_backward_bytes");
        json_null(j, "reserved_baseline_bytes");
    }
    json_known_fixed(j, "unknown_origin_peak_ratio", o->unknown_origin_peak_ratio, 6);
    json_known_fixed(j, "unknown_origin_end_ratio", o->unknown_origin_end_ratio, 6);
    json_known_fixed(j, "explained_peak_ratio", o->explained_peak_ratio, 6);
    json_known_fixed(j, "no_user_frame_peak_ratio", o->no_user_frame_peak_ratio, 6);
    json_text(j, "capture_style", o->capture_style);
    json_u64(j, "streams", o->streams);
    json_known(j, "pools", o->pools == 0 ? UNKNOWN_U64 : o->pools);
    json_u64(j, "annotations", o->annotations);
    put_settings(j, o);
    put_counts(j, "unknown_keys", o->unknown_key, o->unknown_keys);
    put_counts(j, "unknown_actions", o->unknown_action, o->unknown_actions);
    json_close(j);
}
