/* stack_texts.c - frames as lines. */
#include "api/stack_texts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/attribution/frame_class.h"
#include "base/buf.h"
#include "base/str.h"
#include "base/utf8.h"
#include "model/frames.h"
#include "model/ids.h"
#include "model/stacks.h"
#include "model/strings.h"

/* The longest name seen in a real file has 3,289 bytes; see also NAME_BYTES_MAX. */
enum { TEXT_BYTES_MAX = 4096 };

bool stack_texts_begin(struct stack_collector *c, const struct recording *r, struct arena *scratch)
{
    *c = (struct stack_collector){ .r = r, .ids = { .max = UINT32_MAX } };
    c->place = arena_array(scratch, uint32_t, r->code.stacks.rows.len);
    return c->place != NULL;
}

bool stack_texts_ask(struct stack_collector *c, stack_id id, uint32_t *ret)
{
    if (c->place[id.n] == 0) {
        if (!vec_push(&c->ids, id.n))
            return false;
        c->place[id.n] = c->ids.len;
    }
    *ret = c->place[id.n] - 1;
    return true;
}

void stack_texts_end(struct stack_collector *c)
{
    vec_free(&c->ids);
}

/* "folder/file.py:84 function"; native frames often have no file worth the name. */
static str frame_text(const struct recording *r, frame_id id, struct buf *text, struct arena *keep)
{
    struct frame frame = frames_get(&r->code.frames, id);
    str file = strings_text(&r->code.strings, frame.file);
    str name = strings_text(&r->code.strings, frame.name);
    text->len = 0;
    if (file.len > 0 && !str_equal(file, S("??"))) {
        utf8_append_clipped(text, file, TEXT_BYTES_MAX);
        if (frame.line != NO_LINE && frame.line != 0)
            buf_format(text, ":%u", (unsigned)frame.line);
        buf_char(text, ' ');
    }
    utf8_append_clipped(text, name, TEXT_BYTES_MAX);
    return text->failed ? (str){ NULL, 0 } : arena_copy(keep, buf_slice(text));
}

/* What a frame is to a reader, and what it is called then. */
static enum frame_part part_of(const struct recording *r, frame_id id, struct buf *text,
                               struct arena *keep, str *ret_brief)
{
    struct frame frame = frames_get(&r->code.frames, id);
    str name = strings_text(&r->code.strings, frame.name);
    *ret_brief = S("");
    if (!file_is_native(path_tail(strings_text(&r->code.strings, frame.file))))
        return FRAME_PART_PYTHON;
    str node = backward_node(name), op = native_operator(name);
    if (node.len == 0 && op.len == 0)
        return FRAME_PART_NATIVE;
    text->len = 0;
    buf_text(text, node.len != 0 ? "autograd:" : "native:");
    utf8_append_clipped(text, node.len != 0 ? node : op, TEXT_BYTES_MAX);
    *ret_brief = text->failed ? (str){ NULL, 0 } : arena_copy(keep, buf_slice(text));
    return node.len != 0                    ? FRAME_PART_NODE
           : operator_only_makes_memory(op) ? FRAME_PART_MEMORY
                                            : FRAME_PART_OPERATOR;
}

/* A frame as it is written. */
struct written_frame {
    str text, brief;
    enum frame_part part;
};

struct writing {
    const struct recording *r; /* whose stacks are written now */
    struct arena *keep;
    struct buf text;
    uint32_t *frame_place; /* of each frame id, plus 1 */
    VEC(struct written_frame) frames;
    VEC(uint32_t) lines;
};

static bool write_stack(struct writing *w, stack_id id)
{
    const struct recording *r = w->r;
    for (; id.n != 0; id = stacks_caller(&r->code.stacks, id)) {
        frame_id frame = stacks_frame(&r->code.stacks, id);
        if (w->frame_place[frame.n] == 0) {
            struct written_frame written = { .text = frame_text(r, frame, &w->text, w->keep) };
            written.part = part_of(r, frame, &w->text, w->keep, &written.brief);
            if (written.text.ptr == NULL || written.brief.ptr == NULL ||
                !vec_push(&w->frames, written))
                return false;
            w->frame_place[frame.n] = w->frames.len;
        }
        if (!vec_push(&w->lines, w->frame_place[frame.n] - 1))
            return false;
    }
    return true;
}

static bool keep_all(struct writing *w, struct stack_texts *ret)
{
    ret->frames = w->frames.len;
    ret->frame = arena_array(w->keep, str, w->frames.len);
    ret->brief = arena_array(w->keep, str, w->frames.len);
    ret->part = arena_array(w->keep, uint8_t, w->frames.len);
    ret->line = arena_array(w->keep, uint32_t, w->lines.len);
    if (ret->frame == NULL || ret->brief == NULL || ret->part == NULL || ret->line == NULL)
        return false;
    for (uint32_t i = 0; i < w->frames.len; i++) {
        ret->frame[i] = w->frames.at[i].text;
        ret->brief[i] = w->frames.at[i].brief;
        ret->part[i] = (uint8_t)w->frames.at[i].part;
    }
    for (uint32_t i = 0; i < w->lines.len; i++)
        ret->line[i] = w->lines.at[i];
    return true;
}

static bool write_stacks(struct writing *w, const struct stack_collector *c, struct arena *scratch,
                         struct stack_texts *ret)
{
    w->r = c->r;
    w->frame_place = arena_array(scratch, uint32_t, c->r->code.frames.rows.len);
    bool ok = w->frame_place != NULL;
    for (uint32_t i = 0; ok && i < c->ids.len; i++) {
        ret->first[ret->stacks++] = w->lines.len;
        ok = write_stack(w, (stack_id){ c->ids.at[i] });
    }
    return ok;
}

bool stack_texts_write(const struct stack_collector *c, uint32_t collectors, struct arena *scratch,
                       struct arena *keep, struct stack_texts *ret)
{
    struct writing w = { .keep = keep,
                         .frames = { .max = UINT32_MAX },
                         .lines = { .max = UINT32_MAX } };
    uint64_t stacks = 0;
    for (uint32_t i = 0; i < collectors; i++)
        stacks += c[i].ids.len;
    *ret = (struct stack_texts){ .stacks = 0 };
    ret->first = stacks < UINT32_MAX ? arena_array(keep, uint32_t, stacks + 1) : NULL;
    bool ok = ret->first != NULL;
    buf_init(&w.text, SIZE_MAX / 2);
    for (uint32_t i = 0; ok && i < collectors; i++)
        ok = write_stacks(&w, &c[i], scratch, ret);
    if (ok) {
        ret->first[ret->stacks] = w.lines.len;
        ok = keep_all(&w, ret);
    }
    buf_free(&w.text);
    vec_free(&w.frames);
    vec_free(&w.lines);
    return ok;
}
