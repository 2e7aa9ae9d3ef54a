/* timeline_json.c - curves as points, their peaks, and who shared the top. */
#include "render/snapshot/report/timeline_json.h"

void json_pool(struct json *j, const uint64_t pool[2])
{
    json_line_array(j, "pool");
    json_u64(j, NULL, pool[0]);
    json_u64(j, NULL, pool[1]);
    json_close(j);
}

static void put_curve(struct json *j, const char *name, const struct time_curve *c)
{
    json_line_object(j, name);
    json_bool(j, "exact", c->exact);
    json_known(j, "bound_bytes", c->bound_bytes);
    json_line_array(j, "points");
    for (uint32_t i = 0; i < c->points; i++) {
        json_line_array(j, NULL);
        json_i64(j, NULL, c->point[i].event);
        json_i64(j, NULL, c->point[i].bytes);
        json_close(j);
    }
    json_close(j);
    json_close(j);
}

static void put_peaks(struct json *j, const struct timeline *t)
{
    static const enum time_curve_name shown[] = { TIME_REQUESTED, TIME_ACTIVE, TIME_RESERVED };
    json_array(j, "peaks");
    for (uint32_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        const struct time_curve *c = &t->curve[shown[i]];
        json_line_object(j, NULL);
        json_text(j, "curve", time_curve_names[shown[i]]);
        json_i64(j, "bytes", c->peak_bytes);
        json_i64(j, "event", c->peak_event);
        json_i64(j, "last_event", c->last_event);
        json_u64(j, "ties", c->ties);
        json_known(j, "time_us", c->peak_time_us);
        json_close(j);
    }
    json_close(j);
    json_array(j, "local_peaks");
    for (uint32_t i = 0; i < t->locals; i++) {
        json_line_object(j, NULL);
        json_i64(j, "bytes", t->local[i].bytes);
        json_i64(j, "event", t->local[i].event);
        json_i64(j, "first_event", t->local[i].first_event);
        json_i64(j, "last_event", t->local[i].last_event);
        json_close(j);
    }
    json_close(j);
}

static void put_gap(struct json *j, const struct time_gap *g)
{
    json_line_object(j, "gap");
    json_i64(j, "event", g->event);
    json_i64(j, "reserved_bytes", g->reserved_bytes);
    json_i64(j, "requested_bytes", g->requested_bytes);
    json_known(j, "slack_bytes", g->known ? g->slack_bytes : UNKNOWN_U64);
    json_known(j, "returnable_bytes", g->known ? g->returnable_bytes : UNKNOWN_U64);
    json_known(j, "stranded_bytes", g->known ? g->stranded_bytes : UNKNOWN_U64);
    json_known(j, "held_for_graph_bytes", g->known ? g->held_for_graph_bytes : UNKNOWN_U64);
    json_known(j, "pending_bytes", g->pending_bytes);
    json_close(j);
}

/* A report lists no stacks. */
static void put_bursts(struct json *j, struct out *out, const struct timeline *t)
{
    json_array(j, "bursts");
    for (uint32_t i = 0; i < t->bursts; i++) {
        const struct time_burst *b = &t->burst[i];
        json_line_object(j, NULL);
        json_u64(j, "first_event", b->first_event);
        json_u64(j, "last_event", b->last_event);
        json_u64(j, "bytes", b->bytes);
        json_text(j, "cause", burst_cause_names[b->cause]);
        json_line_object(j, "site");
        json_str(j, "culprit", b->site.culprit);
        json_str(j, "owner", b->site.owner);
        json_null(j, "stack");
        json_close(j);
        json_close(j);
        out_flush(out, OUT_ENOUGH);
    }
    json_close(j);
}

static void put_groups(struct json *j, struct out *out, const struct timeline *t)
{
    json_array(j, "groups");
    for (uint32_t i = 0; i < t->groups; i++) {
        const struct time_group *g = &t->group[i];
        json_line_object(j, NULL);
        json_pool(j, g->pool);
        json_u64(j, "stream", g->stream);
        json_text(j, "class", g->group.small ? "small" : "large");
        json_i64(j, "peak_bytes", g->peak_bytes);
        json_i64(j, "peak_event", g->peak_event);
        json_i64(j, "reserved_peak_bytes", g->reserved_peak_bytes);
        json_i64(j, "reserved_peak_event", g->reserved_peak_event);
        json_i64(j, "at_peak_bytes", g->at_peak_bytes);
        json_close(j);
        out_flush(out, OUT_ENOUGH);
    }
    json_close(j);
}

void timeline_json(struct json *j, struct out *out, const struct timeline *t)
{
    if (t == NULL) {
        json_null(j, "timeline");
        return;
    }
    json_object(j, "timeline");
    json_object(j, "curves");
    for (uint32_t c = 0; c < TIME_CURVES; c++) {
        put_curve(j, time_curve_names[c], &t->curve[c]);
        out_flush(out, OUT_ENOUGH);
    }
    json_close(j);
    put_peaks(j, t);
    put_gap(j, &t->gap);
    put_bursts(j, out, t);
    put_groups(j, out, t);
    json_close(j);
}
