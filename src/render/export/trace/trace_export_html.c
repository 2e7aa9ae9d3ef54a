/* trace_export_html.c - the call tree as a page of its own, a flame graph: what of viewer/flame the
 * build made, and between its parts the tree, as JSON, packed. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "analysis/trace/calls/calls.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/table.h"
#include "model/trace.h"
#include "render/export/trace/trace_export.h"
#include "render/export/trace/trace_stacks.h"
#include "render/write/base64.h"
#include "render/write/gzip_out.h"
#include "render/write/json.h"
#include "render/write/markup.h"
#include "render/write/out.h"

/* Made by tools/bundle of viewer/flame/index.html. */
extern const char flame_before_title[], flame_before_tree[], flame_end[];

struct flame_page {
    const struct trace_exporting *e;
    struct out *out;
    struct json json;
    struct buf name;
    uint32_t *place; /* of each string that is the name of a path: its place, plus 1 */
    uint32_t *named; /* of each path: the place of its name */
    uint32_t places;
};

/* Bytes on their way into the page as base64. */
struct letters {
    struct out *page;
    struct buf rest; /* fewer than three between two calls: the letters of more may follow */
};

static bool take_bytes(void *arg, const char *bytes, size_t len)
{
    struct letters *l = arg;
    buf_bytes(&l->rest, bytes, len);
    if (l->rest.failed)
        return false;
    size_t whole = l->rest.len - l->rest.len % 3;
    base64_put(&l->page->text, l->rest.at, whole);
    l->rest.len -= whole;
    memmove(l->rest.at, l->rest.at + whole, l->rest.len);
    out_flush(l->page, OUT_ENOUGH);
    return !l->page->refused && !l->page->text.failed;
}

/* Each name once, in the order of the paths: those of threads are made, others are the trace's. */
static void put_names(struct flame_page *p)
{
    const struct call_paths *c = p->e->calls;
    json_line_array(&p->json, "names");
    for (uint32_t i = 0; i < c->len; i++) {
        uint32_t name = c->at[i].name;
        bool is_root = c->at[i].parent == NO_ROW;
        if (is_root || p->place[name] == 0) {
            p->name.len = 0;
            trace_frame_name(p->e, i, &p->name);
            json_str(&p->json, NULL, buf_slice(&p->name));
            out_flush(p->out, OUT_ENOUGH);
            p->named[i] = p->places++;
            if (!is_root)
                p->place[name] = p->places;
        } else {
            p->named[i] = p->place[name] - 1;
        }
    }
    json_close(&p->json);
}

static uint64_t name_of(const struct flame_page *p, uint32_t path)
{
    return p->named[path];
}

/* How many paths before this one its parent stands; 0: it is a root. */
static uint64_t up_of(const struct flame_page *p, uint32_t path)
{
    uint32_t parent = p->e->calls->at[path].parent;
    return parent == NO_ROW ? 0 : path - parent;
}

static uint64_t kind_of(const struct flame_page *p, uint32_t path)
{
    return p->e->calls->at[path].kind;
}

static void put_column(struct flame_page *p, const char *name,
                       uint64_t (*value)(const struct flame_page *p, uint32_t path))
{
    json_line_array(&p->json, name);
    for (uint32_t i = 0; i < p->e->calls->len; i++) {
        json_u64(&p->json, NULL, value(p, i));
        out_flush(p->out, OUT_ENOUGH);
    }
    json_close(&p->json);
}

static bool has_weight(const struct trace_exporting *e, enum trace_weight weight)
{
    for (uint32_t i = 0; i < e->calls->len; i++)
        if (trace_weight_of(e, weight, i) > 0)
            return true;
    return false;
}

/* What paths have of each weight by themselves; a weight of which none has any is left out. */
static void put_weights(struct flame_page *p)
{
    json_object(&p->json, "self");
    for (enum trace_weight w = 0; w < TRACE_WEIGHTS; w++) {
        if (!has_weight(p->e, w))
            continue;
        json_line_array(&p->json, trace_weight_names[w]);
        for (uint32_t i = 0; i < p->e->calls->len; i++) {
            json_u64(&p->json, NULL, trace_weight_of(p->e, w, i));
            out_flush(p->out, OUT_ENOUGH);
        }
        json_close(&p->json);
    }
    json_close(&p->json);
}

/* A root is the last of them. */
static void put_kinds(struct flame_page *p)
{
    json_line_array(&p->json, "kinds");
    for (enum span_kind k = 0; k < SPAN_KINDS; k++)
        json_text(&p->json, NULL, span_kind_name(k));
    json_text(&p->json, NULL, "thread");
    json_close(&p->json);
}

static void put_tree(struct flame_page *p)
{
    const struct trace_exporting *e = p->e;
    json_start(&p->json, &p->out->text);
    json_object(&p->json, NULL);
    json_text(&p->json, "schema", "vramscope.flame/1");
    json_text(&p->json, "tool", e->tool);
    json_str(&p->json, "file", e->path);
    json_str(&p->json, "incomplete", e->cut);
    json_text(&p->json, "weight", trace_weight_names[e->weight]);
    json_bool(&p->json, "inverse", e->inverse);
    json_bool(&p->json, "device_bytes", e->device_bytes);
    put_kinds(p);
    put_names(p);
    put_column(p, "name", name_of);
    put_column(p, "up", up_of);
    put_column(p, "kind", kind_of);
    put_weights(p);
    json_close(&p->json);
    json_finish(&p->json);
}

static enum vrs_status put_packed(struct flame_page *p, struct out *page, struct vrs_error *err)
{
    struct letters letters = { .page = page };
    struct out bytes = { .write = take_bytes, .arg = &letters };
    struct gzip_out gzip;
    TRY(gzip_out_begin(&gzip, &bytes, err));
    buf_init(&bytes.text, SIZE_MAX / 2);
    buf_init(&letters.rest, SIZE_MAX / 2);
    buf_init(&p->name, SIZE_MAX / 2);
    p->out = &gzip.plain;
    put_tree(p);
    bool failed = p->name.failed;
    buf_free(&p->name);
    enum vrs_status status = gzip_out_end(&gzip, err);
    out_flush(&bytes, 0);
    base64_put(&page->text, letters.rest.at, letters.rest.len);
    failed = failed || bytes.text.failed || letters.rest.failed;
    buf_free(&bytes.text);
    buf_free(&letters.rest);
    TRY(status);
    return failed ? vrs_no_memory(err) : VRS_OK;
}

enum vrs_status trace_export_html(struct trace_exporting *e, struct out *out, struct vrs_error *err)
{
    struct flame_page p = { .e = e };
    p.place = arena_array(e->scratch, uint32_t, e->t->strings.rows.len);
    p.named = arena_array(e->scratch, uint32_t, e->calls->len);
    if (p.place == NULL || p.named == NULL)
        return vrs_no_memory(err);
    buf_text(&out->text, flame_before_title);
    markup_text(&out->text, e->path);
    buf_text(&out->text, flame_before_tree);
    TRY(put_packed(&p, out, err));
    buf_text(&out->text, flame_end);
    return VRS_OK;
}
