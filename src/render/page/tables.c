/* tables.c - from a study to the tables of the page. */
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "model/frames.h"
#include "model/ids.h"
#include "model/recording.h"
#include "model/stacks.h"
#include "model/strings.h"
#include "render/page/column.h"
#include "render/page/page.h"
#include "render/page/source.h"
#include "render/page/source_marks.h"
#include "render/page/source_names.h"
#include "render/page/source_ranges.h"
#include "render/page/source_tensors.h"

const char *const page_table_names[PAGE_TABLES] = {
    "alloc", "time",   "range",  "event",         "oom",    "mark",  "stack",
    "frame", "string", "tensor", "tensor_string", "adjust", "cover",
};

/* Where the columns of one device go. */
struct filling {
    const struct page_draft *draft;
    const struct page_source *from; /* of the draft */
    struct page_chunks *chunks;
    struct page_device *to;
    struct vrs_error *err;
};

static enum vrs_status put_all(struct filling *f, enum page_table_name name,
                               const struct page_column *columns, uint32_t count, uint32_t rows)
{
    struct page_table *table = &f->to->table[name];
    const void *from = name == PAGE_TIME ? (const void *)f->draft : f->from;
    table->rows = rows;
    for (uint32_t i = 0; i < count; i++)
        if (!page_queue(f->chunks, table, &columns[i], from))
            return vrs_no_memory(f->err);
    return VRS_OK;
}

/* A table of texts: the column of their lengths, then that of all their bytes. */
static enum vrs_status put_texts(struct filling *f, enum page_table_name name,
                                 const struct page_column columns[2], const struct strings *s)
{
    TRY(put_all(f, name, columns, 1, s->rows.len));
    return page_queue_bytes(f->chunks, &f->to->table[name], &columns[1],
                            (const uint8_t *)s->bytes.at, s->bytes.len)
               ? VRS_OK
               : vrs_no_memory(f->err);
}

#define COUNT(columns) (uint32_t)(sizeof(columns) / sizeof *(columns))

/* Names. */

static uint64_t stack_caller(const void *from, uint32_t row)
{
    const struct page_names *n = &((const struct page_source *)from)->names;
    const struct stacks *s = &((const struct page_source *)from)->s->r->code.stacks;
    return row == 0 ? 0 : n->stack_id[s->caller[n->stack_row[row]]];
}

static uint64_t stack_frame(const void *from, uint32_t row)
{
    const struct page_names *n = &((const struct page_source *)from)->names;
    const struct stacks *s = &((const struct page_source *)from)->s->r->code.stacks;
    return row == 0 ? 0 : n->frame_id[s->frame[n->stack_row[row]]];
}

static uint64_t stack_culprit(const void *from, uint32_t row)
{
    return ((const struct page_source *)from)->names.culprit[row];
}

static uint64_t stack_line(const void *from, uint32_t row)
{
    return ((const struct page_source *)from)->names.line[row];
}

static uint64_t stack_site(const void *from, uint32_t row)
{
    return ((const struct page_source *)from)->names.site[row];
}

static uint64_t stack_owner(const void *from, uint32_t row)
{
    return ((const struct page_source *)from)->names.owner[row];
}

static uint64_t stack_op(const void *from, uint32_t row)
{
    return ((const struct page_source *)from)->names.op[row];
}

static uint64_t stack_module(const void *from, uint32_t row)
{
    return ((const struct page_source *)from)->names.module[row];
}

static uint64_t stack_runs(const void *from, uint32_t row)
{
    return ((const struct page_source *)from)->names.runs[row];
}

static uint64_t stack_innermost(const void *from, uint32_t row)
{
    return ((const struct page_source *)from)->names.innermost[row];
}

static uint64_t stack_called_from(const void *from, uint32_t row)
{
    return ((const struct page_source *)from)->names.called_from[row];
}

static uint64_t frame_function(const void *from, uint32_t row)
{
    return ((const struct page_source *)from)->names.function[row];
}

static uint64_t frame_file(const void *from, uint32_t row)
{
    return ((const struct page_source *)from)->names.file[row];
}

static uint64_t frame_line(const void *from, uint32_t row)
{
    const struct page_source *f = from;
    return row == 0 ? NO_LINE : f->s->r->code.frames.line[f->names.frame_row[row]];
}

static uint64_t frame_kind(const void *from, uint32_t row)
{
    return ((const struct page_source *)from)->names.frame_class[row];
}

static uint64_t string_length(const void *from, uint32_t row)
{
    return ((const struct page_source *)from)->names.strings.length[row];
}

static enum vrs_status fill_names(struct filling *f)
{
    static const struct page_column stack[] = {
        { "caller", PAGE_U32, PAGE_ZIGZAG, NULL, stack_caller, PAGE_NEEDED },
        { "frame", PAGE_U32, PAGE_AS_IT_IS, NULL, stack_frame, PAGE_NEEDED },
        { "site", PAGE_U32, PAGE_AS_IT_IS, NULL, stack_site, PAGE_NEEDED },
        { "culprit", PAGE_U32, PAGE_AS_IT_IS, NULL, stack_culprit, PAGE_NEEDED },
        { "line", PAGE_U32, PAGE_AS_IT_IS, NULL, stack_line, PAGE_NEEDED },
        { "owner", PAGE_U32, PAGE_AS_IT_IS, NULL, stack_owner, PAGE_NEEDED },
        { "op", PAGE_U32, PAGE_AS_IT_IS, NULL, stack_op, PAGE_NEEDED },
        { "module", PAGE_U32, PAGE_AS_IT_IS, NULL, stack_module, PAGE_NEEDED },
    };
    static const struct page_column apart[] = {
        { "runs", PAGE_U32, PAGE_AS_IT_IS, NULL, stack_runs, PAGE_NEEDED },
        { "innermost", PAGE_U32, PAGE_AS_IT_IS, NULL, stack_innermost, PAGE_NEEDED },
        { "called_from", PAGE_U32, PAGE_AS_IT_IS, NULL, stack_called_from, PAGE_NEEDED },
    };
    static const struct page_column frame[] = {
        { "func", PAGE_U32, PAGE_ZIGZAG, NULL, frame_function, PAGE_NEEDED },
        { "file", PAGE_U32, PAGE_ZIGZAG, NULL, frame_file, PAGE_NEEDED },
        { "line", PAGE_U32, PAGE_AS_IT_IS, NULL, frame_line, PAGE_NEEDED },
        { "kind", PAGE_U8, PAGE_AS_IT_IS, NULL, frame_kind, PAGE_NEEDED },
    };
    static const struct page_column texts[] = {
        { "len", PAGE_U32, PAGE_AS_IT_IS, "byte", string_length, PAGE_NEEDED },
        { "bytes", PAGE_U8, PAGE_AS_IT_IS, NULL, NULL, PAGE_NEEDED },
    };
    f->chunks->share = PAGE_FIXED;
    TRY(put_all(f, PAGE_STACK, stack, COUNT(stack), f->from->names.stacks));
    if (f->from->names.runs != NULL)
        TRY(put_all(f, PAGE_STACK, apart, COUNT(apart), f->from->names.stacks));
    TRY(put_all(f, PAGE_FRAME, frame, COUNT(frame), f->from->names.frames));
    return put_texts(f, PAGE_STRING, texts, &f->from->names.strings);
}

static enum vrs_status fill_allocations(struct filling *f)
{
    /* The first picture is by line; what it needs stands in a block of its own, before all else. */
    static const struct page_column first[] = {
        { "born", PAGE_U32, PAGE_DELTA, "state", page_alloc_born, PAGE_NEEDED },
        { "until", PAGE_U32, PAGE_AS_IT_IS, "states", page_alloc_until, PAGE_NEEDED },
        { "bytes", PAGE_U64, PAGE_AS_IT_IS, "byte", page_alloc_bytes, PAGE_NEEDED },
        { "cat", PAGE_U8, PAGE_AS_IT_IS, NULL, page_alloc_category, PAGE_NEEDED },
        { "stack", PAGE_U32, PAGE_AS_IT_IS, NULL, page_alloc_stack, PAGE_NEEDED },
        { "sure", PAGE_U8, PAGE_AS_IT_IS, NULL, page_alloc_sure, PAGE_NEEDED },
    };
    static const struct page_column second[] = {
        { "wait", PAGE_U32, PAGE_AS_IT_IS, "states", page_alloc_waits, PAGE_NEEDED },
        { "pad", PAGE_U32, PAGE_AS_IT_IS, "byte", page_alloc_pad, PAGE_SPARE_BLOCKS },
        { "source", PAGE_U8, PAGE_AS_IT_IS, NULL, page_alloc_source, PAGE_SPARE_BLOCKS },
    };
    /* Of a final state alone addresses are what there is to see. */
    static const struct page_column lane[] = {
        { "lane", PAGE_U32, PAGE_AS_IT_IS, NULL, page_alloc_lane, PAGE_NEEDED },
        { "lane", PAGE_U32, PAGE_AS_IT_IS, NULL, page_alloc_lane, PAGE_SPARE_ADDRESSES },
    };
    static const struct page_column rest[] = {
        { "free_stack", PAGE_U32, PAGE_AS_IT_IS, NULL, page_alloc_free_stack, PAGE_SPARE_FREES },
        { "rule", PAGE_U8, PAGE_AS_IT_IS, NULL, page_alloc_rule, PAGE_SPARE_RULES },
        { "phase", PAGE_U8, PAGE_AS_IT_IS, NULL, page_alloc_phase, PAGE_NEEDED },
        { "stream", PAGE_U16, PAGE_AS_IT_IS, NULL, page_alloc_stream, PAGE_NEEDED },
        { "pool", PAGE_U16, PAGE_AS_IT_IS, NULL, page_alloc_pool, PAGE_NEEDED },
        { "flags", PAGE_U8, PAGE_AS_IT_IS, NULL, page_alloc_flags, PAGE_NEEDED },
    };
    static const struct page_column told = { "ctx", PAGE_U32,           PAGE_AS_IT_IS,
                                             NULL,  page_alloc_context, PAGE_NEEDED };
    static const struct page_column tensor = { "tensor", PAGE_U32,          PAGE_AS_IT_IS,
                                               NULL,     page_alloc_tensor, PAGE_SPARE_TENSORS };
    uint32_t rows = f->to->allocations = f->from->s->lifetimes.count;
    f->chunks->where = PAGE_NEW_BLOCK;
    f->chunks->share = PAGE_WINDOWED;
    TRY(put_all(f, PAGE_ALLOC, first, COUNT(first), rows));
    TRY(fill_names(f));
    f->chunks->share = PAGE_FIXED;
    TRY(page_adjust(f->from->s, f->chunks, f->to, f->err));
    f->chunks->where = PAGE_NEW_BLOCK;
    f->chunks->share = PAGE_WINDOWED;
    TRY(put_all(f, PAGE_ALLOC, second, COUNT(second), rows));
    TRY(put_all(f, PAGE_ALLOC, &lane[f->to->states > 1], 1, rows));
    TRY(put_all(f, PAGE_ALLOC, rest, COUNT(rest), rows));
    if (f->from->context != NULL)
        TRY(put_all(f, PAGE_ALLOC, &told, 1, rows));
    return f->from->tensors.of == NULL ? VRS_OK : put_all(f, PAGE_ALLOC, &tensor, 1, rows);
}

/* Times and events. */

static uint64_t time_at(const struct study *s, uint32_t event)
{
    return s->r->events.time_us[s->r->devices.first_event[s->device] + event];
}

static uint64_t time_step(const void *from, uint32_t row)
{
    const struct page_draft *d = from;
    const struct study *s = d->source.s;
    if (d->step != NULL)
        return d->step[row];
    uint64_t now = time_at(s, row), before = row == 0 ? now : time_at(s, row - 1);
    if (now == UNKNOWN_U64 || before == UNKNOWN_U64)
        return PAGE_STEP_UNKNOWN;
    uint64_t step = now < before ? 0 : now - before;
    return step < PAGE_STEP_UNKNOWN ? step : PAGE_STEP_UNKNOWN - 1;
}

static uint64_t event_state(const void *from, uint32_t row)
{
    return (uint64_t)((const struct page_source *)from)->events[row] + 1;
}

static uint64_t event_kind(const void *from, uint32_t row)
{
    enum { OTHER = 255 };
    static const uint8_t kinds[ACTIONS] = {
        [ACTION_SEGMENT_ALLOC] = 0, [ACTION_SEGMENT_FREE] = 1, [ACTION_SEGMENT_MAP] = 2,
        [ACTION_SEGMENT_UNMAP] = 3, [ACTION_OOM] = 4,          [ACTION_SNAPSHOT] = 5,
    };
    const struct page_source *f = from;
    uint8_t action = f->s->r->events.action[page_event_row(f, f->events, row)];
    return action >= ACTION_SEGMENT_ALLOC && action <= ACTION_OOM ? kinds[action] : OTHER;
}

/* No size and no count is as large as the largest number. */
static uint64_t or_none(uint64_t value)
{
    return value == UNKNOWN_U64 ? PAGE_NUMBER_MOST : value;
}

static uint64_t event_size(const void *from, uint32_t row)
{
    const struct page_source *f = from;
    return or_none(f->s->r->events.size[page_event_row(f, f->events, row)]);
}

static uint64_t oom_state(const void *from, uint32_t row)
{
    return (uint64_t)((const struct page_source *)from)->ooms[row] + 1;
}

static uint64_t oom_bytes(const void *from, uint32_t row)
{
    const struct page_source *f = from;
    return or_none(f->s->r->events.size[page_event_row(f, f->ooms, row)]);
}

static uint64_t oom_free(const void *from, uint32_t row)
{
    const struct page_source *f = from;
    return or_none(f->s->r->events.address[page_event_row(f, f->ooms, row)]);
}

static uint64_t oom_stack(const void *from, uint32_t row)
{
    const struct page_source *f = from;
    return f->names.stack_id[f->s->r->events.stack[page_event_row(f, f->ooms, row)]];
}

static enum vrs_status fill_events(struct filling *f)
{
    static const struct page_column time[] = { { "dt", PAGE_U32, PAGE_AS_IT_IS, "us", time_step,
                                                 PAGE_SPARE_TIMES } };
    static const struct page_column event[] = {
        { "state", PAGE_U32, PAGE_DELTA, "state", event_state, PAGE_NEEDED },
        { "kind", PAGE_U8, PAGE_AS_IT_IS, NULL, event_kind, PAGE_NEEDED },
        { "arg", PAGE_U64, PAGE_AS_IT_IS, "byte", event_size, PAGE_NEEDED },
    };
    static const struct page_column oom[] = {
        { "state", PAGE_U32, PAGE_DELTA, "state", oom_state, PAGE_NEEDED },
        { "bytes", PAGE_U64, PAGE_AS_IT_IS, "byte", oom_bytes, PAGE_NEEDED },
        { "free", PAGE_U64, PAGE_AS_IT_IS, "byte", oom_free, PAGE_NEEDED },
        { "stack", PAGE_U32, PAGE_AS_IT_IS, NULL, oom_stack, PAGE_NEEDED },
    };
    f->chunks->share = PAGE_WINDOWED;
    if (f->to->base_us != UNKNOWN_U64)
        TRY(put_all(f, PAGE_TIME, time, COUNT(time), f->from->s->events));
    f->chunks->share = PAGE_FIXED;
    TRY(put_all(f, PAGE_EVENT, event, COUNT(event), f->from->event_count));
    return put_all(f, PAGE_OOM, oom, COUNT(oom), f->from->oom_count);
}

/* Ranges of mapped memory. */

static const struct page_range *range(const void *from, uint32_t row)
{
    return &((const struct page_source *)from)->ranges.at[row];
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
    return page_lane_of(from, range(from, row)->address);
}

static enum vrs_status fill_ranges(struct filling *f)
{
    static const struct page_column columns[] = {
        { "born", PAGE_U32, PAGE_DELTA, "state", range_born, PAGE_NEEDED },
        { "until", PAGE_U32, PAGE_AS_IT_IS, "states", range_until, PAGE_NEEDED },
        { "base", PAGE_U64, PAGE_AS_IT_IS, NULL, range_base, PAGE_NEEDED },
        { "bytes", PAGE_U64, PAGE_AS_IT_IS, "byte", range_bytes, PAGE_NEEDED },
        { "stream", PAGE_U16, PAGE_AS_IT_IS, NULL, range_stream, PAGE_NEEDED },
        { "pool", PAGE_U16, PAGE_AS_IT_IS, NULL, range_pool, PAGE_NEEDED },
        { "lane", PAGE_U32, PAGE_AS_IT_IS, NULL, range_lane, PAGE_NEEDED },
    };
    f->chunks->share = PAGE_FIXED;
    return put_all(f, PAGE_RANGE, columns, COUNT(columns), f->from->ranges.count);
}

/* Marks. */

static const struct page_mark *mark(const void *from, uint32_t row)
{
    return &((const struct page_source *)from)->marks.at[row];
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
    static const struct page_column columns[] = {
        { "kind", PAGE_U8, PAGE_AS_IT_IS, NULL, mark_kind, PAGE_NEEDED },
        { "first", PAGE_U32, PAGE_ZIGZAG, "state", mark_first, PAGE_NEEDED },
        { "last", PAGE_U32, PAGE_ZIGZAG, "state", mark_last, PAGE_NEEDED },
        { "depth", PAGE_U8, PAGE_AS_IT_IS, NULL, mark_depth, PAGE_NEEDED },
        { "name", PAGE_U32, PAGE_AS_IT_IS, NULL, mark_text, PAGE_NEEDED },
    };
    f->chunks->share = PAGE_FIXED;
    return put_all(f, PAGE_MARK, columns, COUNT(columns), f->from->marks.count);
}

/* What the recorded process called its memory. */

static const struct page_tensors *tensors(const void *from)
{
    return &((const struct page_source *)from)->tensors;
}

static uint64_t tensor_kind(const void *from, uint32_t row)
{
    const struct named_tensors *named = &((const struct page_source *)from)->s->r->named;
    return row == 0 ? NAMED_TENSOR : named->kind[tensors(from)->first + row - 1];
}

static uint64_t tensor_name(const void *from, uint32_t row)
{
    return tensors(from)->name[row];
}

static uint64_t tensor_path(const void *from, uint32_t row)
{
    return tensors(from)->path[row];
}

static uint64_t tensor_shape(const void *from, uint32_t row)
{
    return tensors(from)->shape[row];
}

static uint64_t tensor_dtype(const void *from, uint32_t row)
{
    return tensors(from)->dtype[row];
}

static uint64_t tensor_owner(const void *from, uint32_t row)
{
    return tensors(from)->owner[row];
}

static uint64_t tensor_shared(const void *from, uint32_t row)
{
    return tensors(from)->shared[row];
}

static uint64_t tensor_string_length(const void *from, uint32_t row)
{
    return tensors(from)->strings.length[row];
}

static enum vrs_status fill_tensors(struct filling *f)
{
    static const struct page_column tensor[] = {
        { "kind", PAGE_U8, PAGE_AS_IT_IS, NULL, tensor_kind, PAGE_SPARE_TENSORS },
        { "name", PAGE_U32, PAGE_ZIGZAG, NULL, tensor_name, PAGE_SPARE_TENSORS },
        { "path", PAGE_U32, PAGE_AS_IT_IS, NULL, tensor_path, PAGE_SPARE_TENSORS },
        { "shape", PAGE_U32, PAGE_AS_IT_IS, NULL, tensor_shape, PAGE_SPARE_TENSORS },
        { "dtype", PAGE_U32, PAGE_AS_IT_IS, NULL, tensor_dtype, PAGE_SPARE_TENSORS },
        { "of", PAGE_U32, PAGE_AS_IT_IS, NULL, tensor_owner, PAGE_SPARE_TENSORS },
        { "shared", PAGE_U32, PAGE_AS_IT_IS, NULL, tensor_shared, PAGE_SPARE_TENSORS },
    };
    static const struct page_column texts[] = {
        { "len", PAGE_U32, PAGE_AS_IT_IS, "byte", tensor_string_length, PAGE_SPARE_TENSORS },
        { "bytes", PAGE_U8, PAGE_AS_IT_IS, NULL, NULL, PAGE_SPARE_TENSORS },
    };
    const struct page_tensors *t = &f->from->tensors;
    if (t->of == NULL)
        return VRS_OK;
    f->chunks->share = PAGE_FIXED;
    TRY(put_all(f, PAGE_TENSOR, tensor, COUNT(tensor), t->count + 1));
    return put_texts(f, PAGE_TENSOR_STRING, texts, &t->strings);
}

static enum vrs_status fill(struct filling *f)
{
    TRY(fill_allocations(f));
    TRY(fill_events(f));
    TRY(fill_ranges(f));
    TRY(fill_marks(f));
    TRY(fill_tensors(f));
    f->to->stack_row = f->from->names.stack_row;
    f->chunks->where = PAGE_COVER_BLOCK;
    f->chunks->share = PAGE_FIXED;
    return page_cover(f->from->s, f->chunks, f->to, f->err);
}

enum vrs_status page_tables(const struct proven_study *proven, struct page_chunks *chunks,
                            struct page_device *ret, struct vrs_error *err)
{
    struct page_draft *draft = arena_array(proven->study->scratch, struct page_draft, 1);
    if (draft == NULL)
        return vrs_no_memory(err);
    TRY(page_source_make(proven, &draft->source, err));
    ret->draft = draft;
    if (ret->compared)
        TRY(page_names_apart(proven->study, &draft->source.names, err));
    draft->order = draft->source.order;
    draft->pool = draft->source.pool;
    struct filling f = { draft, &draft->source, chunks, ret, err };
    return fill(&f);
}

void page_tables_end(struct page_device *device)
{
    if (device->draft != NULL)
        page_source_end(&device->draft->source);
}
