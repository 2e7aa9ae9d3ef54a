/* view_tables.c - from a study to the packed tables of the page. */
#include <string.h>

#include "render/page/view.h"
#include "render/page/view_source.h"

const char *const view_table_names[VIEW_TABLES] = {
    "alloc", "time", "range", "event", "oom", "mark", "stack", "frame", "string", "adjust", "cover",
};

/* Where the columns of one device go. */
struct filling {
    struct view_source from;
    struct view_blocks *blocks;
    struct view_device *to;
    struct vrs_error *err;
};

static enum vrs_status put(struct filling *f, enum view_table_name name,
                           const struct view_column *column, const void *from, uint32_t rows)
{
    struct view_table *table = &f->to->table[name];
    table->rows = rows;
    return view_queue(f->blocks, column, from, rows, &table->column[table->columns++])
               ? VRS_OK
               : vrs_no_memory(f->err);
}

static enum vrs_status put_all(struct filling *f, enum view_table_name name,
                               const struct view_column *columns, uint32_t count, uint32_t rows)
{
    for (uint32_t i = 0; i < count; i++)
        TRY(put(f, name, &columns[i], &f->from, rows));
    return VRS_OK;
}

#define COUNT(columns) (uint32_t)(sizeof(columns) / sizeof *(columns))

static enum vrs_status fill_allocations(struct filling *f)
{
    /* What the first picture needs stands in a block of its own, before all else. */
    static const struct view_column first[] = {
        { "born", VIEW_U32, VIEW_DELTA, "state", view_alloc_born },
        { "until", VIEW_U32, VIEW_AS_IT_IS, "states", view_alloc_until },
        { "bytes", VIEW_U64, VIEW_AS_IT_IS, "byte", view_alloc_bytes },
        { "cat", VIEW_U8, VIEW_AS_IT_IS, NULL, view_alloc_category },
        { "stack", VIEW_U32, VIEW_AS_IT_IS, NULL, view_alloc_stack },
    };
    static const struct view_column rest[] = {
        { "wait", VIEW_U32, VIEW_AS_IT_IS, "states", view_alloc_waits },
        { "pad", VIEW_U32, VIEW_AS_IT_IS, "byte", view_alloc_pad },
        { "source", VIEW_U8, VIEW_AS_IT_IS, NULL, view_alloc_source },
        { "lane", VIEW_U32, VIEW_AS_IT_IS, NULL, view_alloc_lane },
        { "free_stack", VIEW_U32, VIEW_AS_IT_IS, NULL, view_alloc_free_stack },
        { "rule", VIEW_U8, VIEW_AS_IT_IS, NULL, view_alloc_rule },
        { "sure", VIEW_U8, VIEW_AS_IT_IS, NULL, view_alloc_sure },
        { "phase", VIEW_U8, VIEW_AS_IT_IS, NULL, view_alloc_phase },
        { "stream", VIEW_U16, VIEW_AS_IT_IS, NULL, view_alloc_stream },
        { "pool", VIEW_U16, VIEW_AS_IT_IS, NULL, view_alloc_pool },
        { "flags", VIEW_U8, VIEW_AS_IT_IS, NULL, view_alloc_flags },
    };
    static const struct view_column told = { "ctx", VIEW_U32, VIEW_AS_IT_IS, NULL,
                                             view_alloc_context };
    uint32_t rows = f->to->allocations = f->from.s->lifetimes.count;
    f->blocks->where = VIEW_NEW_BLOCK;
    TRY(put_all(f, VIEW_ALLOC, first, COUNT(first), rows));
    TRY(view_adjust(f->from.s, f->blocks, f->to, f->err));
    f->blocks->where = VIEW_NEW_BLOCK;
    TRY(put_all(f, VIEW_ALLOC, rest, COUNT(rest), rows));
    return f->from.context == NULL ? VRS_OK : put(f, VIEW_ALLOC, &told, &f->from, rows);
}

/* Times and events. */

static uint64_t time_at(const struct study *s, uint32_t event)
{
    return s->r->events.time_us[s->r->devices.first_event[s->device] + event];
}

static uint64_t time_step(const void *from, uint32_t row)
{
    const struct view_source *f = from;
    uint64_t now = time_at(f->s, row), before = row == 0 ? now : time_at(f->s, row - 1);
    if (now == UNKNOWN_U64 || before == UNKNOWN_U64)
        return UINT32_MAX;
    uint64_t step = now < before ? 0 : now - before;
    return step < UINT32_MAX ? step : UINT32_MAX - 1;
}

static uint64_t event_state(const void *from, uint32_t row)
{
    return (uint64_t)((const struct view_source *)from)->events[row] + 1;
}

static uint64_t event_kind(const void *from, uint32_t row)
{
    enum { OTHER = 255 };
    static const uint8_t kinds[ACTIONS] = {
        [ACTION_SEGMENT_ALLOC] = 0, [ACTION_SEGMENT_FREE] = 1, [ACTION_SEGMENT_MAP] = 2,
        [ACTION_SEGMENT_UNMAP] = 3, [ACTION_OOM] = 4,          [ACTION_SNAPSHOT] = 5,
    };
    const struct view_source *f = from;
    uint8_t action = f->s->r->events.action[view_event_row(f, f->events, row)];
    return action >= ACTION_SEGMENT_ALLOC && action <= ACTION_OOM ? kinds[action] : OTHER;
}

/* No size and no count is as large as the largest number. */
static uint64_t or_none(uint64_t value)
{
    return value == UNKNOWN_U64 ? VIEW_NUMBER_MOST : value;
}

static uint64_t event_size(const void *from, uint32_t row)
{
    const struct view_source *f = from;
    return or_none(f->s->r->events.size[view_event_row(f, f->events, row)]);
}

static uint64_t oom_state(const void *from, uint32_t row)
{
    return (uint64_t)((const struct view_source *)from)->ooms[row] + 1;
}

static uint64_t oom_bytes(const void *from, uint32_t row)
{
    const struct view_source *f = from;
    return or_none(f->s->r->events.size[view_event_row(f, f->ooms, row)]);
}

static uint64_t oom_free(const void *from, uint32_t row)
{
    const struct view_source *f = from;
    return or_none(f->s->r->events.address[view_event_row(f, f->ooms, row)]);
}

static uint64_t oom_stack(const void *from, uint32_t row)
{
    const struct view_source *f = from;
    return f->names.stack_id[f->s->r->events.stack[view_event_row(f, f->ooms, row)]];
}

static enum vrs_status fill_events(struct filling *f)
{
    static const struct view_column time[] = { { "dt", VIEW_U32, VIEW_AS_IT_IS, "us", time_step } };
    static const struct view_column event[] = {
        { "state", VIEW_U32, VIEW_DELTA, "state", event_state },
        { "kind", VIEW_U8, VIEW_AS_IT_IS, NULL, event_kind },
        { "arg", VIEW_U64, VIEW_AS_IT_IS, "byte", event_size },
    };
    static const struct view_column oom[] = {
        { "state", VIEW_U32, VIEW_DELTA, "state", oom_state },
        { "bytes", VIEW_U64, VIEW_AS_IT_IS, "byte", oom_bytes },
        { "free", VIEW_U64, VIEW_AS_IT_IS, "byte", oom_free },
        { "stack", VIEW_U32, VIEW_AS_IT_IS, NULL, oom_stack },
    };
    if (f->to->base_us != UNKNOWN_U64)
        TRY(put_all(f, VIEW_TIME, time, COUNT(time), f->from.s->events));
    TRY(put_all(f, VIEW_EVENT, event, COUNT(event), f->from.event_count));
    return put_all(f, VIEW_OOM, oom, COUNT(oom), f->from.oom_count);
}

/* Ranges of mapped memory. */

static const struct view_range *range(const void *from, uint32_t row)
{
    return &((const struct view_source *)from)->ranges.at[row];
}

static uint64_t range_born(const void *from, uint32_t row)
{
    return range(from, row)->born;
}

static uint64_t range_until(const void *from, uint32_t row)
{
    return range(from, row)->until;
}

static uint64_t range_base(const void *from, uint32_t row)
{
    return range(from, row)->address;
}

static uint64_t range_bytes(const void *from, uint32_t row)
{
    return range(from, row)->bytes;
}

static uint64_t range_stream(const void *from, uint32_t row)
{
    return range(from, row)->stream;
}

static uint64_t range_pool(const void *from, uint32_t row)
{
    return range(from, row)->pool;
}

static uint64_t range_lane(const void *from, uint32_t row)
{
    return view_lane_of(from, range(from, row)->address);
}

static enum vrs_status fill_ranges(struct filling *f)
{
    static const struct view_column columns[] = {
        { "born", VIEW_U32, VIEW_DELTA, "state", range_born },
        { "until", VIEW_U32, VIEW_AS_IT_IS, "states", range_until },
        { "base", VIEW_U64, VIEW_AS_IT_IS, NULL, range_base },
        { "bytes", VIEW_U64, VIEW_AS_IT_IS, "byte", range_bytes },
        { "stream", VIEW_U16, VIEW_AS_IT_IS, NULL, range_stream },
        { "pool", VIEW_U16, VIEW_AS_IT_IS, NULL, range_pool },
        { "lane", VIEW_U32, VIEW_AS_IT_IS, NULL, range_lane },
    };
    return put_all(f, VIEW_RANGE, columns, COUNT(columns), f->from.ranges.count);
}

/* Marks. */

static const struct view_mark *mark(const void *from, uint32_t row)
{
    return &((const struct view_source *)from)->marks.at[row];
}

static uint64_t mark_kind(const void *from, uint32_t row)
{
    return mark(from, row)->kind;
}

static uint64_t mark_first(const void *from, uint32_t row)
{
    return mark(from, row)->first;
}

static uint64_t mark_last(const void *from, uint32_t row)
{
    return mark(from, row)->last;
}

static uint64_t mark_depth(const void *from, uint32_t row)
{
    return mark(from, row)->depth;
}

static uint64_t mark_text(const void *from, uint32_t row)
{
    return mark(from, row)->name;
}

static enum vrs_status fill_marks(struct filling *f)
{
    static const struct view_column columns[] = {
        { "kind", VIEW_U8, VIEW_AS_IT_IS, NULL, mark_kind },
        { "first", VIEW_U32, VIEW_ZIGZAG, "state", mark_first },
        { "last", VIEW_U32, VIEW_ZIGZAG, "state", mark_last },
        { "depth", VIEW_U8, VIEW_AS_IT_IS, NULL, mark_depth },
        { "name", VIEW_U32, VIEW_AS_IT_IS, NULL, mark_text },
    };
    return put_all(f, VIEW_MARK, columns, COUNT(columns), f->from.marks.count);
}

/* Names. */

static uint64_t stack_caller(const void *from, uint32_t row)
{
    const struct view_names *n = &((const struct view_source *)from)->names;
    const struct stacks *s = &((const struct view_source *)from)->s->r->stacks;
    return row == 0 ? 0 : n->stack_id[s->caller[n->stack_row[row]]];
}

static uint64_t stack_frame(const void *from, uint32_t row)
{
    const struct view_names *n = &((const struct view_source *)from)->names;
    const struct stacks *s = &((const struct view_source *)from)->s->r->stacks;
    return row == 0 ? 0 : n->frame_id[s->frame[n->stack_row[row]]];
}

static uint64_t stack_culprit(const void *from, uint32_t row)
{
    return ((const struct view_source *)from)->names.culprit[row];
}

static uint64_t stack_owner(const void *from, uint32_t row)
{
    return ((const struct view_source *)from)->names.owner[row];
}

static uint64_t stack_op(const void *from, uint32_t row)
{
    return ((const struct view_source *)from)->names.op[row];
}

static uint64_t stack_module(const void *from, uint32_t row)
{
    return ((const struct view_source *)from)->names.module[row];
}

static uint64_t frame_function(const void *from, uint32_t row)
{
    return ((const struct view_source *)from)->names.function[row];
}

static uint64_t frame_file(const void *from, uint32_t row)
{
    return ((const struct view_source *)from)->names.file[row];
}

static uint64_t frame_line(const void *from, uint32_t row)
{
    const struct view_source *f = from;
    return row == 0 ? NO_LINE : f->s->r->frames.line[f->names.frame_row[row]];
}

static uint64_t frame_kind(const void *from, uint32_t row)
{
    return ((const struct view_source *)from)->names.frame_class[row];
}

static uint64_t string_length(const void *from, uint32_t row)
{
    return ((const struct view_source *)from)->names.strings.length[row];
}

static enum vrs_status fill_names(struct filling *f)
{
    static const struct view_column stack[] = {
        { "caller", VIEW_U32, VIEW_ZIGZAG, NULL, stack_caller },
        { "frame", VIEW_U32, VIEW_AS_IT_IS, NULL, stack_frame },
        { "site", VIEW_U32, VIEW_AS_IT_IS, NULL, stack_culprit },
        { "culprit", VIEW_U32, VIEW_AS_IT_IS, NULL, stack_culprit },
        { "owner", VIEW_U32, VIEW_AS_IT_IS, NULL, stack_owner },
        { "op", VIEW_U32, VIEW_AS_IT_IS, NULL, stack_op },
        { "module", VIEW_U32, VIEW_AS_IT_IS, NULL, stack_module },
    };
    static const struct view_column frame[] = {
        { "func", VIEW_U32, VIEW_ZIGZAG, NULL, frame_function },
        { "file", VIEW_U32, VIEW_ZIGZAG, NULL, frame_file },
        { "line", VIEW_U32, VIEW_AS_IT_IS, NULL, frame_line },
        { "kind", VIEW_U8, VIEW_AS_IT_IS, NULL, frame_kind },
    };
    static const struct view_column length = { "len", VIEW_U32, VIEW_AS_IT_IS, "byte",
                                               string_length };
    static const struct view_column text = { "bytes", VIEW_U8, VIEW_AS_IT_IS, NULL, NULL };
    const struct strings *strings = &f->from.names.strings;
    struct view_table *table = &f->to->table[VIEW_STRING];
    TRY(put_all(f, VIEW_STACK, stack, COUNT(stack), f->from.names.stacks));
    TRY(put_all(f, VIEW_FRAME, frame, COUNT(frame), f->from.names.frames));
    TRY(put(f, VIEW_STRING, &length, &f->from, strings->rows.len));
    return view_queue_bytes(f->blocks, &text, (const uint8_t *)strings->bytes.at,
                            strings->bytes.len, &table->column[table->columns++])
               ? VRS_OK
               : vrs_no_memory(f->err);
}

/* For those who speak of stacks when the tables are packed. */
static enum vrs_status keep_stacks(struct filling *f)
{
    const struct view_names *names = &f->from.names;
    uint32_t *kept = arena_array(f->from.s->keep, uint32_t, names->stacks);
    if (kept == NULL)
        return vrs_no_memory(f->err);
    memcpy(kept, names->stack_row, names->stacks * sizeof *kept);
    f->to->stack_row = kept;
    return VRS_OK;
}

static enum vrs_status fill(struct filling *f)
{
    TRY(fill_allocations(f));
    TRY(fill_events(f));
    TRY(fill_ranges(f));
    TRY(fill_marks(f));
    TRY(fill_names(f));
    TRY(keep_stacks(f));
    f->blocks->where = VIEW_COVER_BLOCK;
    TRY(view_cover(f->from.s, f->blocks, f->to, f->err));
    return view_pack_all(f->blocks, f->from.s->threads, f->err);
}

enum vrs_status view_tables(struct study *s, struct view_blocks *blocks, struct view_device *ret,
                            struct vrs_error *err)
{
    struct filling f = { .blocks = blocks, .to = ret, .err = err };
    struct arena_mark mark = arena_mark(s->scratch);
    uint64_t clipped = blocks->clipped;
    enum vrs_status status = view_source_make(s, &f.from, err);
    if (status == VRS_OK) {
        status = fill(&f);
        view_source_end(&f.from);
    }
    arena_release(s->scratch, mark);
    ret->clipped = blocks->clipped - clipped;
    return status;
}
