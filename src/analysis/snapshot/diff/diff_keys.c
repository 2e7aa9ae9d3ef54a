/* diff_keys.c - interns what a key leaves of a stack, each stack once from its caller's. */
#include "analysis/snapshot/diff/diff_keys.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/attribution/frame_class.h"
#include "analysis/attribution/naming.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/frames.h"
#include "model/ids.h"
#include "model/recording.h"
#include "model/stacks.h"
#include "model/strings.h"

/* What a frame is under a key: one of these, or its id in the common table plus FRAME_KEPT. */
enum { FRAME_NOT_ASKED, FRAME_DROPPED, FRAME_MODULE_CALL, FRAME_KEPT };

static bool init_side(struct diff_keys_side *side, const struct study *study, struct arena *scratch)
{
    const struct recording *r = study->r;
    side->study = study;
    side->chain = arena_array(scratch, uint32_t, r->code.stacks.rows.len);
    bool ok = side->chain != NULL;
    for (uint32_t key = 0; key < DIFF_KEYS; key++) {
        side->seen[key] = arena_array(scratch, uint32_t, r->code.frames.rows.len);
        side->reduced[key] = arena_array(scratch, uint32_t, r->code.stacks.rows.len);
        side->last[key] = arena_array(scratch, uint32_t, r->code.stacks.rows.len);
        ok = ok && side->seen[key] != NULL && side->reduced[key] != NULL && side->last[key] != NULL;
    }
    return ok;
}

bool diff_keys_init(struct diff_keys *k, const struct study *a, const struct study *b,
                    struct arena *scratch)
{
    *k = (struct diff_keys){ .python_only = false };
    if (init_side(&k->side[0], a, scratch) && init_side(&k->side[1], b, scratch) &&
        strings_init(&k->strings, UINT32_MAX - 1) && frames_init(&k->frames) &&
        stacks_init(&k->stacks))
        return true;
    diff_keys_free(k);
    return false;
}

void diff_keys_free(struct diff_keys *k)
{
    strings_free(&k->strings);
    frames_free(&k->frames);
    stacks_free(&k->stacks);
}

static bool keep_frame(struct diff_keys *k, str name, str file, uint32_t line, uint32_t *ret)
{
    struct frame common = { .line = line };
    frame_id id;
    if (!strings_intern(&k->strings, name, &common.name) ||
        !strings_intern(&k->strings, file, &common.file) || !frames_intern(&k->frames, common, &id))
        return false;
    *ret = id.n + FRAME_KEPT;
    return true;
}

static bool see_frame(struct diff_keys *k, const struct study *s, frame_id frame, enum site_key key,
                      uint32_t *ret)
{
    struct frame f = frames_get(&s->r->code.frames, frame);
    str file = strings_text(&s->r->code.strings, f.file),
        name = strings_text(&s->r->code.strings, f.name);
    if (key == SITE_EXACT)
        return keep_frame(k, name, file, f.line, ret);
    if (naming_class(s->naming, frame) == FRAME_NATIVE)
        *ret = FRAME_DROPPED;
    else if (frame_is_module_call(file, name))
        *ret = FRAME_MODULE_CALL;
    else
        return keep_frame(k, name, path_base(file), key == SITE_LINE ? f.line : NO_LINE, ret);
    return true;
}

/* Reduces a stack whose caller is reduced to `caller` and ends in the frame `last`. */
static bool push_reduced(struct diff_keys *k, struct diff_keys_side *side, uint32_t stack,
                         enum site_key key, uint32_t *caller, uint32_t *last)
{
    uint32_t frame = side->study->r->code.stacks.frame[stack];
    uint32_t *seen = &side->seen[key][frame];
    if (*seen == FRAME_NOT_ASKED && !see_frame(k, side->study, (frame_id){ frame }, key, seen))
        return false;
    if (*seen == FRAME_MODULE_CALL)
        *last = 0;
    if (*seen >= FRAME_KEPT && (key == SITE_EXACT || *last != *seen)) {
        stack_id pushed;
        if (!stacks_push(&k->stacks, (stack_id){ *caller }, (frame_id){ *seen - FRAME_KEPT },
                         &pushed))
            return false;
        *caller = pushed.n;
        *last = *seen;
    }
    side->reduced[key][stack] = *caller + 1;
    side->last[key][stack] = *last;
    return true;
}

/* "autograd:MmBackward0", "native:empty".  Some versions of PyTorch run a node through a function
 * of its own. */
static enum vrs_status native_key(struct diff_keys *k, const struct study *s, stack_id stack,
                                  stack_id *ret, struct vrs_error *err)
{
    struct stack_names names;
    TRY(naming_of(s->naming, stack, &names, err));
    str text = names.culprit, suffix = S("_apply_functional");
    if (str_ends(text, suffix))
        text.len -= suffix.len;
    uint32_t frame;
    if (!keep_frame(k, text, S(""), NO_LINE, &frame) ||
        !stacks_push(&k->stacks, (stack_id){ 0 }, (frame_id){ frame - FRAME_KEPT }, ret))
        return vrs_no_memory(err);
    return VRS_OK;
}

enum vrs_status diff_keys_of(struct diff_keys *k, uint32_t side, stack_id stack, enum site_key key,
                             stack_id *ret, struct vrs_error *err)
{
    struct diff_keys_side *s = &k->side[side];
    const struct stacks *stacks = &s->study->r->code.stacks;
    uint32_t depth = 0, at = stack.n;
    for (; at != 0 && s->reduced[key][at] == 0; at = stacks->caller[at])
        s->chain[depth++] = at;
    uint32_t reduced = at == 0 ? 0 : s->reduced[key][at] - 1;
    uint32_t last = at == 0 ? 0 : s->last[key][at];
    while (depth-- > 0)
        if (!push_reduced(k, s, s->chain[depth], key, &reduced, &last))
            return vrs_no_memory(err);
    if (reduced == 0 && stack.n != 0 && !k->python_only)
        return native_key(k, s->study, stack, ret, err);
    ret->n = reduced;
    return VRS_OK;
}

static int compare_frames(const struct diff_keys *k, uint32_t a, uint32_t b)
{
    struct frame x = frames_get(&k->frames, (frame_id){ a });
    struct frame y = frames_get(&k->frames, (frame_id){ b });
    int name = str_compare(strings_text(&k->strings, x.name), strings_text(&k->strings, y.name));
    if (name != 0)
        return name;
    int file = str_compare(strings_text(&k->strings, x.file), strings_text(&k->strings, y.file));
    return file != 0 ? file : (x.line > y.line) - (x.line < y.line);
}

int diff_keys_compare(const struct diff_keys *k, stack_id a, stack_id b)
{
    for (; a.n != b.n && a.n != 0 && b.n != 0;
         a = stacks_caller(&k->stacks, a), b = stacks_caller(&k->stacks, b)) {
        uint32_t x = stacks_frame(&k->stacks, a).n, y = stacks_frame(&k->stacks, b).n;
        if (x != y)
            return compare_frames(k, x, y);
    }
    return a.n == b.n ? 0 : a.n == 0 ? -1 : 1;
}
