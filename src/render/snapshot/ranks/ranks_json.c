/* ranks_json.c - the comparison of units as JSON. */
#include "render/snapshot/ranks/ranks.h"

enum { SITES_SHOWN = 3 };

static void put_categories(struct json *j, const struct device_summary *unit)
{
    if (!unit->categorised) {
        json_null(j, "by_category");
        return;
    }
    json_line_array(j, "by_category");
    for (uint32_t i = 0; i < CATEGORIES; i++) {
        if (unit->category_bytes[i] == 0)
            continue;
        json_line_object(j, NULL);
        json_text(j, "category", category_names[i]);
        json_u64(j, "bytes", unit->category_bytes[i]);
        json_close(j);
    }
    json_close(j);
}

static void put_sites(struct json *j, const struct device_summary *unit)
{
    json_line_array(j, "sites");
    for (uint32_t i = 0; i < unit->names && i < SITES_SHOWN; i++) {
        json_line_object(j, NULL);
        json_str(j, "culprit", unit->name[i].culprit);
        json_str(j, "owner", unit->name[i].owner);
        json_null(j, "stack");
        json_u64(j, "bytes", unit->site[i].bytes);
        json_u64(j, "count", unit->site[i].count);
        json_close(j);
    }
    json_close(j);
}

static void put_unit(struct json *j, const struct rank_unit *u)
{
    const struct device_summary *unit = u->unit;
    json_object(j, NULL);
    json_str(j, "path", u->path);
    json_u64(j, "device", u->device);
    json_i64(j, "rank", u->rank);
    json_str(j, "grade", (str){ &u->grade, 1 });
    json_i64(j, "peak_bytes", unit->peak_bytes);
    json_i64(j, "peak_event", unit->peak_event);
    json_text(j, "peak_phase", unit->peak_phase);
    json_i64(j, "reserved_peak_bytes", unit->reserved_peak_bytes);
    json_known(j, "stranded_bytes", unit->stranded_bytes);
    json_known(j, "steps", unit->steps < 0 ? UNKNOWN_U64 : (uint64_t)unit->steps);
    if (unit->slope_known)
        json_i64(j, "slope_bytes", unit->slope_bytes);
    else
        json_null(j, "slope_bytes");
    put_categories(j, unit);
    put_sites(j, unit);
    if (unit->after_peer_oom_event < 0)
        json_null(j, "after_peer_oom_event");
    else
        json_i64(j, "after_peer_oom_event", unit->after_peer_oom_event);
    json_close(j);
}

static void put_pair(struct json *j, struct out *out, const struct ranks *ranks)
{
    const struct rank_pair *pair = &ranks->pair;
    if (!ranks->has_pair) {
        json_null(j, "pair");
        return;
    }
    json_object(j, "pair");
    json_u64(j, "worst", pair->worst);
    json_u64(j, "reference", pair->reference);
    json_fixed(j, "code_ratio", pair->code_ratio, 6);
    json_fixed(j, "size_ratio", pair->size_ratio, 6);
    json_fixed(j, "count_ratio", pair->count_ratio, 6);
    json_text(j, "verdict", pair->verdict);
    json_array(j, "rows");
    for (uint32_t i = 0; i < pair->rows; i++) {
        const struct pair_row *row = &pair->row[i];
        json_line_object(j, NULL);
        json_str(j, "name", row->name);
        json_u64(j, "worst_bytes", row->worst_bytes);
        json_u64(j, "reference_bytes", row->reference_bytes);
        json_u64(j, "worst_count", row->worst_count);
        json_u64(j, "reference_count", row->reference_count);
        json_close(j);
        out_flush(out, OUT_ENOUGH);
    }
    json_close(j);
    json_close(j);
}

static void put_differences(struct json *j, const struct rank_group *group)
{
    json_line_array(j, "differences");
    for (uint32_t i = 0; i < group->differences; i++) {
        const struct rank_difference *d = &group->difference[i];
        json_line_object(j, NULL);
        json_text(j, "category", category_names[d->category]);
        json_u64(j, "least", d->least);
        json_u64(j, "least_bytes", d->least_bytes);
        json_u64(j, "most", d->most);
        json_u64(j, "most_bytes", d->most_bytes);
        json_close(j);
    }
    json_close(j);
}

static void put_numbers(struct json *j, const char *key, const uint32_t *at, uint32_t count)
{
    json_line_array(j, key);
    for (uint32_t i = 0; i < count; i++)
        json_u64(j, NULL, at[i]);
    json_close(j);
}

static void put_alignment(struct json *j, struct out *out, const struct ranks *ranks)
{
    static const char *const names[] = {
        [ALIGNED_STEP] = "step",
        [ALIGNED_ANNOTATION] = "annotation",
        [ALIGNED_CLOCK] = "wall_clock",
    };
    const struct alignment *a = &ranks->alignment;
    bool clock = a->by == ALIGNED_CLOCK;
    if (a->by == ALIGNED_NOT) {
        json_null(j, "alignment");
        return;
    }
    json_object(j, "alignment");
    json_text(j, "by", names[a->by]);
    put_numbers(j, "units", a->unit, a->units);
    json_known(j, "start_us", clock ? a->from_us : UNKNOWN_U64);
    json_known(j, "end_us", clock ? a->to_us : UNKNOWN_U64);
    json_bool(j, "exact", a->exact);
    json_known(j, "straggler_count",
               ranks->straggler_aligned ? ranks->straggler_moments : UNKNOWN_U64);
    json_array(j, "moments");
    for (uint32_t i = 0; i < a->moments; i++) {
        const struct aligned_moment *m = &a->moment[i];
        json_line_object(j, NULL);
        if (a->by == ALIGNED_ANNOTATION)
            json_str(j, "name", m->name);
        else
            json_null(j, "name");
        json_known(j, "number", clock ? UNKNOWN_U64 : (uint64_t)m->nth + 1);
        json_u64(j, "worst", m->worst);
        json_i64(j, "worst_bytes", m->worst_bytes);
        json_i64(j, "median_bytes", m->median_bytes);
        json_known_fixed(j, "skew_ratio", m->skew_ratio, 6);
        json_close(j);
        out_flush(out, OUT_ENOUGH);
    }
    json_close(j);
    json_close(j);
}

void ranks_json(struct json *j, struct out *out, const struct ranks *ranks)
{
    if (ranks == NULL) {
        json_null(j, "ranks");
        return;
    }
    json_object(j, "ranks");
    json_array(j, "units");
    for (uint32_t i = 0; i < ranks->units; i++) {
        put_unit(j, &ranks->unit[i]);
        out_flush(out, OUT_ENOUGH);
    }
    json_close(j);
    json_known_fixed(j, "skew_ratio", ranks->skew_ratio, 6);
    put_numbers(j, "outliers", ranks->outlier, ranks->outliers);
    if (ranks->straggler == NO_ROW) {
        json_null(j, "straggler");
        json_null(j, "straggler_saving_bytes");
    } else {
        json_u64(j, "straggler", ranks->straggler);
        json_i64(j, "straggler_saving_bytes", ranks->straggler_saving_bytes);
    }
    put_pair(j, out, ranks);
    json_array(j, "groups");
    for (uint32_t i = 0; i < ranks->groups; i++) {
        json_line_object(j, NULL);
        json_known(j, "parameter_bytes", ranks->group[i].parameter_bytes);
        put_numbers(j, "units", ranks->group[i].unit, ranks->group[i].units);
        put_differences(j, &ranks->group[i]);
        json_close(j);
    }
    json_close(j);
    put_alignment(j, out, ranks);
    json_close(j);
}
