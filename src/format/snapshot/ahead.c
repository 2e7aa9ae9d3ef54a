/* ahead.c - when the scout begins, when the reader takes its stretches over, when it ends. */
#include "format/snapshot/ahead.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/fail.h"
#include "base/vec.h"
#include "format/input/window.h"
#include "format/snapshot/builder.h"

enum {
    ARENA_BYTES_MAX = 1 << 20,
    NUMBERS_MAX = 1 << 20,    /* of runs, as their cache has, and of labels */
    NEW_BYTES_MAX = 16 << 20, /* of one stretch's runs, and of its labels */
    EVENTS_MAX = 1 << 20,     /* of one stretch */
    VAIN_MAX = 4,             /* stretches without events, in a row, before it is given up */
    /* What the reader reads between two stretches, in percent of one: it also has to take the
     * stretch over. */
    OWN_PERCENT = 55
};

void ahead_init(struct ahead *a, const struct ahead_options *options, const struct window *w)
{
    bool possible = options->stretch_bytes != 0 && w->source.read_at != NULL;
    *a = (struct ahead){ .options = *options, .due = possible ? 0 : UINT64_MAX };
    a->scouted.stacks.max = a->scouted.strings.max = NUMBERS_MAX;
    arena_init(&a->arena, ARENA_BYTES_MAX);
}

static void give_up(struct ahead *a)
{
    queue_end(a->queue);
    a->queue = NULL;
    a->next = NULL;
    a->due = UINT64_MAX;
}

void ahead_free(struct ahead *a)
{
    give_up(a);
    for (uint32_t i = 0; a->stretch != NULL && i < STRETCHES; i++) {
        vec_free(&a->stretch[i].events);
        vec_free(&a->stretch[i].runs);
        vec_free(&a->stretch[i].labels);
    }
    if (a->stretch != NULL)
        scout_free(&a->scout);
    vec_free(&a->scouted.stacks);
    vec_free(&a->scouted.strings);
    arena_free(&a->arena);
}

static bool make_stretch(void *arg, uint32_t place)
{
    struct ahead *a = arg;
    return scout_read(&a->scout, &a->stretch[place]);
}

/* Begins at `offset`; nothing is due where that fails, which is no error. */
static void begin(struct ahead *a, const struct fast *f, const struct window *w)
{
    uint32_t apart = (uint32_t)percent_of(a->options.stretch_bytes, OWN_PERCENT);
    const struct scout_plan plan = {
        .source = w->source,
        .begin = window_offset(w) + apart,
        .stretch_bytes = a->options.stretch_bytes,
        .apart_bytes = apart,
    };
    const struct queue_work work = { make_stretch, a, STRETCHES };
    a->due = UINT64_MAX;
    a->stretch = arena_array(&a->arena, struct stretch, STRETCHES);
    if (a->stretch == NULL || scout_init(&a->scout, &plan, NULL) != VRS_OK ||
        !vec_push(&a->scouted.strings, 0)) /* label 0 is the empty text */
        return;
    for (uint32_t i = 0; i < STRETCHES; i++) {
        a->stretch[i].known = f->known;
        a->stretch[i].events.max = EVENTS_MAX;
        a->stretch[i].runs.max = a->stretch[i].labels.max = NEW_BYTES_MAX;
    }
    a->queue = queue_begin(&a->arena, &work, a->options.own_thread);
    if (a->queue != NULL)
        a->due = plan.begin;
}

/* Asks for the next stretch; false where none will come. */
static bool take(struct ahead *a)
{
    uint32_t place;
    if (!queue_take(a->queue, &place))
        return false;
    const struct stretch *t = a->next = &a->stretch[place];
    a->in_vain = t->events.len == 0 ? a->in_vain + 1 : 0;
    a->due = t->begin;
    return a->in_vain < VAIN_MAX;
}

/* Gives the stretch back, with what is now known of shapes. */
static void give(struct ahead *a, const struct fast *f)
{
    struct stretch *t = &a->stretch[a->next - a->stretch];
    a->due = t->next;
    a->next = NULL;
    t->known = f->known;
    queue_give(a->queue);
}

enum vrs_status ahead_arrive(struct ahead *a, struct fast *f, struct builder *b, struct window *w,
                             struct vrs_error *err)
{
    if (a->queue == NULL) {
        if (f->known.used == 0)
            a->due = window_offset(w) + a->options.stretch_bytes;
        else
            begin(a, f, w);
        return VRS_OK;
    }
    if (a->next == NULL && !take(a)) {
        give_up(a);
        return VRS_OK;
    }
    uint64_t here = window_offset(w), end;
    if (a->next->events.len == 0) {
        give(a, f);
    } else if (here > a->next->begin) {
        give_up(a);
    } else if (here == a->next->begin) {
        TRY(fast_scouted(b, a->next, &a->scouted, &end, err));
        TRY(window_jump(w, end, err));
        if (end == a->next->end)
            give(a, f);
        else
            give_up(a);
    }
    return VRS_OK;
}
