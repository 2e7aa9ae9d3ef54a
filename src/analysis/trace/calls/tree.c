/* tree.c - a walk down the call tree, depth first, the longest child first. */
#include "analysis/trace/calls/tree.h"

#include <stddef.h>
#include <stdlib.h>

#include "analysis/trace/calls/calls.h"
#include "analysis/trace/study/study.h"
#include "base/buf.h"
#include "base/bytes.h"
#include "base/number.h"
#include "base/table.h"

bool tree_share_read(str text, double *ret)
{
    enum { WHOLE = 100 };
    double number;
    bool percent = text.len > 1 && text.ptr[text.len - 1] == '%';
    text.len -= percent;
    if (!number_real(text, &number))
        return false;
    number = percent ? number / WHOLE : number;
    if (!(number >= 0 && number <= 1))
        return false;
    *ret = number;
    return true;
}

/* Names of roots. */

static void put_id(const struct trace *t, int64_t value, uint8_t form, struct buf *to)
{
    if (form == ID_NUMBER)
        buf_format(to, "%lld", (long long)value);
    else if (form == ID_TEXT)
        buf_str(to, trace_text(t, (uint32_t)value));
    else
        buf_char(to, '?');
}

void tree_root_name(const struct trace *t, const struct call_paths *c, uint32_t track,
                    struct buf *to)
{
    const struct tracks *r = &t->tracks;
    if (track == NO_ROW) {
        buf_text(to, "(device work that no call is known to have launched)");
        return;
    }
    buf_text(to, "thread ");
    put_id(t, r->tid[track], r->tid_form[track], to);
    uint32_t name = t->processes.name[r->process[track]];
    if (c->several_processes) {
        buf_text(to, " of ");
        if (name != 0) {
            buf_str(to, trace_text(t, name));
            buf_char(to, ' ');
        }
        put_id(t, r->pid[track], r->pid_form[track], to);
    }
}

void tree_stream_name(const struct trace *t, uint32_t track, struct buf *to)
{
    const struct tracks *r = &t->tracks;
    buf_text(to, "device ");
    put_id(t, r->pid[track], r->pid_form[track], to);
    buf_text(to, " stream ");
    put_id(t, r->tid[track], r->tid_form[track], to);
}

/* The walk. */

struct child {
    uint32_t parent, path;
    int64_t host_ns, device_ns;
};

static int by_parent_and_time(const void *a, const void *b)
{
    const struct child *x = a, *y = b;
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (x->host_ns != y->host_ns)
        return x->host_ns > y->host_ns ? -1 : 1;
    if (x->device_ns != y->device_ns)
        return x->device_ns > y->device_ns ? -1 : 1;
    return x->path < y->path ? -1 : x->path > y->path;
}

struct walk {
    const struct trace *t;
    const struct call_paths *c;
    struct child *child; /* roots, which have the parent NO_ROW, stand last */
    uint32_t *first;     /* of each path: of its children; at c->len those of roots */
    uint32_t *open;
    struct trace_tree *tree;
};

static bool is_enough(int64_t part, int64_t whole, double share)
{
    return whole > 0 && part > 0 && (double)part >= share * (double)whole;
}

static bool is_shown(const struct walk *w, uint32_t path)
{
    const struct call_path *p = &w->c->at[path];
    return w->tree->least_share <= 0 ||
           is_enough(p->host_ns, w->tree->host_ns, w->tree->least_share) ||
           is_enough(p->device_ns, w->tree->device_ns, w->tree->least_share);
}

static bool children_find(struct walk *w, struct arena *scratch)
{
    const struct call_paths *c = w->c;
    w->child = arena_array(scratch, struct child, c->len);
    w->first = arena_array(scratch, uint32_t, (size_t)c->len + 2);
    w->open = arena_array(scratch, uint32_t, c->len);
    if (w->child == NULL || w->first == NULL || w->open == NULL)
        return false;
    for (uint32_t i = 0; i < c->len; i++) {
        const struct call_path *p = &c->at[i];
        uint32_t parent = p->parent == NO_ROW ? c->len : p->parent;
        w->child[i] = (struct child){ parent, i, p->host_ns, p->device_ns };
        w->first[parent + 1]++;
        if (p->parent == NO_ROW) {
            w->tree->host_ns = i64_plus(w->tree->host_ns, p->host_ns);
            w->tree->device_ns = i64_plus(w->tree->device_ns, p->device_ns);
        }
    }
    for (uint32_t i = 0; i <= c->len; i++)
        w->first[i + 1] += w->first[i];
    qsort(w->child, c->len, sizeof *w->child, by_parent_and_time);
    return true;
}

static bool row_name(const struct walk *w, const struct call_path *p, struct arena *arena, str *ret)
{
    struct buf name;
    if (p->parent != NO_ROW) {
        *ret = arena_copy(arena, trace_text(w->t, p->name));
        return ret->ptr != NULL;
    }
    buf_init(&name, SIZE_MAX / 2);
    tree_root_name(w->t, w->c, p->track, &name);
    *ret = name.failed ? (str){ NULL, 0 } : arena_copy(arena, buf_slice(&name));
    buf_free(&name);
    return ret->ptr != NULL;
}

static bool row_make(const struct walk *w, uint32_t path, struct arena *arena, struct tree_row *ret)
{
    const struct call_path *p = &w->c->at[path];
    *ret = (struct tree_row){ .depth = p->depth, .calls = p->calls, .host_ns = p->host_ns,
                              .self_host_ns = p->self_host_ns, .device_ns = p->device_ns,
                              .bytes = p->bytes };
    return row_name(w, p, arena, &ret->name);
}

/* Opens the children of a path, so that the first of them is closed first. */
static void open_children(const struct walk *w, uint32_t path, uint32_t *open)
{
    for (uint32_t i = w->first[path + 1]; i > w->first[path]; i--)
        if (is_shown(w, w->child[i - 1].path))
            w->open[(*open)++] = w->child[i - 1].path;
}

/* The paths that are shown, in their order, over the children that they come from. */
static uint32_t walk_down(struct walk *w, uint32_t *shown)
{
    uint32_t open = 0, rows = 0;
    open_children(w, w->c->len, &open);
    while (open > 0) {
        uint32_t path = w->open[--open];
        shown[rows++] = path;
        open_children(w, path, &open);
    }
    return rows;
}

static enum vrs_status tree_make(struct walk *w, struct arena *scratch, struct arena *arena,
                                 struct vrs_error *err)
{
    struct trace_tree *tree = w->tree;
    uint32_t *shown = arena_array(scratch, uint32_t, w->c->len);
    if (shown == NULL || !children_find(w, scratch))
        return vrs_no_memory(err);
    tree->paths = w->c->len;
    tree->rows = walk_down(w, shown);
    tree->row = arena_array(arena, struct tree_row, tree->rows);
    bool ok = tree->row != NULL;
    for (uint32_t i = 0; i < tree->rows && ok; i++)
        ok = row_make(w, shown[i], arena, &tree->row[i]);
    return ok ? VRS_OK : vrs_no_memory(err);
}

enum vrs_status trace_tree_make(const struct trace *t, double least_share, struct arena *arena,
                                struct trace_tree *ret, struct vrs_error *err)
{
    struct trace_study s;
    struct call_paths c;
    struct arena scratch;
    struct walk w = { .t = t, .c = &c, .tree = ret };
    *ret = (struct trace_tree){ .least_share = least_share };
    arena_init(&scratch, SIZE_MAX / 2);
    enum vrs_status status = trace_study_make(t, &scratch, &s, err);
    if (status == VRS_OK)
        status = call_paths_make(&s, &scratch, &c, err);
    if (status == VRS_OK)
        status = tree_make(&w, &scratch, arena, err);
    arena_free(&scratch);
    return status;
}
