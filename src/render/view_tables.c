/* view_tables.c - from a study to the packed tables of the page. */
#include <stdlib.h>

#include "analysis/live.h"
#include "analysis/mark_events.h"
#include "render/view.h"
#include "render/view_names.h"
#include "render/view_ranges.h"

const char *const view_table_names[VIEW_TABLES] = {
    "alloc", "time", "range", "event", "oom", "mark", "stack", "frame", "string", "cover",
};

/* What the tables of one device are filled from. */
struct filling {
    struct study *s;
    struct view_blocks *blocks;
    struct view_device *to;
    struct view_names names;
    uint32_t *order; /* of allocations: older ones first, then by birth */
    uint32_t *pool;  /* of each allocation, in `order` */
    struct view_ranges ranges;
    struct view_marks {
        struct view_mark {
            uint8_t kind, depth;
            uint32_t first, last, name;
        } * at;
        uint32_t count;
    } marks;
    uint32_t *events; /* rows of events that no allocation tells of */
    uint32_t event_count;
    uint32_t *ooms;
    uint32_t oom_count;
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
        TRY(put(f, name, &columns[i], f, rows));
    return VRS_OK;
}

#define COUNT(columns) (uint32_t)(sizeof(columns) / sizeof *(columns))

/* Allocations. */

static const struct lifetime *life(const struct filling *f, uint32_t row)
{
    return &f->s->lifetimes.at[f->order[row]];
}

static uint64_t born(const void *from, uint32_t row)
{
    return (uint64_t)(life(from, row)->birth + 1);
}

static uint64_t until(const void *from, uint32_t row)
{
    const struct filling *f = from;
    const struct lifetime *l = life(f, row);
    return l->freed >= (int64_t)f->s->events ? 0 : (uint64_t)((int64_t)l->freed - l->birth);
}

/* States between the request of its free and the end of it, or of the recording. */
static uint64_t waits(const void *from, uint32_t row)
{
    const struct lifetime *l = life(from, row);
    int64_t asked = l->requested < l->birth ? l->birth : l->requested;
    return l->freed > asked ? (uint64_t)(l->freed - asked) : 0;
}

static uint64_t bytes(const void *from, uint32_t row)
{
    return life(from, row)->bytes;
}

static uint64_t pad(const void *from, uint32_t row)
{
    const struct filling *f = from;
    uint64_t more = lifetimes_slack(&f->s->lifetimes, f->order[row]);
    return more < UINT32_MAX ? more : UINT32_MAX;
}

static uint64_t source(const void *from, uint32_t row)
{
    const struct filling *f = from;
    return lifetimes_block(&f->s->lifetimes, f->order[row]).source;
}

static uint64_t alloc_stack(const void *from, uint32_t row)
{
    const struct filling *f = from;
    return f->names.stack_id[life(f, row)->alloc_stack.n];
}

static uint64_t free_stack(const void *from, uint32_t row)
{
    const struct filling *f = from;
    return f->names.stack_id[life(f, row)->free_stack.n];
}

static uint64_t category(const void *from, uint32_t row)
{
    const struct filling *f = from;
    return f->s->categories.of[f->order[row]];
}

static uint64_t sure(const void *from, uint32_t row)
{
    const struct filling *f = from;
    return f->s->categories.confidence[f->order[row]];
}

static uint64_t rule(const void *from, uint32_t row)
{
    const struct filling *f = from;
    uint16_t rule = f->s->categories.rule[f->order[row]];
    return rule < UINT8_MAX ? rule : UINT8_MAX;
}

static uint64_t phase(const void *from, uint32_t row)
{
    const struct filling *f = from;
    uint32_t stack = life(f, row)->alloc_stack.n;
    return stack == 0 || !f->s->phases.known ? (uint64_t)PHASES : f->s->phases.of_stack[stack];
}

static uint64_t stream(const void *from, uint32_t row)
{
    const struct filling *f = from;
    uint32_t first = f->s->r->devices.first_allocation[f->s->device];
    return allocation_stream(f->s->r, first + f->order[row]);
}

static uint64_t pool(const void *from, uint32_t row)
{
    const struct filling *f = from;
    return f->pool[row];
}

/* Where an address lies among all that were ever mapped, in units of 512 bytes. */
static uint64_t lane_of(const struct filling *f, uint64_t address)
{
    enum { GRAIN = 512 };
    uint64_t below = address == UNKNOWN_U64 ? UINT64_MAX : view_ranges_below(&f->ranges, address);
    return below / GRAIN < UINT32_MAX ? below / GRAIN : UINT32_MAX;
}

/* Of its alloc, else of its free, else of the final block. */
static uint64_t lane(const void *from, uint32_t row)
{
    const struct filling *f = from;
    const struct recording *r = f->s->r;
    const struct lifetime *l = life(f, row);
    uint32_t first = r->devices.first_event[f->s->device];
    uint32_t allocation = r->devices.first_allocation[f->s->device] + f->order[row];
    uint32_t block = r->allocations.block[allocation];
    if (l->birth >= 0)
        return lane_of(f, r->events.address[first + (uint32_t)l->birth]);
    if (l->freed < (int64_t)f->s->events)
        return lane_of(f, r->events.address[first + (uint32_t)l->freed]);
    return block == NO_ROW ? UINT32_MAX : lane_of(f, r->blocks.address[block]);
}

/* 1, 2: older than the recording, and freed in it, or alive at its end. */
static uint64_t flags(const void *from, uint32_t row)
{
    return life(from, row)->origin;
}

static enum vrs_status order_allocations(struct filling *f)
{
    const struct study *s = f->s;
    uint32_t count = s->lifetimes.count, at = 0;
    struct segment_index index;
    f->order = arena_array(s->scratch, uint32_t, count);
    f->pool = arena_array(s->scratch, uint32_t, count);
    if (f->order == NULL || f->pool == NULL)
        return vrs_no_memory(f->err);
    /* Those that were seen stand in the order of their births. */
    for (int seen = 0; seen < 2; seen++)
        for (uint32_t i = 0; i < count; i++)
            if ((s->lifetimes.at[i].birth >= 0) == seen)
                f->order[at++] = i;
    TRY(segment_index_make(s->r, s->device, s->scratch, &index, f->err));
    uint32_t first = s->r->devices.first_allocation[s->device];
    for (uint32_t i = 0; i < count; i++)
        f->pool[i] = allocation_pool(s->r, &index, first + f->order[i]).n;
    return VRS_OK;
}

static enum vrs_status fill_allocations(struct filling *f)
{
    /* What the first picture needs stands in a block of its own, before all else. */
    static const struct view_column first[] = {
        { "born", VIEW_U32, VIEW_DELTA, "state", born },
        { "until", VIEW_U32, VIEW_AS_IT_IS, "states", until },
        { "bytes", VIEW_U64, VIEW_AS_IT_IS, "byte", bytes },
        { "cat", VIEW_U8, VIEW_AS_IT_IS, NULL, category },
        { "stack", VIEW_U32, VIEW_AS_IT_IS, NULL, alloc_stack },
    };
    static const struct view_column rest[] = {
        { "wait", VIEW_U32, VIEW_AS_IT_IS, "states", waits },
        { "pad", VIEW_U32, VIEW_AS_IT_IS, "byte", pad },
        { "source", VIEW_U8, VIEW_AS_IT_IS, NULL, source },
        { "lane", VIEW_U32, VIEW_AS_IT_IS, NULL, lane },
        { "free_stack", VIEW_U32, VIEW_AS_IT_IS, NULL, free_stack },
        { "rule", VIEW_U8, VIEW_AS_IT_IS, NULL, rule },
        { "sure", VIEW_U8, VIEW_AS_IT_IS, NULL, sure },
        { "phase", VIEW_U8, VIEW_AS_IT_IS, NULL, phase },
        { "stream", VIEW_U16, VIEW_AS_IT_IS, NULL, stream },
        { "pool", VIEW_U16, VIEW_AS_IT_IS, NULL, pool },
        { "flags", VIEW_U8, VIEW_AS_IT_IS, NULL, flags },
    };
    uint32_t rows = f->s->lifetimes.count;
    f->blocks->where = VIEW_NEW_BLOCK;
    TRY(put_all(f, VIEW_ALLOC, first, COUNT(first), rows));
    f->blocks->where = VIEW_NEW_BLOCK;
    return put_all(f, VIEW_ALLOC, rest, COUNT(rest), rows);
}

/* Times and events. */

static uint64_t time_at(const struct study *s, uint32_t event)
{
    return s->r->events.time_us[s->r->devices.first_event[s->device] + event];
}

static uint64_t time_step(const void *from, uint32_t row)
{
    const struct filling *f = from;
    uint64_t now = time_at(f->s, row), before = row == 0 ? now : time_at(f->s, row - 1);
    if (now == UNKNOWN_U64 || before == UNKNOWN_U64)
        return UINT32_MAX;
    uint64_t step = now < before ? 0 : now - before;
    return step < UINT32_MAX ? step : UINT32_MAX - 1;
}

static bool told_by_allocations(uint8_t action)
{
    return action == ACTION_ALLOC || action == ACTION_FREE_REQUESTED ||
           action == ACTION_FREE_COMPLETED || action == ACTION_FREE;
}

static enum vrs_status find_events(struct filling *f)
{
    const struct recording *r = f->s->r;
    uint32_t first = r->devices.first_event[f->s->device];
    for (int pass = 0; pass < 2; pass++) {
        uint32_t events = 0, ooms = 0;
        for (uint32_t i = 0; i < f->s->events; i++) {
            uint8_t action = r->events.action[first + i];
            if (told_by_allocations(action))
                continue;
            if (pass == 1)
                f->events[events] = i;
            if (pass == 1 && action == ACTION_OOM)
                f->ooms[ooms] = i;
            events++;
            ooms += action == ACTION_OOM;
        }
        if (pass == 1)
            break;
        f->event_count = events;
        f->oom_count = ooms;
        f->events = arena_array(f->s->scratch, uint32_t, events);
        f->ooms = arena_array(f->s->scratch, uint32_t, ooms);
        if (f->events == NULL || f->ooms == NULL)
            return vrs_no_memory(f->err);
    }
    return VRS_OK;
}

static uint32_t event_row(const struct filling *f, const uint32_t *events, uint32_t row)
{
    return f->s->r->devices.first_event[f->s->device] + events[row];
}

static uint64_t event_state(const void *from, uint32_t row)
{
    return (uint64_t)((const struct filling *)from)->events[row] + 1;
}

static uint64_t event_kind(const void *from, uint32_t row)
{
    enum { OTHER = 255 };
    static const uint8_t kinds[ACTIONS] = {
        [ACTION_SEGMENT_ALLOC] = 0, [ACTION_SEGMENT_FREE] = 1, [ACTION_SEGMENT_MAP] = 2,
        [ACTION_SEGMENT_UNMAP] = 3, [ACTION_OOM] = 4,          [ACTION_SNAPSHOT] = 5,
    };
    const struct filling *f = from;
    uint8_t action = f->s->r->events.action[event_row(f, f->events, row)];
    return action >= ACTION_SEGMENT_ALLOC && action <= ACTION_OOM ? kinds[action] : OTHER;
}

static uint64_t event_size(const void *from, uint32_t row)
{
    const struct filling *f = from;
    return known_or_0(f->s->r->events.size[event_row(f, f->events, row)]);
}

static uint64_t oom_state(const void *from, uint32_t row)
{
    return (uint64_t)((const struct filling *)from)->ooms[row] + 1;
}

static uint64_t oom_bytes(const void *from, uint32_t row)
{
    const struct filling *f = from;
    return known_or_0(f->s->r->events.size[event_row(f, f->ooms, row)]);
}

static uint64_t oom_free(const void *from, uint32_t row)
{
    const struct filling *f = from;
    return known_or_0(f->s->r->events.address[event_row(f, f->ooms, row)]);
}

static uint64_t oom_stack(const void *from, uint32_t row)
{
    const struct filling *f = from;
    return f->names.stack_id[f->s->r->events.stack[event_row(f, f->ooms, row)]];
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
        TRY(put_all(f, VIEW_TIME, time, COUNT(time), f->s->events));
    TRY(put_all(f, VIEW_EVENT, event, COUNT(event), f->event_count));
    return put_all(f, VIEW_OOM, oom, COUNT(oom), f->oom_count);
}

/* Ranges of mapped memory. */

static const struct view_range *range(const void *from, uint32_t row)
{
    return &((const struct filling *)from)->ranges.at[row];
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
    return lane_of(from, range(from, row)->address);
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
    return put_all(f, VIEW_RANGE, columns, COUNT(columns), f->ranges.count);
}

/* Marks. */

enum mark_kind { MARK_STEP, MARK_PHASE, MARK_ANNOTATION };

static const struct view_mark *mark(const void *from, uint32_t row)
{
    return &((const struct filling *)from)->marks.at[row];
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

static enum vrs_status add_steps(struct filling *f)
{
    const struct steps *steps = &f->s->steps;
    for (uint32_t i = 0; steps->source != STEPS_NONE && i < steps->count; i++) {
        bool last = i + 1 == steps->count;
        uint32_t end = last ? steps->end_event : steps->boundary[i + 1].event - 1;
        f->marks.at[f->marks.count++] = (struct view_mark){
            .kind = MARK_STEP,
            .first = steps->boundary[i].event + 1,
            .last = end + 1,
        };
    }
    return VRS_OK;
}

static enum vrs_status add_phases(struct filling *f)
{
    const struct phases *p = &f->s->phases;
    for (uint32_t i = 0; p->known && i < p->intervals; i++) {
        uint32_t end = i + 1 < p->intervals ? p->interval[i + 1].first_event : f->s->events;
        struct view_mark *to = &f->marks.at[f->marks.count++];
        *to = (struct view_mark){
            .kind = MARK_PHASE,
            .depth = 1,
            .first = p->interval[i].first_event + 1,
            .last = end,
        };
        TRY(view_names_text(&f->names, str_from(phase_names[p->interval[i].phase]), &to->name,
                            f->err));
    }
    return VRS_OK;
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
    f->marks.at = arena_array(f->s->scratch, struct view_mark,
                              (size_t)f->s->steps.count + f->s->phases.intervals);
    if (f->marks.at == NULL)
        return vrs_no_memory(f->err);
    TRY(add_steps(f));
    TRY(add_phases(f));
    return put_all(f, VIEW_MARK, columns, COUNT(columns), f->marks.count);
}

/* Names. */

static uint64_t stack_caller(const void *from, uint32_t row)
{
    const struct view_names *n = &((const struct filling *)from)->names;
    const struct stacks *s = &((const struct filling *)from)->s->r->stacks;
    return row == 0 ? 0 : n->stack_id[s->caller[n->stack_row[row]]];
}

static uint64_t stack_frame(const void *from, uint32_t row)
{
    const struct view_names *n = &((const struct filling *)from)->names;
    const struct stacks *s = &((const struct filling *)from)->s->r->stacks;
    return row == 0 ? 0 : n->frame_id[s->frame[n->stack_row[row]]];
}

static uint64_t stack_culprit(const void *from, uint32_t row)
{
    return ((const struct filling *)from)->names.culprit[row];
}

static uint64_t stack_owner(const void *from, uint32_t row)
{
    return ((const struct filling *)from)->names.owner[row];
}

static uint64_t frame_function(const void *from, uint32_t row)
{
    return ((const struct filling *)from)->names.function[row];
}

static uint64_t frame_file(const void *from, uint32_t row)
{
    return ((const struct filling *)from)->names.file[row];
}

static uint64_t frame_line(const void *from, uint32_t row)
{
    const struct filling *f = from;
    return row == 0 ? NO_LINE : f->s->r->frames.line[f->names.frame_row[row]];
}

static uint64_t frame_kind(const void *from, uint32_t row)
{
    return ((const struct filling *)from)->names.frame_class[row];
}

static uint64_t string_length(const void *from, uint32_t row)
{
    return ((const struct filling *)from)->names.strings.length[row];
}

static enum vrs_status fill_names(struct filling *f)
{
    static const struct view_column stack[] = {
        { "caller", VIEW_U32, VIEW_ZIGZAG, NULL, stack_caller },
        { "frame", VIEW_U32, VIEW_AS_IT_IS, NULL, stack_frame },
        { "site", VIEW_U32, VIEW_AS_IT_IS, NULL, stack_culprit },
        { "culprit", VIEW_U32, VIEW_AS_IT_IS, NULL, stack_culprit },
        { "owner", VIEW_U32, VIEW_AS_IT_IS, NULL, stack_owner },
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
    const struct strings *strings = &f->names.strings;
    struct view_table *table = &f->to->table[VIEW_STRING];
    TRY(put_all(f, VIEW_STACK, stack, COUNT(stack), f->names.stacks));
    TRY(put_all(f, VIEW_FRAME, frame, COUNT(frame), f->names.frames));
    TRY(put(f, VIEW_STRING, &length, f, strings->rows.len));
    return view_queue_bytes(f->blocks, &text, (const uint8_t *)strings->bytes.at,
                            strings->bytes.len, &table->column[table->columns++])
               ? VRS_OK
               : vrs_no_memory(f->err);
}

/* Which stacks are shown: of allocations and of requests that failed. */
static enum vrs_status find_names(struct filling *f)
{
    const struct study *s = f->s;
    bool *shown = arena_array(s->scratch, bool, s->r->stacks.rows.len);
    if (shown == NULL)
        return vrs_no_memory(f->err);
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        shown[s->lifetimes.at[i].alloc_stack.n] = true;
        shown[s->lifetimes.at[i].free_stack.n] = true;
    }
    for (uint32_t i = 0; i < f->oom_count; i++)
        shown[s->r->events.stack[event_row(f, f->ooms, i)]] = true;
    shown[0] = false;
    return view_names_make(s, shown, &f->names, f->err);
}

static enum vrs_status fill(struct filling *f)
{
    TRY(order_allocations(f));
    TRY(find_events(f));
    TRY(find_names(f));
    TRY(view_ranges_make(f->s, f->s->scratch, &f->ranges, f->err));
    TRY(fill_allocations(f));
    TRY(fill_events(f));
    TRY(fill_ranges(f));
    TRY(fill_marks(f));
    TRY(fill_names(f));
    f->blocks->where = VIEW_COVER_BLOCK;
    TRY(view_cover(f->s, f->blocks, f->to, f->err));
    return view_pack_all(f->blocks, f->s->threads, f->err);
}

enum vrs_status view_tables(struct study *s, struct view_blocks *blocks, struct view_device *ret,
                            struct vrs_error *err)
{
    struct filling f = { .s = s, .blocks = blocks, .to = ret, .err = err };
    struct arena_mark mark = arena_mark(s->scratch);
    uint64_t clipped = blocks->clipped;
    enum vrs_status status = fill(&f);
    view_names_end(&f.names);
    arena_release(s->scratch, mark);
    ret->clipped = blocks->clipped - clipped;
    return status;
}
