/* export_stacks.c - sums by stack. */
#include "render/export/export_stacks.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/attribution/frame_class.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/live.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/frames.h"
#include "model/ids.h"
#include "model/recording.h"
#include "model/stacks.h"
#include "model/strings.h"

static int by_bytes(const void *a, const void *b)
{
    const struct export_sample *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->stack != y->stack)
        return x->stack < y->stack ? -1 : 1;
    return (x->category > y->category) - (x->category < y->category);
}

/* Frames of whoever recorded the stack, and of the allocator that was asked. */
static bool is_recorders(const struct recording *r, frame_id frame)
{
    static const str names[] = {
        { "torch::unwind::", 15 },
        { "torch::CapturedTraceback::", 26 },
        { "torch::cuda::(anonymous namespace)::gather", 42 },
        { "c10::cuda::CUDACachingAllocator::", 33 },
    };
    str name = strings_text(&r->code.strings, (string_id){ r->code.frames.name[frame.n] });
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_starts(name, names[i]))
            return true;
    return false;
}

/* What a frame is to the memory below it. */
enum worker {
    WORKER_NONE,   /* it only passes a request on */
    WORKER_MEMORY, /* an operator that only makes memory for another one */
    WORKER         /* a line of Python, a node of autograd, an operator, other code: what asked */
};

/* Native code of PyTorch's; any other, such as an extension of the user's, is what asked. */
static bool is_torchs(str name)
{
    static const str names[] = {
        { "at::", 4 }, { "c10::", 5 }, { "torch::", 7 }, { "void at::", 9 }
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_starts(name, names[i]))
            return true;
    return false;
}

static enum worker find_worker(const struct recording *r, frame_id frame)
{
    struct frame f = frames_get(&r->code.frames, frame);
    str name = strings_text(&r->code.strings, f.name);
    if (!file_is_native(path_tail(strings_text(&r->code.strings, f.file))) ||
        backward_node(name).len > 0)
        return WORKER;
    str op = native_operator(name);
    if (op.len == 0)
        return is_torchs(name) ? WORKER_NONE : WORKER;
    return operator_only_makes_memory(op) ? WORKER_MEMORY : WORKER;
}

/* Asked once a frame and once a stack, since many run through the same. */
struct workers {
    const struct recording *r;
    uint8_t *of_frame;  /* enum worker, plus 1; 0: not asked */
    uint32_t *of_stack; /* 0: not asked */
};

static bool workers_make(const struct recording *r, struct arena *arena, struct workers *ret)
{
    *ret = (struct workers){
        .r = r,
        .of_frame = arena_array(arena, uint8_t, r->code.frames.rows.len),
        .of_stack = arena_array(arena, uint32_t, r->code.stacks.rows.len),
    };
    return ret->of_frame != NULL && ret->of_stack != NULL;
}

static enum worker worker_of(const struct workers *w, frame_id frame)
{
    uint8_t *known = &w->of_frame[frame.n];
    if (*known == 0)
        *known = (uint8_t)(find_worker(w->r, frame) + 1);
    return (enum worker)(*known - 1);
}

/* The part of a stack that did some work: below are frames that only make its memory, which are the
 * same for all and would hold all bytes of a profile.  Where nothing did any, what asked the
 * recorder. */
static uint32_t find_worker_in(const struct workers *w, stack_id stack)
{
    const struct stacks *stacks = &w->r->code.stacks;
    stack_id memory = { 0 }, asked = { 0 };
    for (stack_id at = stack; at.n != 0; at = stacks_caller(stacks, at)) {
        frame_id frame = stacks_frame(stacks, at);
        enum worker worker = worker_of(w, frame);
        if (worker == WORKER)
            return at.n;
        if (worker == WORKER_MEMORY && memory.n == 0)
            memory = at;
        if (asked.n == 0 && !is_recorders(w->r, frame))
            asked = at;
    }
    return memory.n != 0 ? memory.n : asked.n != 0 ? asked.n : stack.n;
}

static uint32_t worker_in(const struct workers *w, stack_id stack)
{
    if (w->of_stack[stack.n] == 0)
        w->of_stack[stack.n] = find_worker_in(w, stack);
    return w->of_stack[stack.n];
}

enum vrs_status export_samples_make(const struct exporting *e, const struct export_device *d,
                                    bool by_category, struct arena *arena,
                                    struct export_samples *ret, struct vrs_error *err)
{
    struct live_set live;
    *ret = (struct export_samples){ NULL, 0 };
    if (!d->has_moment)
        return VRS_OK;
    TRY(live_at(e->r, d->row, d->at_event, arena, &live, err));
    uint32_t first = e->r->devices.first_allocation[d->row];
    const uint8_t *of = by_category ? d->categories.of : NULL;
    size_t kinds = of == NULL ? 1 : CATEGORIES;
    /* Of each stack, or stack and category; plus 1. */
    uint32_t *place = arena_array(arena, uint32_t, e->r->code.stacks.rows.len * kinds);
    struct workers workers;
    ret->at = arena_array(arena, struct export_sample, live.len);
    if (place == NULL || ret->at == NULL || !workers_make(e->r, arena, &workers))
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < live.len; i++) {
        uint32_t stack = worker_in(&workers, live.at[i].stack);
        uint8_t category = of == NULL ? CATEGORIES : of[live.at[i].allocation - first];
        uint32_t *known = &place[stack * kinds + (of == NULL ? 0 : category)];
        if (*known == 0) {
            ret->at[ret->len].category = category;
            ret->at[ret->len++].stack = stack;
            *known = ret->len;
        }
        ret->at[*known - 1].bytes += live.at[i].bytes;
        ret->at[*known - 1].count++;
    }
    if (ret->len > 1)
        qsort(ret->at, ret->len, sizeof *ret->at, by_bytes);
    return VRS_OK;
}

/* The beginning of a text that ends with a whole character. */
static str beginning(str text)
{
    if (text.len <= EXPORT_NAME_MAX)
        return text;
    size_t len = EXPORT_NAME_MAX;
    while (len > 0 && ((unsigned char)text.ptr[len] & 0xc0) == 0x80)
        len--;
    return (str){ text.ptr, len };
}

bool export_frame_file(const struct recording *r, uint32_t frame, str *ret)
{
    struct frame f = frames_get(&r->code.frames, (frame_id){ frame });
    *ret = strings_text(&r->code.strings, f.file);
    return ret->len > 0 && !str_equal(*ret, S("??"));
}

bool export_frame_line(const struct recording *r, uint32_t frame, uint32_t *ret)
{
    *ret = frames_get(&r->code.frames, (frame_id){ frame }).line;
    return *ret != NO_LINE && *ret != 0;
}

void export_frame_text(const struct recording *r, uint32_t frame, struct buf *to)
{
    struct frame f = frames_get(&r->code.frames, (frame_id){ frame });
    str file, name = strings_text(&r->code.strings, f.name);
    uint32_t line;
    if (export_frame_file(r, frame, &file)) {
        buf_str(to, beginning(file));
        if (export_frame_line(r, frame, &line))
            buf_format(to, ":%u", (unsigned)line);
        buf_char(to, ' ');
    }
    buf_str(to, name.len == 0 ? S("??") : beginning(name));
}

void export_device_text(const struct export_device *d, struct buf *to)
{
    if (d->number >= 0)
        buf_format(to, "device %lld", (long long)d->number);
    else
        buf_format(to, "host memory %lld", (long long)(-1 - d->number));
}
