/* trace_export_speedscope.c - speedscope's own JSON: by the host's time what each thread and each
 * stream did, from moment to moment; by another weight the call tree of each thread. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/calls/calls.h"
#include "analysis/trace/calls/tree.h"
#include "analysis/trace/study/study.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/table.h"
#include "model/trace.h"
#include "render/export/trace/trace_export.h"
#include "render/export/trace/trace_stacks.h"
#include "render/write/json.h"
#include "render/write/out.h"

struct speedscope {
    struct trace_exporting *e;
    struct out *out;
    struct json json;
    struct buf name;
    uint32_t *place; /* of each string that is the name of a frame: its place, plus 1 */
    uint32_t places;
    uint32_t *open; /* of one thread or stream: what still runs */
    uint32_t *by_root, *first; /* paths by their roots, and where those of each root begin */
};

/* Frames. */

static void put_frame(struct speedscope *s, uint32_t name, bool is_python)
{
    struct frame_name f;
    str text = name == 0 ? S("(no name)") : trace_text(s->e->t, name);
    json_line_object(&s->json, NULL);
    if (is_python && frame_name_read(text, &f)) {
        json_str(&s->json, "name", f.function);
        json_str(&s->json, "file", f.file);
        json_u64(&s->json, "line", f.line);
    } else {
        json_str(&s->json, "name", text);
    }
    json_close(&s->json);
    out_flush(s->out, OUT_ENOUGH);
}

/* One for each name of the tree, in the order of its paths; then that of frames left out, and that
 * of what was in no call. */
static void put_frames(struct speedscope *s)
{
    const struct call_paths *c = s->e->calls;
    json_object(&s->json, "shared");
    json_array(&s->json, "frames");
    for (uint32_t i = 0; i < c->len; i++) {
        const struct call_path *p = &c->at[i];
        if (p->parent == NO_ROW || s->place[p->name] != 0)
            continue;
        s->place[p->name] = ++s->places;
        put_frame(s, p->name, p->kind == SPAN_PYTHON);
    }
    json_line_object(&s->json, NULL);
    json_text(&s->json, "name", TRACE_REST_NAME);
    json_close(&s->json);
    json_line_object(&s->json, NULL);
    json_text(&s->json, "name", "(in no call)");
    json_close(&s->json);
    json_close(&s->json);
    json_close(&s->json);
}

static uint32_t place_of(const struct speedscope *s, uint32_t frame)
{
    if (frame == TRACE_FRAME_REST)
        return s->places;
    const struct call_path *p = &s->e->calls->at[frame];
    return p->parent == NO_ROW ? s->places + 1 : s->place[p->name] - 1;
}

/* Profiles. */

static void profile_begin(struct speedscope *s, const char *type, const char *unit)
{
    json_object(&s->json, NULL);
    json_text(&s->json, "type", type);
    if (s->e->cut.len > 0) {
        buf_text(&s->name, ", ");
        buf_str(&s->name, s->e->cut);
    }
    json_str(&s->json, "name", buf_slice(&s->name));
    s->name.len = 0;
    json_text(&s->json, "unit", unit);
}

static void put_event(struct speedscope *s, const char *type, uint32_t row, int64_t at)
{
    json_line_object(&s->json, NULL);
    json_text(&s->json, "type", type);
    json_u64(&s->json, "frame", s->place[s->e->t->spans.name[row]] - 1);
    json_i64(&s->json, "at", at - s->e->study->first_ns);
    json_close(&s->json);
    out_flush(s->out, OUT_ENOUGH);
}

/* Begins and ends in the order of time.  A span that is still running when another begins which
 * does not lie in it ends there: speedscope knows no overlap. */
static void put_events(struct speedscope *s, const struct forest *f, uint32_t thread)
{
    const struct spans *spans = &s->e->t->spans;
    uint32_t depth = 0;
    for (uint32_t i = f->first[thread]; i < f->first[thread + 1]; i++) {
        uint32_t row = f->row[i];
        while (depth > 0 && s->open[depth - 1] != f->parent[row]) {
            uint32_t done = s->open[--depth];
            int64_t end = span_end(spans, done);
            put_event(s, "C", done, end < spans->start[row] ? end : spans->start[row]);
        }
        put_event(s, "O", row, spans->start[row]);
        s->open[depth++] = row;
    }
    while (depth > 0) {
        uint32_t done = s->open[--depth];
        put_event(s, "C", done, span_end(spans, done));
    }
}

static void put_lane(struct speedscope *s, const struct forest *f, uint32_t thread)
{
    const struct spans *spans = &s->e->t->spans;
    int64_t first = spans->start[f->row[f->first[thread]]], last = first;
    for (uint32_t i = f->first[thread]; i < f->first[thread + 1]; i++)
        if (span_end(spans, f->row[i]) > last)
            last = span_end(spans, f->row[i]);
    profile_begin(s, "evented", "nanoseconds");
    json_i64(&s->json, "startValue", first - s->e->study->first_ns);
    json_i64(&s->json, "endValue", last - s->e->study->first_ns);
    json_array(&s->json, "events");
    put_events(s, f, thread);
    json_close(&s->json);
    json_close(&s->json);
}

/* A profile for each thread that ran calls, then for each stream that worked. */
static bool put_lanes(struct speedscope *s)
{
    const struct spans *spans = &s->e->t->spans;
    const struct forest *hosts = &s->e->calls->forest;
    struct forest streams;
    uint32_t *track = arena_array(s->e->scratch, uint32_t, spans->rows.len);
    if (track == NULL)
        return false;
    for (uint32_t row = 0; row < spans->rows.len; row++)
        track[row] = span_is_work(spans->kind[row]) ? spans->track[row] : NO_ROW;
    if (!forest_make(s->e->t, s->e->study->sorted, track, s->e->scratch, &streams))
        return false;
    for (uint32_t i = 0; i < hosts->threads; i++) {
        if (hosts->first[i] == hosts->first[i + 1])
            continue;
        tree_root_name(s->e->t, s->e->calls, i, &s->name);
        put_lane(s, hosts, i);
    }
    for (uint32_t i = 0; i < streams.threads; i++) {
        if (streams.first[i] == streams.first[i + 1])
            continue;
        tree_stream_name(s->e->t, i, &s->name);
        put_lane(s, &streams, i);
    }
    return true;
}

/* The paths below one root, itself too. */
static void put_tree(struct speedscope *s, uint32_t root)
{
    const struct trace_exporting *e = s->e;
    static const char *const units[TRACE_WEIGHTS] = { "nanoseconds", "nanoseconds", "bytes",
                                                      "none" };
    uint32_t frame[TRACE_FRAMES_MOST + 2];
    uint64_t total = 0;
    for (uint32_t i = s->first[root]; i < s->first[root + 1]; i++)
        total += trace_weight_of(e, e->weight, s->by_root[i]);
    trace_frame_name(e, root, &s->name);
    buf_format(&s->name, ": %s", trace_weight_names[e->weight]);
    profile_begin(s, "sampled", units[e->weight]);
    json_u64(&s->json, "startValue", 0);
    json_u64(&s->json, "endValue", total);
    json_array(&s->json, "samples");
    for (uint32_t i = s->first[root]; i < s->first[root + 1]; i++) {
        if (trace_weight_of(e, e->weight, s->by_root[i]) == 0)
            continue;
        uint32_t frames = trace_stack(e, s->by_root[i], frame);
        if (frames > 1 && e->calls->roots > 1)
            frames--; /* the profile is of the root */
        json_line_array(&s->json, NULL);
        for (uint32_t at = frames; at > 0; at--)
            json_u64(&s->json, NULL, place_of(s, frame[at - 1]));
        json_close(&s->json);
        out_flush(s->out, OUT_ENOUGH);
    }
    json_close(&s->json);
    json_line_array(&s->json, "weights");
    for (uint32_t i = s->first[root]; i < s->first[root + 1]; i++)
        if (trace_weight_of(e, e->weight, s->by_root[i]) > 0)
            json_u64(&s->json, NULL, trace_weight_of(e, e->weight, s->by_root[i]));
    json_close(&s->json);
    json_close(&s->json);
}

/* A profile for each root that has some of the weight. */
static bool put_trees(struct speedscope *s)
{
    const struct call_paths *c = s->e->calls;
    s->first = arena_array(s->e->scratch, uint32_t, (size_t)c->len + 1);
    s->by_root = arena_array(s->e->scratch, uint32_t, c->len);
    uint32_t *next = arena_array(s->e->scratch, uint32_t, c->len);
    uint8_t *weighs = arena_array(s->e->scratch, uint8_t, c->len);
    if (s->first == NULL || s->by_root == NULL || next == NULL || weighs == NULL)
        return false;
    for (uint32_t i = 0; i < c->len; i++) {
        s->first[c->at[i].root + 1]++;
        if (trace_weight_of(s->e, s->e->weight, i) > 0)
            weighs[c->at[i].root] = 1;
    }
    for (uint32_t i = 0; i < c->len; i++) {
        s->first[i + 1] += s->first[i];
        next[i] = s->first[i];
    }
    for (uint32_t i = 0; i < c->len; i++)
        s->by_root[next[c->at[i].root]++] = i;
    for (uint32_t i = 0; i < c->len; i++)
        if (weighs[i] != 0)
            put_tree(s, i);
    return true;
}

static enum vrs_status prepare(struct speedscope *s, struct vrs_error *err)
{
    struct arena *arena = s->e->scratch;
    s->place = arena_array(arena, uint32_t, s->e->t->strings.rows.len);
    s->open = arena_array(arena, uint32_t, s->e->t->spans.rows.len);
    return s->place == NULL || s->open == NULL ? vrs_no_memory(err) : VRS_OK;
}

enum vrs_status trace_export_speedscope(struct trace_exporting *e, struct out *out,
                                        struct vrs_error *err)
{
    struct speedscope s = { .e = e, .out = out };
    struct json *j = &s.json;
    TRY(prepare(&s, err));
    buf_init(&s.name, SIZE_MAX / 2);
    json_start(j, &out->text);
    json_object(j, NULL);
    json_text(j, "$schema", "https://www.speedscope.app/file-format-schema.json");
    buf_format(&s.name, "vramscope %s", e->tool);
    json_str(j, "exporter", buf_slice(&s.name));
    s.name.len = 0;
    json_str(j, "name", e->path);
    json_u64(j, "activeProfileIndex", 0);
    put_frames(&s);
    json_array(j, "profiles");
    bool ok = e->weight == TRACE_WEIGHT_HOST ? put_lanes(&s) : put_trees(&s);
    json_close(j);
    json_close(j);
    json_finish(j);
    ok = ok && !s.name.failed;
    buf_free(&s.name);
    return ok ? VRS_OK : vrs_no_memory(err);
}
