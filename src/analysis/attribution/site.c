/* site.c - reduced stacks, each computed once from its caller's. */
#include "analysis/attribution/site.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/attribution/frame_class.h"
#include "base/arena.h"
#include "base/str.h"
#include "model/code.h"

bool sites_init(struct sites *s, const struct code *code, const struct naming *naming,
                enum site_key key, struct arena *scratch)
{
    *s = (struct sites){ .code = code, .naming = naming, .key = key };
    s->chain.max = UINT32_MAX;
    s->reduced = arena_array(scratch, uint32_t, code->stacks.rows.len);
    s->reduced_frame = arena_array(scratch, uint32_t, code->frames.rows.len);
    if (s->reduced != NULL && s->reduced_frame != NULL && strings_init(&s->bases, UINT32_MAX - 1) &&
        frames_init(&s->frames) && stacks_init(&s->stacks))
        return true;
    sites_free(s);
    return false;
}

void sites_free(struct sites *s)
{
    strings_free(&s->bases);
    frames_free(&s->frames);
    stacks_free(&s->stacks);
    vec_free(&s->chain);
}

/* The frame as the key sees it; id 0 where the key drops it. */
static bool reduce_frame(struct sites *s, frame_id frame, frame_id *ret)
{
    struct frame f = frames_get(&s->code->frames, frame);
    str file = strings_text(&s->code->strings, f.file),
        function = strings_text(&s->code->strings, f.name);
    ret->n = 0;
    if (naming_class(s->naming, frame) == FRAME_NATIVE || frame_is_module_call(file, function))
        return true;
    struct frame seen = { .name = f.name, .line = s->key == SITE_LINE ? f.line : NO_LINE };
    if (s->key != SITE_FUNCTION && !strings_intern(&s->bases, path_base(file), &seen.file))
        return false;
    return frames_intern(&s->frames, seen, ret);
}

static bool push_reduced(struct sites *s, uint32_t stack, uint32_t caller, uint32_t *ret)
{
    uint32_t *known = &s->reduced_frame[s->code->stacks.frame[stack]];
    if (*known == 0) {
        frame_id reduced;
        if (!reduce_frame(s, stacks_frame(&s->code->stacks, (stack_id){ stack }), &reduced))
            return false;
        *known = reduced.n + 1;
    }
    frame_id frame = { *known - 1 };
    stack_id pushed = { caller };
    bool repeats = caller != 0 && s->stacks.frame[caller] == frame.n;
    if (frame.n != 0 && !repeats && !stacks_push(&s->stacks, (stack_id){ caller }, frame, &pushed))
        return false;
    *ret = pushed.n;
    return true;
}

bool sites_of(struct sites *s, stack_id stack, uint32_t *ret)
{
    if (s->key == SITE_EXACT) {
        *ret = stack.n;
        return true;
    }
    uint32_t at = stack.n;
    s->chain.len = 0;
    for (; at != 0 && s->reduced[at] == 0; at = s->code->stacks.caller[at])
        if (!vec_push(&s->chain, at))
            return false;
    uint32_t reduced = at == 0 ? 0 : s->reduced[at] - 1;
    for (uint32_t i = s->chain.len; i-- > 0;) {
        if (!push_reduced(s, s->chain.at[i], reduced, &reduced))
            return false;
        s->reduced[s->chain.at[i]] = reduced + 1;
    }
    *ret = reduced;
    return true;
}
