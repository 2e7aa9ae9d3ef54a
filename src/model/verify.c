/* verify.c - the invariants of recording.h, table by table. */
#include "model/verify.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/table.h"
#include "base/utf8.h"
#include "model/frames.h"
#include "model/ids.h"
#include "model/stacks.h"
#include "model/strings.h"
#include "model/verify_allocations.h"

/* An id column must stay below `limit`. */
static enum vrs_status check_ids(const char *column, const uint32_t *id, uint32_t rows,
                                 uint32_t limit, struct vrs_error *err)
{
    for (uint32_t i = 0; i < rows; i++)
        if (id[i] >= limit)
            return vrs_fail(err, VRS_CORRUPT, "%s, row %u: %u is not below %u", column, i, id[i],
                            limit);
    return VRS_OK;
}

static enum vrs_status check_bytes(const char *column, const uint8_t *value, uint32_t rows,
                                   uint32_t limit, struct vrs_error *err)
{
    for (uint32_t i = 0; i < rows; i++)
        if (value[i] >= limit)
            return vrs_fail(err, VRS_CORRUPT, "%s, row %u: %u is not below %u", column, i, value[i],
                            limit);
    return VRS_OK;
}

/* Runs of rows that follow one another and fill the table; an empty run may start anywhere. */
static enum vrs_status check_runs(const char *column, const uint32_t *first, const uint32_t *count,
                                  uint32_t rows, uint32_t filled, struct vrs_error *err)
{
    uint64_t next = 0;
    for (uint32_t i = 0; i < rows; i++) {
        if (count[i] != 0 && first[i] != next)
            return vrs_fail(err, VRS_CORRUPT, "%s, row %u: starts at %u, not at %llu", column, i,
                            first[i], (unsigned long long)next);
        next += count[i];
    }
    if (next != filled)
        return vrs_fail(err, VRS_CORRUPT, "%s: the runs hold %llu rows, the table %u", column,
                        (unsigned long long)next, filled);
    return VRS_OK;
}

static enum vrs_status check_tables(const struct recording *r, struct vrs_error *err)
{
    for (uint32_t i = 0; i < recording_table_count; i++) {
        const struct table_kind *kind = recording_tables[i].kind;
        const char *at = (const char *)r + recording_tables[i].offset;
        const struct table *t = (const void *)at;
        if (t->len > t->cap || t->cap > t->max)
            return vrs_fail(err, VRS_CORRUPT, "%s: %u rows of %u, at most %u", kind->name, t->len,
                            t->cap, t->max);
        for (uint32_t c = 0; c < kind->columns; c++) {
            const void *const *column = (const void *)(at + kind->column[c].offset);
            if (t->cap != 0 && *column == NULL)
                return vrs_fail(err, VRS_CORRUPT, "%s.%s has no memory", kind->name,
                                kind->column[c].name);
        }
    }
    if (r->code.strings.rows.len == 0 || r->code.frames.rows.len == 0 ||
        r->code.fx_nodes.rows.len == 0 || r->code.stacks.rows.len == 0 || r->pools.rows.len == 0 ||
        r->contexts.rows.len == 0)
        return vrs_fail(err, VRS_CORRUPT, "an interned table has no row for \"none\"");
    return VRS_OK;
}

static enum vrs_status check_strings(const struct recording *r, struct vrs_error *err)
{
    const struct strings *s = &r->code.strings;
    if (s->length[0] != 0)
        return vrs_fail(err, VRS_CORRUPT, "strings, row 0: not empty");
    for (uint32_t i = 0; i < s->rows.len; i++) {
        if (s->offset[i] > s->bytes.len || s->length[i] > s->bytes.len - s->offset[i])
            return vrs_fail(err, VRS_CORRUPT, "strings, row %u: ends past the %u bytes", i,
                            s->bytes.len);
        if (s->length[i] != 0 && !utf8_valid(strings_text(s, (string_id){ i })))
            return vrs_fail(err, VRS_CORRUPT, "strings, row %u: not UTF-8", i);
    }
    return VRS_OK;
}

static enum vrs_status check_frames(const struct recording *r, struct vrs_error *err)
{
    const struct frames *f = &r->code.frames;
    const struct fx_nodes *x = &r->code.fx_nodes;
    uint32_t strings = r->code.strings.rows.len;
    if (f->name[0] != 0 || f->file[0] != 0 || f->fx[0] != 0)
        return vrs_fail(err, VRS_CORRUPT, "frames, row 0: not empty");
    TRY(check_ids("frames.name", f->name, f->rows.len, strings, err));
    TRY(check_ids("frames.file", f->file, f->rows.len, strings, err));
    TRY(check_ids("frames.fx", f->fx, f->rows.len, x->rows.len, err));
    TRY(check_ids("fx_nodes.op", x->op, x->rows.len, strings, err));
    TRY(check_ids("fx_nodes.name", x->name, x->rows.len, strings, err));
    TRY(check_ids("fx_nodes.target", x->target, x->rows.len, strings, err));
    TRY(check_ids("fx_nodes.info", x->info, x->rows.len, strings, err));
    return check_ids("fx_nodes.original_trace", x->original_trace, x->rows.len, strings, err);
}

static enum vrs_status check_stacks(const struct recording *r, struct vrs_error *err)
{
    const struct stacks *s = &r->code.stacks;
    if (s->caller[0] != 0 || s->frame[0] != 0)
        return vrs_fail(err, VRS_CORRUPT, "stacks, row 0: not empty");
    TRY(check_ids("stacks.frame", s->frame, s->rows.len, r->code.frames.rows.len, err));
    for (uint32_t i = 1; i < s->rows.len; i++) {
        if (s->caller[i] >= i)
            return vrs_fail(err, VRS_CORRUPT, "stacks, row %u: its caller is %u", i, s->caller[i]);
        if (s->frame[i] == 0)
            return vrs_fail(err, VRS_CORRUPT, "stacks, row %u: no frame", i);
    }
    return VRS_OK;
}

static enum vrs_status check_devices(const struct recording *r, struct vrs_error *err)
{
    const struct devices *d = &r->devices;
    uint32_t rows = d->rows.len;
    TRY(check_bytes("devices.kind", d->kind, rows, DEVICE_HOST + 1, err));
    TRY(check_bytes("devices.parts", d->parts, rows, PART_ANCHOR * 2, err));
    for (uint32_t i = 0; i < rows; i++) {
        bool whole = (d->parts[i] & PART_SEGMENTS) != 0 && (d->parts[i] & PART_TRACE) != 0;
        if (whole != ((d->parts[i] & PART_ANCHOR) != 0))
            return vrs_fail(err, VRS_CORRUPT, "devices, row %u: parts %u", i, d->parts[i]);
        if (i != 0 && (d->kind[i] < d->kind[i - 1] ||
                       (d->kind[i] == d->kind[i - 1] && d->number[i] <= d->number[i - 1])))
            return vrs_fail(err, VRS_CORRUPT, "devices, row %u: out of order", i);
    }
    TRY(check_runs("devices.segments", d->first_segment, d->segments, rows, r->segments.rows.len,
                   err));
    TRY(check_runs("devices.blocks", d->first_block, d->blocks, rows, r->blocks.rows.len, err));
    TRY(check_runs("devices.events", d->first_event, d->events, rows, r->events.rows.len, err));
    return check_runs("devices.allocations", d->first_allocation, d->allocations, rows,
                      r->allocations.rows.len, err);
}

static enum vrs_status check_segments(const struct recording *r, struct vrs_error *err)
{
    const struct segments *s = &r->segments;
    uint32_t rows = s->rows.len;
    TRY(check_ids("segments.stream", s->stream, rows, r->streams.rows.len, err));
    TRY(check_ids("segments.pool", s->pool, rows, r->pools.rows.len, err));
    TRY(check_ids("segments.stack", s->stack, rows, r->code.stacks.rows.len, err));
    TRY(check_ids("segments.forward_stack", s->forward_stack, rows, r->code.stacks.rows.len, err));
    TRY(check_bytes("segments.size_class", s->size_class, rows, CLASS_LARGE + 1, err));
    TRY(check_bytes("segments.expandable", s->expandable, rows, 2, err));
    TRY(check_runs("segments.blocks", s->first_block, s->blocks, rows, r->blocks.rows.len, err));
    for (uint32_t d = 0; d < r->devices.rows.len; d++) {
        uint64_t blocks = 0;
        for (uint32_t i = 0; i < r->devices.segments[d]; i++) {
            uint32_t row = r->devices.first_segment[d] + i;
            if (s->device[row] != d)
                return vrs_fail(err, VRS_CORRUPT, "segments, row %u: device %u, not %u", row,
                                s->device[row], d);
            blocks += s->blocks[row];
        }
        if (blocks != r->devices.blocks[d])
            return vrs_fail(err, VRS_CORRUPT, "devices, row %u: its segments hold %llu blocks", d,
                            (unsigned long long)blocks);
    }
    return VRS_OK;
}

/* No entry is of two blocks.  Those of blocks that a cut file dropped are of none; and a file that
 * lists a later device first has them in another order than the blocks. */
static enum vrs_status check_history_runs(const struct recording *r, uint8_t *taken,
                                          struct vrs_error *err)
{
    const struct blocks *b = &r->blocks;
    for (uint32_t i = 0; i < b->rows.len; i++) {
        uint64_t first = b->first_history[i], end = first + b->histories[i];
        bool wrong = b->histories[i] != 0 && end > r->history.rows.len;
        for (uint64_t h = first; !wrong && h < end; h++)
            wrong = taken[h]++ != 0;
        if (wrong)
            return vrs_fail(err, VRS_CORRUPT, "blocks.histories, row %u: rows %llu to %llu of %u",
                            i, (unsigned long long)first, (unsigned long long)end,
                            r->history.rows.len);
    }
    return VRS_OK;
}

static enum vrs_status check_history(const struct recording *r, struct vrs_error *err)
{
    struct arena scratch;
    arena_init(&scratch, SIZE_MAX);
    uint8_t *taken = arena_array(&scratch, uint8_t, r->history.rows.len);
    enum vrs_status status = taken == NULL ? vrs_no_memory(err) : check_history_runs(r, taken, err);
    arena_free(&scratch);
    TRY(status);
    TRY(check_ids("history.stack", r->history.stack, r->history.rows.len, r->code.stacks.rows.len,
                  err));
    return check_ids("history.cpp_frames", r->history.cpp_frames, r->history.rows.len,
                     r->code.strings.rows.len, err);
}

static enum vrs_status check_blocks(const struct recording *r, struct vrs_error *err)
{
    const struct blocks *b = &r->blocks;
    uint32_t rows = b->rows.len;
    TRY(check_bytes("blocks.state", b->state, rows, BLOCK_INACTIVE + 1, err));
    TRY(check_ids("blocks.stack", b->stack, rows, r->code.stacks.rows.len, err));
    TRY(check_ids("blocks.context", b->context, rows, r->contexts.rows.len, err));
    TRY(check_history(r, err));
    for (uint32_t s = 0; s < r->segments.rows.len; s++)
        for (uint32_t i = 0; i < r->segments.blocks[s]; i++)
            if (b->segment[r->segments.first_block[s] + i] != s)
                return vrs_fail(err, VRS_CORRUPT, "blocks, row %u: segment %u, not %u",
                                r->segments.first_block[s] + i,
                                b->segment[r->segments.first_block[s] + i], s);
    return VRS_OK;
}

static enum vrs_status check_events(const struct recording *r, struct vrs_error *err)
{
    const struct events *e = &r->events;
    TRY(check_bytes("events.action", e->action, e->rows.len, ACTIONS, err));
    TRY(check_ids("events.stack", e->stack, e->rows.len, r->code.stacks.rows.len, err));
    TRY(check_ids("events.context", e->context, e->rows.len, r->contexts.rows.len, err));
    for (uint32_t i = 0; i < e->rows.len; i++)
        if (e->stream[i] >= r->streams.rows.len)
            return vrs_fail(err, VRS_CORRUPT, "events.stream, row %u: %u is not below %u", i,
                            e->stream[i], r->streams.rows.len);
    return VRS_OK;
}

static enum vrs_status check_contexts(const struct recording *r, struct vrs_error *err)
{
    const struct contexts *c = &r->contexts;
    uint32_t rows = c->rows.len, strings = r->code.strings.rows.len;
    TRY(check_ids("contexts.compile_context", c->compile_context, rows, strings, err));
    TRY(check_ids("contexts.user_metadata", c->user_metadata, rows, strings, err));
    TRY(check_ids("contexts.internal_metadata", c->internal_metadata, rows, strings, err));
    TRY(check_ids("contexts.category", c->category, rows, strings, err));
    TRY(check_ids("contexts.action", c->action, rows, strings, err));
    TRY(check_ids("contexts.pool", c->pool, rows, r->pools.rows.len, err));
    return check_ids("contexts.forward_stack", c->forward_stack, rows, r->code.stacks.rows.len,
                     err);
}

static enum vrs_status check_settings(const struct recording *r, struct vrs_error *err)
{
    const struct settings *s = &r->settings;
    uint32_t rows = s->rows.len, strings = r->code.strings.rows.len;
    TRY(check_ids("settings.name", s->name, rows, strings, err));
    TRY(check_ids("settings.text", s->text, rows, strings, err));
    TRY(check_bytes("settings.type", s->type, rows, SETTING_TEXT + 1, err));
    for (uint32_t i = 0; i < rows; i++)
        if (s->type[i] == SETTING_BOOL && s->integer[i] != 0 && s->integer[i] != 1)
            return vrs_fail(err, VRS_CORRUPT, "settings, row %u: neither true nor false", i);
    return VRS_OK;
}

static enum vrs_status check_notes(const struct recording *r, struct vrs_error *err)
{
    const struct tallies *t = &r->tallies;
    uint32_t strings = r->code.strings.rows.len;
    TRY(check_ids("marks.name", r->marks.name, r->marks.rows.len, strings, err));
    TRY(check_bytes("marks.stage", r->marks.stage, r->marks.rows.len, STAGE_END + 1, err));
    TRY(check_ids("tallies.name", t->name, t->rows.len, strings, err));
    TRY(check_bytes("tallies.kind", t->kind, t->rows.len, TALLY_KINDS, err));
    for (uint32_t i = 0; i < t->rows.len; i++)
        if (t->count[i] == 0)
            return vrs_fail(err, VRS_CORRUPT, "tallies, row %u: counts nothing", i);
    return VRS_OK;
}

/* A name of memory in use, each of another one; behind those the ones that name nothing. */
static enum vrs_status check_holding(const struct recording *r, uint32_t row, struct vrs_error *err)
{
    const struct named_tensors *n = &r->named;
    uint32_t allocation = n->allocation[row];
    if ((n->standing[row] == NAMED_HOLDS) != (allocation != NO_ROW))
        return vrs_fail(err, VRS_CORRUPT, "named, row %u: holds, and for nothing", row);
    if (row > 0 && allocation <= n->allocation[row - 1] && allocation != NO_ROW)
        return vrs_fail(err, VRS_CORRUPT, "named, row %u: out of order", row);
    if (allocation == NO_ROW)
        return VRS_OK;
    if (allocation >= r->allocations.rows.len)
        return vrs_fail(err, VRS_CORRUPT, "named, row %u: allocation %u of %u", row, allocation,
                        r->allocations.rows.len);
    uint32_t block = r->allocations.block[allocation];
    uint64_t address = block != NO_ROW ? r->blocks.address[block]
                                       : r->events.address[r->allocations.alloc_event[allocation]];
    uint64_t bytes = block != NO_ROW ? r->blocks.size[block] : r->allocations.size[allocation];
    if (address != n->address[row] || bytes < n->bytes[row])
        return vrs_fail(err, VRS_CORRUPT, "named, row %u: of other memory", row);
    return VRS_OK;
}

static enum vrs_status check_named(const struct recording *r, struct vrs_error *err)
{
    const struct named_tensors *n = &r->named;
    uint32_t rows = n->rows.len, strings = r->code.strings.rows.len;
    TRY(check_ids("named.name", n->name, rows, strings, err));
    TRY(check_ids("named.shape", n->shape, rows, strings, err));
    TRY(check_ids("named.dtype", n->dtype, rows, strings, err));
    TRY(check_ids("named.owner", n->owner, rows, strings, err));
    TRY(check_ids("named.shared", n->shared, rows, strings, err));
    TRY(check_bytes("named.kind", n->kind, rows, NAMED_KINDS, err));
    TRY(check_bytes("named.standing", n->standing, rows, NAMED_STANDINGS, err));
    for (uint32_t i = 0; i < rows; i++)
        TRY(check_holding(r, i, err));
    return VRS_OK;
}

static enum vrs_status check_origin(const struct recording *r, struct vrs_error *err)
{
    const struct origin *o = &r->origin;
    if (o->compression > COMPRESSION_ZSTD || o->wrapper > WRAPPER_HTML ||
        o->encoding > ENCODING_JSON || o->cut_part > CUT_AFTER || o->pickle_protocol < -1 ||
        o->pickle_protocol > 5 || o->entry.n >= r->code.strings.rows.len)
        return vrs_fail(err, VRS_CORRUPT, "origin: a value is out of range");
    if (o->complete && o->cut_part != CUT_NONE)
        return vrs_fail(err, VRS_CORRUPT, "origin: complete, and cut in part %u", o->cut_part);
    for (uint32_t i = 0; o->complete && i < r->devices.rows.len; i++)
        if ((r->devices.parts[i] & PART_ANCHOR) == 0)
            return vrs_fail(err, VRS_CORRUPT, "devices, row %u: no anchor in a whole file", i);
    return VRS_OK;
}

enum vrs_status verify_recording(const struct recording *r, struct vrs_error *err)
{
    TRY(check_tables(r, err));
    TRY(check_strings(r, err));
    TRY(check_frames(r, err));
    TRY(check_stacks(r, err));
    TRY(check_devices(r, err));
    TRY(check_segments(r, err));
    TRY(check_blocks(r, err));
    TRY(check_events(r, err));
    TRY(check_contexts(r, err));
    TRY(check_settings(r, err));
    TRY(check_notes(r, err));
    TRY(check_origin(r, err));
    TRY(verify_allocations(r, err));
    return check_named(r, err);
}
