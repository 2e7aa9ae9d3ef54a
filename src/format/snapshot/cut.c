/* cut.c - the end of the input: finishes a whole recording, or recovers one from a cut file.
 *
 * What is left of a cut file stands on the operand stack: the top dict with its keys and values,
 * the newest value perhaps a list with its items still above it.  Finished records among those
 * are taken; an unfinished one is a dict that is still open, and everything above it is its own. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/str.h"
#include "base/table.h"
#include "format/snapshot/build.h"
#include "format/snapshot/builder.h"
#include "format/snapshot/keys.h"
#include "model/ids.h"
#include "model/recording.h"
#include "model/strings.h"

static bool holds_segments(const struct builder *b, struct value list)
{
    if (list.tag != TAG_LIST)
        return is_empty_list(list);
    for (const struct link *l = chain_first(b, list.row); l != NULL; l = link_next(b, l))
        if (l->value.tag == TAG_SEGMENT)
            return true;
    return false;
}

static struct top bare_top(struct value segments)
{
    static const struct value none = { .tag = TAG_NONE };
    return (struct top){
        .segments = segments,
        .traces = none,
        .settings = none,
        .annotations = none,
        .host_segments = none,
        .host_traces = none,
        .overflowed = none,
        .max_entries = none,
        .extra = none,
        .segments_whole = true,
        .traces_whole = true,
        .part_trace = NO_ROW,
        .segments_at = UINT32_MAX,
        .traces_at = UINT32_MAX,
    };
}

/* Whether a text stood in what was read. */
static bool was_read(struct builder *b, str text)
{
    struct strings *s = &b->r->code.strings;
    uint32_t before = s->rows.len;
    string_id id;
    return strings_intern(s, text, &id) && id.n < before;
}

/* Both are JSON, and people mix them up. */
static bool is_profiler_trace(struct builder *b)
{
    return was_read(b, S("traceEvents")) || (was_read(b, S("ph")) && was_read(b, S("ts")));
}

static enum vrs_status refuse_other(struct builder *b, struct vrs_error *err)
{
    if (is_profiler_trace(b))
        return vrs_fail(err, VRS_UNSUPPORTED,
                        "a trace of torch.profiler, and no memory snapshot: vramscope trace reads "
                        "it");
    return vrs_fail_at(err, VRS_UNSUPPORTED, b->offset,
                       "not a memory snapshot: neither a dict with segments or device_traces "
                       "nor a list of segments; "
                       "torch.cuda.memory._dump_snapshot writes one");
}

enum vrs_status build_finish(struct builder *b, struct vrs_error *err)
{
    if (b->marks.len != 0 || b->stack.len != 1)
        return vrs_fail_at(err, VRS_CORRUPT, b->offset,
                           "ends with %u values and %u open marks instead of one value; is this "
                           "a memory snapshot?",
                           b->stack.len, b->marks.len);
    struct value *root = &b->stack.at[0];
    TRY(build_settle(b, root, err));
    b->r->origin.complete = true;
    if (root->tag == TAG_TOP) {
        struct top top = b->tops.at[root->row];
        return assemble(b, &top, err);
    }
    if (!holds_segments(b, *root))
        return refuse_other(b, err);
    b->r->origin.bare_list = true;
    struct top top = bare_top(*root);
    return assemble(b, &top, err);
}

static bool is_list(struct value v)
{
    return v.tag == TAG_LIST || v.tag == TAG_STACK;
}

/* Whether the list, or dict, at `place` is known to be at its end: its reader said so, or what
 * stands behind it cannot be one of its items.  A memo write behind its items proves nothing. */
static bool list_whole(const struct builder *b, uint32_t place, bool (*ends)(struct value next))
{
    struct value v = b->stack.at[place];
    if ((v.flags & VALUE_WHOLE) != 0)
        return true;
    return place + 1 < b->stack.len && !marked_at(b, place + 1) && ends(b->stack.at[place + 1]);
}

static bool is_string(struct value v)
{
    return v.tag == TAG_STRING;
}

/* Adds the finished records above the list at `place` to it. */
static enum vrs_status fold_records(struct builder *b, uint32_t place, enum tag tag,
                                    struct vrs_error *err)
{
    for (uint32_t i = place + 1; i < b->stack.len; i++) {
        struct value v = b->stack.at[i];
        if (v.tag == TAG_DICT || v.tag == TAG_LIST)
            break;
        if (v.tag == tag)
            TRY(chain_add(b, &b->stack.at[place].row, v, err));
    }
    return VRS_OK;
}

/* Adds the traces above the list of traces at `place` to it; `*ret_part` is the number of the one
 * the cut lies in, or NO_ROW. */
static enum vrs_status fold_traces(struct builder *b, uint32_t place, uint32_t *ret_part,
                                   struct vrs_error *err)
{
    *ret_part = NO_ROW;
    uint32_t chain = b->stack.at[place].row;
    uint32_t number = chain == 0 ? 0 : b->chains.at[chain - 1].links;
    for (uint32_t i = place + 1; i < b->stack.len && is_list(b->stack.at[i]); i++, number++) {
        bool whole = list_whole(b, i, is_list);
        if (!whole) {
            if (b->stack.at[i].tag == TAG_LIST)
                TRY(fold_records(b, i, TAG_EVENT, err));
            *ret_part = number;
        }
        struct value trace = b->stack.at[i];
        TRY(chain_add(b, &b->stack.at[place].row, trace, err));
        if (!whole)
            break;
    }
    return VRS_OK;
}

/* The value of `key` at `place`, with the finished items above it; `whole` says that there are
 * none. */
static enum vrs_status fold_value(struct builder *b, uint32_t place, struct value key, bool whole,
                                  struct top *top, struct vrs_error *err)
{
    struct value *v = &b->stack.at[place];
    bool open_list = v->tag == TAG_LIST && !whole;
    switch (key.tag == TAG_STRING ? key.row : KEY_NONE) {
    case KEY_SEGMENTS:
        if (open_list)
            TRY(fold_records(b, place, TAG_SEGMENT, err));
        top->segments = b->stack.at[place];
        top->segments_whole = whole;
        top->segments_at = key.count;
        break;
    case KEY_DEVICE_TRACES:
        if (open_list)
            TRY(fold_traces(b, place, &top->part_trace, err));
        top->traces = b->stack.at[place];
        top->traces_whole = whole;
        top->traces_at = key.count;
        break;
    case KEY_EXTERNAL_ANNOTATIONS:
        if (open_list)
            TRY(fold_records(b, place, TAG_NOTE, err));
        top->annotations = b->stack.at[place];
        break;
    case KEY_HOST_SEGMENTS:
        if (open_list)
            TRY(fold_records(b, place, TAG_SEGMENT, err));
        top->host_segments = b->stack.at[place];
        break;
    case KEY_HOST_TRACES:
        if (whole)
            top->host_traces = *v;
        break;
    case KEY_ALLOCATOR_SETTINGS:
        if (v->tag == TAG_MAP)
            top->settings = *v;
        break;
    case KEY_VRAMSCOPE:
        if (v->tag == TAG_MAP)
            top->extra = *v;
        break;
    default:
        break;
    }
    return VRS_OK;
}

static enum cut_part part_of(uint32_t key)
{
    return key == KEY_SEGMENTS ? CUT_SEGMENTS : key == KEY_DEVICE_TRACES ? CUT_TRACES : CUT_BEFORE;
}

/* The pairs that the top dict has taken already (protocol 0 sets one at a time). */
static enum vrs_status fold_taken(struct builder *b, uint32_t chain, struct top *top,
                                  struct vrs_error *err)
{
    uint32_t place = b->stack.len;
    struct value key = { .tag = TAG_NONE };
    bool after_key = false;
    for (const struct link *l = chain_first(b, chain); l != NULL; l = link_next(b, l)) {
        after_key = !after_key;
        if (after_key) {
            key = l->value;
            continue;
        }
        struct value v = l->value;
        TRY(build_push(b, v, err));
        enum vrs_status status = fold_value(b, place, key, true, top, err);
        b->stack.len = place;
        TRY(status);
    }
    return VRS_OK;
}

/* The unfinished top dict at the bottom of the operand stack. */
static enum vrs_status fold_dict(struct builder *b, struct top *top, enum cut_part *ret_part,
                                 struct vrs_error *err)
{
    *top = bare_top((struct value){ .tag = TAG_NONE });
    top->segments_whole = top->traces_whole = false;
    *ret_part = CUT_BEFORE;
    TRY(fold_taken(b, b->stack.at[0].row, top, err));
    for (uint32_t i = 1; i + 1 < b->stack.len && is_string(b->stack.at[i]); i += 2) {
        struct value key = b->stack.at[i];
        struct value v = b->stack.at[i + 1];
        bool container = v.tag == TAG_LIST || v.tag == TAG_STACK || v.tag == TAG_DICT;
        bool whole = !container || list_whole(b, i + 1, is_string);
        TRY(fold_value(b, i + 1, key, whole, top, err));
        if (!whole) {
            *ret_part = part_of(key.row);
            break;
        }
    }
    if (top->segments_whole && top->traces_whole)
        *ret_part = CUT_AFTER;
    return VRS_OK;
}

static enum vrs_status nothing_finished(const struct builder *b, struct vrs_error *err)
{
    return vrs_fail_at(err, VRS_CORRUPT, b->offset,
                       "ends before the first whole record; the file is cut (crashed dump, full "
                       "disk?)");
}

enum vrs_status build_cut(struct builder *b, struct vrs_error *err)
{
    struct recording *r = b->r;
    struct top top;
    enum cut_part part = CUT_AFTER;
    if (b->stack.len == 0)
        return nothing_finished(b, err);
    struct value root = b->stack.at[0];
    if (root.tag == TAG_TOP) {
        top = b->tops.at[root.row];
    } else if (root.tag == TAG_DICT) {
        TRY(fold_dict(b, &top, &part, err));
    } else if (root.tag == TAG_LIST) {
        TRY(fold_records(b, 0, TAG_SEGMENT, err));
        top = bare_top(b->stack.at[0]);
        top.segments_whole = false;
        r->origin.bare_list = true;
        part = CUT_SEGMENTS;
    } else {
        return nothing_finished(b, err);
    }
    TRY(assemble(b, &top, err));
    if (r->segments.rows.len == 0 && r->devices.rows.len == 0 && r->marks.rows.len == 0)
        return nothing_finished(b, err);
    r->origin.complete = false;
    r->origin.cut_offset = b->offset;
    r->origin.cut_part = (uint8_t)part;
    return VRS_OK;
}
